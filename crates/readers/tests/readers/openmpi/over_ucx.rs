//! Open MPI over the pml ucx, by every layout of UCX that is carried; and damage to it.

use super::damage::Damaged;
use super::over::{assert_bounded, census, damaged};
use made_up::memory::Memory;
use made_up::over_ucx::{OverUcx, word};
use made_up::process::{LITTLE_64, named, says};
use made_up::rich::{complains, queues};
use made_up::share::words;
use model::{OperationStatus, QueueReport, QueueSource, QueueState};
use readers::ReaderError;
use readers::openmpi::OpenMpiReader;
use readers::openmpi::pml::Pml;
use readers::ucx::UcxLayout;

const WORLD: &str = "MPI_COMM_WORLD";

fn read(made: &OverUcx, memory: &Memory) -> Result<QueueReport, ReaderError> {
    let target = Damaged { process: &made.process, memory, stack: made.stack };
    OpenMpiReader::new(&target, &made.process.layouts(), Pml::Ucx).read_queues()
}

#[test]
fn everything_is_read_by_every_layout() {
    for (seed, layout) in (0..).zip(UcxLayout::shipped(LITTLE_64)) {
        let name = layout.name.clone();
        let (made, expected) = OverUcx::rich(layout, seed);
        let report = read(&made, &made.process.mem).unwrap();
        assert_eq!(report.problems, Vec::<String>::new(), "{name}");
        assert_eq!(census(&report), expected, "{name}: {report:#?}");
        assert!(queues(&report).all(|queue| queue.state == QueueState::Ok), "{name}");
        let (world, other) = (named(&report, WORLD), named(&report, "other"));
        let told: Vec<_> = world
            .pending_receives
            .operations
            .iter()
            .map(|one| (one.desired_tag.unwrap(), one.desired_local_rank, one.status))
            .collect();
        let (pending, matched) = (OperationStatus::Pending, OperationStatus::Matched);
        let receives = [
            (5, Some(2), pending),
            (6, None, pending),
            (-16, Some(0), pending),
            (7, Some(0), pending),
            (8, Some(3), matched),
            (9, Some(3), OperationStatus::Complete),
            (50, Some(2), matched),
        ];
        assert_eq!(told, receives, "{name}");
        assert!(world.pending_receives.operations[1].any_source && world.pending_receives.operations[2].internal);
        assert_eq!(world.pending_receives.operations[4].actual_length, Some(24));
        assert!(says(&world.pending_receives.operations[6], "matched message"));
        assert!(other.pending_receives.operations[0].tag_wild);
        let sends = [&world.pending_sends.operations[0], &other.pending_sends.operations[0]];
        let told =
            sends.map(|one| (one.desired_global_rank, one.desired_tag, one.desired_length, one.request.is_some()));
        assert_eq!(told, [(Some(3), Some(20), Some(4000), true), (Some(0), Some(21), Some(4000), false)], "{name}");
        assert_eq!(world.inactive.len(), 1, "{name}");
        let inactive = &world.inactive[0];
        assert_eq!((inactive.desired_tag, inactive.count, inactive.desired_length), (Some(30), Some(7), Some(56)));
        assert_eq!(world.unexpected_messages.operations[0].desired_tag, Some(40));
    }
}

#[test]
fn what_belongs_to_no_communicator_is_told() {
    let (mut made, expected) = OverUcx::rich(UcxLayout::shipped(LITTLE_64).remove(0), 1);
    made.receive(word(99, 2, 1), u64::MAX);
    made.unexpected(word(98, 2, 1));
    // A stack holds anything: sends of another rank, to nobody, and complete ones are none.
    made.blocking_send(1, word(10, 3, 21));
    let report = read(&made, &made.process.mem).unwrap();
    assert_eq!(census(&report), [expected[0] - 1, expected[1], expected[2]]);
    let notes = report.notes.join("; ");
    assert!(notes.contains("requests on a communicator (context 99) that has been freed: 1"), "{notes}");
    assert!(notes.contains("messages for a communicator (context 98)"), "{notes}");
    assert_eq!(report.problems, Vec::<String>::new());
}

#[test]
fn a_worker_of_no_known_release_is_refused() {
    let (mut made, _) = OverUcx::rich(UcxLayout::shipped(LITTLE_64).remove(0), 1);
    let module = made.process.symbol_at("ompi_pml_ucx");
    made.process.set(module, "mca_pml_ucx_module_t", "request_size", 240);
    let report = read(&made, &made.process.mem).unwrap();
    for queue in queues(&report) {
        assert_eq!(queue.state, QueueState::NoInformation);
        assert!(queue.detail.as_deref().unwrap().contains("240 bytes"), "{queue:?}");
    }
}

#[test]
fn without_the_stacks_sends_are_not_told_to_be_all() {
    let (made, _) = OverUcx::rich(UcxLayout::shipped(LITTLE_64).remove(0), 1);
    let mut target = made.process.target();
    target.add_stack(target::address::TargetAddr::new(0x10));
    let report = OpenMpiReader::new(&target, &made.process.layouts(), Pml::Ucx).read_queues().unwrap();
    let sends = &named(&report, WORLD).pending_sends;
    assert_eq!((sends.state, sends.operations.len()), (QueueState::Error, 1));
    assert!(sends.detail.as_deref().unwrap().contains("stacks"), "{sends:?}");
}

#[test]
#[ignore = "takes long"]
fn garbage_in_any_single_word_is_survived_and_mostly_told() {
    let (mut silent, mut all) = (0, 0);
    for (seed, layout) in (0..).zip(UcxLayout::shipped(LITTLE_64).into_iter().step_by(3)) {
        let (made, whole) = OverUcx::rich(layout, seed);
        let mut memory = made.process.mem.clone();
        for (number, (object, size)) in made.process.mem.objects.clone().into_iter().enumerate() {
            // The table of lists has a thousand equal entries.
            let step = if size > 1 << 14 { 509 } else { 1 };
            // Each layout begins elsewhere: together they have every word.
            for at in words(number + seed as usize, size / 8, 3).step_by(step).map(|word| object.wrapping_add(word * 8))
            {
                for value in [0, 0xa5a5_a5a5_a5a5_a5a5_u64, object.get()] {
                    let before = memory.get_uint(at, 8);
                    memory.put_int(at, 8, value as i64);
                    let result = read(&made, &memory);
                    memory.put_int(at, 8, before as i64);
                    let now = result.as_ref().map(census).unwrap_or_default();
                    assert!(now.iter().sum::<usize>() <= 20);
                    if let Ok(report) = &result {
                        let said = !report.notes.is_empty() || queues(report).any(|queue| queue.dropped > 0);
                        all += usize::from(now != whole);
                        silent += usize::from(now != whole && !said && !complains(&result));
                    }
                }
            }
        }
    }
    // Nothing but its flags, or where it hangs, says that there is a request.
    assert!(silent * 4 < all, "{silent} of {all}");
}

#[test]
fn any_damage_is_survived() {
    for seed in 0..300 {
        let mut layouts = UcxLayout::shipped(LITTLE_64);
        let layout = layouts.swap_remove(seed as usize % layouts.len());
        let (made, _) = OverUcx::rich(layout, seed);
        let Ok(report) = read(&made, &damaged(&made.process, seed)) else { continue };
        assert_bounded(&report);
    }
}
