//! Threads that wait in the kernel, by what `/proc` says of them while nothing is stopped: those that nothing can stop, and those
//! whose call fails when they are.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use calls::system_calls;
use target::processes;
use target::registers::{Machine, Registers};

use super::kernel_wait::KernelWait;
use super::stopped::StopError;
use super::threads;

/// A thread that is in the same uninterruptible wait for so long is not going to stop soon: it waits for a device or a server that
/// does not answer, or for a child (vfork).
const PATIENCE: Duration = Duration::from_secs(2);

/// Between two looks at such threads.
const PAUSE: Duration = Duration::from_millis(10);

/// Calls that the kernel begins anew, or goes on with, after a stop (signal(7), "Interruption of system calls and library functions
/// by stop signals", and ERESTARTSYS, ERESTARTNOHAND and ERESTART_RESTARTBLOCK in Linux's sources). Others may fail with EINTR:
/// `epoll_wait`, `semop`, `rt_sigtimedwait`, `io_getevents` do always, reads of sockets with a time limit and of inotify do.
const GO_ON: [&str; 14] = [
    "futex",
    "futex_wait",
    "futex_waitv",
    "restart_syscall",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "nanosleep",
    "clock_nanosleep",
    "wait4",
    "waitid",
    "pause",
    "rt_sigsuspend",
];

/// One uninterruptible wait.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wait {
    thread: u32,
    /// The call with its arguments and where it was made, as far as the kernel tells.
    call: Option<String>,
}

/// The uninterruptible waits that are known, by process: who is in one still is not waited for again.
#[derive(Debug, Clone, Default)]
pub struct Waits(BTreeMap<u32, Wait>);

impl Waits {
    /// Waits, while all run on, for those that are in uninterruptible waits, and tells which processes are in the same one still, or
    /// were found in it before.
    pub(super) fn unstoppable(&mut self, pids: &[u32], limit: Duration) -> Vec<(u32, StopError)> {
        let patience = PATIENCE.min(limit);
        let end = Instant::now() + patience;
        let mut waiting: BTreeMap<u32, Vec<Wait>> = BTreeMap::new();
        let mut failures = Vec::new();
        for pid in pids {
            let waits: Vec<Wait> = uninterruptible(*pid);
            match self.0.remove(pid).filter(|known| waits.contains(known)) {
                Some(known) => failures.push((*pid, self.note(*pid, known, patience))),
                None if waits.is_empty() => {}
                None => _ = waiting.insert(*pid, waits),
            }
        }
        while !waiting.is_empty() && Instant::now() < end {
            std::thread::sleep(PAUSE);
            for waits in waiting.values_mut() {
                waits.retain(|wait| Wait::of(wait.thread).as_ref() == Some(wait));
            }
            waiting.retain(|_, waits| !waits.is_empty());
        }
        for (pid, mut waits) in waiting {
            if let Some(wait) = waits.pop() {
                failures.push((pid, self.note(pid, wait, patience)));
            }
        }
        failures
    }

    fn note(&mut self, pid: u32, wait: Wait, patience: Duration) -> StopError {
        let (thread, seconds) = (wait.thread, patience.as_secs().max(1));
        let error = StopError::Uninterruptible { thread, seconds, wait: KernelWait::of(thread) };
        self.0.insert(pid, wait);
        error
    }
}

impl Wait {
    /// That of a thread, where it is in one.
    fn of(thread: u32) -> Option<Self> {
        is_uninterruptible(thread).then(|| Self { thread, call: threads::system_call(thread) })
    }
}

fn uninterruptible(pid: u32) -> Vec<Wait> {
    threads::of_process(pid).unwrap_or_default().into_iter().filter_map(Wait::of).collect()
}

/// Whether a thread is in an uninterruptible wait at this moment.
pub(super) fn is_uninterruptible(thread: u32) -> bool {
    letter(thread) == Some('D')
}

fn letter(thread: u32) -> Option<char> {
    processes::letter(&Path::new(processes::PROC).join(thread.to_string()))
}

/// Where a thread stands that waits in a call which may fail with EINTR when it is stopped: the two registers that can be had without
/// that. `None` for others, and where the kernel does not tell.
pub(super) fn in_a_call_that_fails(thread: u32) -> Option<Registers> {
    if letter(thread) != Some('S') {
        return None;
    }
    place(Machine::ours()?, &threads::system_call(thread)?)
}

fn place(machine: Machine, text: &str) -> Option<Registers> {
    let found = system_calls::of_proc(Some(machine), text, None)?;
    if GO_ON.contains(&found.name.as_deref()?) {
        return None;
    }
    // The number, six arguments, the stack pointer and the program counter.
    let mut words = text.split_whitespace().skip(7).map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok());
    let (stack_pointer, program_counter) = (words.next()??, words.next()??);
    Some(Registers::of_place(machine, stack_pointer, program_counter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_a_stop_fails_are_told() {
        let of = |text: &str| {
            let found = place(Machine::X86_64, text)?;
            Some((found.stack_pointer(), found.program_counter()?))
        };
        let tail = "0x4 0x7f00 0x20 0xffffffff 0x0 0x0 0x7ffc10 0x7f1122\n";
        for number in ["232", "281", "65", "220", "128", "45", "0", "208", "9999"] {
            assert_eq!(of(&format!("{number} {tail}")), Some((0x7ffc10, 0x7f1122)), "{number}");
        }
        for number in ["202", "7", "35", "230", "219", "61"] {
            assert_eq!(of(&format!("{number} {tail}")), None, "{number}");
        }
        // Outside of calls, and what is no such line.
        for text in
            ["running", "-1 0x7ffc10 0x7f1122", "", "232", "232 0x4 0x7f00 0x20 0x1 0x0 0x0 0x7ffc10", "232 a b c"]
        {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn who_waits_for_nothing_can_be_stopped() {
        let begun = Instant::now();
        assert!(Waits::default().unstoppable(&[std::process::id(), u32::MAX], Duration::from_secs(20)).is_empty());
        assert!(begun.elapsed() < PATIENCE);
    }
}
