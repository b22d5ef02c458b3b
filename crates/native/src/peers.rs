//! Who has the other end of what a thread reads or writes: of pipes, FIFOs and sockets of this machine.
//!
//! proc(5): `/proc/PID/fd` has what each process has open, `fdinfo` for reading or for writing. Processes that may not be looked into
//! are left out, so that an end that nobody has is no proof that there is none.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use calls::system_calls;
use model::{Awaited, AwaitedKind, Owner, SystemCall, Text};
use target::files::about;
use target::processes::{self, place};
use target::registers::Machine;
use target::{printable, printable_path};

use crate::netlink;
use crate::stop::{seen_by, system_call};

/// More owners are not told.
pub(crate) const MOST_OWNERS: usize = 64;

/// So many open files are looked at in all.
const MOST_FILES: usize = 1 << 17;

/// What all processes have open, or mapped, is asked anew after this time.
pub(crate) const KNOWN_FOR: Duration = Duration::from_millis(500);

/// How far it is told who waits for whom outside the job.
const DEPTH: usize = 3;

/// O_ACCMODE and its values (include/uapi/asm-generic/fcntl.h).
const ACCESS: u64 = 3;
const READS: u64 = 0;
const WRITES: u64 = 1;

/// What a system call does with a file that it has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Reads,
    Writes,
}

impl Does {
    fn of(call: &str) -> Option<Self> {
        match call {
            "read" | "readv" | "recvfrom" | "recvmsg" => Some(Self::Reads),
            "write" | "writev" | "sendto" | "sendmsg" => Some(Self::Writes),
            _ => None,
        }
    }
}

/// An open file of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) pid: u32,
    pub(crate) descriptor: u32,
}

impl Open {
    /// What the kernel tells of it (proc(5)); `None` where it is closed, or the process may not be looked into.
    pub(crate) fn fdinfo(&self) -> Option<String> {
        fs::read_to_string(place(self.pid).join(format!("fdinfo/{}", self.descriptor))).ok()
    }
}

/// The open files of all processes, by what the kernel calls them.
type Files = Rc<HashMap<PathBuf, Vec<Open>>>;

thread_local! {
    static KNOWN: RefCell<Option<(Instant, Files)>> = const { RefCell::new(None) };
}

fn files() -> Files {
    let known = KNOWN.with_borrow(|known| known.clone());
    if let Some((_, files)) = known.filter(|(at, _)| at.elapsed() < KNOWN_FOR) {
        return files;
    }
    let mut found: HashMap<PathBuf, Vec<Open>> = HashMap::new();
    let mut left = MOST_FILES;
    for pid in all() {
        let Ok(open) = fs::read_dir(place(pid).join("fd")) else { continue };
        for file in open.flatten().take(left) {
            left -= 1;
            let Some(descriptor) = file.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            if let Ok(name) = fs::read_link(file.path()) {
                found.entry(name).or_default().push(Open { pid, descriptor });
            }
        }
    }
    let files = Rc::new(found);
    KNOWN.set(Some((Instant::now(), Rc::clone(&files))));
    files
}

/// Who has a file open, by what the kernel calls it.
pub(crate) fn open_files(name: &Path) -> Vec<Open> {
    files().get(name).cloned().unwrap_or_default()
}

/// The processes of this machine.
pub(crate) fn all() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What a thread waits for that reads or writes a file by its number.
pub(crate) fn of_file(pid: u32, call: &str, descriptor: i64) -> Option<Awaited> {
    of(pid, Does::of(call)?, u32::try_from(descriptor).ok()?, DEPTH)
}

fn of(pid: u32, does: Does, descriptor: u32, depth: usize) -> Option<Awaited> {
    let file = place(pid).join(format!("fd/{descriptor}"));
    // The file system of a file that a rank cannot read need not answer us either.
    let (name, kind) = (fs::read_link(&file).ok()?, about(&file).ok()?.mode & libc::S_IFMT);
    let (ends, far) = if kind == libc::S_IFIFO {
        let wanted = if does == Does::Reads { WRITES } else { READS };
        let open = open_files(&name);
        // Both ends are mostly in one process for a moment only; who has the one that is used is no peer of itself.
        let other = |one: &Open| (one.pid, one.descriptor) != (pid, descriptor) && accesses(*one, wanted);
        (open.into_iter().filter(other).map(|one| one.pid).collect(), None)
    } else if kind == libc::S_IFSOCK {
        match peer_socket(&name) {
            Some(peer) => (open_files(&peer).iter().map(|one| one.pid).collect(), None),
            None => (Vec::new(), Some("which process has the other end of the socket is not known")),
        }
    } else {
        return None;
    };
    let owners = owners(ends, depth);
    let unknown = if owners.is_empty() { far.or(Some("no process that may be read has its other end")) } else { None };
    Some(Awaited {
        kind: if does == Does::Reads { AwaitedKind::Writer } else { AwaitedKind::Reader },
        path: Some(Text::from(readable(&name))),
        descriptor: Some(i64::from(descriptor)),
        owners,
        unknown: unknown.map(Text::from),
    })
}

/// A path without what the kernel adds to one that is there no more (proc(5)).
pub(crate) fn readable(name: &Path) -> String {
    let name = printable_path(name);
    name.strip_suffix(" (deleted)").unwrap_or(&name).to_owned()
}

