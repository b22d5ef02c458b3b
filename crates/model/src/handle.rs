//! What an MPI handle of the program means.

use reason::Reason;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The kinds of MPI handles, by the words of the command line (`mpi-queues handles TARGET KIND`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum HandleKind {
    #[default]
    Comm,
    Datatype,
    Errhandler,
    File,
    Group,
    Info,
    Message,
    Op,
    Request,
    Session,
    Status,
    Win,
}

/// The word of each kind, its type in C, and what it is called in a sentence.
const KINDS: &[(HandleKind, &str, &str, &str)] = &[
    (HandleKind::Comm, "comm", "MPI_Comm", "communicator"),
    (HandleKind::Datatype, "datatype", "MPI_Datatype", "datatype"),
    (HandleKind::Errhandler, "errhandler", "MPI_Errhandler", "error handler"),
    (HandleKind::File, "file", "MPI_File", "file"),
    (HandleKind::Group, "group", "MPI_Group", "group"),
    (HandleKind::Info, "info", "MPI_Info", "info object"),
    (HandleKind::Message, "message", "MPI_Message", "matched message"),
    (HandleKind::Op, "op", "MPI_Op", "operator"),
    (HandleKind::Request, "request", "MPI_Request", "request"),
    (HandleKind::Session, "session", "MPI_Session", "session"),
    (HandleKind::Status, "status", "MPI_Status", "status"),
    (HandleKind::Win, "win", "MPI_Win", "window"),
];

impl HandleKind {
    /// All kinds, in alphabetical order.
    pub fn all() -> impl Iterator<Item = Self> {
        KINDS.iter().map(|entry| entry.0)
    }

    /// Those of which the library may have a list: a status belongs to the application.
    pub fn listed() -> impl Iterator<Item = Self> {
        Self::all().filter(|kind| *kind != Self::Status)
    }

    /// The kind of that word (`comm`) or that type in C (`MPI_Comm`).
    pub fn from_word(word: &str) -> Option<Self> {
        KINDS.iter().find(|entry| entry.1 == word || entry.2 == word).map(|entry| entry.0)
    }

    fn entry(self) -> &'static (Self, &'static str, &'static str, &'static str) {
        // Every kind has its line.
        KINDS.iter().find(|entry| entry.0 == self).unwrap_or(&KINDS[0])
    }

    /// Its word: `comm`.
    pub fn word(self) -> &'static str {
        self.entry().1
    }

    /// Its type in C: `MPI_Comm`.
    pub fn c_type(self) -> &'static str {
        self.entry().2
    }

    /// What it is called in a sentence: `communicator`.
    pub fn noun(self) -> &'static str {
        self.entry().3
    }
}

/// What a handle's value refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HandleState {
    /// An object of its kind.
    Live,
    /// The null handle of its kind, such as `MPI_COMM_NULL`.
    Null,
    /// What was an object of its kind and is none any more; memory still shows that.
    Freed,
    /// No object of its kind: never set, freed and overwritten, or garbage.
    Invalid,
    /// It could not be looked at; `detail` says why.
    #[default]
    Unknown,
}

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
    pub sort: Result<RequestSort, Reason>,
    /// How far it is.
    pub progress: Progress,
    /// Whether it can be started again.
    pub persistent: bool,
    /// The handle of a collective's communicator, as `Handle::handle` has it.
    pub communicator: Option<String>,
    /// By what the library tells collectives of a communicator apart: later ones have greater numbers.
    pub sequence: Option<i64>,
}

impl RequestFacts {
    /// Of a request of which no more is known.
    pub const fn new(sort: Result<RequestSort, Reason>, progress: Progress, persistent: bool) -> Self {
        Self { sort, progress, persistent, communicator: None, sequence: None }
    }
}

/// One handle and what it means. Facts that every kind has stand in fields, the others in `facts` under the names of
/// docs/handles.md.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Handle {
    /// Its kind.
    pub kind: HandleKind,
    /// The value of the C handle, such as `0x7f…`; of a status, its address, where it has one.
    pub handle: Option<String>,
    /// The Fortran integer, where the library has given it one.
    pub fortran: Option<i64>,
    /// The object's name.
    pub name: Option<String>,
    /// Whether the standard or the library made it, not the application.
    pub predefined: Option<bool>,
    /// Whether the application has freed it; the object may live on while it is used.
    pub freed: Option<bool>,
    /// What the value refers to.
    pub state: HandleState,
    /// Why it is in no better state than it is; null for a live or null one.
    pub detail: Option<String>,
    /// One line for people, as debuggers show it in place of the value.
    pub summary: String,
    /// What else is known, in the order in which it is shown. Units: bytes, elements; ranks in the communicator that the
    /// fact is about, unless the name says otherwise. Null: not known, and `unknown` says why.
    pub facts: Map<String, Value>,
    /// Why facts are null, by their names.
    pub unknown: Map<String, Value>,
    /// What could not be read, in sentences.
    pub problems: Vec<String>,
    /// What decisions about a request rest on.
    #[serde(skip)]
    pub request: Option<RequestFacts>,
}

impl Handle {
    /// Adds what all requests have, with `call` not known so far.
    pub fn set_request(&mut self, request: RequestFacts) {
        match &request.sort {
            Ok(sort) => self.fact("type", sort.word()),
            Err(reason) => self.unknown("type", reason),
        }
        self.fact("call", Value::Null);
        self.fact("persistent", request.persistent);
        self.fact("complete", !matches!(request.progress, Progress::Pending | Progress::Matched));
        self.fact("status_word", request.progress.word());
        self.request = Some(request);
    }

    /// Says how far a request is, where more of it tells more.
    pub fn set_progress(&mut self, progress: Progress) {
        self.fact("status_word", progress.word());
        if let Some(request) = &mut self.request {
            request.progress = progress;
        }
    }

    /// Adds a fact.
    pub fn fact(&mut self, name: &str, value: impl Into<Value>) {
        self.facts.insert(name.to_owned(), value.into());
    }

    /// Adds a fact that is not known, and why.
    pub fn unknown(&mut self, name: &str, reason: impl Into<String>) {
        self.facts.insert(name.to_owned(), Value::Null);
        self.unknown.insert(name.to_owned(), Value::String(reason.into()));
    }
}

/// The handles of one kind that a process has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HandleList {
    /// Their kind.
    pub kind: HandleKind,
    /// Whether these are all: the library may keep no list of its objects of this kind.
    pub complete: bool,
    /// Why these are not all.
    pub detail: Option<String>,
    /// The handles.
    pub handles: Vec<Handle>,
}
