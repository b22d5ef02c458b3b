//! Groups.

use super::{Depth, HandleReader};
use crate::address::TargetAddr;
use crate::model::Handle;
use crate::readers::ReaderError;

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(
    _reader: &HandleReader<'_>,
    addr: TargetAddr,
    _depth: Depth,
    handle: &mut Handle,
) -> Result<(), ReaderError> {
    handle.summary = format!("{} {addr}", handle.kind.noun());
    Ok(())
}
