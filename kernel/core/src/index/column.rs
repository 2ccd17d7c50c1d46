//! Arrays that lie in memory of their own or inside a buffer somebody else holds, such as a file
//! mapped into memory.
//!
//! A compiled index is nothing but columns, so reading one back means pointing at the bytes: no work
//! per subscription. The first change copies the column it touches.

use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;

use crate::sys::pages::advise;

/// Bytes that stay where they are for as long as anybody holds this.
pub trait Buffer: Send + Sync {
    /// The bytes.
    fn bytes(&self) -> &[u8];
}

impl Buffer for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// An array of plain records.
pub enum Column<T: Pod> {
    /// In memory of its own.
    Owned(Vec<T>),
    /// Inside a buffer, at these bytes, which are aligned for `T`.
    Mapped(Arc<dyn Buffer>, Range<usize>),
}

impl<T: Pod> Default for Column<T> {
    fn default() -> Self {
        Column::Owned(Vec::new())
    }
}

impl<T: Pod> Deref for Column<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Column::Owned(records) => records,
            Column::Mapped(buffer, range) => bytemuck::cast_slice(&buffer.bytes()[range.clone()]),
        }
    }
}

impl<T: Pod> Column<T> {
    /// The records in a range of a buffer: mapped where their alignment allows it, else copied.
    /// `None` if the range does not hold a whole number of records.
    pub fn map(buffer: &Arc<dyn Buffer>, range: Range<usize>) -> Option<Self> {
        let bytes = buffer.bytes().get(range.clone())?;
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return None;
        }
        if bytemuck::try_cast_slice::<u8, T>(bytes).is_ok() {
            return Some(Column::Mapped(buffer.clone(), range));
        }
        Some(Column::Owned(bytemuck::allocation::pod_collect_to_vec(
            bytes,
        )))
    }

    /// The records to be changed.
    #[inline]
    pub fn edit(&mut self) -> &mut Vec<T> {
        if let Column::Mapped(..) = self {
            *self = Column::Owned(self.to_vec());
        }
        match self {
            Column::Owned(records) => records,
            Column::Mapped(..) => unreachable!("copied above"),
        }
    }

    /// One more record. Columns grow by an eighth, not to twice their size: memory counts here.
    #[inline]
    pub fn push(&mut self, record: T) {
        let records = self.edit();
        if records.len() == records.capacity() {
            records.reserve_exact((records.len() / 8).max(64));
            advise(records);
        }
        records.push(record);
    }

    /// At least so many records, new ones being copies of `blank`.
    #[inline]
    pub fn grow(&mut self, size: usize, blank: T) {
        while self.len() < size {
            self.push(blank);
        }
    }

    /// How many bytes of our own memory it takes.
    pub fn held(&self) -> usize {
        match self {
            Column::Owned(records) => records.capacity() * size_of::<T>(),
            Column::Mapped(..) => 0,
        }
    }
}

/// Numbers that are free to be given out again, with a stack of their own.
///
/// What a reader may have remembered cannot be reused at once: freed numbers wait in limbo until
/// everything remembered is forgotten.
#[derive(Default)]
pub struct Spare {
    free: Vec<u32>,
    limbo: Vec<u32>,
}

impl Spare {
    /// A free number, if there is one.
    pub fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// Gives a number back that readers may still remember.
    pub fn retire(&mut self, number: u32) {
        self.limbo.push(number);
    }

    /// Gives a number back that nobody remembers.
    pub fn put(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Nobody remembers anything any more.
    pub fn settle(&mut self) {
        self.free.append(&mut self.limbo);
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.limbo.len()
    }

    /// How many numbers are not in use.
    pub fn unused(&self) -> usize {
        self.free.len() + self.limbo.len()
    }

    /// All numbers that are not in use, for storing.
    pub fn all(&self) -> Vec<u32> {
        self.free.iter().chain(&self.limbo).copied().collect()
    }

    /// Those numbers are free.
    pub fn from_free(free: Vec<u32>) -> Self {
        Spare {
            free,
            limbo: Vec::new(),
        }
    }

    /// How many bytes it takes.
    pub fn held(&self) -> usize {
        (self.free.capacity() + self.limbo.capacity()) * size_of::<u32>()
    }
}

/// Stores a record under a number from the spare ones, or at the end.
pub fn store<T: Pod>(column: &mut Column<T>, spare: &mut Spare, record: T) -> u32 {
    match spare.take() {
        Some(number) => {
            column.edit()[number as usize] = record;
            number
        }
        None => {
            column.push(record);
            column.len() as u32 - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(bytes: &[u8]) -> Arc<dyn Buffer> {
        Arc::new(bytes.to_vec())
    }

    #[test]
    fn records_are_read_from_any_place_in_a_buffer() {
        let bytes: Vec<u8> = (0..32).collect();
        let held = buffer(&bytes);
        for start in 0..8 {
            let column = Column::<u32>::map(&held, start..start + 8).expect("two records");
            let expected = bytes[start..start + 8].chunks(4);
            let expected = expected.map(|it| u32::from_ne_bytes([it[0], it[1], it[2], it[3]]));
            assert_eq!(column[..], expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_range_beyond_the_buffer_or_with_half_a_record_is_no_column() {
        let held = buffer(&[0; 16]);
        assert!(Column::<u32>::map(&held, 0..7).is_none());
        assert!(Column::<u32>::map(&held, 8..20).is_none());
        assert!(Column::<u32>::map(&held, 16..16).is_some_and(|it| it.is_empty()));
    }

    #[test]
    fn a_change_copies_the_records_and_leaves_the_buffer() {
        let held = buffer(&[0; 64]);
        let mut column = Column::<u64>::map(&held, 0..64).expect("eight records");
        column.edit()[3] = 5;
        column.push(6);
        assert_eq!(column[..], [0, 0, 0, 5, 0, 0, 0, 0, 6]);
        assert_eq!(held.bytes(), [0; 64]);
        assert!(column.held() >= 72);
    }

    #[test]
    fn freed_numbers_wait_until_nobody_remembers_them() {
        let (mut column, mut spare) = (Column::default(), Spare::default());
        let numbers: Vec<u32> = (0..3u32)
            .map(|it| store(&mut column, &mut spare, it))
            .collect();
        assert_eq!(numbers, [0, 1, 2]);
        spare.retire(1);
        assert_eq!((spare.waiting(), store(&mut column, &mut spare, 7)), (1, 3));
        assert_eq!(spare.all(), [1]);
        spare.settle();
        assert_eq!((spare.waiting(), store(&mut column, &mut spare, 8)), (0, 1));
        spare.put(2);
        assert_eq!(store(&mut column, &mut spare, 9), 2);
        assert_eq!(column[..], [0, 8, 9, 7]);
    }
}
