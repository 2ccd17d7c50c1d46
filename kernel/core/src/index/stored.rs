//! An index as bytes that can be used where they lie.
//!
//! Every column is written as it is in memory, at a multiple of eight bytes, behind a header that tells
//! where each begins and how long it is, with a checksum of everything. Reading it back checks that
//! sum and points at the bytes. The order of bytes is that of the machine; another machine's index is
//! refused. A buffer must come from [`Index::to_bytes`]: the checksum finds damage, not ill will.

use std::fmt;
use std::sync::Arc;

use bytemuck::Pod;

use crate::index::Index;
use crate::index::blocks::Blocks;
use crate::index::column::{Buffer, Column, Spare};
use crate::index::layer::Layer;
use crate::index::table::Table;
use crate::pattern::interner::Labels;
use crate::pattern::{Kind, Label};

const MAGIC: &[u8; 16] = b"twigcast-index-2";
const HEADER: usize = 40;

/// Why bytes cannot be an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// They begin otherwise, or were written by another version or on another kind of machine.
    Foreign,
    /// They are not as they were written.
    Changed,
}

impl fmt::Display for Damaged {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Damaged::Foreign => "not an index of this version, or of another kind of machine",
            Damaged::Changed => "an index that was damaged or cut off",
        })
    }
}

/// Either writes columns one after the other, or reads them back in the same order.
enum Tape<'a> {
    Write {
        bytes: Vec<u8>,
        places: Vec<u64>,
    },
    Read {
        buffer: &'a Arc<dyn Buffer>,
        places: Vec<(usize, usize)>,
        next: usize,
    },
}

impl Tape<'_> {
    fn column<T: Pod>(&mut self, column: &mut Column<T>) -> Result<(), Damaged> {
        match self {
            Tape::Write { bytes, places } => {
                let content: &[u8] = bytemuck::cast_slice(column);
                places.extend([bytes.len() as u64, content.len() as u64]);
                bytes.extend_from_slice(content);
                bytes.resize(bytes.len().next_multiple_of(8), 0);
            }
            Tape::Read {
                buffer,
                places,
                next,
            } => {
                let &(start, length) = places.get(*next).ok_or(Damaged::Changed)?;
                *next += 1;
                let end = start.checked_add(length).ok_or(Damaged::Changed)?;
                *column = Column::map(buffer, start..end).ok_or(Damaged::Changed)?;
            }
        }
        Ok(())
    }

    fn numbers(&mut self, numbers: &mut Vec<u64>) -> Result<(), Damaged> {
        let mut column = Column::Owned(std::mem::take(numbers));
        self.column(&mut column)?;
        *numbers = column.to_vec();
        Ok(())
    }

    fn table(&mut self, table: &mut Table) -> Result<(), Damaged> {
        let mut filled = vec![table.len() as u64];
        let mut entries = table.take_entries();
        self.numbers(&mut filled)?;
        self.column(&mut entries)?;
        let filled = *filled.first().ok_or(Damaged::Changed)? as usize;
        *table = Table::from_entries(entries, filled).ok_or(Damaged::Changed)?;
        Ok(())
    }

    fn spare(&mut self, spare: &mut Spare) -> Result<(), Damaged> {
        let mut column = Column::Owned(spare.all());
        self.column(&mut column)?;
        *spare = Spare::from_free(column.to_vec());
        Ok(())
    }

    fn blocks(&mut self, blocks: &mut Blocks) -> Result<(), Damaged> {
        self.column(&mut blocks.kins)?;
        self.table(&mut blocks.table)?;
        self.column(&mut blocks.granules)
    }

    fn labels(&mut self, labels: &mut Labels) -> Result<(), Damaged> {
        let mut column = Column::Owned(packed(labels));
        self.column(&mut column)?;
        *labels = Labels::from_all(unpacked(&column).ok_or(Damaged::Changed)?);
        Ok(())
    }

    fn layer(&mut self, layer: &mut Layer) -> Result<(), Damaged> {
        self.column(&mut layer.nodes)?;
        self.table(&mut layer.edges)?;
        self.column(&mut layer.entries)?;
        self.column(&mut layer.valued)?;
        self.table(&mut layer.valued_table)?;
        self.column(&mut layer.slots)?;
        self.column(&mut layer.keys)?;
        self.column(&mut layer.live)?;
        self.blocks(&mut layer.slot_blocks)?;
        self.column(&mut layer.twigs)?;
        self.blocks(&mut layer.twig_blocks)?;
        self.column(&mut layer.atoms)?;
        self.column(&mut layer.joins)?;
        let mut numbers = vec![u64::from(layer.always), layer.patterns as u64];
        self.numbers(&mut numbers)?;
        let [always, patterns] = numbers[..] else {
            return Err(Damaged::Changed);
        };
        (layer.always, layer.patterns) = (always as u32, patterns as usize);
        for spare in &mut layer.spare {
            self.spare(spare)?;
        }
        Ok(())
    }

    fn index(&mut self, index: &mut Index) -> Result<(), Damaged> {
        self.column(&mut index.clauses.records)?;
        self.table(&mut index.clauses.table)?;
        self.spare(&mut index.clauses.spare)?;
        self.labels(&mut index.clauses.labels)?;
        self.column(&mut index.clauses.tests.records)?;
        self.column(&mut index.clauses.tests.texts)?;
        self.table(&mut index.clauses.tests.table)?;
        self.spare(&mut index.clauses.tests.spare)?;
        self.column(&mut index.patterns)?;
        self.table(&mut index.ids)?;
        self.spare(&mut index.spare)?;
        let mut numbers = vec![
            index.end as u64,
            index.residual as u64,
            index.distinct as u64,
            index.clauses.tests.idle as u64,
        ];
        self.numbers(&mut numbers)?;
        let [end, residual, distinct, idle] = numbers[..] else {
            return Err(Damaged::Changed);
        };
        index.end = end as i64;
        (index.residual, index.distinct) = (residual as usize, distinct as usize);
        index.clauses.tests.idle = idle as usize;
        self.layer(&mut index.layers[0])
    }
}

