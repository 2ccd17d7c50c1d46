//! What has fired in a document, as bitmaps over the numbers of a layer.

use crate::index::layer::Layer;

/// The bitmaps of one layer.
#[derive(Default)]
pub struct FiredBits {
    /// Slots of patterns that matched.
    pub reports: Vec<u64>,
    /// Twigs whose access fired.
    pub candidates: Vec<u64>,
    /// Atoms that fired.
    pub atoms: Vec<u64>,
    /// Joins that met an element.
    pub once: Vec<u64>,
    /// Joins that met more than one.
    pub twice: Vec<u64>,
}

impl FiredBits {
    /// Begins a document.
    pub fn begin(&mut self, layer: &Layer) {
        let sizes = [
            (&mut self.reports, layer.slots.len()),
            (&mut self.candidates, layer.twigs.len()),
            (&mut self.atoms, layer.atoms.len()),
            (&mut self.once, layer.joins.len()),
            (&mut self.twice, layer.joins.len()),
        ];
        for (bitmap, size) in sizes {
            bitmap.clear();
            bitmap.resize(size.div_ceil(64), 0);
        }
    }

    /// Joins met an element.
    #[inline]
    pub fn join(&mut self, word: u32, mask: u64) {
        let once = &mut self.once[word as usize];
        self.twice[word as usize] |= *once & mask;
        *once |= mask;
    }

    /// Whether an atom fired.
    #[inline]
    pub fn has_atom(&self, atom: u32) -> bool {
        self.atoms[atom as usize / 64] >> (atom % 64) & 1 == 1
    }

    /// Whether a join met more than one element.
    #[inline]
    pub fn is_ambiguous(&self, join: u32) -> bool {
        self.twice[join as usize / 64] >> (join % 64) & 1 == 1
    }
}
