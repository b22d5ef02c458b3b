//! Messages that lie in cells of shared memory and were not taken out yet.

use model::{OperationStatus, Remark};

use super::{everywhere, on_ch4, read, tags};
use made_up::cells::{Cells, Letter, RELEASES};
use made_up::mpich::{MPI_BYTE, Mpich, WORLD_CONTEXT};
use made_up::rng::Rng;
use target::address::TargetAddr;

const BEGINS: i64 = 0;
const GOES_ON: i64 = 1;
const SEND: i64 = 0;
const ANSWER: i64 = 1;

fn letter(source: i64, tag: i64) -> Letter {
    Letter { source, tag, context: WORLD_CONTEXT, bytes: 20, flags: 0, request: 0 }
}

fn send(process: &mut Mpich, cells: &mut Cells, letter: Letter) -> TargetAddr {
    process.queue_cell(cells, letter.source as u64, BEGINS, SEND, letter)
}

#[test]
fn what_is_queued_follows_what_has_arrived_in_every_release() {
    on_ch4(|mut process| {
        let arrived = process.receive(TargetAddr::NULL, [3, 55, WORLD_CONTEXT], 7, MPI_BYTE);
        process.list(3, &[arrived]);
        // One of these; the others say that a pool of another release is none.
        let release = RELEASES[process.mem.objects.len() % 4];
        let mut cells = process.cells(release);
        assert_eq!(tags(&process), []);
        send(&mut process, &mut cells, letter(3, 1));
        send(&mut process, &mut cells, Letter { bytes: 5000, request: 0x7000, ..letter(0, 2) });
        send(&mut process, &mut cells, Letter { bytes: 1 << 20, flags: 2 << 8, request: 0x7000, ..letter(3, 3) });
        send(&mut process, &mut cells, Letter { context: WORLD_CONTEXT + 1, ..letter(0, 1) });
        let all = process.read_world().unexpected_messages;
        let found = all.into_owned().operations;
        let told: Vec<_> = found.iter().map(|one| (one.desired_local_rank, one.desired_tag)).collect();
        assert_eq!(told, [(3, 55), (3, 1), (0, 2), (3, 3), (0, 1)].map(|(from, tag)| (Some(from), Some(tag))));
        let lengths: Vec<_> = found.iter().map(|one| one.actual_length).collect();
        assert_eq!(lengths, [7, 20, 5000, 1 << 20, 20].map(Some));
        let [arrived, whole, waits, announced, collective] = &found[..] else { panic!("{found:?}") };
        assert_eq!((arrived.status, arrived.internal), (OperationStatus::Pending, false));
        assert!(whole.has(&Remark::Eager) && whole.buffer.is_some() && whole.evidence.is_some());
        assert_eq!((waits.extra_text.len(), waits.buffer.is_some()), (0, true));
        assert!(announced.has(&Remark::Rendezvous) && announced.buffer.is_none());
        assert!(collective.internal && collective.status == OperationStatus::InTransit);
    });
}

#[test]
fn pools_of_all_releases_are_known() {
    for release in RELEASES {
        on_ch4(|mut process| {
            let mut cells = process.cells(release);
            send(&mut process, &mut cells, letter(2, 9));
            assert_eq!(tags(&process), [Some(9)], "{release}");
        });
    }
}

#[test]
fn only_what_begins_a_message_is_one() {
    on_ch4(|mut process| {
        let mut cells = process.cells(0);
        process.queue_cell(&mut cells, 0, GOES_ON, SEND, letter(0, 1));
        process.queue_cell(&mut cells, 0, BEGINS, ANSWER, letter(0, 2));
        send(&mut process, &mut cells, letter(0, 3));
        assert_eq!(tags(&process), [Some(3)]);
    });
}

#[test]
fn one_for_a_communicator_that_does_not_exist_is_noted() {
    on_ch4(|mut process| {
        let mut cells = process.cells(3);
        send(&mut process, &mut cells, Letter { context: 4096, ..letter(0, 3) });
        let (found, notes) = read(&process);
        assert!(found.is_empty() && notes[0].contains("context 4096"), "{notes:?}");
    });
}

#[test]
fn what_does_not_agree_is_told() {
    type Damage = fn(&mut Mpich, &Cells, TargetAddr);
    let cases: [(&str, Damage); 4] = [
        ("just being linked", |process, cells, _| process.mem.put_int(cells.terminal, 4, 0)),
        ("of the kind 7", |process, cells, _| process.mem.put_int(cells.terminal.wrapping_add(128), 4, 7)),
        ("does not exist", |process, cells, _| process.mem.put_int(cells.terminal, 4, 0x7fff_ffff)),
        ("says it is", |process, _, first| process.mem.put_int(first, 4, 5)),
    ];
    for (words, damage) in cases {
        let mut process = Mpich::new(made_up::process::LITTLE_64, made_up::mpich::Device::Ch4, 3);
        let mut cells = process.cells(3);
        let first = send(&mut process, &mut cells, letter(0, 3));
        send(&mut process, &mut cells, letter(0, 4));
        damage(&mut process, &cells, first);
        let (found, notes) = read(&process);
        assert!(found.len() < 2 && notes.iter().any(|note| note.contains(words)), "{words}: {notes:?}");
    }
}

#[test]
fn a_pool_that_does_not_agree_is_none() {
    on_ch4(|mut process| {
        let mut cells = process.cells(3);
        send(&mut process, &mut cells, letter(0, 3));
        let before = process.mem.get_uint(cells.pool, 4);
        process.mem.put_int(cells.pool, 4, before as i64 + 8);
        assert_eq!(tags(&process), []);
    });
}

#[test]
fn random_bytes_are_survived() {
    everywhere(|mut process| {
        if process.device == made_up::mpich::Device::Ch3 {
            return;
        }
        let mut cells = process.cells(process.mem.objects.len() % 4);
        for tag in 0..6 {
            send(&mut process, &mut cells, letter(tag % 3, tag));
        }
        let parts = [(cells.transport, 32), (cells.pool, 104), (cells.terminal, 192), (cells.slab, 2048)];
        let mut rng = Rng::new(11);
        let whole = process.mem.clone();
        for _ in 0..150 {
            for _ in 0..rng.below(6) + 1 {
                let (at, len) = parts[rng.below(4) as usize];
                let place = at.wrapping_add(rng.below(len));
                process.mem.put(place, &[rng.below(256) as u8]);
            }
            let report = process.read();
            assert!(report.communicators[0].unexpected_messages.operations.len() <= 64 && report.notes.len() < 10);
            process.mem = whole.clone();
        }
    });
}
