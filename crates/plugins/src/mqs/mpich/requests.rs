//! What a request says of itself beyond the plug-in's facts: status, datatype, context.
//!
//! Each device keeps these in another place of `MPIR_Request.dev`, which is a union. A place is believed only where
//! it repeats what the list says of the same operation.

use super::block::{Block, optional};
use super::communicators::Object;
use super::lists::Entry;
use layouts::{Field, Layouts};
use model::QueueKind;
use target::address::TargetAddr;
use target::{Reason, Target};

/// The names of the type, the newest first (`MPID_Request` up to 3.2).
pub const TYPES: [&str; 2] = ["MPIR_Request", "MPID_Request"];

/// Kinds of requests (`MPIR_Request_kind_t`, src/include/mpir_request.h, the same numbers from 3.0 to 5.0).
const KIND_PERSISTENT_SEND: u64 = 3;
const KIND_PERSISTENT_RECEIVE: u64 = 4;

/// Where one device keeps the facts of an operation.
#[derive(Default)]
struct Place {
    rank: Option<Field>,
    tag: Option<Field>,
    context: Option<Field>,
    buffer: Option<Field>,
    count: Option<Field>,
    datatype: Option<Field>,
    /// Bytes of a message that has arrived; `None`: the status has them.
    arrived: Option<Field>,
    /// Whether the status of a message that has arrived is filled in.
    has_status: bool,
    /// Where they lie.
    arrived_at: Option<Field>,
    /// Which sends write it. What others find there is of an earlier use of the request, and may be equal by chance.
    sends: Sends,
}

#[derive(Default, PartialEq, Eq)]
enum Sends {
    /// No send for certain: one of active messages does where it is large, or where it has to wait (`MPIDIG_isend_impl`,
    /// src/mpid/ch4/src/mpidig_send.h, v4.0.2 to v5.0.1; src/mpid/ch4/generic/am/mpidig_am_send.h, v3.4.3).
    #[default]
    Unsure,
    /// All (`MPIDI_Request_create_sreq`, src/mpid/ch3/include/mpidimpl.h).
    All,
    /// Those that wait in a communicator of one process (`MPIDI_Self_isend`, src/mpid/ch4/src/ch4_self.c).
    Waiting,
}

/// Where the fields of a request lie.
pub struct Fields {
    /// Size of a request, in bytes.
    pub size: u64,
    type_name: &'static str,
    kind: Option<Field>,
    counter: Field,
    counter_at: Option<Field>,
    comm: Option<Field>,
    real: Option<Field>,
    source: Option<Field>,
    tag: Option<Field>,
    count_low: Option<Field>,
    count_high: Option<Field>,
    places: Vec<Place>,
    /// Whether the device is ch4, and whether it uses shared memory within a node (`MPIDI_CH4_DIRECT_NETMOD` leaves
    /// `is_local` out).
    pub is_ch4: bool,
    /// See `is_ch4`.
    pub has_shared_memory: bool,
}

/// What a request says.
#[derive(Default)]
pub struct Facts {
    /// Whether it is complete.
    pub complete: bool,
    /// Whether it is persistent, and if so, whether it has been started.
    pub persistent: Option<bool>,
    /// Address of its communicator, where it keeps that.
    pub comm: Option<u64>,
    /// The C handle of its datatype.
    pub datatype: Option<u64>,
    /// Its context id, with the bit that marks collectives.
    pub context: Option<u64>,
    /// Bytes of a message that has arrived and that nobody has received.
    pub arrived: Option<u64>,
    /// Where they lie.
    pub arrived_at: Option<u64>,
    /// Where the data lies, and how many elements there are.
    pub data: Option<(u64, u64)>,
    /// Of a complete receive: source, tag and bytes.
    pub received: Option<(i64, i64, Option<u64>)>,
}

impl Fields {
    /// Resolves what the layouts have.
    pub fn resolve(layouts: &Layouts) -> Result<Self, Reason> {
        let named = |name: &&'static str| layouts.size_of(name).is_ok();
        let type_name = TYPES.into_iter().find(|name| named(name)).unwrap_or(TYPES[0]);
        let size = layouts.size_of(type_name)?;
        let of = |names: &[&str]| optional(layouts, type_name, names);
        // ch3 (src/mpid/ch3/include/mpidpre.h), ch4's active messages and messages to oneself (src/mpid/ch4/include/
        // mpidpre.h), and ofi's own (src/mpid/ch4/netmod/ofi/ofi_pre.h): 3.0 to 5.0.
        let ch3 = Place {
            rank: of(&["dev.match.parts.rank"]),
            tag: of(&["dev.match.parts.tag"]),
            context: of(&["dev.match.parts.context_id"]),
            buffer: of(&["dev.user_buf"]),
            count: of(&["dev.user_count"]),
            datatype: of(&["dev.datatype"]),
            // src/mpid/ch3/src/ch3u_eager.c, ch3u_rndv.c and mpidi_isend_self.c set the count, the last only that.
            has_status: true,
            sends: Sends::All,
            ..Place::default()
        };
        let active = Place {
            rank: of(&["dev.ch4.am.u.recv.source", "dev.ch4.am.rank", "status.MPI_SOURCE"]),
            tag: of(&["dev.ch4.am.u.recv.tag", "dev.ch4.am.tag", "status.MPI_TAG"]),
            context: of(&["dev.ch4.am.u.recv.context_id", "dev.ch4.am.context_id"]),
            buffer: of(&["dev.ch4.am.buffer"]),
            count: of(&["dev.ch4.am.count"]),
            datatype: of(&["dev.ch4.am.datatype"]),
            arrived: of(&["dev.ch4.am.count"]),
            arrived_at: of(&["dev.ch4.am.buffer"]),
            ..Place::default()
        };
        let own = Place {
            tag: of(&["dev.ch4.self.tag"]),
            context: of(&["dev.ch4.self.context_id"]),
            buffer: of(&["dev.ch4.self.buf"]),
            count: of(&["dev.ch4.self.count"]),
            datatype: of(&["dev.ch4.self.datatype"]),
            sends: Sends::Waiting,
            ..Place::default()
        };
        let ofi = Place {
            context: of(&["dev.ch4.netmod.ofi.context_id"]),
            buffer: of(&["dev.ch4.netmod.ofi.buf"]),
            count: of(&["dev.ch4.netmod.ofi.count"]),
            datatype: of(&["dev.ch4.netmod.ofi.datatype"]),
            ..Place::default()
        };
        let places = [ch3, active, own, ofi].into_iter().filter(|place| place.datatype.is_some()).collect();
        Ok(Self {
            size,
            type_name,
            kind: of(&["kind"]),
            counter: layouts.field(type_name, "cc")?,
            counter_at: of(&["cc_ptr"]),
            comm: of(&["comm"]),
            real: of(&["u.persist.real_request", "partner_request", "dev.partner_request"]),
            source: of(&["status.MPI_SOURCE"]),
            tag: of(&["status.MPI_TAG"]),
            count_low: of(&["status.count_lo"]),
            count_high: of(&["status.count_hi_and_cancelled"]),
            places,
            is_ch4: layouts.has_field(type_name, "dev.ch4"),
            has_shared_memory: layouts.has_field(type_name, "dev.is_local"),
        })
    }

