//! The root element and everything inside it.

use memchr::{memchr, memchr2, memmem};

use super::characters::{byte, is_allowed, is_blank, need, reference};
use super::declarations::Declarations;
use super::expansion::Growth;
use super::prolog::{Prolog, comment, instruction};
use super::swar::{equal, in_front, same, word};
use super::{Limits, Reader, TOKEN_BYTES_MAX, Unsure};
use crate::document::tree::{TextNode, Tree};

/// What occurs anywhere in the input, so that most documents are spared the search for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurring {
    carriage_return: bool,
    section_end: bool,
}

/// Checks the characters of the whole input.
pub(super) fn examine(input: &[u8]) -> Result<Occurring, Unsure> {
    let text = std::str::from_utf8(input).map_err(|_| Unsure::Encoding)?;
    let mut control = false;
    let mut carriage_return = false;
    for &byte in input {
        carriage_return |= byte == b'\r';
        control |= (byte < b' ') & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
    }
    // Of all that UTF-8 can say beyond ASCII only U+FFFE and U+FFFF are not allowed.
    let forbidden = !text.is_ascii() && {
        let mut starts = memchr::memchr_iter(0xef, input);
        starts.any(|at| {
            text[at..]
                .chars()
                .next()
                .is_some_and(|found| !is_allowed(found))
        })
    };
    if control || forbidden {
        return Err(Unsure::Character);
    }
    let section_end = memmem::find(input, b"]]>").is_some();
    Ok(Occurring {
        carriage_return,
        section_end,
    })
}

impl Occurring {
    /// The same, where the texts of entities occur as well: what they have may be written as references.
    pub(super) fn and_in(self, declarations: Option<&Declarations>) -> Self {
        let text = declarations.map_or(&[][..], |it| &it.text);
        Occurring {
            carriage_return: self.carriage_return || memchr(b'\r', text).is_some(),
            section_end: self.section_end || memmem::find(text, b"]]>").is_some(),
        }
    }
}

