//! One pass over the writable memory of the MPI library, for what may be pools and arrays of objects.
//!
//! Stock libraries are stripped: no symbol says where the pools are. They are recognised by their own numbers; what
//! looks like one is checked against the objects it points to (`pools.rs`).

use super::handle_value::{HandleValue, ObjectKind, Place};
use super::pool_layout::{Head, HeadLayout};
use target::address::TargetAddr;
use target::{Range, Target, TargetError, is_zero, zeroed};

/// Bytes that are read together.
const CHUNK: usize = 1 << 20;

/// Bytes that are left out at once where they are zero.
const PIECE: usize = 2048;
const LINE: usize = 64;

/// More candidates than this are damage, or no MPICH.
const MAX_CANDIDATES: usize = 100_000;

/// MPI_CHAR, the first predefined datatype that has an object: their handles hold the size, too, in bits 8 to 15, and
/// the number 0 is none's (pmodels/mpich, src/include/mpi.h.in and src/mpi/datatype/typeutil.c, v4.0.2).
pub const FIRST_DATATYPE: HandleValue = HandleValue(0x4c00_0101);

/// MPI_FLOAT_INT, the first of the datatypes of pairs (the same files).
const FIRST_PAIR: HandleValue = HandleValue(0x8c00_0000);

/// Libraries have less writable memory (2 GiB); the rest of a larger one is not looked at.
const MAX_SCANNED: u64 = 2 << 30;

/// After so many pieces of which not a single page can be read the rest of a range is not tried: its length is damaged.
const MAX_IN_VAIN: u32 = 16;

/// What may be the head of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadCandidate {
    /// Its address.
    pub at: TargetAddr,
    /// The layout by which it makes sense.
    pub layout: HeadLayout,
    /// What it says.
    pub head: Head,
}

/// What may be the first object of an array of predefined ones; of datatypes, the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltinCandidate {
    /// Its address.
    pub at: TargetAddr,
    /// The kind that its handle says.
    pub kind: ObjectKind,
}

/// What a pass found.
#[derive(Debug, Default)]
pub struct Scan {
    /// Possible heads of pools.
    pub heads: Vec<HeadCandidate>,
    /// Possible arrays of predefined objects.
    pub builtins: Vec<BuiltinCandidate>,
    /// Where the datatypes of pairs may begin.
    pub pairs: Vec<TargetAddr>,
    /// Bytes that were looked at.
    pub bytes: u64,
    /// Bytes that could not be read, and the first reason.
    pub unread: u64,
    /// Why.
    pub first_error: Option<TargetError>,
    /// The ranges without an end that nothing could be read of.
    pub ranges: Vec<Range>,
}

/// Looks through the ranges.
///
/// # Errors
/// Where the process is gone; what cannot be read is counted and left out.
pub fn scan(target: &dyn Target, ranges: &[Range]) -> Result<Scan, TargetError> {
    let layouts = HeadLayout::all(target.abi());
    let overlap = layouts.iter().map(|layout| layout.total).max().unwrap_or_default();
    let mut found = Scan::default();
    let mut buffer = zeroed(CHUNK + overlap)?;
    for range in ranges {
        let mut offset = 0;
        let mut in_vain = 0;
        let mut readable = 0;
        while offset < range.len && found.bytes + found.unread < MAX_SCANNED && in_vain < MAX_IN_VAIN {
            let left = usize::try_from(range.len - offset).unwrap_or(usize::MAX);
            let (step, len) = (left.min(CHUNK), left.min(CHUNK + overlap));
            let at = range.start.wrapping_add(offset);
            match target.read_once(at, &mut buffer[..len]) {
                Ok(()) => {
                    look(target, ranges, &layouts, at, &buffer[..len], step, &mut found);
                    found.bytes += step as u64;
                    in_vain = 0;
                }
                Err(error @ (TargetError::Gone | TargetError::OverLimit(_))) => return Err(error),
                Err(error) => {
                    found.first_error.get_or_insert(error);
                    let before = found.bytes;
                    pages(target, ranges, &layouts, at, &mut buffer[..len], step, &mut found)?;
                    in_vain = if found.bytes == before { in_vain + 1 } else { 0 };
                }
            }
            offset += step as u64;
            if in_vain == 0 {
                readable = offset;
            }
        }
        found.unread = found.unread.saturating_add(range.len - offset);
        if readable > 0 {
            found.ranges.push(Range { start: range.start, len: readable });
        }
    }
    Ok(found)
}

