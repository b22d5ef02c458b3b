//! A replay gives what the target gave, and nothing else.

use layouts::LayoutSource;
use model::QueueState;
use recording::{Range, Replay};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{PageCache, Symbol, Target, TargetAbi, TargetError};

use super::support::{file, open, process};
use made_up::process::ABIS;
use made_up::rich::{queues, read, rich};

const SECRET: &[u8] = b"the user's own data";

fn addr(address: u64) -> TargetAddr {
    TargetAddr::new(address)
}

#[test]
fn queues_are_read_from_a_recording_as_from_the_process() {
    for abi in ABIS {
        for seed in 0..4 {
            let made = rich(abi, seed);
            let layouts = made.layouts();
            let target = made.target();
            // As a session has it: with a cache between.
            let cached = PageCache::new(&target);
            let mut live = None;
            let part = process(&cached, 0, Vec::new(), |target| live = Some(read(&made, &layouts, target).unwrap()));
            let (_place, opened) = open(&file(&[part]));
            let opened = opened.unwrap();
            assert_eq!(opened.problems, Vec::<String>::new());
            let replay = Replay::open(&opened, 0).unwrap();
            assert_eq!(Some(read(&made, &layouts, &replay).unwrap()), live);
            assert_eq!(replay.missing(), []);
        }
    }
}

#[test]
fn what_a_recording_lacks_is_told_with_its_address() {
    let made = rich(ABIS[0], 1);
    let layouts = made.layouts();
    let target = made.target();
    // Communicators only, then all queues are asked for.
    let part = process(&target, 0, Vec::new(), |target| {
        let mut reader = readers::openmpi::OpenMpiReader::new(target, &layouts, readers::openmpi::pml::Pml::Ob1);
        reader.with_queues = false;
        model::QueueSource::read_queues(&mut reader).unwrap();
    });
    let (_place, opened) = open(&file(&[part]));
    let replay = Replay::open(&opened.unwrap(), 0).unwrap();
    let result = read(&made, &layouts, &replay);
    let said = match &result {
        Ok(report) => {
            assert!(queues(report).any(|queue| queue.state == QueueState::Error));
            report.problems.join("\n")
        }
        Err(error) => error.to_string(),
    };
    assert!(said.contains("not in the recording"), "{said}");
    assert!(replay.missing().iter().all(|error| error.is_not_recorded() && said.contains(&error.to_string()[..8])));
}

/// Memory with secrets right beside everything that is read.
fn guarded() -> MockTarget {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    let mut page = Vec::new();
    page.extend_from_slice(b"12345678");
    page.extend_from_slice(SECRET);
    page.resize(0x100, 0);
    page.extend_from_slice(b"a name\0");
    page.extend_from_slice(SECRET);
    page.resize(0x1000, 0);
    target.add_segment(addr(0x10000), page);
    target.add_symbol("there", addr(0x10000), Some(8));
    target
}

#[test]
fn only_what_was_asked_for_is_recorded() {
    let target = guarded();
    let cached = PageCache::new(&target);
    let part = process(&cached, 0, Vec::new(), |target| {
        assert_eq!(target.read_bytes(addr(0x10000), 8).unwrap(), b"12345678");
        assert_eq!(target.read_c_string(addr(0x10100), 64).unwrap(), b"a name");
        assert!(target.read_bytes(addr(0x20000), 4).is_err());
        assert!(target.symbol("there").unwrap().is_some());
        assert!(target.symbol("not there").unwrap().is_none());
    });
    let (_place, opened) = open(&file(&[part]));
    let replay = Replay::open(&opened.unwrap(), 0).unwrap();
    let ranges: Vec<Range> = replay.ranges().collect();
    assert_eq!(ranges, [Range::new(0x10000, 8), Range::new(0x10100, 7)]);
    assert_eq!(replay.read_bytes(addr(0x10002), 4).unwrap(), b"3456");
    assert_eq!(replay.read_c_string(addr(0x10100), 64).unwrap(), b"a name");
    assert_eq!(replay.read_c_string(addr(0x10102), 3).unwrap(), b"nam");
    // A read that failed fails again; one that nobody tried says that it is the recording that lacks it.
    assert_eq!(replay.read_bytes(addr(0x20000), 4), Err(TargetError::Fault { addr: addr(0x20000), len: 4 }));
    let missing = TargetError::NotRecorded { addr: addr(0x10008), len: 2 };
    assert_eq!(replay.read_bytes(addr(0x10006), 4), Err(missing.clone()));
    let further = TargetError::NotRecorded { addr: addr(0x10200), len: 1 };
    assert_eq!(replay.read_c_string(addr(0x10200), 9), Err(further.clone()));
    let name = "never asked".to_owned();
    let symbol = TargetError::SymbolNotRecorded { name };
    assert_eq!(replay.symbol("never asked"), Err(symbol.clone()));
    assert_eq!(replay.missing(), [missing, further, symbol]);
    assert_eq!(replay.symbol("there"), Ok(Some(Symbol { addr: addr(0x10000), size: Some(8) })));
    assert_eq!(replay.symbol("not there"), Ok(None));
    assert_eq!(replay.types().type_layout("anything"), Ok(None));
}

