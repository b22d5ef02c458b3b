#![allow(clippy::unwrap_used)]

use super::layout::UcxLayout;
use super::native;
use super::tag::{Open, Sample, Split};
use super::worker::Workers;
use crate::mpich::communicators::{Communicators, Found};
use crate::mpich::handle_value::HandleValue;
use crate::record::Slot;
use model::Communicator;
use target::TargetAbi;
use target::address::TargetAddr;
use target::mock::MockTarget;

const ABI: TargetAbi = TargetAbi::LITTLE_64;
const DEFAULT: Split = Split { rank_bits: 16, protocol_bits: 0 };
/// What MPICH 4.0 makes of an int's tag: the bits for errors are open (MPIR_TAG_CLEAR_ERROR_BITS).
const WHOLE: u64 = !(0b11 << 29);

fn communicator(context: u64, rank: i64, size: i64) -> Found {
    Found {
        facts: Communicator {
            local_rank: Some(rank),
            size: Some(size),
            group: Some((0..size).map(Some).collect()),
            ..Communicator::default()
        },
        at: TargetAddr::new(0x1000 + context),
        value: HandleValue(0x4400_0000),
        send_context: context,
        receive_context: context,
        inter: false,
        internal: false,
        node_comm: TargetAddr::NULL,
        on_node: None,
    }
}

/// MPI_COMM_WORLD of 100 processes, and one with context 496; this process has rank 5 in both.
fn communicators() -> Communicators {
    Communicators::of(vec![communicator(0, 5, 100), communicator(496, 5, 100)], Vec::new())
}

fn word(split: Split, context: u64, rank: u64, tag: u64) -> u64 {
    context << 48 | rank << (48 - split.rank_bits) | tag
}

#[test]
fn masks_say_what_a_receive_takes() {
    let open = |mask| DEFAULT.open(mask);
    let known = |any_source, any_tag, tag_bits| Some(Open { any_source, any_tag, tag_bits });
    assert_eq!(open(WHOLE), known(false, false, 28));
    assert_eq!(open(u64::MAX), known(false, false, 30));
    assert_eq!(open(WHOLE & !0xfff_ffff), known(false, true, 28));
    assert_eq!(open(WHOLE & !0xffff_0000_0000), known(true, false, 28));
    assert_eq!(open(WHOLE & !0xffff_0fff_ffff), known(true, true, 28));
    // A part of the rank or of the context open, few bits of the tag, holes in it: MPICH makes no such mask.
    for mask in [0, WHOLE & !(1 << 32), WHOLE & !(1 << 48), !0xff, WHOLE & !(1 << 20)] {
        assert_eq!(open(mask), None, "{mask:#x}");
    }
    // Since 4.3 the bits of the protocol are always compared.
    let newer = Split { protocol_bits: 2, ..DEFAULT };
    assert_eq!(newer.open(!(0b11 << 28)), known(false, false, 27));
    assert_eq!(newer.open(!(1 << 30)), None);
}

#[test]
fn operations_belong_to_the_communicator_of_their_context_if_everything_fits() {
    let all = communicators();
    let place = |sample| DEFAULT.place(sample, &all);
    let at = |context, rank, tag| word(DEFAULT, context, rank, tag);
    assert_eq!(place(Sample::Receive(at(496, 99, 17), WHOLE)), Some((1, false)));
    assert_eq!(place(Sample::Receive(at(497, 99, 17), WHOLE)), Some((1, true)), "a collective's");
    assert_eq!(place(Sample::Receive(at(496, 100, 17), WHOLE)), None, "no such rank");
    assert_eq!(place(Sample::Receive(at(480, 1, 17), WHOLE)), None, "no such context");
    assert_eq!(place(Sample::Receive(at(496, 1, 1 << 28), WHOLE)), None, "not an application's tag");
    assert_eq!(place(Sample::Receive(at(496, 1, 17), WHOLE & !0xffff_0000_0000)), None, "any source has no rank");
    assert_eq!(place(Sample::Send(at(0, 5, 3))), Some((0, false)));
    assert_eq!(place(Sample::Send(at(0, 6, 3))), None, "a send has this process's rank");
    assert_eq!(place(Sample::Arrived(at(0, 99, 3))), Some((0, false)));
    assert_eq!(place(Sample::Arrived(at(0, 100, 3))), None);
}

