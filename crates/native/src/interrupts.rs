//! Ctrl-C beside gdb, which hands it on to the process that it attaches to: its handler as it was, and the signal taken back.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use crate::stop::{Event, blocked_signals, go_on, look, of_process};

/// How long a thread may take to come to a signal that is pending: it runs nothing of the program before.
const LIMIT: Duration = Duration::from_secs(1);

/// Signals that come before the one that is looked for.
const MAX_SIGNALS: usize = 16;

/// What C has for SIGINT, which Python can only replace: it is there again when this is dropped.
pub struct KeptHandler(libc::sigaction);

impl KeptHandler {
    /// As it is now.
    pub fn new() -> io::Result<Self> {
        // SAFETY: all zeros are a `sigaction`; it lives through the call, and the kernel has filled it where that succeeds.
        unsafe {
            let mut now: libc::sigaction = MaybeUninit::zeroed().assume_init();
            if libc::sigaction(libc::SIGINT, std::ptr::null(), &raw mut now) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(now))
        }
    }
}

impl Drop for KeptHandler {
    fn drop(&mut self) {
        // SAFETY: the kernel has given it for the same signal.
        unsafe {
            libc::sigaction(libc::SIGINT, &raw const self.0, null_mut());
        }
    }
}

/// Takes back a SIGINT that this program has sent to a process, all of whose threads it traces and which stand: gdb 13 does so with
/// a Ctrl-C while it waits for a process (gdb/inflow.c, `child_pass_ctrlc`), which would end by it later. Whether there was one.
/// A thread goes on for it, but only in the kernel, from one signal to the next, and stands as before.
///
/// # Errors
///
/// What ptrace(2) says; also where the process does not stand for this thread of ours.
pub fn take_back_interrupt(pid: u32) -> io::Result<bool> {
    let process = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    if !is_pending(process)? {
        return Ok(false);
    }
    // One that has it blocked would run on.
    let taking = of_process(pid)?
        .into_iter()
        .filter_map(|thread| libc::pid_t::try_from(thread).ok())
        .find(|&thread| blocked_signals(thread).is_ok_and(|blocked| blocked & (1 << (libc::SIGINT - 1)) == 0));
    let Some(thread) = taking else { return Ok(false) };
    let mut others = Vec::new();
    let mut taken = false;
    while !taken && others.len() < MAX_SIGNALS {
        go_on(thread, 0)?;
        match stands_again(process, thread)? {
            Event::Signal(libc::SIGINT) => taken = true,
            // Sent below, where it has not come by then.
            Event::Signal(libc::SIGSTOP) => break,
            Event::Signal(other) => others.push(other),
            Event::Gone => break,
            _ => {}
        }
    }
    for other in others {
        // SAFETY: no memory is involved.
        unsafe {
            libc::kill(process, other);
        }
    }
    Ok(taken)
}

/// Whether a SIGINT of ours waits for any thread of a process.
fn is_pending(process: libc::pid_t) -> io::Result<bool> {
    let ours = libc::pid_t::try_from(std::process::id()).unwrap_or(-1);
    // `struct __ptrace_peeksiginfo_args` (include/uapi/linux/ptrace.h): the first, of those for the whole process, how many.
    let mut asked = PeekSiginfo { offset: 0, flags: PEEK_SHARED, count: MAX_SIGNALS as i32 };
    // SAFETY: all zeros are `siginfo_t`s; the kernel reads `asked`, and writes as many elements as it says, at most.
    let (found, given) = unsafe {
        let mut found: [libc::siginfo_t; MAX_SIGNALS] = MaybeUninit::zeroed().assume_init();
        let given = libc::ptrace(libc::PTRACE_PEEKSIGINFO as _, process, &raw mut asked, found.as_mut_ptr());
        (found, given)
    };
    let given = usize::try_from(given).map_err(|_| io::Error::last_os_error())?;
    Ok(found.iter().take(given).any(|one| {
        // SAFETY: `kill` has filled these fields where this is its code. A sender of another namespace is 0.
        one.si_signo == libc::SIGINT && one.si_code == libc::SI_USER && [ours, 0].contains(&unsafe { one.si_pid() })
    }))
}

/// `PTRACE_PEEKSIGINFO_SHARED` (include/uapi/linux/ptrace.h).
const PEEK_SHARED: u32 = 1;

#[repr(C)]
struct PeekSiginfo {
    offset: u64,
    flags: u32,
    count: i32,
}

fn stands_again(process: libc::pid_t, thread: libc::pid_t) -> io::Result<Event> {
    let mut until = Instant::now() + LIMIT;
    loop {
        match look(thread)? {
            Event::None => {}
            event => return Ok(event),
        }
        if Instant::now() > until {
            // It was not what stood in the queue: it must not run on.
            // SAFETY: no memory is involved.
            unsafe {
                libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGSTOP);
            }
            until = Instant::now() + LIMIT;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::stop::{detach, interrupt, seize};

    fn send(process: libc::pid_t, signal: i32) {
        // SAFETY: no memory is involved.
        assert_eq!(unsafe { libc::kill(process, signal) }, 0);
    }

    #[test]
    fn an_interrupt_of_ours_does_not_end_the_process() -> io::Result<()> {
        let mut child = Command::new("env").args(["--default-signal=INT", "sleep", "100"]).spawn()?;
        let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
        seize(pid)?;
        interrupt(pid)?;
        while look(pid)? == Event::None {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!take_back_interrupt(child.id())?);
        send(pid, libc::SIGINT);
        assert!(take_back_interrupt(child.id())?);
        assert!(!take_back_interrupt(child.id())?);
        detach(pid, 0)?;
        std::thread::sleep(Duration::from_millis(50));
        assert!(child.try_wait()?.is_none(), "it has ended");
        send(pid, libc::SIGINT);
        assert!(!child.wait()?.success());
        Ok(())
    }
}
