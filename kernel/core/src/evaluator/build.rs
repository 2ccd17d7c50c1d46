//! From syntax to the graph, in a form that is quick to evaluate.
//!
//! | written | kept as |
//! | --- | --- |
//! | a path of which only existence is asked | conditions inside each other, each with one step |
//! | `//x` | one step `descendant::x`, unless positions are counted |
//! | `(a \| b)[c]` | branches |
//! | `p = 'text'`, `p > 5` | a condition on the last step |
//! | `count(p) > 0` | existence |
//! | a path to `namespace::*` of which only existence is asked | one to an element: each has that of `xml` |
//! | a last `[1]` or `[last()]` where existence is asked | nothing |

use crate::evaluator::graph::{
    DEPTH_MAX, Expr, FALSE, Graph, Id, NamePart, Rounding, TRUE, TestId,
};
use crate::evaluator::syntax::{Axis, Comparison, From, Function, Kind, Step, Syntax, Test};

/// Takes an expression into the graph, as what is true or false of a document. The part is held; none
/// where it would be deeper than is evaluated, or asks more of namespaces than whether there are some.
pub fn build(graph: &mut Graph, whole: &Syntax) -> Option<Id> {
    let mut builder = Builder {
        graph,
        made: Vec::new(),
        tests: Vec::new(),
        is_declined: false,
    };
    let root = builder.truth(whole);
    let Builder {
        graph,
        made,
        tests,
        is_declined,
    } = builder;
    graph.hold(root);
    // The last ones may be the only users of those before.
    made.into_iter().rev().for_each(|id| graph.sweep(id));
    tests.into_iter().for_each(|test| graph.sweep_test(test));
    if is_declined || graph.depth(root) > DEPTH_MAX {
        graph.release(root);
        return None;
    }
    Some(root)
}

struct Builder<'a> {
    graph: &'a mut Graph,
    made: Vec<Id>,
    tests: Vec<TestId>,
    /// Whether it is one for libxml2.
    is_declined: bool,
}

