//! Where a thread stands: the MPI function it is in, what the application gave it, and where it is outside MPI.

use std::borrow::Cow;

use super::{Awaited, Common, HandleWord, RequestSort, Schedule, StartedBy, Text};
use functions::c_name;
use serde::{Deserialize, Serialize};

/// A thread inside MPI.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Call {
    /// The debugger's number of the thread.
    pub thread: i64,
    /// The outermost MPI function on the stack, such as `MPI_Recv`, as its language spells it (`mpi_recv_`); of a library
    /// that waits by testing again and again its own function (`boost::mpi::wait_all`).
    pub function: Text,
    /// Source file of the application's call, where debug information says it.
    pub file: Option<Text>,
    /// Line of that call.
    pub line: Option<i64>,
    /// Bytes from the start of `caller` to that call, of the application without debug information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// The application's function that called MPI.
    pub caller: Option<Text>,
    /// The functions of libraries through which it did, outermost first, as far as they have names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<Step>,
    /// What the application gave the function, in the order of its parameters; empty where that is not known.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "crate::common::trimmed")]
    pub arguments: Vec<Argument>,
    /// Why `arguments` is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_unknown: Option<String>,
    /// `Communicator::unique_id` of the communicator that the call is on, where the arguments or the library tell it; of a call
    /// on a window the one that the library made for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub communicator: Option<u64>,
    /// `Window::handle` of the window that it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The members of the group that a call which makes a communicator of one was given, as ranks in MPI_COMM_WORLD; null: of
    /// no such call, or not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Vec<Option<i64>>>,
    /// The requests that it waits for or tests, in the order of the array that was given.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "crate::common::trimmed")]
    pub requests: Vec<CallRequest>,
    /// Differs where the application has moved on between two looks at the same thread: what the caller's registers, its
    /// stack and the program's own variables hold, as one word, and after a dot what the memory holds through which messages
    /// come; null where it could not be taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl Call {
    /// The function's name in C: `MPI_Recv` also for `mpi_recv_`, `mpi_recv_f08_`, `mpi_recv_f08ts_`, `MPI::Comm::Recv`; of a
    /// name with several words only the first letter is a capital (`MPI_Comm_dup`).
    pub fn c_name(&self) -> Cow<'_, str> {
        c_name(&self.function)
    }

    /// The argument of that name.
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }
}

/// A function on the way from the application to MPI.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Step {
    /// Its name.
    pub function: Text,
    /// Of the first one in a library: the name of the library's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<Text>,
}

/// One argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Argument {
    /// The parameter's name in the MPI standard: `comm`, `source`, `tag`, `array_of_requests`.
    pub name: Text,
    /// As the source has it, such as `(rank + 1) % size`.
    pub expression: Option<Text>,
    /// Its value: an integer, or a handle as its language has it (C: pointer or int; Fortran: INTEGER). Of an array its address.
    pub value: Option<i64>,
    /// The elements of an array of handles or integers, as far as they were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<i64>>,
    /// What the value is called: `MPI_ANY_SOURCE`, `MPI_COMM_WORLD`, `halo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<Text>,
    /// Why the value is null, or why there are fewer elements than the call has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Text>,
    /// Whether it has this value whenever the call is made: a number or a constant in the source.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub fixed: bool,
    /// What tells the value where no expression of the source does: `call site` is what an optimising compiler wrote down of
    /// the call; `queue`, of a call that Python code made, what the library keeps of the operation that is the call's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Text>,
}

/// How far a request of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RequestState {
    /// Not complete: the call waits for it.
    Open,
    /// Complete.
    Complete,
    /// A persistent request that was not started: nothing will ever complete it, and no call waits for it.
    Inactive,
    /// `MPI_REQUEST_NULL`.
    Null,
    /// A request no more: it was freed, and its memory belongs to the library again. A call that waits for it need not end.
    Freed,
    /// No request: never set, or garbage.
    Invalid,
    /// It could not be looked at.
    #[default]
    Unknown,
}

/// One request of a call that waits for requests or tests them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CallRequest {
    /// Its place in the array that was given; 0 for a single one.
    pub index: i64,
    /// The C handle's value, as `Operation::request` has it.
    pub handle: Option<HandleWord>,
    /// How far it is.
    pub state: RequestState,
    /// What sort of operation it stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<RequestSort>,
    /// What it is, as `mpi print` says it: `MPI_Irecv from 3 (any tag) on "halo", 4096 bytes, pending`.
    pub summary: Option<String>,
    /// Whether it is persistent: made once, and to be started each time.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub persistent: bool,
    /// `Communicator::unique_id` of the communicator of a non-blocking or persistent collective; of messages the queues tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub communicator: Option<u64>,
    /// The function of that collective, where the library keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collective: Option<Text>,
    /// By what the library tells such collectives of a communicator apart, equal on all members for the same one; later ones
    /// have greater numbers until the library begins anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<i64>,
    /// What the library has planned for that collective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Box<Schedule>>,
    /// The call that started it, the likeliest first: of several none is certain. Empty where that is not known.
    #[serde(skip_serializing_if = "super::process::is_none")]
    pub started_by: Common<Vec<StartedBy>>,
}

/// A thread that is not inside MPI.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Outside {
    /// The debugger's number of the thread.
    pub thread: i64,
    /// The innermost function, such as `read` or `clock_nanosleep`.
    pub function: Option<String>,
    /// The application's innermost function with debug information.
    pub caller: Option<String>,
    /// Its source file.
    pub file: Option<String>,
    /// The line at which it is.
    pub line: Option<i64>,
    /// Bytes from the start of `caller` to where it is, of the application without debug information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// As `Call::fingerprint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Whether it is the thread that the process began with; null: not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main: Option<bool>,
    /// Whether its stack was seen down to its outermost frame: else it may stand in MPI all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// Whether code of the application stands anywhere on its stack, as far as that was seen; null: not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<bool>,
    /// The file in which the function lies that the thread began with: the outermost one that is not the C library's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_image: Option<String>,
    /// The functions through which the application came to where the thread is, innermost first, as far as they have names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
    /// What the thread does in the kernel; null: not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_call: Option<SystemCall>,
}

/// What a thread does in the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SystemCall {
    /// The call that it is in, as the kernel names it: `futex`, `epoll_wait`; null: it is in none, and runs.
    pub name: Option<String>,
    /// Whether it waits there; false: it was just on its way back.
    pub waits: bool,
    /// Of a wait for a lock (`futex`): whether it ends by itself after some time.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub timed: bool,
    /// Of a call on a file that is open (`write`, `read`, `fcntl`): the file's number, 1 being standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<i64>,
    /// What it waits for there, and who has it; null: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<Box<Awaited>>,
}
