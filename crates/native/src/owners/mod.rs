//! Who holds what a thread waits for outside MPI: locks of files, the locks of pthreads, those of Python, children.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use model::{Awaited, AwaitedKind, Frame, Owner, SystemCall};
use target::address::TargetAddr;
use target::processes::place;
use target::{PageCache, Target as _};

use crate::peers;
use crate::process::{Process, Thread};

mod file_lock;
mod futex;
mod python;
mod shared_memory;
mod team;

pub(crate) use team::add_teams;

/// The system call that waits for the locks of the C library.
const FUTEX: &str = "futex";

/// PATH_MAX (include/uapi/linux/limits.h), in bytes.
const MOST_PATH: usize = 4096;

/// What a thread waits for, and who has it, where that can be known. `arguments` are the first three of the system call; `None` where
/// they are not known.
pub(crate) fn awaited<P: Process>(
    memory: &PageCache<P>,
    thread: &Thread,
    call: &SystemCall,
    arguments: Option<[u64; 3]>,
    frames: &[Frame],
) -> Option<Awaited> {
    let process = memory.inner();
    let Some(name) = call.name.as_deref() else {
        return python::gil_of_running(memory, thread, frames)
            .or_else(|| shared_memory::at_hand(memory, thread, frames));
    };
    let arguments = arguments?;
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
            text.split_whitespace().filter_map(|word| word.parse().ok()).take(peers::MOST_OWNERS).collect()
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
