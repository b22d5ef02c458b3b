//! Memory that a core file leaves out because it is in files: code and constants of programs and libraries.
//!
//! A file's bytes stand for memory only where nobody can have changed them (its segments that are not writable) and where
//! the file is the one that was mapped: its first page, which holds the build-id, must be in the core, and equal.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::elf::{self, HEADER, PT_LOAD, Pieces, WRITABLE};
use super::file::CoreFile;
use crate::budget::zeroed;
use crate::files::About;

/// At least; larger pages begin and end at multiples of it.
const PAGE: u64 = 4096;

/// The parts of one file that are not writable when they are loaded.
#[derive(Debug, Clone)]
pub(super) struct Constants {
    path: PathBuf,
    /// As it was compared: another file under its name stands for nothing.
    seen: About,
    pieces: Vec<Piece>,
}

/// A segment's pages, and where their bytes begin in the file; `None` where memory may differ from it.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: u64,
    end: u64,
    offset: Option<u64>,
}

impl CoreFile {
    /// Fills the beginning of `to` with what the file mapped at `address` has there; returns how much that is in bytes,
    /// 0 where no file can stand for it.
    pub(super) fn constants(&self, address: u64, to: &mut [u8]) -> usize {
        let Some(mapping) = self.mapping(address) else { return 0 };
        let mut known = self.constants.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(&mapping.name) {
            known.insert(mapping.name.clone(), self.compared(&mapping.name));
        }
        let constants = known.get(&mapping.name).and_then(Option::as_ref);
        constants.and_then(|constants| constants.read(address, to)).unwrap_or(0)
    }

    /// The file of this name, if it is the one that was mapped.
    fn compared(&self, name: &OsStr) -> Option<Constants> {
        let first = self.mappings().iter().find(|mapping| mapping.name == name && mapping.offset == 0)?;
        let mut mapped = zeroed(usize::try_from(PAGE.min(first.end.checked_sub(first.start)?)).ok()?).ok()?;
        if (mapped.len() as u64) < HEADER {
            return None;
        }
        self.read_held(first.start, &mut mapped).ok()?;
        let file = Pieces::open(Path::new(name)).ok()?;
        // What follows the end of a file is zeros in its last page.
        let mut own = vec![0; mapped.len()];
        file.read_into(0, &mut own).ok()?;
        (own == mapped).then(|| Constants {
            path: name.into(),
            seen: *file.about(),
            pieces: pieces(&file, first.start).unwrap_or_default(),
        })
    }
}

impl Constants {
    fn read(&self, address: u64, to: &mut [u8]) -> Option<usize> {
        // A page that two segments share is the later one's.
        let piece = self.pieces.iter().rfind(|piece| (piece.start..piece.end).contains(&address))?;
        let next = self.pieces.iter().map(|piece| piece.start).filter(|start| *start > address).min();
        let available = piece.end.min(next.unwrap_or(u64::MAX)) - address;
        let len = usize::try_from(available).unwrap_or(usize::MAX).min(to.len());
        let offset = piece.offset?.checked_add(address - piece.start)?;
        // Held open, the libraries of many ranks would take too many descriptors.
        let file = Pieces::open(&self.path).ok()?;
        if !file.about().is_same(&self.seen) {
            return None;
        }
        file.read_into(offset, &mut to[..len]).ok()
    }
}

/// The segments of a file whose first page lies at `start`, by address; `None` where it is not an ELF file.
fn pieces(file: &Pieces, start: u64) -> Option<Vec<Piece>> {
    let mut loaded = elf::image_segments(file)?;
    loaded.retain(|segment| segment.kind == PT_LOAD);
    let bias = start.wrapping_sub(loaded.iter().find(|segment| segment.offset == 0)?.address);
    let piece = |segment: &elf::Segment| {
        // Whole pages are mapped: what stands around a segment in the file is there as well. Zeros behind it are not.
        let constant = segment.flags & WRITABLE == 0 && segment.held == segment.size;
        let before = segment.address % PAGE;
        let end = segment.address.checked_add(segment.size)?.checked_next_multiple_of(PAGE)?;
        let start = bias.wrapping_add(segment.address - before);
        let end = start.checked_add(end - (segment.address - before))?;
        Some(Piece { start, end, offset: segment.offset.checked_sub(before).filter(|_| constant) })
    };
    Some(loaded.iter().filter_map(piece).collect())
}
