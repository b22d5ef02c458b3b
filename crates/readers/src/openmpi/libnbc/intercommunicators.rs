//! Collectives on intercommunicators: ranks of peers are those of the other group (the functions `nbc_*_inter_init`).
//!
//! Roots are not told: the root of one group is MPI_ROOT there, and what the others of its group give is in no schedule.

use super::{Case, Fit};
use crate::planned::Doing;
use Doing::{Copy, LocalReceive, LocalSend, Receive, Reduce, Send};

/// All functions that there are on intercommunicators, by the names of the blocking ones.
pub fn fits(case: &Case<'_>) -> Vec<(&'static str, Fit)> {
    let gather = Fit::when(is_single(case, true) || case.is(&each(case, Receive)));
    let scatter = Fit::when(is_single(case, false) || case.is(&each(case, Send)));
    let reduce_scatter = Fit::when(case.is(&reduce_scatter(case)));
    let all_to_all_v = Fit::when(case.all_have_data() && case.is_part_of(pairs(case, Send, Receive)));
    let mut fits = vec![
        ("Barrier", Fit::when(case.is(&barrier(case)) && case.none_has_data())),
        ("Bcast", scatter.clone()),
        ("Gather", gather.clone()),
        ("Gatherv", gather),
        ("Scatter", scatter.clone()),
        ("Scatterv", scatter),
        ("Allgather", Fit::when(case.is(&pairs(case, Receive, Send)))),
        ("Allgatherv", Fit::when(is_all_gather_v(case))),
        ("Alltoall", Fit::when(case.is(&pairs(case, Send, Receive)))),
        ("Alltoallv", all_to_all_v.clone()),
        ("Alltoallw", all_to_all_v),
    ];
    if case.member.temporary {
        fits = vec![
            ("Reduce", Fit::when(is_single(case, true) || case.is(&reduced(case)))),
            ("Allreduce", Fit::when(case.is(&all_reduce(case)))),
        ];
    }
    // These need memory for data on the way only where there is data.
    fits.extend([("Reduce_scatter", reduce_scatter.clone()), ("Reduce_scatter_block", reduce_scatter)]);
    fits
}

fn remote(case: &Case<'_>) -> i64 {
    // Each has a step at least, so more are of no use.
    case.member.remote.unwrap_or_default().min(case.doings.len() as i64 + 2)
}

/// Whether there is one message only, with one of the other group.
fn is_single(case: &Case<'_>, sends: bool) -> bool {
    match case.doings.as_slice() {
        [Send(_)] => sends,
        [Receive(_)] => !sends,
        _ => false,
    }
}

fn each(case: &Case<'_>, doing: fn(i64) -> Doing) -> Vec<Doing> {
    (0..remote(case)).map(doing).collect()
}

fn pairs(case: &Case<'_>, one: fn(i64) -> Doing, other: fn(i64) -> Doing) -> Vec<Doing> {
    (0..remote(case)).flat_map(|peer| [one(peer), other(peer)]).collect()
}

/// Data from some of the other group, and to all of it or to none.
fn is_all_gather_v(case: &Case<'_>) -> bool {
    let received = case.doings.iter().take_while(|doing| matches!(doing, Receive(_))).count();
    let (from, to) = case.doings.split_at(received);
    let ascending = from.windows(2).all(|pair| matches!(pair, [Receive(a), Receive(b)] if a < b));
    case.all_have_data() && ascending && (to.is_empty() || to == each(case, Send))
}

/// What comes from all of the other group, reduced.
fn reduced(case: &Case<'_>) -> Vec<Doing> {
    let mut plan = vec![Receive(0)];
    plan.extend((1..remote(case)).flat_map(|peer| [Receive(peer), Reduce]));
    plan
}

fn barrier(case: &Case<'_>) -> Vec<Doing> {
    let first = case.member.rank == 0;
    let others = 1..if first { remote(case) } else { 1 };
    let mut plan: Vec<Doing> = others.clone().map(Receive).collect();
    plan.extend([Receive(0), Send(0)]);
    plan.extend(others.map(Send));
    plan
}

fn all_reduce(case: &Case<'_>) -> Vec<Doing> {
    let mut plan = vec![Send(0), Receive(0)];
    if case.member.rank == 0 {
        plan.extend((1..remote(case)).flat_map(|peer| [Receive(peer), Reduce]));
        plan.extend([Receive(0), Send(0)]);
        plan.extend((1..remote(case)).map(Send));
    }
    plan
}

fn reduce_scatter(case: &Case<'_>) -> Vec<Doing> {
    let mut plan = vec![Send(0)];
    if case.member.rank == 0 {
        plan.extend(reduced(case));
        plan.push(Copy);
        plan.extend((1..case.member.size.min(case.doings.len() as i64 + 2)).map(LocalSend));
    } else {
        plan.push(LocalReceive(0));
    }
    plan
}
