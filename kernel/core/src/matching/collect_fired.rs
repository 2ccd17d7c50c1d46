//! What some atoms fire, gathered into lists of words and masks.

use crate::index::layer::{Entry, Layer, NONE, What};

/// Bits gathered into words.
#[derive(Default)]
pub(crate) struct Bits {
    bitmap: Vec<u64>,
    touched: Vec<u32>,
}

impl Bits {
    #[inline]
    fn set(&mut self, bit: u32) {
        let word = &mut self.bitmap[bit as usize / 64];
        if *word == 0 {
            self.touched.push(bit / 64);
        }
        *word |= 1 << (bit % 64);
    }

    pub(crate) fn write(&mut self, words: &mut Vec<u32>, masks: &mut Vec<u64>) {
        self.touched.sort_unstable();
        for word in self.touched.drain(..) {
            words.push(word);
            masks.push(std::mem::take(&mut self.bitmap[word as usize]));
        }
    }
}

/// What some atoms fire, on its way to becoming lists.
#[derive(Default)]
pub(crate) struct Gather {
    pub(crate) lists: [Bits; 4],
}

impl Gather {
    pub(crate) fn begin(&mut self, layer: &Layer) {
        let sizes = [
            layer.slots.len(),
            layer.twigs.len(),
            layer.atoms.len(),
            layer.joins.len(),
        ];
        for (bits, size) in self.lists.iter_mut().zip(sizes) {
            bits.bitmap.resize(size.div_ceil(64), 0);
        }
    }

    #[inline]
    pub(crate) fn atom(&mut self, bit: u32) {
        if bit != NONE {
            self.lists[2].set(bit);
        }
    }

    #[inline]
    pub(crate) fn join(&mut self, bit: u32) {
        if bit != NONE {
            self.lists[3].set(bit);
        }
    }

    pub(crate) fn payload(&mut self, entries: &[Entry], head: u32, valued: &mut Vec<u32>) {
        let mut entry = head;
        while entry != NONE {
            let record = &entries[entry as usize];
            match record.what() {
                What::Slot(slot) => self.lists[0].set(slot),
                What::Twig(twig) => self.lists[1].set(twig),
                What::Valued(number) => valued.push(number),
            }
            entry = record.next;
        }
    }
}
