//! A document against an index.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::document::build::Event;
use crate::document::classes::Classes;
use crate::document::read::{Limits, Reader, Unsure};
use crate::document::tree::Tree;
use crate::evaluator::expressions::{Costs, Evaluator, Verdict};
use crate::evaluator::graph::Id as Expression;
use crate::index::Index;
use crate::index::layer::{NONE, Twig};
use crate::matching::decide::{FromBits, TwigDecider};
use crate::matching::layer_scan::{LayerScan, Read, Room};
use crate::matching::links::Links;
use crate::matching::rounds::{Open, decide};
use crate::matching::sink::{Sink, each_bit};
use crate::matching::steps::Steps;
use crate::matching::verify::{Remembered, Verifier};
use crate::sys::prefetch::prefetch;

/// How many bytes of paths one reader remembers by default: a hundred thousand patterns on documents
/// of one kind need a tenth of it.
pub const BUDGET: usize = 256 << 20;

/// The budget is for so many patterns; with more of them it grows in proportion, as what a path fires
/// does. A budget that everything does not fit into is worse than none: all is learned over and over.
pub const BUDGET_PATTERNS: usize = 250_000;

/// A document with so many elements is large by default: twigs are decided by joining the places of
/// their leaves, which pays for itself from about here on.
pub const LARGE_FROM: usize = 1024;

/// How many steps of looking one document may take by default, for all patterns together: 3 to 8
/// nanoseconds each. Fifty thousand patterns with branches on a document of 65,000 elements take 62
/// million.
pub const STEPS_MAX: u64 = 100_000_000;

/// With every so many elements a document may take as many steps again: patterns that have to be looked
/// at have to be looked at in more places. With more than [`BUDGET_PATTERNS`] the steps grow as well.
pub const STEPS_ELEMENTS: u64 = 65_536;

/// How many candidates ahead a record is fetched.
const AHEAD: usize = 12;

/// How a reader fared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Documents matched.
    pub documents: u64,
    /// Those of them that libxml2 had read.
    pub from_libxml2: u64,
    /// Twigs whose access fired.
    pub candidates: u64,
    /// Twigs that had to be looked at on the document.
    pub verified: u64,
    /// Steps that looking at documents took.
    pub steps: u64,
    /// Documents whose steps were given in rounds.
    pub in_rounds: u64,
    /// Pairs of document and pattern that were evaluated.
    pub evaluated: u64,
    /// Pairs of document and pattern that would have taken too many.
    pub undecided: u64,
    /// How often documents had too much to be learned.
    pub abandoned: u64,
    /// The most that the paths of one document had to be learned.
    pub weight_most: u64,
    /// How often paths were forgotten for want of room.
    pub forgotten: u64,
    /// Paths remembered.
    pub paths: u64,
    /// Bytes that remembered paths take.
    pub bytes: u64,
    /// The most bytes of answers that were remembered of one document while it was evaluated.
    pub answers_most: u64,
}

/// What one reader needs: it reads one document at a time, and remembers paths.
#[derive(Default)]
pub struct Workspace {
    reader: Reader,
    tree: Tree,
    classes: Classes,
    element_classes: Vec<u32>,
    attribute_classes: Vec<u32>,
    scans: [LayerScan; 2],
    remembered: Remembered,
    found: Vec<i64>,
    bitmap: Vec<u64>,
    chosen: Vec<u32>,
    open: Vec<Open>,
    evaluator: Evaluator,
    counters: Counters,
    is_large: bool,
}

/// Where the ids of patterns go.
pub struct Found<'a> {
    /// Those that match.
    pub matches: &'a mut Vec<i64>,
    /// Those that only libxml2 can decide.
    pub candidates: &'a mut Vec<i64>,
    /// Those that would have taken too many steps to decide.
    pub undecided: &'a mut Vec<i64>,
}

/// How long the lists of [`Found`] are.
#[derive(Clone, Copy)]
struct Ends {
    matches: usize,
    candidates: usize,
    undecided: usize,
}

impl Found<'_> {
    fn ends(&self) -> Ends {
        Ends {
            matches: self.matches.len(),
            candidates: self.candidates.len(),
            undecided: self.undecided.len(),
        }
    }
}

