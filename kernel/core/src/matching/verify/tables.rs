//! What is remembered while one document is verified: answers, and tables of all nodes that satisfy a
//! clause.
//!
//! The table of `.//a[…]` is the list of all `a` with that property, in document order: an element has
//! one below it if the list has a place between the element and its end. The table of `a[…]`, asked of
//! parents, is the list of these parents. Both are looked into in a few steps. So is the table of a
//! clause about the first node that a chain of steps leads to: the list of all elements it holds at.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::first::{Stride, steps_of};
use super::{At, Verifier};
use crate::document::tree::NONE;
use crate::matching::steps::{Answer, Spent};
use crate::pattern::Kind;
use crate::pattern::clause::Form;

/// How many answers, and how many places in tables, are remembered for a document: some 100 MB in the
/// worst case. What does not fit is worked out again, in steps that count like any other.
const REMEMBERED_MAX: usize = 4_000_000;

/// All nodes of a kind are looked through once if there are at most so many for each element that would
/// have to be looked at otherwise: a look at a name is as much cheaper than one at an element.
const OWNERS_PER_ELEMENT: usize = 4;

/// What is remembered while one document is verified.
#[derive(Default)]
pub struct Remembered {
    /// The tables, one behind the other.
    places: Vec<u32>,
    /// The elements that clauses about an attribute, a text or a child hold at.
    owners_of: FxHashMap<u32, Range<usize>>,
    /// The elements that clauses about a first node hold at.
    firsts_of: FxHashMap<u32, Range<usize>>,
    /// The nodes that clauses about a descendant ask for.
    nodes_of: FxHashMap<u32, Range<usize>>,
    answers: FxHashMap<u64, bool>,
    /// Where the text has a needle first and last.
    needles: FxHashMap<u32, Option<(u32, u32)>>,
    /// Which clauses are the same everywhere, since the document lacks a label.
    constants: FxHashMap<u32, Option<bool>>,
    /// The labels that the document has, as bits; empty until they are asked for.
    labels: Vec<u64>,
}

impl Remembered {
    /// Begins a document.
    pub fn begin(&mut self) {
        if self.places.capacity() > REMEMBERED_MAX / 16 {
            self.places = Vec::new();
        }
        self.places.clear();
        self.owners_of.clear();
        self.firsts_of.clear();
        self.nodes_of.clear();
        self.needles.clear();
        self.constants.clear();
        self.labels.clear();
        if self.answers.capacity() > REMEMBERED_MAX / 16 {
            self.answers = FxHashMap::default();
        } else {
            self.answers.clear();
        }
    }

    #[inline]
    pub(super) fn has_tables(&self) -> bool {
        !self.nodes_of.is_empty()
    }

    #[inline]
    pub(super) fn answer(&self, clause: u32, element: u32) -> Option<bool> {
        self.answers.get(&key(clause, element)).copied()
    }

    pub(super) fn keep_answer(&mut self, clause: u32, element: u32, answer: bool) {
        if self.answers.len() < REMEMBERED_MAX {
            self.answers.insert(key(clause, element), answer);
        }
    }

    pub(super) fn places(&self, test: u32) -> Option<Option<(u32, u32)>> {
        self.needles.get(&test).copied()
    }

    pub(super) fn keep_places(&mut self, test: u32, places: Option<(u32, u32)>) {
        if self.needles.len() < REMEMBERED_MAX {
            self.needles.insert(test, places);
        }
    }

    /// Keeps a list; none if there is no more room.
    fn keep(&mut self, mut list: Vec<u32>) -> Option<Range<usize>> {
        if self.places.len() + list.len() > REMEMBERED_MAX {
            return None;
        }
        let start = self.places.len();
        self.places.append(&mut list);
        Some(start..self.places.len())
    }
}

fn key(clause: u32, element: u32) -> u64 {
    u64::from(clause) << 32 | u64::from(element)
}

