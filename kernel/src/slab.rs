//! Memory that Python reads without copying it.
//!
//! The answers to one batch can be tens of megabytes. Fresh memory of that size costs as much as the
//! matching of paths, since the system clears each of its pages; so the memory of a slab that nobody
//! reads any more is kept for the next.

use std::ffi::c_int;
use std::sync::Arc;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::locks::{Brief, Detached};

/// More numbers than these, 128 MB, are given back at once.
const SPARE_MAX: usize = 16 << 20;

/// The memory of the last long slab that nobody reads any more.
#[derive(Default)]
pub struct Spare {
    numbers: Brief<Vec<i64>>,
}

impl Spare {
    /// Memory to be filled, empty.
    pub fn take(&self, detached: &mut Detached) -> Vec<i64> {
        std::mem::take(&mut *self.numbers.lock(detached))
    }

    /// Keeps the memory, unless somebody else is about to: the interpreter, which gives a slab back,
    /// waits for nobody.
    fn put(&self, mut numbers: Vec<i64>) {
        numbers.clear();
        if let Some(mut kept) = self.numbers.lock_if_free()
            && (kept.capacity() + 1..=SPARE_MAX).contains(&numbers.capacity())
        {
            std::mem::swap(&mut *kept, &mut numbers);
        }
    }
}

/// An array of whole numbers, read through the buffer protocol.
#[pyclass(frozen, module = "twigcast_kernel")]
pub struct Slab {
    content: Content,
}

enum Content {
    Short(Vec<i32>),
    Long(Vec<i64>, Arc<Spare>),
}

impl Slab {
    /// Numbers of 32 bits.
    pub fn short(numbers: Vec<i32>) -> Self {
        Slab {
            content: Content::Short(numbers),
        }
    }

    /// Numbers of 64 bits, and who takes their memory in the end.
    pub fn long(numbers: Vec<i64>, spare: Arc<Spare>) -> Self {
        Slab {
            content: Content::Long(numbers, spare),
        }
    }

    fn bytes(&self) -> (*const u8, usize) {
        match &self.content {
            Content::Short(numbers) => (numbers.as_ptr().cast(), size_of_val(&numbers[..])),
            Content::Long(numbers, _) => (numbers.as_ptr().cast(), size_of_val(&numbers[..])),
        }
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        if let Content::Long(numbers, spare) = &mut self.content {
            spare.put(std::mem::take(numbers));
        }
    }
}

#[pymethods]
impl Slab {
    fn __len__(&self) -> usize {
        self.bytes().1
    }

    /// # Safety
    ///
    /// Called by the interpreter with a view to fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view to fill"));
        }
        let (start, length) = slf.get().bytes();
        // SAFETY: the numbers are never changed or moved once they are in a slab (it is frozen), and the
        // view holds a reference to the slab, so they live as long as the view does. It is read-only.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                slf.as_ptr(),
                start.cast_mut().cast(),
                length as ffi::Py_ssize_t,
                1,
                flags,
            )
        };
        if filled == 0 {
            Ok(())
        } else {
            Err(PyErr::fetch(slf.py()))
        }
    }
}
