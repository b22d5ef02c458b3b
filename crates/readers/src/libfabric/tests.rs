//! Endpoints of every provider made up in memory, by each layout that is carried; and what damage to them does.
//!
//! For cxi this is all that there is: it was tried on nothing else.

#![allow(clippy::unwrap_used)]

use super::layout::{Layout, Shared};
use super::{ANY_ADDRESS, Fabric, Message, REMOTE_CQ_DATA, Receive, Source};
use crate::record::Slot;
use crate::ucx::tests::{ABI, Memory};
use target::address::TargetAddr;

const BASE: u64 = 0x10_0000;
const CONTEXT: u64 = 0x7f00_1000;

/// Memory that is handed out from the beginning on.
struct Made<'a> {
    memory: Memory,
    next: u64,
    layout: &'a Layout,
}

/// One receive: from whom, by which tag, into how many bytes.
const RECEIVES: [(u64, u64, u64, u64); 3] = [(1, 17, 0, 40), (ANY_ADDRESS, 18, 0xff00, 8), (2, 1 << 40, 3 << 60, 0)];
/// One message: from whom, by which tag, with which data, of how many bytes.
const MESSAGES: [(u64, u64, u64, u64); 3] = [(1, 99, 1, 28), (2, 55, 2, 1 << 22), (1, 66, 1, 0)];

impl<'a> Made<'a> {
    fn new(layout: &'a Layout) -> Self {
        Self { memory: Memory::new(BASE, 0x8_0000), next: BASE + 0x100, layout }
    }

    fn alloc(&mut self, size: usize) -> u64 {
        let at = self.next;
        self.next = (at + size as u64 + 64).next_multiple_of(16);
        at
    }

    fn field(&mut self, at: u64, slot: Slot, value: u64) {
        self.memory.field(at, slot, value);
    }

    /// A domain of a provider of this layout's release.
    fn domain(&mut self, name: &str) -> u64 {
        let (domain, provider, text) = (self.alloc(4096), self.alloc(256), self.alloc(64));
        self.domain_at(domain, provider, text, name);
        domain
    }

    fn domain_at(&mut self, domain: u64, provider: u64, text: u64, name: &str) {
        let layout = self.layout;
        let parts: Vec<u64> = layout.fits[0].split('.').map(|part| part.parse().unwrap()).collect();
        let version = ((parts[0] * 100 + parts[1]) << 16) | (parts.get(2).copied().unwrap_or(0) * 10);
        self.field(domain, layout.domain.provider, provider);
        self.field(provider, layout.provider.version, version);
        self.field(provider, layout.provider.name, text);
        for (index, byte) in (0..).zip(name.bytes()) {
            self.memory.put(text + index, u64::from(byte), 1);
        }
    }

    /// An endpoint of most providers.
    fn endpoint(&mut self, name: &str) -> u64 {
        let layout = self.layout;
        let (endpoint, domain) = (self.alloc(0x5000), self.domain(name));
        self.field(endpoint, layout.endpoint.class, layout.classes.endpoint);
        self.field(endpoint, layout.util.domain, domain);
        endpoint
    }

    /// A ring of elements behind a head: next, then previous.
    fn ring(&mut self, head: u64, links: &[u64]) {
        let all: Vec<u64> = std::iter::once(head).chain(links.iter().copied()).collect();
        for (index, link) in all.iter().enumerate() {
            self.memory.put(*link, all[(index + 1) % all.len()], 8);
            self.memory.put(link + 8, all[(index + all.len() - 1) % all.len()], 8);
        }
    }

    /// A chain of elements: first, last.
    fn chain(&mut self, head: u64, links: &[u64]) {
        self.memory.put(head, links.first().copied().unwrap_or(0), 8);
        for pair in links.windows(2) {
            self.memory.put(pair[0], pair[1], 8);
        }
    }

    /// One piece: address and length.
    fn piece(&mut self, at: u64, length: u64) {
        self.memory.put(at, 0xb000 + length, 8);
        self.memory.put(at + 8, length, 8);
    }

