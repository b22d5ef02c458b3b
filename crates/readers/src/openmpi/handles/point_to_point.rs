//! Requests of messages of the pml ob1.
//!
//! They are decoded as for the queues (`requests.rs`). What made one is known where a program holds it: blocking calls
//! leave no handle. Of a request that was only found in the library's pools it is not.

use super::request::Request;
use super::{Depth, HandleReader};
use crate::openmpi::communicators;
use crate::openmpi::ob1::requests::{Decoded, Decoder};
use crate::openmpi::ob1::shapes::Ob1Shapes;
use crate::openmpi::tags::InternalTags;
use crate::record::Record;
use crate::send_mode::SendMode;
use crate::{ReaderError, messages};
use model::handle::{MessageData, MessageRequest};
use model::{Handle, HandleKind, Known, OperationStatus, Progress};
use target::Reason;
use target::address::TargetAddr;

/// A request with what its facts are made of.
struct Message {
    decoded: Decoded,
    /// Of a send.
    mode: Option<SendMode>,
    probe: bool,
    /// Bytes that have moved.
    moved: u64,
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
    let message = decode(request, reader)?;
    let operation = &message.decoded.operation;
    handle.freed = Some(message.freed);
    let progress = progress(request, &message);
    handle.set_progress(progress);
    handle.set_sends(message.mode.is_some());
    let call = call(request, &message);
    let (settled, matched) = (settled(request, &message), "no message has been matched yet");
    let peer = peer(&message, settled).ok_or_else(|| format!("any source: {matched}").into());
    let tag = operation.actual_tag.filter(|_| operation.tag_wild && settled).or(operation.desired_tag);
    handle.summary = summary(request, &message, call.as_ref().ok(), progress);
    let facts = MessageRequest {
        call,
        direction: direction(&message),
        mode: Ok(message.mode.map(SendMode::word)),
        peer: peer.clone(),
        any_source: Ok(operation.any_source),
        tag: tag.ok_or_else(|| format!("any tag: {matched}").into()),
        any_tag: Ok(operation.tag_wild),
        internal: Ok(operation.internal),
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
    let mut buffer = Vec::new();
    let size = if sends { ob1.send.size } else { ob1.receive.size };
    let record = Record::read(reader.target, request.addr, size, &mut buffer)?;
    let decoded = if sends { Some(decoder.any_send(&record)) } else { decoder.any_receive(&record) };
    let decoded = decoded.ok_or_else(|| {
        let kind = record.uint(ob1.request.pml_kind);
        ReaderError::Damaged(format!("the request at {} is of the sort {kind}, which does not exist", request.addr))
    })?;
    let probe = !sends && decoded.operation.buffer.is_none();
    Ok(Message {
        decoded,
        mode: if sends { decoder.mode(&record) } else { None },
        probe,
        moved: record.uint(if sends { ob1.send.moved } else { ob1.receive.moved }),
        data_complete: record.uint(ob1.request.pml_complete) != 0,
        freed: record.uint(ob1.request.free_called) != 0,
    })
}

fn direction(message: &Message) -> &'static str {
    match (message.mode, message.probe) {
        (Some(_), _) => "send",
        (None, true) => "probe",
        (None, false) => "receive",
    }
}

fn progress(request: &Request<'_>, message: &Message) -> Progress {
    match (request.progress(), message.decoded.operation.status) {
        (Progress::Pending, OperationStatus::Matched) => Progress::Matched,
        (progress, _) => progress,
    }
}

/// The function that made it, or why that is not known.
fn call(request: &Request<'_>, message: &Message) -> Known<String> {
    let operation = &message.decoded.operation;
    if let Some(call) = operation.call.as_deref().filter(|_| request.persistent) {
        return Ok(call.to_owned());
    }
    if operation.internal {
        return Err(Reason::new("the library posted it for itself"));
    }
    if request.reader.found_in_library() {
        return Err(Reason::new("it was found in the library: a blocking call has such a request as well"));
    }
    match message.mode {
        Some(mode) => Ok(mode.nonblocking().to_owned()),
        None if message.probe => Err(Reason::new("a probe leaves no request to the program")),
        // MPI_Imrecv makes a matched probe into a receive with the source and tag of its message
        // (mca_pml_ob1_imrecv, ompi/mca/pml/ob1/pml_ob1_irecv.c, v4.1.4 and v5.0.7).
        None if settled(request, message) && !operation.any_source && !operation.tag_wild => {
            Err(Reason::new("MPI_Irecv or MPI_Imrecv: they leave the same request once a message is matched"))
        }
        None => Ok("MPI_Irecv".to_owned()),
    }
}

/// Whether it is known which message it is; an inactive request still has the status of the run before, or none.
fn settled(request: &Request<'_>, message: &Message) -> bool {
    !request.inactive && message.decoded.operation.status != OperationStatus::Pending
}

/// The peer's rank in the communicator, as far as it is settled.
fn peer(message: &Message, settled: bool) -> Option<i64> {
    let operation = &message.decoded.operation;
    operation.actual_local_rank.filter(|_| operation.any_source && settled).or(operation.desired_local_rank)
}

fn peer_world(request: &Request<'_>, peer: i64, problems: &mut Vec<String>) -> Known<i64> {
    let reader = request.reader;
    let groups = reader.groups(problems);
    let found = communicators::read_one(reader.target, reader.shapes, groups, request.communicator, problems)?;
    found.world_rank(peer).ok_or_else(|| "the peer is no process of this job's MPI_COMM_WORLD that is known".into())
}

/// What is known of the data.
fn data(request: &Request<'_>, message: &Message, peer: Known<i64>, problems: &mut Vec<String>) -> MessageData {
    let operation = &message.decoded.operation;
    let reader = request.reader;
    // Between two runs of a persistent request nothing moves, whatever the run before has left in it.
    let active = !request.inactive;
    let bytes = operation.desired_length.map(Some).ok_or_else(|| "the datatype could not be read".into());
    // A probe receives nothing.
    let data = !message.probe;
    MessageData {
        peer_world: peer.and_then(|peer| peer_world(request, peer, problems)),
        communicator: Ok(reader.reference(HandleKind::Comm, request.communicator)),
        buffer: Ok(operation.buffer.filter(|_| data).map(|buffer| TargetAddr::new(buffer).to_string())),
        count: Ok(operation.count.filter(|_| data)),
        datatype: Ok(if data { reader.reference(HandleKind::Datatype, message.decoded.datatype) } else { None }),
        bytes: if data { bytes } else { Ok(None) },
        started: Ok(active && (message.moved > 0 || message.data_complete)),
        transferred: Ok(if active { message.moved } else { 0 }),
        data_complete: Ok(active && message.data_complete),
    }
}

fn summary(request: &Request<'_>, message: &Message, call: Option<&String>, progress: Progress) -> String {
    let operation = &message.decoded.operation;
    let what = match (call, direction(message)) {
        (Some(call), _) => call,
        // Where a program holds it, it came from one of the two.
        (None, "receive") if !request.reader.found_in_library() && !operation.internal => "MPI_Irecv or MPI_Imrecv",
        (None, direction) => direction,
    };
    let words = messages::peer_and_tag(operation, message.mode.is_some(), progress, None);
    let (on, length) = (request.on(request.communicator), messages::length(operation, progress));
    let freed = if message.freed { ", freed by the application" } else { "" };
    format!("{what}{words} {on}{length}, {}{freed}", progress.word())
}
