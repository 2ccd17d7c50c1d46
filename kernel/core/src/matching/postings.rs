//! Where atoms fired in a large document, and twigs decided by joining these places.
//!
//! In a small document it is quick to look below each element of a join. In a large one a join has
//! thousands of elements with much below them, and there are thousands of twigs. So the places where
//! leaves fired are worked out once; the elements of a join are those above a place of every leaf.
//! Twigs with a leaf and a join in common share that work. Leaves that fired nearly everywhere are
//! not joined; the few elements that the others leave are looked at instead.
//!
//! A place is a label path and the elements there, in document order. Which ancestors of an element
//! can stand for a join depends on the label path alone, so it is worked out per path.

use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::document::tree::Tree;
use crate::index::layer::{Layer, Node, ROOT, VALUED};
use crate::matching::paths::{Known, Paths};
use crate::matching::steps::{Answer, Spent};
use crate::matching::verify::{At, Verifier};

/// Numbers of elements remembered for a document, 4 bytes each: what was joined before is worked
/// out again beyond that.
const REMEMBERED_MAX: usize = 16 << 20;

/// What it takes to find the places of a join above one more path, in steps along a list.
const PATH_COST: usize = 16;

/// Looking stops at the first element that satisfies: so many times less work than it could be.
const EARLY: usize = 8;

/// Lists of items under small numbers, one behind the other.
#[derive(Default)]
struct Shelves {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Shelves {
    /// Fills the shelves with pairs of shelf and item, which keep their order on each shelf.
    fn fill(&mut self, shelves: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) {
        self.ends.clear();
        self.ends.resize(shelves + 2, 0);
        let mut count = 0;
        for (shelf, _) in pairs.clone() {
            self.ends[shelf as usize + 2] += 1;
            count += 1;
        }
        for shelf in 2..self.ends.len() {
            self.ends[shelf] += self.ends[shelf - 1];
        }
        self.items.clear();
        self.items.resize(count, 0);
        for (shelf, item) in pairs {
            let next = &mut self.ends[shelf as usize + 1];
            self.items[*next as usize] = item;
            *next += 1;
        }
    }

