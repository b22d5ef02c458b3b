//! Who takes part in a job: the processes that were read, and those that others have as members of their groups.

use hashbrown::{HashMap, HashSet};

use model::{Process, Snapshot};

/// A place in [`super::Job::procs`]; those that were read come first, at their place in `Snapshot::processes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcIndex(pub usize);

/// A process of the job.
#[derive(Debug, Clone, Copy)]
pub struct Proc<'a> {
    /// Its global rank (`Snapshot::rank_of`); `None` for a process that was read and has none.
    pub rank: Option<i64>,
    /// What was read of it; `None` for one that is only a member of a group.
    pub process: Option<&'a Process>,
}

impl Proc<'_> {
    /// Whether it is known that some of its threads, or what they do, could not be seen.
    pub fn has_hidden_threads(&self) -> bool {
        self.process.is_some_and(|process| process.all_threads == Some(false))
    }
}

/// All processes, and which rank each has.
pub(super) fn all(snapshot: &Snapshot) -> (Vec<Proc<'_>>, HashMap<i64, ProcIndex>) {
    let mut procs: Vec<Proc<'_>> = Vec::with_capacity(snapshot.processes.len());
    let mut by_rank = HashMap::new();
    for process in &snapshot.processes {
        let rank = snapshot.rank_of(process);
        if let Some(rank) = rank {
            by_rank.entry(rank).or_insert(ProcIndex(procs.len()));
        }
        procs.push(Proc { rank, process: Some(process) });
    }
    // Groups that are kept once are looked at once: each of n processes has the n members of MPI_COMM_WORLD.
    let mut seen = HashSet::new();
    let communicators = snapshot.processes.iter().flat_map(|process| &process.communicators);
    for group in communicators
        .flat_map(|communicator| [communicator.group.as_deref(), communicator.remote_group.as_deref()])
        .flatten()
    {
        if group.len() > 1 && !seen.insert((group.as_ptr().addr(), group.len())) {
            continue;
        }
        for rank in group.iter().copied().flatten() {
            by_rank.entry(rank).or_insert_with(|| {
                procs.push(Proc { rank: Some(rank), process: None });
                ProcIndex(procs.len() - 1)
            });
        }
    }
    (procs, by_rank)
}
