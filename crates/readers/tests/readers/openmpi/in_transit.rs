//! Messages that lie in shared memory and were not taken out yet.

use std::sync::Arc;
use std::time::{Duration, Instant};

use layouts::Layouts;
use model::{Operation, OperationStatus, QueueReport, QueueSource};
use readers::openmpi::OpenMpiReader;
use readers::openmpi::pml::Pml;
use target::address::TargetAddr;

use super::{everywhere, one};
use made_up::openmpi_types::Build;
use made_up::process::{ABIS, Comm, Message, Process, named, says, tags};
use made_up::rich::damage;
use made_up::rng::Rng;
use made_up::share::rounds;
use made_up::shared_memory::SharedMemory;

/// The context of MPI_COMM_WORLD.
const CONTEXT: i64 = 10;

fn message(from: i64, tag: i64) -> Message {
    Message { from, tag, ..Message::default() }
}

/// A fragment of a peer with a message in it.
fn letter(process: &mut Process, shm: &mut SharedMemory, message: Message, sequence: u16, flags: i64) -> TargetAddr {
    let (tag, bytes) = process.sent(message, CONTEXT, sequence);
    process.fragment_of(shm, message.from as u64, tag, &bytes, flags)
}

fn queued(process: &mut Process, shm: &mut SharedMemory, message: Message, sequence: u16) -> TargetAddr {
    let at = letter(process, shm, message, sequence, 0);
    process.queue(shm, message.from as u64, at);
    at
}

fn boxed(process: &mut Process, shm: &mut SharedMemory, message: Message, sequence: u16) {
    let (tag, bytes) = process.sent(message, CONTEXT, sequence);
    process.put_in_box(shm, message.from as u64, tag, &bytes);
}

fn world(report: &QueueReport) -> &[Operation] {
    &named(report, "MPI_COMM_WORLD").unexpected_messages.operations
}

/// The tags of the messages in transit, without any note.
fn in_transit(process: &Process) -> Vec<Option<i64>> {
    let report = process.read();
    assert_eq!(report.notes, Vec::<String>::new());
    let of: Vec<Operation> =
        world(&report).iter().filter(|one| one.status == OperationStatus::InTransit).cloned().collect();
    tags(&of)
}

#[test]
fn nothing_was_sent() {
    everywhere(|mut process, _| {
        process.shared_memory();
        assert_eq!(in_transit(&process), []);
    });
}

#[test]
fn what_is_queued_and_what_lies_in_boxes_follows_what_has_arrived() {
    everywhere(|mut process, comm| {
        process.arrive(comm, message(0, 1));
        let mut shm = process.shared_memory();
        let last = queued(&mut process, &mut shm, message(0, 2), 2);
        queued(&mut process, &mut shm, message(3, 20), 1);
        // A box that this process does not poll yet, because it has not taken the fragment that tells of it.
        process.make_box(&mut shm, 0, last, false);
        boxed(&mut process, &mut shm, message(0, 3), 3);
        let large = Message { bytes: 5000, ..message(0, 4) };
        let at = letter(&mut process, &mut shm, large, 4, 0);
        process.name_in_box(&mut shm, 0, at);
        let announced = Message { kind: "RNDV", bytes: 1 << 20, ..message(0, 5) };
        let at = letter(&mut process, &mut shm, announced, 5, 0);
        process.name_in_box(&mut shm, 0, at);
        boxed(&mut process, &mut shm, Message { kind: "RGET", bytes: 9, ..message(0, 6) }, 6);
        let report = process.read();
        let found = world(&report);
        assert_eq!(tags(found), [1, 2, 3, 4, 5, 6, 20].map(Some));
        let lengths: Vec<Option<u64>> = found.iter().map(|one| one.actual_length).collect();
        assert_eq!(lengths, [20, 20, 20, 5000, 1 << 20, 9, 20].map(Some));
        for (index, one) in found.iter().enumerate() {
            let arrived = index == 0;
            let status = if arrived { OperationStatus::Pending } else { OperationStatus::InTransit };
            assert_eq!((one.status, one.evidence.is_none(), one.system_buffer), (status, arrived, true), "{one:?}");
            assert_eq!(one.desired_global_rank, one.desired_local_rank);
            assert_eq!(says(one, "rendezvous"), matches!(one.desired_tag, Some(5 | 6)));
            assert_eq!(one.buffer.is_some(), !says(one, "rendezvous"));
            // Only what went into a box at once is known to be complete at its sender.
            assert_eq!(says(one, "eager"), matches!(one.desired_tag, Some(1 | 3)), "{one:?}");
        }
    });
}

