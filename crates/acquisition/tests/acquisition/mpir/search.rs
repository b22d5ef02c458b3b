//! Tables of launchers without symbols: found by what points to them, and refused where they do not agree.

use acquisition::{Candidates, Found, ProcessTable, process_table};
use layouts::Layouts;
use target::address::TargetAddr;
use target::{Target, TargetError};

use super::damage::Ending;
use super::launcher::{DATA, Launcher, Row, made, rows};
use made_up::memory::PAGE;
use made_up::process::ABIS;
use made_up::rng::Rng;

const JOB: [Row; 4] =
    [("here", "./solver", 4242), ("here", "./solver", 4243), ("here", "", 4250), ("here", "./io", 4251)];
const RANKS: [(i64, Option<u64>); 5] =
    [(4000, None), (4242, Some(0)), (4243, Some(1)), (4250, Some(2)), (4251, Some(3))];

/// Variables as a real launcher has them: numbers, pointers to here and there.
fn noisy(launcher: &mut Launcher, seed: u64) {
    let mut rng = Rng::new(seed);
    let width = launcher.mem.abi.pointer_width.bytes();
    let objects = launcher.mem.objects.clone();
    for at in (DATA..DATA + 0x800).step_by(width as usize) {
        let (object, len) = objects[rng.below(objects.len() as u64) as usize];
        let value = match rng.below(4) {
            0 => rng.below(1000),
            1 => DATA + rng.below(PAGE),
            // Into the table too, but not to its beginning.
            2 => object.get() + 1 + rng.below(len),
            _ => rng.next(),
        };
        launcher.mem.put_int(TargetAddr::new(at), width, value as i64);
    }
}

fn refused(table: &ProcessTable, reason: &str) {
    assert_eq!((table.found, table.entries.len(), table.size), (None, 0, None), "{table:?}");
    assert!(table.problems.iter().any(|problem| problem.contains(reason)), "{reason}: {:?}", table.problems);
}

#[test]
fn it_is_found_without_symbols() {
    for abi in ABIS {
        for seed in 0..20 {
            let mut launcher = Launcher::new(abi, &JOB);
            noisy(&mut launcher, seed);
            let table = launcher.search(&RANKS);
            assert_eq!(table.found, Some(Found::Memory), "{table:?}");
            assert_eq!((rows(&table), table.size), (made(&JOB), Some(4)));
            assert_eq!((table.layout, table.problems), (Some("built-in layout"), Vec::new()));
            // What only symbols tell is not known, which is not the same as not there.
            assert_eq!((table.presence, table.debug_state, table.symbols.len()), (None, None, 0));
        }
    }
}

#[test]
fn without_candidates_nothing_is_searched() {
    let launcher = Launcher::new(ABIS[0], &JOB);
    let table = launcher.search(&[]);
    assert_eq!((table.found, table.problems.len()), (None, 1));
}

#[test]
fn with_symbols_nothing_is_searched() {
    let launcher = Launcher::new(ABIS[0], &JOB);
    let none_of_them = Candidates::from([(1, Some(0))]);
    let table = process_table(&launcher.target(), &Layouts::new(Vec::new()), &none_of_them).unwrap();
    assert_eq!(table.found, Some(Found::Symbols));
}

#[test]
fn a_rank_that_has_ended_and_ranks_of_other_hosts_stand_in_it_too() {
    for abi in ABIS {
        let job: [Row; 4] = [("far", "./a", 4243), ("here", "./a", 4242), ("here", "./a", 9999), ("far", "./b", 17)];
        // On the other host a process has the number of one of ours, which has another rank.
        let ranks = [(4000, None), (4242, Some(1)), (4243, Some(7))];
        let table = Launcher::new(abi, &job).search(&ranks);
        assert_eq!((rows(&table), table.found), (made(&job), Some(Found::Memory)));
    }
}

#[test]
fn ranks_that_nothing_tells_suffice_where_all_are_there() {
    let unknown = |pids: &[i64]| pids.iter().map(|pid| (*pid, None)).collect::<Vec<_>>();
    let launcher = Launcher::new(ABIS[0], &JOB);
    assert_eq!(rows(&launcher.search(&unknown(&[4000, 4242, 4243, 4250, 4251]))), made(&JOB));
    refused(&launcher.search(&unknown(&[4000, 4242, 4243, 4250])), "no variable of it points to a table");
}

#[test]
fn a_table_that_contradicts_the_environment_is_refused() {
    for abi in ABIS {
        let launcher = Launcher::new(abi, &JOB);
        let swapped = [(4242, Some(1)), (4243, Some(0)), (4250, Some(2)), (4251, Some(3))];
        refused(&launcher.search(&swapped), "has process 4242 as rank 0, while its environment says rank 1");
        let others = [(4242, Some(3))];
        refused(&launcher.search(&others), "has process 4242 as rank 0, while its environment says rank 3");
        refused(&launcher.search(&[(1, Some(0)), (2, Some(1))]), "no variable of it points to a table");
    }
}

#[test]
fn two_tables_are_refused() {
    let mut launcher = Launcher::new(ABIS[0], &JOB);
    let copy = launcher.mem.alloc(4 * 24, 8);
    let bytes = launcher.mem.get(launcher.table, 4 * 24);
    launcher.mem.put(copy, &bytes);
    // A copy that no variable points to does not matter.
    assert_eq!(rows(&launcher.search(&RANKS)), made(&JOB));
    launcher.variable("copy", 8, copy.get() as i64);
    launcher.variable("size of the copy", 4, 4);
    refused(&launcher.search(&RANKS), "2 tables were found");
}

#[test]
fn a_table_whose_size_stands_nowhere_is_refused() {
    for abi in ABIS {
        let mut launcher = Launcher::new(abi, &JOB);
        launcher.set("MPIR_proctable_size", 5);
        refused(&launcher.search(&RANKS), "4 look like entries");
    }
}

