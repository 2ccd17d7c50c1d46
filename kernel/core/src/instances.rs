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
    heads: Vec<u32>,
    chain: Vec<(u32, u32)>,
}

impl Instances {
    /// Begins a document.
    pub fn begin(&mut self) {
        self.ready = false;
    }

    /// The elements that met an ambiguous join, in document order.
    pub fn of(
        &mut self,
        join: u32,
        paths: &Paths,
        element_paths: &[u32],
        marks: &Marks,
    ) -> impl Iterator<Item = u32> {
        if !self.ready {
            self.prepare(paths, element_paths, marks);
        }
        let mut next = self.heads[join as usize];
        std::iter::from_fn(move || {
            let (element, after) = *self.chain.get(next as usize)?;
            next = after;
            Some(element)
        })
    }

    fn prepare(&mut self, paths: &Paths, element_paths: &[u32], marks: &Marks) {
        self.ready = true;
        self.heads.clear();
        self.heads.resize(marks.twice.len() * 64, NONE);
        self.chain.clear();
        for (element, &path) in element_paths.iter().enumerate().rev() {
            for (word, mask) in paths.joins(path) {
                let mut bits = mask & marks.twice[word as usize];
                while bits != 0 {
                    let join = (word * 64 + bits.trailing_zeros()) as usize;
                    bits &= bits - 1;
                    self.chain.push((element as u32, self.heads[join]));
                    self.heads[join] = self.chain.len() as u32 - 1;
                }
            }
        }
    }
}
