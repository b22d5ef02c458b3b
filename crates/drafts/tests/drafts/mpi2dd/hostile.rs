//! Tables that cannot be true, and tables that are anything.

use drafts::mpi2dd::report::State;
use drafts::mpi2dd::{Refused, Report, StartError, walk};
use proptest::prelude::{ProptestConfig, any};
use target::TargetAbi;
use target::address::TargetAddr;

use super::damage::fuzz;
use super::job::{job, pointing, special, worlds};
use super::support::{ABIS, DIRECTORY, EXECUTABLE, METADIRECTORY, Machine, Maker};

fn read(machine: &Machine, pid: i32) -> Report {
    walk(machine, pid).unwrap().unwrap()
}

fn tells(report: &Report, parts: &[&str]) {
    let found = report.problems.iter().any(|problem| parts.iter().all(|part| problem.contains(part)));
    assert!(found, "{parts:?} is not told by {:#?}", report.problems);
}

/// A directory with entries that `make` gives for host, executable and world.
fn directory(abi: TargetAbi, make: impl Fn(&Maker, [u64; 4]) -> Vec<Vec<u8>>) -> Maker {
    let mut maker = Maker::new(abi);
    maker.info.mpi_flags = DIRECTORY;
    let texts = [maker.text("here"), maker.text(EXECUTABLE), 0, maker.text("alpha")];
    let entries = make(&maker, texts);
    maker.table(0, &entries);
    maker
}

#[test]
fn what_is_not_of_this_interface_is_refused_by_its_number() {
    for abi in ABIS {
        let refused = |change: &dyn Fn(&mut Maker)| {
            let mut machine = Machine::default();
            let mut maker = Maker::new(abi);
            change(&mut maker);
            machine.add(1, &maker);
            walk(&machine, 1).unwrap_err()
        };
        assert_eq!(refused(&|maker| maker.head[0] = b'N'), StartError::Refused(Refused::Magic(*b"NPI2\x7f")));
        assert_eq!(refused(&|maker| maker.head[5] = 2), StartError::Refused(Refused::Version(2)));
        assert_eq!(refused(&|maker| maker.head[6] = 7), StartError::Refused(Refused::Variant(7)));
        let needs = 32 + 8 * abi.pointer_width.bytes();
        assert_eq!(
            refused(&|maker| maker.symbol_size = Some(needs - 1)),
            StartError::Refused(Refused::Size { has: needs - 1, needs })
        );
        let mut unmapped = Maker::new(abi).finish();
        unmapped.add_symbol("MPI2DD_info", TargetAddr::new(0x10), None);
        let machine = Machine { processes: [(1, unmapped)].into(), ..Machine::default() };
        assert!(matches!(walk(&machine, 1), Err(StartError::Refused(Refused::Unreadable(_)))));
        assert_eq!(walk(&machine, 2), Err(StartError::Ended));
    }
}

#[test]
fn sizes_that_cannot_be_are_told_and_true_entries_kept() {
    for abi in ABIS {
        for size in [-1, i32::MIN, i32::MAX, 1000, 4] {
            let mut machine = job(abi);
            let mut maker = special(abi, 3, DIRECTORY);
            maker.info.tables[0].1 = size;
            machine.add(3, &maker);
            let report = read(&machine, 1);
            tells(&report, &["pid 3: its proctable is said to have", &size.to_string()]);
            let alpha = &worlds(&report)[0].2;
            assert!(alpha.contains(&(0, 10)), "it is also in the table of 2");
            assert_eq!(alpha.len(), if size < 0 { 1 } else { 3 }, "{alpha:?}");
        }
    }
}

#[test]
fn a_table_at_no_address_is_told() {
    for abi in ABIS {
        for address in [0, 0x10, u64::MAX - 8] {
            let mut machine = job(abi);
            let mut maker = special(abi, 1, METADIRECTORY);
            maker.info.tables[1].0 = address;
            machine.add(1, &maker);
            tells(&read(&machine, 5), &["pid 1: its directory_table is said to have 2 entries"]);
        }
    }
}

#[test]
fn circles_and_processes_in_their_own_tables_end() {
    for abi in ABIS {
        let mut machine = job(abi);
        let mut maker = special(abi, 1, METADIRECTORY);
        let (host, exe) = (maker.text("here"), maker.text(EXECUTABLE));
        let entries = [1, 2, 2, 1].map(|pid| maker.entry(host, exe, pid));
        maker.table(2, &entries);
        machine.add(1, &maker);
        let report = read(&machine, 2);
        tells(&report, &["pid 1: it is in its own metadirectory_table"]);
        assert_eq!(worlds(&report).len(), 2);
        let opened = machine.opened.borrow();
        assert_eq!(opened.iter().filter(|&&pid| pid < 5).count(), 4, "each once: {opened:?}");
    }
}

