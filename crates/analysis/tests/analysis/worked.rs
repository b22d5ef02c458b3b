//! What was worked out of a first look serves a second one only where that finds the same.

use std::sync::Arc;

use analysis::diagnose::{Earlier, Watched, diagnose};
use analysis::worked::Kept;
use model::{Finding, Snapshot, Verdict};

use super::made::{call, job, outside, receive, twice};
use super::made_stacks::{Chance, dark_job, frame, in_mpi, stack, stand};

type Told = (Vec<Finding>, Verdict);

/// Of two looks, with and without what was worked out of the first.
fn both(first: &Snapshot, later: &Snapshot) -> (Option<Told>, Told) {
    let earlier = Earlier { snapshot: first, interval_ms: Some(500), watched: &Watched::default() };
    let kept = Kept::new(&Arc::new(first.clone()));
    (kept.diagnose_again(first, later, earlier), diagnose(later, Some(earlier)))
}

#[test]
fn it_is_told_where_ranks_stand_now() {
    let mut chance = Chance(1);
    let mut looks = [3, 5].map(|odd| {
        let mut snapshot = dark_job(8);
        for rank in 0..8 {
            let own = [frame("main", "a.c", 10), frame(if rank == odd { "alone" } else { "exchange" }, "a.c", 20)];
            stand(&mut snapshot, rank, stack(&own, in_mpi("MPI_Waitall", &mut chance)));
        }
        snapshot
    });
    // Only stacks, and when it was, differ.
    for rank in 0..8 {
        let first = looks[0].processes[rank].clone();
        looks[1].processes[rank].calls = first.calls.clone();
        looks[1].processes[rank].captured_at = Some("2026-01-01T00:00:00Z".into());
    }
    let (kept, anew) = both(&looks[0], &looks[1]);
    assert_eq!(kept, Some(anew.clone()));
    assert_ne!(anew, twice(&looks[0]), "it does not matter where ranks stand");
}

#[test]
fn what_differs_is_worked_out_again() {
    let mut first = job(3);
    call(&mut first, 0, "MPI_Recv", 10);
    receive(&mut first, 0, Some(1), 7);
    call(&mut first, 1, "MPI_Barrier", 20);
    outside(&mut first, 2, "compute");
    let changes: [fn(&mut Snapshot); 8] = [
        |later| later.processes[0].calls[0].line = Some(11),
        |later| later.processes[0].communicators[0].pending_receives.operations.clear(),
        |later| later.processes[2].outside[0].line = Some(100),
        |later| later.processes[1].rank = None,
        |later| later.processes[1].problems.push("a problem".to_owned()),
        |later| later.problems.push("a problem".to_owned()),
        |later| later.processes.truncate(2),
        |later| later.worlds.push(model::World::default()),
    ];
    assert!(both(&first, &first).0.is_some());
    for (number, change) in changes.into_iter().enumerate() {
        let mut later = first.clone();
        change(&mut later);
        assert_eq!(both(&first, &later).0, None, "change {number}");
    }
}
