//! Whether a clause holds at a node, by looking.
//!
//! Most patterns are decided by the fired bits alone. What is left (a twig with several elements at a
//! join, `not`, a first node's value) is evaluated here on the arrays, in counted steps.
//!
//! Looking is quick where little is below an element, or where something is found early, and that is
//! nearly always so. But `a[not(.//a[not(.//a[…])])]` on nested elements would look through the same
//! ones over and over. So a pattern may look for a number of steps that grows with the document
//! ([`DIRECT_STEPS`]); after that every clause it comes to gets a table of all the nodes that satisfy it
//! ([`tables`]), made once for the document, and a question is a look into that table. The work for
//! one pattern is then bounded by its parts times the nodes, whatever they are.

use crate::document::classes::Classes;
use crate::document::tree::{NONE, Tree};
use crate::matching::steps::{Answer, BYTES_PER_STEP, Spent, Steps};
use crate::matching::value::Value;
use crate::pattern::clause::{Clauses, Form};
use crate::pattern::{Kind, Operator};

mod first;
mod tables;

pub use tables::Remembered;

/// So many bytes of text are looked through in one step from behind.
const BYTES_BACK_PER_STEP: usize = 2;

/// Answers about elements with fewer descendants are remembered only when looking has taken long.
const REMEMBERED_MIN: u32 = 64;

/// For so many steps, and so many more for each element of the document, one pattern is looked at
/// without tables: more than patterns on real documents take, and less than making tables for all.
const DIRECT_STEPS: u64 = 4096;
const DIRECT_STEPS_PER_ELEMENT: u64 = 4;

/// A text of so many bytes is not searched before it is known where the document has the needle.
const LONG_TEXT: usize = 4096;

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
    /// The work so far.
    pub steps: Steps,
    /// When fewer steps are left, tables are made.
    pub direct_left: u64,
}

