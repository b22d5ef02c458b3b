//! What topologies of all MPIs have in common.

use crate::ReaderError;
use target::Target;
use target::address::TargetAddr;

/// No array of a topology is longer than this (1 Mi): edges of a graph.
const MAX_NUMBERS: i64 = 1 << 20;

/// An array of `count` C integers.
///
/// # Errors
/// Where it cannot be read, or there cannot be so many.
pub fn numbers(target: &dyn Target, at: TargetAddr, count: i64) -> Result<Vec<i64>, ReaderError> {
    if !(0..=MAX_NUMBERS).contains(&count) {
        return Err(ReaderError::Damaged(format!("a topology has an array of {count} numbers at {at}")));
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    let abi = target.abi();
    let bytes = target.read_bytes(at, count as usize * 4)?;
    Ok(bytes.chunks_exact(4).map(|bytes| abi.int(bytes)).collect())
}
