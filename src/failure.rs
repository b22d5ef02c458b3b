//! What Python raises while it is asked, and its numbers and bytes.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOverflowError};
use pyo3::prelude::*;

use super::target::text;

create_exception!(
    mpi_queues,
    Unknown,
    PyException,
    "Why something about a call is not known, as a sentence without a capital and a full stop."
);

/// The first exception that says nothing about a call: nothing more is asked then, and it goes on to who called.
#[derive(Clone, Default)]
pub(super) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Raises it.
    pub(super) fn raised(&self) -> PyResult<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Asks an object.
    pub(super) fn with<'py, R>(
        &self,
        object: &Bound<'py, PyAny>,
        ask: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<R>,
    ) -> Result<R, calls::Unknown> {
        if self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Err(calls::Unknown::new("interrupted"));
        }
        ask(object).map_err(|error| self.unknown(object.py(), error))
    }

    fn unknown(&self, py: Python<'_>, error: PyErr) -> calls::Unknown {
        if error.is_instance_of::<Unknown>(py)
            && let Ok(sentence) = error.value(py).str().and_then(|sentence| text(&sentence))
        {
            return calls::Unknown::new(sentence);
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        calls::Unknown::new("interrupted")
    }
}

/// A number of any size: of one that is beyond 128 bits these.
pub(super) fn number(value: &Bound<'_, PyAny>) -> PyResult<i128> {
    match value.extract::<i128>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Ok(value.call_method1("__and__", (u128::MAX,))?.extract::<u128>()? as i128)
        }
        other => other,
    }
}

pub(super) fn optional(value: &Bound<'_, PyAny>) -> PyResult<Option<i128>> {
    if value.is_none() { Ok(None) } else { number(value).map(Some) }
}
