//! Laying a wider twig onto a narrower one, by masks with a bit for each node.
//!
//! The wider twig's nodes are taken from the last to the first, so children before their parents.
//! Each has a set of nodes of the narrower twig that it can lie on: those with a label it includes,
//! whose tests its own follow from, and which are above images of all of its children. The last is
//! handed upwards: the images of a node say where its parent can be, by an `|` of what is above them.

use super::labels::{Label, Labels};
use super::twig::Node;
use super::value_tests::{Answer, NONE, Tests};

/// A bit for each node.
pub type Mask = u128;

/// The nodes that a ground can have.
pub const GROUND_MAX: usize = Mask::BITS as usize;

/// What is above each node of a narrower twig. The memory is used for one twig after the other.
pub struct Masks {
    /// Of each node its parent, if it is exactly one level above.
    parents: Box<[Mask; GROUND_MAX]>,
    /// Of each node, all above it.
    above: Box<[Mask; GROUND_MAX]>,
    /// Of each node, how many levels below the context it is at least.
    depths: Box<[u16; GROUND_MAX]>,
}

impl Default for Masks {
    fn default() -> Self {
        Masks {
            parents: Box::new([0; GROUND_MAX]),
            above: Box::new([0; GROUND_MAX]),
            depths: Box::new([0; GROUND_MAX]),
        }
    }
}

impl Masks {
    /// Makes a twig ready to have wider ones laid onto it. It has at most [`GROUND_MAX`] nodes.
    pub fn ground<'a>(&'a mut self, twig: &'a [Node]) -> Ground<'a> {
        assert!(twig.len() <= GROUND_MAX, "the twig has too many nodes");
        for (at, node) in twig.iter().enumerate().skip(1) {
            let parent = usize::from(node.parent);
            let bit = 1 << parent;
            self.parents[at] = if node.reach == 0 { bit } else { 0 };
            self.above[at] = self.above[parent] | bit;
            self.depths[at] = self.depths[parent].saturating_add(node.reach.max(1));
        }
        Ground {
            nodes: twig,
            masks: self,
        }
    }
}

/// A narrower twig made ready.
pub struct Ground<'a> {
    /// Its nodes.
    pub nodes: &'a [Node],
    masks: &'a Masks,
}

impl Ground<'_> {
    /// The nodes that surely have the label.
    #[inline]
    fn with_label(&self, label: Label, labels: &Labels) -> Mask {
        if label == Label::ANY_ELEMENT {
            self.nodes_where(|other| other.is_element())
        } else if label == Label::CONTEXT {
            self.nodes_where(|_| true)
        } else if label.exact().is_some() {
            self.nodes_where(|other| other == label)
        } else {
            self.nodes_where(|other| labels.includes(label, other))
        }
    }

    /// The nodes with such labels. Half a mask at a time: most twigs need no more.
    #[inline]
    fn nodes_where(&self, is_so: impl Fn(Label) -> bool) -> Mask {
        let mut found = 0;
        for (half, nodes) in self.nodes.chunks(64).enumerate() {
            let mut bits = 0_u64;
            for (at, node) in nodes.iter().enumerate() {
                bits |= u64::from(is_so(node.label)) << at;
            }
            found |= Mask::from(bits) << (64 * half);
        }
        found
    }

    /// The nodes that have one of the images a child, or at least so many levels below.
    #[inline]
    fn above(&self, images: Mask, reach: u16) -> Mask {
        let Masks {
            parents,
            above,
            depths,
        } = self.masks;
        let mut found = 0;
        match reach {
            0 => each_bit(images, |at| found |= parents[at]),
            1 => each_bit(images, |at| found |= above[at]),
            _ => each_bit(images, |at| {
                each_bit(above[at] & !found, |higher| {
                    if depths[higher].saturating_add(reach) <= depths[at] {
                        found |= 1 << higher;
                    }
                });
            }),
        }
        found
    }
}

#[inline]
fn each_bit(mask: Mask, mut job: impl FnMut(usize)) {
    for (half, mut bits) in [mask as u64, (mask >> 64) as u64].into_iter().enumerate() {
        while bits != 0 {
            job(64 * half + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
}

/// What laying twigs onto others needs to know.
pub struct Knowledge<'a> {
    /// What labels include.
    pub labels: &'a Labels,
    /// What is known to follow.
    pub tests: &'a mut Tests,
    /// Who is asked about what is not known yet.
    pub ask: &'a mut dyn FnMut(u32, u32) -> Answer,
    /// Whether what is unclear counts as yes.
    pub hopeful: bool,
    /// Whether anything was unclear.
    pub met_unclear: bool,
    /// Where the parents of the nodes seen so far can lie.
    allowed: Vec<Mask>,
}

impl<'a> Knowledge<'a> {
    /// Nothing was unclear yet.
    pub fn new(
        labels: &'a Labels,
        tests: &'a mut Tests,
        ask: &'a mut dyn FnMut(u32, u32) -> Answer,
    ) -> Self {
        Knowledge {
            labels,
            tests,
            ask,
            hopeful: false,
            met_unclear: false,
            allowed: Vec::new(),
        }
    }

    /// Whether the wider twig can be laid onto the ground.
    pub fn lies_on(&mut self, wider: &[Node], ground: &Ground) -> bool {
        self.allowed.clear();
        self.allowed.resize(wider.len(), Mask::MAX);
        for at in (0..wider.len()).rev() {
            let node = &wider[at];
            let mut here = self.allowed[at];
            here &= ground.with_label(node.label, self.labels);
            if at == 0 {
                here &= 1;
            }
            if node.tests != NONE {
                here = self.passing(node, here, ground);
            }
            if here == 0 {
                return false;
            }
            if at > 0 {
                self.allowed[usize::from(node.parent)] &= ground.above(here, node.reach);
            }
        }
        true
    }

    /// Whether each node of the wider twig has some node that it could lie on in a model.
    pub fn has_place_for_all(&mut self, wider: &[Node], ground: &Ground) -> bool {
        wider.iter().all(|node| {
            let here = ground.with_label(node.label, self.labels);
            let bare = node.label == Label::ANY_ELEMENT && node.tests == NONE;
            bare || self.passing(node, here, ground) != 0
        })
    }

    /// Those of the nodes at which the tests of the wider node are sure to pass.
    fn passing(&mut self, wider: &Node, nodes: Mask, ground: &Ground) -> Mask {
        if wider.tests == NONE {
            return nodes;
        }
        let mut found = 0;
        each_bit(nodes, |at| {
            if self.follows(&ground.nodes[at], wider) {
                found |= 1 << at;
            }
        });
        found
    }

    fn follows(&mut self, narrower: &Node, wider: &Node) -> bool {
        if narrower.tests == wider.tests {
            return true;
        }
        // Nothing but the same value leaves only that value.
        if wider.value != 0 && wider.value != narrower.value {
            return false;
        }
        let answer = self
            .tests
            .answer(narrower.tests, wider.tests, &mut *self.ask);
        match answer {
            Answer::Yes => true,
            Answer::No => false,
            Answer::Unclear => {
                self.met_unclear = true;
                self.hopeful
            }
        }
    }
}
