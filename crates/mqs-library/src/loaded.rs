//! What a process has loaded. The interface tells neither its number nor its files, so memory itself has to: the dynamic linker's
//! list, to which three ways lead. Where none does, the file that an MPI function lies in.

use std::time::{Duration, Instant};

use target::address::TargetAddr;
use target::{Exports, Module, Target, modules_from_link_map, r_debug_from_program_headers};

/// Entries of the auxiliary vector (Linux, include/uapi/linux/auxvec.h).
const AT_PHDR: u64 = 3;
const AT_PHNUM: u64 = 5;
const AT_EXECFN: u64 = 31;

/// More arguments, variables and entries than these are damage.
const MAX_WORDS: u64 = 1 << 16;
const MAX_PATH: usize = 4096;

/// Files begin at a page. So many pages are looked at before a function for the beginning of its file, of which so many may
/// not be there: between the segments of a file there may be gaps. A slow debugger ends it sooner.
const PAGE: u64 = 4096;
const MAX_PAGES: u64 = 1 << 15;
const MAX_GAP: u64 = 1 << 10;
const LONGEST: Duration = Duration::from_secs(3);

/// How programs begin, and what every MPI has.
const OF_PROGRAM: [&str; 2] = ["main", "_start"];
const OF_MPI: [&str; 3] = ["MPI_Init", "PMPI_Init", "MPI_Init_thread"];

/// What is loaded.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The executable first.
    pub modules: Vec<Module>,
    /// The path of the executable; empty where it is not known.
    pub executable: String,
    /// Whether the first module is the executable.
    pub begins_with_executable: bool,
}

/// What is loaded in the process; `function` is what the debugger knows of functions.
pub fn loaded(target: &dyn Target, function: &dyn Fn(&str) -> Option<TargetAddr>) -> Loaded {
    let vector = AuxiliaryVector::of(target);
    let executable = vector.as_ref().and_then(|vector| vector.path(target)).unwrap_or_default();
    let by_symbol = || target.symbol("_r_debug").ok().flatten().map(|symbol| symbol.addr);
    let by_vector = || {
        let (headers, count) = vector.as_ref()?.headers?;
        r_debug_from_program_headers(target, headers, count).ok().flatten()
    };
    let by_program = || {
        let file = OF_PROGRAM.iter().find_map(|name| File::of(target, function(name)?))?;
        r_debug_from_program_headers(target, file.headers, file.count).ok().flatten()
    };
    let ways: [&dyn Fn() -> Option<TargetAddr>; 3] = [&by_symbol, &by_vector, &by_program];
    for r_debug in ways.iter().filter_map(|way| way()) {
        let modules = modules_from_link_map(target, r_debug).unwrap_or_default();
        if !modules.is_empty() {
            return Loaded { modules, executable, begins_with_executable: true };
        }
    }
    let file = OF_MPI.iter().filter_map(|name| function(name)).find_map(|address| File::of(target, address));
    let modules = file.into_iter().map(|file| file.module(target)).collect();
    Loaded { modules, executable, begins_with_executable: false }
}

/// What the kernel has left on the stack of a process when it began.
struct AuxiliaryVector {
    headers: Option<(TargetAddr, u64)>,
    path: Option<TargetAddr>,
}

impl AuxiliaryVector {
    /// glibc's dynamic linker keeps where the stack began, with the number of arguments (`__libc_stack_end`, since 2.1); arguments,
    /// variables of the environment and the vector follow, each list with a zero behind it (System V ABI, "Initial Process Stack").
    fn of(target: &dyn Target) -> Option<Self> {
        let width = target.abi().pointer_width.bytes();
        let start = target.read_pointer(target.symbol("__libc_stack_end").ok().flatten()?.addr).ok()?;
        let word = |number: u64| target.read_uint(start.wrapping_add(number * width), width).ok();
        let arguments = word(0).filter(|count| (1..MAX_WORDS).contains(count))?;
        let mut at = arguments + 2;
        let environment = (0..MAX_WORDS).find(|number| word(at + number) == Some(0))?;
        at += environment + 1;
        let (mut headers, mut count, mut path) = (0, 0, 0);
        for number in 0..64 {
            let value = word(at + 2 * number + 1)?;
            match word(at + 2 * number)? {
                0 => break,
                AT_PHDR => headers = value,
                AT_PHNUM => count = value,
                AT_EXECFN => path = value,
                _ => {}
            }
        }
        let headers = (headers != 0 && count != 0).then_some((TargetAddr::new(headers), count));
        Some(Self { headers, path: (path != 0).then_some(TargetAddr::new(path)) })
    }

    fn path(&self, target: &dyn Target) -> Option<String> {
        Some(target::printable(&target.read_c_string(self.path?, MAX_PATH).ok()?))
    }
}

/// A file whose first bytes lie in memory.
struct File {
    start: TargetAddr,
    headers: TargetAddr,
    count: u64,
}

impl File {
    /// The file that has its code at an address.
    fn of(target: &dyn Target, address: TargetAddr) -> Option<Self> {
        let (began, mut gap) = (Instant::now(), 0);
        let first = address.get() / PAGE;
        let start =
            (first.saturating_sub(MAX_PAGES)..=first).rev().map(|page| TargetAddr::new(page * PAGE)).find(|at| {
                let mut magic = [0; 4];
                let read = gap <= MAX_GAP && began.elapsed() < LONGEST && target.read_once(*at, &mut magic).is_ok();
                gap += u64::from(!read);
                read && magic == *b"\x7fELF"
            })?;
        // Elf64_Ehdr: e_phoff at 32, e_phnum at 56; Elf32_Ehdr: 28, 44.
        let width = target.abi().pointer_width.bytes();
        let (offset, count) = if width == 8 { (32, 56) } else { (28, 44) };
        let headers = start.wrapping_add(target.read_uint(start.wrapping_add(offset), width).ok()?);
        Some(Self { start, headers, count: target.read_uint(start.wrapping_add(count), 2).ok()?.min(256) })
    }

    /// The same as the dynamic linker's list would have it. Libraries are linked as if they began at 0, programs that cannot be
    /// moved where they lie.
    fn module(&self, target: &dyn Target) -> Module {
        const PT_LOAD: u64 = 1;
        const PT_DYNAMIC: u64 = 2;
        let width = target.abi().pointer_width.bytes();
        // Elf64_Phdr has 56 bytes with p_vaddr at 16; Elf32_Phdr 32 with p_vaddr at 8.
        let (size, at) = if width == 8 { (56, 16) } else { (32, 8) };
        let segment = |wanted: u64| {
            let headers = (0..self.count).map(|number| self.headers.wrapping_add(number * size));
            let mut headers = headers.filter(|header| target.read_uint(*header, 4).ok() == Some(wanted));
            target.read_uint(headers.next()?.wrapping_add(at), width).ok()
        };
        let bias = TargetAddr::new(self.start.get().wrapping_sub(segment(PT_LOAD).unwrap_or(0) / PAGE * PAGE));
        let dynamic = segment(PT_DYNAMIC).map_or(TargetAddr::NULL, |dynamic| bias.wrapping_add(dynamic));
        let mut module = Module { bias, name: Vec::new(), dynamic };
        let exports = Exports::of(target, &module);
        module.name = exports.and_then(|exports| exports.file_name(target)).unwrap_or_default();
        module
    }
}
