//! Records of a dump: where they begin and end, found without reading what is inside them.
//!
//! Twigcast searches a dump with regular expressions, and that search says what a record is. Here
//! are the two parts of it that look at every byte:
//!
//! - [`find`], what comes next inside a record, where only comments, CDATA sections, processing
//!   instructions and tags of the record's local name count;
//! - [`alike`], all records in a row that begin like one that has been read: with its name, and with its
//!   declarations (attributes whose names begin with `xml`), so that they are records as well, and
//!   inherit the same.
//!
//! Whatever is not plain ends the row in front of it, and the search goes on with that: an element
//! of another name, a tag that is none, a record that is not whole.

use memchr::memmem::{self, Finder};
use memchr::{memchr, memchr_iter};

/// Some records in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Where each record begins and ends, one record after the other.
    pub places: Vec<i32>,
    /// How far the row reaches: behind its last record, or behind a comment and the like that
    /// follows it.
    pub reached: usize,
}

/// The first `<` that counts inside a record; `local` is the local name that all records have, if
/// they have one.
pub fn find(text: &[u8], start: usize, end: usize, local: Option<&[u8]>) -> Option<usize> {
    Search::new(text.get(..end).unwrap_or(text), local).next(start)
}

/// The records that follow `start`, outside of all records, up to `end` and to the first thing that
/// is not plain. `tag` is the start tag of one that was read, perhaps without its end.
pub fn alike(text: &[u8], start: usize, end: usize, tag: &[u8], local: Option<&[u8]>) -> Row {
    let mut search = Search::new(text.get(..end).unwrap_or(text), local);
    let record = name(tag, 1);
    let (model, _) = attributes(tag, 1 + record.len());
    let mut row = Row {
        places: Vec::new(),
        reached: start,
    };
    while let Some((at, next)) = search.record_or_hidden(row.reached, record, model) {
        if let Some(at) = at {
            let (Ok(at), Ok(next)) = (i32::try_from(at), i32::try_from(next)) else {
                break;
            };
            row.places.extend([at, next]);
        }
        row.reached = next;
    }
    row
}

/// About so many bytes are searched for prefixes at a time: enough that it costs little, and little
/// enough for whoever looks for one tag.
const WINDOW_BYTES: usize = 1 << 14;

/// A search for what counts inside records.
///
/// Most dumps have no prefix in front of the name of records. To find that out for a window of the text
/// costs a tenth of trying every name for one.
struct Search<'a> {
    text: &'a [u8],
    local: Option<(&'a [u8], Finder<'static>)>,
    /// Up to where it is known whether there are prefixes: a `<`, or the end of the text.
    window_end: usize,
    has_prefixes: bool,
}

impl<'a> Search<'a> {
    fn new(text: &'a [u8], local: Option<&'a [u8]>) -> Self {
        let prefixed = |local: &[u8]| Finder::new(&[b":".as_slice(), local].concat()).into_owned();
        Search {
            text,
            local: local.map(|local| (local, prefixed(local))),
            window_end: 0,
            has_prefixes: false,
        }
    }

    /// The first `<` from `start` on that counts.
    fn next(&mut self, mut start: usize) -> Option<usize> {
        while start < self.text.len() {
            if start >= self.window_end {
                self.open_window(start);
            }
            let window = self.text.get(start..self.window_end)?;
            let mut places = memchr_iter(b'<', window).map(|place| start + place);
            let found = places.find(|&place| self.counts(place));
            if found.is_some() {
                return found;
            }
            start = self.window_end;
        }
        None
    }

    fn open_window(&mut self, start: usize) {
        let least = start.saturating_add(WINDOW_BYTES).min(self.text.len());
        let rest = self.text.get(least..).unwrap_or_default();
        self.window_end = least + memchr(b'<', rest).unwrap_or(rest.len());
        let window = self.text.get(start..self.window_end).unwrap_or_default();
        self.has_prefixes = match &self.local {
            Some((_, prefixed)) => prefixed.find(window).is_some(),
            None => false,
        };
    }

    /// Whether the `<` at a place counts.
    #[inline]
    fn counts(&self, place: usize) -> bool {
        let Some((local, _)) = &self.local else {
            return true;
        };
        if let (Some(&[one, two]), Some(&first), false) = (
            self.text.get(place + 1..place + 3),
            local.first(),
            self.has_prefixes,
        ) {
            // Nearly none does. Which of the two bytes tells so changes from tag to tag, so that they are
            // looked at together: a processor guesses one branch well, and several badly.
            let closes = (one == b'/') & (two == first);
            if !((one == b'!') | (one == b'?') | (one == first) | closes) {
                return false;
            }
        }
        match self.text.get(place + 1) {
            Some(b'!' | b'?') => true,
            Some(b'/') => self.is_named(place + 2, local),
            _ => self.is_named(place + 1, local),
        }
    }

    /// Whether a name with this local part stands somewhere, behind one prefix at most, and ends there.
    #[inline]
    fn is_named(&self, start: usize, local: &[u8]) -> bool {
        let rest = self.text.get(start..).unwrap_or_default();
        ends_with_local(rest, local) || (self.has_prefixes && is_prefixed(rest, local))
    }

