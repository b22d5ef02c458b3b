//! The exceptions of C++ that a thread has, as libstdc++ keeps them on x86-64.
//!
//! Each thread has a `__cxa_eh_globals` (Itanium C++ ABI, "Exception Handling", 2.2.2): the exceptions whose handlers run, and how
//! many were thrown and not caught yet. It is thread-local and has no symbol; `__cxa_get_globals`, which the library exports,
//! begins with its place (gcc, libstdc++-v3/libsupc++/eh_globals.cc; System V ABI for x86-64, "Thread-Local Storage": the
//! general dynamic and local dynamic models, of GCC 12 to 15).

use model::Stack;
use symbols::demangled;
use target::address::TargetAddr;
use target::libraries::is_application;
use target::registers::Machine;
use target::{PageCache, Target};

use crate::images::Image;
use crate::process::{Process, Thread};
use crate::stacks::{MAX_THREADS, Shared};

/// The library of C++, as programs name it.
const LIBRARY: &str = "libstdc++.so";
/// DWARF's number of fs_base, from which the C library finds what is a thread's.
pub(crate) const FS_BASE: u16 = 58;
/// Where `tcbhead_t` has the thread's table of modules, and the size of its entries (glibc, sysdeps/x86_64/nptl/tls.h and
/// sysdeps/generic/dl-dtv.h). The entry before the first has the table's length.
const TABLE: u64 = 8;
const ENTRY: u64 = 16;
/// An entry whose module has no memory in the thread yet (`TLS_DTV_UNALLOCATED`).
const UNALLOCATED: u64 = u64::MAX;
/// More exceptions than this are no number of exceptions.
const MOST: u64 = 1000;
/// Longest name of a type in bytes.
const NAME: usize = 256;

/// A module's variables and the place in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    module: u64,
    offset: u64,
}

/// Adds to a thread's stack what is known of its exceptions.
pub(super) fn tell<P: Process>(shared: &Shared<P>, thread: &Thread, stack: &mut Stack) {
    if thread.registers.machine() != Machine::X86_64 {
        return;
    }
    let Some(place) = *shared.exceptions.get_or_init(|| place(shared)) else { return };
    let Some((caught, uncaught)) = globals(shared, thread, place) else { return };
    stack.unwinding = uncaught > 0;
    stack.caught = if caught == 0 { None } else { type_name(shared, caught) };
}

/// Reads ahead what of all threads will be asked for.
pub(crate) fn prefetch<P: Process>(memory: &PageCache<P>, place: Place) {
    /// Bytes of a page.
    const PAGE: u64 = 4096;
    let read = |addresses: &[u64]| {
        let mut pages: Vec<u64> = addresses.iter().map(|address| address / PAGE).collect();
        pages.sort_unstable();
        pages.dedup();
        memory.prefetch_pages(&pages);
    };
    let follow = |addresses: &[u64]| -> Vec<u64> {
        read(addresses);
        addresses.iter().filter_map(|address| memory.read_uint(TargetAddr::new(*address), 8).ok()).collect()
    };
    let threads = memory.inner().threads();
    let bases = threads.iter().take(MAX_THREADS).filter_map(|thread| thread.registers.get(FS_BASE));
    let tables = follow(&bases.map(|base| base.wrapping_add(TABLE)).collect::<Vec<_>>());
    read(&tables.iter().map(|table| table.wrapping_sub(ENTRY)).collect::<Vec<_>>());
    let entry = place.module.wrapping_mul(ENTRY);
    let memory = follow(&tables.iter().map(|table| table.wrapping_add(entry)).collect::<Vec<_>>());
    let known = memory.iter().filter(|memory| **memory != 0 && **memory != UNALLOCATED);
    read(&known.map(|memory| memory.wrapping_add(place.offset)).collect::<Vec<_>>());
}

fn word<P: Process>(shared: &Shared<P>, address: u64) -> Option<u64> {
    shared.memory.read_uint(TargetAddr::new(address), 8).ok()
}

/// Where the process's libstdc++ says that it keeps exceptions.
fn place<P: Process>(shared: &Shared<P>) -> Option<Place> {
    let is_it = |image: &&Image| image.shown().rsplit('/').next().is_some_and(|name| name.starts_with(LIBRARY));
    let image = shared.images.all().iter().find(is_it)?;
    // The library is there for others as well: of a program without C++ nothing is read.
    let uses_it = |image: &Image| {
        is_application(&image.shown(), &shared.executable)
            && shared.images.loaded(image.start).and_then(|loaded| Some(loaded.file.as_ref()?.object.needs(LIBRARY)))
                == Some(true)
    };
    if !shared.images.all().iter().any(uses_it) {
        return None;
    }
    let loaded = shared.images.loaded(image.start)?;
    let begin = loaded.bias.wrapping_add(loaded.file.as_ref()?.object.exported("__cxa_get_globals")?);
    let code = shared.memory.read_bytes(TargetAddr::new(begin), 40).ok()?;
    let (index, added) = in_code(&code)?;
    let index = begin.wrapping_add_signed(index);
    let offset = word(shared, index.wrapping_add(8))?.wrapping_add_signed(added);
    Some(Place { module: word(shared, index)?, offset })
}

