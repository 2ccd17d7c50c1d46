//! The cover index: which of many patterns cover a given one, and which are covered by it.
//!
//! A pattern covers another if every document that matches the other matches it too. Of a hundred
//! thousand patterns few have to do with a given one, and they are found by *features* ([`features`]):
//! names, names joined by `/`, values. Whatever covers a pattern needs nothing that it has not.
//!
//! - *Coverers*: each pattern is filed once, under that of its needs which the fewest patterns have.
//!   Those of a pattern `s` are filed under something that `s` has; signatures of 256 bits sort out
//!   nearly all that do not cover it.
//! - *Covered*: each pattern is in the set of every feature that it has ([`slots`]). What `s` covers
//!   is in the sets of all that `s` needs.
//!
//! What is left is decided pair by pair ([`decide`]) by a homomorphism over masks of nodes
//! ([`ground`]), and by canonical models where there is none. What tests of values say of each other
//! is not known here; whoever asks is asked in turn, and the answers are remembered ([`value_tests`]).
//!
//! A pattern takes some 400 bytes. Everything is given back when it is removed.

pub mod arena;
pub mod decide;
pub mod features;
pub mod labels;
pub mod slots;
pub mod target;
pub mod twig;
pub mod value_tests;

use rustc_hash::FxHashMap;

use arena::{Arena, Span};
use decide::{CoverDecider, Verdict};
use features::{Feature, Signature, Traits, had, needed, needs_one_thing};
use labels::Labels;
use slots::Slots;
use target::{Ground, Knowledge, Mask, Masks};
use twig::{Given, Node, Pattern, Shape, packed};
use value_tests::{Answer, Tests};

use crate::sys::prefetch::prefetch;

/// Under this are filed the patterns that need no feature.
const NO_NEED: Feature = Feature::MAX;
/// Under this, those that cover nothing.
const NO_USE: Feature = Feature::MAX - 1;

/// The depth that marks patterns which are in a list of their own.
const SPECIAL: u8 = features::DEPTH_MAX + 1;

/// The numbers that a search finds.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Found {
    /// Those that surely cover, or are covered.
    pub sure: Vec<i64>,
    /// Those that somebody else has to decide.
    pub open: Vec<i64>,
}

impl Found {
    fn put(&mut self, number: i64, verdict: Verdict) {
        match verdict {
            Verdict::Yes => self.sure.push(number),
            Verdict::Open => self.open.push(number),
            Verdict::No => {}
        }
    }
}

/// A pattern of the index.
#[derive(Clone, Copy)]
struct Stored {
    number: i64,
    nodes: Span,
    shape: Shape,
    /// At which place of the list where it is filed.
    place: u32,
}

/// A pattern where it is filed.
struct Filed {
    needs: Signature,
    slot: u32,
}

/// A changing set of patterns under numbers.
#[derive(Default)]
pub struct CoverIndex {
    /// What twigs speak of; take from here what a [`Given`] has.
    pub labels: Labels,
    /// What is asked of their nodes; the same.
    pub tests: Tests,
    arena: Arena,
    stored: Vec<Option<Stored>>,
    /// Of each slot, where its pattern is filed.
    filed_under: Vec<Feature>,
    /// Of each slot, what its pattern has; and how many elements are inside each other in it.
    has: Vec<Signature>,
    depths: Vec<u8>,
    free: Vec<u32>,
    slots: FxHashMap<i64, u32>,
    filed: FxHashMap<Feature, Vec<Filed>>,
    having: FxHashMap<Feature, Slots>,
    /// Patterns that hold nowhere, or about which all is open.
    special: Slots,
    decider: CoverDecider,
    counters: Counters,
}

/// How searches fared.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counters {
    /// How many there were.
    pub searches: u64,
    /// How many pairs were looked at closely.
    pub decided: u64,
    /// How many were found.
    pub sure: u64,
    /// How many were left open.
    pub open: u64,
}

impl CoverIndex {
    /// Adds a pattern under a number that is not taken: the sets of tests that nobody uses any more.
    pub fn add(&mut self, number: i64, given: &Given) -> Vec<u32> {
        assert!(!self.contains(number), "the number is taken");
        let slot = self.free.pop().unwrap_or(self.stored.len() as u32);
        if slot as usize == self.stored.len() {
            self.stored.push(None);
            self.filed_under.push(NO_USE);
            self.has.push(Signature::ALL);
            self.depths.push(0);
        }
        self.slots.insert(number, slot);
        let (nodes, shape) = packed(given);
        let pattern = Pattern {
            nodes: &nodes,
            shape,
        };
        self.enter(slot, pattern);
        let place = self.file(slot, pattern);
        self.stored[slot as usize] = Some(Stored {
            number,
            nodes: self.arena.put(&nodes),
            shape,
            place,
        });
        if shape.unclear {
            self.release(given.nodes())
        } else if pattern.is_kept_once() {
            self.release(given.grounds.iter().flatten())
        } else {
            Vec::new()
        }
    }

