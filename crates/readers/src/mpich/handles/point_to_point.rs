//! Requests of messages, in the words of the queues.

use super::super::datatypes::predefined_name;
use super::super::handle_value::{HandleValue, ObjectKind, Place};
use super::super::requests::Kind;
use super::operations::Queued;
use super::request::Request;
use super::{Depth, HandleReader};
use crate::send_mode::SendMode;
use model::{Handle, HandleKind, Operation, OperationStatus, Progress};
use target::Reason;
use target::address::TargetAddr;

/// Facts that only the queues have, with their names there.
const OF_QUEUES: &[(&str, &str)] = &[
    ("peer", "desired_local_rank"),
    ("peer_world", "desired_global_rank"),
    ("any_source", "any_source"),
    ("tag", "desired_tag"),
    ("any_tag", "tag_wild"),
    ("internal", "internal"),
    ("buffer", "buffer"),
    ("count", "count"),
    ("datatype", "datatype"),
    ("bytes", "desired_length"),
];

/// Adds what is known of a message.
pub fn read(reader: &HandleReader<'_>, request: &Request, depth: Depth, handle: &mut Handle) {
    let sends = matches!(request.kind, Kind::Send | Kind::PersistentSend);
    let queued = queued(reader, request);
    let operation = queued.as_ref().map(|queued| &queued.operation);
    if let Some(OperationStatus::Matched) = operation.map(|operation| operation.status) {
        handle.set_progress(Progress::Matched);
    }
    let mode = if sends { reader.mode(request).ok().flatten() } else { None };
    let call = call(reader, request, operation, sends, mode);
    match &call {
        Ok(call) => handle.fact("call", call.as_str()),
        Err(reason) => handle.unknown("call", reason),
    }
    let direction = if sends { "send" } else { "receive" };
    handle.fact("direction", direction);
    match mode {
        None if sends => handle.unknown("mode", "MPICH does not keep the mode of such a send in its request"),
        mode => handle.fact("mode", mode.map(SendMode::word)),
    }
    match operation {
        Some(operation) => facts(reader, operation, sends, depth, handle),
        None => {
            let reason = missing(reader, request);
            for (fact, _) in OF_QUEUES {
                handle.unknown(fact, reason.clone());
            }
        }
    }
    let communicator = reader.communicator_of(request);
    if depth == Depth::Full {
        match communicator {
            Some(at) => handle.fact("communicator", reader.reference(HandleKind::Comm, at)),
            None => handle.unknown("communicator", "the request does not name it"),
        }
        progress(request, operation, handle);
    }
    let what = call.unwrap_or_else(|_| match (sends, reader.in_library.get()) {
        (true, _) => "send".to_owned(),
        (false, true) => "receive".to_owned(),
        (false, false) => "MPI_Irecv or MPI_Imrecv".to_owned(),
    });
    let far = handle.request.as_ref().map_or_else(|| request.progress(), |facts| facts.progress);
    let nobody = reader.layouts.constant("MPI_PROC_NULL").ok();
    let words = operation.map(|operation| words(operation, sends, far, nobody)).unwrap_or_default();
    let on = communicator.map(|at| format!(" {}", reader.on(at))).unwrap_or_default();
    let bytes = operation.map(|operation| length(operation, far)).unwrap_or_default();
    handle.summary = format!("{what}{words}{on}{bytes}, {}", far.word());
}

/// What the queues say of it, or a persistent request itself.
fn queued(reader: &HandleReader<'_>, request: &Request) -> Option<Queued> {
    let persistent = matches!(request.kind, Kind::PersistentSend | Kind::PersistentReceive);
    let made_with =
        || reader.made_with(request).ok().map(|operation| Queued { operation, communicator: None, queue: None });
    if persistent && request.inactive {
        return made_with();
    }
    reader.operation_of(request).or_else(|| made_with().filter(|_| persistent))
}

