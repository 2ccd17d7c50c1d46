//! The path dictionary: what a label path fires, worked out once and remembered across documents.
//!
//! Documents of one kind repeat the same paths from the root. A path is known by the path above and
//! the class of its last name; it holds the nodes of the trie that fire there, and what these mean as
//! lists of words and masks: patterns that report, twigs that become candidates, bits of atoms, bits
//! of joins. A document then costs one look-up per node, and a few lists to be OR-ed per distinct
//! path.
//!
//! A new path needs the nodes reached over a child edge from the path above, and those reached over a
//! descendant edge from any path above. The latter, for one class, are those of the path above plus
//! what its own nodes add; so they are remembered by (path, class) too, and shared where nothing is
//! added.
//!
//! Everything remembered counts against a budget. Beyond it all is forgotten, in the middle of a
//! document if need be: the open elements' paths are then learned again, and the bits set so far
//! stay true.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use crate::index::layer::{Layer, NONE, ROOT};
use crate::matching::collect_fired::Gather;
use crate::matching::fired::FiredBits;
use crate::matching::steps::BYTES_PER_STEP;
use crate::matching::value::Value;
use crate::pattern::Operator;
use crate::pattern::clause::Clauses;
use crate::sys::seeded_hash::Chance;

mod learn;
mod search;

pub use learn::Known;
use learn::{Asked, Inner};
pub(crate) use search::Search;

const START: u32 = 0;

#[derive(Clone, Copy, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    #[inline]
    fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Where four lists lie one behind the other: reports, candidates, atoms, joins.
#[derive(Clone, Copy, Default)]
struct Lists {
    ends: [u32; 5],
}

/// Where a path is: the one above, the class of its last name, how many steps it has.
#[derive(Clone, Copy)]
struct Step {
    above: u32,
    class: u32,
    depth: u32,
}

/// What a path fires.
#[derive(Clone, Copy)]
struct Path {
    fired: Span,
    /// Those of them that lead further.
    inner: Span,
    lists: Lists,
    /// The tests that must be asked one by one.
    tests: Span,
    /// Those of them that look for a part of the text, in the order of their numbers.
    searches: Span,
    /// Tests for order: less, at most, greater, at least; in each those passed by more values first.
    ranges: [Span; 4],
    /// How many of each have fired in this document.
    fired_ranges: [u32; 4],
    /// Whether there are tests for a number's equality, for a string's, or of any sort.
    ordered: bool,
    numeric: bool,
    textual: bool,
    valued: bool,
    /// Whether a second element of this document was here.
    again: bool,
    /// The last document that was here.
    seen: u32,
    /// How much there was to be learned: nodes that fire, and their tests.
    weight: u32,
}

#[derive(Clone, Copy)]
struct PathTest {
    test: u32,
    path: u32,
    lists: Lists,
    seen: u32,
}

/// The paths remembered of one layer.
pub struct Paths {
    generation: u64,
    document: u32,
    paths: Vec<Path>,
    /// Apart from the paths themselves, since whole chains of them are walked up.
    steps: Vec<Step>,
    kids: FxHashMap<u64, u32>,
    fars: FxHashMap<u64, Span>,
    nodes: Vec<u32>,
    inner: Vec<Inner>,
    asked: Vec<Asked>,
    words: Vec<u32>,
    masks: Vec<u64>,
    tests: Vec<PathTest>,
    /// Values come from strangers: of strings with one hash each would be compared with every value.
    chance: Chance,
    numbers: HashMap<(u32, u64), u32, Chance>,
    strings: FxHashMap<(u32, u64), u32>,
    /// Whether two strings at one path have the same hash.
    collided: bool,
    gather: Gather,
    stamps: Vec<u32>,
    stamp: u32,
    /// How often everything was forgotten for want of room.
    pub forgotten: u64,
    /// The weight of the paths of this document, whether they were known before or not.
    pub weight: u64,
    /// The steps that looking for parts of texts took in this document.
    searched: u64,
    /// After so many steps such tests are put off.
    searched_max: u64,
}

impl Default for Paths {
    fn default() -> Self {
        Paths {
            generation: u64::MAX,
            document: 0,
            paths: Vec::new(),
            steps: Vec::new(),
            kids: FxHashMap::default(),
            fars: FxHashMap::default(),
            nodes: Vec::new(),
            inner: Vec::new(),
            asked: Vec::new(),
            words: Vec::new(),
            masks: Vec::new(),
            tests: Vec::new(),
            chance: Chance::default(),
            numbers: HashMap::default(),
            strings: FxHashMap::default(),
            collided: false,
            gather: Gather::default(),
            stamps: Vec::new(),
            stamp: 0,
            forgotten: 0,
            weight: 0,
            searched: 0,
            searched_max: u64::MAX,
        }
    }
}

impl Paths {
    /// Begins a document. Forgets what is no longer true, or more than the budget allows.
    pub fn begin(&mut self, layer: &Layer, renumbered: bool, budget: usize, searched_max: u64) {
        if renumbered || self.generation != layer.generation || self.document == u32::MAX {
            self.forget(layer);
        } else if self.held() > budget {
            self.forgotten += 1;
            self.forget(layer);
        }
        self.generation = layer.generation;
        self.document += 1;
        (self.weight, self.searched, self.searched_max) = (0, 0, searched_max);
    }

