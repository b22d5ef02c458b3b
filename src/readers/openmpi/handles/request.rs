//! Requests.

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

/// Adds objects that are in no table of the library, and why these are not all.
pub fn more(_reader: &HandleReader<'_>, _found: &mut Vec<TargetAddr>, reasons: &mut Vec<String>) {
    reasons.push("Open MPI keeps no list of them: only those are shown that Fortran knows".to_owned());
}
