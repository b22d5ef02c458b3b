//! Ranks that a signal has stopped: somebody has to let them go on before anything can be said.

use analysis::diagnose::diagnose;
use model::{FindingKind, Snapshot, State};

use super::made::{call, job, outside};

/// Of three ranks in MPI_Recv, each from the next, those that are stopped.
fn stopped(which: &[usize]) -> Snapshot {
    let mut snapshot = job(3);
    for (rank, pid) in [(0, 101), (1, 102), (2, 103)] {
        let process = &mut snapshot.processes[rank];
        process.pid = Some(pid);
        process.host = Some("here".into());
        if which.contains(&rank) {
            process.state = Some("stopped".into());
        }
    }
    which.iter().for_each(|rank| call(&mut snapshot, *rank, "MPI_Recv", 10));
    snapshot
}

fn told(snapshot: &Snapshot) -> (State, String) {
    let (findings, verdict) = diagnose(snapshot, None);
    assert!(findings.is_empty(), "{findings:?}");
    (verdict.state, verdict.headline)
}

#[test]
fn that_all_are_is_said_with_what_to_type() {
    let expected = "Not known whether the job is stuck: ranks 0-2 are stopped by a signal and go on after: \
                    kill -CONT 101 102 103.";
    assert_eq!(told(&stopped(&[0, 1, 2])), (State::Unknown, expected.to_owned()));
}

#[test]
fn processes_of_several_hosts_or_without_a_number_are_not_told_by_it() {
    let mut snapshot = stopped(&[0, 1, 2]);
    snapshot.processes[2].host = Some("there".into());
    assert!(told(&snapshot).1.ends_with("kill -CONT with their process ids."), "{:?}", told(&snapshot));
    let mut snapshot = stopped(&[0, 1, 2]);
    snapshot.processes[1].pid = None;
    assert!(told(&snapshot).1.ends_with("kill -CONT with their process ids."), "{:?}", told(&snapshot));
}

#[test]
fn what_others_do_is_said_too() {
    let mut snapshot = stopped(&[1]);
    [0, 2].iter().for_each(|rank| outside(&mut snapshot, *rank, "compute"));
    let expected = "Not known whether the job is stuck: 2 ranks outside MPI, 1 rank stopped by a signal; rank 1 is stopped by \
                    a signal and goes on after: kill -CONT 102.";
    assert_eq!(told(&snapshot), (State::Unknown, expected.to_owned()));
}

#[test]
fn who_is_frozen_is_told_apart() {
    let mut snapshot = stopped(&[1]);
    outside(&mut snapshot, 0, "compute");
    call(&mut snapshot, 2, "MPI_Recv", 10);
    snapshot.processes[2].state = Some("frozen".into());
    let expected = "Not known whether the job is stuck: 1 rank outside MPI, 1 rank stopped by a signal, 1 rank frozen by its \
                    cgroup; rank 1 is stopped by a signal and goes on after: kill -CONT 102; rank 2 is frozen by a cgroup and \
                    goes on once 0 is written to its cgroup.freeze.";
    assert_eq!(told(&snapshot), (State::Unknown, expected.to_owned()));
}

#[test]
fn who_waits_for_one_that_is_stopped_is_told_first() {
    let mut snapshot = stopped(&[0]);
    [1, 2].iter().for_each(|rank| call(&mut snapshot, *rank, "MPI_Recv", 10));
    let (findings, verdict) = diagnose(&snapshot, None);
    assert!(findings.iter().all(|finding| finding.kind == FindingKind::StuckOutside), "{findings:?}");
    assert!(!verdict.headline.contains("Nobody is stuck"), "{verdict:?}");
}
