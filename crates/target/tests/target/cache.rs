//! The page cache.

use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{PageCache, Target, TargetAbi, TargetError};

use made_up::rng::Rng;

const PAGE: u64 = 4096;

/// Pages `first..last` (numbers) with known bytes.
fn mapped(ranges: &[(u64, u64)]) -> PageCache<MockTarget> {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    for &(first, last) in ranges {
        let bytes = (first * PAGE..last * PAGE).map(byte_at).collect();
        target.add_segment(TargetAddr::new(first * PAGE), bytes);
    }
    PageCache::new(target)
}

fn byte_at(addr: u64) -> u8 {
    (addr ^ addr >> 8 ^ addr >> 16) as u8
}

fn check(cache: &PageCache<MockTarget>, addr: u64, len: usize) {
    let bytes = cache.read_bytes(TargetAddr::new(addr), len).unwrap();
    assert!(bytes.iter().zip(addr..).all(|(byte, addr)| *byte == byte_at(addr)), "{len} bytes at {addr:#x}");
}

#[test]
fn a_page_is_read_once() {
    let cache = mapped(&[(1, 9)]);
    for addr in [PAGE, PAGE + 100, 2 * PAGE - 1, PAGE + 7] {
        check(&cache, addr, 1);
    }
    assert_eq!((cache.statistics().reads, cache.inner().reads(), cache.statistics().pages), (1, 1, 1));
    // Page 4 brings its neighbours up to the end of the block: 2 to 7. What is missing after that comes in one read.
    check(&cache, 4 * PAGE + 5, 10);
    assert_eq!((cache.statistics().reads, cache.statistics().pages), (2, 7));
    check(&cache, PAGE + 5, 8 * PAGE as usize - 5);
    assert_eq!((cache.statistics().reads, cache.statistics().pages), (3, 8));
    assert_eq!(cache.statistics().bytes, 8 * PAGE);
}

#[test]
fn runs_of_missing_pages_come_in_one_read_each() {
    let cache = mapped(&[(8, 64)]);
    check(&cache, 8 * PAGE, 1);
    check(&cache, 30 * PAGE, 1);
    check(&cache, 8 * PAGE, 56 * PAGE as usize);
    assert_eq!((cache.statistics().reads, cache.statistics().pages), (4, 56));
    assert_eq!(cache.statistics().bytes, 56 * PAGE);
}

#[test]
fn neighbours_that_cannot_be_read_do_no_harm() {
    let cache = mapped(&[(1, 3), (5, 6)]);
    for page in [1, 2, 5] {
        check(&cache, page * PAGE, PAGE as usize);
    }
    assert_eq!(cache.statistics().pages, 3);
    assert!(cache.read_bytes(TargetAddr::new(3 * PAGE), 1).is_err());
}

#[test]
fn dropping_memory_reads_again() {
    let cache = mapped(&[(1, 3)]);
    check(&cache, PAGE, 4);
    cache.drop_memory();
    assert_eq!(cache.statistics().pages, 0);
    check(&cache, PAGE, 4);
    assert_eq!(cache.statistics().reads, 2);
}

#[test]
fn symbols_are_remembered_until_they_are_dropped() {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    target.add_symbol("here", TargetAddr::new(8), Some(4));
    let cache = PageCache::new(target);
    for _ in 0..2 {
        assert_eq!(cache.symbol("here").unwrap().unwrap().addr, TargetAddr::new(8));
        assert_eq!(cache.symbol("missing").unwrap(), None);
        cache.drop_symbols();
    }
}

#[test]
fn a_hole_fails_with_the_address_that_was_asked_for() {
    let cache = mapped(&[(1, 3), (4, 6)]);
    let addr = TargetAddr::new(2 * PAGE + 100);
    let error = cache.read_bytes(addr, PAGE as usize).unwrap_err();
    assert_eq!(error, TargetError::Fault { addr, len: PAGE });
    check(&cache, 2 * PAGE + 100, PAGE as usize - 100);
    check(&cache, 4 * PAGE, 2 * PAGE as usize);
    // The hole is remembered: what crosses it costs one read of the target.
    let before = cache.statistics().reads;
    assert!(cache.read_bytes(TargetAddr::new(3 * PAGE), 1).is_err());
    assert!(cache.read_bytes(TargetAddr::new(2 * PAGE), 4 * PAGE as usize).is_err());
    assert_eq!(cache.statistics().reads, before + 2);
}

