//! sockets: one process of libfabric's own over TCP (prov/sockets/src). Its objects name no provider; they lead to each other.

use super::endpoint::{Queues, field};
use super::layout::{Layout, SocketsEntryShape};
use super::{Listed, Message, REMOTE_CQ_DATA, Receive, Source, given, sockets_sends};
use crate::record::{Record, Slot};
use layouts::FieldKind;
use target::address::TargetAddr;
use target::{Reason, Target};

/// The provider's name.
pub const NAME: &str = "sockets";

/// What an endpoint, or one of its receive contexts, leads to: what belongs to it, and the receive context; `None` where it is none
/// of this provider.
pub fn context(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Option<(TargetAddr, TargetAddr)> {
    let sockets = layout.sockets.as_ref()?;
    let pointer = |at: TargetAddr, slot: Slot| field(target, at, slot.offset).map(TargetAddr::new);
    let class = |at: TargetAddr| field(target, at, layout.endpoint.class.offset);
    let (attributes, context) = match class(endpoint)? {
        class if class == layout.classes.endpoint => {
            let attributes = pointer(endpoint, sockets.endpoint.attributes)?;
            let same = field(target, attributes, sockets.attributes.class.offset)? == layout.classes.endpoint;
            let context = pointer(attributes, sockets.attributes.context).filter(|_| same)?;
            (attributes, (pointer(context, sockets.receives.attributes)? == attributes).then_some(context)?)
        }
        class if class == layout.classes.receives => {
            let attributes = pointer(endpoint, sockets.receives.attributes)?;
            field(target, attributes, sockets.attributes.class.offset)?;
            (attributes, endpoint)
        }
        _ => return None,
    };
    if class(context)? != layout.classes.receives {
        return None;
    }
    let head = |slot: Slot| slot.address_in(context);
    let is_list = |head: TargetAddr| {
        let width = target.abi().pointer_width.bytes();
        let next = target.read_pointer(head).ok()?;
        Some(target.read_pointer(next.wrapping_add(width)).ok()? == head)
    };
    if !is_list(head(sockets.receives.receives))? || !is_list(head(sockets.receives.messages))? {
        return None;
    }
    Some((attributes, context))
}

/// The lists of an endpoint; `None` where it is none of this provider.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Option<Queues> {
    let sockets = layout.sockets.as_ref()?;
    let (attributes, context) = context(target, layout, endpoint)?;
    let (shape, entry) = (&sockets.entry, (sockets.entry.link, sockets.entry.size));
    let head = |slot: Slot| slot.address_in(context);
    let receives = Listed::linked(target, head(sockets.receives.receives), entry, "a receive", |record| {
        receive(shape, context, record)
    });
    let messages = Listed::linked(target, head(sockets.receives.messages), entry, "a message", |record| {
        Ok(message(shape, record))
    });
    let sends = sockets_sends::read(target, layout, attributes, context).unwrap_or_else(Listed::failed);
    Some(Queues { provider: NAME.to_owned(), receives, messages, sends, named_by_given: false })
}

/// Receives from the pool name their owner.
fn receive(shape: &SocketsEntryShape, context: TargetAddr, record: &Record<'_>) -> Result<Option<Receive>, Reason> {
    let owner = record.pointer(shape.owner);
    if !owner.is_null() && owner != context {
        return Err(Reason::new("it belongs to another endpoint"));
    }
    // One that is busy has been matched, and its data is being written.
    if record.uint(shape.tagged) == 0 || record.uint(shape.busy) != 0 {
        return Ok(None);
    }
    // union sock_iov: address, length, key.
    let count = record.uint(shape.count);
    let step = shape.pieces.size as u64 / MOST_PIECES;
    let word = |index: u64, offset: u64| {
        let offset = shape.pieces.offset + usize::try_from(index * step + offset).unwrap_or(0);
        record.uint(Slot { offset, size: 8, kind: FieldKind::Unsigned })
    };
    if count > MOST_PIECES {
        return Err(Reason::new(format!("it has {count} pieces")));
    }
    let length = (0..count).fold(0_u64, |sum, index| sum.saturating_add(word(index, 8)));
    Ok(Some(Receive {
        source: Source::of(record.uint(shape.address)),
        tag: record.uint(shape.tag),
        ignore: record.uint(shape.ignore),
        context: given(record.pointer(shape.context))?,
        buffer: (count == 1).then(|| TargetAddr::new(word(0, 0))),
        length,
    }))
}

/// `SOCK_EP_MAX_IOV_LIMIT` (prov/sockets/include/sock.h).
pub const MOST_PIECES: u64 = 8;

fn message(shape: &SocketsEntryShape, record: &Record<'_>) -> Option<Message> {
    if record.uint(shape.tagged) == 0 {
        return None;
    }
    let with_data = record.uint(shape.flags) & REMOTE_CQ_DATA != 0;
    let claimed = record.uint(shape.claimed) != 0;
    Some(Message {
        source: Source::of(record.uint(shape.address)).address(),
        tag: record.uint(shape.tag),
        data: with_data.then(|| record.uint(shape.data)),
        length: record.uint(shape.length),
        claimed: claimed.then(|| record.pointer(shape.context)),
        number: None,
    })
}
