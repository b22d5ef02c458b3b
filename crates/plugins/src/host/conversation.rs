//! The host's side of the conversation: one loop that never blocks on the helper and never trusts it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use super::answers::Answer;
use super::error::PluginError;
use super::helper::Helper;
use super::server::{Next, Server};
use super::wire::{self, HEAD, Kind, MAX_PAYLOAD, Put};
use target::Reason;

/// How often the user's interrupt is looked for.
const SLICE: Duration = Duration::from_millis(50);
/// What is kept of the plug-in's standard error.
const MAX_STDERR: usize = 64 * 1024;
/// The most that is owed to the helper at one time; it waits for each answer.
const MAX_OWED: usize = 2 * MAX_PAYLOAD;

/// How a conversation ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The server said that it was the last frame.
    Finished,
    /// The server refused to go on.
    Refused(PluginError),
    /// The helper ended, or closed its end.
    HungUp,
    /// The time limit passed.
    TimedOut,
    /// The user interrupted.
    Interrupted,
    /// A frame made no sense.
    Nonsense(Reason),
}

/// The helper's bytes that have not made a whole frame yet.
#[derive(Default)]
struct Incoming {
    bytes: Vec<u8>,
    start: usize,
}

impl Incoming {
    fn serve(&mut self, server: &mut dyn Server<'_>, owed: &mut Vec<u8>) -> Result<Next, End> {
        let mut answer = Answer::default();
        while let Some((kind, payload, len)) = wire::first_frame(&self.bytes[self.start..]).map_err(End::Nonsense)? {
            answer.payload.clear();
            answer.given = false;
            let next = server.frame(kind, payload, &mut answer).map_err(End::Refused)?;
            self.start += len;
            if answer.given {
                owed.u32(answer.payload.len() as u32);
                owed.u8(Kind::REPLY.0);
                owed.bytes(&answer.payload);
            }
            if owed.len() > MAX_OWED {
                return Err(End::Nonsense(Reason::new("requests whose answers it does not read")));
            }
            if next == Next::Stop {
                return Ok(next);
            }
        }
        self.bytes.drain(..self.start);
        self.start = 0;
        Ok(Next::Continue)
    }
}

/// What the plug-in wrote to standard error.
#[derive(Default)]
pub struct Stderr {
    kept: Vec<u8>,
    dropped: bool,
}

