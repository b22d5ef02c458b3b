//! Snapshots in Python: views into one shared Rust object, made when they are asked for.
//!
//! A snapshot of 100,000 operations must not become 100,000 Python objects, so every view holds only a
//! reference to the snapshot and its place in it.

use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::diagnosis::Diagnosis;
use super::process::Process;
use super::queue::counted;
use super::stacks::StackTree;
use super::unpacked::Unpacked;
use analysis::diagnose::{Earlier, Watched};
use analysis::stacks::Options;
use analysis::{named, recorded, universe};
use target::text::in_a_line;

/// JSON is handed to Python in pieces of about this many bytes.
const PIECE: usize = 64 * 1024;

/// Turns a serialisable value into Python objects through JSON; for small values only.
pub(super) fn to_python<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// A world of a job: number, name, size, first place, parent, and its processes on this machine.
type WorldOfJob = (i64, Option<String>, Option<i64>, Option<i64>, Option<i64>, Vec<i64>);

/// A process id, or a host and a process id, or several of these.
#[derive(FromPyObject)]
pub enum Pid {
    /// On any host.
    Anywhere(i64),
    /// On that host.
    On(String, i64),
    /// On that host.
    AllOn(String, Vec<i64>),
}

/// As a set.
fn which(pids: Vec<Pid>) -> model::Which {
    let mut which = model::Which::default();
    for pid in pids {
        match pid {
            Pid::Anywhere(pid) => which.extend(None, [pid]),
            Pid::On(host, pid) => which.extend(Some(host), [pid]),
            Pid::AllOn(host, pids) => which.extend(Some(host), pids),
        }
    }
    which
}

/// All that was read at one time.
#[pyclass(frozen, module = "mpi_queues")]
pub struct Snapshot(pub(super) Arc<model::Snapshot>);

impl Snapshot {
    fn read(read: Result<model::Snapshot, model::JsonError>) -> PyResult<Self> {
        let wrong = |error: model::JsonError| PyValueError::new_err(in_a_line(&error.to_string()).into_owned());
        Ok(Self(Arc::new(read.map_err(wrong)?)))
    }

    pub(super) fn data(&self) -> &model::Snapshot {
        &self.0
    }
}

#[pymethods]
impl Snapshot {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// The processes, by world rank where that is known, then by pid.
    #[getter]
    fn processes(&self) -> Vec<Process> {
        (0..self.0.processes.len()).map(|process| Process { snapshot: Arc::clone(&self.0), process }).collect()
    }

    /// The process of that rank in MPI_COMM_WORLD, with several worlds of that place in their universe; KeyError where it
    /// was not read.
    fn rank(&self, rank: i64) -> PyResult<Process> {
        let found = self.0.processes.iter().position(|process| self.0.rank_of(process) == Some(rank));
        let process = found.ok_or_else(|| PyKeyError::new_err(format!("no process of rank {rank} was read")))?;
        Ok(Process { snapshot: Arc::clone(&self.0), process })
    }

