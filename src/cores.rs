//! Core files, for Python: views of `target::cores`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use target::cores::{self, CoreError, LeftOut, Unread};
use target::file_budget::is_interrupted;

use super::files::os_error;
use super::session::native_error;

/// A core file, held open.
#[pyclass(frozen, module = "mpi_queues")]
pub struct CoreFile(pub(super) Arc<cores::CoreFile>);

#[pymethods]
impl CoreFile {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        opened(py, path).map(|core| Self(Arc::new(core)))
    }

    #[getter]
    fn owner(&self) -> Option<u32> {
        self.0.owner()
    }

    #[getter]
    fn pid(&self) -> Option<u32> {
        self.0.pid()
    }

    #[getter]
    fn executable(&self) -> Option<OsString> {
        self.0.executable().map(ToOwned::to_owned)
    }

    #[getter]
    fn program_headers(&self) -> Option<(u64, u64)> {
        self.0.program_headers()
    }

    fn environment<'py>(&self, py: Python<'py>, name: &[u8]) -> Option<Bound<'py, PyBytes>> {
        self.0.environment(name).map(|value| PyBytes::new(py, value))
    }

    fn read<'py>(&self, py: Python<'py>, address: u64, length: u64) -> PyResult<Bound<'py, PyBytes>> {
        bytes(py, || self.0.read_bytes(address, length))
    }

    fn is_program(&self, py: Python<'_>, path: PathBuf) -> PyResult<bool> {
        py.detach(|| self.0.is_program(&path)).map_err(|error| os_error(&path, &error))
    }
}

fn opened(py: Python<'_>, path: PathBuf) -> PyResult<cores::CoreFile> {
    let interrupted = Mutex::new(None);
    // Unpacking takes a while.
    let may_go_on = |py: Python<'_>| match is_interrupted() {
        true => Err(PyKeyboardInterrupt::new_err(())),
        false => py.check_signals(),
    };
    let go_on = || match Python::attach(may_go_on) {
        Ok(()) => true,
        Err(error) => {
            *interrupted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            false
        }
    };
    let found = py.detach(|| cores::CoreFile::open_while(&path, &go_on));
    match interrupted.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => found.map_err(|error| core_error(py, &error)),
    }
}

pub(super) fn core_error(py: Python<'_>, error: &CoreError) -> PyErr {
    native_error(py, error.kind(), &error.help(), error.to_string())
}

fn bytes<'py>(py: Python<'py>, read: impl FnOnce() -> Result<Vec<u8>, Unread> + Send) -> PyResult<Bound<'py, PyBytes>> {
    let read = py.detach(read).map_err(|error| unread(py, error))?;
    Ok(PyBytes::new(py, &read))
}

/// The exception of a debugger's process.
fn unread(py: Python<'_>, error: Unread) -> PyErr {
    let class = |name: &str| py.import("mpi_queues.debuggers.base").and_then(|module| module.getattr(name));
    let made = match &error {
        Unread::LeftOut(left_out) => {
            let LeftOut { addr, len, part, remedy } = left_out.as_ref();
            class("NotInCore").and_then(|class| class.call1((addr.get(), *len, part, remedy)))
        }
        Unread::File { .. } => class("DebuggerError").and_then(|class| class.call1((error.to_string(),))),
    };
    made.map_or_else(|error| error, PyErr::from_value)
}
