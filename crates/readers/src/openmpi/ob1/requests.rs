//! Pending sends and receives from the requests of the pml ob1.

use std::borrow::Cow;

use super::shapes::Ob1Shapes;
use crate::openmpi::assembly::Requests;
use crate::openmpi::requests::{COMPLETED, Datatypes, RequestConstants};
use crate::openmpi::shapes::Shapes;
use crate::openmpi::tags::InternalTags;
use crate::record::Record;
use crate::send_mode::SendMode;
use layouts::{LayoutError, Layouts};
use model::{Operation, OperationStatus, QueueKind, Remark};
use target::Target;
use target::address::TargetAddr;

/// An operation with what is needed to sort it into its communicator's queue.
pub struct Decoded {
    /// The request object.
    pub request: TargetAddr,
    /// The communicator object.
    pub comm: TargetAddr,
    /// The datatype object.
    pub datatype: TargetAddr,
    /// The peer's rank in the communicator as the request holds it.
    pub peer: i64,
    /// ob1's number of the operation: among the communicator's receives, or among the sends to that peer.
    pub sequence: u64,
    /// Whether it waits in a list of posted receives.
    pub posted: bool,
    /// Its facts; world ranks are still missing.
    pub operation: Operation,
}

/// Decodes requests and remembers the datatypes.
pub struct Decoder<'a> {
    shapes: &'a Shapes,
    ob1: &'a Ob1Shapes,
    constants: RequestConstants,
    tags: &'a InternalTags,
    datatypes: Datatypes<'a>,
    /// Requests in a state that does not exist: damage.
    impossible: u64,
}

impl<'a> Decoder<'a> {
    /// A decoder for the release that `layouts` describes.
    ///
    /// # Errors
    /// Where a constant is not known.
    pub fn new(
        target: &'a dyn Target,
        shapes: &'a Shapes,
        ob1: &'a Ob1Shapes,
        layouts: &Layouts,
        tags: &'a InternalTags,
    ) -> Result<Self, LayoutError> {
        Ok(Self {
            shapes,
            ob1,
            constants: RequestConstants::resolve(layouts)?,
            tags,
            datatypes: Datatypes::new(target, shapes),
            impossible: 0,
        })
    }

    /// Whether a request is in use: free objects of the pool and inactive persistent requests are not.
    fn in_use(&mut self, record: &Record<'_>) -> bool {
        let (shape, constants) = (&self.ob1.request, &self.constants);
        let state = record.uint(shape.state);
        if state == constants.state_invalid || state == constants.state_inactive {
            return false;
        }
        // The objects of the pools are never used for anything but messages.
        let possible = state == constants.state_active || state == constants.state_cancelled;
        let possible = possible && record.uint(shape.kind) == constants.kind_pml;
        self.impossible += u64::from(!possible);
        possible
    }

    /// The send that a request stands for; `None` for one that is not in use.
    fn send(&mut self, record: &Record<'_>) -> Option<Decoded> {
        if !self.in_use(record) {
            return None;
        }
        if record.uint(self.ob1.request.pml_kind) != self.constants.pml_send {
            self.impossible += 1;
            return None;
        }
        Some(self.any_send(record))
    }

