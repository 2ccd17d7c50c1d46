//! Tokens of an expression in canonical text.

use crate::matching::value::number;

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// A name without a namespace; also that of an axis, a function or an operator.
    Name(&'a str),
    /// `{uri}name`, `{uri}*` or `*:name`: namespace and local name.
    Expanded(Option<&'a str>, Option<&'a str>),
    /// A number.
    Number(f64),
    /// A string, without its quotes.
    Literal(&'a str),
    /// Any of the symbols.
    Symbol(&'static str),
    /// Nothing is left.
    End,
}

const SYMBOLS: [&str; 20] = [
    "::", "..", "//", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=",
    "<", ">",
];

/// The tokens of a text, the last being [`Token::End`]; none where one is not known here.
pub fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut found = Vec::with_capacity(text.len() / 3 + 2);
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let Some(first) = rest.bytes().next() else {
            found.push(Token::End);
            return Some(found);
        };
        let (token, length) = token(rest, first)?;
        found.push(token);
        rest = &rest[length..];
    }
}

/// The first token of a text, and its length.
fn token(rest: &str, first: u8) -> Option<(Token<'_>, usize)> {
    match first {
        b'"' | b'\'' => literal(rest),
        b'{' => expanded(rest),
        b'*' => Some(starred(rest)),
        b'0'..=b'9' => Some(numeral(rest)),
        b'.' if rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit) => Some(numeral(rest)),
        _ if begins_name(first) => plain_name(rest),
        _ => symbol(rest),
    }
}

fn literal(rest: &str) -> Option<(Token<'_>, usize)> {
    let inner = &rest[1..];
    let end = memchr::memchr(rest.as_bytes()[0], inner.as_bytes())?;
    Some((Token::Literal(&inner[..end]), end + 2))
}

fn expanded(rest: &str) -> Option<(Token<'_>, usize)> {
    let end = memchr::memchr(b'}', rest.as_bytes())?;
    let (namespace, behind) = (&rest[1..end], &rest[end + 1..]);
    if behind.starts_with('*') {
        return Some((Token::Expanded(Some(namespace), None), end + 2));
    }
    let length = name_length(behind);
    if length == 0 {
        return None;
    }
    let token = Token::Expanded(Some(namespace), Some(&behind[..length]));
    Some((token, end + 1 + length))
}

/// `*:name`, or a star alone.
fn starred(rest: &str) -> (Token<'_>, usize) {
    if let Some(behind) = rest.strip_prefix("*:") {
        let length = name_length(behind);
        if length > 0 && begins_name(behind.as_bytes()[0]) {
            return (Token::Expanded(None, Some(&behind[..length])), length + 2);
        }
    }
    (Token::Symbol("*"), 1)
}

fn numeral(rest: &str) -> (Token<'_>, usize) {
    let bytes = rest.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = end + 1 + sign;
        if digits(exponent) > exponent {
            end = digits(exponent);
        }
    }
    (Token::Number(number(&bytes[..end])), end)
}

/// A name; with a prefix, which canonical texts do not have, it is not known here.
fn plain_name(rest: &str) -> Option<(Token<'_>, usize)> {
    let length = name_length(rest);
    let behind = &rest[length..];
    if behind.starts_with(':') && !behind.starts_with("::") {
        return None;
    }
    Some((Token::Name(&rest[..length]), length))
}

fn symbol(rest: &str) -> Option<(Token<'_>, usize)> {
    let found = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol))?;
    Some((Token::Symbol(found), found.len()))
}

fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// How many bytes of a text a name without a colon takes.
fn name_length(text: &str) -> usize {
    let inside = |byte: &u8| begins_name(*byte) || byte.is_ascii_digit() || b"-.".contains(byte);
    text.bytes()
        .position(|byte| !inside(&byte))
        .unwrap_or(text.len())
}
