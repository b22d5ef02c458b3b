//! The built-in readers: MPI libraries' queues, read without a plug-in.
//!
//! A reader never knows which debugger it runs under. Every walk of target memory is bounded and returns what it
//! got together with why it stopped.

pub mod openmpi;
pub mod record;
pub mod walk;

use crate::layouts::LayoutError;
use crate::target::TargetError;

/// Why a reader could not read a process at all.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// A structure, field or constant is not known.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Target memory or symbols could not be read.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The MPI library lacks an object that every build of it has.
    #[error("the MPI library has no symbol {0}")]
    NoSymbol(&'static str),
    /// What stands in memory cannot be right.
    #[error("target memory is damaged: {0}")]
    Damaged(String),
}
