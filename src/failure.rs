//! What Python raises while it is asked, and its numbers and bytes.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use target::{ByteOrder, PointerWidth, TargetAbi};

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

    /// Memory by a method that raises errors of debuggers.
    pub(super) fn read(
        &self,
        object: &Bound<'_, PyAny>,
        method: &str,
        address: u64,
        length: usize,
    ) -> Result<Vec<u8>, calls::Unknown> {
        self.with(object, |object| {
            let py = object.py();
            let read = object.call_method1(method, (address, length)).and_then(|read| bytes(&read));
            match read {
                Err(error) if is_unreadable(py, &error)? => {
                    Err(Unknown::new_err(format!("the code at {address:#x} cannot be read")))
                }
                other => other,
            }
        })
    }
}

fn is_unreadable(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    let class = py.import("mpi_queues.debuggers.base")?.getattr("DebuggerError")?;
    let is_number = error.is_instance_of::<PyOverflowError>(py) || error.is_instance_of::<PyValueError>(py);
    Ok(is_number || error.matches(py, class)?)
}

/// The bytes of what Python has as bytes or as a view of memory.
pub(super) fn bytes(found: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match found.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
        Err(_) => Ok(found.call_method0("tobytes")?.cast_into::<PyBytes>()?.as_bytes().to_vec()),
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

pub(super) fn abi(process: &Bound<'_, PyAny>) -> PyResult<TargetAbi> {
    let byte_order = match process.getattr("byte_order")?.extract::<String>()?.as_str() {
        "little" => ByteOrder::Little,
        _ => ByteOrder::Big,
    };
    let pointer_width = PointerWidth::try_from(process.getattr("pointer_size")?.extract::<u64>()?);
    Ok(TargetAbi {
        byte_order,
        pointer_width: pointer_width.map_err(|reason| PyValueError::new_err(reason.to_string()))?,
    })
}
