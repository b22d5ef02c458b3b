//! Endpoints of each provider, with receives and messages.

use super::{CONTEXT, MESSAGES, Made, RECEIVES};
use crate::libfabric::REMOTE_CQ_DATA;
use crate::libfabric::layout::Shm;

/// Makes an endpoint of a provider; `None` where a layout has none. Also: whether addresses are told, and data.
pub type Maker = fn(&mut Made<'_>) -> Option<(u64, bool, bool)>;

fn rxm(made: &mut Made<'_>) -> Option<(u64, bool, bool)> {
    let layout = made.layout;
    let shape = layout.rxm.as_ref()?;
    let endpoint = made.endpoint("ofi_rxm");
    if let Some(shared) = shape.shared {
        let context = made.shared();
        made.field(endpoint, shared, context);
        return Some((endpoint, true, layout.shared.as_ref()?.entry.data.is_some()));
    }
    let (queue_shape, receive, message) = layout.rxm_queue.as_ref()?;
    let queue = endpoint + shape.queue?.offset as u64;
    made.field(queue, queue_shape.owner, endpoint);
    let mut links = Vec::new();
    for (index, (source, tag, ignore, length)) in (0..).zip(RECEIVES) {
        let at = made.alloc(receive.size);
        made.field(at, receive.address, source);
        made.field(at, receive.tag, tag);
        made.field(at, receive.ignore, ignore);
        made.field(at, receive.context, CONTEXT + 64 * index);
        made.field(at, receive.count, 1);
        made.piece(at + receive.pieces.offset as u64, length);
        links.push(at + receive.link.offset as u64);
    }
    made.ring(queue + queue_shape.receives.offset as u64, &links);
    let mut links = Vec::new();
    for (source, tag, data, length) in MESSAGES {
        let at = made.alloc(message.size);
        made.field(at, message.address, source);
        made.field(at, message.tag, tag);
        made.field(at, message.flags, REMOTE_CQ_DATA);
        made.field(at, message.data, data);
        made.field(at, message.length, length);
        links.push(at + message.link.offset as u64);
    }
    made.ring(queue + queue_shape.messages.offset as u64, &links);
    Some((endpoint, true, true))
}

fn shm(made: &mut Made<'_>) -> Option<(u64, bool, bool)> {
    if let Some(shapes) = &made.layout.shm_queue {
        return shm_queue(made, shapes);
    }
    made.layout.shared.as_ref()?;
    let slot = made.layout.shm.as_ref()?.shared;
    let (endpoint, context) = (made.endpoint("shm"), made.shared());
    made.field(endpoint, slot, context);
    Some((endpoint, true, made.layout.shared.as_ref()?.entry.data.is_some()))
}

/// Until 1.18: lists of its own.
fn shm_queue(made: &mut Made<'_>, shapes: &Shm) -> Option<(u64, bool, bool)> {
    let Shm { lists, whole, entry, command } = shapes;
    let layout = made.layout;
    let (endpoint, context) = (made.endpoint("shm"), made.alloc(lists.size.max(0x100)));
    made.field(endpoint, layout.shm.as_ref()?.shared, context);
    made.field(context, layout.endpoint.class, layout.classes.shared);
    made.field(context, layout.endpoint.context, context);
    let shift = whole.entry.offset as u64;
    let mut links = Vec::new();
    for (index, (source, tag, ignore, length)) in (0..).zip(RECEIVES) {
        let (at, pieces) = (made.alloc(whole.size), made.alloc(16));
        made.field(at, whole.ignore, ignore);
        made.field(at + shift, entry.address, source);
        made.field(at + shift, entry.tag, tag);
        made.field(at + shift, entry.context, CONTEXT + 64 * index);
        made.field(at + shift, entry.count, 1);
        made.field(at + shift, entry.pieces, pieces);
        made.piece(pieces, length);
        links.push(at);
    }
    made.ring(context + lists.receives.offset as u64, &links);
    let mut links = Vec::new();
    for (source, tag, data, length) in MESSAGES {
        let (at, came) = (made.alloc(whole.size), made.alloc(command.size));
        made.field(at + shift, entry.address, source);
        made.field(at + shift, entry.tag, tag);
        made.field(at + shift, entry.peer_context, came);
        made.field(came, command.flags, 1);
        made.field(came, command.data, data);
        made.field(came, command.length, length);
        links.push(at);
    }
    made.ring(context + lists.messages.offset as u64, &links);
    Some((endpoint, true, true))
}

fn sm2(made: &mut Made<'_>) -> Option<(u64, bool, bool)> {
    made.layout.shared.as_ref()?;
    let slot = made.layout.sm2.as_ref()?.shared;
    let (endpoint, context) = (made.endpoint("sm2"), made.shared());
    made.field(endpoint, slot, context);
    Some((endpoint, true, made.layout.shared.as_ref()?.entry.data.is_some()))
}

fn tcp(made: &mut Made<'_>) -> Option<(u64, bool, bool)> {
    let layout = made.layout;
    let (tcp, array) = (layout.tcp.as_ref()?, layout.array.as_ref()?);
    let (endpoint, receives, domain) =
        (made.endpoint("tcp"), made.alloc(tcp.receives.size), made.alloc(tcp.domain.size));
    made.field(endpoint, tcp.endpoint.shared, receives);
    made.field(receives, tcp.receives.owner, endpoint);
    made.field(receives, tcp.receives.domain, domain);
    let entry = &tcp.entry;
    let links: Vec<u64> = (0..3).map(|_| made.alloc(entry.size)).collect();
    for (index, (source, tag, ignore, length)) in (0..).zip(RECEIVES) {
        let at = links[index];
        made.field(at, entry.address, source);
        made.field(at, entry.tag, tag);
        made.field(at, entry.ignore, ignore);
        made.field(at, entry.context, CONTEXT + 64 * index as u64);
        made.field(at, entry.sequence, index as u64);
        made.field(at, entry.count, 1);
        made.piece(at + entry.pieces.offset as u64, length);
    }
    made.chain(receives + tcp.receives.receives.offset as u64, &links[1..2]);
    let directed = receives + tcp.receives.directed.offset as u64;
    made.field(directed, array.item_size, 16);
    let chunk = made.alloc(1024 * 16);
    made.memory.put(directed + array.chunk.offset as u64, chunk, 8);
    made.chain(chunk + 16, &links[..1]);
    made.chain(chunk + 2 * 16, &links[2..]);
    // Two were saved, the last still waits in its connection.
    let header = |made: &mut Made<'_>, at: u64, (_, tag, data, length): (u64, u64, u64, u64)| {
        made.field(at, entry.kind, 1);
        made.field(at, entry.flags, 1);
        made.field(at, entry.header_length, 32);
        made.field(at, entry.length, length + 32);
        made.field(at, entry.data, data);
        made.field(at, entry.data_tag, tag);
    };
    let saved: Vec<u64> = (0..2).map(|_| made.alloc(entry.size)).collect();
    for (at, message) in saved.iter().zip(MESSAGES) {
        header(made, *at, message);
        made.field(*at, entry.address, message.0);
    }
    let of_process = made.alloc(tcp.saved.size);
    made.chain(of_process + tcp.saved.messages.offset as u64, &saved);
    made.ring(domain + tcp.domain.saved.offset as u64, &[of_process + tcp.saved.link.offset as u64]);
    let (connection, peer) = (made.alloc(tcp.connection.size), made.alloc(tcp.peer.size));
    made.field(connection, tcp.connection.peer, peer);
    made.field(peer, tcp.peer.address, MESSAGES[2].0);
    let shift = entry.header.offset as u64;
    header(made, connection + tcp.connection.header.offset as u64 - shift, MESSAGES[2]);
    made.ring(domain + tcp.domain.waiting.offset as u64, &[connection + tcp.connection.link.offset as u64]);
    Some((endpoint, true, true))
}

