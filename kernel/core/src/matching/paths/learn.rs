//! Learning a path: the nodes of the trie that fire there, and what they fire as lists.
//!
//! Almost all of a new path's time goes into waiting for memory: the nodes lie scattered over megabytes,
//! and most edges asked for do not exist. So each path keeps, side by side, those of its nodes that lead
//! anywhere, with a mask of the labels they may lead over; what is left to look up is fetched ahead.

use super::{Lists, PathTest, Paths, Span, Step, bits_of, blank, key};
use crate::document::classes::Classes;
use crate::index::layer::{Entry, Layer, NONE, Node, Valued, edge};
use crate::index::records::label_mask;
use crate::index::table::hash_of;
use crate::pattern::Operator;
use crate::pattern::clause::Clauses;
use crate::sys::pages::{advise_moved, seat};
use crate::sys::prefetch::prefetch;

/// So many nodes ahead memory is fetched: about what is worked on while it arrives.
const AHEAD: usize = 12;

/// A node that leads further, with the labels it may lead over: to children, to descendants.
#[derive(Clone, Copy)]
pub(super) struct Inner {
    node: u32,
    masks: [u32; 2],
}

impl Inner {
    pub(super) fn of(node: u32, record: &Node) -> Option<Inner> {
        let masks = [record.near, record.far];
        (masks != [0; 2]).then_some(Inner { node, masks })
    }
}

/// An edge that may exist.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    node: u32,
    edge: u32,
    hash: u32,
}

/// The nodes that the edges asked for lead to, where there are such edges.
fn answers<'a>(asked: &'a [Asked], layer: &'a Layer) -> impl Iterator<Item = u32> + 'a {
    let (nodes, edges): (&[Node], _) = (&layer.nodes, layer.edges.reader());
    asked.iter().enumerate().filter_map(move |(place, it)| {
        if let Some(soon) = asked.get(place + AHEAD).and_then(|it| edges.first(it.hash)) {
            prefetch(nodes, soon as usize);
        }
        edges.find(it.hash, |number| {
            let found = &nodes[number as usize];
            found.parent == it.node && found.edge == it.edge
        })
    })
}

/// What learning a path needs to know.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The layer whose paths these are.
    pub layer: &'a Layer,
    /// What its patterns say.
    pub clauses: &'a Clauses,
    /// Which labels names have.
    pub classes: &'a Classes,
}

impl Paths {
    /// Learns the path of a node of some class below a path.
    pub fn learn(&mut self, path: u32, class: u32, known: Known) -> u32 {
        let nodes_before = seat(&self.nodes);
        let (words_before, masks_before) = (seat(&self.words), seat(&self.masks));
        let far = self.far(path, class, known);
        let start = self.nodes.len() as u32;
        self.ask(path, class, false, known);
        self.nodes.extend(answers(&self.asked, known.layer));
        self.nodes.extend_from_within(far.range());
        let fired = Span {
            start,
            end: self.nodes.len() as u32,
        };
        let made = self.paths.len() as u32;
        let depth = self.steps[path as usize].depth + 1;
        self.paths.push(blank(fired));
        self.steps.push(Step {
            above: path,
            class,
            depth,
        });
        self.compile(made, known);
        self.kids.insert(key(path, class), made);
        advise_moved(&self.nodes, nodes_before);
        advise_moved(&self.words, words_before);
        advise_moved(&self.masks, masks_before);
        made
    }

    /// The edges of one reach and of a class's labels that may lead on from a path, into `asked`.
    fn ask(&mut self, path: u32, class: u32, far: bool, known: Known) {
        self.asked.clear();
        let labels = known.classes.labels(class);
        let edges = known.layer.edges.reader();
        let mask = labels.iter().fold(0, |mask, &it| mask | label_mask(it));
        for inner in &self.inner[self.paths[path as usize].inner.range()] {
            let may = inner.masks[usize::from(far)];
            if may & mask == 0 {
                continue;
            }
            for &label in labels.iter().filter(|&&it| may & label_mask(it) != 0) {
                let (node, edge) = (inner.node, edge(far, label));
                let hash = hash_of(&(node, edge));
                edges.expect(hash);
                self.asked.push(Asked { node, edge, hash });
            }
        }
    }

    /// The nodes reached over descendant edges, for one class, from a path or any above it.
    fn far(&mut self, path: u32, class: u32, known: Known) -> Span {
        if path == NONE {
            return Span::default();
        }
        if let Some(&span) = self.fars.get(&key(path, class)) {
            return span;
        }
        let base = self.far(self.steps[path as usize].above, class, known);
        self.ask(path, class, true, known);
        let span = self.union(base, known.layer);
        self.fars.insert(key(path, class), span);
        span
    }

    /// A span and what was asked for, each node once: on a recursive path the same one can be reached
    /// twice.
    fn union(&mut self, base: Span, layer: &Layer) -> Span {
        let found: Vec<u32> = answers(&self.asked, layer).collect();
        if found.is_empty() {
            return base;
        }
        self.stamps.resize(layer.nodes.len(), 0);
        self.stamp += 1;
        let start = self.nodes.len();
        self.nodes.extend_from_within(base.range());
        for &node in &self.nodes[start..] {
            self.stamps[node as usize] = self.stamp;
        }
        self.nodes.extend(
            found
                .iter()
                .filter(|&&node| self.stamps[node as usize] != self.stamp),
        );
        Span {
            start: start as u32,
            end: self.nodes.len() as u32,
        }
    }

