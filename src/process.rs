//! A process and its communicators in Python: views into a snapshot.

use std::sync::Arc;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use super::queue::{Queue, contents, counted};
use super::snapshot::to_python;
use model::QueueKind;

/// One process of a snapshot.
#[pyclass(frozen, module = "mpi_queues")]
pub struct Process {
    pub(super) snapshot: Arc<model::Snapshot>,
    pub(super) process: usize,
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
    /// Rank in MPI_COMM_WORLD; None where it is not known.
    #[getter]
    fn rank(&self) -> Option<i64> {
        self.data().rank
    }
    /// Size of MPI_COMM_WORLD; None where it is not known.
    #[getter]
    fn world_size(&self) -> Option<i64> {
        self.data().world_size
    }
    /// What the MPI library calls its world; None where nothing tells it from others.
    #[getter]
    fn world_key(&self) -> Option<&str> {
        self.data().world_key.as_deref()
    }
    /// Number of its world in `Snapshot.worlds`; None where there is but one.
    #[getter]
    fn world(&self) -> Option<i64> {
        self.data().world
    }
    /// Its place among the processes of all worlds; None where there is but one world, or it is not known.
    #[getter]
    fn universe_rank(&self) -> Option<i64> {
        self.data().universe_rank
    }
    /// Process id on its host.
    #[getter]
    fn pid(&self) -> Option<i64> {
        self.data().pid
    }
    /// When it was stopped to be read, RFC 3339 in UTC; None where only the snapshot's time is known.
    #[getter]
    fn captured_at(&self) -> Option<&str> {
        self.data().captured_at.as_deref()
    }
    /// Name of the host; None where the target cannot tell.
    #[getter]
    fn host(&self) -> Option<&str> {
        self.data().host.as_deref()
    }
    /// Path of the executable.
    #[getter]
    fn executable(&self) -> Option<&str> {
        self.data().executable.as_deref()
    }
    /// The MPI library: `implementation`, `version`, `library`, `build_id`, `transport`.
    #[getter]
    fn mpi<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().mpi)
    }
    /// How the facts were obtained: `kind`, `plugin`, `layouts`, `via`.
    #[getter]
    fn source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().source)
    }
    /// The threads that are inside MPI: `thread`, `function`, `file`, `line`, `caller`.
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().calls)
    }
    /// Where the other threads stand: `thread`, `function`, `caller`, `file`, `line`.
    #[getter]
    fn outside<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().outside)
    }
    /// Whether these are all threads, each seen down to its end; None where that is not known.
    #[getter]
    fn all_threads(&self) -> Option<bool> {
        self.data().all_threads
    }
    /// How far it is with MPI: ``not_initialized``, ``initialized``, ``finalizing``, ``finalized``, ``ended``; None where
    /// that is not known.
    #[getter]
    fn stage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().stage)
    }
    /// What the kernel says of it: ``running``, ``sleeping``, ``stopped``, ``zombie``, ``ended``; None where that is not
    /// known.
    #[getter]
    fn state(&self) -> Option<&str> {
        self.data().state.as_deref()
    }
    /// The communicators that the process knows.
    #[getter]
    fn communicators(&self) -> Vec<Communicator> {
        (0..self.data().communicators.len()).map(|index| self.view(index)).collect()
    }
    /// The handles that were asked for: a list for each kind. Empty in a snapshot of queues.
    #[getter]
    fn handles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().handles)
    }
    /// Processes that it spawned or connected to, as its plug-in tells: `pid`, `host`, `executable`.
    #[getter]
    fn spawned<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().spawned)
    }
    /// The function in which a debugger is to stop to see processes that are spawned, as its plug-in tells.
    #[getter]
    fn spawn_breakpoint(&self) -> Option<&str> {
        self.data().spawn_breakpoint.as_deref()
    }
    /// Facts in words that have no place elsewhere.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.data().notes.clone()
    }
    /// What could not be read of this process, in sentences.
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
    fn data(&self) -> &model::Communicator {
        &self.snapshot.processes[self.process].communicators[self.communicator]
    }

    fn queue(&self, kind: QueueKind) -> Queue {
        Queue { snapshot: Arc::clone(&self.snapshot), process: self.process, communicator: self.communicator, kind }
    }
}

#[pymethods]
impl Communicator {
    /// Its name, which the program may have set; a text of ours in angle brackets where it has none.
    #[getter]
    fn name(&self) -> &str {
        &self.data().name
    }
    /// Whether the program set the name; None where that is not known.
    #[getter]
    fn name_set(&self) -> Option<bool> {
        self.data().name_set
    }
    /// A number that names the communicator within its process.
    #[getter]
    fn unique_id(&self) -> u64 {
        self.data().unique_id
    }
    /// The MPI library's own number of it, as text.
    #[getter]
    fn context_id(&self) -> Option<&str> {
        self.data().context_id.as_deref()
    }
    /// The MPI_Comm handle as the program has it, in hex.
    #[getter]
    fn handle(&self) -> Option<&str> {
        self.data().handle.as_deref()
    }
    /// Rank of this process in the communicator.
    #[getter]
    fn local_rank(&self) -> Option<i64> {
        self.data().local_rank
    }
    /// Size of the (local) group.
    #[getter]
    fn size(&self) -> Option<i64> {
        self.data().size
    }
    /// World rank of each local rank; None where it is not known.
    #[getter]
    fn group(&self) -> Option<Vec<Option<i64>>> {
        self.data().group.as_deref().map(<[_]>::to_vec)
    }
    /// World ranks of the remote group of an intercommunicator.
    #[getter]
    fn remote_group(&self) -> Option<Vec<Option<i64>>> {
        self.data().remote_group.as_deref().map(<[_]>::to_vec)
    }
    /// Members of the groups that are of other worlds: `remote`, `local_rank`, `count`, `world_key`, `rank`.
    #[getter]
    fn elsewhere<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().elsewhere)
    }
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