/// How large documents, and what is remembered of them, may be.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Of a document.
    pub limits: Limits,
    /// Bytes of paths.
    pub budget: usize,
    /// Elements that make a document large.
    pub large_from: usize,
    /// Steps of looking at one document.
    pub steps_max: u64,
    /// Steps of evaluating one expression on a document.
    pub cost_max: u64,
}

impl Bounds {
    /// How many bytes of paths may be remembered beside so many patterns.
    pub fn budget_for(&self, patterns: usize) -> usize {
        self.budget.saturating_mul(times_for(patterns))
    }

    /// How many steps a document with so many elements may take beside so many patterns.
    fn steps_for(&self, patterns: usize, elements: usize) -> u64 {
        let times = times_for(patterns) as u64;
        let more = self.steps_max / STEPS_ELEMENTS * elements as u64;
        self.steps_max.saturating_add(more).saturating_mul(times)
    }

    /// How much the paths of a small document may have to be learned beside so many patterns,
    /// in nodes that fire: 100,000 patterns on documents of one kind have 33,000.
    pub fn weight_max(&self, patterns: usize) -> u64 {
        self.room_for(patterns, 0).weight_max
    }

    /// How much may be remembered and done on the way through a document with so many elements, beside
    /// so many patterns.
    fn room_for(&self, patterns: usize, elements: usize) -> Room {
        let steps = self.steps_for(patterns, elements);
        Room {
            bytes: self.budget_for(patterns),
            weight_max: steps / 64,
            searched_max: steps / 64,
            found_max: steps / 8,
        }
    }
}

/// How many times as much may be remembered and done beside so many patterns.
#[inline]
fn times_for(patterns: usize) -> usize {
    if patterns <= BUDGET_PATTERNS {
        return 1; // Nearly always, and without a division.
    }
    patterns.div_ceil(BUDGET_PATTERNS)
}

impl Workspace {
    /// Reads a document and appends the ids of the patterns it satisfies, ascending, except those in
    /// `skip`, which is ascending too.
    ///
    /// What a document takes depends on the layers that patterns are in. So where it comes near what it
    /// may take, and the index is scattered, it fails: whoever can has to settle the index, and ask again.
    pub fn matched(
        &mut self,
        index: &Index,
        content: &[u8],
        bounds: &Bounds,
        skip: &[i64],
        found: Found,
    ) -> Result<(), Unsure> {
        self.reader.read(content, &bounds.limits, &mut self.tree)?;
        self.scan(index, bounds);
        self.collect(index, bounds, skip, found)
    }

    /// The same for a document that libxml2 has read.
    pub fn matched_events(
        &mut self,
        index: &Index,
        events: &[Event],
        bounds: &Bounds,
        skip: &[i64],
        found: Found,
    ) -> Result<(), Unsure> {
        self.reader.take(events, &mut self.tree)?;
        self.counters.from_libxml2 += 1;
        self.scan(index, bounds);
        self.collect(index, bounds, skip, found)
    }

    /// Reads a document and finds which links it must go to, `None` where libxml2 has to decide.
    pub fn linked(
        &mut self,
        index: &Index,
        content: &[u8],
        bounds: &Bounds,
        links: &Links,
        skip: &[i64],
    ) -> Result<Vec<Option<bool>>, Unsure> {
        self.reader.read(content, &bounds.limits, &mut self.tree)?;
        self.scan(index, bounds);
        let steps_max = bounds.steps_for(index.len(), self.tree.elements.len());
        let mut decider = self.decider(index);
        decider.verifier.steps.allow(steps_max / 2);
        let decided = links.decide(&mut decider, skip);
        let (verified, steps) = (decider.verified, decider.verifier.steps.taken());
        self.counters.verified += verified;
        self.counters.steps += steps;
        Ok(decided)
    }

    /// How it fared so far.
    pub fn counters(&self) -> Counters {
        Counters {
            forgotten: self.scans.iter().map(|it| it.paths.forgotten).sum(),
            paths: self.scans.iter().map(|it| it.paths.len() as u64).sum(),
            bytes: self.scans.iter().map(|it| it.paths.held() as u64).sum(),
            answers_most: self.evaluator.answers_most() as u64,
            ..self.counters
        }
    }

    /// How many bytes are held for evaluating.
    pub fn evaluator_bytes(&self) -> u64 {
        self.evaluator.held() as u64
    }

