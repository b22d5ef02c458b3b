//! Which of MPI's functions a process has: with the recorder it must look as it does without.
//!
//! A program that was never linked with an MPI, and one that asks whether its MPI has a function (`dlsym`, a weak reference),
//! must not be told of ours. Before any other code runs, names that no loaded library has are taken out of this library's own
//! table of symbols. In a rank of a job, which may load its MPI later, as Python does, they become such that the linker asks
//! ([`resolve`]) each time it looks one up.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::arch::{RESOLVER, stub_index};
use crate::real::{self, Object};
use crate::record::{self, header};
use crate::wrapper::WRAPPERS;

const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;
const STB_WEAK: u8 = 2;
/// Pages are at most so large (bytes).
const MOST_PAGE: usize = 65536;

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) = begin;

/// What launchers set for each rank: Open MPI's, those of PMIx and of PMI (MPICH, Intel), Slurm's, Flux's, Cray's.
const RANKS: [&[u8]; 8] = [
    b"OMPI_COMM_WORLD_RANK=",
    b"PMIX_RANK=",
    b"PMI_RANK=",
    b"MPI_LOCALRANKID=",
    b"SLURM_PROCID=",
    b"FLUX_TASK_RANK=",
    b"PALS_RANKID=",
    b"ALPS_APP_PE=",
];

/// What the linker asks: the wrapper where a library has the function, else nothing.
pub unsafe extern "C" fn resolve(index: u32, wrapper: *const c_void) -> *const c_void {
    if is_loaded(WRAPPERS[index as usize].symbol()) { wrapper } else { std::ptr::null() }
}

/// Whether another object has that name. It asks the linker nothing, which may be at work.
fn is_loaded(name: &[u8]) -> bool {
    let mut found = false;
    real::for_each(|object| found = found || !object.is_own() && object.symbol(name).is_some());
    found
}

/// The linker gives the arguments and the environment (elf/dl-init.c of glibc 2.36): `getenv` knows nothing yet.
unsafe extern "C" fn begin(_: c_int, _: *const *const c_char, environment: *const *const c_char) {
    // SAFETY: a list of texts that ends with none.
    let is_rank = unsafe { is_rank(environment) };
    let mut before_us = true;
    let mut bypassed = false;
    real::for_each(|object| {
        if object.is_own() {
            before_us = false;
            hide_what_is_not_there(object, is_rank);
        } else if before_us && object.symbol(b"MPI_Init\0").is_some() {
            bypassed = true;
        }
    });
    if bypassed && record::make() {
        // SAFETY: the record is there.
        unsafe { (*header()).bypassed = 1 };
        real::say(&[b"the program, or a library before this one, has MPI_Init in itself: nothing is recorded"]);
    }
}

/// # Safety
/// A list of texts that ends with none, or null.
unsafe fn is_rank(environment: *const *const c_char) -> bool {
    let mut entry = environment;
    // SAFETY: as the caller says.
    unsafe {
        while !entry.is_null() && !(*entry).is_null() {
            let text = CStr::from_ptr(*entry).to_bytes();
            if RANKS.iter().any(|name| text.starts_with(name)) {
                return true;
            }
            entry = entry.add(1);
        }
    }
    false
}

/// Whether an object has functions of an MPI, and so may have those that we wrap.
fn has_mpi(object: &Object) -> bool {
    [b"MPI_Init\0".as_slice(), b"PMPI_Init\0", b"mpi_init_\0", b"mpi_init_f08_\0"]
        .into_iter()
        .any(|name| object.symbol(name).is_some())
}

