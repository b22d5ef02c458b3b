//! What the flight recorder has seen of collectives.

use analysis::diagnose::diagnose;
use model::{FindingKind, Given, HandleWord, History, PastCollective, RecordedCommunicator, Snapshot, State};

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

/// What a call of a collective is given.
type Contents<'a> = (&'a str, Option<u64>, Option<&'a str>, Option<&'a str>);

/// Lets the recorders have seen one collective of each rank: function, count, datatype and operator.
pub fn saw_contents(snapshot: &mut Snapshot, ranks: &[Contents<'_>], inside: bool) {
    for (rank, (function, count, datatype, op)) in ranks.iter().enumerate() {
        saw(snapshot, rank, &[(function, None)]);
        let history = snapshot.processes[rank].history.as_mut().unwrap();
        let communicator = &mut history.communicators[0];
        communicator.order = HandleWord(1);
        communicator.contents = HandleWord(rank as u64 + 1);
        let one = &mut communicator.latest[0];
        (one.given.count, one.inside) = (*count, inside);
        (one.given.datatype_name, one.op_name) = (datatype.map(Into::into), op.map(Into::into));
    }
}

/// What is found where ranks 0 and 1 wait for each other in MPI_Recv, or stand in what they differ in.
fn of_contents(ranks: &[Contents<'_>], inside: bool) -> Option<(FindingKind, String, usize)> {
    let mut snapshot = job(3);
    saw_contents(&mut snapshot, ranks, inside);
    for (rank, (function, ..)) in ranks.iter().enumerate() {
        call(&mut snapshot, rank, if inside { function } else { "MPI_Barrier" }, 10 + rank as i64);
    }
    let (findings, _) = diagnose(&snapshot, None);
    let by_recorder = |one: &model::Finding| one.evidence.iter().any(|sentence| sentence.contains("flight recorder"));
    let place = findings.iter().position(by_recorder)?;
    Some((findings[place].kind, findings[place].summary.clone(), place))
}

const INT: Option<&str> = Some("MPI_INT");

#[test]
fn operators_datatypes_and_counts_that_differ_are_told() {
    let allreduce = |count, datatype, op| ("MPI_Allreduce", Some(count), Some(datatype), Some(op));
    let usual = allreduce(4, "MPI_INT", "MPI_SUM");
    for (other, kind, one, others) in [
        (allreduce(4, "MPI_INT", "MPI_MAX"), FindingKind::OperatorMismatch, "MPI_MAX", "MPI_SUM"),
        (allreduce(4, "MPI_DOUBLE", "MPI_SUM"), FindingKind::DatatypeMismatch, "4 MPI_DOUBLE", "4 MPI_INT"),
        (allreduce(5, "MPI_INT", "MPI_SUM"), FindingKind::CountMismatch, "5 MPI_INT", "4 MPI_INT"),
    ] {
        let (found, summary, _) = of_contents(&[usual, other, usual], false).unwrap();
        assert_eq!(found, kind);
        let called = |what| format!("called MPI_Allreduce with {what}");
        let expected =
            format!("in collective 1 of MPI_COMM_WORLD rank 1 {} and ranks 0 and 2 {}", called(one), called(others));
        assert_eq!(summary, expected);
    }
}

#[test]
fn what_differs_rightly_is_not_told() {
    let all: &[[Contents<'_>; 2]] = &[
        // The same in C and Fortran, and what the program made.
        [("MPI_Bcast", Some(4), INT, None), ("MPI_Bcast", Some(4), Some("MPI_INTEGER"), None)],
        [("MPI_Bcast", Some(4), INT, None), ("MPI_Bcast", Some(2), None, None)],
        [("MPI_Bcast", Some(4), INT, None), ("MPI_Bcast", Some(16), Some("MPI_BYTE"), None)],
        [("MPI_Allreduce", Some(1), INT, Some("MPI_SUM")), ("MPI_Allreduce", Some(1), INT, None)],
        // Counts of each rank's own.
        [("MPI_Gatherv", Some(4), INT, None), ("MPI_Gatherv", Some(7), INT, None)],
        [("MPI_Scatter", Some(4), INT, None), ("MPI_Scatter", Some(0), None, None)],
        [("MPI_Alltoall", Some(4), INT, None), ("MPI_Alltoall", Some(0), INT, None)],
        [("MPI_Reduce_scatter", Some(1), INT, Some("MPI_SUM")), ("MPI_Reduce_scatter", Some(2), INT, Some("MPI_SUM"))],
        // Nobody knows the function.
        [("MPI_Unheard_of", Some(4), INT, None), ("MPI_Unheard_of", Some(7), INT, None)],
    ];
    for [one, other] in all {
        assert_eq!(of_contents(&[*one, *other, *one], false), None, "{one:?} {other:?}");
    }
}

#[test]
fn what_differs_is_the_cause_only_where_somebody_stands_in_it() {
    let bcast = |count| ("MPI_Bcast", Some(count), INT, None);
    let ranks = [bcast(4), bcast(5), bcast(4)];
    assert_eq!(of_contents(&ranks, true).map(|(kind, _, place)| (kind, place)), Some((FindingKind::CountMismatch, 0)));
    // Of ranks that go on it is no headline.
    let mut snapshot = job(3);
    saw_contents(&mut snapshot, &ranks, false);
    let (findings, verdict) = diagnose(&snapshot, None);
    assert!(findings.iter().any(|one| one.kind == FindingKind::CountMismatch), "{findings:?}");
    assert!(verdict.state != State::Deadlock && !verdict.headline.contains("MPI_Bcast"), "{verdict:?}");
}
