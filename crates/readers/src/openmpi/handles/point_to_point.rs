//! Requests of messages of the pmls ob1, ucx and cm.
//!
//! They are decoded as for the queues. What made one is known where a program holds it: blocking calls
//! leave no handle. Of a request that was only found in the library's pools it is not.

use super::request::Request;
use super::{Depth, HandleReader};
use crate::openmpi::cm::held;
use crate::openmpi::communicators;
use crate::openmpi::ob1::requests::Decoder;
use crate::openmpi::ob1::shapes::Ob1Shapes;
use crate::openmpi::pml::Pml;
use crate::openmpi::pml_ucx::opened::Held;
use crate::openmpi::tags::InternalTags;
use crate::record::Record;
use crate::send_mode::SendMode;
use crate::{ReaderError, messages};
use model::handle::{MessageData, MessageRequest};
use model::{Handle, HandleKind, Known, Operation, OperationStatus, Progress};
use target::Reason;
use target::address::TargetAddr;

/// A request with what its facts are made of.
struct Message {
    operation: Operation,
    communicator: TargetAddr,
    /// The datatype object.
    datatype: Known<TargetAddr>,
    sends: bool,
    /// Of a send; `None` for a receive.
    mode: Known<Option<SendMode>>,
    probe: bool,
    /// Bytes that have moved.
    moved: Known<u64>,
    /// The library is done with the data.
    data_complete: bool,
    freed: bool,
}

/// Adds what the request holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(request: &Request<'_>, handle: &mut Handle) -> Result<(), ReaderError> {
    let reader = request.reader;
    let message = match reader.pml {
        Pml::Ucx => over_ucx(request, reader)?,
        Pml::Cm => over_cm(request, reader, &mut handle.problems)?,
        _ => decode(request, reader)?,
    };
    let operation = &message.operation;
    handle.freed = Some(message.freed);
    let progress = progress(request, &message);
    handle.set_progress(progress);
    handle.set_sends(message.sends);
    let call = call(request, &message);
    let (settled, matched) = (settled(request, &message), "no message has been matched yet");
    let reason = |fact: &str| operation.unknown.get(fact).map(Reason::of);
    let (no_peer, no_tag) = (reason("desired_local_rank"), reason("desired_tag"));
    // Where nothing but a message is left of a receive, neither is.
    let only_message = operation.desired_tag.is_none() && !operation.tag_wild;
    let no_any_tag = no_tag.clone().or_else(|| no_peer.clone().filter(|_| only_message));
    let peer = peer(&message, settled)
        .ok_or_else(|| no_peer.clone().unwrap_or_else(|| format!("any source: {matched}").into()));
    let wild = operation.tag_wild || operation.desired_tag.is_none();
    let tag = operation.actual_tag.filter(|_| wild && settled).or(operation.desired_tag);
    let told = |value: bool, reason: &Option<Reason>| match reason {
        Some(reason) if !message.sends => Err(reason.clone()),
        _ => Ok(value),
    };
    handle.summary = summary(request, &message, call.as_ref().ok(), progress);
    let facts = MessageRequest {
        call,
        direction: direction(&message),
        mode: message.mode.clone().map(|mode| mode.map(SendMode::word)),
        peer: peer.clone(),
        any_source: told(operation.any_source, &no_peer),
        tag: tag.ok_or_else(|| no_tag.clone().unwrap_or_else(|| format!("any tag: {matched}").into())),
        any_tag: told(operation.tag_wild, &no_any_tag),
        // The library's own have negative tags.
        internal: no_tag.clone().filter(|_| tag.is_none()).map_or(Ok(operation.internal), Err),
    };
    facts.tell(handle);
    if request.depth == Depth::Full {
        data(request, &message, peer, &mut handle.problems).tell(handle);
    }
    Ok(())
}

