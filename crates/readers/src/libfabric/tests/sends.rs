//! Sends of every provider, added to its endpoint.

use super::providers::{Maker, PROVIDERS};
use super::{ABI, CONTEXT, Made, shared_memory, sockets};
use crate::libfabric::layout::{Layout, MapShape, Pool};
use crate::libfabric::{Fabric, Number, Send};
use target::address::TargetAddr;

/// Behind the contexts of receives.
pub const SENT: u64 = CONTEXT + 0x1000;

/// A send to process 2, as it is to be found.
pub fn send(index: u64, tag: u64, length: u64, number: Option<Number>, in_order: bool) -> Send {
    Send {
        destination: Some(2),
        tag,
        context: TargetAddr::new(SENT + 64 * index),
        buffer: Some(TargetAddr::new(0xb000 + length)),
        length,
        number,
        in_order,
    }
}

impl Made<'_> {
    /// A table with one object.
    fn map(&mut self, shape: &MapShape, at: u64, number: u64, object: u64) {
        let chunk = self.alloc(1024 * 8);
        self.memory.put(at + shape.chunk.offset as u64, chunk, 8);
        self.memory.put(at + shape.count.offset as u64, 1, 4);
        self.memory.put(chunk + 8 * number, object, 8);
    }

    /// A pool of five objects, of which the first, the third and the last are in use.
    pub fn pool(&mut self, shape: &Pool, size: usize) -> (u64, [u64; 3]) {
        let (pool, region, table) = (self.alloc(shape.pool.size), self.alloc(shape.region.size), self.alloc(8));
        let header = shape.object.size as u64;
        let stride = (size as u64 + header).next_multiple_of(16);
        let first = self.alloc(usize::try_from(5 * stride).unwrap()) + header;
        for (slot, value) in [
            (shape.pool.stride, stride),
            (shape.pool.regions, table),
            (shape.pool.region_count, 1),
            (shape.pool.in_region, 5),
        ] {
            self.field(pool, slot, value);
        }
        self.memory.put(table, region, 8);
        self.field(region, shape.region.first, first);
        self.field(region, shape.region.pool, pool);
        let object = |index: u64| first + index * stride;
        self.chain(pool + shape.pool.free.offset as u64, &[object(3) - header, object(1) - header]);
        (pool, [object(0), object(2), object(4)])
    }
}

/// Adds sends to an endpoint; `None` where the layout has none of this provider.
pub fn add(made: &mut Made<'_>, provider: &str, endpoint: u64) -> Option<Vec<Send>> {
    match provider {
        "tcp" => tcp(made, endpoint),
        "ofi_rxm" => rxm(made, endpoint),
        "ofi_rxd" => rxd(made, endpoint),
        "shm" if made.layout.shm_answers.is_some() => shared_memory::shm_answers(made, endpoint),
        "shm" => shared_memory::shm(made, endpoint),
        "sm2" => shared_memory::sm2(made, endpoint),
        "cxi" => cxi(made, endpoint),
        "sockets" => sockets::sends(made, endpoint),
        _ => None,
    }
}

fn tcp(made: &mut Made<'_>, endpoint: u64) -> Option<Vec<Send>> {
    let (shapes, tcp) = (made.layout.tcp_sends.as_ref()?, made.layout.tcp.as_ref()?);
    let (connection, queues, peer) =
        (made.alloc(shapes.connection.size), made.alloc(shapes.queues.size), made.alloc(tcp.peer.size));
    made.map(&shapes.map, endpoint + shapes.endpoint.connections.offset as u64, 7, connection);
    made.field(connection, shapes.connection.owner, endpoint);
    made.field(connection, shapes.connection.endpoint, queues);
    made.field(connection, shapes.connection.peer, peer);
    made.field(peer, tcp.peer.address, 2);
    let entry = &tcp.entry;
    let one = |made: &mut Made<'_>, index: u64, tag: u64, length: u64, kind: u64| {
        let at = made.alloc(entry.size);
        let announced = kind == 5;
        made.field(at, entry.kind, kind);
        made.field(at, entry.plain_tag, tag);
        made.field(at, entry.header_length, 24);
        made.field(at, entry.length, if announced { 32 } else { length + 24 });
        made.field(at, entry.context, SENT + 64 * index);
        made.field(at, if announced { entry.ignore } else { entry.count }, 2);
        made.field(at, entry.buffer.unwrap(), 0xb000 + length);
        made.piece(at + entry.pieces.offset as u64 + 16, length);
        if let Some(slot) = entry.announced.filter(|_| announced) {
            made.field(at, slot, length);
        }
        at
    };
    let current = one(made, 1, 71, 4000, 1);
    let behind = one(made, 2, 72, 5000, 1);
    // What the library sends for itself, and what it has copied, are none of the MPI's.
    let own = one(made, 3, 73, 8, 6);
    let copied = one(made, 3, 74, 8, 1);
    made.field(copied, entry.context, 0);
    made.field(queues, shapes.queues.current, current);
    made.chain(queues + shapes.queues.waiting.offset as u64, &[behind, own, copied]);
    let mut expected = vec![send(1, 71, 4000, None, true), send(2, 72, 5000, None, true)];
    if let Some(announced) = shapes.queues.announced {
        let (table, first, matched) =
            (made.alloc(256 * shapes.item.size), one(made, 0, 70, 9000, 5), one(made, 4, 75, 7000, 7));
        made.field(queues, crate::record::Slot { size: 8, ..announced }, table);
        made.field(table + 3 * shapes.item.size as u64, shapes.item.item, first);
        made.field(table + 3 * shapes.item.size as u64, shapes.item.next, u64::from(u32::MAX));
        made.chain(queues + shapes.queues.waiting.offset as u64, &[behind, own, copied, matched]);
        expected.insert(0, send(0, 70, 9000, Some(Number::OfPair(3)), true));
        expected.push(send(4, 75, 7000, None, false));
    }
    Some(expected)
}

