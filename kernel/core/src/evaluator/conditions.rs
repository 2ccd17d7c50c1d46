//! Whether something holds at a node: forward, stopping at the first proof, and remembered.
//!
//! Where a condition was asked at many nodes, and looking for each from there took some times as many
//! visits as there are nodes, all answers are found at once instead: the nodes that are good enough
//! are collected, and the axis is followed back from them, which is linear.

use std::sync::Arc;

use crate::evaluator::axes::reverse::sources;
use crate::evaluator::axes::{Walk, range, walk};
use crate::evaluator::graph::{Entry, Expr, Graph, Id, TRUE, TestId};
use crate::evaluator::memory::Memory;
use crate::evaluator::nodes::{DOCUMENT, Document};
use crate::evaluator::syntax::{Axis, Kind, Test};

/// Visits from single nodes that one condition may take, in times the nodes of the document; then all
/// its answers are worked out at once.
pub const VISITS_EACH: u64 = 4;

/// Bytes of strings that are one step.
pub const BYTES_PER_STEP: usize = 32;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It would take more steps than were given.
    Spent,
    /// Only libxml2 knows, since the document has declarations.
    Unsure,
}

/// An answer, or why there is none.
pub type Answer<T> = Result<T, Stop>;

/// Where something is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The context node.
    pub node: u32,
    /// Its position.
    pub position: u32,
    /// Among so many.
    pub size: u32,
}

impl At {
    /// At one node alone.
    pub fn alone(node: u32) -> Self {
        At {
            node,
            position: 1,
            size: 1,
        }
    }
}

/// The evaluation of expressions on one document.
pub struct Run<'a> {
    pub(super) graph: &'a Graph,
    pub(super) document: Document<'a>,
    pub(super) memory: &'a mut Memory,
    /// Steps taken so far.
    pub steps: u64,
    /// Steps that may be taken.
    pub steps_max: u64,
    /// See [`VISITS_EACH`].
    pub visits_each: u64,
}

impl<'a> Run<'a> {
    /// Begins with nothing known.
    pub fn new(
        graph: &'a Graph,
        document: Document<'a>,
        memory: &'a mut Memory,
        steps_max: u64,
    ) -> Self {
        memory.begin(graph, &document);
        Run {
            graph,
            document,
            memory,
            steps: 0,
            steps_max,
            visits_each: VISITS_EACH,
        }
    }

    /// Whether an expression holds of the document.
    pub fn decide(&mut self, id: Id) -> Answer<bool> {
        let (tree, entry) = (self.document.tree, self.graph.entry(id));
        if tree.subset_has_remarks && entry.may_meet_remarks
            || tree.subset_has_nodes && entry.may_meet_nodes
        {
            return Err(Stop::Unsure);
        }
        self.holds(id, At::alone(DOCUMENT))
    }

    /// Takes steps.
    #[inline]
    pub(super) fn spend(&mut self, steps: u64) -> Answer<()> {
        self.steps += steps;
        if self.steps > self.steps_max {
            return Err(Stop::Spent);
        }
        Ok(())
    }

    /// Takes the steps that a string of so many bytes is worth.
    pub(super) fn spend_bytes(&mut self, bytes: usize) -> Answer<()> {
        self.spend((bytes / BYTES_PER_STEP) as u64)
    }

