//! What datatypes are, whatever MPI has them: how one was made, its type map, a sketch of it. What a library keeps of its
//! datatypes it tells through [`Source`].

pub mod envelope;
mod expand;
mod facts;
pub mod large_counts;
mod sketch;
pub mod tree;
pub mod type_map;
mod words;

use self::envelope::{Combiner, Envelope};
pub use self::facts::read;
use self::tree::Node;
use crate::ReaderError;
use model::Known;
use model::handle::{Reference, References};
use target::address::TargetAddr;

/// Somebody who knows the datatypes of one MPI, by numbers that stand for them: addresses of objects, or handles.
pub trait Source {
    /// The datatype of a number.
    ///
    /// # Errors
    /// Where it cannot be read, or is none.
    fn node(&self, addr: TargetAddr) -> Result<Node, ReaderError>;

    /// The call that made a datatype which has `args`, and of its arguments of each sort at most `limit`.
    ///
    /// # Errors
    /// Where they cannot be read or cannot be right.
    fn envelope(&self, node: &Node, limit: usize) -> Result<Envelope, ReaderError>;

    /// The number of the predefined datatype of which `node` is a copy for Fortran.
    ///
    /// # Errors
    /// Where there is none.
    fn basic(&self, node: &Node) -> Result<TargetAddr, ReaderError>;

    /// A constant of mpi.h.
    fn constant(&self, name: &str) -> Option<i64>;

    /// A reference to a datatype.
    fn reference(&self, addr: TargetAddr) -> Option<Reference>;

    /// How a datatype without a name is called: by its handle.
    fn handle(&self, addr: TargetAddr) -> String;

    /// Whether the library gave a datatype its name, not the application.
    fn named_by_library(&self, node: &Node, combiner: Combiner) -> bool;

    /// The requests that use a datatype.
    fn requests(&self, addr: TargetAddr) -> Known<References>;
}
