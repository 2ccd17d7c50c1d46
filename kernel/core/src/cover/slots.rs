//! Sets of small numbers: a list where there are few, a bit for each number where there are many.
//!
//! Patterns come and go, so both forms must lose a number as quickly as they gain one. A list of
//! members takes 4 bytes each; bits take no more once a 32nd of all numbers is in the set.

/// A set of slots.
pub enum Slots {
    /// Ascending.
    Few(Vec<u32>),
    /// Bits, and how many are set.
    Many(Vec<u64>, usize),
}

/// Lists are kept up to this length, however small the numbers.
const LIST_MAX: usize = 256;

impl Default for Slots {
    fn default() -> Self {
        Slots::Few(Vec::new())
    }
}

impl Slots {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Slots::Few(list) => list.len(),
            Slots::Many(_, len) => *len,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts in a slot that is not there.
    pub fn insert(&mut self, slot: u32) {
        match self {
            Slots::Few(list) => {
                let at = list.partition_point(|&it| it < slot);
                list.insert(at, slot);
                let last = *list.last().unwrap_or(&0) as usize;
                if list.len() > LIST_MAX && list.len() * 32 > last {
                    *self = bits_of(list);
                }
            }
            Slots::Many(bits, len) => {
                let word = slot as usize / 64;
                if word >= bits.len() {
                    bits.resize(word + 1, 0);
                }
                bits[word] |= 1 << (slot % 64);
                *len += 1;
                self.shrink();
            }
        }
    }

    /// Takes out a slot that is there.
    pub fn remove(&mut self, slot: u32) {
        match self {
            Slots::Few(list) => {
                if let Ok(at) = list.binary_search(&slot) {
                    list.remove(at);
                }
                if list.len() * 4 < list.capacity() {
                    list.shrink_to(list.len() * 2);
                }
            }
            Slots::Many(bits, len) => {
                bits[slot as usize / 64] &= !(1 << (slot % 64));
                *len -= 1;
                self.shrink();
            }
        }
    }

    /// Makes it a list again where bits would take four times the memory.
    fn shrink(&mut self) {
        if let Slots::Many(bits, len) = self
            && (*len < LIST_MAX / 2 || *len * 128 < bits.len() * 64)
        {
            let mut list = Vec::with_capacity(*len);
            each_bit(bits.iter().copied(), |slot| list.push(slot));
            *self = Slots::Few(list);
        }
    }

    /// Calls for each slot that is in this set, and in those of the others that are bits.
    pub fn each_also_in(&self, others: &[&Slots], mut job: impl FnMut(u32)) {
        match self {
            Slots::Few(list) => list.iter().for_each(|&slot| job(slot)),
            Slots::Many(bits, _) => {
                let others: Vec<&[u64]> = others.iter().filter_map(|it| it.bits()).collect();
                let words = bits.iter().enumerate().map(|(at, &word)| {
                    others.iter().fold(word, |word, other| {
                        word & other.get(at).copied().unwrap_or(0)
                    })
                });
                each_bit(words, job);
            }
        }
    }

    fn bits(&self) -> Option<&[u64]> {
        match self {
            Slots::Few(_) => None,
            Slots::Many(bits, _) => Some(bits),
        }
    }

    /// How many bytes it takes.
    pub fn held(&self) -> usize {
        match self {
            Slots::Few(list) => 4 * list.capacity(),
            Slots::Many(bits, _) => 8 * bits.capacity(),
        }
    }
}

fn bits_of(list: &[u32]) -> Slots {
    let words = list.last().map_or(0, |&last| last as usize / 64 + 1);
    let mut bits = vec![0; words];
    for &slot in list {
        bits[slot as usize / 64] |= 1 << (slot % 64);
    }
    Slots::Many(bits, list.len())
}

fn each_bit(words: impl Iterator<Item = u64>, mut job: impl FnMut(u32)) {
    for (at, mut word) in words.enumerate() {
        while word != 0 {
            job(at as u32 * 64 + word.trailing_zeros());
            word &= word - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;
    use std::collections::BTreeSet;

    #[test]
    fn slots_are_a_set_in_both_forms() {
        let (mut slots, mut plain) = (Slots::default(), BTreeSet::new());
        let mut state = 1_u32;
        let mut forms = [0, 0];
        for turn in 0..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let slot = (state >> 8) % 3000;
            // It grows, then shrinks to nothing.
            let grow = turn < 8000;
            if grow && plain.insert(slot) {
                slots.insert(slot);
            } else if !grow && plain.remove(&slot) {
                slots.remove(slot);
            }
            assert_eq!(slots.len(), plain.len());
            forms[usize::from(matches!(slots, Slots::Many(..)))] += 1;
            if turn % 97 == 0 {
                let mut found = Vec::new();
                slots.each_also_in(&[], |slot| found.push(slot));
                assert_eq!(found, plain.iter().copied().collect::<Vec<_>>());
            }
        }
        assert!(forms.iter().all(|&count| count > 100), "{forms:?}");
    }
}
