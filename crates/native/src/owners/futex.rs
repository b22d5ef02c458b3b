//! The locks of pthreads, from their memory.

use model::{Awaited, AwaitedKind, Frame};
use target::address::TargetAddr;
use target::{PageCache, Target as _};

use super::{held_by, python};
use crate::process::{Process, Thread, number_of};

/// Without FUTEX_WAITERS and FUTEX_OWNER_DIED (include/uapi/linux/futex.h) the word of a lock that the kernel knows, and of a
/// thread that is joined, is the number of a thread.
const THREAD_OF_WORD: u32 = 0x3fff_ffff;

/// The kinds of mutexes, with the bits that glibc adds to them (sysdeps/nptl/pthreadP.h, 2.36).
const MOST_KIND: u32 = 0x3ff;

/// What names of functions say of what is waited for, where they are known.
const NOT_OWNED: [&str; 4] = ["cond", "barrier", "sigwait", "once"];
const SEMAPHORE: &str = "sem_";

/// The object that a thread waits for by `futex`, and the thread that has it.
pub(super) fn awaited<P: Process>(
    memory: &PageCache<P>,
    thread: &Thread,
    word: u64,
    frames: &[Frame],
) -> Option<Awaited> {
    let application = frames.iter().position(|frame| frame.application == Some(true)).unwrap_or(frames.len());
    let names: Vec<&str> = frames[..application].iter().filter_map(|frame| frame.function.as_deref()).collect();
    if names.iter().any(|name| name.contains(SEMAPHORE)) {
        return python::rlock(memory, thread, word);
    }
    if names.iter().any(|name| NOT_OWNED.iter().any(|word| name.contains(word))) {
        return None;
    }
    let threads = memory.inner().threads();
    let is_thread = |id: u32| id != 0 && number_of(&threads, id).is_some();
    let of_thread =
        |kind: AwaitedKind, id: u32, ended: bool| Some(held_by(memory, kind, number_of(&threads, id), ended));
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
