//! What is remembered of one document while expressions are evaluated: answers and lists of nodes.
//!
//! Everything is stamped with the number of the run it belongs to, so that the next one begins at once.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::document::tree::Names;
use crate::evaluator::axes::reverse::Marks;
use crate::evaluator::graph::{Graph, Id, TestId};
use crate::evaluator::nodes::{Document, NodeKind, Nodes};
use crate::evaluator::syntax::Test;
use crate::sys::seeded_hash::Chance;

/// Bytes of answers and sets of nodes that are remembered of one document; beyond that they are worked
/// out again.
pub const ANSWERS_BYTES_MAX: usize = 64 << 20;

/// Bytes that are kept for the answers to the next document, and as many for lists of nodes: fresh memory costs more than most answers.
const KEPT_BYTES_MAX: usize = 4 << 20;

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
    /// Whether all answers were looked for at once: they are there, or are too many, or not all known.
    is_tabled: bool,
    /// Whether names that the document does not have leave nothing of it.
    is_barren: Option<bool>,
}

/// What a test asks of the nodes of this document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// Nothing passes.
    #[default]
    Nothing,
    /// Every node passes.
    Any,
    /// All nodes of a kind.
    Kind(NodeKind),
    /// The elements or attributes of one name.
    Name(NodeKind, u32),
    /// What was listed, see [`Memory::is_listed`].
    Listed(TestId),
}

/// Which nodes pass a test.
#[derive(Clone, Debug, Default)]
struct Passing {
    run: u64,
    filter: Filter,
    /// The name that is asked for, as it was found among so many names of a generation, for the test
    /// with this serial.
    name: Option<u32>,
    found: (u64, u64, usize),
    /// The nodes that pass, where they have not one name.
    nodes: Vec<u32>,
}

/// The memory of one reader.
#[derive(Debug, Default)]
pub struct Memory {
    run: u64,
    states: Vec<State>,
    answers: Vec<u64>,
    /// Bytes of sets, and of what is known of them.
    taken: usize,
    /// The most bytes that were remembered of one document.
    pub most: usize,
    passing: Vec<Passing>,
    /// For how many nodes there is room in the lists of those that pass.
    listed: usize,
    /// Sets of nodes that depend on no node.
    pub(super) sets: FxHashMap<Id, Arc<Vec<u32>>>,
    /// Elements by their identifiers.
    pub(super) identified: Option<HashMap<Box<[u8]>, u32, Chance>>,
    /// For tables of what strangers write.
    pub(super) chance: Chance,
}

impl Memory {
    /// Begins a run: nothing is remembered.
    pub fn begin(&mut self, graph: &Graph) {
        self.run += 1;
        self.states.resize(graph.len(), State::default());
        self.passing.resize(graph.test_count(), Passing::default());
        self.forget();
    }

    /// Forgets all of a document, and gives back what the next one may not need.
    pub fn end(&mut self) {
        self.forget();
        if self.answers.capacity() * size_of::<u64>() > KEPT_BYTES_MAX {
            self.answers = Vec::new();
        }
        if self.listed * size_of::<u32>() > KEPT_BYTES_MAX {
            self.passing.clear();
            self.listed = 0;
        }
    }

    fn forget(&mut self) {
        self.most = self.most.max(self.remembered());
        self.answers.clear();
        self.taken = 0;
        self.sets.clear();
        self.identified = None;
    }

    /// Bytes that are remembered of the document.
    fn remembered(&self) -> usize {
        self.answers.len() * size_of::<u64>() + self.taken
    }