impl Index {
    /// The index as bytes. What readers remember is forgotten first, so that nothing waits.
    pub fn to_bytes(&mut self) -> Vec<u8> {
        self.settle();
        let mut tape = Tape::Write {
            bytes: Vec::new(),
            places: Vec::new(),
        };
        let written = tape.index(self);
        debug_assert!(written.is_ok(), "writing cannot fail");
        let Tape::Write { bytes, places } = tape else {
            return Vec::new();
        };
        let start = HEADER + places.len() * 8;
        let mut whole = Vec::with_capacity(start + bytes.len());
        whole.extend_from_slice(MAGIC);
        whole.extend_from_slice(&(places.len() as u64).to_ne_bytes());
        whole.extend_from_slice(&(bytes.len() as u64).to_ne_bytes());
        let directory: Vec<u8> = places.iter().flat_map(|it| it.to_ne_bytes()).collect();
        let sum = checksum(checksum(0, &directory), &bytes);
        whole.extend_from_slice(&sum.to_ne_bytes());
        whole.extend_from_slice(&directory);
        whole.extend_from_slice(&bytes);
        whole
    }

    /// The index in a buffer.
    pub fn from_buffer(buffer: &Arc<dyn Buffer>) -> Result<Self, Damaged> {
        let bytes = buffer.bytes();
        if !bytes.starts_with(MAGIC) {
            return Err(Damaged::Foreign);
        }
        let number = |place: usize| -> Option<u64> {
            Some(u64::from_ne_bytes(
                bytes.get(place..place + 8)?.try_into().ok()?,
            ))
        };
        let count = number(16)
            .filter(|&it| it < 1 << 20)
            .ok_or(Damaged::Foreign)? as usize;
        let length = number(24).ok_or(Damaged::Foreign)?;
        let start = HEADER + count * 8;
        if (start as u64).checked_add(length) != Some(bytes.len() as u64) {
            return Err(Damaged::Changed);
        }
        let sum = checksum(checksum(0, &bytes[HEADER..start]), &bytes[start..]);
        if number(32) != Some(sum) {
            return Err(Damaged::Changed);
        }
        let at = |place: usize| number(HEADER + place * 8).unwrap_or(0) as usize;
        let places = (0..count / 2)
            .map(|it| (start + at(it * 2), at(it * 2 + 1)))
            .collect();
        let mut index = Index::default();
        Tape::Read {
            buffer,
            places,
            next: 0,
        }
        .index(&mut index)?;
        index.most = index.len();
        Ok(index)
    }
}