#[test]
fn more_memory_is_recorded_as_far_as_it_can_be_read() {
    let target = guarded();
    let more = vec![Range::new(0xf000, 0x3000), Range::new(0x8000_0000, 1 << 30), Range::new(u64::MAX - 8, 100)];
    let part = process(&target, 0, more, |_| ());
    let (_place, opened) = open(&file(&[part]));
    let replay = Replay::open(&opened.unwrap(), 0).unwrap();
    assert_eq!(replay.ranges().collect::<Vec<_>>(), [Range::new(0x10000, 0x1000)]);
    assert_eq!(replay.read_bytes(addr(0x10008), SECRET.len()).unwrap(), SECRET);
    assert!(replay.end.left_out[0].contains("could not be read"), "{:?}", replay.end.left_out);
}

#[test]
fn memory_of_many_frames_reads_as_one() {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    let bytes: Vec<u8> = (0..5_000_000_u32).map(|index| (index % 251) as u8).collect();
    target.add_segment(addr(0x1000), bytes.clone());
    let part = process(&target, 0, vec![Range::new(0x1000, bytes.len() as u64)], |_| ());
    assert!(part.len() < bytes.len() / 10);
    let (_place, opened) = open(&file(&[part]));
    let replay = Replay::open(&opened.unwrap(), 0).unwrap();
    assert_eq!(replay.read_bytes(addr(0x1000), bytes.len()).unwrap(), bytes);
    assert_eq!(replay.read_bytes(addr(0x1000 + (1 << 20) - 3), 7).unwrap(), bytes[(1 << 20) - 3..(1 << 20) + 4]);
}

#[test]
fn a_failing_disk_ends_the_recording() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| std::io::Error::other("disk full"))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let target = guarded();
    for room in [0, 40, 300] {
        let recorder = recording::Recorder::new(&target);
        let parts = recording::Parts {
            description: super::support::description(&target, 0),
            types: Default::default(),
            profile: None,
            symbols: Vec::new(),
            more: vec![Range::new(0x10000, 0x1000)],
            left_out: Vec::new(),
            progress: &mut |_, _| Ok(()),
        };
        let result = recording::write_process(&mut Full(room), recorder, parts);
        assert_eq!(result.unwrap_err().to_string(), "disk full");
    }
}

#[test]
fn names_of_functions_are_recorded_where_they_were_asked_for() {
    let mut target = guarded();
    target.add_symbol("handler", addr(0x4000), None);
    target.add_symbol("handler_too", addr(0x4000), None);
    target.add_symbol("other", addr(0x5000), None);
    let part = process(&target, 0, Vec::new(), |target| {
        assert_eq!(target.function_at(addr(0x4000)).unwrap().as_deref(), Some("handler_too"));
        assert_eq!(target.function_at(addr(0x4008)).unwrap(), None);
    });
    let (_place, opened) = open(&file(&[part]));
    let replay = Replay::open(&opened.unwrap(), 0).unwrap();
    assert_eq!(replay.function_at(addr(0x4000)).unwrap().as_deref(), Some("handler_too"));
    assert_eq!(replay.function_at(addr(0x5000)).unwrap(), None);
}
