//! Requests of ch4's active messages: everything over shared memory, and what a network leaves to MPICH.

use std::borrow::Cow;

use super::communicators::Found;
use super::requests::{Kind, Request};
use super::transport::{Around, Decoded};
use crate::record::{Record, shapes};
use layouts::{LayoutError, Layouts};
use model::{Operation, OperationStatus, QueueKind, Remark};
use target::Target;
use target::address::TargetAddr;

shapes! {
    /// What a request of an active message holds; source and tag of a receive stand in its status since 4.3
    /// (`MPIDIG_req_t`, pmodels/mpich, src/mpid/ch4/include/mpidpre.h; `MPIDIG_match_request`, src/mpid/ch4/src/mpidig_recvq.h).
    Shape = ["MPIR_Request"] {
        more: "dev.ch4.am.req",
        buffer: "dev.ch4.am.buffer",
        count: "dev.ch4.am.count",
        datatype: "dev.ch4.am.datatype",
    } optional {
        destination: "dev.ch4.am.u.send.dest",
        source: "dev.ch4.am.u.recv.source",
        tag: "dev.ch4.am.u.recv.tag",
        context: "dev.ch4.am.u.recv.context_id",
        old_rank: "dev.ch4.am.rank",
        old_tag: "dev.ch4.am.tag",
        old_context: "dev.ch4.am.context_id",
        self_buffer: "dev.ch4.self.buf",
        self_count: "dev.ch4.self.count",
        self_datatype: "dev.ch4.self.datatype",
        self_tag: "dev.ch4.self.tag",
        self_match: "dev.ch4.self.match_req",
    };
    /// What does not fit into the request.
    More = ["MPIDIG_req_ext_t"] {
        flags: "status",
        sent: "send_async.offset",
        left: "send_async.data_sz_left",
        going: "send_async.datatype",
    } optional {
        senders: "rreq.peer_req_ptr",
        send_buffer: "sreq.src_buf",
        send_count: "sreq.count",
        send_datatype: "sreq.datatype",
        list_item: "rreq",
        listed_next: "rreq.next",
        listed_request: "rreq.request",
    };
}

/// `MPIDIG_REQ_PEER_SSEND` and `MPIDIG_REQ_RTS`: the sender waits for an answer, which names its request
/// (`set_rreq_common`, `MPIDIG_send_target_msg_cb`, src/mpid/ch4/src/mpidig_pt2pt_callbacks.c, v4.0 to v5.0).
const SENDER_WAITS: u64 = 1 << 1 | 1 << 7;

/// `MPIDIG_REQ_MATCHED`, `MPIDIG_REQ_IN_PROGRESS` and `MPIDIG_REQ_UNEXP_CLAIMED` (src/mpid/ch4/include/mpidpre.h, the same
/// in v3.4 to v5.0).
const MATCHED: u64 = 1 << 6 | 1 << 8 | 1 << 4;

/// How the facts were found.
pub(super) const EVIDENCE: &str = "in MPICH's pool of requests, in use, of the library's active messages";

pub(super) const OVERWRITTEN: &str = "the request holds what was matched, no longer what was asked for";

/// Decodes requests of active messages.
pub struct ActiveMessages {
    pub(super) shape: Shape,
    pub(super) more: More,
    /// `MPIDI_REQ_TYPE_AM`, where the release has it.
    type_am: Option<u64>,
    any_source: i64,
    pub(super) any_tag: i64,
}

impl ActiveMessages {
    /// Where the layouts have ch4's requests.
    ///
    /// # Errors
    /// Names what is missing.
    pub fn new(layouts: &Layouts) -> Result<Self, LayoutError> {
        Ok(Self {
            shape: Shape::resolve(layouts)?,
            more: More::resolve(layouts)?,
            type_am: layouts.constant("MPIDI_REQ_TYPE_AM").ok().map(|value| value as u64),
            any_source: layouts.constant("MPI_ANY_SOURCE")?,
            any_tag: layouts.constant("MPI_ANY_TAG")?,
        })
    }

