//! Who holds what a thread waits for outside MPI: file locks from `/proc/locks`, the locks of pthreads from their memory, children
//! from `/proc`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use calls::system_calls;
use model::{Awaited, AwaitedKind, Frame, Owner, SystemCall, Text};
use target::address::TargetAddr;
use target::files;
use target::processes::place;
use target::registers::{Machine, Registers};
use target::{PageCache, Target as _};

use crate::live::Live;
use crate::peers;
use crate::process::{Process, Thread};
use crate::stacks::cxx::FS_BASE;

/// The system call that waits for the locks of the C library.
const FUTEX: &str = "futex";

/// The system calls that wait for the lock of a file.
const FILE_LOCKS: [&str; 2] = ["fcntl", "flock"];

/// PATH_MAX (include/uapi/linux/limits.h), in bytes.
const MOST_PATH: usize = 4096;

/// Longer tables of locks are not read to their end (bytes).
const MOST_LOCKS: u64 = 4 << 20;

/// No more owners are told.
const MOST_OWNERS: usize = 64;

/// Without FUTEX_WAITERS and FUTEX_OWNER_DIED (include/uapi/linux/futex.h) the word of a lock that the kernel knows, and of a
/// thread that is joined, is the number of a thread.
const THREAD_OF_WORD: u32 = 0x3fff_ffff;

/// The kinds of mutexes, with the bits that glibc adds to them (sysdeps/nptl/pthreadP.h, 2.36).
const MOST_KIND: u32 = 0x3ff;

/// What names of functions say of what is waited for, where they are known.
const NOT_OWNED: [&str; 4] = ["cond", "barrier", "sigwait", "once"];
const SEMAPHORE: &str = "sem_";

/// What a thread waits for, and who has it, where that can be known. `arguments` are the first three of the system call.
pub(crate) fn awaited<P: Process>(
    memory: &PageCache<P>,
    thread: &Thread,
    call: &SystemCall,
    arguments: [u64; 3],
    frames: &[Frame],
) -> Option<Awaited> {
    let process = memory.inner();
    let name = call.name.as_deref()?;
    // Who waits for it comes back every five milliseconds, and is not in a wait then.
    if let Some(found) = Some(name).filter(|name| *name == FUTEX).and_then(|_| gil(memory, arguments[0])) {
        return Some(found);
    }
    match name {
        _ if !call.waits => None,
        name if FILE_LOCKS.contains(&name) => file_lock(memory, call, arguments),
        "wait4" => child(process.here()?, thread.id, Some(arguments[0])),
        "waitid" => child(process.here()?, thread.id, None),
        "open" => opening(memory, &arguments),
        // The first argument is the directory.
        "openat" => opening(memory, &arguments[1..]),
        name if call.descriptor.is_some() => peers::of_file(process.here()?, name, call.descriptor?),
        FUTEX if !call.timed => futex(memory, thread, arguments[0], frames),
        _ => None,
    }
}

/// A thread that a debugger has stopped.
#[derive(Debug, Clone, Copy)]
pub struct Halted<'a> {
    /// The kernel's number of it.
    pub id: u32,
    /// Where its own memory begins (`fs_base` of x86-64), where that is known.
    pub thread_pointer: Option<u64>,
    /// What it does in the kernel.
    pub call: Option<&'a SystemCall>,
    /// Its frames, innermost first.
    pub frames: &'a [Frame],
}

