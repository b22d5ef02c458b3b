//! Datatypes.

use super::{Depth, HandleReader};
use crate::address::TargetAddr;
use crate::model::Handle;
use crate::readers::ReaderError;
use crate::readers::record::{Record, shape};
use crate::target::printable;

shape!(
    /// Datatypes.
    Datatype = ["ompi_datatype_t"] { name: "name" }
);

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(
    reader: &HandleReader<'_>,
    addr: TargetAddr,
    _depth: Depth,
    handle: &mut Handle,
) -> Result<(), ReaderError> {
    let shape = Datatype::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, addr, shape.size, &mut buffer)?;
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    handle.summary.clone_from(&name);
    handle.name = Some(name).filter(|name| !name.is_empty());
    Ok(())
}

/// Adds objects that are in no table of the library, and why these are not all.
pub fn more(_reader: &HandleReader<'_>, _found: &mut Vec<TargetAddr>, reasons: &mut Vec<String>) {
    reasons.push("Open MPI keeps no list of them: only those are shown that Fortran knows".to_owned());
}