impl Verifier<'_> {
    /// Begins with another pattern, which may be looked at for a while without tables.
    pub fn begin_pattern(&mut self) {
        let elements = self.tree.elements.len() as u64;
        let direct = DIRECT_STEPS + DIRECT_STEPS_PER_ELEMENT * elements;
        self.direct_left = self.steps.left().saturating_sub(direct);
    }

    /// Whether a clause holds at a node.
    pub fn holds(&mut self, clause: u32, at: At) -> Answer {
        self.steps.take(1)?;
        match self.clauses.form(clause) {
            Form::True => Ok(true),
            Form::False | Form::Link { .. } => Ok(false),
            Form::Exists { far, label, then } => self.exists(clause, at, far, label, then),
            Form::SelfIs(label) => Ok(self.has(at, label)),
            Form::Value(test) => self.passes(at, test),
            Form::All(a, b) => Ok(self.holds(a, at)? && self.holds(b, at)?),
            Form::Any(a, b) => Ok(self.holds(a, at)? || self.holds(b, at)?),
            Form::Not(part) => Ok(!self.holds(part, at)?),
            Form::AtDocument(part) => self.holds(part, At::Document),
            Form::First(chain) => self.first(clause, chain, at),
        }
    }

    /// Whether looking has taken so long that tables are made.
    #[inline]
    fn is_long(&self) -> bool {
        self.steps.left() < self.direct_left
    }

    fn exists(&mut self, clause: u32, at: At, far: bool, label: u32, then: u32) -> Answer {
        let element = match at {
            At::Document => NONE,
            At::Element(element) => element,
            At::Attribute(_) | At::Text(_) => return Ok(false),
        };
        if self.is_long() || self.remembered.has_tables() {
            let asked = (far, label, then);
            if let Some(answer) = self.tabled(clause, asked, element)? {
                return Ok(answer);
            }
        }
        let (start, end) = self.below(element);
        if end - start < REMEMBERED_MIN {
            return self.search(element, far, label, then);
        }
        if let Some(known) = self.remembered.answer(clause, element) {
            return Ok(known);
        }
        let found = self.search(element, far, label, then)?;
        self.remembered.keep_answer(clause, element, found);
        Ok(found)
    }

    /// The descendants of an element, or of the document node.
    fn below(&self, element: u32) -> (u32, u32) {
        if element == NONE {
            (0, self.tree.elements.len() as u32)
        } else {
            (element + 1, self.tree.elements[element as usize].end)
        }
    }

    fn search(&mut self, element: u32, far: bool, label: u32, then: u32) -> Answer {
        let always = self.clauses.is_true(then);
        // Counted in a register; a single search goes through the document once at most.
        let mut seen = 0;
        let asked = self.classes.asked(label);
        match self.clauses.labels.kind(label) {
            Kind::Element => {
                let (mut next, end) = self.below(element);
                while next < end {
                    seen += 1;
                    let found = asked.is_of(self.element_classes[next as usize]);
                    if found && (always || self.holds(then, At::Element(next))?) {
                        return self.steps.take(seen).map(|()| true);
                    }
                    next = if far {
                        next + 1
                    } else {
                        self.tree.elements[next as usize].end
                    };
                }
            }
            Kind::Attribute => {
                let (start, end) = self.attributes(element, far);
                for it in start..end {
                    seen += 1;
                    let found = asked.is_of(self.attribute_classes[it as usize]);
                    if found && (always || self.holds(then, At::Attribute(it))?) {
                        return self.steps.take(seen).map(|()| true);
                    }
                }
            }
            Kind::Text => {
                let (start, end) = self.texts(element);
                for it in start..end {
                    seen += 1;
                    let found = far || self.tree.texts[it as usize].owner == element;
                    if found && (always || self.holds(then, At::Text(it))?) {
                        return self.steps.take(seen).map(|()| true);
                    }
                }
            }
        }
        self.steps.take(seen).map(|()| false)
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
        let (elements, texts) = (&self.tree.elements, &self.tree.texts);
        if element == NONE {
            return (0, texts.len() as u32);
        }
        let here = &elements[element as usize];
        let start = here.texts as usize;
        // Before the element that follows there may be texts that an element above owns.
        let next = elements.get(here.end as usize);
        let end = next.map_or(texts.len(), |it| it.texts as usize);
        let inside = |it: &crate::document::tree::TextNode| (element..here.end).contains(&it.owner);
        let count = texts[start..end].partition_point(inside);
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

    fn passes(&mut self, at: At, test: u32) -> Answer {
        let tree = self.tree;
        let (text, start) = match at {
            At::Document => (&tree.text[..], Some(0)),
            At::Element(it) => {
                let it = &tree.elements[it as usize];
                let (start, end) = (it.text_start as usize, it.text_end as usize);
                (&tree.text[start..end], Some(start))
            }
            At::Attribute(it) => {
                let it = &tree.attributes[it as usize];
                (&tree.values[it.start as usize..it.end as usize], None)
            }
            At::Text(it) => {
                let it = &tree.texts[it as usize];
                let (start, end) = (it.start as usize, it.end as usize);
                (&tree.text[start..end], Some(start))
            }
        };
        let tests = &self.clauses.tests;
        let record = tests.record(test);
        let operator = record.operator();
        if operator == Operator::Contains
            && text.len() >= LONG_TEXT
            && let Some(start) = start
            && let Some(known) = self.contains_known(test, start, start + text.len())?
        {
            return Ok(known);
        }
        self.steps.take(read_steps(operator, text.len()))?;
        Ok(tests.passes_record(record, &mut Value::new(text)))
    }

    /// Whether a part of a long text has a needle, as far as the first and the last place show where the
    /// document has it.
    #[cold]
    fn contains_known(
        &mut self,
        test: u32,
        start: usize,
        end: usize,
    ) -> Result<Option<bool>, Spent> {
        let needle = self.clauses.tests.text(test);
        let places = match self.remembered.places(test) {
            Some(known) => known,
            None => {
                let text = &self.tree.text[..];
                self.steps.take((text.len() / BYTES_PER_STEP) as u64)?;
                let mut found = None;
                if let Some(first) = memchr::memmem::find(text, needle) {
                    // Backwards it goes letter by letter.
                    let behind = &text[first..];
                    self.steps
                        .take((behind.len() / BYTES_BACK_PER_STEP) as u64)?;
                    let last = memchr::memmem::rfind(behind, needle).map_or(first, |it| first + it);
                    found = Some((first as u32, last as u32));
                }
                self.remembered.keep_places(test, found);
                found
            }
        };
        let Some((first, last)) = places else {
            return Ok(Some(false));
        };
        let inside = |place: u32| {
            let place = place as usize;
            start <= place && place + needle.len() <= end
        };
        Ok(if inside(first) || inside(last) {
            Some(true)
        } else if first as usize + needle.len() > end || (last as usize) < start {
            Some(false)
        } else {
            None
        })
    }
}

/// The steps that a test takes on a text of some length: only some tests have to read it all.
#[inline]
pub(crate) fn read_steps(operator: Operator, length: usize) -> u64 {
    let bytes_per_step = match operator {
        Operator::Contains => BYTES_PER_STEP,
        Operator::Equal | Operator::Unequal | Operator::StartsWith => return 1,
        Operator::Less | Operator::AtMost | Operator::Greater | Operator::AtLeast => 4,
    };
    1 + (length / bytes_per_step) as u64
}
