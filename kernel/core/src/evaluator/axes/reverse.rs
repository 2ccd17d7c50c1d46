//! From which nodes an axis leads to one of some nodes: axes backwards, each in linear time.

use crate::document::tree::NONE;
use crate::evaluator::axes::walk;
use crate::evaluator::nodes::{DOCUMENT, Document, NodeKind};
use crate::evaluator::syntax::Axis;

/// A set of nodes as bits.
#[derive(Clone, Debug, Default)]
pub struct Marks(Vec<u64>);

impl Marks {
    /// No node of so many.
    pub fn new(nodes: usize) -> Self {
        Marks(vec![0; nodes.div_ceil(64)])
    }

    /// Whether a node is marked.
    #[inline]
    pub fn has(&self, node: u32) -> bool {
        self.0[node as usize / 64] >> (node % 64) & 1 != 0
    }

    /// Visits the marked nodes in document order.
    pub fn each(&self, mut visit: impl FnMut(u32)) {
        for (place, &bits) in self.0.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                visit(place as u32 * 64 + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }

    /// Marks a node; whether it was not.
    #[inline]
    pub fn set(&mut self, node: u32) -> bool {
        let word = &mut self.0[node as usize / 64];
        let bit = 1 << (node % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// Marks the nodes from which the axis leads to one of `goals`, which are in document order.
pub fn sources(document: &Document, axis: Axis, goals: &[u32]) -> Marks {
    let nodes = document.nodes;
    let mut marks = Marks::new(nodes.len());
    match axis {
        Axis::SelfNode => goals.iter().for_each(|&goal| {
            marks.set(goal);
        }),
        Axis::Child | Axis::Attribute => goals.iter().for_each(|&goal| {
            let it = nodes.get(goal);
            let fits = (it.kind == NodeKind::Attribute) == (axis == Axis::Attribute);
            if fits && it.parent != NONE {
                marks.set(it.parent);
            }
        }),
        Axis::Parent => goals
            .iter()
            .for_each(|&goal| mark_below(document, goal, &mut marks)),
        Axis::Descendant => mark_above(document, goals, false, &mut marks),
        Axis::DescendantOrSelf => mark_above(document, goals, true, &mut marks),
        Axis::Ancestor => mark_inside(document, goals, false, &mut marks),
        Axis::AncestorOrSelf => mark_inside(document, goals, true, &mut marks),
        Axis::FollowingSibling => {
            mark_siblings(document, Axis::PrecedingSibling, goals, &mut marks)
        }
        Axis::PrecedingSibling => {
            mark_siblings(document, Axis::FollowingSibling, goals, &mut marks)
        }
        Axis::Following => mark_before(document, goals, &mut marks),
        Axis::Preceding => mark_behind(document, goals, &mut marks),
        Axis::Namespace => {}
    }
    marks
}

/// The children and attributes of a node.
fn mark_below(document: &Document, goal: u32, marks: &mut Marks) {
    for axis in [Axis::Attribute, Axis::Child] {
        if axis == Axis::Attribute && document.nodes.get(goal).kind != NodeKind::Element {
            continue;
        }
        let mut way = walk(document, axis, goal);
        while let Some(node) = way.next(document) {
            marks.set(node);
        }
    }
}

/// What is above nodes, up to what is marked already.
fn mark_above(document: &Document, goals: &[u32], and_self: bool, marks: &mut Marks) {
    let nodes = document.nodes;
    // Whether a node's own ancestors were marked is not the same as whether it was marked for itself.
    let mut climbed = Marks::new(nodes.len());
    for &goal in goals {
        let it = nodes.get(goal);
        if and_self {
            marks.set(goal);
        }
        if it.kind == NodeKind::Attribute {
            continue;
        }
        let mut above = it.parent;
        while above != NONE && climbed.set(above) {
            marks.set(above);
            above = nodes.get(above).parent;
        }
    }
}

/// What is inside nodes, attributes included; nodes inside those before are done already.
fn mark_inside(document: &Document, goals: &[u32], and_self: bool, marks: &mut Marks) {
    let mut done = DOCUMENT;
    for &goal in goals {
        if and_self {
            marks.set(goal);
        }
        let end = document.nodes.get(goal).end;
        for node in done.max(goal + 1)..end {
            marks.set(node);
        }
        done = done.max(end);
    }
}

/// The siblings of nodes on one side, up to those that are marked already.
fn mark_siblings(document: &Document, axis: Axis, goals: &[u32], marks: &mut Marks) {
    for &goal in goals {
        let mut way = walk(document, axis, goal);
        while let Some(node) = way.next(document) {
            if !marks.set(node) {
                break;
            }
        }
    }
}

/// The nodes that the last of some follows.
fn mark_before(document: &Document, goals: &[u32], marks: &mut Marks) {
    let nodes = document.nodes;
    let inner = |node: &&u32| nodes.get(**node).kind != NodeKind::Attribute;
    let Some(&last) = goals.iter().rev().find(inner) else {
        return;
    };
    for node in 0..nodes.len() as u32 {
        let it = nodes.get(node);
        let end = match it.kind {
            NodeKind::Attribute => nodes.get(it.parent).end,
            _ => it.end,
        };
        if end <= last {
            marks.set(node);
        }
    }
}

/// The nodes that stand behind the first of some to end.
fn mark_behind(document: &Document, goals: &[u32], marks: &mut Marks) {
    let nodes = document.nodes;
    let seen = goals.iter().filter(|&&goal| goal != nodes.unseen());
    let inner = seen.map(|&goal| nodes.get(goal));
    let ends = inner
        .filter(|it| it.kind != NodeKind::Attribute)
        .map(|it| it.end);
    if let Some(first) = ends.min() {
        for node in first..nodes.len() as u32 {
            marks.set(node);
        }
    }
}
