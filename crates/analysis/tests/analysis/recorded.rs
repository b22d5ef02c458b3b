//! What the flight recorder has seen of collectives.

use analysis::diagnose::diagnose;
use model::{FindingKind, Given, HandleWord, History, PastCollective, RecordedCommunicator, Snapshot};

use super::made::{call, job};

const WORLD: HandleWord = HandleWord(0xabc);

/// Lets the recorder of a rank have seen these functions, with their roots, on MPI_COMM_WORLD.
fn saw(snapshot: &mut Snapshot, rank: usize, calls: &[(&str, Option<i64>)]) {
    let collective = |(number, (function, root)): (u64, &(&str, Option<i64>))| PastCollective {
        number,
        function: (*function).into(),
        given: Given {
            file: Some("a.c".into()),
            line: Some(10 * number as i64 + rank as i64),
            peer: *root,
            ..Given::default()
        },
        ..PastCollective::default()
    };
    let communicator = RecordedCommunicator {
        name: Some("MPI_COMM_WORLD".into()),
        identity: Some(WORLD),
        size: Some(3),
        collectives: calls.len() as u64,
        order: HandleWord(rank as u64),
        latest: (1..).zip(calls).map(collective).collect::<Vec<_>>().into(),
        ..RecordedCommunicator::default()
    };
    let history = History { communicators: vec![communicator], ..History::default() };
    snapshot.processes[rank].history = Some(history.into());
}

/// Kind, summary, and the lines of the calls to look at.
fn told(snapshot: &Snapshot) -> Option<(FindingKind, String, Vec<Option<i64>>)> {
    let (findings, _) = diagnose(snapshot, None);
    let by_recorder = |one: &&model::Finding| one.evidence.iter().any(|sentence| sentence.contains("flight recorder"));
    let found = findings.iter().find(by_recorder)?;
    assert!(found.certain && findings[0].summary == found.summary, "{findings:?}");
    Some((found.kind, found.summary.clone(), found.blamed.iter().map(|one| one.line).collect()))
}

#[test]
fn the_first_collective_that_differs_is_the_cause() {
    let mut snapshot = job(3);
    let (barrier, bcast, reduce) = (("MPI_Barrier", None), ("MPI_Bcast", Some(0)), ("MPI_Reduce", Some(0)));
    saw(&mut snapshot, 0, &[barrier, bcast]);
    saw(&mut snapshot, 1, &[barrier, reduce, barrier]);
    saw(&mut snapshot, 2, &[barrier, reduce, barrier]);
    call(&mut snapshot, 0, "MPI_Recv", 1);
    call(&mut snapshot, 1, "MPI_Barrier", 2);
    call(&mut snapshot, 2, "MPI_Barrier", 2);
    let summary = "in collective 2 of MPI_COMM_WORLD rank 0 called MPI_Bcast and ranks 1 and 2 called MPI_Reduce";
    let lines = vec![Some(20), Some(21), Some(22)];
    assert_eq!(told(&snapshot), Some((FindingKind::CollectiveMismatch, summary.to_owned(), lines)));
}

#[test]
fn different_roots_are_told() {
    let mut snapshot = job(3);
    for rank in 0..3 {
        let root = Some(i64::from(rank == 2));
        saw(&mut snapshot, rank, &[("MPI_Bcast", root), ("MPI_Barrier", None)]);
        call(&mut snapshot, rank, "MPI_Barrier", 2);
    }
    let summary = "in collective 1 of MPI_COMM_WORLD rank 2 called MPI_Bcast with root 1 and ranks 0 and 1 called MPI_Bcast \
                   with root 0";
    let lines = vec![Some(12), Some(10), Some(11)];
    assert_eq!(told(&snapshot), Some((FindingKind::RootMismatch, summary.to_owned(), lines)));
}

#[test]
fn who_is_behind_does_not_differ() {
    let mut snapshot = job(3);
    saw(&mut snapshot, 0, &[("MPI_Barrier", None)]);
    saw(&mut snapshot, 1, &[("MPI_Barrier", None), ("MPI_Allreduce", None)]);
    saw(&mut snapshot, 2, &[("MPI_Barrier", None), ("MPI_Allreduce", None)]);
    assert_eq!(told(&snapshot), None);
    // Of other worlds nothing follows.
    saw(&mut snapshot, 0, &[("MPI_Bcast", Some(0)), ("MPI_Barrier", None)]);
    for (rank, process) in snapshot.processes.iter_mut().enumerate() {
        process.world_key = Some(format!("{rank}").into());
    }
    assert_eq!(told(&snapshot), None);
}
