//! Epochs of windows in which stuck ranks stand.

use hashbrown::HashSet;

use super::Context;
use crate::job::ProcIndex;
use crate::waits::{Need, Thread};
use crate::words;
use functions::WaitKind;
use model::{Finding, FindingKind};

/// So many other ranks are named.
const FEW: usize = 8;

/// One finding for all stuck ranks that stand in functions of one-sided synchronisation, certain ones apart from others.
/// `deadlocks`: the circles of ranks that wait for one another, among other findings.
pub fn find(context: &Context<'_>, deadlocks: &[Finding]) -> Vec<Finding> {
    let in_epoch = |proc: &ProcIndex| {
        context
            .threads(*proc)
            .iter()
            .any(|thread| thread.wait_kind == WaitKind::Epoch || thread.call.c_name() == "MPI_Win_fence")
    };
    let all = || (0..context.job.procs.len()).map(ProcIndex).filter(in_epoch);
    let certain: Vec<ProcIndex> = all().filter(|proc| context.stuck_for_certain(*proc)).collect();
    let possible: Vec<ProcIndex> = all().filter(|proc| context.possible.is_stuck(*proc)).collect();
    [(certain, true), (possible, false)]
        .into_iter()
        .filter(|(procs, _)| !procs.is_empty())
        .map(|(procs, certain)| finding(context, &procs, certain, deadlocks))
        .collect()
}

fn finding(context: &Context<'_>, procs: &[ProcIndex], certain: bool, deadlocks: &[Finding]) -> Finding {
    let others = others(context, procs, deadlocks);
    let mut functions: Vec<(String, Vec<ProcIndex>)> = Vec::new();
    for proc in procs {
        let threads = context.threads(*proc);
        let Some(thread) = threads.iter().find(|thread| thread.call.c_name().starts_with("MPI_Win_")) else { continue };
        let name = thread.call.c_name();
        match functions.iter_mut().find(|(known, _)| *known == name) {
            Some((_, procs)) => procs.push(*proc),
            None => functions.push((name.into_owned(), vec![*proc])),
        }
    }
    let clauses: Vec<String> = functions
        .iter()
        .map(|(name, procs)| {
            let verb = words::wait(procs.len());
            format!("{} {verb} in {name}", words::procs(context.job, procs))
        })
        .collect();
    let mut evidence = vec!["No rank that could end these epochs can go on.".to_owned()];
    if !certain {
        evidence.extend(context.doubts(procs));
    }
    let all: Vec<ProcIndex> = procs.iter().chain(&others).copied().collect();
    let whom = match others.as_slice() {
        [] => "others that can never go on".to_owned(),
        [holder] if holds_their_lock(context, procs, *holder) => {
            let place = context.threads(*holder).first().map(|thread| format!(" and is in {}", thread.call.c_name()));
            format!("{}, which holds the lock{}", words::proc(context.job, *holder), place.unwrap_or_default())
        }
        some => format!("{}, which can never go on", words::procs(context.job, some)),
    };
    Finding {
        kind: FindingKind::OneSidedEpochs,
        summary: format!("{} for {whom}", words::list(&clauses, "and")),
        ranks: context.ranks(procs),
        calls: context.calls(&all),
        certain,
        evidence,
        blamed: context.blamed(&all),
        ..Finding::default()
    }
}

/// Whether all of these wait for a lock that one other rank holds, as far as its window shows.
fn holds_their_lock(context: &Context<'_>, procs: &[ProcIndex], holder: ProcIndex) -> bool {
    procs.iter().all(|proc| in_win_lock(context, *proc).is_some_and(|thread| thread.need == Need::Proc(holder)))
}

/// The thread of a process that waits for the lock of a window.
pub fn in_win_lock<'a>(context: &Context<'a>, proc: ProcIndex) -> Option<&'a Thread<'a>> {
    context.threads(proc).first().filter(|thread| thread.call.c_name().starts_with("MPI_Win_lock"))
}

/// The other ranks of the circles in which these wait, where they are few.
fn others(context: &Context<'_>, procs: &[ProcIndex], deadlocks: &[Finding]) -> Vec<ProcIndex> {
    let own: HashSet<i64> = context.ranks(procs).into_iter().collect();
    let circles = deadlocks.iter().filter(|one| one.kind == FindingKind::Deadlock);
    let circles = circles.filter(|circle| circle.ranks.iter().any(|rank| own.contains(rank)));
    let mut others: Vec<i64> = circles.flat_map(|circle| &circle.ranks).copied().collect();
    others.retain(|rank| !own.contains(rank));
    others.sort_unstable();
    others.dedup();
    if others.len() > FEW {
        others.clear();
    }
    others.into_iter().filter_map(|rank| context.job.proc(rank)).collect()
}
