//! Sends and receives from the requests of the pml cm.

use std::borrow::Cow;

use super::network::{Answer, Kept, Network, Waiting};
use super::shapes::CmShapes;
use crate::libfabric::Source;
use crate::openmpi::communicators::Found;
use crate::openmpi::requests::{COMPLETED, Datatypes, RequestConstants};
use crate::openmpi::shapes::Shapes;
use crate::openmpi::tags::InternalTags;
use crate::record::Record;
use crate::send_mode::SendMode;
use layouts::{LayoutError, Layouts};
use model::{Operation, OperationStatus, Remark};
use target::address::TargetAddr;
use target::{Reason, Target};

const KEPT: &str = "in the request of Open MPI's pml cm";
const WAITING: &str = "on libfabric's list of receives, in the entry that leads to the request of Open MPI's mtl ofi";
const ON_STACK: &str = "on libfabric's list of receives, in the entry that leads to a request on a thread's stack";
const ANSWERED: &str = "in the receive that waits in libfabric for the answer to this synchronous send";
const NOT_OF_SENDS: &str =
    "Open MPI's pml cm hands it to the network's library and does not keep it in a send's request";
const NOT_OF_RECEIVES: &str =
    "Open MPI's pml cm hands it to the network's library and does not keep it in a receive's request";
const PERHAPS_ANY: &str = "what is left of it does not tell the tag 0 from MPI_ANY_TAG";
const PERHAPS_ANY_SOURCE: &str = "what is left of it does not tell this source from MPI_ANY_SOURCE";
const NOT_OF_STACKS: &str = "the request lies on a thread's stack, and does not keep it";
const NO_RANK: &str =
    "the process's address at libfabric is that of no process that Open MPI knows, or of none in the communicator";

/// An operation with what is needed to sort it into its communicator's queue.
pub struct Decoded {
    /// The communicator object.
    pub comm: TargetAddr,
    /// Its place among those of its queue; those of equal place stay as they were found.
    pub order: u64,
    /// The address of the process that it is with, which becomes a rank in the communicator.
    pub peer: Option<u64>,
    /// Its facts; world ranks are still missing.
    pub operation: Operation,
}

/// Decodes requests and remembers the datatypes.
pub struct Decoder<'a> {
    target: &'a dyn Target,
    shapes: &'a Shapes,
    cm: &'a CmShapes,
    constants: RequestConstants,
    tags: &'a InternalTags,
    datatypes: Datatypes<'a>,
    /// The mtl ofi, or why it is not read.
    network: &'a Result<Network, Reason>,
    /// Requests in a state that does not exist: damage.
    impossible: u64,
}

/// Who an operation is with.
const PEER: [&str; 2] = ["desired_local_rank", "desired_global_rank"];

impl<'a> Decoder<'a> {
    /// A decoder for the release that `layouts` describes.
    ///
    /// # Errors
    /// Where a constant is not known.
    pub fn new(
        target: &'a dyn Target,
        shapes: &'a Shapes,
        cm: &'a CmShapes,
        layouts: &Layouts,
        tags: &'a InternalTags,
        network: &'a Result<Network, Reason>,
    ) -> Result<Self, LayoutError> {
        let constants = RequestConstants::resolve(layouts)?;
        let datatypes = Datatypes::new(target, shapes);
        Ok(Self { target, shapes, cm, constants, tags, datatypes, network, impossible: 0 })
    }

    /// How many requests were in a state that does not exist since this was asked for the last time.
    pub fn take_impossible(&mut self) -> u64 {
        std::mem::take(&mut self.impossible)
    }

    /// Whether a request is in use: free objects of the pool and inactive persistent requests are not.
    fn in_use(&mut self, record: &Record<'_>, kinds: [u64; 2]) -> bool {
        let (shape, constants) = (&self.cm.request, &self.constants);
        let state = record.uint(shape.state);
        if state == constants.state_invalid || state == constants.state_inactive {
            return false;
        }
        // The objects of the pools are never used for anything but messages.
        let possible = (state == constants.state_active || state == constants.state_cancelled)
            && record.uint(shape.kind) == constants.kind_pml
            && kinds.contains(&record.uint(shape.pml_kind));
        self.impossible += u64::from(!possible);
        possible
    }

    /// What a persistent request that is not active would start; `None` for any other.
    pub fn inactive(&mut self, record: &Record<'_>) -> Option<Decoded> {
        let (shape, constants) = (&self.cm.request, &self.constants);
        let is_inactive = record.uint(shape.state) == constants.state_inactive
            && record.uint(shape.persistent) != 0
            && record.uint(shape.kind) == constants.kind_pml
            && record.uint(shape.free_called) == 0;
        let kind = record.uint(shape.pml_kind);
        match (is_inactive, kind == self.cm.send_heavy, kind == self.cm.receive_heavy) {
            (true, true, _) => {
                let mut operation = self.common(record);
                self.heavy_send(record, &mut operation);
                self.finish_send(record, &mut operation);
                Some(self.decoded(record, u64::MAX, None, operation))
            }
            (true, _, true) => {
                let mut operation = self.common(record);
                self.heavy_receive(record, &mut operation);
                operation.call = Some(Cow::Borrowed("MPI_Recv_init"));
                Some(self.decoded(record, u64::MAX, None, operation))
            }
            _ => None,
        }
    }

