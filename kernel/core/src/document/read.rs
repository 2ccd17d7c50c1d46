//! XML documents as trees, many times faster than libxml2, and never otherwise than libxml2.
//!
//! The oracle for documents is libxml2 in the hardened setting of the Python side. This reader knows
//! the part of XML that nearly all documents keep to, and is sure of it: whenever it takes a document,
//! libxml2 takes it too and builds the same tree. Whatever is wrong, or only rare, is [`Unsure`], and
//! libxml2 decides:
//!
//! | taken here | left to libxml2 |
//! |---|---|
//! | UTF-8, UTF-16, ISO-8859-x, most of Windows-125x | XML 1.1, names of encodings that few use |
//! | `<!DOCTYPE a SYSTEM "a.dtd">` | |
//! | internal subsets: entities, types of attributes | defaults that declare namespaces or refer to something |
//! | references to what an unread DTD may declare | references to entities in files of their own |
//! | namespaces with plain names | names no URI could be, undeclared prefixes |
//! | what libxml2 takes by default | longer, deeper, larger; and all mistakes |
//!
//! One pass checks the characters of the whole input and what occurs in it at all; a second one reads
//! markup and text, copying each once. Names are looked up by their raw bytes together with the scope
//! of namespace declarations they stand in, so that a name that was met before, in this document or
//! an earlier one, costs one search in one table. No general pull parser stands in front: the events
//! of one took longer than all of this.

pub(crate) mod key_table;

mod characters;
mod content;
mod declarations;
mod encodings;
mod expansion;
mod namespace_names;
mod outline;
mod prolog;
mod raw_names;
mod scopes;
mod subset;
pub(crate) mod swar;
mod tags;

use std::collections::HashSet;
use std::fmt;

pub use outline::{Node, outline};

use crate::document::build::{Event, build};
use crate::document::tree::{Names, Tree};
use prolog::Origin;
use raw_names::RawNames;
use scopes::{Outside, Scopes};

/// How large a document may be.
///
/// The defaults are those of the Python side, where each has its reason.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The length of the document.
    pub bytes_max: usize,
    /// How many elements it may have.
    pub elements_max: usize,
    /// How many elements may be inside each other; never more than 256, where libxml2 stops.
    pub depth_max: usize,
    /// How many attributes one element may have.
    pub attributes_max: usize,
    /// How many characters a name or a namespace may have. Here bytes are counted, prefix and all, so
    /// that whatever is taken is within it.
    pub name_length_max: usize,
    /// How many bytes of declarations it may have, counted in UTF-8.
    pub internal_subset_bytes_max: usize,
    /// Whether it was decoded already, and is UTF-8 whatever it declares. What declares something else is
    /// left to the Python side then.
    pub is_decoded: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            bytes_max: 10_000_000,
            elements_max: 1_000_000,
            depth_max: DEPTH_OF_LIBXML2,
            attributes_max: 1_000,
            name_length_max: 1_000,
            internal_subset_bytes_max: 131_072,
            is_decoded: false,
        }
    }
}

const DEPTH_OF_LIBXML2: usize = 256;

/// A text, value or comment longer than this libxml2 may refuse.
const TOKEN_BYTES_MAX: usize = 9_999_999;

/// The memory for documents in other encodings that is kept for the next one.
const RECODED_BYTES_KEPT: usize = 1 << 20;

/// Names that are remembered across documents: far more than any feed has, and little memory. Beyond
/// that somebody makes names up, and remembering them gains nothing.
const NAMES_MAX: usize = 65_536;
const NAMES_BYTES_MAX: usize = 8 << 20;

