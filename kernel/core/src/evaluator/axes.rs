//! The nodes of an axis, one after the other, nearest first.

pub mod reverse;

use crate::document::tree::NONE;
use crate::evaluator::nodes::{DOCUMENT, Document, NodeKind};
use crate::evaluator::syntax::Axis;

/// A way along an axis; [`Walk::next`] gives its nodes whatever their kind and name.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    way: Way,
    /// The next node, if `way` says nothing else.
    at: u32,
    end: u32,
    /// How many nodes were passed over.
    pub passed: u32,
}

#[derive(Clone, Copy, Debug)]
enum Way {
    /// One node alone, `at`, then what comes behind.
    Alone,
    /// The nodes from `at` to `end`, all of them.
    Each,
    /// Those, but no attributes.
    Inside,
    /// A node, then the parents above it.
    Upwards,
    /// The siblings from `at` to the end of the parent.
    Onwards,
    /// The siblings from `at` backwards.
    Backwards,
    /// The nodes before `at` backwards, but no attributes, and none that ends behind `end`.
    Before,
    /// A node itself, then those inside it.
    SelfThenInside,
}

/// The way along an axis from a node.
pub fn walk(document: &Document, axis: Axis, node: u32) -> Walk {
    let nodes = document.nodes;
    let it = nodes.get(node);
    let is_attribute = it.kind == NodeKind::Attribute;
    let along = |way, at, end| Walk {
        way,
        at,
        end,
        passed: 0,
    };
    let nothing = along(Way::Each, 0, 0);
    let inside = || along(Way::Inside, document.first_child(node), it.end);
    match axis {
        Axis::SelfNode => along(Way::Alone, node, 0),
        Axis::Parent => along(Way::Alone, it.parent, 0),
        Axis::Ancestor => along(Way::Upwards, it.parent, 0),
        Axis::AncestorOrSelf => along(Way::Upwards, node, 0),
        Axis::Attribute => along(Way::Each, node + 1, document.first_child(node).min(it.end)),
        Axis::Child if is_attribute => nothing,
        Axis::Child => along(Way::Onwards, document.first_child(node), it.end),
        Axis::Descendant if is_attribute => nothing,
        Axis::Descendant => inside(),
        Axis::DescendantOrSelf if is_attribute => along(Way::Alone, node, 0),
        Axis::DescendantOrSelf => along(Way::SelfThenInside, node, it.end),
        Axis::Namespace => nothing,
        Axis::FollowingSibling | Axis::PrecedingSibling if is_attribute || node == DOCUMENT => {
            nothing
        }
        Axis::FollowingSibling => along(Way::Onwards, it.end, nodes.get(it.parent).end),
        Axis::PrecedingSibling => along(Way::Backwards, it.previous, 0),
        // Of an attribute these are its element's.
        Axis::Following => {
            let from = if is_attribute { it.parent } else { node };
            along(Way::Inside, nodes.get(from).end, nodes.len() as u32)
        }
        Axis::Preceding => {
            let from = if is_attribute { it.parent } else { node };
            along(Way::Before, from, from)
        }
    }
}

impl Walk {
    /// The next node, if there is one.
    #[inline]
    pub fn next(&mut self, document: &Document) -> Option<u32> {
        let nodes = document.nodes;
        match self.way {
            Way::Alone => {
                let found = self.at;
                self.at = NONE;
                (found != NONE).then_some(found)
            }
            Way::Upwards => {
                let found = self.at;
                if found == NONE {
                    return None;
                }
                self.at = nodes.get(found).parent;
                Some(found)
            }
            Way::Each => {
                let found = self.at;
                self.at += 1;
                (found < self.end).then_some(found)
            }
            Way::Inside => self.inside(document),
            Way::Onwards => {
                let found = self.at;
                if found >= self.end {
                    return None;
                }
                self.at = nodes.get(found).end;
                Some(found)
            }
            Way::Backwards => {
                let found = self.at;
                if found == NONE {
                    return None;
                }
                self.at = nodes.get(found).previous;
                Some(found)
            }
            Way::Before => self.before(document),
            Way::SelfThenInside => {
                let found = self.at;
                self.way = Way::Inside;
                self.at = document.first_child(found);
                Some(found)
            }
        }
    }

    fn inside(&mut self, document: &Document) -> Option<u32> {
        while self.at < self.end {
            let found = self.at;
            self.at += 1;
            if document.nodes.get(found).kind != NodeKind::Attribute {
                return Some(found);
            }
            self.passed += 1;
        }
        None
    }

    fn before(&mut self, document: &Document) -> Option<u32> {
        while self.at > DOCUMENT {
            self.at -= 1;
            let it = document.nodes.get(self.at);
            let precedes = it.end <= self.end && self.at != document.nodes.unseen();
            if precedes && it.kind != NodeKind::Attribute {
                return Some(self.at);
            }
            self.passed += 1;
        }
        None
    }
}

/// The nodes of a list in document order that an axis can reach from a node: from where to where in the
/// list, and up to which end a node may reach. The axis is `descendant`, `following` or `preceding`.
pub fn range(document: &Document, axis: Axis, node: u32, list: &[u32]) -> (usize, usize, u32) {
    let nodes = document.nodes;
    let it = nodes.get(node);
    let anchor = if it.kind == NodeKind::Attribute {
        it.parent
    } else {
        node
    };
    let below = |bound: u32| list.partition_point(|&one| one < bound);
    match axis {
        Axis::Following => (below(nodes.get(anchor).end), list.len(), NONE),
        Axis::Preceding => (0, below(anchor), anchor),
        _ => (below(node + 1), below(it.end), NONE),
    }
}
