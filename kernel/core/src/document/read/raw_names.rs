//! Names as documents write them, with prefixes and all.
//!
//! A name that was met before is recognised by its bytes alone, and need not be checked again. What it
//! means depends on the scope of namespace declarations it stands in; the last answer is kept with
//! the name, all answers in a table.

use std::hash::{BuildHasher, RandomState};

use super::Unsure;
use super::key_table::{ABSENT, Keys, Search};
use super::scopes::{OUTERMOST, Scopes};
use super::swar::Short;
use crate::document::tree::{NO_NAMESPACE, Names};

/// Nobody has so many names in one place by chance, see [`super::key_table`].
const PROBES_MAX: usize = 512;

const SLOTS_AT_FIRST: usize = 256;

/// A name of at most sixteen bytes, and its number; the number of an empty slot is [`ABSENT`].
#[derive(Clone, Copy, Debug)]
struct Slot {
    name: Short,
    number: u32,
}

const EMPTY: Slot = Slot {
    name: Short { low: 0, high: 0 },
    number: ABSENT,
};

/// What a raw name is.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawName {
    /// How long its prefix is; 0 for none.
    pub(super) prefix_length: u32,
    /// The number of its prefix in [`Names`].
    pub(super) prefix: u32,
    /// Whether it declares a namespace, where it is an attribute's.
    pub(super) declares: bool,
    /// Whether it is `xml:id`.
    pub(super) identifies: bool,
    /// Its meaning where nothing is declared, or [`ABSENT`].
    plain: u32,
    /// The scope it was last met in, and its meaning there.
    scope: u32,
    scoped: u32,
}

#[derive(Debug)]
pub(super) struct RawNames {
    slots: Vec<Slot>,
    seeds: Short,
    /// Which names there are, short or long.
    known: Keys,
    raw_names: Vec<RawName>,
    /// From scope and raw name to meaning.
    meanings: Keys,
}

impl Default for RawNames {
    fn default() -> Self {
        let chance = RandomState::new();
        RawNames {
            slots: vec![EMPTY; SLOTS_AT_FIRST],
            seeds: Short {
                low: chance.hash_one(1),
                high: chance.hash_one(2),
            },
            known: Keys::default(),
            raw_names: Vec::new(),
            meanings: Keys::default(),
        }
    }
}

impl RawNames {
    pub(super) fn len(&self) -> usize {
        self.raw_names.len()
    }

