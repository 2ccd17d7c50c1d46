//! References to entities that a document declares, and attributes with a type.
//!
//! An entity's text is read again at each reference. libxml2 bounds what that can come to: beyond a
//! million bytes, references may not add more than five times the text up to them. What is near that
//! bound is left to it. None of this is on the way of documents without declarations.

use std::collections::HashSet;

use memchr::memmem;

use super::characters::{byte, name_with_colons, reference};
use super::content::Pass;
use super::declarations::{Declarations, Entity, Type};
use super::subset::FIXED_COST;
use super::{Open, Unsure};
use crate::document::tree::Attribute;

/// The bytes that entities may add to any document, and the multiple of the text up to a reference that
/// they may add to a larger one: those of libxml2.
const GROWTH_FREE: usize = 1_000_000;
const GROWTH_MAX: usize = 5;

/// References inside the texts of references; libxml2 stops at 20, and counts other things with them.
const NESTED_MAX: usize = 12;

/// A reference that was read.
struct Referred<'a> {
    /// Number and text of its entity; nothing if it is left out.
    entity: Option<(u32, &'a [u8])>,
    behind: usize,
}

/// What was added to a document so far.
#[derive(Debug, Default)]
pub(super) struct Growth {
    /// The entities whose texts are being read, the outermost first.
    inside: Vec<u32>,
    /// Where the outermost reference is.
    at: usize,
    /// What was added in all, and inside the outermost reference.
    added: usize,
    nested: usize,
}

impl Growth {
    /// Adds so many bytes, by something at a place.
    fn add(&mut self, bytes: usize, at: usize) -> Result<(), Unsure> {
        const TOO_MUCH: Unsure = Unsure::Limit("what entities come to");
        if self.inside.is_empty() {
            (self.at, self.nested) = (at, 0);
        }
        self.nested += bytes;
        self.added += bytes;
        if self.added > GROWTH_FREE && self.added > GROWTH_MAX * self.at {
            return Err(TOO_MUCH);
        }
        // libxml2 also compares what is inside a text with what was read of that text alone.
        if self.nested > GROWTH_FREE {
            return Err(TOO_MUCH);
        }
        Ok(())
    }

    /// Begins to read the text of an entity that is referred to at a place.
    fn enter(&mut self, entity: u32, length: usize, at: usize) -> Result<(), Unsure> {
        if self.inside.len() >= NESTED_MAX || self.inside.contains(&entity) {
            return Err(Unsure::Limit("entities inside each other"));
        }
        self.add(length + FIXED_COST, at)?;
        self.inside.push(entity);
        Ok(())
    }

    fn leave(&mut self) {
        self.inside.pop();
    }

    /// Whether what is being read stands in the document itself.
    pub(super) fn is_outside(&self) -> bool {
        self.inside.is_empty()
    }
}

impl<'a> Pass<'a> {
    /// Reads the reference to an entity at a place in content.
    #[cold]
    pub(super) fn entity(&mut self, at: usize) -> Result<usize, Unsure> {
        let Referred { entity, behind } = self.referred(self.input, at)?;
        let Some((number, text)) = entity else {
            return Ok(behind);
        };
        self.growth.enter(number, text.len(), at)?;
        self.tree.subset_has_nodes = true;
        let start = self.tree.text.len();
        if memchr::memchr2(b'<', b'&', text).is_some() {
            let outer = std::mem::replace(&mut self.input, text);
            self.inside()?;
            self.input = outer;
        } else {
            self.entity_text(text)?;
        }
        self.tree.push_entity_text(number, start);
        self.growth.leave();
        Ok(behind)
    }

    /// Reads all of a text that has markup or references.
    fn inside(&mut self) -> Result<(), Unsure> {
        let text = self.input;
        let outside = self.reader.scopes.outside();
        self.reader.scopes.isolate()?;
        // Stands for the element around: no end tag has this name, which is behind the end.
        let around = Open {
            element: self.owner(),
            name_start: text.len() as u32,
            name_length: 1,
            outside,
        };
        let depth = self.reader.open.len();
        self.reader.open.push(around);
        self.content(0, depth)?;
        self.reader.scopes.leave(outside);
        Ok(())
    }

    /// Reads text up to the end, where only that of an entity may have it, and closes what stands for the
    /// element around it.
    #[cold]
    pub(super) fn last_text(&mut self, at: usize) -> Result<usize, Unsure> {
        let end = self.input.len();
        let innermost = self.reader.open.last();
        if innermost.is_none_or(|open| open.name_start as usize != end) {
            return Err(Unsure::Nesting);
        }
        self.entity_text(&self.input[at..])?;
        self.reader.open.pop();
        Ok(end)
    }

    fn entity_text(&mut self, text: &[u8]) -> Result<(), Unsure> {
        if memmem::find(text, b"]]>").is_some() {
            return Err(Unsure::SectionEnd);
        }
        self.take(text);
        Ok(())
    }

    /// Appends what the reference to an entity at a place in a value stands for.
    #[cold]
    pub(super) fn entity_in_value(&mut self, at: usize) -> Result<usize, Unsure> {
        self.value_of_entity(self.input, at)
    }

