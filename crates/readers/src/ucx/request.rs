//! UCX's own request of one operation (openucx/ucx, src/ucp/core/ucp_request.h, v1.13 to v1.20).

use super::layout::{RequestShape, UcxLayout};
use crate::record::{Record, Slot};
use target::address::TargetAddr;

/// A request that goes through the protocols of newer releases keeps its data in an iterator
/// (`UCP_REQUEST_FLAG_PROTO_SEND`, openucx/ucx, src/ucp/core/ucp_request.h, v1.12 to v1.20).
const PROTO_SEND: u64 = 1 << 2;

/// `UCS_PTR_MAP_KEY_INVALID` (src/ucs/datastruct/ptr_map.h).
const NO_ID: u64 = 0;

/// What UCX matches an operation by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// A receive: what it takes, and which bits of that count.
    Receive(u64, u64),
    /// A message that this process sends.
    Send(u64),
    /// A message that has arrived.
    Arrived(u64),
}

/// What UCX knows of one operation.
#[derive(Debug, Clone, Copy)]
pub struct Native {
    /// What it is matched by.
    pub sample: Sample,
    /// The place of a receive among those of its worker.
    pub sequence: u64,
    /// What only a known layout tells.
    pub more: Option<More>,
}

/// What only a known layout tells.
#[derive(Debug, Clone, Copy)]
pub struct More {
    /// Where the request is linked to others.
    pub link: TargetAddr,
    /// The worker of a receive, the connection of a send.
    pub owner: TargetAddr,
    /// The data.
    pub data: Data,
    /// What was matched with a receive: what it is matched by, and its length.
    pub sender: (u64, u64),
    /// What messages that are answered call it; an old one where this message is not.
    pub id: Option<u64>,
}

/// Where the data of an operation lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// Bytes of the message.
    pub length: u64,
    /// Its buffer; `None` where it is in several pieces.
    pub buffer: Option<TargetAddr>,
    /// How whoever uses UCX packs it; `None` where UCX moves plain bytes.
    pub packed: Option<Packed>,
}

/// Data of a datatype that whoever uses UCX packs himself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed {
    /// The datatype (`ucp_dt_generic`).
    pub datatype: TargetAddr,
    /// What its user made of it for this operation.
    pub state: TargetAddr,
    /// How many elements, where the release keeps it.
    pub count: Option<u64>,
}

/// How far a request is, and what it is of (`UCP_REQUEST_FLAG_*`, the same bits in v1.13 to v1.20).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags(u64);

impl Flags {
    /// Those of a request.
    pub fn of(layout: &UcxLayout, record: &Record<'_>) -> Self {
        Self(record.uint(layout.request.flags))
    }

