//! Expressions of XPath 1.0 as they are read, before anything is made of them.

/// The axes. On `namespace` it is only known whether there are nodes at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // they are called as XPath calls them
pub enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    SelfNode,
}

impl Axis {
    /// The axis of this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ancestor" => Axis::Ancestor,
            "ancestor-or-self" => Axis::AncestorOrSelf,
            "attribute" => Axis::Attribute,
            "child" => Axis::Child,
            "descendant" => Axis::Descendant,
            "descendant-or-self" => Axis::DescendantOrSelf,
            "following" => Axis::Following,
            "following-sibling" => Axis::FollowingSibling,
            "namespace" => Axis::Namespace,
            "parent" => Axis::Parent,
            "preceding" => Axis::Preceding,
            "preceding-sibling" => Axis::PrecedingSibling,
            "self" => Axis::SelfNode,
            _ => return None,
        })
    }

    /// Whether libxml2 comes by the entities of an internal subset on it.
    pub fn leads_away(self) -> bool {
        matches!(self, Axis::Following | Axis::Preceding)
    }

    /// Whether nodes on it are counted against document order.
    pub fn is_backward(self) -> bool {
        matches!(
            self,
            Axis::Ancestor | Axis::AncestorOrSelf | Axis::Preceding | Axis::PrecedingSibling
        )
    }
}

/// What a step asks of a node itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// An element, or on the axis `attribute` an attribute, with this namespace and this local name;
    /// `None` means any, an empty namespace none.
    Name {
        /// Whether attributes are meant.
        attribute: bool,
        /// The namespace.
        namespace: Option<Box<str>>,
        /// The local name.
        local: Option<Box<str>>,
    },
    /// Any node.
    Node,
    /// A text node.
    Text,
    /// A comment.
    Comment,
    /// A processing instruction, perhaps with this target.
    Instruction(Option<Box<str>>),
}

/// The functions of XPath 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // they are called as XPath calls them
pub enum Function {
    Last,
    Position,
    Count,
    Id,
    LocalName,
    NamespaceUri,
    Name,
    String,
    Concat,
    StartsWith,
    Contains,
    SubstringBefore,
    SubstringAfter,
    Substring,
    StringLength,
    NormalizeSpace,
    Translate,
    Boolean,
    Not,
    True,
    False,
    Lang,
    Number,
    Sum,
    Floor,
    Ceiling,
    Round,
}

impl Function {
    /// The function of this name, and how many arguments it takes, from and to.
    pub fn named(name: &str) -> Option<(Self, usize, usize)> {
        Some(match name {
            "last" => (Function::Last, 0, 0),
            "position" => (Function::Position, 0, 0),
            "count" => (Function::Count, 1, 1),
            "id" => (Function::Id, 1, 1),
            "local-name" => (Function::LocalName, 0, 1),
            "namespace-uri" => (Function::NamespaceUri, 0, 1),
            "name" => (Function::Name, 0, 1),
            "string" => (Function::String, 0, 1),
            "concat" => (Function::Concat, 2, usize::MAX),
            "starts-with" => (Function::StartsWith, 2, 2),
            "contains" => (Function::Contains, 2, 2),
            "substring-before" => (Function::SubstringBefore, 2, 2),
            "substring-after" => (Function::SubstringAfter, 2, 2),
            "substring" => (Function::Substring, 2, 3),
            "string-length" => (Function::StringLength, 0, 1),
            "normalize-space" => (Function::NormalizeSpace, 0, 1),
            "translate" => (Function::Translate, 3, 3),
            "boolean" => (Function::Boolean, 1, 1),
            "not" => (Function::Not, 1, 1),
            "true" => (Function::True, 0, 0),
            "false" => (Function::False, 0, 0),
            "lang" => (Function::Lang, 1, 1),
            "number" => (Function::Number, 0, 1),
            "sum" => (Function::Sum, 1, 1),
            "floor" => (Function::Floor, 1, 1),
            "ceiling" => (Function::Ceiling, 1, 1),
            "round" => (Function::Round, 1, 1),
            _ => return None,
        })
    }

    fn result(self) -> Kind {
        match self {
            Function::Id => Kind::Nodes,
            Function::LocalName
            | Function::NamespaceUri
            | Function::Name
            | Function::String
            | Function::Concat
            | Function::SubstringBefore
            | Function::SubstringAfter
            | Function::Substring
            | Function::NormalizeSpace
            | Function::Translate => Kind::Text,
            Function::StartsWith
            | Function::Contains
            | Function::Boolean
            | Function::Not
            | Function::True
            | Function::False
            | Function::Lang => Kind::Truth,
            _ => Kind::Number,
        }
    }
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparison {
    /// The comparison that says the same of the two sides the other way round.
    pub fn turned(self) -> Self {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::AtMost => Comparison::AtLeast,
            Comparison::Greater => Comparison::Less,
            Comparison::AtLeast => Comparison::AtMost,
            same => same,
        }
    }

    /// Whether it asks for equality, which strings have as well as numbers.
    pub fn is_equality(self) -> bool {
        matches!(self, Comparison::Equal | Comparison::Unequal)
    }

    /// What it says of two numbers.
    pub fn of_numbers(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::Unequal => left != right,
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Greater => left > right,
            Comparison::AtLeast => left >= right,
        }
    }
}

/// Arithmetic between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Arithmetic {
    Plus,
    Minus,
    Times,
    Divided,
    Modulo,
}

/// The four types of XPath 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Nodes,
    Text,
    Number,
    Truth,
}

/// Where a path begins.
#[derive(Clone, Debug, PartialEq)]
pub enum From {
    /// The document node.
    Root,
    /// The context node.
    Context,
    /// The nodes of another expression.
    Nodes(Box<Syntax>),
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Where it looks.
    pub axis: Axis,
    /// For which nodes.
    pub test: Test,
    /// With which predicates.
    pub predicates: Vec<Syntax>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Syntax {
    /// A string in quotes.
    Literal(Box<str>),
    /// A number.
    Number(f64),
    /// Minus an expression.
    Negative(Box<Syntax>),
    /// Operands joined by `or`.
    Any(Vec<Syntax>),
    /// Operands joined by `and`.
    All(Vec<Syntax>),
    /// Two values compared.
    Compared(Comparison, Box<Syntax>, Box<Syntax>),
    /// Two numbers reckoned with.
    Reckoned(Arithmetic, Box<Syntax>, Box<Syntax>),
    /// A call of a function.
    Call(Function, Vec<Syntax>),
    /// A path.
    Path(From, Vec<Step>),
    /// Nodes with predicates: `(a | b)[1]`.
    Filtered(Box<Syntax>, Vec<Syntax>),
    /// Node-sets joined by `|`.
    Union(Vec<Syntax>),
}

impl Syntax {
    /// The type that it has on every document.
    pub fn kind(&self) -> Kind {
        match self {
            Syntax::Literal(_) => Kind::Text,
            Syntax::Number(_) | Syntax::Negative(_) | Syntax::Reckoned(..) => Kind::Number,
            Syntax::Any(_) | Syntax::All(_) | Syntax::Compared(..) => Kind::Truth,
            Syntax::Call(function, _) => function.result(),
            Syntax::Path(..) | Syntax::Filtered(..) | Syntax::Union(_) => Kind::Nodes,
        }
    }
}