fn rxm(made: &mut Made<'_>, endpoint: u64) -> Option<Vec<Send>> {
    let shapes = made.layout.rxm_sends.as_ref()?;
    let (connection, peer) = (made.alloc(shapes.connection.size), made.alloc(shapes.peer.size));
    made.map(&shapes.map, endpoint + shapes.endpoint.connections.offset as u64, 0, connection);
    made.field(connection, shapes.connection.owner, endpoint);
    made.field(connection, shapes.connection.peer, peer);
    made.field(connection, shapes.connection.target, 5);
    made.field(peer, shapes.peer.address, 2);
    // Parts of a message that could not be sent at once.
    let (deferred, shape) = (made.alloc(shapes.deferred.size), &shapes.deferred);
    made.ring(connection + shapes.connection.deferred.offset as u64, &[deferred + shape.link.offset as u64]);
    made.field(deferred, shape.kind, shapes.parts);
    made.field(deferred, shape.operation, 1);
    made.field(deferred, shape.tag, 80);
    made.field(deferred, shape.length, 3000);
    made.field(deferred, shape.context, SENT);
    made.field(deferred, shape.count, 1);
    made.piece(deferred + shape.pieces.offset as u64, 3000);
    let (pool, objects) = made.pool(&shapes.pool, shapes.send.size + shapes.pieces.size + 64);
    made.field(endpoint, shapes.endpoint.pool, pool);
    let shape = &shapes.send;
    // A part of that message, a short one, and one that is announced.
    for (index, (at, packet)) in (0..).zip(objects.into_iter().zip([1, 0, 2])) {
        made.field(at, shape.packet, packet);
        made.field(at, shape.operation, 1);
        made.field(at, shape.target, 5);
        made.field(at, shape.tag, 80 + index);
        made.field(at, shape.length, 3000 + index);
        made.field(at, shape.context, SENT + 64 * index);
        made.field(at, shape.number, 40 + index);
    }
    let pieces = objects[2] + shape.data.offset as u64;
    made.field(pieces, shapes.pieces.count, 1);
    made.piece(pieces + shapes.pieces.pieces.offset as u64, 3002);
    let short = Send { buffer: None, ..send(1, 81, 3001, None, false) };
    Some(vec![send(0, 80, 3000, None, false), short, send(2, 82, 3002, Some(Number::OfProcess(42)), false)])
}

fn rxd(made: &mut Made<'_>, endpoint: u64) -> Option<Vec<Send>> {
    let shapes = made.layout.rxd_sends.as_ref()?;
    let (addresses, peer) = (made.alloc(shapes.addresses.size), made.alloc(shapes.peer.size));
    made.field(endpoint, shapes.endpoint.addresses, addresses);
    // Its own number of the process is 9.
    made.map(&shapes.map, addresses + shapes.addresses.numbers.offset as u64, 9, 3);
    made.ring(endpoint + shapes.endpoint.active.offset as u64, &[peer + shapes.peer.link.offset as u64]);
    made.ring(endpoint + shapes.endpoint.asked.offset as u64, &[]);
    let shape = &shapes.send;
    let mut links = Vec::new();
    for (index, operation) in (0..).zip([shapes.tagged, shapes.tagged + 1, shapes.tagged]) {
        let at = made.alloc(shape.size);
        made.field(at, shape.peer, 9);
        made.field(at, shape.operation, operation);
        made.field(at, shape.tag, 90 + index);
        made.field(at, shape.length, 2000 + index);
        made.field(at, shape.context, SENT + 64 * index);
        made.field(at, shape.count, 1);
        made.piece(at + shape.pieces.offset as u64, 2000 + index);
        links.push(at + shape.link.offset as u64);
    }
    made.ring(peer + shapes.peer.sends.offset as u64, &links);
    Some(vec![send(0, 90, 2000, None, true), send(2, 92, 2002, None, true)])
}

