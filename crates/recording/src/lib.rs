//! Recorded sessions: a file that holds what a reader needs of one or many processes, and their replay as targets.
//!
//! A recording holds the target (memory that was read, symbols, images, structure layouts, stacks), not our answer, so
//! that readers run for real on it, later versions as well.

mod described;
mod file;
mod frame;
mod full;
mod limits;
mod ranges;
mod recorder;
mod replay;
mod writer;

use std::io::{self, Write};
use std::path::PathBuf;
use target::Reason;

pub use described::{FileEnd, ImageDescription, ProcessDescription, ProcessEnd};
pub use file::{RecordingFile, Section};
pub use frame::{MAGIC, VERSION};
pub use full::{Region, full_ranges};
pub use ranges::Range;
pub use recorder::Recorder;
pub use replay::{RecordedTypes, Replay};
pub use writer::{Parts, write_process};

/// Why a recording cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("cannot read the recording {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It is something else.
    #[error("{} is not a recording of mpi-queues", path.display())]
    NotARecording {
        /// The file.
        path: PathBuf,
    },
    /// A later version made it.
    #[error("{} is a recording of format {version}, and this mpi-queues reads formats up to {VERSION}", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Version of its format.
        version: u32,
    },
    /// It unpacks to more than a recording does: neither this process of it nor those after it are read.
    #[error("the recording {} cannot be read from process {index} on: {reason}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Number of the process, from 0.
        index: usize,
        /// Which limit it is over.
        reason: Reason,
    },
    /// One of its processes cannot be used.
    #[error("process {index} of the recording {} cannot be used: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Number of the process, from 0.
        index: usize,
        /// Why.
        reason: String,
    },
}

impl RecordingError {
    /// A stable word for the kind of error.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too_large",
            _ => "recording",
        }
    }

    /// What to type next; may be empty.
    pub fn help(&self) -> String {
        match self {
            Self::TooNew { .. } => "install a newer mpi-queues, or record again with this one".to_owned(),
            Self::NotARecording { .. } => "make one: mpi-queues record --pid PID -o FILE".to_owned(),
            Self::TooLarge { .. } => "record fewer processes in a file".to_owned(),
            Self::Damaged { path, .. } => {
                format!("to see what is left, type: mpi-queues recording info {}", path.display())
            }
            Self::File { .. } => String::new(),
        }
    }
}

/// Writes what stands before the first process: the format's line and the information `info` (JSON).
///
/// # Errors
/// Those of `out`.
pub fn write_start(out: &mut dyn Write, info: &str) -> io::Result<()> {
    frame::write_start(out)?;
    frame::write_frame(out, frame::Kind::Info, info.as_bytes())
}

/// Writes what stands after the last of `processes` processes.
///
/// # Errors
/// Those of `out`.
pub fn write_end(out: &mut dyn Write, processes: u64) -> io::Result<()> {
    frame::write_frame(out, frame::Kind::FileEnd, &serde_json::to_vec(&FileEnd { processes })?)
}
