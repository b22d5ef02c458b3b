//! The helper process: nobody's child ([`run_detached`]), killed by pidfd.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use target::detached::run_detached;
use target::files::Reader;

use super::error::PluginError;
use super::isolation;
use super::shared::{NOTE_LOST, Shared};

/// How long the helper may take to say hello. It only makes system calls until then.
const HELLO: i32 = 5000;
/// How long a process may take from the end of its connection to its own end, in milliseconds.
const SETTLING: i32 = 300;
/// How long a killed process may take to disappear, in milliseconds.
const DEATH: i32 = 2000;

/// A running helper process. Dropping it kills it.
pub struct Helper {
    /// Our end of the conversation; non-blocking.
    pub socket: OwnedFd,
    /// What the plug-in writes to standard error; non-blocking.
    pub stderr: OwnedFd,
    /// The process, `None` before Linux 5.3.
    pub pidfd: Option<OwnedFd>,
    /// What both sides can see.
    pub shared: Shared,
    /// Whether the other end of the socket has been closed.
    pub hung_up: bool,
}

fn start_error(what: &str, error: &io::Error) -> PluginError {
    PluginError::Start { reason: format!("{what}: {error}") }
}

fn descriptor(fd: RawFd) -> OwnedFd {
    // SAFETY: every caller hands over a descriptor that a system call has just returned to it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn pair(what: &str, make: impl FnOnce(*mut RawFd) -> i32) -> Result<(OwnedFd, OwnedFd), PluginError> {
    let mut fds = [0; 2];
    if make(fds.as_mut_ptr()) != 0 {
        return Err(start_error(what, &io::Error::last_os_error()));
    }
    Ok((descriptor(fds[0]), descriptor(fds[1])))
}

fn set_nonblocking(fd: &OwnedFd) {
    // SAFETY: the descriptor is open; only its flags change.
    unsafe {
        let flags = libc::fcntl(fd.as_raw_fd(), libc::F_GETFL);
        libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK);
    }
}

impl Helper {
    /// Starts a helper that runs `body` in isolation and then ends. `body` gets the number of its socket and the shared
    /// memory; it must not use anything that another thread may have locked. `rights`: with whose it runs, where root runs this.
    ///
    /// # Errors
    /// [`PluginError::Start`].
    pub fn start(
        time_limit: Duration,
        rights: Option<&Reader>,
        body: &dyn Fn(RawFd, &Shared),
    ) -> Result<Self, PluginError> {
        // SAFETY: `fds` has room for two descriptors.
        let (socket, theirs) = pair("socketpair", |fds| unsafe {
            libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0, fds)
        })?;
        // SAFETY: `fds` has room for two descriptors.
        let (stderr, their_stderr) = pair("pipe", |fds| unsafe { libc::pipe2(fds, libc::O_CLOEXEC) })?;
        let shared = Shared::new().map_err(|error| start_error("mmap", &error))?;

        let rights = rights.filter(|rights| rights.takes_rights());
        run_detached(|| {
            isolation::enter(theirs.as_raw_fd(), their_stderr.as_raw_fd(), time_limit, rights, &shared);
            mqs_interface::barrier((), || body(isolation::SOCKET, &shared));
        })
        .map_err(|error| start_error("fork", &error))?;
        drop((theirs, their_stderr));
        let mut helper = Self { socket, stderr, pidfd: None, shared, hung_up: false };
        helper.pidfd = helper.receive_hello()?;
        set_nonblocking(&helper.socket);
        set_nonblocking(&helper.stderr);
        Ok(helper)
    }

    /// The first byte, which carries the helper's pidfd: only the process itself can open that without a race.
    fn receive_hello(&self) -> Result<Option<OwnedFd>, PluginError> {
        if !wait_readable(&self.socket, HELLO) {
            return Err(PluginError::Start { reason: "it did not say hello".to_owned() });
        }
        let mut byte = 0_u8;
        let mut control = isolation::ControlBuffer::new();
        let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        // SAFETY: `msghdr` is plain data, zero is valid for all of its members.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr();
        message.msg_controllen = size_of::<isolation::ControlBuffer>() as _;
        // SAFETY: the message points to one byte and to a control buffer of the stated length.
        let got = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
        if got != 1 {
            return Err(PluginError::Start { reason: "it ended before it said hello".to_owned() });
        }
        // SAFETY: the kernel has filled the control buffer; CMSG_FIRSTHDR and CMSG_DATA stay inside it, and a
        // SCM_RIGHTS message of this length holds one descriptor, which is ours now.
        unsafe {
            let head = libc::CMSG_FIRSTHDR(&raw const message);
            if head.is_null()
                || (*head).cmsg_type != libc::SCM_RIGHTS
                || ((*head).cmsg_len as usize) < libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize
            {
                return Ok(None);
            }
            Ok(Some(descriptor(libc::CMSG_DATA(head).cast::<RawFd>().read_unaligned())))
        }
    }

    /// Gives a helper whose connection is closed a moment to end by itself, so that its last notes are read; one that
    /// goes on has closed the connection.
    pub fn settle(&self) {
        if self.pidfd.as_ref().is_some_and(|pidfd| !wait_readable(pidfd, SETTLING)) {
            self.shared.set_note(NOTE_LOST);
        }
    }

    /// Kills the helper, and what it may have started, and waits until it is gone.
    pub fn kill(&mut self) {
        let pid = self.shared.pid();
        let Some(pidfd) = &self.pidfd else {
            // Without a pidfd only an open connection shows that the number is still this process's.
            if !self.hung_up && pid > 1 {
                // SAFETY: sends a signal; no memory is involved.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
            return;
        };
        let alive = !wait_readable(pidfd, 0);
        // The number stands in memory that the plug-in can write to: the group must be one that the helper leads.
        // SAFETY: asks and sends signals; no memory is involved.
        unsafe {
            if alive && pid > 1 && libc::getpgid(pid) == pid && libc::getsid(pid) == pid && libc::getsid(0) != pid {
                // A living leader keeps its group's number from being given to others.
                if self.owns(pid) {
                    libc::kill(-pid, libc::SIGKILL);
                }
            }
            libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), libc::SIGKILL, 0_usize, 0_u32);
        }
        wait_readable(pidfd, DEATH);
    }

    /// Whether our pidfd is that of the process `pid`.
    fn owns(&self, pid: i32) -> bool {
        let Some(pidfd) = &self.pidfd else { return false };
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd())).unwrap_or_default();
        let line = info.lines().find_map(|line| line.strip_prefix("Pid:"));
        line.and_then(|text| text.trim().parse::<i32>().ok()) == Some(pid)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Whether the descriptor becomes readable (for a pidfd: its process has ended) within so many milliseconds.
fn wait_readable(fd: &OwnedFd, milliseconds: i32) -> bool {
    let mut entry = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let end = std::time::Instant::now() + Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0));
    loop {
        let left = end.saturating_duration_since(std::time::Instant::now()).as_millis();
        // SAFETY: one entry, which lives on the stack.
        let ready = unsafe { libc::poll(&raw mut entry, 1, i32::try_from(left).unwrap_or(i32::MAX)) };
        if ready >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return ready > 0;
        }
    }
}
