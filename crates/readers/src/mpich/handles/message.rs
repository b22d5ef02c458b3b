//! Matched messages: in MPICH the requests of their probes (`MPIR_REQUEST_KIND__MPROBE`, src/include/mpir_request.h,
//! v3.4 to v5.0).

use super::super::handle_value::Place;
use super::super::requests::Kind;
use super::value::{self, Object};
use super::{Depth, HandleReader, NO_OBJECT};
use crate::ReaderError;
use crate::record::{Record, shapes};
use model::{Handle, HandleKind, HandleState, Operation, handle};
use target::address::TargetAddr;

shapes! {
    /// What a matched message tells.
    Message = ["MPIR_Request"] {
        comm: "comm",
        source: "status.MPI_SOURCE",
        tag: "status.MPI_TAG",
        low: "status.count_lo",
        high: "status.count_hi_and_cancelled",
    };
}

/// Whether a request is a matched message.
pub fn is_message(reader: &HandleReader<'_>, object: &Object) -> bool {
    let kind = object.at.map(|at| reader.request(at));
    matches!(kind, Some(Ok(request)) if request.kind == Kind::MatchedProbe)
}

/// Whether MPICH writes the status of a message into the request of its probe. It does not where a network's library keeps the
/// message (`MPIDI_NM_mpi_improbe`, src/mpid/ch4/netmod/ucx/ucx_probe.h, v3.4 to v5.0; since 4.1 the communicator is there all
/// the same), nor within a communicator of one process (`MPIDI_Self_improbe`, src/mpid/ch4/src/ch4_self.c, v4.0 to v5.0):
/// what stands there is of an earlier use. ch3, and libfabric and active messages of ch4, write it
/// (src/mpid/ch4/netmod/ofi/ofi_probe.h, src/mpid/ch4/src/mpidig_probe.h, v4.2.1).
fn has_status(reader: &HandleReader<'_>, comm: TargetAddr) -> bool {
    let device = reader.process.library.device.as_deref().unwrap_or_default();
    if device.starts_with("ch3") {
        return true;
    }
    let slot = reader.shapes.communicator.group_size;
    let size = slot.read_uint(reader.target, comm);
    device.starts_with("ch4:ofi") && size.is_ok_and(|size| size > 1)
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
        handle.fail(HandleState::Invalid, "not a matched message, or one that has been received");
        handle.predefined = None;
        return Ok(());
    }
    let shape = Message::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, at, shape.size)?;
    handle.freed = Some(false);
    let own = record.pointer(shape.comm);
    let filled = |value: i64| (!own.is_null() && has_status(reader, own)).then_some(value);
    let queued = if filled(0).is_none() { reader.operation_of(&reader.request(at)?) } else { None };
    let operation = queued.as_ref().map(|queued| &queued.operation);
    let of_queue = || reader.object_of_handle(HandleKind::Comm, queued.as_ref()?.queue?);
    let comm = Some(own).filter(|comm| !comm.is_null()).or_else(of_queue);
    let length = (record.uint(shape.high) >> 1) << 32 | record.uint(shape.low);
    let of_operation = |member: fn(&Operation) -> Option<i64>| operation.and_then(member);
    let source = of_operation(|operation| operation.actual_local_rank).or_else(|| filled(record.int(shape.source)));
    let tag = of_operation(|operation| operation.actual_tag).or_else(|| filled(record.int(shape.tag)));
    let bytes = operation.and_then(|operation| operation.actual_length).or_else(|| filled(0).map(|_| length));
    let reason = "the transport keeps it, in a form that is not read";
    let message = handle::Message {
        communicator: comm.map(|comm| reader.reference(HandleKind::Comm, comm)).ok_or_else(|| reason.into()),
        source: source.ok_or_else(|| reason.into()),
        tag: tag.ok_or_else(|| reason.into()),
        bytes: bytes.ok_or_else(|| reason.into()),
    };
    message.tell(handle);
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
