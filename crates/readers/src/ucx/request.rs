//! UCX's own request of one operation (openucx/ucx, src/ucp/core/ucp_request.h, v1.13 to v1.20).

use super::layout::{RequestShape, UcxLayout};
use crate::record::Record;
use target::address::TargetAddr;

/// A request that goes through the protocols of newer releases keeps its data in an iterator
/// (`UCP_REQUEST_FLAG_PROTO_SEND`, openucx/ucx, src/ucp/core/ucp_request.h, v1.12 to v1.20).
const PROTO_SEND: u64 = 1 << 2;

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
}

/// Where the data of an operation lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// Bytes of the message.
    pub length: u64,
    /// Its buffer; `None` where it is in several pieces.
    pub buffer: Option<TargetAddr>,
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
        let more = More { link: record.address_of(shape.link), owner: record.pointer(owner), data, sender };
        Some(Self { sample, sequence: record.uint(shape.sequence), more: Some(more) })
    }
}

// Classes of data (`UCP_DATATYPE_*`, openucx/ucx, src/ucp/api/ucp.h, v1.9 to v1.20).
const CLASS_MASK: u64 = 7;
const CONTIGUOUS: u64 = 0;
const GENERIC: u64 = 7;

fn data(class: u64, length: u64, buffer: TargetAddr) -> Data {
    Data { length, buffer: matches!(class, CONTIGUOUS | GENERIC).then_some(buffer) }
}

fn of_send(shape: &RequestShape, record: &Record<'_>) -> Data {
    if record.uint(shape.flags) & PROTO_SEND != 0 {
        let (length, buffer) = (record.uint(shape.send_iterated_length), record.pointer(shape.send_iterated_buffer));
        return data(record.uint(shape.send_class), length, buffer);
    }
    let class = record.uint(shape.send_datatype) & CLASS_MASK;
    data(class, record.uint(shape.send_length), record.pointer(shape.send_buffer))
}

/// Until 1.15 members of the receive itself, since 1.16 an iterator; `None` where a profile has neither.
fn of_receive(shape: &RequestShape, record: &Record<'_>) -> Option<Data> {
    if let (Some(class), Some(length), Some(buffer)) = (shape.class, shape.iterated_length, shape.iterated_buffer) {
        return Some(data(record.uint(class), record.uint(length), record.pointer(buffer)));
    }
    let class = record.uint(shape.datatype?) & CLASS_MASK;
    Some(data(class, record.uint(shape.length?), record.pointer(shape.buffer?)))
}
