//! A document as arrays in document order.
//!
//! Elements lie one after the other as their start tags do. An element's descendants are the elements
//! between it and its `end`; its attributes are the attributes between its own start and that of the
//! next element; its string-value is one slice of [`Tree::text`], since all character data is kept in
//! one buffer in document order. Nothing here is allocated per node, and a [`Tree`] is reused for one
//! document after the other.

use crate::document::read::key_table::{Keys, Search};

/// No element: the parent of the root.
pub const NONE: u32 = u32::MAX;

/// One element.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// Its name, as interned by [`Names`].
    pub name: u32,
    /// The prefix it was written with, see [`Names::prefix`].
    pub prefix: u32,
    /// The element it is a child of, or [`NONE`].
    pub parent: u32,
    /// One past its last descendant.
    pub end: u32,
    /// Its first attribute; those up to the next element's first are its own.
    pub attributes: u32,
    /// How many text nodes come before it.
    pub texts: u32,
    /// Where its string-value begins in [`Tree::text`].
    pub text_start: u32,
    /// Where its string-value ends.
    pub text_end: u32,
}

/// One attribute (namespace declarations are none).
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// Its name, as interned by [`Names`].
    pub name: u32,
    /// The prefix it was written with, see [`Names::prefix`].
    pub prefix: u32,
    /// Where its normalised value begins in [`Tree::values`].
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

/// One text node: the longest run of character data that no tag, comment or processing instruction
/// interrupts, as libxml2 makes them. A CDATA section is part of the run around it.
#[derive(Clone, Copy, Debug)]
pub struct TextNode {
    /// The element it is a child of.
    pub owner: u32,
    /// Where it begins in [`Tree::text`].
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

/// A comment or a processing instruction. Few documents have many, and few patterns ask for them, so
/// they lie beside the other nodes, each with its place among those.
#[derive(Clone, Copy, Debug)]
pub struct Remark {
    /// The element it is a child of, or [`NONE`] if it is outside the root.
    pub owner: u32,
    /// How many elements begin before it.
    pub elements: u32,
    /// How many text nodes come before it.
    pub texts: u32,
    /// Where an instruction's target begins in [`Tree::remark_text`]; its content follows.
    pub target: u32,
    /// Where its content begins.
    pub start: u32,
    /// Where its content ends.
    pub end: u32,
    /// Whether it is a processing instruction.
    pub is_instruction: bool,
}

/// A document.
#[derive(Default, Debug)]
pub struct Tree {
    /// The elements in document order; the root is the first.
    pub elements: Vec<Element>,
    /// The attributes in document order.
    pub attributes: Vec<Attribute>,
    /// The text nodes in document order; none is empty.
    pub texts: Vec<TextNode>,
    /// The attributes that the document declares to be of the type ID, ascending; `xml:id` is none of
    /// them, being one always.
    pub identifiers: Vec<u32>,
    /// All character data.
    pub text: Vec<u8>,
    /// All attribute values.
    pub values: Vec<u8>,
    /// The comments and processing instructions in document order, without those of an internal
    /// subset, which are no nodes.
    pub remarks: Vec<Remark>,
    /// What they say.
    pub remark_text: Vec<u8>,
    /// Whether there is a document type declaration: libxml2 has it for a node of its own.
    pub has_doctype: bool,
    /// Whether there are declarations in the document.
    pub has_subset: bool,
    /// Whether there are comments or instructions among them, which libxml2 finds in some ways.
    pub subset_has_remarks: bool,
    /// Whether an entity that they declare stands in content: libxml2 keeps its nodes with the
    /// declaration, counts their text to the string-value of the document node, and finds them from behind.
    pub subset_has_nodes: bool,
    /// For each declared entity, by its number, where its text is in [`Tree::text`] for the first time;
    /// [`NONE`] if it does not stand in content. Nothing if only libxml2 knows.
    pub entity_texts: Vec<(u32, u32)>,
}

impl Tree {
    /// Forgets the document, keeps the memory.
    pub fn clear(&mut self) {
        self.elements.clear();
        self.attributes.clear();
        self.texts.clear();
        self.identifiers.clear();
        self.text.clear();
        self.values.clear();
        self.remarks.clear();
        self.remark_text.clear();
        self.has_doctype = false;
        self.has_subset = false;
        self.subset_has_remarks = false;
        self.subset_has_nodes = false;
        self.entity_texts.clear();
    }

    /// Takes note of the text of an entity that stands in content.
    pub fn push_entity_text(&mut self, entity: u32, start: usize) {
        let place = entity as usize;
        if self.entity_texts.len() <= place {
            self.entity_texts.resize(place + 1, (NONE, NONE));
        }
        let known = &mut self.entity_texts[place];
        if known.0 == NONE {
            *known = (start as u32, self.text.len() as u32);
        }
    }

