//! Batches: Arrow buffers in, Arrow buffers out.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use twigcast_kernel_core::matching::workspace::Found;

use crate::buffers::Given;
use crate::index::Index;
use crate::locks::Detached;
use crate::slab::Slab;

/// Threads that share one batch at most: more than any machine has cores to run them on.
const THREADS_MAX: usize = 1_024;

/// Ids of many documents, one list behind the other.
#[derive(Default)]
struct Lists {
    ends: Vec<i32>,
    ids: Vec<i64>,
}

/// What became of some documents that follow each other.
#[derive(Default)]
struct Part {
    matches: Lists,
    candidates: Lists,
    unsure: Vec<usize>,
}

/// Offsets and ids of the matches, offsets and ids of libxml2's candidates, and the rows to be asked for
/// alone: libxml2 had better read them, or something in them is undecided.
pub type Batch = (Slab, Slab, Slab, Slab, Vec<usize>);

/// The documents in the buffers of an Arrow array.
pub struct Rows<'a> {
    content: &'a Given,
    /// Where each document begins, and the last one ends.
    offsets: Vec<usize>,
    /// Whether the documents are UTF-8, whatever they declare.
    pub are_decoded: bool,
}

impl<'a> Rows<'a> {
    /// Fails unless every document lies within the content.
    pub fn new(
        content: &'a Given,
        offsets: &Given,
        wide: bool,
        first: usize,
        count: usize,
    ) -> PyResult<Self> {
        let offsets = read_offsets(offsets, wide, first, count);
        let fits = |offsets: &Vec<usize>| {
            let ascending = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
            ascending && offsets.last().is_none_or(|&end| end <= content.len())
        };
        match offsets.filter(fits) {
            Some(offsets) => Ok(Rows {
                content,
                offsets,
                are_decoded: false,
            }),
            None => Err(PyValueError::new_err("the offsets do not fit the content")),
        }
    }

    fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// A document, perhaps as a copy made in `copy`.
    fn get<'b>(&'b self, row: usize, copy: &'b mut Vec<u8>) -> &'b [u8] {
        let place = self.offsets[row]..self.offsets[row + 1];
        self.content.part(place, copy).unwrap_or_default()
    }

    fn size(&self, row: usize) -> usize {
        self.offsets[row + 1] - self.offsets[row]
    }
}

/// The offsets of some documents and of the end of the last; none if there are not so many.
fn read_offsets(offsets: &Given, wide: bool, first: usize, count: usize) -> Option<Vec<usize>> {
    if count == 0 {
        return Some(Vec::new());
    }
    let width = if wide { 8 } else { 4 };
    let start = first.checked_mul(width)?;
    let end = first
        .checked_add(count)?
        .checked_add(1)?
        .checked_mul(width)?;
    let mut copy = Vec::new();
    let offset = |bytes: &[u8]| {
        let number = if wide {
            i64::from_le_bytes(bytes.try_into().ok()?)
        } else {
            i64::from(i32::from_le_bytes(bytes.try_into().ok()?))
        };
        usize::try_from(number).ok()
    };
    let bytes = offsets.part(start..end, &mut copy)?;
    bytes.chunks_exact(width).map(offset).collect()
}

/// Matches documents, on several threads if asked for.
pub fn matched(
    index: &Index,
    rows: &Rows,
    skip: &[i64],
    threads: usize,
    detached: &mut Detached,
) -> PyResult<Batch> {
    let threads = threads.clamp(1, rows.len().clamp(1, THREADS_MAX));
    let mut parts = if threads == 1 {
        vec![part(index, rows, 0..rows.len(), skip, detached)]
    } else {
        let shares = shares(rows, threads);
        thread::scope(|scope| {
            let started: Vec<_> = shares
                .into_iter()
                .map(|share| {
                    let job = move || part(index, rows, share, skip, &mut Detached::own_thread());
                    scope.spawn(job)
                })
                .collect();
            started
                .into_iter()
                .map(|job| job.join().unwrap_or(Err(Overflow::Panicked)))
                .collect()
        })
    };
    let mut whole = parts.remove(0)?;
    for other in parts {
        let other = other?;
        whole.matches.append(other.matches)?;
        whole.candidates.append(other.candidates)?;
        whole.unsure.extend(other.unsure);
    }
    let Part {
        matches,
        candidates,
        unsure,
    } = whole;
    Ok((
        Slab::short(matches.ends),
        Slab::long(matches.ids, Arc::clone(index.spare())),
        Slab::short(candidates.ends),
        Slab::long(candidates.ids, Arc::clone(index.spare())),
        unsure,
    ))
}

enum Overflow {
    Offsets,
    Panicked,
}

impl From<Overflow> for PyErr {
    fn from(overflow: Overflow) -> PyErr {
        match overflow {
            Overflow::Offsets => PyOverflowError::new_err(
                "more matches than one batch can hold; give fewer documents at a time",
            ),
            Overflow::Panicked => {
                PyRuntimeError::new_err("a thread of the kernel failed, which is a bug in it")
            }
        }
    }
}

fn part(
    index: &Index,
    rows: &Rows,
    share: Range<usize>,
    skip: &[i64],
    detached: &mut Detached,
) -> Result<Part, Overflow> {
    let mut part = Part::default();
    part.matches.ids = index.spare().take(detached);
    part.matches.ends.push(0);
    part.candidates.ends.push(0);
    let (mut copy, mut undecided) = (Vec::new(), Vec::new());
    let mut bounds = *index.bounds();
    bounds.limits.is_decoded = rows.are_decoded;
    index.reading(detached, |detached, workspace| {
        for row in share {
            undecided.clear();
            let content = rows.get(row, &mut copy);
            // For each row anew: whoever wants to change the index waits for one document, not for all.
            let read = index.decided(detached, |core| {
                let found = Found {
                    matches: &mut part.matches.ids,
                    candidates: &mut part.candidates.ids,
                    undecided: &mut undecided,
                };
                workspace.matched(core, content, &bounds, skip, found)
            });
            if !matches!(read, Ok(Ok(()))) || !undecided.is_empty() {
                part.unsure.push(row);
            }
            part.matches.close()?;
            part.candidates.close()?;
        }
        Ok(part)
    })
}

/// Rows in a row for each thread, about as many bytes each.
fn shares(rows: &Rows, threads: usize) -> Vec<Range<usize>> {
    let total: usize = (0..rows.len()).map(|row| rows.size(row) + 64).sum();
    let (mut shares, mut start, mut sum) = (Vec::new(), 0, 0);
    for place in 0..rows.len() {
        sum += rows.size(place) + 64;
        if sum * threads >= total * (shares.len() + 1) {
            shares.push(start..place + 1);
            start = place + 1;
        }
    }
    shares
}

impl Lists {
    fn close(&mut self) -> Result<(), Overflow> {
        self.ends
            .push(i32::try_from(self.ids.len()).map_err(|_| Overflow::Offsets)?);
        Ok(())
    }

    fn append(&mut self, other: Lists) -> Result<(), Overflow> {
        let base = i32::try_from(self.ids.len()).map_err(|_| Overflow::Offsets)?;
        for end in other.ends.into_iter().skip(1) {
            self.ends
                .push(end.checked_add(base).ok_or(Overflow::Offsets)?);
        }
        self.ids.extend(other.ids);
        Ok(())
    }
}