    pub(super) fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.raw_names.capacity() * size_of::<RawName>()
            + self.known.memory()
            + self.meanings.memory()
    }

    /// How many names, and meanings of names, are remembered.
    pub(super) fn remembered(&self) -> usize {
        self.raw_names.len() + self.meanings.len()
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &RawName {
        &self.raw_names[number as usize]
    }

    /// The number of a short name that was met before.
    #[inline]
    pub(super) fn find(&self, name: Short) -> Option<u32> {
        let slot = &self.slots[self.place(name)?];
        (slot.number != ABSENT).then_some(slot.number)
    }

    /// The number of a name that was checked.
    pub(super) fn number(
        &mut self,
        raw: &[u8],
        prefix_length: usize,
        names: &mut Names,
    ) -> Result<u32, Unsure> {
        match self.known.search(0, raw) {
            Search::Found(number) => Ok(number),
            Search::Crowded => Err(Unsure::Crowded),
            Search::Missing(place) => {
                let number = self.raw_names.len() as u32;
                let prefix = names
                    .namespace(&raw[..prefix_length])
                    .ok_or(Unsure::Crowded)?;
                self.known.put(place, 0, raw, number);
                self.raw_names.push(RawName {
                    prefix_length: prefix_length as u32,
                    prefix,
                    declares: raw == b"xmlns" || &raw[..prefix_length] == b"xmlns",
                    identifies: raw == b"xml:id",
                    plain: ABSENT,
                    scope: OUTERMOST,
                    scoped: ABSENT,
                });
                Ok(number)
            }
        }
    }

    /// Remembers the bytes of a short name.
    pub(super) fn remember(&mut self, name: Short, number: u32) -> Result<(), Unsure> {
        let place = self.place(name).ok_or(Unsure::Crowded)?;
        self.slots[place] = Slot { name, number };
        if self.raw_names.len() * 2 > self.slots.len() {
            let larger = vec![EMPTY; self.slots.len() * 2];
            for slot in std::mem::replace(&mut self.slots, larger) {
                if slot.number != ABSENT {
                    let place = self.place(slot.name).ok_or(Unsure::Crowded)?;
                    self.slots[place] = slot;
                }
            }
        }
        Ok(())
    }

    /// What a raw name means in a scope.
    ///
    /// For attributes without a prefix that is the outermost scope, wherever they are.
    #[inline]
    pub(super) fn meaning(
        &mut self,
        number: u32,
        raw: &[u8],
        scopes: &Scopes,
        names: &mut Names,
        scope: u32,
    ) -> Result<u32, Unsure> {
        let known = &self.raw_names[number as usize];
        if scope == OUTERMOST && known.plain != ABSENT {
            return Ok(known.plain);
        }
        if scope == known.scope && known.scoped != ABSENT {
            return Ok(known.scoped);
        }
        self.new_meaning(number, raw, scopes, names, scope)
    }

    #[cold]
    fn new_meaning(
        &mut self,
        number: u32,
        raw: &[u8],
        scopes: &Scopes,
        names: &mut Names,
        scope: u32,
    ) -> Result<u32, Unsure> {
        let key = number.to_le_bytes();
        let name = match self.meanings.search(scope, &key) {
            Search::Found(name) => name,
            Search::Crowded => return Err(Unsure::Crowded),
            Search::Missing(place) => {
                let prefix_length = self.get(number).prefix_length as usize;
                let name = expanded(raw, prefix_length, scopes, names, scope)?;
                self.meanings.put(place, scope, &key, name);
                name
            }
        };
        let known = &mut self.raw_names[number as usize];
        if scope == OUTERMOST {
            known.plain = name;
        } else {
            (known.scope, known.scoped) = (scope, name);
        }
        Ok(name)
    }

    /// Where a short name is, or would be; none if the table is crowded there.
    #[inline]
    fn place(&self, name: Short) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut place = self.hash(name) & mask;
        for _ in 0..PROBES_MAX {
            let slot = &self.slots[place];
            if slot.name == name || slot.number == ABSENT {
                return Some(place);
            }
            place = (place + 1) & mask;
        }
        None
    }

    /// Where the search for a name starts.
    ///
    /// Names that are numbered, as `n1`, `n2`, stay near one another in the lower half of the folded
    /// product for one pair of seeds in a few hundred; the second multiplication spreads them.
    #[inline]
    fn hash(&self, name: Short) -> usize {
        let one = u128::from(name.low ^ self.seeds.low);
        let product = one * u128::from(name.high ^ self.seeds.high);
        let folded = product as u64 ^ (product >> 64) as u64;
        (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
    }
}

/// The number of the name that these bytes mean in a scope, the one that holds now.
fn expanded(
    raw: &[u8],
    prefix_length: usize,
    scopes: &Scopes,
    names: &mut Names,
    scope: u32,
) -> Result<u32, Unsure> {
    let (namespace, local) = if prefix_length > 0 {
        let (prefix, local) = raw.split_at(prefix_length);
        (scopes.namespace(names, prefix)?, &local[1..])
    } else if scope == OUTERMOST {
        (NO_NAMESPACE, raw)
    } else {
        (scopes.default_namespace(), raw)
    };
    names.intern(namespace, local).ok_or(Unsure::Crowded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With these seeds the folded product alone makes runs of more than [`PROBES_MAX`] places.
    const SEEDS: [(u64, u64); 3] = [
        (0x8e0a_675a_4cec_502a, 0xbac0_7f40_d928_6eb1),
        (0xc84f_bfb3_66ea_8b40, 0x6350_3030_75f6_bb8f),
        (0xe22c_cd94_694d_4bb8, 0x2a80_2aa2_84a6_18a7),
    ];

    fn short(name: &str) -> Short {
        let mut bytes = [0; 16];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        let (low, high) = bytes.split_at(8);
        Short {
            low: u64::from_le_bytes(low.try_into().expect("eight")),
            high: u64::from_le_bytes(high.try_into().expect("eight")),
        }
    }

    #[test]
    fn numbered_names_are_spread_whatever_the_seeds() {
        for (low, high) in SEEDS {
            let mut known = RawNames {
                seeds: Short { low, high },
                ..RawNames::default()
            };
            let mut names = Names::default();
            for number in (0..20_000).rev() {
                let name = format!("n{number}");
                let raw = known.number(name.as_bytes(), 0, &mut names);
                let remembered = known.remember(short(&name), raw.expect("room"));
                assert_eq!(remembered, Ok(()), "{name}");
            }
        }
    }
}