impl Builder<'_> {
    fn make(&mut self, expr: Expr) -> Id {
        let id = self.graph.intern(expr);
        self.made.push(id);
        id
    }

    fn test(&mut self, test: &Test) -> TestId {
        let id = self.graph.intern_test(test);
        self.tests.push(id);
        id
    }

    fn is_positional(&self, id: Id) -> bool {
        self.graph.entry(id).is_positional
    }

    // What holds or does not.

    fn truth(&mut self, it: &Syntax) -> Id {
        match it {
            Syntax::Literal(text) => constant(!text.is_empty()),
            Syntax::Number(number) => constant(*number != 0.0 && !number.is_nan()),
            Syntax::Any(parts) => {
                let parts = parts.iter().map(|it| self.truth(it)).collect();
                self.any(parts)
            }
            Syntax::All(parts) => {
                let parts = parts.iter().map(|it| self.truth(it)).collect();
                self.all(parts)
            }
            Syntax::Compared(comparison, left, right) => self.compared(*comparison, left, right),
            Syntax::Call(function, arguments) if it.kind() == Kind::Truth => {
                self.truth_call(*function, arguments)
            }
            _ if it.kind() == Kind::Nodes => self.exists(it, TRUE),
            _ if it.kind() == Kind::Text => {
                let text = self.text(it);
                self.make(Expr::Truth(text))
            }
            _ => {
                let number = self.number(it);
                self.make(Expr::Truth(number))
            }
        }
    }

    fn truth_call(&mut self, function: Function, arguments: &[Syntax]) -> Id {
        match (function, arguments) {
            (Function::True, _) => TRUE,
            (Function::Boolean, [one]) => self.truth(one),
            (Function::Not, [one]) => {
                let part = self.truth(one);
                self.not(part)
            }
            (Function::Lang, [one]) => {
                let text = self.text(one);
                self.make(Expr::Lang(text))
            }
            (Function::Contains, [one, other]) => {
                let (one, other) = (self.text(one), self.text(other));
                self.make(Expr::Contains(one, other))
            }
            (Function::StartsWith, [one, other]) => {
                let (one, other) = (self.text(one), self.text(other));
                self.make(Expr::StartsWith(one, other))
            }
            _ => FALSE,
        }
    }

    fn all(&mut self, parts: Vec<Id>) -> Id {
        let mut kept = Vec::with_capacity(parts.len());
        for part in parts {
            match self.graph.expr(part) {
                Expr::Constant(true) => {}
                Expr::Constant(false) => return FALSE,
                Expr::All(inner) => kept.extend(inner.iter().copied()),
                _ => kept.push(part),
            }
        }
        match kept[..] {
            [] => TRUE,
            [one] => one,
            _ => self.make(Expr::All(kept.into())),
        }
    }

    fn any(&mut self, parts: Vec<Id>) -> Id {
        let mut kept = Vec::with_capacity(parts.len());
        for part in parts {
            match self.graph.expr(part) {
                Expr::Constant(false) => {}
                Expr::Constant(true) => return TRUE,
                Expr::Any(inner) => kept.extend(inner.iter().copied()),
                _ => kept.push(part),
            }
        }
        match kept[..] {
            [] => FALSE,
            [one] => one,
            _ => self.make(Expr::Any(kept.into())),
        }
    }

    fn not(&mut self, part: Id) -> Id {
        match self.graph.expr(part) {
            Expr::Constant(known) => constant(!known),
            Expr::Not(inner) => *inner,
            _ => self.make(Expr::Not(part)),
        }
    }

    fn at_root(&mut self, part: Id) -> Id {
        match self.graph.entry(part) {
            entry if !entry.is_local => part,
            _ => self.make(Expr::AtRoot(part)),
        }
    }

    /// Whether some node of a set is one at which a part holds.
    fn exists(&mut self, nodes: &Syntax, holds: Id) -> Id {
        match nodes {
            Syntax::Path(from, steps) => {
                let holds = self.exists_behind(&direct(&without_last_picks(steps, holds)), holds);
                match from {
                    From::Root => self.at_root(holds),
                    From::Context => holds,
                    From::Nodes(base) => self.exists(base, holds),
                }
            }
            Syntax::Union(parts) => {
                let parts = parts.iter().map(|it| self.exists(it, holds)).collect();
                self.any(parts)
            }
            Syntax::Filtered(base, predicates) => {
                let predicates = self.predicates(wanted(predicates, holds));
                if predicates.iter().any(|&it| self.is_positional(it)) {
                    let base = self.nodes(base);
                    let set = self.make(Expr::Filtered(base, predicates.into()));
                    return self.make(Expr::In(set, holds));
                }
                let holds = self.all([&predicates[..], &[holds]].concat());
                self.exists(base, holds)
            }
            _ => {
                let set = self.nodes(nodes);
                self.make(Expr::In(set, holds))
            }
        }
    }

    /// Whether steps lead from the context node to one at which a part holds.
    fn exists_behind(&mut self, steps: &[Step], mut holds: Id) -> Id {
        for step in steps.iter().rev() {
            if holds == FALSE {
                return FALSE;
            }
            if step.axis == Axis::Namespace {
                holds = self.has_namespaces(step, holds);
                continue;
            }
            let predicates = self.predicates(&step.predicates);
            let is_plain = !predicates.iter().any(|&it| self.is_positional(it));
            if is_plain && step.axis == Axis::SelfNode && step.test == Test::Node {
                holds = self.all([&predicates[..], &[holds]].concat());
                continue;
            }
            let test = self.test(&step.test);
            holds = if is_plain {
                let inner = self.all([&predicates[..], &[holds]].concat());
                if inner == FALSE {
                    return FALSE;
                }
                self.make(Expr::Has(step.axis, test, inner))
            } else {
                self.make(Expr::Picked(step.axis, test, predicates.into(), holds))
            };
        }
        holds
    }

    /// Whether the context node has namespace nodes: every element has that of `xml`, nothing else has any.
    fn has_namespaces(&mut self, step: &Step, holds: Id) -> Id {
        let any = Test::Name {
            attribute: false,
            namespace: None,
            local: None,
        };
        let is_any = step.test == any || step.test == Test::Node;
        self.is_declined |= !is_any || !step.predicates.is_empty() || holds != TRUE;
        let test = self.test(&any);
        self.make(Expr::Has(Axis::SelfNode, test, TRUE))
    }

    fn predicates(&mut self, predicates: &[Syntax]) -> Vec<Id> {
        predicates.iter().map(|it| self.predicate(it)).collect()
    }

    /// A number as a predicate asks for a position.
    fn predicate(&mut self, it: &Syntax) -> Id {
        if it.kind() != Kind::Number {
            return self.truth(it);
        }
        let (position, number) = (self.make(Expr::Position), self.number(it));
        self.make(Expr::Compared(Comparison::Equal, position, number))
    }

    // Comparisons.

    fn compared(&mut self, comparison: Comparison, left: &Syntax, right: &Syntax) -> Id {
        if left.kind() != Kind::Nodes && right.kind() == Kind::Nodes {
            return self.compared(comparison.turned(), right, left);
        }
        if left.kind() == Kind::Nodes {
            return self.nodes_compared(comparison, left, right);
        }
        if let Some(exists) = self.counted(comparison, left, right) {
            return exists;
        }
        if let Some(exists) = self.counted(comparison.turned(), right, left) {
            return exists;
        }
        let kinds = [left.kind(), right.kind()];
        let (left, right) = if comparison.is_equality() && kinds.contains(&Kind::Truth) {
            (self.truth(left), self.truth(right))
        } else if comparison.is_equality() && !kinds.contains(&Kind::Number) {
            (self.text(left), self.text(right))
        } else {
            (self.number(left), self.number(right))
        };
        self.make(Expr::Compared(comparison, left, right))
    }

    /// A set compared with another value.
    fn nodes_compared(&mut self, comparison: Comparison, nodes: &Syntax, other: &Syntax) -> Id {
        match other.kind() {
            Kind::Truth => {
                let (left, right) = (self.truth(nodes), self.truth(other));
                self.make(Expr::Compared(comparison, left, right))
            }
            Kind::Nodes => {
                let (left, right) = (self.nodes(nodes), self.nodes(other));
                self.make(Expr::Compared(comparison, left, right))
            }
            _ if matches!(other, Syntax::Literal(_) | Syntax::Number(_)) => {
                let here = self.make(Expr::Context);
                let value = self.make(Expr::StringOf(here));
                let as_text = matches!(other, Syntax::Literal(_)) && comparison.is_equality();
                let (value, other) = if as_text {
                    (value, self.text(other))
                } else {
                    (self.make(Expr::AsNumber(value)), self.number(other))
                };
                let test = self.make(Expr::Compared(comparison, value, other));
                self.exists(nodes, test)
            }
            kind => {
                let set = self.nodes(nodes);
                let value = if kind == Kind::Text && comparison.is_equality() {
                    self.text(other)
                } else {
                    self.number(other)
                };
                self.make(Expr::Compared(comparison, set, value))
            }
        }
    }

    /// A count compared with 0 or 1, where that asks for existence.
    fn counted(&mut self, comparison: Comparison, left: &Syntax, right: &Syntax) -> Option<Id> {
        let (Syntax::Call(Function::Count, counted), Syntax::Number(number)) = (left, right) else {
            return None;
        };
        let is_there = match comparison {
            Comparison::Greater | Comparison::Unequal if *number == 0.0 => true,
            Comparison::AtLeast if *number == 1.0 => true,
            Comparison::Equal | Comparison::AtMost if *number == 0.0 => false,
            Comparison::Less if *number == 1.0 => false,
            _ => return None,
        };
        let exists = self.exists(&counted[0], TRUE);
        Some(if is_there { exists } else { self.not(exists) })
    }

    // Numbers.

    fn number(&mut self, it: &Syntax) -> Id {
        match it {
            Syntax::Number(number) => self.make(Expr::Number(number.to_bits())),
            Syntax::Negative(inner) => {
                let inner = self.number(inner);
                self.make(Expr::Negative(inner))
            }
            Syntax::Reckoned(operator, left, right) => {
                let (left, right) = (self.number(left), self.number(right));
                self.make(Expr::Reckoned(*operator, left, right))
            }
            Syntax::Call(function, arguments) if it.kind() == Kind::Number => {
                self.number_call(*function, arguments)
            }
            _ => {
                let inner = if it.kind() == Kind::Truth {
                    self.truth(it)
                } else {
                    self.text(it)
                };
                self.make(Expr::AsNumber(inner))
            }
        }
    }

    fn number_call(&mut self, function: Function, arguments: &[Syntax]) -> Id {
        let expr = match (function, arguments) {
            (Function::Position, _) => Expr::Position,
            (Function::Last, _) => Expr::Last,
            (Function::Count, [one]) => Expr::Count(self.nodes(one)),
            (Function::Sum, [one]) => Expr::Sum(self.nodes(one)),
            (Function::Number, [one]) => return self.number(one),
            (Function::StringLength, _) => Expr::Length(self.text_or_context(arguments)),
            (Function::Floor, [one]) => Expr::Rounded(Rounding::Down, self.number(one)),
            (Function::Ceiling, [one]) => Expr::Rounded(Rounding::Up, self.number(one)),
            (Function::Round, [one]) => Expr::Rounded(Rounding::Nearest, self.number(one)),
            _ => Expr::AsNumber(self.text_or_context(arguments)),
        };
        self.make(expr)
    }

    // Strings.

    fn text(&mut self, it: &Syntax) -> Id {
        match it.kind() {
            Kind::Nodes => {
                let set = self.nodes(it);
                self.make(Expr::StringOf(set))
            }
            Kind::Number => {
                let number = self.number(it);
                self.make(Expr::Written(number))
            }
            Kind::Truth => {
                let truth = self.truth(it);
                self.make(Expr::Written(truth))
            }
            Kind::Text => match it {
                Syntax::Literal(text) => self.make(Expr::Text(text.clone())),
                Syntax::Call(function, arguments) => self.text_call(*function, arguments),
                _ => self.make(Expr::Text("".into())),
            },
        }
    }

    fn text_call(&mut self, function: Function, arguments: &[Syntax]) -> Id {
        let expr = match (function, arguments) {
            (Function::String, _) => return self.text_or_context(arguments),
            (Function::LocalName, _) => Expr::NameOf(NamePart::Local, self.first(arguments)),
            (Function::NamespaceUri, _) => Expr::NameOf(NamePart::Namespace, self.first(arguments)),
            (Function::Name, _) => Expr::NameOf(NamePart::Whole, self.first(arguments)),
            (Function::SubstringBefore, [one, mark]) => {
                Expr::Before(self.text(one), self.text(mark))
            }
            (Function::SubstringAfter, [one, mark]) => Expr::After(self.text(one), self.text(mark)),
            (Function::Substring, [one, from]) => {
                Expr::Part(self.text(one), self.number(from), None)
            }
            (Function::Substring, [one, from, length]) => {
                let (one, from) = (self.text(one), self.number(from));
                Expr::Part(one, from, Some(self.number(length)))
            }
            (Function::Translate, [one, letters, others]) => {
                Expr::Translated(self.text(one), self.text(letters), self.text(others))
            }
            (Function::NormalizeSpace, _) => Expr::Normalized(self.text_or_context(arguments)),
            _ => Expr::Concat(arguments.iter().map(|it| self.text(it)).collect()),
        };
        self.make(expr)
    }

    /// The only argument as a string, or the string-value of the context node.
    fn text_or_context(&mut self, arguments: &[Syntax]) -> Id {
        if let [one] = arguments {
            return self.text(one);
        }
        let here = self.make(Expr::Context);
        self.make(Expr::StringOf(here))
    }

    /// The only argument as a set, or the context node.
    fn first(&mut self, arguments: &[Syntax]) -> Id {
        match arguments {
            [one] => self.nodes(one),
            _ => self.make(Expr::Context),
        }
    }

    // Sets of nodes.

    fn nodes(&mut self, it: &Syntax) -> Id {
        match it {
            Syntax::Path(from, steps) => {
                let base = match from {
                    From::Root => self.make(Expr::Root),
                    From::Context => self.make(Expr::Context),
                    From::Nodes(base) => self.nodes(base),
                };
                let steps = direct(steps);
                let set = steps.iter().fold(base, |base, step| self.step(base, step));
                match self.graph.expr(set) {
                    // Of a path nodes are counted in document order.
                    Expr::Identified(_) => self.make(Expr::Union([set].into())),
                    _ => set,
                }
            }
            Syntax::Union(parts) => {
                let parts = parts.iter().map(|it| self.nodes(it)).collect();
                self.make(Expr::Union(parts))
            }
            Syntax::Filtered(base, predicates) => {
                let base = self.nodes(base);
                let predicates = self.predicates(predicates);
                self.make(Expr::Filtered(base, predicates.into()))
            }
            Syntax::Call(_, arguments) => {
                let named = match &arguments[0] {
                    set if set.kind() == Kind::Nodes => self.nodes(set),
                    text => self.text(text),
                };
                self.make(Expr::Identified(named))
            }
            _ => self.make(Expr::Union([].into())),
        }
    }

    fn step(&mut self, base: Id, step: &Step) -> Id {
        let is_dot = step.axis == Axis::SelfNode && step.test == Test::Node;
        if is_dot && step.predicates.is_empty() {
            return base;
        }
        self.is_declined |= step.axis == Axis::Namespace;
        let predicates = self.predicates(&step.predicates);
        let test = self.test(&step.test);
        self.make(Expr::Step(base, step.axis, test, predicates.into()))
    }
}

