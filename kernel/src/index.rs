//! The index, as Python sees it.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use twigcast_kernel_core::build::Event;
use twigcast_kernel_core::column::Buffer;
use twigcast_kernel_core::index::{Index as Core, Refused};
use twigcast_kernel_core::links::Links as CoreLinks;
use twigcast_kernel_core::matching::{BUDGET, Bounds, Counters, Found, LARGE_FROM, Workspace};
use twigcast_kernel_core::read::{Limits, Node};

use crate::batch::{self, Batch};
use crate::conditions::{self, Conditions};
use crate::slab::Spare;

/// How many workspaces are kept for readers to come; more readers at a time make their own.
const POOL_MAX: usize = 16;

/// Of a document: bytes, elements, depth, attributes of an element, length of a name.
type LimitsGiven = (usize, usize, usize, usize, usize);

/// A changing set of patterns under ids, and the documents that satisfy them.
#[pyclass(frozen, module = "twigcast_kernel")]
pub struct Index {
    core: RwLock<Core>,
    pool: Mutex<Vec<Workspace>>,
    spare: Arc<Spare>,
    conditions: Mutex<Conditions>,
    number: Py<PyAny>,
    bounds: Bounds,
}

/// Groups of ids, made ready for many documents.
#[pyclass(frozen, module = "twigcast_kernel")]
pub struct Links {
    core: RwLock<CoreLinks>,
}

#[pymethods]
impl Index {
    /// `number` reads a number as libxml2 does; `limits` are those of documents.
    #[new]
    #[pyo3(signature = (number, limits, budget=BUDGET))]
    fn new(number: Py<PyAny>, limits: LimitsGiven, budget: usize) -> Self {
        Index::of(Core::default(), number, limits, budget)
    }

    /// The index that `to_bytes` wrote; it points into the buffer, which must not change.
    #[staticmethod]
    #[pyo3(signature = (buffer, number, limits, budget=BUDGET))]
    fn from_buffer(
        buffer: PyBuffer<u8>,
        number: Py<PyAny>,
        limits: LimitsGiven,
        budget: usize,
    ) -> PyResult<Self> {
        let held: Arc<dyn Buffer> = Arc::new(Held::new(buffer)?);
        let core = Core::from_buffer(&held)
            .map_err(|problem| PyValueError::new_err(problem.to_string()))?;
        Ok(Index::of(core, number, limits, budget))
    }

    /// Adds a pattern: its condition, and whether a match only makes it a candidate for libxml2.
    /// False if the kernel cannot decide it (it asks for the document node's own value).
    #[pyo3(signature = (id, condition, *, residual))]
    fn add(
        &self,
        py: Python<'_>,
        id: i64,
        condition: &Bound<'_, PyAny>,
        residual: bool,
    ) -> PyResult<bool> {
        let condition = {
            let mut conditions = self
                .conditions
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            conditions.read(condition, self.number.bind(py))?
        };
        let added = py.detach(|| {
            guarded(|| {
                self.write()?
                    .add(id, &condition, residual)
                    .map_or_else(|it| Ok(Some(it)), |()| Ok(None))
            })
        })?;
        match added {
            None => Ok(true),
            Some(Refused::Taken) => Err(PyKeyError::new_err(id)),
            Some(Refused::DocumentValue) => Ok(false),
        }
    }

    /// Removes the pattern with this id; whether there was one.
    fn remove(&self, py: Python<'_>, id: i64) -> PyResult<bool> {
        py.detach(|| guarded(|| Ok(self.write()?.remove(id))))
    }

    fn __len__(&self) -> usize {
        self.read().len()
    }

    fn __contains__(&self, id: i64) -> bool {
        self.read().find(id).is_some()
    }

