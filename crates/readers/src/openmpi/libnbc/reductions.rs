//! Reductions without a root.

use super::rooted::{Halves, tree, upwards};
use super::{Case, Fit, may_use};
use crate::planned::Doing;
use Doing::{Copy, Receive, Reduce, Send};

/// `nbc_allreduce_init`.
pub fn all_reduce(case: &Case<'_>) -> Fit {
    let (rank, size, asked) = (case.member.rank, case.member.size, case.member.algorithms.all_reduce);
    if size == 1 {
        return Fit::when(case.is(&[Copy]));
    }
    let by_default = asked.is_none_or(|asked| asked == 0);
    // `allred_sched_diss`: up one tree and down another, with a copy first where MPI_IN_PLACE needs one.
    let mut trees = upwards(rank, size, 0);
    trees.extend(tree(rank, size, 0));
    let binomial = (may_use(asked, 2) || by_default) && case.is_after_copy(&trees);
    let rings = asked != Some(2) && asked != Some(4) && (!by_default || asked.is_none() || size >= 4);
    let halving = asked != Some(1) && asked != Some(2) && asked != Some(4);
    let doubling = may_use(asked, 4);
    Fit::when(
        binomial
            || (rings && is_ring(case))
            || (halving && case.is_after_copy(&halves(rank, size)))
            || (doubling && is_doubling(case)),
    )
}

/// `allred_sched_ring`.
fn is_ring(case: &Case<'_>) -> bool {
    let (rank, size) = (case.member.rank, case.member.size);
    let (next, previous) = ((rank + 1) % size, (rank - 1 + size) % size);
    let rounds = size - 1;
    if case.doings.len() as i64 != rounds.saturating_mul(5) {
        return false;
    }
    let (reducing, passing) = case.doings.split_at(case.doings.len() / 5 * 3);
    reducing.chunks(3).all(|round| round == [Send(next), Receive(previous), Reduce])
        && passing.chunks(2).all(|round| round == [Send(next), Receive(previous)])
}

/// `allred_sched_redscat_allgather`.
fn halves(rank: i64, size: i64) -> Vec<Doing> {
    let halves = Halves::new(size);
    let mut plan = halves.reduce_scatter(rank);
    if let Some(mine) = halves.virtual_rank(rank) {
        for step in (0..halves.steps).rev() {
            let peer = halves.real(mine ^ (1_i64 << step));
            plan.extend([Send(peer), Receive(peer)]);
        }
    }
    if rank < 2 * halves.rest {
        plan.push(if rank % 2 == 0 { Send(rank + 1) } else { Receive(rank - 1) });
    }
    plan
}

/// `allred_sched_recursivedoubling`: a copy first, and perhaps one at the end.
fn is_doubling(case: &Case<'_>) -> bool {
    let (rank, size) = (case.member.rank, case.member.size);
    let steps = size.ilog2();
    let rest = size - (1_i64 << steps);
    let mut plan = vec![Copy];
    let mut mine = Some(rank - rest);
    if rank < 2 * rest {
        mine = (rank % 2 != 0).then_some(rank / 2);
        match mine {
            None => plan.push(Send(rank + 1)),
            Some(_) => plan.extend([Receive(rank - 1), Reduce]),
        }
    }
    if let Some(mine) = mine {
        for step in 0..steps {
            let other = mine ^ (1_i64 << step);
            let peer = if other < rest { other * 2 + 1 } else { other + rest };
            plan.extend([Send(peer), Receive(peer), Reduce]);
        }
    }
    if rank < 2 * rest {
        plan.push(if rank % 2 == 0 { Receive(rank + 1) } else { Send(rank - 1) });
    }
    let copied = case.doings.last() == Some(&Copy) && case.doings.split_last().is_some_and(|(_, steps)| steps == plan);
    copied || case.is(&plan)
}

/// `nbc_reduce_scatter_init` and `nbc_reduce_scatter_block_init`: all to rank 0, and from there each its part.
pub fn reduce_scatter(case: &Case<'_>) -> Fit {
    let (rank, size) = (case.member.rank, case.member.size);
    if size == 1 {
        return Fit::when(case.doings.iter().all(|doing| *doing == Copy));
    }
    let mut plan = upwards(rank, size, 0);
    if rank == 0 {
        plan.extend((1..size).take(case.doings.len()).map(Send));
        plan.push(Copy);
    } else {
        plan.push(Receive(0));
    }
    Fit::when(case.is(&plan))
}

/// `nbc_scan_init`.
pub fn scan(case: &Case<'_>) -> Fit {
    let (rank, size) = (case.member.rank, case.member.size);
    let mut linear = Vec::new();
    if rank > 0 {
        linear.extend([Receive(rank - 1), Reduce]);
    }
    if rank != size - 1 {
        linear.push(Send(rank + 1));
    }
    let by_line = case.member.temporary == (rank > 0) && case.is_after_copy(&linear) && case.receives_into(true);
    Fit::when(by_line || (may_use(case.member.algorithms.scan, 2) && is_doubling_scan(case, &[Reduce])))
}

/// `nbc_exscan_init`.
pub fn exscan(case: &Case<'_>) -> Fit {
    let (rank, size) = (case.member.rank, case.member.size);
    let mut linear = Vec::new();
    match rank {
        0 if size > 1 => linear.push(Send(1)),
        0 => {}
        _ => {
            linear.extend([Copy, Receive(rank - 1)]);
            if rank < size - 1 {
                linear.extend([Reduce, Send(rank + 1)]);
            }
        }
    }
    let doubling = may_use(case.member.algorithms.exscan, 2) && is_doubling_scan(case, &[Copy, Reduce]);
    let by_line = case.member.temporary == (rank > 0) && case.is(&linear) && case.receives_into(false);
    Fit::when(by_line || doubling)
}

/// `scan_sched_recursivedoubling` and its like: some copies first, then in each round a message each way, and one or two steps
/// with what has come; from a lower rank two, of which the first is one of `first`.
fn is_doubling_scan(case: &Case<'_>, first: &[Doing]) -> bool {
    let (rank, size) = (case.member.rank, case.member.size);
    let copies = case.doings.iter().take_while(|doing| **doing == Copy).count();
    let mut steps = case.doings.get(copies..).unwrap_or_default().iter();
    if !case.member.temporary || !(1..=2).contains(&copies) {
        return false;
    }
    for peer in (0..super::doublings(size)).map(|round| rank ^ (1_i64 << round)).filter(|peer| *peer < size) {
        if steps.next() != Some(&Send(peer)) || steps.next() != Some(&Receive(peer)) {
            return false;
        }
        if rank > peer && !steps.next().is_some_and(|step| first.contains(step)) {
            return false;
        }
        if steps.next() != Some(&Reduce) {
            return false;
        }
    }
    steps.next().is_none()
}
