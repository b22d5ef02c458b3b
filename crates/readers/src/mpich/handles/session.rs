//! Sessions (pmodels/mpich, src/include/mpir_session.h, v4.0 to v5.0).

use super::value::Object;
use super::{Depth, HandleReader, NO_OBJECT, value};
use crate::ReaderError;
use crate::record::{Record, shape};
use model::{Handle, HandleKind};

shape!(
    /// Sessions.
    Session = ["MPIR_Session"] { errhandler: "errhandler" }
    optional {
        thread_level: "thread_level",
    }
);

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
    let shape = Session::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
    handle.summary = format!("session {:#x}", value::c_value(reader.process.abi, HandleKind::Session, object));
    if depth == Depth::Full {
        match shape.thread_level {
            Some(slot) => handle.fact("thread_level", record.int(slot)),
            None => handle.unknown("thread_level", "this release keeps it for all sessions together"),
        }
        let errhandler = record.pointer(shape.errhandler);
        if errhandler.is_null() {
            handle.fact("errhandler", reader.reference_of_value(HandleKind::Errhandler, super::errhandler::DEFAULT));
        } else {
            handle.fact("errhandler", reader.reference(HandleKind::Errhandler, errhandler));
        }
        handle.unknown("info", "MPICH keeps hints as settings of its own, not as keys and values");
        handle.unknown("attributes", "MPICH keeps no attributes of sessions");
    }
    Ok(())
}
