//! Deciding what the fired bits leave open, within the steps that one document may take.
//!
//! Nearly always all pairs of document and pattern together take a small part of these steps, and are
//! decided one after the other. Where they do not, they begin again with nothing remembered and in the
//! order of their ids, so that the outcome depends on the document and the patterns alone. Where that
//! takes long, too, steps are given in rounds: in each, every pair that is still open gets the same
//! number, twice that of the round before, until the sum is spent. So the dearest pairs stay open, and
//! none can use up what another needs.

use rustc_hash::FxHashMap;

use crate::index::layer::Twig;
use crate::matching::decide::{Doubts, Question, TwigDecider};
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
    /// The twig whose joins are in doubt; none if the fired bits say nothing.
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
pub fn decide(decider: &mut TwigDecider, open: &[Open], steps_max: u64) -> Outcome {
    if open.is_empty() {
        return Outcome::default();
    }
    if let Some(outcome) = decide_at_once(decider, open, steps_max / AT_ONCE) {
        return outcome;
    }
    if decider.index.is_scattered() {
        // It has to be settled before anything is known.
        return Outcome {
            is_long: true,
            ..Outcome::default()
        };
    }
    decide_in_order(decider, open, steps_max)
}

/// Decides all pairs one after the other, if these steps are enough for that.
fn decide_at_once(decider: &mut TwigDecider, open: &[Open], steps: u64) -> Option<Outcome> {
    let mut outcome = Outcome::default();
    decider.verifier.steps.allow(steps);
    for (place, pair) in open.iter().enumerate() {
        if let Some(Open {
            twig: Some((_, soon)),
            ..
        }) = open.get(place + AHEAD)
        {
            let expect = |it: &(u32, u32)| decider.index.clauses.expect_parts(it.1);
            soon.joins().iter().for_each(expect);
        }
        match look(decider, pair) {
            Ok(true) => outcome.proven.push((pair.pattern, pair.key)),
            Ok(false) => {}
            Err(_) => return None,
        }
    }
    outcome.steps = decider.verifier.steps.taken();
    Some(outcome)
}

#[cold]
fn decide_in_order(decider: &mut TwigDecider, open: &[Open], steps_max: u64) -> Outcome {
    let mut open: Vec<Open> = open.to_vec();
    open.sort_by_key(|pair| decider.index.pattern(pair.pattern).id);
    decider.forget();
    if let Some(outcome) = decide_at_once(decider, &open, steps_max / IN_ORDER) {
        return outcome;
    }
    decider.forget();
    decide_in_rounds(decider, open, steps_max)
}

fn decide_in_rounds(decider: &mut TwigDecider, mut open: Vec<Open>, steps_max: u64) -> Outcome {
    let before = decider.verifier.steps.taken();
    let mut outcome = Outcome {
        is_long: true,
        in_rounds: true,
        ..Outcome::default()
    };
    // Equal patterns ask the same, and are looked at once.
    let mut known: FxHashMap<(u32, Option<Question>), bool> = FxHashMap::default();
    let (mut given, mut next) = (0, FIRST_ROUND);
    while !open.is_empty() {
        let left = steps_max.saturating_sub(decider.verifier.steps.taken() - before);
        let share = next.min(left / open.len() as u64);
        if share <= given {
            break; // not even what was not enough
        }
        (given, next) = (share, 2 * share);
        open.retain(|pair| {
            let clause = decider.index.pattern(pair.pattern).clause;
            let question = pair.twig.map(|(twig, doubts)| {
                let record = &decider.index.layers[pair.layer].twigs[twig as usize];
                decider.question(pair.layer, record, doubts.joins())
            });
            let key = (clause, question);
            let answer = known.get(&key).copied().map(Ok).unwrap_or_else(|| {
                decider.verifier.steps.allow(share);
                look(decider, pair)
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
    outcome.steps = decider.verifier.steps.taken();
    outcome
}

#[inline]
fn look(decider: &mut TwigDecider, pair: &Open) -> Answer {
    match &pair.twig {
        Some((twig, doubts)) => {
            let records: &[Twig] = &decider.index.layers[pair.layer].twigs;
            decider.look(pair.layer, &records[*twig as usize], doubts.joins())
        }
        None => decider.look_everywhere(pair.pattern),
    }
}
