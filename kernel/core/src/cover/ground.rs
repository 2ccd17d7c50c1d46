//! Laying a wider twig onto a narrower one, by masks with a bit for each node.
//!
//! The wider twig's nodes are taken from the last to the first, so children before their parents.
//! Each has a set of nodes of the narrower twig that it can lie on: those with a label it includes,
//! whose tests its own follow from, and which are above images of all of its children. The last is
//! handed upwards: the images of a node say where its parent can be, by an `|` of what is above them.

use super::labels::{Label, Labels};
use super::tests::{Answer, NONE, Tests};
use super::twig::Node;

/// A bit for each node.
pub type Mask = u128;

/// The nodes that a ground can have.
pub const GROUND_MAX: usize = Mask::BITS as usize;

/// A narrower twig made ready to have wider ones laid onto it.
#[derive(Default)]
pub struct Ground {
    nodes: Vec<Node>,
    /// Of each node its parent, if it is exactly one level above.
    parents: Vec<Mask>,
    /// Of each node, all above it.
    above: Vec<Mask>,
    /// Of each node, how many levels below the context it is at least.
    depths: Vec<u16>,
}

impl Ground {
    /// Makes another twig ready. It has at most [`GROUND_MAX`] nodes.
    pub fn set(&mut self, twig: &[Node]) {
        assert!(twig.len() <= GROUND_MAX, "the twig has too many nodes");
        self.nodes.clear();
        self.nodes.extend_from_slice(twig);
        self.parents.clear();
        self.above.clear();
        self.depths.clear();
        self.parents.push(0);
        self.above.push(0);
        self.depths.push(0);
        for node in &twig[1..] {
            let parent = usize::from(node.parent);
            let bit = 1 << parent;
            self.parents.push(if node.reach == 0 { bit } else { 0 });
            self.above.push(self.above[parent] | bit);
            let depth = self.depths[parent].saturating_add(node.reach.max(1));
            self.depths.push(depth);
        }
    }

    /// Its nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes that surely have the label.
    #[inline]
    fn with_label(&self, label: Label, labels: &Labels) -> Mask {
        let mut found = 0;
        if label.exact().is_some() && label != Label::CONTEXT {
            for (at, node) in self.nodes.iter().enumerate() {
                found |= Mask::from(node.label == label) << at;
            }
        } else {
            for (at, node) in self.nodes.iter().enumerate() {
                found |= Mask::from(labels.includes(label, node.label)) << at;
            }
        }
        found
    }

    /// The nodes that have one of the images a child, or at least so many levels below.
    #[inline]
    fn above(&self, images: Mask, reach: u16) -> Mask {
        let mut found = 0;
        match reach {
            0 => each_bit(images, |at| found |= self.parents[at]),
            1 => each_bit(images, |at| found |= self.above[at]),
            _ => each_bit(images, |at| {
                let depth = self.depths[at];
                each_bit(self.above[at] & !found, |above| {
                    if self.depths[above].saturating_add(reach) <= depth {
                        found |= 1 << above;
                    }
                });
            }),
        }
        found
    }
}

#[inline]
fn each_bit(mut mask: Mask, mut job: impl FnMut(usize)) {
    while mask != 0 {
        job(mask.trailing_zeros() as usize);
        mask &= mask - 1;
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
            let mut here = self.allowed[at] & ground.with_label(node.label, self.labels);
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
