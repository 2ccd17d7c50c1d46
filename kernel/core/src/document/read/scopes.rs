//! Which prefixes mean which namespaces at the place that is being read.
//!
//! Every set of declarations in force has a number, its *scope*: 0 has none, and an element that
//! declares something leads from its parent's scope to another one. Scopes are remembered across
//! documents, so that a name with a colon has to be taken apart only once per scope, not each time it
//! occurs. The meaning of each prefix now is kept beside them, with what it meant outside, so that
//! neither many declarations nor deep ones make a search slow.

use super::key_table::{ABSENT, Keys, Search};
use super::namespace_names::is_plain_address;
use super::{TAG_BEFORE_ALL, Unsure};
use crate::document::tree::{NO_NAMESPACE, Names};

const XML: &[u8] = b"http://www.w3.org/XML/1998/namespace";
const XMLNS: &[u8] = b"http://www.w3.org/2000/xmlns/";

/// The empty prefix, that of default namespaces.
const DEFAULT: usize = 0;

/// Declarations around a reference that are undone for the text of its entity, each time. Documents have
/// a few; many of them and many references would take quadratic time.
const ISOLATED_MAX: usize = 64;

/// The scope without declarations.
pub(super) const OUTERMOST: u32 = 0;

/// What an element has to bring back when it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outside {
    scope: u32,
    changes: u32,
}

#[derive(Clone, Copy, Debug)]
struct Prefix {
    /// What it means now, or [`ABSENT`].
    namespace: u32,
    /// The last start tag that declared it.
    tag: u64,
}

#[derive(Debug)]
pub(super) struct Scopes {
    prefix_keys: Keys,
    prefixes: Vec<Prefix>,
    scope_keys: Keys,
    scope: u32,
    /// What was declared: which prefix, and what it meant before.
    changes: Vec<(u32, u32)>,
    /// The declarations of one tag as the key of a scope.
    declared: Vec<u8>,
    /// For each namespace whether it was found to be one that libxml2 surely takes.
    checked: Vec<bool>,
    checked_count: usize,
}

impl Default for Scopes {
    fn default() -> Self {
        Scopes {
            prefix_keys: Keys::default(),
            prefixes: vec![Prefix {
                namespace: NO_NAMESPACE,
                tag: TAG_BEFORE_ALL,
            }],
            scope_keys: Keys::default(),
            scope: OUTERMOST,
            changes: Vec::new(),
            declared: Vec::new(),
            checked: Vec::new(),
            checked_count: 0,
        }
    }
}

impl Scopes {
    /// Goes back to the outermost scope, wherever the last document ended.
    pub(super) fn begin(&mut self) {
        self.declared.clear();
        self.leave(Outside {
            scope: OUTERMOST,
            changes: 0,
        });
    }

    /// Enters a place where nothing is declared, until [`Scopes::leave`].
    ///
    /// Replacement texts are such places: in them libxml2 knows no prefix from around the reference.
    pub(super) fn isolate(&mut self) -> Result<(), Unsure> {
        let count = self.changes.len();
        if count > ISOLATED_MAX {
            return Err(Unsure::Limit("declarations around an entity"));
        }
        for index in 0..count {
            let (prefix, _) = self.changes[index];
            let undeclared = if prefix as usize == DEFAULT {
                NO_NAMESPACE
            } else {
                ABSENT
            };
            let known = &mut self.prefixes[prefix as usize];
            if known.namespace != undeclared {
                self.changes.push((prefix, known.namespace));
                known.namespace = undeclared;
            }
        }
        self.scope = OUTERMOST;
        Ok(())
    }

    /// The scope that holds now.
    #[inline]
    pub(super) fn scope(&self) -> u32 {
        self.scope
    }

    pub(super) fn memory(&self) -> usize {
        self.prefix_keys.memory()
            + self.scope_keys.memory()
            + self.prefixes.capacity() * size_of::<Prefix>()
            + self.checked.capacity()
    }

    /// How many prefixes, scopes and namespaces are remembered.
    pub(super) fn remembered(&self) -> usize {
        self.prefix_keys.len() + self.scope_keys.len() + self.checked_count
    }