    /// The name of the type.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Reads the request of `entry`, an operation on this communicator.
    pub fn read(&self, target: &dyn Target, entry: &Entry, class: QueueKind, comm: &Object) -> Result<Facts, Reason> {
        let block = Block::read(target, entry.request, self.size)?;
        let int = |field: &Option<Field>| field.as_ref().and_then(|field| block.int(field));
        let uint = |field: &Option<Field>| field.as_ref().and_then(|field| block.uint(field));
        let kind = uint(&self.kind);
        // The counter that counts is that to which the request points; a persistent one points to that of its transfer.
        let counter = match uint(&self.counter_at) {
            Some(at) => target.read_uint(TargetAddr::new(at), self.counter.size)?,
            None => block.uint(&self.counter).ok_or("the completion counter is no number")?,
        };
        let persistent = kind.filter(|kind| [KIND_PERSISTENT_SEND, KIND_PERSISTENT_RECEIVE].contains(kind));
        let mut facts = Facts {
            complete: counter == 0,
            comm: uint(&self.comm).filter(|comm| *comm != 0),
            persistent: persistent.map(|_| uint(&self.real).is_none_or(|real| real != 0)),
            ..Facts::default()
        };
        let bytes = uint(&self.count_low).zip(uint(&self.count_high)).map(|(low, high)| {
            // The lowest bit of the upper word says whether it was cancelled.
            (low & 0xffff_ffff) | (((high & 0xffff_ffff) >> 1) << 32)
        });
        if facts.complete && class == QueueKind::PendingReceives {
            facts.received = int(&self.source).zip(int(&self.tag)).map(|(source, tag)| (source, tag, bytes));
        }
        let written = |place: &&Place| match (class, &place.sends) {
            (QueueKind::PendingSends, Sends::Unsure) => false,
            // A persistent request has its transfer for that.
            (QueueKind::PendingSends, Sends::Waiting) => {
                comm.is_alone() && !facts.complete && facts.persistent.is_none()
            }
            _ => true,
        };
        if let Some(place) = self.places.iter().filter(written).find(|place| place.agrees(&block, entry, class)) {
            facts.datatype = uint(&place.datatype);
            facts.context = uint(&place.context);
            facts.arrived = uint(&place.arrived).or(bytes.filter(|_| place.has_status));
            facts.arrived_at = uint(&place.arrived_at);
            facts.data = uint(&place.buffer).zip(uint(&place.count));
        }
        Ok(facts)
    }
}

/// Whether a handle is one of a datatype: 3 in the bits 26 to 29, and not the null handle's kind 0 above them
/// (src/include/mpir_objects.h, 3.0 to 5.0).
fn is_datatype(handle: u64) -> bool {
    handle >> 26 & 0xf == 3 && handle >> 30 & 3 != 0
}

impl Place {
    /// Whether what stands here repeats what the list says. The union has other things here for other devices: there must
    /// be a datatype, and two more numbers must be equal.
    fn agrees(&self, block: &Block, entry: &Entry, class: QueueKind) -> bool {
        let equal =
            |field: &Option<Field>, value: i64| field.as_ref().is_some_and(|field| block.int(field) == Some(value));
        // A message that has arrived need not have one.
        let needs_datatype = class != QueueKind::UnexpectedMessages || self.rank.is_none();
        if needs_datatype && !self.datatype.as_ref().and_then(|field| block.uint(field)).is_some_and(is_datatype) {
            return false;
        }
        match (class, entry.data) {
            // A receive that is matched may have the message's envelope in place of its own.
            (QueueKind::PendingReceives | QueueKind::PendingSends, Some((buffer, count))) => {
                equal(&self.buffer, buffer as i64) && equal(&self.count, count)
            }
            (QueueKind::PendingReceives, None) => false,
            (QueueKind::PendingSends, None) => {
                (self.rank.is_none() || equal(&self.rank, entry.rank)) && equal(&self.tag, entry.tag)
            }
            (QueueKind::UnexpectedMessages, _) => {
                let context = equal(&self.context, entry.context as i64);
                context && equal(&self.tag, entry.tag) && (self.rank.is_none() || equal(&self.rank, entry.rank))
            }
        }
    }
}
