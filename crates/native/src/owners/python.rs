//! Python's locks, from their memory.

use model::{Awaited, AwaitedKind, Frame};
use target::address::TargetAddr;
use target::{PageCache, Target as _};

use super::held_by;
use crate::process::{Process, Thread, number_of, numbered};
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

/// The function of the C library in which a thread waits for it (Python/ceval_gil.c, `COND_TIMED_WAIT`).
const TIMED_WAIT: &str = "pthread_cond_timedwait";

/// As much of a `PyThreadState` is looked through for the thread's own number (bytes).
const THREAD_STATE: usize = 512;

/// The global interpreter lock of Python whose condition variable a thread waits for, and the thread that has it: recognised by
/// what it holds, whatever the release.
pub(super) fn gil<P: Process>(memory: &PageCache<P>, word: u64) -> Option<Awaited> {
    SIGNALS.into_iter().chain([MUTEX]).find_map(|at| gil_at(memory, word.wrapping_sub(at + CONDITION)))
}

/// The same of a thread that has just come back to ask for it, as it does every five milliseconds: it is in the C library's wait, called
/// by the interpreter, and its registers or the top of its stack have the condition variable.
pub(super) fn gil_of_running<P: Process>(memory: &PageCache<P>, thread: &Thread, frames: &[Frame]) -> Option<Awaited> {
    let names: Vec<&str> = frames.iter().filter_map(|frame| frame.function.as_deref()).collect();
    let interpreter = names.iter().position(|name| name.starts_with("Py") || name.starts_with("_Py"))?;
    // Else the words may be what is left of an earlier wait.
    if !names[..interpreter].iter().any(|name| name.contains(TIMED_WAIT)) {
        return None;
    }
    let registers = thread.registers.all().iter().map(|(_, value)| *value);
    let mut places: Vec<u64> = registers.chain(top_of_stack(memory, thread)).collect();
    places.sort_unstable();
    places.dedup();
    let mut found = places.into_iter().filter_map(|condition| gil_at(memory, condition.checked_sub(CONDITION)?));
    // Who has it waits for nobody.
    let own = number_of(&memory.inner().threads(), thread.id);
    found.find(|found| found.owners.iter().all(|owner| owner.thread != own))
}

/// The lock at an address, and the thread that has it; `None` where what lies there is none.
fn gil_at<P: Process>(memory: &PageCache<P>, lock: u64) -> Option<Awaited> {
    let mut bytes = [0; CONDITION as usize];
    memory.read(TargetAddr::new(lock), &mut bytes).ok()?;
    let number = |at: u64, size: u64| memory.abi().uint(&bytes[at as usize..(at + size) as usize]);
    let (interval, holder) = (number(0, 8), number(LAST_HOLDER, 8));
    if !(1..=MOST_INTERVAL).contains(&interval) || number(LOCKED, 4) != 1 || holder == 0 {
        return None;
    }
    let mut state = [0; THREAD_STATE];
    memory.read(TargetAddr::new(holder), &mut state).ok()?;
    // What pthread_self tells of a thread is where its own memory begins.
    let words: Vec<u64> = state.chunks_exact(8).map(|word| memory.abi().uint(word)).collect();
    let is_its = |thread: &Thread| {
        let own = thread.registers.get(FS_BASE).filter(|own| *own != 0);
        own.is_some_and(|own| words.contains(&own))
    };
    let threads = memory.inner().threads();
    let mut holders = numbered(&threads).filter(|(_, thread)| is_its(thread));
    match (holders.next(), holders.next()) {
        (Some((number, _)), None) => Some(held_by(memory, AwaitedKind::Gil, Some(number), false)),
        _ => None,
    }
}

/// The words at the top of a thread's stack, as far as they can be read.
fn top_of_stack<P: Process>(memory: &PageCache<P>, thread: &Thread) -> Vec<u64> {
    let top = thread.registers.stack_pointer();
    let mut word = [0; 8];
    let read = |at: u64| {
        // A stack may be shorter.
        memory.read(TargetAddr::new(top.wrapping_add(at)), &mut word).ok()?;
        Some(memory.abi().uint(&word))
    };
    (0..LOOKED_THROUGH as u64).step_by(8).map_while(read).collect()
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
    let mut stack = top_of_stack(memory, thread);
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