    /// Finds what fires in the document that was read.
    fn scan(&mut self, index: &Index, bounds: &Bounds) {
        self.is_large = self.tree.elements.len() >= bounds.large_from;
        self.counters.documents += 1;
        let mut room = bounds.room_for(index.len(), self.tree.elements.len());
        index.used.store(true, Ordering::Relaxed);
        let names = self.reader.names();
        let renumbered = self.classes.update(index, names);
        let (tree, classes) = (&self.tree, &mut self.classes);
        self.element_classes.clear();
        self.element_classes.extend(
            tree.elements
                .iter()
                .map(|it| classes.element(it.name, index, names)),
        );
        self.attribute_classes.clear();
        self.attribute_classes.extend(
            tree.attributes
                .iter()
                .map(|it| classes.attribute(it.name, index, names)),
        );
        self.remembered.begin();
        let read = Read {
            tree,
            classes,
            element_classes: &self.element_classes,
            attribute_classes: &self.attribute_classes,
            is_large: self.is_large,
        };
        let mut weight = 0;
        for (number, scan) in self.scans.iter_mut().enumerate() {
            scan.run(index, number, read, renumbered, room);
            weight += scan.paths.weight;
            room = room.after(scan);
        }
        self.counters.weight_most = self.counters.weight_most.max(weight);
        if self.scans.iter().any(|it| it.abandoned) {
            self.scans.iter_mut().for_each(|it| it.abandoned = true);
        }
    }

    fn decider<'a>(&'a mut self, index: &'a Index) -> TwigDecider<'a> {
        let verifier = Verifier {
            tree: &self.tree,
            clauses: &index.clauses,
            classes: &self.classes,
            element_classes: &self.element_classes,
            attribute_classes: &self.attribute_classes,
            remembered: &mut self.remembered,
            steps: Steps::default(),
            direct_left: 0,
        };
        TwigDecider {
            index,
            scans: &mut self.scans,
            verifier,
            is_large: self.is_large,
            verified: 0,
            known: FxHashMap::default(),
        }
    }

    /// Turns fired bits into ids.
    fn collect(
        &mut self,
        index: &Index,
        bounds: &Bounds,
        skip: &[i64],
        mut found: Found,
    ) -> Result<(), Unsure> {
        if index.is_scattered() && self.scans.iter().any(|it| it.abandoned) {
            return Err(Unsure::Scattered);
        }
        let mut sink = Sink {
            index,
            // Whether ids are small and many enough for a bitmap of them.
            dense: index.end <= 65_536 + 16 * index.len() as i64,
            bitmap: std::mem::take(&mut self.bitmap),
            found: std::mem::take(&mut self.found),
        };
        sink.begin();
        let mut chosen = std::mem::take(&mut self.chosen);
        let mut open = std::mem::take(&mut self.open);
        let steps_max = bounds.steps_for(index.len(), self.tree.elements.len());
        let mut decider = self.decider(index);
        let (mut candidates, mut abandoned) = (0, 0);
        for number in 0..index.layers.len() {
            sink.reports(number, &decider.scans[number].fired.reports);
            if decider.scans[number].abandoned {
                abandoned = 1;
                open.extend(everything(index, number, skip));
                continue;
            }
            let mut twigs = std::mem::take(&mut chosen);
            let fired = &decider.scans[number].fired.candidates;
            each_bit(fired.iter().copied(), |twig| twigs.push(twig));
            twigs.extend(decider.always(number));
            candidates += twigs.len() as u64;
            decide_from_bits(&decider, number, &twigs, &mut sink, &mut open);
            twigs.clear();
            chosen = twigs;
        }
        let outcome = decide(&mut decider, &open, steps_max);
        let verified = decider.verified;
        for &(pattern, key) in &outcome.proven {
            sink.report(pattern, key);
        }
        open.clear();
        (self.chosen, self.open) = (chosen, open);
        if outcome.is_long && index.is_scattered() {
            (self.bitmap, self.found) = (sink.bitmap, sink.found);
            return Err(Unsure::Scattered);
        }
        self.counters.candidates += candidates;
        self.counters.verified += verified;
        self.counters.steps += outcome.steps;
        self.counters.in_rounds += u64::from(outcome.in_rounds);
        self.counters.abandoned += abandoned;
        let starts = found.ends();
        sink.hand_over(skip, &outcome.undecided, &mut found);
        (self.bitmap, self.found) = (sink.bitmap, sink.found);
        self.evaluate(index, bounds, starts, &mut found);
        self.counters.undecided += (found.undecided.len() - starts.undecided) as u64;
        Ok(())
    }

