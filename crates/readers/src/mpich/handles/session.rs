//! Sessions (pmodels/mpich, src/include/mpir_session.h, v4.0 to v5.0).

use super::value::Object;
use super::{Depth, HandleReader, NO_HINTS, NO_OBJECT, value};
use crate::ReaderError;
use crate::record::{Record, shapes};
use model::handle;
use model::{Handle, HandleKind};

shapes! {
    /// Sessions.
    Session = ["MPIR_Session"] { errhandler: "errhandler" } optional {
        thread_level: "thread_level",
    };
}

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
    let shape = Session::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, at, shape.size)?;
    handle.summary = format!("session {:#x}", value::c_value(reader.process.abi, HandleKind::Session, object));
    if depth == Depth::Full {
        let level = shape.thread_level.map(|slot| record.int(slot));
        let details = handle::Session {
            thread_level: level.ok_or_else(|| "this release keeps it for all sessions together".into()),
            errhandler: Some(reader.errhandler(record.pointer(shape.errhandler))),
            info: Err(NO_HINTS.into()),
            attributes: Err("MPICH keeps no attributes of sessions".into()),
        };
        details.tell(handle);
    }
    Ok(())
}
