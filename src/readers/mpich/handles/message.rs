//! Matched messages: in MPICH the requests of their probes (`MPIR_REQUEST_KIND__MPROBE`, src/include/mpir_request.h,
//! v3.4 to v5.0).

use serde_json::Value;

use super::super::handle_value::Place;
use super::super::requests::Kind;
use super::value::{self, Object};
use super::{Depth, HandleReader, NO_OBJECT};
use crate::model::{Handle, HandleKind, HandleState, Operation};
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
    handle.freed = Some(false);
    // A network's library may keep what MPICH's request then does not, whose members are those of an earlier use
    // (src/mpid/ch4/netmod/ucx/ucx_probe.h, v3.4 to v5.0).
    let own = record.pointer(shape.comm);
    let filled = |value: i64| (!own.is_null()).then_some(value);
    let queued = if own.is_null() { reader.operation_of(&reader.request(at)?) } else { None };
    let operation = queued.as_ref().map(|queued| &queued.operation);
    let of_queue = || reader.object_of_handle(HandleKind::Comm, queued.as_ref()?.queue?);
    let comm = Some(own).filter(|comm| !comm.is_null()).or_else(of_queue);
    let length = (record.uint(shape.high) >> 1) << 32 | record.uint(shape.low);
    let of_operation = |member: fn(&Operation) -> Option<i64>| operation.and_then(member);
    let source = of_operation(|operation| operation.actual_local_rank).or_else(|| filled(record.int(shape.source)));
    let tag = of_operation(|operation| operation.actual_tag).or_else(|| filled(record.int(shape.tag)));
    let bytes = operation.and_then(|operation| operation.actual_length).or_else(|| filled(0).map(|_| length));
    let reason = "the transport keeps it, in a form that is not read";
    match comm {
        Some(comm) => handle.fact("communicator", reader.reference(HandleKind::Comm, comm)),
        None => handle.unknown("communicator", reason),
    }
    for (fact, value) in
        [("source", source.map(Value::from)), ("tag", tag.map(Value::from)), ("bytes", bytes.map(Value::from))]
    {
        match value {
            Some(value) => handle.fact(fact, value),
            None => handle.unknown(fact, reason),
        }
    }
    let source = source.map_or_else(|| "an unknown rank".to_owned(), |rank| rank.to_string());
    let tag = tag.map_or_else(|| "tag not known".to_owned(), |tag| format!("tag {tag}"));
    let on = comm.map(|comm| format!(" {}", reader.on(comm))).unwrap_or_default();
    let bytes = bytes.map(|bytes| format!(", {bytes} bytes")).unwrap_or_default();
    handle.summary = format!("from {source}, {tag}{on}{bytes}");
    if depth == Depth::Full {
        let raw = value::c_value(reader.process.abi, HandleKind::Message, object);
        handle.fact("request", reader.reference_of(HandleKind::Request, raw));
    }
    Ok(())
}
