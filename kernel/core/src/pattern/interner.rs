//! The labels and tests that patterns speak of, as small numbers.

use bytemuck::{Pod, Zeroable};
use rustc_hash::FxHashMap;

use crate::index::column::{Column, Spare, store};
use crate::index::table::{Table, hash_of};
use crate::matching::value::{Value, number};
use crate::pattern::{Constant, Kind, Label, Operator, Test};

/// The labels in use. There are few, whatever the number of patterns, so they are kept as they are.
#[derive(Default)]
pub struct Labels {
    labels: Vec<Label>,
    /// The kind of each label: it is asked for more often than the names.
    kinds: Vec<Kind>,
    uses: Vec<u32>,
    numbers: FxHashMap<Label, u32>,
    idle: usize,
    free: Vec<u32>,
    changes: u64,
}

impl Labels {
    /// The number of a label, which is now used once more.
    pub fn take(&mut self, label: &Label) -> u32 {
        if let Some(&number) = self.numbers.get(label) {
            let uses = &mut self.uses[number as usize];
            self.idle -= usize::from(*uses == 0);
            *uses += 1;
            return number;
        }
        let number = self.free.pop().unwrap_or(self.labels.len() as u32);
        if number as usize == self.labels.len() {
            self.labels.push(label.clone());
            self.kinds.push(label.kind);
            self.uses.push(1);
        } else {
            self.labels[number as usize] = label.clone();
            self.kinds[number as usize] = label.kind;
            self.uses[number as usize] = 1;
        }
        self.numbers.insert(label.clone(), number);
        self.changes += 1;
        number
    }

    /// It is used once less. Labels nobody uses stay until [`Labels::sweep`]: readers remember which
    /// labels a name has.
    pub fn release(&mut self, number: u32) {
        let uses = &mut self.uses[number as usize];
        *uses -= 1;
        self.idle += usize::from(*uses == 0);
    }

    /// How many labels nobody uses.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// Changes whenever a name may have other labels than before.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Forgets the labels nobody uses; readers have forgotten what they knew.
    pub fn sweep(&mut self) {
        for number in 0..self.labels.len() {
            if self.uses[number] == 0
                && self.numbers.get(&self.labels[number]) == Some(&(number as u32))
            {
                self.numbers.remove(&self.labels[number]);
                self.free.push(number as u32);
            }
        }
        self.idle = 0;
        self.changes += 1;
    }

    /// The number of a label, if it is in use.
    pub fn find(&self, label: &Label) -> Option<u32> {
        self.numbers.get(label).copied()
    }

    /// What sort of node a label is about.
    #[inline]
    pub fn kind(&self, number: u32) -> Kind {
        self.kinds[number as usize]
    }

    /// The label with this number.
    pub fn label(&self, number: u32) -> &Label {
        &self.labels[number as usize]
    }

    /// How many numbers have been given out.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The labels that a node of this kind and name has, in ascending order.
    pub fn of_name(&self, kind: Kind, namespace: &str, local: &str) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::with_capacity(4);
        for with_namespace in [true, false] {
            for with_local in [true, false] {
                let label = Label {
                    kind,
                    namespace: with_namespace.then(|| namespace.into()),
                    local: with_local.then(|| local.into()),
                };
                found.extend(self.numbers.get(&label));
            }
        }
        found.sort_unstable();
        found
    }

    /// All labels with their uses, for storing.
    pub fn all(&self) -> impl Iterator<Item = (&Label, u32)> {
        self.labels.iter().zip(self.uses.iter().copied())
    }

    /// The labels with their uses.
    pub fn from_all(all: Vec<(Label, u32)>) -> Self {
        let mut labels = Labels::default();
        for (number, (label, uses)) in all.into_iter().enumerate() {
            if uses == 0 {
                labels.free.push(number as u32);
            } else {
                labels.numbers.insert(label.clone(), number as u32);
            }
            labels.kinds.push(label.kind);
            labels.labels.push(label);
            labels.uses.push(uses);
        }
        labels
    }

    /// How many bytes it takes, about.
    pub fn held(&self) -> usize {
        let strings: usize = (self.labels.iter())
            .map(|it| {
                it.namespace.as_ref().map_or(0, |s| s.len())
                    + it.local.as_ref().map_or(0, |s| s.len())
            })
            .sum();
        2 * strings + self.labels.len() * (2 * size_of::<Label>() + 16)
    }
}