/// How far the data has moved: that shows only in what has not begun, and in what has all come.
fn progress(request: &Request, operation: Option<&Operation>, handle: &mut Handle) {
    let receives = matches!(request.kind, Kind::Receive | Kind::PersistentReceive);
    let come = request.complete && !request.inactive && !request.cancelled && receives;
    if request.inactive {
        handle.fact("started", false);
        handle.fact("transferred", 0);
        handle.fact("data_complete", false);
        return;
    }
    let reason = "MPICH's requests do not say how far the data has moved";
    if come {
        handle.fact("started", true);
        handle.fact("data_complete", true);
    } else {
        handle.unknown("started", reason);
        handle.unknown("data_complete", reason);
    }
    match operation.and_then(|operation| operation.actual_length).filter(|_| come) {
        Some(bytes) => handle.fact("transferred", bytes),
        None => handle.unknown("transferred", reason),
    }
}

/// Why the queues do not have a request.
fn missing(reader: &HandleReader<'_>, request: &Request) -> String {
    if request.complete {
        return "the request is complete or waits to be started, and is in no queue".to_owned();
    }
    let known = reader.operations().reason.clone();
    known.unwrap_or_else(|| "no queue has the request: only the transport knows what it is".to_owned())
}

/// The function that made it, or why that is not known.
fn call(
    reader: &HandleReader<'_>,
    request: &Request,
    operation: Option<&Operation>,
    sends: bool,
    mode: Option<SendMode>,
) -> Result<String, Reason> {
    if let Some(call) = operation.and_then(|operation| operation.call.as_deref()) {
        return Ok(call.to_owned());
    }
    if operation.is_some_and(|operation| operation.internal) {
        return Err(Reason::new("the library posted it for itself"));
    }
    match request.kind {
        Kind::PersistentReceive => return Ok("MPI_Recv_init".to_owned()),
        Kind::PersistentSend => return Err(Reason::new("the functions for the modes of sends leave the same request")),
        Kind::MatchedProbe => return Err(Reason::new("it is a matched message")),
        _ => {}
    }
    if reader.in_library.get() {
        return Err(Reason::new("it was found in the library: a blocking call has such a request as well"));
    }
    if sends {
        let reason = "the functions for the modes of sends leave the same request";
        return mode.map(|mode| mode.nonblocking().to_owned()).ok_or_else(|| reason.into());
    }
    let settled = operation.is_none_or(|operation| operation.status != OperationStatus::Pending);
    let wild = operation.is_some_and(|operation| operation.any_source || operation.tag_wild);
    if settled && !wild {
        return Err(Reason::new("MPI_Irecv or MPI_Imrecv: they leave the same request once a message is matched"));
    }
    Ok("MPI_Irecv".to_owned())
}

/// Adds the facts that stand in a queue.
fn facts(reader: &HandleReader<'_>, operation: &Operation, sends: bool, depth: Depth, handle: &mut Handle) {
    let settled = operation.status != OperationStatus::Pending;
    let peer = operation.desired_local_rank.or(operation.actual_local_rank.filter(|_| settled));
    let world = operation.desired_global_rank.or(operation.actual_global_rank.filter(|_| settled));
    let tag = operation.desired_tag.or(operation.actual_tag.filter(|_| settled));
    let wild = |wild: bool, what: &str| wild.then(|| format!("{what}: no message has been matched yet"));
    let mut add = |name: &str, member: &str, value: Option<serde_json::Value>, otherwise: Option<String>| match value {
        Some(value) => handle.fact(name, value),
        None => {
            let reason = operation.unknown.get(member).map(|reason| reason.to_string()).or(otherwise);
            handle.unknown(name, reason.unwrap_or_else(|| "the transport does not keep it".to_owned()));
        }
    };
    add("peer", "desired_local_rank", peer.map(Into::into), wild(operation.any_source, "any source"));
    if depth == Depth::Full {
        let unknown = "the peer is no process of this job's MPI_COMM_WORLD that is known".to_owned();
        let reason = wild(operation.any_source, "any source").unwrap_or(unknown);
        add("peer_world", "desired_local_rank", world.map(Into::into), Some(reason));
    }
    // Where the rank that was asked for is lost, so is whether it was MPI_ANY_SOURCE.
    let asked = |wild: bool, lost: &str| (wild || sends || !operation.unknown.contains_key(lost)).then(|| wild.into());
    add("any_source", "desired_local_rank", asked(operation.any_source, "desired_local_rank"), None);
    add("tag", "desired_tag", tag.map(Into::into), wild(operation.tag_wild, "any tag"));
    add("any_tag", "desired_tag", asked(operation.tag_wild, "desired_tag"), None);
    add("internal", "internal", Some(operation.internal.into()), None);
    if depth == Depth::Short {
        return;
    }
    let buffer = operation.buffer.map(|buffer| TargetAddr::new(buffer).to_string().into());
    add("buffer", "buffer", buffer, None);
    add("count", "count", operation.count.map(Into::into), None);
    let datatype = operation.datatype_value.map(|value| datatype(reader, HandleValue(value)));
    add("datatype", "datatype", datatype, None);
    add("bytes", "desired_length", operation.desired_length.map(Into::into), None);
}

