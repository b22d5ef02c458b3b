//! libfabric's arrays that grow (`struct ofi_dyn_arr`, include/ofi_indexer.h), and its tables of objects (`struct index_map`): one
//! item for each process that was talked to.

use super::layout::{ArrayShape, MapShape};
use crate::record::Record;
use target::address::TargetAddr;
use target::{Reason, Target, TargetAbi};

/// Items in one chunk (`OFI_IDX_CHUNK_SIZE`).
const ITEMS: u64 = 1 << 10;

/// Chunks (`OFI_IDX_MAX_CHUNKS`).
const CHUNKS: usize = 1 << 10;

/// An item is smaller than this, in bytes.
const MAX_ITEM: u64 = 1 << 12;

/// Shows `visit` every item that exists, with its number.
///
/// # Errors
/// A sentence, where the array cannot be read or cannot be one.
pub fn items(
    target: &dyn Target,
    shape: Option<&ArrayShape>,
    at: TargetAddr,
    item_size: usize,
    mut visit: impl FnMut(u64, &Record<'_>),
) -> Result<(), Reason> {
    let shape = shape.ok_or("this release of libfabric has no such arrays")?;
    let abi: TargetAbi = target.abi();
    let width = usize::try_from(abi.pointer_width.bytes()).unwrap_or(8);
    let head = Record::owned(target, at, shape.size)?;
    let stride = head.uint(shape.item_size);
    if stride < item_size as u64 || stride > MAX_ITEM {
        return Err(Reason::new(format!("libfabric's array at {at} has items of {stride} bytes")));
    }
    let chunks = head.bytes(shape.chunk).chunks_exact(width).take(CHUNKS).map(|bytes| abi.uint(bytes));
    let chunks: Vec<(u64, u64)> = (0..).zip(chunks).filter(|(_, chunk)| *chunk != 0).collect();
    for (chunk, start) in chunks {
        let start = TargetAddr::new(start);
        let bytes = usize::try_from(ITEMS * stride).unwrap_or(usize::MAX);
        let bytes = target.read_bytes(start, bytes)?;
        for (index, item) in (0..ITEMS).zip(bytes.chunks_exact(usize::try_from(stride).unwrap_or(1))) {
            visit(chunk * ITEMS + index, &Record::new(start.wrapping_add(index * stride), item, abi));
        }
    }
    Ok(())
}

/// The objects of a table, with their numbers.
///
/// # Errors
/// A sentence, where the table cannot be read or has more than it says.
pub fn objects(target: &dyn Target, shape: &MapShape, at: TargetAddr) -> Result<Vec<(u64, TargetAddr)>, Reason> {
    let abi: TargetAbi = target.abi();
    let width = usize::try_from(abi.pointer_width.bytes()).unwrap_or(8);
    let head = Record::owned(target, at, shape.size)?;
    let chunks = head.bytes(shape.chunk).chunks_exact(width).take(CHUNKS).map(|bytes| abi.uint(bytes));
    // As often as an object was put there: some may have been taken out since (`ofi_idm_set`, src/indexer.c).
    let counts = head.bytes(shape.count).chunks_exact(4).map(|bytes| abi.uint(bytes));
    let mut found = Vec::new();
    for ((number, chunk), most) in (0..).zip(chunks).zip(counts).filter(|((_, chunk), _)| *chunk != 0) {
        let bytes = target.read_bytes(TargetAddr::new(chunk), usize::try_from(ITEMS).unwrap_or(0) * width);
        let bytes = bytes?;
        let before = found.len();
        for (index, item) in (0..).zip(bytes.chunks_exact(width).map(|bytes| abi.uint(bytes))) {
            if item != 0 {
                found.push((number * ITEMS + index, TargetAddr::new(item)));
            }
        }
        if (found.len() - before) as u64 > most {
            return Err(Reason::new(format!("libfabric's table at {at} has more objects than it says")));
        }
    }
    Ok(found)
}
