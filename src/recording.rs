//! Recordings in Python: writing through a Python function, opening, replaying.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::session::{Session, native_error};
use super::snapshot::to_python;
use recording::{self, RecordingError, RecordingFile, Replay};

/// The exception that ended the writing.
#[derive(Default)]
pub struct Failure(RefCell<Option<PyErr>>);

impl Failure {
    /// Runs `call` and keeps its exception.
    pub fn check(&self, call: impl FnOnce(Python<'_>) -> PyResult<()>) -> io::Result<()> {
        if self.0.borrow().is_some() {
            // A buffer that is dropped after the failure tries once more.
            return Err(io::Error::other("it has failed before"));
        }
        Python::attach(call).map_err(|error| {
            let text = error.to_string();
            *self.0.borrow_mut() = Some(error);
            io::Error::other(text)
        })
    }

    /// The exception, if there was one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.borrow_mut().take()
    }
}

/// Writes through a Python function that takes bytes.
pub struct PythonWriter<'a> {
    /// The function.
    pub write: &'a Py<PyAny>,
    /// Keeps its exception.
    pub failure: &'a Failure,
}

impl Write for PythonWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.failure.check(|py| self.write.call1(py, (PyBytes::new(py, bytes),)).map(|_| ()))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What stands in a recording before its first process.
#[pyfunction]
pub fn recording_start<'py>(py: Python<'py>, info: &str) -> PyResult<Bound<'py, PyBytes>> {
    let mut out = Vec::new();
    recording::write_start(&mut out, info)?;
    Ok(PyBytes::new(py, &out))
}

/// What stands in a recording after the last of its processes.
#[pyfunction]
pub fn recording_end(py: Python<'_>, processes: u64) -> PyResult<Bound<'_, PyBytes>> {
    let mut out = Vec::new();
    recording::write_end(&mut out, processes)?;
    Ok(PyBytes::new(py, &out))
}

/// A recording that has been opened and checked.
#[pyclass(unsendable, module = "mpi_queues")]
pub struct Recording(Rc<RecordingFile>);

#[pymethods]
impl Recording {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| RecordingFile::open(&path));
        opened.map(|file| Self(Rc::new(file))).map_err(|error| recording_error(py, &error))
    }

    fn __len__(&self) -> usize {
        self.0.sections.len()
    }

    /// What is wrong with the file, in sentences.
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.0.problems.clone()
    }

    /// The version of its format.
    #[getter]
    fn format_version(&self) -> u32 {
        self.0.version
    }

    /// What the file says of itself.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        info.set_item("path", target::printable_path(&self.0.path))?;
        info.set_item("format", self.0.version)?;
        info.set_item("bytes", self.0.len)?;
        let about = self.0.info.as_deref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
        info.set_item("about", to_python(py, &about)?)?;
        let processes = PyList::empty(py);
        for index in 0..self.0.sections.len() {
            processes.append(self.process_info(py, index)?)?;
        }
        info.set_item("processes", processes)?;
        info.set_item("problems", self.0.problems.clone())?;
        Ok(info)
    }

    /// A session that replays the process with number `index`.
    fn session(&self, py: Python<'_>, index: usize) -> PyResult<Session> {
        if index >= self.0.sections.len() {
            return Err(PyIndexError::new_err(format!("the recording has {} processes", self.0.sections.len())));
        }
        Replay::open(&self.0, index).map(Session::replaying).map_err(|error| recording_error(py, &error))
    }
}

impl Recording {
    fn process_info<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        let replay = Replay::open(&self.0, index);
        let known = match &replay {
            Ok(replay) => Some(replay.description.clone()),
            Err(_) => self.0.description(index),
        };
        let known = known.as_ref();
        let facts = known.map(|description| &description.facts);
        info.set_item("rank", known.and_then(|description| description.rank))?;
        info.set_item("world_size", known.and_then(|description| description.world_size))?;
        info.set_item("pid", facts.and_then(|facts| facts.pid))?;
        info.set_item("host", facts.and_then(|facts| facts.host.as_ref()))?;
        info.set_item("executable", facts.and_then(|facts| facts.executable.as_ref()))?;
        info.set_item("captured_at", known.and_then(|description| description.captured_at.as_ref()))?;
        info.set_item("tool", known.map(|description| &description.tool))?;
        info.set_item("via", facts.map(|facts| &facts.via))?;
        info.set_item("debugger", facts.map(|facts| &facts.debugger))?;
        info.set_item("mpi", known.and_then(|description| description.mpi.as_ref()))?;
        info.set_item("layouts", known.and_then(|description| description.layouts.as_ref()))?;
        info.set_item("full", known.is_some_and(|description| description.full))?;
        info.set_item("images", to_python(py, &known.map(|description| &description.images))?)?;
        let whole = replay.as_ref().ok();
        info.set_item("whole", whole.is_some())?;
        info.set_item("symbols", whole.map(Replay::symbol_count))?;
        info.set_item("threads", whole.map(|replay| replay.description.facts.stacks.len()))?;
        info.set_item("memory", whole.map(|replay| replay.end.memory))?;
        info.set_item("ranges", whole.map(|replay| replay.ranges().count()))?;
        info.set_item("left_out", whole.map(|replay| replay.end.left_out.clone()).unwrap_or_default())?;
        let problem = match &replay {
            Ok(replay) => replay.description.problem.clone(),
            Err(error) => Some(error.to_string()),
        };
        info.set_item("problem", problem)?;
        Ok(info)
    }
}

fn recording_error(py: Python<'_>, error: &RecordingError) -> PyErr {
    native_error(py, error.kind(), &error.help(), error.to_string())
}
