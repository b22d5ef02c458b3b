//! Sends from the requests of the pml cm, and from what libfabric has of them.

use std::borrow::Cow;

use super::network::{Answer, Network, Sent};
use super::requests::{Decoded, Decoder, PEER};
use crate::openmpi::requests::COMPLETED;
use crate::record::Record;
use crate::send_mode::SendMode;
use model::{Operation, OperationStatus, Remark};
use target::address::TargetAddr;

const ANSWERED: &str = "in the receive that waits in libfabric for the answer to this synchronous send";
const LISTED: &str = "among libfabric's sends, in the entry that leads to the request of Open MPI's mtl ofi";
const LISTED_OF_STACK: &str = "among libfabric's sends, in the entry that leads to a request on a thread's stack";
const NOT_OF_SENDS: &str =
    "Open MPI's pml cm hands it to the network's library and does not keep it in a send's request";
const NOT_OF_STACKS: &str = "the request is on a thread's stack, and does not keep it";
const NOT_OF_PROVIDER: &str = "libfabric's provider does not keep to which process it sends";
const COPIED: &str = "Open MPI has copied the data, and its request does not keep from where";

impl Decoder<'_> {
    /// The send that a request stands for; `None` for one that is not in use.
    pub fn send(&mut self, record: &Record<'_>) -> Option<Decoded> {
        let cm = self.cm;
        if !self.in_use(record, [cm.send_heavy, cm.send_thin]) {
            return None;
        }
        let shape = &cm.request;
        let heavy = record.uint(shape.pml_kind) == cm.send_heavy;
        let mut operation = self.common(record);
        let mtl = if heavy { cm.heavy_send.mtl } else { cm.thin_send.mtl };
        let network = self.network.as_ref();
        let at = record.address_of(mtl);
        self.seen.insert(at);
        let (answer, sent) = network.map_or((None, None), |network| (network.answers.get(&at), network.sends.get(&at)));
        let (mut peer, bits) = (None, network.ok().map(|network| network.bits));
        if heavy {
            self.heavy_send(record, &mut operation);
        } else if let (Some(bits), Some((word, address))) = (bits, handed(answer, sent)) {
            self.tagged(bits.tag(word), &mut operation);
            peer = address;
            operation.evidence = Some(if answer.is_some() { ANSWERED } else { LISTED }.into());
            if address.is_none() {
                for fact in PEER {
                    operation.not_known(fact, NOT_OF_PROVIDER);
                }
            }
        } else {
            let problem = match network {
                Ok(network) => network.sends_problem.as_ref(),
                Err(reason) => Some(reason),
            };
            let reason: Cow<'static, str> = match problem {
                Some(problem) => format!("{NOT_OF_SENDS}; of what that library has: {problem}").into(),
                None => NOT_OF_SENDS.into(),
            };
            for fact in PEER.into_iter().chain(["desired_tag"]) {
                operation.not_known(fact, reason.clone());
            }
        }
        let mode = self.mode(record);
        let buffered = mode == Some(SendMode::Buffered);
        let left_alone = record.uint(shape.free_called) != 0;
        let (complete, transferred) = (record.uint(shape.complete) == COMPLETED, record.uint(shape.pml_complete) != 0);
        // A buffered send is complete for MPI at once, and a request that was freed lives on until its data has gone.
        operation.status = match complete && (transferred || !(buffered || left_alone)) {
            true => OperationStatus::Complete,
            false => OperationStatus::Pending,
        };
        if left_alone {
            operation.extra_text.push(Remark::RequestFreed);
        }
        self.finish_send(record, &mut operation);
        let pending = operation.status == OperationStatus::Pending;
        let number = network.ok().filter(|_| pending).and_then(|network| network.number(at));
        Some(placed(Decoded { number, ..self.decoded(record, 0, peer, operation) }, sent))
    }

    /// Fills in what only persistent and buffered sends keep.
    pub(super) fn heavy_send(&self, record: &Record<'_>, operation: &mut Operation) {
        let shape = &self.cm.heavy_send;
        operation.desired_local_rank = Some(record.int(shape.peer));
        self.tagged(record.int(shape.tag), operation);
        // `req_count` becomes the bytes to be sent (`MCA_PML_CM_HVY_SEND_REQUEST_INIT_COMMON`).
        let (bytes, size) = (record.uint(shape.bytes), operation.desired_length.zip(operation.count));
        let size = size.and_then(|(length, count)| length.checked_div(count));
        if let Some(count) = size.filter(|size| *size != 0 && bytes.is_multiple_of(*size)).map(|size| bytes / size) {
            operation.count = Some(count);
        }
        operation.desired_length = Some(bytes);
        let (own, packed) = (record.uint(shape.buffer), record.uint(shape.packed));
        operation.system_buffer = self.mode(record) == Some(SendMode::Buffered) && packed != own;
        operation.buffer = Some(if operation.system_buffer { packed } else { own });
    }

    /// Fills in what all sends say.
    pub(super) fn finish_send(&self, record: &Record<'_>, operation: &mut Operation) {
        (operation.actual_local_rank, operation.actual_tag) = (operation.desired_local_rank, operation.desired_tag);
        operation.actual_length = operation.desired_length;
        if let Some(mode) = self.mode(record) {
            operation.call = operation.persistent.then_some(Cow::Borrowed(mode.init()));
            operation.extra_text.extend(mode.remark());
        }
    }

    /// The mode of a send; `None` for a number that no mode has.
    pub fn mode(&self, record: &Record<'_>) -> Option<SendMode> {
        self.constants.mode(record.uint(self.cm.thin_send.mode))
    }

    /// A send that no request of the pools is of: a blocking one, whose request lies on a stack.
    pub fn blocking_send(
        &self,
        network: &Network,
        at: TargetAddr,
        (answer, sent): (Option<&Answer>, Option<&Sent>),
        comm: TargetAddr,
    ) -> Option<Decoded> {
        let (word, peer) = handed(answer, sent)?;
        let mut operation = Operation::default();
        self.tagged(network.bits.tag(word), &mut operation);
        operation.actual_tag = operation.desired_tag;
        let kept = network.kept(self.target, at);
        match &kept {
            Ok(kept) => operation.desired_length = Some(kept.length),
            Err(reason) => operation.not_known("desired_length", reason.to_string()),
        }
        operation.actual_length = operation.desired_length;
        // What is not in one piece is copied into memory of the request's (`ompi_mtl_datatype_pack`, ompi/mca/mtl/base).
        let copied = kept.is_ok_and(|kept| !kept.copy.is_null());
        operation.buffer = sent.and_then(|sent| sent.send.buffer).filter(|_| !copied).map(TargetAddr::get);
        if operation.buffer.is_none() {
            operation.not_known("buffer", if copied { COPIED } else { NOT_OF_STACKS });
        }
        for fact in ["datatype", "count"] {
            operation.not_known(fact, NOT_OF_STACKS);
        }
        if peer.is_none() {
            for fact in PEER {
                operation.not_known(fact, NOT_OF_PROVIDER);
            }
        }
        if answer.is_some() || network.bits.is_synchronous(word) {
            operation.extra_text.extend(SendMode::Synchronous.remark());
        }
        operation.evidence = Some(if answer.is_some() { ANSWERED } else { LISTED_OF_STACK }.into());
        Some(placed(Decoded { comm, order: 0, peer, number: None, in_order: false, operation }, sent))
    }
}

/// What a send is matched by and the address that it goes to, as far as that is kept.
fn handed(answer: Option<&Answer>, sent: Option<&Sent>) -> Option<(u64, Option<u64>)> {
    let answered = answer.map(|answer| (answer.word, answer.source.address()));
    let sent = sent.map(|sent| (sent.send.tag, sent.send.destination));
    match (answered, sent) {
        (Some((word, None)), Some((_, address))) => Some((word, address)),
        (answered, sent) => answered.or(sent),
    }
}

/// A send with its place among those that libfabric has.
fn placed(decoded: Decoded, sent: Option<&Sent>) -> Decoded {
    let Some(sent) = sent else { return decoded };
    let order = if sent.send.in_order { sent.order + 1 } else { decoded.order };
    Decoded { order, number: sent.send.number, in_order: sent.send.in_order, ..decoded }
}