impl Verifier<'_> {
    /// Whether a clause holds at one of the elements `is_one` tells, looked at from the side of the
    /// attributes or children that its first part asks for; `None` if the few elements themselves are
    /// looked at sooner.
    ///
    /// `//*[@id='x']/b` joins at any element, and hardly one has such an attribute.
    pub fn holds_at_owner(
        &mut self,
        clause: u32,
        elements: u32,
        is_one: impl Fn(u32) -> bool,
    ) -> Result<Option<bool>, Spent> {
        let Form::All(part, rest) = self.clauses.form(clause) else {
            return Ok(None);
        };
        let Some(owners) = self.owners_if_few(part, elements)? else {
            return Ok(None);
        };
        for place in owners {
            self.steps.take(1)?;
            let element = self.remembered.places[place];
            if element != NONE && is_one(element) && self.holds(rest, At::Element(element))? {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    /// The owners of a clause about an attribute or a child, if they are known, or soon found.
    fn owners_if_few(&mut self, part: u32, elements: u32) -> Result<Option<Range<usize>>, Spent> {
        if let Some(known) = self.remembered.owners_of.get(&part) {
            return Ok(Some(known.clone()));
        }
        let Form::Exists {
            far: false,
            label,
            then,
        } = self.clauses.form(part)
        else {
            return Ok(None);
        };
        let nodes = match self.clauses.labels.kind(label) {
            Kind::Element => self.tree.elements.len(),
            Kind::Attribute => self.tree.attributes.len(),
            Kind::Text => return Ok(None),
        };
        if nodes > elements as usize * OWNERS_PER_ELEMENT {
            return Ok(None);
        }
        self.owners(part, label, then)
    }

    /// Whether a clause holds at an element (or the document node), by its table. `None` if it has none
    /// and looking has not taken long, or if there is no more room for tables.
    pub(super) fn tabled(
        &mut self,
        clause: u32,
        (far, label, then): (bool, u32, u32),
        element: u32,
    ) -> Result<Option<bool>, Spent> {
        let tables = if far {
            &self.remembered.nodes_of
        } else {
            &self.remembered.owners_of
        };
        let known = tables.get(&clause).cloned();
        let table = match known {
            Some(table) => Some(table),
            None if !self.is_long() => None,
            None if far => self.nodes(clause, label, then)?,
            None => self.owners(clause, label, then)?,
        };
        let Some(table) = table else {
            return Ok(None);
        };
        let places = &self.remembered.places[table];
        if !far {
            return Ok(Some(places.binary_search(&element).is_ok()));
        }
        let (start, end) = match self.clauses.labels.kind(label) {
            Kind::Element => self.below(element),
            Kind::Attribute => self.attributes(element, true),
            Kind::Text => self.texts(element),
        };
        let next = places.partition_point(|&place| place < start);
        Ok(Some(places.get(next).is_some_and(|&place| place < end)))
    }

    /// Makes the table of a clause about a child, an attribute or a text: the elements it holds at, and
    /// the document node as the last.
    fn owners(
        &mut self,
        clause: u32,
        label: u32,
        then: u32,
    ) -> Result<Option<Range<usize>>, Spent> {
        let mut found = match self.clauses.labels.kind(label) {
            Kind::Element => {
                let children = self.satisfying(label, then)?;
                let elements = &self.tree.elements;
                let parents = children.iter().map(|&it| elements[it as usize].parent);
                parents.collect()
            }
            Kind::Text => {
                let texts = self.satisfying(label, then)?;
                let owners = texts.iter().map(|&it| self.tree.texts[it as usize].owner);
                owners.collect()
            }
            Kind::Attribute => self.carriers(label, then)?,
        };
        found.sort_unstable();
        found.dedup();
        let range = self.remembered.keep(found);
        if let Some(range) = &range {
            self.remembered.owners_of.insert(clause, range.clone());
        }
        Ok(range)
    }

    /// Whether the first node that a chain leads to from an element (or the document node) passes a
    /// test, by its table. `None` as in [`Verifier::tabled`].
    pub(super) fn tabled_first(
        &mut self,
        clause: u32,
        chain: u32,
        element: u32,
    ) -> Result<Option<bool>, Spent> {
        let known = self.remembered.firsts_of.get(&clause).cloned();
        let table = match known {
            Some(table) => Some(table),
            None if !self.is_long() => None,
            None => {
                let (strides, test) = self.strides(chain);
                let found = self.leading(&strides, test)?;
                let range = self.remembered.keep(found);
                if let Some(range) = &range {
                    self.remembered.firsts_of.insert(clause, range.clone());
                }
                range
            }
        };
        let places = table.map(|it| &self.remembered.places[it]);
        Ok(places.map(|it| it.binary_search(&element).is_ok()))
    }

    /// The elements from which the first node that a chain leads to passes a test, and the document node
    /// as the last.
    ///
    /// One pass from the last element to the first, so that all below an element is known when its turn
    /// comes. For each element that has some below it, and each step, the first node is kept that the
    /// chain leads to from there on, beginning with this step.
    fn leading(&mut self, chain: &[Stride], test: u32) -> Result<Vec<u32>, Spent> {
        let Some((last, _)) = chain.split_last() else {
            return Ok(Vec::new());
        };
        let ends = self.first_ends(last)?;
        let (mut found, mut passed) = (Vec::new(), None);
        let mut firsts = vec![NONE; chain.len()];
        // Those that have turns to come and something below: each is inside the one before.
        let mut open: Vec<(u32, Vec<u32>)> = vec![(NONE, vec![NONE; chain.len()])];
        for element in (0..self.tree.elements.len() as u32).rev() {
            self.steps.take(steps_of(chain))?;
            match open.pop_if(|it| it.0 == element) {
                Some(below) => firsts = below.1,
                None => firsts.fill(NONE),
            }
            if last.kind != Kind::Element {
                let end = &mut firsts[chain.len() - 1];
                *end = (*end).min(ends[element as usize]);
            }
            if self.first_passes(firsts[0], last.kind, test, &mut passed)? {
                found.push(element);
            }
            let parent = self.tree.elements[element as usize].parent;
            if open.last().is_none_or(|it| it.0 != parent) {
                open.push((parent, vec![NONE; chain.len()]));
            }
            for (number, step) in chain.iter().enumerate() {
                let mut first = if step.far { firsts[number] } else { NONE };
                let next = match firsts.get(number + 1) {
                    Some(&next) => next,
                    None => element,
                };
                if next < first
                    && step.kind == Kind::Element
                    && self.has(At::Element(element), step.label)
                    && self.holds(step.then, At::Element(element))?
                {
                    first = next;
                }
                if let Some((_, above)) = open.last_mut() {
                    above[number] = above[number].min(first);
                }
            }
        }
        found.reverse();
        let first = open.first().map_or(NONE, |it| it.1[0]);
        if self.first_passes(first, last.kind, test, &mut passed)? {
            found.push(NONE);
        }
        Ok(found)
    }

    /// For each element the first of its own attributes or texts that a step asks for; none if it asks
    /// for elements.
    fn first_ends(&mut self, step: &Stride) -> Result<Vec<u32>, Spent> {
        let mut ends = Vec::new();
        if step.kind != Kind::Element {
            ends = vec![NONE; self.tree.elements.len()];
        }
        if step.kind == Kind::Text {
            for it in self.satisfying(step.label, step.then)?.into_iter().rev() {
                if let Some(end) = ends.get_mut(self.tree.texts[it as usize].owner as usize) {
                    *end = it;
                }
            }
        }
        if step.kind == Kind::Attribute {
            for element in 0..self.tree.elements.len() as u32 {
                ends[element as usize] = self.carried(element, step.label, step.then)?;
            }
        }
        Ok(ends)
    }

    /// Whether a node that a chain leads to is there and passes a test. Elements inside each other often
    /// have the same, so the last answer is kept.
    fn first_passes(
        &mut self,
        node: u32,
        kind: Kind,
        test: u32,
        last: &mut Option<(u32, bool)>,
    ) -> Answer {
        if node == NONE {
            return Ok(false);
        }
        if let Some((known, answer)) = *last
            && known == node
        {
            return Ok(answer);
        }
        let at = match kind {
            Kind::Element => At::Element(node),
            Kind::Attribute => At::Attribute(node),
            Kind::Text => At::Text(node),
        };
        let answer = self.passes(at, test)?;
        *last = Some((node, answer));
        Ok(answer)
    }

    /// Makes the table of a clause about a descendant: the nodes it asks for.
    fn nodes(&mut self, clause: u32, label: u32, then: u32) -> Result<Option<Range<usize>>, Spent> {
        let found = self.satisfying(label, then)?;
        let range = self.remembered.keep(found);
        if let Some(range) = &range {
            self.remembered.nodes_of.insert(clause, range.clone());
        }
        Ok(range)
    }

    /// The nodes of a label at which a clause holds, from the last to the first and then turned round:
    /// what is asked for lies below, and is known by then.
    fn satisfying(&mut self, label: u32, then: u32) -> Result<Vec<u32>, Spent> {
        let kind = self.clauses.labels.kind(label);
        let count = match kind {
            Kind::Element => self.element_classes.len(),
            Kind::Attribute => self.attribute_classes.len(),
            Kind::Text => self.tree.texts.len(),
        };
        let mut found = Vec::new();
        for it in (0..count as u32).rev() {
            self.steps.take(1)?;
            let at = match kind {
                Kind::Element => At::Element(it),
                Kind::Attribute => At::Attribute(it),
                Kind::Text => At::Text(it),
            };
            if self.has(at, label) && self.holds(then, at)? {
                found.push(it);
            }
        }
        found.reverse();
        Ok(found)
    }

    /// The elements with an attribute of this label at which a clause holds.
    fn carriers(&mut self, label: u32, then: u32) -> Result<Vec<u32>, Spent> {
        let mut found = Vec::new();
        for element in 0..self.tree.elements.len() as u32 {
            if self.carried(element, label, then)? != NONE {
                found.push(element);
            }
        }
        Ok(found)
    }

    /// The first attribute of an element with this label at which a clause holds, or NONE.
    fn carried(&mut self, element: u32, label: u32, then: u32) -> Result<u32, Spent> {
        let (start, end) = self.attributes(element, false);
        self.steps.take(1 + u64::from(end - start))?;
        for attribute in start..end {
            let class = self.attribute_classes[attribute as usize];
            if self.classes.has(class, label) && self.holds(then, At::Attribute(attribute))? {
                return Ok(attribute);
            }
        }
        Ok(NONE)
    }

    /// Whether a clause must hold, or cannot, because of the labels that the document does not have.
    pub fn constant(&mut self, clause: u32) -> Result<Option<bool>, Spent> {
        if let Some(&known) = self.remembered.constants.get(&clause) {
            return Ok(known);
        }
        self.steps.take(1)?;
        let constant = match self.clauses.form(clause) {
            Form::True => Some(true),
            Form::False => Some(false),
            Form::Exists { label, then, .. } => {
                let absent = !self.is_present(label)? || self.constant(then)? == Some(false);
                absent.then_some(false)
            }
            Form::SelfIs(label) => (!self.is_present(label)?).then_some(false),
            Form::All(a, b) => match (self.constant(a)?, self.constant(b)?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), other) | (other, Some(true)) => other,
                _ => None,
            },
            Form::Any(a, b) => match (self.constant(a)?, self.constant(b)?) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), other) | (other, Some(false)) => other,
                _ => None,
            },
            Form::Not(part) => self.constant(part)?.map(|it| !it),
            Form::AtDocument(part) | Form::First(part) => self.constant(part)?,
            Form::Link {
                label, then, next, ..
            } => {
                let absent = !self.is_present(label)?
                    || self.constant(then)? == Some(false)
                    || self.constant(next)? == Some(false);
                absent.then_some(false)
            }
            Form::Value(_) => None,
        };
        self.remembered.constants.insert(clause, constant);
        Ok(constant)
    }

    /// Whether the document has a node with a label.
    fn is_present(&mut self, label: u32) -> Answer {
        if self.remembered.labels.is_empty() {
            self.steps
                .take((self.element_classes.len() + self.attribute_classes.len()) as u64)?;
            let mut seen = vec![0u64; self.clauses.labels.len().div_ceil(64).max(1)];
            let mut classes: Vec<u32> = self.element_classes.to_vec();
            classes.extend_from_slice(self.attribute_classes);
            if !self.tree.texts.is_empty() {
                classes.push(self.classes.text());
            }
            classes.sort_unstable();
            classes.dedup();
            for class in classes {
                for &label in self.classes.labels(class) {
                    seen[label as usize / 64] |= 1 << (label % 64);
                }
            }
            self.remembered.labels = seen;
        }
        let labels = &self.remembered.labels;
        Ok(labels[label as usize / 64] >> (label % 64) & 1 == 1)
    }
}
