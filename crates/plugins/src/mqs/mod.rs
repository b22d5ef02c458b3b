//! The debugger's side of the mqs interface: hosts an MPI vendor's message-queue plug-in.
//!
//! A plug-in is foreign code that follows pointers in a program which is, more often than not, damaged; measured, Open
//! MPI's crashes or loops on damaged memory. It therefore runs in a helper process (`host`) that is
//! driven through the plug-in's life cycle (`driver`) and asks this process for memory, symbols and types (`server`); what it
//! delivers stands in `protocol`.
//! Whatever comes from there is taken as hostile and normalised (`convert`, `normalise`, and in `openmpi` and `mpich` what
//! is particular to one MPI's plug-in). `discovery` says which plug-in may be loaded at all.
#![allow(unsafe_code)]
// The interface's 32-bit words and the kernel's sizes are cut and widened on purpose; the places say why.
#![allow(clippy::unnecessary_cast)]

#[allow(missing_docs)]
pub mod abi;
mod convert;
pub mod dialect;
pub mod discovery;
mod driver;
mod mpich;
mod normalise;
mod openmpi;
mod own;
mod plugin;
mod protocol;
mod server;
mod source;

pub use dialect::{Datatype, Datatypes, Dialect, Evidence, NoDatatypes};
pub use normalise::normalise;
pub use own::is_own_library;
pub use plugin::{inspect_plugin, read_with_plugin};
pub use source::PluginSource;

use std::collections::BTreeSet;
use std::path::PathBuf;

pub use crate::host::answers::BadRead;
pub use crate::host::error::PluginError;
use crate::host::run::Run;
pub use crate::host::trust;
use model::QueueReport;

/// What a plug-in is to do.
#[derive(Clone)]
pub struct PluginRequest<'a> {
    /// The plug-in. The caller has checked that it may be loaded.
    pub path: PathBuf,
    /// For how long, with whose rights.
    pub run: Run<'a>,
    /// What is known of the job.
    pub universe: Universe,
    /// What is particular to it.
    pub dialect: &'static dyn Dialect,
    /// The version of the MPI library, such as `4.1.4`: a plug-in that tells another series is refused. `None`: not
    /// known.
    pub library_version: Option<String>,
    /// Bounds for what it may deliver.
    pub limits: Limits,
}

/// What is known of the job to which the process belongs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Universe {
    /// Rank in MPI_COMM_WORLD.
    pub global_rank: Option<i64>,
    /// Size of MPI_COMM_WORLD.
    pub world_size: Option<i64>,
    /// The debugger's number of the process (MPI-2: its index in the universe of all processes, of which
    /// the first world's MPI_COMM_WORLD is the beginning); `None`: it is not known, and the plug-in is told none.
    pub identity: Option<i64>,
}

/// Bounds for what a plug-in may deliver in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Communicators.
    pub communicators: usize,
    /// Operations in all queues together.
    pub operations: usize,
    /// Ranks in all groups together.
    pub group_ranks: usize,
    /// Spawned processes.
    pub new_processes: usize,
    /// Bytes of messages.
    pub message_bytes: usize,
    /// Bytes of texts that belong to operations, queues and processes; more are left out.
    pub text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            communicators: 100_000,
            operations: 1_000_000,
            group_ranks: 4_000_000,
            new_processes: 10_000,
            message_bytes: 64 * 1024,
            text_bytes: 64 << 20,
        }
    }
}

/// What a plug-in is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PluginInfo {
    /// Its own words, `mqs_version_string`.
    pub version: Option<String>,
    /// `mqs_version_compatibility`: 2, or 3 for MPI-2.
    pub compatibility: Option<i32>,
    /// `mqs_dll_taddr_width` in bytes.
    pub width: Option<i32>,
    /// Whether it is one for MPI-2.
    pub has_mpi2: bool,
    /// The functions that it exports, sorted.
    pub functions: Vec<String>,
    /// The functions of the interface that it lacks, optional and MPI-2 ones included.
    pub missing: Vec<String>,
}

/// A process that was spawned or connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProcess {
    /// Its process id.
    pub pid: i64,
    /// Its executable.
    pub image: String,
    /// Its host.
    pub host: String,
}

/// What a run of a plug-in gave.
#[derive(Debug, Default)]
pub struct PluginOutcome {
    /// What the plug-in is.
    pub info: PluginInfo,
    /// What it read; where `failure` is set, what it had read by then.
    pub report: QueueReport,
    /// The group of each communicator of the report as the plug-in gave it.
    pub groups: Vec<Option<Vec<Option<i64>>>>,
    /// The types that it asked for and got.
    pub asked: BTreeSet<String>,
    /// Spawned processes (MPI-2).
    pub new_processes: Vec<NewProcess>,
    /// The function at which a debugger should stop to see spawned processes (MPI-2).
    pub spawn_breakpoint: Option<String>,
    /// Reads that failed; the plug-in took zeros instead.
    pub failed_reads: u64,
    /// The first of them.
    pub first_failed_reads: Vec<BadRead>,
    /// What it said: messages for the user, debugging prints, its standard error. Safe to print.
    pub messages: Vec<String>,
    /// Why it did not finish.
    pub failure: Option<PluginError>,
}
