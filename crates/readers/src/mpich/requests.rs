//! MPICH's requests: every object of the pools that is in use, each read once.

use super::communicators::Communicators;
use super::handle_value::{HandleValue, ObjectKind, Place};
use super::pools::{Block, Pools};
use crate::add_problem;
use crate::record::{Record, Slot, shapes};
use layouts::{LayoutError, Layouts};
use model::OperationStatus;
use target::address::TargetAddr;
use target::{Target, TargetError, fit};

shapes! {
    /// A request (pmodels/mpich, src/include/mpir_request.h, v3.4 to v5.0).
    RequestShape = ["MPIR_Request"] {
        handle: "handle",
        references: "ref_count",
        kind: "kind",
        counter: "cc_ptr",
        own_counter: "cc",
        comm: "comm",
        source: "status.MPI_SOURCE",
        tag: "status.MPI_TAG",
        error: "status.MPI_ERROR",
        real_request: "u.persist.real_request",
    } optional {
        next: "next",
        prev: "prev",
        count_low: "status.count_lo",
        count_high: "status.count_hi_and_cancelled",
        active_partitions: "u.part.active_flag",
        is_local: "dev.is_local",
        device_type: "dev.type",
        partner: "dev.anysrc_partner",
        old_partner: "dev.anysource_partner_request",
    };
}

/// What a request is for (`MPIR_Request_kind_t`); the numbers differ between releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Send,
    Receive,
    PersistentSend,
    PersistentReceive,
    PersistentCollective,
    PartitionedSend,
    PartitionedReceive,
    Partition,
    Generalized,
    Collective,
    MatchedProbe,
    Rma,
    Other,
}

/// The numbers of the kinds in one release.
#[derive(Debug, Clone)]
pub struct Kinds(Vec<(i64, Kind)>);

impl Kinds {
    /// Those that the layouts name; a release does not have all.
    ///
    /// # Errors
    /// Where not even sends and receives have a number.
    pub fn resolve(layouts: &Layouts) -> Result<Self, LayoutError> {
        let mut known = vec![
            (layouts.constant("MPIR_REQUEST_KIND__SEND")?, Kind::Send),
            (layouts.constant("MPIR_REQUEST_KIND__RECV")?, Kind::Receive),
        ];
        let others = [
            ("PREQUEST_SEND", Kind::PersistentSend),
            ("PREQUEST_RECV", Kind::PersistentReceive),
            ("PREQUEST_COLL", Kind::PersistentCollective),
            ("PART_SEND", Kind::PartitionedSend),
            ("PART_RECV", Kind::PartitionedReceive),
            ("PART", Kind::Partition),
            ("GREQUEST", Kind::Generalized),
            ("COLL", Kind::Collective),
            ("MPROBE", Kind::MatchedProbe),
            ("RMA", Kind::Rma),
        ];
        for (name, kind) in others {
            known.extend(layouts.constant(&format!("MPIR_REQUEST_KIND__{name}")).ok().map(|number| (number, kind)));
        }
        Ok(Self(known))
    }

    /// The kind with that number.
    pub fn of(&self, number: i64) -> Kind {
        self.0.iter().find(|(known, _)| *known == number).map_or(Kind::Other, |(_, kind)| *kind)
    }
}

/// One request in use.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Its address.
    pub at: TargetAddr,
    /// Its handle.
    pub value: HandleValue,
    /// What it is for.
    pub kind: Kind,
    /// What is left to be done until it is complete (`*cc_ptr`).
    pub counter: u64,
    /// Its communicator by its place in [`Communicators::found`]; `None` where it names none.
    pub comm: Option<usize>,
    /// The whole structure `MPIR_Request`.
    pub record: Record<'a>,
    /// Where its members lie.
    pub shape: &'a RequestShape,
}

impl Request<'_> {
    /// Whether it is complete.
    pub fn complete(&self) -> bool {
        self.counter == 0
    }

    /// Whether it is complete or not; whether it was matched is not known here.
    pub fn status(&self) -> OperationStatus {
        if self.complete() { OperationStatus::Complete } else { OperationStatus::Pending }
    }

    /// A member where the release has it.
    pub fn maybe(&self, slot: Option<Slot>) -> Option<u64> {
        slot.map(|slot| self.record.uint(slot))
    }

    /// A receive from any source has a request at the network and one at the shared memory, which name each other: the other
    /// one.
    pub fn partner(&self) -> Option<TargetAddr> {
        let partner = self.maybe(self.shape.partner.or(self.shape.old_partner))?;
        (partner != 0).then(|| TargetAddr::new(partner))
    }

    /// The bytes that were received, from the status of a complete request.
    pub fn received(&self) -> Option<u64> {
        let (low, high) = (self.maybe(self.shape.count_low)?, self.maybe(self.shape.count_high)?);
        // The lowest bit of the upper half says whether it was cancelled (MPIR_STATUS_GET_COUNT, src/include/mpir_status.h).
        Some((high >> 1) << 32 | low)
    }

    /// Whether it was cancelled.
    pub fn cancelled(&self) -> bool {
        self.maybe(self.shape.count_high).is_some_and(|high| high & 1 == 1)
    }
}

