//! Damaged lengths: nothing is set aside for what cannot be there, and no time is spent on it.

use std::sync::Arc;

use layouts::Layouts;
use model::QueueState;
use readers::mpich::groups::Groups;
use readers::mpich::pools::Pools;
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Limits, Metered, Range};

use super::{everywhere, on_ch4};
use made_up::layout::{C, Order};
use made_up::mpich::{Mpich, PERSISTENT_SEND, RECEIVE, SEND, WORLD_CONTEXT};

const GROUP: &str = "MPIR_Group";

/// A group as since 5.0, with so many members, each with a stride of one after the other.
fn with_group(process: &mut Mpich, size: i64) -> TargetAddr {
    let fields = [
        ("handle", C::I(4)),
        ("size", C::I(4)),
        ("pmap.use_map", C::I(4)),
        ("pmap.u.map", C::Ptr),
        ("pmap.u.stride.offset", C::I(8)),
        ("pmap.u.stride.stride", C::I(8)),
    ];
    process.types.define(GROUP, Order::AsWritten, &fields);
    let at = process.mem.alloc(process.types.size(GROUP), 8);
    for (field, value) in [("size", size), ("pmap.use_map", 0), ("pmap.u.stride.offset", 0)] {
        process.set(at, GROUP, field, value);
    }
    process.set(at, GROUP, "pmap.u.stride.stride", 1);
    at
}

fn with_groups<R>(process: &Mpich, world_size: i64, ask: impl FnOnce(&Metered<MockTarget>, &Groups<'_>) -> R) -> R {
    let target = Metered::new(process.target(), Limits::default());
    let layouts = Layouts::new(vec![Box::new(process.types.clone())]);
    let groups = Groups::new(&target, &layouts, Some(world_size)).unwrap();
    let _request = target.budget().request();
    ask(&target, &groups)
}

#[test]
fn a_group_of_two_thousand_million_members_is_a_sentence() {
    on_ch4(|mut process| {
        let at = with_group(&mut process, 0x7fff_ffff);
        let found = with_groups(&process, 4, |_, groups| groups.group(at, 0x7fff_ffff));
        let error = found.expect_err("so many members").to_string();
        assert!(error.contains("members in all") && error.contains("MPI_QUEUES_LIMITS"), "{error}");
    });
}

#[test]
fn communicators_that_share_a_group_share_its_members_and_are_counted() {
    let mut process = Mpich::new(target::TargetAbi::LITTLE_64, made_up::mpich::Device::Ch4, 9);
    let size = 1 << 20;
    let at = with_group(&mut process, size);
    let found: Vec<_> = with_groups(&process, size, |_, groups| (0..400).map(|_| groups.group(at, size)).collect());
    let whole: Vec<_> = found.iter().filter_map(|one| one.as_ref().ok()?.as_ref()).collect();
    assert_eq!((whole.len(), found.len()), (24, 400));
    assert!(whole.iter().all(|one| Arc::ptr_eq(one, whole[0]) && one.len() == size as usize));
}

#[test]
fn a_large_job_with_hundreds_of_communicators_is_read_whole() {
    let mut process = Mpich::new(target::TargetAbi::LITTLE_64, made_up::mpich::Device::Ch4, 9);
    let size = 65_536;
    let at = with_group(&mut process, size);
    let found: Vec<_> = with_groups(&process, size, |_, groups| (0..350).map(|_| groups.group(at, size)).collect());
    assert!(found.iter().all(|one| one.as_ref().is_ok_and(Option::is_some)));
}

#[test]
fn a_segment_of_16_gib_that_is_not_there_is_not_tried_page_by_page() {
    everywhere(|process| {
        let target = Metered::new(process.target(), Limits::default());
        let _request = target.budget().request();
        let Range { start, len } = process.range();
        let damaged = Range { start, len: len.max(16 << 30).min(u64::MAX - start.get()) };
        let pools = Pools::find(&target, &[damaged]).unwrap();
        assert!(!pools.is_empty() && pools.unread > 0);
        assert!(target.inner().reads() < 10_000, "{} reads", target.inner().reads());
        // What is looked through later has not got it any more.
        assert!(pools.ranges.iter().all(|range| range.len < 1 << 30), "{:?}", pools.ranges);
        assert!(target.budget().over().is_none());
    });
}

#[test]
fn requests_of_no_communicator_and_of_no_kind_are_counted() {
    everywhere(|mut process| {
        let world = process.world();
        let nowhere = TargetAddr::new(0x10_0010);
        process.receive(world, [1, 5, WORLD_CONTEXT], 10, 0x4c00_0405);
        let whole = process.read_world();
        assert_eq!((whole.pending_sends.dropped, whole.pending_receives.dropped), (0, 0));
        process.request(RECEIVE, 1, nowhere, &[]);
        process.request(SEND, 1, nowhere, &[]);
        process.request(PERSISTENT_SEND, 1, nowhere, &[]);
        let lacks = process.read_world();
        assert_eq!((lacks.pending_sends.dropped, lacks.pending_receives.dropped), (2, 1));
        assert_eq!(lacks.pending_sends.state, QueueState::Error);
        process.request(0x7fff_0000, 1, world, &[]);
        let lacks = process.read_world();
        assert_eq!((lacks.pending_sends.dropped, lacks.pending_receives.dropped), (3, 2));
    });
}
