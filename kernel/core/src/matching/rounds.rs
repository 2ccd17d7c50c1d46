//! Deciding what the marks leave open, within the steps that one document may take.
//!
//! Nearly always all pairs of document and pattern together take a small part of these steps, and are
//! decided one after the other. Where they do not, they begin again with nothing remembered and in the
//! order of their ids, so that the outcome depends on the document and the patterns alone. Where that
//! takes long, too, steps are given in rounds: in each, every pair that is still open gets the same
//! number, twice that of the round before, until the sum is spent. So the dearest pairs stay open, and
//! none can use up what another needs.

use rustc_hash::FxHashMap;

use crate::index::layer::Twig;
use crate::matching::decide::{Doubts, Judge, Question};
use crate::matching::steps::Answer;

/// This part of a document's steps is taken in any order, and without rounds.
const AT_ONCE: u64 = 4;

/// This part is taken in the order of ids, and without rounds: twice as many, since the order in which
/// pairs are looked at says what is remembered when.
const IN_ORDER: u64 = 2;

/// The steps that each pair gets in the first round.
const FIRST_ROUND: u64 = 16_384;

/// How many pairs ahead memory is fetched.
const AHEAD: usize = 12;

/// A pair of document and pattern that is open.
#[derive(Clone, Copy)]
pub struct Open {
    /// The pattern.
    pub pattern: u32,
    /// The small number that its id may be.
    pub key: u32,
    /// Its layer.
    pub layer: usize,
    /// The twig whose joins are in doubt; none if the marks say nothing.
    pub twig: Option<(u32, Doubts)>,
}

/// Which patterns were found to match, and which were left open.
#[derive(Default)]
pub struct Outcome {
    /// Those that match, with the small numbers that their ids may be.
    pub proven: Vec<(u32, u32)>,
    /// Those that would have taken too many steps.
    pub undecided: Vec<u32>,
    /// The steps taken in all.
    pub steps: u64,
    /// Whether it took more than can be done in any order.
    pub is_long: bool,
    /// Whether rounds were needed.
    pub in_rounds: bool,
}

/// Decides the pairs that are open, in so many steps.
pub fn decide(judge: &mut Judge, open: &[Open], steps_max: u64) -> Outcome {
    if open.is_empty() {
        return Outcome::default();
    }
    if let Some(outcome) = decide_at_once(judge, open, steps_max / AT_ONCE) {
        return outcome;
    }
    if judge.index.is_scattered() {
        // It has to be settled before anything is known.
        return Outcome {
            is_long: true,
            ..Outcome::default()
        };
    }
    decide_in_order(judge, open, steps_max)
}

/// Decides all pairs one after the other, if these steps are enough for that.
fn decide_at_once(judge: &mut Judge, open: &[Open], steps: u64) -> Option<Outcome> {
    let mut outcome = Outcome::default();
    judge.verifier.steps.allow(steps);
    for (place, pair) in open.iter().enumerate() {
        if let Some(Open {
            twig: Some((_, soon)),
            ..
        }) = open.get(place + AHEAD)
        {
            let expect = |it: &(u32, u32)| judge.index.clauses.expect_parts(it.1);
            soon.joins().iter().for_each(expect);
        }
        match look(judge, pair) {
            Ok(true) => outcome.proven.push((pair.pattern, pair.key)),
            Ok(false) => {}
            Err(_) => return None,
        }
    }
    outcome.steps = judge.verifier.steps.taken();
    Some(outcome)
}

#[cold]
fn decide_in_order(judge: &mut Judge, open: &[Open], steps_max: u64) -> Outcome {
    let mut open: Vec<Open> = open.to_vec();
    open.sort_by_key(|pair| judge.index.pattern(pair.pattern).id);
    judge.forget();
    if let Some(outcome) = decide_at_once(judge, &open, steps_max / IN_ORDER) {
        return outcome;
    }
    judge.forget();
    decide_in_rounds(judge, open, steps_max)
}

fn decide_in_rounds(judge: &mut Judge, mut open: Vec<Open>, steps_max: u64) -> Outcome {
    let before = judge.verifier.steps.taken();
    let mut outcome = Outcome {
        is_long: true,
        in_rounds: true,
        ..Outcome::default()
    };
    // Equal patterns ask the same, and are looked at once.
    let mut known: FxHashMap<(u32, Option<Question>), bool> = FxHashMap::default();
    let (mut given, mut next) = (0, FIRST_ROUND);
    while !open.is_empty() {
        let left = steps_max.saturating_sub(judge.verifier.steps.taken() - before);
        let share = next.min(left / open.len() as u64);
        if share <= given {
            break; // not even what was not enough
        }
        (given, next) = (share, 2 * share);
        open.retain(|pair| {
            let clause = judge.index.pattern(pair.pattern).clause;
            let question = pair.twig.map(|(twig, doubts)| {
                let record = &judge.index.layers[pair.layer].twigs[twig as usize];
                judge.question(pair.layer, record, doubts.joins())
            });
            let key = (clause, question);
            let answer = known.get(&key).copied().map(Ok).unwrap_or_else(|| {
                judge.verifier.steps.allow(share);
                look(judge, pair)
            });
            if let Ok(found) = answer {
                known.insert(key, found);
                if found {
                    outcome.proven.push((pair.pattern, pair.key));
                }
            }
            answer.is_err()
        });
    }
    outcome.undecided = open.iter().map(|pair| pair.pattern).collect();
    outcome.steps = judge.verifier.steps.taken();
    outcome
}

#[inline]
fn look(judge: &mut Judge, pair: &Open) -> Answer {
    match &pair.twig {
        Some((twig, doubts)) => {
            let records: &[Twig] = &judge.index.layers[pair.layer].twigs;
            judge.look(pair.layer, &records[*twig as usize], doubts.joins())
        }
        None => judge.look_everywhere(pair.pattern),
    }
}
