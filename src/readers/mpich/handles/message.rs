//! Matched messages: in MPICH the requests of their probes (`MPIR_REQUEST_KIND__MPROBE`, src/include/mpir_request.h,
//! v3.4 to v5.0).

use super::super::handle_value::Place;
use super::super::requests::Kind;
use super::value::{self, Object};
use super::{Depth, HandleReader, NO_OBJECT};
use crate::model::{Handle, HandleKind, HandleState};
use crate::readers::ReaderError;
use crate::readers::record::{Record, shape};

shape!(
    /// What a matched message tells.
    Message = ["MPIR_Request"] {
        comm: "comm",
        source: "status.MPI_SOURCE",
        tag: "status.MPI_TAG",
        low: "status.count_lo",
        high: "status.count_hi_and_cancelled",
    }
);

/// Whether a request is a matched message.
pub fn is_message(reader: &HandleReader<'_>, object: &Object) -> bool {
    let kind = object.at.map(|at| reader.request(at));
    matches!(kind, Some(Ok(request)) if request.kind == Kind::MatchedProbe)
}

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    if let Some(name) = object.constant.filter(|_| object.value.place() == Place::Builtin) {
        handle.freed = Some(false);
        handle.name = Some(name.to_owned());
        name.clone_into(&mut handle.summary);
        return Ok(());
    }
    let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
    if !is_message(reader, object) {
        let detail = "a request that is no matched message, or one that has been received".to_owned();
        handle.state = HandleState::Invalid;
        handle.predefined = None;
        handle.summary = format!("not an MPI_Message: {detail}");
        handle.detail = Some(detail);
        return Ok(());
    }
    let shape = Message::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
    let (source, tag) = (record.int(shape.source), record.int(shape.tag));
    let bytes = (record.uint(shape.high) >> 1) << 32 | record.uint(shape.low);
    let comm = record.pointer(shape.comm);
    handle.freed = Some(false);
    handle.fact("communicator", reader.reference(HandleKind::Comm, comm));
    handle.fact("source", source);
    handle.fact("tag", tag);
    handle.fact("bytes", bytes);
    handle.summary = format!("from {source}, tag {tag} {}, {bytes} bytes", reader.on(comm));
    if depth == Depth::Full {
        let raw = value::c_value(reader.process.abi, HandleKind::Message, object);
        handle.fact("request", reader.reference_of(HandleKind::Request, raw));
    }
    Ok(())
}