#[test]
fn a_build_with_other_bits_for_ranks_is_recognised_or_not_read() {
    let all = communicators();
    let sends = |split| vec![Sample::Send(word(split, 0, 5, 3)), Sample::Receive(word(split, 496, 7, 9), WHOLE)];
    assert_eq!(Split::choose(Some(DEFAULT), &sends(DEFAULT), &all), Some(DEFAULT));
    let wide = Split { rank_bits: 20, ..DEFAULT };
    let mut samples = sends(wide);
    // A mask with the whole rank open leaves one possibility.
    samples.push(Sample::Receive(word(wide, 496, 0, 9), !(0xf_ffff << 28)));
    samples.retain(|sample| !matches!(sample, Sample::Receive(_, WHOLE)));
    assert_eq!(Split::choose(Some(DEFAULT), &samples, &all), Some(wide));
    // Nothing fits: no split is better than a wrong one.
    assert_eq!(Split::choose(Some(DEFAULT), &[Sample::Send(word(DEFAULT, 0, 6, 3))], &all), None);
    assert_eq!(Split::choose(Some(DEFAULT), &[], &all), Some(DEFAULT));
    // One that is damaged changes nothing.
    let mut samples = vec![Sample::Send(word(DEFAULT, 0, 5, 3)); 20];
    samples.push(Sample::Send(0xdead_beef_dead_beef));
    assert_eq!(Split::choose(Some(DEFAULT), &samples, &all), Some(DEFAULT));
}

/// Memory that is written word by word.
struct Memory {
    base: u64,
    bytes: Vec<u8>,
}

impl Memory {
    fn new(base: u64, len: usize) -> Self {
        Self { base, bytes: vec![0; len] }
    }

    fn put(&mut self, at: u64, value: u64, size: usize) {
        let offset = usize::try_from(at - self.base).unwrap();
        self.bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    fn field(&mut self, at: u64, slot: Slot, value: u64) {
        self.put(at + slot.offset as u64, value, slot.size.min(8));
    }

    fn target(&self) -> MockTarget {
        let mut target = MockTarget::new(ABI);
        target.add_segment(TargetAddr::new(self.base), self.bytes.clone());
        target
    }
}

const REQUEST: u64 = 0x10_0100;
const WORKER: u64 = 0x10_4000;
const CONTEXT: u64 = 0x7000_0000;
const TABLE: u64 = 0x11_0000;
const MESSAGES: u64 = 0x11_8000;
const MPICH_REQUEST: u64 = 0x7f00_1230;

/// A worker with one receive that waits and three messages, in memory laid out as `layout` says.
fn process(layout: &UcxLayout) -> Memory {
    let mut memory = Memory::new(0x10_0000, 0x2_0000);
    let UcxLayout { request, worker, receives, arrived, first, announced, .. } = layout;
    for (slot, value) in [
        (request.user_data, MPICH_REQUEST),
        (request.tag, word(DEFAULT, 496, 7, 17)),
        (request.mask, WHOLE),
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
        memory.put(at(index) + arrived.size as u64, word(DEFAULT, 0, 1, 60 + index), 8);
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
        let size = layout.request.size as u64;
        let workers = Workers { at: vec![worker], layout };
        let (messages, problem) = workers.arrived(&target, worker);
        assert_eq!(problem, None);
        let seen: Vec<_> = messages.iter().map(|message| (DEFAULT.tag(message.word), message.length)).collect();
        assert_eq!(seen, [(60, 20), (61, 100_000), (62, 8 << 20)]);
        let data = MESSAGES + workers.layout.arrived.size as u64 + 8;
        assert_eq!(messages[0].buffer, Some(TargetAddr::new(data)));
        let waiting = workers.waiting(&target).unwrap();
        let (request, behind) = (TargetAddr::new(MPICH_REQUEST), TargetAddr::new(REQUEST + size));
        let found = native::by_layout(&target, &workers.layout, request, true, behind).unwrap();
        let more = found.more.unwrap();
        assert!(waiting.contains(&more.link) && waiting.len() == 1);
        assert_eq!((found.sequence, more.owner, more.data.length), (41, worker, 40));
        assert_eq!(more.data.buffer, Some(TargetAddr::new(0xb0b0)));
        let other = TargetAddr::new(MPICH_REQUEST + 8);
        assert!(native::by_layout(&target, &workers.layout, other, true, behind).is_none());
        // Without a layout the tag and the mask are recognised.
        let all = communicators();
        let fits = |sample| DEFAULT.place(sample, &all).is_some();
        let searched = native::by_search(&target, request, true, TargetAddr::new(REQUEST + size), fits).unwrap();
        assert_eq!((searched.sample, searched.sequence), (found.sample, 41));
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
