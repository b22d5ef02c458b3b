//! The requests of ptrace(2) that are used, and waiting for threads. A thread can be asked only by the thread of ours that has
//! seized it.
#![allow(unsafe_code)]

use std::io;

use target::registers::{MOST_WORDS, Machine, Registers};

/// What became of a thread that was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// Nothing yet.
    None,
    /// It stands where we interrupted it.
    Stands,
    /// It stands since a signal has stopped its process.
    StoppedBySignal,
    /// It stands because a signal is to be delivered to it.
    Signal(i32),
    /// It stands for another reason, such as a new thread of its own.
    Other,
    /// It has ended.
    Gone,
}

/// `PTRACE_EVENT_STOP` (Linux, include/uapi/linux/ptrace.h), which libc lacks for some machines.
const EVENT_STOP: i32 = 128;

fn request(kind: libc::c_uint, thread: libc::pid_t, data: usize) -> io::Result<()> {
    // SAFETY: these requests (SEIZE, INTERRUPT, CONT, DETACH, LISTEN) read and write no memory of ours; the address is
    // required to be zero.
    let done = unsafe { libc::ptrace(kind as _, thread, std::ptr::null_mut::<libc::c_void>(), data) };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Begins to trace a thread, which runs on.
pub(crate) fn seize(thread: libc::pid_t) -> io::Result<()> {
    request(libc::PTRACE_SEIZE as _, thread, 0)
}

/// Stops a seized thread soon.
pub(crate) fn interrupt(thread: libc::pid_t) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT as _, thread, 0)
}

/// Lets a thread that stands go on, and delivers a signal to it (0: none).
pub(crate) fn go_on(thread: libc::pid_t, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_CONT as _, thread, usize::try_from(signal).unwrap_or(0))
}

/// Lets go of a thread that stands.
pub(crate) fn detach(thread: libc::pid_t, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_DETACH as _, thread, usize::try_from(signal).unwrap_or(0))
}

/// What has become of a seized thread; it is not waited for.
pub(crate) fn look(thread: libc::pid_t) -> io::Result<Event> {
    let mut status = 0;
    // SAFETY: the status is writable.
    let found = unsafe { libc::waitpid(thread, &mut status, libc::__WALL | libc::WNOHANG) };
    match found {
        0 => Ok(Event::None),
        -1 => Err(io::Error::last_os_error()),
        _ if libc::WIFSTOPPED(status) => Ok(match status >> 16 {
            // ptrace(2), "Group-stop" of tracees that were seized.
            EVENT_STOP if libc::WSTOPSIG(status) == libc::SIGTRAP => Event::Stands,
            EVENT_STOP => Event::StoppedBySignal,
            0 => Event::Signal(libc::WSTOPSIG(status)),
            _ => Event::Other,
        }),
        _ => Ok(Event::Gone),
    }
}

/// The general registers of a thread that stands.
pub(crate) fn registers(thread: libc::pid_t) -> io::Result<Registers> {
    let mut words = [0_u64; MOST_WORDS];
    let mut piece = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: size_of_val(&words) };
    // SAFETY: the kernel writes at most iov_len bytes to the array, and how many these were to iov_len (NT_PRSTATUS,
    // `struct user_regs_struct`).
    let done = unsafe {
        libc::ptrace(
            libc::PTRACE_GETREGSET as _,
            thread,
            std::ptr::without_provenance_mut::<libc::c_void>(NT_PRSTATUS),
            &raw mut piece,
        )
    };
    if done == -1 {
        return Err(io::Error::last_os_error());
    }
    // A program of 32 bits on a machine of 64 has fewer and narrower ones.
    let words = &words[..(piece.iov_len / 8).min(MOST_WORDS)];
    let machine = Machine::ours().filter(|machine| words.len() >= machine.words());
    let found = machine.and_then(|machine| Registers::of_words(machine, words));
    found.ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))
}

/// The signals that a thread which stands has blocked, a bit each from 1 on.
pub(crate) fn blocked_signals(thread: libc::pid_t) -> io::Result<u64> {
    let mut found = 0_u64;
    // SAFETY: the kernel writes the eight bytes of its `sigset_t`, whose size it is told.
    let done = unsafe {
        libc::ptrace(
            PTRACE_GETSIGMASK as _,
            thread,
            std::ptr::without_provenance_mut::<libc::c_void>(size_of::<u64>()),
            &raw mut found,
        )
    };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(found) }
}

/// include/uapi/linux/ptrace.h, since Linux 3.11.
const PTRACE_GETSIGMASK: libc::c_uint = 0x420a;

/// elf.h
const NT_PRSTATUS: usize = 1;