    /// Takes a declaration of the start tag that is being read.
    ///
    /// What XML reserves, and what libxml2 calls wrong, is refused.
    pub(super) fn declare(
        &mut self,
        names: &mut Names,
        prefix: &[u8],
        namespace: &[u8],
        tag: u64,
    ) -> Result<(), Unsure> {
        if prefix == b"xml" {
            return if namespace == XML {
                Ok(())
            } else {
                Err(Unsure::Namespace)
            };
        }
        let wrong = prefix == b"xmlns"
            || namespace == XML
            || namespace == XMLNS
            || (namespace.is_empty() && !prefix.is_empty());
        if wrong {
            return Err(Unsure::Namespace);
        }
        let namespace = self.checked_namespace(names, namespace)?;
        let number = self.prefix_number(prefix)?;
        let known = &mut self.prefixes[number as usize];
        if known.tag == tag {
            return Err(Unsure::Duplicate);
        }
        self.changes.push((number, known.namespace));
        *known = Prefix { namespace, tag };
        self.declared.extend_from_slice(&number.to_le_bytes());
        self.declared.extend_from_slice(&namespace.to_le_bytes());
        Ok(())
    }

    /// The number of a namespace that libxml2 surely takes.
    ///
    /// That it has a number says nothing: libxml2, whose documents come as events, takes some that no
    /// declaration may have, and tells of it only by a warning.
    fn checked_namespace(&mut self, names: &mut Names, namespace: &[u8]) -> Result<u32, Unsure> {
        if namespace.is_empty() {
            return Ok(NO_NAMESPACE);
        }
        let is_checked = |number: u32| self.checked.get(number as usize) == Some(&true);
        if let Some(known) = names
            .known_namespace(namespace)
            .filter(|&it| is_checked(it))
        {
            return Ok(known);
        }
        if !is_plain_address(namespace) {
            return Err(Unsure::Namespace);
        }
        let number = names.namespace(namespace).ok_or(Unsure::Crowded)?;
        if self.checked.len() <= number as usize {
            self.checked.resize(number as usize + 1, false);
        }
        self.checked[number as usize] = true;
        self.checked_count += 1;
        Ok(number)
    }

    /// Enters the scope of the declarations since the last call, if there were any.
    pub(super) fn enter(&mut self) -> Result<(), Unsure> {
        if self.declared.is_empty() {
            return Ok(());
        }
        self.scope = match self.scope_keys.search(self.scope, &self.declared) {
            Search::Found(scope) => scope,
            Search::Missing(place) => {
                let scope = self.scope_keys.len() as u32 + 1;
                self.scope_keys
                    .put(place, self.scope, &self.declared, scope);
                scope
            }
            Search::Crowded => return Err(Unsure::Crowded),
        };
        self.declared.clear();
        Ok(())
    }

    /// What to give to [`Scopes::leave`] later.
    #[inline]
    pub(super) fn outside(&self) -> Outside {
        Outside {
            scope: self.scope,
            changes: self.changes.len() as u32,
        }
    }

    /// Forgets the declarations since [`Scopes::outside`].
    #[inline]
    pub(super) fn leave(&mut self, outside: Outside) {
        while self.changes.len() > outside.changes as usize {
            if let Some((prefix, namespace)) = self.changes.pop() {
                self.prefixes[prefix as usize].namespace = namespace;
            }
        }
        self.scope = outside.scope;
    }

    /// What the default namespace is now.
    pub(super) fn default_namespace(&self) -> u32 {
        self.prefixes[DEFAULT].namespace
    }

    /// What a prefix means now.
    pub(super) fn namespace(&self, names: &mut Names, prefix: &[u8]) -> Result<u32, Unsure> {
        if prefix == b"xml" {
            return names.namespace(XML).ok_or(Unsure::Crowded);
        }
        match self.prefix_keys.search(0, prefix) {
            Search::Found(number) if self.prefixes[number as usize].namespace != ABSENT => {
                Ok(self.prefixes[number as usize].namespace)
            }
            _ => Err(Unsure::Namespace),
        }
    }

    fn prefix_number(&mut self, prefix: &[u8]) -> Result<u32, Unsure> {
        if prefix.is_empty() {
            return Ok(DEFAULT as u32);
        }
        match self.prefix_keys.search(0, prefix) {
            Search::Found(number) => Ok(number),
            Search::Missing(place) => {
                let number = self.prefixes.len() as u32;
                self.prefixes.push(Prefix {
                    namespace: ABSENT,
                    tag: TAG_BEFORE_ALL,
                });
                self.prefix_keys.put(place, 0, prefix, number);
                Ok(number)
            }
            Search::Crowded => Err(Unsure::Crowded),
        }
    }
}
