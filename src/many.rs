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

/// So many sizes of a world are counted: mostly there is one.
const SIZES: usize = 64;

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

    /// How many processes it has, and the largest size of a world that one of them tells.
    fn extent(&self) -> (usize, Option<i64>) {
        let processes = &self.data().processes;
        (processes.len(), processes.iter().filter_map(|process| process.world_size).max())
    }

    /// What the MPI library calls the worlds of its processes.
    fn world_keys(&self) -> HashSet<String> {
        let keys = self.data().processes.iter().filter_map(|process| process.world_key.as_deref());
        keys.collect::<HashSet<&str>>().into_iter().map(str::to_owned).collect()
    }

    /// The process ids of its processes by host, of those that have both.
    fn by_host(&self) -> Vec<(String, Vec<i64>)> {
        let mut found: Vec<(&str, Vec<i64>)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for process in &self.data().processes {
            let (Some(host), Some(pid)) = (process.host.as_deref(), process.pid) else { continue };
            let at = *places.entry(host).or_insert(found.len());
            if at == found.len() {
                found.push((host, Vec::new()));
            }
            if let Some((_, pids)) = found.get_mut(at) {
                pids.push(pid);
            }
        }
        found.into_iter().map(|(host, pids)| (host.to_owned(), pids)).collect()
    }

    /// Those of its processes whose ranks are not among these, and that another snapshot does not have; None where there are
    /// none.
    fn rest(&self, ranks: &Bound<'_, PyAny>, other: &Bound<'_, Self>) -> PyResult<Option<Self>> {
        let place = |process: &model::Process| Some((process.host.as_deref().map(str::to_owned)?, process.pid?));
        let mut there = model::Which::default();
        for (host, pid) in other.get().data().processes.iter().filter_map(|process| place(process)) {
            there.extend(Some(host), [pid]);
        }
        let (mut rest, mut some) = (model::Which::default(), false);
        for process in self.data().processes.iter().filter(|process| !there.has(process)) {
            if let Some((host, pid)) = place(process)
                && !ranks.contains(process.rank)?
            {
                rest.extend(Some(host), [pid]);
                some = true;
            }
        }
        Ok(some.then(|| Self(Arc::new(self.data().only(&rest)))))
    }

    /// The ranks of MPI_COMM_WORLD of which no snapshot tells, and how many there are in all: as most say, and none where these
    /// are more than `most` or ranks of several worlds.
    #[staticmethod]
    fn absent(snapshots: Vec<Bound<'_, Self>>, most: i64) -> (Vec<i64>, i64) {
        let processes = || snapshots.iter().flat_map(|snapshot| &snapshot.get().data().processes);
        let mut keys = processes().filter_map(|process| process.world_key.as_deref());
        let first = keys.next();
        let mut told: Vec<(i64, usize)> = Vec::new();
        for size in processes().filter_map(|process| process.world_size) {
            if let Some((_, count)) = told.iter_mut().find(|(known, _)| *known == size) {
                *count += 1;
            } else if told.len() < SIZES {
                // One process may say anything.
                told.push((size, 1));
            }
        }
        let size = told.iter().rev().max_by_key(|(_, count)| *count).map(|(size, _)| *size);
        let Some(size) = size.filter(|_| keys.all(|key| Some(key) == first)) else { return (Vec::new(), 0) };
        let seen: HashSet<i64> = processes().filter_map(|process| process.rank).collect();
        let ranks = if size <= most { (0..size).filter(|rank| !seen.contains(rank)).collect() } else { Vec::new() };
        (ranks, size)
    }

    /// Its memory is given back when the process ends, not before: of a job with very many ranks that takes long.
    fn outlive(&self) {
        std::mem::forget(Arc::clone(&self.0));
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
