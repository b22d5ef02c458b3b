//! Windows.

use super::{Depth, HandleReader};
use crate::address::TargetAddr;
use crate::model::Handle;
use crate::readers::ReaderError;
use crate::readers::record::{Record, shape};
use crate::target::printable;

shape!(
    /// Windows.
    Window = ["ompi_win_t"] { name: "w_name" }
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
    let shape = Window::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, addr, shape.size, &mut buffer)?;
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    handle.summary.clone_from(&name);
    handle.name = Some(name).filter(|name| !name.is_empty());
    Ok(())
}