    /// The send that a request stands for or, as a persistent one that is not active, would start.
    pub fn any_send(&mut self, record: &Record<'_>) -> Decoded {
        let (ob1, shape) = (self.ob1, &self.ob1.request);
        let mut operation = self.common(record);
        let peer = record.int(shape.peer);
        let mode = self.mode(record);
        let buffered = mode == Some(SendMode::Buffered);
        let left_alone = record.uint(shape.free_called) != 0;
        let transferred = record.uint(shape.pml_complete) != 0;
        let complete = record.uint(shape.complete) == COMPLETED;
        // A buffered send is complete for MPI at once, and so is nothing for the peer; a request that the
        // application has freed while it was active lives on until its data has gone.
        operation.status = if complete && (transferred || !(buffered || left_alone)) {
            OperationStatus::Complete
        } else if !operation.persistent && !record.pointer(ob1.send.peer_request).is_null() {
            // The receiver has answered with its own request. (A restarted persistent request still holds the answer
            // of its last run, so it does not count there.)
            OperationStatus::Matched
        } else {
            OperationStatus::Pending
        };
        let data = record.pointer(ob1.base_send.data);
        operation.system_buffer = data.get() != operation.buffer.unwrap_or_default();
        operation.buffer = Some(data.get());
        let bytes = record.uint(ob1.base_send.bytes);
        operation.desired_length = Some(bytes);
        operation.desired_local_rank = Some(peer);
        operation.desired_tag = Some(record.int(shape.tag));
        operation.actual_local_rank = Some(peer);
        operation.actual_tag = operation.desired_tag;
        operation.actual_length = Some(bytes);
        if let Some(mode) = mode {
            operation.call = operation.persistent.then_some(Cow::Borrowed(mode.init()));
            operation.extra_text.extend(mode.remark());
        }
        if left_alone {
            operation.extra_text.push(Remark::RequestFreed);
        }
        self.decoded(record, peer, false, operation)
    }

    /// The mode of a send; `None` for a number that no mode has.
    pub fn mode(&self, record: &Record<'_>) -> Option<SendMode> {
        self.constants.mode(record.uint(self.ob1.base_send.mode))
    }

    /// The receive that a request stands for; `None` for one that is not in use.
    pub fn receive(&mut self, record: &Record<'_>) -> Option<Decoded> {
        if !self.in_use(record) {
            return None;
        }
        let found = self.any_receive(record);
        self.impossible += u64::from(found.is_none());
        found
    }

    /// The receive or probe that a request stands for or, as a persistent one that is not active, would start; `None` where
    /// it is of a sort that does not exist.
    pub fn any_receive(&mut self, record: &Record<'_>) -> Option<Decoded> {
        let (ob1, shape) = (self.ob1, &self.ob1.request);
        let kind = record.uint(shape.pml_kind);
        let constants = &self.constants;
        let mprobe = kind == constants.pml_mprobe || kind == constants.pml_improbe;
        let (probe, asks_once) = (kind == constants.pml_probe, kind == constants.pml_improbe);
        if kind != constants.pml_receive && !mprobe && !probe {
            return None;
        }
        let (any_source, any_tag) = (self.shapes.constants.any_source, self.shapes.constants.any_tag);
        let mut operation = self.common(record);
        let (peer, tag) = (record.int(shape.peer), record.int(shape.tag));
        operation.any_source = peer == any_source;
        operation.tag_wild = tag == any_tag;
        operation.desired_local_rank = (peer != any_source).then_some(peer);
        operation.desired_tag = (tag != any_tag).then_some(tag);
        let complete = record.uint(shape.complete) == COMPLETED;
        let matched = record.uint(ob1.receive.matched) != 0;
        operation.status = match (complete, matched) {
            (true, _) => OperationStatus::Complete,
            (false, true) => OperationStatus::Matched,
            (false, false) => OperationStatus::Pending,
        };
        if operation.status != OperationStatus::Pending {
            let length = if complete { record.uint(shape.status_bytes) } else { record.uint(ob1.base_receive.bytes) };
            operation.actual_local_rank = Some(record.int(shape.status_source));
            operation.actual_tag = Some(record.int(shape.status_tag));
            operation.actual_length = Some(length);
        }
        if complete && record.uint(shape.cancelled) != 0 {
            operation.extra_text.push(Remark::Cancelled);
            (operation.actual_local_rank, operation.actual_tag, operation.actual_length) = (None, None, None);
        }
        let error = record.int(shape.status_error);
        if complete && error != 0 {
            // Truncation, or a peer that died (MPI_ERR_TRUNCATE, MPI_ERR_PROC_FAILED; ompi/request/req_ft.c, v5.0.7).
            operation.extra_text.push(Remark::ErrorCode(error));
        }
        if record.uint(shape.free_called) != 0 {
            operation.extra_text.push(Remark::RequestFreed);
        }
        if operation.persistent {
            operation.call = Some(Cow::Borrowed("MPI_Recv_init"));
        }
        if probe || mprobe {
            self.describe_probe(&mut operation, mprobe, complete);
        }
        // MPI_Improbe asks once and waits in no list (mca_pml_ob1_recv_req_start, v4.1.4 and v5.0.7).
        let posted = !complete && !matched && !asks_once;
        Some(self.decoded(record, peer, posted, operation))
    }

