//! The cover index, as Python sees it.
//!
//! Twigs come in as the named tuples of `twigcast.covering.containment.twig`. What tests say of each other is
//! asked of Python; each question is asked once as long as the answer is remembered.

use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use twigcast_kernel_core::cover::labels::Label;
use twigcast_kernel_core::cover::twig::{Given, NODES_MAX, Node};
use twigcast_kernel_core::cover::value_tests::{Answer, NONE};
use twigcast_kernel_core::cover::{CoverIndex, Found};
use twigcast_kernel_core::pattern::Kind;

use crate::locks::Asking;

/// A changing set of patterns, looked up by what they cover.
#[pyclass(frozen, module = "twigcast_kernel")]
pub struct Candidates {
    inner: Asking<Inner>,
    follows: Py<PyAny>,
    value: Py<PyAny>,
    budget: usize,
}

/// The index, and the sets of tests that its numbers stand for.
struct Inner {
    core: CoverIndex,
    numbers: Py<PyDict>,
    sets: Vec<Option<Py<PyTuple>>>,
    nothing: Py<PyTuple>,
}

type Numbers = (Vec<i64>, Vec<i64>);

#[pymethods]
impl Candidates {
    /// `follows(stronger, weaker)` is asked of two tuples of tests whether the ones follow from the
    /// others, or `None` if that depends on the node; `value(tests)` the only value that they leave.
    /// `budget` is in steps.
    #[new]
    fn new(py: Python<'_>, follows: Py<PyAny>, value: Py<PyAny>, budget: usize) -> Self {
        Candidates {
            inner: Asking::new(Inner {
                core: CoverIndex::default(),
                numbers: PyDict::new(py).unbind(),
                sets: Vec::new(),
                nothing: PyTuple::empty(py).unbind(),
            }),
            follows,
            value,
            budget,
        }
    }

    /// Adds a pattern: the groups of its wider side, the twigs of its narrower one.
    fn add(
        &self,
        py: Python<'_>,
        number: i64,
        groups: &Bound<'_, PyTuple>,
        grounds: &Bound<'_, PyTuple>,
    ) -> PyResult<()> {
        self.inner.work(py, |inner| {
            if inner.core.contains(number) {
                return Err(PyKeyError::new_err(number));
            }
            let given = self.given(py, inner, Some(groups), Some(grounds))?;
            let unused = inner.core.add(number, &given);
            inner.drop_sets(py, &unused)
        })
    }

    /// Removes the pattern with this number; whether there was one.
    fn remove(&self, py: Python<'_>, number: i64) -> PyResult<bool> {
        self.inner
            .work(py, |inner| match inner.core.remove(number) {
                None => Ok(false),
                Some(unused) => {
                    inner.drop_sets(py, &unused)?;
                    Ok(true)
                }
            })
    }

    /// The numbers of the patterns that surely cover the one with these grounds, and of those that
    /// somebody else has to decide.
    fn covering(&self, py: Python<'_>, grounds: &Bound<'_, PyTuple>) -> PyResult<Numbers> {
        self.search(py, None, Some(grounds), CoverIndex::covering)
    }

    /// The numbers of the patterns that the one with these groups covers; else the same.
    fn covered(&self, py: Python<'_>, groups: &Bound<'_, PyTuple>) -> PyResult<Numbers> {
        self.search(py, Some(groups), None, CoverIndex::covered)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.work(py, |inner| Ok(inner.core.len()))
    }

    fn __contains__(&self, py: Python<'_>, number: i64) -> PyResult<bool> {
        self.inner.work(py, |inner| Ok(inner.core.contains(number)))
    }

