//! Records that are made up here.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::mem::{offset_of, size_of};

use history::{HistoryError, Peer, Tag, read};
use made_up::rng::Rng;
use model::{HandleWord, History, RecordedState};
use record_format as format;
use record_format::{COLLECTIVES, COMMUNICATOR_NAME, COUNT_BITS, MAGIC, MessageKey, NOT_GIVEN, SYMBOL, VERSION};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Image, TargetAbi};

const AT: u64 = 0x7f00_0000_0000;
const POINTER: u64 = 0x5000;
const WORLD: u64 = 0x6000_0000;
const RING: usize = 4;

/// The bytes of a record with one thread, two requests and one communicator.
struct Record {
    bytes: Vec<u8>,
}

impl Record {
    fn new() -> Self {
        let mut record = Self { bytes: vec![0; size_of::<format::Header>()] };
        record.bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
        record.u32(offset_of!(format::Header, version), VERSION);
        record.u64(offset_of!(format::Header, latest), 5_000_000_000);
        record.u64(offset_of!(format::Header, latest) + 8, 1_700_000_005_000_000_000);
        let functions = record.table(offset_of!(format::Header, functions), size_of::<format::FunctionName>(), 3);
        for (number, name) in ["MPI_Isend", "MPI_Recv", "MPI_Bcast"].into_iter().enumerate() {
            let at = functions + number * size_of::<format::FunctionName>();
            record.bytes[at..at + name.len()].copy_from_slice(name.as_bytes());
            record.bytes[at + offset_of!(format::FunctionName, object)] = format::object::COMMUNICATOR;
        }
        let threads = record.table(offset_of!(format::Header, threads), size_of::<format::Thread>(), 2);
        record.u64(threads + offset_of!(format::Thread, calls), 6);
        record.u64(threads + offset_of!(format::Thread, current), 6);
        record.u32(threads + offset_of!(format::Thread, id), 4242);
        record.u32(threads + offset_of!(format::Thread, state), format::thread_state::LIVE);
        record.u32(threads + offset_of!(format::Thread, capacity), RING as u32);
        let calls = record.table(offset_of!(format::Header, calls), size_of::<format::Call>(), RING);
        for number in 3..=6_u64 {
            let at = calls + (number as usize - 1) % RING * size_of::<format::Call>();
            // The fifth is being written.
            record.u64(at + offset_of!(format::Call, number), if number == 5 { 0 } else { number });
            record.u64(at + offset_of!(format::Call, time), number * 1_000_000);
            record.u64(at + offset_of!(format::Call, site), 0x1_1000 + number);
            record.u64(at + offset_of!(format::Call, object), WORLD);
            record.u64(at + offset_of!(format::Call, count), (u64::from(number == 6) << COUNT_BITS) | number);
            record.u32(at + offset_of!(format::Call, peer), if number == 4 { NOT_GIVEN as u32 } else { 1 });
            record.u32(at + offset_of!(format::Call, tag), 17);
        }
        let keys = record.table(offset_of!(format::Header, request_keys), 8, 4);
        let requests = record.table(offset_of!(format::Header, requests), size_of::<format::Request>(), 4);
        for (row, state) in [(1, format::request_state::ACTIVE), (3, format::request_state::INACTIVE)] {
            let at = requests + row * size_of::<format::Request>();
            record.u64(keys + 8 * row, 0x9000 + row as u64);
            record.u64(at + offset_of!(format::Request, number), row as u64);
            record.u64(at + offset_of!(format::Request, request), 0x9000 + row as u64);
            record.u32(at + offset_of!(format::Request, state), state);
            record.u64(at + offset_of!(format::Request, object), 0x77);
            record.u64(at + offset_of!(format::Request, count), 9);
        }
        let keys = record.table(offset_of!(format::Header, communicator_keys), 8, 2);
        record.u64(keys + 8, WORLD);
        let communicators =
            record.table(offset_of!(format::Header, communicators), size_of::<format::Communicator>(), 2);
        let at = communicators + size_of::<format::Communicator>();
        record.u64(at + offset_of!(format::Communicator, handle), WORLD);
        record.u32(at + offset_of!(format::Communicator, state), format::communicator_state::LIVE);
        record.u64(at + offset_of!(format::Communicator, identity), 0xabc);
        record.u64(at + offset_of!(format::Communicator, collectives), 2);
        record.u32(at + offset_of!(format::Communicator, remote_size), u32::MAX);
        let latest =
            record.table(offset_of!(format::Header, collectives), size_of::<format::Collective>(), 2 * COLLECTIVES);
        for number in 1..=2_u64 {
            let at = latest + (COLLECTIVES + number as usize - 1) * size_of::<format::Collective>();
            record.u64(at + offset_of!(format::Collective, number), number);
            record.u64(at + offset_of!(format::Collective, count), (2 << COUNT_BITS) | 8);
            record.u32(at + offset_of!(format::Collective, root), number as u32);
            record.u64(at + offset_of!(format::Collective, call), 4 + number);
        }
        let keys = record.table(offset_of!(format::Header, message_keys), 8, 4);
        let counts = record.table(offset_of!(format::Header, message_counts), 8, 4);
        // Two threads at once have made two rows of one key.
        for (row, (received, number)) in [(false, 5), (true, 3), (false, 2)].into_iter().enumerate() {
            let key = MessageKey { communicator: 1, received, peer: 1, tag: 17 };
            record.u64(keys + 8 * row, key.word().unwrap());
            record.u64(counts + 8 * row, number);
        }
        let names = record.table(offset_of!(format::Header, communicator_names), COMMUNICATOR_NAME, 2);
        record.bytes[names + COMMUNICATOR_NAME..][..4].copy_from_slice(b"halo");
        record.u32(offset_of!(format::Header, header_bytes), size_of::<format::Header>() as u32);
        record.u32(offset_of!(format::Header, family), format::family::MPICH);
        let total = record.bytes.len() as u64;
        record.u64(offset_of!(format::Header, total_bytes), total);
        record
    }

