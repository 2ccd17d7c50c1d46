//! All expressions of a matcher, and what a document says to some of them.

use crate::document::read::Reader;
use crate::document::tree::{Names, Tree};
use crate::evaluator::build::build;
use crate::evaluator::canonical::parse;
use crate::evaluator::conditions::{Run, Stop, VISITS_EACH};
use crate::evaluator::graph::{Graph, Id};
use crate::evaluator::memory::Memory;
use crate::evaluator::nodes::{Document, Nodes};
use crate::evaluator::syntax::Syntax;

/// Steps that one expression may take on a small document: some 50 milliseconds.
pub const COST_MAX: u64 = 10_000_000;

/// Steps that all expressions together may take on a small document.
pub const DOCUMENT_COST_MAX: u64 = 100_000_000;

/// With every so many nodes a document may take as many steps again.
pub const COST_NODES: u64 = 65_536;

/// The first round gives each expression this part of the steps it may take.
const FIRST_ROUND: u64 = 1_024;

/// How many steps there are for a document.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// For one expression.
    pub one: u64,
    /// For all of them.
    pub all: u64,
}

impl Default for Costs {
    fn default() -> Self {
        Costs {
            one: COST_MAX,
            all: DOCUMENT_COST_MAX,
        }
    }
}

impl Costs {
    /// For a document with so many nodes.
    fn on(self, nodes: usize) -> Self {
        let more = |steps: u64| (u128::from(steps) * nodes as u128 / u128::from(COST_NODES)) as u64;
        Costs {
            one: self.one.saturating_add(more(self.one)),
            all: self.all.saturating_add(more(self.all)),
        }
    }
}

/// What a document says to an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes or no.
    Known(bool),
    /// It would take too many steps.
    Costly,
    /// Only libxml2 knows.
    Unsure,
}

/// Expressions under numbers, their equal parts kept once.
#[derive(Debug, Default)]
pub struct Expressions {
    graph: Graph,
    count: usize,
}

impl Expressions {
    /// Takes in the canonical text of an expression. None if it is one for libxml2.
    ///
    /// Equal expressions have one number, and have to be removed as often as they were added.
    pub fn add(&mut self, text: &str) -> Option<Id> {
        self.add_syntax(&parse(text)?)
    }

    /// The same for one that was read.
    pub fn add_syntax(&mut self, syntax: &Syntax) -> Option<Id> {
        let id = build(&mut self.graph, syntax)?;
        self.count += 1;
        Some(id)
    }

    /// Forgets an expression that was added.
    pub fn remove(&mut self, expression: Id) {
        self.graph.release(expression);
        self.count -= 1;
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many parts they have, equal ones counted once.
    pub fn parts(&self) -> usize {
        self.graph.used()
    }

    /// How many bytes of memory they take.
    pub fn held(&self) -> usize {
        self.graph.held()
    }

    /// Whether a number is that of a part; a user of the kernel may give any.
    pub fn has(&self, expression: Id) -> bool {
        self.graph.is_used(expression)
    }
}

/// What one reader needs to evaluate expressions.
#[derive(Debug, Default)]
pub struct Evaluator {
    nodes: Nodes,
    memory: Memory,
    /// Steps taken so far, over all documents.
    pub steps: u64,
    /// Documents on which expressions had to be evaluated one by one.
    pub in_rounds: u64,
    /// Visits for single answers, in times the nodes of the document, if not [`VISITS_EACH`].
    pub visits_each: Option<u64>,
}

impl Evaluator {
    /// What a document says to expressions.
    ///
    /// All are evaluated together first, and what one found out serves the others. What that takes is
    /// at least what any of them would take alone: if it is no more than one may take, all is said. Else
    /// each is evaluated alone, so that what is left open depends on nobody else: in rounds of twice as
    /// many steps each, so that the cheaper ones are decided before there are too many in all.
    pub fn decide(
        &mut self,
        expressions: &Expressions,
        (tree, names): (&Tree, &Names),
        costs: Costs,
        asked: &[Id],
    ) -> Vec<Verdict> {
        if asked.is_empty() {
            return Vec::new();
        }
        self.nodes.number(tree);
        let costs = costs.on(self.nodes.len());
        let document = Document {
            tree,
            names,
            nodes: &self.nodes,
        };
        let graph = &expressions.graph;
        let mut run = Run::new(graph, document, &mut self.memory, costs.one.min(costs.all));
        run.visits_each = self.visits_each.unwrap_or(VISITS_EACH);
        let together: Option<Vec<Verdict>> =
            asked.iter().map(|&it| verdict(run.decide(it))).collect();
        self.steps += run.steps;
        let verdicts = match together {
            Some(verdicts) => verdicts,
            // It was alone already, and had all that it may take.
            None if asked.len() == 1 => vec![Verdict::Costly],
            None => self.in_rounds(graph, (tree, names), costs, asked),
        };
        self.memory.end();
        verdicts
    }

    /// How many bytes are held for documents to come.
    pub fn held(&self) -> usize {
        self.nodes.held() + self.memory.held()
    }

    /// The most bytes of answers that were remembered of one document.
    pub fn answers_most(&self) -> usize {
        self.memory.most
    }

    fn in_rounds(
        &mut self,
        graph: &Graph,
        (tree, names): (&Tree, &Names),
        costs: Costs,
        asked: &[Id],
    ) -> Vec<Verdict> {
        self.in_rounds += 1;
        let document = Document {
            tree,
            names,
            nodes: &self.nodes,
        };
        let mut verdicts = vec![Verdict::Costly; asked.len()];
        let mut open: Vec<usize> = (0..asked.len()).collect();
        let (mut spent, mut given, mut next) = (0u64, 0u64, costs.one / FIRST_ROUND + 1);
        while !open.is_empty() {
            // Also where there are too many for a first round: the cheap ones among them are decided.
            let left = costs.all.saturating_sub(spent) / open.len() as u64;
            let most = next.min(costs.one).min(left);
            if most <= given {
                break; // not even what was not enough
            }
            open.retain(|&place| {
                let mut run = Run::new(graph, document, &mut self.memory, most);
                run.visits_each = self.visits_each.unwrap_or(VISITS_EACH);
                let found = verdict(run.decide(asked[place]));
                spent += run.steps.min(most);
                verdicts[place] = found.unwrap_or(Verdict::Costly);
                found.is_none()
            });
            (given, next) = (most, most.saturating_mul(2));
        }
        self.steps += spent;
        verdicts
    }
}

/// What an answer says; none if there were not enough steps.
fn verdict(answer: Result<bool, Stop>) -> Option<Verdict> {
    match answer {
        Ok(known) => Some(Verdict::Known(known)),
        Err(Stop::Unsure) => Some(Verdict::Unsure),
        Err(Stop::Spent) => None,
    }
}

/// A reader of documents that only evaluates expressions.
#[derive(Default)]
pub struct Alone {
    /// Reads documents.
    pub reader: Reader,
    /// The document that was read last.
    pub tree: Tree,
    /// Evaluates.
    pub evaluator: Evaluator,
}