fn decode(request: &Request<'_>, reader: &HandleReader<'_>) -> Result<Message, ReaderError> {
    let ob1 = Ob1Shapes::resolve(reader.layouts)?;
    let tags = InternalTags::new(reader.layouts);
    let mut decoder = Decoder::new(reader.target, reader.shapes, &ob1, reader.layouts, &tags)?;
    let sends = request.class == "mca_pml_ob1_send_request_t";
    let size = if sends { ob1.send.size } else { ob1.receive.size };
    let record = Record::owned(reader.target, request.addr, size)?;
    let decoded = if sends { Some(decoder.any_send(&record.view())) } else { decoder.any_receive(&record.view()) };
    let decoded = decoded.ok_or_else(|| {
        let kind = record.uint(ob1.request.pml_kind);
        ReaderError::Damaged(format!("the request at {} is of the sort {kind}, which does not exist", request.addr))
    })?;
    let probe = !sends && decoded.operation.buffer.is_none();
    Ok(Message {
        operation: decoded.operation,
        communicator: request.communicator,
        datatype: Ok(decoded.datatype),
        sends,
        mode: Ok(if sends { decoder.mode(&record.view()) } else { None }),
        probe,
        moved: Ok(record.uint(if sends { ob1.send.moved } else { ob1.receive.moved })),
        data_complete: record.uint(ob1.request.pml_complete) != 0,
        freed: record.uint(ob1.request.free_called) != 0,
    })
}

/// What UCX and the pml have of one.
fn over_ucx(request: &Request<'_>, reader: &HandleReader<'_>) -> Result<Message, ReaderError> {
    let damaged = |reason: &Reason| ReaderError::Damaged(reason.to_string());
    let (opened, communicators) = reader.ucx().as_ref().map_err(damaged)?;
    let groups = reader.groups(&mut Vec::new());
    let which = (request.addr, request.class == "mca_pml_ucx_persistent_request_t");
    let held = opened.held(reader.target, reader.shapes, groups, communicators, which)?.ok_or_else(|| {
        ReaderError::Damaged(format!("UCX's request before {} is of no communicator of this process", request.addr))
    })?;
    let Held { decoded, communicator, data_complete, freed } = held;
    let sends = decoded.sends;
    let no_mode = || Reason::new("to UCX standard and ready sends are the same");
    let reason = decoded.operation.unknown.get("datatype").map(Reason::of);
    Ok(Message {
        datatype: reason.map_or(Ok(decoded.datatype), Err),
        operation: *decoded.operation,
        communicator,
        sends,
        mode: if sends { decoded.mode.ok_or_else(no_mode).map(Some) } else { Ok(None) },
        probe: false,
        moved: Err("UCX does not say how much of a message has moved".into()),
        data_complete,
        freed,
    })
}

/// What the pml cm and the mtl ofi have of one.
fn over_cm(
    request: &Request<'_>,
    reader: &HandleReader<'_>,
    problems: &mut Vec<String>,
) -> Result<Message, ReaderError> {
    let opened = reader.cm().as_ref().map_err(|reason| ReaderError::Damaged(reason.to_string()))?;
    let sends = request.class == held::SEND;
    let groups = reader.groups(problems);
    let found = communicators::read_one(reader.target, reader.shapes, groups, request.communicator, problems)?;
    let which = (request.addr, sends);
    let one = opened.held(reader.target, reader.shapes, reader.layouts, &found, which)?.ok_or_else(|| {
        ReaderError::Damaged(format!("the request at {} is of a sort or in a state that does not exist", request.addr))
    })?;
    let no_mode = || Reason::new("its mode has a number that no mode has");
    Ok(Message {
        operation: one.operation,
        communicator: request.communicator,
        datatype: Ok(one.datatype),
        sends,
        mode: if sends { one.mode.ok_or_else(no_mode).map(Some) } else { Ok(None) },
        probe: false,
        moved: Err("the pml cm is not told how much of a message has moved".into()),
        data_complete: one.data_complete,
        freed: one.freed,
    })
}

fn direction(message: &Message) -> &'static str {
    match (message.sends, message.probe) {
        (true, _) => "send",
        (false, true) => "probe",
        (false, false) => "receive",
    }
}

fn progress(request: &Request<'_>, message: &Message) -> Progress {
    match (request.progress(), message.operation.status) {
        (Progress::Pending, OperationStatus::Matched) => Progress::Matched,
        (progress, _) => progress,
    }
}

