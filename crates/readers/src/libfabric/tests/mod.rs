//! Endpoints of every provider made up in memory, by each layout that is carried; and what damage to them does.
//!
//! For cxi this is all that there is: it was tried on nothing else.

#![allow(clippy::unwrap_used, missing_docs)]
#![cfg_attr(not(test), allow(dead_code, unused_imports))]

mod cxi;
pub mod damage;
mod providers;
mod sends;
mod shared_memory;
mod sockets;

use self::providers::PROVIDERS;
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
        number: None,
    });
    (receives.collect(), messages.collect())
}

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
