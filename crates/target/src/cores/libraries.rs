//! The libraries that a core file's memory names, which are not those that it had mapped: debuggers open these names.
//!
//! They stand in the list of the dynamic linker, to which the program's dynamic section leads (System V ABI, chapter 5;
//! `r_debug` and `link_map` in glibc's elf/link.h). Debuggers take where that section lies from the program's file.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use super::elf::{self, HEADER, PT_DYNAMIC, PT_LOAD, PT_PHDR, Pieces};
use super::error::Unread;
use super::file::CoreFile;
use super::notes::AT_PHDR;

const DT_NULL: u64 = 0;
const DT_DEBUG: u64 = 21;
const MAX_ENTRIES: u64 = 512;
const MAX_LIBRARIES: usize = 8192;
const MAX_NAME: usize = 4096;
const PIECE: u64 = 256;

/// Their paths, by the linker's list; what is read before something is missing.
pub fn named_libraries(core: &CoreFile, program: &Path) -> Vec<OsString> {
    let mut names = Vec::new();
    if let Ok(Some(r_debug)) = r_debug(core, program) {
        // What is missing ends the list.
        let _ = collect(core, r_debug, &mut names);
    }
    names
}

/// The address of `_r_debug` by the headers in the program's file; `None` where that has no dynamic section, and before
/// the dynamic linker has run.
pub(super) fn r_debug(core: &CoreFile, program: &Path) -> Result<Option<u64>, Unread> {
    let segments = Pieces::open(program).ok().as_ref().and_then(elf::image_segments).unwrap_or_default();
    let address = |kind| segments.iter().find(|segment| segment.kind == kind).map(|segment| segment.address);
    let Some(dynamic) = address(PT_DYNAMIC) else { return Ok(None) };
    let loaded = segments.iter().find(|segment| segment.kind == PT_LOAD && segment.held > 0);
    let base = loaded.map_or(0, |segment| segment.address.wrapping_sub(segment.offset));
    let headers = address(PT_PHDR).unwrap_or_else(|| base.wrapping_add(HEADER));
    let mut entry = dynamic.wrapping_add(core.auxiliary(AT_PHDR).wrapping_sub(headers));
    for _ in 0..MAX_ENTRIES {
        match word(core, entry)? {
            DT_NULL => return Ok(None),
            DT_DEBUG => return Ok(Some(word(core, entry.wrapping_add(8))?).filter(|found| *found != 0)),
            _ => entry = entry.wrapping_add(16),
        }
    }
    Ok(None)
}

fn collect(core: &CoreFile, r_debug: u64, names: &mut Vec<OsString>) -> Result<(), Unread> {
    let mut seen = HashSet::new();
    let mut at = word(core, r_debug.wrapping_add(8))?;
    while at != 0 && seen.len() < MAX_LIBRARIES && seen.insert(at) {
        let name = word(core, at.wrapping_add(8))?;
        let next = word(core, at.wrapping_add(24))?;
        if let Ok(name) = text(core, name)
            && !name.is_empty()
        {
            names.push(OsString::from_vec(name));
        }
        at = next;
    }
    Ok(())
}

fn word(core: &CoreFile, at: u64) -> Result<u64, Unread> {
    let mut bytes = [0; 8];
    core.read_held(at, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn text(core: &CoreFile, at: u64) -> Result<Vec<u8>, Unread> {
    let mut found = Vec::new();
    let mut at = at;
    while found.len() < MAX_NAME {
        // Not over the end of the page, behind which nothing may be.
        let mut piece = [0; PIECE as usize];
        let piece = &mut piece[..(PIECE - at % PIECE) as usize];
        core.read_held(at, piece)?;
        if let Some(end) = piece.iter().position(|byte| *byte == 0) {
            found.extend_from_slice(&piece[..end]);
            break;
        }
        found.extend_from_slice(piece);
        at = at.wrapping_add(piece.len() as u64);
    }
    Ok(found)
}
