//! Open MPI over the pml cm, by layouts of libfabric that are carried; and damage to it.

use super::over::{assert_bounded, census, damaged};
use made_up::memory::Memory;
use made_up::over_cm::{OverCm, word};
use made_up::process::named;
use made_up::rich::{complains, queues};
use made_up::share::words;
use model::{OperationStatus, QueueReport, QueueSource, QueueState, Remark};
use readers::ReaderError;
use readers::openmpi::OpenMpiReader;
use readers::openmpi::pml::Pml;
use target::address::TargetAddr;
use target::mock::MockTarget;

const WORLD: &str = "MPI_COMM_WORLD";

fn target(made: &OverCm, memory: &Memory) -> MockTarget {
    let mut target = memory.target();
    for (name, at) in &made.process.symbols {
        target.add_symbol(name, *at, None);
    }
    target
}

fn read(made: &OverCm, memory: &Memory) -> Result<QueueReport, ReaderError> {
    OpenMpiReader::new(&target(made, memory), &made.process.layouts(), Pml::Cm).read_queues()
}

#[test]
fn everything_is_read_by_every_layout() {
    let (pending, matched) = (OperationStatus::Pending, OperationStatus::Matched);
    for (seed, layout) in (0..).zip(OverCm::layouts()) {
        let name = layout.name.clone();
        let (made, expected) = OverCm::rich(layout, seed);
        let report = read(&made, &made.process.mem).unwrap();
        assert_eq!(report.problems, Vec::<String>::new(), "{name}");
        assert_eq!(census(&report), expected, "{name}: {report:#?}");
        assert!(queues(&report).all(|queue| queue.state == QueueState::Ok), "{name}");
        let (world, other) = (named(&report, WORLD), named(&report, "other"));
        let mut told: Vec<_> = world
            .pending_receives
            .operations
            .iter()
            .map(|one| (one.desired_tag, one.desired_global_rank, one.any_source, one.tag_wild, one.status))
            .collect();
        // Those that do not wait stand in the order of the pool.
        told[..3].sort_by_key(|one| one.0);
        let receives = [
            (Some(8), None, false, false, matched),
            (Some(9), None, true, false, OperationStatus::Complete),
            (Some(50), Some(2), false, false, matched),
            (Some(5), Some(2), false, false, pending),
            (Some(6), None, true, false, pending),
            (None, Some(0), false, true, pending),
            (Some(-16), Some(0), false, false, pending),
            (Some(7), Some(3), false, false, pending),
        ];
        assert_eq!(told, receives, "{name}");
        assert!(world.pending_receives.operations[6].internal);
        let mut done = world.pending_receives.operations.iter().filter(|one| one.status == OperationStatus::Complete);
        assert!(done.all(|one| one.actual_local_rank.is_some() && !one.has(&Remark::Cancelled)), "{name}");
        let blocking = &world.pending_receives.operations[7];
        assert_eq!((blocking.count, blocking.desired_length), (Some(3), Some(24)), "{name}");
        let mut sends: Vec<_> =
            world.pending_sends.operations.iter().map(|one| (one.desired_tag, one.desired_global_rank)).collect();
        sends.sort();
        assert_eq!(sends, [(None, None), (Some(21), Some(3)), (Some(23), Some(3))], "{name}");
        // Neither a pool nor the answers to synchronous sends keep an order.
        assert_eq!(world.pending_sends.unordered, 3, "{name}");
        let mut told: Vec<_> = other
            .pending_sends
            .operations
            .iter()
            .map(|one| {
                let synchronous = one.has(&Remark::SynchronousSend);
                (one.desired_tag, one.actual_global_rank, one.desired_length, one.library_request, synchronous)
            })
            .collect();
        told.sort();
        let blocking = [(Some(22), Some(2), Some(44), None, true), (Some(24), Some(3), Some(60), Some(72), false)];
        let shared = OverCm::numbers_are_shared(seed);
        assert_eq!(told, if shared { &blocking[..] } else { &[] }, "{name}");
        assert_eq!(report.notes.iter().any(|note| note.contains("not known here: 2")), !shared, "{:?}", report.notes);
        let inactive: Vec<_> =
            world.inactive.iter().map(|one| (one.desired_tag, one.desired_global_rank, one.count)).collect();
        assert_eq!(inactive, [(Some(30), Some(2), Some(7)); 2], "{name}");
        let messages = [world, other].map(|comm| {
            let message = &comm.unexpected_messages.operations[0];
            (message.desired_tag, message.actual_local_rank, message.actual_length)
        });
        assert_eq!(messages, [(Some(40), Some(3), Some(28)), (Some(41), Some(0), Some(28))], "{name}");
    }
}

