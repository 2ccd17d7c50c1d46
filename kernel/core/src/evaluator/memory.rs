//! What is remembered of one document while expressions are evaluated: answers and lists of nodes.
//!
//! Everything is stamped with the number of the run it belongs to, so that the next one begins at once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::evaluator::axes::reverse::Marks;
use crate::evaluator::graph::{Graph, Id, TestId};
use crate::evaluator::nodes::{Document, Node, NodeKind};
use crate::evaluator::syntax::Test;

/// Bytes of answers that are remembered of one document; beyond that they are worked out again.
pub const ANSWERS_BYTES_MAX: usize = 64 << 20;

/// What is remembered of a condition.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    run: u64,
    /// The answer at the document node, or of what depends on no node.
    root: Option<bool>,
    /// Where the answers at other nodes are, two bits each.
    answers: Option<u32>,
    /// Nodes that were visited to find answers one by one.
    visited: u32,
    /// Whether the answers are there, or would have been too many.
    is_tabled: bool,
}

/// Which nodes pass a test.
#[derive(Clone, Debug, Default)]
struct Passing {
    run: u64,
    /// In the list of the document, if they were listed.
    listed: Option<(u32, u32)>,
    /// For each name whether it passes: 0 is not known.
    names: Vec<u8>,
}

const PASSES: u8 = 1;
const FAILS: u8 = 2;

/// The memory of one reader.
#[derive(Debug, Default)]
pub struct Memory {
    run: u64,
    states: Vec<State>,
    answers: Vec<u64>,
    passing: Vec<Passing>,
    /// What `passing` says of names is of this version of the graph, and of this generation of names.
    of: (u64, u64, usize),
    lists: Vec<u32>,
    /// Sets of nodes that depend on no node.
    pub(super) sets: FxHashMap<Id, Arc<Vec<u32>>>,
    /// Elements by their identifiers.
    pub(super) identified: Option<FxHashMap<Box<[u8]>, u32>>,
}

impl Memory {
    /// Begins a run: nothing is remembered.
    pub fn begin(&mut self, graph: &Graph, document: &Document) {
        self.run += 1;
        self.states.resize(graph.len(), State::default());
        self.passing.resize(graph.test_count(), Passing::default());
        self.answers.clear();
        self.lists.clear();
        self.sets.clear();
        self.identified = None;
        let names = document.names;
        let of = (graph.version(), names.generation(), names.len());
        if self.of != of {
            self.passing
                .iter_mut()
                .for_each(|it| *it = Passing::default());
            self.of = of;
        }
    }

    /// How many bytes are held.
    pub fn held(&self) -> usize {
        self.states.capacity() * size_of::<State>()
            + self.passing.capacity() * size_of::<Passing>()
            + self.answers.capacity() * 8
            + self.lists.capacity() * 4
    }

    // Answers.

    fn state(&mut self, id: Id) -> &mut State {
        let state = &mut self.states[id as usize];
        if state.run != self.run {
            *state = State {
                run: self.run,
                ..State::default()
            };
        }
        state
    }

    /// The answer at a node, if it is known.
    #[inline]
    pub fn answer(&self, id: Id, node: u32) -> Option<bool> {
        let state = &self.states[id as usize];
        if state.run != self.run {
            return None;
        }
        if node == 0 {
            return state.root;
        }
        let word = self.answers[state.answers? as usize + node as usize / 32];
        match word >> (node % 32 * 2) & 3 {
            0 => None,
            bits => Some(bits == 3),
        }
    }

    /// Remembers an answer, if there is room; `nodes` is how many the document has.
    pub fn remember(&mut self, id: Id, node: u32, answer: bool, nodes: usize) {
        if node == 0 {
            self.state(id).root = Some(answer);
            return;
        }
        let Some(start) = self.room(id, nodes, 0) else {
            return;
        };
        let bits = 1 | u64::from(answer) << 1;
        self.answers[start as usize + node as usize / 32] |= bits << (node % 32 * 2);
    }

