//! A changing set of patterns under ids.
//!
//! Patterns lie in two layers. The *main* layer holds nearly all of them, and readers remember what
//! they learned about it. A pattern added while they do goes to the *fresh* layer, which is small
//! enough to be learned anew after every change; when it is full, it is poured into the main layer,
//! and what readers remember of that is forgotten once. So an add never waits for a rebuild, and
//! never makes readers start from nothing.

pub mod blocks;
pub mod column;
pub mod layer;
pub mod records;
pub mod stored;
pub mod table;

use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::{Pod, Zeroable};

use crate::evaluator::canonical::parse;
use crate::evaluator::necessary::{always, necessary};
use crate::evaluator::residuals::Residuals;
use crate::index::column::{Column, Spare, store};
use crate::index::layer::{Layer, NONE, Place};
use crate::index::table::{Table, hash_of};
use crate::pattern::clause::{Clauses, Form};
use crate::pattern::plan::Planner;
use crate::pattern::{Condition, Step, Test};

/// How many patterns the fresh layer takes: a document learns it anew after every change, and pouring
/// it out takes a few milliseconds.
pub const FRESH_MAX: usize = 2048;

/// The same in entries, of which each alternative has one or two: a pattern may be a long list.
const FRESH_ENTRIES_MAX: usize = 16 * FRESH_MAX;

/// Freed numbers wait until there are more than this and a quarter of the patterns, or of their
/// alternatives (which have an entry or two each).
const WAITING_MIN: usize = 1024;

/// The index is built afresh when so small a part of the most it ever held is left.
const SHRINK: usize = 16;
const SHRINK_MIN: usize = 1024;

/// A pattern under its id.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Registered {
    /// The caller's number for it.
    pub id: i64,
    /// Its clause at the document node.
    pub clause: u32,
    place: u32,
    /// In which layer it is.
    layer: u32,
    /// 1 if a match only makes it a candidate, to be evaluated.
    pub residual: u32,
}

/// Why a pattern cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The id is in use.
    Taken,
    /// The pattern asks for the string-value of the document node, in which libxml2 counts text
    /// that is no part of the tree.
    DocumentValue,
}

/// A changing set of patterns under ids.
#[derive(Default)]
pub struct Index {
    /// What the patterns say.
    pub clauses: Clauses,
    /// What is evaluated where a necessary condition holds.
    pub residuals: Residuals,
    pub(crate) patterns: Column<Registered>,
    pub(crate) ids: Table,
    pub(crate) spare: Spare,
    pub(crate) layers: [Layer; 2],
    /// Whether a reader may remember something of the main layer.
    pub(crate) used: AtomicBool,
    /// One past the largest id ever, while all ids are small numbers.
    pub(crate) end: i64,
    /// How many patterns only make candidates.
    pub(crate) residual: usize,
    /// How many different conditions there are.
    pub(crate) distinct: usize,
    pub(crate) most: usize,
    /// Whether a pattern was added to the fresh layer, or removed from any, since all were put in order.
    scattered: bool,
    version: u64,
    epoch: u64,
}

impl Index {
    /// Adds a pattern under an id.
    pub fn add(&mut self, id: i64, condition: &Condition, residual: bool) -> Result<(), Refused> {
        if self.find(id).is_some() {
            return Err(Refused::Taken);
        }
        if asks_document_value(condition) {
            return Err(Refused::DocumentValue);
        }
        let clause = self.clauses.take(condition);
        self.distinct += usize::from(self.clauses.count(clause));
        let layer = usize::from(self.used.load(Ordering::Relaxed));
        let record = Registered {
            id,
            clause,
            place: NONE,
            layer: layer as u32,
            residual: u32::from(residual),
        };
        let pattern = store(&mut self.patterns, &mut self.spare, record);
        self.ids.insert(hash_of(&id), pattern);
        self.residual += usize::from(residual);
        self.end = if (0..i64::from(NONE)).contains(&id) {
            self.end.max(id + 1)
        } else {
            i64::MAX
        };
        self.register(pattern, layer);
        self.version += 1;
        self.most = self.most.max(self.len());
        if layer == 1 {
            self.scattered = true;
            self.layers[1].generation += 1;
            let fresh = &self.layers[1];
            if fresh.patterns >= FRESH_MAX || fresh.entry_count() >= FRESH_ENTRIES_MAX {
                self.settle();
            }
        }
        Ok(())
    }