/// A test: the operator, and the constant as text and as the number it stands for.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct TestRecord {
    /// The constant as a number; of a string, the number it reads as.
    pub number: f64,
    start: u32,
    length: u32,
    uses: u32,
    operator: u8,
    numeric: u8,
    unused: u16,
}

impl TestRecord {
    /// How values are compared.
    pub fn operator(&self) -> Operator {
        Operator::from_number(self.operator).unwrap_or(Operator::Equal)
    }

    /// Whether the constant is a number rather than a string.
    pub fn is_numeric(&self) -> bool {
        self.numeric != 0
    }
}

/// The tests in use.
#[derive(Default)]
pub struct Tests {
    pub(crate) records: Column<TestRecord>,
    pub(crate) texts: Column<u8>,
    pub(crate) table: Table,
    pub(crate) spare: Spare,
    /// Bytes of `texts` that belong to no test any more.
    pub(crate) idle: usize,
}

impl Tests {
    /// The number of a test, which is now used once more.
    pub fn take(&mut self, test: &Test) -> u32 {
        let (numeric, text, value): (bool, &[u8], f64) = match &test.constant {
            Constant::Text(text) => (false, text.as_bytes(), number(text.as_bytes())),
            // Both zeros are one constant.
            Constant::Number(value) => (true, b"", *value + 0.0),
        };
        let key = (
            test.operator as u8,
            numeric,
            text,
            if numeric { value.to_bits() } else { 0 },
        );
        let hash = hash_of(&key);
        let found = self.table.reader().find(hash, |it| self.key(it) == key);
        if let Some(found) = found {
            self.records.edit()[found as usize].uses += 1;
            return found;
        }
        let record = TestRecord {
            number: value,
            start: self.texts.len() as u32,
            length: text.len() as u32,
            uses: 1,
            operator: test.operator as u8,
            numeric: u8::from(numeric),
            unused: 0,
        };
        self.texts.edit().extend_from_slice(text);
        let given = store(&mut self.records, &mut self.spare, record);
        self.table.insert(hash, given);
        given
    }

    /// It is used once less.
    pub fn release(&mut self, test: u32) {
        let record = &mut self.records.edit()[test as usize];
        record.uses -= 1;
        if record.uses > 0 {
            return;
        }
        self.idle += record.length as usize;
        self.table.remove(hash_of(&self.key(test)), test);
        self.spare.retire(test);
        if self.idle > 4096 && self.idle * 2 > self.texts.len() {
            self.pack();
        }
    }

    /// The number behind the last test's.
    pub fn end(&self) -> usize {
        self.records.len()
    }

    /// The test with this number.
    #[inline]
    pub fn record(&self, test: u32) -> &TestRecord {
        &self.records[test as usize]
    }

    /// The text a test compares with.
    #[inline]
    pub fn text(&self, test: u32) -> &[u8] {
        self.text_of(self.record(test))
    }

    #[inline]
    fn text_of(&self, record: &TestRecord) -> &[u8] {
        &self.texts[record.start as usize..(record.start + record.length) as usize]
    }

    /// Whether a value passes a test.
    #[inline]
    pub fn passes(&self, test: u32, value: &mut Value) -> bool {
        self.passes_record(self.record(test), value)
    }

    /// Whether a value passes the test of a record.
    #[inline]
    pub fn passes_record(&self, record: &TestRecord, value: &mut Value) -> bool {
        value.passes(
            record.operator(),
            record.is_numeric(),
            self.text_of(record),
            record.number,
        )
    }

    /// The test as it was added.
    pub fn test(&self, test: u32) -> Test {
        let record = self.record(test);
        let constant = if record.is_numeric() {
            Constant::Number(record.number)
        } else {
            Constant::Text(String::from_utf8_lossy(self.text(test)).into())
        };
        Test {
            operator: record.operator(),
            constant,
        }
    }

    /// How many bytes of our own memory it takes.
    pub fn held(&self) -> usize {
        self.records.held() + self.texts.held() + self.table.held() + self.spare.held()
    }

    fn key(&self, test: u32) -> (u8, bool, &[u8], u64) {
        let record = self.record(test);
        let bits = if record.is_numeric() {
            record.number.to_bits()
        } else {
            0
        };
        (record.operator, record.is_numeric(), self.text(test), bits)
    }

