//! Twigs as rows of nodes, and patterns as a few twigs.
//!
//! A twig is a tree pattern: node 0 is the document node, a parent comes before its children. The
//! *reach* of a node says how far below its parent it is: 0 for exactly one level, k for at least k.
//!
//! A pattern has two sides. As the wider one it is a row of *groups*: it holds where one twig of each
//! group does. As the narrower one it is a choice of *grounds*: it holds where one of them does. Most
//! patterns are one twig on both sides, which is then kept once.

use super::labels::Label;

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

/// What the context of a packed twig has for its reach: whether the twig is a ground, and its group.
const GROUND: u16 = 1 << 15;
const GROUP: u16 = GROUND - 1;
const NO_GROUP: u16 = GROUP;

/// What is known of a pattern beside its nodes.
#[derive(Clone, Copy, Default, Debug)]
pub struct Shape {
    /// How many grounds; with none it holds nowhere.
    grounds: u16,
    /// How many groups; with none it holds everywhere.
    groups: u16,
    /// Where its last ground begins.
    last_ground: u16,
    /// Whether some group is empty, so that as the wider side it covers nothing.
    pub never: bool,
    /// Whether all about it is open.
    pub unclear: bool,
}

/// The twigs of a pattern in one row of nodes, first those of its groups, and what else is known.
///
/// The contexts of packed twigs have no parent and no reach; in their place they tell how many nodes
/// the twig has and what it is for.
pub fn packed(given: &Given) -> (Vec<Node>, Shape) {
    let size = given.nodes().count().max(given.groups.len());
    let unclear = given.unclear || size > NODES_MAX;
    if unclear {
        let shape = Shape {
            unclear,
            ..Shape::default()
        };
        return (Vec::new(), shape);
    }
    let mut nodes: Vec<Node> = Vec::new();
    let mut push = |twig: &[Node], role: u16| {
        let start = nodes.len();
        nodes.extend_from_slice(twig);
        nodes[start].parent = twig.len() as u16;
        nodes[start].reach = role;
        start as u16
    };
    let mut last_ground = 0;
    if let ([group], [ground]) = (&given.groups[..], &given.grounds[..])
        && let [twig] = &group[..]
        && twig == ground
    {
        push(twig, GROUND);
    } else {
        for (group, twigs) in given.groups.iter().enumerate() {
            for twig in twigs {
                push(twig, group as u16);
            }
        }
        for ground in &given.grounds {
            last_ground = push(ground, GROUND | NO_GROUP);
        }
    }
    let shape = Shape {
        grounds: given.grounds.len() as u16,
        groups: given.groups.len() as u16,
        last_ground,
        never: given.groups.iter().any(Vec::is_empty),
        unclear,
    };
    (nodes, shape)
}

/// A pattern: packed nodes, wherever they are, and what else is known.
#[derive(Clone, Copy)]
pub struct Pattern<'a> {
    /// Its packed nodes.
    pub nodes: &'a [Node],
    /// What else is known.
    pub shape: Shape,
}

impl<'a> Pattern<'a> {
    /// The choices of its narrower side.
    pub fn grounds(&self) -> impl Iterator<Item = &'a [Node]> + use<'a> {
        let twigs = Twigs { left: self.nodes };
        twigs.filter(|twig| twig[0].reach & GROUND != 0)
    }

    /// Its ground, if there is one only.
    #[inline]
    pub fn only_ground(&self) -> Option<&'a [Node]> {
        let start = usize::from(self.shape.last_ground);
        (self.shape.grounds == 1).then(|| &self.nodes[start..])
    }

    /// The groups of its wider side, each a row of twigs. Empty ones are left out.
    pub fn groups(&self) -> Groups<'a> {
        Groups { left: self.nodes }
    }

    /// Whether one twig, kept once, is both of its sides.
    pub fn is_kept_once(&self) -> bool {
        self.nodes.first().is_some_and(|it| it.reach == GROUND)
    }

    /// Whether it holds nowhere.
    pub fn is_void(&self) -> bool {
        self.shape.grounds == 0 && !self.shape.unclear
    }

    /// Whether it holds everywhere.
    pub fn is_everything(&self) -> bool {
        self.shape.groups == 0 && !self.shape.unclear
    }
}

/// Twigs behind each other.
#[derive(Clone)]
pub struct Twigs<'a> {
    left: &'a [Node],
}

impl<'a> Iterator for Twigs<'a> {
    type Item = &'a [Node];

    fn next(&mut self) -> Option<&'a [Node]> {
        let len = self.left.first()?.parent;
        let (twig, left) = self.left.split_at(len.into());
        self.left = left;
        Some(twig)
    }
}

/// Groups of twigs behind each other.
pub struct Groups<'a> {
    left: &'a [Node],
}

impl<'a> Iterator for Groups<'a> {
    type Item = Twigs<'a>;

    fn next(&mut self) -> Option<Twigs<'a>> {
        let group = self.left.first()?.reach & GROUP;
        if group == NO_GROUP {
            return None;
        }
        let mut end = 0;
        while let Some(context) = self.left.get(end)
            && context.reach & GROUP == group
        {
            end += usize::from(context.parent);
        }
        let (group, left) = self.left.split_at(end);
        self.left = left;
        Some(Twigs { left: group })
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
    twig[1..].iter().any(|node| node.reach > 0)
}

/// Whether part of it can lie on unknown elements.
pub fn asks_for_levels(twig: &[Node]) -> bool {
    let asks = |node: &Node| node.label == Label::ANY_ELEMENT || node.reach > 1;
    twig[0].label == Label::ANY_ELEMENT || twig[1..].iter().any(asks)
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
