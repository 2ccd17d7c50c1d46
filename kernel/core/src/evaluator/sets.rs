//! Sets of nodes: those that paths lead to, each axis followed in linear time from all nodes at once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::evaluator::axes::reverse::Marks;
use crate::evaluator::axes::walk;
use crate::evaluator::conditions::{Answer, At, Run, Stop};
use crate::evaluator::graph::{Expr, Id, TestId};
use crate::evaluator::memory::Filter;
use crate::evaluator::nodes::{DOCUMENT, NodeKind};
use crate::evaluator::scalars::XML_NAMESPACE;
use crate::evaluator::syntax::{Axis, Kind};
use crate::evaluator::text;
use crate::sys::seeded_hash::Chance;

/// Where a step leads to in fewer steps than this is not remembered.
const STEPS_WORTH_KEEPING: u64 = 16;

/// Nodes in document order, each once.
pub(super) type Set = Arc<Vec<u32>>;

/// Nodes that were found several times are put together once there are so many times as many as nodes of
/// the document.
const DOUBLES_MAX: usize = 4;

impl Run<'_> {
    /// The first node of a set in document order.
    pub(super) fn first(&mut self, set: Id, at: At) -> Answer<Option<u32>> {
        match self.graph.expr(set) {
            Expr::Context => Ok(Some(at.node)),
            Expr::Step(base, axis, test, predicates)
                if !axis.is_backward() && *self.graph.expr(*base) == Expr::Context =>
            {
                self.first_of_step(*axis, *test, predicates, at.node)
            }
            _ => Ok(self.nodes(set, at)?.first().copied()),
        }
    }

    fn first_of_step(
        &mut self,
        axis: Axis,
        test: TestId,
        predicates: &[Id],
        node: u32,
    ) -> Answer<Option<u32>> {
        if predicates
            .iter()
            .any(|&it| self.graph.entry(it).is_positional)
        {
            let picked = self.picked(axis, test, predicates, node)?;
            return Ok(picked.first().copied());
        }
        let mut way = self.way(axis, test, node)?;
        while let Some(found) = self.next(&mut way)? {
            if self.all_hold(predicates, found)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The nodes of a set in document order.
    pub(super) fn nodes(&mut self, id: Id, at: At) -> Answer<Set> {
        let is_local = self.graph.entry(id).is_local;
        if !is_local && let Some(known) = self.memory.sets.get(&id) {
            return Ok(Arc::clone(known));
        }
        self.spend(1)?;
        if self.is_barren(id)? {
            return Ok(Arc::default());
        }
        let set = match self.graph.expr(id) {
            Expr::Root => Arc::new(vec![DOCUMENT]),
            Expr::Context => Arc::new(vec![at.node]),
            Expr::Step(base, axis, test, predicates) => {
                let is_fresh = !is_local || *self.graph.expr(*base) == Expr::Context;
                let base = self.nodes(*base, at)?;
                if is_fresh {
                    self.stepped(&base, *axis, *test, predicates)?
                } else if let Some(known) = self.led_to(id, &base) {
                    known
                } else {
                    let before = self.steps;
                    let found = self.stepped(&base, *axis, *test, predicates)?;
                    if self.steps - before >= STEPS_WORTH_KEEPING {
                        self.remember_step(id, base, &found);
                    }
                    found
                }
            }
            Expr::Filtered(base, predicates) => {
                let mut left = match self.graph.expr(*base) {
                    // Its nodes are counted in the order of their identifiers.
                    Expr::Identified(named) => self.identified(*named, at)?,
                    _ => self.nodes(*base, at)?.to_vec(),
                };
                for &predicate in predicates {
                    left = self.left(left, predicate)?;
                }
                self.in_order(left)?
            }
            Expr::Union(parts) => {
                let mut all = Vec::new();
                for &part in parts {
                    let part = self.nodes(part, at)?;
                    self.spend(part.len() as u64)?;
                    all.extend_from_slice(&part);
                }
                self.in_order(all)?
            }
            Expr::Identified(named) => {
                let found = self.identified(*named, at)?;
                self.in_order(found)?
            }
            _ => Arc::default(),
        };
        if !is_local && self.memory.take(set.len() * size_of::<u32>()) {
            self.memory.sets.insert(id, Arc::clone(&set));
        }
        Ok(set)
    }

    /// The nodes that a step leads to from those of a set.
    fn stepped(
        &mut self,
        base: &[u32],
        axis: Axis,
        test: TestId,
        predicates: &[Id],
    ) -> Answer<Set> {
        let counts = predicates
            .iter()
            .any(|&it| self.graph.entry(it).is_positional);
        let mut found = Vec::new();
        if counts {
            let most = DOUBLES_MAX * self.document.nodes.len();
            for &node in base {
                found.extend(self.picked(axis, test, predicates, node)?);
                if found.len() > most {
                    self.spend(found.len() as u64)?;
                    found.sort_unstable();
                    found.dedup();
                }
            }
            return self.in_order(found);
        }
        self.reached(base, axis, test, &mut found)?;
        let mut left = Vec::with_capacity(found.len());
        for node in found {
            if self.all_hold(predicates, node)? {
                left.push(node);
            }
        }
        self.in_order(left)
    }

    /// The nodes of an axis from all nodes of a set, each reached once or a few times.
    fn reached(
        &mut self,
        base: &[u32],
        axis: Axis,
        test: TestId,
        found: &mut Vec<u32>,
    ) -> Answer<()> {
        let nodes = self.document.nodes;
        match axis {
            _ if base.len() == 1 => self.reached_from(base[0], axis, test, found),
            Axis::Descendant | Axis::DescendantOrSelf => {
                let mut done = 0;
                for &node in base {
                    // What is inside a node before was found from there, itself included.
                    let end = nodes.get(node).end;
                    let is_attribute = nodes.get(node).kind == NodeKind::Attribute;
                    if node >= done || is_attribute {
                        self.reached_from(node, axis, test, found)?;
                        done = done.max(end);
                    }
                }
                Ok(())
            }
            Axis::Following => {
                let anchor = |node: &u32| match nodes.get(*node) {
                    it if it.kind == NodeKind::Attribute => nodes.get(it.parent).end,
                    it => it.end,
                };
                match base.iter().copied().min_by_key(anchor) {
                    Some(node) => self.reached_from(node, axis, test, found),
                    None => Ok(()),
                }
            }
            Axis::Preceding => match base.last() {
                Some(&node) => self.reached_from(node, axis, test, found),
                None => Ok(()),
            },
            Axis::Ancestor
            | Axis::AncestorOrSelf
            | Axis::FollowingSibling
            | Axis::PrecedingSibling => self.reached_until_known(base, axis, test, found),
            _ => self.reached_nearby(base, axis, test, found),
        }
    }

    /// The same for axes that lead to few nodes from each.
    fn reached_nearby(
        &mut self,
        base: &[u32],
        axis: Axis,
        test: TestId,
        found: &mut Vec<u32>,
    ) -> Answer<()> {
        let document = self.document;
        let filter = self.filter(test)?;
        if filter == Filter::Nothing {
            return Ok(());
        }
        for &node in base {
            let mut way = walk(&document, axis, node);
            while let Some(node) = way.next(&document) {
                self.spend(1)?;
                if self.memory.passes(&document, filter, node) {
                    found.push(node);
                }
            }
        }
        Ok(())
    }

    fn reached_from(
        &mut self,
        node: u32,
        axis: Axis,
        test: TestId,
        found: &mut Vec<u32>,
    ) -> Answer<()> {
        let mut way = self.way(axis, test, node)?;
        while let Some(node) = self.next(&mut way)? {
            found.push(node);
        }
        Ok(())
    }

    /// The same for axes on which everything behind a node that was met was met as well.
    fn reached_until_known(
        &mut self,
        base: &[u32],
        axis: Axis,
        test: TestId,
        found: &mut Vec<u32>,
    ) -> Answer<()> {
        let document = self.document;
        let filter = self.filter(test)?;
        self.spend(document.nodes.len() as u64 / 64)?;
        let mut met = Marks::new(document.nodes.len());
        for &node in base {
            let mut way = walk(&document, axis, node);
            while let Some(node) = way.next(&document) {
                self.spend(1)?;
                if !met.set(node) {
                    break;
                }
                if self.memory.passes(&document, filter, node) {
                    found.push(node);
                }
            }
        }
        Ok(())
    }

    /// The elements with the identifiers asked for, in the order in which these stand.
    fn identified(&mut self, named: Id, at: At) -> Answer<Vec<u32>> {
        let tree = self.document.tree;
        // The reader takes no document with an `xml:id` in the text of an entity.
        let is_read_here = !tree.subset_has_nodes || !tree.entity_texts.is_empty();
        if !is_read_here || !tree.identifiers.is_empty() {
            return Err(Stop::Unsure);
        }
        let mut texts = Vec::new();
        if self.kind(named) == Kind::Nodes {
            for &node in self.nodes(named, at)?.iter() {
                texts.push(Cow::Borrowed(self.value_of(node)?));
            }
        } else {
            texts.push(self.text(named, at)?);
        }
        let (mut found, mut met) = (Vec::new(), FxHashSet::default());
        for text in texts {
            self.spend_bytes(text.len() * 8)?;
            for identifier in text::identifiers(&text) {
                let element = self.element_with(identifier)?;
                found.extend(element.filter(|&it| met.insert(it)));
            }
        }
        Ok(found)
    }

    fn element_with(&mut self, identifier: &[u8]) -> Answer<Option<u32>> {
        if self.memory.identified.is_none() {
            self.spend(self.document.tree.attributes.len() as u64)?;
            self.memory.identified = Some(self.identifiers());
        }
        let known = self.memory.identified.as_ref();
        Ok(known.and_then(|it| it.get(identifier)).copied())
    }

    /// The elements by their `xml:id`: no other identifiers were declared.
    fn identifiers(&self) -> HashMap<Box<[u8]>, u32, Chance> {
        let document = self.document;
        let mut found = HashMap::with_hasher(self.memory.chance.clone());
        let Some(name) = document.names.find(XML_NAMESPACE, "id") else {
            return found;
        };
        for (number, it) in document.nodes.all().iter().enumerate() {
            if it.kind == NodeKind::Attribute && it.name == name {
                let value = document.value(number as u32);
                found.entry(value.into()).or_insert(it.parent);
            }
        }
        found
    }
}