    /// The operation is done.
    pub const fn completed(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whoever started it has let go of it.
    pub const fn released(self) -> bool {
        self.0 & 1 << 1 != 0
    }

    /// Whoever started it is called when it is done, or was to be until he let go of it: not so with what UCX starts for itself.
    pub const fn called_back(self) -> bool {
        self.0 & 1 << 6 != 0 || self.released()
    }

    /// A send by the protocols of newer releases, of a message or of something else.
    pub const fn by_protocol(self) -> bool {
        self.0 & PROTO_SEND != 0
    }

    /// A synchronous send, by the older protocols.
    pub const fn synchronous(self) -> bool {
        self.0 & 1 << 8 != 0
    }

    /// A send of a message, by the older protocols.
    pub const fn sends(self) -> bool {
        self.0 & 1 << 14 != 0
    }

    /// A send or receive that goes on and of which nobody is told when it is done. All other bits that these releases have are
    /// possible, no others.
    pub const fn may_be_on_a_stack(self) -> bool {
        const HIGHEST: u64 = 1 << 25;
        let kind = self.0 & (PROTO_SEND | 1 << 14 | 1 << 17);
        self.0 < HIGHEST && !self.completed() && !self.released() && !self.called_back() && kind.is_power_of_two()
    }

    /// A receive.
    pub const fn receives(self) -> bool {
        self.0 & 1 << 17 != 0
    }
}

impl Native {
    /// What a request says; `None` where the layout lacks a part of it. A request does not say itself whether it is a receive.
    pub fn of(layout: &UcxLayout, record: &Record<'_>, receive: bool) -> Option<Self> {
        let shape = &layout.request;
        let (sample, owner, data) = if receive {
            (Sample::Receive(record.uint(shape.tag), record.uint(shape.mask)), shape.worker, of_receive(shape, record)?)
        } else {
            (Sample::Send(record.uint(shape.send_tag)), shape.endpoint, of_send(shape, record))
        };
        let sender = (record.uint(shape.sender_tag), record.uint(shape.sender_length));
        let (link, owner) = (record.address_of(shape.link), record.pointer(owner));
        let id = Some(record.uint(shape.id)).filter(|id| *id != NO_ID);
        let more = More { link, owner, data, sender, id };
        Some(Self { sample, sequence: record.uint(shape.sequence), more: Some(more) })
    }
}

// Classes of data (`UCP_DATATYPE_*`, openucx/ucx, src/ucp/api/ucp.h, v1.9 to v1.20).
const CLASS_MASK: u64 = 7;
const CONTIGUOUS: u64 = 0;
const GENERIC: u64 = 7;

fn plain(class: u64, length: u64, buffer: TargetAddr) -> Data {
    Data { length, buffer: matches!(class, CONTIGUOUS | GENERIC).then_some(buffer), packed: None }
}

fn of_send(shape: &RequestShape, record: &Record<'_>) -> Data {
    let pointer = |slot: Option<Slot>| slot.map(|slot| record.pointer(slot));
    if record.uint(shape.flags) & PROTO_SEND != 0 {
        let class = record.uint(shape.send_class);
        let length = record.uint(shape.send_iterated_length);
        if class == GENERIC {
            let (datatype, state) = (pointer(shape.send_iterated_packed), pointer(shape.send_iterated_state));
            let count = shape.send_iterated_count.map(|slot| record.uint(slot));
            let packed = datatype.zip(state).map(|(datatype, state)| Packed { datatype, state, count });
            return Data { length, buffer: pointer(shape.send_iterated_packed_buffer), packed };
        }
        return plain(class, length, record.pointer(shape.send_iterated_buffer));
    }
    let datatype = record.uint(shape.send_datatype);
    let state = pointer(shape.send_packed_state);
    let data = plain(datatype & CLASS_MASK, record.uint(shape.send_length), record.pointer(shape.send_buffer));
    Data { packed: packed(datatype, state), ..data }
}

/// Until 1.15 members of the receive itself, since 1.16 an iterator; `None` where a profile has neither.
fn of_receive(shape: &RequestShape, record: &Record<'_>) -> Option<Data> {
    let pointer = |slot: Option<Slot>| slot.map(|slot| record.pointer(slot));
    if let (Some(class), Some(length), Some(buffer)) = (shape.class, shape.iterated_length, shape.iterated_buffer) {
        let (class, length) = (record.uint(class), record.uint(length));
        if class == GENERIC {
            let (datatype, state) = (pointer(shape.iterated_packed), pointer(shape.iterated_state));
            let count = shape.iterated_count.map(|slot| record.uint(slot));
            let packed = datatype.zip(state).map(|(datatype, state)| Packed { datatype, state, count });
            return Some(Data { length, buffer: pointer(shape.iterated_packed_buffer), packed });
        }
        return Some(plain(class, length, record.pointer(buffer)));
    }
    let datatype = record.uint(shape.datatype?);
    let data = plain(datatype & CLASS_MASK, record.uint(shape.length?), record.pointer(shape.buffer?));
    Some(Data { packed: packed(datatype, pointer(shape.packed_state)), ..data })
}

/// The handle of such a datatype is its address with the class in the lowest bits (`ucp_dt_to_generic`, src/ucp/dt/dt_generic.h).
fn packed(datatype: u64, state: Option<TargetAddr>) -> Option<Packed> {
    let packed = |state| Packed { datatype: TargetAddr::new(datatype & !CLASS_MASK), state, count: None };
    state.filter(|_| datatype & CLASS_MASK == GENERIC).map(packed)
}
