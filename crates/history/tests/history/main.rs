//! Records that are made up here.
#![allow(clippy::unwrap_used, clippy::panic)]

mod made;

use std::mem::{offset_of, size_of};

use history::{HistoryError, Peer, Tag, read};
use made::{POINTER, RING, Record, WORLD};
use made_up::rng::Rng;
use model::{HandleWord, RecordedState};
use record_format as format;
use record_format::{MAGIC, SYMBOL, VERSION};
use target::TargetAbi;
use target::address::TargetAddr;
use target::mock::MockTarget;

#[test]
fn what_is_kept_is_told() {
    let found = Record::new().read().unwrap().unwrap();
    let [thread] = found.threads.as_slice() else { panic!("{found:?}") };
    assert_eq!((thread.kernel_thread, thread.begun, thread.current, thread.ended), (4242, 6, Some(6), false));
    let told: Vec<_> = thread.calls.iter().map(|one| (one.number, &*one.function, one.given.peer)).collect();
    assert_eq!(told, [(3, "MPI_Isend", Some(1)), (4, "MPI_Isend", None), (6, "MPI_Recv", Some(1))]);
    let last = &thread.calls[2];
    assert_eq!(last.began_at, "2023-11-14T22:13:20.006Z");
    assert_eq!(last.given.communicator.as_deref(), Some("MPI_COMM_WORLD"));
    assert_eq!(last.given.place.as_deref(), Some("solver+0x1006"));
    assert_eq!((last.given.tag, last.given.count), (Some(17), Some(6)));
    let told: Vec<_> = found.requests.iter().map(|one| (one.request, one.state, &*one.function)).collect();
    let expected = [(0x9001, RecordedState::Active), (0x9003, RecordedState::Inactive)];
    assert_eq!(told, expected.map(|(request, state)| (HandleWord(request), state, "MPI_Isend")));
    assert_eq!(found.requests[0].given.communicator.as_deref(), Some("0x77"));
    let called_at = found.requests[0].called_at.as_ref().unwrap();
    assert_eq!((called_at.place.as_deref(), found.requests[1].called_at.is_none()), (Some("solver+0x2000"), true));
    let [world] = found.communicators.as_slice() else { panic!("{found:?}") };
    assert_eq!((world.identity, world.collectives, world.remote_size), (Some(HandleWord(0xabc)), 2, None));
    let told: Vec<_> =
        world.latest.iter().map(|one| (one.number, &*one.function, one.given.peer, one.inside)).collect();
    assert_eq!(told, [(1, "MPI_Bcast", Some(1), false), (2, "MPI_Bcast", Some(2), true)]);
}

#[test]
fn messages_are_counted_by_peer_and_tag() {
    let found = Record::new().read().unwrap().unwrap();
    let messages = found.communicators[0].messages.clone().unwrap();
    let told: Vec<_> = messages.iter().map(|one| (one.peer, one.tag, one.sent, one.received)).collect();
    assert_eq!(told, [(1, 17, 7, 3)]);
    // A record from before they were counted has a shorter header.
    let mut older = Record::new();
    older.u32(offset_of!(format::Header, header_bytes), offset_of!(format::Header, message_keys) as u32);
    assert_eq!(older.read().unwrap().unwrap().communicators[0].messages, None);
}

#[test]
fn a_communicator_has_the_name_that_the_program_gave_it() {
    let record = read(&Record::new().target(), &|_| None).unwrap().unwrap();
    assert_eq!(record.history.communicators[0].name.as_deref(), Some("halo"));
}

#[test]
fn what_is_open_is_told_as_it_was_given() {
    let record = read(&Record::new().target(), &|_| None).unwrap().unwrap();
    let [current] = record.current.as_slice() else { panic!("{record:?}") };
    assert_eq!((current.kernel_thread, &*current.posted.function), (4242, "MPI_Recv"));
    assert_eq!(current.posted.communicator, Some(HandleWord(WORLD)));
    assert_eq!((current.posted.first.peer, current.posted.first.tag), (Peer::Rank(1), Tag::Number(17)));
    let told: Vec<_> = record.open.iter().map(|one| (one.request, one.active, one.persistent)).collect();
    assert_eq!(told, [(HandleWord(0x9001), true, false), (HandleWord(0x9003), false, true)]);
    // Negative numbers mean what they mean in this MPI.
    let mut any = Record::new();
    let calls = any.place_of(offset_of!(format::Header, calls));
    let at = calls + 5 % RING * size_of::<format::Call>();
    for (number, peer) in [(-2, Peer::Any), (-1, Peer::Null), (-9, Peer::Unknown)] {
        any.u32(at + offset_of!(format::Call, peer), number as u32);
        let record = read(&any.target(), &|_| None).unwrap().unwrap();
        assert_eq!(record.current[0].posted.first.peer, peer);
    }
}

