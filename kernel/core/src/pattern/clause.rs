//! Conditions as hash-consed records: equal parts of all patterns are kept once.
//!
//! A clause is at most three numbers beside its form. Lists (the parts of `and` and `or`, the steps
//! towards a first node) are chains of clauses, as in Lisp, so that nothing has a length of its own.

use bytemuck::{Pod, Zeroable};

use crate::index::column::{Column, Spare, store};
use crate::index::table::{Table, hash_of};
use crate::pattern::interner::{Labels, Tests};
use crate::pattern::{Condition, Kind, Step};
use crate::sys::prefetch::prefetch;

/// What a clause says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Always.
    True,
    /// Never.
    False,
    /// Some node below has the label and satisfies `then`.
    Exists {
        /// At any depth, or right below.
        far: bool,
        /// Its label.
        label: u32,
        /// The clause that holds there.
        then: u32,
    },
    /// The node itself has the label.
    SelfIs(u32),
    /// The node's string-value passes the test.
    Value(u32),
    /// Both hold.
    All(u32, u32),
    /// One or the other holds.
    Any(u32, u32),
    /// It does not hold.
    Not(u32),
    /// It holds at the document node.
    AtDocument(u32),
    /// The first node that a chain of steps leads to passes the test at the end of the chain.
    First(u32),
    /// One step of such a chain, and the chain behind it (the last link is a `Value`).
    Link {
        /// At any depth, or right below.
        far: bool,
        /// The label of the nodes it leads to.
        label: u32,
        /// The clause that holds there.
        then: u32,
        /// The rest of the chain.
        next: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ClauseRecord {
    a: u32,
    b: u32,
    c: u32,
    uses: u32,
    /// How many patterns say just this.
    patterns: u32,
    operation: u8,
    far: u8,
    unused: u16,
}

impl Form {
    fn record(self) -> ClauseRecord {
        let (operation, far, a, b, c) = match self {
            Form::True => (0, false, 0, 0, 0),
            Form::False => (1, false, 0, 0, 0),
            Form::Exists { far, label, then } => (2, far, label, then, 0),
            Form::SelfIs(label) => (3, false, label, 0, 0),
            Form::Value(test) => (4, false, test, 0, 0),
            Form::All(a, b) => (5, false, a, b, 0),
            Form::Any(a, b) => (6, false, a, b, 0),
            Form::Not(a) => (7, false, a, 0, 0),
            Form::AtDocument(a) => (8, false, a, 0, 0),
            Form::First(a) => (9, false, a, 0, 0),
            Form::Link {
                far,
                label,
                then,
                next,
            } => (10, far, label, then, next),
        };
        ClauseRecord {
            a,
            b,
            c,
            uses: 1,
            patterns: 0,
            operation,
            far: u8::from(far),
            unused: 0,
        }
    }
}

impl ClauseRecord {
    #[inline]
    fn form(self) -> Form {
        let far = self.far != 0;
        match self.operation {
            0 => Form::True,
            2 => Form::Exists {
                far,
                label: self.a,
                then: self.b,
            },
            3 => Form::SelfIs(self.a),
            4 => Form::Value(self.a),
            5 => Form::All(self.a, self.b),
            6 => Form::Any(self.a, self.b),
            7 => Form::Not(self.a),
            8 => Form::AtDocument(self.a),
            9 => Form::First(self.a),
            10 => Form::Link {
                far,
                label: self.a,
                then: self.b,
                next: self.c,
            },
            _ => Form::False,
        }
    }
}

/// The clauses of all patterns, with the labels and tests they speak of.
#[derive(Default)]
pub struct Clauses {
    pub(crate) records: Column<ClauseRecord>,
    pub(crate) table: Table,
    pub(crate) spare: Spare,
    /// The labels in use.
    pub labels: Labels,
    /// The tests in use.
    pub tests: Tests,
}

impl Clauses {
    /// What a clause says.
    #[inline]
    pub fn form(&self, clause: u32) -> Form {
        self.records[clause as usize].form()
    }

    /// Whether a clause asks for nothing.
    #[inline]
    pub fn is_true(&self, clause: u32) -> bool {
        matches!(self.form(clause), Form::True)
    }

    /// A clause will be asked for soon.
    #[inline]
    pub fn expect(&self, clause: u32) {
        prefetch(&self.records, clause as usize);
    }

    /// The parts of a clause will be asked for soon.
    #[inline]
    pub fn expect_parts(&self, clause: u32) {
        match self.form(clause) {
            Form::All(a, b) | Form::Any(a, b) => {
                self.expect(a);
                self.expect(b);
            }
            Form::Exists { then, .. } => self.expect(then),
            _ => {}
        }
    }

    /// The clause for a condition, held once more.
    pub fn take(&mut self, condition: &Condition) -> u32 {
        let form = match condition {
            Condition::Exists(step) => {
                let then = self.take(&step.then);
                Form::Exists {
                    far: step.far,
                    label: self.labels.take(&step.label),
                    then,
                }
            }
            Condition::SelfIs(label) => Form::SelfIs(self.labels.take(label)),
            Condition::Value(test) => Form::Value(self.tests.take(test)),
            Condition::First(steps, test) => {
                let end = Form::Value(self.tests.take(test));
                let mut chain = self.intern(end);
                for Step { far, label, then } in steps.iter().rev() {
                    let then = self.take(then);
                    let label = self.labels.take(label);
                    chain = self.intern(Form::Link {
                        far: *far,
                        label,
                        then,
                        next: chain,
                    });
                }
                Form::First(chain)
            }
            Condition::All(parts) => return self.chain(parts, Form::True, Form::All),
            Condition::Any(parts) => return self.chain(parts, Form::False, Form::Any),
            Condition::Not(part) => Form::Not(self.take(part)),
            Condition::AtDocument(part) => Form::AtDocument(self.take(part)),
        };
        self.intern(form)
    }

    /// One more pattern says just this; whether it is the first.
    pub(crate) fn count(&mut self, clause: u32) -> bool {
        let patterns = &mut self.records.edit()[clause as usize].patterns;
        *patterns += 1;
        *patterns == 1
    }

    /// One pattern less says just this; whether it was the last.
    pub(crate) fn discount(&mut self, clause: u32) -> bool {
        let patterns = &mut self.records.edit()[clause as usize].patterns;
        *patterns -= 1;
        *patterns == 0
    }

    /// Lets go of a clause, and of whatever only it held.
    pub fn release(&mut self, clause: u32) {
        let mut left = vec![clause];
        while let Some(clause) = left.pop() {
            let record = &mut self.records.edit()[clause as usize];
            record.uses -= 1;
            if record.uses > 0 {
                continue;
            }
            let form = record.form();
            self.table.remove(hash_of(&form), clause);
            self.spare.put(clause);
            self.release_parts(form, &mut left);
        }
    }

    /// How many bytes of our own memory it all takes.
    pub fn held(&self) -> usize {
        self.records.held()
            + self.table.held()
            + self.spare.held()
            + self.labels.held()
            + self.tests.held()
    }

    /// Parts one after the other, those that are soon decided first.
    fn chain(&mut self, parts: &[Condition], none: Form, link: fn(u32, u32) -> Form) -> u32 {
        let mut parts: Vec<&Condition> = parts.iter().collect();
        parts.sort_by_key(|part| effort(part));
        let Some((last, others)) = parts.split_last() else {
            return self.intern(none);
        };
        let mut chain = self.take(last);
        for part in others.iter().rev() {
            let part = self.take(part);
            chain = self.intern(link(part, chain));
        }
        chain
    }

    /// The clause of this form, which takes over the holds on its parts.
    fn intern(&mut self, form: Form) -> u32 {
        let hash = hash_of(&form);
        if let Some(clause) = self.table.reader().find(hash, |it| self.form(it) == form) {
            self.records.edit()[clause as usize].uses += 1;
            let mut left = Vec::new();
            self.release_parts(form, &mut left);
            left.into_iter().for_each(|part| self.release(part));
            return clause;
        }
        let given = store(&mut self.records, &mut self.spare, form.record());
        self.table.insert(hash, given);
        given
    }

    fn release_parts(&mut self, form: Form, left: &mut Vec<u32>) {
        match form {
            Form::True | Form::False => {}
            Form::Exists { label, then, .. } => {
                self.labels.release(label);
                left.push(then);
            }
            Form::Link {
                label, then, next, ..
            } => {
                self.labels.release(label);
                left.extend([then, next]);
            }
            Form::SelfIs(label) => self.labels.release(label),
            Form::Value(test) => self.tests.release(test),
            Form::All(a, b) | Form::Any(a, b) => left.extend([a, b]),
            Form::Not(a) | Form::AtDocument(a) | Form::First(a) => left.push(a),
        }
    }
}

/// How much has to be looked through, roughly, to decide a condition at an element: itself, its
/// attributes, its children, all that is below it, the whole document.
fn effort(condition: &Condition) -> u32 {
    match condition {
        Condition::SelfIs(_) => 0,
        Condition::Exists(step) if step.far => 4,
        Condition::Exists(step) if step.label.kind == Kind::Attribute => 1,
        Condition::Value(_) => 2,
        Condition::Exists(_) => 3,
        Condition::First(..) => 5,
        Condition::Not(part) => effort(part),
        Condition::All(parts) | Condition::Any(parts) => {
            parts.iter().map(effort).max().unwrap_or(0)
        }
        Condition::AtDocument(_) => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Constant, Kind, Label, Operator, Test};

    fn step(far: bool, local: &str, then: Condition) -> Step {
        let label = Label {
            kind: Kind::Element,
            namespace: Some("".into()),
            local: Some(local.into()),
        };
        Step { far, label, then }
    }

    fn test() -> Test {
        Test {
            operator: Operator::Contains,
            constant: Constant::Text("x".into()),
        }
    }

    fn all_forms() -> Condition {
        let always = || Condition::All(Vec::new());
        let label = step(true, "b", always()).label;
        let first = vec![step(true, "c", always()), step(false, "d", always())];
        let parts = vec![
            Condition::SelfIs(label),
            Condition::Value(test()),
            Condition::First(first, test()),
            Condition::Not(Box::new(Condition::Any(Vec::new()))),
            Condition::Any(vec![always(), Condition::Value(test())]),
            Condition::AtDocument(Box::new(always())),
        ];
        Condition::Exists(Box::new(step(false, "a", Condition::All(parts))))
    }

    #[test]
    fn equal_conditions_are_one_clause_with_the_same_parts() {
        let mut clauses = Clauses::default();
        let first = clauses.take(&all_forms());
        let size = clauses.records.len();
        assert_eq!(clauses.take(&all_forms()), first);
        assert_eq!(clauses.records.len(), size);
        let Form::Exists {
            far: false, then, ..
        } = clauses.form(first)
        else {
            panic!("{:?}", clauses.form(first));
        };
        assert!(matches!(clauses.form(then), Form::All(..)));
    }

    #[test]
    fn a_clause_let_go_as_often_as_it_was_taken_leaves_nothing() {
        let mut clauses = Clauses::default();
        let (first, second) = (clauses.take(&all_forms()), clauses.take(&all_forms()));
        clauses.release(first);
        assert!(!clauses.table.is_empty() && clauses.labels.idle() == 0);
        clauses.release(second);
        assert!(clauses.table.is_empty() && clauses.tests.table.is_empty());
        assert_eq!(clauses.labels.idle(), clauses.labels.len());
        let size = clauses.records.len();
        clauses.take(&all_forms());
        assert_eq!(clauses.records.len(), size);
    }

    #[test]
    fn a_part_stays_as_long_as_somebody_has_it() {
        let mut clauses = Clauses::default();
        let whole = clauses.take(&all_forms());
        let part = clauses.take(&Condition::Value(test()));
        clauses.release(whole);
        assert!(matches!(clauses.form(part), Form::Value(_)));
        assert_eq!((clauses.table.len(), clauses.tests.table.len()), (1, 1));
    }

    #[test]
    fn a_list_of_one_is_its_part_and_of_none_a_constant() {
        let mut clauses = Clauses::default();
        let one = Condition::All(vec![Condition::Any(vec![Condition::Value(test())])]);
        let (one, value) = (clauses.take(&one), clauses.take(&Condition::Value(test())));
        assert_eq!(one, value);
        let (all, any) = (Condition::All(Vec::new()), Condition::Any(Vec::new()));
        let (all, any) = (clauses.take(&all), clauses.take(&any));
        assert_eq!(
            (clauses.form(all), clauses.form(any)),
            (Form::True, Form::False)
        );
    }
}