/// Why this reader would rather have libxml2 look at a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsure {
    /// It is in no encoding that is known here, or says it is in another one.
    Encoding,
    /// It has a character that no document may have.
    Character,
    /// Its XML declaration is wrong, of another version, or not at the start.
    Declaration,
    /// It has a document type declaration that is wrong or odd.
    DocumentType,
    /// It refers to an entity that is not declared, or that is not in the document.
    Entity,
    /// It has a character reference that is wrong or odd.
    Reference,
    /// A name is wrong, or has more than one colon.
    Name,
    /// A namespace is not declared, reserved, or no plain URI.
    Namespace,
    /// An attribute, a namespace declaration or an `xml:id` comes twice.
    Duplicate,
    /// An `xml:id` is no name.
    Identifier,
    /// Tags do not match, or it ends too early, or too late.
    Nesting,
    /// Some other markup is wrong.
    Markup,
    /// It has `]]>` in text.
    SectionEnd,
    /// It has an empty CDATA section for a text node of its own.
    EmptySection,
    /// More of something than allowed.
    Limit(&'static str),
    /// Its names were chosen to make us slow.
    Crowded,
    /// It takes about as much as it may, on an index that has to be settled before that is known.
    Scattered,
}

impl fmt::Display for Unsure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Unsure::Encoding => "another encoding",
            Unsure::Character => "a character that is not allowed",
            Unsure::Declaration => "an XML declaration that is wrong, misplaced or not of 1.0",
            Unsure::DocumentType => "a document type declaration that is wrong or rare",
            Unsure::Entity => "a reference to an entity",
            Unsure::Reference => "a wrong character reference",
            Unsure::Name => "a wrong name",
            Unsure::Namespace => "a namespace that is undeclared, reserved or no plain URI",
            Unsure::Duplicate => "an attribute or identifier that comes twice",
            Unsure::Identifier => "an xml:id that is no name",
            Unsure::Nesting => "tags that do not match",
            Unsure::Markup => "wrong markup",
            Unsure::SectionEnd => "the end of a CDATA section in text",
            Unsure::EmptySection => "an empty CDATA section on its own",
            Unsure::Limit(what) => return write!(to, "too large: {what}"),
            Unsure::Crowded => "names that are hard to tell apart",
            Unsure::Scattered => "an index that has to be settled",
        })
    }
}

impl std::error::Error for Unsure {}

/// Where every element's number of start tags begins: no tag has this one.
const TAG_BEFORE_ALL: u64 = 0;

/// An element whose end tag is to come.
#[derive(Clone, Copy, Debug)]
struct Open {
    element: u32,
    name_start: u32,
    name_length: u32,
    outside: Outside,
}

/// An attribute with a prefix, whose meaning is known only at the end of its tag.
#[derive(Clone, Copy, Debug)]
struct Prefixed {
    attribute: u32,
    raw_name: u32,
    start: u32,
    end: u32,
}

/// Reads documents, one after the other; one for each thread.
///
/// A name that was taken is not measured again, so all documents come with the same limits.
#[derive(Default, Debug)]
pub struct Reader {
    names: Names,
    raw_names: RawNames,
    scopes: Scopes,
    open: Vec<Open>,
    prefixed: Vec<Prefixed>,
    /// For each name the last start tag that had such an attribute.
    attribute_tags: Vec<u64>,
    /// Counts start tags over all documents.
    tag: u64,
    identifiers: HashSet<Box<[u8]>>,
    /// A document that came in another encoding, as UTF-8.
    recoded: String,
}

impl Reader {
    /// The document as a tree, or why libxml2 had better look at it; the tree is empty then, and
    /// nothing is kept of the document.
    pub fn read(&mut self, content: &[u8], limits: &Limits, tree: &mut Tree) -> Result<(), Unsure> {
        self.begin();
        tree.clear();
        let before = self.remembered();
        let outcome = self.read_document(content, limits, tree);
        if outcome.is_err() {
            self.give_up(before, tree);
        }
        outcome
    }

    /// A document that libxml2 has read, as a tree. Its names are given numbers, and that is all:
    /// none is taken for one that was checked here.
    pub fn take(&mut self, events: &[Event], tree: &mut Tree) -> Result<(), Unsure> {
        self.begin();
        let before = self.remembered();
        let mut outcome = build(events, &mut self.names, tree);
        if outcome == Err(Unsure::Crowded) {
            // Nobody else is left to read it; there is room in tables that are empty.
            self.forget();
            outcome = build(events, &mut self.names, tree);
        }
        if outcome.is_err() {
            self.give_up(before, tree);
        }
        outcome
    }

