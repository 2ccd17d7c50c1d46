//! Laying a wider twig onto a narrower one, by masks with a bit for each node.
//!
//! The wider twig's nodes are taken from the last to the first, so children before their parents.
//! Each has a set of nodes of the narrower twig that it can lie on: those with a label it includes,
//! whose tests its own follow from, and which are above images of all of its children. The last is
//! handed upwards: the images of a node say where its parent can be, by an `|` of what is above them.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

use super::labels::{Label, Labels};
use super::twig::Node;
use super::value_tests::{Answer, NONE, Tests};

/// A bit for each node: most twigs need 64 at most, which are quicker, and models may need more.
pub trait Mask:
    Copy
    + Eq
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitAndAssign
    + BitOrAssign
    + Not<Output = Self>
    + Sized
{
    /// How many nodes it has bits for.
    const NODES_MAX: usize;
    /// No node.
    const NONE: Self;
    /// Every node.
    const ALL: Self;

    /// The node at a place, or none.
    fn bit(at: usize, is_in: bool) -> Self;

    /// Calls for each node.
    fn each(self, job: impl FnMut(usize));

    /// Memory for a row of masks.
    fn row(rows: &mut Rows) -> &mut Vec<Self>;
}

/// Memory for rows of masks.
#[derive(Default)]
pub struct Rows {
    narrow: Vec<u64>,
    wide: Vec<u128>,
}

macro_rules! mask {
    ($word:ty, $row:ident) => {
        impl Mask for $word {
            const NODES_MAX: usize = <$word>::BITS as usize;
            const NONE: Self = 0;
            const ALL: Self = <$word>::MAX;

            #[inline]
            fn bit(at: usize, is_in: bool) -> Self {
                <$word>::from(is_in) << at
            }

            #[inline]
            fn each(self, mut job: impl FnMut(usize)) {
                let mut left = self;
                while left != 0 {
                    job(left.trailing_zeros() as usize);
                    left &= left - 1;
                }
            }

            fn row(rows: &mut Rows) -> &mut Vec<Self> {
                &mut rows.$row
            }
        }
    };
}

mask!(u64, narrow);
mask!(u128, wide);

/// What is above each node of a narrower twig. The memory is used for one twig after the other.
pub struct Masks<M> {
    /// Of each node its parent, if it is exactly one level above.
    parents: Box<[M]>,
    /// Of each node, all above it.
    above: Box<[M]>,
    /// Of each node, how many levels below the context it is at least.
    depths: Box<[u16]>,
}

impl<M: Mask> Default for Masks<M> {
    fn default() -> Self {
        Masks {
            parents: vec![M::NONE; M::NODES_MAX].into(),
            above: vec![M::NONE; M::NODES_MAX].into(),
            depths: vec![0; M::NODES_MAX].into(),
        }
    }
}

impl<M: Mask> Masks<M> {
    /// Makes a twig ready to have wider ones laid onto it. It has no more nodes than a mask.
    pub fn ground<'a>(&'a mut self, twig: &'a [Node]) -> Ground<'a, M> {
        assert!(twig.len() <= M::NODES_MAX, "the twig has too many nodes");
        let (mut elements, mut inner) = (M::bit(0, twig[0].label.is_element()), M::NONE);
        for (at, node) in twig.iter().enumerate().skip(1) {
            let parent = usize::from(node.parent);
            let above = self.above[parent] | M::bit(parent, true);
            self.parents[at] = M::bit(parent, node.reach == 0);
            self.above[at] = above;
            self.depths[at] = self.depths[parent].saturating_add(node.reach.max(1));
            if node.label.is_element() {
                elements |= M::bit(at, true);
                inner |= above;
            }
        }
        Ground {
            nodes: twig,
            masks: self,
            elements,
            inner,
        }
    }
}

/// A narrower twig made ready.
pub struct Ground<'a, M> {
    /// Its nodes.
    pub nodes: &'a [Node],
    masks: &'a Masks<M>,
    elements: M,
    /// The nodes with elements below them.
    inner: M,
}

impl<M: Mask> Ground<'_, M> {
    /// The nodes that surely have the label.
    #[inline]
    fn with_label(&self, label: Label, labels: &Labels) -> M {
        if label == Label::ANY_ELEMENT {
            self.elements
        } else if label == Label::CONTEXT {
            self.nodes_where(|_| true)
        } else if label.exact().is_some() {
            self.nodes_where(|other| other == label)
        } else {
            self.nodes_where(|other| labels.includes(label, other))
        }
    }

    #[inline]
    fn nodes_where(&self, is_so: impl Fn(Label) -> bool) -> M {
        let mut found = M::NONE;
        for (at, node) in self.nodes.iter().enumerate() {
            found |= M::bit(at, is_so(node.label));
        }
        found
    }

    /// The nodes that have one of the images a child, or at least so many levels below.
    #[inline]
    fn above(&self, images: M, reach: u16) -> M {
        let Masks {
            parents,
            above,
            depths,
        } = self.masks;
        let mut found = M::NONE;
        match reach {
            0 => images.each(|at| found |= parents[at]),
            1 if images == self.elements => found = self.inner,
            1 => images.each(|at| found |= above[at]),
            _ => images.each(|at| {
                (above[at] & !found).each(|higher| {
                    let is_enough = depths[higher].saturating_add(reach) <= depths[at];
                    found |= M::bit(higher, is_enough);
                });
            }),
        }
        found
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
    /// Where nodes can lie by what is known of their children.
    allowed: Rows,
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
            allowed: Rows::default(),
        }
    }

    /// Whether the wider twig can be laid onto the ground.
    pub fn lies_on<M: Mask>(&mut self, wider: &[Node], ground: &Ground<M>) -> bool {
        let mut allowed = std::mem::take(M::row(&mut self.allowed));
        allowed.clear();
        allowed.resize(wider.len(), M::ALL);
        let lies = (0..wider.len()).rev().all(|at| {
            let node = &wider[at];
            let mut here = allowed[at] & ground.with_label(node.label, self.labels);
            if at == 0 {
                here &= M::bit(0, true);
            }
            if node.tests != NONE {
                here = self.passing(node, here, ground);
            }
            if at > 0 && here != M::NONE {
                allowed[usize::from(node.parent)] &= ground.above(here, node.reach);
            }
            here != M::NONE
        });
        *M::row(&mut self.allowed) = allowed;
        lies
    }

    /// Whether each node of the wider twig has some node that it could lie on in a model.
    pub fn has_place_for_all<M: Mask>(&mut self, wider: &[Node], ground: &Ground<M>) -> bool {
        wider.iter().all(|node| {
            let here = ground.with_label(node.label, self.labels);
            let bare = node.label == Label::ANY_ELEMENT && node.tests == NONE;
            bare || self.passing(node, here, ground) != M::NONE
        })
    }

    /// Those of the nodes at which the tests of the wider node are sure to pass.
    fn passing<M: Mask>(&mut self, wider: &Node, nodes: M, ground: &Ground<M>) -> M {
        if wider.tests == NONE {
            return nodes;
        }
        let mut found = M::NONE;
        nodes.each(|at| found |= M::bit(at, self.follows(&ground.nodes[at], wider)));
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
