//! What UCX's requests, and the pml's behind them, say of an operation.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::data::no_datatype;
use super::persistent::Persistent;
use super::places::{Endpoints, Places};
use super::role::Role;
use super::shapes::UcxShapes;
use super::tag;
use crate::openmpi::requests::{Datatypes, KnownDatatype};
use crate::openmpi::shapes::Shapes;
use crate::openmpi::tags::InternalTags;
use crate::record::{Record, Slot};
use crate::send_mode::SendMode;
use crate::ucx::{Flags, More, Native, Sample, Workers};
use model::{Operation, OperationStatus, Remark, Unknown};
use target::Target;
use target::address::TargetAddr;

/// How operations were found that no list of Open MPI's has.
const OF_RECEIVE: &str =
    "in UCX's request; its tag, mask and worker agree with the communicator, and UCX's lists tell whether it waits";
const OF_SEND: &str =
    "in UCX's request; its tag has this process's rank and the communicator, its connection is that of the peer";
const OF_SEND_ALONE: &str = "in UCX's request; its tag has this process's rank and the communicator";
const ON_STACK: &str = "on the stack of the thread that sends, where nothing leads to it: its tag has this process's \
    rank and the \
                        communicator, its connection is that of the peer";

/// `MCA_COLL_BASE_TAG_NEIGHBOR_BASE` has more bits than the pml sends (ompi/mca/coll/base/coll_tags.h, v4.1.4 and v5.0.10).
const NEIGHBOURS: &str =
    "the program's own, or part of a neighbourhood collective: of such a tag only the lowest bits travel";
const ONLY_THE_MESSAGE: &str = "UCX completed it at once and keeps only the message that was received";

/// Facts of a peer.
const PEER: [&str; 3] = ["desired_local_rank", "desired_global_rank", "desired_tag"];

/// An operation, with what is needed to sort it into its communicator's queue.
pub struct Decoded {
    /// The communicator, by its place.
    pub comm: usize,
    /// UCX's number of a receive.
    pub order: u64,
    /// Of a receive that is not complete: where UCX links it to others.
    pub link: Option<TargetAddr>,
    /// What such a receive was matched with, if it was: what that is matched by, and its length.
    pub sender: Option<(u64, u64)>,
    /// Its facts; world ranks are still missing. They are large: so they are moved only once.
    pub operation: Box<Operation>,
    /// Whether it is a send.
    pub sends: bool,
    /// The mode of a send, as far as it is known: UCX knows no ready ones.
    pub mode: Option<SendMode>,
    /// The datatype object, where it is known.
    pub datatype: TargetAddr,
}

impl Decoded {
    /// Says of a receive that waits in no list that it has its message.
    pub fn set_matched(&mut self) {
        if self.operation.status == OperationStatus::Pending {
            self.operation.status = OperationStatus::Matched;
            if let Some((word, length)) = self.sender {
                matched_with(word, length, &mut self.operation);
            }
        }
    }
}

/// Decodes requests.
pub struct Decoder<'a> {
    /// The process.
    pub target: &'a dyn Target,
    /// Structures of UCX, and the worker.
    pub workers: &'a Workers,
    /// Structures of the pml.
    pub ucx: &'a UcxShapes,
    /// All communicators.
    pub places: &'a Places,
    /// To whom connections lead.
    pub endpoints: &'a Endpoints<'a>,
    /// The class of what packs data, where a symbol tells it.
    pub(super) convertor: Option<TargetAddr>,
    tags: &'a InternalTags,
    pub(super) datatypes: Datatypes<'a>,
    /// Why no datatype is known of data that lies in one piece: of nearly all.
    pub(super) no_datatype: Unknown,
    pub(super) protocols: HashMap<TargetAddr, Option<u64>>,
    /// Persistent requests by the request that UCX has for them.
    pub active: HashMap<TargetAddr, Persistent>,
    /// Requests of communicators that are not here any more, by their numbers.
    pub orphans: BTreeMap<u64, u64>,
    /// Requests that make no sense: damage.
    pub impossible: u64,
}

impl<'a> Decoder<'a> {
    /// A decoder for one worker.
    pub fn new(
        target: &'a dyn Target,
        shapes: &'a Shapes,
        ucx: &'a UcxShapes,
        workers: &'a Workers,
        places: &'a Places,
        endpoints: &'a Endpoints<'a>,
        tags: &'a InternalTags,
    ) -> Self {
        let convertor = target.symbol("mca_pml_ucx_convertor_t_class").ok().flatten().map(|symbol| symbol.addr);
        Self {
            target,
            workers,
            ucx,
            places,
            endpoints,
            convertor,
            tags,
            datatypes: Datatypes::new(target, shapes),
            no_datatype: no_datatype(),
            protocols: HashMap::new(),
            active: HashMap::new(),
            orphans: BTreeMap::new(),
            impossible: 0,
        }
    }

