//! The index, as Python sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use twigcast_kernel_core::document::read::{Limits, Unsure};
use twigcast_kernel_core::evaluator::expressions::COST_MAX;
use twigcast_kernel_core::evaluator::memory::ANSWERS_BYTES_MAX;
use twigcast_kernel_core::index::column::Buffer;
use twigcast_kernel_core::index::{Index as Core, Refused};
use twigcast_kernel_core::matching::links::Links as CoreLinks;
use twigcast_kernel_core::matching::workspace::{
    BUDGET, Bounds, Counters, Found, LARGE_FROM, STEPS_MAX, Workspace,
};

use crate::batch::{self, Batch, Rows};
use crate::buffers::{Given, Held};
use crate::conditions;
use crate::events::read_events;
use crate::locks::{Brief, Detached, Shared, detached, guarded};
use crate::slab::Spare;

/// How many workspaces are kept for readers to come; more readers at a time make their own.
const POOL_MAX: usize = 16;

/// Of a document: bytes, elements, depth, attributes of an element, length of a name, bytes of its
/// internal subset.
pub type LimitsGiven = (usize, usize, usize, usize, usize, usize);

/// Ids that match, those that libxml2 has to decide, and those that would take too many steps.
type IdsFound = (Vec<i64>, Vec<i64>, Vec<i64>);

/// A changing set of patterns under ids, and the documents that satisfy them.
#[pyclass(frozen, module = "twigcast_kernel")]
pub struct Index {
    core: Shared<Core>,
    /// How many patterns there are, for whoever does not want to wait.
    length: AtomicUsize,
    pool: Brief<Pool>,
    spare: Arc<Spare>,
    number: Py<PyAny>,
    bounds: Bounds,
    /// No other index of this process has this one.
    identity: u64,
    /// What the index points into. Held here as well, so that the last one to let go of it, for which
    /// the interpreter is needed, is never somebody who changes the index.
    _buffer: Option<Arc<dyn Buffer>>,
}

/// Workspaces that nobody uses now, and what was done in all of them so far.
#[derive(Default)]
struct Pool {
    idle: Vec<Workspace>,
    done: Counters,
}

/// Groups of ids, made ready for many documents.
#[pyclass(frozen, module = "twigcast_kernel")]
pub struct Links {
    ready: Brief<Arc<Ready>>,
}

/// Groups of ids, made ready for the index with this identity.
struct Ready {
    identity: u64,
    core: CoreLinks,
}

#[pymethods]
impl Index {
    /// `number` reads a number as libxml2 does; `limits` are those of documents.
    #[new]
    #[pyo3(signature = (number, limits, budget=BUDGET, steps_max=STEPS_MAX, cost_max=COST_MAX))]
    fn new(
        number: Py<PyAny>,
        limits: LimitsGiven,
        budget: usize,
        steps_max: u64,
        cost_max: u64,
    ) -> Self {
        let bounds = bounds_of(limits, budget, steps_max, cost_max);
        Index::of(Core::default(), None, number, bounds)
    }

    /// The index that `to_bytes` wrote; it points into the buffer, which must be a read-only one.
    #[staticmethod]
    #[pyo3(signature = (buffer, number, limits, budget=BUDGET, steps_max=STEPS_MAX, cost_max=COST_MAX))]
    #[allow(clippy::too_many_arguments)]
    fn from_buffer(
        py: Python<'_>,
        buffer: PyBuffer<u8>,
        number: Py<PyAny>,
        limits: LimitsGiven,
        budget: usize,
        steps_max: u64,
        cost_max: u64,
    ) -> PyResult<Self> {
        let held: Arc<dyn Buffer> = Arc::new(Held::new(buffer)?);
        let core = detached(py, |_| {
            Core::from_buffer(&held).map_err(|problem| PyValueError::new_err(problem.to_string()))
        })?;
        let bounds = bounds_of(limits, budget, steps_max, cost_max);
        Ok(Index::of(core, Some(held), number, bounds))
    }

    /// Adds a pattern: its condition, and whether a match only makes it a candidate. Of one that does,
    /// the canonical text is evaluated; without one, or where that cannot be, libxml2 has to decide it.
    /// False if the index cannot decide it (it asks for the document node's own value).
    #[pyo3(signature = (id, condition, *, residual, expression=None))]
    fn add(
        &self,
        py: Python<'_>,
        id: i64,
        condition: &Bound<'_, PyAny>,
        residual: bool,
        expression: Option<&str>,
    ) -> PyResult<bool> {
        let condition = guarded(|| conditions::read(condition, self.number.bind(py)))?;
        let added = detached(py, |detached| {
            self.change(detached, |core| {
                core.add(id, &condition, residual)?;
                if let Some(text) = expression {
                    core.evaluate(id, text);
                }
                Ok(())
            })
        })?;
        match added {
            Ok(()) => Ok(true),
            Err(Refused::Taken) => Err(PyKeyError::new_err(id)),
            Err(Refused::DocumentValue) => Ok(false),
        }
    }

