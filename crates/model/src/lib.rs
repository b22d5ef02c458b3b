//! What was read, as data: processes, communicators, operations. Serialised, this is the JSON of `mpi-queues/1`.
//!
//! Names are those of the mqs interface. Ranks are `i64`; a *local* rank is a rank in the communicator at hand (in the
//! remote group for the peer on an intercommunicator), a *global* rank a rank in MPI_COMM_WORLD; in a snapshot with several
//! worlds it is a place in the universe of all, of which the first world is the beginning (the mqs document, "The Process
//! naming problem"). Lengths are bytes.

mod awaited;
pub mod built;
mod call;
mod capabilities;
mod common;
mod connections;
pub mod digest;
mod exception;
mod facts;
mod finding;
mod groups;
pub mod handle;
mod hexadecimal;
mod history;
mod odd_rank;
mod operation;
mod process;
mod rank_set;
mod remark;
mod schedule;
#[cfg(feature = "schema")]
mod schema;
mod shared;
mod snapshot;
mod source;
mod source_call;
mod stack;
mod stack_tree;
mod taken_off;
mod text;
pub mod time;
mod unknown;
mod which;
mod window;
mod world;

pub use awaited::{Awaited, AwaitedKind, Owner};
pub use call::{Argument, Call, CallRequest, Outside, RequestState, Step, SystemCall};
pub use capabilities::{Capability, Level};
pub use common::{Common, Usual};
pub use connections::TcpConnections;
pub use exception::{Exception, ExceptionState, RankException};
pub use facts::Facts;
pub use finding::{Blamed, Finding, FindingKind, Limit, LimitKind, Motion, RankCall, RankMovement, State, Verdict};
pub use groups::{Group, Groups};
pub use handle::{Handle, HandleKind, HandleList, HandleState, Known, Progress, RequestFacts, RequestSort, Typed};
pub use hexadecimal::HandleWord;
pub use history::{
    Given, History, MessageCount, PastCall, PastCollective, RecordedCommunicator, RecordedRequest, RecordedState,
    ThreadHistory,
};
pub use odd_rank::{OddReason, Standing};
pub use operation::{Operation, OperationStatus, Queue, QueueKind, QueueState, Unwritten};
pub use process::{Communicator, Mpi, Process, Spawned, Stage, Traffic};
pub use rank_set::{RankRuns, RankSet, RankSetError};
pub use remark::Remark;
pub use schedule::{PlannedMessages, PossibleFunction, Schedule};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use shared::Shared;
pub use snapshot::{JsonError, SCHEMA, Snapshot};
pub use source::{QueueReport, QueueSource, Source, SourceKind};
pub use source_call::{
    EarlierCollective, RankStart, RequestObject, SameObject, Sender, SourceCall, StartedBy, StartedHow,
};
pub use stack::{Frame, FrameLanguage, Stack};
pub use stack_tree::{Members, Repeats, StackNode, StackTree, StackWait, ThreadMembers};
pub use text::Text;
pub use unknown::Unknown;
pub use which::Which;
pub use window::Window;
pub use world::{Elsewhere, World};

/// The version of what agents of nodes are asked and answer; both ends must have the same.
pub const AGENT_PROTOCOL: u32 = 7;
