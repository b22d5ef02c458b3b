//! UCX: what it keeps of the messages that an MPI leaves to it. Every family that does reads it from here.
//!
//! How an MPI packs communicator, rank and tag into the 64 bits that UCX matches by, and how its own requests lead to UCX's,
//! stands with the MPI.

mod layout;
mod pool;
mod request;
#[cfg(test)]
pub mod tests;
mod worker;

pub use layout::UcxLayout;
pub use pool::RequestPool;
pub use request::{Data, Flags, More, Native, Packed, Sample};
pub use worker::{Arrived, Links, Workers};
