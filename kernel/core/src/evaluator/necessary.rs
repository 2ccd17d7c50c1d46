//! What has to be in a document for an expression to hold: a condition that an index decides.
//!
//! Of all expressions only those are evaluated whose condition holds. It is there to be quick, to make
//! and to decide, and not to be tight:
//!
//! | expression | condition |
//! | --- | --- |
//! | `//a[b = c]` | `//a[b][c]` |
//! | `//a[count(b) > 2]` | `//a/b` |
//! | `//a[normalize-space(@x) = 'y z']` | `//a[contains(@x, 'y')]` |
//! | `//k/ancestor::l/t` | `//k` and `//l/t` |
//! | `//a[not(b)]` | `//a` |

use crate::evaluator::syntax::{Axis, Comparison, From, Function, Kind, Step, Syntax, Test};
use crate::pattern::{self, Condition, Constant, Label, Operator};

/// Alternatives beyond this many are not told apart by values, and beyond twice as many not at all: each
/// is registered on its own.
const ALTERNATIVES: usize = 8;

/// A condition on the document node that holds wherever an expression does.
pub fn necessary(whole: &Syntax) -> Condition {
    on_document(truth(whole))
}

/// The condition that always holds.
pub fn always() -> Condition {
    Condition::All(Vec::new())
}

fn never() -> Condition {
    Condition::Any(Vec::new())
}

fn constant(holds: bool) -> Condition {
    if holds { always() } else { never() }
}

/// A condition on the context node without which an expression is not true.
fn truth(it: &Syntax) -> Condition {
    match it {
        Syntax::Any(parts) => any(parts.iter().map(truth)),
        Syntax::All(parts) => all(parts.iter().map(truth)),
        Syntax::Compared(comparison, left, right) => compared(*comparison, left, right),
        Syntax::Call(Function::Boolean, parts) => all(parts.iter().map(truth)),
        Syntax::Call(Function::Contains | Function::StartsWith, parts) => {
            match (&parts[0], &parts[1]) {
                (subject, Syntax::Literal(needle)) if !needle.is_empty() => {
                    containing(subject, needle)
                }
                _ => always(),
            }
        }
        Syntax::Call(Function::Count | Function::Sum, parts) => nodes(&parts[0], always()),
        Syntax::Call(Function::StringLength, parts) => all(parts.iter().map(filled)),
        _ => match it.kind() {
            Kind::Nodes => nodes(it, always()),
            Kind::Text => filled(it),
            Kind::Number => numeric(it),
            Kind::Truth => always(),
        },
    }
}

fn compared(comparison: Comparison, left: &Syntax, right: &Syntax) -> Condition {
    let kinds = [left.kind(), right.kind()];
    if kinds.contains(&Kind::Truth) {
        return always();
    }
    let mut sides = vec![
        compared_side(comparison, left, right),
        compared_side(comparison.turned(), right, left),
    ];
    let is_of_numbers = !comparison.is_equality() || kinds.contains(&Kind::Number);
    if is_of_numbers && comparison != Comparison::Unequal {
        // Nothing compares with what is no number, but for being unequal.
        sides.extend([numeric(left), numeric(right)]);
    }
    all(sides)
}

/// What one side of a comparison needs.
fn compared_side(comparison: Comparison, side: &Syntax, other: &Syntax) -> Condition {
    match (side, other) {
        (_, Syntax::Literal(text)) if side.kind() == Kind::Nodes && comparison.is_equality() => {
            nodes(
                side,
                value(operator(comparison), Constant::Text(text.clone())),
            )
        }
        (_, Syntax::Number(number)) if side.kind() == Kind::Nodes => {
            let test = value(operator(comparison), Constant::Number(*number));
            nodes(side, test)
        }
        _ if side.kind() == Kind::Nodes => nodes(side, always()),
        (Syntax::Call(Function::Count | Function::Sum, parts), Syntax::Number(number))
            if !comparison.of_numbers(0.0, *number) =>
        {
            nodes(&parts[0], always())
        }
        (Syntax::Call(Function::StringLength, parts), Syntax::Number(number))
            if !comparison.of_numbers(0.0, *number) =>
        {
            all(parts.iter().map(filled))
        }
        (_, Syntax::Literal(text)) if side.kind() == Kind::Text => match comparison {
            Comparison::Equal if !text.is_empty() => containing(side, text),
            Comparison::Unequal if text.is_empty() => filled(side),
            _ => always(),
        },
        _ => always(),
    }
}