#[test]
fn what_belongs_to_no_communicator_is_told() {
    let (mut made, expected) = OverCm::rich(OverCm::layouts().remove(0), 1);
    made.unexpected(word(98, 1), 2);
    made.blocking_receive(TargetAddr::new(0x10), word(10, 1), 2);
    let report = read(&made, &made.process.mem).unwrap();
    assert_eq!(census(&report), expected);
    assert!(report.notes.join("; ").contains("communicators that this process has not created yet: 1"));
    let world = named(&report, WORLD);
    assert_eq!([world.pending_sends.state, world.pending_receives.state], [QueueState::Ok, QueueState::Error]);
    assert_eq!([world.pending_sends.dropped, world.pending_receives.dropped], [0, 1]);
}

#[test]
fn another_mtl_keeps_what_the_pml_has() {
    let (made, [sends, ..]) = OverCm::rich(OverCm::layouts().remove(0), 0);
    let mut target = made.process.mem.target();
    for (name, at) in made.process.symbols.iter().filter(|(name, _)| *name != "ompi_mtl_ofi") {
        target.add_symbol(name, *at, None);
    }
    let report = OpenMpiReader::new(&target, &made.process.layouts(), Pml::Cm).read_queues().unwrap();
    // Blocking ones have no request in the pools; tags and sources are not known, but nothing is empty.
    assert_eq!(census(&report), [sends - 2, 6, 0]);
    let problems = report.problems.join("; ");
    assert!(problems.contains("may or may not have been received: 3"), "{problems}");
    for queue in report
        .communicators
        .iter()
        .flat_map(|comm| [&comm.pending_sends, &comm.pending_receives, &comm.unexpected_messages])
    {
        assert_ne!(queue.state, QueueState::Ok, "{queue:?}");
    }
    for one in &named(&report, WORLD).pending_receives.operations {
        assert!(one.desired_tag.is_some() || one.unknown.contains_key("desired_tag"), "{one:?}");
    }
}

#[test]
#[ignore = "takes long"]
fn garbage_in_any_single_word_is_survived_and_mostly_told() {
    for (seed, layout) in (0..).zip(OverCm::layouts().into_iter().step_by(5)) {
        let (made, whole) = OverCm::rich(layout, seed);
        let (mut silent, mut all) = (0, 0);
        for (number, (object, size)) in made.process.mem.objects.clone().into_iter().enumerate() {
            let step = if size > 1 << 11 { 13 } else { 1 };
            for at in words(number, size / 8, 6).step_by(step).map(|word| object.wrapping_add(word * 8)) {
                for value in [0xa5a5_a5a5_a5a5_a5a5_u64, object.get()] {
                    let mut memory = made.process.mem.clone();
                    memory.put_int(at, 8, value as i64);
                    let result = read(&made, &memory);
                    let now = result.as_ref().map(census).unwrap_or_default();
                    assert!(now.iter().sum::<usize>() <= 20);
                    all += usize::from(now != whole);
                    silent += usize::from(now != whole && !complains(&result));
                }
            }
        }
        assert!(silent * 4 < all, "{silent} of {all}");
    }
}

#[test]
fn any_damage_is_survived() {
    for seed in 0..300 {
        let mut layouts = OverCm::layouts();
        let layout = layouts.swap_remove(seed as usize % layouts.len());
        let (made, _) = OverCm::rich(layout, seed);
        let Ok(report) = read(&made, &damaged(&made.process, seed)) else { continue };
        assert_bounded(&report);
    }
}
