#![allow(clippy::unwrap_used)]

use super::native;
use super::tag::{Open, Split};
use crate::mpich::communicators::{Communicators, Found};
use crate::mpich::handle_value::HandleValue;
use crate::ucx::tests::{ABI, OWNER, REQUEST, process};
use crate::ucx::{Sample, UcxLayout};
use model::Communicator;
use target::address::TargetAddr;

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

#[test]
fn requests_of_ucx_lead_back_to_those_of_mpich() {
    for layout in UcxLayout::shipped(ABI) {
        let memory = process(&layout);
        let target = memory.target();
        let size = layout.request.size as u64;
        let (request, behind) = (TargetAddr::new(OWNER), TargetAddr::new(REQUEST + size));
        let found = native::by_layout(&target, &layout, request, true, behind).unwrap();
        assert_eq!(found.sample, Sample::Receive(word(DEFAULT, 496, 7, 17), WHOLE));
        let other = TargetAddr::new(OWNER + 8);
        assert!(native::by_layout(&target, &layout, other, true, behind).is_none());
        // Without a layout the tag and the mask are recognised.
        let all = communicators();
        let fits = |sample| DEFAULT.place(sample, &all).is_some();
        let searched = native::by_search(&target, request, true, behind, fits).unwrap();
        assert_eq!((searched.sample, searched.sequence), (found.sample, 41));
    }
}
