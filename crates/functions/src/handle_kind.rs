//! The kinds of MPI's opaque objects.

use serde::{Deserialize, Serialize};

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

/// The word of each kind, its type in C, what it is called in a sentence, and what parameters are that hold one.
const KINDS: &[(HandleKind, &str, &str, &str, &str)] = &[
    (HandleKind::Comm, "comm", "MPI_Comm", "communicator", "COMMUNICATOR"),
    (HandleKind::Datatype, "datatype", "MPI_Datatype", "datatype", "DATATYPE"),
    (HandleKind::Errhandler, "errhandler", "MPI_Errhandler", "error handler", "ERRHANDLER"),
    (HandleKind::File, "file", "MPI_File", "file", "FILE"),
    (HandleKind::Group, "group", "MPI_Group", "group", "GROUP"),
    (HandleKind::Info, "info", "MPI_Info", "info object", "INFO"),
    (HandleKind::Message, "message", "MPI_Message", "matched message", "MESSAGE"),
    (HandleKind::Op, "op", "MPI_Op", "operator", "OPERATION"),
    (HandleKind::Request, "request", "MPI_Request", "request", "REQUEST"),
    (HandleKind::Session, "session", "MPI_Session", "session", "SESSION"),
    (HandleKind::Status, "status", "MPI_Status", "status", "STATUS"),
    (HandleKind::Win, "win", "MPI_Win", "window", "WINDOW"),
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

    fn entry(self) -> &'static (Self, &'static str, &'static str, &'static str, &'static str) {
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

    /// That of a parameter of a function, in the words of the Forum's interface: `COMMUNICATOR`. A status is no handle.
    pub(crate) fn of_parameter(word: &str) -> Option<Self> {
        Self::listed().find(|kind| kind.entry().4 == word)
    }
}