    /// Whether there is a pattern under a number.
    pub fn contains(&self, number: i64) -> bool {
        self.slots.contains_key(&number)
    }

    /// Puts a pattern among those that have what it has.
    fn enter(&mut self, slot: u32, pattern: Pattern) {
        match had(pattern) {
            Some(traits) => {
                for feature in traits.features {
                    self.having.entry(feature).or_default().insert(slot);
                }
                self.has[slot as usize] = traits.signature;
                self.depths[slot as usize] = traits.depth;
            }
            None => {
                self.special.insert(slot);
                self.has[slot as usize] = Signature::ALL;
                self.depths[slot as usize] = SPECIAL;
            }
        }
    }

    /// Files a pattern under the rarest of its needs; at which place.
    fn file(&mut self, slot: u32, pattern: Pattern) -> u32 {
        let needs = needed(pattern);
        let owners = |it: &Feature| self.having.get(it).map_or(0, Slots::len);
        let rarest = needs.features.iter().copied().min_by_key(owners);
        let rarest = match rarest {
            _ if pattern.shape.never => NO_USE,
            Some(feature) => feature,
            None => NO_NEED,
        };
        self.filed_under[slot as usize] = rarest;
        let list = self.filed.entry(rarest).or_default();
        list.push(Filed {
            needs: needs.signature,
            slot,
        });
        list.len() as u32 - 1
    }

    /// Removes a pattern: the sets of tests that nobody uses any more. `None` if there was none.
    pub fn remove(&mut self, number: i64) -> Option<Vec<u32>> {
        let slot = self.slots.remove(&number)?;
        let stored = self.stored[slot as usize].take()?;
        let nodes = self.arena.get(stored.nodes).to_vec();
        let pattern = Pattern {
            nodes: &nodes,
            shape: stored.shape,
        };
        match had(pattern) {
            Some(traits) => traits.features.iter().for_each(|it| self.leave(*it, slot)),
            None => self.special.remove(slot),
        }
        self.unfile(self.filed_under[slot as usize], stored.place);
        self.arena.drop(stored.nodes);
        self.free.push(slot);
        if self.slots.is_empty() {
            self.clear();
        } else if self.arena.is_wasteful() {
            self.tidy();
        }
        Some(self.release(&nodes))
    }

    /// Puts the nodes of all patterns behind each other, in the order of slots.
    fn tidy(&mut self) {
        let mut arena = Arena::default();
        for stored in self.stored.iter_mut().flatten() {
            stored.nodes = arena.put(self.arena.get(stored.nodes));
        }
        self.arena = arena;
    }

    fn leave(&mut self, feature: Feature, slot: u32) {
        if let Some(slots) = self.having.get_mut(&feature) {
            slots.remove(slot);
            if slots.is_empty() {
                self.having.remove(&feature);
            }
        }
    }

    fn unfile(&mut self, feature: Feature, place: u32) {
        let Some(list) = self.filed.get_mut(&feature) else {
            return;
        };
        list.swap_remove(place as usize);
        if list.is_empty() {
            self.filed.remove(&feature);
            return;
        }
        if list.len() * 4 < list.capacity() {
            list.shrink_to(list.len() * 2);
        }
        if let Some(moved) = list.get(place as usize)
            && let Some(stored) = &mut self.stored[moved.slot as usize]
        {
            stored.place = place;
        }
    }

    /// Gives back what is left of an empty index. Labels and tests may still be in other hands.
    fn clear(&mut self) {
        self.arena = Arena::default();
        self.stored = Vec::new();
        self.filed_under = Vec::new();
        self.has = Vec::new();
        self.depths = Vec::new();
        self.free = Vec::new();
        self.slots = FxHashMap::default();
        self.filed = FxHashMap::default();
        self.having = FxHashMap::default();
        self.special = Slots::default();
        self.decider = CoverDecider::default();
    }