fn hide_what_is_not_there(own: &Object, is_rank: bool) {
    // With room for one more: the program, and the libraries of an MPI.
    const MOST: usize = 16;
    let mut with_mpi: [Option<Object>; MOST] = [const { None }; MOST];
    let mut count = 0;
    let mut has_c = false;
    real::for_each(|object| {
        if count < MOST && !object.is_own() && has_mpi(object) {
            has_c |= object.symbol(b"PMPI_Init\0").is_some();
            with_mpi[count] = Some(*object);
            count += 1;
        }
    });
    if count == MOST {
        return;
    }
    let symbols = own.symbols.cast_mut();
    let total = own.symbol_count();
    // The last page too: the table lies among others that are only read.
    let bytes = total * size_of::<libc::Elf64_Sym>() + MOST_PAGE;
    if !writable(symbols as u64, bytes as u64, true) {
        return;
    }
    let (mut low, mut high) = (u64::MAX, 0);
    for place in 0..total {
        // SAFETY: a symbol of the table, which is ours to write now.
        let symbol = unsafe { &mut *symbols.add(place) };
        if symbol.st_shndx == 0 || symbol.st_info & 0xf != STT_FUNC {
            continue;
        }
        let address = own.address(symbol.st_value);
        // SAFETY: functions that are exported are wrappers, all of them.
        let index = unsafe { stub_index(address as *const u8) };
        let Some(wrapper) = WRAPPERS.get(index as usize) else { continue };
        (low, high) = (low.min(address), high.max(address));
        let name = wrapper.symbol();
        if with_mpi.iter().flatten().any(|object| object.symbol(name).is_some()) {
            continue;
        }
        if !is_rank || has_c && wrapper.is_c() {
            symbol.st_value = 0;
        } else {
            symbol.st_info = symbol.st_info & 0xf0 | STT_GNU_IFUNC;
            symbol.st_value += RESOLVER as u64;
        }
    }
    writable(symbols as u64, bytes as u64, false);
    real::for_each(|object| {
        if !object.is_own() {
            forget_weak(object, low, high);
        }
    });
}

/// Weak references that the linker has bound already to wrappers of what is not there.
fn forget_weak(object: &Object, low: u64, high: u64) {
    let mut opened = false;
    for (start, bytes) in object.relocations {
        for place in 0..bytes as usize / size_of::<libc::Elf64_Rela>() {
            // SAFETY: a relocation of the object, its symbol, and what the linker has written for it.
            unsafe {
                let relocation = &*(start as *const libc::Elf64_Rela).add(place);
                let number = relocation.r_info >> 32;
                if number == 0 || !is_address(relocation.r_info as u32) {
                    continue;
                }
                let bound = object.address(relocation.r_offset) as *mut u64;
                let symbol = &*object.symbols.add(number as usize);
                if symbol.st_info >> 4 != STB_WEAK || symbol.st_shndx != 0 || !(low..=high).contains(&*bound) {
                    continue;
                }
                let Some(wrapper) = WRAPPERS.get(stub_index(*bound as *const u8) as usize) else { continue };
                if is_loaded(wrapper.symbol()) {
                    continue;
                }
                if !opened && let Some((start, bytes)) = object.read_only_after() {
                    opened = writable(start, bytes, true);
                }
                *bound = 0;
            }
        }
    }
    if opened && let Some((start, bytes)) = object.read_only_after() {
        writable(start, bytes, false);
    }
}

/// Whether a relocation writes the address of its symbol.
fn is_address(kind: u32) -> bool {
    if cfg!(target_arch = "x86_64") {
        // R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT
        matches!(kind, 1 | 6 | 7)
    } else {
        // R_AARCH64_ABS64, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT
        matches!(kind, 257 | 1025 | 1026)
    }
}

/// Lets memory that the linker has made read-only be written, or no longer: whole pages, and not the last one where it ends
/// in the middle (elf/dl-reloc.c of glibc 2.36, `_dl_protect_relro`).
fn writable(start: u64, bytes: u64, write: bool) -> bool {
    const PAGE: u64 = 4096;
    // SAFETY: it only tells.
    let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(PAGE);
    let (from, end) = (start / page * page, (start + bytes) / page * page);
    if end <= from {
        return true;
    }
    let rights = if write { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
    // SAFETY: whole pages of the object's own; reading them stays allowed.
    unsafe { libc::mprotect(from as *mut c_void, (end - from) as usize, rights) == 0 }
}