    /// A request of the pool that is in use: `None` where it is UCX's own, or makes no sense.
    pub fn pooled(&mut self, record: &Record<'_>) -> Option<(Role, Decoded)> {
        let flags = Flags::of(&self.workers.layout, record);
        let role = self.role(flags, record)?;
        let decoded = match role {
            Role::Receive if flags.called_back() => self.receive(record, flags, true),
            Role::Receive if flags.completed() => self.received(record),
            // The pml gives a function to be called to all that it has from the pool.
            Role::Send(_) if flags.called_back() => self.send(record, flags, role, true),
            _ => None,
        };
        decoded.map(|decoded| (role, decoded))
    }

    /// A member of the pml's request, which follows UCX's.
    fn behind(&self, slot: Slot) -> Slot {
        Slot { offset: slot.offset + self.workers.layout.request.size, ..slot }
    }

    /// A receive, of the pool or on a stack.
    pub fn receive(&mut self, record: &Record<'_>, flags: Flags, pooled: bool) -> Option<Decoded> {
        let native = Native::of(&self.workers.layout, record, true)?;
        let (Sample::Receive(word, mask), Some(more)) = (native.sample, native.more) else { return None };
        let fits = self.workers.at.contains(&more.owner);
        let Some((comm, open)) = self.places.receives(word, mask).filter(|_| fits) else {
            self.lost(fits && tag::open(mask).is_some(), word);
            return None;
        };
        // There may be a hundred thousand of these: each is made where it stays.
        let mut operation = Box::<Operation>::default();
        (operation.any_source, operation.tag_wild) = (open.any_source, open.any_tag);
        operation.desired_local_rank = (!open.any_source).then(|| tag::rank(word));
        operation.desired_tag = (!open.any_tag).then(|| tag::tag(word));
        operation.evidence = Some(OF_RECEIVE.into());
        let datatype = self.data(more.data, &mut operation);
        if !open.any_tag {
            self.internal(comm, tag::tag(word), &mut operation);
        }
        let mut decoded = self.decoded(comm, &native, more, operation, datatype);
        if pooled {
            self.own_request(record, flags, &mut decoded);
        }
        if flags.completed() {
            decoded.link = None;
            self.complete(record, pooled, more.sender, &mut decoded.operation);
        }
        Some(decoded)
    }

    /// A receive that was complete at once: nothing but the message is filled in.
    fn received(&mut self, record: &Record<'_>) -> Option<Decoded> {
        let native = Native::of(&self.workers.layout, record, true)?;
        let more = native.more?;
        let (word, _) = more.sender;
        let Some(comm) = self.places.arrived(word) else {
            self.lost(true, word);
            return None;
        };
        let mut operation = Box::new(Operation { evidence: Some(OF_RECEIVE.into()), ..Operation::default() });
        for fact in PEER.into_iter().chain(["desired_length", "buffer", "datatype", "count"]) {
            operation.not_known(fact, ONLY_THE_MESSAGE);
        }
        self.internal(comm, tag::tag(word), &mut operation);
        let mut decoded = self.decoded(comm, &native, more, operation, TargetAddr::NULL);
        (decoded.link, decoded.order) = (None, 0);
        self.own_request(record, Flags::of(&self.workers.layout, record), &mut decoded);
        self.complete(record, true, more.sender, &mut decoded.operation);
        Some(decoded)
    }

    fn complete(&self, record: &Record<'_>, pooled: bool, (word, length): (u64, u64), operation: &mut Operation) {
        operation.status = OperationStatus::Complete;
        let behind = &self.ucx.behind;
        let cancelled = pooled && record.uint(self.behind(behind.cancelled)) != 0;
        if cancelled {
            operation.extra_text.push(Remark::Cancelled);
            return;
        }
        matched_with(word, length, operation);
        if pooled {
            operation.actual_length = Some(record.uint(self.behind(behind.status_bytes)));
            let error = record.int(self.behind(behind.status_error));
            if error != 0 {
                operation.extra_text.push(Remark::ErrorCode(error));
            }
        }
    }

