//! Queues and operations in Python: views into a snapshot.

use std::sync::Arc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

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
    pub(super) fn data(&self) -> &model::Queue {
        self.kind.of(&self.snapshot.processes[self.process].communicators[self.communicator])
    }

    fn share(&self) -> Self {
        Self { snapshot: Arc::clone(&self.snapshot), ..*self }
    }
}

#[pymethods]
impl Queue {
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
            let message = format!("not known whether the queue is empty: {detail}");
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
        model::QueueState::Error => {
            format!("not read completely, {}", counted(queue.operations.len(), "operation", "s"))
        }
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
    words.push(operation.status.name().to_owned());
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
    pub(super) fn data(&self) -> &model::Operation {
        &self.queue.data().operations[self.operation]
    }
}

#[pymethods]
impl Operation {
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
