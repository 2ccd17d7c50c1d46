//! The functions on strings and numbers, as libxml2 has them.

use std::borrow::Cow;

/// Digits that a number is written with.
const DIGITS: i32 = 15;
/// Numbers above this and below the next are written with an exponent.
const PLAIN_MAX: f64 = 1e9;
const PLAIN_MIN: f64 = 1e-5;

/// A number as XPath writes it.
pub fn written(number: f64) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .into();
    }
    let is_int = number > f64::from(i32::MIN) && number < f64::from(i32::MAX);
    if is_int && number == number.trunc() {
        return format!("{}", number as i32);
    }
    let size = number.abs();
    if !(PLAIN_MIN..=PLAIN_MAX).contains(&size) {
        return with_exponent(number);
    }
    let whole_digits = size.log10() as i32;
    let places = if whole_digits > 0 {
        DIGITS - whole_digits - 1
    } else {
        DIGITS - whole_digits
    };
    let text = format!("{number:.*}", places.max(0) as usize);
    without_zeros(&text).into()
}

/// As C's `%.14e`, without zeros at the end of the fraction.
fn with_exponent(number: f64) -> String {
    let text = format!("{number:.*e}", DIGITS as usize - 1);
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{}e{sign}{exponent:0>2}", without_zeros(digits))
}

fn without_zeros(digits: &str) -> &str {
    if !digits.contains('.') {
        return digits;
    }
    digits.trim_end_matches('0').trim_end_matches('.')
}

/// A number rounded to the nearest whole one, halves upwards.
pub fn rounded(number: f64) -> f64 {
    if (-0.5..0.5).contains(&number) {
        return number * 0.0;
    }
    halves_up(number)
}

fn halves_up(number: f64) -> f64 {
    let floor = number.floor();
    if number - floor >= 0.5 {
        floor + 1.0
    } else {
        floor
    }
}

/// Whether a byte is a blank of XML.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The identifiers in a string. libxml2 keeps blanks at its beginning with the first, so it finds
/// nothing by that one.
pub fn identifiers(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lost = usize::from(text.first().is_some_and(|&byte| is_blank(byte)));
    let words = text.split(|&byte| is_blank(byte));
    words.filter(|word| !word.is_empty()).skip(lost)
}

/// A string without blanks at its ends, and single ones inside.
pub fn normalized(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if is_normalized(&text) {
        return text;
    }
    let mut found = Vec::with_capacity(text.len());
    for word in text.split(|&byte| is_blank(byte)) {
        if word.is_empty() {
            continue;
        }
        if !found.is_empty() {
            found.push(b' ');
        }
        found.extend_from_slice(word);
    }
    Cow::Owned(found)
}

/// Whether nothing but blanks is in a string, of which normalizing leaves nothing.
pub fn has_only_blanks(text: &[u8]) -> bool {
    text.iter().all(|&byte| is_blank(byte))
}

fn is_normalized(text: &[u8]) -> bool {
    let mut was_blank = true;
    for &byte in text {
        let blank = is_blank(byte);
        if blank && (was_blank || byte != b' ') {
            return false;
        }
        was_blank = blank;
    }
    text.is_empty() || !was_blank
}

/// How many characters a string has.
pub fn length(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

/// Whether a string is in another.
pub fn contains(text: &[u8], part: &[u8]) -> bool {
    part.len() <= text.len() && memchr::memmem::find(text, part).is_some()
}

/// What stands before a mark; nothing if it is not there.
pub fn before<'a>(text: Cow<'a, [u8]>, mark: &[u8]) -> Cow<'a, [u8]> {
    match memchr::memmem::find(&text, mark) {
        Some(place) => cut(text, 0, place),
        None => Cow::Borrowed(b""),
    }
}

/// What stands behind a mark; nothing if it is not there.
pub fn after<'a>(text: Cow<'a, [u8]>, mark: &[u8]) -> Cow<'a, [u8]> {
    match memchr::memmem::find(&text, mark) {
        Some(place) => {
            let end = text.len();
            cut(text, place + mark.len(), end)
        }
        None => Cow::Borrowed(b""),
    }
}

/// The characters of a string from a position, and how many of them.
pub fn part(text: Cow<'_, [u8]>, from: f64, length: Option<f64>) -> Cow<'_, [u8]> {
    let most = f64::from(i32::MAX);
    let mut first = 1usize;
    if from.is_nan() || from >= most {
        first = i32::MAX as usize;
    } else if from >= 1.0 {
        first = halves_up(from) as usize;
    }
    let mut end = i32::MAX as usize;
    if let Some(length) = length {
        let behind = halves_up(from) + halves_up(length);
        if behind.is_nan() || behind < 1.0 {
            end = 1;
        } else if behind < most {
            end = behind as usize;
        }
    }
    if first >= end {
        return Cow::Borrowed(b"");
    }
    let start = place_of(&text, first - 1);
    let stop = start + place_of(&text[start..], end - first);
    cut(text, start, stop)
}

/// Where the character with this number begins, or the end.
fn place_of(text: &[u8], character: usize) -> usize {
    if character >= text.len() {
        return text.len();
    }
    let mut starts = text
        .iter()
        .enumerate()
        .filter(|(_, byte)| *byte & 0xc0 != 0x80);
    starts.nth(character).map_or(text.len(), |(place, _)| place)
}

fn cut(text: Cow<'_, [u8]>, start: usize, end: usize) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
        Cow::Owned(mut text) => {
            text.truncate(end);
            text.drain(..start);
            Cow::Owned(text)
        }
    }
}

/// A string with letters replaced by those at the same places of another string, or left out.
pub fn translated(text: &[u8], letters: &[u8], others: &[u8]) -> Vec<u8> {
    let (text, letters) = (
        String::from_utf8_lossy(text),
        String::from_utf8_lossy(letters),
    );
    let others: Vec<char> = String::from_utf8_lossy(others).chars().collect();
    let mut plain: [Option<Option<char>>; 128] = [None; 128];
    let mut rest = Vec::new();
    for (place, letter) in letters.chars().enumerate() {
        let replaced = others.get(place).copied();
        match plain.get_mut(letter as usize) {
            Some(known) => {
                known.get_or_insert(replaced);
            }
            None => rest.push((letter, replaced)),
        }
    }
    // The first of two equal letters counts, and a stable sort keeps it in front.
    rest.sort_by_key(|&(letter, _)| letter);
    rest.dedup_by_key(|&mut (letter, _)| letter);
    let mut found = String::with_capacity(text.len());
    for letter in text.chars() {
        let known = match plain.get(letter as usize) {
            Some(known) => *known,
            None => {
                let place = rest.binary_search_by_key(&letter, |&(one, _)| one);
                place.ok().map(|place| rest[place].1)
            }
        };
        found.extend(known.unwrap_or(Some(letter)));
    }
    found.into_bytes()
}

/// Whether a language, of an attribute `xml:lang`, is the one asked for or a part of it.
pub fn is_language(given: &[u8], asked: &[u8]) -> bool {
    let Some(start) = given.get(..asked.len()) else {
        return false;
    };
    start.eq_ignore_ascii_case(asked) && matches!(given.get(asked.len()), None | Some(b'-'))
}