    fn of(&self, shelf: u32) -> &[u32] {
        match self.ends.get(shelf as usize..shelf as usize + 2) {
            Some(&[start, end]) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// What happened on the way through a large document.
#[derive(Default)]
pub struct Hits {
    /// Attributes and texts: their path and the element they belong to.
    pub leaves: Vec<(u32, u32)>,
    /// Tests for equality that were passed, and the element.
    pub tests: Vec<(u32, u32)>,
}

impl Hits {
    /// Begins a document.
    pub fn begin(&mut self) {
        self.leaves.clear();
        self.tests.clear();
    }
}

/// The places where atoms fired.
#[derive(Default)]
pub struct Postings {
    ready: bool,
    by_path: Shelves,
    by_node: Shelves,
    by_test: Shelves,
    /// For each test the numbers under which it is kept where it was passed, and the paths they are
    /// kept at.
    by_value: Shelves,
    by_value_paths: Shelves,
    known: FxHashMap<(u32, u32), (u32, u32)>,
    lists: Vec<u32>,
    spots: FxHashMap<u32, Spots>,
    stairs: FxHashMap<(u32, u32), (u32, u32)>,
    /// A path that fires a node, and a path above it (or the same) where a join can stand.
    steps: Vec<(u32, u32)>,
}

/// The paths where an atom fired, or may have, and how many elements there are.
#[derive(Clone, Default)]
struct Spots {
    spots: Arc<[Spot]>,
    elements: usize,
    /// Whether it fired at all of these elements: only tests for equality are distinguished.
    exact: bool,
}

/// A path, and the number under which a test for equality is kept there, if it is one.
#[derive(Clone, Copy)]
struct Spot {
    path: u32,
    kept: Option<u32>,
}

/// A document with regard to one layer.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// What is known of the layer.
    pub known: Known<'a>,
    /// The document.
    pub tree: &'a Tree,
    /// Its paths.
    pub paths: &'a Paths,
    /// The path of each element.
    pub element_paths: &'a [u32],
    /// What else happened.
    pub hits: &'a Hits,
}

/// What is asked of a join.
#[derive(Clone, Copy)]
struct Asked {
    /// Its node.
    join: u32,
    /// What must hold at one of its elements.
    clause: u32,
    /// Whether there are further joins below it.
    nested: bool,
}

impl Postings {
    /// Begins a document.
    pub fn begin(&mut self) {
        if self.ready {
            *self = Postings::default();
        }
    }

    /// Whether the leaves of a twig (atoms, as their owners) can be had together: all have fired, and
    /// the joins given, as nodes with their clauses, met more than one element.
    pub fn agree(
        &mut self,
        seen: Seen,
        leaves: &[u32],
        joins: &[(u32, u32)],
        verifier: &mut Verifier,
    ) -> Answer {
        if !self.ready {
            self.prepare(seen);
        }
        let nodes: &[Node] = &seen.known.layer.nodes;
        for &(join, clause) in joins {
            let inside = |node: u32| is_below(nodes, node, join);
            if joins
                .iter()
                .any(|&(other, _)| other != join && is_below(nodes, join, other))
            {
                continue; // the join above asks for all that is below it
            }
            let nested = joins
                .iter()
                .any(|&(other, _)| other != join && inside(other));
            let below = leaves
                .iter()
                .copied()
                .filter(|&it| inside(node_of(seen.known.layer, it)));
            let asked = Asked {
                join,
                clause,
                nested,
            };
            if !self.agree_at(seen, below.collect(), asked, verifier)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether some element of a join is above a place of each leaf. Leaves with few places are joined;
    /// whether the rest is there too, and whether further joins below agree, is looked up.
    fn agree_at(
        &mut self,
        seen: Seen,
        mut owners: Vec<u32>,
        asked: Asked,
        verifier: &mut Verifier,
    ) -> Answer {
        for &owner in &owners {
            self.spots(seen, owner, verifier)?;
        }
        let size =
            |spots: &FxHashMap<u32, Spots>, it: u32| spots.get(&it).map_or(0, |it| it.elements);
        owners.sort_by_cached_key(|&owner| size(&self.spots, owner));
        let mut found: Option<Vec<u32>> = None;
        let mut complete = !asked.nested;
        for owner in owners {
            let spots = self.spots(seen, owner, verifier)?;
            complete &= spots.exact;
            if let Some(found) = &found {
                let joining = spots.elements + spots.spots.len() * PATH_COST;
                let known = self.known.contains_key(&(owner, asked.join));
                if found.is_empty() {
                    return Ok(false);
                }
                if !known && is_cheaper_to_look(seen.tree, found, joining) {
                    complete = false;
                    continue;
                }
            }
            self.meet_leaf(seen, &mut found, (owner, asked.join), verifier)?;
        }
        let found = found.unwrap_or_default();
        if complete {
            return Ok(!found.is_empty());
        }
        for element in found {
            if verifier.holds(asked.clause, At::Element(element))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps of the elements found so far those above a place of a leaf.
    fn meet_leaf(
        &mut self,
        seen: Seen,
        found: &mut Option<Vec<u32>>,
        (owner, join): (u32, u32),
        verifier: &mut Verifier,
    ) -> Result<(), Spent> {
        let before = found.as_ref().map_or(0, Vec::len);
        if let Some(&(start, end)) = self.known.get(&(owner, join)) {
            let elements = &self.lists[start as usize..end as usize];
            verifier.steps.take((before + elements.len()) as u64 / 4)?;
            meet(found, elements);
            return Ok(());
        }
        let elements = self.above(seen, owner, join, verifier)?;
        verifier.steps.take((before + elements.len()) as u64)?;
        meet(found, &elements);
        if self.lists.len() + elements.len() <= REMEMBERED_MAX {
            let start = self.lists.len() as u32;
            self.lists.extend_from_slice(&elements);
            self.known
                .insert((owner, join), (start, self.lists.len() as u32));
        }
        Ok(())
    }

    /// The elements of a join above a place of a leaf, in document order.
    fn above(
        &mut self,
        seen: Seen,
        owner: u32,
        join: u32,
        verifier: &mut Verifier,
    ) -> Result<Vec<u32>, Spent> {
        let mut found = Vec::new();
        let steps = self.steps(seen, owner, join, verifier)?;
        for &(spot, above) in &steps {
            let before = found.len();
            ancestors(self.by_path.of(above), self.places(spot), &mut found);
            // Each element found took a search in both lists.
            verifier.steps.take(1 + 4 * (found.len() - before) as u64)?;
        }
        if steps.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        Ok(found)
    }

    /// For each path where a leaf fired, and each path above it where a join can stand: both.
    fn steps(
        &mut self,
        seen: Seen,
        owner: u32,
        join: u32,
        verifier: &mut Verifier,
    ) -> Result<Vec<(Spot, u32)>, Spent> {
        let node = node_of(seen.known.layer, owner);
        let spots = self.spots(seen, owner, verifier)?;
        let (start, end) = match self.stairs.get(&(node, join)) {
            Some(&known) => known,
            None => {
                let start = self.steps.len();
                for &path in self.by_node.of(node) {
                    let taken = verifier.steps.take(1 + u64::from(seen.paths.depth(path)));
                    if taken.is_err() {
                        self.steps.truncate(start);
                        return Err(Spent);
                    }
                    let levels = levels(seen, path, node, join);
                    let above = chain(seen.paths, path).filter(|it| levels.has(it.0));
                    self.steps.extend(above.map(|it| (path, it.1)));
                }
                let range = (start as u32, self.steps.len() as u32);
                self.stairs.insert((node, join), range);
                range
            }
        };
        // Both ascend, and a test is passed at few of the paths.
        let mut rest = &self.steps[start as usize..end as usize];
        let mut found = Vec::new();
        for &spot in spots.spots.iter() {
            rest = &rest[gallop(rest, |it| it.0 < spot.path)..];
            let here = rest.iter().take_while(|it| it.0 == spot.path);
            found.extend(here.map(|it| (spot, it.1)));
        }
        verifier.steps.take(found.len() as u64)?;
        Ok(found)
    }

    /// The elements at a spot.
    fn places(&self, spot: Spot) -> &[u32] {
        match spot.kept {
            Some(number) => self.by_test.of(number),
            None => self.by_path.of(spot.path),
        }
    }

    fn spots(&mut self, seen: Seen, owner: u32, verifier: &mut Verifier) -> Result<Spots, Spent> {
        if let Some(known) = self.spots.get(&owner) {
            return Ok(known.clone());
        }
        let fired = self.by_node.of(node_of(seen.known.layer, owner));
        verifier.steps.take(1 + fired.len() as u64)?;
        let test =
            (owner & VALUED != 0).then(|| seen.known.layer.valued[(owner & !VALUED) as usize].test);
        let equal = test.filter(|&it| seen.paths.tells_equal(it, seen.known.clauses));
        let spots: Arc<[Spot]> = match equal {
            Some(test) => self.passed(test, fired),
            None => fired
                .iter()
                .map(|&path| Spot { path, kept: None })
                .filter(|&spot| !self.places(spot).is_empty())
                .collect(),
        };
        let made = Spots {
            elements: spots.iter().map(|&it| self.places(it).len()).sum(),
            exact: test.is_none() || equal.is_some(),
            spots,
        };
        self.spots.insert(owner, made.clone());
        Ok(made)
    }

    /// Of the paths where a node fired those where a test for equality was passed.
    fn passed(&self, test: u32, fired: &[u32]) -> Arc<[Spot]> {
        let numbers = self.by_value.of(test);
        let (mut paths, mut fired) = (self.by_value_paths.of(test), fired);
        let mut found = Vec::new();
        while let (Some(&path), Some(&other)) = (paths.first(), fired.first()) {
            match path.cmp(&other) {
                Ordering::Less => paths = &paths[gallop(paths, |&it| it < other)..],
                Ordering::Greater => fired = &fired[gallop(fired, |&it| it < path)..],
                Ordering::Equal => {
                    let kept = Some(numbers[numbers.len() - paths.len()]);
                    found.push(Spot { path, kept });
                    (paths, fired) = (&paths[1..], &fired[1..]);
                }
            }
        }
        found.into()
    }

    fn prepare(&mut self, seen: Seen) {
        self.ready = true;
        let Seen {
            paths,
            element_paths,
            hits,
            ..
        } = seen;
        let elements = element_paths
            .iter()
            .enumerate()
            .map(|(element, &path)| (path, element as u32));
        self.by_path
            .fill(paths.len(), elements.chain(hits.leaves.iter().copied()));
        self.by_test
            .fill(paths.test_count(), hits.tests.iter().copied());
        let by_test = &self.by_test;
        let passed = (0..paths.test_count() as u32).filter(|&it| !by_test.of(it).is_empty());
        let tests = seen.known.clauses.tests.end();
        self.by_value
            .fill(tests, passed.clone().map(|it| (paths.test(it).0, it)));
        self.by_value_paths
            .fill(tests, passed.map(|it| paths.test(it)));
        let fired = (0..paths.len() as u32).filter(|&path| paths.is_seen(path));
        let fired = fired.flat_map(|path| paths.fired(path).iter().map(move |&node| (node, path)));
        self.by_node.fill(seen.known.layer.nodes.len(), fired);
    }
}

fn node_of(layer: &Layer, owner: u32) -> u32 {
    if owner & VALUED == 0 {
        owner
    } else {
        layer.valued[(owner & !VALUED) as usize].node
    }
}

/// Whether a node is another one, or below it.
pub(crate) fn is_below(nodes: &[Node], node: u32, other: u32) -> bool {
    let mut node = node;
    while node != ROOT && node != other {
        node = nodes[node as usize].parent;
    }
    node == other
}

/// Whether looking through what is below some elements is less work than a join of this many steps.
/// Most of what is asked for is found early.
fn is_cheaper_to_look(tree: &Tree, elements: &[u32], joining: usize) -> bool {
    let mut looking = 0;
    elements.iter().all(|&element| {
        looking += (tree.elements[element as usize].end - element) as usize;
        looking <= joining * EARLY
    })
}

/// At which depths above (or at) a path that fires a node another node further up can stand.
fn levels(seen: Seen, path: u32, node: u32, join: u32) -> Depths {
    let nodes: &[Node] = &seen.known.layer.nodes;
    // Over child edges there is one way up, and it is the right one, since the node fires here.
    let (mut path, mut node) = (path, node);
    while node != join && nodes[node as usize].edge & 1 == 0 {
        let Some(above) = seen.paths.above(path) else {
            return Depths::default();
        };
        (path, node) = (above, nodes[node as usize].parent);
    }
    let mut stands = Depths::of(seen.paths.depth(path));
    while node != join {
        let far = nodes[node as usize].edge & 1 == 1;
        node = nodes[node as usize].parent;
        let reached = if far {
            stands.below_highest()
        } else {
            stands.one_less()
        };
        stands = Depths::default();
        for (depth, path) in chain(seen.paths, path).skip(1) {
            if reached.has(depth) && stands_at(seen, path, node, node == join) {
                stands.set(depth);
            }
        }
    }
    stands
}

/// Whether a node can stand at a path: it has the label; a join must have been met there.
fn stands_at(seen: Seen, path: u32, node: u32, join: bool) -> bool {
    let record = &seen.known.layer.nodes[node as usize];
    if join {
        return seen.paths.meets(path, record.join);
    }
    seen.paths
        .class(path)
        .is_some_and(|class| seen.known.classes.has(class, record.edge >> 1))
}

/// A path and those above it, with their depths.
fn chain(paths: &Paths, path: u32) -> impl Iterator<Item = (u32, u32)> {
    let up = std::iter::successors(Some(path), |&it| paths.above(it));
    up.map(|it| (paths.depth(it), it))
}

/// A set of depths; no document is deeper than 256 elements, and a leaf is one deeper.
#[derive(Clone, Copy, Default)]
struct Depths([u64; 5]);

impl Depths {
    fn of(depth: u32) -> Self {
        let mut one = Depths::default();
        one.set(depth);
        one
    }

    fn set(&mut self, depth: u32) {
        if let Some(word) = self.0.get_mut(depth as usize / 64) {
            *word |= 1 << (depth % 64);
        }
    }

    fn has(&self, depth: u32) -> bool {
        self.0
            .get(depth as usize / 64)
            .is_some_and(|word| word >> (depth % 64) & 1 == 1)
    }

    /// Each of them less one.
    fn one_less(&self) -> Self {
        let mut moved = Depths::default();
        for word in 0..self.0.len() {
            let carried = self.0.get(word + 1).map_or(0, |next| next << 63);
            moved.0[word] = self.0[word] >> 1 | carried;
        }
        moved
    }

    /// All that are less than the highest.
    fn below_highest(&self) -> Self {
        let mut below = Depths::default();
        let mut found = false;
        for word in (0..self.0.len()).rev() {
            if found {
                below.0[word] = u64::MAX;
            } else if self.0[word] != 0 {
                found = true;
                below.0[word] = (1 << (63 - self.0[word].leading_zeros())) - 1;
            }
        }
        below
    }
}

/// The elements of one path that are above (or at) elements of a path below it, each once. Every such
/// element has one there: the last that begins before it. Both lists ascend.
fn ancestors(above: &[u32], elements: &[u32], found: &mut Vec<u32>) {
    let mut rest = above;
    let mut next = elements;
    while let Some(&element) = next.first() {
        let before = gallop(rest, |&it| it <= element);
        if before > 0 {
            found.push(rest[before - 1]);
            rest = &rest[before..];
        }
        let Some(&limit) = rest.first() else { return };
        next = &next[gallop(next, |&it| it < limit)..];
    }
}

/// How many items at the start of a list satisfy a condition that all before them satisfy.
fn gallop<T>(list: &[T], holds: impl Fn(&T) -> bool) -> usize {
    let mut step = 1;
    while list.get(step - 1).is_some_and(&holds) {
        step *= 2;
    }
    let start = step / 2;
    let end = (step - 1).min(list.len());
    start + list[start..end].partition_point(holds)
}

/// Keeps of what was found what is in the other list too; both ascend.
fn meet(found: &mut Option<Vec<u32>>, other: &[u32]) {
    match found {
        None => *found = Some(other.to_vec()),
        Some(known) if known.len() * 16 < other.len() => {
            let mut rest = other;
            known.retain(|it| {
                rest = &rest[rest.partition_point(|other| other < it)..];
                rest.first() == Some(it)
            });
        }
        Some(known) => {
            let mut rest = other.iter().copied().peekable();
            known.retain(|&it| {
                while rest.next_if(|&other| other < it).is_some() {}
                rest.peek() == Some(&it)
            });
        }
    }
}
