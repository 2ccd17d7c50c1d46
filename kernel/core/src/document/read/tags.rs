//! Start tags: names, attributes, namespace declarations.

use super::characters::{
    byte, is_blank, plain_name, qualified_name, reference, skip_blanks, value_stop,
};
use super::content::Pass;
use super::scopes::OUTERMOST;
use super::swar::{below, equal, in_front, short_name, word};
use super::{Open, Prefixed, TOKEN_BYTES_MAX, Unsure};
use crate::document::tree::{Attribute, Element, NONE};

/// The number of a name that is given at the end of its tag.
const LATER: u32 = u32::MAX;

impl Pass<'_> {
    /// Reads the rest of a start tag from behind its `<`.
    pub(super) fn start_tag(&mut self, start: usize) -> Result<usize, Unsure> {
        let (raw_name, name_end) = self.raw_name(start)?;
        let outside = self.reader.scopes.outside();
        let element = self.push_element()?;
        self.reader.tag += 1;
        let (at, empty) = self.attributes(name_end)?;
        self.reader.scopes.enter()?;
        let scope = self.reader.scopes.scope();
        let name = self.name(raw_name, scope, start, name_end)?;
        let record = &mut self.tree.elements[element as usize];
        record.name = name;
        record.prefix = self.reader.raw_names.get(raw_name).prefix;
        if !self.reader.prefixed.is_empty() {
            self.name_prefixed(scope)?;
        }
        if self.has_attributes {
            self.declared_attributes(element, start, name_end)?;
        }
        let open = Open {
            element,
            name_start: start as u32,
            name_length: (name_end - start) as u32,
            outside,
        };
        if empty {
            self.close(open);
        } else {
            self.reader.open.push(open);
        }
        Ok(at)
    }

    /// Ends an element where everything inside it was read.
    #[inline]
    pub(super) fn close(&mut self, open: Open) {
        let end = self.tree.elements.len() as u32;
        let element = &mut self.tree.elements[open.element as usize];
        element.end = end;
        element.text_end = self.tree.text.len() as u32;
        self.reader.scopes.leave(open.outside);
    }

    #[inline]
    fn push_element(&mut self) -> Result<u32, Unsure> {
        let element = self.tree.elements.len();
        if element >= self.limits.elements_max {
            return Err(Unsure::Limit("elements"));
        }
        if self.reader.open.len() >= self.limits.depth_max {
            return Err(Unsure::Limit("levels"));
        }
        let text = self.tree.text.len() as u32;
        self.tree.elements.push(Element {
            name: LATER,
            prefix: 0,
            parent: self.reader.open.last().map_or(NONE, |open| open.element),
            end: 0,
            attributes: self.tree.attributes.len() as u32,
            texts: self.tree.texts.len() as u32,
            text_start: text,
            text_end: text,
        });
        Ok(element as u32)
    }

    /// Reads from behind the element's name to behind the `>`; whether the element is empty.
    #[inline]
    fn attributes(&mut self, mut at: usize) -> Result<(usize, bool), Unsure> {
        let first = self.tree.attributes.len();
        loop {
            let blank = is_blank(byte(self.input, at));
            at = skip_blanks(self.input, at);
            match byte(self.input, at) {
                b'>' => break Ok((at + 1, false)),
                b'/' if byte(self.input, at + 1) == b'>' => break Ok((at + 2, true)),
                _ if blank => at = self.attribute(at)?,
                _ => break Err(Unsure::Markup),
            }
            if self.tree.attributes.len() - first > self.limits.attributes_max {
                break Err(Unsure::Limit("attributes"));
            }
        }
    }

    /// Reads one attribute or namespace declaration; the place behind its quote.
    #[inline]
    fn attribute(&mut self, start: usize) -> Result<usize, Unsure> {
        let (raw_name, end) = self.raw_name(start)?;
        let mut at = skip_blanks(self.input, end);
        if byte(self.input, at) != b'=' {
            return Err(Unsure::Markup);
        }
        at = skip_blanks(self.input, at + 1);
        let value_start = self.tree.values.len();
        let behind = self.value(at)?;
        let known = self.reader.raw_names.get(raw_name);
        let prefix = known.prefix;
        if known.declares {
            let prefix_length = known.prefix_length as usize;
            self.declaration(&self.input[start + prefix_length..end], value_start)?;
            return Ok(behind);
        }
        let name = if known.prefix_length == 0 {
            let name = self.name(raw_name, OUTERMOST, start, end)?;
            self.check_first(name)?;
            name
        } else {
            self.reader.prefixed.push(Prefixed {
                attribute: self.tree.attributes.len() as u32,
                raw_name,
                start: start as u32,
                end: end as u32,
            });
            LATER
        };
        let (start, end) = (value_start as u32, self.tree.values.len() as u32);
        self.tree.attributes.push(Attribute {
            name,
            prefix,
            start,
            end,
        });
        Ok(behind)
    }

    /// Reads a value in quotes into the tree's values, normalised.
    #[inline]
    fn value(&mut self, start: usize) -> Result<usize, Unsure> {
        let quote = byte(self.input, start);
        if quote != b'"' && quote != b'\'' {
            return Err(Unsure::Markup);
        }
        let head = word(self.input, start + 1);
        let stops = equal(head, quote) | equal(head, b'<') | equal(head, b'&') | below(head, b' ');
        let length = in_front(stops);
        if byte(self.input, start + 1 + length) == quote {
            // All of it, and what is behind it to be cut off: cheaper than a copy of any length.
            let values = &mut self.tree.values;
            let end = values.len() + length;
            values.extend_from_slice(&head.to_le_bytes());
            values.truncate(end);
            return Ok(start + length + 2);
        }
        self.long_value(start, quote)
    }

    fn long_value(&mut self, start: usize, quote: u8) -> Result<usize, Unsure> {
        let value_start = self.tree.values.len();
        let mut from = start + 1;
        let mut at = from;
        loop {
            at = value_stop(self.input, at).ok_or(Unsure::Markup)?;
            let stop = self.input[at];
            if stop == quote {
                break;
            }
            at = match stop {
                b'<' => return Err(Unsure::Markup),
                b'"' | b'\'' => {
                    at += 1;
                    continue;
                }
                _ => self.value_exception(from, at)?,
            };
            from = at;
        }
        let values = &mut self.tree.values;
        values.extend_from_slice(&self.input[from..at]);
        // Entities make it longer, references shorter.
        if (at - start).max(values.len() - value_start) > TOKEN_BYTES_MAX {
            return Err(Unsure::Limit("a value"));
        }
        Ok(at + 1)
    }

    /// Takes what is plain up to `at`, and the reference or white space there.
    fn value_exception(&mut self, from: usize, at: usize) -> Result<usize, Unsure> {
        self.tree.values.extend_from_slice(&self.input[from..at]);
        if self.input[at] == b'&' {
            return match reference(self.input, at, &mut self.tree.values) {
                Err(Unsure::Entity) => self.entity_in_value(at),
                known => known,
            };
        }
        self.tree.values.push(b' ');
        let pair = self.input[at] == b'\r' && byte(self.input, at + 1) == b'\n';
        Ok(at + 1 + usize::from(pair))
    }

    /// Takes a namespace declaration, whose value is the last one read; `name` is `:prefix` or, for
    /// the default namespace, the whole `xmlns`.
    #[cold]
    fn declaration(&mut self, name: &[u8], value_start: usize) -> Result<(), Unsure> {
        let prefix = name.strip_prefix(b":").unwrap_or(b"");
        let reader = &mut *self.reader;
        let namespace = &self.tree.values[value_start..];
        if namespace.len() > self.limits.name_length_max {
            return Err(Unsure::Limit("a namespace"));
        }
        reader
            .scopes
            .declare(&mut reader.names, prefix, namespace, reader.tag)?;
        self.tree.values.truncate(value_start);
        Ok(())
    }

    /// Names the attributes with prefixes, now that all declarations of the tag are known.
    fn name_prefixed(&mut self, scope: u32) -> Result<(), Unsure> {
        for index in 0..self.reader.prefixed.len() {
            let Prefixed {
                attribute,
                raw_name,
                start,
                end,
            } = self.reader.prefixed[index];
            let name = self.name(raw_name, scope, start as usize, end as usize)?;
            self.check_first(name)?;
            self.tree.attributes[attribute as usize].name = name;
            if self.reader.raw_names.get(raw_name).identifies {
                self.check_identifier(attribute)?;
            }
        }
        self.reader.prefixed.clear();
        Ok(())
    }

    /// libxml2 wants every `xml:id` to be a name, and no two the same.
    ///
    /// Its names here are those of XML before the fifth edition, so outside ASCII we are not sure. And
    /// those in the text of an entity it does not look at.
    fn check_identifier(&mut self, attribute: u32) -> Result<(), Unsure> {
        let Attribute { start, end, .. } = self.tree.attributes[attribute as usize];
        let value = &self.tree.values[start as usize..end as usize];
        let is_plain = plain_name(value, 0) == Ok(value.len()) && value.is_ascii();
        if !is_plain || !self.growth.is_outside() {
            Err(Unsure::Identifier)
        } else if self.reader.identifiers.insert(value.into()) {
            Ok(())
        } else {
            Err(Unsure::Duplicate)
        }
    }

    /// Refuses the second attribute of a name in one tag.
    #[inline]
    fn check_first(&mut self, name: u32) -> Result<(), Unsure> {
        let reader = &mut *self.reader;
        if reader.attribute_tags.len() <= name as usize {
            reader
                .attribute_tags
                .resize(reader.names.len(), super::TAG_BEFORE_ALL);
        }
        let last = &mut reader.attribute_tags[name as usize];
        if *last == reader.tag {
            return Err(Unsure::Duplicate);
        }
        *last = reader.tag;
        Ok(())
    }

    /// The number of the raw name at a place, and the place behind it.
    #[inline]
    fn raw_name(&mut self, start: usize) -> Result<(u32, usize), Unsure> {
        if let Some((name, length)) = short_name(self.input, start)
            && let Some(number) = self.reader.raw_names.find(name)
        {
            return Ok((number, start + length));
        }
        self.new_raw_name(start)
    }

    /// As [`Pass::raw_name`], for a name that is long or new.
    #[cold]
    fn new_raw_name(&mut self, start: usize) -> Result<(u32, usize), Unsure> {
        let (end, prefix_length) = qualified_name(self.input, start)?;
        if end - start > self.limits.name_length_max {
            return Err(Unsure::Limit("a name"));
        }
        let raw_names = &mut self.reader.raw_names;
        let names = &mut self.reader.names;
        let number = raw_names.number(&self.input[start..end], prefix_length, names)?;
        match short_name(self.input, start) {
            Some((name, length)) if start + length == end => raw_names.remember(name, number)?,
            Some(_) => return Err(Unsure::Markup),
            None => {}
        }
        Ok((number, end))
    }

    /// What the raw name between two places means in a scope.
    #[inline]
    fn name(&mut self, raw_name: u32, scope: u32, start: usize, end: usize) -> Result<u32, Unsure> {
        let reader = &mut *self.reader;
        let (scopes, names) = (&reader.scopes, &mut reader.names);
        reader
            .raw_names
            .meaning(raw_name, &self.input[start..end], scopes, names, scope)
    }
}
