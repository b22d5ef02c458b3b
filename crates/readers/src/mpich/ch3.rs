//! Requests of the device ch3 (nemesis, sock): they keep everything that was asked for.

use std::borrow::Cow;

use super::active_messages::{OVERWRITTEN, completed, message};
use super::lists::Links;
use super::requests::{Kind, Request};
use super::transport::{Around, Decoded};
use crate::record::{Record, shapes};
use crate::send_mode::SendMode;
use layouts::{LayoutError, Layouts};
use model::{Operation, OperationStatus, QueueKind, Remark};

shapes! {
    /// What ch3 keeps in a request (`MPIDI_Request`, pmodels/mpich, src/mpid/ch3/include/mpidpre.h, v3.2 to v5.0).
    Shape = ["MPIR_Request"] {
        tag: "dev.match.parts.tag",
        rank: "dev.match.parts.rank",
        context: "dev.match.parts.context_id",
        buffer: "dev.user_buf",
        count: "dev.user_count",
        datatype: "dev.datatype",
        arrived_at: "dev.tmpbuf",
        arrived: "dev.recv_data_sz",
        state: "dev.state",
        partner: "dev.partner_request",
        next: "next" | "dev.next",
    } optional { senders: "dev.sender_req_id" };
}

/// `MPIDI_REQUEST_TYPE_SHIFT` and the types of sends (src/mpid/ch3/include/mpidimpl.h).
const TYPE_SHIFT: u64 = 4;
const TYPE_MASK: u64 = 0x3f;
const MODES: [(u64, SendMode); 4] =
    [(1, SendMode::Standard), (2, SendMode::Ready), (3, SendMode::Synchronous), (4, SendMode::Buffered)];

/// `MPIDI_REQUEST_MSG_MASK`, `MPIDI_REQUEST_RNDV_MSG` and `MPIDI_REQUEST_SELF_MSG`.
const MESSAGE_MASK: u64 = 3;
const RENDEZVOUS: u64 = 2;
const SELF_MESSAGE: u64 = 3;

/// `MPIDI_REQUEST_SYNC_SEND_MASK`.
const SYNCHRONOUS: u64 = 1 << 3;

const EVIDENCE: &str = "in MPICH's pool of requests, in use";

/// Decodes requests of ch3.
pub struct Ch3 {
    shape: Shape,
    any_source: i64,
    any_tag: i64,
}

impl Ch3 {
    /// Where the layouts have ch3's requests.
    ///
    /// # Errors
    /// Names what is missing.
    pub fn new(layouts: &Layouts) -> Result<Self, LayoutError> {
        Ok(Self {
            shape: Shape::resolve(layouts)?,
            any_source: layouts.constant("MPI_ANY_SOURCE")?,
            any_tag: layouts.constant("MPI_ANY_TAG")?,
        })
    }

    /// The neighbour of a request: its lists have one direction.
    pub fn links(&self, request: &Request<'_>) -> Links {
        Links { next: request.record.pointer(self.shape.next), prev: None }
    }

