//! Batches: Arrow buffers in, Arrow buffers out.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use twigcast_kernel_core::matching::Found;

use crate::index::Index;
use crate::slab::Slab;

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

/// Offsets and ids of the matches, offsets and ids of libxml2's candidates, and the rows that the
/// kernel would rather have libxml2 read.
pub type Batch = (Slab, Slab, Slab, Slab, Vec<usize>);

/// The documents in the buffers of an Arrow array.
pub fn rows<'a>(
    content: &'a [u8],
    offsets: &[u8],
    wide: bool,
    first: usize,
    count: usize,
) -> PyResult<Vec<&'a [u8]>> {
    let width = if wide { 8 } else { 4 };
    let offset = |place: usize| -> Option<usize> {
        let start = first.checked_add(place)?.checked_mul(width)?;
        let bytes = offsets.get(start..)?.get(..width)?;
        let number = if wide {
            i64::from_le_bytes(bytes.try_into().ok()?)
        } else {
            i64::from(i32::from_le_bytes(bytes.try_into().ok()?))
        };
        usize::try_from(number).ok()
    };
    let row = |place| content.get(offset(place)?..offset(place + 1)?);
    let rows: Option<Vec<&[u8]>> = (0..count).map(row).collect();
    rows.ok_or_else(|| PyValueError::new_err("the offsets do not fit the content"))
}

/// Matches documents, on several threads if asked for.
pub fn matched(index: &Index, rows: &[&[u8]], skip: &[i64], threads: usize) -> PyResult<Batch> {
    let threads = threads.clamp(1, rows.len().max(1));
    let mut parts = if threads == 1 {
        vec![part(index, rows, 0..rows.len(), skip)]
    } else {
        let shares = shares(rows, threads);
        thread::scope(|scope| {
            let started: Vec<_> = shares
                .into_iter()
                .map(|share| scope.spawn(move || part(index, rows, share, skip)))
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
    rows: &[&[u8]],
    share: Range<usize>,
    skip: &[i64],
) -> Result<Part, Overflow> {
    index.with_workspace(|core, workspace| {
        let mut part = Part::default();
        part.matches.ids = index.spare().take();
        part.matches.ends.push(0);
        part.candidates.ends.push(0);
        for row in share {
            let found = Found {
                matches: &mut part.matches.ids,
                candidates: &mut part.candidates.ids,
            };
            if workspace
                .matched(core, rows[row], index.bounds(), skip, found)
                .is_err()
            {
                part.unsure.push(row);
            }
            part.matches.close()?;
            part.candidates.close()?;
        }
        Ok(part)
    })
}

/// Rows in a row for each thread, about as many bytes each.
fn shares(rows: &[&[u8]], threads: usize) -> Vec<Range<usize>> {
    let total: usize = rows.iter().map(|row| row.len() + 64).sum();
    let (mut shares, mut start, mut sum) = (Vec::new(), 0, 0);
    for (place, row) in rows.iter().enumerate() {
        sum += row.len() + 64;
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
