//! What the helper process does to itself before foreign code runs in it.
//!
//! It was forked from a debugger: it has the debugger's signal handlers (gdb's would print that gdb has crashed), its
//! descriptors, its terminal and its exit functions. None of these must be reached by a plug-in.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use super::shared::{NOTE_EXIT, Shared};
use target::files::Reader;

/// The number that the helper's socket always has.
pub const SOCKET: RawFd = 3;

/// Memory that a plug-in may use in addition to what the debugger has mapped.
const MEMORY: u64 = 1 << 30;

/// Size of the stack on which deadly signals are handled, so that an overflow of the ordinary one can be told.
const SIGNAL_STACK: usize = 1 << 16;

/// Where the signal handler and the exit function note what happened.
static NOTES: AtomicPtr<Shared> = AtomicPtr::new(std::ptr::null_mut());

/// Room for one control message with one descriptor.
#[repr(C, align(16))]
pub struct ControlBuffer([u8; 64]);

impl ControlBuffer {
    /// All zeros.
    pub const fn new() -> Self {
        Self([0; 64])
    }

    /// Its start.
    pub fn as_mut_ptr(&mut self) -> *mut libc::c_void {
        self.0.as_mut_ptr().cast()
    }
}

/// Signals that end the helper and are told to the host first.
const DEADLY: [i32; 8] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGABRT,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGXCPU,
];

/// Ends the process at once, without exit functions.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(status) }
}

/// Makes this process harmless to the debugger it was forked from: own session, no descriptors but the socket and
/// standard error, default signals, limits, no new processes, and of root's rights only these. Says hello on the socket.
pub fn enter(socket: RawFd, stderr: RawFd, time_limit: Duration, rights: Option<&Reader>, shared: &Shared) {
    // SAFETY: system calls on this process itself, which has one thread and whose memory nobody else uses.
    unsafe {
        libc::setsid();
        shared.set_pid(libc::getpid());
        // No core dumps, also not through a helper program that core_pattern names.
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        descriptors(socket, stderr);
    }
    signals(shared);
    limits(time_limit);
    if rights.is_some_and(|rights| !have_only(rights)) {
        exit_now(1);
    }
    refuse_new_processes();
    // SAFETY: registers a function that only ends the process. It is registered last and so runs before the
    // debugger's own exit functions, which must not run here.
    unsafe { libc::atexit(on_exit) };
    hello();
}

/// Whether this process has somebody's rights now and can have no others any more.
fn have_only(rights: &Reader) -> bool {
    let (user, group) = (rights.uid, rights.gid);
    // SAFETY: the system calls themselves, since a lock of the C library's may be held for ever here; the list is as long as is
    // said. Who has no rights of root's loses the capabilities (man 7 capabilities).
    unsafe {
        let groups = rights.groups.as_ptr();
        libc::syscall(libc::SYS_setgroups, rights.groups.len(), groups) == 0
            && libc::syscall(libc::SYS_setresgid, group, group, group) == 0
            && libc::syscall(libc::SYS_setresuid, user, user, user) == 0
            // The kernel has made it dumpable or not by its own rules.
            && libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
    }
}

extern "C" fn on_exit() {
    // SAFETY: set once by `signals` to memory that lives as long as the process.
    if let Some(shared) = unsafe { NOTES.load(Ordering::Relaxed).as_ref() } {
        shared.set_note(NOTE_EXIT);
    }
    exit_now(0);
}