    /// Remembers all answers of a condition; whether there was room.
    pub fn remember_all(&mut self, id: Id, marks: &Marks, nodes: usize) -> bool {
        self.state(id).is_tabled = true;
        let Some(start) = self.room(id, nodes, ALL_NO) else {
            return false;
        };
        self.answers[start as usize..][..words(nodes)].fill(ALL_NO);
        marks
            .each(|node| self.answers[start as usize + node as usize / 32] |= 2 << (node % 32 * 2));
        self.state(id).root = Some(marks.has(0));
        true
    }

    /// Takes note of visits for a condition; whether they were so many that a table is in order.
    pub fn visited(&mut self, id: Id, visits: u64, max: u64) -> bool {
        let state = self.state(id);
        state.visited = state
            .visited
            .saturating_add(visits.min(u64::from(u32::MAX)) as u32);
        !state.is_tabled && u64::from(state.visited) > max
    }

    fn room(&mut self, id: Id, nodes: usize, filled: u64) -> Option<u32> {
        if let Some(start) = self.state(id).answers {
            return Some(start);
        }
        let start = self.answers.len();
        if (start + words(nodes)) * 8 > ANSWERS_BYTES_MAX {
            return None;
        }
        self.answers.resize(start + words(nodes), filled);
        self.state(id).answers = Some(start as u32);
        Some(start as u32)
    }

    // Tests.

    /// Whether a node of the axis's own kind passes a test.
    #[inline]
    pub fn passes(&mut self, graph: &Graph, document: &Document, test: TestId, node: u32) -> bool {
        let it = document.nodes.get(node);
        match graph.test(test) {
            Test::Node => true,
            Test::Text => it.kind == NodeKind::Text,
            Test::Comment => it.kind == NodeKind::Comment,
            Test::Instruction(target) => {
                it.kind == NodeKind::Instruction
                    && target
                        .as_ref()
                        .is_none_or(|target| document.target(it) == target.as_bytes())
            }
            Test::Name { attribute, .. } => {
                let kind = if *attribute {
                    NodeKind::Attribute
                } else {
                    NodeKind::Element
                };
                it.kind == kind && self.has_name(graph, document, test, it)
            }
        }
    }

    fn has_name(&mut self, graph: &Graph, document: &Document, test: TestId, node: &Node) -> bool {
        let passing = &mut self.passing[test as usize];
        if passing.names.is_empty() {
            passing.names.resize(document.names.len(), 0);
        }
        let known = &mut passing.names[node.name as usize];
        if *known == 0 {
            let passes = is_named(graph.test(test), document.names.get(node.name));
            *known = if passes { PASSES } else { FAILS };
        }
        *known == PASSES
    }

    /// The nodes that pass a test in document order, and how many were looked at to find them.
    /// None for the test that every node passes.
    pub fn list(
        &mut self,
        graph: &Graph,
        document: &Document,
        test: TestId,
    ) -> Option<(u32, u32, u64)> {
        let passing = &self.passing[test as usize];
        if passing.run == self.run
            && let Some((start, end)) = passing.listed
        {
            return Some((start, end, 0));
        }
        if *graph.test(test) == Test::Node {
            return None;
        }
        let start = self.lists.len() as u32;
        for node in 0..document.nodes.len() as u32 {
            if self.passes(graph, document, test, node) {
                self.lists.push(node);
            }
        }
        let end = self.lists.len() as u32;
        let passing = &mut self.passing[test as usize];
        passing.run = self.run;
        passing.listed = Some((start, end));
        Some((start, end, document.nodes.len() as u64))
    }

    /// A list that was made.
    #[inline]
    pub fn listed(&self, start: u32, end: u32) -> &[u32] {
        &self.lists[start as usize..end as usize]
    }
}

/// Two bits of `no` for each node.
const ALL_NO: u64 = 0x5555_5555_5555_5555;

fn words(nodes: usize) -> usize {
    nodes.div_ceil(32)
}

fn is_named(test: &Test, (namespace, local): (&str, &str)) -> bool {
    let Test::Name {
        namespace: asked_namespace,
        local: asked_local,
        ..
    } = test
    else {
        return false;
    };
    asked_namespace.as_deref().is_none_or(|it| it == namespace)
        && asked_local.as_deref().is_none_or(|it| it == local)
}
