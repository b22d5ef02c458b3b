//! Whose lock of a file is in a thread's way: `/proc/locks`, and `/proc/PID/fdinfo` of what is locked by an open file.

use std::fs;

use model::{Awaited, AwaitedKind, Owner, SystemCall, Text};
use target::address::TargetAddr;
use target::processes::place;
use target::{PageCache, Target as _, files};

use crate::peers::{self, MOST_OWNERS, Open};
use crate::process::Process;

/// The system calls that wait for the lock of a file.
pub(super) const CALLS: [&str; 2] = ["fcntl", "flock"];

/// Longer tables of locks are not read to their end (bytes).
const MOST_LOCKS: u64 = 4 << 20;

/// A line of `/proc/locks` (proc(5)) of a lock that is held: who waits for one is in it as well, but not while it is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lock<'a> {
    /// `POSIX` (`fcntl`), `OFDLCK` (of an open file description) or `FLOCK`.
    kind: &'a str,
    is_write: bool,
    /// Who took it; -1: an open file description has it, 0: a process of another namespace.
    pid: i64,
    inode: u64,
    first: u64,
    /// The last byte.
    last: u64,
}

fn lock(line: &str) -> Option<Lock<'_>> {
    let mut words = line.split_whitespace();
    let _number = words.next()?;
    let kind = words.next().filter(|word| *word != "->")?;
    let (_advisory, access, pid, file) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let (first, last) = (words.next()?.parse().ok()?, words.next()?);
    Some(Lock {
        kind,
        is_write: access == "WRITE",
        pid: pid.parse().ok()?,
        inode: file.rsplit(':').next()?.parse().ok()?,
        first,
        last: if last == "EOF" { u64::MAX } else { last.parse().ok()? },
    })
}

/// To whom the lock belongs that a thread wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// To the process: `fcntl`.
    Posix,
    /// To the open file description: `fcntl` with `F_OFD_SETLKW`.
    Ofd,
    /// To the open file description, and in the way of its like alone: `flock`.
    Flock,
}

/// The lock that a thread wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wanted {
    pid: i64,
    inode: u64,
    kind: Kind,
    is_write: bool,
    first: u64,
    last: u64,
}

impl Wanted {
    /// Whether a lock that is held is in its way.
    fn conflicts(&self, held: &Lock<'_>) -> bool {
        let own = self.kind == Kind::Posix && held.kind == "POSIX" && held.pid == self.pid;
        let is_flock = self.kind == Kind::Flock;
        let overlaps = is_flock || held.first <= self.last && self.first <= held.last;
        held.inode == self.inode
            && is_flock == (held.kind == "FLOCK")
            && (self.is_write || held.is_write)
            && overlaps
            && !own
    }
}

/// The locks that are in the way.
fn in_the_way<'a>(locks: &'a str, wanted: &Wanted) -> Vec<Lock<'a>> {
    locks.lines().filter_map(lock).filter(|held| wanted.conflicts(held)).collect()
}

/// What a line of `fdinfo` begins with that tells of a lock, as `/proc/locks` does (proc(5)).
const IN_FDINFO: &str = "lock:";

/// The locks of an open file that are in the way.
fn of_open_file<'a>(fdinfo: &'a str, wanted: &Wanted) -> Vec<Lock<'a>> {
    let locks = fdinfo.lines().filter_map(|line| lock(line.strip_prefix(IN_FDINFO)?));
    locks.filter(|held| wanted.conflicts(held)).collect()
}

/// Which other process has the file open in such a way that locks are in the way; `None` where several share what is locked, of
/// which any one can unlock it.
fn by_open_files(own: Open, wanted: &Wanted) -> Option<i64> {
    let name = fs::read_link(place(own.pid).join(format!("fd/{}", own.descriptor))).ok()?;
    let has_it = |open: &Open| open.fdinfo().is_some_and(|fdinfo| !of_open_file(&fdinfo, wanted).is_empty());
    let others = peers::open_files(&name).into_iter().filter(|open| *open != own && has_it(open));
    let mut pids: Vec<u32> = others.map(|open| open.pid).collect();
    pids.sort_unstable();
    pids.dedup();
    let [pid] = pids[..] else { return None };
    Some(i64::from(pid))
}

/// `F_SETLKW` and `F_OFD_SETLKW` (include/uapi/asm-generic/fcntl.h).
const F_SETLKW: u64 = 7;
const F_OFD_SETLKW: u64 = 38;
const F_RDLCK: u64 = 0;
const SEEK_SET: u64 = 0;
/// Of `flock`.
const LOCK_EX: u64 = 2;

/// What `fcntl` and `flock` were given: the file, the operation, and of `fcntl` the address of a `struct flock`.
fn wanted<P: Process>(
    memory: &PageCache<P>,
    name: &str,
    pid: u32,
    inode: u64,
    [_, operation, at]: [u64; 3],
) -> Option<Wanted> {
    let kind = match (name, operation) {
        ("flock", _) => Kind::Flock,
        (_, F_SETLKW) => Kind::Posix,
        (_, F_OFD_SETLKW) => Kind::Ofd,
        _ => return None,
    };
    let whole = Wanted { pid: i64::from(pid), inode, kind, is_write: true, first: 0, last: u64::MAX };
    if kind == Kind::Flock {
        return Some(Wanted { is_write: operation & LOCK_EX != 0, ..whole });
    }
    let mut bytes = [0; 24];
    if memory.read(TargetAddr::new(at), &mut bytes).is_err() {
        return Some(whole);
    }
    let number = |range: std::ops::Range<usize>| memory.abi().uint(bytes.get(range).unwrap_or_default());
    let is_write = number(0..2) != F_RDLCK;
    if number(2..4) != SEEK_SET {
        return Some(Wanted { is_write, ..whole });
    }
    let (start, length) = (number(8..16), number(16..24));
    let last = if length == 0 { u64::MAX } else { start.saturating_add(length - 1) };
    Some(Wanted { is_write, first: start, last, ..whole })
}

