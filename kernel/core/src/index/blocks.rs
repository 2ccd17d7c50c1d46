//! Numbers given out so that what fires together lies together.
//!
//! What a path fires is kept as words of 64 bits with the word's place. Numbers handed out one after
//! the other would spread each path's bits over as many words as there are bits. So numbers come in
//! granules of 16, each for one *kin* (the last two labels of a pattern), and a path's bits fall
//! into a few full words.

use bytemuck::{Pod, Zeroable};

use crate::index::column::Column;
use crate::index::table::{Table, hash_of};

const NONE: u32 = u32::MAX;
/// How many numbers are given to one kin at a time: less wastes words, more wastes numbers.
pub const GRANULE: u32 = 16;
const ALL_FREE: u16 = u16::MAX;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Kin {
    key: u64,
    /// The first granule with a free number, or NONE.
    open: u32,
    unused: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Granule {
    kin: u32,
    next: u32,
    free: u16,
    unused: u16,
}

/// Numbers in granules.
#[derive(Default)]
pub struct Blocks {
    pub(crate) kins: Column<Kin>,
    pub(crate) table: Table,
    pub(crate) granules: Column<Granule>,
    limbo: Vec<u32>,
}

impl Blocks {
    /// A number beside others of the same kin.
    pub fn take(&mut self, key: u64) -> u32 {
        let kin = self.kin(key);
        let open = self.kins[kin as usize].open;
        if open == NONE {
            let granule = self.granules.len() as u32;
            self.granules.edit().push(Granule {
                kin,
                next: NONE,
                free: ALL_FREE & !1,
                unused: 0,
            });
            self.kins.edit()[kin as usize].open = granule;
            return granule * GRANULE;
        }
        let granule = &mut self.granules.edit()[open as usize];
        let bit = granule.free.trailing_zeros();
        granule.free &= !(1 << bit);
        if granule.free == 0 {
            self.kins.edit()[kin as usize].open = granule.next;
        }
        open * GRANULE + bit
    }

    /// Gives a number back that readers may still remember.
    pub fn retire(&mut self, number: u32) {
        self.limbo.push(number);
    }

    /// How many wait to be given out again.
    pub fn waiting(&self) -> usize {
        self.limbo.len()
    }

    /// Nobody remembers anything any more: numbers given back can be given out.
    pub fn settle(&mut self) {
        if self.limbo.is_empty() {
            return;
        }
        let granules = self.granules.edit();
        let kins = self.kins.edit();
        for number in self.limbo.drain(..) {
            granules[(number / GRANULE) as usize].free |= 1 << (number % GRANULE);
        }
        while granules.last().is_some_and(|last| last.free == ALL_FREE) {
            granules.pop();
        }
        kins.iter_mut().for_each(|kin| kin.open = NONE);
        for (place, granule) in granules.iter_mut().enumerate().rev() {
            if granule.free != 0 {
                granule.next =
                    std::mem::replace(&mut kins[granule.kin as usize].open, place as u32);
            }
        }
        granules.shrink_to(granules.len() * 2);
    }

    /// One past the highest number.
    pub fn end(&self) -> usize {
        self.granules.len() * GRANULE as usize
    }

    /// How many bytes of our own memory it takes.
    pub fn held(&self) -> usize {
        self.kins.held() + self.table.held() + self.granules.held() + self.limbo.capacity() * 4
    }

    fn kin(&mut self, key: u64) -> u32 {
        let hash = hash_of(&key);
        if let Some(kin) = self
            .table
            .reader()
            .find(hash, |it| self.kins[it as usize].key == key)
        {
            return kin;
        }
        let kin = self.kins.len() as u32;
        self.kins.edit().push(Kin {
            key,
            open: NONE,
            unused: 0,
        });
        self.table.insert(hash, kin);
        kin
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn numbers_of_one_kin_lie_side_by_side() {
        let mut blocks = Blocks::default();
        let mixed: Vec<(u64, u32)> = (0..40).map(|it| (it % 2, blocks.take(it % 2))).collect();
        let of = |kin| mixed.iter().filter(move |it| it.0 == kin).map(|it| it.1);
        assert_eq!(of(0).collect::<Vec<_>>()[..16], (0..16).collect::<Vec<_>>());
        assert_eq!(
            of(1).collect::<Vec<_>>()[..16],
            (16..32).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_number_is_given_again_only_once_everything_is_settled() {
        let (mut blocks, mut seed) = (Blocks::default(), 5u64);
        let (mut given, mut waiting) = (Vec::new(), BTreeSet::new());
        for round in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let chance = (seed >> 33) as usize;
            if chance % 5 < 3 && given.len() < 300 {
                let number = blocks.take(chance as u64 % 7);
                assert!(!given.contains(&number) && !waiting.contains(&number));
                assert!((number as usize) < blocks.end());
                given.push(number);
            } else if !given.is_empty() {
                let number = given.swap_remove(chance % given.len());
                blocks.retire(number);
                waiting.insert(number);
            }
            assert_eq!(blocks.waiting(), waiting.len());
            if round % 97 == 0 {
                blocks.settle();
                waiting.clear();
            }
        }
        assert!(blocks.end() < 1_000, "{}", blocks.end());
        given.into_iter().for_each(|number| blocks.retire(number));
        blocks.settle();
        assert_eq!(blocks.end(), 0);
    }
}
