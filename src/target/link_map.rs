//! The images of a target, from the dynamic linker's own list.
//!
//! The list hangs from `_r_debug` (System V ABI, glibc `elf/link.h`, unchanged since glibc 2.0): a version, then a
//! pointer to the first `link_map` of {load bias, name, dynamic section, next, previous}. Reading it ourselves works alike
//! for live processes, remote ones and cores.

use super::{Image, Target, TargetError, printable};
use crate::address::TargetAddr;

/// No process has this many images; a longer list is damaged.
const MAX_IMAGES: usize = 8192;
const MAX_PATH: usize = 4096;

/// Walks the list that starts at `r_debug` (the address of `_r_debug`). `executable` is the path for the first
/// entry, whose own name is empty.
///
/// # Errors
/// Where the head of the list cannot be read. A fault further on ends the list.
pub fn images_from_link_map(
    target: &(impl Target + ?Sized),
    r_debug: TargetAddr,
    executable: Option<&str>,
) -> Result<Vec<Image>, TargetError> {
    let width = target.abi().pointer_width.bytes();
    // `int r_version`, padded to a pointer's alignment.
    let mut entry = target.read_pointer(r_debug.wrapping_add(width))?;
    let mut images = Vec::new();
    while !entry.is_null() && images.len() < MAX_IMAGES {
        let Ok(bias) = target.read_pointer(entry) else { break };
        let Ok(name_at) = target.read_pointer(entry.wrapping_add(width)) else { break };
        let name = target.read_c_string(name_at, MAX_PATH).unwrap_or_default();
        let is_executable = images.is_empty();
        let path = match executable {
            Some(executable) if is_executable => executable.to_owned(),
            _ => printable(&name),
        };
        images.push(Image { path, bias, build_id: None, is_executable });
        let Ok(next) = target.read_pointer(entry.wrapping_add(3 * width)) else { break };
        entry = next;
    }
    Ok(images)
}
