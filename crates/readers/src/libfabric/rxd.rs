//! ofi_rxd: reliable messages over datagrams (prov/rxd/src).
//!
//! It numbers the processes in a way of its own, so which one a receive is from is not told; messages say so with their data.

use super::layout::{Layout, RxdMessageShape, RxdReceiveShape};
use super::shared::Both;
use super::{ANY_ADDRESS, Listed, MAX_LIST, Message, Receive, Source, given, pieces};
use crate::record::{Record, Slot};
use crate::walk::circular_list;
use target::address::TargetAddr;
use target::{Reason, Target};

/// The lists of an endpoint.
///
/// # Errors
/// A sentence, where the layout has none of them.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Both, Reason> {
    let Some((shape, receive_shape, message_shape)) = &layout.rxd else {
        return Err(Reason::new(format!("the layout {} has nothing of rxd", layout.name)));
    };
    let list = |slot: Slot| circular_list(target, endpoint.wrapping_add(slot.offset as u64), 0, MAX_LIST);
    let receives = Listed::of(list(shape.receives), "a receive", |link| receive(target, receive_shape, link));
    let messages = Listed::of(list(shape.messages), "a message", |link| message(target, message_shape, link));
    Ok((receives, messages))
}

fn receive(target: &dyn Target, shape: &RxdReceiveShape, link: TargetAddr) -> Result<Receive, Reason> {
    let at = TargetAddr::new(link.get().wrapping_sub(shape.link.offset as u64));
    let mut buffer = Vec::new();
    let record = Record::read(target, at, shape.size, &mut buffer).map_err(Reason::of)?;
    let (buffer, length) = pieces(target, record.address_of(shape.pieces), record.uint(shape.count))?;
    let any = record.uint(shape.peer) == ANY_ADDRESS;
    Ok(Receive {
        source: if any { Source::Any } else { Source::NotKept },
        tag: record.uint(shape.tag),
        ignore: record.uint(shape.ignore),
        context: given(record.pointer(shape.context))?,
        buffer,
        length,
    })
}

fn message(target: &dyn Target, shape: &RxdMessageShape, link: TargetAddr) -> Result<Message, Reason> {
    let at = TargetAddr::new(link.get().wrapping_sub(shape.link.offset as u64));
    let mut buffer = Vec::new();
    let record = Record::read(target, at, shape.size, &mut buffer).map_err(Reason::of)?;
    // Each part of the header is one word, and the whole length is the first of those for long messages
    // (prov/rxd/src/rxd_proto.h).
    let word = |slot: Slot| {
        let at = record.pointer(slot);
        if at.is_null() { Ok(None) } else { target.read_uint(at, 8).map(Some).map_err(Reason::of) }
    };
    Ok(Message {
        source: None,
        tag: word(shape.tag)?.ok_or("it has no tag")?,
        data: word(shape.data)?,
        length: word(shape.parts)?.unwrap_or(record.uint(shape.length)),
        claimed: None,
    })
}
