//! What the flight recorder keeps of a process (docs/recorder.md): what it did before, and what it has begun.

use serde::{Deserialize, Serialize};

use crate::common::{Common, Usual};
use crate::hexadecimal::HandleWord;
use crate::process::{is_false, is_none, is_zero};
use crate::text::Text;

/// The record of a process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct History {
    /// The threads that have called MPI, those that have ended too, the first one first.
    pub threads: Vec<ThreadHistory>,
    /// Requests that a call has returned and that none has completed or freed, the oldest first.
    pub requests: Vec<RecordedRequest>,
    /// The communicators that it has, in the order in which they were first seen.
    pub communicators: Vec<RecordedCommunicator>,
    /// Calls of threads for which there was no room.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost_calls: u64,
    /// Requests for which there was no room, or that left it too early: `requests` lacks some.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost_requests: u64,
    /// Communicators for which there was no room.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost_communicators: u64,
    /// Messages that were not counted, because there was no room for further communicators, ranks and tags.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost_messages: u64,
    /// Rank of the process in MPI_COMM_WORLD, as the recorder was told it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_rank: Option<i64>,
    /// Size of MPI_COMM_WORLD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_size: Option<i64>,
    /// Whether the program, or a library before the recorder, has MPI's functions in itself: then nothing was recorded.
    #[serde(skip_serializing_if = "is_false")]
    pub bypassed: bool,
    /// The process that this one was forked from: what was recorded before is that one's. None where it was not forked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<i64>,
}

/// The latest calls of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ThreadHistory {
    /// The kernel's number of the thread (gettid).
    pub kernel_thread: i64,
    /// Whether it has ended, or is the parent's after a fork.
    #[serde(skip_serializing_if = "is_false")]
    pub ended: bool,
    /// How many calls it has begun.
    pub begun: u64,
    /// `PastCall::number` of the call that it is in; None: it is in none.
    pub current: Option<u64>,
    /// The latest calls, the oldest first.
    pub calls: Vec<PastCall>,
}

/// A call of MPI that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PastCall {
    /// Its number among those of its thread, from 1.
    pub number: u64,
    /// When it began, RFC 3339 in UTC: with milliseconds, of which the last ones may be wrong, or to the second where no more is
    /// known (`docs/recorder.md`).
    pub began_at: Text,
    /// The function in C, also where Fortran called it.
    pub function: Text,
    /// Whether it is told again for what is received: MPI_Sendrecv has one for each of the two.
    #[serde(skip_serializing_if = "is_false")]
    pub receives: bool,
    /// What it was given and where it stands.
    #[serde(flatten)]
    pub given: Given,
}

/// What a call was given, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Given {
    /// The source file of the call, where debug information says it.
    pub file: Option<Text>,
    /// Its line.
    pub line: Option<i64>,
    /// The function that it stands in.
    pub caller: Option<Text>,
    /// The image of the call and the place in it (`solver+0x1234`), where its line is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Text>,
    /// `Communicator::name` of the communicator, else its handle: where that was freed and is now that of another one, too. None
    /// where the function has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub communicator: Option<Text>,
    /// Destination, source, root or target: a rank in the communicator. None: none was given, or one that stands for any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<i64>,
    /// The tag; None: none was given, or MPI_ANY_TAG.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<i64>,
    /// Number of elements, or of requests that it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The handle of the datatype.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datatype: Option<HandleWord>,
    /// The name of the datatype, such as `MPI_INT`; None: it is not one that MPI defines, or nobody knows its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datatype_name: Option<Text>,
}

/// A request that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RecordedRequest {
    /// The handle, as `Operation::request` has it.
    pub request: HandleWord,
    /// How far it is.
    pub state: RecordedState,
    /// The function that made it.
    pub function: Text,
    /// When it began.
    pub began_at: Text,
    /// What it was given and where it stands.
    #[serde(flatten)]
    pub given: Given,
    /// Where the function was called in which it stands, as far as the unwinding tables of that code tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called_at: Option<Box<Given>>,
    /// Of a persistent request, the call that started it last: where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Box<Given>>,
}

