//! What MPICH keeps of what it hands to libfabric, in its own requests.

use crate::mpich::active_messages::{matched_message, message};
use crate::mpich::datatypes::Datatypes;
use crate::mpich::handle_value::{HandleValue, Place};
use crate::mpich::requests::Request;
use crate::mpich::transport::{Around, Decoded};
use crate::record::Slot;
use layouts::Layouts;
use model::{Operation, QueueKind};

const NOT_KEPT: &str = "this release of MPICH does not keep it for libfabric's receives";
const OF_HELD: &str = "in MPICH's request of a matching probe, in which libfabric has found a message";

/// No release has more events; another number is none.
const EVENTS: i64 = 64;

/// Where MPICH's request has what it keeps for libfabric, as far as the release does.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    /// What libfabric is given to tell of: the place of this field.
    pub(super) told: Option<Slot>,
    event: Slot,
    pub(super) context: Slot,
    /// Address and length of what libfabric is given; 3.4 leaves old values there (src/mpid/ch4/netmod/ofi/ofi_recv.h).
    vector: Option<(Slot, Slot)>,
    buffer: Option<Slot>,
    count: Option<Slot>,
    datatype: Option<Slot>,
    /// The application's buffer of a receive into a temporary one, and that.
    packed: Option<(Slot, Slot)>,
    /// The copy of what a send has in several pieces; none of a send without.
    pub(super) copy: Option<Slot>,
    /// The events of receives: plain, into a temporary buffer, into several pieces.
    receives: [Option<i64>; 4],
    peek: Option<Peek>,
}

/// How a probe goes (`MPIDI_OFI_do_iprobe`, pmodels/mpich, src/mpid/ch4/netmod/ofi/ofi_probe.h, v3.4 to v5.0).
#[derive(Debug, Clone)]
struct Peek {
    /// `MPIDI_OFI_EVENT_PEEK`.
    event: i64,
    status: Slot,
    found: i64,
    /// Libfabric has not answered, or has no message.
    nothing: [i64; 2],
}

/// What a request of a matching probe is.
pub(super) enum Probe {
    /// Nothing was found yet, or the request is only being made: each attempt makes one.
    Searching,
    /// It holds a message, which its status describes.
    Found,
    /// The memory fits neither.
    Unknown,
}

impl Kept {
    pub(super) fn new(layouts: &Layouts) -> Option<Self> {
        let slot = |names: &[&str]| {
            names.iter().find_map(|name| {
                Slot::probe(layouts, "MPIR_Request", &format!("dev.ch4.netmod.ofi.{name}")).ok().flatten()
            })
        };
        let event = |name: &str| layouts.constant(&format!("MPIDI_OFI_EVENT_{name}")).ok();
        Some(Self {
            told: slot(&["direct.context", "context"]),
            event: slot(&["direct.event_id", "event_id"])?,
            context: slot(&["direct.context_id", "context_id", "util_id.v", "util_id"])?,
            // Releases from 4.0 on, which write it with every receive, are those whose requests have a kind.
            vector: slot(&["direct.kind", "kind"])
                .and_then(|_| slot(&["direct.util.iov.iov_base", "util.iov.iov_base"]))
                .zip(slot(&["direct.util.iov.iov_len", "util.iov.iov_len"])),
            buffer: slot(&["direct.buf", "buf"]),
            count: slot(&["direct.count", "count"]),
            datatype: slot(&["direct.datatype", "datatype"]),
            copy: slot(&["direct.noncontig.pack.pack_buffer", "noncontig.pack.pack_buffer"]),
            packed: slot(&["noncontig.pack.buf"]).zip(slot(&["noncontig.pack.pack_buffer"])),
            receives: ["RECV", "RECV_HUGE", "RECV_PACK", "RECV_NOPACK"].map(event),
            peek: event("PEEK").and_then(|event| {
                let number = |name: &str| layouts.constant(&format!("MPIDI_OFI_PEEK_{name}")).ok();
                Some(Peek {
                    event,
                    status: slot(&["direct.peek_status", "peek_status", "util_id.v", "util_id"])?,
                    found: number("FOUND")?,
                    nothing: [number("START")?, number("NOT_FOUND")?],
                })
            }),
        })
    }