    /// The counters now.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.inner.work(py, |inner| {
            let core = &inner.core;
            let counters = core.counters();
            Ok([
                ("patterns", core.len() as u64),
                ("nodes", core.node_count() as u64),
                ("labels", core.labels.len() as u64),
                ("tests", core.tests.len() as u64),
                ("features", core.feature_count() as u64),
                ("bytes", core.held() as u64),
                ("searches", counters.searches),
                ("decided", counters.decided),
                ("sure", counters.sure),
                ("open", counters.open),
            ])
        })?;
        let found = PyDict::new(py);
        for (name, number) in counts {
            found.set_item(name, number)?;
        }
        Ok(found)
    }
}

type Search = fn(&mut CoverIndex, &Given, usize, &mut dyn FnMut(u32, u32) -> Answer) -> Found;

impl Candidates {
    fn search(
        &self,
        py: Python<'_>,
        groups: Option<&Bound<'_, PyTuple>>,
        grounds: Option<&Bound<'_, PyTuple>>,
        search: Search,
    ) -> PyResult<Numbers> {
        self.inner.work(py, |inner| {
            let given = self.given(py, inner, groups, grounds)?;
            let mut problem = None;
            let (sets, nothing) = (&inner.sets, &inner.nothing);
            let mut ask = |stronger: u32, weaker: u32| {
                if problem.is_some() {
                    return Answer::Unclear;
                }
                let tuple = |set: u32| match set {
                    NONE => Some(nothing),
                    set => sets.get(set as usize - 1).and_then(Option::as_ref),
                };
                let answer = self.follows.call1(py, (tuple(stronger), tuple(weaker)));
                match answer.and_then(|it| it.extract::<Option<bool>>(py)) {
                    Ok(Some(true)) => Answer::Yes,
                    Ok(Some(false)) => Answer::No,
                    Ok(None) => Answer::Unclear,
                    Err(error) => {
                        problem = Some(error);
                        Answer::Unclear
                    }
                }
            };
            let found = search(&mut inner.core, &given, self.budget, &mut ask);
            if problem.is_some() {
                inner.core.tests.forget();
            }
            let unused = inner.core.release(given.nodes());
            inner.drop_sets(py, &unused)?;
            match problem {
                Some(error) => Err(error),
                None => Ok((found.sure, found.open)),
            }
        })
    }

    /// Reads a pattern, taking the labels and tests that it speaks of.
    fn given(
        &self,
        py: Python<'_>,
        inner: &mut Inner,
        groups: Option<&Bound<'_, PyTuple>>,
        grounds: Option<&Bound<'_, PyTuple>>,
    ) -> PyResult<Given> {
        let mut given = Given::default();
        match self.read(inner, &mut given, groups, grounds) {
            Ok(()) => Ok(given),
            Err(error) => {
                let unused = inner.core.release(given.nodes());
                inner.drop_sets(py, &unused)?;
                Err(error)
            }
        }
    }

    /// Puts what it reads where it is found even if it fails half-way.
    fn read(
        &self,
        inner: &mut Inner,
        given: &mut Given,
        groups: Option<&Bound<'_, PyTuple>>,
        grounds: Option<&Bound<'_, PyTuple>>,
    ) -> PyResult<()> {
        let mut left = NODES_MAX;
        for group in groups.into_iter().flatten() {
            let at = given.groups.len();
            given.groups.push(Vec::new());
            for twig in group.cast::<PyTuple>()? {
                let mut nodes = Vec::new();
                let read = self.twig(inner, &twig, &mut nodes, &mut left);
                given.groups[at].push(nodes);
                given.unclear |= !read?;
            }
        }
        for twig in grounds.into_iter().flatten() {
            let mut nodes = Vec::new();
            let read = self.twig(inner, &twig, &mut nodes, &mut left);
            given.grounds.push(nodes);
            given.unclear |= !read?;
        }
        Ok(())
    }

