//! What was found out last about the sets of a run, for whoever asks the same of them next.
//!
//! `//a[sum(../b) = 1]` asks for one sum at all children of a node, and `//a[//b = c]` looks for different
//! values in one set at all nodes. So of each part it is known which set it was last, and what that
//! said. All of it counts to [`ANSWERS_BYTES_MAX`](crate::evaluator::memory::ANSWERS_BYTES_MAX).

use std::collections::HashSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::evaluator::conditions::{Answer, Run};
use crate::evaluator::graph::Id;
use crate::evaluator::sets::Set;
use crate::sys::seeded_hash::Chance;

/// The least and the greatest number of some nodes; none if none is a number.
pub(super) type Extremes = Option<(f64, f64)>;

/// Of smaller sets nothing is kept.
const SET_MIN: usize = 8;

/// Bytes of a value in a table of them.
const VALUE_BYTES: usize = 32;

/// What is known of the set that a part was last.
#[derive(Default)]
struct Facts<'a> {
    set: Set,
    sum: Option<f64>,
    extremes: Option<Extremes>,
    values: Option<HashSet<&'a [u8], Chance>>,
}

impl Facts<'_> {
    fn held(&self) -> usize {
        let values = self.values.as_ref().map_or(0, HashSet::len);
        self.set.len() * size_of::<u32>() + values * VALUE_BYTES
    }
}

/// What was found out last, by part.
#[derive(Default)]
pub(super) struct Recent<'a> {
    /// Where a step began, and where it led to.
    steps: FxHashMap<Id, (Set, Set)>,
    facts: FxHashMap<Id, Facts<'a>>,
}

impl<'a> Run<'a> {
    /// Where a step led to from these nodes, if they are those of the last time.
    pub(super) fn led_to(&self, step: Id, base: &Set) -> Option<Set> {
        let (before, found) = self.recent.steps.get(&step)?;
        (before == base).then(|| Arc::clone(found))
    }

    /// Remembers where a step led to, if there is room.
    pub(super) fn remember_step(&mut self, step: Id, base: Set, found: &Set) {
        let held = |base: &Set, found: &Set| (base.len() + found.len()) * size_of::<u32>();
        if let Some((base, found)) = self.recent.steps.remove(&step) {
            self.memory.give_back(held(&base, &found));
        }
        if self.memory.take(held(&base, found)) {
            let found = Arc::clone(found);
            self.recent.steps.insert(step, (base, found));
        }
    }

    /// The sum of the numbers of a set.
    pub(super) fn sum(&mut self, part: Id, set: &Set) -> Answer<f64> {
        if let Some(sum) = self.facts(part, set).and_then(|it| it.sum) {
            return Ok(sum);
        }
        let mut sum = 0.0;
        for &node in set.iter() {
            sum += self.number_of(node)?;
        }
        self.learn(part, set, |facts| facts.sum = Some(sum));
        Ok(sum)
    }

    /// The least and the greatest number of a set.
    pub(super) fn extremes(&mut self, part: Id, set: &Set) -> Answer<Extremes> {
        if let Some(extremes) = self.facts(part, set).and_then(|it| it.extremes) {
            return Ok(extremes);
        }
        let mut found: Extremes = None;
        for &node in set.iter() {
            let number = self.number_of(node)?;
            if !number.is_nan() {
                let (low, high) = found.unwrap_or((number, number));
                found = Some((low.min(number), high.max(number)));
            }
        }
        self.learn(part, set, |facts| facts.extremes = Some(found));
        Ok(found)
    }

    /// Whether one of the nodes has a value of the set, as far as that is known without looking at all of
    /// the set. They become known where a set is asked for the second time.
    pub(super) fn has_value_of(
        &mut self,
        part: Id,
        set: &Set,
        nodes: &[u32],
    ) -> Answer<Option<bool>> {
        match self.facts(part, set) {
            None => {
                self.learn(part, set, |_| {});
                return Ok(None);
            }
            Some(facts) if facts.values.is_none() => {
                if !self.memory.take(set.len() * VALUE_BYTES) {
                    return Ok(None);
                }
                let mut values = HashSet::with_hasher(self.memory.chance.clone());
                for &node in set.iter() {
                    values.insert(self.value_of(node)?);
                }
                self.memory
                    .give_back((set.len() - values.len()) * VALUE_BYTES);
                if let Some(facts) = self.recent.facts.get_mut(&part) {
                    facts.values = Some(values);
                }
            }
            Some(_) => {}
        }
        for &node in nodes {
            let value = self.value_of(node)?;
            let facts = self.facts(part, set);
            let values = facts.and_then(|it| it.values.as_ref());
            if values.is_some_and(|it| it.contains(value)) {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    /// What is known of a part, if it was this set the last time.
    fn facts(&self, part: Id, set: &Set) -> Option<&Facts<'a>> {
        let facts = self.recent.facts.get(&part)?;
        Arc::ptr_eq(&facts.set, set).then_some(facts)
    }

    /// Takes note of something about the set that a part is now, if there is room.
    fn learn(&mut self, part: Id, set: &Set, note: impl FnOnce(&mut Facts<'a>)) {
        if self.facts(part, set).is_none() {
            if let Some(before) = self.recent.facts.remove(&part) {
                self.memory.give_back(before.held());
            }
            if set.len() < SET_MIN || !self.memory.take(set.len() * size_of::<u32>()) {
                return;
            }
            let facts = Facts {
                set: Arc::clone(set),
                ..Facts::default()
            };
            self.recent.facts.insert(part, facts);
        }
        if let Some(facts) = self.recent.facts.get_mut(&part) {
            note(facts);
        }
    }
}
