//! What may stand around the root element: declarations, comments, processing instructions.

use memchr::memmem;

use super::characters::{byte, is_blank, need, need_blanks, plain_name, skip_blanks};
use super::declarations::Declarations;
use super::subset::internal_subset;
use super::{TOKEN_BYTES_MAX, Unsure, encodings};
use crate::document::tree::{NONE, Tree};

/// What stands in front of the root element.
pub(super) struct Prolog {
    /// The place of the root element's `<`.
    pub(super) root: usize,
    /// Whether an entity that is not declared may be declared where nobody reads it. A reference to
    /// it is left out then, and wrong otherwise.
    pub(super) leaves_out: bool,
    /// What the internal subset declares, if there is one.
    pub(super) declarations: Option<Declarations>,
}

/// How the text came to be UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was UTF-8 as it came, or ASCII.
    AsItCame,
    /// It had two bytes a character, and libxml2 goes by that alone.
    Wide,
    /// It was recoded by what it declares.
    AsDeclared,
}

/// Reads everything up to the root element. An internal subset may have so many bytes.
pub(super) fn prolog(
    input: &[u8],
    origin: Origin,
    subset_bytes_max: usize,
    tree: &mut Tree,
) -> Result<Prolog, Unsure> {
    let marked = origin == Origin::AsItCame && input.starts_with(b"\xef\xbb\xbf");
    let start = if marked { 3 } else { 0 };
    let (mut at, standalone) = if is_declaration(input, start) {
        let declaration = declaration(input, start)?;
        if let Some(encoding) = declaration.encoding {
            check_encoding(input, encoding, origin, marked)?;
        }
        (declaration.behind, declaration.standalone)
    } else {
        check_first_instruction(input, start)?;
        (start, false)
    };
    let mut found = DocumentType::default();
    let mut typed = false;
    loop {
        at = miscellaneous(input, at, tree)?;
        if input[at..].starts_with(b"<!DOCTYPE") && !typed {
            found = document_type(input, at, subset_bytes_max)?;
            if let Some(declarations) = &found.declarations {
                tree.has_subset = true;
                tree.subset_has_remarks = declarations.has_remarks;
            }
            at = found.behind;
            (typed, tree.has_doctype) = (true, true);
        } else if byte(input, at) == b'<' {
            break;
        } else {
            return Err(Unsure::Markup);
        }
    }
    if standalone && found.parameters {
        return Err(Unsure::Entity);
    }
    Ok(Prolog {
        root: at,
        leaves_out: !standalone && (found.external || found.parameters),
        declarations: found.declarations,
    })
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
    let (content, behind) = comment_content(input, at)?;
    tree.push_remark(owner, None, content);
    Ok(behind)
}

/// What the comment at a place says, and the place behind it.
pub(super) fn comment_content(input: &[u8], at: usize) -> Result<(&[u8], usize), Unsure> {
    let start = at + b"<!--".len();
    let length = memmem::find(&input[start..], b"--").ok_or(Unsure::Markup)?;
    if length > TOKEN_BYTES_MAX {
        return Err(Unsure::Limit("a comment"));
    }
    let behind = need(input, start + length, b"-->")?;
    Ok((&input[start..start + length], behind))
}

/// Reads a processing instruction, a child of this element.
pub(super) fn instruction(
    input: &[u8],
    at: usize,
    owner: u32,
    tree: &mut Tree,
) -> Result<usize, Unsure> {
    let (target, content, behind) = instruction_content(input, at)?;
    tree.push_remark(owner, Some(target), content);
    Ok(behind)
}

/// Target and content of the processing instruction at a place, and the place behind it.
pub(super) fn instruction_content(
    input: &[u8],
    at: usize,
) -> Result<(&[u8], &[u8], usize), Unsure> {
    let start = at + b"<?".len();
    let behind = plain_name(input, start)?;
    if input[start..behind].eq_ignore_ascii_case(b"xml") {
        return Err(Unsure::Declaration);
    }
    let target = &input[start..behind];
    if !is_blank(byte(input, behind)) {
        return Ok((target, b"", need(input, behind, b"?>")?));
    }
    let length = memmem::find(&input[behind..], b"?>").ok_or(Unsure::Markup)?;
    if length > TOKEN_BYTES_MAX {
        return Err(Unsure::Limit("a processing instruction"));
    }
    let content = skip_blanks(input, behind).min(behind + length);
    let end = behind + length;
    Ok((target, &input[content..end], end + b"?>".len()))
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

/// What an XML declaration says.
struct Declaration<'a> {
    encoding: Option<&'a [u8]>,
    standalone: bool,
    behind: usize,
}

