//! From the language room's objects to the kernel's conditions.

use std::collections::HashMap;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use twigcast_kernel_core::pattern::{Condition, Constant, Kind, Label, Operator, Step, Test};

#[derive(Clone, Copy)]
enum Sort {
    Exists,
    SelfIs,
    Value,
    First,
    All,
    Any,
    Not,
    AtDocument,
    Literal,
    Number,
}

/// Reads condition objects. Remembers the classes it met by their address, since their names are
/// slower to compare; it holds on to them, so that no address is used again.
#[derive(Default)]
pub struct Conditions {
    sorts: HashMap<usize, Sort>,
    classes: Vec<Py<PyAny>>,
}

impl Conditions {
    /// The condition an object stands for. `number` reads a number as libxml2 does.
    pub fn read(
        &mut self,
        object: &Bound<'_, PyAny>,
        number: &Bound<'_, PyAny>,
    ) -> PyResult<Condition> {
        let py = object.py();
        Ok(match self.sort(object)? {
            Sort::Exists => {
                let reach = object.getattr(intern!(py, "reach"))?;
                let label = object.getattr(intern!(py, "label"))?;
                let then = object.getattr(intern!(py, "where"))?;
                Condition::Exists(Box::new(self.step(&reach, &label, &then, number)?))
            }
            Sort::SelfIs => Condition::SelfIs(label(&object.getattr(intern!(py, "label"))?)?),
            Sort::Value => Condition::Value(self.test(object, number)?),
            Sort::First => {
                let mut steps = Vec::new();
                for step in object
                    .getattr(intern!(py, "steps"))?
                    .cast::<PyTuple>()?
                    .iter()
                {
                    let step = step.cast::<PyTuple>()?;
                    steps.push(self.step(
                        &step.get_item(0)?,
                        &step.get_item(1)?,
                        &step.get_item(2)?,
                        number,
                    )?);
                }
                let test = object.getattr(intern!(py, "test"))?;
                Condition::First(steps, self.test(&test, number)?)
            }
            Sort::All => Condition::All(self.parts(object, number)?),
            Sort::Any => Condition::Any(self.parts(object, number)?),
            Sort::Not => Condition::Not(Box::new(
                self.read(&object.getattr(intern!(py, "part"))?, number)?,
            )),
            Sort::AtDocument => {
                let part = object.getattr(intern!(py, "condition"))?;
                Condition::AtDocument(Box::new(self.read(&part, number)?))
            }
            Sort::Literal | Sort::Number => return Err(unknown(object)),
        })
    }