    /// Whether a request is an active message's. Until 4.0 no member says so: the rest of the facts is there as soon as it is
    /// one, and null before (`MPID_Request_create_hook`, src/mpid/ch4/include/mpidpost.h, v4.0.3); `is_local` is written after
    /// the network or the shared memory has had the request. A complete one gives the rest back, but for messages that a
    /// probe holds.
    pub fn has(&self, request: &Request<'_>) -> bool {
        match (request.maybe(request.shape.device_type), request.maybe(request.shape.is_local)) {
            (Some(device_type), _) if self.type_am.is_some() => Some(device_type) == self.type_am,
            (_, Some(is_local)) => {
                let over = request.complete() && request.kind != Kind::MatchedProbe;
                !self.more_of(request).is_null() || (is_local != 0 && over)
            }
            (_, None) => false,
        }
    }

    /// Whether a request is one within a communicator of one process, which MPICH keeps in lists of its own since 4.0
    /// (`MPIDI_is_self_comm`, src/mpid/ch4/src/ch4_self.c).
    pub fn is_own(&self, found: &Found) -> bool {
        self.shape.self_tag.is_some() && !found.inter && found.facts.size == Some(1)
    }

    /// The operation of a request; `None` for one that is the library's own or whose communicator is not known.
    pub fn decode(
        &self,
        request: &Request<'_>,
        operation: Operation,
        around: &mut Around<'_>,
    ) -> Result<Option<Decoded>, u64> {
        match request.kind {
            Kind::Send => Ok(request.comm.map(|comm| {
                let operation = self.send(request, operation, comm, around);
                Decoded { comm, queue: QueueKind::PendingSends, order: u64::MAX, operation }
            })),
            Kind::Receive if request.comm.is_none() && request.complete() => Ok(None),
            Kind::Receive | Kind::MatchedProbe => self.receive(request, operation, around).map(Some),
            _ => Ok(None),
        }
    }

    /// A receive, a message that nobody has received, or one that MPI_Mprobe took; `Err` with the context of a message whose
    /// communicator does not exist.
    fn receive(
        &self,
        request: &Request<'_>,
        mut operation: Operation,
        around: &mut Around<'_>,
    ) -> Result<Decoded, u64> {
        let (record, shape) = (request.record, &self.shape);
        // Zero is MPI_COMM_WORLD's: a release that keeps none must not be taken for it.
        let context = shape.context.or(shape.old_context).map(|slot| record.uint(slot));
        let by_context = context.and_then(|context| around.communicators.receiving(context));
        let comm = request.comm.or(by_context.map(|(comm, _)| comm)).ok_or(context.unwrap_or(u64::MAX))?;
        operation.internal = by_context.is_some_and(|(at, collective)| collective && at == comm);
        let source = record.int(shape.source.or(shape.old_rank).unwrap_or(request.shape.source));
        let tag = record.int(shape.tag.or(shape.old_tag).unwrap_or(request.shape.tag));
        let datatype = around.datatypes.of(record.uint(shape.datatype) as u32);
        let count = u64::try_from(record.int(shape.count)).ok();
        let bytes = count.zip(datatype.bytes).and_then(|(count, bytes)| count.checked_mul(bytes));
        operation.evidence = Some(Cow::Borrowed(EVIDENCE));
        if request.comm.is_none() || request.kind == Kind::MatchedProbe {
            // The library has received it, or will, as so many bytes.
            message(&mut operation, source, tag, count);
            operation.sender_request = self.senders_request(request, around);
            let buffer = record.uint(shape.buffer);
            operation.buffer = (buffer != 0).then_some(buffer);
            operation.system_buffer = buffer != 0;
            if request.comm.is_none() {
                return Ok(Decoded { comm, queue: QueueKind::UnexpectedMessages, order: u64::MAX, operation });
            }
            operation.buffer = None;
            operation.system_buffer = false;
            matched_message(&mut operation);
            return Ok(Decoded { comm, queue: QueueKind::PendingReceives, order: u64::MAX, operation });
        }
        datatype.put_into(&mut operation);
        if operation.datatype.is_none() {
            operation.not_known("datatype", "the request names none that is in use");
        }
        if request.complete() {
            completed(request, &mut operation);
            forget_wanted(&mut operation);
        } else {
            operation.any_source = source == self.any_source;
            operation.tag_wild = tag == self.any_tag;
            operation.desired_local_rank = (!operation.any_source).then_some(source);
            operation.desired_tag = (!operation.tag_wild).then_some(tag);
            operation.desired_length = bytes;
            operation.count = count;
            operation.buffer = Some(record.uint(shape.buffer));
        }
        Ok(Decoded { comm, queue: QueueKind::PendingReceives, order: u64::MAX, operation })
    }

