//! The images of a target, from the dynamic linker's own list.
//!
//! The list hangs from `_r_debug` (System V ABI, glibc `elf/link.h`, unchanged since glibc 2.0): a version, then a
//! pointer to the first `link_map` of {load bias, name, dynamic section, next, previous}. Reading it ourselves works alike
//! for live processes, remote ones and cores.

use std::collections::HashSet;

use super::{Image, Target, TargetError, printable};
use crate::address::TargetAddr;

/// No process has this many images; a longer list is damaged.
const MAX_IMAGES: usize = 8192;
const MAX_PATH: usize = 4096;

const PT_DYNAMIC: u64 = 2;
const PT_PHDR: u64 = 6;
const DT_NULL: u64 = 0;
const DT_DEBUG: u64 = 21;

/// More program headers or dynamic entries than this are damage.
const MAX_ENTRIES: u64 = 512;

/// The address of `_r_debug`, which the dynamic linker writes into the executable's dynamic section (DT_DEBUG). `headers`
/// and `count` are where the executable's program headers lie in memory (AT_PHDR and AT_PHNUM of the auxiliary
/// vector). No symbol is needed, so this costs microseconds where a debugger's symbol lookup costs many
/// milliseconds. `None` for a static executable, or before the dynamic linker has run.
///
/// # Errors
/// Where the program headers or the dynamic section cannot be read.
pub fn r_debug_from_program_headers(
    target: &(impl Target + ?Sized),
    headers: TargetAddr,
    count: u64,
) -> Result<Option<TargetAddr>, TargetError> {
    let width = target.abi().pointer_width.bytes();
    // Elf32_Phdr has 32 bytes with p_vaddr at 8; Elf64_Phdr has 56 with p_vaddr at 16.
    let (size, vaddr_at) = if width == 8 { (56, 16) } else { (32, 8) };
    let (mut table, mut dynamic) = (None, None);
    for index in 0..count.min(MAX_ENTRIES) {
        let header = headers.wrapping_add(index * size);
        let vaddr = target.read_uint(header.wrapping_add(vaddr_at), width)?;
        match target.read_uint(header, 4)? {
            PT_PHDR => table = Some(vaddr),
            PT_DYNAMIC => dynamic = Some(vaddr),
            _ => {}
        }
    }
    let (Some(table), Some(dynamic)) = (table, dynamic) else { return Ok(None) };
    let bias = headers.get().wrapping_sub(table);
    let mut entry = TargetAddr::new(u64::wrapping_add(dynamic, bias));
    for _ in 0..MAX_ENTRIES {
        match target.read_uint(entry, width)? {
            DT_NULL => return Ok(None),
            DT_DEBUG => {
                let found = target.read_pointer(entry.wrapping_add(width))?;
                return Ok((!found.is_null()).then_some(found));
            }
            _ => entry = entry.wrapping_add(2 * width),
        }
    }
    Ok(None)
}

/// A file that is loaded, as the dynamic linker's list has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// What is added to the file's virtual addresses.
    pub bias: TargetAddr,
    /// By which path it was loaded; empty for the executable.
    pub name: Vec<u8>,
    /// Where its dynamic section lies.
    pub dynamic: TargetAddr,
}

/// Walks the list that starts at `r_debug` (the address of `_r_debug`). `executable` is the path for the first
/// entry, whose own name is empty.
///
/// # Errors
/// As [`modules_from_link_map`].
pub fn images_from_link_map(
    target: &(impl Target + ?Sized),
    r_debug: TargetAddr,
    executable: Option<&str>,
) -> Result<Vec<Image>, TargetError> {
    Ok(images_of(&modules_from_link_map(target, r_debug)?, executable))
}

/// The images of the modules of a process, the executable first, whose path is given.
pub fn images_of(modules: &[Module], executable: Option<&str>) -> Vec<Image> {
    let image = |(place, module): (usize, &Module)| {
        let is_executable = place == 0;
        let path = match executable {
            Some(executable) if is_executable => executable.to_owned(),
            _ => printable(&module.name),
        };
        Image { path, bias: module.bias, build_id: None, is_executable }
    };
    modules.iter().enumerate().map(image).collect()
}

/// The files that are loaded, in the order of the list that starts at `r_debug`.
///
/// # Errors
/// Where the head of the list cannot be read, a part of it was left out of a core file or recording, or the debugger failed
/// or was interrupted. A fault or a circle further on ends the list.
pub fn modules_from_link_map(target: &(impl Target + ?Sized), r_debug: TargetAddr) -> Result<Vec<Module>, TargetError> {
    let width = target.abi().pointer_width.bytes();
    // `int r_version`, padded to a pointer's alignment.
    let mut entry = target.read_pointer(r_debug.wrapping_add(width))?;
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    while !entry.is_null() && found.len() < MAX_IMAGES && seen.insert(entry) {
        let Some(bias) = where_damaged(target.read_pointer(entry))? else { break };
        let Some(name_at) = where_damaged(target.read_pointer(entry.wrapping_add(width)))? else { break };
        let name = match target.read_c_string(name_at, MAX_PATH) {
            Err(error) if error.is_of_the_debugger() => return Err(error),
            read => read.unwrap_or_default(),
        };
        let Some(dynamic) = where_damaged(target.read_pointer(entry.wrapping_add(2 * width)))? else { break };
        found.push(Module { bias, name, dynamic });
        let Some(next) = where_damaged(target.read_pointer(entry.wrapping_add(3 * width)))? else { break };
        entry = next;
    }
    Ok(found)
}

/// Damage ends a list: `None`. What merely was left out of a dump, or not answered, must not look like the end.
fn where_damaged<T>(read: Result<T, TargetError>) -> Result<Option<T>, TargetError> {
    match read {
        Err(error) if error.is_left_out() || error.is_of_the_debugger() => Err(error),
        read => Ok(read.ok()),
    }
}
