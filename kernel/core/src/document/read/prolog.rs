//! What may stand around the root element: declarations, comments, processing instructions.

use memchr::memmem;

use super::characters::{byte, is_blank, need, need_blanks, plain_name, skip_blanks};
use super::{TOKEN_BYTES_MAX, Unsure};
use crate::document::tree::{NONE, Tree};

/// The place of the root element's `<`.
pub(super) fn prolog(input: &[u8], tree: &mut Tree) -> Result<usize, Unsure> {
    let marked = input.starts_with(b"\xef\xbb\xbf");
    let start = if marked { 3 } else { 0 };
    let mut at = if is_declaration(input, start) {
        declaration(input, start, marked)?
    } else {
        check_first_instruction(input, start)?;
        start
    };
    let mut typed = false;
    loop {
        at = miscellaneous(input, at, tree)?;
        if input[at..].starts_with(b"<!DOCTYPE") && !typed {
            at = document_type(input, at)?;
            (typed, tree.has_doctype) = (true, true);
        } else if byte(input, at) == b'<' {
            return Ok(at);
        } else {
            return Err(Unsure::Markup);
        }
    }
}

/// Reads blanks, comments and processing instructions outside the root element.
pub(super) fn miscellaneous(input: &[u8], mut at: usize, tree: &mut Tree) -> Result<usize, Unsure> {
    loop {
        at = skip_blanks(input, at);
        let rest = &input[at..];
        if rest.starts_with(b"<!--") {
            at = comment(input, at, NONE, tree)?;
        } else if rest.starts_with(b"<?") {
            at = instruction(input, at, NONE, tree)?;
        } else {
            return Ok(at);
        }
    }
}

/// Reads a comment, a child of this element.
pub(super) fn comment(
    input: &[u8],
    at: usize,
    owner: u32,
    tree: &mut Tree,
) -> Result<usize, Unsure> {
    let start = at + b"<!--".len();
    let length = memmem::find(&input[start..], b"--").ok_or(Unsure::Markup)?;
    if length > TOKEN_BYTES_MAX {
        return Err(Unsure::Limit("a comment"));
    }
    let behind = need(input, start + length, b"-->")?;
    tree.push_remark(owner, None, &input[start..start + length]);
    Ok(behind)
}

/// Reads a processing instruction, a child of this element.
pub(super) fn instruction(
    input: &[u8],
    at: usize,
    owner: u32,
    tree: &mut Tree,
) -> Result<usize, Unsure> {
    let start = at + b"<?".len();
    let behind = plain_name(input, start)?;
    if input[start..behind].eq_ignore_ascii_case(b"xml") {
        return Err(Unsure::Declaration);
    }
    let target = &input[start..behind];
    if !is_blank(byte(input, behind)) {
        tree.push_remark(owner, Some(target), b"");
        return need(input, behind, b"?>");
    }
    let length = memmem::find(&input[behind..], b"?>").ok_or(Unsure::Markup)?;
    if length > TOKEN_BYTES_MAX {
        return Err(Unsure::Limit("a processing instruction"));
    }
    let content = skip_blanks(input, behind).min(behind + length);
    tree.push_remark(owner, Some(target), &input[content..behind + length]);
    Ok(behind + length + b"?>".len())
}

/// Refuses what whoever looks for an encoding might take for a declaration.
fn check_first_instruction(input: &[u8], start: usize) -> Result<(), Unsure> {
    let first = &input[skip_blanks(input, start)..];
    let end = memchr::memchr(b'>', first).unwrap_or(first.len());
    if first.starts_with(b"<?xml") && memmem::find(&first[..end], b"encoding").is_some() {
        return Err(Unsure::Declaration);
    }
    Ok(())
}

fn is_declaration(input: &[u8], at: usize) -> bool {
    input[at..].starts_with(b"<?xml") && is_blank(byte(input, at + b"<?xml".len()))
}

/// Goes over `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`.
fn declaration(input: &[u8], start: usize, marked: bool) -> Result<usize, Unsure> {
    let mut at = need_blanks(input, start + b"<?xml".len())?;
    let (version, behind) = setting(input, at, b"version")?;
    if version != b"1.0" {
        return Err(Unsure::Declaration);
    }
    at = behind;
    for word in [&b"encoding"[..], &b"standalone"[..]] {
        let next = skip_blanks(input, at);
        if next > at && input[next..].starts_with(word) {
            let (value, behind) = setting(input, next, word)?;
            if word == b"encoding" {
                check_encoding(input, value, marked)?;
            } else if value != b"yes" && value != b"no" {
                return Err(Unsure::Declaration);
            }
            at = behind;
        }
    }
    need(input, skip_blanks(input, at), b"?>")
}

fn check_encoding(input: &[u8], name: &[u8], marked: bool) -> Result<(), Unsure> {
    /// Encodings that libxml2 knows by itself, and in which ASCII means ASCII.
    const PLAIN: [&str; 12] = [
        "ASCII",
        "US-ASCII",
        "ISO-8859-1",
        "ISO-8859-2",
        "ISO-8859-3",
        "ISO-8859-4",
        "ISO-8859-5",
        "ISO-8859-6",
        "ISO-8859-7",
        "ISO-8859-8",
        "ISO-8859-9",
        "ISO-8859-15",
    ];
    let named = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    let unicode = named("UTF-8") || named("UTF8");
    if unicode || (PLAIN.into_iter().any(named) && !marked && input.is_ascii()) {
        Ok(())
    } else {
        Err(Unsure::Encoding)
    }
}

/// The value of `word="value"`, and the place behind it.
fn setting<'a>(input: &'a [u8], at: usize, word: &[u8]) -> Result<(&'a [u8], usize), Unsure> {
    let at = skip_blanks(input, need(input, at, word)?);
    let at = skip_blanks(input, need(input, at, b"=")?);
    literal(input, at)
}

fn literal(input: &[u8], at: usize) -> Result<(&[u8], usize), Unsure> {
    let quote = byte(input, at);
    if quote != b'"' && quote != b'\'' {
        return Err(Unsure::Markup);
    }
    let rest = &input[at + 1..];
    let length = memchr::memchr(quote, rest).ok_or(Unsure::Markup)?;
    Ok((&rest[..length], at + length + 2))
}

/// Goes over a document type declaration without an internal subset.
///
/// What it refers to is never read; references to entities that might be declared there are not
/// known here anyway.
fn document_type(input: &[u8], at: usize) -> Result<usize, Unsure> {
    const IDENTIFIER_BYTES_MAX: usize = 2_000; // libxml2 takes more; nobody has more.
    let name = need_blanks(input, at + b"<!DOCTYPE".len())?;
    let mut at = plain_name(input, name)?;
    let next = skip_blanks(input, at);
    let public = input[next..].starts_with(b"PUBLIC");
    if public || input[next..].starts_with(b"SYSTEM") {
        at = need_blanks(input, next + b"PUBLIC".len())?;
        if public {
            let (identifier, behind) = literal(input, at)?;
            if !identifier.iter().all(is_public) || identifier.len() > IDENTIFIER_BYTES_MAX {
                return Err(Unsure::DocumentType);
            }
            at = need_blanks(input, behind)?;
        }
        let (identifier, behind) = literal(input, at)?;
        if identifier.len() > IDENTIFIER_BYTES_MAX {
            return Err(Unsure::DocumentType);
        }
        at = behind;
    }
    need(input, skip_blanks(input, at), b">").map_err(|_| Unsure::DocumentType)
}

fn is_public(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b" \n-'()+,./:=?;!*#@$_%".contains(byte)
}
