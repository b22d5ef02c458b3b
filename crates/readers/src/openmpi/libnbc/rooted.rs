//! Collectives with a root.

use super::{Case, Fit, MOST_TRIED, doublings, may_use, swapped};
use crate::planned::{Doing, Step};
use Doing::{Copy, Receive, Reduce, Send};

/// On greater communicators not every radix of a tree is tried where it is not known.
const MOST_RADIXES: i64 = 64;

/// `nbc_bcast_init`.
pub fn broadcast(case: &Case<'_>) -> Fit {
    let (rank, size) = (case.member.rank, case.member.size);
    let asked = case.member.algorithms.broadcast;
    // Each passes on what it has received, and receives it from one.
    let sends = case.doings.iter().filter(|doing| matches!(doing, Send(_))).count();
    let receives: Vec<i64> = case.doings.iter().filter_map(|doing| received(*doing)).collect();
    if sends + receives.len() != case.doings.len() || receives.iter().any(|from| Some(from) != receives.first()) {
        return Fit::No;
    }
    let single = receives.len() <= 1 && same_data(case);
    if size > MOST_TRIED {
        // Of a root it is known that it receives nothing.
        return if receives.is_empty() { Fit::Roots(vec![rank]) } else { Fit::Yes };
    }
    let by_default = asked.is_none_or(|asked| asked == 0);
    let linear = single && (may_use(asked, 1) || (by_default && size <= 4) || asked.is_some_and(|asked| asked > 3));
    let binomial = single && (may_use(asked, 2) || (by_default && size > 4));
    let chain = may_use(asked, 3) || (by_default && size > 4);
    let radixes = match case.member.algorithms.radix {
        Some(radix) => radix..radix.saturating_add(1),
        None => 2..size + 1,
    };
    let by_radix = single && may_use(asked, 4);
    if by_radix && case.member.algorithms.radix.is_none() && size > MOST_RADIXES {
        return Fit::Yes;
    }
    case.roots(|root| {
        (linear && star(case, root))
            || (binomial && case.is(&tree(rank, size, root)))
            || (chain && case.repeats(&link(rank, size, root)))
            || (by_radix && radixes.clone().any(|radix| radix > 1 && case.is(&wide_tree(rank, size, root, radix))))
    })
}

/// Whether all messages have the same data: those of a broadcast in one piece.
fn same_data(case: &Case<'_>) -> bool {
    let data = |step: &Step| (step.buffer, step.count, step.bytes);
    case.steps.windows(2).all(|pair| matches!(pair, [a, b] if data(a) == data(b)))
}

const fn received(doing: Doing) -> Option<i64> {
    if let Receive(from) = doing { Some(from) } else { None }
}

/// `bcast_sched_linear`.
fn star(case: &Case<'_>, root: i64) -> bool {
    let Case { doings, member, .. } = case;
    if member.rank != root {
        return case.is(&[Receive(root)]);
    }
    let mut others = (0..member.size).filter(|other| *other != root);
    doings.len() as i64 == member.size - 1 && doings.iter().all(|doing| others.next().map(Send) == Some(*doing))
}

/// `bcast_sched_binomial`: also the second part of MPI_Iallreduce.
pub fn tree(rank: i64, size: i64, root: i64) -> Vec<Doing> {
    let mine = swapped(rank, root);
    let mut plan = Vec::new();
    if mine != 0 {
        // The parent has one bit less, the highest.
        let highest = 1_i64 << mine.ilog2();
        plan.push(Receive(swapped(mine - highest, root)));
    }
    for distance in (0..doublings(size)).map(|round| 1_i64 << round) {
        if (mine < distance && mine + distance < size) || mine == 0 {
            plan.push(Send(swapped(mine + distance, root)));
        }
    }
    plan
}

/// What `bcast_sched_chain` does for each piece.
fn link(rank: i64, size: i64, root: i64) -> Vec<Doing> {
    let mine = swapped(rank, root);
    let mut plan = Vec::new();
    if mine != 0 {
        plan.push(Receive(swapped(mine - 1, root)));
    }
    if mine != size - 1 {
        plan.push(Send(swapped(mine + 1, root)));
    }
    plan
}

