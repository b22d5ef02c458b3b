//! Which function a schedule of libnbc is of, and with which root.
//!
//! libnbc does not keep that. But every algorithm makes schedules of one form: which steps in which order, with which peers,
//! follows from the rank, the size of the communicator and the root. So each function is asked whether one of its algorithms makes
//! the schedule at hand; those that can not are excluded. The algorithms are those of ompi/mca/coll/libnbc/nbc_i*.c, v4.1.4, v4.1.8,
//! v5.0.6 and v5.0.9: the same in all, but for messages of no bytes, which some leave out. What counts and datatypes decide is
//! left open, so none is excluded that might have made it.

mod exchanges;
mod intercommunicators;
mod reductions;
mod rooted;

use crate::planned::{Doing, Step};
use model::PossibleFunction;

/// On greater communicators the roots of trees are not told: each would be tried.
const MOST_TRIED: i64 = 4096;

/// No communicator has more members (16 Mi): damage.
const MOST_MEMBERS: i64 = 1 << 24;

/// In larger communicators it is not looked for roots, which would take long: any may be.
const LARGEST: i64 = 1 << 16;

/// Of more roots than this it is not told which they are.
const MOST_ROOTS: usize = 32;

/// The algorithms that the user has asked for (`coll_libnbc_component.c`): 0 leaves it to the library; `None` is not known, and any
/// may have been used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Algorithms {
    /// `libnbc_ibcast_algorithm`.
    pub broadcast: Option<i64>,
    /// `libnbc_ibcast_knomial_radix`.
    pub radix: Option<i64>,
    /// `libnbc_iallreduce_algorithm`.
    pub all_reduce: Option<i64>,
    /// `libnbc_ireduce_algorithm`.
    pub reduce: Option<i64>,
    /// `libnbc_iallgather_algorithm`.
    pub all_gather: Option<i64>,
    /// `libnbc_iscan_algorithm`.
    pub scan: Option<i64>,
    /// `libnbc_iexscan_algorithm`.
    pub exscan: Option<i64>,
}

/// Whether an algorithm may have been used that the library takes for that number only.
fn may_use(asked: Option<i64>, number: i64) -> bool {
    asked.is_none_or(|asked| asked == number)
}

/// The process whose schedule it is.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Its rank in the communicator.
    pub rank: i64,
    /// The size of its group.
    pub size: i64,
    /// On an intercommunicator the size of the other group.
    pub remote: Option<i64>,
    /// Whether the communicator has a topology; `None`: not known.
    pub topology: Option<bool>,
    /// Whether the request is persistent.
    pub persistent: bool,
    /// Whether it has memory of its own for data on the way.
    pub temporary: bool,
    /// What the user has asked for.
    pub algorithms: Algorithms,
}

/// With which roots a function makes a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fit {
    /// With none at all.
    No,
    /// It has no root, or any may be.
    Yes,
    /// With these.
    Roots(Vec<i64>),
}

