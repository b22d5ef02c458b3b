//! Sends of ch4's active messages: what their requests keep.
//!
//! A request of a large message, which waits for its receiver, holds what was asked for. One of a message that is sent at once
//! does not: its members have values of an earlier use. Which one it is shows in what was sent so far, but not always
//! (`MPIDIG_isend_impl`, pmodels/mpich, src/mpid/ch4/src/mpidig_send.h; `MPIDI_POSIX_do_am_isend`,
//! src/mpid/ch4/shm/posix/posix_am.h; v4.0 to v5.0).

use std::borrow::Cow;

use super::active_messages::{ActiveMessages, EVIDENCE};
use super::datatypes::KnownDatatype;
use super::requests::Request;
use super::transport::Around;
use crate::record::Record;
use model::{Operation, Remark};

/// Smaller messages are sent at once: the limit is 64 KiB less a header where nobody has set it, and no sensible one is
/// below this (`MPIDI_POSIX_am_eager_limit`, src/mpid/ch4/shm/posix/posix_am.h).
const SENT_AT_ONCE: u64 = 16 << 10;

/// No cell of shared memory is larger.
const NEVER_AT_ONCE: u64 = 1 << 20;

pub(super) const NO_TAG: &str =
    "MPICH keeps the tag of a send only in the header that it has sent: its receiver has it, where that is read too";
const NOT_WRITTEN: &str = "MPICH does not write it into the request of a message that it sends at once: its receiver may have it, where that is read too";
const AMBIGUOUS: &str = "the request does not say whether this is a large message or a synchronous one that has already gone, which leaves old values";
/// What a request of a large message keeps.
struct KeptFacts {
    destination: i64,
    count: u64,
    bytes: u64,
    buffer: u64,
    datatype: KnownDatatype,
}

/// Why a send's facts are not there.
enum Gone {
    /// It was sent at once; so many bytes, where they are known.
    AtOnce(Option<u64>),
    /// It is sent at once, and not all of it has gone: so many bytes.
    Going(Option<u64>),
    /// The memory fits a large message, and a synchronous one of so many bytes that has gone.
    Ambiguous(KeptFacts, u64),
    /// Its communicator is not known.
    Nowhere,
}

impl ActiveMessages {
    /// What is known of a pending send.
    pub(super) fn send(
        &self,
        request: &Request<'_>,
        mut operation: Operation,
        comm: usize,
        around: &mut Around<'_>,
    ) -> Operation {
        operation.evidence = Some(Cow::Borrowed(EVIDENCE));
        operation.not_known("desired_tag", NO_TAG);
        operation.library_request = (!request.complete()).then_some(request.at.get());
        let why = match self.kept(request, comm, around) {
            Ok(kept) => {
                operation.desired_local_rank = Some(kept.destination);
                operation.actual_local_rank = operation.desired_local_rank;
                kept.datatype.put_into(&mut operation);
                operation.count = Some(kept.count);
                operation.desired_length = Some(kept.bytes);
                operation.actual_length = Some(kept.bytes);
                operation.buffer = Some(kept.buffer);
                return operation;
            }
            Err(Gone::AtOnce(bytes)) => {
                (operation.desired_length, operation.actual_length) = (bytes, bytes);
                if !request.complete() {
                    operation.extra_text.push(Remark::SynchronousSend);
                }
                NOT_WRITTEN
            }
            Err(Gone::Going(bytes)) => {
                (operation.desired_length, operation.actual_length) = (bytes, bytes);
                operation.extra_text.push(Remark::WaitsForRoom);
                NOT_WRITTEN
            }
            Err(Gone::Ambiguous(kept, sent)) => {
                let KeptFacts { destination, bytes, .. } = kept;
                operation.extra_text.push(Remark::EitherSend { large: bytes, to: destination, synchronous: sent });
                AMBIGUOUS
            }
            Err(Gone::Nowhere) => AMBIGUOUS,
        };
        for fact in ["desired_local_rank", "datatype", "buffer"] {
            operation.not_known(fact, why);
        }
        if operation.desired_length.is_none() {
            operation.not_known("desired_length", why);
        }
        operation
    }

    /// What a request of a large message holds. That of a small one has values of an earlier use; which one it is shows in
    /// what was sent so far (`MPIDIG_isend_impl`, src/mpid/ch4/src/mpidig_send.h; `MPIDI_POSIX_do_am_isend`).
    fn kept(&self, request: &Request<'_>, comm: usize, around: &mut Around<'_>) -> Result<KeptFacts, Gone> {
        let (record, shape) = (request.record, &self.shape);
        let found = around.communicators.found.get(comm).ok_or(Gone::Nowhere)?;
        let destination = shape.destination.or(shape.old_rank).map_or(-1, |slot| record.int(slot));
        let mut bytes_of_more = Vec::new();
        let more = Record::read(around.target, record.pointer(shape.more), self.more.size, &mut bytes_of_more).ok();
        // 3.4 keeps them with the rest of the facts (src/mpid/ch4/generic/am/mpidig_am_send.h, v3.4.3).
        let (place, slots) = match (more, self.more.send_buffer, self.more.send_count, self.more.send_datatype) {
            (Some(more), Some(buffer), Some(count), Some(datatype)) => (more, [buffer, count, datatype]),
            _ => (record, [shape.buffer, shape.count, shape.datatype]),
        };
        let [buffer, count, datatype] = slots;
        let datatype = around.datatypes.of(place.uint(datatype) as u32);
        let count = u64::try_from(place.int(count)).ok();
        let bytes = count.zip(datatype.bytes).and_then(|(count, bytes)| count.checked_mul(bytes));
        let buffer = place.uint(buffer);
        // Of what is going, or went last with this memory, so much has been sent and so much is left.
        let sent = more.filter(|more| around.datatypes.of(more.uint(self.more.going) as u32).bytes.is_some());
        let sent = sent.and_then(|more| {
            Some((u64::try_from(more.int(self.more.sent)).ok()?, u64::try_from(more.int(self.more.left)).ok()?))
        });
        let kept = match (count, bytes, (0..found.peers()).contains(&destination)) {
            (Some(count), Some(bytes), true) if bytes >= SENT_AT_ONCE => {
                Some(KeptFacts { destination, count, bytes, buffer, datatype })
            }
            _ => None,
        };
        match (kept, sent) {
            // What has not gone whole is going now: a large message whose receiver has answered, or one that waits for room.
            (Some(kept), Some((sent, left))) if left > 0 && sent.checked_add(left) == Some(kept.bytes) => Ok(kept),
            (_, Some((sent, left))) if left > 0 => Err(Gone::Going(sent.checked_add(left))),
            // A synchronous send counts its data and the receiver's answer: that its data has not gone means that it is large.
            (Some(kept), _) if request.counter > 1 => Ok(kept),
            // All of it has gone, and it was small: so it looks after a message was sent at once, but also before the receiver of
            // a large one has answered, where an earlier message has left that.
            (Some(kept), Some((sent, _))) if sent <= NEVER_AT_ONCE => Err(Gone::Ambiguous(kept, sent)),
            (Some(kept), _) => Ok(kept),
            (None, Some((sent, _))) if sent <= NEVER_AT_ONCE => Err(Gone::AtOnce(Some(sent))),
            (None, _) => Err(Gone::AtOnce(None)),
        }
    }
}