    /// Takes so many bytes for sets; whether there is room.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let has_room = self.remembered() + bytes <= ANSWERS_BYTES_MAX;
        self.taken += if has_room { bytes } else { 0 };
        has_room
    }

    /// Gives back bytes that were taken.
    pub(super) fn give_back(&mut self, bytes: usize) {
        self.taken -= bytes;
    }

    /// How many bytes are held.
    pub fn held(&self) -> usize {
        self.states.capacity() * size_of::<State>()
            + self.passing.capacity() * size_of::<Passing>()
            + self.listed * size_of::<u32>()
            + self.answers.capacity() * size_of::<u64>()
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

    /// Whether a part is barren, if that is known.
    #[inline]
    pub fn barren(&self, id: Id) -> Option<bool> {
        let state = &self.states[id as usize];
        if state.run == self.run {
            state.is_barren
        } else {
            None
        }
    }

    /// Remembers whether a part is barren.
    pub fn remember_barren(&mut self, id: Id, is_barren: bool) {
        self.state(id).is_barren = Some(is_barren);
    }

    /// The answer at a node, if it is known.
    #[inline]
    pub fn answer(&self, id: Id, node: u32) -> Option<bool> {
        let state = &self.states[id as usize];
        if state.run != self.run {
            return None;
        }
        if state.is_barren == Some(true) {
            return Some(false);
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

    /// Remembers an answer, if there is room; `nodes` is how many the document has. Tells how many words
    /// were cleared for that.
    pub fn remember(&mut self, id: Id, node: u32, answer: bool, nodes: usize) -> u64 {
        if node == 0 {
            self.state(id).root = Some(answer);
            return 0;
        }
        let before = self.answers.len();
        let Some(start) = self.room(id, nodes, 0) else {
            return 0;
        };
        let bits = 1 | u64::from(answer) << 1;
        self.answers[start as usize + node as usize / 32] |= bits << (node % 32 * 2);
        (self.answers.len() - before) as u64
    }

    /// Takes note that all answers of a condition are looked for at once, which is done but once.
    pub fn tabled(&mut self, id: Id) {
        self.state(id).is_tabled = true;
    }

    /// Remembers all answers of a condition, if there is room.
    pub fn remember_all(&mut self, id: Id, marks: &Marks, nodes: usize) {
        let Some(start) = self.room(id, nodes, ALL_NO) else {
            return;
        };
        self.answers[start as usize..][..words(nodes)].fill(ALL_NO);
        marks
            .each(|node| self.answers[start as usize + node as usize / 32] |= 2 << (node % 32 * 2));
        self.state(id).root = Some(marks.has(0));
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
        if self.remembered() + words(nodes) * size_of::<u64>() > ANSWERS_BYTES_MAX {
            return None;
        }
        self.answers.resize(start + words(nodes), filled);
        self.state(id).answers = Some(start as u32);
        Some(start as u32)
    }

    // Tests.

    /// What a test asks of the nodes of the document; how many were looked at to find out.
    #[inline]
    pub fn filter(&mut self, graph: &Graph, document: &Document, test: TestId) -> (Filter, u64) {
        let passing = &self.passing[test as usize];
        if passing.run == self.run {
            return (passing.filter, 0);
        }
        self.find_filter(graph, document, test)
    }

    fn find_filter(&mut self, graph: &Graph, document: &Document, id: TestId) -> (Filter, u64) {
        let test = graph.test(id);
        let passing = &mut self.passing[id as usize];
        passing.run = self.run;
        self.listed -= passing.nodes.capacity();
        let mut looked_at = 0;
        passing.filter = match test {
            Test::Node => Filter::Any,
            Test::Text => Filter::Kind(NodeKind::Text),
            Test::Comment => Filter::Kind(NodeKind::Comment),
            Test::Instruction(None) => Filter::Kind(NodeKind::Instruction),
            Test::Instruction(Some(target)) => {
                let all = document.nodes.of_kind(NodeKind::Instruction);
                looked_at = all.len() as u64;
                let targets =
                    |&&it: &&u32| document.target(document.nodes.get(it)) == target.as_bytes();
                passing.nodes.clear();
                passing.nodes.extend(all.iter().filter(targets));
                Filter::Listed(id)
            }
            Test::Name {
                attribute,
                namespace,
                local,
            } => {
                let kind = match attribute {
                    true => NodeKind::Attribute,
                    false => NodeKind::Element,
                };
                match (namespace, local) {
                    (None, None) => Filter::Kind(kind),
                    (Some(namespace), Some(local)) => {
                        let serial = graph.test_serial(id);
                        passing.find(document.names, serial, namespace, local);
                        match passing.name {
                            Some(name) if !document.nodes.named(kind, name).is_empty() => {
                                Filter::Name(kind, name)
                            }
                            _ => Filter::Nothing,
                        }
                    }
                    _ => {
                        let names = document.nodes.names_of(kind).inspect(|_| looked_at += 1);
                        let is_asked = |&name: &u32| is_named(test, document.names.get(name));
                        let found: Vec<u32> = names.filter(is_asked).collect();
                        looked_at += passing.list(document.nodes, kind, &found);
                        match found[..] {
                            [name] => Filter::Name(kind, name),
                            _ => Filter::Listed(id),
                        }
                    }
                }
            }
        };
        let is_empty = match passing.filter {
            Filter::Listed(_) => passing.nodes.is_empty(),
            Filter::Kind(kind) => document.nodes.of_kind(kind).is_empty(),
            _ => false,
        };
        self.listed += passing.nodes.capacity();
        if is_empty {
            passing.filter = Filter::Nothing;
        }
        (passing.filter, looked_at)
    }

    /// Whether a node passes.
    #[inline]
    pub fn passes(&self, document: &Document, filter: Filter, node: u32) -> bool {
        match filter {
            Filter::Any => true,
            Filter::Nothing => false,
            Filter::Kind(kind) => document.nodes.get(node).kind == kind,
            Filter::Name(kind, name) => {
                let it = document.nodes.get(node);
                it.name == name && it.kind == kind
            }
            Filter::Listed(test) => self.is_listed(test, node),
        }
    }

    fn is_listed(&self, test: TestId, node: u32) -> bool {
        let nodes = &self.passing[test as usize].nodes;
        nodes.binary_search(&node).is_ok()
    }

    /// The nodes that pass a test and were listed for that, in document order.
    #[inline]
    pub fn listed(&self, test: TestId) -> &[u32] {
        &self.passing[test as usize].nodes
    }
}

impl Passing {
    /// Lists the nodes that have one of several names; how many there are.
    fn list(&mut self, nodes: &Nodes, kind: NodeKind, names: &[u32]) -> u64 {
        self.nodes.clear();
        if names.len() < 2 {
            return 0;
        }
        for &name in names {
            self.nodes.extend_from_slice(nodes.named(kind, name));
        }
        self.nodes.sort_unstable();
        self.nodes.len() as u64
    }

    /// Finds the name that a test asks for, unless that was done; what was not found is looked for
    /// again where names have come.
    fn find(&mut self, names: &Names, serial: u64, namespace: &str, local: &str) {
        let (known_serial, generation, count) = self.found;
        let is_known = (known_serial, generation) == (serial, names.generation());
        if is_known && (self.name.is_some() || count == names.len()) {
            return;
        }
        self.found = (serial, names.generation(), names.len());
        self.name = names.find(namespace, local);
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