    pub(super) fn probe(&self, request: &Request<'_>) -> Probe {
        let Some(peek) = &self.peek else { return Probe::Unknown };
        let (event, status) = (request.record.int(self.event), request.record.int(peek.status));
        match event == peek.event {
            true if status == peek.found => Probe::Found,
            true if peek.nothing.contains(&status) => Probe::Searching,
            // The event is written as the last thing before libfabric is asked; until then an earlier one stands there.
            false if (0..EVENTS).contains(&event) => Probe::Searching,
            _ => Probe::Unknown,
        }
    }

    /// A message that MPI_Mprobe took; 3.4 does not name its communicator.
    pub(super) fn held(&self, request: &Request<'_>, mut operation: Operation) -> Option<Decoded> {
        let (Probe::Found, Some(comm)) = (self.probe(request), request.comm) else { return None };
        let (source, tag) = (request.record.int(request.shape.source), request.record.int(request.shape.tag));
        message(&mut operation, source, tag, request.received());
        matched_message(&mut operation);
        operation.evidence = Some(OF_HELD.into());
        Some(Decoded { comm, queue: QueueKind::PendingReceives, order: u64::MAX, operation })
    }

    /// The communicator of a receive by its place, whether it is one of a collective, and which kind of receive it is; `None` where
    /// the request does not make sense.
    pub(super) fn place(&self, request: &Request<'_>, around: &Around<'_>) -> Option<(usize, bool, usize)> {
        let event = Some(request.record.int(self.event));
        let which = self.receives.iter().position(|receive| receive.is_some() && *receive == event)?;
        let (comm, collective) = around.communicators.receiving(request.record.uint(self.context))?;
        // Newer releases name it as well.
        request.comm.is_none_or(|named| named == comm).then_some((comm, collective, which))
    }

    /// Fills in where the data of a receive goes. `which`: its place in `receives`.
    pub(super) fn data(
        &self,
        request: &Request<'_>,
        which: usize,
        operation: &mut Operation,
        datatypes: &mut Datatypes<'_>,
    ) {
        const PACKED: usize = 2;
        const IN_PIECES: usize = 3;
        let record = &request.record;
        let handle = self.datatype.map(|slot| u32::try_from(record.uint(slot)).unwrap_or(0));
        let known = handle.map(|handle| datatypes.of(handle));
        // Of other types libfabric is given the address of the first byte with data.
        let plain = handle.is_some_and(|handle| HandleValue(handle).place() == Place::Builtin);
        let count = self.count.map(|slot| record.uint(slot));
        let counted = known.as_ref().and_then(|known| count?.checked_mul(known.bytes?));
        // Releases that keep what the application asked for give libfabric less of it: long messages come in pieces.
        let vector = || self.vector.filter(|_| which != IN_PIECES).map(|(_, length)| record.uint(length));
        // An event of an earlier use may have stayed, but without its temporary buffer.
        let packed = self.packed.filter(|(_, temporary)| which == PACKED && record.uint(*temporary) != 0);
        operation.desired_length = if self.count.is_some() { counted } else { vector() };
        operation.count = count;
        known.unwrap_or_default().put_into(operation);
        let buffer = match (self.buffer, packed, self.vector) {
            (Some(slot), ..) | (None, Some((slot, _)), _) => Some(record.uint(slot)),
            (None, None, Some((slot, _))) if which != IN_PIECES && plain => Some(record.uint(slot)),
            _ => None,
        };
        operation.buffer = buffer;
        for (fact, missing) in [
            ("desired_length", operation.desired_length.is_none()),
            ("count", count.is_none()),
            ("datatype", operation.datatype.is_none() && operation.datatype_value.0.is_none()),
            ("buffer", buffer.is_none()),
        ] {
            if missing {
                operation.not_known(fact, NOT_KEPT);
            }
        }
    }
}