/// The function that made it, or why that is not known.
fn call(request: &Request<'_>, message: &Message) -> Known<String> {
    let operation = &message.operation;
    if let Some(call) = operation.call.as_deref().filter(|_| request.persistent) {
        return Ok(call.to_owned());
    }
    if operation.internal {
        return Err(Reason::new("the library posted it for itself"));
    }
    if request.reader.found_in_library() {
        return Err(Reason::new("it was found in the library: a blocking call has such a request as well"));
    }
    match &message.mode {
        Err(_) => Err(Reason::new("MPI_Isend or MPI_Irsend: they leave the same request")),
        Ok(Some(mode)) => Ok(mode.nonblocking().to_owned()),
        Ok(None) if message.probe => Err(Reason::new("a probe leaves no request to the program")),
        // MPI_Imrecv makes a matched probe into a receive with the source and tag of its message
        // (mca_pml_ob1_imrecv, ompi/mca/pml/ob1/pml_ob1_irecv.c, v4.1.4 and v5.0.7).
        Ok(None) if settled(request, message) && !operation.any_source && !operation.tag_wild => {
            Err(Reason::new("MPI_Irecv or MPI_Imrecv: they leave the same request once a message is matched"))
        }
        Ok(None) => Ok("MPI_Irecv".to_owned()),
    }
}

/// Whether it is known which message it is; an inactive request still has the status of the run before, or none.
fn settled(request: &Request<'_>, message: &Message) -> bool {
    !request.inactive && message.operation.status != OperationStatus::Pending
}

/// The peer's rank in the communicator, as far as it is settled.
fn peer(message: &Message, settled: bool) -> Option<i64> {
    let operation = &message.operation;
    let open = operation.any_source || operation.desired_local_rank.is_none();
    operation.actual_local_rank.filter(|_| open && settled).or(operation.desired_local_rank)
}

fn peer_world(request: &Request<'_>, communicator: TargetAddr, peer: i64, problems: &mut Vec<String>) -> Known<i64> {
    let reader = request.reader;
    let groups = reader.groups(problems);
    let found = communicators::read_one(reader.target, reader.shapes, groups, communicator, problems)?;
    found.world_rank(peer).ok_or_else(|| "the peer is not a known process of this job's MPI_COMM_WORLD".into())
}

/// What is known of the data.
fn data(request: &Request<'_>, message: &Message, peer: Known<i64>, problems: &mut Vec<String>) -> MessageData {
    let operation = &message.operation;
    let reader = request.reader;
    // Between two runs of a persistent request nothing moves, whatever the run before has left in it.
    let active = !request.inactive;
    let known = |value: Option<u64>, fact: &str| match (value, operation.unknown.get(fact)) {
        (None, Some(reason)) => Err(Reason::of(reason)),
        (value, _) => Ok(value),
    };
    let bytes = known(operation.desired_length, "desired_length")
        .and_then(|bytes| bytes.map(Some).ok_or_else(|| "the datatype could not be read".into()));
    // A probe receives nothing.
    let data = !message.probe;
    let moved = message.moved.clone();
    MessageData {
        peer_world: peer.and_then(|peer| peer_world(request, message.communicator, peer, problems)),
        communicator: Ok(reader.reference(HandleKind::Comm, message.communicator)),
        buffer: known(operation.buffer, "buffer")
            .map(|buffer| buffer.filter(|_| data).map(|buffer| TargetAddr::new(buffer).to_string())),
        count: known(operation.count, "count").map(|count| count.filter(|_| data)),
        datatype: match (data, &message.datatype) {
            (true, Ok(datatype)) => Ok(reader.reference(HandleKind::Datatype, *datatype)),
            (true, Err(reason)) => Err(reason.clone()),
            (false, _) => Ok(None),
        },
        bytes: if data { bytes } else { Ok(None) },
        started: if !active || message.data_complete { Ok(active) } else { moved.clone().map(|moved| moved > 0) },
        transferred: if active { moved } else { Ok(0) },
        data_complete: Ok(active && message.data_complete),
    }
}

fn summary(request: &Request<'_>, message: &Message, call: Option<&String>, progress: Progress) -> String {
    let operation = &message.operation;
    let what = match (call, direction(message)) {
        (Some(call), _) => call,
        // Where a program holds it, it came from one of the two.
        (None, "receive") if !request.reader.found_in_library() && !operation.internal => "MPI_Irecv or MPI_Imrecv",
        (None, direction) => direction,
    };
    let words = messages::peer_and_tag(operation, message.sends, progress, None);
    let (on, length) = (request.on(message.communicator), messages::length(operation, progress));
    let freed = if message.freed { ", freed by the application" } else { "" };
    format!("{what}{words} {on}{length}, {}{freed}", progress.word())
}