    /// Decides the candidates behind `starts` by evaluating what they ask for; those that only libxml2
    /// can decide stay.
    fn evaluate(&mut self, index: &Index, bounds: &Bounds, starts: Ends, found: &mut Found) {
        let mut asked: Vec<(Expression, i64)> = Vec::new();
        let mut left = starts.candidates;
        for place in starts.candidates..found.candidates.len() {
            let id = found.candidates[place];
            match index.residuals.get(id) {
                Some(expression) => asked.push((expression, id)),
                None => {
                    found.candidates[left] = id;
                    left += 1;
                }
            }
        }
        found.candidates.truncate(left);
        if asked.is_empty() {
            return;
        }
        // Many may ask for the same.
        asked.sort_unstable();
        let mut expressions: Vec<Expression> = asked.iter().map(|it| it.0).collect();
        expressions.dedup();
        let costs = Costs {
            one: bounds.cost_max,
            all: bounds
                .steps_max
                .saturating_mul(times_for(index.len()) as u64),
        };
        let document = (&self.tree, self.reader.names());
        let held = &index.residuals.expressions;
        let before = (self.evaluator.steps, self.evaluator.in_rounds);
        let verdicts = self.evaluator.decide(held, document, costs, &expressions);
        self.counters.evaluated += expressions.len() as u64;
        self.counters.steps += self.evaluator.steps - before.0;
        self.counters.in_rounds += self.evaluator.in_rounds - before.1;
        let mut place = 0;
        for &(expression, id) in &asked {
            place += usize::from(expressions[place] != expression);
            match verdicts[place] {
                Verdict::Known(true) => found.matches.push(id),
                Verdict::Known(false) => {}
                Verdict::Costly => found.undecided.push(id),
                Verdict::Unsure => found.candidates.push(id),
            }
        }
        found.matches[starts.matches..].sort_unstable();
        found.candidates[starts.candidates..].sort_unstable();
        found.undecided[starts.undecided..].sort_unstable();
    }
}

/// Reports the twigs that the fired bits decide or that are evaluated, and lists those that they leave open.
fn decide_from_bits(
    decider: &TwigDecider,
    number: usize,
    twigs: &[u32],
    sink: &mut Sink,
    open: &mut Vec<Open>,
) {
    let records: &[Twig] = &decider.index.layers[number].twigs;
    // Else the records of patterns, which are far apart, need not be looked at.
    let are_some_evaluated = !decider.index.residuals.is_empty();
    for (place, &twig) in twigs.iter().enumerate() {
        if let Some(&soon) = twigs.get(place + AHEAD) {
            prefetch(records, soon as usize);
        }
        let record = &records[twig as usize];
        if record.pattern == NONE {
            continue;
        }
        match decider.from_bits(number, record) {
            FromBits::Known(false) => {}
            FromBits::Known(true) => sink.report(record.pattern, record.key),
            // Whether what it asks for is there is found out once, by evaluating it.
            FromBits::Doubt(_)
                if are_some_evaluated && decider.index.is_evaluated(record.pattern) =>
            {
                sink.report(record.pattern, record.key);
            }
            FromBits::Doubt(doubts) => {
                let expect = |it: &(u32, u32)| decider.index.clauses.expect(it.1);
                doubts.joins().iter().for_each(expect);
                open.push(Open {
                    pattern: record.pattern,
                    key: record.key,
                    layer: number,
                    twig: Some((twig, doubts)),
                });
            }
        }
    }
}

/// All patterns of a layer that are not to be skipped: its bits say too little.
fn everything<'a>(
    index: &'a Index,
    number: usize,
    skip: &'a [i64],
) -> impl Iterator<Item = Open> + 'a {
    let patterns = index.numbers_in(number);
    let asked = patterns.filter(|&it| skip.binary_search(&index.pattern(it).id).is_err());
    asked.map(move |pattern| Open {
        pattern,
        key: index.pattern(pattern).id as u32,
        layer: number,
        twig: None,
    })
}
