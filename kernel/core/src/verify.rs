//! Whether a clause holds at a node, by looking.
//!
//! Most patterns are decided by the marks alone. What is left (a twig with several elements at a join,
//! `not`, a first node's value) is evaluated here on the arrays. Answers about elements with much
//! below them are remembered for the rest of the document, under the clause's number; since equal
//! clauses of all patterns have one number, they are shared, and no clause is asked of such an
//! element twice. With the depth of documents bounded this keeps the work linear in their size.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::classes::Classes;
use crate::clause::{Clauses, Form};
use crate::pattern::Kind;
use crate::tree::{NONE, Tree};
use crate::value::Value;

/// Elements with fewer descendants are looked through again rather than remembered.
const REMEMBERED_MIN: u32 = 64;

/// How many answers, and how many owners, are remembered for a document: some 100 MB in the worst case.
const REMEMBERED_MAX: usize = 4_000_000;

/// All nodes of a kind are looked through once if there are at most so many for each element that would
/// have to be looked at otherwise: a look at a name is as much cheaper than one at an element.
const OWNERS_PER_ELEMENT: usize = 4;

/// A node of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The document node.
    Document,
    /// An element.
    Element(u32),
    /// An attribute.
    Attribute(u32),
    /// A text node.
    Text(u32),
}

/// What is remembered while one document is verified.
#[derive(Default)]
pub struct Remembered {
    /// The elements that clauses about an attribute or a child hold at, one list behind the other.
    owners: Vec<u32>,
    owners_of: FxHashMap<u32, Range<usize>>,
    answers: FxHashMap<u64, bool>,
}

impl Remembered {
    /// Begins a document.
    pub fn begin(&mut self) {
        if self.owners.capacity() > REMEMBERED_MAX / 16 {
            self.owners = Vec::new();
        }
        self.owners.clear();
        self.owners_of.clear();
        if self.answers.capacity() > REMEMBERED_MAX / 16 {
            self.answers = FxHashMap::default();
        } else {
            self.answers.clear();
        }
    }
}

/// A document and what is needed to ask about it.
pub struct Verifier<'a> {
    /// The document.
    pub tree: &'a Tree,
    /// What patterns say.
    pub clauses: &'a Clauses,
    /// Which labels names have.
    pub classes: &'a Classes,
    /// The class of each element.
    pub element_classes: &'a [u32],
    /// The class of each attribute.
    pub attribute_classes: &'a [u32],
    /// Answers so far.
    pub remembered: &'a mut Remembered,
}

