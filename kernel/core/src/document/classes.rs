//! Which labels a name has. All names with the same labels are one *class*, so that the names nobody
//! asks for, however many a document has, are no different from each other.

use rustc_hash::FxHashMap;

use crate::document::tree::Names;
use crate::index::Index;
use crate::pattern::{Kind, Label};

/// The class of names that have no label at all.
pub const NOTHING: u32 = 0;
const UNKNOWN: u32 = u32::MAX;
/// Labels beyond this many times 64 are looked up in lists: the table of bits is to stay small.
const TABLE_WORDS_MAX: usize = 8;

/// Classes, and the class of each name that was met.
#[derive(Default)]
pub struct Classes {
    sets: Vec<Box<[u32]>>,
    numbers: FxHashMap<Box<[u32]>, u32>,
    elements: Vec<u32>,
    attributes: Vec<u32>,
    /// Which labels each class has, as bits, while that takes little room.
    table: Vec<u64>,
    words: usize,
    text: u32,
    epoch: u64,
    changes: u64,
    names: u64,
}

/// A label that is asked of many nodes: where its bits are is worked out once.
#[derive(Clone, Copy)]
pub struct AskedLabel<'a> {
    table: &'a [u64],
    words: usize,
    /// The label's word of the first class; the end of the table if that has no bits of this label.
    first: usize,
    mask: u64,
    label: u32,
    sets: &'a [Box<[u32]>],
}

impl AskedLabel<'_> {
    /// Whether the nodes of a class have the label.
    #[inline]
    pub fn is_of(&self, class: u32) -> bool {
        match self.table.get(class as usize * self.words + self.first) {
            Some(bits) => bits & self.mask != 0,
            None => self.is_listed(class),
        }
    }

    #[cold]
    fn is_listed(&self, class: u32) -> bool {
        self.sets[class as usize].contains(&self.label)
    }
}

impl Classes {
    /// Makes sure that every name of a table has its class, for the labels of an index as it is now.
    /// Whether classes have other numbers than before.
    pub fn update(&mut self, index: &Index, names: &Names) -> bool {
        let labels = &index.clauses.labels;
        let renumbered = self.sets.is_empty() || self.epoch != index.epoch();
        if renumbered {
            self.sets.clear();
            self.numbers.clear();
            self.table.clear();
            self.words = labels.len().div_ceil(64).clamp(1, TABLE_WORDS_MAX);
            self.number(Vec::new());
        }
        if renumbered || self.changes != labels.changes() || self.names != names.generation() {
            self.elements.clear();
            self.attributes.clear();
            let text = Label {
                kind: Kind::Text,
                namespace: None,
                local: None,
            };
            self.text = self.number(labels.find(&text).into_iter().collect());
        }
        (self.epoch, self.changes, self.names) =
            (index.epoch(), labels.changes(), names.generation());
        self.elements.resize(names.len(), UNKNOWN);
        self.attributes.resize(names.len(), UNKNOWN);
        renumbered
    }

    /// The class of an element's name.
    #[inline]
    pub fn element(&mut self, name: u32, index: &Index, names: &Names) -> u32 {
        match self.elements[name as usize] {
            UNKNOWN => self.learn(Kind::Element, name, index, names),
            known => known,
        }
    }

    /// The class of an attribute's name.
    #[inline]
    pub fn attribute(&mut self, name: u32, index: &Index, names: &Names) -> u32 {
        match self.attributes[name as usize] {
            UNKNOWN => self.learn(Kind::Attribute, name, index, names),
            known => known,
        }
    }

    /// The class of text nodes.
    #[inline]
    pub fn text(&self) -> u32 {
        self.text
    }

    /// The labels of a class.
    #[inline]
    pub fn labels(&self, class: u32) -> &[u32] {
        &self.sets[class as usize]
    }

    /// Whether the nodes of a class have a label.
    #[inline]
    pub fn has(&self, class: u32, label: u32) -> bool {
        self.asked(label).is_of(class)
    }

    /// A label, made ready to be asked of many classes.
    #[inline]
    pub fn asked(&self, label: u32) -> AskedLabel<'_> {
        let word = label as usize / 64;
        AskedLabel {
            table: &self.table,
            words: self.words,
            // Behind the table nothing is found, and the list is looked into.
            first: if word < self.words {
                word
            } else {
                self.table.len()
            },
            mask: 1 << (label % 64),
            label,
            sets: &self.sets,
        }
    }

    /// How many bytes it takes, about.
    pub fn held(&self) -> usize {
        (self.elements.capacity() + self.attributes.capacity()) * 4
            + self.sets.len() * 96
            + self.table.capacity() * 8
    }

    fn learn(&mut self, kind: Kind, name: u32, index: &Index, names: &Names) -> u32 {
        let (namespace, local) = names.get(name);
        let class = self.number(index.clauses.labels.of_name(kind, namespace, local));
        let known = if kind == Kind::Element {
            &mut self.elements
        } else {
            &mut self.attributes
        };
        known[name as usize] = class;
        class
    }

    fn number(&mut self, labels: Vec<u32>) -> u32 {
        if let Some(&class) = self.numbers.get(&labels[..]) {
            return class;
        }
        let class = self.sets.len() as u32;
        self.table.extend(std::iter::repeat_n(0, self.words));
        let row = class as usize * self.words;
        for &label in labels
            .iter()
            .filter(|&&label| (label as usize) < self.words * 64)
        {
            self.table[row + label as usize / 64] |= 1 << (label % 64);
        }
        self.sets.push(labels.clone().into());
        self.numbers.insert(labels.into(), class);
        class
    }
}