    /// The operation of a request; `Err` with the context of a message whose communicator does not exist.
    pub fn decode(
        &self,
        request: &Request<'_>,
        mut operation: Operation,
        around: &mut Around<'_>,
    ) -> Result<Option<Decoded>, u64> {
        let (record, shape) = (request.record, &self.shape);
        let send = match request.kind {
            Kind::Send => true,
            Kind::Receive | Kind::MatchedProbe => false,
            _ => return Ok(None),
        };
        if request.comm.is_none() && send {
            return Ok(None);
        }
        let context = record.uint(shape.context);
        let all = around.communicators;
        let only = |senders: Vec<(usize, bool)>| (senders.len() == 1).then(|| senders.first().copied()).flatten();
        let by_context = if send { only(all.senders(context)) } else { all.receiving(context) };
        let comm = request.comm.or(by_context.map(|(comm, _)| comm)).ok_or(context)?;
        operation.internal = by_context.is_some_and(|(at, collective)| collective && at == comm);
        operation.evidence = Some(Cow::Borrowed(EVIDENCE));
        // The rank of a peer has 16 bits in some releases: wildcards keep their sign.
        let (rank, tag) = (record.int(shape.rank), record.int(shape.tag));
        if request.comm.is_none() || request.kind == Kind::MatchedProbe {
            message(&mut operation, rank, tag, self.arrived(request, around));
            // Its sender waits for an answer that names its request (src/mpid/ch3/src/ch3u_{rndv,eagersync}.c). Others name one, too,
            // which may be another message's by now.
            let state = record.uint(shape.state);
            let waits = state & MESSAGE_MASK == RENDEZVOUS || state & SYNCHRONOUS != 0;
            let named = shape.senders.map(|slot| record.uint(slot)).filter(|named| waits && *named != 0);
            operation.sender_request = named;
            // That its data has arrived does not make it received.
            operation.status = OperationStatus::Pending;
            if request.comm.is_some() {
                operation.status = OperationStatus::Matched;
                operation.extra_text.push(Remark::MatchedMessage);
                return Ok(Some(Decoded { comm, queue: QueueKind::PendingReceives, order: u64::MAX, operation }));
            }
            let own = state & MESSAGE_MASK == SELF_MESSAGE;
            let buffer = if own { 0 } else { record.uint(shape.arrived_at) };
            operation.buffer = (buffer != 0).then_some(buffer);
            operation.system_buffer = buffer != 0;
            if operation.desired_length.is_none() {
                operation.not_known("desired_length", "the request of the send to this process itself cannot be read");
            }
            return Ok(Some(Decoded { comm, queue: QueueKind::UnexpectedMessages, order: u64::MAX, operation }));
        }
        let datatype = around.datatypes.of(record.uint(shape.datatype) as u32);
        operation.count = u64::try_from(record.int(shape.count)).ok();
        operation.desired_length =
            operation.count.zip(datatype.bytes).and_then(|(count, bytes)| count.checked_mul(bytes));
        datatype.put_into(&mut operation);
        operation.buffer = Some(record.uint(shape.buffer));
        operation.any_source = !send && rank == self.any_source;
        operation.tag_wild = !send && tag == self.any_tag;
        operation.desired_local_rank = (!operation.any_source).then_some(rank);
        operation.desired_tag = (!operation.tag_wild).then_some(tag);
        if send {
            operation.library_request = (!request.complete()).then_some(u64::from(request.value.0));
            operation.actual_local_rank = operation.desired_local_rank;
            operation.actual_tag = operation.desired_tag;
            operation.actual_length = operation.desired_length;
            let mode = mode(record.uint(shape.state));
            operation.extra_text.extend(mode.and_then(SendMode::remark));
            operation.system_buffer = mode == Some(SendMode::Buffered);
        } else if request.complete() {
            completed(request, &mut operation);
            forget_matched(&mut operation);
        }
        let queue = if send { QueueKind::PendingSends } else { QueueKind::PendingReceives };
        Ok(Some(Decoded { comm, queue, order: u64::MAX, operation }))
    }

    /// Bytes of a message that has arrived; of one from this process itself, those of the request that sends it
    /// (`MPIDI_Isend_self`, src/mpid/ch3/src/mpidi_isend_self.c, v4.0).
    fn arrived(&self, request: &Request<'_>, around: &mut Around<'_>) -> Option<u64> {
        let (record, shape) = (request.record, &self.shape);
        if record.uint(shape.state) & MESSAGE_MASK != SELF_MESSAGE {
            return u64::try_from(record.int(shape.arrived)).ok();
        }
        let sender = Record::owned(around.target, record.pointer(shape.partner), shape.size).ok()?;
        let bytes = around.datatypes.of(sender.uint(shape.datatype) as u32).bytes?;
        bytes.checked_mul(u64::try_from(sender.int(shape.count)).ok()?)
    }

    /// A receive that is under way.
    pub fn matched(operation: &mut Operation) {
        operation.status = OperationStatus::Matched;
        for fact in ["actual_local_rank", "actual_tag", "actual_length"] {
            operation.not_known(fact, "MPICH notes it when the message is complete");
        }
        forget_matched(operation);
    }
}

/// The mode that a request's `dev.state` names (`MPIDI_Request_get_type`, src/mpid/ch3/include/mpidimpl.h, v4.0).
pub fn mode(state: u64) -> Option<SendMode> {
    let number = state >> TYPE_SHIFT & TYPE_MASK;
    MODES.iter().find(|(known, _)| *known == number).map(|(_, mode)| *mode)
}

/// A receive that found its message waiting holds that message's source and tag, not what was asked for: only wildcards are
/// still what they were (`MPIDI_CH3U_Recvq_FDU_or_AEP`).
fn forget_matched(operation: &mut Operation) {
    for (fact, wanted) in
        [("desired_local_rank", &mut operation.desired_local_rank), ("desired_tag", &mut operation.desired_tag)]
    {
        if wanted.take().is_some() {
            operation.unknown.insert(Cow::Borrowed(fact), Cow::Borrowed(OVERWRITTEN));
        }
    }
}
