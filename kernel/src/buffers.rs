//! Python's buffers.

use std::ops::Range;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
use twigcast_kernel_core::index::column::Buffer;

/// A buffer that stays where it is, and as it is, while this is held.
pub struct Held(PyBuffer<u8>);

impl Held {
    /// Holds a buffer that nobody can write to: an index points into it for as long as it lives.
    pub fn new(buffer: PyBuffer<u8>) -> PyResult<Self> {
        check_contiguous(&buffer)?;
        if buffer.readonly() {
            Ok(Held(buffer))
        } else {
            Err(PyBufferError::new_err("the buffer can be written to"))
        }
    }
}

impl Buffer for Held {
    fn bytes(&self) -> &[u8] {
        if self.0.len_bytes() == 0 {
            return &[];
        }
        // SAFETY: the exporter keeps the memory in place while the view is held, and nobody gets to
        // write to a read-only one; bytes, memory-mapped files and Arrow buffers keep to that.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast(), self.0.len_bytes()) }
    }
}

/// A buffer that somebody else may be able to write to. Most of Arrow's say that they can be written
/// to, whether or not anybody ever does; of those only copies are looked at.
pub enum Given {
    /// Nobody can write to it.
    Held(Held),
    /// Somebody may be writing to it now.
    Changing(PyBuffer<u8>),
}

impl Given {
    pub fn new(buffer: PyBuffer<u8>) -> PyResult<Self> {
        if buffer.readonly() {
            return Ok(Given::Held(Held::new(buffer)?));
        }
        check_contiguous(&buffer)?;
        Ok(Given::Changing(buffer))
    }

    pub fn len(&self) -> usize {
        match self {
            Given::Held(held) => held.bytes().len(),
            Given::Changing(buffer) => buffer.len_bytes(),
        }
    }

    /// A part of the buffer, or a copy of it made in `copy`; none if there is no such part.
    pub fn part<'a>(&'a self, part: Range<usize>, copy: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let buffer = match self {
            Given::Held(held) => return held.bytes().get(part),
            Given::Changing(buffer) => buffer,
        };
        copy.clear();
        if part.start > part.end || part.end > buffer.len_bytes() {
            return None;
        }
        if !part.is_empty() {
            copy.reserve(part.len());
            // SAFETY: the part lies within the buffer, which the exporter keeps in place while the view
            // is held; the copy has room for it and is nobody else's. Bytes are valid whatever they are.
            unsafe {
                let from = buffer.buf_ptr().cast::<u8>().add(part.start);
                std::ptr::copy_nonoverlapping(from, copy.as_mut_ptr(), part.len());
                copy.set_len(part.len());
            }
        }
        Some(copy)
    }
}

/// The bytes of any other buffer begin elsewhere than it seems.
fn check_contiguous(buffer: &PyBuffer<u8>) -> PyResult<()> {
    if buffer.is_c_contiguous() {
        Ok(())
    } else {
        Err(PyValueError::new_err("the buffer is not contiguous"))
    }
}
