//! The bytes of a record, made up.

use std::mem::{offset_of, size_of};

use history::{HistoryError, read};
use model::History;
use record_format as format;
use record_format::{COLLECTIVES, COMMUNICATOR_NAME, COUNT_BITS, MAGIC, MessageKey, NOT_GIVEN, SYMBOL, VERSION};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Image, TargetAbi};

pub const AT: u64 = 0x7f00_0000_0000;
pub const POINTER: u64 = 0x5000;
pub const WORLD: u64 = 0x6000_0000;
pub const RING: usize = 4;

/// The bytes of a record with one thread, two requests and one communicator.
pub struct Record {
    pub bytes: Vec<u8>,
}

impl Record {
    pub fn new() -> Self {
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
            // As AArch64 signs it.
            record.u64(at + offset_of!(format::Request, caller), if row == 1 { 0x5a << 56 | 0x1_2000 } else { 0 });
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

    /// The same, whose thread is in a call of MPI_Isend with the frame behind the record, and no row yet.
    pub fn with_send() -> Self {
        let mut record = Self::new();
        let layout = offset_of!(format::Header, frame);
        for (number, place) in [112, 48, 90, 168].into_iter().enumerate() {
            record.u32(layout + 4 * number, place);
        }
        let threads = record.place_of(offset_of!(format::Header, threads));
        let calls = record.place_of(offset_of!(format::Header, calls));
        // Where its row will be there is one that the ring has had for long.
        record.u64(calls + 5 % RING * size_of::<format::Call>() + offset_of!(format::Call, number), 2);
        let at = record.bytes.len();
        record.u64(threads + offset_of!(format::Thread, frame), AT + at as u64);
        record.bytes.resize(at + 176, 0);
        // What stands above 32 bits is no part of an integer or of a handle of MPICH's.
        let above = 0xdead_beef << 32;
        for (place, value) in [(1, 6), (2, 0x4c00_0101), (3, 2), (4, 23), (5, WORLD)] {
            record.u64(at + 8 * place, value | above);
        }
        record.u64(at + 48, 5);
        record.u64(at + 56, 7_000_000);
        record.u64(at + 112, 6);
        record.u64(at + 168, 0x1_1006);
        record
    }

    /// Where a table begins (bytes from the start), by its place in the header.
    pub fn place_of(&self, section: usize) -> usize {
        u64::from_le_bytes(self.bytes[section..section + 8].try_into().unwrap()) as usize
    }

    pub fn u64(&mut self, at: usize, value: u64) {
        self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    pub fn u32(&mut self, at: usize, value: u32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// Adds a table to the end, and its place to the header.
    pub fn table(&mut self, place: usize, stride: usize, count: usize) -> usize {
        let at = self.bytes.len();
        self.u64(place, at as u64);
        self.u32(place + 8, stride as u32);
        self.u32(place + 12, count as u32);
        self.bytes.resize(at + stride * count, 0);
        at
    }

    pub fn target(&self) -> MockTarget {
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

    pub fn read(&self) -> Result<Option<History>, HistoryError> {
        let found = read(&self.target(), &|handle| (handle.0 == WORLD).then(|| "MPI_COMM_WORLD".into()))?;
        Ok(found.map(|record| record.history))
    }
}
