//! Ranks that wait for one that has finished.

use std::collections::BTreeMap;

use super::Context;
use super::deadlock::capital;
use super::exceptions;
use crate::advice::{self, Change};
use crate::job::{ProcIndex, Side};
use crate::stuck::{Seen, Stuck};
use crate::waits::{Finished, Posted, ProcState};
use crate::words;
use functions::{Reach, WaitKind};
use model::{Blamed, ExceptionState, Finding, FindingKind, Process, RankException};

/// Of so many ranks that wait it is looked for all others that have finished and could have sent.
const SHOWN_WAITING: usize = 8;

/// One finding for each way in which ranks finished for which others wait.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = findings_of(context, context.sure, true);
    findings.extend(findings_of(context, context.possible, false));
    findings
}

/// How a process has finished.
pub fn finished(context: &Context<'_>, proc: ProcIndex) -> Option<Finished> {
    match context.waits.states.get(proc.0)? {
        ProcState::Finished(how) => Some(*how),
        ProcState::Blocked(threads) if threads.iter().any(|thread| thread.wait_kind == WaitKind::Finalize) => {
            Some(Finished::Finalizing)
        }
        _ => None,
    }
}

/// Who has finished, who waits for these itself, and who does through others.
type Three = (Vec<ProcIndex>, Vec<ProcIndex>, Vec<ProcIndex>);

fn findings_of(context: &Context<'_>, stuck: &Stuck, certain: bool) -> Vec<Finding> {
    let knots = stuck.knots();
    let ends = stuck.ends(&knots);
    // By how they finished: who did, and who waits for them, directly or through others.
    let mut groups: BTreeMap<Finished, Three> = BTreeMap::new();
    for index in 0..context.job.procs.len() {
        let proc = ProcIndex(index);
        let node = stuck.node(proc);
        if !stuck.is_stuck(proc) {
            continue;
        }
        let Some(last) = ends[node.0].filter(|last| *last != node) else { continue };
        let Some(end) = stuck.proc(last) else { continue };
        let Some(how) = finished(context, end).filter(|_| end != proc && stuck.helping(end) == last) else { continue };
        let entry = groups.entry(how).or_default();
        entry.0.push(end);
        // Between it and the one that has finished stand only groups: it waits for that one itself.
        let next = knots.path(node).find(|node| stuck.proc(*node).is_some());
        if next == Some(last) { entry.1.push(proc) } else { entry.2.push(proc) }
    }
    let findings = groups.into_iter().map(|(how, (mut ended, direct, through))| {
        for proc in direct.iter().take(SHOWN_WAITING) {
            ended.extend(also_ended(context, *proc, how));
        }
        ended.sort_unstable();
        ended.dedup();
        finding(context, how, &ended, &direct, &through, certain)
    });
    findings.collect()
}

/// Those that have finished in the same way among all from which a process would take a message, and among all that are missing
/// in a collective that nobody leaves before them.
fn also_ended(context: &Context<'_>, proc: ProcIndex, how: Finished) -> Vec<ProcIndex> {
    let mut missing: Vec<ProcIndex> = Vec::new();
    for thread in context.threads(proc) {
        if let (Some(id), WaitKind::Collective(_, Reach::All)) = (thread.collective, thread.wait_kind) {
            missing.extend(&context.waits.collectives.get(id).missing);
        }
    }
    let operations = context.threads(proc).iter().flat_map(|thread| &thread.operations);
    let any = operations.filter(|op| op.operation.any_source && op.queue == Posted::Receives);
    let members = any.filter_map(|op| {
        let shared = context.job.communicators.get(op.shared.0)?;
        let side = shared.view(proc).map_or(Side::First, |view| shared.peers(view.side));
        Some(shared.group(side))
    });
    let others = members.flatten().copied().flatten().chain(missing).filter(|other| *other != proc);
    others.filter(|other| finished(context, *other) == Some(how)).collect()
}