    /// Gives back what nodes speak of: the sets of tests that nobody uses any more.
    pub fn release<'a>(&mut self, nodes: impl IntoIterator<Item = &'a Node>) -> Vec<u32> {
        let mut unused = Vec::new();
        for node in nodes {
            self.labels.release(node.label);
            if self.tests.release(node.tests) {
                unused.push(node.tests);
            }
        }
        if self.labels.is_empty() {
            self.labels = Labels::default();
        }
        if self.tests.is_empty() {
            self.tests = Tests::default();
        }
        unused
    }

    /// How many patterns there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The patterns that cover the given one, whose grounds alone matter. `ask` tells which sets of
    /// tests follow from which.
    pub fn covering(
        &mut self,
        given: &Given,
        budget: usize,
        ask: &mut dyn FnMut(u32, u32) -> Answer,
    ) -> Found {
        let (nodes, shape) = packed(given);
        let pattern = Pattern {
            nodes: &nodes,
            shape,
        };
        let Some(traits) = had(pattern) else {
            let found = self.all(shape.unclear);
            self.count(&found);
            return found;
        };
        let slots = self.coverers(&traits);
        self.counters.decided += slots.len() as u64;
        let (mut decider, mut tests) = self.take_tools();
        let mut desk = Desk {
            knowledge: Knowledge::new(&self.labels, &mut tests, ask),
            decider: &mut decider,
            budget,
        };
        let found = self
            .coverers_of::<u64>(pattern, &slots, &mut desk)
            .or_else(|| self.coverers_of::<u128>(pattern, &slots, &mut desk))
            .unwrap_or_else(|| {
                let mut found = Found::default();
                self.each_of(&slots, |number, _| found.open.push(number));
                found
            });
        (self.decider, self.tests) = (decider, tests);
        self.count(&found);
        found
    }

    /// Those of the slots whose patterns cover the given one; `None` if masks are too short for it.
    fn coverers_of<M: Mask>(
        &self,
        pattern: Pattern,
        slots: &[u32],
        desk: &mut Desk,
    ) -> Option<Found> {
        let mut masks = Vec::new();
        let grounds = lay_out::<M>(pattern, &mut masks)?;
        let mut found = Found::default();
        self.each_of(slots, |number, other| {
            found.put(number, desk.decide(other, &grounds));
        });
        Some(found)
    }

    /// The patterns that the given one covers, whose groups alone matter.
    pub fn covered(
        &mut self,
        given: &Given,
        budget: usize,
        ask: &mut dyn FnMut(u32, u32) -> Answer,
    ) -> Found {
        let (nodes, shape) = packed(given);
        let pattern = Pattern {
            nodes: &nodes,
            shape,
        };
        if shape.unclear || pattern.is_everything() {
            let found = self.all(shape.unclear);
            self.count(&found);
            return found;
        }
        let mut found = Found::default();
        self.special.each_also_in(&[], |slot| {
            self.each_of(&[slot], |number, other| {
                let is_void = other.is_void();
                found.put(number, if is_void { Verdict::Yes } else { Verdict::Open });
            });
        });
        let slots = self.having_all(pattern);
        if needs_one_thing(pattern) {
            self.each_of(&slots, |number, _| found.sure.push(number));
        } else {
            self.counters.decided += slots.len() as u64;
            let (mut decider, mut tests) = self.take_tools();
            let mut desk = Desk {
                knowledge: Knowledge::new(&self.labels, &mut tests, ask),
                decider: &mut decider,
                budget,
            };
            let (mut narrow, mut wide) = (Masks::<u64>::default(), Vec::<Masks<u128>>::new());
            self.each_of(&slots, |number, other| {
                let verdict = match other.only_ground() {
                    Some(twig) if twig.len() <= u64::NODES_MAX => {
                        desk.decide(pattern, &[narrow.ground(twig)])
                    }
                    _ => lay_out(other, &mut wide)
                        .map_or(Verdict::Open, |grounds| desk.decide(pattern, &grounds)),
                };
                found.put(number, verdict);
            });
            (self.decider, self.tests) = (decider, tests);
        }
        self.count(&found);
        found
    }

    /// The slots of patterns that need nothing but these traits, as far as signatures tell.
    fn coverers(&self, traits: &Traits) -> Vec<u32> {
        let features = traits.features.iter().chain(&[NO_NEED]);
        let filed = features.filter_map(|it| self.filed.get(it)).flatten();
        filed
            .filter(|filed| filed.needs.within(&traits.signature))
            .map(|filed| filed.slot)
            .collect()
    }

    /// The slots of patterns that have what the given one needs, as far as signatures tell.
    fn having_all(&self, pattern: Pattern) -> Vec<u32> {
        let needs = needed(pattern);
        let mut found = Vec::new();
        let mut look = |slot: u32| {
            let at = slot as usize;
            // Special ones have a list of their own.
            if (needs.depth..SPECIAL).contains(&self.depths[at])
                && needs.signature.within(&self.has[at])
            {
                found.push(slot);
            }
        };
        let sets = needs.features.iter().map(|it| self.having.get(it));
        if pattern.shape.never {
            return found;
        }
        let Some(mut sets) = sets.collect::<Option<Vec<_>>>() else {
            return found;
        };
        sets.sort_by_key(|slots| slots.len());
        match sets.split_first() {
            Some((rarest, others)) => rarest.each_also_in(others, look),
            None => (0..self.stored.len() as u32).for_each(&mut look),
        }
        found
    }

    /// Calls for the number and the pattern of each slot. They are fetched ahead.
    fn each_of(&self, slots: &[u32], mut job: impl FnMut(i64, Pattern)) {
        for (at, &slot) in slots.iter().enumerate() {
            if let Some(&later) = slots.get(at + 16) {
                prefetch(&self.stored, later as usize);
            }
            if let Some(&soon) = slots.get(at + 8)
                && let Some(stored) = &self.stored[soon as usize]
            {
                self.arena.fetch(stored.nodes);
            }
            if let Some(stored) = &self.stored[slot as usize] {
                let pattern = Pattern {
                    nodes: self.arena.get(stored.nodes),
                    shape: stored.shape,
                };
                job(stored.number, pattern);
            }
        }
    }

    fn take_tools(&mut self) -> (CoverDecider, Tests) {
        (
            std::mem::take(&mut self.decider),
            std::mem::take(&mut self.tests),
        )
    }

    /// All numbers, open or sure.
    fn all(&self, is_open: bool) -> Found {
        let (all, none) = (self.slots.keys().copied().collect(), Vec::new());
        let (sure, open) = if is_open { (none, all) } else { (all, none) };
        Found { sure, open }
    }

    fn count(&mut self, found: &Found) {
        self.counters.searches += 1;
        self.counters.sure += found.sure.len() as u64;
        self.counters.open += found.open.len() as u64;
    }

    /// How searches fared.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How many nodes are kept.
    pub fn node_count(&self) -> usize {
        self.arena.len()
    }

    /// How many features are told apart.
    pub fn feature_count(&self) -> usize {
        self.having.len()
    }

    /// Roughly how many bytes all of it takes.
    pub fn held(&self) -> usize {
        let filed: usize = self.filed.values().map(Vec::capacity).sum();
        let having: usize = self.having.values().map(Slots::held).sum();
        self.arena.held()
            + self.stored.capacity() * size_of::<Option<Stored>>()
            + (self.has.capacity() + self.filed_under.capacity() / 4) * 32
            + self.depths.capacity()
            + self.free.capacity() * 4
            + self.slots.capacity() * 17
            + filed * size_of::<Filed>()
            + self.filed.capacity() * 33
            + having
            + self.having.capacity() * (9 + size_of::<Slots>())
            + self.special.held()
            + self.labels.held()
            + self.tests.held()
    }
}

/// What is needed to decide.
struct Desk<'j, 'k> {
    decider: &'j mut CoverDecider,
    knowledge: Knowledge<'k>,
    budget: usize,
}

impl Desk<'_, '_> {
    fn decide<M: Mask>(&mut self, wider: Pattern, grounds: &[Ground<M>]) -> Verdict {
        self.decider
            .decide(wider, grounds, self.budget, &mut self.knowledge)
    }
}

/// Makes the grounds of a pattern ready, in memory used before; `None` if masks are too short.
fn lay_out<'a, M: Mask>(
    pattern: Pattern<'a>,
    masks: &'a mut Vec<Masks<M>>,
) -> Option<Vec<Ground<'a, M>>> {
    let too_large = |twig: &[Node]| twig.len() > M::NODES_MAX;
    if pattern.shape.unclear || pattern.grounds().any(too_large) {
        return None;
    }
    masks.resize_with(pattern.grounds().count(), Masks::default);
    let grounds = pattern.grounds().zip(masks);
    Some(grounds.map(|(twig, masks)| masks.ground(twig)).collect())
}
