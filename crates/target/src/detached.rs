//! Processes of ours that nobody waits for.
//!
//! They are forked without exec, because a debugger's process has no program of ours on disk; twice, because gdb reaps its
//! children with `waitpid(-1)` and would take the exit of ours for that of its inferior.
#![allow(unsafe_code)]

use std::io;

/// Runs `body` in a process that is nobody's child here; it ends where `body` returns, without exit functions. Whether that
/// process has come about is not told: it has to say so itself.
///
/// `body` must not use anything that another thread may have locked. Its signals are blocked: the functions that this program
/// has for them must not run there.
///
/// # Errors
/// What `fork` said.
pub fn run_detached(body: impl FnOnce()) -> io::Result<()> {
    let mask = block_signals();
    // SAFETY: the child makes system calls and allocates (glibc's fork keeps its allocator usable) until `_exit`.
    let first = unsafe { libc::fork() };
    if first == 0 {
        // SAFETY: as above.
        if unsafe { libc::fork() } == 0 {
            body();
        }
        // SAFETY: ends the process.
        unsafe { libc::_exit(0) };
    }
    let error = io::Error::last_os_error();
    // SAFETY: a set that was filled above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut()) };
    if first < 0 {
        return Err(error);
    }
    let mut status = 0;
    // SAFETY: waits for the child that was just forked; where somebody else has reaped it, this fails with ECHILD, which is
    // as good.
    while unsafe { libc::waitpid(first, &raw mut status, 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
    Ok(())
}

/// Blocks all signals of this thread; what was blocked before.
fn block_signals() -> libc::sigset_t {
    // SAFETY: both sets live on the stack; `sigset_t` is plain data.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        before
    }
}
