//! What reports ask of all processes at once: of a job with a hundred thousand ranks no object of Python is made of each.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pyo3::prelude::*;

use super::diagnosis::Diagnosis;
use super::process::Process;
use super::snapshot::Snapshot;
use super::view::View as _;
use analysis::alike::alike;
use model::QueueState;

/// Rank, size of the world, its name, host and process id.
type Identity = (Option<i64>, Option<i64>, Option<String>, Option<String>, Option<i64>);

#[pymethods]
impl Snapshot {
    /// Of each process its rank in MPI_COMM_WORLD, the size of that, what the MPI library calls it, host and process id.
    fn identities(&self) -> Vec<Identity> {
        let identity = |process: &model::Shared<model::Process>| {
            let (key, host) = (process.world_key.as_deref(), process.host.as_deref());
            (process.rank, process.world_size, key.map(str::to_owned), host.map(str::to_owned), process.pid)
        };
        self.data().processes.iter().map(identity).collect()
    }

    /// The processes of which something could not be read, or whose handles may say so.
    fn with_problems(&self) -> Vec<Process> {
        let failed = |process: &model::Process| {
            let queues = process.communicators.iter().flat_map(|found| {
                [&found.pending_sends, &found.pending_receives, &found.unexpected_messages].map(|queue| queue.state)
            });
            let mut queues = queues;
            !process.problems.is_empty()
                || !process.handles.is_empty()
                || queues.any(|state| state == QueueState::Error)
        };
        self.those(failed)
    }

    /// The processes that have exceptions of Python.
    fn with_exceptions(&self) -> Vec<Process> {
        self.those(|process| !process.exceptions.is_empty())
    }

    /// Processes at the same place together: the first of them, their ranks as findings have them, and how many have none; of
    /// those with one of the ranks, or with `others` of all but these. With `arguments` their calls were given the same, too.
    #[pyo3(signature = (ranks, *, others, arguments))]
    fn alike(&self, ranks: HashSet<i64>, others: bool, arguments: bool) -> Vec<(Process, Vec<i64>, u64)> {
        let chosen = |rank: Option<i64>| rank.is_some_and(|rank| ranks.contains(&rank)) != others;
        let found = alike(self.data(), chosen, arguments).into_iter();
        found.map(|one| (self.process(one.first), one.ranks, one.nameless)).collect()
    }
}

impl Snapshot {
    fn process(&self, process: usize) -> Process {
        Process { snapshot: Arc::clone(&self.0), process }
    }

    fn those(&self, wanted: impl Fn(&model::Process) -> bool) -> Vec<Process> {
        let all = self.data().processes.iter().enumerate();
        all.filter(|(_, process)| wanted(process)).map(|(at, _)| self.process(at)).collect()
    }
}

/// How processes moved, why, their ranks.
type Moved<'py> = (Bound<'py, PyAny>, Vec<String>, Vec<i64>);

#[pymethods]
impl Diagnosis {
    /// `movement`, those that moved alike together: how far, how, their ranks.
    fn moved_alike<'py>(&self, py: Python<'py>) -> PyResult<Vec<Moved<'py>>> {
        let mut places: HashMap<(u8, &[String]), usize> = HashMap::new();
        let mut found: Vec<(&model::RankMovement, Vec<i64>)> = Vec::new();
        for one in &self.data().movement {
            let at = *places.entry((one.state as u8, &one.how)).or_insert(found.len());
            if at == found.len() {
                found.push((one, Vec::new()));
            }
            if let Some((_, ranks)) = found.get_mut(at) {
                ranks.extend(one.rank);
            }
        }
        let told = found.into_iter().map(|(one, ranks)| Ok((one.state.view(py)?, one.how.clone(), ranks)));
        told.collect()
    }
}
