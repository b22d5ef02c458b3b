//! Threads outside MPI: whose they are, and what they wait for.
//!
//! The answer rests on what no release of a C library changes: the file in which a thread began, whether code of the
//! application stands on its stack, whether that was seen to its end, and the system call that it is in. Names of functions
//! are asked where these are not known (older recordings, other processors), and of functions that the standards name.

use super::held::awaited;
use model::Outside;

/// Whose a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The application's: it may do what others wait for.
    Application,
    /// A library's own, which does nothing for the application unless it is asked to.
    Library,
    /// It may be the application's, and may stand in MPI: too little of it was seen.
    Unknown,
}

/// Whose a thread is that is not seen in MPI.
pub fn whose(thread: &Outside) -> Whose {
    let seen = thread.complete != Some(false);
    let main = thread.main.unwrap_or(thread.thread == 1);
    match (main, thread.application) {
        // In a static program the files of the libraries are the program's.
        (false, Some(true)) if seen && of_static_library(thread) => Whose::Library,
        // A stack that was not seen to its end may have an MPI function further out.
        (true, _) | (_, Some(true)) => {
            if seen {
                Whose::Application
            } else {
                Whose::Unknown
            }
        }
        (false, Some(false)) => {
            let idle = thread.start_image.is_some() || waits(thread);
            // One that has just begun runs in the C library, too.
            if seen && idle { Whose::Library } else { Whose::Unknown }
        }
        (false, None) => by_names(thread),
    }
}

/// Whose a thread is where the files of its frames are not known: the application's, but for those that merely wait and in whose
/// stacks no function with a source file stands, or one of the libraries' that is known.
fn by_names(thread: &Outside) -> Whose {
    let library = match (thread.caller.as_deref(), thread.function.as_deref()) {
        (Some(caller), _) => HELPERS.contains(&caller),
        (None, Some(_)) => thread.file.is_none() && waits(thread),
        // Not even the innermost function is known.
        (None, None) => return if thread.complete == Some(false) { Whose::Unknown } else { Whose::Library },
    };
    match (library, thread.complete) {
        (true, _) => Whose::Library,
        (false, Some(false)) => Whose::Unknown,
        (false, _) => Whose::Application,
    }
}

/// Whether a thread of a program's own file began with a function of the libraries', and merely waits.
fn of_static_library(thread: &Outside) -> bool {
    let began = thread.caller.as_deref().is_some_and(|caller| HELPERS.contains(&caller));
    began && thread.file.is_none() && waits(thread)
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

/// Functions that wait for other threads of the process, those of glibc's own that stand in for them where its symbols are
/// there, and those of OpenMP's libraries.
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
    "GOMP_critical_start",
    "GOMP_critical_name_start",
    "GOMP_atomic_start",
    "GOMP_barrier",
    "omp_set_lock",
    "omp_set_nest_lock",
    "kmpc_critical",
    "kmpc_critical_with_hint",
    "kmpc_barrier",
];

/// Functions that wait for other threads for some time only.
const TIMED: &[&str] = &[
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",
    "sem_timedwait",
    "sem_clockwait",
    "cnd_timedwait",
    "mtx_timedlock",
];

/// System calls in which a thread waits for another one.
const LOCK_CALLS: &[&str] = &["futex", "futex_wait", "futex_waitv"];

/// System calls by which input is read.
const READ_CALLS: &[&str] = &["read", "readv", "pread64", "recvfrom", "recvmsg", "recvmmsg"];

/// Functions that read input.
const READS: &[&str] = &["read", "readv", "recv", "recvfrom", "recvmsg", "getchar", "fgets"];

/// The name without the C library's underscores, what it adds for versions and what the compiler adds for clones.
pub fn base(function: &str) -> &str {
    let name = function.split(['@', '.', '(']).next().unwrap_or(function);
    let name = name.trim_start_matches('_').trim_start_matches("GI_").trim_start_matches('_');
    let name = name.trim_start_matches("libc_");
    name.strip_suffix("_full").unwrap_or(name)
}

/// The functions through which the application came to where a thread is, innermost first. What glibc 2.41 makes its system
/// calls by is none of them: `__syscall_cancel_arch` and its callers.
fn functions(thread: &Outside) -> impl Iterator<Item = &str> {
    let innermost = thread.function.as_deref().filter(|_| thread.through.is_empty());
    let all = innermost.into_iter().chain(thread.through.iter().map(String::as_str)).map(base);
    all.filter(|name| !name.contains("syscall_cancel"))
}

/// Whether a thread waits in the kernel.
pub(super) fn waits(thread: &Outside) -> bool {
    match &thread.system_call {
        Some(call) => call.name.is_some() && call.waits,
        None => {
            let listed = |name: &str| WAITING.contains(&name) || HELPERS.contains(&name) || LOCKS.contains(&name);
            functions(thread).next().is_some_and(listed)
        }
    }
}

/// Functions that look after the heap, for which a thread may have to wait for others.
const HEAP: &[&str] =
    &["malloc", "free", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "posix_memalign"];

/// Whether a function looks after the heap: of the C library, or C++'s operators.
pub fn is_heap(function: &str) -> bool {
    HEAP.contains(&base(function)) || function.starts_with("operator new") || function.starts_with("operator delete")
}

/// Whether a thread that waits does so for the lock of the heap.
pub fn waits_for_heap(thread: &Outside) -> bool {
    in_lock(thread) && functions(thread).any(is_heap)
}

/// Whether a thread waits for another thread of its process, for as long as it takes.
pub fn in_lock(thread: &Outside) -> bool {
    if awaited(thread).is_some_and(|awaited| awaited.owners.iter().any(|owner| owner.thread.is_some())) {
        return true;
    }
    let call = thread.system_call.as_ref().filter(|call| call.waits);
    if let Some(call) = call.filter(|call| call.name.as_deref().is_some_and(|name| LOCK_CALLS.contains(&name))) {
        return !call.timed;
    }
    // Some spin, or give way to others now and then.
    let listed = |names: &[&str]| functions(thread).any(|name| names.contains(&name));
    listed(LOCKS) && !listed(TIMED)
}

/// System calls by which output is written.
const WRITE_CALLS: &[&str] = &["write", "writev", "pwrite64", "sendto", "sendmsg"];

/// Whether a thread waits for somebody to take its output: the file's number.
pub fn writes_output(thread: &Outside) -> Option<i64> {
    let call = thread.system_call.as_ref().filter(|call| call.waits)?;
    call.descriptor.filter(|_| call.name.as_deref().is_some_and(|name| WRITE_CALLS.contains(&name)))
}

/// Whether a thread waits for input.
pub fn reads_input(thread: &Outside) -> bool {
    match thread.system_call.as_ref().map(|call| (call.name.as_deref(), call.waits)) {
        Some((Some(name), true)) => READ_CALLS.contains(&name),
        Some(_) => false,
        None => functions(thread).next().is_some_and(|name| READS.contains(&name)),
    }
}