/// What each of all threads of a process of this machine waits for, while a debugger holds it. Owners that are threads of it are
/// told by their places among these, from 1 on.
pub fn awaited_by(pid: u32, halted: &[Halted<'_>]) -> Vec<Option<Awaited>> {
    let waits = |one: &Halted<'_>| one.call.is_some_and(|call| call.waits || call.name.as_deref() == Some(FUTEX));
    let Some(machine) = Machine::ours().filter(|_| halted.iter().any(waits)) else { return vec![None; halted.len()] };
    let stands = |one: &Halted<'_>| {
        let registers = Registers::of_place(machine, 0, 0);
        let registers = one.thread_pointer.map_or(registers.clone(), |pointer| registers.with(FS_BASE, pointer));
        Thread { id: one.id, registers, blocked: None }
    };
    let threads: Vec<Thread> = halted.iter().map(stands).collect();
    // The debugger ends what takes long; this reads a few words of each thread.
    let Ok(process) = Live::new(pid, &threads, Box::new(|| None)) else { return vec![None; halted.len()] };
    let memory = PageCache::new(process);
    let of = |(one, thread): (&Halted<'_>, &Thread)| {
        let call = one.call.filter(|_| waits(one))?;
        let text = fs::read_to_string(place(pid).join(format!("task/{}/syscall", one.id))).ok()?;
        awaited(&memory, thread, call, system_calls::arguments(&text)?, one.frames)
    };
    halted.iter().zip(&threads).map(of).collect()
}

/// What a thread waits for that opens the file of this path with these flags.
fn opening<P: Process>(memory: &PageCache<P>, arguments: &[u64]) -> Option<Awaited> {
    let [path, flags, ..] = *arguments else { return None };
    let path = memory.read_c_string(TargetAddr::new(path), MOST_PATH).ok()?;
    peers::of_opening(memory.inner().here()?, Path::new(OsStr::from_bytes(&path)), flags)
}

// ---- Locks of files

/// A line of `/proc/locks` (proc(5)) of a lock that is held: who waits for one is in it as well, but not while it is stopped.
#[derive(Debug, PartialEq, Eq)]
struct Lock<'a> {
    /// `POSIX` (`fcntl`), `OFDLCK` (of an open file description) or `FLOCK`.
    kind: &'a str,
    is_write: bool,
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

/// The lock that a thread wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wanted {
    pid: i64,
    inode: u64,
    is_flock: bool,
    is_write: bool,
    first: u64,
    last: u64,
}

impl Wanted {
    /// Whether a lock that is held is in its way.
    fn conflicts(&self, held: &Lock<'_>) -> bool {
        let own = held.kind == "POSIX" && held.pid == self.pid;
        let overlaps = self.is_flock || held.first <= self.last && self.first <= held.last;
        held.inode == self.inode
            && self.is_flock == (held.kind == "FLOCK")
            && (self.is_write || held.is_write)
            && overlaps
            && !own
    }
}

