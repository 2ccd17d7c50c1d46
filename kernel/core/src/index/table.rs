//! A hash table of record numbers: the records themselves, and so the keys, lie in columns.
//!
//! Open addressing with linear probing over entries of hash and number side by side. Most questions
//! asked of an edge table are answered "no", and the hash alone says so without a look at a record.
//! The table is a column, so it is mapped from a file like everything else.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::index::column::Column;
use crate::sys::pages::advise;
use crate::sys::prefetch::prefetch;

const EMPTY: u64 = u64::MAX;
const SMALLEST: usize = 16;

/// Which records there are, by hash.
#[derive(Default)]
pub struct Table {
    entries: Column<u64>,
    filled: usize,
}

/// The hash of a key. The upper half of what the multiplication gives is well mixed.
#[inline]
pub fn hash_of<K: Hash + ?Sized>(key: &K) -> u32 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    let full = hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (full >> 32) as u32
}

/// A table to be asked, found once for many questions.
#[derive(Clone, Copy)]
pub struct TableReader<'a> {
    entries: &'a [u64],
}

impl TableReader<'_> {
    /// The number of the record with this hash that the caller recognises.
    #[inline]
    pub fn find(self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.entries.is_empty() {
            return None;
        }
        let mask = self.entries.len() - 1;
        let mut place = self.home(hash);
        loop {
            let entry = self.entries[place];
            if entry == EMPTY {
                return None;
            }
            if (entry >> 32) as u32 == hash && is_it(entry as u32) {
                return Some(entry as u32);
            }
            place = (place + 1) & mask;
        }
    }

    /// The number of the first record with this hash, most often the one that is meant.
    #[inline]
    pub fn first(self, hash: u32) -> Option<u32> {
        self.find(hash, |_| true)
    }

    /// Has the processor fetch what will soon be asked for.
    #[inline]
    pub fn expect(self, hash: u32) {
        prefetch(self.entries, self.home(hash));
    }

    #[inline]
    fn home(self, hash: u32) -> usize {
        home_of(hash, self.entries.len().trailing_zeros())
    }
}

impl Table {
    /// The table, to be asked.
    #[inline]
    pub fn reader(&self) -> TableReader<'_> {
        TableReader {
            entries: &self.entries,
        }
    }

    /// Takes in a record that is not there yet.
    pub fn insert(&mut self, hash: u32, number: u32) {
        if (self.filled + 1) * 3 > self.entries.len() * 2 {
            self.grow();
        }
        self.place(u64::from(hash) << 32 | u64::from(number));
        self.filled += 1;
    }

    /// Forgets a record that is there.
    pub fn remove(&mut self, hash: u32, number: u32) {
        let wanted = u64::from(hash) << 32 | u64::from(number);
        let mask = self.entries.len() - 1;
        let mut hole = self.home(hash);
        while self.entries[hole] != wanted {
            assert!(self.entries[hole] != EMPTY, "removed what is not there");
            hole = (hole + 1) & mask;
        }
        let bits = self.entries.len().trailing_zeros();
        let entries = self.entries.edit();
        // Whatever stands further on only because this place was taken moves up.
        let mut next = hole;
        loop {
            next = (next + 1) & mask;
            let entry = entries[next];
            if entry == EMPTY {
                break;
            }
            let home = home_of((entry >> 32) as u32, bits);
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(hole) & mask {
                entries[hole] = entry;
                hole = next;
            }
        }
        entries[hole] = EMPTY;
        self.filled -= 1;
        if entries.len() > SMALLEST && self.filled * 8 < entries.len() {
            self.resize(self.entries.len() / 4);
        }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.filled
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// How many bytes of our own memory it takes.
    pub fn held(&self) -> usize {
        self.entries.held()
    }

    /// The entries, for storing; [`Table::from_entries`] takes them back.
    pub fn take_entries(&mut self) -> Column<u64> {
        self.filled = 0;
        std::mem::take(&mut self.entries)
    }

    /// The table with these entries; `None` if they cannot be a table's.
    pub fn from_entries(entries: Column<u64>, filled: usize) -> Option<Self> {
        let fits = entries.is_empty() && filled == 0
            || entries.len().is_power_of_two() && filled < entries.len();
        fits.then_some(Table { entries, filled })
    }

    #[inline]
    fn home(&self, hash: u32) -> usize {
        home_of(hash, self.entries.len().trailing_zeros())
    }

    fn grow(&mut self) {
        self.resize((self.entries.len() * 2).max(SMALLEST));
    }

    fn resize(&mut self, size: usize) {
        let old = std::mem::replace(&mut self.entries, Column::Owned(empty(size.max(SMALLEST))));
        for &entry in old.iter().filter(|&&entry| entry != EMPTY) {
            self.place(entry);
        }
    }

    fn place(&mut self, entry: u64) {
        let mask = self.entries.len() - 1;
        let mut place = self.home((entry >> 32) as u32);
        let entries = self.entries.edit();
        while entries[place] != EMPTY {
            place = (place + 1) & mask;
        }
        entries[place] = entry;
    }
}

fn empty(size: usize) -> Vec<u64> {
    let mut entries = Vec::with_capacity(size);
    advise(&entries); // before the pages are there
    entries.resize(size, EMPTY);
    entries
}

#[inline]
fn home_of(hash: u32, bits: u32) -> usize {
    (u64::from(hash) << bits >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_agrees_with_a_set_under_random_changes() {
        let mut table = Table::default();
        let mut truth = std::collections::BTreeSet::new();
        let mut seed = 7u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let number = (seed >> 40) as u32 % 500;
            let hash = hash_of(&(number / 3)); // several share a hash
            if truth.contains(&number) {
                truth.remove(&number);
                table.remove(hash, number);
            } else {
                truth.insert(number);
                table.insert(hash, number);
            }
            assert_eq!(table.len(), truth.len());
            for probe in [number, (number + 1) % 500, (number + 2) % 500] {
                let found = table.reader().find(hash_of(&(probe / 3)), |it| it == probe);
                assert_eq!(found.is_some(), truth.contains(&probe));
            }
        }
    }
}