#[test]
fn what_a_send_was_given_stands_in_its_frame_until_it_returns() {
    let sending = Record::with_send();
    let record = read(&sending.target(), &|_| None).unwrap().unwrap();
    let [current] = record.current.as_slice() else { panic!("{record:?}") };
    assert_eq!((&*current.posted.function, current.posted.communicator), ("MPI_Isend", Some(HandleWord(WORLD))));
    let first = &current.posted.first;
    assert_eq!((first.peer, first.tag, first.count), (Peer::Rank(2), Tag::Number(23), Some(6)));
    assert_eq!(first.datatype, Some(HandleWord(0x4c00_0101)));
    let last = record.history.threads[0].calls.last().unwrap();
    assert_eq!((last.number, last.given.place.as_deref()), (6, Some("solver+0x1006")));
    assert_eq!(last.began_at, "2023-11-14T22:13:25.007Z");
    // It is on its way, but not among the numbers that the record has.
    let messages = record.history.communicators[0].messages.clone().unwrap();
    let told: Vec<_> = messages.iter().map(|one| (one.peer, one.tag, one.sent, one.received)).collect();
    assert_eq!(told, [(1, 17, 7, 3), (2, 23, 1, 0)]);
}

#[test]
fn a_short_send_began_in_a_second() {
    let mut sending = Record::with_send();
    let at = sending.bytes.len() - 176;
    sending.u64(at + 56, format::TO_THE_SECOND);
    for (second, told) in [(1_700_000_005, "2023-11-14T22:13:25Z"), (u64::MAX, "2096-10-02T07:06:40Z")] {
        sending.u64(at + 48, second);
        let record = read(&sending.target(), &|_| None).unwrap().unwrap();
        assert_eq!(record.history.threads[0].calls.last().unwrap().began_at, told);
    }
}

#[test]
fn a_frame_of_another_call_says_nothing() {
    let frame = |record: &Record| record.bytes.len() - 176;
    let mut other = Record::with_send();
    let at = frame(&other);
    other.u64(at + 112, 5);
    let mut lost = Record::with_send();
    let threads = lost.place_of(offset_of!(format::Header, threads));
    lost.u64(threads + offset_of!(format::Thread, frame), 0x10);
    let mut older = Record::with_send();
    older.u32(offset_of!(format::Header, header_bytes), offset_of!(format::Header, frame) as u32);
    for record in [other, lost, older] {
        let record = read(&record.target(), &|_| None).unwrap().unwrap();
        assert_eq!(record.current, []);
        assert_eq!(record.history.threads[0].calls.iter().map(|one| one.number).collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(record.history.communicators[0].messages.clone().unwrap().len(), 1);
    }
}

#[test]
fn without_a_record_there_is_none() {
    let none = MockTarget::new(TargetAbi::LITTLE_64);
    assert!(read(&none, &|_| None).unwrap().is_none());
    let mut early = MockTarget::new(TargetAbi::LITTLE_64);
    early.add_segment(TargetAddr::new(POINTER), vec![0; 8]).add_symbol(SYMBOL, TargetAddr::new(POINTER), Some(8));
    assert!(read(&early, &|_| None).unwrap().is_none());
}

#[test]
fn what_is_no_record_is_an_error() {
    let mut other = Record::new();
    other.u32(offset_of!(format::Header, version), VERSION + 1);
    assert!(matches!(other.read(), Err(HistoryError::Version { .. })));
    let mut other = Record::new();
    other.bytes[3] ^= 1;
    assert!(matches!(other.read(), Err(HistoryError::Damaged(_))));
    for (place, value) in [(0, u64::MAX), (0, 1 << 40), (8, 1 << 32), (8, u64::MAX)] {
        let mut other = Record::new();
        other.u64(offset_of!(format::Header, calls) + place, value);
        assert!(matches!(other.read(), Err(HistoryError::Damaged(_))), "{place} {value:#x}");
    }
    let mut cut = Record::new();
    cut.bytes.truncate(cut.bytes.len() / 2);
    assert!(matches!(cut.read(), Err(HistoryError::Target(_))));
}

#[test]
fn damage_is_survived() {
    let (plain, sending) = (Record::new(), Record::with_send());
    for seed in 0..3000 {
        let mut random = Rng::new(seed);
        let whole = if random.chance(50) { &plain } else { &sending };
        let mut damaged = Record { bytes: whole.bytes.clone() };
        for _ in 0..=random.below(8) {
            // Most of it in the header and in what stands first in rows.
            let end = if random.chance(50) { size_of::<format::Header>() } else { damaged.bytes.len() };
            let at = MAGIC.len() + random.index(end - MAGIC.len());
            damaged.bytes[at] = if random.chance(30) { 0xff } else { random.next() as u8 };
        }
        // Whatever it says, it ends.
        let _ = damaged.read();
    }
}
