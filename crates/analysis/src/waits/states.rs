//! Whether a process can do anything by itself, and which of its threads wait.

use super::threads::{Whose, in_lock, waits, whose};
use super::{Need, Thread};
use crate::job::Proc;
use functions::{WaitKind, wait_kind};
use model::{Call, Outside, Process, Stage};

/// Where a process stands.
#[derive(Debug)]
pub enum ProcState<'a> {
    /// It can do nothing for others any more.
    Finished(Finished),
    /// It may go on by itself, or nothing is known of it.
    Free(Free<'a>),
    /// All of its threads that could do anything stand in MPI functions that may wait.
    Blocked(Vec<Thread<'a>>),
}

/// How a process came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Finished {
    /// It stands in MPI_Finalize.
    Finalizing,
    /// MPI_Finalize is done.
    Finalized,
    /// It has ended.
    Ended,
    /// It stands in MPI_Abort.
    Aborting,
}

impl Finished {
    /// In words, after so many ranks.
    pub fn words(self, ranks: usize) -> &'static str {
        match (self, ranks) {
            (Self::Finalizing, 1) => "is in MPI_Finalize",
            (Self::Finalizing, _) => "are in MPI_Finalize",
            (Self::Finalized, 1) => "has called MPI_Finalize",
            (Self::Finalized, _) => "have called MPI_Finalize",
            (Self::Ended, 1) => "has ended",
            (Self::Ended, _) => "have ended",
            (Self::Aborting, 1) => "is in MPI_Abort",
            (Self::Aborting, _) => "are in MPI_Abort",
        }
    }
}

/// Why the kernel holds a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standstill {
    /// A signal has stopped it (SIGSTOP, SIGTSTP).
    Signal,
    /// Its control group is frozen (Linux, Documentation/admin-guide/cgroup-v2.rst, "cgroup.freeze").
    Cgroup,
}

impl Standstill {
    /// How a process stands that is held so.
    pub const fn participle(self) -> &'static str {
        match self {
            Self::Signal => "stopped by a signal",
            Self::Cgroup => "frozen by its cgroup",
        }
    }
}

/// Why a process may go on.
#[derive(Debug, Clone, Copy)]
pub enum Free<'a> {
    /// A thread of it is outside MPI.
    Outside(&'a Outside),
    /// A thread of it polls.
    Polling(&'a Call),
    /// A thread of it is in an MPI function that waits for nobody.
    Local(&'a Call),
    /// The kernel holds it: it was stopped before it was looked at.
    Stopped(Standstill),
    /// It has not called MPI_Init.
    NotStarted,
    /// Where it stands is not known.
    Unknown,
    /// It was not read.
    NotRead,
}

/// Where a process stands; needs are filled in later.
pub(super) fn state_of<'a>(proc: &Proc<'a>) -> ProcState<'a> {
    let Some(process) = proc.process else { return ProcState::Free(Free::NotRead) };
    let stands_in = |wanted: WaitKind| process.calls.iter().any(|call| wait_kind(&call.c_name()) == wanted);
    match (process.stage, process.state.as_deref()) {
        (_, Some("zombie" | "ended")) | (Some(Stage::Ended), _) => return ProcState::Finished(Finished::Ended),
        (Some(Stage::Finalized), _) => return ProcState::Finished(Finished::Finalized),
        (_, Some("stopped")) => return ProcState::Free(Free::Stopped(Standstill::Signal)),
        (_, Some("frozen")) => return ProcState::Free(Free::Stopped(Standstill::Cgroup)),
        _ if stands_in(WaitKind::Abort) => return ProcState::Finished(Finished::Aborting),
        _ => {}
    }
    let mut threads = Vec::with_capacity(process.calls.len());
    for call in &process.calls {
        match wait_kind(&call.c_name()) {
            WaitKind::Poll => return ProcState::Free(Free::Polling(call)),
            WaitKind::Local => return ProcState::Free(Free::Local(call)),
            wait_kind => threads.push(thread(call, wait_kind)),
        }
    }
    if threads.is_empty() && process.stage == Some(Stage::Finalizing) {
        // Open MPI's MPI_Finalize jumps to where it sleeps, and leaves no frame of its own.
        return ProcState::Finished(Finished::Finalizing);
    }
    // What an idle helper leaves is for `has_idle_helper`.
    if let Some(outside) = at_work(process, threads.is_empty())
        && (threads.is_empty() || !is_idle_helper(outside))
    {
        return ProcState::Free(Free::Outside(outside));
    }
    match (threads.is_empty(), process.stage) {
        (false, _) => ProcState::Blocked(threads),
        (true, Some(Stage::NotInitialized)) => ProcState::Free(Free::NotStarted),
        (true, _) => ProcState::Free(Free::Unknown),
    }
}

/// A thread whose need is filled in later.
pub(super) fn thread(call: &Call, wait_kind: WaitKind) -> Thread<'_> {
    Thread { call, wait_kind, need: Need::Nothing, in_flight: None, operations: Vec::new(), collective: None }
}

/// A thread outside MPI that may do something for others. `alone`: no thread of the process is in MPI; then one that waits
/// for others of the process counts as well, because there is nothing else to show; but not where a thread that may be
/// the application's was not seen to the end of its stack, for it may stand in MPI.
fn at_work(process: &Process, alone: bool) -> Option<&Outside> {
    let own = || process.outside.iter().filter(|thread| whose(thread) == Whose::Application);
    let working = || own().filter(|thread| !in_lock(thread));
    let working = working().find(|thread| !is_idle_helper(thread)).or_else(|| working().next());
    if working.is_some() || !alone || process.outside.iter().any(|thread| whose(thread) == Whose::Unknown) {
        return working;
    }
    let any = || process.outside.first().filter(|_| process.all_threads != Some(false));
    own().next().or_else(any)
}

/// Whether a thread besides the first of its process waits in the kernel: for input, or for some time. So do the threads of
/// a notebook's kernel and of progress bars beside a first thread that is stuck, and servers that give work to it.
fn is_idle_helper(thread: &Outside) -> bool {
    !thread.main.unwrap_or(thread.thread == 1) && waits(thread)
}

/// Whether an idle thread of the application beside those in MPI may do what these and others wait for. Nobody can
/// know whether it ever calls MPI.
pub(super) fn has_idle_helper(process: &Process) -> bool {
    at_work(process, false).is_some_and(is_idle_helper)
}
