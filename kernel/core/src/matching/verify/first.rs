//! The first node in document order that a chain of steps leads to.

use super::{At, REMEMBERED_MIN, Verifier};
use crate::document::tree::NONE;
use crate::matching::steps::{Answer, Spent};
use crate::pattern::Kind;
use crate::pattern::clause::Form;

/// So many attributes or texts are looked at in one step: most of an outer element's are others'.
const LEAVES_PER_STEP: u64 = 4;

impl Verifier<'_> {
    /// Whether the first node in document order that a chain of steps leads to passes its test.
    ///
    /// One pass over what is below. Of each open element two sets of numbers are known, as bits: how
    /// many of the steps lead exactly here (`at`), and how many lead here or to an element above.
    pub(super) fn first(&mut self, clause: u32, chain: u32, at: At) -> Answer {
        if let Form::Value(test) = self.clauses.form(chain) {
            return self.passes(at, test);
        }
        let element = match at {
            At::Document => NONE,
            At::Element(element) => element,
            At::Attribute(_) | At::Text(_) => return Ok(false),
        };
        if let Some(known) = self.tabled_first(clause, chain, element)? {
            return Ok(known);
        }
        let (start, end) = self.below(element);
        let remembers = end - start >= REMEMBERED_MIN;
        if remembers && let Some(known) = self.remembered.answer(clause, element) {
            return Ok(known);
        }
        let (strides, test) = self.strides(chain);
        let found = match self.first_node(&strides, element)? {
            Some(node) => self.passes(node, test)?,
            None => false,
        };
        if remembers {
            self.remembered.keep_answer(clause, element, found);
        }
        Ok(found)
    }

    pub(super) fn strides(&self, chain: u32) -> (Vec<Stride>, u32) {
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

    fn first_node(&mut self, steps: &[Stride], element: u32) -> Result<Option<At>, Spent> {
        let mut best: Option<u32> = None; // a text, which one further down may precede
        let (start, end) = self.below(element);
        let mut open: Vec<(u32, Bitset, Bitset)> = vec![(end, Bitset::of(0), Bitset::of(0))];
        if let Some(leaf) = self.first_leaf(steps, element, open[0].1, open[0].2)? {
            match leaf {
                At::Text(text) => best = Some(text),
                _ => return Ok(Some(leaf)),
            }
        }
        for next in start..end {
            self.steps.take(steps_of(steps))?;
            while open.last().is_some_and(|it| it.0 <= next) {
                open.pop();
            }
            let Some(&(_, at, passed)) = open.last() else {
                break;
            };
            let here = self.advanced(steps, next, at, passed)?;
            if here.has(steps.len()) {
                return Ok(Some(self.earlier(best, next)));
            }
            let passed = passed.union(here);
            if let Some(leaf) = self.first_leaf(steps, next, here, passed)? {
                match leaf {
                    At::Text(text) => best = Some(best.map_or(text, |known| known.min(text))),
                    _ => return Ok(Some(leaf)),
                }
            }
            open.push((self.tree.elements[next as usize].end, here, passed));
        }
        Ok(best.map(At::Text))
    }

    /// All steps end in one kind of node, so a text is never compared with an element.
    fn earlier(&self, best: Option<u32>, element: u32) -> At {
        best.map_or(At::Element(element), At::Text)
    }

    fn advanced(
        &mut self,
        steps: &[Stride],
        element: u32,
        at: Bitset,
        passed: Bitset,
    ) -> Result<Bitset, Spent> {
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
                && self.holds(step.then, At::Element(element))?
            {
                found.set(number + 1);
            }
        }
        Ok(found)
    }

    /// The first attribute or text of an element that all the steps lead to.
    fn first_leaf(
        &mut self,
        steps: &[Stride],
        element: u32,
        at: Bitset,
        passed: Bitset,
    ) -> Result<Option<At>, Spent> {
        let Some(&step) = steps.last() else {
            return Ok(None);
        };
        let ready = if step.far { passed } else { at }.has(steps.len() - 1);
        if !ready || element == NONE {
            return Ok(None);
        }
        let (start, end) = match step.kind {
            Kind::Element => return Ok(None),
            Kind::Attribute => self.attributes(element, false),
            Kind::Text => self.texts(element),
        };
        let mut seen = 0;
        for it in start..end {
            seen += 1;
            let (at, is_own) = match step.kind {
                Kind::Text => (At::Text(it), self.tree.texts[it as usize].owner == element),
                _ => (At::Attribute(it), self.has(At::Attribute(it), step.label)),
            };
            if is_own && self.holds(step.then, at)? {
                return self
                    .steps
                    .take(1 + seen / LEAVES_PER_STEP)
                    .map(|()| Some(at));
            }
        }
        self.steps.take(1 + seen / LEAVES_PER_STEP).map(|()| None)
    }
}

/// One step of a chain.
#[derive(Clone, Copy)]
pub(super) struct Stride {
    pub(super) far: bool,
    pub(super) label: u32,
    pub(super) then: u32,
    pub(super) kind: Kind,
}

/// What it takes to try a chain of steps at one element, apart from what they ask for there.
pub(super) fn steps_of(chain: &[Stride]) -> u64 {
    2 + chain.len() as u64
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

    fn union(self, other: Self) -> Self {
        Bitset(self.0 | other.0)
    }
}
