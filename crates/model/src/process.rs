//! One process of a job: its MPI, its communicators and where it stands.

use serde::{Deserialize, Serialize};

use super::{
    Call, Common, EarlierCollective, Elsewhere, Exception, Group, HandleList, HandleWord, History, Operation, Outside,
    Queue, Sender, Source, SourceCall, Stack, TcpConnections, Text, Usual, Window,
};

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Process {
    /// Rank in MPI_COMM_WORLD; None where it is not known.
    pub rank: Option<i64>,
    /// Size of MPI_COMM_WORLD; None where it is not known.
    pub world_size: Option<i64>,
    /// What the MPI library calls its world; None where nothing tells it from others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_key: Option<Text>,
    /// What the MPI library calls the world that spawned it; None where none did, or it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_world_key: Option<Text>,
    /// Number of its world in `Snapshot.worlds`; None where there is but one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<i64>,
    /// Its place among the processes of all worlds; None where there is but one world, or it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub universe_rank: Option<i64>,
    /// Process id on its host.
    pub pid: Option<i64>,
    /// When it was stopped to be read, RFC 3339 in UTC; None where only the snapshot's time is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_at: Option<Text>,
    /// Name of the host; None where the target cannot tell.
    pub host: Option<Text>,
    /// Path of the executable.
    pub executable: Option<Text>,
    /// The MPI library; None where none was found.
    pub mpi: Option<Common<Mpi>>,
    /// How the facts were obtained.
    pub source: Option<Common<Source>>,
    /// How far it is with MPI; None where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// What the kernel says of it: `running`, `sleeping`, `stopped`, `frozen` (by its cgroup), `zombie`, `ended`; None where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Text>,
    /// What the kernel holds for its TCP connections, of a live process of this machine, and in what is recorded then;
    /// of others only why nothing is known. None in what earlier versions have written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Common<TcpConnections>>,
    /// The threads that are inside MPI.
    pub calls: Common<Vec<Call>>,
    /// What the flight recorder keeps; None where the process runs without it, or what it keeps could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Common<History>>,
    /// Where the other threads stand.
    #[serde(skip_serializing_if = "is_none")]
    pub outside: Common<Vec<Outside>>,
    /// The stacks of its threads, where they were asked for: of each only the thread and its frames.
    #[serde(skip_serializing_if = "is_none")]
    pub stacks: Common<Vec<Stack>>,
    /// Exceptions: those that threads handle just now, and the one that ended a Python program; signals whose handlers run, and who
    /// ended the program.
    #[serde(skip_serializing_if = "is_none")]
    pub exceptions: Common<Vec<Exception>>,
    /// Whether Python has ended in it (Py_Finalize): then nothing is known any more of an exception that ended its program.
    #[serde(skip_serializing_if = "is_false")]
    pub python_ended: bool,
    /// Calls of MPI in the source of the functions on its stacks; not written down.
    #[serde(skip)]
    pub source_calls: Common<Vec<SourceCall>>,
    /// Calls in the source of the functions on its stacks that may have sent messages before.
    #[serde(skip_serializing_if = "is_none")]
    pub senders: Common<Vec<Sender>>,
    /// Calls in the source of the functions on its stack that may have started non-blocking collectives before.
    #[serde(skip_serializing_if = "is_none")]
    pub earlier_collectives: Common<Vec<EarlierCollective>>,
    /// Calls in the source of the functions on its stacks that may send messages yet.
    #[serde(skip_serializing_if = "is_none")]
    pub later_sends: Common<Vec<Sender>>,
    /// Functions of collectives that its thread may come to yet, by the source of the functions on its stack, MPI_Finalize among
    /// them; null: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later_collectives: Option<Common<Vec<Text>>>,
    /// Whether `calls` and `outside` are all threads, each seen down to its end; None where that is not known. Only
    /// then does a thread that is not in `calls` stand outside MPI for sure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_threads: Option<bool>,
    /// The communicators.
    pub communicators: Common<Vec<Communicator>>,
    /// The windows that its calls are on.
    #[serde(skip_serializing_if = "is_none")]
    pub windows: Common<Vec<Window>>,
    /// The handles that were asked for: a list for each kind. Empty in a snapshot of queues.
    #[serde(skip_serializing_if = "is_none")]
    pub handles: Common<Vec<HandleList>>,
    /// Processes that this one spawned or connected to, as its plug-in tells (MPI-2).
    #[serde(skip_serializing_if = "is_none")]
    pub spawned: Common<Vec<Spawned>>,
    /// The function in which a debugger is to stop to see processes that are spawned, as its plug-in tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn_breakpoint: Option<Text>,
    /// Facts in words that have no place elsewhere, such as messages for a communicator that does not exist yet.
    pub notes: Vec<String>,
    /// What could not be read of this process, in sentences.
    pub problems: Vec<String>,
}