    /// A shared receive context, as prov/util has it.
    fn shared(&mut self) -> u64 {
        let layout = self.layout;
        let Shared { lists: shape, whole: entry, entry: shared, peer } = layout.shared.as_ref().unwrap();
        let array = layout.array.as_ref().unwrap();
        let context = self.alloc(shape.size);
        self.field(context, layout.endpoint.class, layout.classes.shared);
        self.field(context, layout.endpoint.context, context);
        let links: Vec<u64> = (0..3).map(|_| self.alloc(entry.size + 64)).collect();
        for (index, (source, tag, ignore, length)) in (0..).zip(RECEIVES) {
            let at = links[index];
            let shift = entry.entry.offset as u64;
            self.field(at, entry.sequence, index as u64);
            self.field(at, entry.ignore, ignore);
            self.field(at + shift, shared.address, source);
            self.field(at + shift, shared.tag, tag);
            self.field(at + shift, shared.context, CONTEXT + 64 * index as u64);
            self.field(at + shift, shared.count, 1);
            self.field(at + shift, shared.pieces, at + entry.size as u64);
            self.piece(at + entry.size as u64, length);
        }
        // From any: one list; from each process: an array of lists.
        self.chain(context + shape.receives.offset as u64, &links[1..2]);
        let directed = context + shape.directed.offset as u64;
        self.field(directed, array.item_size, 16);
        let chunk = self.alloc(1024 * 16);
        self.memory.put(directed + array.chunk.offset as u64, chunk, 8);
        self.chain(chunk + 16, &links[..1]);
        self.chain(chunk + 2 * 16, &links[2..]);
        let messages: Vec<u64> = (0..3).map(|_| self.alloc(entry.size)).collect();
        for (index, (source, tag, data, length)) in (0..).zip(MESSAGES) {
            let at = messages[index] + entry.entry.offset as u64;
            self.field(at, shared.address, source);
            self.field(at, shared.tag, tag);
            self.field(at, shared.length, length);
            self.field(at, shared.flags, REMOTE_CQ_DATA);
            if let Some(slot) = shared.data {
                self.field(at, slot, data);
            }
        }
        // The first from nobody in particular, the others of a process.
        self.ring(context + shape.messages.offset as u64, &messages[..1]);
        let of_process = self.alloc(peer.size);
        self.ring(context + shape.peers.offset as u64, &[of_process + peer.link.offset as u64]);
        self.chain(of_process + peer.messages.offset as u64, &messages[1..]);
        context
    }
}

/// What is to be found. `told`: whether the provider tells who a receive is from; `data`: whether messages have theirs.
fn expected(told: bool, data: bool) -> (Vec<Receive>, Vec<Message>) {
    let receives = (0..).zip(RECEIVES).map(|(index, (source, tag, ignore, length))| Receive {
        source: match (source, told) {
            (ANY_ADDRESS, _) => Source::Any,
            (source, true) => Source::Address(source),
            (_, false) => Source::NotKept,
        },
        tag,
        ignore,
        context: TargetAddr::new(CONTEXT + 64 * index),
        buffer: Some(TargetAddr::new(0xb000 + length)),
        length,
    });
    let messages = MESSAGES.into_iter().map(|(source, tag, with, length)| Message {
        source: told.then_some(source),
        tag,
        data: data.then_some(with),
        length,
        claimed: None,
    });
    (receives.collect(), messages.collect())
}

