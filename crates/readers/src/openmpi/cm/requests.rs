//! Sends and receives from the requests of the pml cm: what both have in common.

use super::network::Network;
use super::shapes::CmShapes;
use crate::libfabric::Number;
use crate::openmpi::assembly::Requests;
use crate::openmpi::communicators::Found;
use crate::openmpi::requests::{Datatypes, RequestConstants};
use crate::openmpi::shapes::Shapes;
use crate::openmpi::tags::InternalTags;
use crate::record::Record;
use layouts::{LayoutError, Layouts};
use model::{Operation, OperationStatus, QueueKind, Remark};
use std::borrow::Cow;
use std::collections::HashSet;
use target::address::TargetAddr;
use target::{Reason, Target};

const KEPT: &str = "in the request of Open MPI's pml cm";
pub(super) const NO_RANK: &str =
    "the process's address at libfabric is that of no process that Open MPI knows, or of none in the communicator";

/// An operation with what is needed to sort it into its communicator's queue.
pub struct Decoded {
    /// The communicator object.
    pub comm: TargetAddr,
    /// Its place among those of its queue; those of equal place stay as they were found.
    pub order: u64,
    /// The address of the process that it is with, which becomes a rank in the communicator.
    pub peer: Option<u64>,
    /// By what its message names it at the receiver.
    pub number: Option<Number>,
    /// Whether a send stands behind all to the same process that were posted before it.
    pub in_order: bool,
    /// Its facts; world ranks are still missing.
    pub operation: Operation,
}

/// Decodes requests and remembers the datatypes.
pub struct Decoder<'a> {
    pub(super) target: &'a dyn Target,
    pub(super) shapes: &'a Shapes,
    pub(super) cm: &'a CmShapes,
    pub(super) constants: RequestConstants,
    tags: &'a InternalTags,
    pub(super) datatypes: Datatypes<'a>,
    /// The mtl ofi, or why it is not read.
    pub(super) network: &'a Result<Network, Reason>,
    /// Requests in a state that does not exist: damage.
    impossible: u64,
    /// The mtl's requests of what is in the pools, but for receives that are on no list.
    pub(super) seen: HashSet<TargetAddr>,
    /// Sends that are complete and of which nothing else is kept.
    pub(super) forgotten: u64,
}

/// Who an operation is with.
pub(super) const PEER: [&str; 2] = ["desired_local_rank", "desired_global_rank"];

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
        Ok(Self {
            target,
            shapes,
            cm,
            constants,
            tags,
            datatypes,
            network,
            impossible: 0,
            seen: HashSet::new(),
            forgotten: 0,
        })
    }

    /// Whether a request is in use: free objects of the pool and inactive persistent requests are not.
    pub(super) fn in_use(&mut self, record: &Record<'_>, kinds: [u64; 2]) -> bool {
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

    /// The tag of an operation; negative ones are the library's.
    pub(super) fn tagged(&self, tag: i64, operation: &mut Operation) {
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

    pub(super) fn common(&mut self, record: &Record<'_>) -> Operation {
        let shape = &self.cm.request;
        let count = record.uint(shape.count);
        let datatype = self.datatypes.of(record.pointer(shape.datatype));
        Operation {
            persistent: record.uint(shape.persistent) != 0,
            buffer: Some(record.uint(shape.buffer)),
            count: Some(count),
            desired_length: datatype.bytes.and_then(|bytes| bytes.checked_mul(count)),
            datatype: datatype.name.map(Into::into),
            request: Some(record.addr.get()),
            evidence: Some(KEPT.into()),
            ..Operation::default()
        }
    }

    pub(super) fn decoded(&self, record: &Record<'_>, order: u64, peer: Option<u64>, operation: Operation) -> Decoded {
        Decoded { comm: record.pointer(self.cm.request.comm), order, peer, number: None, in_order: false, operation }
    }
}

impl Requests for Decoder<'_> {
    type Decoded = Decoded;

    fn size(&self, queue: QueueKind) -> usize {
        if queue == QueueKind::PendingSends { self.cm.heavy_send.size } else { self.cm.heavy_receive.size }
    }

    fn inactive(&mut self, record: &Record<'_>) -> Option<Decoded> {
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

    fn active(&mut self, queue: QueueKind, record: &Record<'_>) -> Option<Decoded> {
        if queue != QueueKind::PendingSends {
            return self.receive(record);
        }
        // Nothing tells the application's from those of the library's collectives.
        let send = self.send(record)?;
        let kept = send.operation.status != OperationStatus::Complete || send.operation.desired_tag.is_some();
        self.forgotten += u64::from(!kept);
        kept.then_some(send)
    }

    fn take_impossible(&mut self) -> u64 {
        std::mem::take(&mut self.impossible)
    }
}

/// The operation, with the rank in its communicator of the process that it is with.
pub fn with_rank(network: Option<&Network>, found: &Found, decoded: Decoded, is_send: bool) -> Operation {
    let Decoded { peer, number, mut operation, .. } = decoded;
    let world = peer.map(|address| network.and_then(|network| network.rank(address)));
    if let Some(world) = world {
        let rank = world.and_then(|world| found.local_rank(world));
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
    let named = || operation.desired_local_rank.and_then(|rank| found.world_rank(rank));
    let receiver = world.flatten().or_else(named);
    operation.library_request = number.and_then(|number| number.request(receiver));
    operation
}
