//! UCX: what it keeps of the messages that an MPI leaves to it. Every family that does reads it from here.
//!
//! How an MPI packs communicator, rank and tag into the 64 bits that UCX matches by, and how its own requests lead to UCX's,
//! stands with the MPI.

pub mod layout;
mod links;
mod pool;
mod request;
mod shared_memory;
// For crates/fuzz, too; by a feature for it readers would be compiled twice.
#[cfg(any(test, debug_assertions))]
pub mod tests;
mod worker;

pub use layout::UcxLayout;
pub use links::Links;
pub use pool::RequestPool;
pub use request::{Data, Flags, More, Native, Packed, Sample};
pub use worker::{Arrived, Workers};

/// Where a message lies that nobody has taken out of shared memory.
pub const IN_TRANSIT: &str = "is in a ring of UCX's shared memory, from which this process has not taken it out yet";
