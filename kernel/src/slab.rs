//! Memory that Python reads without copying it.

use std::ffi::c_int;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// An array of whole numbers, read through the buffer protocol.
#[pyclass(frozen, module = "twigcast_kernel")]
pub struct Slab {
    content: Content,
}

enum Content {
    Short(Vec<i32>),
    Long(Vec<i64>),
}

impl Slab {
    /// Numbers of 32 bits.
    pub fn short(numbers: Vec<i32>) -> Self {
        Slab {
            content: Content::Short(numbers),
        }
    }

    /// Numbers of 64 bits.
    pub fn long(numbers: Vec<i64>) -> Self {
        Slab {
            content: Content::Long(numbers),
        }
    }

    fn bytes(&self) -> (*const u8, usize) {
        match &self.content {
            Content::Short(numbers) => (numbers.as_ptr().cast(), size_of_val(&numbers[..])),
            Content::Long(numbers) => (numbers.as_ptr().cast(), size_of_val(&numbers[..])),
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
