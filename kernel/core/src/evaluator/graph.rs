//! Expressions as a graph without cycles, in which equal parts of all expressions are one.
//!
//! Parts are held by their number of users: what nobody uses any more is given back.

use rustc_hash::FxHashMap;

use crate::evaluator::syntax::{Arithmetic, Axis, Comparison, Kind, Test};

/// A part of the graph.
pub type Id = u32;

/// A test of a step, in the graph's list of them.
pub type TestId = u32;

/// How deep parts may stand inside each other: an evaluation recurses so deep.
pub const DEPTH_MAX: u32 = 600;

/// The part that always holds; it is always there.
pub const TRUE: Id = 0;
/// The part that never holds.
pub const FALSE: Id = 1;

/// Which part of a node's name is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum NamePart {
    Local,
    Namespace,
    Whole,
}

/// How a number is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Rounding {
    Down,
    Up,
    Nearest,
}

/// A part of an expression, whose own parts are in the graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    // What holds or does not.
    /// Always, or never.
    Constant(bool),
    /// All of the parts hold.
    All(Box<[Id]>),
    /// One of the parts holds.
    Any(Box<[Id]>),
    /// The part does not hold.
    Not(Id),
    /// It holds at the document node.
    AtRoot(Id),
    /// It holds at some node of the axis.
    Has(Axis, TestId, Id),
    /// It holds at some node of the axis that predicates leave which count positions.
    Picked(Axis, TestId, Box<[Id]>, Id),
    /// It holds at some node of a set.
    In(Id, Id),
    /// Two values compare.
    Compared(Comparison, Id, Id),
    /// A string contains another.
    Contains(Id, Id),
    /// A string begins with another.
    StartsWith(Id, Id),
    /// The string-value of the context, taken as words, has one of these.
    Lang(Id),
    /// A number is neither 0 nor NaN, or a string is not empty.
    Truth(Id),

    // Numbers.
    /// A number, as bits.
    Number(u64),
    /// The position of the context node.
    Position,
    /// The number of nodes that it is one of.
    Last,
    /// How many nodes a set has.
    Count(Id),
    /// The sum of their numbers.
    Sum(Id),
    /// A string as a number, or a truth.
    AsNumber(Id),
    /// How many characters a string has.
    Length(Id),
    /// Arithmetic.
    Reckoned(Arithmetic, Id, Id),
    /// A number with the other sign.
    Negative(Id),
    /// A number without its fraction.
    Rounded(Rounding, Id),

    // Strings.
    /// A string.
    Text(Box<str>),
    /// The string-value of the first node of a set.
    StringOf(Id),
    /// A number or a truth as a string.
    Written(Id),
    /// The name of the first node of a set.
    NameOf(NamePart, Id),
    /// Strings behind each other.
    Concat(Box<[Id]>),
    /// What stands before a mark.
    Before(Id, Id),
    /// What stands behind it.
    After(Id, Id),
    /// A part of a string: from where, and how long.
    Part(Id, Id, Option<Id>),
    /// A string whose blanks are single.
    Normalized(Id),
    /// A string with other letters.
    Translated(Id, Id, Id),

    // Sets of nodes.
    /// The document node.
    Root,
    /// The context node.
    Context,
    /// The nodes that a step leads to from those of a set.
    Step(Id, Axis, TestId, Box<[Id]>),
    /// The nodes of a set that predicates leave.
    Filtered(Id, Box<[Id]>),
    /// The nodes of all sets.
    Union(Box<[Id]>),
    /// The elements with the identifiers in a string, or in the string-values of a set.
    Identified(Id),
}