    fn value_of_entity(&mut self, input: &'a [u8], at: usize) -> Result<usize, Unsure> {
        let Referred { entity, behind } = self.referred(input, at)?;
        if let Some((number, text)) = entity {
            self.growth.enter(number, text.len(), at)?;
            self.value_of_text(text)?;
            self.growth.leave();
        }
        Ok(behind)
    }

    /// Appends an entity's text to a value. Line ends are not what they are in documents here: libxml2
    /// makes a blank of each byte.
    fn value_of_text(&mut self, text: &'a [u8]) -> Result<(), Unsure> {
        let is_stop = |byte: &u8| matches!(byte, b'<' | b'&' | ..b' ');
        let mut at = 0;
        while let Some(length) = text[at..].iter().position(is_stop) {
            let stop = at + length;
            self.tree.values.extend_from_slice(&text[at..stop]);
            at = match text[stop] {
                b'<' => return Err(Unsure::Markup),
                b'&' => match reference(text, stop, &mut self.tree.values) {
                    Err(Unsure::Entity) => self.value_of_entity(text, stop)?,
                    known => known?,
                },
                _ => {
                    self.tree.values.push(b' ');
                    stop + 1
                }
            };
        }
        self.tree.values.extend_from_slice(&text[at..]);
        Ok(())
    }

    /// What is referred to at a place.
    fn referred(&self, input: &[u8], at: usize) -> Result<Referred<'a>, Unsure> {
        let end = name_with_colons(input, at + 1).map_err(|_| Unsure::Entity)?;
        if byte(input, end) != b';' {
            return Err(Unsure::Entity);
        }
        let name = &input[at + 1..end];
        let declarations: Option<&'a Declarations> = self.declarations;
        let entity = match declarations.map(|it| (it.entity(name), it)) {
            Some((Some((number, Entity::Internal { start, end })), it)) => {
                Some((number, &it.text[start as usize..end as usize]))
            }
            Some((Some((_, Entity::External)), _)) => return Err(Unsure::Entity),
            _ if self.leaves_out => None,
            _ => return Err(Unsure::Entity),
        };
        Ok(Referred {
            entity,
            behind: end + 1,
        })
    }

    /// Reads the attributes of an element again, by what is declared of them. Its name is between these
    /// places.
    #[cold]
    pub(super) fn declared_attributes(
        &mut self,
        element: u32,
        name_start: usize,
        name_end: usize,
    ) -> Result<(), Unsure> {
        let Some(declarations) = self.declarations else {
            return Ok(());
        };
        let Some(declared) = declarations.element(&self.input[name_start..name_end]) else {
            return Ok(());
        };
        if declared.default_cost > 0 {
            self.growth.add(declared.default_cost, name_start)?;
        }
        let first = self.tree.elements[element as usize].attributes as usize;
        if !declared.has_types || first == self.tree.attributes.len() {
            return Ok(());
        }
        let names = &self.reader.names;
        let values = &mut self.tree.values;
        let mut place = self.tree.attributes[first].start as usize;
        for (index, attribute) in self.tree.attributes.iter_mut().enumerate().skip(first) {
            let prefix = names.prefix(attribute.prefix);
            let (_, local) = names.get(attribute.name);
            let kind = if prefix.is_empty() {
                declarations.attribute_type(declared, local.as_bytes())
            } else {
                let name = format!("{prefix}:{local}");
                declarations.attribute_type(declared, name.as_bytes())
            };
            let start = place;
            place = moved(values, attribute, start, kind != Type::Text);
            (attribute.start, attribute.end) = (start as u32, place as u32);
            if kind == Type::Identifier {
                let known = &mut self.reader.identifiers;
                remember(known, &values[start..place], &self.growth)?;
                self.tree.identifiers.push(index as u32);
            }
        }
        values.truncate(place);
        Ok(())
    }
}

/// Moves a value to a place that is not behind it, without needless blanks if it is of tokens; the place
/// behind it.
fn moved(values: &mut [u8], attribute: &Attribute, start: usize, is_tokens: bool) -> usize {
    let (from, to) = (attribute.start as usize, attribute.end as usize);
    if !is_tokens {
        values.copy_within(from..to, start);
        return start + (to - from);
    }
    let mut end = start;
    for at in from..to {
        let byte = values[at];
        if byte != b' ' || (end > start && values[end - 1] != b' ') {
            values[end] = byte;
            end += 1;
        }
    }
    end - usize::from(end > start && values[end - 1] == b' ')
}

/// Remembers an identifier. libxml2 wants no two to be the same, none to be empty, and makes something
/// of its own of those in entities.
fn remember(known: &mut HashSet<Box<[u8]>>, value: &[u8], growth: &Growth) -> Result<(), Unsure> {
    if value.is_empty() || !growth.is_outside() {
        return Err(Unsure::Identifier);
    }
    if known.insert(value.into()) {
        Ok(())
    } else {
        Err(Unsure::Duplicate)
    }
}
