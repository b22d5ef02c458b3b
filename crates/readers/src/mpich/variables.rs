//! Looks for a variable of the library, which has no symbol, by what it says.

use crate::record::Record;
use target::{Range, Target, TargetError, is_zero, zeroed};

/// Bytes that are read together.
const CHUNK: usize = 1 << 20;

const PAGE: usize = 4096;

/// Bytes that are left out at once where they are zero; a multiple of every word.
const PIECE: usize = 512;

/// Shows `look` every place of `size` bytes in the ranges whose first word is not zero, until it knows one.
///
/// # Errors
/// Where the process is gone. What cannot be read is taken for zeros: no variable is found there.
pub fn find<T>(
    target: &dyn Target,
    ranges: &[Range],
    size: usize,
    mut look: impl FnMut(&Record<'_>) -> Option<T>,
) -> Result<Option<T>, TargetError> {
    let abi = target.abi();
    let width = usize::try_from(abi.pointer_width.bytes()).unwrap_or(8);
    let mut buffer = zeroed(CHUNK.saturating_add(size))?;
    for range in ranges {
        for offset in (0..range.len).step_by(CHUNK) {
            let left = usize::try_from(range.len - offset).unwrap_or(usize::MAX);
            let bytes = &mut buffer[..left.min(CHUNK + size)];
            let at = range.start.wrapping_add(offset);
            match target.read_once(at, bytes) {
                Ok(()) => {}
                Err(TargetError::Gone) => return Err(TargetError::Gone),
                Err(_) => {
                    for (index, page) in bytes.chunks_mut(PAGE).enumerate() {
                        match target.read_once(at.wrapping_add((index * PAGE) as u64), page) {
                            Ok(()) => {}
                            Err(TargetError::Gone) => return Err(TargetError::Gone),
                            Err(_) => page.fill(0),
                        }
                    }
                }
            }
            // Most of it is zero: large pieces of that are left out at once.
            let last = (bytes.len() + 1).saturating_sub(size).min(CHUNK);
            let pieces = (0..last).step_by(PIECE).map(|start| start..last.min(start + PIECE));
            let starts = pieces
                .filter(|piece| !is_zero(&bytes[piece.start..bytes.len().min(piece.end + width)]))
                .flat_map(|piece| piece.step_by(width));
            for start in starts {
                let whole = &bytes[start..start + size];
                if is_zero(&whole[..width.min(size)]) {
                    continue;
                }
                let found = look(&Record::new(at.wrapping_add(start as u64), whole, abi));
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
    }
    Ok(None)
}