impl Expr {
    /// The type of its value.
    pub fn kind(&self) -> Kind {
        match self {
            Expr::Constant(_)
            | Expr::All(_)
            | Expr::Any(_)
            | Expr::Not(_)
            | Expr::AtRoot(_)
            | Expr::Has(..)
            | Expr::Picked(..)
            | Expr::In(..)
            | Expr::Compared(..)
            | Expr::Contains(..)
            | Expr::StartsWith(..)
            | Expr::Lang(_)
            | Expr::Truth(_) => Kind::Truth,
            Expr::Number(_)
            | Expr::Position
            | Expr::Last
            | Expr::Count(_)
            | Expr::Sum(_)
            | Expr::AsNumber(_)
            | Expr::Length(_)
            | Expr::Reckoned(..)
            | Expr::Negative(_)
            | Expr::Rounded(..) => Kind::Number,
            Expr::Text(_)
            | Expr::StringOf(_)
            | Expr::Written(_)
            | Expr::NameOf(..)
            | Expr::Concat(_)
            | Expr::Before(..)
            | Expr::After(..)
            | Expr::Part(..)
            | Expr::Normalized(_)
            | Expr::Translated(..) => Kind::Text,
            Expr::Root
            | Expr::Context
            | Expr::Step(..)
            | Expr::Filtered(..)
            | Expr::Union(_)
            | Expr::Identified(_) => Kind::Nodes,
        }
    }

    /// Visits the parts that are evaluated at the same node as this one, then the others.
    fn each_part(&self, mut here: impl FnMut(Id), mut elsewhere: impl FnMut(Id)) {
        match self {
            Expr::All(parts) | Expr::Any(parts) | Expr::Concat(parts) | Expr::Union(parts) => {
                parts.iter().copied().for_each(here);
            }
            Expr::Not(one)
            | Expr::Lang(one)
            | Expr::Truth(one)
            | Expr::Count(one)
            | Expr::Sum(one)
            | Expr::AsNumber(one)
            | Expr::Length(one)
            | Expr::Negative(one)
            | Expr::Rounded(_, one)
            | Expr::StringOf(one)
            | Expr::Written(one)
            | Expr::NameOf(_, one)
            | Expr::Normalized(one)
            | Expr::Identified(one) => here(*one),
            Expr::AtRoot(one) | Expr::Has(_, _, one) => elsewhere(*one),
            Expr::Picked(_, _, predicates, one) => {
                predicates.iter().copied().for_each(&mut elsewhere);
                elsewhere(*one);
            }
            Expr::In(set, one) => {
                here(*set);
                elsewhere(*one);
            }
            Expr::Compared(_, left, right)
            | Expr::Contains(left, right)
            | Expr::StartsWith(left, right)
            | Expr::Reckoned(_, left, right)
            | Expr::Before(left, right)
            | Expr::After(left, right) => {
                here(*left);
                here(*right);
            }
            Expr::Part(text, from, length) => {
                here(*text);
                here(*from);
                length.iter().copied().for_each(here);
            }
            Expr::Translated(one, two, three) => {
                [one, two, three].into_iter().for_each(|it| here(*it))
            }
            Expr::Step(base, _, _, predicates) | Expr::Filtered(base, predicates) => {
                here(*base);
                predicates.iter().copied().for_each(elsewhere);
            }
            Expr::Constant(_)
            | Expr::Number(_)
            | Expr::Position
            | Expr::Last
            | Expr::Text(_)
            | Expr::Root
            | Expr::Context => {}
        }
    }

    fn test(&self) -> Option<TestId> {
        match self {
            Expr::Has(_, test, _) | Expr::Picked(_, test, ..) | Expr::Step(_, _, test, _) => {
                Some(*test)
            }
            _ => None,
        }
    }
}

/// A part with what is known of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it says.
    pub expr: Expr,
    /// Whether its value depends on the context node.
    pub is_local: bool,
    /// Whether its value depends on the context's position or size.
    pub is_positional: bool,
    /// Whether comments and instructions of an internal subset could be among the nodes that it looks at.
    pub may_meet_remarks: bool,
    depth: u32,
    users: u32,
}

/// A test with the number of its users.
#[derive(Clone, Debug)]
struct TestEntry {
    test: Test,
    users: u32,
    /// No other test had this number before, nor will have it.
    serial: u64,
}

/// All parts of all expressions.
#[derive(Debug)]
pub struct Graph {
    entries: Vec<Entry>,
    numbers: FxHashMap<Expr, Id>,
    free: Vec<Id>,
    tests: Vec<TestEntry>,
    test_numbers: FxHashMap<Test, TestId>,
    free_tests: Vec<TestId>,
    /// Tests taken in so far.
    serials: u64,
}

