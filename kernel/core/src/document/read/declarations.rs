//! What an internal subset declares, as far as it changes the tree.
//!
//! Entities are replaced, and the values of attributes that are no CDATA lose blanks. Attributes of the
//! type ID are what `id()` asks for. No attribute comes from a declaration; but libxml2 counts the
//! defaults of each element to what a document grows by, so their sizes are kept.

use super::Unsure;
use super::key_table::{Keys, Search};

/// How attributes of a type are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// As they are written.
    Text,
    /// Without blanks around and in doubles.
    Tokens,
    /// The same, and they name their elements.
    Identifier,
}

/// An entity that a document may refer to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entity {
    /// Its text, from and to these places of [`Declarations::text`].
    Internal { start: u32, end: u32 },
    /// It is elsewhere, or no text at all.
    External,
}

/// The attributes of one element.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Declared {
    /// Its number among the elements with attributes.
    pub(super) number: u32,
    /// Whether any of them is no plain text.
    pub(super) has_types: bool,
    /// What libxml2 counts for the defaults each time such an element begins.
    pub(super) default_cost: usize,
    has_identifier: bool,
}

/// What was declared, by the first declaration of each thing: the later ones do not count.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    /// Whether there are references to parameter entities.
    pub(super) refers_to_parameters: bool,
    /// Whether there are comments or processing instructions among them.
    pub(super) has_remarks: bool,
    /// The texts of all entities, with their character references replaced and no others.
    pub(super) text: Vec<u8>,
    keys: Keys,
    entities: Vec<Entity>,
    elements: Vec<Declared>,
}

/// The parts of the one table: what a key with this tag is, and its value a number of.
const ENTITY: u32 = 0;
const NOTATION: u32 = 1;
const CONTENT: u32 = 2;
const PARAMETER: u32 = 3;
const ELEMENT: u32 = 4;
/// And that many more: the attribute of the element with this number, and its type.
const ATTRIBUTES: u32 = 5;

const TYPES: [Type; 3] = [Type::Text, Type::Tokens, Type::Identifier];

impl Declarations {
    /// What an entity is, by its number and name.
    pub(super) fn entity(&self, name: &[u8]) -> Option<(u32, Entity)> {
        let number = self.find(ENTITY, name)?;
        Some((number, self.entities[number as usize]))
    }

    /// Declares an entity. Where it is elsewhere by its first declaration, lxml refuses a text for it.
    pub(super) fn declare_entity(&mut self, name: &[u8], entity: Entity) -> Result<(), Unsure> {
        let known = self.entity(name).map(|(_, known)| known);
        if let (Some(Entity::External), Entity::Internal { .. }) = (known, entity) {
            return Err(Unsure::Entity);
        }
        let number = self.entities.len() as u32;
        if self.declare(ENTITY, name, number)? {
            self.entities.push(entity);
        }
        Ok(())
    }

    /// Declares a parameter entity.
    pub(super) fn declare_parameter(&mut self, name: &[u8], entity: Entity) -> Result<(), Unsure> {
        let has_text = matches!(entity, Entity::Internal { .. });
        self.declare(PARAMETER, name, u32::from(has_text))?;
        Ok(())
    }

    /// Passes over a reference to a parameter entity: none is ever replaced in the tree. But where one has
    /// a text, that must be right, too.
    pub(super) fn refer_to_parameter(&mut self, name: &[u8]) -> Result<(), Unsure> {
        self.refers_to_parameters = true;
        match self.find(PARAMETER, name) {
            Some(1) => Err(Unsure::Entity),
            _ => Ok(()),
        }
    }

    /// Declares what an element contains, which libxml2 takes only once.
    pub(super) fn declare_content(&mut self, element: &[u8]) -> Result<(), Unsure> {
        self.declare_once(CONTENT, element)
    }

    /// Declares a notation, which libxml2 takes only once.
    pub(super) fn declare_notation(&mut self, name: &[u8]) -> Result<(), Unsure> {
        self.declare_once(NOTATION, name)
    }

    /// What is declared of the attributes of an element, if it is declared.
    #[inline]
    pub(super) fn element(&self, name: &[u8]) -> Option<&Declared> {
        if self.elements.is_empty() {
            return None;
        }
        Some(&self.elements[self.find(ELEMENT, name)? as usize])
    }

    /// The number of an element whose attributes are declared.
    pub(super) fn declare_element(&mut self, name: &[u8]) -> Result<u32, Unsure> {
        let number = self.elements.len() as u32;
        if !self.declare(ELEMENT, name, number)? {
            return self.find(ELEMENT, name).ok_or(Unsure::Crowded);
        }
        self.elements.push(Declared {
            number,
            ..Declared::default()
        });
        Ok(number)
    }

    /// Declares an attribute, with what libxml2 counts for its default if it has one.
    pub(super) fn declare_attribute(
        &mut self,
        element: u32,
        name: &[u8],
        kind: Type,
        default_cost: usize,
    ) -> Result<(), Unsure> {
        let declared = &mut self.elements[element as usize];
        if kind == Type::Identifier && std::mem::replace(&mut declared.has_identifier, true) {
            return Err(Unsure::DocumentType);
        }
        if self.declare(ATTRIBUTES + element, name, kind as u32)? {
            let declared = &mut self.elements[element as usize];
            declared.has_types |= kind != Type::Text;
            declared.default_cost += default_cost;
        }
        Ok(())
    }

    /// The type of an attribute of an element that is declared.
    pub(super) fn attribute_type(&self, element: &Declared, name: &[u8]) -> Type {
        self.find(ATTRIBUTES + element.number, name)
            .map_or(Type::Text, |kind| TYPES[kind as usize])
    }

    /// Whether any start tag has to be looked at again.
    pub(super) fn has_attributes(&self) -> bool {
        !self.elements.is_empty()
    }

    fn declare_once(&mut self, tag: u32, name: &[u8]) -> Result<(), Unsure> {
        if self.declare(tag, name, 0)? {
            Ok(())
        } else {
            Err(Unsure::DocumentType)
        }
    }

    /// Whether it is the first declaration.
    fn declare(&mut self, tag: u32, name: &[u8], value: u32) -> Result<bool, Unsure> {
        match self.keys.search(tag, name) {
            Search::Found(_) => Ok(false),
            Search::Crowded => Err(Unsure::Crowded),
            Search::Missing(place) => {
                self.keys.put(place, tag, name, value);
                Ok(true)
            }
        }
    }

    fn find(&self, tag: u32, name: &[u8]) -> Option<u32> {
        match self.keys.search(tag, name) {
            Search::Found(value) => Some(value),
            Search::Missing(_) | Search::Crowded => None,
        }
    }
}