    /// Appends a comment, or an instruction if it has a target, as a child of an element.
    pub fn push_remark(&mut self, owner: u32, target: Option<&[u8]>, content: &[u8]) {
        let begin = self.remark_text.len() as u32;
        self.remark_text
            .extend_from_slice(target.unwrap_or_default());
        let start = self.remark_text.len() as u32;
        // Line ends are `\n`, as XML wants them.
        let mut rest = content;
        while let Some(end) = memchr::memchr(b'\r', rest) {
            self.remark_text.extend_from_slice(&rest[..end]);
            self.remark_text.push(b'\n');
            rest = &rest[end + 1..];
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        self.remark_text.extend_from_slice(rest);
        self.remarks.push(Remark {
            owner,
            elements: self.elements.len() as u32,
            texts: self.texts.len() as u32,
            target: begin,
            start,
            end: self.remark_text.len() as u32,
            is_instruction: target.is_some(),
        });
    }
}

/// Expanded names (namespace and local part) as small numbers, remembered across documents.
///
/// The numbers are dense from 0 and stay the same until [`Names::clear`], which the reader calls
/// between documents when there are too many; [`Names::generation`] tells.
#[derive(Debug)]
pub struct Names {
    namespaces: Vec<Box<str>>,
    namespace_keys: Keys,
    names: Vec<(u32, Box<str>)>,
    name_keys: Keys,
    text_bytes: usize,
    generation: u64,
}

/// The number of the namespace of names that have none.
pub(crate) const NO_NAMESPACE: u32 = 0;

impl Default for Names {
    fn default() -> Self {
        Names {
            namespaces: vec!["".into()],
            namespace_keys: Keys::default(),
            names: Vec::new(),
            name_keys: Keys::default(),
            text_bytes: 0,
            generation: 0,
        }
    }
}

impl Names {
    /// Namespace (empty for none) and local part of a name.
    ///
    /// # Panics
    ///
    /// If the number is none of this table's.
    pub fn get(&self, name: u32) -> (&str, &str) {
        let (namespace, local) = &self.names[name as usize];
        (&self.namespaces[*namespace as usize], local)
    }

    /// A prefix by its number, empty for none. Prefixes are numbered as namespaces are.
    ///
    /// # Panics
    ///
    /// If the number is none of this table's.
    pub fn prefix(&self, prefix: u32) -> &str {
        &self.namespaces[prefix as usize]
    }

    /// The number of a name that some document had.
    pub fn find(&self, namespace: &str, local: &str) -> Option<u32> {
        let namespace = if namespace.is_empty() {
            NO_NAMESPACE
        } else {
            found(&self.namespace_keys.search(0, namespace.as_bytes()))?
        };
        found(&self.name_keys.search(namespace, local.as_bytes()))
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no document was read yet.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// How much memory the names take, about.
    pub fn bytes(&self) -> usize {
        self.text_bytes
            + self.names.capacity() * size_of::<(u32, Box<str>)>()
            + self.namespaces.capacity() * size_of::<Box<str>>()
            + self.name_keys.memory()
            + self.namespace_keys.memory()
    }

    /// How often the names were forgotten: numbers of another generation mean nothing now.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Forgets all names; the next one is number 0 again.
    pub fn clear(&mut self) {
        *self = Names {
            generation: self.generation + 1,
            ..Names::default()
        };
    }

    /// The number of a namespace that was met before, by whoever read the document.
    pub(crate) fn known_namespace(&self, namespace: &[u8]) -> Option<u32> {
        found(&self.namespace_keys.search(0, namespace))
    }

    /// How many names and namespaces there are.
    pub(crate) fn remembered(&self) -> usize {
        self.name_keys.len() + self.namespace_keys.len()
    }

    /// The number of a namespace; none if the table is crowded.
    pub(crate) fn namespace(&mut self, namespace: &[u8]) -> Option<u32> {
        if namespace.is_empty() {
            return Some(NO_NAMESPACE);
        }
        match self.namespace_keys.search(0, namespace) {
            Search::Found(number) => Some(number),
            Search::Missing(place) => {
                let number = self.namespaces.len() as u32;
                self.namespaces
                    .push(std::str::from_utf8(namespace).ok()?.into());
                self.text_bytes += namespace.len();
                self.namespace_keys.put(place, 0, namespace, number);
                Some(number)
            }
            Search::Crowded => None,
        }
    }

    /// The number of a name in a numbered namespace; none if the table is crowded.
    pub(crate) fn intern(&mut self, namespace: u32, local: &[u8]) -> Option<u32> {
        match self.name_keys.search(namespace, local) {
            Search::Found(number) => Some(number),
            Search::Missing(place) => {
                let number = self.names.len() as u32;
                self.names
                    .push((namespace, std::str::from_utf8(local).ok()?.into()));
                self.text_bytes += local.len();
                self.name_keys.put(place, namespace, local, number);
                Some(number)
            }
            Search::Crowded => None,
        }
    }
}

fn found(search: &Search) -> Option<u32> {
    match search {
        Search::Found(number) => Some(*number),
        Search::Missing(_) | Search::Crowded => None,
    }
}