fn sockets(made: &mut Made<'_>) -> Option<(u64, bool, bool)> {
    let layout = made.layout;
    let sockets = layout.sockets.as_ref()?;
    let (endpoint, attributes, context) =
        (made.alloc(0x1000), made.alloc(sockets.attributes.size), made.alloc(sockets.receives.size));
    made.field(endpoint, layout.endpoint.class, layout.classes.endpoint);
    made.field(endpoint, sockets.endpoint.attributes, attributes);
    made.field(attributes, sockets.attributes.class, layout.classes.endpoint);
    made.field(attributes, sockets.attributes.context, context);
    made.field(context, layout.endpoint.class, layout.classes.receives);
    made.field(context, sockets.receives.attributes, attributes);
    let entry = &sockets.entry;
    let mut links = Vec::new();
    for (index, (source, tag, ignore, length)) in (0..).zip(RECEIVES) {
        let at = made.alloc(entry.size);
        made.field(at, entry.owner, context);
        made.field(at, entry.tagged, 1);
        made.field(at, entry.address, source);
        made.field(at, entry.tag, tag);
        made.field(at, entry.ignore, ignore);
        made.field(at, entry.context, CONTEXT + 64 * index);
        made.field(at, entry.count, 1);
        made.piece(at + entry.pieces.offset as u64, length);
        links.push(at + entry.link.offset as u64);
    }
    // One that is being filled does not wait.
    let busy = made.alloc(entry.size);
    made.field(busy, entry.busy, 1);
    made.field(busy, entry.tagged, 1);
    links.push(busy + entry.link.offset as u64);
    made.ring(context + sockets.receives.receives.offset as u64, &links);
    let mut links = Vec::new();
    for (source, tag, data, length) in MESSAGES {
        let at = made.alloc(entry.size);
        made.field(at, entry.tagged, 1);
        made.field(at, entry.address, source);
        made.field(at, entry.tag, tag);
        made.field(at, entry.data, data);
        made.field(at, entry.flags, REMOTE_CQ_DATA);
        made.field(at, entry.length, length);
        links.push(at + entry.link.offset as u64);
    }
    made.ring(context + sockets.receives.messages.offset as u64, &links);
    Some((endpoint, true, true))
}

