//! Tables that are absurd, torn, partly unreadable or random: what can be read is told, all is bounded, nothing panics.

use std::cell::Cell;

use acquisition::{Candidates, process_table};
use layouts::Layouts;
use proptest::prelude::{ProptestConfig, any};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Image, Symbol, Target, TargetAbi, TargetError};

use super::launcher::{DATA, Launcher, Row, fuzz, made, rows};
use made_up::memory::PAGE;
use made_up::process::ABIS;

/// A process that ends after some reads.
pub struct Ending {
    inner: MockTarget,
    left: Cell<u64>,
    reads: Cell<u64>,
}

impl Ending {
    pub fn new(inner: MockTarget, after: u64) -> Self {
        Self { inner, left: Cell::new(after), reads: Cell::new(0) }
    }

    pub fn reads(&self) -> u64 {
        self.reads.get()
    }
}

impl Target for Ending {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.reads.set(self.reads.get() + 1);
        self.left.set(self.left.get().checked_sub(1).ok_or(TargetError::Gone)?);
        self.inner.read(addr, buf)
    }
    fn abi(&self) -> TargetAbi {
        self.inner.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.inner.symbol(name)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.inner.images()
    }
}

/// A launcher whose size of the table is another with every read.
struct Changing(MockTarget, TargetAddr, Cell<u8>);

impl Target for Changing {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.0.read(addr, buf)?;
        if addr == self.1 {
            self.2.set(self.2.get() % 3 + 1);
            buf.copy_from_slice(&[self.2.get(), 0, 0, 0]);
        }
        Ok(())
    }
    fn abi(&self) -> TargetAbi {
        self.0.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.0.symbol(name)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.0.images()
    }
}

const JOB: [Row; 3] = [("node1", "./solver", 4242), ("node1", "./solver", 4243), ("node2", "./io", 777)];

#[test]
fn sizes_that_cannot_be_and_tables_that_are_not_there_are_told() {
    for abi in ABIS {
        let mut launcher = Launcher::new(abi, &JOB);
        launcher.set("MPIR_proctable_size", -5);
        let table = launcher.read();
        assert_eq!((table.size, table.entries.len(), table.layout), (Some(-5), 0, None));
        assert!(table.problems[0].contains("MPIR_proctable_size is -5"), "{:?}", table.problems);

        let mut launcher = Launcher::new(abi, &JOB);
        launcher.set("MPIR_proctable", 0);
        let table = launcher.read();
        assert!(table.entries.is_empty());
        assert!(table.problems[0].contains("MPIR_proctable is NULL"), "{:?}", table.problems);

        let mut launcher = Launcher::new(abi, &JOB);
        launcher.set("MPIR_proctable", 0x10);
        let table = launcher.read();
        assert!(table.entries.is_empty());
        assert!(table.problems[0].contains("the last 3 of 3 entries"), "{:?}", table.problems);
    }
}

#[test]
fn of_an_absurd_size_only_what_can_be_read_is_delivered() {
    for abi in ABIS {
        let mut launcher = Launcher::new(abi, &JOB);
        launcher.set("MPIR_proctable_size", i64::from(i32::MAX));
        let target = launcher.target();
        let table = process_table(&target, &Layouts::new(Vec::new()), &Candidates::new()).unwrap();
        assert_eq!(table.size, Some(i64::from(i32::MAX)));
        assert_eq!(rows(&table)[..3], made(&JOB)[..]);
        // What follows in the page is no entry, and says so; unreadable pages behind it are told once.
        assert!(table.entries[3..].iter().all(|entry| entry.problem.is_some()));
        assert!(table.entries.len() < 2 * PAGE as usize);
        assert!(table.problems.iter().any(|problem| problem.contains("the first 1048576")), "{:?}", table.problems);
        assert!(table.problems.iter().any(|problem| problem.contains("cannot be read")), "{:?}", table.problems);
        assert!(target.reads() < 20_000, "{} reads", target.reads());
    }
}

#[test]
fn a_table_with_a_hole_keeps_the_places_of_the_entries_behind_it() {
    for abi in ABIS {
        let count = 4 * PAGE / (3 * abi.pointer_width.bytes());
        let mut launcher = Launcher::new(abi, &vec![("node1", "./a.out", 7); count as usize]);
        let stride = 3 * abi.pointer_width.bytes();
        for index in 0..count {
            launcher.put_row(index, ("node1", "./a.out", 1000 + index as i64));
        }
        // A page of the table that holds none of the texts.
        let texts = [launcher.text("node1"), launcher.text("./a.out")].map(|text| text.get() / PAGE);
        let first = launcher.table.get() / PAGE + 1;
        let page = (first..).find(|page| !texts.contains(page)).unwrap();
        launcher.mem.pages.remove(&(page * PAGE));
        let table = launcher.read();
        assert_eq!(table.entries.len() as u64, count);
        for (index, entry) in table.entries.iter().enumerate() {
            let at = launcher.table.get() + index as u64 * stride;
            if at / PAGE == page || (at + stride - 1) / PAGE == page {
                assert!(entry.pid.is_none());
                assert!(entry.problem.as_ref().unwrap().contains("cannot be read"));
            } else {
                assert_eq!((entry.pid, &entry.problem), (Some(1000 + index as i64), &None));
            }
        }
    }
}

