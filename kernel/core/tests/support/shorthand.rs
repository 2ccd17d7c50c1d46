//! Short ways to write conditions in tests.

use twigcast_kernel_core::pattern::{Condition, Constant, Kind, Label, Operator, Step, Test};

/// An element in no namespace; `*` is any element whatsoever.
pub fn element(name: &str) -> Label {
    label(Kind::Element, name)
}

/// An attribute in no namespace; `*` is any attribute whatsoever.
pub fn attribute(name: &str) -> Label {
    label(Kind::Attribute, name)
}

/// Any text.
pub fn text() -> Label {
    label(Kind::Text, "*")
}

fn label(kind: Kind, name: &str) -> Label {
    let named = name != "*";
    Label {
        kind,
        namespace: named.then(|| "".into()),
        local: named.then(|| name.into()),
    }
}

/// `/label[then]`
pub fn child(label: Label, then: Condition) -> Condition {
    Condition::Exists(Box::new(Step {
        far: false,
        label,
        then,
    }))
}

/// `//label[then]`
pub fn below(label: Label, then: Condition) -> Condition {
    Condition::Exists(Box::new(Step {
        far: true,
        label,
        then,
    }))
}

/// Both.
pub fn both(one: Condition, other: Condition) -> Condition {
    Condition::All(vec![one, other])
}

/// What always holds.
pub fn always() -> Condition {
    Condition::All(Vec::new())
}

/// What never holds.
pub fn never() -> Condition {
    Condition::Any(Vec::new())
}

/// The condition does not hold.
pub fn not(part: Condition) -> Condition {
    Condition::Not(Box::new(part))
}

/// The value compares with a number.
pub fn number(operator: Operator, constant: f64) -> Condition {
    Condition::Value(Test {
        operator,
        constant: Constant::Number(constant),
    })
}

/// The value compares with a string.
pub fn string(operator: Operator, constant: &str) -> Condition {
    Condition::Value(Test {
        operator,
        constant: Constant::Text(constant.into()),
    })
}
