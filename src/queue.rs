//! Queues and operations in Python: views into a snapshot.

use std::sync::Arc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::session::native_error;
use super::snapshot::to_python;

/// One queue: a sequence of operations with a state.
#[pyclass(frozen, sequence, module = "mpi_queues")]
pub struct Queue {
    pub(super) snapshot: Arc<model::Snapshot>,
    pub(super) process: usize,
    pub(super) communicator: usize,
    pub(super) kind: model::QueueKind,
}

impl Queue {
    fn data(&self) -> &model::Queue {
        self.kind.of(&self.snapshot.processes[self.process].communicators[self.communicator])
    }

    fn share(&self) -> Self {
        Self { snapshot: Arc::clone(&self.snapshot), ..*self }
    }
}

#[pymethods]
impl Queue {
    /// `ok`, `no_information` (this MPI or transport cannot tell) or `error` (not read whole).
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().state)
    }
    /// A sentence for any other state than ok.
    #[getter]
    fn detail(&self) -> Option<&str> {
        self.data().detail.as_deref()
    }
    /// The queue itself, which is a sequence of its operations.
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
        let operations: Vec<_> = self.data().operations.iter().take(SHOWN).map(described).collect();
        let more = self.data().operations.len() - operations.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let colon = if operations.is_empty() { "" } else { ": " };
        format!("<mpi_queues.Queue {}{colon}{}{more}>", contents(self.data()), operations.join("; "))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.data() == other.data()
    }

    /// Whether it holds an operation. Raises NativeError (kind `no_information`) where that is not known: a queue that
    /// cannot be read is not empty.
    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        let data = self.data();
        if data.operations.is_empty() && data.state != model::QueueState::Ok {
            let detail = data.detail.as_deref().unwrap_or("no reason given");
            let message = format!("it is not known whether the queue is empty: {detail}");
            return Err(native_error(py, "no_information", "", message));
        }
        Ok(!data.operations.is_empty())
    }

    fn __iter__(&self) -> Operations {
        Operations { queue: self.share(), next: 0 }
    }
}

/// How many operations of a queue its repr shows.
const SHOWN: usize = 5;

/// Such as "2 processes".
pub(super) fn counted(number: usize, what: &str, plural: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { plural })
}

/// How much is in a queue, or that this is not known.
pub(super) fn contents(queue: &model::Queue) -> String {
    match queue.state {
        model::QueueState::Ok => counted(queue.operations.len(), "operation", "s"),
        model::QueueState::NoInformation => "not known".to_owned(),
        model::QueueState::Error => format!("not read whole, {}", counted(queue.operations.len(), "operation", "s")),
    }
}

/// An operation in words, such as "MPI_Irecv, peer 1, tag 20, 8000 bytes, pending".
fn described(operation: &model::Operation) -> String {
    let known = |number: Option<i64>| number.map_or_else(|| "not known".to_owned(), |number| number.to_string());
    let mut words = Vec::new();
    words.extend(operation.call.as_deref().map(str::to_owned));
    words.push(match operation.any_source {
        true => "any source".to_owned(),
        false => format!("peer {}", known(operation.desired_local_rank)),
    });
    words.push(match operation.tag_wild {
        true => "any tag".to_owned(),
        false => format!("tag {}", known(operation.desired_tag)),
    });
    words.extend(operation.desired_length.map(|length| format!("{length} bytes")));
    let status = match operation.status {
        model::OperationStatus::Pending => "pending",
        model::OperationStatus::Matched => "matched",
        model::OperationStatus::Complete => "complete",
    };
    words.push(status.to_owned());
    if operation.internal {
        words.push("of MPI itself".to_owned());
    }
    words.join(", ")
}

/// Goes through a queue.
#[pyclass(module = "mpi_queues")]
pub struct Operations {
    queue: Queue,
    next: usize,
}

