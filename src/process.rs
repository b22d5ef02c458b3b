//! A process and its communicators in Python: views into a snapshot.

use std::sync::Arc;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use super::queue::{Queue, contents, counted};
use model::QueueKind;

/// One process of a snapshot.
#[pyclass(frozen, module = "mpi_queues")]
pub struct Process {
    pub(super) snapshot: Arc<model::Snapshot>,
    pub(super) process: usize,
}

impl Process {
    pub(super) fn data(&self) -> &model::Process {
        &self.snapshot.processes[self.process]
    }

    fn view(&self, communicator: usize) -> Communicator {
        Communicator { snapshot: Arc::clone(&self.snapshot), process: self.process, communicator }
    }
}

#[pymethods]
impl Process {
    /// The communicators that the process knows.
    #[getter]
    fn communicators(&self) -> Vec<Communicator> {
        (0..self.data().communicators.len()).map(|index| self.view(index)).collect()
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
        let data = self.data();
        let known = |number: Option<i64>| number.map_or_else(|| "not known".to_owned(), |number| number.to_string());
        let communicators = counted(data.communicators.len(), "communicator", "s");
        format!("<mpi_queues.Process rank {}, pid {}, {communicators}>", known(data.rank), known(data.pid))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.data() == other.data()
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
    pub(super) fn data(&self) -> &model::Communicator {
        &self.snapshot.processes[self.process].communicators[self.communicator]
    }

    fn queue(&self, kind: QueueKind) -> Queue {
        Queue { snapshot: Arc::clone(&self.snapshot), process: self.process, communicator: self.communicator, kind }
    }
}

#[pymethods]
impl Communicator {
    /// Sends that have not completed.
    #[getter]
    fn pending_sends(&self) -> Queue {
        self.queue(QueueKind::PendingSends)
    }
    /// Receives that have not completed, in the order in which MPI would match them.
    #[getter]
    fn pending_receives(&self) -> Queue {
        self.queue(QueueKind::PendingReceives)
    }
    /// Messages that have arrived and that no receive has asked for, in matching order.
    #[getter]
    fn unexpected_messages(&self) -> Queue {
        self.queue(QueueKind::UnexpectedMessages)
    }
    fn __repr__(&self) -> String {
        let data = self.data();
        let place = match (data.local_rank, data.size) {
            (Some(rank), Some(size)) => format!(", rank {rank} of {size}"),
            _ => String::new(),
        };
        let queues = [
            ("pending sends", &data.pending_sends),
            ("pending receives", &data.pending_receives),
            ("unexpected messages", &data.unexpected_messages),
        ];
        let queues: Vec<_> = queues.map(|(title, queue)| format!("{title}: {}", contents(queue))).into();
        format!("<mpi_queues.Communicator {:?}{place}, {}>", data.name, queues.join(", "))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.data() == other.data()
    }
}