/// `bcast_sched_knomial`.
fn wide_tree(rank: i64, size: i64, root: i64, radix: i64) -> Vec<Doing> {
    let mine = (rank - root + size) % size;
    let real = |virtual_rank: i64| (virtual_rank + root) % size;
    let mut plan = Vec::new();
    let mut mask: i64 = 1;
    while mask < size {
        let Some(wider) = mask.checked_mul(radix) else { return plan };
        if mine % wider != 0 {
            plan.push(Receive(real(mine / wider * wider)));
            break;
        }
        mask = wider;
    }
    mask /= radix;
    while mask > 0 {
        for child in (1..radix).map_while(|part| Some(mine + mask.checked_mul(part)?)).take_while(|child| *child < size)
        {
            plan.push(Send(real(child)));
        }
        mask /= radix;
    }
    plan
}

/// `nbc_gather_init` and `nbc_gatherv_init`.
pub fn gather(case: &Case<'_>) -> Fit {
    from_or_to_all(case, Receive, |doing| if let Send(to) = doing { Some(to) } else { None })
}

/// `nbc_scatter_init`: what the members get lies one after another.
pub fn scatter(case: &Case<'_>) -> Fit {
    let data = |step: &Step| matches!(step.doing, Send(_)).then_some(step.buffer).filter(|_| step.count > 0);
    let mut sent = case.steps.iter().filter_map(data);
    let first = sent.next();
    if first.is_some() && sent.next() == first { Fit::No } else { scatter_v(case) }
}

/// `nbc_scatterv_init`.
pub fn scatter_v(case: &Case<'_>) -> Fit {
    from_or_to_all(case, Send, received)
}

/// The root has a message with each other and, at its own place, a copy that MPI_IN_PLACE spares; the others have one with it.
fn from_or_to_all(case: &Case<'_>, at_root: fn(i64) -> Doing, elsewhere: fn(Doing) -> Option<i64>) -> Fit {
    let (rank, size) = (case.member.rank, case.member.size);
    if let [only] = case.doings.as_slice()
        && let Some(root) = elsewhere(*only).filter(|root| *root != rank && (0..size).contains(root))
    {
        return Fit::Roots(vec![root]);
    }
    let mut found = case.doings.iter().peekable();
    for other in 0..size {
        if other == rank {
            found.next_if(|doing| **doing == Copy);
        } else if found.next() != Some(&at_root(other)) {
            return Fit::No;
        }
    }
    if found.next().is_none() { Fit::Roots(vec![rank]) } else { Fit::No }
}

/// `nbc_reduce_init`.
pub fn reduce(case: &Case<'_>) -> Fit {
    let (rank, size) = (case.member.rank, case.member.size);
    let asked = case.member.algorithms.reduce;
    if size == 1 {
        return Fit::when(case.is(&[Copy]));
    }
    if size > MOST_TRIED {
        return Fit::when(case.doings.iter().all(|doing| matches!(doing, Send(_) | Receive(_) | Reduce | Copy)));
    }
    let by_default = asked.is_none_or(|asked| asked == 0);
    let chain = (!by_default && asked != Some(2)) || asked.is_none() || (by_default && size <= 4);
    let binomial = may_use(asked, 2) || by_default;
    let halving = (may_use(asked, 3) || by_default) && size > 2;
    case.roots(|root| {
        (chain && case.repeats(&reducing_link(rank, size, root)))
            || (binomial && is_binomial(case, root))
            || (halving && is_halving(case, root))
    })
}

/// What `red_sched_chain` does for each piece.
fn reducing_link(rank: i64, size: i64, root: i64) -> Vec<Doing> {
    let mine = swapped(rank, root);
    let mut plan = Vec::new();
    if mine != size - 1 {
        plan.extend([Receive(swapped(mine + 1, root)), Reduce]);
    }
    if mine != 0 {
        plan.push(Send(swapped(mine - 1, root)));
    }
    plan
}