/// Bytes that are read together.
const CHUNK: u64 = 1 << 20;

/// Why the pass over the requests is not whole.
#[derive(Debug, Default)]
pub struct Pass {
    /// What could not be read, in sentences.
    pub problems: Vec<String>,
    /// Whether the visitor stopped the pass.
    pub stopped: bool,
    /// Sends and receives in use that name a communicator that cannot be read, and requests of no kind there is, which may
    /// be either: they are in no queue.
    pub dropped_sends: u64,
    /// As `dropped_sends`, of receives.
    pub dropped_receives: u64,
}

/// Numbers of kinds are below this in every release.
const MAX_KINDS: i64 = 64;

impl Pass {
    /// Whether it cannot be told what a request is, or whose; it is then counted and told.
    fn drops(&mut self, request: &Request<'_>) -> bool {
        let number = request.record.int(request.shape.kind);
        let unplaced = request.comm.is_none() && !request.record.pointer(request.shape.comm).is_null();
        let (sends, receives) = match request.kind {
            Kind::Send | Kind::PersistentSend => (unplaced, false),
            Kind::Receive | Kind::PersistentReceive | Kind::MatchedProbe => (false, unplaced),
            Kind::Other => (!(0..MAX_KINDS).contains(&number), !(0..MAX_KINDS).contains(&number)),
            _ => (false, false),
        };
        self.dropped_sends += u64::from(sends);
        self.dropped_receives += u64::from(receives);
        if sends && receives {
            add_problem(&mut self.problems, format!("the request at {} is of a kind that does not exist", request.at));
        }
        sends || receives
    }
}

/// Shows every request in use to `visit`, which returns whether it wants more.
///
/// # Errors
/// Where the process is gone; other damage is told in what is returned.
pub fn walk(
    target: &dyn Target,
    shape: &RequestShape,
    kinds: &Kinds,
    pools: &Pools,
    next_offset: u64,
    communicators: &Communicators,
    mut visit: impl FnMut(&Request<'_>) -> bool,
) -> Result<Pass, TargetError> {
    let mut pass = Pass::default();
    let mut buffer = Vec::new();
    for pool in pools.of(ObjectKind::Request).filter(|pool| pool.verified && pool.head.initialized) {
        let (free, broken) = pool.free(target, next_offset);
        broken.into_iter().for_each(|problem| add_problem(&mut pass.problems, problem));
        let blocks = pool.blocks(target, &mut |problem| add_problem(&mut pass.problems, problem));
        for Block { at, count, stride, .. } in blocks {
            let step = (CHUNK / stride).max(1);
            for first in (0..count).step_by(usize::try_from(step).unwrap_or(1)) {
                let here = step.min(count - first);
                let start = at.wrapping_add(first * stride);
                let bytes = usize::try_from(here.saturating_mul(stride)).unwrap_or(usize::MAX);
                match fit(&mut buffer, bytes).and_then(|()| target.read_once(start, &mut buffer)) {
                    Ok(()) => {}
                    Err(TargetError::Gone) => return Err(TargetError::Gone),
                    Err(error) => {
                        add_problem(&mut pass.problems, format!("{here} requests from {start} on: {error}"));
                        continue;
                    }
                }
                for (index, bytes) in (0..here).zip(buffer.chunks_exact(usize::try_from(stride).unwrap_or(1))) {
                    let at = start.wrapping_add(index * stride);
                    if free.contains(&at) {
                        continue;
                    }
                    let record = Record::new(at, bytes, target.abi());
                    match in_use(target, shape, kinds, communicators, record) {
                        Ok(Some(request)) if pass.drops(&request) => {}
                        Ok(Some(request)) if !visit(&request) => {
                            pass.stopped = true;
                            return Ok(pass);
                        }
                        Ok(_) => {}
                        Err(TargetError::Gone) => return Err(TargetError::Gone),
                        Err(error) => add_problem(&mut pass.problems, format!("the request at {at}: {error}")),
                    }
                }
            }
        }
    }
    Ok(pass)
}

/// The request of a record; `None` for an object that is not in use.
///
/// # Errors
/// Where its counter cannot be read.
pub fn in_use<'a>(
    target: &dyn Target,
    shape: &'a RequestShape,
    kinds: &Kinds,
    communicators: &Communicators,
    record: Record<'a>,
) -> Result<Option<Request<'a>>, TargetError> {
    let value = HandleValue(u32::try_from(record.uint(shape.handle)).unwrap_or(0));
    let named = value.kind() == Some(ObjectKind::Request) && matches!(value.place(), Place::Direct | Place::Indirect);
    // An object that is not free has references; one that is being made may have none yet.
    if !named || record.int(shape.references) <= 0 {
        return Ok(None);
    }
    let counter = match record.pointer(shape.counter) {
        own if own == record.address_of(shape.own_counter) => record.uint(shape.own_counter),
        other => target.read_uint(other, shape.own_counter.size as u64)?,
    };
    let comm = communicators.at(record.pointer(shape.comm));
    let kind = kinds.of(record.int(shape.kind));
    Ok(Some(Request { at: record.addr, value, kind, counter, comm, record, shape }))
}
