//! Requests.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::facts::{as_in_json, facts};
use super::{Fact, Function, Handle, Known, Language, Reference, Typed};
use crate::Schedule;

/// What sort of operation a request stands for; its words are those of docs/handles.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RequestSort {
    /// A send or a receive.
    PointToPoint,
    /// A non-blocking or persistent collective.
    Collective,
    /// An operation on a window.
    OneSided,
    /// An operation on a file.
    File,
    /// What the application completes itself (`MPI_Grequest_start`).
    Generalized,
    /// Partitioned communication.
    Partitioned,
    /// What makes a communicator, in Open MPI.
    Communicator,
    /// What does nothing, in Open MPI.
    NoOp,
}

impl RequestSort {
    /// Its word in docs/handles.md.
    pub const fn word(self) -> &'static str {
        match self {
            Self::PointToPoint => "point-to-point",
            Self::Collective => "collective",
            Self::OneSided => "one-sided",
            Self::File => "file",
            Self::Generalized => "generalized",
            Self::Partitioned => "partitioned",
            Self::Communicator => "communicator",
            Self::NoOp => "no-op",
        }
    }
}

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Progress {
    /// Its operation goes on.
    Pending,
    /// Its message has been matched.
    Matched,
    /// Its operation is done.
    Complete,
    /// Its operation was cancelled.
    Cancelled,
    /// It is persistent, and was not started.
    Inactive,
}

impl Progress {
    /// Of a request that says these three things of itself.
    pub const fn of(inactive: bool, complete: bool, cancelled: bool) -> Self {
        match (inactive, complete, cancelled) {
            (true, ..) => Self::Inactive,
            (_, true, true) => Self::Cancelled,
            (_, true, _) => Self::Complete,
            _ => Self::Pending,
        }
    }

    /// Its word in docs/handles.md.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Matched => "matched",
            Self::Complete => "complete",
            Self::Cancelled => "cancelled",
            Self::Inactive => "inactive",
        }
    }
}

/// What all requests have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFacts {
    /// Its sort, else why that is not known.
    pub sort: Known<RequestSort>,
    /// How far it is.
    pub progress: Progress,
    /// Whether it can be started again.
    pub persistent: bool,
    /// The handle of a collective's communicator, as `Handle::handle` has it.
    pub communicator: Option<String>,
    /// By what the library tells collectives of a communicator apart: later ones have greater numbers.
    pub sequence: Option<i64>,
    /// What the library has planned for a collective.
    pub schedule: Option<Schedule>,
    /// Of a message: whether it sends; `None`: not known.
    pub sends: Option<bool>,
}

impl RequestFacts {
    /// Of a request of which no more is known.
    pub const fn new(sort: Known<RequestSort>, progress: Progress, persistent: bool) -> Self {
        Self { sort, progress, persistent, communicator: None, sequence: None, schedule: None, sends: None }
    }
}

impl Handle {
    /// What decisions about a request rest on.
    pub const fn request(&self) -> Option<&RequestFacts> {
        if let Typed::Request(request) = &self.typed { Some(request) } else { None }
    }

    /// Adds what all requests have, with `call` not known so far.
    pub fn set_request(&mut self, request: RequestFacts) {
        request.sort.clone().map(RequestSort::word).tell("type", self);
        self.fact("call", Value::Null);
        self.fact("persistent", request.persistent);
        self.fact("complete", !matches!(request.progress, Progress::Pending | Progress::Matched));
        self.fact("status_word", request.progress.word());
        self.typed = Typed::Request(request);
    }

    /// Says whether a request sends.
    pub fn set_sends(&mut self, sends: bool) {
        if let Typed::Request(request) = &mut self.typed {
            request.sends = Some(sends);
        }
    }

    /// Says how far a request is, where more of it tells more.
    pub fn set_progress(&mut self, progress: Progress) {
        self.fact("status_word", progress.word());
        if let Typed::Request(request) = &mut self.typed {
            request.progress = progress;
        }
    }
}

