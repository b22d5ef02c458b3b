//! Sessions, since 5.0 (ompi/instance/instance.h, v5.0.7).

use super::{Depth, HandleReader, attributes, hints, kinds, object};
use crate::ReaderError;
use crate::record::{Record, shapes};
use model::handle;
use model::{Handle, HandleKind};
use target::address::TargetAddr;
use target::printable;

shapes! {
    /// Sessions.
    Session = ["ompi_instance_t"] {
        name: "i_name",
        errhandler: "error_handler",
        attributes: "i_keyhash",
        info: "super.s_info",
    };
}

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = Session::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, addr, shape.size)?;
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let default = match reader.symbol("ompi_mpi_instance_default")? {
        Some(symbol) => reader.target.read_pointer(symbol)? == addr,
        None => false,
    };
    handle.predefined = Some(default);
    handle.summary = match (default, name.as_str()) {
        (true, _) => "the session that MPI_Init made".to_owned(),
        (false, "") => format!("session {addr}"),
        (false, name) => format!("session \"{name}\""),
    };
    handle.name = Some(name).filter(|name| !name.is_empty());
    if depth == Depth::Full {
        let problems = &mut handle.problems;
        let details = handle::Session {
            // `i_thread_level` exists, and nothing ever writes it (ompi/instance/instance.c, v5.0.7).
            thread_level: Err("Open MPI does not note it in the session".into()),
            errhandler: reader.reference(HandleKind::Errhandler, record.pointer(shape.errhandler)),
            info: hints::read(reader, record.pointer(shape.info), problems),
            attributes: attributes::read(reader, record.pointer(shape.attributes), problems),
        };
        details.tell(handle);
    }
    Ok(())
}

/// Takes out what the table still names and is no session any more: MPI_Session_finalize leaves its slot as it was
/// (`ompi_instance_destruct` in ompi/instance/instance.c, v5.0.7).
pub fn only_live(reader: &HandleReader<'_>, found: &mut Vec<TargetAddr>) {
    let Some(place) = kinds::of(HandleKind::Session) else { return };
    found.retain(|addr| {
        !matches!(object::find(reader, place, *addr), Ok(object::Found::Freed(_) | object::Found::Invalid(_)))
    });
}
