//! How a pattern is taken apart: alternatives, each a conjunction of leaves.
//!
//! `a[b or c]/d` is two twigs, `a[b]/d` and `a[c]/d`; a pattern is registered once for each of its
//! alternatives. A single `or` has as many as it has parts, which is no more than the pattern says, so
//! that a list of a thousand values is a thousand entries. Several `or`s that must hold together
//! multiply, and only that is bounded. The leaves of an alternative are *necessary* for it; `verify`
//! says that they are not sufficient even where every join is unique.

use crate::index::layer::{Layer, NONE, ROOT, edge};
use crate::pattern::Kind;
use crate::pattern::clause::{Clauses, Form};

/// `or`s that must hold together are multiplied into at most so many alternatives; beyond, one of them
/// selects candidates, which are verified. Products grow fast, and each alternative takes memory. Thirty
/// values and either of two kinds are 60.
const PRODUCT_MAX: usize = 64;

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
    /// Whether a leaf lies below a join of the trie that it has no part in, as in `a[b[c][d]][b/e]`:
    /// the joins cannot be read off the trie then.
    pub tangled: bool,
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
        both.tangled |= other.tangled;
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
                let is_product = left.len() > 1 && right.len() > 1;
                if is_product && left.len() * right.len() > PRODUCT_MAX {
                    return narrower(left, right);
                }
                let join = Join { node, clause };
                let mut both: Vec<Alternative> = Vec::new();
                for (one, other) in left
                    .iter()
                    .flat_map(|one| right.iter().map(move |other| (one, other)))
                {
                    let mut pair = one.with(other, join);
                    pair.tangled |=
                        self.is_tangled(one, other, node) || self.is_tangled(other, one, node);
                    both.push(pair);
                }
                if !self.is_element(node) {
                    // Several tests of one attribute or text: the elements at joins are elements.
                    both.iter_mut().for_each(|it| it.verify = true);
                }
                both
            }
            Form::Any(..) => {
                let (mut found, mut rest) = (Vec::new(), clause);
                while let Form::Any(part, others) = self.clauses.form(rest) {
                    found.append(&mut self.alternatives(part, node));
                    rest = others;
                }
                found.append(&mut self.alternatives(rest, node));
                found
            }
            Form::AtDocument(part) => {
                let mut found = self.alternatives(part, ROOT);
                for it in &mut found {
                    (it.below, it.tangled) = (false, true);
                }
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

    /// Whether a leaf of the one lies below a join of the other that is itself below a node.
    fn is_tangled(&self, one: &Alternative, other: &Alternative, top: u32) -> bool {
        let joins = |node: u32| other.joins.iter().any(|join| join.node == node);
        one.leaves.iter().any(|leaf| {
            let mut node = leaf.node;
            while node != ROOT && node != top && !joins(node) {
                node = self.layer.nodes[node as usize].parent;
            }
            node != ROOT && node != top
        })
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

/// Of two conjuncts with too many alternatives together, the one that is met less often selects
/// candidates: one that always asks for a value, which is seldom passed, or else the one with fewer.
fn narrower(left: Vec<Alternative>, right: Vec<Alternative>) -> Vec<Alternative> {
    let is_tested = |it: &Alternative| it.leaves.iter().any(|leaf| leaf.test != NONE);
    let often = |side: &[Alternative]| (!side.iter().all(is_tested), side.len());
    let mut kept = if often(&left) <= often(&right) {
        left
    } else {
        right
    };
    kept.iter_mut().for_each(|it| it.verify = true);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Condition, Constant, Label, Operator, Step, Test};

    fn exists(kind: Kind, local: &str, then: Condition) -> Condition {
        let label = Label {
            kind,
            namespace: Some("".into()),
            local: Some(local.into()),
        };
        let far = false;
        Condition::Exists(Box::new(Step { far, label, then }))
    }

    fn element(local: &str, then: Condition) -> Condition {
        exists(Kind::Element, local, then)
    }

    fn all(parts: impl Into<Vec<Condition>>) -> Condition {
        Condition::All(parts.into())
    }

    fn named(local: &str) -> Condition {
        element(local, all([]))
    }

    fn value(text: &str) -> Condition {
        Condition::Value(Test {
            operator: Operator::Equal,
            constant: Constant::Text(text.into()),
        })
    }

    fn plan(condition: &Condition) -> Vec<Alternative> {
        let (mut layer, mut clauses) = (Layer::default(), Clauses::default());
        let clause = clauses.take(condition);
        let mut planner = Planner {
            layer: &mut layer,
            clauses: &clauses,
            reached: Vec::new(),
        };
        planner.plan(clause)
    }

    /// Leaves, joins, and whether it is verified.
    fn sizes(condition: &Condition) -> Vec<(usize, usize, bool)> {
        let alternatives = plan(condition);
        let sizes = alternatives
            .iter()
            .map(|it| (it.leaves.len(), it.joins.len(), it.verify));
        sizes.collect()
    }

    #[test]
    fn a_path_is_its_last_node() {
        let found = plan(&element("a", element("b", value("x"))));
        assert_eq!(
            (found.len(), found[0].leaves[0].node, found[0].verify),
            (1, 2, false)
        );
        assert_eq!((found[0].leaves[0].test, found[0].joins.len()), (0, 0));
    }

    #[test]
    fn branches_join_at_the_element_where_they_part_but_not_at_the_document() {
        let twig = element("a", all([named("b"), named("c"), value("x")]));
        assert_eq!(sizes(&twig), [(3, 1, false)]);
        assert_eq!(sizes(&all([named("b"), named("c")])), [(2, 0, false)]);
        let nested = element(
            "a",
            all([element("b", all([named("c"), named("d")])), named("e")]),
        );
        assert_eq!(sizes(&nested), [(3, 2, false)]);
    }

    #[test]
    fn a_join_says_all_that_must_hold_at_its_element() {
        let (mut layer, mut clauses) = (Layer::default(), Clauses::default());
        let parts = all([named("b"), named("c"), named("d")]);
        let (whole, inner) = (
            clauses.take(&element("a", parts.clone())),
            clauses.take(&parts),
        );
        let mut planner = Planner {
            layer: &mut layer,
            clauses: &clauses,
            reached: Vec::new(),
        };
        let found = planner.plan(whole);
        assert_eq!(
            found[0].joins,
            [Join {
                node: 1,
                clause: inner
            }]
        );
    }

    #[test]
    fn each_choice_is_an_alternative_until_they_multiply() {
        let choice =
            |size: usize| Condition::Any((0..size).map(|it| named(&format!("n{it}"))).collect());
        assert_eq!(sizes(&choice(1000)), [(1, 0, false); 1000]);
        let many = element("a", all([choice(1000), named("b")]));
        assert_eq!(sizes(&many), [(2, 1, false); 1000]);
        assert_eq!(sizes(&all([choice(8), choice(8)])).len(), 64);
        assert_eq!(sizes(&all([choice(13), choice(5)])), [(1, 0, true); 5]);
        assert_eq!(sizes(&choice(0)), []);
        assert_eq!(sizes(&all([choice(0), choice(17)])), []);
    }

    #[test]
    fn of_too_many_together_those_with_values_select() {
        let names = |size: usize| (0..size).map(|it| named(&format!("n{it}"))).collect();
        let values = |size: usize| (0..size).map(|it| element("v", value(&it.to_string())));
        let parts = [
            Condition::Any(names(2)),
            Condition::Any(values(100).collect()),
        ];
        let found = plan(&all(parts));
        assert_eq!(found.len(), 100);
        assert!(
            found
                .iter()
                .all(|it| it.verify && it.leaves[0].test != NONE)
        );
    }

    #[test]
    fn what_no_leaf_can_say_is_verified() {
        let denied = Condition::Not(Box::new(named("b")));
        assert_eq!(sizes(&denied), [(0, 0, true)]);
        assert_eq!(sizes(&element("a", denied.clone())), [(1, 0, true)]);
        assert_eq!(
            sizes(&element("a", all([denied, named("c")]))),
            [(1, 0, true)]
        );
        let twice = exists(Kind::Attribute, "x", all([value("x"), value("y")]));
        assert!(sizes(&element("a", twice))[0].2);
    }

    #[test]
    fn an_absolute_path_inside_joins_nothing() {
        let absolute = Condition::AtDocument(Box::new(element("r", named("s"))));
        assert_eq!(sizes(&element("a", absolute.clone())), [(2, 0, false)]);
        assert_eq!(
            sizes(&element("a", all([absolute, named("b")]))),
            [(2, 0, false)]
        );
    }
}
