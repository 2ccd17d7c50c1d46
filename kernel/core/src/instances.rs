//! The elements that met a join, for the joins that met more than one.
//!
//! A twig whose leaves have all fired can only fail where they disagree about the element at a join.
//! It is then enough to ask each element that met the join for what the pattern says there: the path
//! down to the join is satisfied, since the join was met, and the rest of the pattern hangs on joins
//! further up.

use crate::marks::Marks;
use crate::paths::Paths;

const NONE: u32 = u32::MAX;

/// For each ambiguous join its elements, worked out when first asked for.
#[derive(Default)]
pub struct Instances {
    ready: bool,
    /// The first and the number of them, by join.
    heads: Vec<(u32, u32)>,
    chain: Vec<(u32, u32)>,
}

impl Instances {
    /// Begins a document.
    pub fn begin(&mut self) {
        self.ready = false;
    }

    /// How many elements met an ambiguous join.
    pub fn count(&mut self, join: u32, paths: &Paths, element_paths: &[u32], marks: &Marks) -> u32 {
        if !self.ready {
            self.prepare(paths, element_paths, marks);
        }
        self.heads[join as usize].1
    }

    /// The elements that were counted, in document order.
    pub fn of(&self, join: u32) -> impl Iterator<Item = u32> {
        let mut next = self.heads[join as usize].0;
        std::iter::from_fn(move || {
            let (element, after) = *self.chain.get(next as usize)?;
            next = after;
            Some(element)
        })
    }

    fn prepare(&mut self, paths: &Paths, element_paths: &[u32], marks: &Marks) {
        self.ready = true;
        self.heads.clear();
        self.heads.resize(marks.twice.len() * 64, (NONE, 0));
        self.chain.clear();
        for (element, &path) in element_paths.iter().enumerate().rev() {
            for (word, mask) in paths.joins(path) {
                let mut bits = mask & marks.twice[word as usize];
                while bits != 0 {
                    let join = (word * 64 + bits.trailing_zeros()) as usize;
                    bits &= bits - 1;
                    let (head, count) = &mut self.heads[join];
                    self.chain.push((element as u32, *head));
                    (*head, *count) = (self.chain.len() as u32 - 1, *count + 1);
                }
            }
        }
    }
}
