//! Documents that libxml2 has read, as Python hands them over, and outlines, as it gets them.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use twigcast_kernel_core::document::build::Event;
use twigcast_kernel_core::document::read::Node;

/// The events of a document, which libxml2 has read.
pub fn read_events(events: &Bound<'_, PyList>) -> PyResult<Vec<Event>> {
    let mut names = Events::default();
    events.iter().map(|event| names.read(&event)).collect()
}

/// Reads the events of a document. A name that comes again is the same object, and is copied once.
#[derive(Default)]
struct Events {
    names: HashMap<usize, Arc<str>>,
}

impl Events {
    fn read(&mut self, event: &Bound<'_, PyAny>) -> PyResult<Event> {
        let parts = event.cast::<PyTuple>()?;
        let length = parts.len();
        if length > 0 && parts.get_item(length - 1)?.is_none() {
            return remark(parts);
        }
        let part = |place: usize| -> PyResult<Bound<'_, PyString>> {
            Ok(parts.get_item(place)?.cast_into::<PyString>()?)
        };
        Ok(match length {
            0 => Event::End,
            1 => Event::Text(part(0)?.to_str()?.into()),
            2 => Event::Start(self.name(&part(0)?)?, self.name(&part(1)?)?),
            3 => Event::Attribute(
                self.name(&part(0)?)?,
                self.name(&part(1)?)?,
                part(2)?.to_str()?.into(),
            ),
            more => {
                return Err(PyValueError::new_err(format!(
                    "an event has up to 3 parts, not {more}"
                )));
            }
        })
    }

    /// A name, by the address of its object: the list of events holds them all.
    fn name(&mut self, name: &Bound<'_, PyString>) -> PyResult<Arc<str>> {
        if let Some(known) = self.names.get(&(name.as_ptr() as usize)) {
            return Ok(known.clone());
        }
        let text: Arc<str> = name.to_str()?.into();
        self.names.insert(name.as_ptr() as usize, text.clone());
        Ok(text)
    }
}

/// What is neither an element nor an attribute nor a text: its tuple ends in `None`.
fn remark(parts: &Bound<'_, PyTuple>) -> PyResult<Event> {
    let part = |place: usize| -> PyResult<Box<str>> {
        let part = parts.get_item(place)?.cast_into::<PyString>()?;
        Ok(part.to_str()?.into())
    };
    match parts.len() {
        1 => Ok(Event::Subset),
        2 => Ok(Event::Comment(part(0)?)),
        3 => Ok(Event::Instruction(part(0)?, part(1)?)),
        more => Err(PyValueError::new_err(format!(
            "an event has up to 3 parts, not {more}"
        ))),
    }
}

/// A node of an outline as a tuple.
pub fn outlined(py: Python<'_>, node: Node) -> PyResult<Bound<'_, PyAny>> {
    Ok(match node {
        Node::Element {
            namespace,
            local,
            prefix,
            parent,
        } => ("element", namespace, local, prefix, parent)
            .into_pyobject(py)?
            .into_any(),
        Node::Attribute {
            owner,
            namespace,
            local,
            prefix,
            value,
            identifies,
        } => (
            "attribute",
            owner,
            namespace,
            local,
            prefix,
            value,
            identifies,
        )
            .into_pyobject(py)?
            .into_any(),
        Node::Text { owner, value } => ("text", owner, value).into_pyobject(py)?.into_any(),
        Node::Remark {
            owner,
            target,
            value,
        } => ("remark", owner, target, value)
            .into_pyobject(py)?
            .into_any(),
    })
}
