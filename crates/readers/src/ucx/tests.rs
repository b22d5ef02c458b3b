//! A worker made up in memory, for the tests of all that use UCX.

#![allow(clippy::unwrap_used, missing_docs)]
#![cfg_attr(not(test), allow(dead_code, unused_imports))]

use super::layout::Structures;
use super::{Native, Sample, UcxLayout, Workers};
use crate::record::{Record, Slot};
use target::TargetAbi;
use target::address::TargetAddr;
use target::mock::MockTarget;

pub const ABI: TargetAbi = TargetAbi::LITTLE_64;

/// Memory that is written word by word.
pub struct Memory {
    pub base: u64,
    pub bytes: Vec<u8>,
}

impl Memory {
    pub fn new(base: u64, len: usize) -> Self {
        Self { base, bytes: vec![0; len] }
    }

    pub fn put(&mut self, at: u64, value: u64, size: usize) {
        let offset = usize::try_from(at - self.base).unwrap();
        self.bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    pub fn field(&mut self, at: u64, slot: Slot, value: u64) {
        self.put(at + slot.offset as u64, value, slot.size.min(8));
    }

    pub fn target(&self) -> MockTarget {
        let mut target = MockTarget::new(ABI);
        target.add_segment(TargetAddr::new(self.base), self.bytes.clone());
        target
    }
}

pub const REQUEST: u64 = 0x10_0100;
pub const WORKER: u64 = 0x10_4000;
const CONTEXT: u64 = 0x7000_0000;
const TABLE: u64 = 0x11_0000;
const MESSAGES: u64 = 0x11_8000;
/// What the request was posted for.
pub const OWNER: u64 = 0x7f00_1230;
/// What it takes, and which bits of that count, as MPICH packs context 496, rank 7, tag 17.
pub const RECEIVED: u64 = 496 << 48 | 7 << 32 | 17;
pub const MASK: u64 = !(0b11 << 29);
/// The first of three messages: context 0, rank 1, tag 60.
const FIRST: u64 = 1 << 32 | 60;

/// A worker with one receive that waits and three messages, in memory laid out as `layout` says.
pub fn process(layout: &UcxLayout) -> Memory {
    let mut memory = Memory::new(0x10_0000, 0x2_0000);
    let Structures { request, worker, receives, arrived, first, announced, .. } = &**layout;
    for (slot, value) in [
        (request.user_data, OWNER),
        (request.tag, RECEIVED),
        (request.mask, MASK),
        (request.sequence, 41),
        (request.worker, WORKER),
        (request.iterated_length.or(request.length).unwrap(), 40),
        (request.iterated_buffer.or(request.buffer).unwrap(), 0xb0b0),
    ] {
        memory.field(REQUEST, slot, value);
    }
    let link = REQUEST + request.link.offset as u64;
    memory.field(WORKER, worker.context, CONTEXT);
    memory.field(WORKER, worker.expected, TABLE);
    let table = (0..1024).map(|index| TABLE + index * receives.size as u64);
    for queue in table.chain([WORKER + worker.wildcard.offset as u64]) {
        let end = queue + receives.queue.offset as u64;
        memory.put(end + 8, end, 8);
    }
    let used = TABLE + 77 * receives.size as u64 + receives.queue.offset as u64;
    memory.put(used, link, 8);
    memory.put(used + 8, link, 8);

    let head = WORKER + worker.unexpected.offset as u64;
    let second = (arrived.links.offset + arrived.links.size / 2) as u64;
    let at = |index: u64| MESSAGES + index * 0x100;
    // prev, then next.
    let ring = [head, at(0) + second, at(1) + second, at(2) + second];
    for (index, link) in ring.iter().enumerate() {
        memory.put(*link, ring[(index + 3) % 4], 8);
        memory.put(link + 8, ring[(index + 1) % 4], 8);
    }
    let by_tag = MESSAGES + 0x800;
    memory.field(WORKER, worker.unexpected_by_tag, by_tag);
    memory.put(by_tag, by_tag, 8);
    memory.put(by_tag + 8, by_tag, 8);
    // Whole, in parts, announced.
    for (index, flags, length, header) in [(0, 0b110, 28, 8), (1, 0b10, 8000, 24), (2, 1 << 6, 50, 41)] {
        memory.field(at(index), arrived.flags, flags);
        memory.field(at(index), arrived.length, length);
        memory.field(at(index), arrived.header_length, header);
        memory.put(at(index) + arrived.size as u64, FIRST + index, 8);
    }
    memory.field(at(1) + arrived.size as u64, first.total, 100_000);
    memory.field(at(2) + arrived.size as u64, announced.total, 8 << 20);
    memory
}

#[test]
fn workers_are_read_by_every_layout_that_is_carried() {
    let layouts = UcxLayout::shipped(ABI);
    assert_eq!(layouts.len(), 8);
    for layout in layouts {
        let memory = process(&layout);
        let target = memory.target();
        let (worker, context) = (TargetAddr::new(WORKER), TargetAddr::new(CONTEXT));
        assert!(layout.is_worker(&target, worker, context), "{}", layout.name);
        assert!(!layout.is_worker(&target, worker, TargetAddr::new(CONTEXT + 8)));
        assert!(!layout.is_worker(&target, TargetAddr::new(WORKER + 8), context));
        let workers = Workers { at: vec![worker], layout };
        let (messages, problem) = workers.arrived(&target, worker);
        assert_eq!(problem, None);
        let seen: Vec<_> = messages.iter().map(|message| (message.word, message.length)).collect();
        assert_eq!(seen, [(FIRST, 20), (FIRST + 1, 100_000), (FIRST + 2, 8 << 20)]);
        let data = MESSAGES + workers.layout.arrived.size as u64 + 8;
        assert_eq!(messages[0].buffer, Some(TargetAddr::new(data)));
        let waiting = workers.waiting(&target).unwrap();
        let mut buffer = Vec::new();
        let size = workers.layout.request.size;
        let record = Record::read(&target, TargetAddr::new(REQUEST), size, &mut buffer).unwrap();
        let found = Native::of(&workers.layout, &record, true).unwrap();
        let more = found.more.unwrap();
        assert!(waiting.contains(&more.link) && waiting.len() == 1);
        assert_eq!(found.sample, Sample::Receive(RECEIVED, MASK));
        assert_eq!((found.sequence, more.owner, more.data.length), (41, worker, 40));
        assert_eq!(more.data.buffer, Some(TargetAddr::new(0xb0b0)));
    }
}

#[test]
fn damage_is_told_and_ends() {
    let layout = UcxLayout::shipped(ABI).remove(0);
    let good = process(&layout);
    let workers = Workers { at: vec![TargetAddr::new(WORKER)], layout };
    let mut told = 0;
    // Every word that is not zero, replaced by what makes circles, faults and large numbers.
    let table = 0x1_0000..0x1_8000;
    let words = (0..good.bytes.len()).step_by(8).filter(|offset| good.bytes[*offset..offset + 8] != [0; 8]);
    for offset in words.filter(|offset| !table.contains(offset) || offset % 512 == 0) {
        for value in [0, 1, u64::MAX, 0x8000_0000_0000_0000, WORKER, MESSAGES, REQUEST] {
            let mut memory = Memory { base: good.base, bytes: good.bytes.clone() };
            memory.put(good.base + offset as u64, value, 8);
            let target = memory.target();
            let (messages, problem) = workers.arrived(&target, TargetAddr::new(WORKER));
            assert!(messages.len() <= 4);
            told += u32::from(problem.is_some());
            workers.waiting(&target);
        }
    }
    assert!(told > 20, "{told}");
}
