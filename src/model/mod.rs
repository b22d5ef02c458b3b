//! What was read, as data: processes, communicators, operations. Serialised, this is the JSON of `mpi-queues/1`.
//!
//! Names are those of the mqs interface. Ranks are `i64`; a *local* rank is a rank in the communicator at hand (in the
//! remote group for the peer on an intercommunicator), a *global* rank a rank in MPI_COMM_WORLD. Lengths are bytes.

mod exactness;
mod facts;
mod handle;
mod operation;
mod process;
mod snapshot;
mod source;
mod stack;

pub use exactness::{Exactness, Level};
pub use facts::Facts;
pub use handle::{Handle, HandleKind, HandleList, HandleState};
pub use operation::{Operation, OperationStatus, Queue, QueueState};
pub use process::{Call, Communicator, Mpi, Process};
pub use snapshot::{SCHEMA, Snapshot};
pub use source::{QueueReport, QueueSource, Source, SourceKind};
pub use stack::{Frame, Stack};
