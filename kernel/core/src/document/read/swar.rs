//! Eight bytes at a time.
//!
//! Names, values and white space in documents are short, so a loop over their bytes ends where the
//! processor does not expect it. Here eight bytes are looked at as one number: each function gives a
//! number with the highest bit set of every byte it looks for. Bits behind the first may be wrong, as
//! subtraction borrows upwards; only the first is ever used.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The eight bytes at a place, the first one lowest; zeros behind the end.
#[inline]
pub(crate) fn word(input: &[u8], at: usize) -> u64 {
    let rest = input.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => last_word(rest),
    }
}

#[cold]
fn last_word(rest: &[u8]) -> u64 {
    let mut chunk = [0; 8];
    chunk[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(chunk)
}

#[inline]
pub(super) fn equal(word: u64, byte: u8) -> u64 {
    let word = word ^ (ONES * u64::from(byte));
    word.wrapping_sub(ONES) & !word & HIGHS
}

#[inline]
pub(super) fn below(word: u64, byte: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(byte)) & !word & HIGHS
}

/// How many bytes are in front of the first one found.
#[inline]
pub(super) fn in_front(found: u64) -> usize {
    found.trailing_zeros() as usize / 8
}

/// The first so many bytes, less than eight.
#[inline]
pub(super) fn first(word: u64, length: usize) -> u64 {
    word & ((1 << (8 * length)) - 1)
}

/// Sixteen bytes at most, and zeros behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Short {
    pub(super) low: u64,
    pub(super) high: u64,
}

/// What may be a name from a place on, up to where no name can go on, and its length.
///
/// Whether it *is* a name somebody else has to find out; none if it is too long for [`Short`].
#[inline]
pub(super) fn short_name(input: &[u8], at: usize) -> Option<(Short, usize)> {
    let low = word(input, at);
    let found = name_stops(low);
    if found != 0 {
        let length = in_front(found);
        return Some((
            Short {
                low: first(low, length),
                high: 0,
            },
            length,
        ));
    }
    let high = word(input, at + 8);
    let found = name_stops(high);
    if found == 0 {
        return None;
    }
    let length = in_front(found);
    Some((
        Short {
            low,
            high: first(high, length),
        },
        8 + length,
    ))
}

/// White space, `/`, `<`, `=`, `>` and `?`: whatever may come behind the names of tags.
#[inline]
fn name_stops(word: u64) -> u64 {
    below(word, b' ' + 1) | equal(word, b'/') | equal(word & (ONES * 0xfc), b'<')
}

/// Whether the same `length` bytes are at both places; there are as many at the first.
#[inline]
pub(super) fn same(input: &[u8], one: usize, other: usize, length: usize) -> bool {
    let difference = word(input, one) ^ word(input, other);
    match length {
        0..8 => first(difference, length) == 0,
        8..16 => {
            let further = word(input, one + 8) ^ word(input, other + 8);
            difference == 0 && first(further, length - 8) == 0
        }
        _ => input[other..].starts_with(&input[one..one + length]),
    }
}