impl Default for Graph {
    fn default() -> Self {
        let mut graph = Graph {
            entries: Vec::new(),
            numbers: FxHashMap::default(),
            free: Vec::new(),
            tests: Vec::new(),
            test_numbers: FxHashMap::default(),
            free_tests: Vec::new(),
            serials: 0,
        };
        for constant in [true, false] {
            let id = graph.intern(Expr::Constant(constant));
            graph.hold(id);
        }
        graph
    }
}

impl Graph {
    /// A part by its number.
    pub fn entry(&self, id: Id) -> &Entry {
        &self.entries[id as usize]
    }

    /// What a part says.
    pub fn expr(&self, id: Id) -> &Expr {
        &self.entries[id as usize].expr
    }

    /// A test by its number.
    pub fn test(&self, test: TestId) -> &Test {
        &self.tests[test as usize].test
    }

    /// One past the largest number of a part.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no parts, which is never.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a number is that of a part.
    pub fn is_used(&self, id: Id) -> bool {
        self.entries.get(id as usize).is_some_and(|it| it.users > 0)
    }

    /// How many bytes they take, but for what stands in lists and texts.
    pub fn held(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + self.numbers.capacity() * (size_of::<(Expr, Id)>() + 1)
            + self.tests.capacity() * size_of::<TestEntry>()
            + self.test_numbers.capacity() * (size_of::<(Test, TestId)>() + 1)
            + (self.free.capacity() + self.free_tests.capacity()) * size_of::<Id>()
    }

    /// How many parts are in use.
    pub fn used(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// One past the largest number of a test.
    pub fn test_count(&self) -> usize {
        self.tests.len()
    }

    /// What tells a test from those that had its number before.
    pub fn test_serial(&self, test: TestId) -> u64 {
        self.tests[test as usize].serial
    }

    /// How deep parts stand inside each other.
    pub fn depth(&self, id: Id) -> u32 {
        self.entries[id as usize].depth
    }

    /// The number of a part. It is held by nobody yet, see [`Graph::hold`] and [`Graph::sweep`].
    pub fn intern(&mut self, expr: Expr) -> Id {
        if let Some(&known) = self.numbers.get(&expr) {
            return known;
        }
        let entry = self.described(expr.clone());
        let mut parts = Vec::new();
        expr.each_part(|it| parts.push(it), |_| {});
        expr.each_part(|_| {}, |it| parts.push(it));
        for part in parts {
            self.entries[part as usize].users += 1;
        }
        if let Some(test) = expr.test() {
            self.tests[test as usize].users += 1;
        }
        let id = match self.free.pop() {
            Some(id) => {
                self.entries[id as usize] = entry;
                id
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as Id - 1
            }
        };
        self.numbers.insert(expr, id);
        id
    }

    /// The number of a test; held once a part has it.
    pub fn intern_test(&mut self, test: &Test) -> TestId {
        if let Some(&known) = self.test_numbers.get(test) {
            return known;
        }
        let entry = TestEntry {
            test: test.clone(),
            users: 0,
            serial: self.serials,
        };
        self.serials += 1;
        let id = match self.free_tests.pop() {
            Some(id) => {
                self.tests[id as usize] = entry;
                id
            }
            None => {
                self.tests.push(entry);
                self.tests.len() as TestId - 1
            }
        };
        self.test_numbers.insert(test.clone(), id);
        id
    }

    /// One more user of a part.
    pub fn hold(&mut self, id: Id) {
        self.entries[id as usize].users += 1;
    }

    /// One user less.
    pub fn release(&mut self, id: Id) {
        self.entries[id as usize].users -= 1;
        self.sweep(id);
    }

    /// Gives back a part that nobody uses, and what only it used.
    pub fn sweep(&mut self, id: Id) {
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            let entry = &mut self.entries[id as usize];
            if entry.users > 0 || entry.expr == GONE {
                continue;
            }
            let expr = std::mem::replace(&mut entry.expr, GONE);
            self.numbers.remove(&expr);
            self.free.push(id);
            let mut parts = Vec::new();
            expr.each_part(|it| parts.push(it), |_| {});
            expr.each_part(|_| {}, |it| parts.push(it));
            for part in parts {
                self.entries[part as usize].users -= 1;
                left.push(part);
            }
            if let Some(test) = expr.test() {
                self.release_test(test);
            }
        }
    }

