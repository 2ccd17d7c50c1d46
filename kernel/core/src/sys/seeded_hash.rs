//! Hashes of what strangers choose.
//!
//! Names and values come from strangers, who may know our hash function. So every step of it
//! multiplies with numbers of chance, without which nobody can choose keys that collide.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::document::read::swar::word;

/// The numbers of chance of one table; it builds hashers of numbers, too.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    seeds: [u64; 2],
}

impl Default for Chance {
    fn default() -> Self {
        let chance = RandomState::new();
        Chance {
            seeds: [chance.hash_one(1), chance.hash_one(2)],
        }
    }
}

impl Chance {
    /// The hash of some bytes and a number beside them.
    #[inline]
    pub(crate) fn hash(&self, tag: u32, key: &[u8]) -> u64 {
        let [first, second] = self.seeds;
        let mut state = first ^ (u64::from(tag) << 32 | key.len() as u64);
        let mut rest = key;
        loop {
            state = folded(state ^ word(rest, 0), second ^ word(rest, 8));
            match rest.get(16..) {
                Some(behind) if !behind.is_empty() => rest = behind,
                _ => break,
            }
        }
        folded(state, first)
    }
}

impl BuildHasher for Chance {
    type Hasher = Chosen;

    #[inline]
    fn build_hasher(&self) -> Chosen {
        let [state, factor] = self.seeds;
        Chosen { state, factor }
    }
}

/// A hasher of numbers.
pub(crate) struct Chosen {
    state: u64,
    factor: u64,
}

impl Hasher for Chosen {
    fn write(&mut self, bytes: &[u8]) {
        for place in (0..bytes.len()).step_by(8) {
            self.write_u64(word(bytes, place));
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.state = folded(self.state ^ number, self.factor);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.state
    }
}

/// Both halves of a product as one.
#[inline]
fn folded(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::table::hash_of;

    #[test]
    fn texts_made_to_collide_do_not() {
        let (one, other) = (
            b"?=Jp?LOgSli6+Q^U`H6DQ05G_Sl4A-/yNg7=98tE_g1M+,T10123456789abcdef",
            b"?=Jp?LOgSli6+Q^U`H6DQ05G_Sl4A-/y;lX)WnH-*l^YEzhY0123456789abcdef",
        );
        assert_eq!(hash_of(&one[..]), hash_of(&other[..]));
        let chance = Chance::default();
        assert_ne!(chance.hash(0, one), chance.hash(0, other));
        assert_eq!(chance.hash(0, one), chance.clone().hash(0, one));
    }

    #[test]
    fn numbers_that_differ_in_high_bits_only_are_spread_over_all_places() {
        let chance = Chance::default();
        let places: std::collections::HashSet<u64> = (0..1024u64)
            .map(|it| chance.hash_one((7u32, it << 52)) % 4096)
            .collect();
        assert!(places.len() > 512);
    }
}