/// Reads `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`.
fn declaration(input: &[u8], start: usize) -> Result<Declaration<'_>, Unsure> {
    let mut at = need_blanks(input, start + b"<?xml".len())?;
    let (version, behind) = setting(input, at, b"version")?;
    if version != b"1.0" {
        return Err(Unsure::Declaration);
    }
    at = behind;
    let (mut encoding, mut standalone) = (None, false);
    for word in [&b"encoding"[..], &b"standalone"[..]] {
        let next = skip_blanks(input, at);
        if next > at && input[next..].starts_with(word) {
            let (value, behind) = setting(input, next, word)?;
            if word == b"encoding" {
                encoding = Some(value);
            } else if value == b"yes" {
                standalone = true;
            } else if value != b"no" {
                return Err(Unsure::Declaration);
            }
            at = behind;
        }
    }
    let behind = need(input, skip_blanks(input, at), b"?>")?;
    Ok(Declaration {
        encoding,
        standalone,
        behind,
    })
}

/// The encoding that a document declares, in which ASCII means ASCII.
pub(super) fn declared_encoding(input: &[u8]) -> Option<&[u8]> {
    if !is_declaration(input, 0) {
        return None;
    }
    declaration(input, 0).ok()?.encoding
}

fn check_encoding(input: &[u8], name: &[u8], origin: Origin, marked: bool) -> Result<(), Unsure> {
    let unicode = name.eq_ignore_ascii_case(b"UTF-8") || name.eq_ignore_ascii_case(b"UTF8");
    let taken = match origin {
        Origin::AsItCame if unicode => true,
        Origin::AsItCame => !marked && input.is_ascii() && encodings::extends_ascii(name),
        Origin::Wide => encodings::is_of_unicode(name) || encodings::extends_ascii(name),
        Origin::AsDeclared => true,
    };
    if taken { Ok(()) } else { Err(Unsure::Encoding) }
}

/// The value of `word="value"`, and the place behind it.
fn setting<'a>(input: &'a [u8], at: usize, word: &[u8]) -> Result<(&'a [u8], usize), Unsure> {
    let at = skip_blanks(input, need(input, at, word)?);
    let at = skip_blanks(input, need(input, at, b"=")?);
    literal(input, at)
}

/// What stands in quotes at a place, and the place behind it.
pub(super) fn literal(input: &[u8], at: usize) -> Result<(&[u8], usize), Unsure> {
    let quote = byte(input, at);
    if quote != b'"' && quote != b'\'' {
        return Err(Unsure::Markup);
    }
    let rest = &input[at + 1..];
    let length = memchr::memchr(quote, rest).ok_or(Unsure::Markup)?;
    Ok((&rest[..length], at + length + 2))
}

/// What a document type declaration says.
#[derive(Default)]
struct DocumentType {
    /// Whether it refers to declarations elsewhere, which are never read.
    external: bool,
    /// Whether its internal subset refers to parameter entities.
    parameters: bool,
    declarations: Option<Declarations>,
    behind: usize,
}

/// Reads a document type declaration.
fn document_type(input: &[u8], at: usize, subset_bytes_max: usize) -> Result<DocumentType, Unsure> {
    let name = need_blanks(input, at + b"<!DOCTYPE".len())?;
    let mut at = plain_name(input, name)?;
    let next = skip_blanks(input, at);
    let mut found = DocumentType::default();
    if next > at
        && let Some(external) = external_identifier(input, next)?
    {
        found.external = true;
        at = external.behind;
    }
    at = skip_blanks(input, at);
    if byte(input, at) == b'[' {
        let mut declarations = Declarations::default();
        let behind = internal_subset(input, at + 1, subset_bytes_max, &mut declarations)?;
        found.parameters = declarations.refers_to_parameters;
        found.declarations = Some(declarations);
        at = skip_blanks(input, behind);
    }
    found.behind = need(input, at, b">").map_err(|_| Unsure::DocumentType)?;
    Ok(found)
}

/// What a declaration says of a file elsewhere.
pub(super) struct External<'a> {
    pub(super) system: &'a [u8],
    pub(super) behind: usize,
}

/// Reads `SYSTEM "a.dtd"` or `PUBLIC "a" "a.dtd"`, if that is there.
pub(super) fn external_identifier(input: &[u8], at: usize) -> Result<Option<External<'_>>, Unsure> {
    let public = input[at..].starts_with(b"PUBLIC");
    if !public && !input[at..].starts_with(b"SYSTEM") {
        return Ok(None);
    }
    let mut at = need_blanks(input, at + b"PUBLIC".len())?;
    if public {
        at = need_blanks(input, public_identifier(input, at)?)?;
    }
    let (system, behind) = literal(input, at)?;
    if system.len() > IDENTIFIER_BYTES_MAX {
        return Err(Unsure::DocumentType);
    }
    Ok(Some(External { system, behind }))
}

/// Goes over what stands behind `PUBLIC`.
pub(super) fn public_identifier(input: &[u8], at: usize) -> Result<usize, Unsure> {
    let (identifier, behind) = literal(input, at)?;
    if !identifier.iter().all(is_public) || identifier.len() > IDENTIFIER_BYTES_MAX {
        return Err(Unsure::DocumentType);
    }
    Ok(behind)
}

/// libxml2 takes more; nobody has more.
const IDENTIFIER_BYTES_MAX: usize = 2_000;

fn is_public(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b" \n-'()+,./:=?;!*#@$_%".contains(byte)
}