    /// Gives back tests that nobody uses.
    pub fn sweep_test(&mut self, test: TestId) {
        let entry = &self.tests[test as usize];
        if entry.users == 0 && self.test_numbers.get(&entry.test) == Some(&test) {
            self.test_numbers.remove(&entry.test);
            self.free_tests.push(test);
        }
    }

    fn release_test(&mut self, test: TestId) {
        self.tests[test as usize].users -= 1;
        self.sweep_test(test);
    }

    fn described(&self, expr: Expr) -> Entry {
        let mut entry = Entry {
            is_local: matches!(
                expr,
                Expr::Context
                    | Expr::Position
                    | Expr::Last
                    | Expr::Lang(_)
                    | Expr::Has(..)
                    | Expr::Picked(..)
            ),
            is_positional: matches!(expr, Expr::Position | Expr::Last),
            may_meet_remarks: self.looks_at_remarks(&expr),
            depth: 1,
            users: 0,
            expr: GONE,
        };
        expr.each_part(
            |part| {
                let part = self.entry(part);
                entry.is_local |= part.is_local;
                entry.is_positional |= part.is_positional;
            },
            |_| {},
        );
        let mut every = |part: Id| {
            let part = self.entry(part);
            entry.depth = entry.depth.max(part.depth + 1);
            entry.may_meet_remarks |= self.matters_inside(&expr, part);
        };
        expr.each_part(&mut every, |_| {});
        expr.each_part(|_| {}, every);
        entry.expr = expr;
        entry
    }

    /// Whether the nodes of an internal subset that a part may meet can matter to an expression. They
    /// are leaves without attributes, so a step further inside comes to nothing from there.
    fn matters_inside(&self, expr: &Expr, part: &Entry) -> bool {
        match (expr, &part.expr) {
            (Expr::Step(_, axis, ..), Expr::Step(base, _, _, predicates))
                if leads_inside(*axis) && predicates.is_empty() =>
            {
                self.entry(*base).may_meet_remarks
            }
            _ => part.may_meet_remarks,
        }
    }

    /// Whether a condition holds at no node that is a leaf without attributes.
    fn fails_at_leaves(&self, id: Id) -> bool {
        match self.expr(id) {
            Expr::Has(Axis::SelfNode, test, _) => matches!(self.test(*test), Test::Name { .. }),
            Expr::Has(axis, ..) | Expr::Picked(axis, ..) => leads_inside(*axis),
            Expr::All(parts) => parts.iter().any(|&it| self.fails_at_leaves(it)),
            _ => false,
        }
    }

    /// Whether a step could meet the comments and instructions of an internal subset.
    fn looks_at_remarks(&self, expr: &Expr) -> bool {
        let (axis, test) = match expr {
            Expr::Has(_, _, holds) if self.fails_at_leaves(*holds) => return false,
            Expr::Has(axis, test, _) | Expr::Picked(axis, test, ..) => (axis, test),
            Expr::Step(_, axis, test, _) => (axis, test),
            _ => return false,
        };
        let ahead = !matches!(
            axis,
            Axis::Attribute | Axis::SelfNode | Axis::Parent | Axis::Ancestor | Axis::AncestorOrSelf
        );
        ahead && !matches!(self.test(*test), Test::Name { .. } | Test::Text)
    }
}

fn leads_inside(axis: Axis) -> bool {
    matches!(axis, Axis::Child | Axis::Descendant | Axis::Attribute)
}

/// What stands where a part was given back; no expression has it.
const GONE: Expr = Expr::Number(GONE_BITS);

/// A NaN that no reading of a number gives.
const GONE_BITS: u64 = 0x7ff8_dead_dead_dead;