    /// How many names, namespaces, prefixes and their meanings are remembered of all documents so far.
    pub fn remembered(&self) -> usize {
        self.names.remembered() + self.raw_names.remembered() + self.scopes.remembered()
    }

    /// The names of all documents so far.
    pub fn names(&self) -> &Names {
        &self.names
    }

    fn read_document(
        &mut self,
        content: &[u8],
        limits: &Limits,
        tree: &mut Tree,
    ) -> Result<(), Unsure> {
        // Places in the document are numbers of 32 bits.
        if content.len() > limits.bytes_max || content.len() >= u32::MAX as usize {
            return Err(Unsure::Limit("bytes"));
        }
        match self.read_text(content, Origin::AsItCame, limits, tree) {
            // What is in two bytes a character has zeros.
            Err(reason @ (Unsure::Encoding | Unsure::Character)) if !limits.is_decoded => {
                self.read_recoded(content, limits, tree, reason)
            }
            outcome => outcome,
        }
    }

    /// Reads a document in another encoding; fails for the reason given if it is not in one.
    #[cold]
    fn read_recoded(
        &mut self,
        content: &[u8],
        limits: &Limits,
        tree: &mut Tree,
        reason: Unsure,
    ) -> Result<(), Unsure> {
        let mut text = std::mem::take(&mut self.recoded);
        text.clear();
        let origin = if encodings::widened(content, &mut text) {
            Some(Origin::Wide)
        } else {
            text.clear();
            let encoding = prolog::declared_encoding(content);
            encoding
                .is_some_and(|name| encodings::recoded(content, name, &mut text))
                .then_some(Origin::AsDeclared)
        };
        let outcome = match origin {
            Some(origin) if text.len() < u32::MAX as usize => {
                tree.clear();
                self.read_text(text.as_bytes(), origin, limits, tree)
            }
            Some(_) => Err(Unsure::Limit("bytes")),
            None => Err(reason),
        };
        if text.capacity() <= RECODED_BYTES_KEPT {
            self.recoded = text;
        }
        outcome
    }

    fn read_text(
        &mut self,
        text: &[u8],
        origin: Origin,
        limits: &Limits,
        tree: &mut Tree,
    ) -> Result<(), Unsure> {
        let occurring = content::examine(text)?;
        let subset_bytes_max = limits.internal_subset_bytes_max;
        let prolog = prolog::prolog(text, origin, subset_bytes_max, tree)?;
        // What entities add is bounded by a multiple of the document, and has places, too.
        if prolog.declarations.is_some() && text.len() >= u32::MAX as usize / 8 {
            return Err(Unsure::Limit("bytes"));
        }
        let depth_max = limits.depth_max.min(DEPTH_OF_LIBXML2);
        let limits = Limits {
            depth_max,
            ..*limits
        };
        let mut pass = content::Pass::new(text, occurring, &prolog, &limits, self, tree);
        let behind = pass.root(prolog.root)?;
        let end = prolog::miscellaneous(text, behind, tree)?;
        if end == text.len() {
            Ok(())
        } else {
            Err(Unsure::Nesting)
        }
    }

    fn begin(&mut self) {
        let memory = self.names.bytes() + self.raw_names.memory() + self.scopes.memory();
        if self.raw_names.len() > NAMES_MAX || memory > NAMES_BYTES_MAX {
            self.forget();
        }
        self.scopes.begin();
        self.open.clear();
        self.prefixed.clear();
        self.identifiers.clear();
    }

    /// Forgets a document that was refused. What is remembered only grows; if it did, all of it goes,
    /// which costs the documents to come no more than the first ones.
    fn give_up(&mut self, before: usize, tree: &mut Tree) {
        tree.clear();
        if self.remembered() != before {
            self.forget();
        }
    }

    /// Forgets all that was learned of documents.
    fn forget(&mut self) {
        self.names.clear();
        self.raw_names = RawNames::default();
        self.scopes = Scopes::default();
        self.attribute_tags = Vec::new();
    }
}