/// A sum that no likely damage leaves unchanged, taken eight bytes at a time in four lanes.
fn checksum(start: u64, bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut lanes = [start, start ^ 1, start ^ 2, start ^ 3];
    let mut blocks = bytes.chunks_exact(32);
    for block in &mut blocks {
        for (lane, word) in lanes.iter_mut().zip(block.chunks_exact(8)) {
            let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
            *lane = (*lane ^ word).wrapping_mul(FACTOR).rotate_left(29);
        }
    }
    let tail = blocks
        .remainder()
        .iter()
        .fold(bytes.len() as u64, |sum, &byte| {
            (sum ^ u64::from(byte)).wrapping_mul(FACTOR).rotate_left(29)
        });
    lanes.into_iter().fold(tail, |sum, lane| {
        (sum ^ lane).wrapping_mul(FACTOR).rotate_left(31)
    })
}

/// Labels as bytes: kind, uses, and each name with its length, or without one.
fn packed(labels: &Labels) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (label, uses) in labels.all() {
        bytes.push(label.kind as u8);
        bytes.extend_from_slice(&uses.to_le_bytes());
        for name in [&label.namespace, &label.local] {
            let length = name.as_ref().map_or(u32::MAX, |name| name.len() as u32);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(name.as_deref().unwrap_or("").as_bytes());
        }
    }
    bytes
}

fn unpacked(bytes: &[u8]) -> Option<Vec<(Label, u32)>> {
    let mut rest = bytes;
    let mut labels = Vec::new();
    while let Some((&kind, after)) = rest.split_first() {
        rest = after;
        let kind = *[Kind::Element, Kind::Attribute, Kind::Text].get(usize::from(kind))?;
        let uses = number(&mut rest)?;
        let namespace = name(&mut rest)?;
        let local = name(&mut rest)?;
        labels.push((
            Label {
                kind,
                namespace,
                local,
            },
            uses,
        ));
    }
    Some(labels)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_le_bytes(*bytes))
}

#[allow(clippy::option_option)] // there is no name, or there are too few bytes
fn name(rest: &mut &[u8]) -> Option<Option<Box<str>>> {
    let length = number(rest)?;
    if length == u32::MAX {
        return Some(None);
    }
    let (text, after) = rest.split_at_checked(length as usize)?;
    *rest = after;
    Some(Some(std::str::from_utf8(text).ok()?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts_in_the_checksum() {
        let bytes: Vec<u8> = (0..77).collect();
        let sum = checksum(0, &bytes);
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(0, &changed), sum, "{bit}");
        }
        assert_ne!(checksum(1, &bytes), sum);
        assert_ne!(checksum(0, &[0; 5]), checksum(0, &[0; 6]));
    }

    #[test]
    fn labels_are_read_as_they_were_written_and_not_if_cut() {
        let mut labels = Labels::default();
        let names = [None, Some(""), Some("urn:é")];
        for kind in [Kind::Element, Kind::Attribute, Kind::Text] {
            for (namespace, local) in names.iter().zip(names.iter().rev()) {
                labels.take(&Label {
                    kind,
                    namespace: namespace.map(Into::into),
                    local: local.map(Into::into),
                });
            }
        }
        let bytes = packed(&labels);
        let back = unpacked(&bytes).expect("as written");
        assert!(back.iter().map(|it| (&it.0, it.1)).eq(labels.all()));
        let whole = (0..bytes.len()).filter(|&length| unpacked(&bytes[..length]).is_some());
        assert_eq!(whole.count(), 9);
    }
}