/// The way up of a binomial tree: also the first part of other reductions.
pub fn upwards(rank: i64, size: i64, top: i64) -> Vec<Doing> {
    let mine = swapped(rank, top);
    let mut plan = Vec::new();
    for distance in (0..doublings(size)).map(|round| 1_i64 << round) {
        if mine % (2 * distance) != 0 {
            plan.push(Send(swapped(mine - distance, top)));
            break;
        }
        let peer = swapped(mine + distance, top);
        if peer < size {
            plan.extend([Receive(peer), Reduce]);
        }
    }
    plan
}

/// `red_sched_binomial`: with an operator that does not commute, rank 0 stands at the top and sends the result to the root.
fn is_binomial(case: &Case<'_>, root: i64) -> bool {
    let (rank, size) = (case.member.rank, case.member.size);
    // MPI_IN_PLACE at the root may need a copy first.
    let is = |plan: &[Doing]| if rank == root { case.is_after_copy(plan) } else { case.is(plan) };
    let mut ordered = upwards(rank, size, 0);
    if root != 0 && rank == 0 {
        ordered.push(Send(root));
    } else if root != 0 && rank == root {
        ordered.push(Receive(0));
    }
    is(&upwards(rank, size, root)) || is(&ordered)
}

/// `red_sched_redscat_gather`.
fn is_halving(case: &Case<'_>, root: i64) -> bool {
    let (rank, size) = (case.member.rank, case.member.size);
    let halves = Halves::new(size);
    let mut plan = halves.reduce_scatter(rank);
    let mut mine = halves.virtual_rank(rank);
    let (outside, mut top) = (root < 2 * halves.rest && root % 2 != 0, 0);
    if outside {
        if rank == root {
            plan.push(Receive(0));
            mine = Some(0);
        } else if mine == Some(0) {
            plan.push(Send(root));
            mine = None;
        }
    } else {
        top = if root < 2 * halves.rest { root / 2 } else { root - halves.rest };
    }
    if let Some(mine) = mine {
        for step in (0..halves.steps).rev() {
            let other = mine ^ (1_i64 << step);
            let peer = if other == 0 && outside { root } else { halves.real(other) };
            if other >> step == top >> step {
                plan.push(Send(peer));
                break;
            }
            plan.push(Receive(peer));
        }
    }
    // All but a root with MPI_IN_PLACE copy their data first.
    if rank == root {
        case.is_after_copy(&plan)
    } else {
        case.doings.first() == Some(&Copy) && case.without_copy() == plan
    }
}

/// Members for halving: a power of two of them take part; of the first ones every second leaves its part to its neighbour.
pub struct Halves {
    /// How often the members can be halved.
    pub steps: u32,
    /// How many do not take part.
    pub rest: i64,
}

impl Halves {
    /// Of so many members, of which there must be one.
    pub const fn new(size: i64) -> Self {
        let steps = size.ilog2();
        Self { steps, rest: size - (1_i64 << steps) }
    }

    /// The rank among those that take part.
    pub const fn virtual_rank(&self, rank: i64) -> Option<i64> {
        if rank >= 2 * self.rest {
            Some(rank - self.rest)
        } else if rank % 2 == 0 {
            Some(rank / 2)
        } else {
            None
        }
    }

    /// The rank in the communicator.
    pub const fn real(&self, virtual_rank: i64) -> i64 {
        if virtual_rank < self.rest { virtual_rank * 2 } else { virtual_rank + self.rest }
    }

    /// The first part: each has its share of the result then.
    pub fn reduce_scatter(&self, rank: i64) -> Vec<Doing> {
        let mut plan = Vec::new();
        if rank < 2 * self.rest {
            let (neighbour, last): (i64, fn(i64) -> Doing) =
                if rank % 2 == 0 { (rank + 1, Receive) } else { (rank - 1, Send) };
            plan.extend([Send(neighbour), Receive(neighbour), Reduce, last(neighbour)]);
        }
        if let Some(mine) = self.virtual_rank(rank) {
            for step in 0..self.steps {
                let peer = self.real(mine ^ (1_i64 << step));
                plan.extend([Send(peer), Receive(peer), Reduce]);
            }
        }
        plan
    }
}
