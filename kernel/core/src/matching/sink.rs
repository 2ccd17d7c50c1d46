//! The ids of what was found, in order.

use crate::index::Index;
use crate::index::layer::Slot;
use crate::matching::workspace::Found;

/// Visits the numbers of the bits set, in order.
#[inline]
pub(super) fn each_bit(words: impl Iterator<Item = u64>, mut visit: impl FnMut(u32)) {
    for (place, mut word) in words.enumerate() {
        while word != 0 {
            visit(place as u32 * 64 + word.trailing_zeros());
            word &= word - 1;
        }
    }
}

/// Collects ids in any order and hands them over ascending, each once: as bits where ids are small
/// numbers, else by sorting.
pub(super) struct Sink<'a> {
    pub(super) index: &'a Index,
    pub(super) dense: bool,
    pub(super) bitmap: Vec<u64>,
    pub(super) found: Vec<i64>,
}

impl Sink<'_> {
    pub(super) fn begin(&mut self) {
        self.found.clear();
        self.bitmap.clear();
        if self.dense {
            self.bitmap
                .resize((self.index.end as usize).div_ceil(64), 0);
        }
    }

    #[inline]
    pub(super) fn report(&mut self, pattern: u32, key: u32) {
        if self.dense {
            self.bitmap[key as usize / 64] |= 1 << (key % 64);
        } else {
            self.found.push(self.index.pattern(pattern).id);
        }
    }

    pub(super) fn reports(&mut self, number: usize, words: &[u64]) {
        let layer = &self.index.layers[number];
        let (keys, live): (&[u32], &[u64]) = (&layer.keys, &layer.live);
        let reporting = words.iter().zip(live).map(|(word, live)| word & live);
        if self.dense {
            let bitmap = &mut self.bitmap[..];
            each_bit(reporting, |slot| {
                let key = keys[slot as usize];
                bitmap[key as usize / 64] |= 1 << (key % 64);
            });
        } else {
            let slots: &[Slot] = &layer.slots;
            let (index, found) = (self.index, &mut self.found);
            each_bit(reporting, |slot| {
                found.push(index.pattern(slots[slot as usize].pattern).id);
            });
        }
    }

    /// Gives the ids.
    pub(super) fn hand_over(&mut self, skip: &[i64], undecided: &[u32], found: &mut Found) {
        let (start, first) = (found.matches.len(), found.candidates.len());
        let (matches, candidates) = (&mut *found.matches, &mut *found.candidates);
        self.hand_over_decided(skip, matches, candidates);
        if undecided.is_empty() {
            return;
        }
        let mut open: Vec<u32> = undecided.to_vec();
        open.sort_by_key(|&it| self.index.pattern(it).id);
        open.dedup();
        for pattern in open {
            let record = self.index.pattern(pattern);
            if skip.binary_search(&record.id).is_ok() {
                continue;
            }
            if record.residual != 0 {
                candidates.push(record.id);
            } else if matches[start..].binary_search(&record.id).is_err() {
                found.undecided.push(record.id);
            }
        }
        let mut given = candidates.split_off(first);
        given.sort_unstable();
        given.dedup();
        candidates.append(&mut given);
    }

    fn hand_over_decided(
        &mut self,
        skip: &[i64],
        matches: &mut Vec<i64>,
        candidates: &mut Vec<i64>,
    ) {
        if self.dense {
            for &id in skip {
                if let Some(word) = usize::try_from(id)
                    .ok()
                    .and_then(|it| self.bitmap.get_mut(it / 64))
                {
                    *word &= !(1 << (id % 64));
                }
            }
            if self.index.residual() == 0 {
                append(&self.bitmap, matches);
                return;
            }
            append(&self.bitmap, &mut self.found);
        } else {
            self.found.sort_unstable();
            self.found.dedup();
            self.found.retain(|id| skip.binary_search(id).is_err());
        }
        for id in self.found.drain(..) {
            let residual = self
                .index
                .find(id)
                .is_some_and(|it| self.index.pattern(it).residual != 0);
            if residual {
                &mut *candidates
            } else {
                &mut *matches
            }
            .push(id);
        }
    }
}

/// Appends the numbers of the bits set, in order.
fn append(bitmap: &[u64], numbers: &mut Vec<i64>) {
    // On its own the list stays in registers.
    let mut list = std::mem::take(numbers);
    each_bit(bitmap.iter().copied(), |number| {
        list.push(i64::from(number))
    });
    *numbers = list;
}