    /// Adds a pattern by its canonical text, to be evaluated where what is necessary for it holds; false
    /// if libxml2 has to decide it, and its condition is needed.
    fn add_expression(&self, py: Python<'_>, id: i64, text: &str) -> PyResult<bool> {
        let added = detached(py, |detached| {
            self.change(detached, |core| core.add_expression(id, text))
        })?;
        added.map_err(|_| PyKeyError::new_err(id))
    }

    /// Has a candidate evaluated, by its canonical text; false if libxml2 has to decide it.
    fn evaluate(&self, py: Python<'_>, id: i64, text: &str) -> PyResult<bool> {
        detached(py, |detached| {
            self.change(detached, |core| core.evaluate(id, text))
        })
    }

    /// Removes the pattern with this id; whether there was one.
    fn remove(&self, py: Python<'_>, id: i64) -> PyResult<bool> {
        detached(py, |detached| self.change(detached, |core| core.remove(id)))
    }

    fn __len__(&self) -> usize {
        self.length.load(Ordering::Acquire)
    }

    fn __contains__(&self, py: Python<'_>, id: i64) -> PyResult<bool> {
        self.look(py, |core| core.find(id).is_some())
    }

    /// What was added under an id, as nested tuples.
    fn condition<'py>(&self, py: Python<'py>, id: i64) -> PyResult<Bound<'py, PyAny>> {
        let condition = self.look(py, |core| {
            core.find(id).map(|pattern| core.condition(pattern))
        })?;
        let condition = condition.ok_or_else(|| PyKeyError::new_err(id))?;
        guarded(|| conditions::to_python(py, &condition))
    }

    /// All ids, in no order.
    fn ids(&self, py: Python<'_>) -> PyResult<Vec<i64>> {
        self.ask(py, Core::all_ids)
    }

    /// The ids of the patterns whose matches are candidates for libxml2, ascending.
    fn residual_ids(&self, py: Python<'_>) -> PyResult<Vec<i64>> {
        self.ask(py, Core::residual_ids)
    }

    /// The ids before this one, ascending.
    fn ids_before(&self, py: Python<'_>, end: i64) -> PyResult<Vec<i64>> {
        self.ask(py, |core| core.ids_before(end))
    }

    /// The ids that match, those that libxml2 has to decide, and those that would take more steps than
    /// there are for a document; `None` if libxml2 had better read it. `skip` is ascending.
    #[pyo3(name = "match")]
    fn match_(&self, py: Python<'_>, content: &[u8], skip: Vec<i64>) -> PyResult<Option<IdsFound>> {
        detached(py, |detached| {
            let (mut matches, mut candidates, mut undecided) = (Vec::new(), Vec::new(), Vec::new());
            let read = self.reading(detached, |detached, workspace| {
                self.decided(detached, |core| {
                    let found = Found {
                        matches: &mut matches,
                        candidates: &mut candidates,
                        undecided: &mut undecided,
                    };
                    workspace.matched(core, content, &self.bounds, &skip, found)
                })
            })?;
            Ok(read.ok().map(|()| (matches, candidates, undecided)))
        })
    }

    /// The same for a document that libxml2 has read: tuples of up to three strings in document order,
    /// an element's end being an empty one, a text's the text alone, an element's start its namespace
    /// and name, and an attribute its namespace, name and value; names have their prefixes. Where `None`
    /// is the last part, that of a comment has its content before it, that of a processing instruction
    /// its target and content, and alone it tells that the document has declarations.
    fn match_events(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyList>,
        skip: Vec<i64>,
    ) -> PyResult<IdsFound> {
        let events = read_events(events)?;
        detached(py, |detached| {
            let (mut matches, mut candidates, mut undecided) = (Vec::new(), Vec::new(), Vec::new());
            let taken = self.reading(detached, |detached, workspace| {
                self.decided(detached, |core| {
                    let found = Found {
                        matches: &mut matches,
                        candidates: &mut candidates,
                        undecided: &mut undecided,
                    };
                    workspace.matched_events(core, &events, &self.bounds, &skip, found)
                })
            })?;
            taken.map_err(|reason| PyValueError::new_err(reason.to_string()))?;
            Ok((matches, candidates, undecided))
        })
    }

    /// Makes groups of ids ready for [`Index::match_links`].
    fn links(&self, py: Python<'_>, groups: Vec<Vec<i64>>) -> PyResult<Links> {
        let core = self.ask(py, |core| CoreLinks::new(core, groups))?;
        let identity = self.identity;
        Ok(Links {
            ready: Brief::new(Arc::new(Ready { identity, core })),
        })
    }

    /// For each group whether it has a match, `None` where libxml2 has to decide or more steps are needed;
    /// `None` for all if libxml2 had better read the document itself.
    fn match_links(
        &self,
        py: Python<'_>,
        content: &[u8],
        links: &Links,
        skip: Vec<i64>,
    ) -> PyResult<Option<Vec<Option<bool>>>> {
        detached(py, |detached| {
            let mut ready = Arc::clone(&links.ready.lock(detached));
            let mut renewed = false;
            let read = self.with_workspace(detached, |core, workspace| {
                if ready.identity != self.identity || !ready.core.is_current(core) {
                    let identity = self.identity;
                    let core = ready.core.renewed(core);
                    ready = Arc::new(Ready { identity, core });
                    renewed = true;
                }
                workspace.linked(core, content, &self.bounds, &ready.core, &skip)
            });
            if renewed {
                // What is replaced is let go of when nobody waits for it any more.
                std::mem::swap(&mut *links.ready.lock(detached), &mut ready);
            }
            Ok(read.ok())
        })
    }

    /// Many documents: the buffers of an Arrow array of binaries, or of strings, which were decoded
    /// already. `threads` share the work.
    #[pyo3(signature = (content, offsets, *, wide, decoded, first, count, skip, threads))]
    #[allow(clippy::too_many_arguments)]
    fn match_batch(
        &self,
        py: Python<'_>,
        content: PyBuffer<u8>,
        offsets: PyBuffer<u8>,
        wide: bool,
        decoded: bool,
        first: usize,
        count: usize,
        skip: Vec<i64>,
        threads: usize,
    ) -> PyResult<Batch> {
        let (content, offsets) = (Given::new(content)?, Given::new(offsets)?);
        detached(py, |detached| {
            let mut rows = Rows::new(&content, &offsets, wide, first, count)?;
            rows.are_decoded = decoded;
            batch::matched(self, &rows, &skip, threads, detached)
        })
    }

    /// The index as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, |detached| Ok(self.core.write(detached)?.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The counters now.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (held, (sum, evaluator_bytes)) = detached(py, |detached| {
            let held = {
                let core = self.core.read(detached);
                [
                    ("patterns", core.distinct()),
                    ("residual", core.residual()),
                    ("unfiltered", core.unfiltered()),
                    ("nodes", core.node_count()),
                    ("bytes", core.held()),
                    ("path_bytes_max", self.bounds.budget_for(core.len())),
                    ("weight_max", self.bounds.weight_max(core.len()) as usize),
                    ("answers_max", ANSWERS_BYTES_MAX),
                ]
            };
            let pool = self.pool.lock(detached);
            Ok((held, (pool.counters(), pool.evaluator_bytes())))
        })?;
        let found = PyDict::new(py);
        for (name, number) in held {
            found.set_item(name, number)?;
        }
        found.set_item("documents", sum.documents)?;
        found.set_item("from_libxml2", sum.from_libxml2)?;
        found.set_item("candidates", sum.candidates)?;
        found.set_item("verified", sum.verified)?;
        found.set_item("evaluated", sum.evaluated)?;
        found.set_item("steps", sum.steps)?;
        found.set_item("in_rounds", sum.in_rounds)?;
        found.set_item("abandoned", sum.abandoned)?;
        found.set_item("weight_most", sum.weight_most)?;
        found.set_item("paths", sum.paths)?;
        found.set_item("path_bytes", sum.bytes)?;
        found.set_item("forgotten", sum.forgotten)?;
        found.set_item("evaluator_bytes", evaluator_bytes)?;
        found.set_item("answers_most", sum.answers_most)?;
        Ok(found)
    }
}

