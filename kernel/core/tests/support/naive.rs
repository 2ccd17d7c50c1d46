//! What a condition means, as directly as it can be said: no index, no sharing, no short cuts.

use twigcast_kernel_core::pattern::{Condition, Constant, Kind, Label, Operator, Step, Test};

use super::documents::Document;

/// Whether a document satisfies a condition on its document node.
pub fn satisfied(document: &Document, condition: &Condition) -> bool {
    holds(document, 0, condition)
}

/// Whether a condition asks somewhere for the value of the document node, which the index refuses.
pub fn asks_document_value(condition: &Condition, at_document: bool) -> bool {
    match condition {
        Condition::Value(_) => at_document,
        Condition::SelfIs(_) => false,
        Condition::Exists(step) => asks_document_value(&step.then, false),
        Condition::First(steps, _) => {
            let asked = |step: &Step| asks_document_value(&step.then, false);
            at_document && steps.is_empty() || steps.iter().any(asked)
        }
        Condition::All(parts) | Condition::Any(parts) => parts
            .iter()
            .any(|part| asks_document_value(part, at_document)),
        Condition::Not(part) => asks_document_value(part, at_document),
        Condition::AtDocument(part) => asks_document_value(part, true),
    }
}

fn holds(document: &Document, node: usize, condition: &Condition) -> bool {
    match condition {
        Condition::Exists(step) => !step_from(document, node, step).is_empty(),
        Condition::SelfIs(label) => has_label(document, node, label),
        Condition::Value(test) => passes(&document.nodes[node].value, test),
        Condition::First(steps, test) => {
            let mut reached = vec![node];
            for step in steps {
                reached = reached
                    .iter()
                    .flat_map(|&it| step_from(document, it, step))
                    .collect();
            }
            let first = reached.into_iter().min();
            first.is_some_and(|it| passes(&document.nodes[it].value, test))
        }
        Condition::All(parts) => parts.iter().all(|part| holds(document, node, part)),
        Condition::Any(parts) => parts.iter().any(|part| holds(document, node, part)),
        Condition::Not(part) => !holds(document, node, part),
        Condition::AtDocument(part) => holds(document, 0, part),
    }
}

/// The nodes that a step leads to, in document order.
fn step_from(document: &Document, node: usize, step: &Step) -> Vec<usize> {
    let mut below = Vec::new();
    gather(document, node, step.far, &mut below);
    below.retain(|&it| has_label(document, it, &step.label) && holds(document, it, &step.then));
    below
}

fn gather(document: &Document, node: usize, far: bool, below: &mut Vec<usize>) {
    for &child in &document.nodes[node].children {
        below.push(child);
        if far {
            gather(document, child, far, below);
        }
    }
}

fn has_label(document: &Document, node: usize, label: &Label) -> bool {
    let node = &document.nodes[node];
    let same = |wanted: &Option<Box<str>>, given: &str| {
        wanted.as_ref().is_none_or(|wanted| **wanted == *given)
    };
    node.kind == Some(label.kind)
        && (label.kind == Kind::Text
            || same(&label.namespace, &node.namespace) && same(&label.local, &node.local))
}

fn passes(value: &str, test: &Test) -> bool {
    let (text, constant) = match &test.constant {
        Constant::Text(text) => (Some(&**text), number(text)),
        Constant::Number(number) => (None, *number),
    };
    match (test.operator, text) {
        (Operator::Equal, Some(text)) => value == text,
        (Operator::Equal, None) => number(value) == constant,
        (Operator::Unequal, Some(text)) => value != text,
        (Operator::Unequal, None) => number(value) != constant,
        (Operator::Less, _) => number(value) < constant,
        (Operator::AtMost, _) => number(value) <= constant,
        (Operator::Greater, _) => number(value) > constant,
        (Operator::AtLeast, _) => number(value) >= constant,
        (Operator::Contains, text) => value.contains(text.unwrap_or("")),
        (Operator::StartsWith, text) => value.starts_with(text.unwrap_or("")),
    }
}

/// The number a short string stands for: blanks around a minus, digits with a point among them, and an
/// exponent, which need not have digits.
fn number(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, ""));
    let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let plain = unsigned
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !plain || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return f64::NAN;
    }
    let power: f64 = if digits.is_empty() {
        0.0
    } else {
        digits.parse().unwrap_or(f64::NAN)
    };
    let power = if exponent.starts_with('-') {
        -power
    } else {
        power
    };
    mantissa.parse().unwrap_or(f64::NAN) * 10f64.powf(power)
}
