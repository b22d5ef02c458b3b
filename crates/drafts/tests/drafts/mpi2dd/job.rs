//! Whole jobs are read, wherever one begins.

use drafts::mpi2dd::report::State;
use drafts::mpi2dd::{Report, Spawn, walk};
use target::{PointerWidth, TargetAbi};

use super::support::{ABIS, DIRECTORY, EXECUTABLE, METADIRECTORY, Machine, Maker, STARTER};

/// A metadirectory (1) that is another one's neighbour (2), two directories (3, 4), a starter (5), ranks of two worlds.
pub fn job(abi: TargetAbi) -> Machine {
    let mut machine = Machine::default();
    for (pid, flags) in
        [(1, METADIRECTORY), (2, METADIRECTORY | DIRECTORY), (3, DIRECTORY), (4, DIRECTORY), (5, STARTER)]
    {
        machine.add(pid, &special(abi, pid, flags));
    }
    for pid in 10..15 {
        machine.add(pid, &pointing(abi));
    }
    machine
}

/// A process that points to the metadirectory 1.
pub fn pointing(abi: TargetAbi) -> Maker {
    let mut maker = Maker::new(abi);
    maker.info.meta_host = maker.text("here");
    maker.info.meta_executable = maker.text(EXECUTABLE);
    maker.info.meta_pid = 1;
    maker
}

pub fn special(abi: TargetAbi, pid: i32, flags: u32) -> Maker {
    let mut maker = if pid == 1 { Maker::new(abi) } else { pointing(abi) };
    maker.info.mpi_flags = flags;
    let (host, exe) = (maker.text("localhost"), maker.text(EXECUTABLE));
    let (alpha, beta) = (maker.text("alpha"), maker.text("beta"));
    let spawn = maker.spawn(alpha, 1, 3);
    let entries = |pids: &[i32]| -> Vec<Vec<u8>> { pids.iter().map(|&pid| maker.entry(host, exe, pid)).collect() };
    let rank = |world: u64, spawn: u64, pid: i32, rank: i32| maker.process([host, exe, spawn, world], pid, rank);
    let tables = match pid {
        1 => [vec![], entries(&[3, 4]), entries(&[2])],
        2 => [vec![rank(alpha, 0, 10, 0)], vec![], entries(&[1])],
        3 => [vec![rank(alpha, 0, 12, 2), rank(alpha, 0, 11, 1), rank(alpha, 0, 10, 0)], vec![], vec![]],
        4 => [vec![rank(beta, spawn, 14, 1), rank(beta, spawn, 13, 0)], vec![], vec![]],
        _ => [vec![], vec![], vec![]],
    };
    for (which, table) in tables.iter().enumerate() {
        maker.table(which, table);
    }
    maker
}

/// A world's name, its spawns, and its process ids by rank.
pub type WorldRow = (Option<String>, Vec<Spawn>, Vec<(i32, i32)>);

/// The worlds by name.
pub fn worlds(report: &Report) -> Vec<WorldRow> {
    let mut worlds: Vec<_> = report
        .worlds
        .iter()
        .map(|world| {
            let mut ranks: Vec<_> =
                world.members.iter().map(|member| (member.rank.unwrap_or(-1), member.pid)).collect();
            ranks.sort_unstable();
            (world.id.clone(), world.spawns.clone(), ranks)
        })
        .collect();
    worlds.sort_by(|one, other| one.0.cmp(&other.0));
    worlds
}

fn expected() -> Vec<WorldRow> {
    let spawn = Spawn { world: Some("alpha".to_owned()), rank: 1, sequence: 3 };
    vec![
        (Some("alpha".to_owned()), vec![], vec![(0, 10), (1, 11), (2, 12)]),
        (Some("beta".to_owned()), vec![spawn], vec![(0, 13), (1, 14)]),
    ]
}

#[test]
fn a_job_is_the_same_from_each_of_its_processes() {
    for abi in ABIS {
        let machine = job(abi);
        for &pid in machine.processes.keys() {
            let report = walk(&machine, pid).unwrap().unwrap();
            assert_eq!(worlds(&report), expected(), "from {pid}");
            assert_eq!(report.problems, Vec::<String>::new());
            assert_eq!(report.directories[0].pid, pid);
            let mut found: Vec<i32> = report.directories.iter().map(|directory| directory.pid).collect();
            found.sort_unstable();
            found.retain(|&one| one < 5);
            assert_eq!(found, [1, 2, 3, 4]);
            assert!(report.directories.iter().all(|directory| directory.state == State::Here));
        }
    }
}

#[test]
fn info_is_told_by_names() {
    for abi in ABIS {
        let mut machine = Machine::default();
        let mut maker = Maker::new(abi);
        maker.info.debug_state = 8;
        maker.info.debugger_flags = 0x13;
        maker.info.mpi_flags = 0x8000_0074;
        maker.info.dll_name_32 = maker.text("/lib32/q.so");
        maker.info.dll_name_64 = maker.text("/lib64/q.so");
        maker.info.abort_string = maker.text("so it is\x1b[31m");
        machine.add(7, &maker);
        let report = walk(&machine, 7).unwrap().unwrap();
        let info = &report.info;
        assert_eq!(info.debug_state_name, Some("ABORT"));
        assert_eq!(info.debugger_flag_names, ["GATE", "BEING_DEBUGGED", "0x10"]);
        assert_eq!(
            info.mpi_flag_names,
            ["I_AM_STARTER", "IGNORE_QUEUE", "ACQUIRED_PRE_MAIN", "PARTIAL_ATTACH_OK", "0x80000000"]
        );
        assert_eq!(
            (info.dll_name_32.as_deref(), info.dll_name_64.as_deref()),
            (Some("/lib32/q.so"), Some("/lib64/q.so"))
        );
        let ours = if cfg!(target_pointer_width = "64") { &info.dll_name_64 } else { &info.dll_name_32 };
        assert_eq!(&info.dll_name, ours);
        assert_eq!(info.abort_string.as_deref(), Some("so it is\\x1b[31m"));
        assert_eq!((info.meta_pid, info.meta_host_name.as_deref()), (0, None));
    }
}

#[test]
fn a_process_without_the_variable_has_no_report() {
    let mut machine = Machine::default();
    machine.add_other(3);
    assert_eq!(walk(&machine, 3), Ok(None));
}

#[test]
fn entries_that_are_not_packed_are_read_and_told() {
    for abi in ABIS.into_iter().filter(|abi| abi.pointer_width == PointerWidth::Eight) {
        let mut machine = job(abi);
        let mut maker = Maker::new(abi);
        maker.info.mpi_flags = METADIRECTORY;
        let (host, exe) = (maker.text("here"), maker.text(EXECUTABLE));
        let padded = |pid: i32| [maker.entry(host, exe, pid), vec![0; 4]].concat();
        let table = [padded(3), padded(4)];
        maker.table(1, &table);
        machine.add(1, &maker);
        let report = walk(&machine, 1).unwrap().unwrap();
        assert_eq!(worlds(&report), expected());
        assert_eq!(
            report.problems,
            [
                "pid 1: its directory_table has entries 24 bytes apart, where the MPI2DD draft packs them in 20; it was read so"
            ]
        );
    }
}