impl Verifier<'_> {
    /// Whether a clause holds at a node.
    pub fn holds(&mut self, clause: u32, at: At) -> bool {
        match self.clauses.form(clause) {
            Form::True => true,
            Form::False | Form::Link { .. } => false,
            Form::Exists { far, label, then } => self.exists(clause, at, far, label, then),
            Form::SelfIs(label) => self.has(at, label),
            Form::Value(test) => self.passes(at, test),
            Form::All(a, b) => self.holds(a, at) && self.holds(b, at),
            Form::Any(a, b) => self.holds(a, at) || self.holds(b, at),
            Form::Not(part) => !self.holds(part, at),
            Form::AtDocument(part) => self.holds(part, At::Document),
            Form::First(chain) => self.first(chain, at),
        }
    }

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
    ) -> Option<bool> {
        let Form::All(part, rest) = self.clauses.form(clause) else {
            return None;
        };
        let owners = self.owners(part, elements)?;
        Some(owners.into_iter().any(|place| {
            let element = self.remembered.owners[place];
            is_one(element) && self.holds(rest, At::Element(element))
        }))
    }

    /// Where the elements are remembered that a clause about an attribute or a child holds at.
    fn owners(&mut self, clause: u32, elements: u32) -> Option<Range<usize>> {
        if let Some(known) = self.remembered.owners_of.get(&clause) {
            return Some(known.clone());
        }
        let Form::Exists {
            far: false,
            label,
            then,
        } = self.clauses.form(clause)
        else {
            return None;
        };
        let kind = self.clauses.labels.kind(label);
        let nodes = match kind {
            Kind::Element => self.tree.elements.len(),
            Kind::Attribute => self.tree.attributes.len(),
            Kind::Text => return None,
        };
        let is_full = self.remembered.owners.len() > REMEMBERED_MAX;
        if is_full || nodes > elements as usize * OWNERS_PER_ELEMENT {
            return None;
        }
        let mut found = if kind == Kind::Element {
            self.parents(label, then)
        } else {
            self.carriers(label, then)
        };
        found.sort_unstable();
        found.dedup();
        let start = self.remembered.owners.len();
        self.remembered.owners.append(&mut found);
        let range = start..self.remembered.owners.len();
        self.remembered.owners_of.insert(clause, range.clone());
        Some(range)
    }

    /// The elements with a child of this label at which a clause holds.
    fn parents(&mut self, label: u32, then: u32) -> Vec<u32> {
        let mut found = Vec::new();
        for (element, &class) in self.element_classes.iter().enumerate() {
            let parent = self.tree.elements[element].parent;
            if parent != NONE
                && self.classes.has(class, label)
                && self.holds(then, At::Element(element as u32))
            {
                found.push(parent);
            }
        }
        found
    }

    /// The elements with an attribute of this label at which a clause holds.
    fn carriers(&mut self, label: u32, then: u32) -> Vec<u32> {
        let mut found = Vec::new();
        for element in 0..self.tree.elements.len() as u32 {
            let (start, end) = self.attributes(element, false);
            for attribute in start..end {
                let class = self.attribute_classes[attribute as usize];
                if self.classes.has(class, label) && self.holds(then, At::Attribute(attribute)) {
                    found.push(element);
                }
            }
        }
        found
    }

    fn exists(&mut self, clause: u32, at: At, far: bool, label: u32, then: u32) -> bool {
        let element = match at {
            At::Document => NONE,
            At::Element(element) => element,
            At::Attribute(_) | At::Text(_) => return false,
        };
        let (start, end) = self.below(element);
        if end - start < REMEMBERED_MIN {
            return self.search(element, far, label, then);
        }
        let key = u64::from(clause) << 32 | u64::from(element);
        if let Some(&known) = self.remembered.answers.get(&key) {
            return known;
        }
        let found = self.search(element, far, label, then);
        if self.remembered.answers.len() < REMEMBERED_MAX {
            self.remembered.answers.insert(key, found);
        }
        found
    }

    /// The descendants of an element, or of the document node.
    fn below(&self, element: u32) -> (u32, u32) {
        if element == NONE {
            (0, self.tree.elements.len() as u32)
        } else {
            (element + 1, self.tree.elements[element as usize].end)
        }
    }

    fn search(&mut self, element: u32, far: bool, label: u32, then: u32) -> bool {
        let always = self.clauses.form(then) == Form::True;
        match self.clauses.labels.kind(label) {
            Kind::Element => {
                let (mut next, end) = self.below(element);
                while next < end {
                    let found = self.classes.has(self.element_classes[next as usize], label);
                    if found && (always || self.holds(then, At::Element(next))) {
                        return true;
                    }
                    next = if far {
                        next + 1
                    } else {
                        self.tree.elements[next as usize].end
                    };
                }
                false
            }
            Kind::Attribute => {
                let (start, end) = self.attributes(element, far);
                (start..end).any(|it| {
                    let found = self.classes.has(self.attribute_classes[it as usize], label);
                    found && (always || self.holds(then, At::Attribute(it)))
                })
            }
            Kind::Text => {
                let (start, end) = self.texts(element);
                (start..end).any(|it| {
                    let found = far || self.tree.texts[it as usize].owner == element;
                    found && (always || self.holds(then, At::Text(it)))
                })
            }
        }
    }

    /// The attributes of an element, or of it and all its descendants.
    fn attributes(&self, element: u32, far: bool) -> (u32, u32) {
        let elements = &self.tree.elements;
        let total = self.tree.attributes.len() as u32;
        let start_of = |it: u32| elements.get(it as usize).map_or(total, |it| it.attributes);
        match (element, far) {
            (NONE, false) => (0, 0),
            (NONE, true) => (0, total),
            (_, false) => (start_of(element), start_of(element + 1)),
            (_, true) => (start_of(element), start_of(elements[element as usize].end)),
        }
    }

    /// The text nodes inside an element, at any depth.
    fn texts(&self, element: u32) -> (u32, u32) {
        let texts = &self.tree.texts;
        if element == NONE {
            return (0, texts.len() as u32);
        }
        let here = &self.tree.elements[element as usize];
        let start = here.texts as usize;
        // Behind the last of them, if any, comes one that an element above or one further on owns.
        let count = texts[start..]
            .iter()
            .take_while(|it| (element..here.end).contains(&it.owner))
            .count();
        (start as u32, (start + count) as u32)
    }

    fn has(&self, at: At, label: u32) -> bool {
        let class = match at {
            At::Document => return false,
            At::Element(it) => self.element_classes[it as usize],
            At::Attribute(it) => self.attribute_classes[it as usize],
            At::Text(_) => self.classes.text(),
        };
        self.classes.has(class, label)
    }

    fn passes(&self, at: At, test: u32) -> bool {
        let slice = |buffer: &'_ [u8], start: u32, end: u32| -> std::ops::Range<usize> {
            debug_assert!(end as usize <= buffer.len());
            start as usize..end as usize
        };
        let tree = self.tree;
        let text = match at {
            At::Document => &tree.text[..],
            At::Element(it) => {
                let it = &tree.elements[it as usize];
                &tree.text[slice(&tree.text, it.text_start, it.text_end)]
            }
            At::Attribute(it) => {
                let it = &tree.attributes[it as usize];
                &tree.values[slice(&tree.values, it.start, it.end)]
            }
            At::Text(it) => {
                let it = &tree.texts[it as usize];
                &tree.text[slice(&tree.text, it.start, it.end)]
            }
        };
        self.clauses.tests.passes(test, &mut Value::new(text))
    }

    /// Whether the first node in document order that a chain of steps leads to passes its test.
    ///
    /// One pass over what is below. Of each open element two sets of numbers are known, as bits: how
    /// many of the steps lead exactly here (`at`), and how many lead here or to an element above.
    fn first(&mut self, chain: u32, at: At) -> bool {
        let element = match at {
            At::Document => NONE,
            At::Element(element) => element,
            At::Attribute(_) | At::Text(_) => {
                let itself = self.clauses.form(chain);
                return matches!(itself, Form::Value(test) if self.passes(at, test));
            }
        };
        let (steps, test) = self.steps(chain);
        match self.first_node(&steps, element) {
            Some(node) => self.passes(node, test),
            None => false,
        }
    }

    fn steps(&self, chain: u32) -> (Vec<Stride>, u32) {
        let (mut chain, mut steps) = (chain, Vec::new());
        loop {
            match self.clauses.form(chain) {
                Form::Link {
                    far,
                    label,
                    then,
                    next,
                } => {
                    let kind = self.clauses.labels.kind(label);
                    steps.push(Stride {
                        far,
                        label,
                        then,
                        kind,
                    });
                    chain = next;
                }
                Form::Value(test) => return (steps, test),
                _ => return (steps, 0),
            }
        }
    }

    fn first_node(&mut self, steps: &[Stride], element: u32) -> Option<At> {
        if steps.is_empty() {
            return Some(if element == NONE {
                At::Document
            } else {
                At::Element(element)
            });
        }
        let mut best: Option<u32> = None; // a text, which one further down may precede
        let (start, end) = self.below(element);
        let mut open: Vec<(u32, Bitset, Bitset)> = vec![(end, Bitset::of(0), Bitset::of(0))];
        if let Some(leaf) = self.first_leaf(steps, element, &open[0].1, &open[0].2) {
            match leaf {
                At::Text(text) => best = Some(text),
                _ => return Some(leaf),
            }
        }
        for next in start..end {
            while open.last().is_some_and(|it| it.0 <= next) {
                open.pop();
            }
            let (_, at, passed) = open.last()?;
            let here = self.advanced(steps, next, &at.clone(), &passed.clone());
            if here.has(steps.len()) {
                return Some(self.earlier(best, next));
            }
            let passed = open.last()?.2.union(&here);
            if let Some(leaf) = self.first_leaf(steps, next, &here, &passed) {
                match leaf {
                    At::Text(text) => best = Some(best.map_or(text, |known| known.min(text))),
                    _ => return Some(leaf),
                }
            }
            open.push((self.tree.elements[next as usize].end, here, passed));
        }
        best.map(At::Text)
    }

    /// All steps end in one kind of node, so a text is never compared with an element.
    fn earlier(&self, best: Option<u32>, element: u32) -> At {
        best.map_or(At::Element(element), At::Text)
    }

    fn advanced(&mut self, steps: &[Stride], element: u32, at: &Bitset, passed: &Bitset) -> Bitset {
        let mut found = Bitset::default();
        let class = self.element_classes[element as usize];
        for (number, step) in steps.iter().enumerate() {
            let ready = if step.far {
                passed.has(number)
            } else {
                at.has(number)
            };
            if ready
                && step.kind == Kind::Element
                && self.classes.has(class, step.label)
                && self.holds(step.then, At::Element(element))
            {
                found.set(number + 1);
            }
        }
        found
    }

    /// The first attribute or text of an element that all the steps lead to.
    fn first_leaf(
        &mut self,
        steps: &[Stride],
        element: u32,
        at: &Bitset,
        passed: &Bitset,
    ) -> Option<At> {
        let step = *steps.last()?;
        let ready = if step.far { passed } else { at }.has(steps.len() - 1);
        if !ready || element == NONE {
            return None;
        }
        match step.kind {
            Kind::Element => None,
            Kind::Attribute => {
                let (start, end) = self.attributes(element, false);
                (start..end)
                    .map(At::Attribute)
                    .find(|&it| self.has(it, step.label) && self.holds(step.then, it))
            }
            Kind::Text => {
                let (start, end) = self.texts(element);
                let own = (start..end).filter(|&it| self.tree.texts[it as usize].owner == element);
                let own: Vec<u32> = own.collect();
                own.into_iter()
                    .map(At::Text)
                    .find(|&it| self.holds(step.then, it))
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Stride {
    far: bool,
    label: u32,
    then: u32,
    kind: Kind,
}

/// A small set of small numbers; patterns have at most 64 steps, and one more number than steps.
#[derive(Clone, Copy, Default)]
struct Bitset(u128);

impl Bitset {
    fn of(number: usize) -> Self {
        Bitset(1 << number)
    }

    fn has(self, number: usize) -> bool {
        number < 128 && self.0 >> number & 1 == 1
    }

    fn set(&mut self, number: usize) {
        self.0 |= 1 << number.min(127);
    }

    fn union(self, other: &Self) -> Self {
        Bitset(self.0 | other.0)
    }
}
