//! When parts come to nothing: a condition never holds, a set or a string is empty, a number is NaN.
//!
//! A path without its nodes is empty; so is its string, and what asks for more than that fails. Two
//! things follow. Of all rules for a kind of document few speak of what one document has: what needs
//! nodes of a name that it lacks is *barren*, and no node has to be looked at. And `//*[b = 'x']` can
//! hold only where there is a `b`: where these are few, they are its *seeds*, and the search starts there.

use crate::evaluator::axes::walk;
use crate::evaluator::conditions::{Answer, At, Run};
use crate::evaluator::graph::{Expr, Graph, Id, TestId};
use crate::evaluator::memory::Filter;
use crate::evaluator::nodes::{DOCUMENT, NodeKind};
use crate::evaluator::syntax::{Axis, Comparison, Kind, Test};

/// Where there are so few nodes, all are looked at.
const FEW: usize = 32;
/// Seeds have to be so many times fewer than the nodes that they spare.
const FEWER: usize = 4;

/// On what it depends whether a part comes to nothing at a node.
enum Vanishing<'a> {
    /// It does, or that is not known.
    Known(bool),
    /// It does where one of these does at the same node.
    WithOne(&'a [Id]),
    /// The same for one or two parts.
    With(Id, Id),
    /// It does where all of these do at the same node.
    WithAll(&'a [Id]),
    /// It does where the first does at the same node, and where one of the others does everywhere.
    Behind(Id, &'a [Id]),
    /// It does where the axis has no node that passes, or one of the parts vanishes everywhere.
    Without(Axis, TestId, &'a [Id], Id),
    /// It does where the base does, or the axis has no node from there, or a predicate never holds.
    Stepping(Id, Axis, TestId, &'a [Id]),
    /// It does where this does at the document node.
    AtRoot(Id),
}

fn vanishing(graph: &Graph, id: Id) -> Vanishing<'_> {
    use Vanishing::{AtRoot, Behind, Known, Stepping, With, WithAll, WithOne, Without};
    match graph.expr(id) {
        Expr::Constant(holds) => Known(!holds),
        Expr::Text(text) => Known(text.is_empty()),
        Expr::Number(bits) => Known(f64::from_bits(*bits).is_nan()),
        Expr::All(parts) => WithOne(parts),
        Expr::Any(parts) | Expr::Concat(parts) | Expr::Union(parts) => WithAll(parts),
        Expr::Has(axis, test, holds) => Without(*axis, *test, &[], *holds),
        Expr::Picked(axis, test, predicates, holds) => Without(*axis, *test, predicates, *holds),
        Expr::Step(base, axis, test, predicates) => Stepping(*base, *axis, *test, predicates),
        Expr::Filtered(base, predicates) => Behind(*base, predicates),
        Expr::In(set, holds) => Behind(*set, std::slice::from_ref(holds)),
        Expr::AtRoot(one) => AtRoot(*one),
        Expr::Compared(comparison, left, right) => {
            comparison_vanishing(graph, *comparison, *left, *right)
        }
        // An empty string contains nothing but an empty one.
        Expr::Contains(whole, part) | Expr::StartsWith(whole, part) if is_filled(graph, *part) => {
            With(*whole, *whole)
        }
        Expr::Truth(one) => match graph.expr(*one) {
            Expr::Count(inner) | Expr::Sum(inner) | Expr::Length(inner) => With(*inner, *inner),
            _ => With(*one, *one),
        },
        // The number and the string of what is false are 0 and `false`.
        Expr::AsNumber(one) | Expr::Written(one) if graph.expr(*one).kind() != Kind::Text => {
            Known(false)
        }
        Expr::StringOf(one)
        | Expr::AsNumber(one)
        | Expr::NameOf(_, one)
        | Expr::Before(one, _)
        | Expr::After(one, _)
        | Expr::Part(one, ..)
        | Expr::Normalized(one)
        | Expr::Translated(one, ..)
        | Expr::Negative(one)
        | Expr::Rounded(_, one) => With(*one, *one),
        Expr::Reckoned(_, left, right) => With(*left, *right),
        _ => Known(false),
    }
}

fn comparison_vanishing(
    graph: &Graph,
    comparison: Comparison,
    left: Id,
    right: Id,
) -> Vanishing<'_> {
    let kind = |id: Id| graph.expr(id).kind();
    match (kind(left), kind(right)) {
        (Kind::Truth, _) => Vanishing::Known(false),
        (Kind::Nodes, Kind::Nodes) => Vanishing::With(left, right),
        (Kind::Nodes, _) => Vanishing::With(left, left),
        (Kind::Number, _) => {
            let counted = fails_at_zero(graph, comparison, left, right);
            match counted.or_else(|| fails_at_zero(graph, comparison.turned(), right, left)) {
                Some(one) => Vanishing::With(one, one),
                // Nothing compares with what is no number, but for being unequal.
                None if comparison != Comparison::Unequal => Vanishing::With(left, right),
                None => Vanishing::Known(false),
            }
        }
        (Kind::Text, _) if comparison != Comparison::Equal => Vanishing::Known(false),
        (Kind::Text, _) if is_filled(graph, right) => Vanishing::With(left, left),
        (Kind::Text, _) if is_filled(graph, left) => Vanishing::With(right, right),
        (Kind::Text, _) => Vanishing::Known(false),
    }
}

/// What is counted, if a count of 0 does not compare with a number.
fn fails_at_zero(graph: &Graph, comparison: Comparison, count: Id, number: Id) -> Option<Id> {
    match (graph.expr(count), graph.expr(number)) {
        (Expr::Count(one) | Expr::Sum(one) | Expr::Length(one), Expr::Number(bits)) => {
            (!comparison.of_numbers(0.0, f64::from_bits(*bits))).then_some(*one)
        }
        _ => None,
    }
}

/// Whether a part is a string that is not empty, whatever the document.
fn is_filled(graph: &Graph, id: Id) -> bool {
    matches!(graph.expr(id), Expr::Text(text) if !text.is_empty())
}

/// Nodes of which a condition needs one: on these axes from where it is to hold.
type Needs = Vec<(Axis, Filter)>;

impl Run<'_> {
    // Barren parts.

    /// Whether a part comes to nothing at every node, for want of nodes of some name. Where it says no,
    /// that is not known.
    pub(super) fn is_barren(&mut self, id: Id) -> Answer<bool> {
        match self.memory.barren(id) {
            Some(known) => Ok(known),
            None => {
                self.spend(1)?;
                let is_barren = self.find_barren(id)?;
                self.memory.remember_barren(id, is_barren);
                Ok(is_barren)
            }
        }
    }

    fn find_barren(&mut self, id: Id) -> Answer<bool> {
        match vanishing(self.graph, id) {
            Vanishing::Known(known) => Ok(known),
            Vanishing::WithOne(parts) => self.one_is_barren(parts),
            Vanishing::With(one, other) => Ok(self.is_barren(one)? || self.is_barren(other)?),
            Vanishing::AtRoot(one) => self.is_barren(one),
            Vanishing::Behind(one, others) => {
                Ok(self.is_barren(one)? || self.one_is_barren(others)?)
            }
            Vanishing::Without(axis, test, parts, inner)
            | Vanishing::Stepping(inner, axis, test, parts) => Ok(self.is_missing(axis, test)?
                || self.is_barren(inner)?
                || self.one_is_barren(parts)?),
            Vanishing::WithAll(parts) => {
                for &part in parts {
                    if !self.is_barren(part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    fn one_is_barren(&mut self, parts: &[Id]) -> Answer<bool> {
        for &part in parts {
            if self.is_barren(part)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether no node on any axis can pass a test.
    fn is_missing(&mut self, axis: Axis, test: TestId) -> Answer<bool> {
        // On some axes libxml2 finds the nodes of entities, of which the document has the elements.
        let is_named = matches!(self.graph.test(test), Test::Name { .. });
        let is_sure = is_named || !(axis.leads_away() && self.document.tree.subset_has_nodes);
        Ok(is_sure && self.filter(test)? == Filter::Nothing)
    }

    // Seeds.

    /// Whether a condition holds at a node of the document that passes, found from its seeds; none if
    /// these are not known or too many.
    pub(super) fn has_from_seeds(
        &mut self,
        axis: Axis,
        test: TestId,
        holds: Id,
    ) -> Answer<Option<bool>> {
        let filter = self.filter(test)?;
        let most = self.how_many(filter) / FEWER;
        if most < FEW / FEWER {
            return Ok(None);
        }
        let Some(needs) = self.needs(holds)? else {
            return Ok(None);
        };
        if self.all_needed(&needs) > most {
            return Ok(None);
        }
        let mut contexts = Vec::new();
        for (axis, filter) in needs {
            self.lead_back(axis, filter, &mut contexts);
        }
        self.spend(contexts.len() as u64)?;
        contexts.sort_unstable();
        contexts.dedup();
        for node in contexts {
            let is_inside = match self.document.nodes.get(node).kind {
                NodeKind::Document => axis == Axis::DescendantOrSelf,
                kind => kind != NodeKind::Attribute,
            };
            if is_inside
                && self.memory.passes(&self.document, filter, node)
                && self.holds(holds, At::alone(node))?
            {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    /// Nodes of which one has to be there for a part not to come to nothing; none if that is not known.
    fn needs(&mut self, id: Id) -> Answer<Option<Needs>> {
        self.spend(1)?;
        match vanishing(self.graph, id) {
            Vanishing::Known(known) => Ok(known.then(Needs::new)),
            Vanishing::WithOne(parts) => {
                let mut fewest = None;
                for &part in parts {
                    let needs = self.needs(part)?;
                    fewest = self.fewer(fewest, needs);
                }
                Ok(fewest)
            }
            Vanishing::With(one, other) if one == other => self.needs(one),
            Vanishing::With(one, other) => {
                let (one, other) = (self.needs(one)?, self.needs(other)?);
                Ok(self.fewer(one, other))
            }
            Vanishing::WithAll(parts) => {
                let mut all = Needs::new();
                for &part in parts {
                    match self.needs(part)? {
                        Some(needs) => all.extend(needs),
                        None => return Ok(None),
                    }
                }
                Ok(Some(all))
            }
            Vanishing::Behind(one, _) => self.needs(one),
            Vanishing::Without(Axis::SelfNode, test, _, inner) => {
                let here = Some(vec![(Axis::SelfNode, self.filter(test)?)]);
                let needs = self.needs(inner)?;
                Ok(self.fewer(here, needs))
            }
            Vanishing::Without(axis, test, ..) => self.needs_on(axis, test),
            Vanishing::Stepping(base, axis, test, _) => match self.graph.expr(base) {
                Expr::Context => self.needs_on(axis, test),
                _ => self.needs(base),
            },
            Vanishing::AtRoot(_) => Ok(None),
        }
    }

    fn needs_on(&mut self, axis: Axis, test: TestId) -> Answer<Option<Needs>> {
        let filter = self.filter(test)?;
        let leads_back = matches!(
            axis,
            Axis::Child | Axis::Attribute | Axis::SelfNode | Axis::Parent
        );
        Ok((leads_back && filter != Filter::Any).then(|| vec![(axis, filter)]))
    }

    fn fewer(&self, one: Option<Needs>, other: Option<Needs>) -> Option<Needs> {
        match (one, other) {
            (Some(one), Some(other)) if self.all_needed(&other) < self.all_needed(&one) => {
                Some(other)
            }
            (None, other) => other,
            (one, _) => one,
        }
    }

    fn all_needed(&self, needs: &Needs) -> usize {
        needs.iter().map(|it| self.how_many(it.1)).sum()
    }

    /// Collects the nodes from which an axis leads to one that passes.
    fn lead_back(&self, axis: Axis, filter: Filter, contexts: &mut Vec<u32>) {
        let document = &self.document;
        for node in self.passing(filter) {
            match axis {
                Axis::SelfNode => contexts.push(node),
                Axis::Parent => {
                    let mut children = walk(document, Axis::Child, node);
                    while let Some(child) = children.next(document) {
                        contexts.push(child);
                    }
                }
                _ => {
                    let it = document.nodes.get(node);
                    let fits = (it.kind == NodeKind::Attribute) == (axis == Axis::Attribute);
                    if fits && node != DOCUMENT {
                        contexts.push(it.parent);
                    }
                }
            }
        }
    }
}