    /// A snapshot from its JSON; ValueError where the text is not of the schema `mpi-queues/1`, or takes much more memory than
    /// its length lets expect.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        Self::read(model::Snapshot::from_json(text, text.len() as u64))
    }

    /// The same of JSON that is packed with zlib; ValueError as well where it is damaged, or longer than `longest` bytes.
    #[staticmethod]
    fn from_packed(packed: &[u8], longest: u64) -> PyResult<Self> {
        let json = std::io::BufReader::with_capacity(PIECE, Unpacked::new(packed, longest));
        Self::read(model::Snapshot::from_reader(json, packed.len() as u64))
    }

    /// With the processes of another one instead of its own, and a note.
    fn with_processes(&self, other: &Bound<'_, Self>, note: String) -> Self {
        let mut whole = self.0.as_ref().clone();
        whole.processes.clone_from(&other.get().0.processes);
        whole.notes.push(note);
        Self(Arc::new(whole))
    }

    /// One snapshot of many, processes ordered by rank, then pid; with several worlds by these first, and numbered through.
    /// `worlds`: those of a job, `(number, name, size, first, parent, pids)` each; `notes`: what to know of the whole.
    #[staticmethod]
    #[pyo3(signature = (snapshots, problems = Vec::new(), *, worlds = Vec::new(), notes = Vec::new()))]
    fn merged(
        snapshots: Vec<Bound<'_, Self>>,
        problems: Vec<String>,
        worlds: Vec<WorldOfJob>,
        notes: Vec<String>,
    ) -> Self {
        let parts = snapshots.iter().map(|snapshot| snapshot.get().0.as_ref());
        let mut merged = model::Snapshot::merged(parts);
        merged.problems.extend(problems);
        merged.notes.extend(notes);
        let job = worlds.into_iter().map(|(number, name, size, first, parent, pids)| universe::JobWorld {
            world: model::World { number, key: None, name, size, first, parent },
            pids,
        });
        universe::number(&mut merged, &job.collect::<Vec<_>>());
        named::complete(&mut merged);
        recorded::complete(&mut merged);
        Self(Arc::new(merged))
    }

    /// With what is known of a process from outside: its rank and the size of its world where the process did not tell them,
    /// when it was stopped (RFC 3339 in UTC), and what the kernel said of it before (`running`, `sleeping`, ...).
    #[pyo3(signature = (pid, *, rank, world_size, captured_at, state = None))]
    fn placed(
        &self,
        pid: i64,
        rank: Option<i64>,
        world_size: Option<i64>,
        captured_at: Option<String>,
        state: Option<String>,
    ) -> Self {
        let mut placed = self.0.as_ref().clone();
        placed.place(pid, rank, world_size, captured_at, state);
        Self(Arc::new(placed))
    }

    /// Only the communicators of that name, the process of that rank (as `rank()` has it); without internal operations if asked.
    #[pyo3(signature = (*, comm = None, rank = None, internal = true))]
    fn filtered(&self, comm: Option<&str>, rank: Option<i64>, internal: bool) -> Self {
        // A large snapshot is not copied where nothing is left out of it.
        if comm.is_none() && rank.is_none() && (internal || !self.0.has_internal()) {
            return Self(Arc::clone(&self.0));
        }
        Self(Arc::new(self.0.filtered(comm, rank, internal)))
    }

    /// Only the processes with these process ids, without a diagnosis.
    fn only(&self, pids: Vec<Pid>) -> Self {
        let (pids, snapshot) = (which(pids), self.data());
        // A large snapshot is not copied where nothing is left out of it.
        let told = snapshot.diagnosis.is_some() || snapshot.verdict.is_some() || snapshot.stacks.is_some();
        if !told && snapshot.processes.iter().all(|process| pids.has(process)) {
            return Self(Arc::clone(&self.0));
        }
        Self(Arc::new(snapshot.only(&pids)))
    }

    /// Why it is stuck. `keep`: another look at the same job is to come, to which this diagnosis is given as its `first`.
    /// `earlier`: another snapshot of the same job, which ran on for `interval_ms` milliseconds after it.
    /// `moving`: process ids of those whose messages were seen to go meanwhile; `unseen`: of those whose messages may have gone where
    /// nobody saw them, so that it tells nothing that they look the same where their MPI counts no messages.
    #[pyo3(signature = (earlier = None, *, interval_ms = None, moving = Vec::new(), unseen = Vec::new(), keep = false, first = None))]
    #[allow(clippy::too_many_arguments)]
    fn diagnose(
        &self,
        py: Python<'_>,
        earlier: Option<Bound<'_, Self>>,
        interval_ms: Option<u64>,
        moving: Vec<Pid>,
        unseen: Vec<Pid>,
        keep: bool,
        first: Option<Bound<'_, Diagnosis>>,
    ) -> Diagnosis {
        let later = Arc::clone(&self.0);
        let Some(earlier) = earlier else { return Diagnosis::of(py, later, keep) };
        let watched = Watched { moving: which(moving), unseen: which(unseen) };
        let earlier = Earlier { snapshot: &earlier.get().0, interval_ms, watched: &watched };
        Diagnosis::of_two(py, later, earlier, first.as_ref().map(|first| first.get()))
    }

    /// The stacks of its processes as one tree: of main threads, or of all; with `internal` all frames; of one rank only.
    #[pyo3(signature = (*, threads = false, internal = false, rank = None))]
    fn stacks(&self, py: Python<'_>, threads: bool, internal: bool, rank: Option<i64>) -> StackTree {
        StackTree::of(py, Arc::clone(&self.0), Options { all_threads: threads, internal, rank })
    }

    /// The diagnosis that came with it in its JSON; None where nobody has looked.
    #[getter]
    fn diagnosis(&self) -> Option<Diagnosis> {
        Diagnosis::in_snapshot(&self.0)
    }

    /// The JSON as one string.
    #[pyo3(signature = (*, indent = None))]
    pub(super) fn to_json(&self, indent: Option<usize>) -> PyResult<String> {
        let mut out = Vec::new();
        session::write_json(&self.0, &mut out, indent).map_err(|error| PyValueError::new_err(error.to_string()))?;
        String::from_utf8(out).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The JSON in pieces of about 64 KiB, each handed to `write`.
    #[pyo3(signature = (write, *, indent = None))]
    fn write_json(&self, write: Bound<'_, PyAny>, indent: Option<usize>) -> PyResult<()> {
        write_json(&self.0, write, indent)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __repr__(&self) -> String {
        format!("<mpi_queues.Snapshot of {}>", counted(self.0.processes.len(), "process", "es"))
    }
}

/// Hands the JSON to `write` in pieces.
pub(super) fn write_json(snapshot: &model::Snapshot, write: Bound<'_, PyAny>, indent: Option<usize>) -> PyResult<()> {
    let mut pieces = Pieces { write, buffer: Vec::with_capacity(PIECE), failure: None };
    let result = session::write_json(snapshot, &mut pieces, indent);
    if result.is_ok() {
        pieces.flush_all();
    }
    match (pieces.failure, result) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(PyValueError::new_err(error.to_string())),
        (None, Ok(())) => Ok(()),
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