    /// Where the next record begins, if a record it is, and where it or the comment and the like ends.
    fn record_or_hidden(
        &mut self,
        start: usize,
        record: &[u8],
        model: &[u8],
    ) -> Option<(Option<usize>, usize)> {
        let text = self.text;
        let at = start + memchr(b'<', text.get(start..)?)?;
        if matches!(text.get(at + 1), Some(b'!' | b'?')) {
            return Some((None, hidden(text, at)?));
        }
        let tag = start_tag(text, at)?;
        if tag.name != record || !declarations(tag.attributes).eq(declarations(model)) {
            return None;
        }
        let end = if tag.is_empty {
            tag.end
        } else {
            self.record_end(tag.end, record)?
        };
        Some((Some(at), end))
    }

    /// The end of a record, from behind its start tag.
    fn record_end(&mut self, start: usize, record: &[u8]) -> Option<usize> {
        let text = self.text;
        let (mut level, mut reached) = (1_usize, start);
        loop {
            let at = self.next(reached)?;
            reached = match text.get(at + 1)? {
                b'!' | b'?' => hidden(text, at)?,
                b'/' => {
                    let name = name(text, at + 2);
                    let end = tag_end(text, skip_blanks(text, at + 2 + name.len()), name)?;
                    level -= 1;
                    if level == 0 {
                        return (name == record).then_some(end);
                    }
                    end
                }
                _ => {
                    let tag = start_tag(text, at)?;
                    level += usize::from(!tag.is_empty);
                    tag.end
                }
            };
        }
    }
}

/// Where a comment, CDATA section or processing instruction ends, if one begins there.
fn hidden(text: &[u8], at: usize) -> Option<usize> {
    const KINDS: [(&[u8], &[u8]); 3] = [(b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>")];
    let rest = text.get(at..)?;
    let (opener, terminator) = KINDS.iter().find(|(opener, _)| rest.starts_with(opener))?;
    let inside = rest.get(opener.len()..)?;
    Some(at + opener.len() + memmem::find(inside, terminator)? + terminator.len())
}

/// A start tag, or that of an empty element.
struct StartTag<'a> {
    name: &'a [u8],
    attributes: &'a [u8],
    is_empty: bool,
    end: usize,
}

fn start_tag(text: &[u8], at: usize) -> Option<StartTag<'_>> {
    let name = name(text, at + 1);
    let (attributes, reached) = attributes(text, at + 1 + name.len());
    let blank = skip_blanks(text, reached);
    let is_empty = text.get(blank) == Some(&b'/');
    let end = tag_end(text, blank + usize::from(is_empty), name)?;
    Some(StartTag {
        name,
        attributes,
        is_empty,
        end,
    })
}

/// Behind the `>` of a tag that has a name.
fn tag_end(text: &[u8], at: usize, name: &[u8]) -> Option<usize> {
    (!name.is_empty() && text.get(at) == Some(&b'>')).then_some(at + 1)
}

/// The name of an attribute, and its value in quotes.
type Attribute<'a> = (&'a [u8], &'a [u8]);

/// The attributes that stand somewhere, and where the last of them ends.
fn attributes(text: &[u8], start: usize) -> (&[u8], usize) {
    let mut end = start;
    while let Some((_, next)) = attribute(text, end) {
        end = next;
    }
    (text.get(start..end).unwrap_or_default(), end)
}

/// The attributes that declare something: a namespace, a language, a base.
fn declarations(attributes: &[u8]) -> impl Iterator<Item = Attribute<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (found, next) = attribute(attributes, at)?;
        at = next;
        Some(found)
    })
    .filter(|(name, _)| name.starts_with(b"xml"))
}

/// The attribute that stands somewhere, and where it ends.
fn attribute(text: &[u8], start: usize) -> Option<(Attribute<'_>, usize)> {
    let at = skip_blanks(text, start);
    let name = name(text, at);
    if at == start || name.is_empty() {
        return None;
    }
    let equals = skip_blanks(text, at + name.len());
    if text.get(equals) != Some(&b'=') {
        return None;
    }
    let opening = skip_blanks(text, equals + 1);
    let quote = *text.get(opening)?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let inside = text.get(opening + 1..)?;
    let length = memchr::memchr2(quote, b'<', inside)?;
    let end = opening + length + 2;
    (inside.get(length) == Some(&quote)).then_some(((name, text.get(opening..end)?), end))
}

/// The name that stands somewhere, empty if none does.
fn name(text: &[u8], start: usize) -> &[u8] {
    let rest = text.get(start..).unwrap_or_default();
    let is_first = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':' | 0x80..);
    let is_next =
        |byte: &u8| is_first(byte) || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    if !rest.first().is_some_and(is_first) {
        return &[];
    }
    let length = rest.iter().position(|byte| !is_next(byte));
    rest.get(..length.unwrap_or(rest.len())).unwrap_or_default()
}

#[inline]
fn ends_with_local(rest: &[u8], local: &[u8]) -> bool {
    let ends = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'/' | b'>');
    rest.starts_with(local) && rest.get(local.len()).is_some_and(ends)
}

fn is_prefixed(rest: &[u8], local: &[u8]) -> bool {
    let ends = |byte: &u8| {
        matches!(
            byte,
            b' ' | b'\t' | b'\r' | b'\n' | b'<' | b'>' | b'/' | b'!' | b'?' | b':'
        )
    };
    match rest.iter().position(ends) {
        Some(length @ 1..) if rest.get(length) == Some(&b':') => {
            ends_with_local(rest.get(length + 1..).unwrap_or_default(), local)
        }
        _ => false,
    }
}

/// The first place that has no blank.
fn skip_blanks(text: &[u8], start: usize) -> usize {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    start
        + text
            .get(start..)
            .unwrap_or_default()
            .iter()
            .take_while(is_blank)
            .count()
}
