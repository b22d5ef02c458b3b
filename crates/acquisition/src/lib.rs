//! From a launcher to the processes of its job.
//!
//! The interface is that of "The MPIR Process Acquisition Interface" (MPI Forum, version 1.1 of March 2018; its origin is
//! TotalView's "TV Process Acquisition with MPICH"): a launcher holds a table of its processes in a variable of a known
//! name, an index of which is a rank in MPI_COMM_WORLD.
//!
//! What the variables hold is anything: every length is bounded, and what cannot be read has its reason.

mod entries;
mod live;
mod mpir;
mod plugin_names;
mod procdesc;
mod search;

pub use live::{process_table_of, slurm_job_of};
pub use mpir::process_table;
pub use plugin_names::named_plugin;
pub use procdesc::ProcDesc;

use std::collections::BTreeMap;
use std::sync::Arc;

use target::address::TargetAddr;

/// How a process table was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// By the symbols MPIR_proctable and MPIR_proctable_size.
    Symbols,
    /// Without symbols, among the variables of the launcher; see [`process_table`].
    Memory,
}

/// Living descendants of a launcher by process id, with their rank in MPI_COMM_WORLD where their environment tells it.
pub type Candidates = BTreeMap<i64, Option<u64>>;

impl Found {
    /// The word for it in Python.
    pub fn word(self) -> &'static str {
        match self {
            Self::Symbols => "symbols",
            Self::Memory => "memory",
        }
    }
}

/// One entry of a process table. Texts are shared between entries, as launchers share them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// The host, as the launcher names it.
    pub host: Option<Arc<str>>,
    /// The executable, as the launcher names it: often as the user has typed it. Launchers may leave it out.
    pub executable: Option<Arc<str>>,
    /// The process id on that host; `None` where the table has none that can be one.
    pub pid: Option<i64>,
    /// What of it could not be read or cannot be true.
    pub problem: Option<String>,
}

/// What a process says by the MPIR interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessTable {
    /// How the table was found; `None` where it was not, with the reason among the problems.
    pub found: Option<Found>,
    /// Who says where the fields of MPIR_PROCDESC lie; `None` where no table was read.
    pub layout: Option<&'static str>,
    /// By index, which is the rank in MPI_COMM_WORLD.
    pub entries: Vec<Entry>,
    /// MPIR_proctable_size.
    pub size: Option<i64>,
    /// MPIR_debug_state: 0, 1 (MPIR_DEBUG_SPAWNED), 2 (MPIR_DEBUG_ABORTING).
    pub debug_state: Option<i64>,
    /// MPIR_debug_abort_string.
    pub abort_string: Option<String>,
    /// MPIR_being_debugged.
    pub being_debugged: Option<i64>,
    /// Which of the variables are there whose presence alone says something; `None` where that could not be found out (a
    /// stripped launcher). See [`Presence`].
    pub presence: Option<Presence>,
    /// MPIR_executable_path: the daemon that a debugger is asked to start.
    pub executable_path: Option<String>,
    /// MPIR_server_arguments: its arguments.
    pub server_arguments: Vec<String>,
    /// MPIR_attach_fifo: the pipe by which the launcher is told that a debugger has come.
    pub attach_fifo: Option<String>,
    /// MPIR_dll_name: the plug-in for message queues.
    pub dll_name: Option<String>,
    /// The variables and functions of the interface that the process has.
    pub symbols: BTreeMap<&'static str, TargetAddr>,
    /// What could not be read and what contradicts itself, in sentences.
    pub problems: Vec<String>,
}

/// The variables whose presence alone says something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Presence {
    /// MPIR_debug_gate: the process waits until a debugger sets it.
    pub gate: bool,
    /// MPIR_i_am_starter: the process is not itself one of the job's.
    pub starter: bool,
    /// MPIR_acquired_pre_main: processes are stopped before their main function.
    pub acquired_pre_main: bool,
    /// MPIR_force_to_main: the debugger is to show the main function.
    pub force_to_main: bool,
    /// MPIR_partial_attach_ok: a debugger need not attach to all processes.
    pub partial_attach_ok: bool,
    /// MPIR_ignore_queues, or MPIR_ignore_queue, as the document spells it in one place.
    pub ignore_queues: bool,
}