/// One reading of one document.
pub(super) struct Pass<'a> {
    /// The text that is being read: the document's, or for a while that of an entity.
    pub(super) input: &'a [u8],
    pub(super) limits: &'a Limits,
    pub(super) reader: &'a mut Reader,
    pub(super) tree: &'a mut Tree,
    pub(super) declarations: Option<&'a Declarations>,
    /// Whether references to entities that are not declared are left out.
    pub(super) leaves_out: bool,
    /// Whether attributes are declared.
    pub(super) has_attributes: bool,
    pub(super) growth: Growth,
    occurring: Occurring,
    /// Where the text node that is being read begins in the tree's text.
    run_start: usize,
    /// Whether it has a CDATA section, perhaps an empty one.
    run_has_section: bool,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        input: &'a [u8],
        occurring: Occurring,
        prolog: &'a Prolog,
        limits: &'a Limits,
        reader: &'a mut Reader,
        tree: &'a mut Tree,
    ) -> Self {
        let declarations = prolog.declarations.as_ref();
        Pass {
            input,
            limits,
            reader,
            tree,
            declarations,
            leaves_out: prolog.leaves_out,
            has_attributes: declarations.is_some_and(Declarations::has_attributes),
            growth: Growth::default(),
            occurring: occurring.and_in(declarations),
            run_start: 0,
            run_has_section: false,
        }
    }

    /// Reads the root element at `at`; the place behind it.
    pub(super) fn root(&mut self, at: usize) -> Result<usize, Unsure> {
        let inside = self.start_tag(at + 1)?;
        self.content(inside, 0)
    }

    /// Reads content until no more elements are open than there were; the place behind it.
    pub(super) fn content(&mut self, mut at: usize, open: usize) -> Result<usize, Unsure> {
        while self.reader.open.len() > open {
            at = match byte(self.input, at) {
                b'<' => self.markup(at)?,
                b'&' => self.reference(at)?,
                _ => self.text(at)?,
            };
        }
        Ok(at)
    }

    #[inline]
    fn reference(&mut self, at: usize) -> Result<usize, Unsure> {
        match reference(self.input, at, &mut self.tree.text) {
            Err(Unsure::Entity) => self.entity(at),
            known => known,
        }
    }

    /// Reads what begins with the `<` at `at`.
    #[inline]
    fn markup(&mut self, at: usize) -> Result<usize, Unsure> {
        match byte(self.input, at + 1) {
            b'/' => {
                self.end_run()?;
                self.end_tag(at + 2)
            }
            b'!' if byte(self.input, at + 2) == b'[' => self.section(at),
            b'!' => {
                self.end_run()?;
                need(self.input, at, b"<!--")?;
                comment(self.input, at, self.owner(), self.tree)
            }
            b'?' => {
                self.end_run()?;
                instruction(self.input, at, self.owner(), self.tree)
            }
            _ => {
                self.end_run()?;
                self.start_tag(at + 1)
            }
        }
    }

    /// Reads character data up to the next markup or reference.
    #[inline]
    fn text(&mut self, at: usize) -> Result<usize, Unsure> {
        let head = word(self.input, at);
        let stops = equal(head, b'<') | equal(head, b'&') | equal(head, b']') | equal(head, b'\r');
        let length = in_front(stops);
        if byte(self.input, at + length) == b'<' {
            // All eight bytes, and those behind the text cut off: cheaper than a copy of any length.
            let text = &mut self.tree.text;
            let end = text.len() + length;
            text.extend_from_slice(&head.to_le_bytes());
            text.truncate(end);
            return Ok(at + length);
        }
        self.long_text(at)
    }

    fn long_text(&mut self, at: usize) -> Result<usize, Unsure> {
        let rest = &self.input[at..];
        let Some(length) = memchr2(b'<', b'&', rest) else {
            return self.last_text(at);
        };
        let text = &rest[..length];
        if self.occurring.section_end && memmem::find(text, b"]]>").is_some() {
            return Err(Unsure::SectionEnd);
        }
        self.take(text);
        Ok(at + length)
    }

    /// Reads a CDATA section, which is nothing but text.
    fn section(&mut self, at: usize) -> Result<usize, Unsure> {
        let start = need(self.input, at, b"<![CDATA[")?;
        let length = memmem::find(&self.input[start..], b"]]>").ok_or(Unsure::Nesting)?;
        self.take(&self.input[start..start + length]);
        self.run_has_section = true;
        Ok(start + length + b"]]>".len())
    }

    /// Appends text with its line ends as XML wants them: `\n` for `\r\n` and for a lone `\r`.
    #[inline]
    pub(super) fn take(&mut self, mut text: &[u8]) {
        if self.occurring.carriage_return {
            while let Some(end) = memchr(b'\r', text) {
                self.tree.text.extend_from_slice(&text[..end]);
                self.tree.text.push(b'\n');
                text = &text[end + 1..];
                text = text.strip_prefix(b"\n").unwrap_or(text);
            }
        }
        self.tree.text.extend_from_slice(text);
    }

    /// The innermost open element.
    #[inline]
    pub(super) fn owner(&self) -> u32 {
        self.reader.open.last().map_or(0, |open| open.element)
    }

    /// Ends a text node, if there is one.
    #[inline]
    fn end_run(&mut self) -> Result<(), Unsure> {
        let end = self.tree.text.len();
        if end > self.run_start {
            if end - self.run_start > TOKEN_BYTES_MAX {
                return Err(Unsure::Limit("a text"));
            }
            let owner = self.owner();
            self.tree.texts.push(TextNode {
                owner,
                start: self.run_start as u32,
                end: end as u32,
            });
            self.run_start = end;
        } else if self.run_has_section {
            return Err(Unsure::EmptySection);
        }
        self.run_has_section = false;
        Ok(())
    }

    /// Reads the rest of an end tag from behind its `</`.
    #[inline]
    fn end_tag(&mut self, at: usize) -> Result<usize, Unsure> {
        let open = self.reader.open.pop().ok_or(Unsure::Nesting)?;
        let length = open.name_length as usize;
        if !same(self.input, open.name_start as usize, at, length) {
            return Err(Unsure::Nesting);
        }
        let mut behind = at + length;
        while is_blank(byte(self.input, behind)) {
            behind += 1;
        }
        if byte(self.input, behind) != b'>' {
            return Err(Unsure::Nesting);
        }
        self.close(open);
        Ok(behind + 1)
    }
}