/// What a thread waits for that opens a FIFO.
pub(crate) fn of_opening(pid: u32, path: &Path, flags: u64) -> Option<Awaited> {
    about(&seen_by(pid, path)).ok().filter(|about| about.mode & libc::S_IFMT == libc::S_IFIFO)?;
    let verb = if flags & ACCESS == READS { "writing" } else { "reading" };
    Some(Awaited {
        kind: AwaitedKind::Opener,
        path: Some(Text::from(printable_path(path))),
        unknown: Some(Text::from(format!("no process has opened it for {verb}"))),
        ..Awaited::default()
    })
}

/// Whether a process has a file open for this.
fn accesses(open: Open, wanted: u64) -> bool {
    let about = open.fdinfo().unwrap_or_default();
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:")).map(str::trim);
    let access = flags.and_then(|flags| u64::from_str_radix(flags, 8).ok()).map(|flags| flags & ACCESS);
    access.is_none_or(|access| access == wanted || access > WRITES)
}

/// `socket:[4711]` of the other end of a socket.
fn peer_socket(name: &Path) -> Option<PathBuf> {
    let inode: u64 = name.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?;
    let unix = netlink::unix_peers().unwrap_or_default();
    let peer = unix.iter().find(|(own, _)| *own == inode).map(|(_, peer)| *peer).or_else(|| {
        let all = netlink::connections()?;
        let ends = all.iter().find(|one| one.inode == inode)?.ends.other_way();
        all.iter().find(|one| one.ends == ends).map(|one| one.inode)
    })?;
    Some(PathBuf::from(format!("socket:[{peer}]")))
}

fn owners(mut pids: Vec<u32>, depth: usize) -> Vec<Owner> {
    pids.sort_unstable();
    pids.dedup();
    let owner = |pid: &u32| {
        let waits_for = depth.checked_sub(1).and_then(|depth| of_main_thread(*pid, depth));
        Owner { waits_for: waits_for.map(Box::new), ..named(i64::from(*pid)) }
    };
    pids.iter().take(MOST_OWNERS).map(owner).collect()
}

/// What the first thread of a process waits for to read or to write.
fn of_main_thread(pid: u32, depth: usize) -> Option<Awaited> {
    let call = waits_in(pid)?;
    of(pid, Does::of(call.name.as_deref()?)?, u32::try_from(call.descriptor?).ok()?, depth)
}

/// The system call in which the first thread of a process waits.
pub fn waits_in(pid: u32) -> Option<SystemCall> {
    let text = system_call(processes::thread(pid))?;
    system_calls::of_proc(Machine::ours(), &text, None).filter(|call| call.waits)
}

/// Whether there is a process of this number.
pub(crate) fn is_there(pid: i64) -> bool {
    u32::try_from(pid).is_ok_and(|pid| place(pid).exists())
}

/// Another process, with its program's name.
pub(crate) fn named(pid: i64) -> Owner {
    let command = u32::try_from(pid).ok().and_then(|pid| fs::read(place(pid).join("comm")).ok());
    let command = command.map(|name| Text::from(printable(name.trim_ascii_end())));
    Owner { pid: Some(pid), command, ..Owner::default() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};

    use super::*;

    fn pids(awaited: &Awaited) -> Vec<i64> {
        awaited.owners.iter().filter_map(|owner| owner.pid).collect()
    }

    #[test]
    fn who_reads_a_pipe_and_who_writes_it() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (own, pid) = (std::process::id(), i64::from(child.id()));
        KNOWN.set(None);
        let written = of_file(own, "write", i64::from(to.as_raw_fd())).unwrap();
        assert_eq!((written.kind, pids(&written)), (AwaitedKind::Reader, vec![pid]));
        assert!(written.path.as_deref().unwrap().starts_with("pipe:["));
        let read = of_file(own, "read", i64::from(from.as_raw_fd())).unwrap();
        assert_eq!((read.kind, pids(&read)), (AwaitedKind::Writer, vec![pid]));
        // And what that one waits for: us.
        let waits = || of_main_thread(child.id(), 1);
        assert!((0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            waits().is_some_and(|found| found.kind == AwaitedKind::Writer && pids(&found) == [i64::from(own)])
        }));
        drop(to);
        child.wait().unwrap();
    }

    #[test]
    fn who_has_the_other_end_of_a_socket() {
        let (mut one, other) = UnixStream::pair().unwrap();
        one.write_all(b"x").unwrap();
        KNOWN.set(None);
        let found = of_file(std::process::id(), "recvfrom", i64::from(other.as_raw_fd())).unwrap();
        // A child of another test has it, too, until it begins its own program.
        assert_eq!(found.kind, AwaitedKind::Writer);
        assert!(pids(&found).contains(&i64::from(std::process::id())), "{found:?}");
    }

    #[test]
    fn a_file_on_a_disk_has_no_other_end() {
        let file = fs::File::open("/proc/self/exe").unwrap();
        assert_eq!(of_file(std::process::id(), "read", i64::from(file.as_raw_fd())), None);
        assert_eq!(of_file(std::process::id(), "lseek", 0), None);
        assert_eq!(of_file(u32::MAX, "read", 0), None);
        assert_eq!(of_opening(std::process::id(), Path::new("/proc/self/exe"), 0), None);
    }
}