impl Process {
    /// Whether MPI_Init has not been called, or has not finished.
    pub fn is_before_init(&self) -> bool {
        self.stage == Some(Stage::NotInitialized)
    }

    /// A copy without the communicators, which may be large.
    #[must_use]
    pub fn clone_without_communicators(&self) -> Self {
        Self {
            world_key: self.world_key.clone(),
            parent_world_key: self.parent_world_key.clone(),
            captured_at: self.captured_at.clone(),
            host: self.host.clone(),
            executable: self.executable.clone(),
            mpi: self.mpi.clone(),
            source: self.source.clone(),
            state: self.state.clone(),
            tcp: self.tcp.clone(),
            calls: self.calls.clone(),
            history: self.history.clone(),
            outside: self.outside.clone(),
            stacks: self.stacks.clone(),
            exceptions: self.exceptions.clone(),
            source_calls: self.source_calls.clone(),
            senders: self.senders.clone(),
            earlier_collectives: self.earlier_collectives.clone(),
            later_sends: self.later_sends.clone(),
            later_collectives: self.later_collectives.clone(),
            communicators: Common::default(),
            windows: self.windows.clone(),
            handles: self.handles.clone(),
            spawned: self.spawned.clone(),
            spawn_breakpoint: self.spawn_breakpoint.clone(),
            notes: self.notes.clone(),
            problems: self.problems.clone(),
            ..*self
        }
    }
}

/// A process that was spawned or connected to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Spawned {
    /// Process id on its host.
    pub pid: i64,
    /// Host name, empty where it was not told.
    pub host: String,
    /// Its executable, empty where it was not told.
    pub executable: String,
}

/// The MPI library of a process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Mpi {
    /// `Open MPI`, `MPICH`.
    pub implementation: String,
    /// Such as `4.1.4`; `None` where it could not be read.
    pub version: Option<String>,
    /// Path of the library.
    pub library: String,
    /// Its ELF build-id, where it has one.
    pub build_id: Option<String>,
    /// What moves messages: for Open MPI the selected pml (`ob1`, `cm`, `ucx`).
    pub transport: Option<String>,
}

/// How far a process is with MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// MPI_Init has not been called or has not finished.
    NotInitialized,
    /// Between MPI_Init and MPI_Finalize.
    Initialized,
    /// Inside MPI_Finalize.
    Finalizing,
    /// MPI_Finalize is done.
    Finalized,
    /// The process has ended.
    Ended,
}

