//! Values of expressions, for Python.

use pyo3::prelude::*;

use calls::expression::{Value, of_c};

use super::asked::PythonScope;
use super::failure::{Failure, Unknown};

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
