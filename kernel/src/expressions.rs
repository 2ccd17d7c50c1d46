//! Expressions of XPath 1.0, as Python sees them.

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use twigcast_kernel_core::document::read::{Limits, Unsure};
use twigcast_kernel_core::evaluator::expressions::{
    Alone, COST_MAX, Costs, DOCUMENT_COST_MAX, Expressions as Core, Verdict,
};

use crate::events::read_events;
use crate::index::{LimitsGiven, limits_of};
use crate::locks::{Brief, Shared, detached};

/// How many readers are kept for documents to come.
const POOL_MAX: usize = 16;

/// Numbers of expressions that hold, that libxml2 has to decide, and that are over the budget.
type Verdicts = (Vec<u32>, Vec<u32>, Vec<u32>);

/// Expressions under numbers, their equal parts kept and evaluated once.
#[pyclass(frozen, module = "twigcast_kernel")]
pub struct Expressions {
    core: Shared<Core>,
    pool: Brief<Pool>,
    limits: Limits,
    costs: Costs,
}

/// Readers that nobody uses now, and what was done in all of them so far.
#[derive(Default)]
struct Pool {
    idle: Vec<Alone>,
    steps: u64,
    in_rounds: u64,
}

#[pymethods]
impl Expressions {
    /// `limits` are those of documents, the others steps that one expression or all may take.
    #[new]
    #[pyo3(signature = (limits, cost_max=COST_MAX, document_cost_max=DOCUMENT_COST_MAX))]
    fn new(limits: LimitsGiven, cost_max: u64, document_cost_max: u64) -> Self {
        Expressions {
            core: Shared::new(Core::default()),
            pool: Brief::default(),
            limits: limits_of(limits),
            costs: Costs {
                one: cost_max,
                all: document_cost_max,
            },
        }
    }

    /// Takes in a canonical text; `None` if it is for libxml2.
    fn add(&self, py: Python<'_>, text: &str) -> PyResult<Option<u32>> {
        detached(py, |detached| Ok(self.core.write(detached)?.add(text)))
    }

    /// Removes an expression.
    fn remove(&self, py: Python<'_>, number: u32) -> PyResult<()> {
        let removed = detached(py, |detached| {
            let mut core = self.core.write(detached)?;
            let there = core.has(number);
            if there {
                core.remove(number);
            }
            Ok(there)
        })?;
        if removed {
            Ok(())
        } else {
            Err(PyKeyError::new_err(number))
        }
    }

    /// What a document says to expressions; `None` if libxml2 had better read it.
    fn decide(
        &self,
        py: Python<'_>,
        content: &[u8],
        numbers: Vec<u32>,
    ) -> PyResult<Option<Verdicts>> {
        let limits = &self.limits;
        let found = self.decided(py, &numbers, |alone| {
            alone.reader.read(content, limits, &mut alone.tree)
        })?;
        Ok(found.ok())
    }

    /// The same for a document that libxml2 has read, as `Index.match_events` takes it.
    fn decide_events(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyList>,
        numbers: Vec<u32>,
    ) -> PyResult<Verdicts> {
        let events = read_events(events)?;
        let found = self.decided(py, &numbers, |alone| {
            alone.reader.take(&events, &mut alone.tree)
        })?;
        found.map_err(|reason| PyValueError::new_err(reason.to_string()))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        detached(py, |detached| Ok(self.core.read(detached).len()))
    }

    /// The counters now.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counted = detached(py, |detached| {
            let (expressions, parts) = {
                let core = self.core.read(detached);
                (core.len() as u64, core.parts() as u64)
            };
            let pool = self.pool.lock(detached);
            Ok([
                ("expressions", expressions),
                ("parts", parts),
                ("steps", pool.steps),
                ("in_rounds", pool.in_rounds),
            ])
        })?;
        let found = PyDict::new(py);
        for (name, number) in counted {
            found.set_item(name, number)?;
        }
        Ok(found)
    }
}

impl Expressions {
    fn decided(
        &self,
        py: Python<'_>,
        numbers: &[u32],
        read: impl Send + FnOnce(&mut Alone) -> Result<(), Unsure>,
    ) -> PyResult<Result<Verdicts, Unsure>> {
        detached(py, |detached| {
            let idle = self.pool.lock(detached).idle.pop();
            let mut alone = idle.unwrap_or_default();
            let before = (alone.evaluator.steps, alone.evaluator.in_rounds);
            let found = match read(&mut alone) {
                Err(reason) => Err(reason),
                Ok(()) => {
                    let core = self.core.read(detached);
                    if let Some(&unknown) = numbers.iter().find(|&&it| !core.has(it)) {
                        return Err(PyKeyError::new_err(unknown));
                    }
                    let document = (&alone.tree, alone.reader.names());
                    let asked = &mut alone.evaluator;
                    Ok(asked.decide(&core, document, self.costs, numbers))
                }
            };
            let surplus = self.pool.lock(detached).put(alone, before);
            drop(surplus);
            Ok(found.map(|verdicts| sorted(numbers, &verdicts)))
        })
    }
}

impl Pool {
    /// Takes back a reader, and takes note of what was done with it; gives back one too many.
    fn put(&mut self, alone: Alone, before: (u64, u64)) -> Option<Alone> {
        self.steps += alone.evaluator.steps - before.0;
        self.in_rounds += alone.evaluator.in_rounds - before.1;
        if self.idle.len() < POOL_MAX {
            self.idle.push(alone);
            return None;
        }
        Some(alone)
    }
}

/// Numbers by what was said of them.
fn sorted(numbers: &[u32], verdicts: &[Verdict]) -> Verdicts {
    let (mut holding, mut unsure, mut costly) = Verdicts::default();
    for (&number, verdict) in numbers.iter().zip(verdicts) {
        match verdict {
            Verdict::Known(true) => holding.push(number),
            Verdict::Known(false) => {}
            Verdict::Unsure => unsure.push(number),
            Verdict::Costly => costly.push(number),
        }
    }
    (holding, unsure, costly)
}
