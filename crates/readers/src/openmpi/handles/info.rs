//! Info objects (ompi/info/info.h, v4.1.4 and v5.0.7).

use super::{Depth, HandleReader, hints};
use crate::ReaderError;
use crate::record::{Record, shapes};
use model::Handle;
use target::address::TargetAddr;

shapes! {
    /// Info objects.
    Info = ["ompi_info_t"] { list: "super", freed: "i_freed" };
}

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = Info::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, addr, shape.size)?;
    let list = record.address_of(shape.list);
    handle.freed = Some(record.uint(shape.freed) != 0);
    let env = reader.symbol("ompi_mpi_info_env")? == Some(addr);
    handle.predefined = Some(env);
    handle.name_info(env.then_some("MPI_INFO_ENV"), hints::count(reader, list)?);
    if depth == Depth::Full {
        hints::info(reader, list, &mut handle.problems)?.tell(handle);
    }
    Ok(())
}
