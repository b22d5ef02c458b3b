//! Messages of ch3 that lie in nemesis's cells and were not taken out yet.

use model::{OperationStatus, Remark};

use super::{everywhere, read, tags};
use made_up::mpich::{Device, MPI_BYTE, Mpich, WORLD_CONTEXT};
use made_up::nemesis::{
    ANSWER, EAGER, EAGER_SHORT, EAGER_SYNCHRONOUS, Nemesis, PUT, Packet, READY, RENDEZVOUS, RENDEZVOUS_BY_NEMESIS,
};
use made_up::rng::Rng;
use target::address::TargetAddr;

fn packet(kind: i64, source: i64, tag: i64, bytes: i64) -> Packet {
    Packet { kind, source, tag, context: WORLD_CONTEXT, bytes, request: 0 }
}

fn on_ch3(test: impl Fn(Mpich)) {
    everywhere(|process| {
        if process.device == Device::Ch3 {
            test(process);
        }
    });
}

fn one() -> (Mpich, Nemesis) {
    let mut process = Mpich::new(made_up::process::LITTLE_64, Device::Ch3, 3);
    let made = process.nemesis(false, false);
    (process, made)
}

#[test]
fn every_kind_of_message_wherever_things_lie() {
    for (symmetric, ascending) in [(false, false), (true, false), (false, true), (true, true)] {
        on_ch3(|mut process| {
            let arrived = process.receive(TargetAddr::NULL, [3, 55, WORLD_CONTEXT], 7, MPI_BYTE);
            process.list(3, &[arrived]);
            let mut made = process.nemesis(symmetric, ascending);
            assert_eq!(tags(&process), []);
            let sent = [
                packet(EAGER, 0, 1, 20),
                packet(EAGER_SHORT, 0, 2, 16),
                // In three cells.
                packet(EAGER, 0, 3, 190_000),
                Packet { request: 0x70, ..packet(EAGER_SYNCHRONOUS, 0, 4, 100_000) },
                Packet { request: 0x71, ..packet(RENDEZVOUS, 0, 5, 1 << 20) },
                Packet { request: 0x72, ..packet(RENDEZVOUS_BY_NEMESIS, 0, 6, 1 << 21) },
                packet(READY, 0, 7, 0),
                Packet { context: WORLD_CONTEXT + 1, ..packet(EAGER_SHORT, 0, 8, 4) },
            ];
            for one in sent {
                process.queue_packet(&mut made, 0, one);
            }
            let all = process.read_world().unexpected_messages.into_owned().operations;
            let told: Vec<_> = all.iter().map(|one| (one.desired_local_rank, one.desired_tag)).collect();
            let expected: Vec<_> = (1..9).map(|tag| (Some(0), Some(tag))).collect();
            assert_eq!(told, [&[(Some(3), Some(55))][..], &expected].concat());
            let lengths: Vec<_> = all.iter().map(|one| one.actual_length).collect();
            assert_eq!(lengths, [7, 20, 16, 190_000, 100_000, 1 << 20, 1 << 21, 0, 4].map(Some));
            let requests: Vec<_> = all.iter().filter_map(|one| one.sender_request).collect();
            assert_eq!(requests, [0x70, 0x71, 0x72]);
            let [_, whole, _, long, waits, announced, ..] = &all[..] else { panic!("{all:?}") };
            assert!(whole.has(&Remark::Eager) && whole.buffer.is_some() && whole.evidence.is_some());
            assert!(long.has(&Remark::Eager) && long.buffer.is_none());
            assert!(!waits.has(&Remark::Eager) && announced.has(&Remark::Rendezvous) && announced.buffer.is_none());
            assert!(all[8].internal && all[8].status == OperationStatus::InTransit);
        });
    }
}

#[test]
fn numbers_say_where_a_fast_box_belongs() {
    on_ch3(|mut process| {
        let mut made = process.nemesis(false, false);
        process.queue_packet(&mut made, 2, packet(EAGER_SHORT, 3, 1, 4));
        process.box_packet(&mut made, 2, packet(EAGER, 3, 2, 4));
        process.queue_packet(&mut made, 2, packet(EAGER_SHORT, 3, 3, 4));
        process.box_packet(&mut made, 0, packet(EAGER_SHORT, 0, 9, 4));
        assert_eq!(tags(&process), [9, 1, 2, 3].map(Some));
    });
}

#[test]
fn numbers_wrap() {
    let (mut process, mut made) = one();
    for tag in 0..3 {
        let in_box = tag == 1;
        let at = match in_box {
            true => process.box_packet(&mut made, 2, packet(EAGER_SHORT, 3, tag, 4)),
            false => process.queue_packet(&mut made, 2, packet(EAGER_SHORT, 3, tag, 4)),
        };
        process.mem.put_int(at.wrapping_add(24), 2, 0xffff + tag);
    }
    process.taken(&made, 3, 0xffff);
    assert_eq!(tags(&process), [0, 1, 2].map(Some));
}

#[test]
fn what_is_just_being_dealt_with_is_left_out() {
    let (mut process, mut made) = one();
    process.box_packet(&mut made, 2, packet(EAGER_SHORT, 3, 1, 4));
    process.queue_packet(&mut made, 2, packet(EAGER_SHORT, 3, 2, 4));
    process.taken(&made, 3, 1);
    assert_eq!(tags(&process), [Some(2)]);
}

#[test]
fn the_owner_keeps_the_head_of_its_queue_apart() {
    let (mut process, mut made) = one();
    let first = process.queue_packet(&mut made, 0, packet(EAGER_SHORT, 0, 1, 4));
    process.queue_packet(&mut made, 0, packet(EAGER_SHORT, 0, 2, 4));
    // The first was taken out.
    let next = process.mem.get_pointer(first);
    process.mem.put_pointer(made.queue.wrapping_add(64), next);
    process.mem.put_pointer(made.queue, TargetAddr::NULL);
    assert_eq!(tags(&process), [Some(2)]);
}

