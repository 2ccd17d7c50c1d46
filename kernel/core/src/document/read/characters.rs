//! Characters, names, references: the small words of XML.
//!
//! All functions take the whole input and a place in it, and give the place behind what they read.
//! The input is known to be UTF-8 of allowed characters; what is asked here is only grammar. Names
//! follow the fifth edition of XML 1.0, as libxml2 reads them.

use super::Unsure;

const BLANK: u8 = 1;
const NAME_START: u8 = 2;
const NAME: u8 = 4;
const DEEP: u8 = 8;
/// A byte that a plain attribute value cannot have: quotes, `<`, `&`, and white space but blanks.
const VALUE_STOP: u8 = 16;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' => BLANK,
            b'\t' | b'\n' | b'\r' => BLANK | VALUE_STOP,
            b'"' | b'\'' | b'<' | b'&' => VALUE_STOP,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => NAME_START | NAME,
            b'0'..=b'9' | b'-' | b'.' => NAME,
            0x80..=0xff => DEEP,
            _ => 0,
        };
        byte += 1;
    }
    table
}

/// Names longer than this libxml2 does not read.
const NAME_BYTES_MAX: usize = 50_000;

#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    CLASSES[byte as usize] & BLANK != 0
}

/// The byte at a place, or 0 behind the end: no document holds one.
#[inline]
pub(super) fn byte(input: &[u8], at: usize) -> u8 {
    input.get(at).copied().unwrap_or(0)
}

#[inline]
pub(super) fn skip_blanks(input: &[u8], mut at: usize) -> usize {
    while is_blank(byte(input, at)) {
        at += 1;
    }
    at
}

/// As [`skip_blanks`], where there must be some.
pub(super) fn need_blanks(input: &[u8], at: usize) -> Result<usize, Unsure> {
    let behind = skip_blanks(input, at);
    if behind == at {
        Err(Unsure::Markup)
    } else {
        Ok(behind)
    }
}

pub(super) fn need(input: &[u8], at: usize, word: &[u8]) -> Result<usize, Unsure> {
    if input[at.min(input.len())..].starts_with(word) {
        Ok(at + word.len())
    } else {
        Err(Unsure::Markup)
    }
}

/// The first place from `at` where a plain attribute value cannot go on.
#[inline]
pub(super) fn value_stop(input: &[u8], at: usize) -> Option<usize> {
    let rest = input.get(at..)?;
    let length = rest
        .iter()
        .position(|&byte| CLASSES[byte as usize] & VALUE_STOP != 0)?;
    Some(at + length)
}

/// A name without a colon.
#[inline]
pub(super) fn plain_name(input: &[u8], start: usize) -> Result<usize, Unsure> {
    let class = CLASSES[byte(input, start) as usize];
    if class & NAME_START == 0 {
        if class & DEEP == 0 {
            return Err(Unsure::Name);
        }
        return deep_name(input, start);
    }
    let mut at = start + 1;
    loop {
        let class = CLASSES[byte(input, at) as usize];
        if class & NAME == 0 {
            if class & DEEP != 0 {
                return deep_name(input, start);
            }
            return within_length(start, at);
        }
        at += 1;
    }
}

/// A qualified name: the place behind it, and how long its prefix is (0 for none).
#[inline]
pub(super) fn qualified_name(input: &[u8], start: usize) -> Result<(usize, usize), Unsure> {
    let at = plain_name(input, start)?;
    if byte(input, at) != b':' {
        return Ok((at, 0));
    }
    let end = plain_name(input, at + 1)?;
    if byte(input, end) == b':' {
        Err(Unsure::Name)
    } else {
        Ok((end, at - start))
    }
}

/// A name with as many colons as it likes: what declarations name, and how libxml2 reads it.
pub(super) fn name_with_colons(input: &[u8], start: usize) -> Result<usize, Unsure> {
    let mut at = plain_name(input, start)?;
    while byte(input, at) == b':' {
        at = plain_name(input, at + 1)?;
    }
    within_length(start, at)
}

/// A name or a number or the like, of ASCII alone.
pub(super) fn token(input: &[u8], start: usize) -> Result<usize, Unsure> {
    let is_part = |byte: &u8| CLASSES[*byte as usize] & NAME != 0 || *byte == b':';
    let rest = input.get(start..).unwrap_or_default();
    let length = rest.iter().take_while(|byte| is_part(byte)).count();
    if length == 0 {
        return Err(Unsure::Name);
    }
    within_length(start, start + length)
}

/// A name that has characters outside ASCII.
#[cold]
fn deep_name(input: &[u8], start: usize) -> Result<usize, Unsure> {
    let mut at = start;
    while let Some((character, length)) = character(input, at) {
        let allowed = if at == start {
            is_name_start(character)
        } else {
            is_name_character(character)
        };
        if !allowed {
            break;
        }
        at += length;
    }
    if at == start {
        Err(Unsure::Name)
    } else {
        within_length(start, at)
    }
}

#[inline]
fn within_length(start: usize, end: usize) -> Result<usize, Unsure> {
    if end - start > NAME_BYTES_MAX {
        Err(Unsure::Limit("a name"))
    } else {
        Ok(end)
    }
}

/// The character at a place, and how many bytes it takes.
fn character(input: &[u8], at: usize) -> Option<(char, usize)> {
    let first = *input.get(at)?;
    let length = match first {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    let text = std::str::from_utf8(input.get(at..at + length)?).ok()?;
    Some((text.chars().next()?, length))
}

fn is_name_start(character: char) -> bool {
    matches!(character,
        'a'..='z' | 'A'..='Z' | '_'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}'
        | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

fn is_name_character(character: char) -> bool {
    is_name_start(character)
        || matches!(character,
            '0'..='9' | '-' | '.' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// Appends what the reference at `at` stands for; the place behind its semicolon.
pub(super) fn reference(input: &[u8], at: usize, into: &mut Vec<u8>) -> Result<usize, Unsure> {
    const PREDEFINED: [(&[u8], u8); 5] = [
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&amp;", b'&'),
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
    ];
    let rest = &input[at..];
    for (word, byte) in PREDEFINED {
        if rest.starts_with(word) {
            into.push(byte);
            return Ok(at + word.len());
        }
    }
    if byte(input, at + 1) != b'#' {
        return Err(Unsure::Entity);
    }
    let (character, behind) = referred_character(input, at + 2)?;
    into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(behind)
}

/// The character of `#38;` or `#x26;`, from behind the `#`.
pub(super) fn referred_character(input: &[u8], at: usize) -> Result<(char, usize), Unsure> {
    /// A million is seven digits; libxml2 itself stumbles over far more zeros in front.
    const DIGITS_MAX: usize = 8;
    let (radix, start) = if byte(input, at) == b'x' {
        (16, at + 1)
    } else {
        (10, at)
    };
    let mut value = 0;
    let mut end = start;
    while let Some(digit) = char::from(byte(input, end)).to_digit(radix) {
        if end - start == DIGITS_MAX {
            return Err(Unsure::Reference);
        }
        value = value * radix + digit;
        end += 1;
    }
    if end == start || byte(input, end) != b';' {
        return Err(Unsure::Reference);
    }
    match char::from_u32(value) {
        Some(character) if is_allowed(character) => Ok((character, end + 1)),
        _ => Err(Unsure::Reference),
    }
}

/// The characters of XML documents.
pub(super) fn is_allowed(character: char) -> bool {
    matches!(character,
        '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}
