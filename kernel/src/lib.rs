//! The Python face of the kernel: thin, and without opinions.
//!
//! Conditions come in as the objects of `twigcast.language.condition.model`, documents as bytes, batches as
//! the buffers of Arrow arrays. The interpreter's lock is released while documents are matched, and
//! whenever a lock is waited for; each reader has a workspace of its own, taken from a pool. A panic
//! becomes an exception.

mod batch;
mod buffers;
mod conditions;
mod cover;
mod dump;
mod events;
mod expressions;
mod index;
mod locks;
mod slab;

use pyo3::prelude::*;
use twigcast_kernel_core::document::read;

use locks::{detached, guarded};

/// What the kernel's reader makes of a document: a list of its nodes in document order, or the
/// reason why it would rather have libxml2 read it.
#[pyfunction]
fn outline<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match detached(py, |_| Ok(read::outline(content)))? {
        Ok(nodes) => {
            let rows: Vec<_> = nodes
                .into_iter()
                .map(|node| events::outlined(py, node))
                .collect::<PyResult<_>>()?;
            Ok(pyo3::types::PyList::new(py, rows)?.into_any())
        }
        Err(reason) => Ok(reason.to_string().into_pyobject(py)?.into_any()),
    }
}

/// The number that a string-value stands for, as the kernel reads it.
#[pyfunction]
fn number(text: &str) -> PyResult<f64> {
    guarded(|| {
        Ok(twigcast_kernel_core::matching::value::number(
            text.as_bytes(),
        ))
    })
}

/// The native accelerator of Twigcast.
#[pymodule]
fn twigcast_kernel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<cover::Candidates>()?;
    module.add_class::<expressions::Expressions>()?;
    module.add_class::<index::Index>()?;
    module.add_class::<index::Links>()?;
    module.add_class::<slab::Slab>()?;
    module.add_function(wrap_pyfunction!(outline, module)?)?;
    module.add_function(wrap_pyfunction!(number, module)?)?;
    module.add_function(wrap_pyfunction!(dump::find_markup, module)?)?;
    module.add_function(wrap_pyfunction!(dump::records_alike, module)?)
}
