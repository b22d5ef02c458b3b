//! cxi: the network of HPE Slingshot (prov/cxi/include/cxip.h, 2.1 to 2.5). By its published structures: it was tried on nothing.
//!
//! Receives are handed to the network card, which matches them; libfabric keeps a request for each. Of the messages only those are
//! read that libfabric's software has: the card's own list is not in memory.

use super::endpoint::field;
use super::layout::{Cxi, CxiMessageShape, CxiRequestShape, CxiSends, Layout};
use super::shared::Both;
use super::{COPIED, Listed, MAX_LIST, Message, Receive, Send, Source, given};
use crate::record::{Record, Slot};
use crate::walk::circular_list;
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
    let cxi =
        layout.cxi.as_ref().ok_or_else(|| Reason::new(format!("the layout {} has nothing of cxi", layout.name)))?;
    let pointer = |at: TargetAddr, slot: Slot| field(target, at, slot.offset).map(TargetAddr::new);
    let object = pointer(endpoint, cxi.endpoint.object);
    let receives = object.and_then(|object| pointer(object, cxi.object.receives));
    let back = receives.and_then(|receives| pointer(receives, cxi.receives.object));
    let (Some(at), true) = (receives, back.is_some() && back == object) else {
        return Err(Reason::new(format!("libfabric's endpoint at {endpoint} has no receives of its own")));
    };
    let list = |slot: Slot| circular_list(target, slot.address_in(at), 0, MAX_LIST);
    let requests =
        Listed::of(list(cxi.receives.requests), "a request", |link| receive(target, cxi, &cxi.request, link));
    let mut receives = Listed { found: requests.found.into_iter().flatten().collect(), problem: requests.problem };
    receives.fail("the network card matches them: some may be matched already");
    let messages = Listed::of(list(cxi.receives.messages), "a message", |link| message(target, &cxi.message, link));
    let mut messages = Listed { found: messages.found.into_iter().flatten().collect(), problem: messages.problem };
    messages.fail("those that the network card keeps are not in the process's memory");
    Ok((receives, messages))
}

fn receive(
    target: &dyn Target,
    cxi: &Cxi,
    shape: &CxiRequestShape,
    link: TargetAddr,
) -> Result<Option<Receive>, Reason> {
    let at = shape.link.structure_of(link);
    let mut buffer = Vec::new();
    let record = Record::read(target, at, shape.size, &mut buffer).map_err(Reason::of)?;
    if record.int(shape.kind) != cxi.receive || record.uint(shape.tagged) == 0 {
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
pub fn sends(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Listed<Send> {
    let (Some(cxi), Some(shapes)) = (&layout.cxi, &layout.cxi_sends) else {
        return Listed::failed(format!("the layout {} has nothing of cxi's sends", layout.name));
    };
    let pointer = |at: TargetAddr, slot: Slot| field(target, at, slot.offset).map(TargetAddr::new);
    let object = pointer(endpoint, cxi.endpoint.object);
    let sends = object.and_then(|object| pointer(object, shapes.owner.sends));
    let back = sends.and_then(|sends| pointer(sends, shapes.sends.object));
    let (Some(at), true) = (sends, back.is_some() && back == object) else {
        return Listed::failed(format!("libfabric's endpoint at {endpoint} has no sends of its own"));
    };
    let list = circular_list(target, shapes.sends.requests.address_in(at), 0, MAX_LIST);
    let requests = Listed::of(list, "a request", |link| send(target, shapes, at, link));
    Listed { found: requests.found.into_iter().flatten().collect(), problem: requests.problem }
}

fn send(target: &dyn Target, shapes: &CxiSends, owner: TargetAddr, link: TargetAddr) -> Result<Option<Send>, Reason> {
    let shape = &shapes.send;
    let at = shape.link.structure_of(link);
    let mut buffer = Vec::new();
    let record = Record::read(target, at, shape.size, &mut buffer).map_err(Reason::of)?;
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

fn message(target: &dyn Target, shape: &CxiMessageShape, link: TargetAddr) -> Result<Option<Message>, Reason> {
    let at = shape.link.structure_of(link);
    let record = Record::owned(target, at, shape.size).map_err(Reason::of)?;
    let bits = record.uint(shape.bits);
    if bits & TAGGED == 0 {
        return Ok(None);
    }
    Ok(Some(Message {
        source: None,
        tag: bits & TAG,
        data: (bits & WITH_DATA != 0).then(|| record.uint(shape.data)),
        length: record.uint(shape.length),
        claimed: (record.uint(shape.claimed) != 0).then_some(TargetAddr::NULL),
        number: None,
    }))
}