#[test]
fn a_box_is_a_ring() {
    everywhere(|mut process, _| {
        let mut shm = process.shared_memory();
        process.make_box(&mut shm, 3, TargetAddr::NULL, true);
        let mut sequence = 0;
        for _ in 0..6 {
            let mut sent = Vec::new();
            for bytes in [200, 0, 190, 30, 150] {
                sequence += 1;
                sent.push(Some(i64::from(sequence)));
                let letter = Message { bytes, ..message(3, i64::from(sequence)) };
                boxed(&mut process, &mut shm, letter, sequence);
            }
            assert_eq!(in_transit(&process), sent);
            process.took(&mut shm, 3, true);
            assert_eq!(in_transit(&process), []);
        }
    });
}

#[test]
fn entries_that_were_taken_without_a_note_of_it_are_left_out() {
    everywhere(|mut process, _| {
        let mut shm = process.shared_memory();
        process.make_box(&mut shm, 0, TargetAddr::NULL, true);
        boxed(&mut process, &mut shm, message(0, 1), 1);
        boxed(&mut process, &mut shm, message(0, 2), 2);
        // The library stands in the middle of its round.
        process.took(&mut shm, 0, false);
        boxed(&mut process, &mut shm, message(0, 3), 3);
        assert_eq!(in_transit(&process), [Some(3)]);
    });
}

#[test]
fn only_what_begins_a_message_is_one() {
    everywhere(|mut process, _| {
        let mut shm = process.shared_memory();
        let back = process.btl_flag("COMPLETE");
        let at = letter(&mut process, &mut shm, message(0, 1), 1, back);
        process.queue(&mut shm, 0, at);
        // A tag of another component, and one of ob1's that carries a further piece.
        let at = process.fragment_of(&mut shm, 0, 3, &[3; 40], 0);
        process.queue(&mut shm, 0, at);
        queued(&mut process, &mut shm, message(0, 2), 1);
        assert_eq!(in_transit(&process), [Some(2)]);
    });
}

#[test]
fn data_that_stays_with_its_sender_counts() {
    let (mut process, _) = one();
    let mut shm = process.shared_memory();
    let apart = process.btl_flag("SINGLE_COPY");
    let at = letter(&mut process, &mut shm, Message { bytes: 0, ..message(0, 1) }, 1, apart);
    process.set_btl(at, "fragment", "sc_iov.iov_len", 777);
    process.queue(&mut shm, 0, at);
    assert_eq!(world(&process.read())[0].actual_length, Some(777));
}

#[test]
fn numbers_order_messages_and_tell_what_was_taken() {
    everywhere(|mut process, comm| {
        // Up to 65,534 all has been taken.
        let peer = process.peer(comm, 0);
        process.set(peer, "mca_pml_ob1_comm_proc_t", "expected_sequence", 65_535);
        let mut shm = process.shared_memory();
        for (tag, sequence) in [(3, 1), (1, 65_535), (9, 65_534), (2, 0)] {
            queued(&mut process, &mut shm, message(0, tag), sequence);
        }
        assert_eq!(in_transit(&process), [1, 2, 3].map(Some));
    });
}

#[test]
fn one_for_a_communicator_that_does_not_exist_is_noted() {
    everywhere(|mut process, _| {
        let mut shm = process.shared_memory();
        for context in [77, 78, 77] {
            let (tag, bytes) = process.sent(message(0, 1), context, 1);
            let at = process.fragment_of(&mut shm, 0, tag, &bytes, 0);
            process.queue(&mut shm, 0, at);
        }
        process.unplaced(message(0, 1), 77);
        let notes = process.read().notes.join("\n");
        assert!(notes.contains("context 77") && notes.contains(": 3") && notes.contains("context 78"), "{notes}");
    });
}

#[test]
fn the_extended_context_finds_its_communicator() {
    let build = Build { extended: true, ..Build::default() };
    let (mut process, comm) = Process::new(ABIS[0], build, 9);
    let at = process.addr(comm);
    process.set(at, "ompi_communicator_t", "c_contextid.cid_base", 0x1111_2222);
    process.set(at, "ompi_communicator_t", "c_contextid.cid_sub.u64", 0x4d);
    let mut shm = process.shared_memory();
    for (kind, bytes, sequence) in [("MATCH", 33, 1), ("RNDV", 70_000, 2)] {
        let extended = Message { kind, bytes, extended: true, ..message(0, i64::from(sequence)) };
        let (tag, sent) = process.sent(extended, 0x4d, sequence);
        let at = process.fragment_of(&mut shm, 0, tag, &sent, 0);
        process.queue(&mut shm, 0, at);
    }
    let report = process.read();
    let lengths: Vec<Option<u64>> = world(&report).iter().map(|one| one.actual_length).collect();
    assert_eq!(lengths, [Some(33), Some(70_000)]);
}