fn cxi(made: &mut Made<'_>, endpoint: u64) -> Option<Vec<Send>> {
    let (shapes, cxi) = (made.layout.cxi_sends.as_ref()?, made.layout.cxi.as_ref()?);
    let object = super::field_of(&made.memory.target(), endpoint, cxi.endpoint.object);
    let sends = made.alloc(shapes.sends.size);
    made.field(object, shapes.owner.sends, sends);
    made.field(sends, shapes.sends.object, object);
    let shape = &shapes.send;
    let mut links = Vec::new();
    // One of no tag, and one that was copied.
    for (index, (tagged, flags)) in (0..).zip([(1, 0), (0, 0), (1, 1 << 25), (1, 0)]) {
        let at = made.alloc(shape.size);
        made.field(at, shape.kind, shapes.kind as u64);
        made.field(at, shape.owner, sends);
        made.field(at, shape.context, SENT + 64 * index);
        made.field(at, shape.buffer, 0xb000 + 7000 + index);
        made.field(at, shape.length, 7000 + index);
        made.field(at, shape.process, 2);
        made.field(at, shape.tagged, tagged);
        made.field(at, shape.tag, 20 + index);
        made.field(at, shape.flags, flags);
        links.push(at + shape.link.offset as u64);
    }
    made.ring(sends + shapes.sends.requests.offset as u64, &links);
    Some(vec![send(0, 20, 7000, None, true), send(3, 23, 7003, None, true)])
}

#[test]
fn sends_of_every_provider_are_read() {
    let layouts = Layout::shipped(ABI);
    for (name, make) in
        PROVIDERS.into_iter().chain([("cxi", (|made| Some((super::cxi::cxi(made)?, false, true))) as Maker)])
    {
        let mut seen = 0;
        for layout in &layouts {
            let mut made = Made::new(layout);
            let Some((endpoint, ..)) = make(&mut made) else { continue };
            let which = format!("{name} by {}", layout.name);
            let sends =
                |made: &Made<'_>| Fabric::new(&made.memory.target()).queues(TargetAddr::new(endpoint)).unwrap().sends;
            let Some(expected) = add(&mut made, name, endpoint) else {
                assert!(sends(&made).problem.is_some(), "{which}");
                continue;
            };
            seen += 1;
            let found = sends(&made);
            assert_eq!((found.found, found.problem), (expected, None), "{which}");
        }
        // All but 1.15, which keeps shm's messages elsewhere, and before 1.19 sm2's.
        let least = match name {
            "shm" => layouts.len() - 1,
            "sm2" => layouts.len() - 3,
            "cxi" => 7,
            _ => layouts.len() - 3,
        };
        assert!(seen >= least, "{name}: {seen}");
    }
}

#[test]
fn what_is_not_the_endpoints_own_is_told() {
    let layouts = Layout::shipped(ABI);
    let layout = layouts.last().unwrap();
    for (name, make) in PROVIDERS.into_iter().filter(|(name, _)| matches!(*name, "tcp" | "ofi_rxm")) {
        let mut made = Made::new(layout);
        let (endpoint, ..) = make(&mut made).unwrap();
        add(&mut made, name, endpoint).unwrap();
        let (map, at) = match name {
            "tcp" => (&layout.tcp_sends.as_ref().unwrap().map, layout.tcp_sends.as_ref().unwrap().endpoint.connections),
            _ => (&layout.rxm_sends.as_ref().unwrap().map, layout.rxm_sends.as_ref().unwrap().endpoint.connections),
        };
        let other = made.alloc(4096);
        made.map(map, endpoint + at.offset as u64, 1, other);
        let queues = Fabric::new(&made.memory.target()).queues(TargetAddr::new(endpoint)).unwrap();
        assert!(queues.sends.problem.unwrap().to_string().contains("not its own"), "{name}");
    }
}