#[test]
fn a_length_that_lies_costs_few_reads() {
    let cache = mapped(&[(1, 3)]);
    assert!(cache.read_bytes(TargetAddr::new(PAGE), 60_000 * PAGE as usize).is_err());
    assert!(cache.inner().reads() < 40, "{} reads", cache.inner().reads());
    // More than the cache holds goes past it.
    assert!(cache.read_bytes(TargetAddr::new(PAGE), 70_000 * PAGE as usize).is_err());
    assert!(cache.statistics().pages < 10);
}

#[test]
fn a_page_that_is_mapped_in_part_is_still_read() {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    target.add_segment(TargetAddr::new(PAGE + 10), vec![7; 100]);
    let cache = PageCache::new(target);
    assert_eq!(cache.read_bytes(TargetAddr::new(PAGE + 20), 3).unwrap(), [7; 3]);
    assert!(cache.read_bytes(TargetAddr::new(PAGE + 109), 2).is_err());
}

#[test]
fn the_top_of_the_address_space() {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    target.add_segment(TargetAddr::new(u64::MAX - PAGE + 1), vec![9; PAGE as usize]);
    let cache = PageCache::new(target);
    for (addr, len) in [(u64::MAX, 2), (u64::MAX - 3, 8), (u64::MAX - 2 * PAGE, 3 * PAGE as usize)] {
        assert!(matches!(cache.read_bytes(TargetAddr::new(addr), len), Err(TargetError::Fault { .. })));
    }
    assert!(cache.read_bytes(TargetAddr::new(u64::MAX), 0).is_ok());
    assert_eq!(cache.read_bytes(TargetAddr::new(u64::MAX - 7), 7).unwrap(), [9; 7]);
}

#[test]
fn more_pages_than_it_holds_are_dropped_and_read_again() {
    // Two pages that are far apart repeat; the target underneath makes its memory up.
    struct Everything;
    impl Target for Everything {
        fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
            buf.iter_mut().zip(addr.get()..).for_each(|(byte, addr)| *byte = byte_at(addr));
            Ok(())
        }
        fn abi(&self) -> TargetAbi {
            TargetAbi::LITTLE_64
        }
        fn symbol(&self, _: &str) -> Result<Option<target::Symbol>, TargetError> {
            Ok(None)
        }
        fn images(&self) -> Result<Vec<target::Image>, TargetError> {
            Err(TargetError::Gone)
        }
    }
    let cache = PageCache::new(Everything);
    for page in 0..70_000 {
        let byte = cache.read_bytes(TargetAddr::new(page * 2 * PAGE + 5), 1).unwrap();
        assert_eq!(byte, [byte_at(page * 2 * PAGE + 5)]);
        assert!(cache.statistics().pages <= 65_537);
    }
    assert!(matches!(cache.images(), Err(TargetError::Gone)));
}

#[test]
fn random_reads_are_those_of_the_target() {
    let ranges = [(3, 7), (8, 9), (12, 40)];
    let (cache, plain) = (mapped(&ranges), mapped(&ranges));
    let mut rng = Rng::new(4);
    for round in 0..3000 {
        let addr = TargetAddr::new(rng.below(42 * PAGE));
        let len = if rng.chance(80) { rng.below(200) } else { rng.below(6 * PAGE) } as usize;
        let expected = plain.inner().read_bytes(addr, len);
        match (cache.read_bytes(addr, len), expected) {
            (Ok(found), Ok(expected)) => assert!(found == expected),
            (Err(found), Err(expected)) => assert_eq!(found, expected),
            (found, expected) => panic!("{addr} {len}: {:?} {:?}", found.is_ok(), expected.is_ok()),
        }
        if round % 500 == 0 {
            cache.drop_memory();
        }
    }
}
