//! What an MPI handle of the program means: a file for each kind whose facts are alike in all MPIs that are read.

mod communicator;
mod errhandler;
mod facts;
mod file;
mod group;
mod info;
mod message;
mod op;
mod reference;
mod request;
mod session;
mod topology;
mod window;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use functions::HandleKind;

pub use communicator::{Communicator, CommunicatorDetails};
pub use errhandler::{Errhandler, Language};
pub use facts::{Fact, Known};
pub use file::{File, FileDetails, Shown, View};
pub use group::{Group, GroupDetails};
pub use info::Info;
pub use message::Message;
pub use op::Op;
pub use reference::{Attribute, AttributeValue, Entry, Function, Reference, References, SetBy};
pub use request::{
    Functions, GeneralizedRequest, MessageData, MessageRequest, PartitionedDetails, PartitionedRequest, Progress,
    RequestFacts, RequestSort,
};
pub use session::Session;
pub use topology::{Shape, Topology};
pub use window::{Constant, Epoch, Lock, LockType, Open, Window, WindowDetails, WorldRanks};

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

/// Facts of a handle with their types, of the kinds whose facts somebody reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Typed {
    /// None.
    #[default]
    None,
    /// Of a communicator.
    Communicator(Communicator),
    /// World ranks of a group.
    Group(Known<WorldRanks>),
    /// Of a request.
    Request(RequestFacts),
    /// Of a window, with the details where they were read.
    Window(Window, Option<Box<WindowDetails>>),
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
    /// What decisions and the lines of other handles rest on.
    #[serde(skip)]
    pub typed: Typed,
}

impl Handle {
    /// Adds a fact.
    pub fn fact(&mut self, name: &str, value: impl Into<Value>) {
        self.facts.insert(name.to_owned(), value.into());
    }

    /// Notes why the object is in no better state than it is, which is also its line.
    pub fn fail(&mut self, state: HandleState, detail: impl Into<String>) {
        let (c_type, detail) = (self.kind.c_type(), detail.into());
        self.summary = match state {
            HandleState::Invalid => format!("not an {c_type}: {detail}"),
            HandleState::Freed => format!("freed {c_type}: {detail}"),
            _ => format!("unknown {c_type}: {detail}"),
        };
        self.state = state;
        self.detail = Some(detail);
    }

    /// Notes that a live object leaves no mark when `function` frees it and `users` still use it, unless it is predefined:
    /// nobody frees those.
    pub fn freed_leaves_no_mark(&mut self, predefined: bool, function: &str, users: &str) {
        self.freed = predefined.then_some(false);
        if !predefined {
            let reason = format!("{function} takes it away at once, or leaves no mark while {users} still use it");
            self.unknown.insert("freed".to_owned(), reason.into());
        }
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
