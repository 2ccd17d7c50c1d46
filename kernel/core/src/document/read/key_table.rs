//! A table from small keys, each a number and some bytes, to numbers.
//!
//! Everything the reader remembers is such a key: a qualified name in a namespace scope, a local name
//! in a namespace, a prefix. The bytes of all keys lie in one buffer, and the table is searched by
//! plain linear probing at a load of one half at most.
//!
//! The keys come from strangers, so their hashes are of chance, and a search that takes longer than
//! chance explains gives up: the caller then calls the document exotic.

use crate::sys::seeded_hash::Chance;

/// At half load, a million honest keys make runs of about 70 places.
const PROBES_MAX: usize = 512;

const SLOTS_AT_FIRST: usize = 256;

/// The value of an empty slot, and of a key that is not there.
pub(crate) const ABSENT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    tag: u32,
    start: u32,
    length: u32,
    value: u32,
}

const EMPTY: Slot = Slot {
    hash: 0,
    tag: 0,
    start: 0,
    length: 0,
    value: ABSENT,
};

/// Where a search ended.
pub(crate) enum Search {
    /// The key is there, with this value.
    Found(u32),
    /// The key is not there; [`Keys::put`] takes this place.
    Missing(Place),
    /// Nobody could have so many keys in one place by chance.
    Crowded,
}

/// An empty place for a key that was searched for.
pub(crate) struct Place {
    slot: usize,
    hash: u32,
}

/// The table.
#[derive(Debug)]
pub(crate) struct Keys {
    slots: Vec<Slot>,
    bytes: Vec<u8>,
    count: usize,
    chance: Chance,
}

impl Default for Keys {
    fn default() -> Self {
        Keys {
            slots: vec![EMPTY; SLOTS_AT_FIRST],
            bytes: Vec::new(),
            count: 0,
            chance: Chance::default(),
        }
    }
}

impl Keys {
    #[inline]
    pub(crate) fn search(&self, tag: u32, key: &[u8]) -> Search {
        let hash = self.chance.hash(tag, key) as u32;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        for _ in 0..PROBES_MAX {
            let entry = &self.slots[slot];
            if entry.value == ABSENT {
                return Search::Missing(Place { slot, hash });
            }
            if entry.hash == hash && entry.tag == tag && self.key(entry) == key {
                return Search::Found(entry.value);
            }
            slot = (slot + 1) & mask;
        }
        Search::Crowded
    }

    /// Puts a key where a search did not find it.
    pub(crate) fn put(&mut self, place: Place, tag: u32, key: &[u8], value: u32) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(key);
        let length = key.len() as u32;
        self.slots[place.slot] = Slot {
            hash: place.hash,
            tag,
            start,
            length,
            value,
        };
        self.count += 1;
        if self.count * 2 > self.slots.len() {
            self.grow();
        }
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// How much memory the table takes, about.
    pub(crate) fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.bytes.capacity()
    }

    #[inline]
    fn key(&self, slot: &Slot) -> &[u8] {
        &self.bytes[slot.start as usize..][..slot.length as usize]
    }

    fn grow(&mut self) {
        let larger = vec![EMPTY; self.slots.len() * 2];
        let mask = larger.len() - 1;
        for entry in std::mem::replace(&mut self.slots, larger) {
            if entry.value != ABSENT {
                let mut slot = entry.hash as usize & mask;
                while self.slots[slot].value != ABSENT {
                    slot = (slot + 1) & mask;
                }
                self.slots[slot] = entry;
            }
        }
    }
}
