//! Needles: the tests for a part of a text, all of a document at once.
//!
//! Where few tests are asked of short texts, each is asked of each. Thousands of needles, or the one long
//! text of elements inside each other, would make that the product of both. So when a document's
//! searches have taken many steps, they are put off to its end. Then all needles that its paths ask
//! for are looked for in one pass (Aho and Corasick), and each one found is reported to the elements it
//! is in: from the innermost up to the first that was reported before.

use aho_corasick::{AhoCorasick, MatchKind};

use super::{Known, Paths, Span};
use crate::document::classes::NOTHING;
use crate::document::tree::{NONE, Tree};
use crate::matching::fired::FiredBits;
use crate::matching::layer_scan::Read;
use crate::matching::steps::BYTES_PER_STEP;
use crate::pattern::Operator;

/// How many bytes of needles are looked for in one pass: the automaton takes some 100 times as much.
const NEEDLE_BYTES_MAX: usize = 1 << 20;

/// A byte of a needle, on its way into the automaton, takes as long as so many finds.
const NEEDLE_BYTE: u64 = 1;

/// A test for a part of a text.
#[derive(Clone, Copy)]
struct Needle {
    test: u32,
    /// Whether the text must begin with it.
    first: bool,
    /// The innermost element that was reported last, and the text node.
    reported: u32,
    reported_text: u32,
}

/// What was put off, on its way through a document.
pub(crate) struct Search<'a> {
    pub(crate) paths: &'a mut Paths,
    pub(crate) fired: &'a mut FiredBits,
    pub(crate) element_paths: &'a [u32],
    pub(crate) known: Known<'a>,
    pub(crate) read: Read<'a>,
    /// So many needles may be found, and elements reported.
    pub(crate) left: u64,
}

impl Search<'_> {
    /// Looks for all needles; false if that is too much, or if more were found than there may be.
    pub(crate) fn run(&mut self) -> bool {
        let mut needles = self.needles();
        if !self.can_look_for(&needles) {
            return false;
        }
        let (mut start, tests) = (0, &self.known.clauses.tests);
        while start < needles.len() {
            let mut bytes = 0;
            let fits = |it: &&Needle| {
                bytes += tests.text(it.test).len();
                bytes <= NEEDLE_BYTES_MAX
            };
            let count = needles[start..].iter().take_while(fits).count().max(1);
            if !self.pass(&mut needles[start..start + count]) {
                return false;
            }
            start += count;
        }
        true
    }

    /// The needles that this document's paths ask for and that have not been found. Empty ones are
    /// everywhere.
    fn needles(&mut self) -> Vec<Needle> {
        let mut found = Vec::new();
        for path in 0..self.paths.len() as u32 {
            if !self.paths.is_seen(path) {
                continue;
            }
            for number in self.paths.paths[path as usize].searches.range() {
                let test = self.paths.tests[number].test;
                if self.known.clauses.tests.text(test).is_empty() {
                    self.paths.fire(number as u32, self.fired);
                } else if self.paths.tests[number].seen != self.paths.document {
                    found.push(test);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        let needle = |test: u32| Needle {
            test,
            first: self.known.clauses.tests.record(test).operator() == Operator::StartsWith,
            reported: NONE,
            reported_text: NONE,
        };
        found.into_iter().map(needle).collect()
    }

    /// Takes what preparing all needles costs, and reading the texts once for each pass.
    fn can_look_for(&mut self, needles: &[Needle]) -> bool {
        let tests = &self.known.clauses.tests;
        let bytes: usize = needles.iter().map(|it| tests.text(it.test).len()).sum();
        let tree = self.read.tree;
        let read = (tree.text.len() + tree.values.len()) / BYTES_PER_STEP;
        let passes = 1 + bytes / NEEDLE_BYTES_MAX;
        let costs = bytes as u64 * NEEDLE_BYTE + (passes * read) as u64;
        let is_within = costs <= self.left;
        self.left = self.left.saturating_sub(costs);
        is_within
    }

    fn pass(&mut self, needles: &mut [Needle]) -> bool {
        let tests = &self.known.clauses.tests;
        let texts = needles.iter().map(|it| tests.text(it.test));
        let built = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(texts);
        let Ok(automaton) = built else {
            return false;
        };
        let tree = self.read.tree;
        for it in automaton.find_overlapping_iter(&tree.text) {
            let needle = &mut needles[it.pattern().as_usize()];
            if !self.found(tree, needle, it.start() as u32, it.end() as u32) {
                return false;
            }
        }
        self.attributes(&automaton, needles)
    }

    /// A needle was found in the text: reports it to the elements and the text node it is in.
    fn found(&mut self, tree: &Tree, needle: &mut Needle, start: u32, end: u32) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let text = tree.texts.partition_point(|it| it.start <= start) - 1;
        let node = &tree.texts[text];
        let is_inside = end <= node.end && (!needle.first || start == node.start);
        if is_inside && text as u32 != needle.reported_text {
            needle.reported_text = text as u32;
            let class = self.read.classes.text();
            self.leaf(node.owner, class, needle.test);
        }
        let (mut at, mut innermost) = (node.owner, None);
        while at != NONE {
            let element = &tree.elements[at as usize];
            let is_reported = !needle.first && (at..element.end).contains(&needle.reported);
            if is_reported || needle.first && element.text_start != start {
                break;
            }
            if element.text_end >= end {
                innermost = innermost.or(Some(at));
                let path = self.element_paths[at as usize];
                self.paths.fire_search(path, needle.test, self.fired);
            }
            self.left = self.left.saturating_sub(1);
            at = element.parent;
        }
        needle.reported = innermost.unwrap_or(needle.reported);
        true
    }

    fn attributes(&mut self, automaton: &AhoCorasick, needles: &[Needle]) -> bool {
        let tree = self.read.tree;
        for (owner, element) in tree.elements.iter().enumerate() {
            let next = tree.elements.get(owner + 1);
            let end = next.map_or(tree.attributes.len(), |it| it.attributes as usize);
            for number in element.attributes as usize..end {
                let class = self.read.attribute_classes[number];
                if class == NOTHING || !self.searches_leaf(owner as u32, class) {
                    continue;
                }
                let it = &tree.attributes[number];
                let value = &tree.values[it.start as usize..it.end as usize];
                for found in automaton.find_overlapping_iter(value) {
                    let needle = needles[found.pattern().as_usize()];
                    if self.left == 0 {
                        return false;
                    }
                    self.left -= 1;
                    if !needle.first || found.start() == 0 {
                        self.leaf(owner as u32, class, needle.test);
                    }
                }
            }
        }
        true
    }

    fn searches_leaf(&self, owner: u32, class: u32) -> bool {
        let path = self.paths.known(self.element_paths[owner as usize], class);
        let span = path.map_or(Span::default(), |it| self.paths.paths[it as usize].searches);
        span.start < span.end
    }

    fn leaf(&mut self, owner: u32, class: u32, test: u32) {
        if let Some(path) = self.paths.known(self.element_paths[owner as usize], class) {
            self.paths.fire_search(path, test, self.fired);
        }
    }
}
