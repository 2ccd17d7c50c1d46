//! Internal subsets: what stands between the brackets of `<!DOCTYPE a [ … ]>`.
//!
//! Declarations are checked as libxml2 checks them where it does not validate: their grammar, and the
//! few rules that it enforces all the same. References to parameter entities are passed over, as in the
//! setting of the Python side; inside a declaration there can be none.

use super::Unsure;
use super::characters::{
    byte, name_with_colons, need, need_blanks, plain_name, referred_character, skip_blanks, token,
};
use super::declarations::{Declarations, Entity, Type};
use super::prolog::{
    comment_content, external_identifier, instruction_content, literal, public_identifier,
};

/// Parentheses inside each other in what an element contains.
const GROUPS_MAX: usize = 32;

/// What libxml2 counts for each thing it puts into a document, beside its length.
pub(super) const FIXED_COST: usize = 20;

/// Reads an internal subset from behind its `[`; the place behind its `]`.
pub(super) fn internal_subset(
    input: &[u8],
    start: usize,
    bytes_max: usize,
    into: &mut Declarations,
) -> Result<usize, Unsure> {
    let mut at = start;
    loop {
        at = skip_blanks(input, at);
        if at - start > bytes_max {
            return Err(Unsure::Limit("an internal subset"));
        }
        let rest = &input[at..];
        into.has_remarks |= rest.starts_with(b"<!--") || rest.starts_with(b"<?");
        at = match rest.first() {
            Some(b']') => return Ok(at + 1),
            Some(b'%') => {
                let end = plain_name(input, at + 1)?;
                into.refer_to_parameter(&input[at + 1..end])?;
                need(input, end, b";")?
            }
            _ if rest.starts_with(b"<!--") => comment_content(input, at)?.1,
            _ if rest.starts_with(b"<?") => instruction_content(input, at)?.2,
            _ if rest.starts_with(b"<!ENTITY") => entity(input, at + b"<!ENTITY".len(), into)?,
            _ if rest.starts_with(b"<!ATTLIST") => {
                attributes(input, at + b"<!ATTLIST".len(), into)?
            }
            _ if rest.starts_with(b"<!ELEMENT") => element(input, at + b"<!ELEMENT".len(), into)?,
            _ if rest.starts_with(b"<!NOTATION") => {
                notation(input, at + b"<!NOTATION".len(), into)?
            }
            _ => return Err(Unsure::DocumentType),
        };
    }
}

/// Reads the rest of `<!ENTITY e "text">`.
fn entity(input: &[u8], at: usize, into: &mut Declarations) -> Result<usize, Unsure> {
    let mut at = need_blanks(input, at)?;
    let is_parameter = byte(input, at) == b'%';
    if is_parameter {
        at = need_blanks(input, at + 1)?;
    }
    let end = plain_name(input, at)?;
    let name = &input[at..end];
    at = need_blanks(input, end)?;
    let start = into.text.len() as u32;
    let entity = if matches!(byte(input, at), b'"' | b'\'') {
        let (value, behind) = literal(input, at)?;
        entity_text(value, &mut into.text)?;
        at = behind;
        let end = into.text.len() as u32;
        Entity::Internal { start, end }
    } else {
        let external = external_identifier(input, at)?.ok_or(Unsure::DocumentType)?;
        if external.system.contains(&b'#') {
            return Err(Unsure::DocumentType);
        }
        at = external.behind;
        let next = skip_blanks(input, at);
        if !is_parameter && next > at && input[next..].starts_with(b"NDATA") {
            at = plain_name(input, need_blanks(input, next + b"NDATA".len())?)?;
        }
        Entity::External
    };
    if is_parameter {
        into.text.truncate(start as usize);
        into.declare_parameter(name, entity)?;
    } else {
        into.declare_entity(name, entity)?;
    }
    need(input, skip_blanks(input, at), b">")
}