impl Index {
    fn of(core: Core, buffer: Option<Arc<dyn Buffer>>, number: Py<PyAny>, bounds: Bounds) -> Self {
        static IDENTITIES: AtomicU64 = AtomicU64::new(0);
        Index {
            length: AtomicUsize::new(core.len()),
            core: Shared::new(core),
            pool: Brief::default(),
            spare: Arc::default(),
            number,
            identity: IDENTITIES.fetch_add(1, Ordering::Relaxed),
            _buffer: buffer,
            bounds,
        }
    }

    /// What somebody wants to know of the index as it is.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        question: impl Send + FnOnce(&Core) -> T,
    ) -> PyResult<T> {
        detached(py, |detached| Ok(question(&self.core.read(detached))))
    }

    /// The same for what is known in no time.
    fn look<T: Send>(
        &self,
        py: Python<'_>,
        question: impl Send + FnOnce(&Core) -> T,
    ) -> PyResult<T> {
        if let Some(core) = self.core.read_if_free() {
            return guarded(|| Ok(question(&core)));
        }
        self.ask(py, question)
    }

    fn change<T>(
        &self,
        detached: &mut Detached,
        change: impl FnOnce(&mut Core) -> T,
    ) -> PyResult<T> {
        let mut core = self.core.write(detached)?;
        let result = change(&mut core);
        self.length.store(core.len(), Ordering::Release);
        Ok(result)
    }

    /// Looks at the index as it is; settles it first where there is no answer without that.
    pub fn decided(
        &self,
        detached: &mut Detached,
        mut job: impl FnMut(&Core) -> Result<(), Unsure>,
    ) -> PyResult<Result<(), Unsure>> {
        loop {
            let read = job(&self.core.read(detached));
            if read != Err(Unsure::Scattered) {
                return Ok(read);
            }
            // Again only if somebody changes the index right behind this.
            self.change(detached, Core::settle)?;
        }
    }

    /// Memory for answers.
    pub fn spare(&self) -> &Arc<Spare> {
        &self.spare
    }

    /// Runs a reader with a workspace from the pool; one that panics does not go back.
    pub fn with_workspace<T>(
        &self,
        detached: &mut Detached,
        job: impl FnOnce(&Core, &mut Workspace) -> T,
    ) -> T {
        self.reading(detached, |detached, workspace| {
            job(&self.core.read(detached), workspace)
        })
    }

    /// The same for a job that looks at the index more than once, and lets it change in between.
    pub fn reading<T>(
        &self,
        detached: &mut Detached,
        job: impl FnOnce(&mut Detached, &mut Workspace) -> T,
    ) -> T {
        let idle = self.pool.lock(detached).idle.pop();
        let mut workspace = idle.unwrap_or_default();
        let before = workspace.counters();
        let result = job(detached, &mut workspace);
        let after = workspace.counters();
        let surplus = self.pool.lock(detached).put(workspace, &before, &after);
        drop(surplus);
        result
    }

    /// How large documents, and what is remembered of them, may be.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }
}

