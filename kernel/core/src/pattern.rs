//! Patterns as they come in: conditions on the document node, in the words of the language room.

pub mod clause;
pub mod interner;
pub mod plan;

/// What sort of node a label is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An element.
    Element,
    /// An attribute, seen as a child of its element.
    Attribute,
    /// A text node.
    Text,
}

/// A kind of node and its name; `None` stands for any namespace or any name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// What sort of node.
    pub kind: Kind,
    /// Its namespace, `""` for none.
    pub namespace: Option<Box<str>>,
    /// Its local name.
    pub local: Option<Box<str>>,
}

/// How a value is compared with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Contains,
    StartsWith,
}

impl Operator {
    /// Whether values are compared as numbers, less or greater.
    pub fn is_order(self) -> bool {
        matches!(
            self,
            Operator::Less | Operator::AtMost | Operator::Greater | Operator::AtLeast
        )
    }

    /// Whether a part of the text is looked for.
    pub fn is_search(self) -> bool {
        matches!(self, Operator::Contains | Operator::StartsWith)
    }

    /// The operator with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        use Operator::{AtLeast, AtMost, Contains, Equal, Greater, Less, StartsWith, Unequal};
        [
            Equal, Unequal, Less, AtMost, Greater, AtLeast, Contains, StartsWith,
        ]
        .get(usize::from(number))
        .copied()
    }
}

/// What a value is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// A string.
    Text(Box<str>),
    /// A number.
    Number(f64),
}

/// A comparison of a node's string-value with a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// How they are compared.
    pub operator: Operator,
    /// With what.
    pub constant: Constant,
}

/// A step towards the nodes of which the first is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Any number of levels down, or one.
    pub far: bool,
    /// The label of the node reached.
    pub label: Label,
    /// What must hold there.
    pub then: Condition,
}

/// A condition on a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Some node below, with this label, satisfies the condition.
    Exists(Box<Step>),
    /// The node itself has this label.
    SelfIs(Label),
    /// The node's string-value passes the test.
    Value(Test),
    /// Of all nodes the steps lead to, the first in document order passes the test.
    First(Vec<Step>, Test),
    /// Every part holds.
    All(Vec<Condition>),
    /// Some part holds.
    Any(Vec<Condition>),
    /// The part does not hold.
    Not(Box<Condition>),
    /// The condition holds at the document node.
    AtDocument(Box<Condition>),
}