    /// Whether a condition holds at a node.
    pub fn holds(&mut self, id: Id, at: At) -> Answer<bool> {
        let entry = self.graph.entry(id);
        match &entry.expr {
            Expr::Constant(known) => Ok(*known),
            Expr::Not(part) => Ok(!self.holds(*part, at)?),
            Expr::AtRoot(part) => self.holds(*part, At::alone(DOCUMENT)),
            Expr::All(parts) => {
                for &part in parts {
                    if !self.holds(part, at)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Expr::Any(parts) => {
                for &part in parts {
                    if self.holds(part, at)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ if entry.is_positional => self.found(id, entry, at),
            _ => self.remembered(id, entry, at),
        }
    }

    fn remembered(&mut self, id: Id, entry: &'a Entry, at: At) -> Answer<bool> {
        let node = if entry.is_local { at.node } else { DOCUMENT };
        if let Some(known) = self.memory.answer(id, node) {
            return Ok(known);
        }
        self.spend(1)?;
        let answer = self.found(id, entry, at)?;
        self.memory
            .remember(id, node, answer, self.document.nodes.len());
        Ok(answer)
    }

    /// The answer, worked out.
    fn found(&mut self, id: Id, entry: &'a Entry, at: At) -> Answer<bool> {
        match &entry.expr {
            Expr::Has(axis, test, holds) => self.has(id, *axis, *test, *holds, at.node),
            Expr::Picked(axis, test, predicates, holds) => {
                let picked = self.picked(*axis, *test, predicates, at.node)?;
                self.some(&picked, *holds)
            }
            Expr::In(set, holds) => {
                let set = self.nodes(*set, at)?;
                self.some(&set, *holds)
            }
            Expr::Compared(comparison, left, right) => {
                self.compared(*comparison, *left, *right, at)
            }
            Expr::Contains(text, part) => self.contains(*text, *part, at),
            Expr::StartsWith(text, start) => self.starts_with(*text, *start, at),
            Expr::Lang(language) => self.lang(*language, at),
            Expr::Truth(value) if self.graph.expr(*value).kind() == Kind::Number => {
                let number = self.number(*value, at)?;
                Ok(number != 0.0 && !number.is_nan())
            }
            Expr::Truth(value) => Ok(!self.text(*value, at)?.is_empty()),
            _ => self.holds(id, at),
        }
    }

    /// Whether a condition holds at one of the nodes.
    fn some(&mut self, nodes: &[u32], holds: Id) -> Answer<bool> {
        for &node in nodes {
            if self.holds(holds, At::alone(node))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether some node of the axis passes the test, and the condition holds there.
    fn has(&mut self, id: Id, axis: Axis, test: TestId, holds: Id, node: u32) -> Answer<bool> {
        let mut way = self.way(axis, test, node)?;
        let mut answer = false;
        while let Some(found) = self.next(&mut way)? {
            if holds == TRUE || self.holds(holds, At::alone(found))? {
                answer = true;
                break;
            }
        }
        let max = self.visits_each * self.document.nodes.len() as u64;
        if self.memory.visited(id, way.visited, max) {
            self.tabulate(id, axis, test, holds)?;
        }
        Ok(answer)
    }

    /// Finds all answers of a condition at once.
    fn tabulate(&mut self, id: Id, axis: Axis, test: TestId, holds: Id) -> Answer<()> {
        let count = self.document.nodes.len();
        self.spend(count as u64 / 8)?;
        let passing: Vec<u32> = match self.list(test)? {
            Some((start, end)) => self.memory.listed(start, end).to_vec(),
            None => (0..count as u32).collect(),
        };
        let mut goals = Vec::new();
        for node in passing {
            self.spend(1)?;
            if holds == TRUE || self.holds(holds, At::alone(node))? {
                goals.push(node);
            }
        }
        let marks = sources(&self.document, axis, &goals);
        self.spend(count as u64)?;
        self.memory.remember_all(id, &marks, count);
        Ok(())
    }

    /// The nodes of an axis that pass a test and that predicates leave, nearest first.
    pub(super) fn picked(
        &mut self,
        axis: Axis,
        test: TestId,
        predicates: &[Id],
        node: u32,
    ) -> Answer<Vec<u32>> {
        let mut way = self.way(axis, test, node)?;
        let most = self.counted_to(predicates);
        let mut found = Vec::new();
        while found.len() < most
            && let Some(node) = self.next(&mut way)?
        {
            found.push(node);
        }
        for &predicate in predicates {
            found = self.left(found, predicate)?;
        }
        Ok(found)
    }

    /// How many nodes are enough for predicates of which the first is a number.
    fn counted_to(&self, predicates: &[Id]) -> usize {
        let first = predicates.first().and_then(|&it| self.place(it));
        first.unwrap_or(usize::MAX)
    }

    /// The position that a predicate asks for.
    fn place(&self, predicate: Id) -> Option<usize> {
        let &Expr::Compared(crate::evaluator::syntax::Comparison::Equal, left, right) =
            self.graph.expr(predicate)
        else {
            return None;
        };
        match (self.graph.expr(left), self.graph.expr(right)) {
            (Expr::Position, &Expr::Number(bits)) => {
                let number = f64::from_bits(bits);
                let is_place = number >= 1.0 && number == number.trunc() && number < 1e9;
                Some(if is_place { number as usize } else { 0 })
            }
            _ => None,
        }
    }

    /// The nodes that a predicate leaves of some, which are counted in their order.
    pub(super) fn left(&mut self, nodes: Vec<u32>, predicate: Id) -> Answer<Vec<u32>> {
        if let Some(place) = self.place(predicate) {
            let chosen = place.checked_sub(1).and_then(|at| nodes.get(at));
            return Ok(chosen.copied().into_iter().collect());
        }
        let size = nodes.len() as u32;
        let mut left = Vec::with_capacity(nodes.len());
        for (place, node) in nodes.into_iter().enumerate() {
            let position = place as u32 + 1;
            self.spend(1)?;
            if self.holds(
                predicate,
                At {
                    node,
                    position,
                    size,
                },
            )? {
                left.push(node);
            }
        }
        Ok(left)
    }

    // Ways along axes.

    /// The nodes that pass a test, listed; none for the test that all pass.
    pub(super) fn list(&mut self, test: TestId) -> Answer<Option<(u32, u32)>> {
        let Some((start, end, looked_at)) = self.memory.list(self.graph, &self.document, test)
        else {
            return Ok(None);
        };
        self.spend(looked_at / 4)?;
        Ok(Some((start, end)))
    }

    /// The way along an axis, by the list of what passes the test where there may be much else.
    pub(super) fn way(&mut self, axis: Axis, test: TestId, node: u32) -> Answer<Way> {
        let mut way = Way {
            test,
            visited: 0,
            walk: None,
            list: (0, 0),
            ends_by: u32::MAX,
            is_backward: axis == Axis::Preceding,
        };
        let is_far = matches!(axis, Axis::Descendant | Axis::Following | Axis::Preceding);
        if is_far && let Some((start, end)) = self.list(test)? {
            let listed = self.memory.listed(start, end);
            if let Some((from, to, ends_by)) = range(&self.document, axis, node, listed) {
                way.list = (start + from as u32, start + to as u32);
                way.ends_by = ends_by;
                return Ok(way);
            }
        }
        way.walk = Some(walk(&self.document, axis, node));
        Ok(way)
    }

    /// The next node on a way.
    #[inline]
    pub(super) fn next(&mut self, way: &mut Way) -> Answer<Option<u32>> {
        let document = self.document;
        loop {
            let next = match &mut way.walk {
                Some(walk) => walk.next(&document),
                None => way.next_listed(self.memory),
            };
            let Some(node) = next else {
                return Ok(None);
            };
            way.visited += 1;
            self.spend(1)?;
            let passes = match way.walk {
                Some(_) => self.memory.passes(self.graph, &document, way.test, node),
                None => !way.is_backward || self.precedes(node, way.ends_by),
            };
            if passes {
                return Ok(Some(node));
            }
        }
    }

    /// Whether a node ends by a place, and `preceding` finds it.
    fn precedes(&self, node: u32, place: u32) -> bool {
        let nodes = self.document.nodes;
        nodes.get(node).end <= place && node != nodes.unseen()
    }

    /// Whether a test is the one that every node passes.
    pub(super) fn is_any(&self, test: TestId) -> bool {
        *self.graph.test(test) == Test::Node
    }

    /// A set without doubles, in document order.
    pub(super) fn in_order(&mut self, mut nodes: Vec<u32>) -> Answer<Arc<Vec<u32>>> {
        if !nodes.is_sorted_by(|one, other| one < other) {
            self.spend(nodes.len() as u64)?;
            nodes.sort_unstable();
            nodes.dedup();
        }
        Ok(Arc::new(nodes))
    }
}

/// A way along an axis to the nodes that pass a test.
pub(super) struct Way {
    test: TestId,
    /// How many nodes were looked at.
    pub(super) visited: u64,
    walk: Option<Walk>,
    list: (u32, u32),
    ends_by: u32,
    is_backward: bool,
}

impl Way {
    fn next_listed(&mut self, memory: &Memory) -> Option<u32> {
        let (start, end) = self.list;
        if start >= end {
            return None;
        }
        let place = if self.is_backward {
            self.list.1 -= 1;
            end - 1
        } else {
            self.list.0 += 1;
            start
        };
        memory.listed(place, place + 1).first().copied()
    }
}