#[test]
fn a_table_with_a_damaged_entry_is_refused() {
    let mut launcher = Launcher::new(ABIS[0], &JOB);
    let host = launcher.table.wrapping_add(2 * 24);
    launcher.mem.put_pointer(host, TargetAddr::new(0x10));
    refused(&launcher.search(&RANKS), "2 look like entries");
    let mut launcher = Launcher::new(ABIS[0], &JOB);
    let control = launcher.text("no\u{7}host");
    launcher.mem.put_pointer(launcher.table.wrapping_add(24), control);
    refused(&launcher.search(&RANKS), "1 look like entries");
}

#[test]
fn the_size_may_stand_on_either_side_of_the_pointer() {
    for abi in ABIS {
        let width = abi.pointer_width.bytes();
        for before in [4, 8] {
            let mut launcher = Launcher::new(abi, &JOB);
            let pointer = launcher.symbols["MPIR_proctable"].0;
            launcher.set("MPIR_proctable_size", 0);
            launcher.mem.put_int(TargetAddr::new(pointer - before), 4, 4);
            assert_eq!(rows(&launcher.search(&RANKS)), made(&JOB));
            // Too far away to be the size.
            launcher.mem.put_int(TargetAddr::new(pointer - before), 4, 0);
            launcher.mem.put_int(TargetAddr::new(pointer - 12), 4, 4);
            launcher.mem.put_int(TargetAddr::new(pointer + width + 4), 4, 4);
            refused(&launcher.search(&RANKS), "4 look like entries");
        }
    }
}

#[test]
fn of_two_numbers_beside_the_pointer_the_block_of_the_table_decides() {
    for abi in ABIS {
        let width = abi.pointer_width.bytes();
        let mut launcher = Launcher::new(abi, &[]);
        launcher.table = launcher.mem.alloc(6 * 3 * width, 16).wrapping_add(width);
        let noted = TargetAddr::new(launcher.table.get() - width);
        launcher.set("MPIR_proctable", launcher.table.get() as i64);
        launcher.set("MPIR_proctable_size", 4);
        for (index, row) in JOB.into_iter().enumerate() {
            launcher.put_row(index as u64, row);
        }
        // A variable of another file, which may be the size as well.
        let pointer = launcher.symbols["MPIR_proctable"].0;
        launcher.mem.put_int(TargetAddr::new(pointer - 4), 4, 9);
        refused(&launcher.search(&RANKS), "4 look like entries");
        let block = (4 * 3 * width + width).next_multiple_of(2 * width);
        for flags in [0, 1, 5] {
            launcher.mem.put_int(noted, width, (block | flags) as i64);
            assert_eq!(rows(&launcher.search(&RANKS)), made(&JOB));
        }
        // With room for nine entries, or for three.
        for entries in [9, 3] {
            launcher.mem.put_int(noted, width, (entries * 3 * width + width) as i64 & !7 | 1);
            refused(&launcher.search(&RANKS), "4 look like entries");
        }
        // Mapped for itself.
        launcher.mem.put_int(noted, width, 0x1002);
        assert_eq!(rows(&launcher.search(&RANKS)), made(&JOB));
    }
}

#[test]
fn variables_that_cannot_be_read_hide_no_others() {
    let mut launcher = Launcher::new(ABIS[0], &JOB);
    launcher.grow(2);
    launcher.mem.pages.remove(&(DATA + PAGE));
    launcher.mem.pages.remove(&(DATA + 3 * PAGE));
    assert_eq!(rows(&launcher.search(&RANKS)), made(&JOB));
}

#[test]
fn an_image_that_is_not_there_is_no_end() {
    let launcher = Launcher::new(ABIS[0], &JOB);
    let target = launcher.mem.target();
    let candidates = RANKS.into_iter().collect();
    let table = process_table(&target, &Layouts::new(Vec::new()), &candidates).unwrap();
    refused(&table, "no variable of it points to a table");
}

#[test]
fn variables_that_all_point_into_one_long_table_are_not_looked_at_for_ever() {
    let job = vec![("here", "./a", 77); 20_000];
    let mut launcher = Launcher::new(ABIS[0], &job);
    // The only pointer to the beginning stands behind them; each of these begins a shorter one.
    let start = launcher.grow(64);
    for index in 0..64 * PAGE / 8 {
        let entry = launcher.table.wrapping_add((1 + index % 19_000) * 24);
        launcher.mem.put_pointer(TargetAddr::new(start + 8 * index), entry);
    }
    launcher.set("MPIR_proctable", 0);
    let target = launcher.stripped();
    let candidates = Candidates::from([(4242, Some(0))]);
    let table = process_table(&target, &Layouts::new(Vec::new()), &candidates).unwrap();
    refused(&table, "too many variables");
    assert!(target.reads() < 5_000, "{} reads", target.reads());
}

#[test]
fn a_launcher_that_ends_meanwhile_is_gone_or_has_no_table() {
    let launcher = Launcher::new(ABIS[0], &JOB);
    let candidates = RANKS.into_iter().collect();
    let read = |after| {
        let ending = Ending::new(launcher.stripped(), after);
        let table = process_table(&ending, &Layouts::new(Vec::new()), &candidates);
        (table, ending.reads())
    };
    let (whole, reads) = read(u64::MAX);
    assert_eq!(rows(&whole.unwrap()), made(&JOB));
    for after in 0..reads {
        match read(after).0 {
            Err(error) => assert_eq!(error, TargetError::Gone),
            Ok(table) => assert_eq!((table.found, table.problems.is_empty()), (None, false), "after {after}"),
        }
    }
    assert!(launcher.stripped().images().is_ok());
}
