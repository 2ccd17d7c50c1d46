//! The records that a layer is made of.

use bytemuck::{Pod, Zeroable};

/// No node, entry, test or bit.
pub const NONE: u32 = u32::MAX;
/// The node for the document node.
pub const ROOT: u32 = 0;
/// How many leaves, and joins with their clauses, a twig's record has room for; one with more is
/// verified.
pub const NEEDS: usize = 8;
/// Marks a need that is a join; the clause that must hold at an element there follows it.
pub const JOIN: u32 = 1 << 31;
/// Marks the owner of entries, or of an atom's bit, that is a test at a node rather than a node.
pub const VALUED: u32 = 1 << 31;

/// A node of the trie.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Node {
    /// The node above.
    pub parent: u32,
    /// The edge from there: label and reach.
    pub edge: u32,
    /// How many edges lead on.
    pub kids: u32,
    /// The masks of the labels over which edges may lead to children: all that do, and some that did.
    pub near: u32,
    /// The same for descendants.
    pub far: u32,
    /// The first entry of what hangs here.
    pub payload: u32,
    /// Its bit among the atoms.
    pub atom: u32,
    /// Its bit among the joins.
    pub join: u32,
}

/// The bit of a label in the masks of nodes, which it shares with some others.
#[inline]
pub fn label_mask(label: u32) -> u32 {
    1 << (label % 32)
}

/// The edge for a reach and a label.
#[inline]
pub fn edge(far: bool, label: u32) -> u32 {
    label << 1 | u32::from(far)
}

/// Something that hangs on an atom, in a list.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Entry {
    /// The next entry.
    pub next: u32,
    pub(crate) before: u32,
    pub(crate) what: u32,
    pub(crate) owner: u32,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A pattern that reports here, by its slot.
    Slot(u32),
    /// A twig that is a candidate from here.
    Twig(u32),
    /// A test of the value here.
    Valued(u32),
}

impl Entry {
    /// What it is.
    #[inline]
    pub fn what(&self) -> What {
        let number = self.what & ((1 << 30) - 1);
        match self.what >> 30 {
            0 => What::Slot(number),
            1 => What::Twig(number),
            _ => What::Valued(number),
        }
    }
}

impl What {
    pub(crate) fn packed(self) -> u32 {
        match self {
            What::Slot(number) => number,
            What::Twig(number) => 1 << 30 | number,
            What::Valued(number) => 2 << 30 | number,
        }
    }
}

/// An atom with a test.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Valued {
    /// Where.
    pub node: u32,
    /// The test.
    pub test: u32,
    /// What hangs here.
    pub payload: u32,
    /// Its bit among the atoms.
    pub atom: u32,
    pub(crate) entry: u32,
}

/// A pattern that reports directly.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Slot {
    /// The pattern.
    pub pattern: u32,
    pub(crate) entry: u32,
    /// The pattern's next place, if it has several alternatives.
    pub sibling: u32,
}

/// A pattern with several leaves, or one that must be verified.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Twig {
    /// The pattern, or NONE once it is gone.
    pub pattern: u32,
    /// The pattern's id if that is a small number, else NONE.
    pub key: u32,
    /// Bits of atoms it needs, and joins that must be unique; NONE behind the last.
    pub needs: [u32; NEEDS],
    /// 1 if it must be verified in any case.
    pub verify: u16,
    /// 1 if its joins cannot be read off the trie.
    pub tangled: u16,
    pub(crate) entry: u32,
    /// The pattern's next place.
    pub sibling: u32,
}

/// What a twig needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The atom with this bit has fired.
    Atom(u32),
    /// The join with this bit met one element only, or this clause holds at one of them.
    Join(u32, u32),
}

impl Twig {
    /// What it needs, apart from its access.
    #[inline]
    pub fn needs(&self) -> impl Iterator<Item = Need> {
        let mut needs = self.needs.into_iter().take_while(|&need| need != NONE);
        std::iter::from_fn(move || match needs.next()? {
            join if join & JOIN != 0 => Some(Need::Join(join & !JOIN, needs.next()?)),
            atom => Some(Need::Atom(atom)),
        })
    }
}

/// Where a pattern is registered: a slot or a twig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// By its slot.
    Slot(u32),
    /// By its twig.
    Twig(u32),
}

impl Place {
    /// As one number.
    pub fn packed(self) -> u32 {
        match self {
            Place::Slot(number) => number << 1,
            Place::Twig(number) => number << 1 | 1,
        }
    }

    /// From that number.
    pub fn from_packed(packed: u32) -> Option<Self> {
        match packed {
            NONE => None,
            twig if twig & 1 == 1 => Some(Place::Twig(twig >> 1)),
            slot => Some(Place::Slot(slot >> 1)),
        }
    }
}