    /// What was added under an id, as nested tuples.
    fn condition<'py>(&self, py: Python<'py>, id: i64) -> PyResult<Bound<'py, PyAny>> {
        let condition = {
            let core = self.read();
            core.find(id).map(|pattern| core.condition(pattern))
        };
        conditions::tell(py, &condition.ok_or_else(|| PyKeyError::new_err(id))?)
    }

    /// All ids, in no order.
    fn ids(&self) -> Vec<i64> {
        self.read().all_ids()
    }

    /// The ids that match, and those that libxml2 has to decide; `None` if it had better read the
    /// document itself. `skip` is ascending.
    #[pyo3(name = "match")]
    fn match_(
        &self,
        py: Python<'_>,
        content: &[u8],
        skip: Vec<i64>,
    ) -> PyResult<Option<(Vec<i64>, Vec<i64>)>> {
        py.detach(|| {
            guarded(|| {
                let (mut matches, mut candidates) = (Vec::new(), Vec::new());
                let found = Found {
                    matches: &mut matches,
                    candidates: &mut candidates,
                };
                let read = self.with_workspace(|core, workspace| {
                    workspace.matched(core, content, &self.bounds, &skip, found)
                });
                Ok(read.ok().map(|()| (matches, candidates)))
            })
        })
    }

    /// The same for a document that libxml2 has read: tuples of up to three strings in document order,
    /// an element's end being an empty one, a text's the text alone, an element's start its namespace
    /// and local name, and an attribute its namespace, local name and value.
    fn match_events(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyList>,
        skip: Vec<i64>,
    ) -> PyResult<(Vec<i64>, Vec<i64>)> {
        let mut names = Events::default();
        let events = events.iter().map(|event| names.read(&event));
        let events: Vec<Event> = events.collect::<PyResult<_>>()?;
        py.detach(|| {
            guarded(|| {
                let (mut matches, mut candidates) = (Vec::new(), Vec::new());
                let found = Found {
                    matches: &mut matches,
                    candidates: &mut candidates,
                };
                let taken = self.with_workspace(|core, workspace| {
                    workspace.matched_events(core, &events, &self.bounds, &skip, found)
                });
                taken.map_err(|reason| PyValueError::new_err(reason.to_string()))?;
                Ok((matches, candidates))
            })
        })
    }

    /// Makes groups of ids ready for [`Index::match_links`].
    fn links(&self, py: Python<'_>, groups: Vec<Vec<i64>>) -> PyResult<Links> {
        py.detach(|| {
            guarded(|| {
                Ok(Links {
                    core: RwLock::new(CoreLinks::new(&self.read(), groups)),
                })
            })
        })
    }

    /// For each group whether it has a match, `None` where libxml2 has to decide; `None` for all if it
    /// had better read the document itself.
    fn match_links(
        &self,
        py: Python<'_>,
        content: &[u8],
        links: &Links,
        skip: Vec<i64>,
    ) -> PyResult<Option<Vec<Option<bool>>>> {
        py.detach(|| {
            guarded(|| {
                let read = self.with_workspace(|core, workspace| {
                    links.renew(core);
                    let links = links.core.read().unwrap_or_else(PoisonError::into_inner);
                    workspace.linked(core, content, &self.bounds, &links, &skip)
                });
                Ok(read.ok())
            })
        })
    }

    /// Many documents: the buffers of an Arrow array of binaries. `threads` share the work.
    #[pyo3(signature = (content, offsets, *, wide, first, count, skip, threads))]
    #[allow(clippy::too_many_arguments)]
    fn match_batch(
        &self,
        py: Python<'_>,
        content: PyBuffer<u8>,
        offsets: PyBuffer<u8>,
        wide: bool,
        first: usize,
        count: usize,
        skip: Vec<i64>,
        threads: usize,
    ) -> PyResult<Batch> {
        let (content, offsets) = (Held::new(content)?, Held::new(offsets)?);
        py.detach(|| {
            guarded(|| {
                let rows = batch::rows(content.bytes(), offsets.bytes(), wide, first, count)?;
                batch::matched(self, &rows, &skip, threads)
            })
        })
    }

    /// The index as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| guarded(|| Ok(self.write()?.to_bytes())))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Counters of the moment.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let core = self.read();
        let unfiltered = guarded(|| Ok(core.unfiltered()))?;
        let mut sum = Counters::default();
        for workspace in self
            .pool
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
        {
            let one = workspace.counters();
            sum.documents += one.documents;
            sum.candidates += one.candidates;
            sum.verified += one.verified;
            sum.forgotten += one.forgotten;
            sum.paths += one.paths;
            sum.bytes = sum.bytes.max(one.bytes);
        }
        let found = PyDict::new(py);
        found.set_item("patterns", core.distinct())?;
        found.set_item("residual", core.residual())?;
        found.set_item("unfiltered", unfiltered)?;
        found.set_item("nodes", core.node_count())?;
        found.set_item("bytes", core.held())?;
        found.set_item("documents", sum.documents)?;
        found.set_item("candidates", sum.candidates)?;
        found.set_item("verified", sum.verified)?;
        found.set_item("paths", sum.paths)?;
        found.set_item("path_bytes", sum.bytes)?;
        found.set_item("path_bytes_max", self.bounds.budget_for(core.len()))?;
        found.set_item("forgotten", sum.forgotten)?;
        Ok(found)
    }
}

