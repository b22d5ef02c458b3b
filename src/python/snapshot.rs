//! Snapshots in Python: views into one shared Rust object, made when they are asked for.
//!
//! A snapshot of 100,000 operations must not become 100,000 Python objects, so every view holds only a
//! reference to the snapshot and its place in it.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::model;

/// JSON is handed to Python in pieces of about this many bytes.
const PIECE: usize = 64 * 1024;

/// Turns a serialisable value into Python objects through JSON; for small values only.
pub(super) fn to_python<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// All that was read at one time.
#[pyclass(frozen, module = "mpi_queues")]
pub struct Snapshot(pub(super) Arc<model::Snapshot>);

#[pymethods]
impl Snapshot {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    #[getter]
    fn captured_at(&self) -> Option<&str> {
        self.0.captured_at.as_deref()
    }

    #[getter]
    fn processes(&self) -> Vec<Process> {
        (0..self.0.processes.len()).map(|process| Process { snapshot: Arc::clone(&self.0), process }).collect()
    }

    #[getter]
    fn problems(&self) -> Vec<String> {
        self.0.problems.clone()
    }

    /// The process of that world rank; KeyError where it was not read.
    fn rank(&self, rank: i64) -> PyResult<Process> {
        let found = self.0.processes.iter().position(|process| process.rank == Some(rank));
        let process = found.ok_or_else(|| PyKeyError::new_err(format!("no process of rank {rank} was read")))?;
        Ok(Process { snapshot: Arc::clone(&self.0), process })
    }

    /// A snapshot from its JSON; ValueError where the text is not of the schema `mpi-queues/1`.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let snapshot: model::Snapshot = serde_json::from_str(text)
            .map_err(|error| PyValueError::new_err(format!("not a snapshot of schema {}: {error}", model::SCHEMA)))?;
        if snapshot.schema != model::SCHEMA {
            return Err(PyValueError::new_err(format!(
                "a snapshot of schema {:?}; this version reads {:?}",
                snapshot.schema,
                model::SCHEMA
            )));
        }
        Ok(Self(Arc::new(snapshot)))
    }

    /// One snapshot of many, processes ordered by rank, then pid.
    #[staticmethod]
    #[pyo3(signature = (snapshots, problems = Vec::new()))]
    fn merged(snapshots: Vec<Bound<'_, Self>>, problems: Vec<String>) -> Self {
        let parts = snapshots.iter().map(|snapshot| snapshot.get().0.as_ref());
        let mut merged = model::Snapshot::merged(parts);
        merged.problems.extend(problems);
        Self(Arc::new(merged))
    }

    /// Only the communicators of that name, the process of that world rank; without internal operations if asked.
    #[pyo3(signature = (*, comm = None, rank = None, internal = true))]
    fn filtered(&self, comm: Option<&str>, rank: Option<i64>, internal: bool) -> Self {
        // A large snapshot is not copied where nothing is left out of it.
        if comm.is_none() && rank.is_none() && (internal || !self.0.has_internal()) {
            return Self(Arc::clone(&self.0));
        }
        Self(Arc::new(self.0.filtered(comm, rank, internal)))
    }

    /// The JSON as one string.
    #[pyo3(signature = (*, indent = None))]
    fn to_json(&self, indent: Option<usize>) -> PyResult<String> {
        let mut out = Vec::new();
        self.serialise(&mut out, indent).map_err(|error| PyValueError::new_err(error.to_string()))?;
        String::from_utf8(out).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The JSON in pieces of about 64 KiB, each handed to `write`.
    #[pyo3(signature = (write, *, indent = None))]
    fn write_json(&self, write: Bound<'_, PyAny>, indent: Option<usize>) -> PyResult<()> {
        let mut pieces = Pieces { write, buffer: Vec::with_capacity(PIECE), failure: None };
        let result = self.serialise(&mut pieces, indent);
        if result.is_ok() {
            pieces.flush_all();
        }
        match (pieces.failure, result) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(PyValueError::new_err(error.to_string())),
            (None, Ok(())) => Ok(()),
        }
    }

    fn __repr__(&self) -> String {
        format!("<mpi_queues.Snapshot of {} processes>", self.0.processes.len())
    }
}

impl Snapshot {
    fn serialise(&self, out: impl std::io::Write, indent: Option<usize>) -> serde_json::Result<()> {
        use serde::Serialize as _;
        match indent {
            None => serde_json::to_writer(out, self.0.as_ref()),
            Some(width) => {
                let indent = " ".repeat(width.min(16));
                let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
                self.0.serialize(&mut serde_json::Serializer::with_formatter(out, formatter))
            }
        }
    }
}