/// Appends the text of an entity as it is declared: character references are replaced at once, others
/// where the entity is referred to.
fn entity_text(value: &[u8], into: &mut Vec<u8>) -> Result<(), Unsure> {
    let mut at = 0;
    while let Some(length) = memchr::memchr2(b'&', b'%', &value[at..]) {
        let stop = at + length;
        if value[stop] == b'%' {
            // Wrong, or cut off there by libxml2.
            return Err(Unsure::Entity);
        }
        if byte(value, stop + 1) == b'#' {
            into.extend_from_slice(&value[at..stop]);
            let (character, behind) = referred_character(value, stop + 2)?;
            into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            at = behind;
        } else {
            let behind = need(value, name_with_colons(value, stop + 1)?, b";")?;
            into.extend_from_slice(&value[at..behind]);
            at = behind;
        }
    }
    into.extend_from_slice(&value[at..]);
    Ok(())
}

/// Reads the rest of `<!ATTLIST e a CDATA #IMPLIED …>`.
fn attributes(input: &[u8], at: usize, into: &mut Declarations) -> Result<usize, Unsure> {
    let start = need_blanks(input, at)?;
    let mut at = name_with_colons(input, start)?;
    let element = into.declare_element(&input[start..at])?;
    loop {
        let start = skip_blanks(input, at);
        if byte(input, start) == b'>' {
            return Ok(start + 1);
        }
        if start == at {
            return Err(Unsure::DocumentType);
        }
        let end = name_with_colons(input, start)?;
        let name = &input[start..end];
        if name == b"xml:id" {
            // Its value is checked before it loses blanks here, and behind it by libxml2.
            return Err(Unsure::Identifier);
        }
        let (kind, is_name, behind) = attribute_type(input, need_blanks(input, end)?)?;
        let (default, behind) = default_value(input, need_blanks(input, behind)?)?;
        let mut cost = 0;
        if let Some(value) = default {
            if kind != Type::Text && !is_token(value, is_name) {
                return Err(Unsure::DocumentType);
            }
            cost = name.len() + value.len() + FIXED_COST;
        }
        // A default brings its namespace into force, or has to be in one. And a namespace would lose
        // blanks before libxml2 looks at it.
        let declares = name == b"xmlns" || name.starts_with(b"xmlns:");
        let has_prefix = name.contains(&b':') && !name.starts_with(b"xml:");
        if default.is_some() && (declares || has_prefix) || kind != Type::Text && declares {
            return Err(Unsure::DocumentType);
        }
        into.declare_attribute(element, name, kind, cost)?;
        at = behind;
    }
}

/// Reads the type of an attribute: how it is read, and whether its default must be a name.
fn attribute_type(input: &[u8], at: usize) -> Result<(Type, bool, usize), Unsure> {
    const WORDS: [(&[u8], Type, bool); 8] = [
        (b"CDATA", Type::Text, false),
        (b"IDREFS", Type::Tokens, true),
        (b"IDREF", Type::Tokens, true),
        (b"ID", Type::Identifier, true),
        (b"ENTITY", Type::Tokens, true),
        (b"ENTITIES", Type::Tokens, true),
        (b"NMTOKENS", Type::Tokens, false),
        (b"NMTOKEN", Type::Tokens, false),
    ];
    let rest = &input[at..];
    for (word, kind, is_name) in WORDS {
        if rest.starts_with(word) {
            return Ok((kind, is_name, at + word.len()));
        }
    }
    let is_notation = rest.starts_with(b"NOTATION");
    let mut at = at;
    if is_notation {
        at = need_blanks(input, at + b"NOTATION".len())?;
    }
    at = need(input, at, b"(")?;
    loop {
        at = skip_blanks(input, at);
        at = if is_notation {
            plain_name(input, at)?
        } else {
            token(input, at)?
        };
        at = skip_blanks(input, at);
        match byte(input, at) {
            b'|' => at += 1,
            b')' => return Ok((Type::Tokens, is_notation, at + 1)),
            _ => return Err(Unsure::DocumentType),
        }
    }
}