    fn parts(
        &mut self,
        object: &Bound<'_, PyAny>,
        number: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Condition>> {
        let parts = object.getattr(intern!(object.py(), "parts"))?;
        parts
            .cast::<PyTuple>()?
            .iter()
            .map(|part| self.read(&part, number))
            .collect()
    }

    fn step(
        &mut self,
        reach: &Bound<'_, PyAny>,
        labelled: &Bound<'_, PyAny>,
        then: &Bound<'_, PyAny>,
        number: &Bound<'_, PyAny>,
    ) -> PyResult<Step> {
        let far = reach.cast::<PyString>()?.to_str()? == "descendant";
        Ok(Step {
            far,
            label: label(labelled)?,
            then: self.read(then, number)?,
        })
    }

    fn test(&mut self, object: &Bound<'_, PyAny>, number: &Bound<'_, PyAny>) -> PyResult<Test> {
        let py = object.py();
        let operator = object.getattr(intern!(py, "operator"))?;
        let constant = object.getattr(intern!(py, "constant"))?;
        let operator = match operator.cast::<PyString>()?.to_str()? {
            "=" => Operator::Equal,
            "!=" => Operator::Unequal,
            "<" => Operator::Less,
            "<=" => Operator::AtMost,
            ">" => Operator::Greater,
            ">=" => Operator::AtLeast,
            "contains" => Operator::Contains,
            "starts-with" => Operator::StartsWith,
            _ => return Err(unknown(object)),
        };
        let constant = match self.sort(&constant)? {
            Sort::Literal => {
                let value = constant.getattr(intern!(py, "value"))?;
                Constant::Text(value.cast::<PyString>()?.to_str()?.into())
            }
            Sort::Number => {
                let text = constant.getattr(intern!(py, "text"))?;
                Constant::Number(read_number(text.cast::<PyString>()?, number)?)
            }
            _ => return Err(unknown(&constant)),
        };
        Ok(Test { operator, constant })
    }

    fn sort(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Sort> {
        let class = object.get_type();
        let address = class.as_ptr() as usize;
        if let Some(&sort) = self.sorts.get(&address) {
            return Ok(sort);
        }
        let sort = match class.name()?.to_str()? {
            "Exists" => Sort::Exists,
            "SelfIs" => Sort::SelfIs,
            "ValueTest" => Sort::Value,
            "FirstValue" => Sort::First,
            "AllOf" => Sort::All,
            "AnyOf" => Sort::Any,
            "Not" => Sort::Not,
            "AtDocument" => Sort::AtDocument,
            "Literal" => Sort::Literal,
            "Number" => Sort::Number,
            _ => return Err(unknown(object)),
        };
        self.sorts.insert(address, sort);
        self.classes.push(class.into_any().unbind());
        Ok(sort)
    }
}

/// A condition as nested tuples: the name of its form, then its parts.
pub fn tell<'py>(py: Python<'py>, condition: &Condition) -> PyResult<Bound<'py, PyAny>> {
    let told = |condition: &Condition| tell(py, condition);
    let list = |parts: &[Condition]| parts.iter().map(told).collect::<PyResult<Vec<_>>>();
    let step = |step: &Step| Ok::<_, PyErr>((step.far, named(&step.label), tell(py, &step.then)?));
    Ok(match condition {
        Condition::Exists(it) => ("exists", it.far, named(&it.label), told(&it.then)?)
            .into_pyobject(py)?
            .into_any(),
        Condition::SelfIs(label) => ("self", named(label)).into_pyobject(py)?.into_any(),
        Condition::Value(test) => {
            let (operator, constant) = compared(py, test)?;
            ("value", operator, constant).into_pyobject(py)?.into_any()
        }
        Condition::First(steps, test) => {
            let steps = steps.iter().map(step).collect::<PyResult<Vec<_>>>()?;
            ("first", steps, compared(py, test)?)
                .into_pyobject(py)?
                .into_any()
        }
        Condition::All(parts) => ("all", list(parts)?).into_pyobject(py)?.into_any(),
        Condition::Any(parts) => ("any", list(parts)?).into_pyobject(py)?.into_any(),
        Condition::Not(part) => ("not", told(part)?).into_pyobject(py)?.into_any(),
        Condition::AtDocument(part) => ("document", told(part)?).into_pyobject(py)?.into_any(),
    })
}

fn named(label: &Label) -> (&'static str, Option<String>, Option<String>) {
    let kind = match label.kind {
        Kind::Element => "element",
        Kind::Attribute => "attribute",
        Kind::Text => "text",
    };
    let text = |name: &Option<Box<str>>| name.as_ref().map(ToString::to_string);
    (kind, text(&label.namespace), text(&label.local))
}

fn compared<'py>(py: Python<'py>, test: &Test) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
    let operator = match test.operator {
        Operator::Equal => "=",
        Operator::Unequal => "!=",
        Operator::Less => "<",
        Operator::AtMost => "<=",
        Operator::Greater => ">",
        Operator::AtLeast => ">=",
        Operator::Contains => "contains",
        Operator::StartsWith => "starts-with",
    };
    let constant = match &test.constant {
        Constant::Text(text) => text.as_ref().into_pyobject(py)?.into_any(),
        Constant::Number(number) => number.into_pyobject(py)?.into_any(),
    };
    Ok((operator, constant))
}

fn label(object: &Bound<'_, PyAny>) -> PyResult<Label> {
    let parts = object.cast::<PyTuple>()?;
    let kind = match parts.get_item(0)?.cast::<PyString>()?.to_str()? {
        "element" => Kind::Element,
        "attribute" => Kind::Attribute,
        "text" => Kind::Text,
        _ => return Err(unknown(object)),
    };
    let text = |place| -> PyResult<Option<Box<str>>> {
        let part = parts.get_item(place)?;
        if part.is_none() {
            Ok(None)
        } else {
            Ok(Some(part.cast::<PyString>()?.to_str()?.into()))
        }
    };
    Ok(Label {
        kind,
        namespace: text(1)?,
        local: text(2)?,
    })
}

/// A number as it was written. Whole numbers of up to 15 digits are what they look like; the rounding
/// of others is libxml2's own.
fn read_number(text: &Bound<'_, PyString>, number: &Bound<'_, PyAny>) -> PyResult<f64> {
    let digits = text.to_str()?;
    if digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(digits
            .bytes()
            .fold(0.0, |sum, byte| sum * 10.0 + f64::from(byte - b'0')));
    }
    number.call1((text,))?.extract()
}

fn unknown(object: &Bound<'_, PyAny>) -> PyErr {
    let name = object
        .get_type()
        .name()
        .map_or_else(|_| "object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "the kernel cannot read a condition of the class {name}"
    ))
}
