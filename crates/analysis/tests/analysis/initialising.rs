//! Ranks of which none has come through MPI_Init: they have no communicators, and stand somewhere.

use analysis::diagnose::diagnose;
use model::{FindingKind, Snapshot, Stage, State};

use super::made::{call, job, outside};

/// Of three ranks those that are said to wait in MPI_Init.
fn before_init(waiting: &[usize]) -> Snapshot {
    let mut snapshot = job(3);
    for process in &mut snapshot.processes {
        process.stage = Some(Stage::NotInitialized);
        process.communicators = Vec::new().into();
        process.problems = vec!["MPI is not initialised in this process".to_owned()];
    }
    waiting.iter().for_each(|rank| call(&mut snapshot, *rank, "MPI_Init", 10));
    snapshot
}

#[test]
fn who_has_not_called_it_holds_up_the_others() {
    let mut snapshot = before_init(&[0, 2]);
    outside(&mut snapshot, 1, "pause");
    let (findings, verdict) = diagnose(&snapshot, None);
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!((finding.kind, &finding.ranks[..]), (FindingKind::SlowRank, &[1][..]));
    let told = "rank 1 has not called MPI_Init yet and is in work (pause) while ranks 0 and 2 wait for it";
    assert_eq!(finding.summary, told);
    assert_eq!((verdict.state, verdict.limits.len()), (State::Waiting, 0), "{verdict:?}");
}

#[test]
fn where_all_are_in_it_nobody_is_said_to_be_late() {
    for function in ["MPI_Init", "MPI_Init_thread"] {
        let mut snapshot = before_init(&[]);
        (0..3).for_each(|rank| call(&mut snapshot, rank, function, 10));
        let (findings, verdict) = diagnose(&snapshot, None);
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(verdict.state, State::Unknown);
        assert!(verdict.headline.contains("each of 3 ranks is in MPI_Init"), "{verdict:?}");
    }
}

#[test]
fn who_has_come_through_it_is_not_late() {
    let mut snapshot = before_init(&[0, 2]);
    snapshot.processes[1].stage = Some(Stage::Initialized);
    outside(&mut snapshot, 1, "pause");
    let (findings, _) = diagnose(&snapshot, None);
    assert!(findings.iter().all(|finding| finding.kind != FindingKind::SlowRank), "{findings:?}");
}

#[test]
fn a_rank_that_was_not_read_is_not_said_to_be_late() {
    let mut snapshot = before_init(&[0, 1, 2]);
    snapshot.processes.pop();
    let (findings, verdict) = diagnose(&snapshot, None);
    assert!(findings.is_empty(), "{findings:?}");
    assert!(verdict.headline.contains("not read"), "{verdict:?}");
}