    /// A probe waits for a message but receives nothing: it has no buffer.
    fn describe_probe(&self, operation: &mut Operation, mprobe: bool, complete: bool) {
        operation.extra_text.push(if mprobe && complete { Remark::MatchedMessage } else { Remark::Probe });
        if !mprobe {
            operation.call = Some(Cow::Borrowed("MPI_Probe"));
        } else if complete {
            operation.status = OperationStatus::Matched;
        } else {
            operation.call = Some(Cow::Borrowed("MPI_Mprobe"));
        }
        (operation.buffer, operation.datatype, operation.count, operation.desired_length) = (None, None, None, None);
    }

    fn common(&mut self, record: &Record<'_>) -> Operation {
        let shape = &self.ob1.request;
        let tag = record.int(shape.tag);
        let count = record.uint(shape.count);
        let datatype = self.datatypes.of(record.pointer(shape.datatype));
        let internal = tag < 0 && tag != self.shapes.constants.any_tag;
        Operation {
            internal,
            persistent: record.uint(shape.persistent) != 0,
            buffer: Some(record.uint(shape.buffer)),
            count: Some(count),
            desired_length: datatype.bytes.and_then(|bytes| bytes.checked_mul(count)),
            datatype: datatype.name.map(Into::into),
            request: Some(record.addr.get()),
            extra_text: if internal { vec![self.tags.describe(tag)] } else { Vec::new() },
            ..Operation::default()
        }
    }

    fn decoded(&self, record: &Record<'_>, peer: i64, posted: bool, operation: Operation) -> Decoded {
        let shape = &self.ob1.request;
        Decoded {
            request: record.addr,
            comm: record.pointer(shape.comm),
            datatype: record.pointer(shape.datatype),
            peer,
            sequence: record.uint(shape.sequence),
            posted,
            operation,
        }
    }
}

impl Requests for Decoder<'_> {
    type Decoded = Decoded;

    fn size(&self, queue: QueueKind) -> usize {
        if queue == QueueKind::PendingSends { self.ob1.send.size } else { self.ob1.receive.size }
    }

    fn inactive(&mut self, record: &Record<'_>) -> Option<Decoded> {
        let (shape, constants) = (&self.ob1.request, &self.constants);
        let is_inactive = record.uint(shape.state) == constants.state_inactive
            && record.uint(shape.persistent) != 0
            && record.uint(shape.kind) == constants.kind_pml
            && record.uint(shape.free_called) == 0;
        if !is_inactive {
            return None;
        }
        let mut decoded = if record.uint(shape.pml_kind) == constants.pml_send {
            self.any_send(record)
        } else {
            self.any_receive(record)?
        };
        // Of its last run, if there was one.
        let operation = &mut decoded.operation;
        operation.status = OperationStatus::Pending;
        (operation.actual_local_rank, operation.actual_tag, operation.actual_length) = (None, None, None);
        operation.extra_text.retain(|remark| !matches!(remark, Remark::ErrorCode(_) | Remark::Cancelled));
        Some(decoded)
    }

    fn active(&mut self, queue: QueueKind, record: &Record<'_>) -> Option<Decoded> {
        if queue == QueueKind::PendingSends { self.send(record) } else { self.receive(record) }
    }

    fn take_impossible(&mut self) -> u64 {
        std::mem::take(&mut self.impossible)
    }
}
