//! What an attendant does: a process that was forked without exec, and has nothing but its end of a conversation.
//!
//! It makes system calls only, and allocates nothing: another thread of the program may have held any lock when it was
//! forked.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

use super::opening::{self, Refusal, refused};
use super::rights::{self, Own};
use super::wire::{self, Answer, Outcome, Question, What};
use super::{About, attendant::Control};

/// The number that its end of the conversation always has.
const SOCKET: RawFd = 3;

/// So long it waits for a question while no file is open, in milliseconds: a program that looks once an hour need not keep
/// a process, and what was its own memory at some time, for that.
const IDLE: i32 = 5000;

/// What it has from the beginning.
pub(super) struct Prepared {
    /// Room for a question, and for an answer.
    rooms: (Vec<u8>, Vec<u8>),
    own: Own,
}

impl Prepared {
    pub(super) fn new() -> Self {
        Self { rooms: (vec![0; wire::ROOM], vec![0; wire::ROOM]), own: Own::new() }
    }

    /// Answers until nobody asks any more.
    pub(super) fn serve(mut self, socket: RawFd) -> ! {
        // SAFETY: the process has this one thread, and uses none of what it was forked with.
        unsafe { settle(socket) };
        let mut open = 0_u32;
        while self.one(&mut open) {}
        exit_now()
    }

    /// Answers one question; false where nobody asks any more.
    fn one(&mut self, open: &mut u32) -> bool {
        let Self { rooms: (asked, answer), own } = self;
        let mut entry = libc::pollfd { fd: SOCKET, events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which lives on the stack; the kernel writes no more than there is room.
        let got = unsafe {
            if libc::poll(&raw mut entry, 1, if *open == 0 { IDLE } else { -1 }) <= 0 {
                return false;
            }
            libc::recv(SOCKET, asked.as_mut_ptr().cast(), asked.len(), 0)
        };
        let bytes = usize::try_from(got).ok().and_then(|got| asked.get(..got)).unwrap_or_default();
        let Some(question) = wire::asked(bytes) else { return false };
        let mut file = None;
        let done = match question.reader {
            Some((uid, gid, groups)) => {
                let done = match rights::become_reader(uid, gid, groups) {
                    Ok(()) => done(&question, wire::data_of(answer), &mut file),
                    Err(_) => Err(Refusal::Number(libc::EACCES)),
                };
                if !own.have() {
                    return false;
                }
                done
            }
            None => done(&question, wire::data_of(answer), &mut file),
        };
        let (outcome, about, length) = match done {
            Ok((about, length)) => (Outcome::Done, about, length),
            Err(Refusal::Number(number)) => (Outcome::Refused(number), About::default(), 0),
            Err(Refusal::Irregular(kind)) => (Outcome::Irregular(kind), About::default(), 0),
        };
        // One of another machine's stays here: whoever has it may have to wait when it is closed.
        let kept = file.as_ref().filter(|_| !about.is_local).map_or(-1, AsRawFd::as_raw_fd);
        let length = wire::answer(&Answer { outcome, number: kept, about }, length, answer);
        let handed = file.as_ref().filter(|_| about.is_local).map(AsRawFd::as_raw_fd);
        let told = answer.get(..length).is_some_and(|message| tell(message, handed));
        match question.what {
            What::Open if kept >= 0 => {
                *open += 1;
                let _ = file.map(IntoRawFd::into_raw_fd);
            }
            What::Close => *open = open.saturating_sub(1),
            _ => (),
        }
        told
    }
}

/// Does what is asked; what the file is, and how many bytes of data there are.
fn done(question: &Question<'_>, data: &mut [u8], file: &mut Option<OwnedFd>) -> Result<(About, usize), Refusal> {
    let path = CStr::from_bytes_with_nul(question.path).map_err(|_| Refusal::Number(libc::EINVAL));
    match question.what {
        What::Open => {
            let (opened, about) = opening::regular(path?)?;
            *file = Some(opened);
            Ok((about, 0))
        }
        What::Look => opening::looked_at(path?).map(|about| (about, 0)),
        What::Real => opening::real(path?, data).map(|length| (About::default(), length)),
        What::Read => {
            let offset = question.offset.try_into().map_err(|_| Refusal::Number(libc::EINVAL))?;
            let room = data.get_mut(..question.length).unwrap_or_default();
            // SAFETY: the kernel writes no more than there is room.
            let got = unsafe { libc::pread(question.number, room.as_mut_ptr().cast(), room.len(), offset) };
            Ok((About::default(), usize::try_from(got).map_err(|_| refused())?))
        }
        What::LookAgain => opening::about(&question.number).map(|about| (about, 0)),
        What::Close => {
            // SAFETY: one that was kept for whoever asks, who uses it no more.
            drop(unsafe { OwnedFd::from_raw_fd(question.number) });
            Ok((About::default(), 0))
        }
    }
}

/// Sends an answer, with a file where there is one; false where nobody is there.
fn tell(message: &[u8], file: Option<RawFd>) -> bool {
    let mut part = libc::iovec { iov_base: message.as_ptr().cast_mut().cast(), iov_len: message.len() };
    let mut control = Control::new();
    // SAFETY: `msghdr` is plain data, zero is valid for all of its members. It points to the answer, which is only read,
    // and to a control buffer that has room for one descriptor.
    let sent = unsafe {
        let mut head: libc::msghdr = std::mem::zeroed();
        head.msg_iov = &raw mut part;
        head.msg_iovlen = 1;
        if let Some(file) = file {
            let bytes = size_of::<RawFd>() as u32;
            head.msg_control = control.as_mut_ptr();
            head.msg_controllen = libc::CMSG_SPACE(bytes) as _;
            let about = libc::CMSG_FIRSTHDR(&raw const head);
            (*about).cmsg_level = libc::SOL_SOCKET;
            (*about).cmsg_type = libc::SCM_RIGHTS;
            (*about).cmsg_len = libc::CMSG_LEN(bytes) as _;
            libc::CMSG_DATA(about).cast::<RawFd>().write_unaligned(file);
        }
        libc::sendmsg(SOCKET, &raw const head, libc::MSG_NOSIGNAL)
    };
    sent >= 0
}

/// Leaves everything that the program has: its terminal, its group, its descriptors.
///
/// # Safety
/// Nothing may use a descriptor that was open, but `socket`.
unsafe fn settle(socket: RawFd) {
    // SAFETY: system calls on this process itself.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"mpi-queues-file".as_ptr());
        // Out of the way of the numbers that they shall get.
        let socket = libc::fcntl(socket, libc::F_DUPFD, 16);
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for standard in 0..SOCKET {
            if nothing < 0 {
                libc::close(standard);
            } else {
                libc::dup2(nothing, standard);
            }
        }
        if libc::dup2(socket, SOCKET) != SOCKET {
            exit_now();
        }
        let first = SOCKET + 1;
        if libc::syscall(libc::SYS_close_range, first.cast_unsigned(), u32::MAX, 0_u32) != 0 {
            // Before Linux 5.9.
            let mut limit: libc::rlimit = std::mem::zeroed();
            libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
            for descriptor in first..i32::try_from(limit.rlim_cur.min(1 << 20)).unwrap_or(1 << 20) {
                libc::close(descriptor);
            }
        }
    }
}

/// Ends the process at once, without exit functions: these are the program's.
fn exit_now() -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(0) }
}
