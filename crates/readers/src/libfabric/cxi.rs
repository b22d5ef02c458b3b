//! cxi: the network of HPE Slingshot (prov/cxi/include/cxip.h, 2.1 to 2.5). By its published structures: it was tried on nothing.
//!
//! Receives are handed to the network card, which matches them; libfabric keeps a request for each. Of the messages only those are
//! read that libfabric's software has: the card's own list is not in memory.

use super::endpoint::field;
use super::layout::{Cxi, CxiMessageShape, CxiRequestShape, CxiSends, Layout};
use super::shared::Both;
use super::{COPIED, Listed, Message, Receive, Send, Source, given, part_of};
use crate::record::{Record, Slot};
use target::address::TargetAddr;
use target::{Reason, Target};

// Bits of a message's word (`union cxip_match_bits`): the tag, whether there is data, whether it has a tag.
const TAG: u64 = (1 << 48) - 1;
const WITH_DATA: u64 = 1 << 59;
const TAGGED: u64 = 1 << 60;

/// The domain of an endpoint.
pub fn domain(target: &dyn Target, cxi: &Cxi, endpoint: TargetAddr) -> Option<TargetAddr> {
    let object = TargetAddr::new(field(target, endpoint, cxi.endpoint.object.offset)?);
    field(target, object, cxi.object.domain.offset).map(TargetAddr::new)
}

/// The lists of an endpoint.
///
/// # Errors
/// A sentence, where the endpoint does not lead to them.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Both, Reason> {
    let cxi = part_of(layout, &layout.cxi, "cxi")?;
    let at = own(target, cxi, endpoint, (cxi.object.receives, cxi.receives.object), "receives")?;
    let (head, entry) = (cxi.receives.requests.address_in(at), (cxi.request.link, cxi.request.size));
    let mut receives =
        Listed::linked(target, head, entry, "a request", |record| receive(&cxi.request, cxi.receive, record));
    receives.fail("the network card matches them: some may be matched already");
    let (head, entry) = (cxi.receives.messages.address_in(at), (cxi.message.link, cxi.message.size));
    let mut messages = Listed::linked(target, head, entry, "a message", |record| Ok(message(&cxi.message, record)));
    messages.fail("those that the network card keeps are not in the process's memory");
    Ok((receives, messages))
}

/// What the object of an endpoint leads to, and what leads back to that.
fn own(
    target: &dyn Target,
    cxi: &Cxi,
    endpoint: TargetAddr,
    (there, back): (Slot, Slot),
    what: &str,
) -> Result<TargetAddr, Reason> {
    let pointer = |at: TargetAddr, slot: Slot| field(target, at, slot.offset).map(TargetAddr::new);
    let object = pointer(endpoint, cxi.endpoint.object);
    let found = object.and_then(|object| pointer(object, there));
    let found = found.filter(|found| pointer(*found, back).is_some_and(|back| Some(back) == object));
    found.ok_or_else(|| Reason::new(format!("libfabric's endpoint at {endpoint} has no {what} of its own")))
}

fn receive(shape: &CxiRequestShape, kind: i64, record: &Record<'_>) -> Result<Option<Receive>, Reason> {
    if record.int(shape.kind) != kind || record.uint(shape.tagged) == 0 {
        return Ok(None);
    }
    Ok(Some(Receive {
        // The card's number of the process; which of it is any depends on the card's configuration.
        source: Source::NotKept,
        tag: record.uint(shape.tag),
        ignore: record.uint(shape.ignore),
        context: given(record.pointer(shape.context))?,
        buffer: Some(record.pointer(shape.buffer)),
        length: record.uint(shape.length),
    }))
}

/// Sends of an endpoint, in the order in which they were posted: a request leaves the list when the card has said that it is done, or
/// when the MPI is told of nothing (`cxip_evtq_req_alloc`, prov/cxi/src/cxip_evtq.c; `cxip_send_common`, cxip_msg_hpc.c).
///
/// # Errors
/// A sentence, where the endpoint does not lead to them.
pub fn sends(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Listed<Send>, Reason> {
    let what = "cxi's sends";
    let (cxi, shapes) = (part_of(layout, &layout.cxi, what)?, part_of(layout, &layout.cxi_sends, what)?);
    let at = own(target, cxi, endpoint, (shapes.owner.sends, shapes.sends.object), "sends")?;
    let (head, entry) = (shapes.sends.requests.address_in(at), (shapes.send.link, shapes.send.size));
    Ok(Listed::linked(target, head, entry, "a request", |record| send(shapes, at, record)))
}

fn send(shapes: &CxiSends, owner: TargetAddr, record: &Record<'_>) -> Result<Option<Send>, Reason> {
    let shape = &shapes.send;
    let context = record.pointer(shape.context);
    let copied = record.uint(shape.flags) & COPIED != 0 || context.is_null();
    if record.int(shape.kind) != shapes.kind || record.uint(shape.tagged) == 0 || copied {
        return Ok(None);
    }
    if record.pointer(shape.owner) != owner {
        return Err(Reason::new("it belongs to another endpoint"));
    }
    Ok(Some(Send {
        destination: Source::of(record.uint(shape.process)).address(),
        tag: record.uint(shape.tag),
        context: given(context)?,
        buffer: Some(record.pointer(shape.buffer)),
        length: record.uint(shape.length),
        number: None,
        in_order: true,
    }))
}

fn message(shape: &CxiMessageShape, record: &Record<'_>) -> Option<Message> {
    let bits = record.uint(shape.bits);
    (bits & TAGGED != 0).then(|| Message {
        source: None,
        tag: bits & TAG,
        data: (bits & WITH_DATA != 0).then(|| record.uint(shape.data)),
        length: record.uint(shape.length),
        claimed: (record.uint(shape.claimed) != 0).then_some(TargetAddr::NULL),
        number: None,
    })
}