facts! {
    /// What the line of a message's request needs.
    MessageRequest {
        /// The function that made it.
        call: Known<String>,
        /// `send`, `receive` or `probe`.
        direction: &'static str,
        /// The mode of a send.
        mode: Known<Option<&'static str>>,
        /// The peer's rank in the communicator, as far as it is settled.
        peer: Known<i64>,
        /// Whether it was made for messages of anybody.
        any_source: Known<bool>,
        /// The tag, as far as it is settled.
        tag: Known<i64>,
        /// Whether it was made for messages with any tag.
        any_tag: Known<bool>,
        /// Whether the library posted it for itself.
        internal: Known<bool>,
    }
}

facts! {
    /// The rest.
    MessageData {
        /// The peer's rank in MPI_COMM_WORLD.
        peer_world: Known<i64>,
        /// The communicator.
        communicator: Known<Option<Reference>>,
        /// Where the data are; of a probe nowhere.
        buffer: Known<Option<String>>,
        /// How many elements.
        count: Known<Option<u64>>,
        /// Of which datatype.
        datatype: Known<Option<Reference>>,
        /// How many bytes that is.
        bytes: Known<Option<u64>>,
        /// Whether data have begun to move.
        started: Known<bool>,
        /// How many bytes have moved.
        transferred: Known<u64>,
        /// Whether the library is done with the data.
        data_complete: Known<bool>,
    }
}

/// The functions of a generalized request (MPI-4.1, 13.2).
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Functions {
    pub query: Option<Function>,
    pub free: Option<Function>,
    pub cancel: Option<Function>,
}

impl Functions {
    /// The name of the query function as lines have it, in parentheses after a blank; empty where it has none.
    pub fn called(query: Option<&Function>) -> String {
        query.and_then(|query| query.symbol.as_ref()).map_or_else(String::new, |name| format!(" ({name})"))
    }
}

impl From<Functions> for Value {
    fn from(functions: Functions) -> Self {
        let Functions { query, free, cancel } = functions;
        json!({ "query": Self::from(query), "free": Self::from(free), "cancel": Self::from(cancel) })
    }
}

as_in_json!(Functions);

facts! {
    /// What a generalized request has.
    GeneralizedRequest {
        /// Its functions.
        functions: Known<Functions>,
        /// What these are given.
        extra_state: Known<String>,
        /// What they are written in.
        language: Known<Language>,
    }
}

/// What the line of a request of partitioned communication needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionedRequest {
    /// Whether it sends.
    pub sends: bool,
    /// The peer's rank.
    pub peer: i64,
    /// The tag.
    pub tag: Known<i64>,
    /// The number of partitions.
    pub partitions: i64,
    /// How many of them are done.
    pub partitions_done: Known<i64>,
}

impl PartitionedRequest {
    /// Tells it, with its line; `on`: the words for its communicator, with a blank before.
    pub fn describe(self, on: &str, far: Progress, handle: &mut Handle) {
        let Self { sends, peer, tag, partitions, partitions_done } = self;
        let (call, direction, to) =
            if sends { ("MPI_Psend_init", "send", "to") } else { ("MPI_Precv_init", "receive", "from") };
        let words = tag.as_ref().map_or_else(|_| "tag not known".to_owned(), |tag| format!("tag {tag}"));
        handle.summary = format!("{call} {to} {peer}, {words}{on}, {partitions} partitions, {}", far.word());
        call.tell("call", handle);
        direction.tell("direction", handle);
        peer.tell("peer", handle);
        tag.tell("tag", handle);
        partitions.tell("partitions", handle);
        partitions_done.tell("partitions_done", handle);
    }
}

facts! {
    /// The rest.
    PartitionedDetails {
        /// The communicator.
        communicator: Known<Option<Reference>>,
        /// Where the data are.
        buffer: String,
        /// How many elements a partition has.
        count: i64,
        /// Of which datatype.
        datatype: Option<Reference>,
    }
}