#[test]
fn each_damaged_text_or_number_is_told_at_its_own_entry() {
    for abi in ABIS {
        let width = abi.pointer_width.bytes();
        let mut launcher = Launcher::new(abi, &[("node1", "./a.out", 7); 8]);
        let place = |index: u64, field: u64| launcher.table.wrapping_add(index * 3 * width + field * width);
        let (nowhere, wild) = (place(0, 1), place(1, 0));
        let (no_host, strange) = (place(2, 0), place(3, 1));
        let (endless, zero) = (place(4, 0), place(5, 2));
        let negative = place(6, 2);
        let long = launcher.mem.alloc(3 * PAGE, 1);
        launcher.mem.put(long, &vec![b'x'; 3 * PAGE as usize]);
        let control = launcher.text("a\u{1b}[31m\u{202e}b");
        launcher.mem.put_pointer(nowhere, TargetAddr::new(0x10));
        launcher.mem.put_pointer(wild, TargetAddr::new(u64::MAX >> (64 - 8 * width)));
        launcher.mem.put_pointer(no_host, TargetAddr::NULL);
        launcher.mem.put_pointer(strange, control);
        launcher.mem.put_pointer(endless, long);
        launcher.mem.put_int(zero, 4, 0);
        launcher.mem.put_int(negative, 4, -1);
        let table = launcher.read();
        let problem = |index: usize| table.entries[index].problem.clone().unwrap_or_default();
        assert!(problem(0).contains("its executable's name cannot be read at 0x10"), "{}", problem(0));
        assert_eq!(table.entries[0].host.as_deref(), Some("node1"));
        assert!(problem(1).contains("its host's name cannot be read"), "{}", problem(1));
        assert_eq!(problem(2), "the table has no host for it");
        assert_eq!(table.entries[3].executable.as_deref(), Some("a\\x1b[31m\\u202eb"));
        assert_eq!(problem(3), "");
        assert!(problem(4).contains("has no end within 4096 bytes"), "{}", problem(4));
        assert_eq!(problem(5), "its process id in the table is 0");
        assert_eq!(problem(6), "its process id in the table is -1");
        assert_eq!((table.entries[6].pid, problem(7)), (None, String::new()));
    }
}

#[test]
fn texts_that_end_with_a_mapping_have_no_end() {
    let mut launcher = Launcher::new(ABIS[0], &[("node1", "./a.out", 7)]);
    let page = 0x7000_0000;
    launcher.mem.pages.insert(page, vec![b'h'; PAGE as usize]);
    launcher.mem.put_pointer(launcher.table, TargetAddr::new(page + PAGE - 5));
    let table = launcher.read();
    assert!(table.entries[0].problem.as_ref().unwrap().contains("has no end"));
    assert_eq!(table.entries[0].host, None);
}

#[test]
fn a_table_that_changes_all_the_time_is_told() {
    let launcher = Launcher::new(ABIS[0], &JOB);
    let size = TargetAddr::new(launcher.symbols["MPIR_proctable_size"].0);
    let changing = Changing(launcher.target(), size, Cell::new(0));
    let table = process_table(&changing, &Layouts::new(Vec::new()), &Candidates::new()).unwrap();
    assert!(table.problems.iter().any(|problem| problem.contains("has changed while it was read")));
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_damage_is_survived(data in proptest::collection::vec(any::<u8>(), 1..250)) {
        fuzz(&data);
    }

    #[test]
    fn random_memory_is_survived(seed in any::<u64>(), bytes in proptest::collection::vec(any::<u8>(), 64..4096)) {
        let mut launcher = Launcher::new(ABIS[seed as usize % 4], &JOB);
        launcher.mem.put(TargetAddr::new(DATA + PAGE), &bytes);
        for (index, name) in ["MPIR_proctable", "MPIR_proctable_size", "MPIR_server_arguments", "MPIR_debug_state"].iter().enumerate() {
            let at = DATA + PAGE + 8 * index as u64;
            launcher.symbols.insert((*name).to_owned(), (at, bytes[index].into()));
        }
        let table = launcher.read();
        assert!(table.entries.len() <= 1 << 20);
        launcher.search(&[(i64::from(bytes[0]), Some(0)), (4242, None)]);
    }
}
