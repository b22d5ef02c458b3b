//! Whether a process can do anything by itself, and which of its threads wait.

use super::functions::{Way, way};
use super::{Need, Thread};
use crate::analysis::job::Party;
use crate::model::{Call, Outside, Process, Stage};

/// Where a process stands.
#[derive(Debug)]
pub enum Standing<'a> {
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
    /// In words, after a rank.
    pub fn words(self) -> &'static str {
        match self {
            Self::Finalizing => "is in MPI_Finalize",
            Self::Finalized => "has called MPI_Finalize",
            Self::Ended => "has ended",
            Self::Aborting => "is in MPI_Abort",
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
    Stopped,
    /// It has not called MPI_Init.
    NotStarted,
    /// Where it stands is not known.
    Unknown,
    /// It was not read.
    NotRead,
}

/// Where a party stands; needs are filled in later.
pub(super) fn of<'a>(party: &Party<'a>) -> Standing<'a> {
    let Some(process) = party.process else { return Standing::Free(Free::NotRead) };
    let stands_in = |wanted: Way| process.calls.iter().any(|call| way(&call.c_name()) == wanted);
    match (process.stage, process.state.as_deref()) {
        (_, Some("zombie" | "ended")) | (Some(Stage::Ended), _) => return Standing::Finished(Finished::Ended),
        (Some(Stage::Finalized), _) => return Standing::Finished(Finished::Finalized),
        (_, Some("stopped")) => return Standing::Free(Free::Stopped),
        _ if stands_in(Way::Abort) => return Standing::Finished(Finished::Aborting),
        _ => {}
    }
    let mut threads = Vec::new();
    for call in &process.calls {
        match way(&call.c_name()) {
            Way::Poll => return Standing::Free(Free::Polling(call)),
            Way::Local => return Standing::Free(Free::Local(call)),
            way => threads.push(thread(call, way)),
        }
    }
    if threads.is_empty() && process.stage == Some(Stage::Finalizing) {
        // Open MPI's MPI_Finalize jumps to where it sleeps, and leaves no frame of its own.
        return Standing::Finished(Finished::Finalizing);
    }
    if let Some(outside) = at_work(process, threads.is_empty()) {
        return Standing::Free(Free::Outside(outside));
    }
    match (threads.is_empty(), process.stage) {
        (false, _) => Standing::Blocked(threads),
        (true, Some(Stage::NotInitialized)) => Standing::Free(Free::NotStarted),
        (true, _) => Standing::Free(Free::Unknown),
    }
}

/// A thread whose need is filled in later.
pub(super) fn thread(call: &Call, way: Way) -> Thread<'_> {
    Thread { call, way, need: Need::Nothing, in_flight: None, operations: Vec::new(), collective: None }
}

/// A thread outside MPI that may do something for others. `alone`: no thread of the process is in MPI; then one that waits
/// for others of the process is told as well, because nothing else is there to be told.
fn at_work(process: &Process, alone: bool) -> Option<&Outside> {
    let own = || process.outside.iter().filter(|thread| is_own(thread));
    let working = own().find(|thread| !in_lock(thread));
    if working.is_some() || !alone {
        return working;
    }
    own().next().or_else(|| process.outside.first())
}

/// Functions in which threads of MPI libraries, of UCX, of PMIx and of accelerators wait for their work.
const HELPERS: &[&str] = &[
    "progress_engine",
    "event_base_loop",
    "opal_event_base_loop",
    "listen_thread",
    "opal_libevent2022_event_base_loop",
    "epoll_dispatch",
    "ucs_async_thread_func",
    "pmix_progress_thread",
    "thread_main",
];

/// Functions of the kernel's interface and the C library in which a thread waits.
const WAITING: &[&str] = &[
    "epoll_wait",
    "epoll_pwait",
    "poll",
    "ppoll",
    "select",
    "pselect",
    "accept",
    "accept4",
    "read",
    "recvmsg",
    "recvfrom",
    "recv",
    "futex",
    "futex_wait",
    "sigwait",
    "sigtimedwait",
    "sigwaitinfo",
    "nanosleep",
    "clock_nanosleep",
    "ioctl",
];

/// Whether a thread is one of the application's: the main thread is, and any other but those that merely wait and in whose
/// stacks no function with a source file stands, or one of the libraries' that is known.
fn is_own(thread: &Outside) -> bool {
    if thread.thread == 1 {
        return true;
    }
    match (thread.caller.as_deref(), thread.function.as_deref().map(base)) {
        (Some(caller), _) if HELPERS.contains(&caller) => false,
        (None, Some(function)) => {
            let waits = WAITING.contains(&function) || HELPERS.contains(&function) || in_lock(thread);
            thread.file.is_some() || !waits
        }
        // Not even the innermost function is known.
        (None, None) => false,
        (Some(_), _) => true,
    }
}

/// Functions that wait for other threads of the process.
const LOCKS: &[&str] = &[
    "pthread_mutex_lock",
    "pthread_join",
    "pthread_timedjoin_ex",
    "pthread_clockjoin_ex",
    "pthread_cond_wait",
    "pthread_barrier_wait",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_spin_lock",
    "sem_wait",
    "lll_lock_wait",
    "futex_wait",
    "futex_abstimed_wait_common",
    "futex_abstimed_wait_common64",
    "futex_abstimed_wait_cancelable64",
    "new_sem_wait_slow64",
    "thrd_join",
    "mtx_lock",
    "cnd_wait",
];

/// The name without the C library's underscores, what it adds for versions and what the compiler adds for clones.
fn base(function: &str) -> &str {
    let name = function.split(['@', '.', '(']).next().unwrap_or(function);
    name.trim_start_matches('_').trim_start_matches("GI_").trim_start_matches('_').trim_start_matches("libc_")
}

/// Whether a thread waits for another thread of its process.
pub fn in_lock(thread: &Outside) -> bool {
    let listed = |function: &str| {
        let name = base(function);
        LOCKS.iter().any(|lock| name == *lock || name.strip_suffix("_full").is_some_and(|short| short == *lock))
    };
    thread.function.as_deref().is_some_and(listed)
}

/// Whether a thread waits for input.
pub fn reads_input(thread: &Outside) -> bool {
    let name = thread.function.as_deref().map(base).unwrap_or_default();
    ["read", "readv", "recv", "recvfrom", "recvmsg", "getchar", "fgets"].contains(&name)
}
