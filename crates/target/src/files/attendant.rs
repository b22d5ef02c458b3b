//! A process of ours that opens and reads files, and can be left behind.
//!
//! A thread could not be: one that waits for a file system of user space, whose server has taken the question and does not
//! answer, does not end by SIGKILL, and a process ends when its last thread does (Linux, fs/fuse/dev.c,
//! `request_wait_answer`). Nobody waits for one that is left behind ([`run_detached`]).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use super::serving::Prepared;
use super::wire::{self, Answer};
use crate::detached::run_detached;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoWord {
    /// It was not there in time: whoever has asked leaves it behind.
    Late,
    /// The attendant has ended: another one may be asked.
    Ended,
}

/// A running attendant. It ends when this is dropped, or as soon as it can.
#[derive(Debug)]
pub(super) struct Attendant {
    socket: OwnedFd,
}

/// Room for one control message with one descriptor.
#[repr(C, align(16))]
pub(super) struct Control([u8; 64]);

impl Control {
    pub(super) const fn new() -> Self {
        Self([0; 64])
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut libc::c_void {
        self.0.as_mut_ptr().cast()
    }
}

impl Attendant {
    /// Starts one.
    pub(super) fn start() -> io::Result<Self> {
        let mut ends = [0; 2];
        // SAFETY: there is room for two descriptors.
        if unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr()) }
            != 0
        {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just given them to us.
        let (socket, theirs) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
        let prepared = Prepared::new();
        run_detached(|| prepared.serve(theirs.as_raw_fd()))?;
        Ok(Self { socket })
    }

    /// Asks, and waits so long at most. The bytes that belong to the answer go into `room`.
    pub(super) fn ask<'a>(
        &self,
        question: &[u8],
        limit: Duration,
        room: &'a mut [u8],
    ) -> Result<(Answer, &'a [u8], Option<OwnedFd>), NoWord> {
        // SAFETY: sends bytes that are there.
        let sent = unsafe {
            let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
            libc::send(self.socket.as_raw_fd(), question.as_ptr().cast(), question.len(), flags)
        };
        if sent < 0 {
            return Err(NoWord::Ended);
        }
        if !self.is_readable(limit) {
            return Err(NoWord::Late);
        }
        let (length, file) = received(&self.socket, room).ok_or(NoWord::Ended)?;
        let message = room.get(..length).unwrap_or_default();
        let (answer, data) = wire::answered(message).ok_or(NoWord::Ended)?;
        Ok((answer, data, file))
    }

    /// Whether one that was left behind has come back, or has ended.
    pub(super) fn has_come_back(&self) -> bool {
        self.is_readable(Duration::ZERO)
    }

    fn is_readable(&self, limit: Duration) -> bool {
        let mut entry = libc::pollfd { fd: self.socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            // Not less than what is left.
            let left = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
            // SAFETY: one entry, which lives on the stack.
            let ready = unsafe { libc::poll(&raw mut entry, 1, left) };
            if ready >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return ready > 0;
            }
        }
    }
}

/// A message, and the file that came with it; `None` where nobody is there any more.
fn received(socket: &OwnedFd, room: &mut [u8]) -> Option<(usize, Option<OwnedFd>)> {
    let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    let mut control = Control::new();
    // SAFETY: `msghdr` is plain data, zero is valid for all of its members. It points to the room and to a control buffer
    // of the stated length; CMSG_FIRSTHDR and CMSG_DATA stay inside what the kernel has filled of that, and a SCM_RIGHTS
    // message of this length holds one descriptor, which is ours now.
    unsafe {
        let mut head: libc::msghdr = std::mem::zeroed();
        head.msg_iov = &raw mut part;
        head.msg_iovlen = 1;
        head.msg_control = control.as_mut_ptr();
        head.msg_controllen = size_of::<Control>() as _;
        let got = libc::recvmsg(socket.as_raw_fd(), &raw mut head, libc::MSG_CMSG_CLOEXEC);
        let got = usize::try_from(got).ok().filter(|got| *got > 0)?;
        let about = libc::CMSG_FIRSTHDR(&raw const head);
        let has_file = !about.is_null()
            && (*about).cmsg_type == libc::SCM_RIGHTS
            && (*about).cmsg_len as usize >= libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize;
        let file = has_file.then(|| OwnedFd::from_raw_fd(libc::CMSG_DATA(about).cast::<RawFd>().read_unaligned()));
        Some((got, file))
    }
}