/// Where the module's number and the offset in it lie, from the beginning of the code, and what is added: of
/// `lea index(%rip), %rdi; call __tls_get_addr; ...; add $added, %rax; ...; ret`.
fn in_code(code: &[u8]) -> Option<(i64, i64)> {
    let number = |at: usize| Some(i64::from(i32::from_le_bytes(code.get(at..at + 4)?.try_into().ok()?)));
    let at = code.windows(3).position(|bytes| bytes == [0x48, 0x8d, 0x3d])?;
    let index = number(at + 3)? + i64::try_from(at + 7).ok()?;
    // A call, before which prefixes may stand.
    let call = at + 7 + code.get(at + 7..)?.iter().take(4).position(|byte| *byte == 0xe8)?;
    let rest = call + 5;
    let end = rest + code.get(rest..)?.iter().position(|byte| *byte == 0xc3)?;
    let after = code.get(rest..end)?;
    let wide = after.windows(2).position(|bytes| bytes == [0x48, 0x05]).and_then(|at| number(rest + at + 2));
    let narrow = after.windows(3).position(|bytes| bytes == [0x48, 0x83, 0xc0]);
    let narrow = narrow.and_then(|at| after.get(at + 3)).map(|byte| i64::from(byte.cast_signed()));
    Some((index, wide.or(narrow).unwrap_or(0)))
}

/// The exception whose handler runs, 0 where none does, and how many were thrown and not caught yet. A thread that has never had
/// one has no memory for them.
fn globals<P: Process>(shared: &Shared<P>, thread: &Thread, place: Place) -> Option<(u64, u64)> {
    let table = word(shared, thread.registers.get(FS_BASE)?.checked_add(TABLE)?)?;
    if place.module == 0 || place.module > word(shared, table.checked_sub(ENTRY)?)? {
        return None;
    }
    let memory = word(shared, table.checked_add(place.module.checked_mul(ENTRY)?)?)?;
    if memory == 0 || memory == UNALLOCATED {
        return None;
    }
    let at = memory.wrapping_add(place.offset);
    let uncaught = shared.memory.read_uint(TargetAddr::new(at.wrapping_add(8)), 4).ok()?;
    (uncaught <= MOST).then_some((word(shared, at)?, uncaught))
}

/// The type of an exception: `__cxa_exception` begins with the address of its `type_info` (2.2.1 of the ABI), which has the
/// address of the name behind that of its functions (libstdc++-v3/libsupc++/typeinfo).
fn type_name<P: Process>(shared: &Shared<P>, exception: u64) -> Option<String> {
    let name = word(shared, word(shared, exception)?.checked_add(8)?)?;
    let name = shared.memory.read_c_string(TargetAddr::new(name), NAME).ok()?;
    let name = std::str::from_utf8(&name).ok()?.trim_start_matches('*');
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    // What is no type (a dependent exception begins with something else) is not told.
    demangled(&format!("_ZTI{name}")).strip_prefix("typeinfo for ").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::in_code;

    #[test]
    fn the_place_is_read_from_what_compilers_make_of_the_function() {
        // Debian 12: endbr64; sub $8,%rsp; lea 0x16ad71(%rip),%rdi; call; add $8,%rsp; add $0,%rax; ret.
        let mut code = vec![0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08, 0x48, 0x8d, 0x3d, 0x71, 0xad, 0x16, 0x00];
        code.extend([0xe8, 0x3c, 0x2c, 0xff, 0xff, 0x48, 0x83, 0xc4, 0x08, 0x48, 0x05, 0x10, 0, 0, 0, 0xc3, 0x90]);
        assert_eq!(in_code(&code), Some((0x16_ad71 + 15, 16)));
        // The general dynamic model: data16 lea; data16 data16 rex.W call; pop; ret.
        let code = [0x66, 0x48, 0x8d, 0x3d, 1, 0, 0, 0, 0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0, 0x5a, 0xc3];
        assert_eq!(in_code(&code), Some((9, 0)));
        assert_eq!(in_code(&[0x48, 0x8d, 0x3d]), None);
        assert_eq!(in_code(&[0xc3; 40]), None);
    }
}
