//! Collectives of several communicators in which ranks wait in a circle, on snapshots built by hand.

use model::{Communicator, Finding, FindingKind as Kind, Snapshot, Text};

use super::made::{call, job, of_kind, twice};

/// A communicator of some ranks, by its name and number.
fn communicator(snapshot: &mut Snapshot, name: &str, id: u64, members: &[i64]) {
    for rank in members {
        snapshot.processes[*rank as usize].communicators.push(Communicator {
            name: name.into(),
            name_set: Some(true),
            unique_id: id,
            context_id: Some(id.to_string().into()),
            local_rank: members.iter().position(|one| one == rank).map(|at| at as i64),
            size: Some(members.len() as i64),
            group: Some(members.iter().map(|member| Some(*member)).collect()),
            ..Communicator::default()
        });
    }
}

/// Lets a rank stand in a collective of a communicator.
fn stands(snapshot: &mut Snapshot, rank: usize, function: &str, communicator: u64) {
    call(snapshot, rank, function, 10 * rank as i64 + communicator as i64);
    snapshot.processes[rank].calls.last_mut().unwrap().communicator = Some(communicator);
}

fn told(snapshot: &Snapshot) -> (Vec<Finding>, Finding) {
    let (findings, verdict) = twice(snapshot);
    let first = findings[verdict.finding.unwrap()].clone();
    (findings, first)
}

#[test]
fn rows_and_columns_are_one_circle() {
    let mut snapshot = job(4);
    for (name, id, members) in [("row", 1, [0, 1]), ("row", 2, [2, 3]), ("column", 3, [0, 2]), ("column", 4, [1, 3])] {
        communicator(&mut snapshot, name, id, &members);
    }
    for (rank, id) in [(0, 1), (1, 4), (3, 2), (2, 3)] {
        stands(&mut snapshot, rank, "MPI_Allreduce", id);
    }
    let (findings, first) = told(&snapshot);
    assert_eq!((first.kind, first.certain, &*first.ranks), (Kind::CollectiveMismatch, true, &[0, 1, 2, 3][..]));
    let words = "ranks 0 and 3 are in MPI_Allreduce on \"row\" and ranks 1 and 2 are in MPI_Allreduce on \"column\"";
    assert_eq!(first.summary, words);
    assert!(of_kind(&findings, Kind::MissingInCollective).is_empty(), "{findings:?}");
}

/// What is called the same and has the same members, in whatever order, is another one.
#[test]
fn communicators_of_the_same_members_are_told_apart() {
    for members in [[0, 1], [1, 0]] {
        let mut snapshot = job(2);
        communicator(&mut snapshot, "halo", 1, &[0, 1]);
        communicator(&mut snapshot, "halo", 2, &members);
        stands(&mut snapshot, 0, "MPI_Allreduce", 1);
        stands(&mut snapshot, 1, "MPI_Allreduce", 2);
        let summary = told(&snapshot).1.summary;
        let words = ["rank 0 is in MPI_Allreduce on \"halo\"", "rank 1 is in MPI_Allreduce on another \"halo\""];
        assert_eq!(summary, words.join(" and "));
    }
}

/// So many communicators, each of two ranks that follow one another; each rank stands in that of its own number.
fn ring(size: i64) -> Snapshot {
    let mut snapshot = job(size);
    for rank in 0..size {
        communicator(&mut snapshot, &format!("pair {rank}"), 10 + rank as u64, &[rank, (rank + 1) % size]);
        stands(&mut snapshot, rank as usize, "MPI_Barrier", 10 + rank as u64);
    }
    snapshot
}

#[test]
fn a_circle_of_many_communicators() {
    let (findings, first) = told(&ring(40));
    assert_eq!((first.kind, first.ranks.len()), (Kind::CollectiveMismatch, 40));
    assert!(first.summary.ends_with("and others in 36 more collectives"), "{first:?}");
    assert_eq!(of_kind(&findings, Kind::CollectiveMismatch).len(), 1);
    assert!(of_kind(&findings, Kind::MissingInCollective).is_empty(), "{findings:?}");
}