/// Looks at what can be read of a chunk, page by page; a head on the border of an unreadable page is lost.
fn pages(
    target: &dyn Target,
    ranges: &[Range],
    layouts: &[HeadLayout],
    at: TargetAddr,
    buffer: &mut [u8],
    step: usize,
    found: &mut Scan,
) -> Result<(), TargetError> {
    const PAGE: usize = 4096;
    let mut readable = vec![false; buffer.len().div_ceil(PAGE)];
    for (index, page) in buffer.chunks_mut(PAGE).enumerate() {
        match target.read_once(at.wrapping_add((index * PAGE) as u64), page) {
            Ok(()) => readable[index] = true,
            Err(error @ (TargetError::Gone | TargetError::OverLimit(_))) => return Err(error),
            Err(_) => page.fill(0),
        }
        let len = page.len().min(step.saturating_sub(index * PAGE)) as u64;
        *(if readable[index] { &mut found.bytes } else { &mut found.unread }) += len;
    }
    if readable.contains(&true) {
        look(target, ranges, layouts, at, buffer, step, found);
    }
    Ok(())
}

/// Looks at the words of a chunk whose first `step` bytes belong to it; the rest is there for what begins in it.
fn look(
    target: &dyn Target,
    ranges: &[Range],
    layouts: &[HeadLayout],
    at: TargetAddr,
    bytes: &[u8],
    step: usize,
    found: &mut Scan,
) {
    let abi = target.abi();
    let mut words: Vec<u32> = Vec::new();
    // What makes a head is never its first bytes: those of an unused pool are zero.
    let reach = layouts.iter().map(|layout| layout.total).max().unwrap_or_default();
    // Most of it is zero: large pieces of that are left out at once.
    let pieces = (0..step).step_by(PIECE).map(|start| (start, step.min(start + PIECE)));
    let lines = pieces.filter(|(start, end)| !is_zero(&bytes[*start..bytes.len().min(end + reach)]));
    for start in lines.flat_map(|(start, end)| (start..end).step_by(LINE)) {
        let end = step.min(start + LINE);
        if is_zero(&bytes[start..bytes.len().min(end + reach)])
            || found.heads.len() + found.builtins.len() + found.pairs.len() > MAX_CANDIDATES
        {
            continue;
        }
        abi.words(&bytes[start..bytes.len().min(end + reach)], &mut words);
        for (index, value) in words[..words.len().min((end - start).div_ceil(4))].iter().enumerate() {
            let place = || at.wrapping_add((start + 4 * index) as u64);
            let handle = HandleValue(*value);
            if matches!(handle.place(), Place::Builtin) {
                if handle.index() == 0 || handle == FIRST_DATATYPE {
                    found.builtins.extend(handle.kind().map(|kind| BuiltinCandidate { at: place(), kind }));
                }
            } else if handle.0 == FIRST_PAIR.0 {
                found.pairs.push(place());
            }
            // The direct block's pointer is the rarest of a head's members: it lies in the library.
            for layout in layouts {
                // All members of a head are words, or two.
                if !matches!(words.get(index + layout.kind / 4), Some(1..=15)) {
                    continue;
                }
                let offset = start + 4 * index;
                let Some(head) = bytes.get(offset..offset + layout.total) else { continue };
                let Some(head) = layout.decode(head, abi) else { continue };
                let block = head.size * head.direct_size;
                if head.direct == 0 || ranges.iter().any(|range| range.holds(TargetAddr::new(head.direct), block)) {
                    found.heads.push(HeadCandidate { at: place(), layout: *layout, head });
                    break;
                }
            }
        }
    }
}