    /// Whether a receive that is on no list was matched; `None` where that cannot be read.
    pub fn was_matched(&self, more: TargetAddr, around: &Around<'_>) -> Option<bool> {
        let record = Record::owned(around.target, more, self.more.size).ok()?;
        Some(record.uint(self.more.flags) & MATCHED != 0)
    }

    /// The address at its sender of the request that a message, which nobody has received, is answered to.
    fn senders_request(&self, request: &Request<'_>, around: &Around<'_>) -> Option<u64> {
        let slot = self.more.senders?;
        let record = Record::owned(around.target, self.more_of(request), self.more.size).ok()?;
        let named = record.uint(slot);
        (record.uint(self.more.flags) & SENDER_WAITS != 0 && named != 0).then_some(named)
    }

    /// Where the rest of a request's facts lies.
    pub fn more_of(&self, request: &Request<'_>) -> TargetAddr {
        request.record.pointer(self.shape.more)
    }

    /// A receive that is under way: its wildcards were overwritten by what was matched.
    pub fn matched(operation: &mut Operation) {
        operation.status = OperationStatus::Matched;
        operation.actual_local_rank = operation.desired_local_rank;
        operation.actual_tag = operation.desired_tag;
        operation.not_known("actual_length", "MPICH notes it when the message is complete");
        for fact in ["desired_local_rank", "desired_tag"] {
            operation.not_known(fact, OVERWRITTEN);
        }
        (operation.desired_local_rank, operation.desired_tag) = (None, None);
        (operation.any_source, operation.tag_wild) = (false, false);
    }

    /// The requests of a list of 3.4, whose elements lie with the rest of the facts; `None` where it is none.
    pub fn old_list(&self, target: &dyn Target, first: TargetAddr, limit: usize) -> Option<Vec<TargetAddr>> {
        let (item, next, request) = (self.more.list_item?, self.more.listed_next?, self.more.listed_request?);
        let mut found = Vec::new();
        let mut at = first;
        while !at.is_null() {
            let start = at.wrapping_add((item.offset as u64).wrapping_neg());
            if found.len() >= limit {
                return None;
            }
            found.push(request.read_pointer(target, start).ok()?);
            at = next.read_pointer(target, start).ok()?;
        }
        Some(found)
    }
}

/// The facts of a message that has arrived.
pub fn message(operation: &mut Operation, source: i64, tag: i64, bytes: Option<u64>) {
    operation.desired_local_rank = Some(source);
    operation.actual_local_rank = Some(source);
    operation.desired_tag = Some(tag);
    operation.actual_tag = Some(tag);
    operation.desired_length = bytes;
    operation.actual_length = bytes;
}

/// The message is one that MPI_Mprobe has taken: what was asked for is not kept.
pub fn matched_message(operation: &mut Operation) {
    operation.extra_text.push(Remark::MatchedMessage);
    operation.status = OperationStatus::Matched;
    forget_wanted(operation);
}

/// What a complete receive's status says.
pub fn completed(request: &Request<'_>, operation: &mut Operation) {
    operation.status = OperationStatus::Complete;
    if request.kind == Kind::Send {
        return;
    }
    if request.cancelled() {
        operation.extra_text.push(Remark::Cancelled);
        return;
    }
    operation.actual_local_rank = Some(request.record.int(request.shape.source));
    operation.actual_tag = Some(request.record.int(request.shape.tag));
    operation.actual_length = request.received();
    let error = request.record.int(request.shape.error);
    if error != 0 {
        operation.extra_text.push(Remark::ErrorCode(error));
    }
}

/// What was asked for is not kept: it is said so.
pub(super) fn forget_wanted(operation: &mut Operation) {
    (operation.desired_local_rank, operation.desired_tag, operation.desired_length) = (None, None, None);
    let data = [
        ("buffer", operation.buffer.is_none()),
        ("count", operation.count.is_none()),
        ("datatype", operation.datatype.is_none()),
    ];
    let lost = data.into_iter().filter_map(|(fact, lost)| lost.then_some(fact));
    for fact in ["desired_local_rank", "desired_tag", "desired_length"].into_iter().chain(lost) {
        operation.not_known(fact, OVERWRITTEN);
    }
}
