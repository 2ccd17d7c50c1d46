//! Links: groups of ids of which only one needs to match.
//!
//! A group is turned into masks over slots and twigs once, for many documents. A document then decides
//! a link with the first word that both have bits in; candidates are looked at for the links that are
//! still open, and only until they are decided.

use crate::index::Index;
use crate::index::layer::{NONE, Place};
use crate::matching::decide::TwigDecider;
use crate::matching::steps::{Answer, Spent};

/// Groups of ids, made ready for an index as it is at one moment.
pub struct Links {
    version: u64,
    groups: Vec<Vec<i64>>,
    masks: Vec<[Masks; 2]>,
}

#[derive(Default)]
struct Masks {
    /// Words of slots and the group's bits in them.
    slots: Vec<(u32, u64)>,
    /// Twigs with a leaf of their own.
    twigs: Vec<(u32, u64)>,
    /// Twigs that every document is a candidate for.
    always: Vec<u32>,
}

impl Links {
    /// Makes groups of ids ready.
    pub fn new(index: &Index, groups: Vec<Vec<i64>>) -> Self {
        let masks = groups.iter().map(|ids| masks(index, ids)).collect();
        Links {
            version: index.version(),
            groups,
            masks,
        }
    }

    /// Whether they are ready for the index as it is now.
    pub fn is_current(&self, index: &Index) -> bool {
        self.version == index.version()
    }

    /// Makes them ready again.
    pub fn renewed(&self, index: &Index) -> Self {
        Links::new(index, self.groups.clone())
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Which links a document must go to; `None` where only patterns could tell that are candidates for
    /// libxml2, or that take more steps than are left.
    pub(crate) fn decide(&self, decider: &mut TwigDecider, skip: &[i64]) -> Vec<Option<bool>> {
        let decided = self.masks.iter().map(|masks| {
            let mut answer = Some(false);
            for (number, masks) in masks.iter().enumerate() {
                let mut look = Look {
                    decider,
                    number,
                    skip,
                    doubt: false,
                };
                if look.slots(masks) {
                    return Some(true);
                }
                if look.decider.scans[number].abandoned {
                    answer = None;
                    continue;
                }
                match look.twigs(masks) {
                    Ok(true) => return Some(true),
                    Ok(false) => {}
                    Err(Spent) => answer = None,
                }
                if look.doubt {
                    answer = None;
                }
            }
            answer
        });
        decided.collect()
    }
}

struct Look<'a, 'b> {
    decider: &'a mut TwigDecider<'b>,
    number: usize,
    skip: &'a [i64],
    doubt: bool,
}

impl Look<'_, '_> {
    fn slots(&mut self, masks: &Masks) -> bool {
        let (index, layer) = (self.decider.index, &self.decider.index.layers[self.number]);
        let plain = self.skip.is_empty() && index.residual() == 0;
        for &(word, mask) in &masks.slots {
            let mut hit = self.decider.scans[self.number].fired.reports[word as usize] & mask;
            if hit != 0 && plain {
                return true;
            }
            while hit != 0 {
                let slot = word as usize * 64 + hit.trailing_zeros() as usize;
                hit &= hit - 1;
                if self.counts(layer.slots[slot].pattern) {
                    return true;
                }
            }
        }
        false
    }

    fn twigs(&mut self, masks: &Masks) -> Answer {
        for &(word, mask) in &masks.twigs {
            let mut hit = self.decider.scans[self.number].fired.candidates[word as usize] & mask;
            while hit != 0 {
                let twig = word * 64 + hit.trailing_zeros();
                hit &= hit - 1;
                if self.twig(twig)? {
                    return Ok(true);
                }
            }
        }
        for &twig in &masks.always {
            if self.twig(twig)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn twig(&mut self, twig: u32) -> Answer {
        let twig = &self.decider.index.layers[self.number].twigs[twig as usize];
        Ok(self.decider.holds(self.number, twig)? && self.counts(twig.pattern))
    }

    /// Whether a pattern that matched decides its link: it is not skipped, and not for libxml2.
    fn counts(&mut self, pattern: u32) -> bool {
        let record = self.decider.index.pattern(pattern);
        if self.skip.binary_search(&record.id).is_ok() {
            return false;
        }
        self.doubt |= record.residual != 0;
        record.residual == 0
    }
}

fn masks(index: &Index, ids: &[i64]) -> [Masks; 2] {
    let mut bits: [[Vec<u32>; 2]; 2] = Default::default();
    let mut found: [Masks; 2] = Default::default();
    for pattern in ids.iter().filter_map(|&id| index.find(id)) {
        let (number, mut place) = index.place(pattern);
        let layer = &index.layers[number];
        while let Some(here) = place {
            place = match here {
                Place::Slot(slot) => {
                    bits[number][0].push(slot);
                    Place::from_packed(layer.slots[slot as usize].sibling)
                }
                Place::Twig(twig) => {
                    if layer.is_always(twig) {
                        found[number].always.push(twig);
                    } else {
                        bits[number][1].push(twig);
                    }
                    Place::from_packed(layer.twigs[twig as usize].sibling)
                }
            };
        }
    }
    for (masks, [slots, twigs]) in found.iter_mut().zip(bits) {
        masks.slots = words(slots);
        masks.twigs = words(twigs);
    }
    found
}

fn words(mut bits: Vec<u32>) -> Vec<(u32, u64)> {
    bits.sort_unstable();
    let grouped = bits.chunk_by(|one, other| one / 64 == other / 64);
    let packed = grouped.map(|group| {
        (
            group[0] / 64,
            group.iter().fold(0, |mask, bit| mask | 1 << (bit % 64)),
        )
    });
    packed.filter(|&(word, _)| word != NONE).collect()
}