fn constant(holds: bool) -> Id {
    if holds { TRUE } else { FALSE }
}

/// The predicates without a last `[1]` or `[last()]`, where only existence is asked: of any nodes there
/// are some, one is the first and one the last.
fn wanted(predicates: &[Syntax], holds: Id) -> &[Syntax] {
    let mut left = predicates;
    while let (TRUE, [before @ .., last]) = (holds, left) {
        let picks_one =
            *last == Syntax::Number(1.0) || matches!(last, Syntax::Call(Function::Last, _));
        if !picks_one {
            break;
        }
        left = before;
    }
    left
}

/// The steps, the last one with only the predicates that are [`wanted`].
fn without_last_picks(steps: &[Step], holds: Id) -> Vec<Step> {
    let mut steps = steps.to_vec();
    if let Some(last) = steps.last_mut() {
        let left = wanted(&last.predicates, holds).len();
        last.predicates.truncate(left);
    }
    steps
}

/// The steps with `//x` as one step `descendant::x`, where no positions are counted.
fn direct(steps: &[Step]) -> Vec<Step> {
    let mut kept: Vec<Step> = Vec::with_capacity(steps.len());
    for step in steps {
        let is_behind_any = kept.last().is_some_and(|last| {
            last.axis == Axis::DescendantOrSelf
                && last.test == Test::Node
                && last.predicates.is_empty()
        });
        let axis = match step.axis {
            Axis::Child | Axis::Descendant => Axis::Descendant,
            Axis::DescendantOrSelf => Axis::DescendantOrSelf,
            other => other,
        };
        let joins = matches!(axis, Axis::Descendant | Axis::DescendantOrSelf);
        if is_behind_any && joins && !step.predicates.iter().any(may_count) {
            kept.pop();
            kept.push(Step {
                axis,
                ..step.clone()
            });
        } else {
            kept.push(step.clone());
        }
    }
    kept
}

/// Whether a predicate may depend on positions: it is a number, or asks for them at its own level.
fn may_count(predicate: &Syntax) -> bool {
    predicate.kind() == Kind::Number || asks_position(predicate)
}

fn asks_position(it: &Syntax) -> bool {
    match it {
        Syntax::Call(Function::Position | Function::Last, _) => true,
        Syntax::Call(_, parts) | Syntax::Any(parts) | Syntax::All(parts) | Syntax::Union(parts) => {
            parts.iter().any(asks_position)
        }
        Syntax::Compared(_, left, right) | Syntax::Reckoned(_, left, right) => {
            asks_position(left) || asks_position(right)
        }
        Syntax::Negative(one) | Syntax::Filtered(one, _) | Syntax::Path(From::Nodes(one), _) => {
            asks_position(one)
        }
        Syntax::Literal(_) | Syntax::Number(_) | Syntax::Path(..) => false,
    }
}