/// Whose locks are in the way, each once.
fn holders(locks: &str, wanted: &Wanted) -> Vec<i64> {
    let held = locks.lines().filter_map(lock).filter(|held| wanted.conflicts(held));
    let mut found: Vec<i64> = held.map(|held| held.pid).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// `F_SETLKW` and `F_OFD_SETLKW` (include/uapi/asm-generic/fcntl.h).
const WAITS_FOR_LOCK: [u64; 2] = [7, 38];
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
    let whole =
        Wanted { pid: i64::from(pid), inode, is_flock: name == "flock", is_write: true, first: 0, last: u64::MAX };
    if whole.is_flock {
        return Some(Wanted { is_write: operation & LOCK_EX != 0, ..whole });
    }
    if !WAITS_FOR_LOCK.contains(&operation) {
        return None;
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

fn file_lock<P: Process>(memory: &PageCache<P>, call: &SystemCall, arguments: [u64; 3]) -> Option<Awaited> {
    use std::io::Read as _;
    let pid = memory.inner().here()?;
    let file = place(pid).join(format!("fd/{}", call.descriptor?));
    let inode = files::about(&file).ok()?.inode;
    let wanted = wanted(memory, call.name.as_deref()?, pid, inode, arguments)?;
    let path = fs::read_link(&file).ok().map(|path| Text::from(peers::readable(&path)));
    let mut locks = String::new();
    let read = fs::File::open("/proc/locks").and_then(|table| table.take(MOST_LOCKS).read_to_string(&mut locks));
    let holders = if read.is_ok() { holders(&locks, &wanted) } else { Vec::new() };
    // An open file description has a lock, not a process: -1; 0: a process of another namespace.
    let owners: Vec<Owner> =
        holders.iter().filter(|holder| **holder > 0).take(MOST_OWNERS).map(|holder| peers::named(*holder)).collect();
    let unknown = match (read.is_ok(), holders.is_empty(), owners.len() == holders.len()) {
        (false, ..) => Some("/proc/locks could not be read"),
        (_, true, _) => Some("no process of this machine holds it: perhaps one of another node does"),
        (_, _, false) => Some("the system does not tell which process holds it"),
        _ => None,
    };
    let owners = if unknown.is_some() { Vec::new() } else { owners };
    let descriptor = call.descriptor;
    Some(Awaited { kind: AwaitedKind::FileLock, path, descriptor, owners, unknown: unknown.map(Text::from) })
}

// ---- Children

/// The child whose end a thread waits for: the one that it names, or all that it has.
fn child(pid: u32, thread: u32, named: Option<u64>) -> Option<Awaited> {
    let named = named.map(|argument| i64::from(argument as i32)).filter(|pid| *pid > 0);
    let children = match named {
        Some(child) => vec![child],
        None => {
            // proc(5): what this thread has started.
            let text = fs::read_to_string(place(pid).join(format!("task/{thread}/children"))).ok()?;
            text.split_whitespace().filter_map(|word| word.parse().ok()).take(MOST_OWNERS).collect()
        }
    };
    // Of several any one will do: whom it waits for is known of one alone.
    let [child] = children[..] else { return None };
    Some(Awaited { kind: AwaitedKind::Child, owners: vec![peers::named(child)], ..Awaited::default() })
}

// ---- Locks in memory

/// The object that a thread waits for by `futex`, and the thread that has it.
fn futex<P: Process>(memory: &PageCache<P>, thread: &Thread, word: u64, frames: &[Frame]) -> Option<Awaited> {
    let application = frames.iter().position(|frame| frame.application == Some(true)).unwrap_or(frames.len());
    let names: Vec<&str> = frames[..application].iter().filter_map(|frame| frame.function.as_deref()).collect();
    if names.iter().any(|name| name.contains(SEMAPHORE)) {
        return rlock(memory, thread, word);
    }
    if names.iter().any(|name| NOT_OWNED.iter().any(|word| name.contains(word))) {
        return None;
    }
    let threads = memory.inner().threads();
    // As the stacks number them.
    let number_of = |id: u32| (1..).zip(threads.iter()).find(|(_, thread)| thread.id == id).map(|(number, _)| number);
    let is_thread = |id: u32| id != 0 && number_of(id).is_some();
    let of_thread = |kind: AwaitedKind, id: u32, ended: bool| Some(held_by(memory, kind, number_of(id), ended));
    let number = |at: u64| -> Option<u32> {
        let mut bytes = [0; 4];
        memory.read(TargetAddr::new(at), &mut bytes).ok()?;
        Some(memory.abi().uint(&bytes) as u32)
    };
    let names_say = |part: &str| names.iter().any(|name| name.contains(part));
    let value = number(word)?;
    let thread_of_word = value & THREAD_OF_WORD;
    if thread_of_word != thread.id && thread_of_word > 2 && is_thread(thread_of_word) {
        // The word of a thread that is joined holds its number until it has ended.
        let kind = if names_say("mutex") { AwaitedKind::Mutex } else { AwaitedKind::Thread };
        return of_thread(kind, thread_of_word, false);
    }
    // struct __pthread_mutex_s of glibc (sysdeps/nptl/bits/struct_mutex.h, 2.36): the lock, how often, the owner, its users, the kind.
    let (owner, users, kind) =
        (number(word.wrapping_add(8))?, number(word.wrapping_add(12))?, number(word.wrapping_add(16))?);
    if value == 2 && kind <= MOST_KIND && (users > 0 || names_say("mutex")) && owner != 0 {
        if is_thread(owner) {
            return of_thread(AwaitedKind::Mutex, owner, false);
        }
        // Whose number is no thread's has ended with its mutex locked; only where names say that it is one.
        if names_say("mutex") && kind & 0x80 == 0 {
            return of_thread(AwaitedKind::Mutex, owner, true);
        }
    }
    // struct __pthread_rwlock_arch_t (bits/struct_rwlock.h): readers and writers wait at 8 and 12, the writer's number is at 24.
    for at in [8_u64, 12] {
        let writer = number(word.wrapping_sub(at).wrapping_add(24));
        if let Some(writer) = writer.filter(|writer| names_say("rwlock") && is_thread(*writer)) {
            return of_thread(AwaitedKind::Rwlock, writer, false);
        }
    }
    None
}

/// What a thread of this process has, by the number that the stacks give that.
fn held_by<P: Process>(memory: &PageCache<P>, kind: AwaitedKind, thread: Option<i64>, ended: bool) -> Awaited {
    let owner = Owner { pid: memory.inner().here().map(i64::from), thread, ended, ..Owner::default() };
    Awaited { kind, owners: vec![owner], ..Awaited::default() }
}

/// Where a thread waits within a condition variable (`__g_signals`), by glibc's release: 2.25 to 2.40, and since 2.41
/// (sysdeps/nptl/bits/thread-shared-types.h).
const SIGNALS: [u64; 4] = [40, 44, 32, 36];
/// The mutex behind it, behind a condition variable of 48 bytes.
const MUTEX: u64 = 48;

/// Python's `struct _gil_runtime_state` (Include/internal/pycore_gil.h, 3.8 to 3.14): how long a thread waits before it asks for
/// the lock (an unsigned long of microseconds), who has it or had it last, whether it is locked; and the condition variable.
const LAST_HOLDER: u64 = 8;
const LOCKED: u64 = 16;
const CONDITION: u64 = 32;

/// Nobody waits longer before they ask (sys.setswitchinterval takes seconds; a quarter of a minute).
const MOST_INTERVAL: u64 = 1 << 24;

/// As much of a `PyThreadState` is looked through for the thread's own number (bytes).
const THREAD_STATE: usize = 512;

/// The global interpreter lock of Python whose condition variable a thread waits for, and the thread that has it: recognised by
/// what it holds, whatever the release.
fn gil<P: Process>(memory: &PageCache<P>, word: u64) -> Option<Awaited> {
    let read = |at: u64, bytes: &mut [u8]| memory.read(TargetAddr::new(at), bytes).is_ok();
    let threads = memory.inner().threads();
    for at in SIGNALS.into_iter().chain([MUTEX]) {
        let lock = word.wrapping_sub(at + CONDITION);
        let mut bytes = [0; CONDITION as usize];
        if !read(lock, &mut bytes) {
            continue;
        }
        let number = |at: u64, size: u64| memory.abi().uint(&bytes[at as usize..(at + size) as usize]);
        let (interval, holder) = (number(0, 8), number(LAST_HOLDER, 8));
        if !(1..=MOST_INTERVAL).contains(&interval) || number(LOCKED, 4) != 1 || holder == 0 {
            continue;
        }
        let mut state = [0; THREAD_STATE];
        if !read(holder, &mut state) {
            continue;
        }
        // What pthread_self tells of a thread is where its own memory begins.
        let words: Vec<u64> = state.chunks_exact(8).map(|word| memory.abi().uint(word)).collect();
        let is_its = |thread: &&Thread| {
            let own = thread.registers.get(FS_BASE).filter(|own| *own != 0);
            own.is_some_and(|own| words.contains(&own))
        };
        let mut holders = (1..).zip(threads.iter()).filter(|(_, thread)| is_its(thread));
        if let (Some((number, _)), None) = (holders.next(), holders.next()) {
            return Some(held_by(memory, AwaitedKind::Gil, Some(number), false));
        }
    }
    None
}

/// Python's `rlockobject` (Modules/_threadmodule.c, 3.8 to 3.13): how often it is referred to, its type, the semaphore, what
/// pthread_self tells the thread that has it, how often that has locked it. A word each.
const RLOCK: usize = 5;

/// As much of a thread's stack is looked through for the object (bytes).
const LOOKED_THROUGH: usize = 4096;

/// The `threading.RLock` for whose semaphore a thread waits, and the thread that has it. An object is one by what it holds: this
/// very semaphore, and the number of a thread of the process.
fn rlock<P: Process>(memory: &PageCache<P>, thread: &Thread, semaphore: u64) -> Option<Awaited> {
    let threads = memory.inner().threads();
    let top = thread.registers.stack_pointer();
    let mut stack = Vec::with_capacity(LOOKED_THROUGH / 8);
    let mut word = [0; 8];
    for at in (0..LOOKED_THROUGH as u64).step_by(8) {
        // A stack may be shorter.
        if memory.read(TargetAddr::new(top.wrapping_add(at)), &mut word).is_err() {
            break;
        }
        stack.push(memory.abi().uint(&word));
    }
    stack.sort_unstable();
    stack.dedup();
    stack.into_iter().filter(|object| *object != 0 && object % 8 == 0).find_map(|object| {
        let mut bytes = [0; RLOCK * 8];
        memory.read(TargetAddr::new(object), &mut bytes).ok()?;
        let [_, _, lock, owner, count] = std::array::from_fn(|at| memory.abi().uint(&bytes[at * 8..at * 8 + 8]));
        let is_locked = lock == semaphore && owner != 0 && (1..1 << 32).contains(&count);
        let has = |thread: &Thread| is_locked && thread.registers.get(FS_BASE) == Some(owner);
        let (number, _) = (1..).zip(threads.iter()).find(|(_, thread)| has(thread))?;
        Some(held_by(memory, AwaitedKind::Rlock, Some(number), false))
    })
}

#[cfg(test)]
mod tests {
    use super::{Wanted, holders, lock};

    const LOCKS: &str = "1: POSIX  ADVISORY  WRITE 700 00:2a:17 0 EOF\n1: -> POSIX  ADVISORY  WRITE 701 00:2a:17 0 EOF\n\
                         2: FLOCK  ADVISORY  WRITE 900 00:2a:17 0 EOF\n3: OFDLCK ADVISORY  READ  -1 00:2a:19 0 99\n\
                         4: POSIX  ADVISORY  READ  702 00:2a:19 100 199\n";

    fn wanted(inode: u64) -> Wanted {
        Wanted { pid: 701, inode, is_flock: false, is_write: true, first: 0, last: u64::MAX }
    }

    #[test]
    fn whose_locks_are_in_the_way() {
        assert_eq!(holders(LOCKS, &wanted(17)), [700]);
        assert_eq!(holders(LOCKS, &Wanted { is_flock: true, ..wanted(17) }), [900]);
        assert_eq!(holders(LOCKS, &Wanted { pid: 700, ..wanted(17) }), [0; 0]);
        assert_eq!(holders(LOCKS, &wanted(18)), [0; 0]);
        // Those of other bytes, and those that read where one reads, are in nobody's way.
        assert_eq!(holders(LOCKS, &wanted(19)), [-1, 702]);
        assert_eq!(holders(LOCKS, &Wanted { last: 99, ..wanted(19) }), [-1]);
        assert_eq!(holders(LOCKS, &Wanted { first: 200, ..wanted(19) }), [0; 0]);
        assert_eq!(holders(LOCKS, &Wanted { is_write: false, ..wanted(19) }), [0; 0]);
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
