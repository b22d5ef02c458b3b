//! All that was read at one time.

use serde::{Deserialize, Serialize};

use super::{Communicator, Process, Queue, World};

/// The schema of the JSON.
pub const SCHEMA: &str = "mpi-queues/1";

/// One or many processes at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// When it was taken, RFC 3339 in UTC.
    pub captured_at: Option<String>,
    /// The worlds of the processes, by number; empty where there is but one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worlds: Vec<World>,
    /// The processes, by rank where known.
    #[serde(default)]
    pub processes: Vec<Process>,
    /// What could not be read at all, in sentences.
    #[serde(default)]
    pub problems: Vec<String>,
}

impl Default for Snapshot {
    fn default() -> Self {
        let (worlds, processes, problems) = (Vec::new(), Vec::new(), Vec::new());
        Self { schema: SCHEMA.to_owned(), captured_at: None, worlds, processes, problems }
    }
}

impl Snapshot {
    /// One snapshot of many: processes ordered by rank, those without one last, then by pid; the latest time.
    pub fn merged<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        let mut merged = Self::default();
        for part in parts {
            merged.processes.extend_from_slice(&part.processes);
            merged.problems.extend_from_slice(&part.problems);
            // RFC 3339 in UTC sorts as text.
            merged.captured_at = merged.captured_at.max(part.captured_at.clone());
        }
        merged.sort();
        merged
    }

    /// Orders the processes by world, then by rank, those without one last, then by pid.
    pub fn sort(&mut self) {
        self.processes.sort_by_key(|process| {
            let world = (process.world.is_none(), process.world);
            (world, process.rank.is_none(), process.rank, process.pid)
        });
    }

    /// The rank by which one of its processes is asked for: in MPI_COMM_WORLD, with several worlds the place in their
    /// universe, which only one process has.
    pub fn rank_of(&self, process: &Process) -> Option<i64> {
        if self.worlds.is_empty() { process.rank } else { process.universe_rank }
    }

    /// Only the communicators named `comm`, only the process of that rank ([`Snapshot::rank_of`]); without the operations
    /// that the MPI library posted for itself unless `internal`.
    #[must_use]
    pub fn filtered(&self, comm: Option<&str>, rank: Option<i64>, internal: bool) -> Self {
        let mut out = Self { processes: Vec::new(), ..self.clone_without_processes() };
        for process in &self.processes {
            if rank.is_some() && self.rank_of(process) != rank {
                continue;
            }
            let wanted = |communicator: &&Communicator| comm.is_none_or(|name| communicator.name == name);
            let communicators =
                process.communicators.iter().filter(wanted).map(|found| shown(found, internal)).collect();
            out.processes.push(Process { communicators, ..process.clone_without_communicators() });
        }
        out
    }

    /// Whether any operation is one that the MPI library posted for itself.
    pub fn has_internal(&self) -> bool {
        let communicators = self.processes.iter().flat_map(|process| &process.communicators);
        let queues =
            communicators.flat_map(|found| [&found.pending_sends, &found.pending_receives, &found.unexpected_messages]);
        queues.flat_map(|queue| &queue.operations).any(|operation| operation.internal)
    }

    fn clone_without_processes(&self) -> Self {
        Self {
            schema: self.schema.clone(),
            captured_at: self.captured_at.clone(),
            worlds: self.worlds.clone(),
            processes: Vec::new(),
            problems: self.problems.clone(),
        }
    }
}

fn shown(communicator: &Communicator, internal: bool) -> Communicator {
    let queue = |queue: &Queue| Queue {
        state: queue.state,
        detail: queue.detail.clone(),
        operations: queue.operations.iter().filter(|operation| internal || !operation.internal).cloned().collect(),
    };
    Communicator {
        name: communicator.name.clone(),
        context_id: communicator.context_id.clone(),
        handle: communicator.handle.clone(),
        group: communicator.group.clone(),
        remote_group: communicator.remote_group.clone(),
        elsewhere: communicator.elsewhere.clone(),
        pending_sends: queue(&communicator.pending_sends),
        pending_receives: queue(&communicator.pending_receives),
        unexpected_messages: queue(&communicator.unexpected_messages),
        ..*communicator
    }
}
