//! Collectives in which all members do the same.

use super::{Case, Fit, doublings, may_use};
use crate::planned::Doing;
use Doing::{Copy, Receive, Send};

/// Exchanges with MPI_IN_PLACE of more members than twice these are not known again.
const MOST_PAIRS: usize = 1 << 16;

/// `nbc_barrier_init`: in rounds, to the member at twice the distance each time.
pub fn barrier(case: &Case<'_>) -> Fit {
    let (rank, size) = (case.member.rank, case.member.size);
    let mut plan = Vec::new();
    for round in 0..doublings(size) {
        let distance = 1_i64 << round;
        plan.extend([Send((rank + distance) % size), Receive((rank - distance + size) % size)]);
    }
    Fit::when(case.is(&plan) && case.none_has_data())
}

/// `nbc_allgather_init`.
pub fn all_gather(case: &Case<'_>) -> Fit {
    let (rank, size, asked) = (case.member.rank, case.member.size, case.member.algorithms.all_gather);
    let mut linear = Vec::new();
    for other in others(case).take(case.doings.len()) {
        linear.extend([Receive(other), Send(other)]);
    }
    let mut doubling = Vec::new();
    if may_use(asked, 2) && size & (size - 1) == 0 {
        for distance in (0..doublings(size)).map(|round| 1_i64 << round) {
            doubling.extend([Send(rank ^ distance), Receive(rank ^ distance)]);
        }
    }
    let copies = case.member.persistent;
    let is = |plan: &[Doing]| if copies { case.is_after_copy(plan) } else { case.is(plan) };
    Fit::when(is(&linear) || (!doubling.is_empty() && is(&doubling)))
}

/// `nbc_allgatherv_init`.
pub fn all_gather_v(case: &Case<'_>) -> Fit {
    let (rank, size) = (case.member.rank, case.member.size);
    let mut plan = Vec::new();
    for distance in (1..size).take(case.doings.len()) {
        plan.extend([Receive((rank - distance + size) % size), Send((rank + distance) % size)]);
    }
    Fit::when(if case.member.persistent { case.is_after_copy(&plan) } else { case.is(&plan) })
}

/// `nbc_alltoall_init`: of the algorithms that it has, it uses the linear one and the one for MPI_IN_PLACE.
pub fn all_to_all(case: &Case<'_>) -> Fit {
    let mut linear = vec![Copy];
    for other in others(case).take(case.doings.len()) {
        linear.extend([Receive(other), Send(other)]);
    }
    Fit::when(if case.member.temporary { case.is(&in_place(case)) } else { case.is(&linear) })
}

/// `nbc_alltoallv_init` and `nbc_alltoallw_init`: messages of no data are left out.
pub fn all_to_all_v(case: &Case<'_>) -> Fit {
    if !case.all_have_data() {
        return Fit::No;
    }
    let linear = others(case).flat_map(|other| [Send(other), Receive(other)]);
    Fit::when(if case.member.temporary {
        case.is_part_of(in_place(case)) && is_mutual(case)
    } else {
        case.is_part_of(std::iter::once(Copy).chain(linear))
    })
}

/// Whether as much comes from each member as goes to it.
fn is_mutual(case: &Case<'_>) -> bool {
    let of = |peer: fn(&Doing) -> Option<i64>| {
        let mut found: Vec<i64> = case.doings.iter().filter_map(peer).collect();
        found.sort_unstable();
        found
    };
    let to = |doing: &Doing| if let Send(to) = doing { Some(*to) } else { None };
    let from = |doing: &Doing| if let Receive(from) = doing { Some(*from) } else { None };
    of(to) == of(from)
}

/// The steps of an exchange with MPI_IN_PLACE.
fn in_place(case: &Case<'_>) -> Vec<Doing> {
    let (rank, size) = (case.member.rank, case.member.size);
    let mut plan = Vec::new();
    for distance in (1..(size + 1) / 2).take(MOST_PAIRS) {
        let (to, from) = ((rank + distance) % size, (rank + size - distance) % size);
        plan.extend([Copy, Send(to), Receive(from), Send(from), Receive(to)]);
    }
    if size % 2 == 0 {
        let opposite = (rank + size / 2) % size;
        plan.extend([Copy, Send(opposite), Receive(opposite)]);
    }
    plan
}

/// Those among neighbours (`nbc_ineighbor_*.c`): who they are is left open.
fn neighbours(case: &Case<'_>) -> bool {
    case.member.topology != Some(false) && case.doings.iter().all(|doing| doing.is_message())
}

/// `nbc_neighbor_allgather_init` and `nbc_neighbor_allgatherv_init`: the same data for all.
pub fn neighbours_gather(case: &Case<'_>) -> Fit {
    let sent = case.sent();
    Fit::when(
        neighbours(case)
            && sent.windows(2).all(|pair| matches!(pair, [a, b] if (a.buffer, a.count) == (b.buffer, b.count))),
    )
}

/// `nbc_neighbor_alltoall_init`: as many for each.
pub fn neighbours_exchange(case: &Case<'_>) -> Fit {
    let sent = case.sent();
    Fit::when(neighbours(case) && sent.windows(2).all(|pair| matches!(pair, [a, b] if a.count == b.count)))
}

/// `nbc_neighbor_alltoallv_init` and `nbc_neighbor_alltoallw_init`.
pub fn neighbours_any(case: &Case<'_>) -> Fit {
    Fit::when(neighbours(case))
}

/// The other members.
fn others(case: &Case<'_>) -> impl Iterator<Item = i64> {
    let rank = case.member.rank;
    (0..case.member.size).filter(move |other| *other != rank)
}