#[test]
fn a_chain_is_no_circle() {
    let mut snapshot = ring(3);
    // The last one of the chain is somewhere else, and waits for nobody of it.
    snapshot.processes[2].calls.clear();
    call(&mut snapshot, 2, "MPI_Finalize", 70);
    let (findings, _) = told(&snapshot);
    assert!(of_kind(&findings, Kind::CollectiveMismatch).is_empty(), "{findings:?}");
    assert!(of_kind(&findings, Kind::CommunicatorMismatch).is_empty(), "{findings:?}");
}

#[test]
fn the_odd_one_is_named_first() {
    let mut snapshot = job(5);
    for (name, id) in [("air", 1), ("ocean", 2)] {
        communicator(&mut snapshot, name, id, &[0, 1, 2, 3, 4]);
    }
    for rank in 0..5 {
        stands(&mut snapshot, rank, "MPI_Allreduce", if rank == 3 { 2 } else { 1 });
    }
    let (_, first) = told(&snapshot);
    assert_eq!(first.kind, Kind::CommunicatorMismatch);
    assert!(first.summary.starts_with("rank 3 is in MPI_Allreduce on \"ocean\" and ranks 0-2 and 4 are"), "{first:?}");
    assert_eq!(first.blamed.first().map(|one| &*one.ranks), Some(&[3][..]));
}

/// Ranks 0 and 1 sum on "even", rank 2 is in the barrier of all, where the others come to later; `later`: what rank 2 comes to.
fn left_out(later: Option<&[&str]>) -> Snapshot {
    let mut snapshot = job(3);
    communicator(&mut snapshot, "air", 1, &[0, 1, 2]);
    for (rank, function, id) in [(0, "MPI_Allreduce", 1), (1, "MPI_Allreduce", 1), (2, "MPI_Barrier", 0)] {
        stands(&mut snapshot, rank, function, id);
    }
    let names = |names: &[&str]| names.iter().map(|name| Text::from(*name)).collect();
    for rank in 0..2 {
        snapshot.processes[rank].later_collectives = Some(names(&["MPI_Barrier", "MPI_Finalize"]));
    }
    snapshot.processes[2].later_collectives = later.map(names);
    snapshot
}

#[test]
fn a_collective_that_a_rank_does_not_come_to_any_more_was_left_out() {
    let (findings, first) = told(&left_out(Some(&["MPI_Finalize"])));
    assert_eq!((first.kind, first.certain, &*first.ranks), (Kind::MissingInCollective, true, &[2][..]));
    assert!(first.evidence.iter().any(|one| one.contains("does not reach MPI_Allreduce any more")), "{first:?}");
    // That the others are not in the barrier yet follows from it.
    assert_eq!(of_kind(&findings, Kind::MissingInCollective).len(), 1, "{findings:?}");
    assert!(of_kind(&findings, Kind::CollectiveMismatch).is_empty(), "{findings:?}");
    // Where it may come to it yet, or nobody knows, it is told as the order.
    for later in [Some(&["MPI_Allreduce", "MPI_Finalize"][..]), None] {
        let (_, first) = told(&left_out(later));
        assert_eq!((first.kind, &*first.ranks), (Kind::CollectiveMismatch, &[0, 1, 2][..]), "{later:?}");
    }
}

#[test]
fn who_stands_in_the_same_function_has_not_left_it_out() {
    for (functions, kind) in [
        (["MPI_Scan", "MPI_Scan"], Kind::CommunicatorMismatch),
        // Neither comes to the other's: which one was meant nobody knows.
        (["MPI_Scan", "MPI_Allreduce"], Kind::CollectiveMismatch),
    ] {
        let mut snapshot = job(2);
        communicator(&mut snapshot, "air", 1, &[0, 1]);
        for (rank, function) in functions.into_iter().enumerate() {
            stands(&mut snapshot, rank, function, rank as u64);
            snapshot.processes[rank].later_collectives = Some(vec![Text::from("MPI_Finalize")].into());
        }
        let (findings, first) = told(&snapshot);
        assert_eq!((first.kind, first.certain), (kind, true), "{findings:?}");
        assert!(of_kind(&findings, Kind::MissingInCollective).is_empty(), "{findings:?}");
    }
}
