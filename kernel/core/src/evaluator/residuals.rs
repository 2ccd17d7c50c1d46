//! Expressions under the ids of the subscriptions that ask for them.

use rustc_hash::FxHashMap;

use crate::evaluator::expressions::Expressions;
use crate::evaluator::graph::Id;
use crate::evaluator::syntax::Syntax;

/// What an index knows of its candidates by a necessary condition only is evaluated here.
#[derive(Debug, Default)]
pub struct Residuals {
    /// The expressions.
    pub expressions: Expressions,
    of: FxHashMap<i64, Id>,
}

impl Residuals {
    /// Takes in what a subscription asks for; false if it is one for libxml2.
    pub fn add(&mut self, id: i64, syntax: &Syntax) -> bool {
        let Some(expression) = self.expressions.add_syntax(syntax) else {
            return false;
        };
        if let Some(before) = self.of.insert(id, expression) {
            self.expressions.remove(before);
        }
        true
    }

    /// Forgets what a subscription asks for, if it is known.
    pub fn remove(&mut self, id: i64) {
        if let Some(expression) = self.of.remove(&id) {
            self.expressions.remove(expression);
        }
    }

    /// Whether no subscription asks for any.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The expression of a subscription.
    pub fn get(&self, id: i64) -> Option<Id> {
        self.of.get(&id).copied()
    }

    /// How many bytes of our own memory it takes.
    pub fn held(&self) -> usize {
        self.expressions.held() + self.of.capacity() * (size_of::<(i64, Id)>() + 1)
    }
}
