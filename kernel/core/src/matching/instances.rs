//! The elements that met a join, for the joins that met more than one.
//!
//! A twig whose leaves have all fired can only fail where they disagree about the element at a join.
//! It is then enough to ask each element that met the join for what the pattern says there: the path
//! down to the join is satisfied, since the join was met, and the rest of the pattern hangs on joins
//! further up.

use crate::matching::fired::FiredBits;
use crate::matching::paths::Paths;
use crate::matching::steps::{Spent, Steps};

const NONE: u32 = u32::MAX;

/// How many elements of joins are listed at once, 8 bytes each. Where all joins together have more,
/// each is listed when it is asked for.
const LISTED_MAX: usize = 4_000_000;

/// A document that has been walked.
#[derive(Clone, Copy)]
pub struct Walked<'a> {
    /// The paths remembered.
    pub paths: &'a Paths,
    /// The path of each element.
    pub element_paths: &'a [u32],
    /// What fired.
    pub fired: &'a FiredBits,
}

/// For each ambiguous join its elements, worked out when first asked for.
#[derive(Default)]
pub struct Instances {
    ready: bool,
    /// Whether all joins have too many elements to be listed at once; then, the join that is listed.
    single: Option<u32>,
    /// The first and the number of them, by join.
    heads: Vec<(u32, u32)>,
    chain: Vec<(u32, u32)>,
}

impl Instances {
    /// Begins a document.
    pub fn begin(&mut self) {
        self.ready = false;
        self.single = None;
    }

    /// How many elements met an ambiguous join.
    pub fn count(&mut self, join: u32, walked: Walked, steps: &mut Steps) -> Result<u32, Spent> {
        if !self.ready {
            steps.take(walked.element_paths.len() as u64)?;
            self.prepare(walked);
        }
        if self.single.is_some_and(|listed| listed != join) {
            steps.take(2 * walked.element_paths.len() as u64)?;
            self.list(join, walked);
        }
        Ok(self.heads[join as usize].1)
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

    fn prepare(&mut self, walked: Walked) {
        self.ready = true;
        let fired = walked.fired;
        self.heads.clear();
        self.heads.resize(fired.twice.len() * 64, (NONE, 0));
        self.chain.clear();
        for (element, &path) in walked.element_paths.iter().enumerate().rev() {
            for (word, mask) in walked.paths.joins(path) {
                let mut bits = mask & fired.twice[word as usize];
                while bits != 0 {
                    let join = (word * 64 + bits.trailing_zeros()) as usize;
                    bits &= bits - 1;
                    let (head, count) = &mut self.heads[join];
                    self.chain.push((element as u32, *head));
                    (*head, *count) = (self.chain.len() as u32 - 1, *count + 1);
                }
            }
            if self.chain.len() > LISTED_MAX {
                self.single = Some(NONE);
                return;
            }
        }
    }

    /// Lists the elements of one join in the place of another's.
    fn list(&mut self, join: u32, walked: Walked) {
        self.single = Some(join);
        self.chain.clear();
        let (mut head, mut count) = (NONE, 0);
        for (element, &path) in walked.element_paths.iter().enumerate().rev() {
            if walked.paths.meets(path, join) {
                self.chain.push((element as u32, head));
                (head, count) = (self.chain.len() as u32 - 1, count + 1);
            }
        }
        self.heads[join as usize] = (head, count);
    }
}