#[test]
fn an_endless_chain_of_metadirectories_ends() {
    let abi = TargetAbi::LITTLE_64;
    let mut machine = Machine::default();
    for pid in 1..6000 {
        let mut maker = Maker::new(abi);
        maker.info.mpi_flags = METADIRECTORY;
        let (host, exe) = (maker.text("here"), maker.text(EXECUTABLE));
        let next = [maker.entry(host, exe, pid + 1)];
        maker.table(2, &next);
        machine.add(pid, &maker);
    }
    let report = read(&machine, 1);
    assert_eq!(report.directories.len(), 4096);
    tells(&report, &["no more than 4096 directories are visited"]);
}

#[test]
fn directories_must_be_what_they_are_named_as() {
    for abi in ABIS {
        let mut machine = job(abi);
        machine.add_other(20);
        let mut broken = Maker::new(abi);
        broken.head[5] = 9;
        machine.add(21, &broken);
        let mut maker = special(abi, 1, METADIRECTORY);
        let (host, exe, other) = (maker.text("here"), maker.text(EXECUTABLE), maker.text("/bin/other"));
        let far = maker.text("far.example");
        let mut entries: Vec<_> = [3, 4, 10, 20, 21, 22].iter().map(|&pid| maker.entry(host, exe, pid)).collect();
        entries.push(maker.entry(far, exe, 3));
        entries.push(maker.entry(host, exe, 0));
        entries.push(maker.entry(0x10, exe, 23));
        maker.table(1, &entries);
        let neighbour = [maker.entry(host, other, 2)];
        maker.table(2, &neighbour);
        machine.add(1, &maker);
        let report = read(&machine, 1);
        let state = |pid: i32, far: bool| {
            let is_far = |host: &Option<String>| host.as_deref() == Some("far.example");
            report.directories.iter().find(|one| one.pid == pid && is_far(&one.host) == far).map(|one| one.state)
        };
        assert_eq!(state(3, false), Some(State::Here));
        assert_eq!(state(3, true), Some(State::Elsewhere));
        assert_eq!(state(10, false), Some(State::Another));
        assert_eq!(state(20, false), Some(State::Another));
        assert_eq!(state(21, false), Some(State::Unknown));
        assert_eq!(state(22, false), Some(State::Ended));
        assert_eq!(state(23, false), None);
        tells(&report, &["pid 3 on far.example", "out of reach"]);
        tells(&report, &["pid 10", "lack MPI2DD_MPIFLAG_I_AM_DIR", "it has no such tables"]);
        tells(&report, &["pid 20", "has no MPI2DD_info"]);
        tells(&report, &["pid 21", "version 9"]);
        tells(&report, &["pid 22", "no such process"]);
        tells(&report, &["pid 1: entry 7 of its directory_table names no process"]);
        tells(&report, &["pid 1: the host_name of entry 8 of its directory_table"]);
        tells(&report, &["pid 2", "it runs /bin/app, not /bin/other"]);
        assert_eq!(worlds(&report).iter().map(|world| world.2.len()).sum::<usize>(), 5);
    }
}

#[test]
fn a_directory_without_its_flag_is_one_by_its_table() {
    let mut machine = job(TargetAbi::LITTLE_64);
    machine.add(3, &special(TargetAbi::LITTLE_64, 3, 0));
    let report = read(&machine, 1);
    tells(&report, &["pid 3", "lack MPI2DD_MPIFLAG_I_AM_DIR", "read all the same"]);
    assert_eq!(worlds(&report)[0].2.len(), 3);
}

