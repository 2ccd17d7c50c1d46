//! The search for records of a dump.

use pyo3::prelude::*;
use twigcast_kernel_core::dump;

use crate::locks::detached;
use crate::slab::Slab;

/// Where the first `<` stands that counts inside a record; -1 if none does.
#[pyfunction]
pub fn find_markup(
    py: Python<'_>,
    text: &[u8],
    start: usize,
    end: usize,
    local: Option<&[u8]>,
) -> PyResult<isize> {
    let found = detached(py, |_| Ok(dump::find(text, start, end, local)))?;
    Ok(found.map_or(-1, |at| at as isize))
}

/// Records in a row that begin like one that was read: beginnings and ends, and how far they reach.
#[pyfunction]
pub fn records_alike(
    py: Python<'_>,
    text: &[u8],
    start: usize,
    end: usize,
    tag: &[u8],
    local: Option<&[u8]>,
) -> PyResult<(Slab, usize)> {
    let row = detached(py, |_| Ok(dump::alike(text, start, end, tag, local)))?;
    Ok((Slab::short(row.places), row.reached))
}