impl Index {
    fn of(core: Core, number: Py<PyAny>, limits: LimitsGiven, budget: usize) -> Self {
        let (bytes_max, elements_max, depth_max, attributes_max, name_length_max) = limits;
        Index {
            core: RwLock::new(core),
            pool: Mutex::default(),
            spare: Arc::default(),
            conditions: Mutex::default(),
            number,
            bounds: Bounds {
                limits: Limits {
                    bytes_max,
                    elements_max,
                    depth_max,
                    attributes_max,
                    name_length_max,
                },
                budget,
                large_from: LARGE_FROM,
            },
        }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Core> {
        self.core.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails once a change has panicked: the index may be half changed, and must be made anew.
    fn write(&self) -> PyResult<std::sync::RwLockWriteGuard<'_, Core>> {
        self.core
            .write()
            .map_err(|_| PyRuntimeError::new_err("an earlier change failed; make the index anew"))
    }

    /// Memory for answers.
    pub fn spare(&self) -> &Arc<Spare> {
        &self.spare
    }

    /// Runs a reader with a workspace from the pool; one that panics does not go back.
    pub fn with_workspace<T>(&self, job: impl FnOnce(&Core, &mut Workspace) -> T) -> T {
        let mut workspace = self
            .pool
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default();
        let result = job(&self.read(), &mut workspace);
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.len() < POOL_MAX {
            pool.push(workspace);
        }
        result
    }

    /// How large documents, and what is remembered of them, may be.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }
}

impl Links {
    fn renew(&self, core: &Core) {
        let current = self
            .core
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .is_current(core);
        if !current {
            let mut links = self.core.write().unwrap_or_else(PoisonError::into_inner);
            *links = links.renewed(core);
        }
    }
}

/// A buffer of Python's that stays where it is while this is held.
pub struct Held(PyBuffer<u8>);

impl Held {
    /// Holds a buffer whose bytes follow each other: any other begins elsewhere than it seems.
    fn new(buffer: PyBuffer<u8>) -> PyResult<Self> {
        if buffer.is_c_contiguous() {
            Ok(Held(buffer))
        } else {
            Err(PyValueError::new_err("the buffer is not contiguous"))
        }
    }
}

impl Buffer for Held {
    fn bytes(&self) -> &[u8] {
        if self.0.len_bytes() == 0 {
            return &[];
        }
        // SAFETY: the exporter keeps the memory in place while the view is held, and callers are told
        // that it must not change; bytes, memory-mapped files and Arrow buffers do not.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast(), self.0.len_bytes()) }
    }
}

/// Turns a panic into an exception.
fn guarded<T>(job: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no reason given");
        Err(PyRuntimeError::new_err(format!(
            "the kernel failed, which is a bug in it: {text}"
        )))
    })
}

/// Reads the events of a document. A name that comes again is the same object, and is copied once.
#[derive(Default)]
struct Events {
    names: HashMap<usize, Arc<str>>,
}

impl Events {
    fn read(&mut self, event: &Bound<'_, PyAny>) -> PyResult<Event> {
        let parts = event.cast::<PyTuple>()?;
        let part = |place: usize| -> PyResult<Bound<'_, PyString>> {
            Ok(parts.get_item(place)?.cast_into::<PyString>()?)
        };
        Ok(match parts.len() {
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

/// A node of an outline as a tuple.
pub fn outlined(py: Python<'_>, node: Node) -> PyResult<Bound<'_, PyAny>> {
    Ok(match node {
        Node::Element {
            namespace,
            local,
            parent,
        } => ("element", namespace, local, parent)
            .into_pyobject(py)?
            .into_any(),
        Node::Attribute {
            owner,
            namespace,
            local,
            value,
        } => ("attribute", owner, namespace, local, value)
            .into_pyobject(py)?
            .into_any(),
        Node::Text { owner, value } => ("text", owner, value).into_pyobject(py)?.into_any(),
    })
}
