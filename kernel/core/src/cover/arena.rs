//! The nodes of all patterns in one piece of memory.
//!
//! Searches look at thousands of patterns, a few dozen bytes of each. Those that came after each
//! other lie behind each other, in the order in which they are looked at.

use rustc_hash::FxHashMap;

use super::twig::Node;
use crate::sys::prefetch::prefetch;

/// Where the nodes of a pattern are.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Span {
    start: u32,
    len: u32,
}

/// Rows of nodes.
#[derive(Default)]
pub struct Arena {
    nodes: Vec<Node>,
    /// Rows that are free, by their length.
    free: FxHashMap<u32, Vec<u32>>,
    unused: usize,
}

/// So many unused nodes are no waste.
const UNUSED_MAX: usize = 4096;

impl Arena {
    /// Puts in a row of nodes.
    pub fn put(&mut self, row: &[Node]) -> Span {
        let len = row.len() as u32;
        if let Some(start) = self.free.get_mut(&len).and_then(Vec::pop) {
            self.nodes[start as usize..][..row.len()].copy_from_slice(row);
            self.unused -= row.len();
            return Span { start, len };
        }
        let start = self.nodes.len();
        assert!(start + row.len() <= u32::MAX as usize, "too many nodes");
        if start + row.len() > self.nodes.capacity() {
            // A quarter more, not twice as much: this is most of the memory that there is.
            self.nodes.reserve_exact(row.len() + start / 4);
        }
        self.nodes.extend_from_slice(row);
        let start = start as u32;
        Span { start, len }
    }

    /// A row of nodes.
    #[inline]
    pub fn get(&self, span: Span) -> &[Node] {
        &self.nodes[span.start as usize..][..span.len as usize]
    }

    /// Has the processor fetch the beginning of a row.
    #[inline]
    pub fn fetch(&self, span: Span) {
        for ahead in [0, 4, 8] {
            prefetch(&self.nodes, span.start as usize + ahead);
        }
    }

    /// Takes out a row of nodes.
    pub fn drop(&mut self, span: Span) {
        if span.len > 0 {
            self.free.entry(span.len).or_default().push(span.start);
            self.unused += span.len as usize;
        }
    }

    /// Whether more than half of it is unused.
    pub fn is_wasteful(&self) -> bool {
        self.unused > UNUSED_MAX && self.unused * 2 > self.nodes.len()
    }

    /// How many nodes are in use.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.unused
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes it takes.
    pub fn held(&self) -> usize {
        let free: usize = self.free.values().map(Vec::capacity).sum();
        self.nodes.capacity() * size_of::<Node>() + self.free.capacity() * 33 + free * 4
    }
}
