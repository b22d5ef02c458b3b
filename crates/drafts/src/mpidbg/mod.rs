//! The debugger's side of the MPIDBG interface: hosts an MPI vendor's plug-in that tells what handles mean.
//!
//! The plug-in runs in a helper process, as one for message queues does (`plugins::host`); `driver` and `ask` call its
//! functions there, `server` collects what they deliver, and `convert` makes the model of it. `discovery` says
//! which plug-in there is. The interface is a draft that no MPI's release has a plug-in for; its document leaves it to
//! the debugger to free results, to know names of types, and to choose one of several plug-ins.
#![allow(unsafe_code)]
// The interface's 32-bit words are cut and widened on purpose; the places say why.
#![allow(clippy::unnecessary_cast)]

#[allow(missing_docs)]
pub mod abi;
mod ask;
mod comm;
mod convert;
pub mod discovery;
mod driver;
mod handles;
mod plugin;
mod protocol;
mod server;

pub use handles::Handles;
pub use plugin::{inspect_handle_plugin, is_for_handles_only, is_handle_plugin, query_handles};

use std::path::PathBuf;
use std::time::Duration;

use model::{Handle, HandleKind};
use plugins::host::answers::BadRead;
use plugins::host::error::PluginError;
use plugins::host::run::Run;

/// The kinds that the interface has queries for.
pub const KINDS: [HandleKind; 4] = [HandleKind::Comm, HandleKind::Errhandler, HandleKind::Request, HandleKind::Status];

/// How a query names a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The value of the C handle; of a status, its address.
    Handle(u64),
    /// The Fortran integer.
    Fortran(i64),
    /// The address of the C++ object, and the flag of the interface that tells its class (0, `comm::CARTESIAN`, …).
    Cxx {
        /// The address.
        object: u64,
        /// The flag.
        class: u32,
    },
}

/// One question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    /// The kind of the handle, one of [`KINDS`].
    pub kind: HandleKind,
    /// Which one.
    pub by: By,
}

/// What a plug-in is to do.
#[derive(Clone)]
pub struct HandleRequest<'a> {
    /// The plug-in. The caller has checked that it may be loaded.
    pub path: PathBuf,
    /// For how long, with whose rights.
    pub run: Run<'a>,
    /// Rank in MPI_COMM_WORLD, where it is known.
    pub global_rank: Option<i64>,
    /// What to ask.
    pub queries: Vec<Query>,
    /// The version of the MPI library, such as `4.1.4`: a plug-in that tells another series is refused. `None`: not
    /// known.
    pub library_version: Option<String>,
    /// Bounds for what it may deliver.
    pub limits: Limits,
}

impl HandleRequest<'_> {
    /// A request with default limits, a minute of time and no queries.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            run: Run::within(Duration::from_secs(60)),
            global_rank: None,
            queries: Vec::new(),
            library_version: None,
            limits: Limits::default(),
        }
    }
}

/// Bounds for what a plug-in may deliver in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries of one list.
    pub entries: usize,
    /// Bytes of all answers together.
    pub bytes: usize,
    /// Bytes of messages.
    pub message_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 4_000_000, bytes: 256 << 20, message_bytes: 64 * 1024 }
    }
}

/// What a plug-in is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandlePluginInfo {
    /// Its own words, `mpidbg_version_string`.
    pub version: Option<String>,
    /// `mpidbg_interface_version_compatibility`.
    pub interface: Option<i32>,
    /// `mpidbg_dll_taddr_width` in bytes.
    pub width: Option<i32>,
    /// The functions that it exports, sorted.
    pub functions: Vec<String>,
    /// The functions of the interface that it lacks, optional ones included.
    pub missing: Vec<String>,
    /// The types that it gave for handles: the standard's name (`MPI_Comm`, `MPI::Comm`), the name of the type.
    pub types: Vec<(&'static str, String)>,
    /// Its capabilities by kind, as the bits of the interface.
    pub capabilities: Vec<(HandleKind, u32)>,
    /// The predefined handles that it names.
    pub names: Vec<(HandleKind, String, u64)>,
}

/// What a run of a plug-in gave.
#[derive(Debug, Default)]
pub struct HandleOutcome {
    /// What the plug-in is.
    pub info: HandlePluginInfo,
    /// The answers, as many as the queries; those that the plug-in had not given when it failed are `unknown`.
    pub handles: Vec<Handle>,
    /// How many of them it gave.
    pub answered: usize,
    /// Reads that failed; the plug-in took zeros instead.
    pub failed_reads: u64,
    /// The first of them.
    pub first_failed_reads: Vec<BadRead>,
    /// What it said: debugging prints, its standard error. Safe to print.
    pub messages: Vec<String>,
    /// Why it did not finish.
    pub failure: Option<PluginError>,
}
