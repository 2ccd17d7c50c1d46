//! Whether something holds at a node: forward, stopping at the first proof, and remembered.
//!
//! Where a condition was asked at many nodes, and looking for each from there took some times as many
//! visits as there are nodes, all answers are found at once instead: the nodes that are good enough
//! are collected, and the axis is followed back from them, which is linear.

use std::sync::Arc;

use crate::evaluator::axes::reverse::sources;
use crate::evaluator::axes::{Walk, range, walk};
use crate::evaluator::graph::{Entry, Expr, Graph, Id, TRUE, TestId};
use crate::evaluator::memory::{Filter, Memory};
use crate::evaluator::nodes::{DOCUMENT, Document};
use crate::evaluator::recent::Recent;
use crate::evaluator::syntax::{Axis, Kind};

/// Visits from single nodes that one condition may take, in times the nodes of the document; then all
/// its answers are worked out at once.
pub const VISITS_EACH: u64 = 4;

/// Bytes of strings that are one step.
pub const BYTES_PER_STEP: usize = 32;

/// Words of memory that are cleared in one step.
const WORDS_PER_STEP: u64 = 16;

/// Nodes that are passed over in one step.
const PASSED_PER_STEP: u32 = 8;

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
    pub(super) recent: Recent<'a>,
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
        memory.begin(graph);
        Run {
            graph,
            document,
            memory,
            recent: Recent::default(),
            steps: 0,
            steps_max,
            visits_each: VISITS_EACH,
        }
    }

    /// Whether an expression holds of the document.
    pub fn decide(&mut self, id: Id) -> Answer<bool> {
        let (tree, entry) = (self.document.tree, self.graph.entry(id));
        if tree.subset_has_remarks && entry.may_meet_remarks {
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
                    self.spend(1)?;
                    if !self.holds(part, at)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Expr::Any(parts) => {
                for &part in parts {
                    self.spend(1)?;
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
        if self.is_barren(id)? {
            return Ok(false);
        }
        let answer = self.found(id, entry, at)?;
        let cleared = self
            .memory
            .remember(id, node, answer, self.document.nodes.len());
        self.spend(cleared / WORDS_PER_STEP)?;
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
            Expr::Truth(value) => Ok(!self.is_empty(*value, at)?),
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
        let is_inside = matches!(axis, Axis::Descendant | Axis::DescendantOrSelf);
        if is_inside
            && node == DOCUMENT
            && holds != TRUE
            && let Some(known) = self.has_from_seeds(axis, test, holds)?
        {
            return Ok(known);
        }
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
            match self.tabulate(id, axis, test, holds) {
                // Of some other node it is not known; here it is.
                Ok(()) | Err(Stop::Unsure) => {}
                spent => return spent.map(|()| answer),
            }
        }
        Ok(answer)
    }

    /// Finds all answers of a condition at once.
    fn tabulate(&mut self, id: Id, axis: Axis, test: TestId, holds: Id) -> Answer<()> {
        self.memory.tabled(id);
        let count = self.document.nodes.len();
        self.spend(count as u64 / 8)?;
        let filter = self.filter(test)?;
        let mut goals = Vec::new();
        for node in self.passing(filter) {
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

    /// How many nodes pass.
    pub(super) fn how_many(&self, filter: Filter) -> usize {
        match filter {
            Filter::Any => self.document.nodes.len(),
            Filter::Listed(test) => self.memory.listed(test).len(),
            _ => self.list(filter).unwrap_or_default().len(),
        }
    }

    /// All nodes that pass.
    pub(super) fn passing(&self, filter: Filter) -> Vec<u32> {
        match filter {
            Filter::Any => (0..self.document.nodes.len() as u32).collect(),
            Filter::Listed(test) => self.memory.listed(test).to_vec(),
            _ => self.list(filter).unwrap_or_default().to_vec(),
        }
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

    /// What a test asks of the nodes of the document.
    #[inline]
    pub(super) fn filter(&mut self, test: TestId) -> Answer<Filter> {
        let (filter, looked_at) = self.memory.filter(self.graph, &self.document, test);
        self.spend(looked_at)?;
        Ok(filter)
    }

    /// The nodes of one kind or name.
    fn list(&self, filter: Filter) -> Option<&'a [u32]> {
        match filter {
            Filter::Nothing => Some(&[]),
            Filter::Kind(kind) => Some(self.document.nodes.of_kind(kind)),
            Filter::Name(kind, name) => Some(self.document.nodes.named(kind, name)),
            Filter::Any | Filter::Listed(_) => None,
        }
    }

    /// The way along an axis, by the list of what passes the test where there may be much else.
    pub(super) fn way(&mut self, axis: Axis, test: TestId, node: u32) -> Answer<Way<'a>> {
        if axis.leads_away() && self.document.tree.subset_has_nodes {
            // libxml2 also comes by what stands in the declarations of entities.
            return Err(Stop::Unsure);
        }
        let filter = self.filter(test)?;
        let mut way = Way {
            filter,
            visited: 0,
            source: Source::List(&[]),
            ends_by: u32::MAX,
            is_backward: axis == Axis::Preceding,
        };
        if filter == Filter::Nothing {
            return Ok(way);
        }
        if axis.leads_away() || axis == Axis::Descendant {
            let document = &self.document;
            if let Filter::Listed(test) = filter {
                let (from, to, ends_by) = range(document, axis, node, self.memory.listed(test));
                way.source = Source::Kept(test, from, to);
                way.ends_by = ends_by;
                return Ok(way);
            }
            if let Some(list) = self.list(filter) {
                let (from, to, ends_by) = range(document, axis, node, list);
                way.source = Source::List(&list[from..to]);
                way.ends_by = ends_by;
                return Ok(way);
            }
        }
        way.source = Source::Walk(walk(&self.document, axis, node));
        Ok(way)
    }

    /// The next node on a way.
    #[inline]
    pub(super) fn next(&mut self, way: &mut Way) -> Answer<Option<u32>> {
        let document = self.document;
        loop {
            let next = match &mut way.source {
                Source::Walk(walk) => {
                    let next = walk.next(&document);
                    let passed = std::mem::take(&mut walk.passed);
                    self.spend(u64::from(passed / PASSED_PER_STEP))?;
                    next
                }
                Source::List(list) => next_of(list, way.is_backward),
                Source::Kept(test, from, to) => {
                    let mut list = &self.memory.listed(*test)[*from..*to];
                    let next = next_of(&mut list, way.is_backward);
                    match way.is_backward {
                        true => *to = *from + list.len(),
                        false => *from = *to - list.len(),
                    }
                    next
                }
            };
            let Some(node) = next else {
                return Ok(None);
            };
            way.visited += 1;
            self.spend(1)?;
            let passes = match way.source {
                Source::Walk(_) => self.memory.passes(&document, way.filter, node),
                _ => !way.is_backward || self.precedes(node, way.ends_by),
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
pub(super) struct Way<'a> {
    filter: Filter,
    /// How many nodes were looked at.
    pub(super) visited: u64,
    source: Source<'a>,
    ends_by: u32,
    is_backward: bool,
}

/// Where the nodes on a way come from.
enum Source<'a> {
    /// All nodes of the axis.
    Walk(Walk),
    /// A part of a list of nodes that pass.
    List(&'a [u32]),
    /// From where to where in the list that was made for a test.
    Kept(TestId, usize, usize),
}

fn next_of(list: &mut &[u32], is_backward: bool) -> Option<u32> {
    let next = match is_backward {
        true => list.split_off_last(),
        false => list.split_off_first(),
    };
    next.copied()
}