/// A reference to a datatype as a request names it: 5.0 has names of its own for predefined ones.
pub fn datatype(reader: &HandleReader<'_>, value: HandleValue) -> serde_json::Value {
    let own = predefined_name(value).filter(|_| value.place() == Place::Builtin);
    own.and_then(|name| predefined(reader, name))
        .unwrap_or_else(|| reader.reference_of_value(HandleKind::Datatype, value))
}

/// A reference to the predefined datatype of that name.
fn predefined(reader: &HandleReader<'_>, name: &str) -> Option<serde_json::Value> {
    let builtins = reader.process.pools.builtins(ObjectKind::Datatype)?;
    let values = (1..builtins.count).filter_map(|index| {
        let at = builtins.at.wrapping_add(index * builtins.stride);
        Some(HandleValue(u32::try_from(reader.target.read_uint(at, 4).ok()?).ok()?))
    });
    let value = values.into_iter().find(|value| predefined_name(*value) == Some(name))?;
    Some(reader.reference_of_value(HandleKind::Datatype, value))
}

/// Peer and tag. `nobody`: the rank MPI_PROC_NULL.
fn words(operation: &Operation, sends: bool, far: Progress, nobody: Option<i64>) -> String {
    let settled = operation.status != OperationStatus::Pending && far != Progress::Inactive;
    let to = if sends { "to" } else { "from" };
    let actual = operation.actual_local_rank.filter(|_| settled);
    let peer = match (operation.desired_local_rank, actual) {
        (Some(peer), _) if Some(peer) == nobody => format!(" {to} MPI_PROC_NULL"),
        (Some(peer), _) => format!(" {to} {peer}"),
        (None, Some(peer)) if operation.any_source => format!(" {to} {peer} (any source)"),
        (None, Some(peer)) => format!(" {to} {peer}"),
        (None, None) if operation.any_source => format!(" {to} any source"),
        (None, None) => format!(" {to} an unknown rank"),
    };
    let tag = match (operation.desired_tag, operation.actual_tag.filter(|_| settled)) {
        (Some(tag), _) => format!(", tag {tag}"),
        (None, Some(tag)) if operation.tag_wild => format!(", tag {tag} (any tag)"),
        (None, Some(tag)) => format!(", tag {tag}"),
        (None, None) if operation.tag_wild => " (any tag)".to_owned(),
        (None, None) => ", tag not known".to_owned(),
    };
    format!("{peer}{tag}")
}

/// The length.
fn length(operation: &Operation, far: Progress) -> String {
    match (operation.desired_length, operation.actual_length.filter(|_| far == Progress::Complete)) {
        (Some(room), Some(bytes)) if bytes != room => format!(", {bytes} of {room} bytes"),
        (Some(room), _) => format!(", {room} bytes"),
        (None, _) => String::new(),
    }
}
