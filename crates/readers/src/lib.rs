//! The built-in readers: MPI libraries' queues, read without a plug-in.
//!
//! A reader never knows which debugger it runs under. Every walk of target memory is bounded and returns what it
//! got together with why it stopped.

mod ahead;
pub mod datatypes;
mod functions;
pub mod libfabric;
mod members;
mod messages;
pub mod mpich;
pub mod openmpi;
mod planned;
mod queues;
pub mod record;
mod references;
mod send_mode;
mod status;
mod topology;
pub mod ucx;
pub mod walk;
pub mod wanted;

use layouts::LayoutError;
use model::{Handle, HandleKind, HandleList, HandleState};
use target::{Reason, TargetError};

/// At most this many sentences about what could not be read.
const MAX_PROBLEMS: usize = 100;

/// Adds a sentence to what could not be read; damage everywhere is told only so often.
pub fn add_problem(problems: &mut Vec<String>, problem: String) {
    match problems.len() {
        ..MAX_PROBLEMS => problems.push(problem),
        MAX_PROBLEMS => problems.push("there are more problems, which are not listed".to_owned()),
        _ => {}
    }
}

impl From<ReaderError> for Reason {
    fn from(error: ReaderError) -> Self {
        Self::of(error)
    }
}

/// How much of an object is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What the summary needs: for a debugger that shows many variables.
    Short,
    /// Everything, with references to other objects.
    Full,
}

/// Something that says what handles mean. It never fails: what cannot be read is said in the handle.
pub trait HandleSource {
    /// What the C handle `value` of that kind means; for a status, that at the address `value`.
    fn describe(&self, kind: HandleKind, value: u64, depth: Depth) -> Handle;

    /// What the Fortran integer of a kind means.
    fn describe_fortran(&self, kind: HandleKind, index: i64, depth: Depth) -> Handle;

    /// What a status with these bytes means.
    fn describe_status(&self, bytes: &[u8]) -> Handle;

    /// All objects of a kind that can be found, null handles left out.
    fn list(&self, kind: HandleKind) -> HandleList;
}

/// How far MPI is in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// MPI_Init has not been called or has not finished.
    NotInitialized,
    /// Between MPI_Init and MPI_Finalize.
    Active,
    /// In MPI_Finalize, which waits for all ranks before it takes the structures down.
    Finalizing,
    /// MPI_Finalize is done; the structures are gone.
    Finalized,
}

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
    /// What stands in memory is kept in a form that is not read here; the text says what and who keeps it.
    #[error("{0}")]
    NotRead(String),
    /// What stands in memory cannot be right.
    #[error("target memory is damaged: {0}")]
    Damaged(String),
}

/// Says in the handle why it could not be read.
fn unreadable(handle: &mut Handle, error: &ReaderError) {
    let detail = error.to_string();
    handle.fail(HandleState::Unknown, beginning(&detail));
    handle.detail = Some(detail);
}

/// What a line has room for of a reason: where it is long, without the remedy, and then without the explanation.
pub(crate) fn beginning(reason: &str) -> &str {
    const ROOM: usize = 80;
    ["; ", ": "].iter().fold(reason, |text, mark| {
        if text.len() <= ROOM { text } else { text.split_once(mark).map_or(text, |(before, _)| before) }
    })
}