#[test]
fn answers_are_no_messages() {
    let (mut process, mut made) = one();
    process.queue_packet(&mut made, 0, packet(ANSWER, 0, 1, 4));
    process.queue_packet(&mut made, 0, packet(PUT, 0, 1, 4));
    process.queue_packet(&mut made, 0, packet(EAGER, 0, 2, 4));
    assert_eq!(tags(&process), [Some(2)]);
}

#[test]
fn one_for_a_communicator_that_does_not_exist_is_noted() {
    let (mut process, mut made) = one();
    process.queue_packet(&mut made, 0, Packet { context: 4096, ..packet(EAGER_SHORT, 0, 3, 4) });
    let (found, notes) = read(&process);
    assert!(found.is_empty() && notes[0].contains("context 4096"), "{notes:?}");
}

/// What spoils a process with three messages of rank 0 in its queue, of which the first has two cells, and one of rank 3 in a box.
type Damage = fn(&mut Mpich, &Nemesis, TargetAddr);

#[test]
fn what_does_not_agree_is_told_and_what_else_is_there_is_shown() {
    const FRONT: u64 = 32;
    let cases: [(&str, usize, Damage); 12] = [
        ("just being linked", 2, |process, _, first| process.mem.put_int(first, 8, 0)),
        ("where none is", 2, |process, _, first| process.mem.put_int(first, 8, 0x123)),
        ("runs in a circle", 2, |process, made, first| {
            process.mem.put_pointer(first, TargetAddr::new(first.get() - made.segment.get()));
        }),
        ("not a peer on this node", 1, |process, _, first| process.mem.put_int(first.wrapping_add(8), 4, 2)),
        ("impossible length", 1, |process, _, first| process.mem.put_int(first.wrapping_add(16), 8, 1 << 17)),
        ("less than a packet", 1, |process, _, first| process.mem.put_int(first.wrapping_add(16), 8, 3)),
        ("is missing", 2, |process, _, first| process.mem.put_int(first.wrapping_add(24), 2, 7)),
        ("has arrived in part", 1, |process, made, _| process.receiving(made, 0, 0x1000)),
        ("no connection to rank 0", 1, |process, made, _| {
            process.set(made.connections[0], "MPIDI_VC", "pg_rank", 2);
        }),
        ("ends within a cell", 2, |process, _, first| {
            let (offset, size) = process.types.field("MPIDI_CH3_Pkt_t", "eager_send.data_sz");
            process.mem.put_int(first.wrapping_add(FRONT + offset), size, 65_600);
        }),
        ("were taken out already is not known", 3, |process, made, _| process.mem.put(made.list, &[0; 120])),
        ("does not wait, and others do", 3, |process, made, _| process.taken(made, 3, 0xfff0)),
    ];
    for (words, shown, damage) in cases {
        let (mut process, mut made) = one();
        let first = process.queue_packet(&mut made, 0, packet(EAGER, 0, 1, 100_000));
        process.queue_packet(&mut made, 0, packet(EAGER_SHORT, 0, 2, 4));
        process.queue_packet(&mut made, 0, packet(EAGER_SHORT, 0, 3, 4));
        process.box_packet(&mut made, 2, packet(EAGER_SHORT, 3, 4, 4));
        damage(&mut process, &made, first);
        let (found, notes) = read(&process);
        let told = notes.iter().any(|note| note.contains(words));
        assert!(told && found.len() == shown, "{words}: {} {notes:?}", found.len());
    }
}

#[test]
fn a_region_that_does_not_agree_is_none() {
    let (mut process, mut made) = one();
    process.queue_packet(&mut made, 0, packet(EAGER_SHORT, 0, 3, 4));
    // num_local, local_rank, Elements, my_freeQ, my_recvQ, rank (mpid_nem_defs.h).
    for (offset, size) in [(12, 4), (32, 4), (80, 8), (104, 8), (112, 8), (120, 4)] {
        let mut damaged = process.clone();
        let at = made.region.wrapping_add(offset);
        let before = damaged.mem.get_uint(at, size) as i64;
        damaged.mem.put_int(at, size, before + 1);
        assert_eq!(read(&damaged).0.len(), 0, "{offset}");
    }
    assert_eq!(tags(&process), [Some(3)]);
}

#[test]
fn random_bytes_are_survived() {
    on_ch3(|mut process| {
        let mut made = process.nemesis(false, process.mem.objects.len() % 2 == 0);
        let mut cells = Vec::new();
        for tag in 0..6 {
            let one = packet(if tag == 2 { EAGER } else { EAGER_SHORT }, 0, tag, if tag == 2 { 70_000 } else { 4 });
            cells.push((process.queue_packet(&mut made, 0, one), 160));
        }
        process.box_packet(&mut made, 2, packet(EAGER_SHORT, 3, 4, 4));
        let mut parts = vec![(made.region, 136), (made.variables, 64), (made.queue, 128), (made.list, 120)];
        parts.extend([(made.numbers, 8), (made.fast_box(2), 200), (made.connections[0], 64)]);
        parts.extend(cells);
        let mut rng = Rng::new(11);
        let whole = process.mem.clone();
        for _ in 0..200 {
            for _ in 0..rng.below(6) + 1 {
                let (at, len) = parts[rng.below(parts.len() as u64) as usize];
                process.mem.put(at.wrapping_add(rng.below(len)), &[rng.below(256) as u8]);
            }
            let report = process.read();
            assert!(report.communicators[0].unexpected_messages.operations.len() <= 7 && report.notes.len() < 10);
            process.mem = whole.clone();
        }
    });
}