/// Makes an endpoint of a provider; `None` where a layout has none. Also: whether addresses are told, and data.
type Maker = fn(&mut Made<'_>) -> Option<(u64, bool, bool)>;

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
    made.layout.shared.as_ref()?;
    let slot = made.layout.shm.as_ref()?.shared;
    let (endpoint, context) = (made.endpoint("shm"), made.shared());
    made.field(endpoint, slot, context);
    Some((endpoint, true, made.layout.shared.as_ref()?.entry.data.is_some()))
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

const PROVIDERS: [(&str, Maker); 6] =
    [("ofi_rxm", rxm), ("shm", shm), ("sm2", sm2), ("tcp", tcp), ("sockets", sockets), ("ofi_rxd", rxd)];

#[test]
fn every_provider_is_read_by_every_layout_that_is_carried() {
    let layouts = Layout::shipped(ABI);
    assert!(layouts.len() >= 13);
    for (name, make) in PROVIDERS {
        let mut seen = 0;
        for layout in &layouts {
            let mut made = Made::new(layout);
            let Some((endpoint, told, data)) = make(&mut made) else { continue };
            seen += 1;
            let target = made.memory.target();
            let queues = Fabric::new(&target).queues(TargetAddr::new(endpoint)).unwrap();
            let (receives, messages) = expected(told, data);
            let which = format!("{name} by {}", layout.name);
            assert_eq!(queues.provider, name, "{which}");
            assert_eq!((queues.receives.found, queues.receives.problem), (receives, None), "{which}");
            assert_eq!(queues.messages.found, messages, "{which}");
            // What lies behind a message that a connection has stopped at is not read.
            assert_eq!(queues.messages.problem.is_some(), name == "tcp", "{which}");
        }
        assert!(seen >= 8, "{name}: {seen}");
    }
}

/// What software has: the network card's own list is in no memory.
fn cxi(made: &mut Made<'_>) -> Option<u64> {
    let layout = made.layout;
    let cxi = layout.cxi.as_ref()?;
    let (endpoint, object, receives) = (made.alloc(0x1000), made.alloc(cxi.object.size), made.alloc(cxi.receives.size));
    let domain = made.domain("cxi");
    made.field(endpoint, layout.endpoint.class, layout.classes.endpoint);
    made.field(endpoint, cxi.endpoint.object, object);
    made.field(object, cxi.object.domain, domain);
    made.field(object, cxi.object.receives, receives);
    made.field(receives, cxi.receives.object, object);
    let mut links = Vec::new();
    for (index, (_, tag, ignore, length)) in (0..).zip(RECEIVES) {
        let at = made.alloc(cxi.request.size);
        made.field(at, cxi.request.kind, cxi.receive as u64);
        made.field(at, cxi.request.tagged, 1);
        made.field(at, cxi.request.tag, tag);
        made.field(at, cxi.request.ignore, ignore);
        made.field(at, cxi.request.context, CONTEXT + 64 * index);
        made.field(at, cxi.request.buffer, 0xb000 + length);
        made.field(at, cxi.request.length, length);
        links.push(at + cxi.request.link.offset as u64);
    }
    // A send is none.
    let send = made.alloc(cxi.request.size);
    made.field(send, cxi.request.kind, cxi.receive as u64 + 1);
    links.push(send + cxi.request.link.offset as u64);
    made.ring(receives + cxi.receives.requests.offset as u64, &links);
    let mut links = Vec::new();
    for (_, tag, data, length) in MESSAGES {
        let at = made.alloc(cxi.message.size);
        made.field(at, cxi.message.bits, tag | 3 << 59);
        made.field(at, cxi.message.data, data);
        made.field(at, cxi.message.length, length);
        links.push(at + cxi.message.link.offset as u64);
    }
    made.ring(receives + cxi.receives.messages.offset as u64, &links);
    Some(endpoint)
}

#[test]
fn what_cxi_has_in_software_is_read_and_never_said_to_be_all() {
    let mut seen = 0;
    for layout in &Layout::shipped(ABI) {
        let mut made = Made::new(layout);
        let Some(endpoint) = cxi(&mut made) else { continue };
        seen += 1;
        let target = made.memory.target();
        let queues = Fabric::new(&target).queues(TargetAddr::new(endpoint)).unwrap();
        let (mut receives, messages) = expected(false, true);
        receives.iter_mut().for_each(|receive| receive.source = Source::NotKept);
        assert_eq!((queues.provider.as_str(), queues.receives.found), ("cxi", receives), "{}", layout.name);
        assert_eq!(queues.messages.found, messages, "{}", layout.name);
        assert!(queues.receives.problem.is_some() && queues.messages.problem.is_some());
    }
    assert!(seen >= 7, "{seen}");
}

#[test]
fn another_release_and_another_provider_are_not_read() {
    let layouts = Layout::shipped(ABI);
    for layout in &layouts {
        for name in ["efa", "opx", "verbs"] {
            let mut made = Made::new(layout);
            let endpoint = made.endpoint(name);
            let target = made.memory.target();
            let reason = Fabric::new(&target).queues(TargetAddr::new(endpoint)).unwrap_err().to_string();
            assert!(reason.contains(name), "{reason}");
        }
        let mut made = Made::new(layout);
        let endpoint = made.endpoint("ofi_rxm");
        let target = made.memory.target();
        let domain = field_of(&target, endpoint, layout.util.domain);
        let provider = field_of(&target, domain, layout.domain.provider);
        made.field(provider, layout.provider.version, 999 << 16);
        let target = made.memory.target();
        let reason = Fabric::new(&target).queues(TargetAddr::new(endpoint)).unwrap_err().to_string();
        assert!(reason.contains("9.99.0"), "{reason}");
    }
}

fn field_of(target: &target::mock::MockTarget, at: u64, slot: Slot) -> u64 {
    use target::Target;
    target.read_pointer(TargetAddr::new(at + slot.offset as u64)).unwrap().get()
}

#[test]
fn damage_ends_in_a_reason() {
    use target::Target;
    let layouts = Layout::shipped(ABI);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for layout in layouts.iter().step_by(3).chain(layouts.last()) {
        for (_, make) in PROVIDERS.into_iter().chain([("cxi", (|made| Some((cxi(made)?, false, true))) as Maker)]) {
            for _ in 0..40 {
                let mut made = Made::new(layout);
                let Some((endpoint, ..)) = make(&mut made) else { break };
                let words = (made.next - BASE) / 8;
                for _ in 0..=random(24) {
                    let at = BASE + 8 * random(words);
                    // Zero, all ones, a number, or an address of this memory.
                    let value = [0, u64::MAX, random(1 << 20), BASE + 8 * random(words)][random(4) as usize];
                    made.memory.put(at, value, 8);
                }
                let target = made.memory.target();
                if let Ok(queues) = Fabric::new(&target).queues(TargetAddr::new(endpoint)) {
                    assert!(queues.receives.found.len() < 1 << 17 && queues.messages.found.len() < 1 << 17);
                }
                assert!(target.reads() < 1 << 20);
                let _ = target.read_pointer(TargetAddr::new(endpoint));
            }
        }
    }
}