fn finding(
    context: &Context<'_>,
    how: Finished,
    ended: &[ProcIndex],
    direct: &[ProcIndex],
    through: &[ProcIndex],
    certain: bool,
) -> Finding {
    let job = context.job;
    let who = words::procs(job, ended);
    let all: Vec<ProcIndex> = ended.iter().chain(direct).copied().collect();
    let exceptions = exceptions::explaining(context, ended, &all);
    let summary = summary(context, how, ended, direct, &exceptions);
    let mut evidence: Vec<String> = Vec::new();
    for proc in direct.iter().take(4) {
        for thread in context.threads(*proc).iter().take(1) {
            if let Some(waits_for) = context.waits.words(job, *proc, thread) {
                let place = thread.call.c_name();
                evidence
                    .push(format!("{} is in {place} and waits for {waits_for}.", capital(&words::proc(job, *proc))));
            }
        }
    }
    evidence.push(format!("{} sends and receives nothing more.", capital(&who)));
    let silent: Vec<ProcIndex> =
        ended.iter().filter(|proc| exceptions::python_ended(context, **proc)).copied().collect();
    if !silent.is_empty() {
        evidence.push(format!(
            "Python has ended in {}. An exception that may have ended the program is not kept: see its standard error.",
            words::procs(job, &silent)
        ));
    }
    let through: Vec<ProcIndex> = through.iter().filter(|proc| !ended.contains(proc)).copied().collect();
    if !through.is_empty() {
        let verb = words::wait(through.len());
        evidence.push(format!("{} {verb} for these in turn.", capital(&words::procs(job, &through))));
    }
    if direct.iter().all(|proc| context.seen.get(proc.0) == Some(&Seen::Still)) {
        evidence.push("The ranks that wait did not move between two looks.".to_owned());
    } else if !certain {
        evidence.extend(context.doubts(direct));
    }
    let mut ranks = context.ranks(direct);
    ranks.extend(context.ranks(ended));
    ranks.sort_unstable();
    ranks.dedup();
    let mut calls = context.calls(direct);
    calls.extend(context.calls(ended));
    let mut blamed = exceptions::blamed(&exceptions);
    blamed.extend(context.blamed(direct));
    blamed.extend(ends(context, how, ended));
    let change = match exceptions.first().map(|first| first.exception.state) {
        Some(ExceptionState::Unhandled) => Change::Unhandled,
        Some(ExceptionState::Handled | ExceptionState::Unwinding | ExceptionState::Signal) => Change::Handled,
        Some(ExceptionState::Ending) => Change::Ending,
        Some(ExceptionState::Ended) => Change::PythonEnded,
        None if !silent.is_empty() => Change::PythonEnded,
        None if how == Finished::Ended => Change::Gone,
        None => Change::Usual(FindingKind::FinishedRank),
    };
    let mut finding = Finding {
        kind: FindingKind::FinishedRank,
        summary,
        ranks,
        calls,
        exceptions,
        certain,
        evidence,
        blamed,
        ..Finding::default()
    };
    advice::give(&mut finding, change);
    finding
}

/// Who waits for whom; the exception first where all that have finished have the same one.
fn summary(
    context: &Context<'_>,
    how: Finished,
    ended: &[ProcIndex],
    direct: &[ProcIndex],
    exceptions: &[RankException],
) -> String {
    let (job, verb) = (context.job, words::wait(direct.len()));
    let (who, waiting) = (words::procs(job, ended), words::procs(job, direct));
    match exceptions {
        [only] if only.ranks == context.ranks(ended) => {
            let them = if ended.len() == 1 { "it" } else { "them" };
            let clause = exceptions::summary(exceptions);
            format!("{clause} and {}, while {waiting} {verb} for {them}", how.words(ended.len()))
        }
        _ => {
            let clause = format!("{waiting} {verb} for {who}, which {}", how.words(ended.len()));
            if exceptions.is_empty() { clause } else { format!("{} while {clause}", exceptions::summary(exceptions)) }
        }
    }
}

/// Where those stand that have finished. A place within the library is none to look at: of those in MPI_Finalize that is named.
fn ends(context: &Context<'_>, how: Finished, ended: &[ProcIndex]) -> Vec<Blamed> {
    let process = |proc: &ProcIndex| context.process(*proc);
    let is_lost = |proc: &ProcIndex| {
        let without =
            |process: &Process| process.calls.is_empty() && process.outside.iter().all(|one| one.caller.is_none());
        how == Finished::Finalizing && process(proc).is_none_or(without)
    };
    let (lost, known): (Vec<ProcIndex>, Vec<ProcIndex>) = ended.iter().copied().partition(is_lost);
    let mut places = context.blamed(&known);
    if !lost.is_empty() {
        let ranks = context.ranks(&lost);
        places.push(Blamed { ranks, function: "MPI_Finalize".to_owned(), certain: true, ..Blamed::default() });
    }
    places
}
