//! Damaged files: never believed, never a panic, and what is whole is still read.

use proptest::prelude::{ProptestConfig, any};
use recording::Range;
use target::TargetAbi;
use target::mock::MockTarget;

use super::support::{everything, file, open, process};
use target::address::TargetAddr;

fn parts() -> Vec<Vec<u8>> {
    let part = |rank: u64| {
        let mut target = MockTarget::new(TargetAbi::LITTLE_64);
        let bytes: Vec<u8> = (0..600_u64).map(|index| (index * index * (rank + 3)) as u8).collect();
        target.add_segment(TargetAddr::new(0x1000), bytes);
        process(&target, rank as i64, vec![Range::new(0x1000, 300), Range::new(0x1200, 40)], |target| {
            let _ = target.symbol("some_symbol");
        })
    };
    (0..3).map(part).collect()
}

/// What each process of the intact file gives.
fn intact(whole: &[u8]) -> Vec<String> {
    let (_place, opened) = open(whole);
    let opened = opened.unwrap();
    assert_eq!((opened.problems.len(), opened.sections.len()), (0, 3));
    (0..3).map(|index| everything(&opened, index).unwrap()).collect()
}

#[test]
fn a_file_cut_off_anywhere_keeps_its_whole_processes() {
    let parts = parts();
    let whole = file(&parts);
    let wanted = intact(&whole);
    let mut start = Vec::new();
    recording::write_start(&mut start, "{}").unwrap();
    let first_line = start.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for len in 0..whole.len() {
        let (_place, opened) = open(&whole[..len]);
        let Ok(opened) = opened else {
            assert!(len < first_line, "{len}");
            continue;
        };
        assert!(!opened.problems.is_empty(), "{len}: nobody is told");
        let mut at = start.len();
        for (index, part) in parts.iter().enumerate() {
            at += part.len();
            if at <= len {
                assert_eq!(everything(&opened, index).unwrap(), wanted[index], "cut at {len}");
            } else if index < opened.sections.len() {
                let error = everything(&opened, index).unwrap_err();
                assert!(error.contains("parts of it are lost"), "{error}");
            }
        }
    }
}

#[test]
fn a_changed_byte_is_never_believed() {
    let whole = file(&parts());
    let wanted = intact(&whole);
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        let (_place, opened) = open(&damaged);
        let Ok(opened) = opened else { continue };
        let mut usable = 0;
        for index in 0..opened.sections.len() {
            if let Ok(found) = everything(&opened, index) {
                assert!(wanted.contains(&found), "byte {at} changed what process {index} says");
                usable += 1;
            }
        }
        assert!(usable == 3 || !opened.problems.is_empty(), "byte {at}: {usable} processes and no problem");
        // One byte costs at most the process that it hits, unless it is a header: then what follows is lost.
        assert!(
            usable >= 2
                || opened.problems.iter().any(|problem| problem.contains("what follows is lost")
                    || problem.contains("cut off")
                    || problem.contains("belongs to no process")),
            "{:?}",
            opened.problems
        );
    }
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_file_is_survived(
        changes in proptest::collection::vec(any::<(u16, u8)>(), 0..20),
        cut in any::<u16>(),
        junk in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut bytes = file(&parts());
        for (at, value) in changes {
            let len = bytes.len();
            bytes[at as usize % len] = value;
        }
        let len = bytes.len();
        bytes.truncate(cut as usize % (2 * len) + 1);
        bytes.extend_from_slice(&junk);
        let (_place, opened) = open(&bytes);
        if let Ok(opened) = opened {
            for index in 0..opened.sections.len() + 1 {
                let _ = everything(&opened, index);
            }
        }
    }
}
