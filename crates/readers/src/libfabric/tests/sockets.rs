//! Sends of sockets.

use super::providers::PROVIDERS;
use super::sends::{SENT, send};
use super::{ABI, Made, field_of};
use crate::libfabric::layout::Layout;
use crate::libfabric::{Fabric, REMOTE_CQ_DATA, Send};
use crate::record::Slot;
use target::address::TargetAddr;

/// Adds them to an endpoint.
pub fn sends(made: &mut Made<'_>, endpoint: u64) -> Option<Vec<Send>> {
    let (shapes, sockets) = (made.layout.sockets_sends.as_ref()?, made.layout.sockets.as_ref()?);
    let attributes = made.memory.target();
    let attributes = field_of(&attributes, endpoint, sockets.endpoint.attributes);
    let (context, connection) = (made.alloc(shapes.sends.size), made.alloc(shapes.connection.size));
    made.field(attributes, shapes.owner.sends, context);
    made.field(context, shapes.sends.attributes, attributes);
    made.field(connection, shapes.connection.address, 2);
    let shape = &shapes.send;
    let mut links = Vec::new();
    // The second is told, the third has no tag, the fourth has gone.
    for (index, (operation, told, gone)) in (0..).zip([(1, 0, 0), (1, 1, 0), (3, 0, 0), (1, 0, 1), (1, 0, 0)]) {
        let at = made.alloc(shape.size);
        made.field(at, shape.operation, operation);
        made.field(at, shape.told, told);
        made.field(at, shape.owner, context);
        made.field(at, shape.context, SENT + 64 * index);
        made.field(at, shape.tag, if gone == 0 { 50 + index } else { 0 });
        made.field(at, shape.gone, gone);
        made.field(at, shape.connection, connection);
        made.field(at, shape.count, 1);
        let piece = at + shape.pieces.offset as u64;
        made.field(piece, shapes.piece.address, 0xb000 + 600 + index);
        made.field(piece, shapes.piece.length, 600 + index);
        links.push(at + shape.link.offset as u64);
        if gone != 0 {
            // An earlier use has left sixteen bytes.
            let whole = made.alloc(shapes.header.size + 32);
            let buffer = whole + 16;
            made.field(at, shape.flags, REMOTE_CQ_DATA);
            made.field(at, shape.room, 1024);
            made.field(at, shape.buffered, 16 + 24 + 8 + 8);
            made.field(at, shape.buffer, whole);
            made.field(buffer, shapes.header.operation, 1);
            made.memory.put(buffer + shapes.header.size as u64, 50 + index, 8);
            for at in [at + shape.header.offset as u64, buffer] {
                made.field(at, shapes.header.entry, 0x1234);
                made.field(at, shapes.header.length, 0x5678);
            }
        }
    }
    made.ring(context + shapes.sends.going.offset as u64, &links);
    let plain = |index: u64| send(index, 50 + index, 600 + index, None, true);
    Some(vec![plain(0), plain(3), plain(4)])
}

/// An endpoint with sends, and these.
fn with_sends(made: &mut Made<'_>) -> (u64, Vec<Send>) {
    let (_, make) = PROVIDERS.into_iter().find(|(name, _)| *name == "sockets").unwrap();
    let (endpoint, ..) = make(made).unwrap();
    (endpoint, sends(made, endpoint).unwrap())
}

#[test]
fn the_tag_of_a_send_over_sockets_that_has_gone_is_told_or_missed() {
    let layouts = Layout::shipped(ABI);
    let layout = layouts.last().unwrap();
    let mut made = Made::new(layout);
    let (endpoint, sends) = with_sends(&mut made);
    let shapes = layout.sockets_sends.as_ref().unwrap();
    let read = |made: &Made<'_>| Fabric::new(&made.memory.target()).queues(TargetAddr::new(endpoint)).unwrap().sends;
    // Where its buffer has more than it takes, what began the message was written over.
    let gone = read(&made).found.iter().position(|send| send.tag == 53).unwrap();
    let (target, mut links) = (made.memory.target(), Vec::new());
    let attributes = field_of(&target, endpoint, layout.sockets.as_ref().unwrap().endpoint.attributes);
    let context = field_of(&target, attributes, shapes.owner.sends);
    let mut link = context + shapes.sends.going.offset as u64;
    for _ in 0..4 {
        link = field_of(&target, link, Slot { offset: 0, ..shapes.send.owner });
        links.push(link);
    }
    made.field(links[3] - shapes.send.link.offset as u64, shapes.send.buffered, 2048);
    let found = read(&made);
    assert_eq!((gone, found.found.len()), (1, sends.len() - 1));
    assert!(found.problem.unwrap().to_string().contains("its tag is not kept"));
}

#[test]
fn an_endpoint_of_sockets_with_several_contexts_has_the_sends_of_its_own() {
    for layout in &Layout::shipped(ABI) {
        let (Some(sockets), Some(shapes)) = (&layout.sockets, &layout.sockets_sends) else { continue };
        let mut made = Made::new(layout);
        let (endpoint, sends) = with_sends(&mut made);
        let target = made.memory.target();
        let attributes = field_of(&target, endpoint, sockets.endpoint.attributes);
        let receives = field_of(&target, attributes, sockets.attributes.context);
        let context = field_of(&target, attributes, shapes.owner.sends);
        let table = made.alloc(32);
        made.field(attributes, shapes.owner.sends, 0);
        made.field(attributes, shapes.owner.several, table);
        made.field(attributes, shapes.owner.count, 3);
        made.field(receives, sockets.receives.number, 2);
        made.memory.put(table + 16, context, 8);
        let queues = Fabric::new(&made.memory.target()).queues(TargetAddr::new(receives)).unwrap();
        assert_eq!((queues.sends.found, queues.sends.problem), (sends, None), "{}", layout.name);
        made.field(attributes, shapes.owner.count, 2);
        let queues = Fabric::new(&made.memory.target()).queues(TargetAddr::new(receives)).unwrap();
        assert!(queues.sends.problem.is_some(), "{}", layout.name);
    }
}