    /// Takes in the canonical text of what a pattern that only makes a candidate asks for, so that it
    /// is evaluated; false if libxml2 has to decide it, or there is no such pattern.
    pub fn evaluate(&mut self, id: i64, text: &str) -> bool {
        let pattern = self.find(id).map(|it| self.pattern(it).residual);
        let syntax = if pattern == Some(1) {
            parse(text)
        } else {
            None
        };
        syntax.is_some_and(|it| self.residuals.add(id, &it))
    }

    /// Adds a pattern by its canonical text, to be evaluated where what is necessary for it holds; false
    /// if it is one for libxml2.
    pub fn add_expression(&mut self, id: i64, text: &str) -> Result<bool, Refused> {
        if self.find(id).is_some() {
            return Err(Refused::Taken);
        }
        let Some(syntax) = parse(text) else {
            return Ok(false);
        };
        if !self.residuals.add(id, &syntax) {
            return Ok(false);
        }
        let mut added = self.add(id, &necessary(&syntax), true);
        if added == Err(Refused::DocumentValue) {
            added = self.add(id, &always(), true);
        }
        if added.is_err() {
            self.residuals.remove(id);
        }
        added.map(|()| true)
    }

    /// Whether a pattern only makes a candidate, which is evaluated.
    #[inline]
    pub fn is_evaluated(&self, pattern: u32) -> bool {
        let record = self.pattern(pattern);
        record.residual != 0 && self.residuals.get(record.id).is_some()
    }

    /// Removes the pattern with this id; whether there was one.
    pub fn remove(&mut self, id: i64) -> bool {
        let Some(pattern) = self.find(id) else {
            return false;
        };
        let record = self.patterns[pattern as usize];
        let layer = &mut self.layers[record.layer as usize];
        let mut place = Place::from_packed(record.place);
        while let Some(here) = place {
            place = layer.remove(here);
        }
        layer.patterns -= 1;
        self.distinct -= usize::from(self.clauses.discount(record.clause));
        self.clauses.release(record.clause);
        self.ids.remove(hash_of(&id), pattern);
        self.patterns.edit()[pattern as usize].clause = NONE;
        self.spare.put(pattern);
        self.residual -= record.residual as usize;
        self.residuals.remove(id);
        self.version += 1;
        self.scattered = true;
        if self.len() * SHRINK < self.most && self.most > SHRINK_MIN {
            self.rebuild();
        } else if self.waiting() > WAITING_MIN + self.len().max(self.entry_count() / 2) / 4 {
            self.settle();
        }
        true
    }

    /// How many patterns there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether something is in the fresh layer, or was removed: what a document takes depends on that.
    pub fn is_scattered(&self) -> bool {
        self.scattered
    }

    /// The number under which a pattern is kept.
    pub fn find(&self, id: i64) -> Option<u32> {
        let patterns: &[Registered] = &self.patterns;
        self.ids
            .reader()
            .find(hash_of(&id), |it| patterns[it as usize].id == id)
    }

    /// The pattern kept under a number.
    pub fn pattern(&self, pattern: u32) -> &Registered {
        &self.patterns[pattern as usize]
    }

    /// Where a pattern is registered: the layer, and the first of its places there.
    pub fn place(&self, pattern: u32) -> (usize, Option<Place>) {
        let record = self.pattern(pattern);
        (record.layer as usize, Place::from_packed(record.place))
    }

    /// Changes whenever patterns come, go, or get other places.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Changes whenever labels may have other numbers than before.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// All ids, in no order.
    pub fn all_ids(&self) -> Vec<i64> {
        self.patterns
            .iter()
            .filter(|it| it.clause != NONE)
            .map(|it| it.id)
            .collect()
    }

