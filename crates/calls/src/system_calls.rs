//! The system call that a thread is in, from its registers or from what `/proc` says of it. What a thread waits for follows from
//! it whatever the C library calls its functions.

use model::SystemCall;
use target::registers::Machine;

/// Calls in which a thread may wait, by the number that the processor's kernel has for them (arch/x86/entry/syscalls/
/// syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux 6.12). Others go by their number.
const X86_64: &[(u64, &str)] = &[
    (0, "read"),
    (1, "write"),
    (2, "open"),
    (4, "stat"),
    (5, "fstat"),
    (6, "lstat"),
    (7, "poll"),
    (16, "ioctl"),
    (17, "pread64"),
    (18, "pwrite64"),
    (19, "readv"),
    (20, "writev"),
    (21, "access"),
    (23, "select"),
    (24, "sched_yield"),
    (34, "pause"),
    (35, "nanosleep"),
    (42, "connect"),
    (43, "accept"),
    (44, "sendto"),
    (45, "recvfrom"),
    (46, "sendmsg"),
    (47, "recvmsg"),
    (61, "wait4"),
    (65, "semop"),
    (69, "msgsnd"),
    (70, "msgrcv"),
    (72, "fcntl"),
    (73, "flock"),
    (74, "fsync"),
    (75, "fdatasync"),
    (77, "ftruncate"),
    (82, "rename"),
    (83, "mkdir"),
    (87, "unlink"),
    (128, "rt_sigtimedwait"),
    (130, "rt_sigsuspend"),
    (202, "futex"),
    (208, "io_getevents"),
    (217, "getdents64"),
    (219, "restart_syscall"),
    (220, "semtimedop"),
    (230, "clock_nanosleep"),
    (232, "epoll_wait"),
    (247, "waitid"),
    (257, "openat"),
    (258, "mkdirat"),
    (262, "newfstatat"),
    (263, "unlinkat"),
    (269, "faccessat"),
    (270, "pselect6"),
    (271, "ppoll"),
    (281, "epoll_pwait"),
    (288, "accept4"),
    (295, "preadv"),
    (296, "pwritev"),
    (299, "recvmmsg"),
    (332, "statx"),
];
const AARCH64: &[(u64, &str)] = &[
    (22, "epoll_pwait"),
    (25, "fcntl"),
    (29, "ioctl"),
    (32, "flock"),
    (34, "mkdirat"),
    (35, "unlinkat"),
    (46, "ftruncate"),
    (48, "faccessat"),
    (56, "openat"),
    (61, "getdents64"),
    (63, "read"),
    (64, "write"),
    (65, "readv"),
    (66, "writev"),
    (67, "pread64"),
    (68, "pwrite64"),
    (69, "preadv"),
    (70, "pwritev"),
    (72, "pselect6"),
    (73, "ppoll"),
    (79, "newfstatat"),
    (80, "fstat"),
    (82, "fsync"),
    (83, "fdatasync"),
    (95, "waitid"),
    (98, "futex"),
    (101, "nanosleep"),
    (115, "clock_nanosleep"),
    (124, "sched_yield"),
    (128, "restart_syscall"),
    (133, "rt_sigsuspend"),
    (137, "rt_sigtimedwait"),
    (188, "msgrcv"),
    (189, "msgsnd"),
    (192, "semtimedop"),
    (193, "semop"),
    (202, "accept"),
    (203, "connect"),
    (206, "sendto"),
    (207, "recvfrom"),
    (211, "sendmsg"),
    (212, "recvmsg"),
    (242, "accept4"),
    (243, "recvmmsg"),
    (260, "wait4"),
    (291, "statx"),
];
/// The same on both.
const COMMON: &[(u64, &str)] = &[
    (333, "io_pgetevents"),
    (426, "io_uring_enter"),
    (441, "epoll_pwait2"),
    (449, "futex_waitv"),
    (455, "futex_wait"),
];

