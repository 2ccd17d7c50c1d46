//! Values of expressions: strings and numbers, and how they compare.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::document::tree::NONE;
use crate::evaluator::conditions::{Answer, At, Run, Stop};
use crate::evaluator::graph::{Expr, Id, NamePart, Rounding};
use crate::evaluator::nodes::{DOCUMENT, NodeKind};
use crate::evaluator::sets::Set;
use crate::evaluator::syntax::{Arithmetic, Comparison, Kind};
use crate::evaluator::text;
use crate::matching::value;

/// The namespace of `xml:lang` and `xml:id`.
pub(super) const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";

/// Steps that it takes to find the value of a node, however short.
const STEPS_PER_VALUE: u64 = 2;

type Text<'a> = Cow<'a, [u8]>;

impl<'a> Run<'a> {
    pub(super) fn kind(&self, id: Id) -> Kind {
        self.graph.expr(id).kind()
    }

    // Conditions on values.

    pub(super) fn compared(
        &mut self,
        comparison: Comparison,
        left: Id,
        right: Id,
        at: At,
    ) -> Answer<bool> {
        match (self.kind(left), self.kind(right)) {
            (Kind::Nodes, Kind::Nodes) => self.sets_compared(comparison, left, right, at),
            (Kind::Nodes, Kind::Number) => {
                let set = self.nodes(left, at)?;
                if set.is_empty() {
                    return Ok(false);
                }
                let number = self.number(right, at)?;
                for &node in set.iter() {
                    if comparison.of_numbers(self.number_of(node)?, number) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (Kind::Nodes, _) => {
                let set = self.nodes(left, at)?;
                if set.is_empty() {
                    return Ok(false);
                }
                self.check_compared(&set)?;
                let text = self.text(right, at)?;
                for &node in set.iter() {
                    let equal = *self.value_of(node)? == *text;
                    if equal == (comparison == Comparison::Equal) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (Kind::Truth, _) => {
                let (left, right) = (self.holds(left, at)?, self.holds(right, at)?);
                let number = |holds: bool| f64::from(u8::from(holds));
                Ok(comparison.of_numbers(number(left), number(right)))
            }
            (Kind::Number, _) => {
                let (left, right) = (self.number(left, at)?, self.number(right, at)?);
                Ok(comparison.of_numbers(left, right))
            }
            (Kind::Text, _) if self.is_nothing(right) => {
                Ok(self.is_empty(left, at)? == (comparison == Comparison::Equal))
            }
            (Kind::Text, _) => {
                for side in [left, right] {
                    if self.document.tree.subset_has_nodes
                        && let Expr::StringOf(set) = self.graph.expr(side)
                    {
                        let first = self.first(*set, at)?;
                        self.check_compared(first.as_slice())?;
                    }
                }
                let (left, right) = (self.text(left, at)?, self.text(right, at)?);
                self.spend_bytes(left.len().min(right.len()))?;
                Ok((left == right) == (comparison == Comparison::Equal))
            }
        }
    }

    /// Of the values that are compared for equality, libxml2 looks at the beginning first: for the
    /// document node, at that of its root element, even where declared entities have texts before it.
    fn check_compared(&self, set: &[u32]) -> Answer<()> {
        match set.first() {
            Some(&DOCUMENT) if self.document.tree.subset_has_nodes => Err(Stop::Unsure),
            _ => Ok(()),
        }
    }

    fn sets_compared(
        &mut self,
        comparison: Comparison,
        left: Id,
        right: Id,
        at: At,
    ) -> Answer<bool> {
        let one = self.nodes(left, at)?;
        if one.is_empty() {
            return Ok(false);
        }
        let other = self.nodes(right, at)?;
        if other.is_empty() {
            return Ok(false);
        }
        if comparison.is_equality() {
            self.check_compared(&one)?;
            self.check_compared(&other)?;
        }
        match comparison {
            Comparison::Equal if one.len() <= other.len() => self.share_value(&one, right, &other),
            Comparison::Equal => self.share_value(&other, left, &one),
            Comparison::Unequal => {
                let first = self.value_of(one[0])?;
                for &node in one.iter().chain(other.iter()) {
                    if self.value_of(node)? != first {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => {
                // The most favourable pair decides.
                let (low, high) = (self.extremes(left, &one)?, self.extremes(right, &other)?);
                let upwards = matches!(comparison, Comparison::Less | Comparison::AtMost);
                Ok(match (low, high) {
                    (Some(left), Some(right)) if upwards => comparison.of_numbers(left.0, right.1),
                    (Some(left), Some(right)) => comparison.of_numbers(left.1, right.0),
                    _ => false,
                })
            }
        }
    }

    /// Whether few nodes have a value of many, which a part is.
    fn share_value(&mut self, few: &[u32], part: Id, many: &Set) -> Answer<bool> {
        if let Some(known) = self.has_value_of(part, many, few)? {
            return Ok(known);
        }
        if let &[only] = few {
            let value = self.value_of(only)?;
            for &node in many.iter() {
                if self.value_of(node)? == value {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let mut values = HashSet::with_hasher(self.memory.chance.clone());
        for &node in few {
            values.insert(self.value_of(node)?);
        }
        for &node in many.iter() {
            if values.contains(self.value_of(node)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn contains(&mut self, whole: Id, part: Id, at: At) -> Answer<bool> {
        let (whole, part) = (self.text(whole, at)?, self.text(part, at)?);
        self.spend_bytes(whole.len())?;
        Ok(text::contains(&whole, &part))
    }

    pub(super) fn starts_with(&mut self, whole: Id, start: Id, at: At) -> Answer<bool> {
        let (whole, start) = (self.text(whole, at)?, self.text(start, at)?);
        self.spend_bytes(start.len())?;
        Ok(whole.starts_with(&start))
    }

    pub(super) fn lang(&mut self, language: Id, at: At) -> Answer<bool> {
        let asked = self.text(language, at)?;
        let document = self.document;
        let mut node = at.node;
        while node != NONE {
            self.spend(1)?;
            let it = document.nodes.get(node);
            if it.kind == NodeKind::Element {
                for attribute in node + 1..document.first_child(node) {
                    self.spend(1)?;
                    let name = document.names.get(document.nodes.get(attribute).name);
                    if name == (XML_NAMESPACE, "lang") {
                        return Ok(text::is_language(document.value(attribute), &asked));
                    }
                }
            }
            node = it.parent;
        }
        Ok(false)
    }

    // Numbers.

    pub(super) fn number(&mut self, id: Id, at: At) -> Answer<f64> {
        let expr = self.graph.expr(id);
        match expr {
            Expr::Number(bits) => return Ok(f64::from_bits(*bits)),
            Expr::Position => return Ok(f64::from(at.position)),
            Expr::Last => return Ok(f64::from(at.size)),
            _ => self.spend(1)?,
        }
        Ok(match expr {
            Expr::Count(set) => self.count(*set, at)?,
            Expr::Sum(set) => {
                let nodes = self.nodes(*set, at)?;
                self.sum(*set, &nodes)?
            }
            Expr::AsNumber(one) if self.kind(*one) == Kind::Truth => {
                f64::from(u8::from(self.holds(*one, at)?))
            }
            Expr::AsNumber(one) => {
                let text = self.text(*one, at)?;
                self.spend_bytes(text.len())?;
                value::number(&text)
            }
            Expr::Length(one) => {
                let text = self.text(*one, at)?;
                self.spend_bytes(text.len())?;
                text::length(&text) as f64
            }
            Expr::Reckoned(operator, left, right) => {
                let (left, right) = (self.number(*left, at)?, self.number(*right, at)?);
                reckoned(*operator, left, right)
            }
            Expr::Negative(one) => -self.number(*one, at)?,
            Expr::Rounded(rounding, one) => {
                let number = self.number(*one, at)?;
                match rounding {
                    Rounding::Down => number.floor(),
                    Rounding::Up => number.ceil(),
                    Rounding::Nearest => text::rounded(number),
                }
            }
            _ => f64::NAN,
        })
    }

    /// How many nodes a set has; of one step from here they are not collected.
    fn count(&mut self, set: Id, at: At) -> Answer<f64> {
        let Expr::Step(base, axis, test, predicates) = self.graph.expr(set) else {
            return Ok(self.nodes(set, at)?.len() as f64);
        };
        let is_plain = !predicates
            .iter()
            .any(|&it| self.graph.entry(it).is_positional);
        if !is_plain || *self.graph.expr(*base) != Expr::Context {
            return Ok(self.nodes(set, at)?.len() as f64);
        }
        let mut way = self.way(*axis, *test, at.node)?;
        let mut count = 0u64;
        while let Some(node) = self.next(&mut way)? {
            count += u64::from(self.all_hold(predicates, node)?);
        }
        Ok(count as f64)
    }

    pub(super) fn all_hold(&mut self, predicates: &[Id], node: u32) -> Answer<bool> {
        for &predicate in predicates {
            if !self.holds(predicate, At::alone(node))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    // Strings.

    /// Whether a part is the empty string, whatever the document.
    fn is_nothing(&self, id: Id) -> bool {
        matches!(self.graph.expr(id), Expr::Text(text) if text.is_empty())
    }

    /// Whether a string is empty, which may be known before it is made.
    pub(super) fn is_empty(&mut self, id: Id, at: At) -> Answer<bool> {
        match self.graph.expr(id) {
            Expr::Normalized(one) => Ok(text::has_only_blanks(&self.text(*one, at)?)),
            _ => Ok(self.text(id, at)?.is_empty()),
        }
    }

    pub(super) fn text(&mut self, id: Id, at: At) -> Answer<Text<'a>> {
        let expr = self.graph.expr(id);
        if let Expr::Text(text) = expr {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        self.spend(1)?;
        Ok(match expr {
            Expr::StringOf(set) => match self.first(*set, at)? {
                Some(node) => Cow::Borrowed(self.value_of(node)?),
                None => Cow::Borrowed(b""),
            },
            Expr::NameOf(part, set) => match self.first(*set, at)? {
                Some(node) => self.name(*part, node),
                None => Cow::Borrowed(b""),
            },
            Expr::Written(one) if self.kind(*one) == Kind::Truth => {
                let holds = self.holds(*one, at)?;
                Cow::Borrowed(if holds { &b"true"[..] } else { b"false" })
            }
            Expr::Written(one) => Cow::Owned(text::written(self.number(*one, at)?).into_bytes()),
            Expr::Concat(parts) => {
                let mut whole = Vec::new();
                for &part in parts {
                    let part = self.text(part, at)?;
                    self.spend_bytes(part.len())?;
                    whole.extend_from_slice(&part);
                }
                Cow::Owned(whole)
            }
            _ => {
                let text = self.cut_text(expr, at)?;
                self.spend_bytes(text.len())?;
                text
            }
        })
    }

    /// The functions that make a string of another.
    fn cut_text(&mut self, expr: &'a Expr, at: At) -> Answer<Text<'a>> {
        let (Expr::Before(one, _)
        | Expr::After(one, _)
        | Expr::Part(one, ..)
        | Expr::Normalized(one)
        | Expr::Translated(one, ..)) = expr
        else {
            return Ok(Cow::Borrowed(b""));
        };
        let whole = self.text(*one, at)?;
        self.spend_bytes(whole.len())?;
        Ok(match expr {
            Expr::Before(_, mark) => text::before(whole, &self.text(*mark, at)?),
            Expr::After(_, mark) => text::after(whole, &self.text(*mark, at)?),
            Expr::Part(_, from, length) => {
                let from = self.number(*from, at)?;
                let length = match length {
                    Some(length) => Some(self.number(*length, at)?),
                    None => None,
                };
                text::part(whole, from, length)
            }
            Expr::Translated(_, letters, others) => {
                let (letters, others) = (self.text(*letters, at)?, self.text(*others, at)?);
                self.spend_bytes(letters.len() * 8 + others.len() * 8 + whole.len() * 8)?;
                Cow::Owned(text::translated(&whole, &letters, &others))
            }
            _ => text::normalized(whole),
        })
    }

    /// The string-value of a node. libxml2 counts declarations to that of the document node.
    pub(super) fn value_of(&mut self, node: u32) -> Answer<&'a [u8]> {
        let document = self.document;
        if node == DOCUMENT && document.nodes.text_of_document(document.tree).is_none() {
            return Err(Stop::Unsure);
        }
        let value = document.value(node);
        self.spend(STEPS_PER_VALUE)?;
        self.spend_bytes(value.len())?;
        Ok(value)
    }

    pub(super) fn number_of(&mut self, node: u32) -> Answer<f64> {
        Ok(value::number(self.value_of(node)?))
    }

    fn name(&self, part: NamePart, node: u32) -> Text<'a> {
        let document = self.document;
        let it = document.nodes.get(node);
        match it.kind {
            NodeKind::Element | NodeKind::Attribute => {}
            NodeKind::Instruction if part != NamePart::Namespace => {
                return Cow::Borrowed(document.target(it));
            }
            _ => return Cow::Borrowed(b""),
        }
        let (namespace, local) = document.names.get(it.name);
        let prefix = document.prefix(it);
        match part {
            NamePart::Local => Cow::Borrowed(local.as_bytes()),
            NamePart::Namespace => Cow::Borrowed(namespace.as_bytes()),
            NamePart::Whole if prefix.is_empty() => Cow::Borrowed(local.as_bytes()),
            NamePart::Whole => Cow::Owned(format!("{prefix}:{local}").into_bytes()),
        }
    }
}

fn reckoned(operator: Arithmetic, left: f64, right: f64) -> f64 {
    match operator {
        Arithmetic::Plus => left + right,
        Arithmetic::Minus => left - right,
        Arithmetic::Times => left * right,
        Arithmetic::Divided => left / right,
        Arithmetic::Modulo => left % right,
    }
}