#[test]
fn ranks_must_be_what_they_are_named_as() {
    for abi in ABIS {
        let mut maker = directory(abi, |maker, [host, exe, none, alpha]| {
            // Past the end of all memory, and therefore no text.
            let (nowhere, other) = (0x10, host);
            vec![
                maker.process([host, exe, none, alpha], 10, 0),
                maker.process([host, other, none, alpha], 11, 1),
                maker.process([host, other, none, alpha], 20, 2),
                maker.process([host, exe, none, alpha], 99, 3),
                maker.process([nowhere, exe, none, alpha], 12, 4),
                maker.process([host, nowhere, none, alpha], 13, 5),
                maker.process([host, exe, nowhere, alpha], 14, -6),
                maker.process([none, exe, none, nowhere], 10, 0),
                maker.process([alpha, exe, none, none], 10, 0),
                maker.process([host, exe, none, alpha], 0, 7),
                maker.process([host, exe, none, alpha], -4, 8),
            ]
        });
        maker.info.meta_pid = 0;
        let mut machine = job(abi);
        machine.add_other(20);
        machine.add(1, &maker);
        let report = read(&machine, 1);
        let member = |pid: i32| report.worlds[0].members.iter().find(|one| one.pid == pid).unwrap();
        assert_eq!((member(10).state, member(10).problem.as_deref()), (State::Here, None));
        assert_eq!(member(11).state, State::Here);
        assert!(member(11).problem.as_ref().unwrap().contains("it runs /bin/app, not here"));
        assert_eq!(member(20).state, State::Another);
        assert_eq!(member(99).state, State::Ended);
        assert!(member(12).problem.as_ref().unwrap().contains("its host is not known"));
        assert_eq!((member(13).state, member(14).rank), (State::Here, None));
        tells(&report, &["entry 4 of its proctable (pid 12)", "host_name is not text"]);
        tells(&report, &["entry 5 of its proctable (pid 13)", "executable_name is not text"]);
        tells(&report, &["entry 6 of its proctable (pid 14)", "its rank is -6"]);
        tells(&report, &["entry 6 of its proctable (pid 14)", "spawn descriptor at 0x10 cannot be read"]);
        tells(&report, &["entry 7", "comm_world_id is not text"]);
        tells(&report, &["entry 7", "rank 0 of the world alpha in another entry, which stands"]);
        tells(&report, &["entry 8", "no comm_world_id"]);
        tells(&report, &["2 entries of its proctable name no process, the first is entry 9, the last entry 10"]);
    }
}

#[test]
fn contradictions_are_told() {
    let abi = TargetAbi::LITTLE_64;
    let mut maker = Maker::new(abi);
    maker.info.mpi_flags = DIRECTORY;
    let (host, exe, alpha, beta) =
        (maker.text("here"), maker.text(EXECUTABLE), maker.text("alpha"), maker.text("beta"));
    let gone = maker.text("gone");
    let (by_gone, by_alpha) = (maker.spawn(gone, -1, 0), maker.spawn(alpha, 0, 0));
    let entries = [
        maker.process([host, exe, 0, alpha], 10, 0),
        maker.process([host, exe, 0, alpha], 11, 0),
        maker.process([host, exe, by_gone, beta], 12, 0),
        maker.process([host, exe, by_alpha, beta], 13, 1),
    ];
    maker.table(0, &entries);
    let mut machine = job(abi);
    machine.add(1, &maker);
    let report = read(&machine, 1);
    tells(&report, &["the world alpha: pid 10 and pid 11 are both said to be rank 0"]);
    tells(&report, &["the world beta", "disagree on how it was spawned"]);
    tells(&report, &["the world beta", "spawned by the world gone, which no proctable has"]);
    tells(&report, &["the world beta", "names rank -1 and sequence 0"]);
}

#[test]
fn a_rank_whose_metadirectory_is_not_there_says_so() {
    for abi in ABIS {
        let mut machine = job(abi);
        machine.processes.remove(&1);
        let report = read(&machine, 10);
        tells(&report, &["pid 1 is named as a metadirectory by the meta_pid of pid 10", "no such process"]);
        tells(&report, &["pid 10 is in no proctable"]);
        assert!(report.worlds.is_empty());
        let mut alone = pointing(abi);
        alone.info.meta_pid = -3;
        machine.add(10, &alone);
        tells(&read(&machine, 10), &["pid 10: its meta_pid is -3"]);
    }
}

#[test]
fn text_that_does_not_end_is_none() {
    for abi in ABIS {
        let mut machine = job(abi);
        let mut maker = pointing(abi);
        maker.info.dll_name_64 = maker.put(&[b'x'; 5000]);
        maker.info.abort_string = maker.put(b"yyy");
        machine.add(10, &maker);
        let report = read(&machine, 10);
        tells(&report, &["pid 10: its dll_name_64 is not text: no end is found in 4096 bytes"]);
        tells(&report, &["pid 10: its abort_string is not text: no end is found in 3 bytes"]);
        assert_eq!((report.info.dll_name_64, report.info.abort_string), (None, None));
    }
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever single bytes and words of the job's processes become, the walk ends with a bounded answer.
    #[test]
    fn any_damage_is_survived(data in proptest::collection::vec(any::<u8>(), 1..520)) {
        fuzz(&data);
    }
}
