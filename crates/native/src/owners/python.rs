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

/// What a thread calls that waits for it (Python/ceval_gil.c: `take_gil` asks the time, waits five milliseconds, and asks again).
const ASKS_FOR_IT: [&str; 4] = ["pthread_cond_timedwait", "clock_gettime", "gettimeofday", "pthread_mutex_"];

/// The object in which an interpreter keeps it (from 3.12 on in its main interpreter, a part of that), and no more bytes of it are read.
const RUNTIME: &str = "_PyRuntime";
const MOST_RUNTIME: u64 = 1 << 20;

/// As much of a `PyThreadState` is looked through for the thread's own number (bytes).
const THREAD_STATE: usize = 512;

/// The global interpreter lock of Python whose condition variable a thread waits for, and the thread that has it: recognised by
/// what it holds, whatever the release.
pub(super) fn gil<P: Process>(memory: &PageCache<P>, word: u64) -> Option<Awaited> {
    SIGNALS.into_iter().chain([MUTEX]).find_map(|at| gil_at(memory, word.wrapping_sub(at + CONDITION)))
}

/// The same of a thread that is between two of these waits, as it is every five milliseconds.
pub(super) fn gil_of_running<P: Process>(memory: &PageCache<P>, thread: &Thread, frames: &[Frame]) -> Option<Awaited> {
    let names: Vec<&str> = frames.iter().filter_map(|frame| frame.function.as_deref()).collect();
    let interpreter = names.iter().position(|name| name.starts_with("Py") || name.starts_with("_Py"))?;
    let asks = |name: &&str| ASKS_FOR_IT.iter().any(|call| name.contains(call));
    if !names[..interpreter].iter().any(asks) {
        return None;
    }
    // Who has it waits for nobody.
    let own = number_of(&memory.inner().threads(), thread.id);
    gil_of_runtime(memory).filter(|gil| gil.owners.iter().all(|owner| owner.thread != own))
}

/// The lock of the only interpreter, or of the main one, and the thread that has it.
fn gil_of_runtime<P: Process>(memory: &PageCache<P>) -> Option<Awaited> {
    let runtime = memory.symbol(RUNTIME).ok()??;
    let mut bytes = vec![0; runtime.size?.min(MOST_RUNTIME) as usize];
    memory.read(runtime.addr, &mut bytes).ok()?;
    let word = |at: usize| memory.abi().uint(&bytes[at..at + 8]);
    let last = bytes.len().checked_sub(CONDITION as usize)?;
    let mut starts = (0..=last).step_by(8).filter(|at| (1..=MOST_INTERVAL).contains(&word(*at)));
    starts.find_map(|at| gil_at(memory, runtime.addr.wrapping_add(at as u64).get()))
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

/// A `_PyRecursiveMutex` of 3.14 (Include/internal/pycore_lock.h), of which an `rlockobject` consists then: a byte of state, what
/// pthread_self tells the thread that has it, how often that has locked it again. A word each.
const RECURSIVE_MUTEX: usize = 3;
/// That byte while it is locked and somebody waits for it (`_Py_LOCKED`, `_Py_HAS_PARKED`).
const LOCKED_AND_AWAITED: u64 = 3;

/// The `threading.RLock` for whose semaphore a thread waits, and the thread that has it. An object is one by what it holds: this
/// very semaphore, and the number of a thread of the process. Since 3.14 the semaphore is one of the thread that waits, on its
/// stack, and the object says that somebody waits.
pub(super) fn rlock<P: Process>(memory: &PageCache<P>, thread: &Thread, semaphore: u64) -> Option<Awaited> {
    let threads = memory.inner().threads();
    let mut stack = top_of_stack(memory, thread);
    stack.sort_unstable();
    stack.dedup();
    let top = thread.registers.stack_pointer();
    let is_own = (top..top.wrapping_add(LOOKED_THROUGH as u64)).contains(&semaphore);
    let is_count = |count: u64| count < 1 << 32;
    let owner_at = |address: u64| -> Option<u64> {
        let [_, _, lock, owner, count] = words_at::<P, RLOCK>(memory, address)?;
        (lock == semaphore && count > 0 && is_count(count)).then_some(owner)
    };
    let owner_since_3_14 = |address: u64| -> Option<u64> {
        let [state, owner, count] = words_at::<P, RECURSIVE_MUTEX>(memory, address)?;
        (is_own && state == LOCKED_AND_AWAITED && is_count(count)).then_some(owner)
    };
    stack.into_iter().filter(|address| *address != 0 && address % 8 == 0).find_map(|address| {
        let owner = owner_at(address).or_else(|| owner_since_3_14(address)).filter(|owner| *owner != 0)?;
        let (number, _) = numbered(&threads).find(|(_, thread)| thread.registers.get(FS_BASE) == Some(owner))?;
        Some(held_by(memory, AwaitedKind::Rlock, Some(number), false))
    })
}

/// So many words of memory.
fn words_at<P: Process, const N: usize>(memory: &PageCache<P>, address: u64) -> Option<[u64; N]> {
    let mut bytes = [0; 8 * RLOCK];
    let bytes = bytes.get_mut(..8 * N)?;
    memory.read(TargetAddr::new(address), bytes).ok()?;
    Some(std::array::from_fn(|at| memory.abi().uint(&bytes[at * 8..at * 8 + 8])))
}
