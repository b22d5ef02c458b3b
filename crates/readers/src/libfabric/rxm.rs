//! ofi_rxm: reliable messages over connections (prov/rxm/src).

use super::endpoint::behind;
use super::layout::{Layout, RxmMessageShape, RxmReceiveShape};
use super::shared::{self, Both};
use super::{Listed, Message, REMOTE_CQ_DATA, Receive, Source, given, part_of, pieces, rxm_sends};
use crate::record::Record;
use target::address::TargetAddr;
use target::{Reason, Target};

/// The lists of an endpoint: those of prov/util, until 1.18 its own.
///
/// # Errors
/// A sentence, where the endpoint does not lead to them.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Both, Reason> {
    let rxm = part_of(layout, &layout.rxm, "rxm")?;
    if let Some(shared) = rxm.shared {
        let number = |context| rxm_sends::number(target, layout, context);
        return shared::of_context(target, layout, behind(target, endpoint, shared.offset, "receives")?, &number);
    }
    let (shape, receive_shape, message_shape) = part_of(layout, &layout.rxm_queue, "rxm")?;
    let queue = part_of(layout, &rxm.queue, "rxm")?.address_in(endpoint);
    let owner = shape.owner.read_pointer(target, queue)?;
    if owner != endpoint {
        return Err(Reason::new(format!("the queue of libfabric's endpoint at {endpoint} is not its own")));
    }
    let (head, entry) = (shape.receives.address_in(queue), (receive_shape.link, receive_shape.size));
    let receives = Listed::linked(target, head, entry, "a receive", |record| receive(target, receive_shape, record));
    let (head, entry) = (shape.messages.address_in(queue), (message_shape.link, message_shape.size));
    let messages = Listed::linked(target, head, entry, "a message", |record| {
        Ok(Message { number: rxm_sends::number(target, layout, record.addr), ..message(message_shape, record) })
    });
    Ok((receives, messages))
}

fn receive(target: &dyn Target, shape: &RxmReceiveShape, record: &Record<'_>) -> Result<Receive, Reason> {
    let (buffer, length) = pieces(target, record.address_of(shape.pieces), record.uint(shape.count))?;
    Ok(Receive {
        source: Source::of(record.uint(shape.address)),
        tag: record.uint(shape.tag),
        ignore: record.uint(shape.ignore),
        context: given(record.pointer(shape.context))?,
        buffer,
        length,
    })
}

fn message(shape: &RxmMessageShape, record: &Record<'_>) -> Message {
    let with_data = record.uint(shape.flags) & REMOTE_CQ_DATA != 0;
    Message {
        source: Source::of(record.uint(shape.address)).address(),
        tag: record.uint(shape.tag),
        data: with_data.then(|| record.uint(shape.data)),
        length: record.uint(shape.length),
        claimed: None,
        number: None,
    }
}