    /// Moves the texts together, over those of tests that are gone.
    fn pack(&mut self) {
        let mut packed = Vec::with_capacity(self.texts.len() - self.idle);
        let texts: &[u8] = &self.texts;
        for record in self.records.edit().iter_mut() {
            let (start, length) = (record.start as usize, record.length as usize);
            let length = if record.uses == 0 { 0 } else { length };
            record.start = packed.len() as u32;
            record.length = length as u32;
            packed.extend_from_slice(&texts[start..start + length]);
        }
        self.texts = Column::Owned(packed);
        self.idle = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(namespace: Option<&str>, local: Option<&str>) -> Label {
        Label {
            kind: Kind::Element,
            namespace: namespace.map(Into::into),
            local: local.map(Into::into),
        }
    }

    fn text(operator: Operator, constant: &str) -> Test {
        Test {
            operator,
            constant: Constant::Text(constant.into()),
        }
    }

    #[test]
    fn a_name_has_every_label_that_leaves_something_open() {
        let mut labels = Labels::default();
        let all = [
            label(Some("u"), Some("a")),
            label(None, Some("a")),
            label(Some("u"), None),
            label(None, None),
        ];
        for label in &all {
            labels.take(label);
        }
        labels.take(&label(Some(""), Some("a")));
        labels.take(&label(Some("u"), Some("b")));
        assert_eq!(labels.of_name(Kind::Element, "u", "a"), [0, 1, 2, 3]);
        assert_eq!(labels.of_name(Kind::Element, "", "a"), [1, 3, 4]);
        assert_eq!(labels.of_name(Kind::Attribute, "u", "a"), [0; 0]);
    }

    #[test]
    fn a_label_keeps_its_number_until_it_is_swept() {
        let mut labels = Labels::default();
        let (a, b) = (label(None, Some("a")), label(None, Some("b")));
        assert_eq!(
            (labels.take(&a), labels.take(&a), labels.take(&b)),
            (0, 0, 1)
        );
        labels.release(0);
        assert_eq!((labels.idle(), labels.find(&a)), (0, Some(0)));
        labels.release(0);
        assert_eq!((labels.idle(), labels.find(&a)), (1, Some(0)));
        assert_eq!((labels.take(&a), labels.idle()), (0, 0));
        labels.release(0);
        let before = labels.changes();
        labels.sweep();
        assert_ne!(labels.changes(), before);
        assert_eq!((labels.idle(), labels.find(&a)), (0, None));
        labels.sweep();
        assert_eq!(labels.take(&label(None, Some("c"))), 0);
        assert_eq!(labels.take(&a), 2);
    }

    #[test]
    fn labels_come_back_from_what_is_stored_of_them() {
        let mut labels = Labels::default();
        let (a, b) = (label(None, Some("a")), label(Some("u"), None));
        for label in [&a, &b, &b] {
            labels.take(label);
        }
        labels.release(0);
        labels.sweep();
        let all = labels.all().map(|(label, uses)| (label.clone(), uses));
        let mut back = Labels::from_all(all.collect());
        assert_eq!((back.find(&a), back.find(&b)), (None, Some(1)));
        back.release(1);
        back.release(1);
        assert_eq!((back.idle(), back.take(&a)), (1, 0));
    }

    #[test]
    fn equal_tests_have_one_number_and_others_do_not() {
        let mut tests = Tests::default();
        let number = |operator, value| Test {
            operator,
            constant: Constant::Number(value),
        };
        let different = [
            text(Operator::Equal, "1"),
            text(Operator::Equal, ""),
            text(Operator::Contains, "1"),
            number(Operator::Equal, 1.0),
            number(Operator::Less, 1.0),
            number(Operator::Equal, 2.0),
        ];
        for (expected, test) in different.iter().enumerate() {
            let given = tests.take(test);
            assert_eq!((given, tests.take(test)), (expected as u32, given));
            assert_eq!(tests.test(given), *test);
        }
    }

    #[test]
    fn texts_move_together_when_most_are_gone() {
        let mut tests = Tests::default();
        let long = |number: usize| text(Operator::Equal, &format!("{number:0100}"));
        let numbers: Vec<u32> = (0..200).map(|it| tests.take(&long(it))).collect();
        for (place, &number) in numbers.iter().enumerate() {
            if place % 5 != 0 {
                tests.release(number);
            }
        }
        assert!(
            tests.texts.len() <= 100 * (40 + 41) + 4096,
            "{}",
            tests.texts.len()
        );
        for place in (0..200).step_by(5) {
            assert_eq!(tests.test(numbers[place]), long(place));
            assert_eq!(tests.take(&long(place)), numbers[place]);
        }
    }
}