impl Fit {
    const fn when(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

/// A schedule, and whose it is.
struct Case<'s> {
    steps: &'s [Step],
    doings: Vec<Doing>,
    member: Member,
}

/// The functions that may have made the schedule; empty where that cannot be said.
pub fn functions(steps: &[Step], member: Member) -> Vec<PossibleFunction> {
    let is_size = |size: i64| (1..=MOST_MEMBERS).contains(&size);
    let sane = is_size(member.size) && (0..member.size).contains(&member.rank) && member.remote.is_none_or(is_size);
    // Many functions have nothing to do where there is no data.
    if steps.is_empty() || !sane {
        return Vec::new();
    }
    let case = Case { steps, doings: steps.iter().map(|step| step.doing).collect(), member };
    let found = if member.remote.is_some() { intercommunicators::fits(&case) } else { within(&case) };
    let told = |(name, fit): (&str, Fit)| {
        let roots = match fit {
            Fit::No => return None,
            Fit::Yes => None,
            Fit::Roots(roots) if roots.is_empty() => return None,
            Fit::Roots(roots) => Some(roots).filter(|roots| roots.len() <= MOST_ROOTS),
        };
        let function = if member.persistent { format!("MPI_{name}_init") } else { format!("MPI_I{}", small(name)) };
        Some(PossibleFunction { function, roots })
    };
    found.into_iter().filter_map(told).collect()
}

/// `Bcast` as it stands in `MPI_Ibcast`.
fn small(name: &str) -> String {
    name.to_lowercase()
}

/// The functions on a communicator of one group, by the names of the blocking ones.
fn within(case: &Case<'_>) -> Vec<(&'static str, Fit)> {
    let temporary = case.member.temporary;
    let without = |fit: fn(&Case<'_>) -> Fit| if temporary { Fit::No } else { fit(case) };
    let with = |fit: fn(&Case<'_>) -> Fit| if temporary { fit(case) } else { Fit::No };
    vec![
        ("Barrier", without(exchanges::barrier)),
        ("Bcast", without(rooted::broadcast)),
        ("Gather", without(rooted::gather)),
        ("Gatherv", without(rooted::gather)),
        ("Scatter", without(rooted::scatter)),
        ("Scatterv", without(rooted::scatter_v)),
        ("Allgather", without(exchanges::all_gather)),
        ("Allgatherv", without(exchanges::all_gather_v)),
        ("Alltoall", exchanges::all_to_all(case)),
        ("Alltoallv", exchanges::all_to_all_v(case)),
        ("Alltoallw", exchanges::all_to_all_v(case)),
        ("Reduce", with(rooted::reduce)),
        ("Allreduce", with(reductions::all_reduce)),
        ("Reduce_scatter", with(reductions::reduce_scatter)),
        ("Reduce_scatter_block", with(reductions::reduce_scatter)),
        ("Scan", reductions::scan(case)),
        ("Exscan", reductions::exscan(case)),
        ("Neighbor_allgather", without(exchanges::neighbours_gather)),
        ("Neighbor_allgatherv", without(exchanges::neighbours_gather)),
        ("Neighbor_alltoall", without(exchanges::neighbours_exchange)),
        ("Neighbor_alltoallv", without(exchanges::neighbours_any)),
        ("Neighbor_alltoallw", without(exchanges::neighbours_any)),
    ]
}

impl Case<'_> {
    /// Whether these are the steps.
    fn is(&self, steps: &[Doing]) -> bool {
        self.doings == steps
    }

    /// Whether these are the steps, perhaps with a copy before them.
    fn is_after_copy(&self, steps: &[Doing]) -> bool {
        self.without_copy() == steps || self.is(steps)
    }

    /// The steps after a copy at the beginning.
    fn without_copy(&self) -> &[Doing] {
        if let [Doing::Copy, rest @ ..] = self.doings.as_slice() { rest } else { &self.doings }
    }

    /// Whether the steps are these once or several times over.
    fn repeats(&self, unit: &[Doing]) -> bool {
        !unit.is_empty()
            && self.doings.len().is_multiple_of(unit.len())
            && self.doings.chunks(unit.len()).all(|one| one == unit)
    }

    /// Whether the steps are some of these, in this order.
    fn is_part_of(&self, steps: impl IntoIterator<Item = Doing>) -> bool {
        let mut found = self.doings.iter().peekable();
        for step in steps {
            if found.next_if(|next| **next == step).is_some() && found.peek().is_none() {
                return true;
            }
        }
        false
    }

    /// The roots with which `plan` makes the schedule.
    fn roots(&self, plan: impl Fn(i64) -> bool) -> Fit {
        if self.member.size > LARGEST {
            return Fit::Yes;
        }
        let all = (0..self.member.size.min(LARGEST)).filter(|root| plan(*root));
        Fit::Roots(all.take(MOST_ROOTS + 1).collect())
    }

    /// Whether all messages have data.
    fn all_have_data(&self) -> bool {
        self.steps.iter().all(|step| !step.doing.is_message() || step.count > 0)
    }

    /// The messages that are sent.
    fn sent(&self) -> Vec<&Step> {
        self.steps.iter().filter(|step| matches!(step.doing, Doing::Send(_))).collect()
    }

    /// Whether all that comes goes into memory of the library's own, or all of it into that of the program.
    fn receives_into(&self, temporary: bool) -> bool {
        let received = self.steps.iter().filter(|step| matches!(step.doing, Doing::Receive(_)));
        received.into_iter().all(|step| step.temporary == temporary)
    }

    /// Whether the messages have no data.
    fn none_has_data(&self) -> bool {
        self.steps.iter().all(|step| step.count == 0 && step.buffer == 0)
    }
}

/// The least number of doublings that reach `size`.
fn doublings(size: i64) -> u32 {
    let mut found = 0;
    while found < 62 && 1_i64 << found < size {
        found += 1;
    }
    found
}

/// Ranks in trees: rank 0 and the root change places.
const fn swapped(rank: i64, root: i64) -> i64 {
    if rank == root {
        0
    } else if rank == 0 {
        root
    } else {
        rank
    }
}

#[cfg(test)]
mod tests;
