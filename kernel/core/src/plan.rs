//! How a pattern is taken apart: alternatives, each a conjunction of leaves.
//!
//! `a[b or c]/d` is two twigs, `a[b]/d` and `a[c]/d`; a pattern with few alternatives is registered
//! once for each. The leaves of an alternative are *necessary* for it; `verify` says that they are
//! not sufficient even where every join is unique.

use crate::clause::{Clauses, Form};
use crate::layer::{Layer, NONE, ROOT, edge};
use crate::pattern::Kind;

/// A pattern with more alternatives than this is verified instead: the product of many `or`s grows
/// fast, and each alternative takes memory.
const ALTERNATIVES_MAX: usize = 16;

/// A node of the trie where something is asked for, and the test of its value, or NONE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The node.
    pub node: u32,
    /// The test.
    pub test: u32,
}

/// A node of the trie where branches part, and what the pattern says about an element there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// The node.
    pub node: u32,
    /// The clause that must hold at one of the elements that meet the node.
    pub clause: u32,
}

/// One way in which a pattern can be satisfied.
#[derive(Clone, Debug, Default)]
pub struct Alternative {
    /// What must fire.
    pub leaves: Vec<Leaf>,
    /// Where the leaves must agree on the element.
    pub joins: Vec<Join>,
    /// Whether there is more to it.
    pub verify: bool,
    /// Whether there is a leaf at or below the node in question (absolute paths lie elsewhere).
    below: bool,
}

impl Alternative {
    fn leaf(node: u32, test: u32) -> Vec<Self> {
        vec![Alternative {
            leaves: vec![Leaf { node, test }],
            below: true,
            ..Self::default()
        }]
    }

    fn unsaid() -> Vec<Self> {
        vec![Alternative {
            verify: true,
            ..Self::default()
        }]
    }

    /// Both at once, joined at a node.
    fn with(&self, other: &Self, join: Join) -> Self {
        let mut both = self.clone();
        for leaf in &other.leaves {
            if !both.leaves.contains(leaf) {
                both.leaves.push(*leaf);
            }
        }
        for &join in &other.joins {
            if !both.joins.contains(&join) {
                both.joins.push(join);
            }
        }
        if self.below && other.below {
            both.join(join);
        }
        both.verify |= other.verify;
        both.below |= other.below;
        both
    }

    /// Branches part here. The parts of one conjunction join one after the other, each time with a
    /// clause that says more; the last says it all.
    fn join(&mut self, join: Join) {
        if join.node == ROOT {
            return; // there is one document node
        }
        match self.joins.iter_mut().find(|it| it.node == join.node) {
            Some(known) => known.clause = join.clause,
            None => self.joins.push(join),
        }
    }

    /// A node that nothing below asks for is asked for itself.
    fn arrive(&mut self, node: u32) {
        if !self.below {
            self.leaves.push(Leaf { node, test: NONE });
            self.below = true;
        }
    }
}

/// Takes patterns apart, and makes the nodes they need in a layer.
pub struct Planner<'a> {
    /// Where the nodes are made.
    pub layer: &'a mut Layer,
    /// What the patterns say.
    pub clauses: &'a Clauses,
    /// Every node that was asked for; some may turn out not to be needed.
    pub reached: Vec<u32>,
}

impl Planner<'_> {
    /// The alternatives of a clause at the document node.
    pub fn plan(&mut self, clause: u32) -> Vec<Alternative> {
        self.alternatives(clause, ROOT)
    }

    fn alternatives(&mut self, clause: u32, node: u32) -> Vec<Alternative> {
        match self.clauses.form(clause) {
            Form::True => vec![Alternative::default()],
            Form::False => Vec::new(),
            Form::Exists { far, label, then } => {
                let child = self.reach(node, far, label);
                let mut found = self.alternatives(then, child);
                found.iter_mut().for_each(|it| it.arrive(child));
                found
            }
            Form::Value(test) => Alternative::leaf(node, test),
            Form::All(a, b) => {
                let left = self.alternatives(a, node);
                let right = self.alternatives(b, node);
                if left.len() * right.len() > ALTERNATIVES_MAX {
                    return narrower(left, right);
                }
                let join = Join { node, clause };
                let pairs = left
                    .iter()
                    .flat_map(|one| right.iter().map(move |other| one.with(other, join)));
                let mut both: Vec<Alternative> = pairs.collect();
                if !self.is_element(node) {
                    // Several tests of one attribute or text: the elements at joins are elements.
                    both.iter_mut().for_each(|it| it.verify = true);
                }
                both
            }
            Form::Any(a, b) => {
                let mut found = self.alternatives(a, node);
                found.extend(self.alternatives(b, node));
                if found.len() > ALTERNATIVES_MAX {
                    Alternative::unsaid()
                } else {
                    found
                }
            }
            Form::AtDocument(part) => {
                let mut found = self.alternatives(part, ROOT);
                found.iter_mut().for_each(|it| it.below = false);
                found
            }
            Form::First(chain) => {
                let mut found = self.first(chain, node);
                found.iter_mut().for_each(|it| it.verify = true);
                found
            }
            Form::SelfIs(_) | Form::Not(_) | Form::Link { .. } => Alternative::unsaid(),
        }
    }

    /// The first of some nodes passes a test only if some node does: the chain as a path.
    fn first(&mut self, chain: u32, node: u32) -> Vec<Alternative> {
        let Form::Link {
            far, label, next, ..
        } = self.clauses.form(chain)
        else {
            return self.alternatives(chain, node);
        };
        let child = self.reach(node, far, label);
        let mut found = self.first(next, child);
        found.iter_mut().for_each(|it| it.arrive(child));
        found
    }

    fn is_element(&self, node: u32) -> bool {
        node == ROOT || {
            let label = self.layer.nodes[node as usize].edge >> 1;
            self.clauses.labels.label(label).kind == Kind::Element
        }
    }

    fn reach(&mut self, node: u32, far: bool, label: u32) -> u32 {
        let child = self.layer.reach(node, edge(far, label));
        self.reached.push(child);
        child
    }
}

/// Of two conjuncts with too many alternatives together, the one with fewer selects candidates.
fn narrower(left: Vec<Alternative>, right: Vec<Alternative>) -> Vec<Alternative> {
    let mut kept = if left.len() <= right.len() {
        left
    } else {
        right
    };
    kept.iter_mut().for_each(|it| it.verify = true);
    kept
}