    /// Whether tests were put off to the end of the document.
    pub(crate) fn has_put_off(&self) -> bool {
        self.searched > self.searched_max
    }

    /// The steps that looking for parts of texts took in this document, before that was put off.
    pub(crate) fn searched(&self) -> u64 {
        self.searched
    }

    /// The path of the document node.
    pub fn start(&self) -> u32 {
        START
    }

    /// The path of a node of some class below a path, if it is known.
    #[inline]
    pub fn known(&self, path: u32, class: u32) -> Option<u32> {
        self.kids.get(&key(path, class)).copied()
    }

    /// A node was met there: sets the bits of what it fires.
    #[inline]
    pub fn touch(&mut self, path: u32, fired: &mut FiredBits) {
        let here = &mut self.paths[path as usize];
        if here.seen != self.document {
            here.seen = self.document;
            here.again = false;
            here.fired_ranges = [0; 4];
            self.weight += u64::from(here.weight);
            let ends = here.lists.ends;
            if ends[0] == ends[4] {
                return;
            }
            self.apply(ends, fired);
            for place in ends[3] as usize..ends[4] as usize {
                fired.join(self.words[place], self.masks[place]);
            }
        } else if !here.again {
            here.again = true;
            let ends = here.lists.ends;
            for place in ends[3] as usize..ends[4] as usize {
                fired.join(self.words[place], self.masks[place]);
            }
        }
    }

    /// The joins that an element there meets, as words and masks.
    pub fn joins(&self, path: u32) -> impl Iterator<Item = (u32, u64)> {
        let ends = self.paths[path as usize].lists.ends;
        let range = ends[3] as usize..ends[4] as usize;
        self.words[range.clone()]
            .iter()
            .copied()
            .zip(self.masks[range].iter().copied())
    }

    /// Whether an element there meets a join.
    pub fn meets(&self, path: u32, join: u32) -> bool {
        let ends = self.paths[path as usize].lists.ends;
        let range = ends[3] as usize..ends[4] as usize;
        let found = self.words[range.clone()].binary_search(&(join / 64));
        found.is_ok_and(|place| self.masks[range][place] >> (join % 64) & 1 == 1)
    }

    /// Whether the values of nodes there are asked for.
    #[inline]
    pub fn is_valued(&self, path: u32) -> bool {
        self.paths[path as usize].valued
    }

    /// A value was met there: sets the bits of what the tests it passes fire. Gives the tests for
    /// equality among them, a number's and a string's.
    pub fn value(
        &mut self,
        path: u32,
        text: &[u8],
        clauses: &Clauses,
        fired: &mut FiredBits,
    ) -> [Option<u32>; 2] {
        let Path {
            ordered,
            numeric,
            textual,
            tests,
            searches,
            ..
        } = self.paths[path as usize];
        let mut value = Value::new(text);
        let mut passed = [None; 2];
        if numeric {
            let number = value.number();
            passed[0] = self.numbers.get(&(path, bits_of(number))).copied();
        }
        if textual {
            let found = self
                .strings
                .get(&(path, self.chance.hash(0, text)))
                .copied();
            passed[1] =
                found.filter(|&it| clauses.tests.text(self.tests[it as usize].test) == text);
        }
        let [by_number, by_text] = passed;
        if let Some(test) = by_number {
            self.fire(test, fired);
        }
        if let Some(test) = by_text {
            self.fire(test, fired);
        }
        if ordered {
            self.fire_ranges(path, &mut value, clauses, fired);
        }
        // They lie one behind the other, and most paths have neither.
        if tests.start < searches.end {
            self.ask_each(tests, searches, &mut value, clauses, fired);
        }
        passed
    }

    /// Asks the tests that must be asked one by one.
    fn ask_each(
        &mut self,
        tests: Span,
        searches: Span,
        value: &mut Value,
        clauses: &Clauses,
        fired: &mut FiredBits,
    ) {
        for test in tests.start..tests.end {
            let asked = &self.tests[test as usize];
            if asked.seen != self.document && clauses.tests.passes(asked.test, value) {
                self.fire(test, fired);
            }
        }
        for test in searches.start..searches.end {
            if self.has_put_off() {
                break;
            }
            let asked = &self.tests[test as usize];
            if asked.seen != self.document {
                self.searched += 1 + (value.text.len() / BYTES_PER_STEP) as u64;
                if clauses.tests.passes(asked.test, value) {
                    self.fire(test, fired);
                }
            }
        }
    }

    /// A text at a path passes a test that looks for a part of it, if that is asked for there.
    fn fire_search(&mut self, path: u32, test: u32, fired: &mut FiredBits) {
        let Span { start, end } = self.paths[path as usize].searches;
        let kept = &self.tests[start as usize..end as usize];
        if let Ok(place) = kept.binary_search_by_key(&test, |it| it.test) {
            self.fire(start + place as u32, fired);
        }
    }