fn operator(comparison: Comparison) -> Operator {
    match comparison {
        Comparison::Equal => Operator::Equal,
        Comparison::Unequal => Operator::Unequal,
        Comparison::Less => Operator::Less,
        Comparison::AtMost => Operator::AtMost,
        Comparison::Greater => Operator::Greater,
        Comparison::AtLeast => Operator::AtLeast,
    }
}

fn value(operator: Operator, constant: Constant) -> Condition {
    Condition::Value(pattern::Test { operator, constant })
}

// Strings and numbers.

/// What is needed for the string that an expression is converted to not to be empty.
fn filled(it: &Syntax) -> Condition {
    match it {
        Syntax::Literal(text) => constant(!text.is_empty()),
        Syntax::Call(Function::Concat, parts) => any(parts.iter().map(filled)),
        Syntax::Call(function, parts) => match (function, &parts[..]) {
            (
                Function::SubstringBefore | Function::SubstringAfter,
                [subject, Syntax::Literal(mark)],
            ) if !mark.is_empty() => containing(subject, mark),
            (
                Function::String
                | Function::NormalizeSpace
                | Function::Substring
                | Function::SubstringBefore
                | Function::SubstringAfter
                | Function::Translate
                | Function::LocalName
                | Function::Name
                | Function::NamespaceUri,
                [subject, ..],
            ) => filled(subject),
            _ if it.kind() == Kind::Nodes => nodes(it, always()),
            _ => always(),
        },
        _ if it.kind() == Kind::Nodes => nodes(it, always()),
        _ => always(),
    }
}

/// What is needed for the string of an expression to contain another. Only the longest word of that
/// counts, since there may be other blanks around it.
fn containing(it: &Syntax, needle: &str) -> Condition {
    let words = needle.split([' ', '\t', '\n', '\r']);
    let Some(word) = words.max_by_key(|it| it.len()).filter(|it| !it.is_empty()) else {
        return filled(it);
    };
    match it {
        Syntax::Literal(text) => constant(text.contains(word)),
        Syntax::Call(function, parts) => match (function, &parts[..]) {
            (Function::String | Function::NormalizeSpace, []) => contains_word(word),
            (Function::String | Function::NormalizeSpace | Function::Substring, [subject, ..]) => {
                containing(subject, word)
            }
            (Function::SubstringBefore | Function::SubstringAfter, [subject, _]) => {
                all([filled(it), containing(subject, word)])
            }
            (Function::Concat, parts) => {
                let mut others = parts.iter().filter(|it| !is_blank(it));
                match (others.next(), others.next()) {
                    (Some(only), None) => containing(only, word),
                    _ => any(parts.iter().map(filled)),
                }
            }
            _ => filled(it),
        },
        _ if it.kind() == Kind::Nodes => nodes(it, contains_word(word)),
        _ => filled(it),
    }
}

fn contains_word(word: &str) -> Condition {
    value(Operator::Contains, Constant::Text(word.into()))
}

fn is_blank(it: &Syntax) -> bool {
    matches!(it, Syntax::Literal(text) if text.trim_matches([' ', '\t', '\n', '\r']).is_empty())
}

