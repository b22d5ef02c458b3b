//! ofi_rxd: reliable messages over datagrams (prov/rxd/src).
//!
//! It numbers the processes in a way of its own; its table of addresses says which one each is. Of messages only the data tell it.

use std::collections::HashMap;

use super::arrays;
use super::endpoint::behind;
use super::layout::{Layout, RxdMessageShape, RxdReceiveShape, RxdSends};
use super::shared::Both;
use super::{ANY_ADDRESS, Listed, MAX_LIST, Message, Receive, Send, Source, given, part_of, pieces};
use crate::record::{Record, Slot};
use crate::walk::circular_list;
use target::address::TargetAddr;
use target::{Reason, Target};

/// The lists of an endpoint.
///
/// # Errors
/// A sentence, where the layout has none of them.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Both, Reason> {
    let (shape, receive_shape, message_shape) = part_of(layout, &layout.rxd, "rxd")?;
    let addresses = layout.rxd_sends.as_ref().map(|shapes| addresses(target, shapes, endpoint)).unwrap_or_default();
    let (head, entry) = (shape.receives.address_in(endpoint), (receive_shape.link, receive_shape.size));
    let receives =
        Listed::linked(target, head, entry, "a receive", |record| receive(target, receive_shape, &addresses, record));
    let (head, entry) = (shape.messages.address_in(endpoint), (message_shape.link, message_shape.size));
    let messages = Listed::linked(target, head, entry, "a message", |record| message(target, message_shape, record));
    Ok((receives, messages))
}

/// libfabric's numbers of processes, by those of rxd. Empty where they cannot be read.
fn addresses(target: &dyn Target, shapes: &RxdSends, endpoint: TargetAddr) -> HashMap<u64, u64> {
    let table = behind(target, endpoint, shapes.endpoint.addresses.offset, "addresses");
    let table = table.map(|at| shapes.addresses.numbers.address_in(at));
    let objects = table.and_then(|at| arrays::objects(target, &shapes.map, at)).unwrap_or_default();
    // Those of libfabric begin at 1 there (`RXD_IDX_OFFSET`).
    objects.into_iter().map(|(own, number)| (own, number.get() - 1)).collect()
}

fn receive(
    target: &dyn Target,
    shape: &RxdReceiveShape,
    addresses: &HashMap<u64, u64>,
    record: &Record<'_>,
) -> Result<Receive, Reason> {
    let (buffer, length) = pieces(target, record.address_of(shape.pieces), record.uint(shape.count))?;
    let source = match record.uint(shape.peer) {
        ANY_ADDRESS => Source::Any,
        peer => addresses.get(&peer).map_or(Source::NotKept, |address| Source::Address(*address)),
    };
    Ok(Receive {
        source,
        tag: record.uint(shape.tag),
        ignore: record.uint(shape.ignore),
        context: given(record.pointer(shape.context))?,
        buffer,
        length,
    })
}

fn message(target: &dyn Target, shape: &RxdMessageShape, record: &Record<'_>) -> Result<Message, Reason> {
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
        number: None,
    })
}

/// Most processes that are talked to.
const MAX_PEERS: usize = 1 << 20;

/// Sends of an endpoint: each process that it talks to has them in their order (`rxd_tx_entry_init_common`,
/// prov/rxd/src/rxd_ep.c).
///
/// # Errors
/// A sentence, where the layout has none.
pub fn sends(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Listed<Send>, Reason> {
    let shapes = part_of(layout, &layout.rxd_sends, "rxd's sends")?;
    let mut all = Listed::default();
    let addresses = addresses(target, shapes, endpoint);
    for head in [shapes.endpoint.active, shapes.endpoint.asked] {
        let peers = circular_list(target, head.address_in(endpoint), 0, MAX_PEERS);
        for link in peers.elements {
            let peer = shapes.peer.link.structure_of(link);
            let (head, entry) = (shapes.peer.sends.address_in(peer), (shapes.send.link, shapes.send.size));
            all.append(Listed::linked(target, head, entry, "a send", |record| {
                send(target, shapes, &addresses, record)
            }));
            if all.found.len() >= MAX_LIST {
                break;
            }
        }
        all.fail_if(peers.stopped.map(Reason::of));
    }
    Ok(all)
}

fn send(
    target: &dyn Target,
    shapes: &RxdSends,
    addresses: &HashMap<u64, u64>,
    record: &Record<'_>,
) -> Result<Option<Send>, Reason> {
    let shape = &shapes.send;
    let context = record.pointer(shape.context);
    // What was copied is done for the MPI, which is told of nothing.
    if record.uint(shape.operation) != shapes.tagged || context.is_null() {
        return Ok(None);
    }
    let (buffer, _) = pieces(target, record.address_of(shape.pieces), record.uint(shape.count))?;
    Ok(Some(Send {
        destination: addresses.get(&record.uint(shape.peer)).copied(),
        tag: record.uint(shape.tag),
        context: given(context)?,
        buffer,
        length: record.uint(shape.length),
        number: None,
        in_order: true,
    }))
}
