//! Messages within a communicator of one process: MPICH keeps them in lists of their own since 4.0.

use std::borrow::Cow;

use super::active_messages::{ActiveMessages, OVERWRITTEN, completed, forget_wanted, message};
use super::requests::{Kind, Request};
use super::transport::{Around, Decoded};
use crate::record::{Record, Slot};
use model::{Operation, OperationStatus, QueueKind, Remark};

impl ActiveMessages {
    /// A send or receive in a communicator of one process.
    pub fn own(
        &self,
        request: &Request<'_>,
        mut operation: Operation,
        comm: usize,
        around: &mut Around<'_>,
    ) -> Vec<Decoded> {
        let (record, shape) = (request.record, &self.shape);
        operation.evidence =
            Some(Cow::Borrowed("in MPICH's pool of requests, in use, in a communicator of one process"));
        let decoded = |queue, operation| Decoded { comm, queue, order: u64::MAX, operation };
        if request.kind == Kind::MatchedProbe {
            return self.own_message(request, operation, comm, around).into_iter().collect();
        }
        if request.complete() {
            completed(request, &mut operation);
            forget_wanted(&mut operation);
            operation.not_known("datatype", OVERWRITTEN);
            let queue = if request.kind == Kind::Send { QueueKind::PendingSends } else { QueueKind::PendingReceives };
            return vec![decoded(queue, operation)];
        }
        let int = |slot: Option<Slot>| slot.map(|slot| record.int(slot));
        let tag = int(shape.self_tag);
        let datatype = around.datatypes.of(int(shape.self_datatype).unwrap_or_default() as u32);
        operation.count = int(shape.self_count).and_then(|count| u64::try_from(count).ok());
        operation.desired_length =
            operation.count.zip(datatype.bytes).and_then(|(count, bytes)| count.checked_mul(bytes));
        datatype.put_into(&mut operation);
        operation.buffer = shape.self_buffer.map(|slot| record.uint(slot));
        operation.desired_local_rank = Some(0);
        operation.tag_wild = request.kind != Kind::Send && tag == Some(self.any_tag);
        operation.desired_tag = tag.filter(|_| !operation.tag_wild);
        if request.kind != Kind::Send {
            operation.desired_local_rank = None;
            operation.not_known(
                "desired_local_rank",
                "MPICH does not keep whether it was MPI_ANY_SOURCE: there is one source",
            );
            return vec![decoded(QueueKind::PendingReceives, operation)];
        }
        operation.actual_local_rank = Some(0);
        operation.actual_tag = operation.desired_tag;
        operation.actual_length = operation.desired_length;
        let mut message = operation.clone();
        message.extra_text.push(Remark::ToItself);
        (message.datatype, message.count) = (None, None);
        vec![decoded(QueueKind::PendingSends, operation), decoded(QueueKind::UnexpectedMessages, message)]
    }

    /// A message that was taken by MPI_Mprobe: its facts stand in the send's request.
    fn own_message(
        &self,
        request: &Request<'_>,
        mut operation: Operation,
        comm: usize,
        around: &mut Around<'_>,
    ) -> Option<Decoded> {
        let shape = &self.shape;
        let send = request.record.pointer(shape.self_match?);
        let record = Record::owned(around.target, send, request.shape.size).ok()?;
        let bytes = around.datatypes.of(record.uint(shape.self_datatype?) as u32).bytes;
        let count = u64::try_from(record.int(shape.self_count?)).ok();
        let bytes = count.zip(bytes).and_then(|(count, bytes)| count.checked_mul(bytes));
        message(&mut operation, 0, record.int(shape.self_tag?), bytes);
        operation.status = OperationStatus::Matched;
        operation.extra_text.push(Remark::MatchedMessage);
        forget_wanted(&mut operation);
        Some(Decoded { comm, queue: QueueKind::PendingReceives, order: u64::MAX, operation })
    }
}