/// How far a request is, by the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RecordedState {
    /// It was begun and nobody has completed it.
    #[default]
    Active,
    /// It is persistent and not started.
    Inactive,
}

/// A communicator, by the calls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RecordedCommunicator {
    /// The handle in C.
    pub handle: HandleWord,
    /// `Communicator::name`, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
    /// The same in all processes that have it (`docs/recorder.md`); None where it is not known, or this process alone calls it so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<HandleWord>,
    /// Rank of this process in it.
    pub local_rank: Option<i64>,
    /// Its size, of an intercommunicator that of the local group.
    pub size: Option<i64>,
    /// Size of the remote group; None: it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_size: Option<i64>,
    /// The function that made it; None: it was there from the beginning, or nobody saw that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<Text>,
    /// How many collectives this process has begun on it.
    pub collectives: u64,
    /// How many of these return a request.
    #[serde(skip_serializing_if = "is_zero")]
    pub started: u64,
    /// A hash of the functions and roots of all of them: members that have begun as many, and differ in it, have called others.
    pub order: HandleWord,
    /// A hash of their counts, datatypes and operators as well: where it is equal these are, and it may differ rightly.
    #[serde(skip_serializing_if = "HandleWord::is_zero")]
    pub contents: HandleWord,
    /// The latest of them, the oldest first.
    #[serde(skip_serializing_if = "is_none")]
    pub latest: Common<Vec<PastCollective>>,
    /// Whether this process is in the second of the two groups of an intercommunicator; None: it is none. Which group is the
    /// second is the same for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<bool>,
    /// Messages that this process has sent and begun to receive on it, by peer and tag, in that order; None: an older recorder
    /// did not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Common<Vec<MessageCount>>>,
    /// Messages that are not among these, because nothing said from whom they were, or whether they were received: a request was
    /// cancelled, or freed before it was complete.
    #[serde(skip_serializing_if = "is_zero")]
    pub untold: u64,
}

/// Messages between this process and one rank of a communicator, with one tag.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MessageCount {
    /// The other process: its rank in the communicator, of an intercommunicator in the remote group.
    pub peer: i64,
    /// The tag.
    pub tag: i64,
    /// Messages that this process has begun to send to it.
    pub sent: u64,
    /// Messages that it has begun to receive from it, and of receives from any source or with any tag those that are complete.
    pub received: u64,
}

/// A collective that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PastCollective {
    /// Which of the communicator's collectives it is, from 1.
    pub number: u64,
    /// The function in C.
    pub function: Text,
    /// Which of those it is that return a request, from 1; 0: it is none of them.
    #[serde(skip_serializing_if = "is_zero")]
    pub started: u64,
    /// Whether the process is in that call.
    #[serde(skip_serializing_if = "is_false")]
    pub inside: bool,
    /// The handle of the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<HandleWord>,
    /// The name of the operator, such as `MPI_SUM`; None: it is not one that MPI defines, or nobody knows its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op_name: Option<Text>,
    /// What it was given and where it stands; the root is the peer.
    #[serde(flatten)]
    pub given: Given,
}

/// So many of the latest calls of a thread are left in a short record.
const CALLS_OF_SHORT: usize = 4;

impl History {
    /// Leaves out what a diagnosis does not need: open requests, of which operations say it, older calls, and the handles in
    /// collectives, which differ in ranks that did the same.
    pub fn shorten(&mut self) {
        self.requests.clear();
        for thread in &mut self.threads {
            thread.calls.drain(..thread.calls.len().saturating_sub(CALLS_OF_SHORT));
        }
        for collective in self.communicators.iter_mut().flat_map(|one| one.latest.iter_mut()) {
            (collective.op, collective.given.datatype) = (None, None);
        }
    }
}

impl Usual for History {
    const USUAL: &'static Self = &Self {
        threads: Vec::new(),
        requests: Vec::new(),
        communicators: Vec::new(),
        lost_calls: 0,
        lost_requests: 0,
        lost_communicators: 0,
        lost_messages: 0,
        world_rank: None,
        world_size: None,
        bypassed: false,
        forked_from: None,
    };
}
