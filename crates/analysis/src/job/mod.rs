//! A snapshot seen as one job: its processes as processes, and its communicators across processes.

mod communicators;
mod procs;

pub use communicators::{CommunicatorId, Doubt, Shared, Side, View};
pub use procs::{Proc, ProcIndex};

use hashbrown::HashMap;

use model::Snapshot;

/// A snapshot seen as one job.
#[derive(Debug)]
pub struct Job<'a> {
    /// What it was made from.
    pub snapshot: &'a Snapshot,
    /// All processes that are known of: those that were read, and those that are only members of groups.
    pub procs: Vec<Proc<'a>>,
    /// The communicators, each once, whatever the number of processes that have it.
    pub communicators: Vec<Shared<'a>>,
    by_rank: HashMap<i64, ProcIndex>,
    /// By place in `Snapshot::processes` and in `Process::communicators`.
    by_place: Vec<Vec<CommunicatorId>>,
}

impl<'a> Job<'a> {
    /// Looks through a snapshot once.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        let (procs, by_rank) = procs::all(snapshot);
        let (communicators, by_place) = communicators::identify(snapshot, &procs, &by_rank);
        Self { snapshot, procs, communicators, by_rank, by_place }
    }

    /// The process of a global rank (`Snapshot::rank_of`).
    pub fn proc(&self, rank: i64) -> Option<ProcIndex> {
        self.by_rank.get(&rank).copied()
    }

    /// The communicator that stands at a place of a process.
    pub fn communicator(&self, process: usize, communicator: usize) -> Option<CommunicatorId> {
        self.by_place.get(process)?.get(communicator).copied()
    }

    /// The communicator of a process by its `unique_id`, with its place in the process.
    pub fn by_unique_id(&self, process: usize, unique_id: u64) -> Option<(CommunicatorId, usize)> {
        let known = &self.snapshot.processes.get(process)?.communicators;
        let place = known.iter().position(|communicator| communicator.unique_id == unique_id)?;
        Some((self.communicator(process, place)?, place))
    }
}
