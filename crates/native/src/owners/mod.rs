//! Who holds what a thread waits for outside MPI: locks of files, the locks of pthreads, those of Python, children.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use calls::system_calls;
use model::{Awaited, AwaitedKind, Frame, Owner, SystemCall};
use target::address::TargetAddr;
use target::processes::place;
use target::registers::{Machine, Registers};
use target::{PageCache, Target as _};

use crate::live::Live;
use crate::peers;
use crate::process::{Process, Thread};
use crate::stacks::cxx::FS_BASE;

mod file_lock;
mod futex;
mod python;
mod team;

pub use team::add_teams;

/// The system call that waits for the locks of the C library.
const FUTEX: &str = "futex";

/// PATH_MAX (include/uapi/linux/limits.h), in bytes.
const MOST_PATH: usize = 4096;

/// No more owners are told.
const MOST_OWNERS: usize = 64;

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
    if let Some(found) = Some(name).filter(|name| *name == FUTEX).and_then(|_| python::gil(memory, arguments[0])) {
        return Some(found);
    }
    match name {
        _ if !call.waits => None,
        name if file_lock::CALLS.contains(&name) => file_lock::awaited(memory, call, arguments),
        "wait4" => child(process.here()?, thread.id, Some(arguments[0])),
        "waitid" => child(process.here()?, thread.id, None),
        "open" => opening(memory, &arguments),
        // The first argument is the directory.
        "openat" => opening(memory, &arguments[1..]),
        name if call.descriptor.is_some() => peers::of_file(process.here()?, name, call.descriptor?),
        FUTEX if !call.timed => futex::awaited(memory, thread, arguments[0], frames),
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

/// What a thread of this process has, by the number that the stacks give that.
fn held_by<P: Process>(memory: &PageCache<P>, kind: AwaitedKind, thread: Option<i64>, ended: bool) -> Awaited {
    let owner = Owner { pid: memory.inner().here().map(i64::from), thread, ended, ..Owner::default() };
    Awaited { kind, owners: vec![owner], ..Awaited::default() }
}
