//! What the marks mean: which twigs match.

use crate::index::Index;
use crate::layer::{NEEDS, NONE, Need, Twig, What};
use crate::side::Side;
use crate::verify::{At, Verifier};

/// Decides twigs of a document that has been walked.
pub struct Judge<'a> {
    /// The patterns.
    pub index: &'a Index,
    /// What fired in each layer.
    pub sides: &'a mut [Side; 2],
    /// Looks where the marks do not tell.
    pub verifier: Verifier<'a>,
    /// How many twigs it had to look for.
    pub verified: u64,
}

impl Judge<'_> {
    /// Whether a twig whose access fired, or that has none, matches.
    #[inline]
    pub fn holds(&mut self, layer: usize, twig: &Twig) -> bool {
        let marks = &self.sides[layer].marks;
        let mut doubts = [(0, 0); NEEDS];
        let mut count = 0;
        for need in twig.needs() {
            match need {
                Need::Atom(atom) if !marks.fired(atom) => return false,
                Need::Atom(_) => {}
                Need::Join(join, clause) => {
                    if marks.is_ambiguous(join) {
                        doubts[count] = (join, clause);
                        count += 1;
                    }
                }
            }
        }
        if twig.verify == 0 && count == 0 {
            return true;
        }
        self.look(layer, twig, &doubts[..count])
    }

    /// The twigs of a layer that no leaf selects.
    pub fn always(&self, layer: usize) -> Vec<u32> {
        let layer = &self.index.layers[layer];
        let mut found = Vec::new();
        let mut entry = layer.always;
        while entry != NONE {
            let record = &layer.entries[entry as usize];
            if let What::Twig(number) = record.what() {
                found.push(number);
            }
            entry = record.next;
        }
        found
    }

    /// Looks at the elements of the joins in doubt; at the whole document if that is not enough.
    fn look(&mut self, layer: usize, twig: &Twig, doubts: &[(u32, u32)]) -> bool {
        self.verified += 1;
        let Side {
            paths,
            marks,
            element_paths,
            instances,
            fresh_from,
        } = &mut self.sides[layer];
        if twig.verify != 0 || *fresh_from > 0 {
            return self
                .verifier
                .holds(self.index.pattern(twig.pattern).clause, At::Document);
        }
        doubts.iter().all(|&(join, clause)| {
            let mut elements = instances.of(join, paths, element_paths, marks);
            elements.any(|element| self.verifier.holds(clause, At::Element(element)))
        })
    }
}