/// Calls on a file that is open, whose first argument is its number.
const ON_FILES: &[&str] = &[
    "read",
    "write",
    "pread64",
    "pwrite64",
    "readv",
    "writev",
    "preadv",
    "pwritev",
    "fstat",
    "fdatasync",
    "ftruncate",
    "getdents64",
    "ioctl",
    "fcntl",
    "flock",
    "fsync",
    "accept",
    "accept4",
    "connect",
    "sendto",
    "recvfrom",
    "sendmsg",
    "recvmsg",
    "recvmmsg",
];

/// How `futex` waits (include/uapi/linux/futex.h): FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2. The fourth
/// argument is the time limit.
const FUTEX_WAITS: [u64; 5] = [0, 6, 9, 11, 13];
/// Without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
const FUTEX_OPERATION: u64 = 0x7f;

/// What a call that was interrupted while it waited returns: EINTR, and inside the kernel ERESTARTSYS, ERESTARTNOINTR,
/// ERESTARTNOHAND, ERESTART_RESTARTBLOCK (include/linux/errno.h), by which a tracer sees that it will be begun anew.
const INTERRUPTED: [i64; 5] = [-4, -512, -513, -514, -516];

/// What tells of a thread's system call on x86-64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallRegisters {
    /// `orig_rax`: the number of the call, negative outside of one.
    pub number: u64,
    /// `rax`: what the call returns.
    pub result: u64,
    /// `rdi`, `rsi` and `r10`: its first, second and fourth argument.
    pub arguments: [u64; 3],
}

/// The system call of a stopped thread of x86-64 by its registers.
pub fn of_registers(found: &CallRegisters) -> SystemCall {
    if (found.number as i64) < 0 {
        return SystemCall::default();
    }
    call(Some(Machine::X86_64), found.number, found.arguments, INTERRUPTED.contains(&(found.result as i64)))
}

/// The same by the text of `/proc/PID/task/TID/syscall`; `None` where that does not tell. `result` is the register in which
/// x86-64 returns what a system call returns.
pub fn of_proc(machine: Option<Machine>, text: &str, result: Option<u64>) -> Option<SystemCall> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let outside = first == "running" || first.parse::<i64>().ok()? < 0;
    if outside {
        return Some(SystemCall::default());
    }
    let numbers: Vec<u64> = words
        .take(6)
        .map(|word| u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok())
        .collect::<Option<_>>()?;
    let arguments = [*numbers.first()?, *numbers.get(1)?, *numbers.get(3)?];
    let returned = |result: u64| !INTERRUPTED.contains(&(result as i64));
    let back = machine == Some(Machine::X86_64) && result.is_some_and(returned);
    Some(call(machine, first.parse().ok()?, arguments, !back))
}

/// The first three arguments of a system call by the text of `/proc/PID/task/TID/syscall`.
pub fn arguments(text: &str) -> Option<[u64; 3]> {
    let number = |word: &str| u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok();
    let mut words = text.split_whitespace().skip(1).map(number);
    Some([words.next()??, words.next()??, words.next()??])
}

fn call(machine: Option<Machine>, number: u64, [first, second, fourth]: [u64; 3], interrupted: bool) -> SystemCall {
    let own: &[(u64, &str)] = match machine {
        Some(Machine::X86_64) => X86_64,
        Some(Machine::Aarch64) => AARCH64,
        None => &[],
    };
    let named = own.iter().chain(COMMON).find(|(known, _)| *known == number);
    let name = named.map_or_else(|| format!("system call {number}"), |(_, name)| (*name).to_owned());
    let (waits, timed) = match name.as_str() {
        "futex" => (interrupted && FUTEX_WAITS.contains(&(second & FUTEX_OPERATION)), fourth != 0),
        // After a stop nanosleep, poll and a futex with a time limit go on in it; a futex without one begins anew as itself
        // (the kernel's ERESTART_RESTARTBLOCK; kernel/futex, futex_wait).
        "restart_syscall" => (interrupted, true),
        // futex_wait(address, value, mask, flags, limit, clock), futex_waitv(waiters, number, flags, limit, clock): the
        // fifth argument is not at hand.
        "futex_waitv" => (interrupted, fourth != 0),
        _ => (interrupted, false),
    };
    let descriptor = ON_FILES.contains(&name.as_str()).then_some(i64::from(first as i32));
    SystemCall { name: Some(name), waits, timed, descriptor, waits_for: None }
}