pub(super) fn awaited<P: Process>(memory: &PageCache<P>, call: &SystemCall, arguments: [u64; 3]) -> Option<Awaited> {
    use std::io::Read as _;
    let pid = memory.inner().here()?;
    let file = place(pid).join(format!("fd/{}", call.descriptor?));
    let inode = files::about(&file).ok()?.inode;
    let wanted = wanted(memory, call.name.as_deref()?, pid, inode, arguments)?;
    let path = fs::read_link(&file).ok().map(|path| Text::from(peers::readable(&path)));
    let mut locks = String::new();
    let read = fs::File::open("/proc/locks").and_then(|table| table.take(MOST_LOCKS).read_to_string(&mut locks));
    let (held, unknown) = match &read {
        Ok(_) => holders(&locks, &wanted, Open { pid, descriptor: u32::try_from(call.descriptor?).ok()? }),
        Err(_) => (Vec::new(), Some("/proc/locks could not be read")),
    };
    let owners: Vec<Owner> = held.into_iter().take(MOST_OWNERS).map(peers::named).collect();
    let descriptor = call.descriptor;
    Some(Awaited { kind: AwaitedKind::FileLock, path, descriptor, owners, unknown: unknown.map(Text::from) })
}

/// The processes whose locks are in the way, or why these are not known.
fn holders(locks: &str, wanted: &Wanted, own: Open) -> (Vec<i64>, Option<&'static str>) {
    let mut held = in_the_way(locks, wanted);
    // What an open file has locked is not in its own way.
    let fdinfo = if wanted.kind == Kind::Posix { None } else { own.fdinfo() };
    for known in of_open_file(fdinfo.as_deref().unwrap_or_default(), wanted) {
        held.iter().position(|held| *held == known).map(|place| held.remove(place));
    }
    if held.is_empty() {
        return (Vec::new(), Some("no process on this machine holds it; a process on another node may"));
    }
    // Who took a lock of an open file may have ended, and left it to a child.
    let by_process = |held: &Lock<'_>| held.pid > 0 && (held.kind == "POSIX" || peers::is_there(held.pid));
    let mut found: Vec<i64> = held.iter().filter(|held| by_process(held)).map(|held| held.pid).collect();
    if found.len() < held.len() {
        let Some(other) = by_open_files(own, wanted) else {
            return (Vec::new(), Some("the system does not say which process holds it"));
        };
        found.push(other);
    }
    found.sort_unstable();
    found.dedup();
    (found, None)
}

#[cfg(test)]
mod tests {
    use super::{Kind, Wanted, in_the_way, lock, of_open_file};

    const LOCKS: &str = "1: POSIX  ADVISORY  WRITE 700 00:2a:17 0 EOF\n1: -> POSIX  ADVISORY  WRITE 701 00:2a:17 0 EOF\n\
                         2: FLOCK  ADVISORY  WRITE 900 00:2a:17 0 EOF\n3: OFDLCK ADVISORY  READ  -1 00:2a:19 0 99\n\
                         4: POSIX  ADVISORY  READ  702 00:2a:19 100 199\n";

    fn wanted(inode: u64) -> Wanted {
        Wanted { pid: 701, inode, kind: Kind::Posix, is_write: true, first: 0, last: u64::MAX }
    }

    fn holders(wanted: &Wanted) -> Vec<i64> {
        in_the_way(LOCKS, wanted).iter().map(|held| held.pid).collect()
    }

    #[test]
    fn whose_locks_are_in_the_way() {
        assert_eq!(holders(&wanted(17)), [700]);
        assert_eq!(holders(&Wanted { kind: Kind::Flock, ..wanted(17) }), [900]);
        assert_eq!(holders(&Wanted { pid: 700, ..wanted(17) }), [0; 0]);
        assert_eq!(holders(&Wanted { pid: 700, kind: Kind::Ofd, ..wanted(17) }), [700], "a process's own, too");
        assert_eq!(holders(&wanted(18)), [0; 0]);
        // Those of other bytes, and those that read where one reads, are in nobody's way.
        assert_eq!(holders(&wanted(19)), [-1, 702]);
        assert_eq!(holders(&Wanted { last: 99, ..wanted(19) }), [-1]);
        assert_eq!(holders(&Wanted { first: 200, ..wanted(19) }), [0; 0]);
        assert_eq!(holders(&Wanted { is_write: false, ..wanted(19) }), [0; 0]);
    }

    #[test]
    fn what_an_open_file_has_locked() {
        let fdinfo = "pos:\t0\nflags:\t02100002\nlock:\t1: OFDLCK ADVISORY  WRITE -1 00:2a:19 0 99\n";
        assert_eq!(of_open_file(fdinfo, &wanted(19)).len(), 1);
        assert_eq!(of_open_file(fdinfo, &Wanted { first: 100, ..wanted(19) }), []);
        assert_eq!(of_open_file("pos:\t0\n", &wanted(19)), []);
    }

    #[test]
    fn what_is_no_lock_that_is_held_is_none() {
        for line in [
            "",
            "1:",
            "1: ->",
            "1: POSIX ADVISORY WRITE x 0:0:1 0 EOF",
            "1: POSIX ADVISORY WRITE 1",
            "1: POSIX A WRITE 1 0:0:1 0 x",
        ] {
            assert_eq!(lock(line), None, "{line}");
        }
    }
}