/// Collects output and hands it to a Python callable in pieces; keeps the exception that stopped it.
struct Pieces<'py> {
    write: Bound<'py, PyAny>,
    buffer: Vec<u8>,
    failure: Option<PyErr>,
}

impl Pieces<'_> {
    fn flush_all(&mut self) {
        // serde_json writes whole characters only, so the buffer is valid UTF-8 wherever it is cut.
        let text = String::from_utf8_lossy(&self.buffer);
        if !text.is_empty()
            && let Err(error) = self.write.call1((PyString::new(self.write.py(), &text),))
        {
            self.failure = Some(error);
        }
        self.buffer.clear();
    }
}

impl std::io::Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE {
            self.flush_all();
        }
        if self.failure.is_some() {
            return Err(std::io::Error::other("the receiver of the JSON failed"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// One process of a snapshot.
#[pyclass(frozen, module = "mpi_queues")]
pub struct Process {
    snapshot: Arc<model::Snapshot>,
    process: usize,
}

impl Process {
    fn data(&self) -> &model::Process {
        &self.snapshot.processes[self.process]
    }

    fn view(&self, communicator: usize) -> Communicator {
        Communicator { snapshot: Arc::clone(&self.snapshot), process: self.process, communicator }
    }
}

#[pymethods]
impl Process {
    #[getter]
    fn rank(&self) -> Option<i64> {
        self.data().rank
    }
    #[getter]
    fn world_size(&self) -> Option<i64> {
        self.data().world_size
    }
    #[getter]
    fn pid(&self) -> Option<i64> {
        self.data().pid
    }
    #[getter]
    fn host(&self) -> Option<&str> {
        self.data().host.as_deref()
    }
    #[getter]
    fn executable(&self) -> Option<&str> {
        self.data().executable.as_deref()
    }
    #[getter]
    fn mpi<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().mpi)
    }
    #[getter]
    fn source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().source)
    }
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().calls)
    }
    #[getter]
    fn communicators(&self) -> Vec<Communicator> {
        (0..self.data().communicators.len()).map(|index| self.view(index)).collect()
    }
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.data().notes.clone()
    }
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.data().problems.clone()
    }

    /// The communicator of that name; KeyError where there is none, or more than one.
    fn communicator(&self, name: &str) -> PyResult<Communicator> {
        let mut found =
            self.data().communicators.iter().enumerate().filter(|(_, communicator)| communicator.name == name);
        match (found.next(), found.count()) {
            (Some((index, _)), 0) => Ok(self.view(index)),
            (None, _) => Err(PyKeyError::new_err(format!("no communicator is named {name:?}"))),
            (Some(_), more) => Err(PyKeyError::new_err(format!("{} communicators are named {name:?}", more + 1))),
        }
    }

    fn __repr__(&self) -> String {
        format!("<mpi_queues.Process rank {:?} pid {:?}>", self.data().rank, self.data().pid)
    }
}

/// One communicator of a process.
#[pyclass(frozen, module = "mpi_queues")]
pub struct Communicator {
    snapshot: Arc<model::Snapshot>,
    process: usize,
    communicator: usize,
}

impl Communicator {
    fn data(&self) -> &model::Communicator {
        &self.snapshot.processes[self.process].communicators[self.communicator]
    }

    fn queue(&self, which: Which) -> Queue {
        Queue { snapshot: Arc::clone(&self.snapshot), process: self.process, communicator: self.communicator, which }
    }
}

#[pymethods]
impl Communicator {
    #[getter]
    fn name(&self) -> &str {
        &self.data().name
    }
    #[getter]
    fn name_set(&self) -> Option<bool> {
        self.data().name_set
    }
    #[getter]
    fn unique_id(&self) -> u64 {
        self.data().unique_id
    }
    #[getter]
    fn context_id(&self) -> Option<&str> {
        self.data().context_id.as_deref()
    }
    #[getter]
    fn handle(&self) -> Option<&str> {
        self.data().handle.as_deref()
    }
    #[getter]
    fn local_rank(&self) -> Option<i64> {
        self.data().local_rank
    }
    #[getter]
    fn size(&self) -> Option<i64> {
        self.data().size
    }
    #[getter]
    fn group(&self) -> Option<Vec<Option<i64>>> {
        self.data().group.clone()
    }
    #[getter]
    fn remote_group(&self) -> Option<Vec<Option<i64>>> {
        self.data().remote_group.clone()
    }
    #[getter]
    fn pending_sends(&self) -> Queue {
        self.queue(Which::Sends)
    }
    #[getter]
    fn pending_receives(&self) -> Queue {
        self.queue(Which::Receives)
    }
    #[getter]
    fn unexpected_messages(&self) -> Queue {
        self.queue(Which::Unexpected)
    }
    fn __repr__(&self) -> String {
        format!("<mpi_queues.Communicator {:?}>", self.data().name)
    }
}

