//! From canonical text to syntax: recursive descent, its depth bounded.
//!
//! What this cannot take it declines, and libxml2 keeps the pattern: the axis `namespace`, names with
//! prefixes, variables, and whatever is nested deeper than [`NESTED_MAX`].

use crate::evaluator::canonical::lexer::{Token, tokens};
use crate::evaluator::syntax::{
    Arithmetic, Axis, Comparison, From, Function, Kind, Step, Syntax, Test,
};

/// Parentheses, predicates and calls inside each other; patterns may have 32, and their canonical texts
/// some parentheses more.
pub const NESTED_MAX: usize = 128;

/// Operators in a row, which make a tree as deep; patterns may have 128.
pub const CHAINED_MAX: usize = 512;

/// The expression that a text stands for.
pub fn parse(text: &str) -> Option<Syntax> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        nested: 0,
    };
    let whole = parser.expression()?;
    (parser.peek() == Token::End).then_some(whole)
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    nested: usize,
}

impl<'a> Parser<'a> {
    fn expression(&mut self) -> Option<Syntax> {
        self.nested += 1;
        if self.nested > NESTED_MAX {
            return None;
        }
        let found = self.disjunction()?;
        self.nested -= 1;
        Some(found)
    }

    // Operators, from the loosest to the tightest.

    fn disjunction(&mut self) -> Option<Syntax> {
        let first = self.conjunction()?;
        if !self.at_name("or") {
            return Some(first);
        }
        let mut parts = vec![first];
        while self.take_name("or") {
            parts.push(self.conjunction()?);
        }
        Some(Syntax::Any(parts))
    }

    fn conjunction(&mut self) -> Option<Syntax> {
        let first = self.chain(0)?;
        if !self.at_name("and") {
            return Some(first);
        }
        let mut parts = vec![first];
        while self.take_name("and") {
            parts.push(self.chain(0)?);
        }
        Some(Syntax::All(parts))
    }

    /// Operators of a level and all that bind tighter: equality, order, sums, products.
    fn chain(&mut self, level: usize) -> Option<Syntax> {
        if level > TIGHTEST {
            return self.negation();
        }
        let mut left = self.chain(level + 1)?;
        for _ in 0..CHAINED_MAX {
            let Some(operator) = self.operator(level) else {
                return Some(left);
            };
            self.at += 1;
            let right = self.chain(level + 1)?;
            let (left_side, right_side) = (Box::new(left), Box::new(right));
            left = match operator {
                Binary::Comparison(it) => Syntax::Compared(it, left_side, right_side),
                Binary::Arithmetic(it) => Syntax::Reckoned(it, left_side, right_side),
            };
        }
        None
    }

    fn operator(&self, level: usize) -> Option<Binary> {
        let (found, its_level) = operator(self.peek())?;
        (its_level == level).then_some(found)
    }

    fn negation(&mut self) -> Option<Syntax> {
        let mut signs = 0;
        while self.take("-") {
            signs += 1;
        }
        if signs > NESTED_MAX {
            return None;
        }
        let operand = self.union()?;
        Some((0..signs).fold(operand, |inner, _| Syntax::Negative(Box::new(inner))))
    }

    fn union(&mut self) -> Option<Syntax> {
        let first = self.path()?;
        if !self.looking_at("|") {
            return Some(first);
        }
        let mut parts = vec![nodes(first)?];
        while self.take("|") {
            parts.push(nodes(self.path()?)?);
        }
        Some(Syntax::Union(parts))
    }

    // Paths.

    fn path(&mut self) -> Option<Syntax> {
        if self.take("//") {
            let steps = self.steps(vec![anywhere_below()])?;
            return Some(Syntax::Path(From::Root, steps));
        }
        if self.take("/") {
            let steps = if self.begins_step() {
                self.steps(Vec::new())?
            } else {
                Vec::new()
            };
            return Some(Syntax::Path(From::Root, steps));
        }
        if self.begins_step() {
            let steps = self.steps(Vec::new())?;
            return Some(Syntax::Path(From::Context, steps));
        }
        self.filtered()
    }

    /// A primary expression with predicates and steps behind it.
    fn filtered(&mut self) -> Option<Syntax> {
        let in_parentheses = self.looking_at("(");
        let mut base = self.primary()?;
        if self.looking_at("[") {
            if in_parentheses && matches!(base, Syntax::Call(..) | Syntax::Filtered(..)) {
                // Elements with identifiers are counted as these stand, but not in parentheses.
                base = Syntax::Union(vec![nodes(base)?]);
            }
            base = Syntax::Filtered(Box::new(nodes(base)?), self.predicates()?);
        }
        let before = if self.take("//") {
            vec![anywhere_below()]
        } else if self.take("/") {
            Vec::new()
        } else {
            return Some(base);
        };
        let steps = self.steps(before)?;
        Some(Syntax::Path(From::Nodes(Box::new(nodes(base)?)), steps))
    }

    /// Steps up to the end of the path, behind those before.
    fn steps(&mut self, mut found: Vec<Step>) -> Option<Vec<Step>> {
        loop {
            found.push(self.step()?);
            if self.take("//") {
                found.push(anywhere_below());
            } else if !self.take("/") {
                return Some(found);
            }
        }
    }

    fn begins_step(&self) -> bool {
        match self.peek() {
            Token::Symbol(symbol) => matches!(symbol, "." | ".." | "@" | "*"),
            Token::Expanded(..) => true,
            Token::Name(name) => self.second() != Token::Symbol("(") || is_kind(name),
            _ => false,
        }
    }

