//! The MPI2DD interface between a debugger and an MPI implementation (draft of January 2007, by Rob Faught; MPICH carries
//! it as src/mpi/debugger/mpi2_interface.txt): a job's processes told by several processes, over all spawns.
//!
//! A process of the job (a starter, a directory, a metadirectory or a rank) has the variable `MPI2DD_info` ([`info`]).
//! It leads to tables ([`tables`]) of ranks, of directories that have further such tables, and of metadirectories that
//! know further directories; [`walk`] goes through all of them, over processes.
//!
//! Their types are never looked for in debug information: their layout is fixed, and packed. In the width of both kinds
//! of targets each field lies at a multiple of its size, so a compiler's natural layout is the same, but for the end of
//! a directory's entry: 20 bytes with pointers of 8 bytes, which a compiler that is not told to pack them makes 24.

pub mod info;
mod local;
mod members;
mod processes;
pub mod report;
pub mod strings;
pub mod tables;
pub mod walk;

use std::path::PathBuf;

pub use info::{Info, Refused, find};
pub use local::LocalProcesses;
pub use processes::{NotOpened, Opened, Processes};
pub use report::{Directory, Member, Report, Spawn, World};
pub use walk::{StartError, walk};

use plugins::host::candidate::How;
use strings::Strings;
use target::Target;

/// By `MPI2DD_info`.
pub const BY_INFO: How = How::Named("named by the program (MPI2DD_info)");

/// The plug-in for message queues that `MPI2DD_info` has for debuggers of our width. It is only a suggestion.
pub fn named_plugin(target: &dyn Target) -> Option<(PathBuf, How)> {
    let info = find(&Strings::new(target)).ok().flatten()?;
    Some((PathBuf::from(info.dll_name?), BY_INFO))
}