impl Pool {
    /// Takes back a workspace, and takes note of what was done in it; gives back one too many.
    fn put(
        &mut self,
        workspace: Workspace,
        before: &Counters,
        after: &Counters,
    ) -> Option<Workspace> {
        self.done.documents += after.documents - before.documents;
        self.done.from_libxml2 += after.from_libxml2 - before.from_libxml2;
        self.done.candidates += after.candidates - before.candidates;
        self.done.verified += after.verified - before.verified;
        self.done.steps += after.steps - before.steps;
        self.done.evaluated += after.evaluated - before.evaluated;
        self.done.in_rounds += after.in_rounds - before.in_rounds;
        self.done.undecided += after.undecided - before.undecided;
        self.done.abandoned += after.abandoned - before.abandoned;
        self.done.weight_most = self.done.weight_most.max(after.weight_most);
        self.done.answers_most = self.done.answers_most.max(after.answers_most);
        self.done.forgotten += after.forgotten - before.forgotten;
        if self.idle.len() < POOL_MAX {
            self.idle.push(workspace);
            return None;
        }
        Some(workspace)
    }

    /// What was done so far, and what is remembered now.
    fn counters(&self) -> Counters {
        let mut sum = self.done;
        for workspace in &self.idle {
            let one = workspace.counters();
            sum.paths += one.paths;
            sum.bytes = sum.bytes.max(one.bytes);
        }
        sum
    }

    /// Bytes that the workspace which has most holds for evaluating.
    fn evaluator_bytes(&self) -> u64 {
        let held = self.idle.iter().map(Workspace::evaluator_bytes);
        held.max().unwrap_or(0)
    }
}

/// The bounds that were given.
fn bounds_of(limits: LimitsGiven, budget: usize, steps_max: u64, cost_max: u64) -> Bounds {
    Bounds {
        limits: limits_of(limits),
        budget,
        large_from: LARGE_FROM,
        steps_max,
        cost_max,
    }
}

/// The limits that were given.
pub fn limits_of(
    (
        bytes_max,
        elements_max,
        depth_max,
        attributes_max,
        name_length_max,
        internal_subset_bytes_max,
    ): LimitsGiven,
) -> Limits {
    Limits {
        bytes_max,
        elements_max,
        depth_max,
        attributes_max,
        name_length_max,
        internal_subset_bytes_max,
        is_decoded: false,
    }
}
