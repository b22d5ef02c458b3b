//! Python's locks, from their memory.

use model::{Awaited, AwaitedKind};
use target::address::TargetAddr;
use target::{PageCache, Target as _};

use super::held_by;
use crate::process::{Process, Thread, numbered};
use crate::stacks::cxx::FS_BASE;

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
pub(super) fn gil<P: Process>(memory: &PageCache<P>, word: u64) -> Option<Awaited> {
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
        let is_its = |thread: &Thread| {
            let own = thread.registers.get(FS_BASE).filter(|own| *own != 0);
            own.is_some_and(|own| words.contains(&own))
        };
        let mut holders = numbered(&threads).filter(|(_, thread)| is_its(thread));
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
pub(super) fn rlock<P: Process>(memory: &PageCache<P>, thread: &Thread, semaphore: u64) -> Option<Awaited> {
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
        let (number, _) = numbered(&threads).find(|(_, thread)| has(thread))?;
        Some(held_by(memory, AwaitedKind::Rlock, Some(number), false))
    })
}
