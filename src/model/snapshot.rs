//! All that was read at one time.

use serde::{Deserialize, Serialize};

use super::{Communicator, Process, Queue};

/// The schema of the JSON.
pub const SCHEMA: &str = "mpi-queues/1";

/// One or many processes at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// When it was taken, RFC 3339 in UTC.
    pub captured_at: Option<String>,
    /// The processes, by rank where known.
    #[serde(default)]
    pub processes: Vec<Process>,
    /// What could not be read at all, in sentences.
    #[serde(default)]
    pub problems: Vec<String>,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self { schema: SCHEMA.to_owned(), captured_at: None, processes: Vec::new(), problems: Vec::new() }
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
        merged.processes.sort_by_key(|process| (process.rank.is_none(), process.rank, process.pid));
        merged
    }

    /// Only the communicators named `comm`, only the process of world rank `rank`; without the operations that the MPI
    /// library posted for itself unless `internal`.
    #[must_use]
    pub fn filtered(&self, comm: Option<&str>, rank: Option<i64>, internal: bool) -> Self {
        let mut out = Self { processes: Vec::new(), ..self.clone_without_processes() };
        for process in &self.processes {
            if rank.is_some() && process.rank != rank {
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
        pending_sends: queue(&communicator.pending_sends),
        pending_receives: queue(&communicator.pending_receives),
        unexpected_messages: queue(&communicator.unexpected_messages),
        ..*communicator
    }
}
