//! ofi_rxm: reliable messages over connections (prov/rxm/src).

use super::endpoint::behind;
use super::layout::{Layout, RxmMessageShape, RxmReceiveShape};
use super::shared::{self, Both};
use super::{Listed, MAX_LIST, Message, REMOTE_CQ_DATA, Receive, Source, given, pieces, rxm_sends};
use crate::record::{Record, Slot};
use crate::walk::circular_list;
use target::address::TargetAddr;
use target::{Reason, Target};

/// The lists of an endpoint: those of prov/util, until 1.18 its own.
///
/// # Errors
/// A sentence, where the endpoint does not lead to them.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Both, Reason> {
    let not_known = || Reason::new(format!("the layout {} has nothing of rxm", layout.name));
    let rxm = layout.rxm.as_ref().ok_or_else(not_known)?;
    if let Some(shared) = rxm.shared {
        let number = |context| rxm_sends::number(target, layout, context);
        return shared::of_context(target, layout, behind(target, endpoint, shared.offset, "receives")?, &number);
    }
    let (Some(queue), Some((shape, receive_shape, message_shape))) = (rxm.queue, &layout.rxm_queue) else {
        return Err(not_known());
    };
    let queue = queue.address_in(endpoint);
    let owner = shape.owner.read_pointer(target, queue).map_err(Reason::of)?;
    if owner != endpoint {
        return Err(Reason::new(format!("the queue of libfabric's endpoint at {endpoint} is not its own")));
    }
    let list = |slot: Slot| circular_list(target, slot.address_in(queue), 0, MAX_LIST);
    let receives = Listed::of(list(shape.receives), "a receive", |link| receive(target, receive_shape, link));
    let messages = Listed::of(list(shape.messages), "a message", |link| {
        let at = message_shape.link.structure_of(link);
        Ok(Message { number: rxm_sends::number(target, layout, at), ..message(target, message_shape, at)? })
    });
    Ok((receives, messages))
}

fn receive(target: &dyn Target, shape: &RxmReceiveShape, link: TargetAddr) -> Result<Receive, Reason> {
    let at = shape.link.structure_of(link);
    let mut buffer = Vec::new();
    let record = Record::read(target, at, shape.size, &mut buffer).map_err(Reason::of)?;
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

fn message(target: &dyn Target, shape: &RxmMessageShape, at: TargetAddr) -> Result<Message, Reason> {
    let record = Record::owned(target, at, shape.size).map_err(Reason::of)?;
    let with_data = record.uint(shape.flags) & REMOTE_CQ_DATA != 0;
    Ok(Message {
        source: Source::of(record.uint(shape.address)).address(),
        tag: record.uint(shape.tag),
        data: with_data.then(|| record.uint(shape.data)),
        length: record.uint(shape.length),
        claimed: None,
        number: None,
    })
}
