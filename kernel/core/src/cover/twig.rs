//! Twigs as rows of nodes, and patterns as a few twigs.
//!
//! A twig is a tree pattern: node 0 is the document node, a parent comes before its children. The
//! *reach* of a node says how far below its parent it is: 0 for exactly one level, k for at least k.
//!
//! A pattern has two sides. As the wider one it is a row of *groups*: it holds where one twig of each
//! group does. As the narrower one it is a choice of *grounds*: it holds where one of them does. Most
//! patterns are one twig on both sides, which is then kept once.

use super::labels::Label;
use crate::prefetch::prefetch;

/// A node of a twig.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// What it is.
    pub label: Label,
    /// Its parent's place; 0 for the context itself.
    pub parent: u16,
    /// How far below its parent: 0 for one level, else at least so many.
    pub reach: u16,
    /// The set of tests asked of it.
    pub tests: u32,
    /// The only value that these leave, as a number, or 0.
    pub value: u32,
}

/// A pattern as it is handed in; its labels and tests are counted already.
#[derive(Default, Debug)]
pub struct Given {
    /// As the wider side.
    pub groups: Vec<Vec<Vec<Node>>>,
    /// As the narrower side.
    pub grounds: Vec<Vec<Node>>,
    /// Whether it is too large to be looked at: whatever is asked of it remains open.
    pub unclear: bool,
}

impl Given {
    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        let wider = self.groups.iter().flatten();
        wider.chain(&self.grounds).flatten()
    }
}

/// More nodes than any of the language's own limits allows; a larger pattern is unclear.
pub const NODES_MAX: usize = 4096;

const ONLY_GROUND: u16 = u16::MAX;

/// A twig of a pattern.
#[derive(Clone, Copy)]
struct Piece {
    first: u32,
    len: u16,
    group: u16,
    is_ground: bool,
}

/// A pattern made ready.
pub struct Pattern {
    nodes: Box<[Node]>,
    pieces: Box<[Piece]>,
    /// Where the ground begins, if there is one only: it is the last piece then.
    only_ground: Option<u16>,
    /// How many grounds; with none it holds nowhere.
    grounds: u16,
    groups: u16,
    /// Whether some group is empty, so that as the wider side it covers nothing.
    pub never: bool,
    /// Whether all about it is open.
    pub unclear: bool,
}

impl Pattern {
    /// The pattern that was given.
    pub fn new(given: &Given) -> Self {
        let (mut nodes, mut pieces) = (Vec::new(), Vec::new());
        let unclear = given.unclear || given.nodes().count() > NODES_MAX;
        let shared = match (&given.groups[..], &given.grounds[..]) {
            ([group], [ground]) => group.len() == 1 && group[0] == *ground,
            _ => false,
        };
        let mut push = |twig: &[Node], group: usize, is_ground: bool| {
            pieces.push(Piece {
                first: nodes.len() as u32,
                len: twig.len() as u16,
                group: group as u16,
                is_ground,
            });
            nodes.extend_from_slice(twig);
        };
        if !unclear {
            for (group, twigs) in given.groups.iter().enumerate() {
                for twig in twigs {
                    push(twig, group, shared);
                }
            }
            for ground in given.grounds.iter().filter(|_| !shared) {
                push(ground, ONLY_GROUND.into(), true);
            }
        }
        let only_ground = match given.grounds.len() {
            1 if !unclear => pieces.last().map(|piece: &Piece| piece.first as u16),
            _ => None,
        };
        let count = |all: usize| if unclear { 0 } else { all as u16 };
        Pattern {
            nodes: nodes.into(),
            pieces: pieces.into(),
            only_ground,
            grounds: count(given.grounds.len()),
            groups: count(given.groups.len()),
            never: given.groups.iter().any(Vec::is_empty),
            unclear,
        }
    }

    fn twig(&self, piece: &Piece) -> &[Node] {
        &self.nodes[piece.first as usize..][..piece.len as usize]
    }

    /// The choices of its narrower side.
    pub fn grounds(&self) -> impl Iterator<Item = &[Node]> {
        let grounds = self.pieces.iter().filter(|piece| piece.is_ground);
        grounds.map(|piece| self.twig(piece))
    }

    /// Whether one twig, kept once, is both of its sides.
    pub fn is_kept_once(&self) -> bool {
        self.pieces
            .first()
            .is_some_and(|it| it.is_ground && it.group != ONLY_GROUND)
    }

    /// Its ground, if there is one only.
    #[inline]
    pub fn only_ground(&self) -> Option<&[Node]> {
        Some(&self.nodes[self.only_ground? as usize..])
    }

    /// Has the processor fetch what deciding about it needs.
    #[inline]
    pub fn fetch(&self) {
        for at in [0, 4, 8, 12] {
            prefetch(&self.nodes, at);
        }
        prefetch(&self.pieces, 0);
    }

    /// Whether it holds nowhere.
    pub fn is_void(&self) -> bool {
        self.grounds == 0 && !self.unclear
    }

    /// Whether it holds everywhere.
    pub fn is_everything(&self) -> bool {
        self.groups == 0 && !self.unclear
    }

    /// The groups of its wider side, each a row of twigs. Empty ones are left out.
    pub fn groups(&self) -> impl Iterator<Item = impl Iterator<Item = &[Node]> + Clone> {
        let wider = self.pieces.iter().filter(|it| it.group != ONLY_GROUND);
        let end = wider.count();
        self.pieces[..end]
            .chunk_by(|one, next| one.group == next.group)
            .map(|group| group.iter().map(|piece| self.twig(piece)))
    }

    /// All nodes that are kept.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// How many bytes it takes beside itself.
    pub fn held(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.pieces[..])
    }
}

/// Whether no node has two children.
pub fn is_path(twig: &[Node]) -> bool {
    let below = twig.iter().enumerate().skip(1);
    below
        .into_iter()
        .all(|(at, node)| usize::from(node.parent) + 1 == at)
}

/// Whether some node may be any number of levels below its parent.
pub fn has_far_edges(twig: &[Node]) -> bool {
    twig.iter().any(|node| node.reach > 0)
}

/// Whether part of it can lie on unknown elements.
pub fn asks_for_levels(twig: &[Node]) -> bool {
    let asks = |node: &Node| node.label == Label::ANY_ELEMENT || node.reach > 1;
    twig.iter().any(asks)
}

/// How many `*` in a row are joined by `/`.
pub fn longest_row_of_stars(twig: &[Node]) -> usize {
    let mut rows = vec![0; twig.len()];
    for (at, node) in twig.iter().enumerate().skip(1) {
        if node.label == Label::ANY_ELEMENT {
            let above = rows[usize::from(node.parent)];
            rows[at] = 1 + if node.reach > 0 { 0 } else { above };
        }
    }
    rows.into_iter().max().unwrap_or(0)
}