    /// The ids of the patterns that only make candidates, ascending.
    pub fn residual_ids(&self) -> Vec<i64> {
        self.ids_where(|it| it.residual != 0)
    }

    /// The ids before this one, ascending.
    pub fn ids_before(&self, end: i64) -> Vec<i64> {
        self.ids_where(|it| it.id < end)
    }

    fn ids_where(&self, is_asked: impl Fn(&Registered) -> bool) -> Vec<i64> {
        let held = self.patterns.iter().filter(|it| it.clause != NONE);
        let mut ids: Vec<i64> = held.filter(|it| is_asked(it)).map(|it| it.id).collect();
        ids.sort_unstable();
        ids
    }

    /// The patterns of a layer, by their numbers.
    pub fn numbers_in(&self, layer: usize) -> impl Iterator<Item = u32> + '_ {
        let kept = self.patterns.iter().enumerate();
        let there = kept.filter(move |(_, it)| it.clause != NONE && it.layer as usize == layer);
        there.map(|(number, _)| number as u32)
    }

    /// How many different conditions the patterns are.
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// How many patterns only make candidates.
    pub fn residual(&self) -> usize {
        self.residual
    }

    /// How many patterns every document is a candidate for.
    pub fn unfiltered(&self) -> usize {
        self.layers.iter().map(Layer::unfiltered).sum()
    }

    /// How many bytes of our own memory it all takes.
    pub fn held(&self) -> usize {
        let layers: usize = self.layers.iter().map(Layer::held).sum();
        let residuals = self.residuals.held();
        let own = self.patterns.held() + self.ids.held() + self.spare.held();
        self.clauses.held() + own + residuals + layers
    }

    /// How many nodes the tries have.
    pub fn node_count(&self) -> usize {
        self.layers.iter().map(Layer::node_count).sum()
    }

    /// The condition of a pattern, as it was added.
    pub fn condition(&self, pattern: u32) -> Condition {
        self.condition_of(self.pattern(pattern).clause)
    }

    fn register(&mut self, pattern: u32, layer: usize) {
        let Registered { id, clause, .. } = self.patterns[pattern as usize];
        let key = if (0..i64::from(NONE)).contains(&id) {
            id as u32
        } else {
            NONE
        };
        let layer_record = &mut self.layers[layer];
        let mut planner = Planner {
            layer: layer_record,
            clauses: &self.clauses,
            reached: Vec::new(),
        };
        let alternatives = planner.plan(clause);
        let reached = planner.reached;
        let mut place = NONE;
        for alternative in &alternatives {
            place = layer_record
                .insert(pattern, key, alternative, place)
                .packed();
        }
        // Deepest first, so that a chain of nodes nobody needs goes as one.
        reached
            .into_iter()
            .rev()
            .for_each(|node| layer_record.prune(node));
        layer_record.patterns += 1;
        let record = &mut self.patterns.edit()[pattern as usize];
        record.place = place;
        record.layer = layer as u32;
    }

    fn entry_count(&self) -> usize {
        self.layers.iter().map(Layer::entry_count).sum()
    }

    fn waiting(&self) -> usize {
        self.layers[0].waiting()
            + self.layers[1].waiting()
            + self.clauses.labels.idle()
            + self.clauses.tests.spare.waiting()
    }

    /// Has readers forget everything; then freed numbers can be used again, and the fresh layer is
    /// poured into the main one.
    pub fn settle(&mut self) {
        self.scattered = false;
        let generation = self.layers[1].generation + 1;
        let fresh = std::mem::replace(
            &mut self.layers[1],
            Layer {
                generation,
                ..Layer::default()
            },
        );
        self.layers[0].settle();
        self.clauses.labels.sweep();
        self.clauses.tests.spare.settle();
        self.epoch += 1;
        self.version += 1; // patterns have other places now
        self.used.store(false, Ordering::Relaxed);
        let slots = fresh.slots.iter().map(|it| it.pattern);
        let twigs = fresh.twigs.iter().map(|it| it.pattern);
        let mut moving: Vec<u32> = slots.chain(twigs).filter(|&it| it != NONE).collect();
        moving.sort_unstable();
        moving.dedup();
        // Patterns without a place (they can never match) are in no list; their layer is a formality.
        for pattern in moving {
            self.register(pattern, 0);
        }
        let left = self.len() - self.layers[0].patterns;
        self.layers[0].patterns += left;
        if left > 0 {
            self.patterns.edit().iter_mut().for_each(|it| it.layer = 0);
        }
    }

    /// Builds the index afresh from what is left, so that memory is given back.
    fn rebuild(&mut self) {
        let mut fresh = Index {
            version: self.version,
            epoch: self.epoch + 1,
            ..Index::default()
        };
        for (layer, old) in fresh.layers.iter_mut().zip(&self.layers) {
            layer.generation = old.generation + 1;
        }
        for pattern in 0..self.patterns.len() as u32 {
            let record = *self.pattern(pattern);
            if record.clause != NONE {
                let condition = self.condition_of(record.clause);
                let added = fresh.add(record.id, &condition, record.residual != 0);
                debug_assert!(added.is_ok(), "it was in before");
            }
        }
        fresh.version = self.version;
        fresh.residuals = std::mem::take(&mut self.residuals);
        *self = fresh;
    }

    fn condition_of(&self, clause: u32) -> Condition {
        let label = |number| self.clauses.labels.label(number).clone();
        match self.clauses.form(clause) {
            Form::True => Condition::All(Vec::new()),
            Form::False | Form::Link { .. } => Condition::Any(Vec::new()),
            Form::Exists {
                far,
                label: number,
                then,
            } => {
                let then = self.condition_of(then);
                Condition::Exists(Box::new(Step {
                    far,
                    label: label(number),
                    then,
                }))
            }
            Form::SelfIs(number) => Condition::SelfIs(label(number)),
            Form::Value(test) => Condition::Value(self.test_of(test)),
            Form::All(a, b) => Condition::All(vec![self.condition_of(a), self.condition_of(b)]),
            Form::Any(a, b) => Condition::Any(vec![self.condition_of(a), self.condition_of(b)]),
            Form::Not(a) => Condition::Not(Box::new(self.condition_of(a))),
            Form::AtDocument(a) => Condition::AtDocument(Box::new(self.condition_of(a))),
            Form::First(chain) => {
                let (mut chain, mut steps) = (chain, Vec::new());
                while let Form::Link {
                    far,
                    label: number,
                    then,
                    next,
                } = self.clauses.form(chain)
                {
                    steps.push(Step {
                        far,
                        label: label(number),
                        then: self.condition_of(then),
                    });
                    chain = next;
                }
                match self.clauses.form(chain) {
                    Form::Value(test) => Condition::First(steps, self.test_of(test)),
                    _ => Condition::Any(Vec::new()),
                }
            }
        }
    }

    fn test_of(&self, test: u32) -> Test {
        self.clauses.tests.test(test)
    }
}

/// Whether a condition at the document node asks for the value of that node itself.
fn asks_document_value(condition: &Condition) -> bool {
    match condition {
        Condition::Value(_) => true,
        Condition::All(parts) | Condition::Any(parts) => parts.iter().any(asks_document_value),
        Condition::Not(part) | Condition::AtDocument(part) => asks_document_value(part),
        Condition::Exists(step) => asks_it_from_below(&step.then),
        Condition::First(steps, _) => {
            steps.is_empty() || steps.iter().any(|step| asks_it_from_below(&step.then))
        }
        Condition::SelfIs(_) => false,
    }
}

fn asks_it_from_below(condition: &Condition) -> bool {
    match condition {
        Condition::AtDocument(part) => asks_document_value(part),
        Condition::All(parts) | Condition::Any(parts) => parts.iter().any(asks_it_from_below),
        Condition::Not(part) => asks_it_from_below(part),
        Condition::Exists(step) => asks_it_from_below(&step.then),
        Condition::First(steps, _) => steps.iter().any(|step| asks_it_from_below(&step.then)),
        Condition::SelfIs(_) | Condition::Value(_) => false,
    }
}