#[derive(Clone, Copy)]
enum Which {
    Sends,
    Receives,
    Unexpected,
}

/// One queue: a sequence of operations with a state.
#[pyclass(frozen, sequence, module = "mpi_queues")]
pub struct Queue {
    snapshot: Arc<model::Snapshot>,
    process: usize,
    communicator: usize,
    which: Which,
}

impl Queue {
    fn data(&self) -> &model::Queue {
        let communicator = &self.snapshot.processes[self.process].communicators[self.communicator];
        match self.which {
            Which::Sends => &communicator.pending_sends,
            Which::Receives => &communicator.pending_receives,
            Which::Unexpected => &communicator.unexpected_messages,
        }
    }

    fn share(&self) -> Self {
        Self { snapshot: Arc::clone(&self.snapshot), ..*self }
    }
}

#[pymethods]
impl Queue {
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().state)
    }
    #[getter]
    fn detail(&self) -> Option<&str> {
        self.data().detail.as_deref()
    }
    #[getter]
    fn operations(&self) -> Self {
        self.share()
    }
    fn __len__(&self) -> usize {
        self.data().operations.len()
    }
    fn __getitem__(&self, index: isize) -> PyResult<Operation> {
        let len = self.data().operations.len();
        let operation = if index < 0 { len.checked_sub(index.unsigned_abs()) } else { Some(index.unsigned_abs()) };
        match operation.filter(|&operation| operation < len) {
            Some(operation) => Ok(Operation { queue: self.share(), operation }),
            None => Err(PyIndexError::new_err(format!("operation {index} of a queue of {len}"))),
        }
    }
    fn __repr__(&self) -> String {
        format!("<mpi_queues.Queue of {} operations>", self.data().operations.len())
    }
}

/// One operation.
#[pyclass(frozen, module = "mpi_queues")]
pub struct Operation {
    queue: Queue,
    operation: usize,
}

impl Operation {
    fn data(&self) -> &model::Operation {
        &self.queue.data().operations[self.operation]
    }
}

#[pymethods]
impl Operation {
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().status)
    }
    #[getter]
    fn desired_local_rank(&self) -> Option<i64> {
        self.data().desired_local_rank
    }
    #[getter]
    fn desired_global_rank(&self) -> Option<i64> {
        self.data().desired_global_rank
    }
    #[getter]
    fn any_source(&self) -> bool {
        self.data().any_source
    }
    #[getter]
    fn tag_wild(&self) -> bool {
        self.data().tag_wild
    }
    #[getter]
    fn desired_tag(&self) -> Option<i64> {
        self.data().desired_tag
    }
    #[getter]
    fn desired_length(&self) -> Option<u64> {
        self.data().desired_length
    }
    #[getter]
    fn system_buffer(&self) -> bool {
        self.data().system_buffer
    }
    #[getter]
    fn buffer(&self) -> Option<u64> {
        self.data().buffer
    }
    #[getter]
    fn actual_local_rank(&self) -> Option<i64> {
        self.data().actual_local_rank
    }
    #[getter]
    fn actual_global_rank(&self) -> Option<i64> {
        self.data().actual_global_rank
    }
    #[getter]
    fn actual_tag(&self) -> Option<i64> {
        self.data().actual_tag
    }
    #[getter]
    fn actual_length(&self) -> Option<u64> {
        self.data().actual_length
    }
    #[getter]
    fn internal(&self) -> bool {
        self.data().internal
    }
    #[getter]
    fn persistent(&self) -> bool {
        self.data().persistent
    }
    #[getter]
    fn call(&self) -> Option<&str> {
        self.data().call.as_deref()
    }
    #[getter]
    fn datatype(&self) -> Option<&str> {
        self.data().datatype.as_deref()
    }
    #[getter]
    fn count(&self) -> Option<u64> {
        self.data().count
    }
    #[getter]
    fn request(&self) -> Option<u64> {
        self.data().request
    }
    #[getter]
    fn extra_text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.data().extra_text.iter().map(|text| text.as_ref()))
    }
    /// The operation as the JSON has it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Ok(to_python(py, self.data())?.cast_into::<PyDict>()?)
    }
    fn __repr__(&self) -> String {
        format!("<mpi_queues.Operation {:?}>", self.data().status)
    }
}
