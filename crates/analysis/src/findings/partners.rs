//! Ranks in one collective call of which one waits for another that does not wait for it: leaders of MPI_Intercomm_create that do not
//! name one another, neighbours of a topology of which one alone names the other, and members of a group that make a communicator
//! of it under different names.

use hashbrown::HashSet;
use std::collections::BTreeMap;

use super::Context;
use super::collectives::on;
use crate::advice::{self, Change};
use crate::job::ProcIndex;
use crate::waits::{INTERCOMM_CREATE, Op, Posted, Thread, name_of_group};
use crate::words;
use functions::{Chapter, WaitKind, small};
use model::{Finding, FindingKind, Remark};

/// How many findings are shown.
const SHOWN: usize = 16;
/// How many names are shown of one function.
const SHOWN_NAMES: usize = 4;

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
    let mut counted: Vec<(Pair<'_>, usize)> = Vec::new();
    let stuck = |proc: &ProcIndex| context.perhaps_stuck(*proc);
    for proc in (0..context.job.procs.len()).map(ProcIndex).filter(stuck) {
        for pair in context.threads(proc).iter().filter_map(|thread| of_thread(context, proc, thread)) {
            let alike = |known: &&mut (Pair<'_>, usize)| {
                (known.0.sort, known.0.op.shared) == (pair.sort, pair.op.shared) && known.0.function == pair.function
            };
            if let Some((_, count)) = counted.iter_mut().find(alike) {
                *count += 1;
            } else if counted.len() < SHOWN {
                counted.push((pair, 1));
            }
        }
    }
    let pairs = counted.iter().map(|(pair, count)| finding(context, pair, *count));
    pairs.chain(GROUP_FUNCTIONS.iter().filter_map(|function| names(context, function))).collect()
}

/// What makes a communicator of a group.
const GROUP_FUNCTIONS: [&str; 2] = ["MPI_Comm_create_group", "MPI_Comm_create_from_group"];

/// What a rank gives to make a communicator of a group: a name, and the group, as ranks in MPI_COMM_WORLD.
type Given<'a> = (Option<String>, Option<&'a [Option<i64>]>);

/// Ranks that stand in one of these with different names or groups: by their arguments, or, where these are not known, by the tags
/// of what their library has posted for it, which are made of the names (MPICH: `get_tag_from_stringtag`,
/// src/mpi/comm/comm_impl.c, v4.0).
fn names(context: &Context<'_>, function: &str) -> Option<Finding> {
    let mut given: BTreeMap<Given<'_>, Vec<ProcIndex>> = BTreeMap::new();
    let mut by_tag: BTreeMap<Option<i64>, Vec<ProcIndex>> = BTreeMap::new();
    let mut certain = true;
    for proc in (0..context.job.procs.len()).map(ProcIndex).filter(|proc| context.perhaps_stuck(*proc)) {
        let Some(thread) = context.threads(proc).iter().find(|thread| small(&thread.call.c_name()) == function) else {
            continue;
        };
        certain &= context.stuck_for_certain(proc) && thread.collective.is_some();
        given.entry((name_of_group(thread.call), thread.call.group.as_deref())).or_default().push(proc);
        let posted = thread.operations.iter().filter(|op| op.operation.internal);
        let mut tags = posted.filter_map(|op| op.operation.desired_tag);
        let own = tags.next().filter(|tag| tags.all(|other| other == *tag));
        by_tag.entry(own).or_default().push(proc);
    }
    let unnamed = given.keys().any(|(name, _)| name.is_none());
    let mut by_name: Vec<(String, Vec<ProcIndex>)> = if unnamed {
        if by_tag.len() < 2 || by_tag.contains_key(&None) {
            return None;
        }
        certain = false;
        let name = |tag: i64| format!("a name of which the library made tag {tag}");
        by_tag.into_iter().filter_map(|(tag, procs)| Some((name(tag?), procs))).collect()
    } else {
        given.retain(|(_, group), procs| group.is_none_or(|group| group.len() > procs.len()));
        let apart: Vec<(&Given<'_>, &Vec<ProcIndex>)> = given
            .iter()
            .filter(|(one, _)| given.iter().any(|(other, procs)| *one != other && waits_for(context, one, procs)))
            .collect();
        if apart.len() < 2 {
            return None;
        }
        let names_differ = apart.iter().any(|((name, _), _)| *name != apart[0].0.0);
        let words = |(name, group): &Given<'_>| match (name, group) {
            (Some(name), _) if names_differ => name.clone(),
            (_, Some(group)) => format!("the group of {}", words::ranks(group.iter().copied().flatten())),
            _ => "another group".to_owned(),
        };
        apart.into_iter().map(|(given, procs)| (words(given), procs.clone())).collect()
    };
    by_name.sort_by_key(|(_, procs)| (procs.len(), procs.first().copied()));
    let all: Vec<ProcIndex> = by_name.iter().flat_map(|(_, procs)| procs).copied().collect();
    let parts: Vec<String> = by_name
        .iter()
        .take(SHOWN_NAMES)
        .map(|(name, procs)| {
            let gives = if procs.len() == 1 { "gives" } else { "give" };
            format!("{} {gives} {name}", words::procs(context.job, procs))
        })
        .collect();
    let mut evidence = vec![
        "To make a communicator of a group, all its members must pass the same group and the same name.".to_owned(),
    ];
    if !certain {
        evidence.push("Not certain: they may be members of different groups.".to_owned());
    }
    let mut finding = Finding {
        kind: FindingKind::CollectiveMismatch,
        summary: format!("in {function} {}", words::list(&parts, "and")),
        ranks: context.ranks(&all),
        calls: context.calls(&all),
        certain,
        evidence,
        blamed: context.blamed(&all),
        ..Finding::default()
    };
    advice::give(&mut finding, Change::Names);
    Some(finding)
}

/// Whether one of these processes is in the group that others give; where that is not known it may be.
fn waits_for(context: &Context<'_>, (_, group): &Given<'_>, procs: &[ProcIndex]) -> bool {
    let Some(group) = group else { return true };
    procs.iter().any(|proc| words::rank(context.job, *proc).is_some_and(|rank| group.contains(&Some(rank))))
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
            "A rank that another names as a source must name that one as a destination when the topology is made.",
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
        evidence: vec![rule.to_owned(), format!("Not certain: {other} may reach {one} in a later call of {function}.")],
        blamed: context.blamed(&procs),
        ..Finding::default()
    };
    advice::give(&mut finding, Change::Partners);
    finding
}
