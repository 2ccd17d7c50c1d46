//! Value tests, as XPath 1.0 has them (3.4) and as libxml2 reads numbers.
//!
//! libxml2 takes more for a number than the standard does (`"1e3"`), and computes it digit by digit,
//! so that the last bit may differ from a correctly rounded reading. It is the oracle, so we compute
//! as it does.

use crate::pattern::Operator;

/// The digits behind the point, after leading zeros, that libxml2 takes into account.
const FRACTION_DIGITS: i32 = 20;

/// Where libxml2 stops counting an exponent.
const EXPONENT_MAX: i32 = 1_000_000;

/// So many digits make a number that is exact, however it is computed.
const EXACT_DIGITS: usize = 15;

/// The number a string-value stands for, or NaN.
#[inline]
pub fn number(value: &[u8]) -> f64 {
    if value.is_empty() || value.len() > EXACT_DIGITS {
        return any_number(value);
    }
    let mut whole = 0u64;
    for &byte in value {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return any_number(value);
        }
        whole = whole * 10 + u64::from(digit);
    }
    whole as f64
}

fn any_number(value: &[u8]) -> f64 {
    let mut at = Cursor(value);
    at.skip_blanks();
    let negative = at.take(b'-');
    let (mut result, mut digits) = (0.0f64, false);
    while let Some(digit) = at.digit() {
        result = result * 10.0 + f64::from(digit);
        digits = true;
    }
    if at.take(b'.') {
        let mut places = 0i32;
        let mut fraction = 0.0f64;
        if !digits && !at.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return f64::NAN;
        }
        digits = true;
        while at.take(b'0') {
            places = places.saturating_add(1);
        }
        let last = places.saturating_add(FRACTION_DIGITS);
        while places < last
            && let Some(digit) = at.digit()
        {
            fraction = fraction * 10.0 + f64::from(digit);
            places += 1;
        }
        result += fraction / 10f64.powf(f64::from(places));
        while at.digit().is_some() {}
    }
    let mut exponent = 0i32;
    if at.take(b'e') || at.take(b'E') {
        let downwards = at.take(b'-');
        if !downwards {
            at.take(b'+');
        }
        while let Some(digit) = at.digit() {
            if exponent < EXPONENT_MAX {
                exponent = exponent * 10 + i32::from(digit);
            }
        }
        if downwards {
            exponent = -exponent;
        }
    }
    at.skip_blanks();
    if !digits || !at.0.is_empty() {
        return f64::NAN;
    }
    if negative {
        result = -result;
    }
    if exponent == 0 {
        result
    } else {
        result * 10f64.powf(f64::from(exponent))
    }
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        if there {
            self.0 = &self.0[1..];
        }
        there
    }

    fn digit(&mut self) -> Option<u8> {
        let byte = self.peek().filter(u8::is_ascii_digit)?;
        self.0 = &self.0[1..];
        Some(byte - b'0')
    }

    fn skip_blanks(&mut self) {
        while self
            .peek()
            .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        {
            self.0 = &self.0[1..];
        }
    }
}

/// A value on its way through many tests: it is read as a number once, and only if need be.
pub struct Value<'a> {
    /// The string-value.
    pub text: &'a [u8],
    number: Option<f64>,
}

impl<'a> Value<'a> {
    /// A string-value.
    pub fn new(text: &'a [u8]) -> Self {
        Value { text, number: None }
    }

    /// What number it stands for.
    #[inline]
    pub fn number(&mut self) -> f64 {
        *self.number.get_or_insert_with(|| number(self.text))
    }

    /// Whether it compares with the constant, given as text and as the number it stands for.
    #[inline]
    pub fn passes(
        &mut self,
        operator: Operator,
        numeric: bool,
        text: &[u8],
        constant: f64,
    ) -> bool {
        match operator {
            Operator::Equal if numeric => self.number() == constant,
            Operator::Equal => self.text == text,
            Operator::Unequal if numeric => self.number() != constant,
            Operator::Unequal => self.text != text,
            Operator::Less => self.number() < constant,
            Operator::AtMost => self.number() <= constant,
            Operator::Greater => self.number() > constant,
            Operator::AtLeast => self.number() >= constant,
            // Looking for a long text takes preparation, even in a short one.
            Operator::Contains => {
                text.len() <= self.text.len() && memchr::memmem::find(self.text, text).is_some()
            }
            Operator::StartsWith => self.text.starts_with(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_read_as_libxml2_reads_them() {
        for (text, expected) in [
            ("5", 5.0),
            (" 5\n", 5.0),
            ("-5", -5.0),
            ("1e3", 1000.0),
            ("1E-2", 0.01),
            (".5", 0.5),
            ("5.", 5.0),
            ("007", 7.0),
            ("123456789012345", 123_456_789_012_345.0),
            ("1234567890123456", 1_234_567_890_123_456.0),
            ("12345678901234.5", 12_345_678_901_234.5),
        ] {
            assert_eq!(number(text.as_bytes()), expected, "{text:?}");
        }
        for text in [
            "", " ", "-", ".", "x", "5x", "+5", "0x10", "1 2", "--1", "e5",
        ] {
            assert!(number(text.as_bytes()).is_nan(), "{text:?}");
        }
    }
}