    /// A send, of the pool or on a stack. One that lies on a stack must lead to a peer: else chance may have made it.
    pub fn send(&mut self, record: &Record<'_>, flags: Flags, role: Role, pooled: bool) -> Option<Decoded> {
        let native = Native::of(&self.workers.layout, record, false)?;
        let (Sample::Send(word), Some(more)) = (native.sample, native.more) else { return None };
        let fits = self.endpoints.is_ours(more.owner);
        let Some(comm) = self.places.sends(word).filter(|_| fits) else {
            if pooled {
                self.lost(fits, word);
            }
            return None;
        };
        let peer = self.endpoints.rank(self.places, comm, more.owner);
        if peer.is_none() && !pooled {
            return None;
        }
        let evidence = match (pooled, peer) {
            (false, _) => ON_STACK,
            (true, Some(_)) => OF_SEND,
            (true, None) => OF_SEND_ALONE,
        };
        let mut operation = Box::new(Operation {
            desired_local_rank: peer,
            desired_tag: Some(tag::tag(word)),
            evidence: Some(evidence.into()),
            ..Operation::default()
        });
        if peer.is_none() {
            let reason = format!(
                "UCX sends it over the connection {}, which no process of the group has any \
                    longer",
                more.owner
            );
            operation.not_known("desired_local_rank", reason.clone());
            operation.not_known("desired_global_rank", reason);
        }
        let datatype = self.data(more.data, &mut operation);
        self.internal(comm, tag::tag(word), &mut operation);
        let mut decoded = self.decoded(comm, &native, more, operation, datatype);
        decoded.mode = match role {
            Role::Send(true) => Some(SendMode::Synchronous),
            _ => None,
        };
        decoded.link = None;
        if pooled {
            self.own_request(record, flags, &mut decoded);
            let packed = record.pointer(self.behind(self.ucx.behind.called_with));
            // A buffered send keeps the address of its copy, to free it (`mca_pml_ucx_bsend`, pml_ucx.c, v4.1.4 and v5.0.10).
            if !packed.is_null() && more.data.buffer == Some(packed) {
                decoded.mode = Some(SendMode::Buffered);
                decoded.operation.system_buffer = true;
                decoded.operation.request = None;
            }
        }
        let operation = &mut decoded.operation;
        operation.extra_text.extend(decoded.mode.and_then(SendMode::remark));
        if flags.completed() {
            operation.status = OperationStatus::Complete;
        }
        operation.actual_local_rank = operation.desired_local_rank;
        operation.actual_tag = operation.desired_tag;
        operation.actual_length = operation.desired_length;
        Some(decoded)
    }

    /// What the pml's request tells besides: whether it stands for a persistent one, whether it was freed.
    fn own_request(&self, record: &Record<'_>, flags: Flags, decoded: &mut Decoded) {
        let at = record.addr.wrapping_add(self.workers.layout.request.size as u64);
        let operation = &mut decoded.operation;
        operation.request = Some(at.get());
        if let Some(persistent) = self.active.get(&at) {
            persistent.put_into(operation);
            (decoded.datatype, decoded.mode) = (persistent.datatype, persistent.mode.or(decoded.mode));
        } else if flags.released() {
            operation.extra_text.push(Remark::RequestFreed);
        }
    }

    /// The name of a datatype.
    pub fn datatype(&mut self, at: TargetAddr) -> KnownDatatype {
        self.datatypes.of(at)
    }

    /// Says what an operation with such a tag, on the communicator at that place, belongs to.
    pub fn internal(&self, comm: usize, tag: i64, operation: &mut Operation) {
        if tag < 0 {
            operation.internal = true;
            operation.extra_text.push(self.tags.describe(tag));
        } else if self.places.has_topology(comm) && self.tags.may_be_of_neighbours(tag, tag::TAG_BITS) {
            operation.extra_text.push(Remark::Other(NEIGHBOURS.into()));
        }
    }

    fn decoded(
        &self,
        comm: usize,
        native: &Native,
        more: More,
        operation: Box<Operation>,
        datatype: TargetAddr,
    ) -> Decoded {
        let (order, link) = (native.sequence, Some(more.link));
        let sender = match native.sample {
            Sample::Receive(word, mask) if (more.sender.0 ^ word) & mask == 0 => Some(more.sender),
            _ => None,
        };
        let sends = !matches!(native.sample, Sample::Receive(..));
        Decoded { comm, order, link, sender, operation, sends, mode: None, datatype }
    }

    /// Counts a request that is of no communicator: one that was freed, where all else fits.
    fn lost(&mut self, fits: bool, word: u64) {
        let context = tag::context(word);
        if fits && !self.places.knows(context) {
            *self.orphans.entry(context).or_default() += 1;
        } else {
            self.impossible += 1;
        }
    }
}

/// Fills in which message a receive got.
pub fn matched_with(word: u64, length: u64, operation: &mut Operation) {
    operation.actual_local_rank = Some(tag::rank(word));
    operation.actual_tag = Some(tag::tag(word));
    operation.actual_length = Some(length);
}

/// The function that makes a persistent request.
pub fn init(mode: Option<SendMode>) -> Cow<'static, str> {
    Cow::Borrowed(mode.map_or("MPI_Recv_init", SendMode::init))
}