#[test]
fn a_fragment_that_is_just_being_linked_is_told() {
    everywhere(|mut process, _| {
        let mut shm = process.shared_memory();
        process.make_box(&mut shm, 3, TargetAddr::NULL, true);
        boxed(&mut process, &mut shm, message(3, 1), 1);
        let first = queued(&mut process, &mut shm, message(0, 2), 1);
        queued(&mut process, &mut shm, message(0, 3), 2);
        process.set_btl(first, "fragment", "next", -2);
        let report = process.read();
        // What could be read is there, and that it is not all is said.
        assert_eq!(tags(world(&report)), [2, 1].map(Some));
        assert!(report.notes[0].contains("just being linked"), "{:?}", report.notes);
    });
}

#[test]
fn what_does_not_agree_is_told_and_nothing_is_made_of_it() {
    type Damage = fn(&mut Process, &SharedMemory);
    let cases: [(&str, Damage); 6] = [
        ("not at the beginning of the segment", |process, shm| {
            process.set_btl(shm.component, "component", "my_fifo", shm.segments[2].get() as i64)
        }),
        ("with fast boxes of", |process, shm| process.set_btl(shm.component, "component", "segment_size", 16)),
        ("no endpoint", |process, shm| process.set_btl(shm.endpoints, "endpoint", "peer_smp_rank", 7)),
        ("out of its segment", |process, shm| process.set_btl(shm.segments[1], "fifo", "fifo_head", 0xffff)),
        ("which no node has", |process, shm| process.set_btl(shm.segments[1], "fifo", "fifo_head", -5)),
        ("which is none", |process, shm| {
            process.set_btl(shm.component, "component", "endpoints", shm.endpoints.get() as i64 + 4)
        }),
    ];
    for (words, damage) in cases {
        let (mut process, comm) = one();
        process.arrive(comm, message(0, 1));
        let mut shm = process.shared_memory();
        process.make_box(&mut shm, 3, TargetAddr::NULL, true);
        queued(&mut process, &mut shm, message(0, 2), 2);
        damage(&mut process, &shm);
        let report = process.read();
        assert_eq!(tags(world(&report))[0], Some(1));
        assert!(report.notes.join("\n").contains(words), "{words}: {:?}", report.notes);
    }
}

#[test]
fn without_its_layout_nothing_is_told() {
    let (mut process, _) = one();
    let mut shm = process.shared_memory();
    queued(&mut process, &mut shm, message(0, 2), 1);
    let target = process.target();
    let mut types = process.types.clone();
    Arc::make_mut(&mut types.layout_mut("mca_btl_vader_component_t").fields).remove("my_fifo");
    let layouts = Layouts::new(vec![Box::new(types)]);
    let report = OpenMpiReader::new(&target, &layouts, Pml::named(process.pml)).read_queues().unwrap();
    assert!(world(&report).is_empty() && report.notes.is_empty());
}

/// Some of everything.
fn full(process: &mut Process, comm: Comm) {
    process.arrive(comm, message(0, 1));
    let mut shm = process.shared_memory();
    let last = queued(process, &mut shm, message(0, 2), 2);
    process.make_box(&mut shm, 0, last, false);
    process.make_box(&mut shm, 3, TargetAddr::NULL, true);
    for sequence in 1..5 {
        boxed(process, &mut shm, message(3, 5), sequence);
        let at = letter(process, &mut shm, message(0, 6), sequence + 2, 0);
        process.name_in_box(&mut shm, 0, at);
    }
}

#[test]
#[ignore = "takes long"]
fn any_damage_is_survived() {
    for seed in 0..rounds(600, 2000) {
        let build = Build { extended: seed % 2 == 1, ..Build::default() };
        let (mut process, comm) = Process::new(ABIS[seed as usize % 4], build, seed % 16);
        let before = process.mem.objects.len() as u64;
        full(&mut process, comm);
        let mut memory = process.mem.clone();
        let mut rng = Rng::new(seed);
        for _ in 0..rng.below(6) + 1 {
            // What the BTL has, not the rest of the process.
            let objects = process.mem.objects.len() as u64;
            let object = before + rng.below(objects - before);
            let choice = (rng.next() << 20 | object) / objects * objects + object;
            damage(&process, &mut memory, rng.next() as u8 % 7, choice, rng.next());
        }
        let layouts = process.layouts();
        process.mem = memory;
        let (target, start) = (process.target(), Instant::now());
        let report = OpenMpiReader::new(&target, &layouts, Pml::named(process.pml)).read_queues();
        assert!(start.elapsed() < Duration::from_secs(10) && target.reads() < 20_000, "seed {seed}");
        let Ok(report) = report else { continue };
        let found = report.communicators.iter().map(|found| found.unexpected_messages.operations.len());
        assert!(found.sum::<usize>() < 100 && report.notes.len() < 10);
    }
}