    fn u64(&mut self, at: usize, value: u64) {
        self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, at: usize, value: u32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// Adds a table to the end, and its place to the header.
    fn table(&mut self, place: usize, stride: usize, count: usize) -> usize {
        let at = self.bytes.len();
        self.u64(place, at as u64);
        self.u32(place + 8, stride as u32);
        self.u32(place + 12, count as u32);
        self.bytes.resize(at + stride * count, 0);
        at
    }

    fn target(&self) -> MockTarget {
        let mut target = MockTarget::new(TargetAbi::LITTLE_64);
        target.add_segment(TargetAddr::new(AT), self.bytes.clone());
        target.add_segment(TargetAddr::new(POINTER), AT.to_le_bytes().to_vec());
        target.add_symbol(SYMBOL, TargetAddr::new(POINTER), Some(8));
        let image = |path: &str, bias| Image {
            path: path.to_owned(),
            bias: TargetAddr::new(bias),
            build_id: None,
            is_executable: bias == 0x1_0000,
        };
        target.add_image(image("/tmp/solver", 0x1_0000));
        target.add_image(image("/lib/libmpi.so", 0x90_0000));
        target
    }

    fn read(&self) -> Result<Option<History>, HistoryError> {
        let found = read(&self.target(), &|handle| (handle.0 == WORLD).then(|| "MPI_COMM_WORLD".into()))?;
        Ok(found.map(|record| record.history))
    }
}

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
    let calls = u64::from_le_bytes(any.bytes[offset_of!(format::Header, calls)..][..8].try_into().unwrap()) as usize;
    let at = calls + 5 % RING * size_of::<format::Call>();
    for (number, peer) in [(-2, Peer::Any), (-1, Peer::Null), (-9, Peer::Unknown)] {
        any.u32(at + offset_of!(format::Call, peer), number as u32);
        let record = read(&any.target(), &|_| None).unwrap().unwrap();
        assert_eq!(record.current[0].posted.first.peer, peer);
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
    let whole = Record::new();
    for seed in 0..3000 {
        let mut random = Rng::new(seed);
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
