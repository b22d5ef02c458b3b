//! Requests of messages, in the words of the queues.

use super::super::datatypes::predefined_name;
use super::super::handle_value::{HandleValue, ObjectKind, Place};
use super::super::requests::Kind;
use super::operations::Queued;
use super::request::Request;
use super::{Depth, HandleReader};
use crate::messages;
use crate::send_mode::SendMode;
use model::handle::{MessageData, MessageRequest, Reference};
use model::{Handle, HandleKind, Known, Operation, OperationStatus, Progress};
use target::Reason;
use target::address::TargetAddr;

/// What the queues say of a request, or why they say nothing.
struct Told<'q>(Known<&'q Operation>);

impl Told<'_> {
    /// A fact. Why it is not known the operation says of `member`, else `otherwise`.
    fn fact<T>(
        &self,
        member: &str,
        fact: impl Fn(&Operation) -> Option<T>,
        otherwise: impl Fn(&Operation) -> Option<&'static str>,
    ) -> Known<T> {
        let operation = self.0.clone()?;
        fact(operation).ok_or_else(|| match operation.unknown.get(member) {
            Some(reason) => Reason::of(reason),
            None => otherwise(operation).unwrap_or("the transport does not keep it").into(),
        })
    }
}

/// Why peer or tag are not known where the receive takes any.
fn any_source(operation: &Operation) -> Option<&'static str> {
    operation.any_source.then_some("any source: no message has been matched yet")
}

fn any_tag(operation: &Operation) -> Option<&'static str> {
    operation.tag_wild.then_some("any tag: no message has been matched yet")
}

/// Adds what is known of a message.
pub fn read(reader: &HandleReader<'_>, request: &Request, depth: Depth, handle: &mut Handle) {
    let sends = matches!(request.kind, Kind::Send | Kind::PersistentSend);
    handle.set_sends(sends);
    let queued = queued(reader, request);
    let operation = queued.as_ref().map(|queued| &queued.operation);
    if let Some(OperationStatus::Matched) = operation.map(|operation| operation.status) {
        handle.set_progress(Progress::Matched);
    }
    let mode = if sends { reader.mode(request).ok().flatten() } else { None };
    let call = call(reader, request, operation, sends, mode);
    let told = Told(operation.ok_or_else(|| missing(reader, request).into()));
    // Where the rank or tag that was asked for is lost, so is whether it was MPI_ANY_SOURCE or MPI_ANY_TAG.
    let asked = |operation: &Operation, wild: bool, lost: &str| {
        (wild || sends || !operation.unknown.contains_key(lost)).then_some(wild)
    };
    let settled = |operation: &Operation| operation.status != OperationStatus::Pending;
    let facts = MessageRequest {
        call: call.clone(),
        direction: if sends { "send" } else { "receive" },
        mode: match mode {
            None if sends => Err("MPICH does not keep the mode of such a send in its request".into()),
            mode => Ok(mode.map(SendMode::word)),
        },
        peer: told.fact(
            "desired_local_rank",
            |one| one.desired_local_rank.or(one.actual_local_rank.filter(|_| settled(one))),
            any_source,
        ),
        any_source: told.fact("desired_local_rank", |one| asked(one, one.any_source, "desired_local_rank"), |_| None),
        tag: told.fact("desired_tag", |one| one.desired_tag.or(one.actual_tag.filter(|_| settled(one))), any_tag),
        any_tag: told.fact("desired_tag", |one| asked(one, one.tag_wild, "desired_tag"), |_| None),
        internal: told.0.clone().map(|one| one.internal),
    };
    facts.tell(handle);
    let communicator = reader.communicator_of(request);
    if depth == Depth::Full {
        data(reader, request, &told, communicator).tell(handle);
    }
    let what = call.unwrap_or_else(|_| match (sends, reader.in_library.get()) {
        (true, _) => "send".to_owned(),
        (false, true) => "receive".to_owned(),
        (false, false) => "MPI_Irecv or MPI_Imrecv".to_owned(),
    });
    let far = handle.request().map_or_else(|| request.progress(), |facts| facts.progress);
    let nobody = reader.layouts.constant("MPI_PROC_NULL").ok();
    let words = operation.map(|operation| messages::peer_and_tag(operation, sends, far, nobody)).unwrap_or_default();
    let on = communicator.map(|at| format!(" {}", reader.on(at))).unwrap_or_default();
    let bytes = operation.map(|operation| messages::length(operation, far)).unwrap_or_default();
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

/// What is known of the data. How far they have moved shows only in what has not begun, and in what has all come.
fn data(
    reader: &HandleReader<'_>,
    request: &Request,
    told: &Told<'_>,
    communicator: Option<TargetAddr>,
) -> MessageData {
    const NOT_KEPT: &str = "MPICH's requests do not say how far the data has moved";
    let receives = matches!(request.kind, Kind::Receive | Kind::PersistentReceive);
    let come = request.complete && !request.inactive && !request.cancelled && receives;
    let moving = || match (request.inactive, come) {
        (true, _) => Ok(false),
        (_, true) => Ok(true),
        _ => Err(NOT_KEPT.into()),
    };
    let settled = |one: &Operation| one.status != OperationStatus::Pending;
    let bytes = told.0.as_ref().ok().and_then(|one| one.actual_length).filter(|_| come);
    let nobody = "the peer is not a known process of this job's MPI_COMM_WORLD";
    MessageData {
        peer_world: told.fact(
            "desired_local_rank",
            |one| one.desired_global_rank.or(one.actual_global_rank.filter(|_| settled(one))),
            |one| Some(any_source(one).unwrap_or(nobody)),
        ),
        communicator: communicator
            .map(|at| reader.reference(HandleKind::Comm, at))
            .ok_or_else(|| "the request does not name it".into()),
        buffer: told.fact("buffer", |one| Some(Some(TargetAddr::new(one.buffer?).to_string())), |_| None),
        count: told.fact("count", |one| one.count.map(Some), |_| None),
        datatype: told.fact(
            "datatype",
            |one| Some(Some(datatype(reader, HandleValue(one.datatype_value.0?)))),
            |_| None,
        ),
        bytes: told.fact("desired_length", |one| one.desired_length.map(Some), |_| None),
        started: moving(),
        transferred: if request.inactive { Ok(0) } else { bytes.ok_or_else(|| NOT_KEPT.into()) },
        data_complete: moving(),
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
) -> Known<String> {
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

/// A reference to a datatype as a request names it: 5.0 has names of its own for predefined ones.
pub fn datatype(reader: &HandleReader<'_>, value: HandleValue) -> Reference {
    let own = predefined_name(value).filter(|_| value.place() == Place::Builtin);
    own.and_then(|name| predefined(reader, name))
        .unwrap_or_else(|| reader.reference_of_value(HandleKind::Datatype, value))
}

/// A reference to the predefined datatype of that name.
fn predefined(reader: &HandleReader<'_>, name: &str) -> Option<Reference> {
    let builtins = reader.process.pools.builtins(ObjectKind::Datatype)?;
    let values = (1..builtins.count).filter_map(|index| {
        let at = builtins.at.wrapping_add(index * builtins.stride);
        Some(HandleValue(u32::try_from(reader.target.read_uint(at, 4).ok()?).ok()?))
    });
    let value = values.into_iter().find(|value| predefined_name(*value) == Some(name))?;
    Some(reader.reference_of_value(HandleKind::Datatype, value))
}