    /// The send that a request stands for; `None` for one that is not in use. One that waits for an answer is shown to `waits`
    /// with the mtl's request.
    pub fn send(&mut self, record: &Record<'_>, waits: &mut impl FnMut(TargetAddr)) -> Option<Decoded> {
        let cm = self.cm;
        if !self.in_use(record, [cm.send_heavy, cm.send_thin]) {
            return None;
        }
        let shape = &cm.request;
        let heavy = record.uint(shape.pml_kind) == cm.send_heavy;
        let mut operation = self.common(record);
        let mtl = if heavy { cm.heavy_send.mtl } else { cm.thin_send.mtl };
        waits(record.address_of(mtl));
        let mut peer = None;
        if heavy {
            self.heavy_send(record, &mut operation);
        } else if let Some((bits, answer)) = self
            .network
            .as_ref()
            .ok()
            .and_then(|network| Some((network.bits, network.answers.get(&record.address_of(mtl))?)))
        {
            self.tagged(bits.tag(answer.word), &mut operation);
            peer = answer.source.address();
            operation.evidence = Some(ANSWERED.into());
        } else {
            for fact in PEER.into_iter().chain(["desired_tag"]) {
                operation.not_known(fact, NOT_OF_SENDS);
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
        Some(self.decoded(record, 0, peer, operation))
    }

    /// Fills in what only persistent and buffered sends keep.
    fn heavy_send(&self, record: &Record<'_>, operation: &mut Operation) {
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
    fn finish_send(&self, record: &Record<'_>, operation: &mut Operation) {
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

    /// The receive that a request stands for; `None` for one that is not in use. What waits is shown to `waits` with the mtl's
    /// request.
    pub fn receive(&mut self, record: &Record<'_>, waits: &mut impl FnMut(TargetAddr)) -> Option<Decoded> {
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
                waits(at);
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

    fn heavy_receive(&self, record: &Record<'_>, operation: &mut Operation) {
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
                (operation.datatype, operation.count) = (datatype.name, Some(count));
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
        Ok(Decoded { comm: kept.comm, order: waiting.order + 1, peer, operation })
    }

    /// A synchronous send that waits for its answer and that no request of the pools is of: a blocking one.
    pub fn blocking_send(&self, network: &Network, at: TargetAddr, answer: &Answer, comm: TargetAddr) -> Decoded {
        let mut operation = Operation::default();
        self.tagged(network.bits.tag(answer.word), &mut operation);
        operation.actual_tag = operation.desired_tag;
        match network.kept(self.target, at) {
            Ok(kept) => operation.desired_length = Some(kept.length),
            Err(reason) => operation.not_known("desired_length", reason.to_string()),
        }
        operation.actual_length = operation.desired_length;
        for fact in ["buffer", "datatype", "count"] {
            operation.not_known(fact, NOT_OF_STACKS);
        }
        operation.extra_text.extend(SendMode::Synchronous.remark());
        operation.evidence = Some(ANSWERED.into());
        Decoded { comm, order: 1, peer: answer.source.address(), operation }
    }

    /// The tag of an operation; negative ones are the library's.
    fn tagged(&self, tag: i64, operation: &mut Operation) {
        operation.desired_tag = Some(tag);
        if tag < 0 {
            operation.internal = true;
            operation.extra_text.push(self.tags.describe(tag));
        }
    }

    /// What the tag of a message tells, by itself.
    pub fn of_tag(&self, tag: i64) -> (bool, Vec<Remark>) {
        if tag < 0 { (true, vec![self.tags.describe(tag)]) } else { (false, Vec::new()) }
    }

    fn common(&mut self, record: &Record<'_>) -> Operation {
        let shape = &self.cm.request;
        let count = record.uint(shape.count);
        let datatype = self.datatypes.of(record.pointer(shape.datatype));
        Operation {
            persistent: record.uint(shape.persistent) != 0,
            buffer: Some(record.uint(shape.buffer)),
            count: Some(count),
            desired_length: datatype.bytes.and_then(|bytes| bytes.checked_mul(count)),
            datatype: datatype.name,
            request: Some(record.addr.get()),
            evidence: Some(KEPT.into()),
            ..Operation::default()
        }
    }

    fn decoded(&self, record: &Record<'_>, order: u64, peer: Option<u64>, operation: Operation) -> Decoded {
        Decoded { comm: record.pointer(self.cm.request.comm), order, peer, operation }
    }
}

/// Gives an operation the rank in its communicator of the process that it is with.
pub fn give_rank(
    network: Option<&Network>,
    found: &Found,
    peer: Option<u64>,
    is_send: bool,
    operation: &mut Operation,
) {
    let Some(address) = peer else { return };
    let rank = network.and_then(|network| found.local_rank(network.rank(address)?));
    operation.desired_local_rank = rank;
    if is_send {
        operation.actual_local_rank = rank;
    }
    if rank.is_none() {
        for fact in PEER {
            operation.not_known(fact, NO_RANK);
        }
    }
}