/// What is needed for an expression to be a number: an empty string is none.
fn numeric(it: &Syntax) -> Condition {
    match it {
        Syntax::Negative(operand) => numeric(operand),
        Syntax::Reckoned(_, left, right) => all([numeric(left), numeric(right)]),
        Syntax::Call(
            Function::Floor | Function::Ceiling | Function::Round | Function::Number,
            parts,
        ) => all(parts.iter().map(numeric)),
        _ if matches!(it.kind(), Kind::Text | Kind::Nodes) => filled(it),
        _ => always(),
    }
}

// Sets of nodes.

/// What is needed for a condition to hold at some node of a set.
fn nodes(it: &Syntax, then: Condition) -> Condition {
    match it {
        Syntax::Path(from, steps) => {
            let found = steps.iter().rev().fold(then, |then, it| step(it, then));
            match from {
                From::Root => at_document(found),
                From::Context => found,
                From::Nodes(base) => nodes(base, found),
            }
        }
        Syntax::Union(parts) => any(parts.iter().map(|it| nodes(it, then.clone()))),
        Syntax::Filtered(base, predicates) => nodes(base, all_of(predicates, then)),
        // Elements with identifiers are anywhere.
        _ => at_document(below(then)),
    }
}

/// What predicates and what is behind them need.
fn all_of(predicates: &[Syntax], then: Condition) -> Condition {
    let counted = predicates.iter().filter(|it| it.kind() != Kind::Number);
    all(counted.map(truth).chain([then]))
}

fn step(step: &Step, then: Condition) -> Condition {
    let inner = all_of(&step.predicates, then);
    let label = match &step.test {
        Test::Name {
            attribute,
            namespace,
            local,
        } => Some(Label {
            kind: match attribute {
                true => pattern::Kind::Attribute,
                false => pattern::Kind::Element,
            },
            namespace: namespace.clone(),
            local: local.clone(),
        }),
        Test::Text if step.axis != Axis::Attribute => Some(Label {
            kind: pattern::Kind::Text,
            namespace: None,
            local: None,
        }),
        _ => None,
    };
    match (step.axis, label) {
        (Axis::Namespace, _) => always(),
        (Axis::Child | Axis::Attribute, Some(label)) => exists(false, label, inner),
        (Axis::Descendant, Some(label)) => exists(true, label, inner),
        (Axis::SelfNode, None) => inner,
        (Axis::SelfNode, Some(label)) if label.kind == pattern::Kind::Element => {
            all([Condition::SelfIs(label), inner])
        }
        (Axis::Child | Axis::Descendant | Axis::DescendantOrSelf, None) => below(inner),
        (_, None) => at_document(below(inner)),
        // Whatever the axis, the node is somewhere in the document, or in the declaration of an entity
        // that the document uses: libxml2's axes also lead there. An element is the same in both places,
        // with all its content. A text is merged with its neighbours in the document, so nothing known of
        // its value holds there.
        (_, Some(label)) if label.kind == pattern::Kind::Text => {
            at_document(exists(true, label, below(inner)))
        }
        (_, Some(label)) => at_document(exists(true, label, inner)),
    }
}

// Conditions in a form that is quick to decide.

fn all(parts: impl IntoIterator<Item = Condition>) -> Condition {
    let mut kept: Vec<Condition> = Vec::new();
    for part in parts {
        let inner = match part {
            Condition::All(inner) => inner,
            Condition::Any(none) if none.is_empty() => return never(),
            other => vec![other],
        };
        for part in inner {
            if !kept.contains(&part) {
                kept.push(part);
            }
        }
    }
    single(kept, Condition::All)
}

fn any(parts: impl IntoIterator<Item = Condition>) -> Condition {
    let mut kept: Vec<Condition> = Vec::new();
    for part in parts {
        let inner = match part {
            Condition::Any(inner) => inner,
            Condition::All(none) if none.is_empty() => return always(),
            other => vec![other],
        };
        for part in inner {
            if !kept.contains(&part) {
                kept.push(part);
            }
        }
        if kept.len() > 2 * ALTERNATIVES {
            return always();
        }
        if kept.len() > ALTERNATIVES {
            kept.iter_mut().for_each(forget_values);
            if kept.iter().any(|it| *it == always()) {
                return always();
            }
            kept = kept.into_iter().fold(Vec::new(), |mut kept, part| {
                if !kept.contains(&part) {
                    kept.push(part);
                }
                kept
            });
        }
    }
    single(kept, Condition::Any)
}

