//! Requests.

use std::collections::HashSet;

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
pub fn more(reader: &HandleReader<'_>, found: &mut Vec<TargetAddr>, reasons: &mut Vec<String>) {
    let all = reader.requests_in_use();
    let mut seen: HashSet<TargetAddr> = found.iter().copied().collect();
    found.extend(all.requests.iter().map(|one| one.request).filter(|request| seen.insert(*request)));
    reasons.extend(all.reasons.iter().cloned());
}
