//! Ranks in one collective call of which one waits for another that does not wait for it: leaders of MPI_Intercomm_create that do not
//! name one another, and neighbours of a topology of which one alone names the other.

use hashbrown::HashSet;

use super::Context;
use super::collectives::on;
use crate::advice::{self, Change};
use crate::job::ProcIndex;
use crate::waits::{INTERCOMM_CREATE, Op, Posted, Thread};
use crate::words;
use functions::{Chapter, WaitKind};
use model::{Finding, FindingKind, Remark};

/// How many findings are told.
const SHOWN: usize = 16;

/// Which members such a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Leaders,
    Neighbours,
}

fn sort(thread: &Thread<'_>) -> Option<Sort> {
    match thread.wait_kind {
        WaitKind::Collective(Chapter::Neighborhood, _) => Some(Sort::Neighbours),
        WaitKind::Collective(..) if thread.call.c_name() == INTERCOMM_CREATE => Some(Sort::Leaders),
        _ => None,
    }
}

/// A rank that waits for one that does not name it.
struct Pair<'a> {
    sort: Sort,
    function: String,
    op: Op<'a>,
    one: ProcIndex,
    other: ProcIndex,
    /// For whom that one waits.
    third: Option<ProcIndex>,
}

/// One finding for each function and communicator.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut found: Vec<(Pair<'_>, usize)> = Vec::new();
    let stuck = |proc: &ProcIndex| context.perhaps_stuck(*proc);
    for proc in (0..context.job.procs.len()).map(ProcIndex).filter(stuck) {
        for pair in context.threads(proc).iter().filter_map(|thread| of_thread(context, proc, thread)) {
            let alike = |known: &&mut (Pair<'_>, usize)| {
                (known.0.sort, known.0.op.shared) == (pair.sort, pair.op.shared) && known.0.function == pair.function
            };
            if let Some((_, count)) = found.iter_mut().find(alike) {
                *count += 1;
            } else if found.len() < SHOWN {
                found.push((pair, 1));
            }
        }
    }
    found.iter().map(|(pair, count)| finding(context, pair, *count)).collect()
}

/// The peers of what a thread has posted for its call itself: not for a collective that the library makes of others for it.
fn posted<'t>(thread: &'t Thread<'_>) -> impl Iterator<Item = (&'t Op<'t>, i64)> {
    let inner = |op: &&Op<'_>| {
        let of_others =
            |remark: &Remark| matches!(remark, Remark::Collective(Some((function, _))) if function == "MPI_Bcast");
        op.operation.extra_text.iter().any(of_others)
    };
    let peer = |op: &'t Op<'t>| Some((op, op.global_rank()?));
    thread.operations.iter().filter(move |op| !inner(op)).filter_map(peer)
}

fn of_thread<'a>(context: &Context<'a>, proc: ProcIndex, thread: &'a Thread<'a>) -> Option<Pair<'a>> {
    let sort = sort(thread)?;
    let own = words::rank(context.job, proc)?;
    posted(thread).filter(|(op, _)| op.queue == Posted::Receives).find_map(|(op, rank)| {
        let other = context.job.proc(rank).filter(|other| *other != proc && context.perhaps_stuck(*other))?;
        let there = context.threads(other).iter().find(|there| there.call.c_name() == thread.call.c_name())?;
        if posted(there).any(|(_, rank)| rank == own) {
            return None;
        }
        let third = posted(there).find_map(|(_, rank)| context.job.proc(rank));
        Some(Pair { sort, function: thread.call.c_name().into_owned(), op: *op, one: proc, other, third })
    })
}

fn finding(context: &Context<'_>, pair: &Pair<'_>, count: usize) -> Finding {
    let job = context.job;
    let (one, other) = (words::proc(job, pair.one), words::proc(job, pair.other));
    let third = pair.third.map(|third| words::proc(job, third));
    let function = &pair.function;
    let (mut summary, rule) = match pair.sort {
        Sort::Leaders => (
            format!(
                "in {function} {one} waits for {other}, which names another leader{}",
                third.map_or_else(String::new, |third| format!(": it waits for {third}"))
            ),
            "The leaders of both groups must name one another, with the same tag.",
        ),
        Sort::Neighbours => (
            format!(
                "in {function} on {} {one} receives from {other}, which is in the same call{} sends it nothing{}",
                on(context, pair.op.shared),
                if third.is_some() { "," } else { " and" },
                third.map_or_else(String::new, |third| format!(" and waits for {third}"))
            ),
            "Whom a rank names as a source must name it as a destination when the topology is made.",
        ),
    };
    if count > 1 && pair.sort == Sort::Neighbours {
        summary.push_str(&format!(" (and {} like this)", words::counted(count - 1, "rank")));
    }
    let procs: Vec<ProcIndex> = {
        let mut known = HashSet::new();
        [Some(pair.one), Some(pair.other), pair.third]
            .into_iter()
            .flatten()
            .filter(|proc| known.insert(*proc))
            .collect()
    };
    let mut finding = Finding {
        kind: FindingKind::RankMismatch,
        summary,
        ranks: context.ranks(&procs),
        calls: context.calls(&procs),
        certain: false,
        evidence: vec![
            rule.to_owned(),
            format!("Not certain: {other} may come to {one} in a later call of {function}."),
        ],
        blamed: context.blamed(&procs),
        ..Finding::default()
    };
    advice::give(&mut finding, Change::Partners);
    finding
}