#[pymethods]
impl Operations {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self) -> Option<Operation> {
        let operation = self.next;
        if operation >= self.queue.data().operations.len() {
            return None;
        }
        self.next += 1;
        Some(Operation { queue: self.queue.share(), operation })
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
    /// `pending`, `matched` (data still moving) or `complete` (not waited for yet).
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().status)
    }
    /// The peer's rank in the communicator; None for any source, or where it is not known.
    #[getter]
    fn desired_local_rank(&self) -> Option<i64> {
        self.data().desired_local_rank
    }
    /// The peer's rank in MPI_COMM_WORLD; None for any source, or where it is not known.
    #[getter]
    fn desired_global_rank(&self) -> Option<i64> {
        self.data().desired_global_rank
    }
    /// Whether a receive takes any source.
    #[getter]
    fn any_source(&self) -> bool {
        self.data().any_source
    }
    /// Whether a receive takes any tag.
    #[getter]
    fn tag_wild(&self) -> bool {
        self.data().tag_wild
    }
    /// The tag; None where it is wild or not known.
    #[getter]
    fn desired_tag(&self) -> Option<i64> {
        self.data().desired_tag
    }
    /// Length of the message, or of the buffer of a receive, in bytes.
    #[getter]
    fn desired_length(&self) -> Option<u64> {
        self.data().desired_length
    }
    /// Whether the data lies in a buffer of the system.
    #[getter]
    fn system_buffer(&self) -> bool {
        self.data().system_buffer
    }
    /// Address of the data in the process.
    #[getter]
    fn buffer(&self) -> Option<u64> {
        self.data().buffer
    }
    /// Rank in the communicator of the peer that was matched.
    #[getter]
    fn actual_local_rank(&self) -> Option<i64> {
        self.data().actual_local_rank
    }
    /// Rank in MPI_COMM_WORLD of the peer that was matched.
    #[getter]
    fn actual_global_rank(&self) -> Option<i64> {
        self.data().actual_global_rank
    }
    /// The tag that was matched.
    #[getter]
    fn actual_tag(&self) -> Option<i64> {
        self.data().actual_tag
    }
    /// Length of the message that was matched, in bytes.
    #[getter]
    fn actual_length(&self) -> Option<u64> {
        self.data().actual_length
    }
    /// Whether the MPI library posted it for itself, in a collective for instance.
    #[getter]
    fn internal(&self) -> bool {
        self.data().internal
    }
    /// Whether it belongs to a persistent request.
    #[getter]
    fn persistent(&self) -> bool {
        self.data().persistent
    }
    /// The MPI function that made it, such as `MPI_Irecv`, where that is known.
    #[getter]
    fn call(&self) -> Option<&str> {
        self.data().call.as_deref()
    }
    /// Name of the datatype, where it has one.
    #[getter]
    fn datatype(&self) -> Option<&str> {
        self.data().datatype.as_deref()
    }
    /// Number of elements of the datatype.
    #[getter]
    fn count(&self) -> Option<u64> {
        self.data().count
    }
    /// Address of the MPI library's request object in the process.
    #[getter]
    fn request(&self) -> Option<u64> {
        self.data().request
    }
    /// Further facts in words.
    #[getter]
    fn extra_text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.data().extra_text.iter().map(|remark| remark.to_string()))
    }
    /// Why facts are None that this MPI or its transport does not keep, by their names.
    #[getter]
    fn unknown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let reasons = PyDict::new(py);
        for (fact, reason) in &self.data().unknown {
            reasons.set_item(fact.as_ref(), reason.as_ref())?;
        }
        Ok(reasons)
    }
    /// How the facts were found and checked, where they do not stand in a list of the library's own.
    #[getter]
    fn evidence(&self) -> Option<&str> {
        self.data().evidence.as_deref()
    }
    /// The operation as the JSON has it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Ok(to_python(py, self.data())?.cast_into::<PyDict>()?)
    }
    fn __repr__(&self) -> String {
        format!("<mpi_queues.Operation {}>", described(self.data()))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.data() == other.data()
    }
}