extern "C" fn on_deadly_signal(signal: i32) {
    // SAFETY: as in `on_exit`; a store to shared memory and the two calls are safe in a signal handler.
    unsafe {
        if let Some(shared) = NOTES.load(Ordering::Relaxed).as_ref() {
            shared.set_signal(signal);
        }
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// # Safety
/// Both descriptors must be open. All others are closed.
unsafe fn descriptors(socket: RawFd, stderr: RawFd) {
    // SAFETY: the process has one thread; nothing of ours uses the descriptors that are closed here.
    unsafe {
        // Out of the way of the numbers that they shall get.
        let socket = libc::fcntl(socket, libc::F_DUPFD, 16);
        let stderr = libc::fcntl(stderr, libc::F_DUPFD, 16);
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        if null >= 0 {
            libc::dup2(null, 0);
            libc::dup2(null, 1);
        } else {
            libc::close(0);
            libc::close(1);
        }
        libc::dup2(stderr, 2);
        libc::dup2(socket, SOCKET);
        let first = SOCKET + 1;
        if libc::syscall(libc::SYS_close_range, first as u32, u32::MAX, 0_u32) != 0 {
            // Before Linux 5.9.
            let mut limit: libc::rlimit = std::mem::zeroed();
            libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
            for fd in first..i32::try_from(limit.rlim_cur.min(1 << 20)).unwrap_or(1 << 20) {
                libc::close(fd);
            }
        }
    }
}

fn signals(shared: &Shared) {
    NOTES.store(std::ptr::from_ref(shared).cast_mut(), Ordering::Relaxed);
    // SAFETY: sets handlers of this process; the handlers only do what signal handlers may do, and the alternative
    // stack is never freed.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        let stack = Box::leak(vec![0_u8; SIGNAL_STACK].into_boxed_slice());
        let stack = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: SIGNAL_STACK };
        libc::sigaltstack(&raw const stack, std::ptr::null_mut());
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_deadly_signal as extern "C" fn(i32) as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
        for signal in DEADLY {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

fn limits(time_limit: Duration) {
    let set = |resource, value: u64| {
        let limit = libc::rlimit { rlim_cur: value, rlim_max: value.saturating_add(1) };
        // SAFETY: lowers a limit of this process.
        unsafe { libc::setrlimit(resource, &raw const limit) };
    };
    let seconds = time_limit.as_secs().saturating_add(1);
    set(libc::RLIMIT_CORE, 0);
    set(libc::RLIMIT_CPU, seconds);
    if let Some(mapped) = mapped_bytes() {
        set(libc::RLIMIT_AS, mapped.saturating_add(MEMORY));
    }
    // Ends this process should the host be gone and the plug-in spin.
    // SAFETY: sets a timer of this process; SIGALRM has its default action.
    unsafe { libc::alarm(u32::try_from(seconds.saturating_add(1)).unwrap_or(u32::MAX)) };
}

/// Size of this process's mappings.
fn mapped_bytes() -> Option<u64> {
    let mut buf = [0_u8; 64];
    // SAFETY: reads at most as many bytes as the buffer has.
    let (got, page) = unsafe {
        let fd = libc::open(c"/proc/self/statm".as_ptr(), libc::O_RDONLY);
        if fd < 0 {
            return None;
        }
        let got = libc::read(fd, buf.as_mut_ptr().cast(), buf.len());
        libc::close(fd);
        (got, libc::sysconf(libc::_SC_PAGESIZE))
    };
    let text = std::str::from_utf8(buf.get(..usize::try_from(got).ok()?)?).ok()?;
    let pages: u64 = text.split_whitespace().next()?.parse().ok()?;
    pages.checked_mul(u64::try_from(page).ok()?)
}

/// Has the kernel refuse fork and exec, so that a plug-in leaves nothing behind. Threads are allowed. Where the kernel
/// does not have such filters, the host's killing of the process group has to do.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn refuse_new_processes() {
    use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W};

    #[cfg(target_arch = "x86_64")]
    const AUDIT_ARCH: u32 = 0xc000_003e;
    #[cfg(target_arch = "aarch64")]
    const AUDIT_ARCH: u32 = 0xc000_00b7;
    // Offsets in `struct seccomp_data`: nr, arch, instruction pointer, arguments.
    const NR: u32 = 0;
    const ARCH: u32 = 4;
    const FIRST_ARGUMENT: u32 = 16;
    let load = |at| libc::sock_filter { code: (BPF_LD | BPF_W | BPF_ABS) as u16, jt: 0, jf: 0, k: at };
    let give = |what| libc::sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k: what };
    // Skips `no` instructions where the loaded number is not `number`.
    let unless =
        |number: u32, no| libc::sock_filter { code: (BPF_JMP | BPF_JEQ | BPF_K) as u16, jt: 0, jf: no, k: number };
    let unless_bit =
        |bit: u32, no| libc::sock_filter { code: (BPF_JMP | BPF_JSET | BPF_K) as u16, jt: 0, jf: no, k: bit };
    let allow = libc::SECCOMP_RET_ALLOW;
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filter = vec![
        load(ARCH),
        unless(AUDIT_ARCH, 1),
        load(NR),
        // Here with either the number or, for another architecture, its code, which is no number of a call below.
        unless(libc::SYS_clone3 as u32, 1),
        // The C library falls back to clone, whose flags a filter can see.
        give(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        unless(libc::SYS_execve as u32, 1),
        give(refuse),
        unless(libc::SYS_execveat as u32, 1),
        give(refuse),
    ];
    #[cfg(target_arch = "x86_64")]
    filter.extend([unless(libc::SYS_fork as u32, 1), give(refuse), unless(libc::SYS_vfork as u32, 1), give(refuse)]);
    filter.extend([
        unless(libc::SYS_clone as u32, 3),
        load(FIRST_ARGUMENT),
        unless_bit(libc::CLONE_THREAD as u32, 2),
        give(allow),
        give(allow),
        give(refuse),
    ]);
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program points to as many instructions as it says; the kernel copies and checks them.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program);
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn refuse_new_processes() {}

/// Sends one byte with this process's own pidfd.
fn hello() {
    let mut byte = b'h';
    let mut control = ControlBuffer::new();
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: all pointers are to locals that outlive the call; the control message is written inside its buffer,
    // which has room for one descriptor.
    unsafe {
        let pidfd = libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0_u32) as RawFd;
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        if pidfd >= 0 {
            message.msg_control = control.as_mut_ptr();
            message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
            let head = libc::CMSG_FIRSTHDR(&raw const message);
            (*head).cmsg_level = libc::SOL_SOCKET;
            (*head).cmsg_type = libc::SCM_RIGHTS;
            (*head).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
            libc::CMSG_DATA(head).cast::<RawFd>().write_unaligned(pidfd);
        }
        libc::sendmsg(SOCKET, &raw const message, libc::MSG_NOSIGNAL);
        if pidfd >= 0 {
            libc::close(pidfd);
        }
    }
}