fn rxd(made: &mut Made<'_>) -> Option<(u64, bool, bool)> {
    let (shape, receive, message) = made.layout.rxd.as_ref()?;
    let endpoint = made.endpoint("ofi_rxd");
    let mut links = Vec::new();
    for (index, (source, tag, ignore, length)) in (0..).zip(RECEIVES) {
        let at = made.alloc(receive.size);
        made.field(at, receive.peer, source);
        made.field(at, receive.tag, tag);
        made.field(at, receive.ignore, ignore);
        made.field(at, receive.context, CONTEXT + 64 * index);
        made.field(at, receive.count, 1);
        made.piece(at + receive.pieces.offset as u64, length);
        links.push(at + receive.link.offset as u64);
    }
    made.ring(endpoint + shape.receives.offset as u64, &links);
    let mut links = Vec::new();
    for (_, tag, data, length) in MESSAGES {
        let (at, parts) = (made.alloc(message.size), made.alloc(64));
        for (slot, offset, value) in [(message.parts, 0, length), (message.tag, 24, tag), (message.data, 32, data)] {
            made.memory.put(parts + offset, value, 8);
            made.field(at, slot, parts + offset);
        }
        links.push(at + message.link.offset as u64);
    }
    made.ring(endpoint + shape.messages.offset as u64, &links);
    Some((endpoint, false, true))
}

/// All that jobs were tried on.
pub const PROVIDERS: [(&str, Maker); 6] =
    [("ofi_rxm", rxm), ("shm", shm), ("sm2", sm2), ("tcp", tcp), ("sockets", sockets), ("ofi_rxd", rxd)];