    /// Fires the tests for order that a value passes and none before it did: of each kind the first ones,
    /// as far as it goes.
    fn fire_ranges(
        &mut self,
        path: u32,
        value: &mut Value,
        clauses: &Clauses,
        fired: &mut FiredBits,
    ) {
        for kind in 0..4 {
            let Path {
                ranges,
                fired_ranges,
                ..
            } = self.paths[path as usize];
            let mut next = ranges[kind].start + fired_ranges[kind];
            while next < ranges[kind].end
                && clauses.tests.passes(self.tests[next as usize].test, value)
            {
                self.fire(next, fired);
                next += 1;
            }
            self.paths[path as usize].fired_ranges[kind] = next - ranges[kind].start;
        }
    }

    /// The path above, if there is one.
    pub fn above(&self, path: u32) -> Option<u32> {
        Some(self.steps[path as usize].above).filter(|&above| above != NONE)
    }

    /// The class of the nodes there; the document node has none.
    pub fn class(&self, path: u32) -> Option<u32> {
        Some(self.steps[path as usize].class).filter(|&class| class != NONE)
    }

    /// How many steps it has.
    pub fn depth(&self, path: u32) -> u32 {
        self.steps[path as usize].depth
    }

    /// The nodes of the trie that fire there.
    pub fn fired(&self, path: u32) -> &[u32] {
        &self.nodes[self.paths[path as usize].fired.range()]
    }

    /// Whether this document has such a path.
    pub fn is_seen(&self, path: u32) -> bool {
        self.paths[path as usize].seen == self.document
    }

    /// How many tests are kept at all paths.
    pub fn test_count(&self) -> usize {
        self.tests.len()
    }

    /// The test kept under a number, and the path it is kept at; numbers ascend with paths.
    pub fn test(&self, number: u32) -> (u32, u32) {
        let kept = &self.tests[number as usize];
        (kept.test, kept.path)
    }

    /// Whether at each path equality with this is found under a number, or never.
    pub fn tells_equal(&self, test: u32, clauses: &Clauses) -> bool {
        !self.collided && clauses.tests.record(test).operator() == Operator::Equal
    }

    /// How many bytes it takes, about.
    pub fn held(&self) -> usize {
        self.paths.len() * (size_of::<Path>() + size_of::<Step>())
            + (self.kids.len() + self.fars.len()) * 24
            + self.nodes.len() * 4
            + self.inner.len() * size_of::<Inner>()
            + self.words.len() * 4
            + self.masks.len() * 8
            + self.tests.len() * size_of::<PathTest>()
            + (self.numbers.len() + self.strings.len()) * 32
    }

    /// How many paths are remembered.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Forgets every path but that of the document node.
    pub fn forget(&mut self, layer: &Layer) {
        let (generation, document, forgotten) = (self.generation, self.document, self.forgotten);
        let (weight, searched, searched_max) = (self.weight, self.searched, self.searched_max);
        let document = if document == u32::MAX { 0 } else { document };
        // Buffers that grew large are given back rather than kept empty.
        *self = Paths {
            generation,
            document,
            forgotten,
            weight,
            searched,
            searched_max,
            ..Paths::default()
        };
        self.nodes.push(ROOT);
        self.inner
            .extend(Inner::of(ROOT, &layer.nodes[ROOT as usize]));
        let mut start = blank(Span { start: 0, end: 1 });
        start.inner.end = self.inner.len() as u32;
        self.paths.push(start);
        self.steps.push(Step {
            above: NONE,
            class: NONE,
            depth: 0,
        });
    }

    #[inline]
    fn apply(&self, ends: [u32; 5], fired: &mut FiredBits) {
        let lists = [&mut fired.reports, &mut fired.candidates, &mut fired.atoms];
        for (list, bitmap) in lists.into_iter().enumerate() {
            let range = ends[list] as usize..ends[list + 1] as usize;
            for (&word, &mask) in self.words[range.clone()].iter().zip(&self.masks[range]) {
                bitmap[word as usize] |= mask;
            }
        }
    }

    #[inline]
    fn fire(&mut self, test: u32, fired: &mut FiredBits) {
        let here = &mut self.tests[test as usize];
        if here.seen != self.document {
            here.seen = self.document;
            let ends = here.lists.ends;
            self.apply(ends, fired);
        }
    }
}

fn blank(fired: Span) -> Path {
    Path {
        fired,
        inner: Span::default(),
        lists: Lists::default(),
        tests: Span::default(),
        searches: Span::default(),
        ranges: [Span::default(); 4],
        fired_ranges: [0; 4],
        ordered: false,
        numeric: false,
        textual: false,
        valued: false,
        again: false,
        seen: 0,
        weight: 0,
    }
}

/// A number as a key: both zeros are equal.
fn bits_of(number: f64) -> u64 {
    if number == 0.0 { 0 } else { number.to_bits() }
}

#[inline]
fn key(path: u32, class: u32) -> u64 {
    u64::from(path) << 32 | u64::from(class)
}
