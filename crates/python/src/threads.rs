//! The threads that an interpreter knows.

use std::collections::HashSet;

use target::address::TargetAddr;

use crate::error::{PythonError, unlike};
use crate::find::Found;
use crate::memory::Memory;

/// So many interpreters of one process, and so many threads of all of them, are looked at.
const INTERPRETERS: usize = 256;
const THREADS: usize = 4096;
/// No process has had more interpreters than this, one after the other.
const MOST_EVER: u64 = 1 << 32;

/// Where glibc keeps the kernel's number of a thread, in bytes from what pthread_self tells: on x86-64 (struct pthread in
/// nptl/descr.h: `tid` follows a header of 704 bytes and a list) and on AArch64, where the header lies before. Glibc 2.17 to 2.42.
const GLIBC_TID: [u64; 2] = [720, 208];

/// A thread as its interpreter knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PythonThread {
    pub address: TargetAddr,
    /// `PyInterpreterState`.
    pub interpreter: TargetAddr,
    /// The kernel's numbers that it may have; none where that is not known.
    pub kernel: Vec<i64>,
}

/// All threads of all interpreters.
pub(crate) fn threads(memory: &Memory<'_>, found: &Found) -> Result<Vec<PythonThread>, PythonError> {
    let layout = &memory.layout;
    let mut threads = Vec::new();
    let mut seen = HashSet::new();
    let mut interpreter = memory.pointer(found.runtime, layout.interpreters)?;
    while !interpreter.is_null() {
        if !seen.insert(interpreter) || seen.len() > INTERPRETERS + THREADS {
            return Err(unlike("the list of interpreters does not end"));
        }
        let mut thread = memory.pointer(interpreter, layout.threads)?;
        while !thread.is_null() {
            if !seen.insert(thread) || threads.len() >= THREADS {
                return Err(unlike("the list of Python's threads does not end"));
            }
            if memory.pointer(thread, layout.interp)? != interpreter {
                return Err(unlike("a thread of Python's does not belong to its interpreter"));
            }
            threads.push(PythonThread { address: thread, interpreter, kernel: kernel_numbers(memory, thread)? });
            thread = memory.pointer(thread, layout.next_thread)?;
        }
        interpreter = memory.pointer(interpreter, layout.next_interpreter)?;
    }
    Ok(threads)
}

/// Where `_PyRuntimeState.interpreters.next_id` stands behind `head` and `main` (3.8 to 3.14: pycore_pystate.h, pycore_runtime.h,
/// since 3.14 pycore_runtime_structs.h): how many interpreters there have been.
const NEXT_INTERPRETER: u64 = 16;

/// Whether there have been interpreters, where there are none.
pub(crate) fn have_ended(memory: &Memory<'_>, found: &Found) -> bool {
    let number = found.runtime.wrapping_add(memory.layout.interpreters + NEXT_INTERPRETER);
    let none_left = memory.pointer(found.runtime, memory.layout.interpreters).is_ok_and(TargetAddr::is_null);
    none_left && memory.target.read_uint(number, 8).is_ok_and(|count| (1..=MOST_EVER).contains(&count))
}

fn kernel_numbers(memory: &Memory<'_>, thread: TargetAddr) -> Result<Vec<i64>, PythonError> {
    if let Some(offset) = memory.layout.native_thread_id {
        let number = memory.target.read_uint(thread.wrapping_add(offset), 8)?;
        return Ok(i64::try_from(number).ok().filter(|number| *number > 0).into_iter().collect());
    }
    let own = memory.pointer(thread, memory.layout.thread_id)?;
    // Of another C library these are any numbers: they count only where they are those of threads.
    let numbers = GLIBC_TID.iter().filter_map(|offset| memory.int(own, *offset).ok());
    Ok(numbers.filter(|number| *number > 0).collect())
}