/// Reads `#IMPLIED` or a value.
fn default_value(input: &[u8], mut at: usize) -> Result<(Option<&[u8]>, usize), Unsure> {
    let rest = &input[at..];
    for word in [&b"#REQUIRED"[..], b"#IMPLIED"] {
        if rest.starts_with(word) {
            return Ok((None, at + word.len()));
        }
    }
    if rest.starts_with(b"#FIXED") {
        at = need_blanks(input, at + b"#FIXED".len())?;
    }
    let (value, behind) = literal(input, at)?;
    // What entities it may refer to depends on what was declared before it.
    if memchr::memchr2(b'<', b'&', value).is_some() {
        return Err(Unsure::DocumentType);
    }
    Ok((Some(value), behind))
}

/// Whether a default is surely one that libxml2 takes for its type: one token, or one name. Where there
/// may be more, they are left to it.
fn is_token(value: &[u8], is_name: bool) -> bool {
    let end = if is_name {
        plain_name(value, 0)
    } else {
        token(value, 0)
    };
    value.is_ascii() && end == Ok(value.len())
}

/// Reads the rest of `<!ELEMENT e (a, b)>`.
fn element(input: &[u8], at: usize, into: &mut Declarations) -> Result<usize, Unsure> {
    let start = need_blanks(input, at)?;
    let end = name_with_colons(input, start)?;
    into.declare_content(&input[start..end])?;
    let at = need_blanks(input, end)?;
    let rest = &input[at..];
    let at = if rest.starts_with(b"EMPTY") {
        at + b"EMPTY".len()
    } else if rest.starts_with(b"ANY") {
        at + b"ANY".len()
    } else {
        let inside = skip_blanks(input, need(input, at, b"(")?);
        if input[inside..].starts_with(b"#PCDATA") {
            mixed(input, inside + b"#PCDATA".len())?
        } else {
            group(input, inside, 1)?
        }
    };
    need(input, skip_blanks(input, at), b">")
}

/// Reads the rest of `(#PCDATA | a)*`.
fn mixed(input: &[u8], at: usize) -> Result<usize, Unsure> {
    let mut at = skip_blanks(input, at);
    if byte(input, at) == b')' {
        return Ok(at + 1 + usize::from(byte(input, at + 1) == b'*'));
    }
    while byte(input, at) == b'|' {
        let name = skip_blanks(input, at + 1);
        at = skip_blanks(input, name_with_colons(input, name)?);
    }
    need(input, at, b")*")
}

/// Reads a sequence or a choice from behind its `(`.
fn group(input: &[u8], mut at: usize, depth: usize) -> Result<usize, Unsure> {
    if depth > GROUPS_MAX {
        return Err(Unsure::Limit("parentheses inside each other"));
    }
    let mut separator = 0;
    loop {
        at = skip_blanks(input, at);
        at = if byte(input, at) == b'(' {
            group(input, at + 1, depth + 1)?
        } else {
            behind_occurrence(input, name_with_colons(input, at)?)
        };
        at = skip_blanks(input, at);
        let found = byte(input, at);
        if found == b')' {
            return Ok(behind_occurrence(input, at + 1));
        }
        let fits = separator == 0 || separator == found;
        if !matches!(found, b',' | b'|') || !fits {
            return Err(Unsure::DocumentType);
        }
        separator = found;
        at += 1;
    }
}

fn behind_occurrence(input: &[u8], at: usize) -> usize {
    at + usize::from(matches!(byte(input, at), b'?' | b'*' | b'+'))
}

/// Reads the rest of `<!NOTATION n SYSTEM "a">`; here `PUBLIC` needs one identifier alone.
fn notation(input: &[u8], at: usize, into: &mut Declarations) -> Result<usize, Unsure> {
    let start = need_blanks(input, at)?;
    let end = plain_name(input, start)?;
    into.declare_notation(&input[start..end])?;
    let mut at = need_blanks(input, end)?;
    if input[at..].starts_with(b"PUBLIC") {
        at = public_identifier(input, need_blanks(input, at + b"PUBLIC".len())?)?;
        let next = skip_blanks(input, at);
        if next > at && matches!(byte(input, next), b'"' | b'\'') {
            at = literal(input, next)?.1;
        }
    } else {
        at = external_identifier(input, at)?
            .ok_or(Unsure::DocumentType)?
            .behind;
    }
    need(input, skip_blanks(input, at), b">")
}