    fn step(&mut self) -> Option<Step> {
        if self.take(".") {
            return Some(plain(Axis::SelfNode, Test::Node));
        }
        if self.take("..") {
            return Some(plain(Axis::Parent, Test::Node));
        }
        let axis = self.axis()?;
        let test = self.test(axis)?;
        let predicates = self.predicates()?;
        Some(Step {
            axis,
            test,
            predicates,
        })
    }

    fn axis(&mut self) -> Option<Axis> {
        if self.take("@") {
            return Some(Axis::Attribute);
        }
        let Token::Name(name) = self.peek() else {
            return Some(Axis::Child);
        };
        if self.second() != Token::Symbol("::") {
            return Some(Axis::Child);
        }
        self.at += 2;
        Axis::named(name)
    }

    fn test(&mut self, axis: Axis) -> Option<Test> {
        let (namespace, local) = match self.next() {
            Token::Symbol("*") => (None, None),
            Token::Expanded(namespace, local) => (namespace, local),
            Token::Name(kind) if is_kind(kind) && self.looking_at("(") => return self.kind(kind),
            Token::Name(local) => (Some(""), Some(local)),
            _ => return None,
        };
        Some(Test::Name {
            attribute: axis == Axis::Attribute,
            namespace: namespace.map(Into::into),
            local: local.map(Into::into),
        })
    }

    fn kind(&mut self, kind: &str) -> Option<Test> {
        self.expect("(")?;
        let test = match kind {
            "node" => Test::Node,
            "text" => Test::Text,
            "comment" => Test::Comment,
            _ => match self.peek() {
                Token::Literal(target) => {
                    self.at += 1;
                    Test::Instruction(Some(target.into()))
                }
                _ => Test::Instruction(None),
            },
        };
        self.expect(")")?;
        Some(test)
    }

    fn predicates(&mut self) -> Option<Vec<Syntax>> {
        let mut found = Vec::new();
        while self.take("[") {
            found.push(self.expression()?);
            self.expect("]")?;
        }
        Some(found)
    }

    // Primaries.

    fn primary(&mut self) -> Option<Syntax> {
        match self.next() {
            Token::Literal(text) => Some(Syntax::Literal(text.into())),
            Token::Number(number) => Some(Syntax::Number(number)),
            Token::Symbol("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Some(inner)
            }
            Token::Name(name) => self.call(name),
            _ => None,
        }
    }

    fn call(&mut self, name: &str) -> Option<Syntax> {
        let (function, least, most) = Function::named(name)?;
        self.expect("(")?;
        let mut arguments = Vec::new();
        if !self.take(")") {
            arguments.push(self.expression()?);
            while self.take(",") {
                arguments.push(self.expression()?);
            }
            self.expect(")")?;
        }
        if !(least..=most).contains(&arguments.len()) {
            return None;
        }
        let of_nodes = matches!(
            function,
            Function::Count
                | Function::Sum
                | Function::Name
                | Function::LocalName
                | Function::NamespaceUri
        );
        if of_nodes && arguments.iter().any(|it| it.kind() != Kind::Nodes) {
            return None;
        }
        Some(Syntax::Call(function, arguments))
    }

    // Tokens.

    fn peek(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    fn second(&self) -> Token<'a> {
        self.tokens.get(self.at + 1).copied().unwrap_or(Token::End)
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if token != Token::End {
            self.at += 1;
        }
        token
    }

    fn looking_at(&self, symbol: &'static str) -> bool {
        self.peek() == Token::Symbol(symbol)
    }

    fn take(&mut self, symbol: &'static str) -> bool {
        let there = self.looking_at(symbol);
        self.at += usize::from(there);
        there
    }

    fn at_name(&self, name: &str) -> bool {
        self.peek() == Token::Name(name)
    }

    fn take_name(&mut self, name: &str) -> bool {
        let there = self.at_name(name);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, symbol: &'static str) -> Option<()> {
        self.take(symbol).then_some(())
    }
}

enum Binary {
    Comparison(Comparison),
    Arithmetic(Arithmetic),
}

const TIGHTEST: usize = 3;

/// The operator that a token is where one may stand, and its level.
fn operator(token: Token<'_>) -> Option<(Binary, usize)> {
    let compared = |it, level| Some((Binary::Comparison(it), level));
    let reckoned = |it, level| Some((Binary::Arithmetic(it), level));
    match token {
        Token::Symbol("=") => compared(Comparison::Equal, 0),
        Token::Symbol("!=") => compared(Comparison::Unequal, 0),
        Token::Symbol("<") => compared(Comparison::Less, 1),
        Token::Symbol("<=") => compared(Comparison::AtMost, 1),
        Token::Symbol(">") => compared(Comparison::Greater, 1),
        Token::Symbol(">=") => compared(Comparison::AtLeast, 1),
        Token::Symbol("+") => reckoned(Arithmetic::Plus, 2),
        Token::Symbol("-") => reckoned(Arithmetic::Minus, 2),
        Token::Symbol("*") => reckoned(Arithmetic::Times, 3),
        Token::Name("div") => reckoned(Arithmetic::Divided, 3),
        Token::Name("mod") => reckoned(Arithmetic::Modulo, 3),
        _ => None,
    }
}

fn is_kind(name: &str) -> bool {
    matches!(name, "node" | "text" | "comment" | "processing-instruction")
}

fn nodes(found: Syntax) -> Option<Syntax> {
    (found.kind() == Kind::Nodes).then_some(found)
}

fn plain(axis: Axis, test: Test) -> Step {
    Step {
        axis,
        test,
        predicates: Vec::new(),
    }
}

/// The step that `//` stands for.
fn anywhere_below() -> Step {
    plain(Axis::DescendantOrSelf, Test::Node)
}
