//! What calls were given, for Python.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use calls::KeptFiles;
use calls::expression::{Value, of_c};
use functions::constants::Family;
use model::Argument;
use target::TargetAbi;

use super::asked::{PythonCaller, PythonScope};
use super::failure::{Failure, Unknown, abi, optional};

static KEPT: KeptFiles = KeptFiles::new();

/// What the application gave the function of MPI that `caller` has called, or why it is not known.
#[pyfunction]
pub fn call_arguments<'py>(
    py: Python<'py>,
    function: &str,
    caller: Py<PyAny>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, Option<String>)> {
    let failure = Failure::default();
    let found = calls::call_arguments(function, &PythonCaller { object: caller, failure: failure.clone() }, &KEPT);
    failure.raised()?;
    let arguments = found.arguments.iter().map(|argument| dictionary(py, argument)).collect::<PyResult<_>>()?;
    Ok((arguments, found.unknown))
}

/// The value of an expression of C or C++ that a user typed.
#[pyfunction]
pub fn value_of_c(py: Python<'_>, expression: &str, scope: Py<PyAny>) -> PyResult<Py<PyAny>> {
    let failure = Failure::default();
    let scope = PythonScope { object: scope, failure: failure.clone() };
    let found = of_c(expression, &scope, &|_| Ok(None), true);
    failure.raised()?;
    match found {
        Ok(Value::Number(number)) => Ok(number.into_pyobject(py)?.into_any().unbind()),
        Ok(Value::Typed(value)) => Ok(value.object),
        Err(unknown) => Err(Unknown::new_err(unknown.to_string())),
    }
}

/// Whose constants of MPI a program has.
#[pyfunction]
pub fn mpi_family(symbol: &Bound<'_, PyAny>, libraries: &str) -> PyResult<&'static str> {
    let failure = Failure::default();
    let symbol = |name: &str| failure.with(symbol, |symbol| optional(&symbol.call1((name,))?));
    let found = Family::of(&symbol, libraries);
    failure.raised()?;
    Ok(found.ok().flatten().map_or("", Family::word))
}

/// Where the call before an address led to.
#[pyfunction]
pub fn call_target(process: &Bound<'_, PyAny>, after: u64) -> PyResult<Option<u64>> {
    if abi(process)? != TargetAbi::LITTLE_64 {
        return Ok(None);
    }
    let failure = Failure::default();
    let read = |address: u64, length: usize| failure.read(process, "read_memory", address, length).ok();
    let found = calls::call_target(after, &read, &read);
    failure.raised()?;
    Ok(found)
}

fn dictionary<'py>(py: Python<'py>, argument: &Argument) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("name", &argument.name)?;
    found.set_item("expression", &argument.expression)?;
    found.set_item("value", argument.value)?;
    for (key, text) in [("origin", &argument.origin), ("meaning", &argument.meaning), ("unknown", &argument.unknown)] {
        if let Some(text) = text {
            found.set_item(key, text)?;
        }
    }
    if let Some(values) = &argument.values {
        found.set_item("values", values)?;
    }
    Ok(found)
}
