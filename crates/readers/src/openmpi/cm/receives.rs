//! Receives from the requests of the pml cm, and from what libfabric has of them.

use std::borrow::Cow;

use super::network::{Kept, Network, Waiting};
use super::requests::{Decoded, Decoder, NO_RANK, PEER};
use crate::libfabric::Source;
use crate::openmpi::requests::COMPLETED;
use crate::record::Record;
use model::{Operation, OperationStatus, Remark};
use target::Reason;
use target::address::TargetAddr;

const WAITING: &str = "on libfabric's list of receives, in the entry that leads to the request of Open MPI's mtl ofi";
const ON_STACK: &str = "on libfabric's list of receives, in the entry that leads to a request on a thread's stack";
const NOT_OF_RECEIVES: &str =
    "Open MPI's pml cm hands it to the network's library and does not keep it in a receive's request";
const PERHAPS_ANY: &str = "what is left of it does not distinguish the tag 0 from MPI_ANY_TAG";
const PERHAPS_ANY_SOURCE: &str = "what is left of it does not distinguish this source from MPI_ANY_SOURCE";

impl Decoder<'_> {
    /// The receive that a request stands for; `None` for one that is not in use.
    pub fn receive(&mut self, record: &Record<'_>) -> Option<Decoded> {
        let cm = self.cm;
        if !self.in_use(record, [cm.receive_heavy, cm.receive_thin]) {
            return None;
        }
        let shape = &cm.request;
        let heavy = record.uint(shape.pml_kind) == cm.receive_heavy;
        let mtl = if heavy { cm.heavy_receive.mtl } else { shape.mtl };
        let mut operation = self.common(record);
        let complete = record.uint(shape.complete) == COMPLETED;
        let network = self.network.as_ref();
        let at = record.address_of(mtl);
        let waiting = network.ok().filter(|_| !complete).and_then(|network| network.receives.get(&at).copied());
        let mut peer = None;
        match (waiting, network) {
            (Some(waiting), Ok(network)) => {
                self.seen.insert(at);
                peer = self.posted(network, &waiting, &mut operation);
                operation.evidence = Some(WAITING.into());
            }
            (None, Ok(network)) => {
                // It has left a list that was read whole.
                let matched = network.receives_problem.is_none();
                if !complete && matched {
                    operation.status = OperationStatus::Matched;
                }
                if !heavy {
                    self.left(network, network.kept(self.target, at), record, complete, &mut operation);
                }
            }
            (_, Err(reason)) => {
                if !heavy {
                    for fact in PEER.into_iter().chain(["desired_tag"]) {
                        operation.not_known(fact, format!("{NOT_OF_RECEIVES}: {reason}"));
                    }
                }
            }
        }
        if heavy {
            self.heavy_receive(record, &mut operation);
            operation.call = Some(Cow::Borrowed("MPI_Recv_init"));
            peer = None;
        }
        self.finish_receive(record, complete, &mut operation);
        let order = waiting.map_or(0, |waiting| waiting.order + 1);
        Some(self.decoded(record, order, peer, operation))
    }

    pub(super) fn heavy_receive(&self, record: &Record<'_>, operation: &mut Operation) {
        let shape = &self.cm.heavy_receive;
        let (peer, tag) = (record.int(shape.peer), record.int(shape.tag));
        let (any_source, any_tag) = (self.shapes.constants.any_source, self.shapes.constants.any_tag);
        operation.any_source = peer == any_source;
        operation.desired_local_rank = (peer != any_source).then_some(peer);
        operation.tag_wild = tag == any_tag;
        if tag != any_tag {
            self.tagged(tag, operation);
        }
        operation.count = Some(record.uint(shape.count));
        operation.buffer = Some(record.uint(shape.buffer));
    }

    /// Fills in what libfabric has of a receive that waits; returns the address of the process that it is from.
    fn posted(&self, network: &Network, waiting: &Waiting, operation: &mut Operation) -> Option<u64> {
        let (bits, receive) = (network.bits, waiting.receive);
        operation.tag_wild = bits.any_tag(receive.ignore);
        if !operation.tag_wild {
            self.tagged(bits.tag(receive.tag), operation);
        }
        match (bits.source(receive.tag, receive.ignore), receive.source) {
            (Some(source), _) => {
                operation.any_source = source.is_none();
                operation.desired_local_rank = source;
                None
            }
            (None, Source::Any) => {
                operation.any_source = true;
                None
            }
            (None, Source::Address(address)) => Some(address),
            // The mtl has it as well.
            (None, Source::NotKept) => {
                let given = network.kept(self.target, network.request_of(waiting)).ok();
                let source = given.map_or(Source::NotKept, |kept| network.source(kept.address));
                operation.any_source = source == Source::Any;
                if source == Source::NotKept {
                    for fact in PEER {
                        operation.not_known(fact, NO_RANK);
                    }
                }
                source.address()
            }
        }
    }

    /// Fills in what the mtl keeps of a receive that libfabric has taken off its list: the tag, but not whether any would do.
    fn left(
        &self,
        network: &Network,
        kept: Result<Kept, Reason>,
        record: &Record<'_>,
        complete: bool,
        operation: &mut Operation,
    ) {
        let kept = match kept {
            // A message that a matching probe took is received by a request of the probe's.
            Ok(kept) if kept.request == record.addr && kept.comm == record.pointer(self.cm.request.comm) => kept,
            _ => {
                for fact in PEER.into_iter().chain(["desired_tag"]) {
                    operation.not_known(fact, NOT_OF_RECEIVES);
                }
                return;
            }
        };
        let tag = network.bits.tag(kept.bits);
        let other = complete && record.int(self.cm.request.status_tag) != 0;
        match (tag, other) {
            (0, true) => operation.tag_wild = true,
            (0, false) => operation.not_known("desired_tag", PERHAPS_ANY),
            (tag, _) => self.tagged(tag, operation),
        }
        // The address of a synchronous message's sender is written over that of any process (`ompi_mtl_ofi_recv_callback`).
        operation.any_source =
            network.bits.source(kept.bits, 0).is_none() && network.source(kept.address) == Source::Any;
        if !operation.any_source {
            for fact in PEER {
                operation.not_known(fact, PERHAPS_ANY_SOURCE);
            }
        }
    }

    fn finish_receive(&self, record: &Record<'_>, complete: bool, operation: &mut Operation) {
        let shape = &self.cm.request;
        if complete {
            operation.status = OperationStatus::Complete;
            let cancelled = record.uint(shape.cancelled) != 0;
            if cancelled {
                operation.extra_text.push(Remark::Cancelled);
            } else {
                operation.actual_local_rank = Some(record.int(shape.status_source));
                operation.actual_tag = Some(record.int(shape.status_tag));
                operation.actual_length = Some(record.uint(shape.status_bytes));
            }
            let error = record.int(shape.status_error);
            if error != 0 {
                operation.extra_text.push(Remark::ErrorCode(error));
            }
        }
        if record.uint(shape.free_called) != 0 {
            operation.extra_text.push(Remark::RequestFreed);
        }
    }

    /// A receive that waits and that no request of the pools is of: a blocking one, whose request lies on a stack.
    pub fn blocking(&mut self, network: &Network, at: TargetAddr, waiting: &Waiting) -> Result<Decoded, Reason> {
        let kept = network.kept(self.target, at)?;
        let mut operation = Operation::default();
        let peer = self.posted(network, waiting, &mut operation);
        match network.data(self.target, kept.convertor) {
            Ok((datatype, buffer, count)) => {
                let datatype = self.datatypes.of(datatype);
                operation.desired_length = datatype.bytes.and_then(|bytes| bytes.checked_mul(count));
                (operation.datatype, operation.count) = (datatype.name.map(Into::into), Some(count));
                operation.buffer = Some(buffer.get());
            }
            Err(reason) => {
                operation.desired_length = Some(kept.length);
                operation.buffer = waiting.receive.buffer.map(TargetAddr::get);
                for fact in ["datatype", "count"] {
                    operation.not_known(fact, reason.to_string());
                }
            }
        }
        operation.request = Some(kept.request.get());
        operation.evidence = Some(ON_STACK.into());
        Ok(Decoded { comm: kept.comm, order: waiting.order + 1, peer, number: None, in_order: true, operation })
    }
}