fn single(mut parts: Vec<Condition>, many: fn(Vec<Condition>) -> Condition) -> Condition {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            parts.push(last);
            many(parts)
        }
        _ => many(parts),
    }
}

/// Weakens a condition to what it says of labels.
fn forget_values(condition: &mut Condition) {
    *condition = match std::mem::replace(condition, always()) {
        Condition::Exists(mut it) => {
            forget_values(&mut it.then);
            Condition::Exists(it)
        }
        Condition::All(mut parts) => {
            parts.iter_mut().for_each(forget_values);
            all(parts)
        }
        Condition::Any(mut parts) => {
            parts.iter_mut().for_each(forget_values);
            any(parts)
        }
        Condition::AtDocument(mut part) => {
            forget_values(&mut part);
            at_document(*part)
        }
        Condition::SelfIs(label) => Condition::SelfIs(label),
        Condition::Value(_) | Condition::First(..) | Condition::Not(_) => always(),
    };
}

/// That there is a node with a label below. What is asked of the document is asked outside, and where
/// one of several things is asked, one of several nodes is.
fn exists(far: bool, label: Label, then: Condition) -> Condition {
    let parts = match then {
        Condition::Any(parts) => {
            return any(parts
                .into_iter()
                .map(|part| exists(far, label.clone(), part)));
        }
        Condition::All(parts) => parts,
        other => vec![other],
    };
    let (outside, mut inside): (Vec<_>, Vec<_>) = parts
        .into_iter()
        .partition(|it| matches!(it, Condition::AtDocument(_)));
    let label = named(label, &mut inside);
    let then = all(inside);
    if then == never() {
        return never();
    }
    let step = pattern::Step { far, label, then };
    all(outside
        .into_iter()
        .chain([Condition::Exists(Box::new(step))]))
}

/// The label `*` with the name that a node is asked to have.
fn named(label: Label, inside: &mut Vec<Condition>) -> Label {
    if label.local.is_some() || label.namespace.is_some() {
        return label;
    }
    let name = inside
        .iter()
        .position(|it| matches!(it, Condition::SelfIs(_)));
    match name.map(|place| inside.remove(place)) {
        Some(Condition::SelfIs(name)) if name.kind == label.kind => name,
        _ => label,
    }
}

fn at_document(condition: Condition) -> Condition {
    match on_document(condition) {
        Condition::All(parts) if parts.is_empty() => always(),
        Condition::Any(parts) if parts.is_empty() => never(),
        other => Condition::AtDocument(Box::new(other)),
    }
}

/// A condition on the document node.
fn on_document(condition: Condition) -> Condition {
    match condition {
        Condition::AtDocument(inner) => *inner,
        Condition::All(parts) => all(parts.into_iter().map(on_document)),
        Condition::Any(parts) => any(parts.into_iter().map(on_document)),
        // The document node has no name.
        Condition::SelfIs(_) => never(),
        other => other,
    }
}

/// What is needed at a node for a condition to hold there or anywhere below it.
fn below(condition: Condition) -> Condition {
    match condition {
        Condition::Exists(mut it) => {
            it.far = true;
            Condition::Exists(it)
        }
        Condition::SelfIs(label) => at_document(exists(true, label, always())),
        Condition::All(parts) => all(parts.into_iter().map(below)),
        Condition::Any(parts) => any(parts.into_iter().map(below)),
        Condition::AtDocument(inner) => Condition::AtDocument(inner),
        Condition::Value(_) | Condition::First(..) | Condition::Not(_) => always(),
    }
}