    /// Reads a twig; false if it is too large, or asks for too many levels, to be looked at.
    fn twig(
        &self,
        inner: &mut Inner,
        twig: &Bound<'_, PyAny>,
        nodes: &mut Vec<Node>,
        left: &mut usize,
    ) -> PyResult<bool> {
        let columns = twig.cast::<PyTuple>()?;
        let column = |place: usize| -> PyResult<Bound<'_, PyTuple>> {
            Ok(columns.get_item(place)?.cast_into::<PyTuple>()?)
        };
        let (labels, parents, reaches, tests) = (column(0)?, column(1)?, column(2)?, column(3)?);
        let size = labels.len();
        if size == 0
            || [&parents, &reaches, &tests]
                .iter()
                .any(|it| it.len() != size)
        {
            return Err(PyValueError::new_err("a twig has columns of one length"));
        }
        let Some(rest) = left.checked_sub(size) else {
            return Ok(false);
        };
        *left = rest;
        for at in 0..size {
            let parent: i64 = parents.get_item(at)?.extract()?;
            if parent < -1 || parent >= at as i64 || (parent < 0) != (at == 0) {
                return Err(PyValueError::new_err("a parent comes before its children"));
            }
            let reach: u64 = reaches.get_item(at)?.extract()?;
            let Ok(reach) = u16::try_from(reach) else {
                return Ok(false);
            };
            let tests = self.tests(inner, &tests.get_item(at)?)?;
            let value = inner.core.tests.value(tests);
            let mut node = Node {
                label: Label::CONTEXT,
                parent: parent.max(0) as u16,
                reach,
                tests,
                value,
            };
            let label = label(&mut inner.core, &labels.get_item(at)?);
            node.label = *label.as_ref().unwrap_or(&Label::CONTEXT);
            nodes.push(node);
            label?;
        }
        Ok(true)
    }

    /// The number of a set of tests, which is now used once more.
    fn tests(&self, inner: &mut Inner, tests: &Bound<'_, PyAny>) -> PyResult<u32> {
        let (py, tests) = (tests.py(), tests.cast::<PyTuple>()?);
        if tests.is_empty() {
            return Ok(NONE);
        }
        let numbers = inner.numbers.bind(py).clone();
        if let Some(known) = numbers.get_item(tests)? {
            let set = known.extract()?;
            inner.core.tests.take(set);
            return Ok(set);
        }
        let value: Option<String> = self.value.call1(py, (tests,))?.extract(py)?;
        let set = inner.core.tests.insert(value.as_deref());
        let place = set as usize - 1;
        if inner.sets.len() <= place {
            inner.sets.resize_with(place + 1, || None);
        }
        inner.sets[place] = Some(tests.clone().unbind());
        numbers.set_item(tests, set)?;
        Ok(set)
    }
}

impl Inner {
    /// Forgets the sets of tests that nobody uses any more.
    fn drop_sets(&mut self, py: Python<'_>, unused: &[u32]) -> PyResult<()> {
        for &set in unused {
            if let Some(tests) = self.sets[set as usize - 1].take() {
                self.numbers.bind(py).del_item(tests)?;
            }
        }
        if self.core.tests.is_empty() {
            self.sets = Vec::new();
        }
        Ok(())
    }
}

/// The number of a label, which is now used once more.
fn label(core: &mut CoverIndex, object: &Bound<'_, PyAny>) -> PyResult<Label> {
    if object.is_none() {
        return Ok(Label::CONTEXT);
    }
    let parts = object.cast::<PyTuple>()?;
    let kind = parts.get_item(0)?;
    let kind = match kind.cast::<PyString>()?.to_str()? {
        "element" => Kind::Element,
        "attribute" => Kind::Attribute,
        "text" => Kind::Text,
        _ => return Err(PyTypeError::new_err("a label has no such kind")),
    };
    let namespace: Option<Bound<'_, PyString>> = parts.get_item(1)?.extract()?;
    let local: Option<Bound<'_, PyString>> = parts.get_item(2)?.extract()?;
    let namespace = namespace.as_ref().map(|it| it.to_str()).transpose()?;
    let local = local.as_ref().map(|it| it.to_str()).transpose()?;
    Ok(core.labels.take(kind, namespace, local))
}
