//! From the language room's objects to the kernel's conditions.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use twigcast_kernel_core::pattern::{Condition, Constant, Kind, Label, Operator, Step, Test};

/// How deep conditions may be nested: some ten times as deep as the language lets them be, and far from
/// what fits on the stack of a thread.
const DEPTH_MAX: usize = 2_000;

/// What class an object is of.
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

/// The condition an object stands for. `number` reads a number as libxml2 does.
pub fn read(object: &Bound<'_, PyAny>, number: &Bound<'_, PyAny>) -> PyResult<Condition> {
    condition(object, Context { number, depth: 0 })
}

/// What is known where a condition is read.
#[derive(Clone, Copy)]
struct Context<'a, 'py> {
    number: &'a Bound<'py, PyAny>,
    depth: usize,
}

fn condition(object: &Bound<'_, PyAny>, outside: Context) -> PyResult<Condition> {
    if outside.depth == DEPTH_MAX {
        return Err(PyValueError::new_err("a condition is nested too deep"));
    }
    let context = Context {
        depth: outside.depth + 1,
        ..outside
    };
    let py = object.py();
    Ok(match sort(object)? {
        Sort::Exists => {
            let reach = object.getattr(intern!(py, "reach"))?;
            let label = object.getattr(intern!(py, "label"))?;
            let then = object.getattr(intern!(py, "where"))?;
            Condition::Exists(Box::new(step(&reach, &label, &then, context)?))
        }
        Sort::SelfIs => Condition::SelfIs(label(&object.getattr(intern!(py, "label"))?)?),
        Sort::Value => Condition::Value(test(object, context)?),
        Sort::First => {
            let mut steps = Vec::new();
            for step in object
                .getattr(intern!(py, "steps"))?
                .cast::<PyTuple>()?
                .iter()
            {
                let parts = step.cast::<PyTuple>()?;
                let (reach, label) = (parts.get_item(0)?, parts.get_item(1)?);
                steps.push(self::step(&reach, &label, &parts.get_item(2)?, context)?);
            }
            let compared = object.getattr(intern!(py, "test"))?;
            Condition::First(steps, test(&compared, context)?)
        }
        Sort::All => Condition::All(parts(object, context)?),
        Sort::Any => Condition::Any(parts(object, context)?),
        Sort::Not => Condition::Not(Box::new(condition(
            &object.getattr(intern!(py, "part"))?,
            context,
        )?)),
        Sort::AtDocument => {
            let part = object.getattr(intern!(py, "condition"))?;
            Condition::AtDocument(Box::new(condition(&part, context)?))
        }
        Sort::Literal | Sort::Number => return Err(unknown(object)),
    })
}

fn parts(object: &Bound<'_, PyAny>, context: Context) -> PyResult<Vec<Condition>> {
    let parts = object.getattr(intern!(object.py(), "parts"))?;
    parts
        .cast::<PyTuple>()?
        .iter()
        .map(|part| condition(&part, context))
        .collect()
}

fn step(
    reach: &Bound<'_, PyAny>,
    labelled: &Bound<'_, PyAny>,
    then: &Bound<'_, PyAny>,
    context: Context,
) -> PyResult<Step> {
    let far = reach.cast::<PyString>()?.to_str()? == "descendant";
    Ok(Step {
        far,
        label: label(labelled)?,
        then: condition(then, context)?,
    })
}

fn test(object: &Bound<'_, PyAny>, context: Context) -> PyResult<Test> {
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
    let constant = match sort(&constant)? {
        Sort::Literal => {
            let value = constant.getattr(intern!(py, "value"))?;
            Constant::Text(value.cast::<PyString>()?.to_str()?.into())
        }
        Sort::Number => {
            let text = constant.getattr(intern!(py, "text"))?;
            Constant::Number(read_number(text.cast::<PyString>()?, context.number)?)
        }
        _ => return Err(unknown(&constant)),
    };
    Ok(Test { operator, constant })
}

fn sort(object: &Bound<'_, PyAny>) -> PyResult<Sort> {
    Ok(match object.get_type().name()?.to_str()? {
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
    })
}

/// A condition as nested tuples: the name of its form, then its parts.
pub fn to_python<'py>(py: Python<'py>, condition: &Condition) -> PyResult<Bound<'py, PyAny>> {
    let part_of = |condition: &Condition| to_python(py, condition);
    let list = |parts: &[Condition]| parts.iter().map(part_of).collect::<PyResult<Vec<_>>>();
    let step =
        |step: &Step| Ok::<_, PyErr>((step.far, named(&step.label), to_python(py, &step.then)?));
    Ok(match condition {
        Condition::Exists(it) => ("exists", it.far, named(&it.label), part_of(&it.then)?)
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
        Condition::Not(part) => ("not", part_of(part)?).into_pyobject(py)?.into_any(),
        Condition::AtDocument(part) => ("document", part_of(part)?).into_pyobject(py)?.into_any(),
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
