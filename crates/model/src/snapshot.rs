//! All that was read at one time.

use std::fmt;
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::{
    Common, Communicator, Finding, Groups, Process, Queue, Shared, StackTree, Text, Verdict, Which, World, built,
};

/// The schema of the JSON.
pub const SCHEMA: &str = "mpi-queues/1";

/// One or many processes at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// Always `mpi-queues/1`.
    pub schema: String,
    /// When it was taken, RFC 3339 in UTC.
    pub captured_at: Option<String>,
    /// The worlds of the processes, by number; empty where there is but one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worlds: Vec<World>,
    /// The processes, by rank where known.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Process>"))]
    pub processes: Vec<Shared<Process>>,
    /// What to know of the whole, in sentences: how far apart in time its processes were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What could not be read at all, in sentences.
    #[serde(default)]
    pub problems: Vec<String>,
    /// What was found to be wrong, the causes first; null where nobody has looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Vec<Finding>>,
    /// What is said of the whole, where somebody has looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The stacks of its processes as one tree, where they were merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stacks: Option<StackTree>,
}

impl Default for Snapshot {
    fn default() -> Self {
        let (worlds, processes) = (Vec::new(), Vec::new());
        Self {
            schema: SCHEMA.to_owned(),
            captured_at: None,
            worlds,
            processes,
            notes: Vec::new(),
            problems: Vec::new(),
            diagnosis: None,
            verdict: None,
            stacks: None,
        }
    }
}

/// Of a file, as much as this (256 MiB) and so many times its length are built, in bytes of memory: a recording is not more either.
const MOST: (u64, u64) = (256 << 20, 64);

/// So many sentences about what could not be read are kept, of the whole and of each process: nobody reads more.
const MAX_PROBLEMS: usize = 1000;

/// Keeps so many, the last of which says how many more there were.
fn bound(problems: &mut Vec<String>) {
    if problems.len() > MAX_PROBLEMS {
        let more = problems.len() - MAX_PROBLEMS + 1;
        problems.truncate(MAX_PROBLEMS - 1);
        problems.push(format!("there are {more} more problems, which are not listed"));
    }
}

/// Why JSON is no snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonError {
    /// It is something else, in words.
    Wrong(String),
    /// Of another schema.
    Schema(String),
    /// It takes more memory than this, in bytes.
    TooMuch(usize),
}

impl fmt::Display for JsonError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(why) => write!(out, "not a snapshot of schema {SCHEMA}: {why}"),
            Self::Schema(other) => write!(out, "a snapshot of schema {other:?}; this version reads {SCHEMA:?}"),
            Self::TooMuch(most) => {
                write!(
                    out,
                    "what it says takes more than {} MiB of memory, the most for a file of its length",
                    most >> 20
                )
            }
        }
    }
}

impl std::error::Error for JsonError {}

impl Snapshot {
    /// A snapshot from its JSON, which stands in so many bytes of a file.
    ///
    /// # Errors
    /// Where it is none, or more than so much may stand for.
    pub fn from_json(text: &str, len: u64) -> Result<Self, JsonError> {
        Self::read(len, || built::from_str(text))
    }

    /// The same of JSON that is unpacked meanwhile.
    ///
    /// # Errors
    /// Those, and those of `reader`.
    pub fn from_reader(reader: impl Read, len: u64) -> Result<Self, JsonError> {
        Self::read(len, || built::from_reader(reader))
    }

    fn read(len: u64, read: impl FnOnce() -> serde_json::Result<Self>) -> Result<Self, JsonError> {
        let most = usize::try_from(MOST.0.saturating_add(len.saturating_mul(MOST.1))).unwrap_or(usize::MAX);
        let read = built::within(most, || built::with_groups_once(read));
        if read.is_too_much {
            return Err(JsonError::TooMuch(most));
        }
        let snapshot = read.result.map_err(|error| JsonError::Wrong(error.to_string()))?;
        if snapshot.schema == SCHEMA { Ok(snapshot) } else { Err(JsonError::Schema(snapshot.schema)) }
    }

    /// One snapshot of many: processes ordered by rank, those without one last, then by pid; the latest time.
    pub fn merged<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        let mut merged = Self::default();
        for part in parts {
            merged.processes.extend_from_slice(&part.processes);
            merged.notes.extend_from_slice(&part.notes);
            merged.problems.extend_from_slice(&part.problems);
            // RFC 3339 in UTC sorts as text.
            merged.captured_at = merged.captured_at.max(part.captured_at.clone());
        }
        bound(&mut merged.problems);
        for process in merged.processes.iter_mut().filter(|process| process.problems.len() > MAX_PROBLEMS) {
            bound(&mut process.problems);
        }
        merged.share_groups();
        merged.sort();
        merged
    }

    /// Keeps equal groups of its communicators once: each of n processes has the n members of MPI_COMM_WORLD.
    pub fn share_groups(&mut self) {
        Groups::default().share(self);
    }

    /// Adds what is known of a process from outside: its rank and the size of its world where the process did not tell
    /// them, when it was stopped, and what the kernel said of it before.
    pub fn place(
        &mut self,
        pid: i64,
        rank: Option<i64>,
        world_size: Option<i64>,
        captured_at: Option<String>,
        state: Option<String>,
    ) {
        for process in self.processes.iter_mut().filter(|process| process.pid == Some(pid)) {
            process.rank = process.rank.or(rank);
            process.world_size = process.world_size.or(world_size);
            if captured_at.is_some() {
                process.captured_at = captured_at.as_deref().map(Text::from);
            }
            if state.is_some() {
                process.state = state.as_deref().map(Text::from);
            }
        }
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
            out.processes.push(Process { communicators, ..process.clone_without_communicators() }.into());
        }
        out
    }

    /// Only these processes, without a diagnosis and merged stacks.
    #[must_use]
    pub fn only(&self, which: &Which) -> Self {
        Self {
            processes: self.processes.iter().filter(|process| which.has(process)).cloned().collect(),
            diagnosis: None,
            verdict: None,
            stacks: None,
            ..self.clone_without_processes()
        }
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
            notes: self.notes.clone(),
            problems: self.problems.clone(),
            diagnosis: self.diagnosis.clone(),
            verdict: self.verdict.clone(),
            stacks: self.stacks.clone(),
        }
    }
}

fn shown(communicator: &Communicator, internal: bool) -> Communicator {
    let queue = |queue: &Common<Queue>| {
        if internal || queue.operations.iter().all(|operation| !operation.internal) {
            return queue.clone();
        }
        let operations = queue.operations.iter().filter(|operation| !operation.internal).cloned().collect();
        Common::from(Queue { operations, detail: queue.detail.clone(), ..**queue })
    };
    Communicator {
        name: communicator.name.clone(),
        context_id: communicator.context_id.clone(),
        handle: communicator.handle,
        group: communicator.group.clone(),
        remote_group: communicator.remote_group.clone(),
        elsewhere: communicator.elsewhere.clone(),
        traffic: communicator.traffic.clone(),
        pending_sends: queue(&communicator.pending_sends),
        pending_receives: queue(&communicator.pending_receives),
        unexpected_messages: queue(&communicator.unexpected_messages),
        inactive: communicator.inactive.clone(),
        ..*communicator
    }
}