    /// Works out what a path fires.
    fn compile(&mut self, path: u32, known: Known) {
        let layer = known.layer;
        let (nodes, entries): (&[Node], &[Entry]) = (&layer.nodes, &layer.entries);
        let mut numbers = Vec::new();
        self.gather.begin(layer);
        let fired = &self.nodes[self.paths[path as usize].fired.range()];
        let start = self.inner.len() as u32;
        for (place, &number) in fired.iter().enumerate() {
            if let Some(&soon) = fired.get(place + 2 * AHEAD) {
                prefetch(nodes, soon as usize);
            }
            if let Some(&soon) = fired.get(place + AHEAD) {
                prefetch(entries, nodes[soon as usize].payload as usize);
            }
            let node = &nodes[number as usize];
            self.inner.extend(Inner::of(number, node));
            self.gather.atom(node.atom);
            self.gather.join(node.join);
            self.gather.payload(entries, node.payload, &mut numbers);
        }
        let inner = Span {
            start,
            end: self.inner.len() as u32,
        };
        let lists = self.write();
        let valued = valued_at(&numbers, layer);
        let (tests, searches) = self.compile_tests(path, &valued, known);
        let here = &mut self.paths[path as usize];
        here.inner = inner;
        here.lists = lists;
        (here.tests, here.searches) = (tests, searches);
        here.weight = here.fired.end - here.fired.start + valued.len() as u32;
        here.valued = !valued.is_empty();
    }

    /// The tests at a path: equality goes to the dictionaries, the others are asked one by one; those that
    /// look for a part of the text are apart from the rest.
    fn compile_tests(&mut self, path: u32, valued: &[Valued], known: Known) -> (Span, Span) {
        let entries: &[Entry] = &known.layer.entries;
        let (mut others, mut searches, mut orders) = (Vec::new(), Vec::new(), Vec::new());
        let mut soon = valued.iter().skip(AHEAD);
        for group in valued.chunk_by(|one, other| one.test == other.test) {
            let test = group[0].test;
            for record in group {
                if let Some(soon) = soon.next() {
                    prefetch(entries, soon.payload as usize);
                }
                self.gather.atom(record.atom);
                self.gather
                    .payload(entries, record.payload, &mut Vec::new());
            }
            let asked = PathTest {
                test,
                path,
                lists: self.write(),
                seen: 0,
            };
            let record = known.clauses.tests.record(test);
            let made = self.tests.len() as u32;
            let here = &mut self.paths[path as usize];
            let kept = match record.operator() {
                Operator::Equal if record.is_numeric() => {
                    here.numeric = true;
                    // NaN is equal to nothing, not even to itself.
                    if !record.number.is_nan() {
                        self.numbers.insert((path, bits_of(record.number)), made);
                    }
                    true
                }
                Operator::Equal => {
                    here.textual = true;
                    let text = known.clauses.tests.text(test);
                    let key = (path, self.chance.hash(0, text));
                    // Of two strings with one hash the second is asked like any other test.
                    let free = !self.strings.contains_key(&key);
                    if free {
                        self.strings.insert(key, made);
                    }
                    self.collided |= !free;
                    free
                }
                _ => false,
            };
            if kept {
                self.tests.push(asked);
            } else if record.operator().is_search() {
                searches.push(asked);
            } else if record.operator().is_order() {
                orders.push(asked);
            } else {
                others.push(asked);
            }
        }
        if !orders.is_empty() {
            // Of these are left those with what is no number: no value compares with it.
            self.keep_ranges(path, &mut orders, known.clauses);
        }
        (self.append(&mut others), self.append(&mut searches))
    }

    fn append(&mut self, tests: &mut Vec<PathTest>) -> Span {
        let start = self.tests.len() as u32;
        self.tests.append(tests);
        Span {
            start,
            end: self.tests.len() as u32,
        }
    }

    /// Sets tests for order apart, each kind sorted so that what passes one has passed those before.
    fn keep_ranges(&mut self, path: u32, others: &mut Vec<PathTest>, clauses: &Clauses) {
        let kinds = [
            Operator::Less,
            Operator::AtMost,
            Operator::Greater,
            Operator::AtLeast,
        ];
        for (kind, operator) in kinds.into_iter().enumerate() {
            let record = |asked: &PathTest| clauses.tests.record(asked.test);
            let is_kind = |asked: &PathTest| {
                record(asked).operator() == operator && !record(asked).number.is_nan()
            };
            let mut found: Vec<PathTest> = others.extract_if(.., |it| is_kind(it)).collect();
            found.sort_by(|one, other| record(one).number.total_cmp(&record(other).number));
            if matches!(operator, Operator::Less | Operator::AtMost) {
                found.reverse();
            }
            let start = self.tests.len() as u32;
            self.tests.append(&mut found);
            let here = &mut self.paths[path as usize];
            here.ranges[kind] = Span {
                start,
                end: self.tests.len() as u32,
            };
            here.ordered |= start < self.tests.len() as u32;
        }
    }

    fn write(&mut self) -> Lists {
        let mut ends = [self.words.len() as u32; 5];
        for list in 0..4 {
            self.gather.lists[list].write(&mut self.words, &mut self.masks);
            ends[list + 1] = self.words.len() as u32;
        }
        Lists { ends }
    }
}

/// The tests with these numbers, like ones side by side.
fn valued_at(numbers: &[u32], layer: &Layer) -> Vec<Valued> {
    let records: &[Valued] = &layer.valued;
    let mut found = Vec::with_capacity(numbers.len());
    for (place, &number) in numbers.iter().enumerate() {
        if let Some(&soon) = numbers.get(place + AHEAD) {
            prefetch(records, soon as usize);
        }
        found.push(records[number as usize]);
    }
    found.sort_unstable_by_key(|it| (it.test, it.node));
    found
}