impl Stderr {
    /// Reads what is there without waiting; what is beyond the bound is read and dropped.
    fn drain(&mut self, fd: &OwnedFd) -> bool {
        let mut buf = [0; 4096];
        // A plug-in that writes without end must not keep us here.
        for _ in 0..64 {
            match read(fd, &mut buf) {
                Ok(0) => return false,
                Ok(len) => {
                    let room = (MAX_STDERR - self.kept.len()).min(len);
                    self.kept.extend_from_slice(&buf[..room]);
                    self.dropped |= room < len;
                }
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
        true
    }

    /// The lines, safe to print.
    pub fn lines(&self) -> Vec<String> {
        const MAX_LINES: usize = 100;
        let lines = self.kept.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let mut out: Vec<String> = Vec::new();
        let mut more = 0;
        for line in lines {
            if out.len() < MAX_LINES {
                out.push(target::printable(&line[..line.len().min(1000)]));
            } else {
                more += 1;
            }
        }
        if more > 0 || self.dropped {
            out.push(format!("and more that is not kept ({more} lines at least)"));
        }
        out
    }
}

fn read(fd: &OwnedFd, buf: &mut [u8]) -> io::Result<usize> {
    // SAFETY: at most as many bytes as the buffer has.
    let got = unsafe { libc::read(fd.as_raw_fd(), buf.as_mut_ptr().cast(), buf.len()) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Talks with the helper until something ends it. What the helper had not sent when it ended is served too.
pub fn converse(
    helper: &mut Helper,
    server: &mut dyn Server<'_>,
    stderr: &mut Stderr,
    time_limit: Duration,
    interrupted: &dyn Fn() -> bool,
) -> End {
    let deadline = Instant::now() + time_limit;
    let mut incoming = Incoming::default();
    let mut end = talk(helper, server, stderr, deadline, interrupted, &mut incoming);
    if matches!(end, End::HungUp) {
        helper.settle();
    }
    helper.kill();
    stderr.drain(&helper.stderr);
    if matches!(end, End::HungUp | End::TimedOut | End::Interrupted) {
        // First what stands in the socket, then what it had not put there.
        let mut owed = Vec::new();
        receive(helper, &mut incoming);
        let left_over = helper.shared.left_over();
        incoming.bytes.extend_from_slice(&left_over);
        match incoming.serve(server, &mut owed) {
            Ok(Next::Stop) => end = End::Finished,
            Err(End::Refused(refusal)) => end = End::Refused(refusal),
            // It died: half of a frame may well be missing.
            Ok(Next::Continue) | Err(_) => {}
        }
    }
    end
}

fn talk(
    helper: &mut Helper,
    server: &mut dyn Server<'_>,
    stderr: &mut Stderr,
    deadline: Instant,
    interrupted: &dyn Fn() -> bool,
    incoming: &mut Incoming,
) -> End {
    let mut owed: Vec<u8> = Vec::new();
    let mut stderr_open = true;
    let mut looked = Instant::now();
    loop {
        let now = Instant::now();
        if now >= deadline {
            return End::TimedOut;
        }
        if now.duration_since(looked) >= SLICE {
            looked = now;
            if interrupted() {
                return End::Interrupted;
            }
        }
        let wait = deadline.saturating_duration_since(now).min(SLICE).as_millis() as i32 + 1;
        let none = -1;
        let writing = if owed.is_empty() { 0 } else { libc::POLLOUT };
        let mut entries = [
            libc::pollfd { fd: helper.socket.as_raw_fd(), events: libc::POLLIN | writing, revents: 0 },
            libc::pollfd {
                fd: if stderr_open { helper.stderr.as_raw_fd() } else { none },
                events: libc::POLLIN,
                revents: 0,
            },
            libc::pollfd {
                fd: helper.pidfd.as_ref().map_or(none, AsRawFd::as_raw_fd),
                events: libc::POLLIN,
                revents: 0,
            },
        ];
        // SAFETY: three entries, which live on the stack.
        let ready = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, wait) };
        if ready < 0 {
            // A signal of the debugger, Ctrl-C for instance.
            looked = now.checked_sub(SLICE).unwrap_or(now);
            continue;
        }
        if entries[1].revents != 0 {
            stderr_open = stderr.drain(&helper.stderr);
        }
        if entries[0].revents & libc::POLLOUT != 0 && !send(helper, &mut owed) {
            helper.hung_up = true;
            return End::HungUp;
        }
        let open = if entries[0].revents & !libc::POLLOUT != 0 { receive(helper, incoming) } else { true };
        match incoming.serve(server, &mut owed) {
            Ok(Next::Continue) => {}
            Ok(Next::Stop) => return End::Finished,
            Err(end) => return end,
        }
        // Most answers fit at once: without this each would wait for one more turn.
        if !owed.is_empty() && !send(helper, &mut owed) {
            helper.hung_up = true;
            return End::HungUp;
        }
        if !open || entries[2].revents != 0 {
            return End::HungUp;
        }
    }
}

/// Reads what is there, up to a bound; `false` where the helper has closed its end.
fn receive(helper: &mut Helper, incoming: &mut Incoming) -> bool {
    let mut buf = [0; 16 * 1024];
    while incoming.bytes.len() < 2 * (MAX_PAYLOAD + HEAD) {
        match read(&helper.socket, &mut buf) {
            Ok(0) => {
                helper.hung_up = true;
                return false;
            }
            Ok(len) => incoming.bytes.extend_from_slice(&buf[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
            Err(_) => {
                helper.hung_up = true;
                return false;
            }
        }
    }
    true
}

/// Sends what fits; `false` where the helper has closed its end.
fn send(helper: &Helper, owed: &mut Vec<u8>) -> bool {
    // SAFETY: at most as many bytes as `owed` has.
    let sent = unsafe {
        libc::send(helper.socket.as_raw_fd(), owed.as_ptr().cast(), owed.len(), libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
    };
    match usize::try_from(sent) {
        Ok(len) => {
            owed.drain(..len);
            true
        }
        Err(_) => {
            let kind = io::Error::last_os_error().kind();
            kind == io::ErrorKind::WouldBlock || kind == io::ErrorKind::Interrupted
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_error_is_kept_in_bounds_and_made_printable() {
        let stderr = Stderr { kept: b"one\n\n\x1b[31mtwo%n\n".to_vec(), dropped: false };
        assert_eq!(stderr.lines(), ["one", "\\x1b[31mtwo%n"]);
        let many = Stderr { kept: b"x\n".repeat(300), dropped: true };
        assert_eq!(many.lines().len(), 101);
    }
}