/// Messages to and from one member of a communicator, as the MPI library numbers them.
///
/// Processes are stopped one after the other, and equal counts still mean that nothing was on its way when they stood: no
/// message that was sent after a process stopped can have been counted by another. A library may count a message a few
/// instructions before it is in a queue, though, so who builds on equal counts must not do so of a process that was just
/// then at work on one: two looks at a job that moves differ in their counts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Traffic {
    /// The peer's rank in the communicator (in the remote group of an intercommunicator).
    pub local_rank: i64,
    /// Whether the peer is of the local group of an intercommunicator, in which its collectives begin.
    #[serde(skip_serializing_if = "is_false")]
    pub within_local_group: bool,
    /// Number of messages that were sent to it, modulo `modulus`.
    pub sent: Option<u64>,
    /// Number of messages from it that have arrived and were put into order, modulo `modulus`. Where it equals the peer's
    /// `sent`, no message is on its way.
    pub arrived: Option<u64>,
    /// What the library counts by, such as 65536.
    pub modulus: u64,
}

/// A communicator with its queues.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Communicator {
    /// Its name as the MPI library holds it, which the program may have set or the library generated; a text of ours in
    /// angle brackets where it has none.
    pub name: Text,
    /// Whether the program or the standard set the name, not the library; None where that is not known.
    pub name_set: Option<bool>,
    /// A number that names the communicator within its process.
    pub unique_id: u64,
    /// The MPI library's own number of it, as text: the same on all members where the library has such a thing.
    pub context_id: Option<Text>,
    /// The MPI_Comm handle as the program has it, in hex: for Open MPI the address of the communicator object.
    pub handle: Option<HandleWord>,
    /// Rank of this process in the communicator.
    pub local_rank: Option<i64>,
    /// Size of the (local) group.
    pub size: Option<i64>,
    /// World ranks of the local group in rank order; an element is None where that process's world rank is not known.
    #[serde(with = "crate::digest::groups")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<Option<i64>>>"))]
    pub group: Option<Group>,
    /// World ranks of the remote group of an intercommunicator; None for an intracommunicator.
    #[serde(with = "crate::digest::groups")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<Option<i64>>>"))]
    pub remote_group: Option<Group>,
    /// Members of the groups that are of other worlds, by group and rank.
    #[serde(skip_serializing_if = "is_none")]
    pub elsewhere: Common<Vec<Elsewhere>>,
    /// How many messages went to and came from members, where the library counts them; members without any are left out.
    #[serde(skip_serializing_if = "is_none")]
    pub traffic: Common<Vec<Traffic>>,
    /// Whether `traffic` tells of all members: one that it lacks was sent nothing, and nothing came from it.
    #[serde(skip_serializing_if = "is_false")]
    pub traffic_complete: bool,
    /// The number that the next non-blocking collective of this process on it will have; None where the library does
    /// not count them. Members that have begun the same ones have the same. Constructors of communicators count too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_sequence: Option<i64>,
    /// Sends that are not complete, or complete and not waited for.
    pub pending_sends: Common<Queue>,
    /// Receives that are not complete, or complete and not waited for.
    pub pending_receives: Common<Queue>,
    /// Messages that have arrived and that no receive has taken.
    pub unexpected_messages: Common<Queue>,
    /// Persistent requests that are not started, or whose last run was completed, as they would start: what they send and
    /// receive nobody will, unless they are started.
    #[serde(skip_serializing_if = "is_none")]
    pub inactive: Common<Vec<Operation>>,
}

impl Communicator {
    /// Its three queues.
    pub fn queues_mut(&mut self) -> [&mut Queue; 3] {
        [&mut self.pending_sends, &mut self.pending_receives, &mut self.unexpected_messages]
    }
}

impl Usual for TcpConnections {
    const USUAL: &'static Self = &Self { open: None, unread_bytes: None, unacknowledged_bytes: None, reason: None };
}

impl Usual for Mpi {
    const USUAL: &'static Self =
        &Self { implementation: String::new(), version: None, library: String::new(), build_id: None, transport: None };
}

/// For members of the JSON that are left out where there are none.
pub(super) fn is_none<T: 'static>(list: &Common<Vec<T>>) -> bool {
    list.is_empty()
}

/// For members of the JSON that are left out where they are 0.
pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// For members of the JSON that are left out where they are false.
pub(super) fn is_false(value: &bool) -> bool {
    !value
}
