//! Exceptions, signals and ends of programs that may be why ranks wait: of those ranks for which the others do.
//!
//! That a rank handles an exception is a fact; that the others wait because of it is none. It is said where the rank stands in
//! the handler itself, and not all others came to where they are through the same one: a program may run in a handler all along.
//! A rank that unwinds, is in the handler of a signal or ends itself has been taken there by that: no perhaps.

use hashbrown::HashSet;
use std::collections::BTreeMap;

use super::Context;
use super::finished;
use crate::job::ProcIndex;
use crate::waits::{Free, ProcState};
use crate::words;
use crate::{advice, blame};
use model::{Blamed, Exception, ExceptionState, Finding, FindingKind, Process, RankException};

/// How many exceptions a finding has at most.
const SHOWN: usize = 4;
/// So many of them in its summary.
const NAMED: usize = 2;

/// Says of findings whose ranks hold others up which of these have exceptions, but of those that have finished: they have their
/// own words (`finished`).
pub fn add(context: &Context<'_>, findings: &mut [Finding]) {
    let has_any = |process: &Process| !process.exceptions.is_empty();
    if !context.job.procs.iter().any(|proc| proc.process.is_some_and(has_any)) {
        return;
    }
    for finding in findings {
        let explained = match finding.kind {
            FindingKind::Deadlock | FindingKind::CollectiveMismatch => finding.ranks.len() > 1,
            FindingKind::MissingInCollective
            | FindingKind::SlowRank
            | FindingKind::StuckOutside
            | FindingKind::OddRank => true,
            // A message that fits no receive may be the next one after what a handler left out.
            kind => kind.is_misfit(),
        };
        if !explained || !finding.exceptions.is_empty() {
            continue;
        }
        let about: HashSet<i64> = finding.ranks.iter().copied().collect();
        let calls = finding.calls.iter().filter_map(|call| call.rank);
        let all: HashSet<i64> = calls.chain(about.iter().copied()).collect();
        let procs = |ranks: &HashSet<i64>| {
            let mut procs: Vec<ProcIndex> = ranks.iter().filter_map(|rank| context.job.proc(*rank)).collect();
            procs.sort_unstable();
            procs
        };
        // An odd rank is compared with all.
        let all = match finding.kind {
            FindingKind::OddRank => (0..context.job.procs.len()).map(ProcIndex).collect(),
            _ => procs(&all),
        };
        let own = procs(&about);
        let mut exceptions = explaining(context, &own, &all);
        // Who is missing may wait in turn for one that stands in the collective, and came there by a handler.
        let waits_too = || own.iter().all(|proc| context.perhaps_stuck(*proc));
        if exceptions.is_empty() && finding.kind == FindingKind::MissingInCollective && waits_too() {
            exceptions = explaining(context, &all, &all);
        }
        if exceptions.is_empty() {
            continue;
        }
        let states: Vec<ExceptionState> = exceptions.iter().take(NAMED).map(|one| one.exception.state).collect();
        let sure = |state: &ExceptionState| !matches!(state, ExceptionState::Handled | ExceptionState::Unhandled);
        let perhaps = if states.iter().all(sure) { "" } else { "perhaps " };
        let reason = match exceptions.as_slice() {
            [only] if only.ranks == finding.ranks => {
                let they = if only.ranks.len() == 1 { "it" } else { "they" };
                format!("{they} {}", does(&only.exception, only.ranks.len()))
            }
            _ => summary(&exceptions),
        };
        finding.summary.push_str(&format!(", {perhaps}because {reason}"));
        if let Some(first) = exceptions.first() {
            advice::of_exceptions(finding, &first.exception);
        }
        // The calls that do not fit are certain.
        let place = if finding.kind.is_misfit() { finding.blamed.len() } else { 0 };
        finding.blamed.splice(place..place, blamed(&exceptions));
        finding.exceptions = exceptions;
    }
}

/// The exceptions of some processes for which others wait; `all` are these and the others.
pub fn explaining(context: &Context<'_>, procs: &[ProcIndex], all: &[ProcIndex]) -> Vec<RankException> {
    let mut by_key: BTreeMap<Key<'_>, RankException> = BTreeMap::new();
    for proc in procs {
        let Some(process) = context.process(*proc) else { continue };
        let Some(rank) = words::rank(context.job, *proc) else { continue };
        for exception in process.exceptions.iter().filter(|exception| concerns(context, *proc, exception)) {
            let shared = by_key.entry(key(exception)).or_insert_with(|| RankException {
                ranks: Vec::new(),
                exception: Exception { thread: None, ..exception.clone() },
            });
            shared.ranks.push(rank);
        }
    }
    let has = |proc: &ProcIndex, wanted: &Exception| {
        let process = context.process(*proc);
        process.is_none_or(|process| process.exceptions.iter().any(|one| key(one) == key(wanted)))
    };
    let mut exceptions: Vec<RankException> =
        by_key.into_values().filter(|one| all.iter().any(|proc| !has(proc, &one.exception))).collect();
    for one in &mut exceptions {
        one.ranks.sort_unstable();
        one.ranks.dedup();
    }
    // What ended a program explains more than what is handled, and what few ranks have more than what many have.
    exceptions.sort_by_key(|one| (one.exception.state == ExceptionState::Handled, one.ranks.len()));
    exceptions.truncate(SHOWN);
    exceptions
}

/// What makes exceptions of ranks one.
type Key<'a> = (&'a str, ExceptionState, Option<&'a str>, Option<&'a str>, Option<i64>);

fn key(exception: &Exception) -> Key<'_> {
    (&exception.name, exception.state, exception.function.as_deref(), exception.file.as_deref(), exception.line)
}

/// Whether a process stands where it does within the handler of an exception, or ends by it.
fn concerns(context: &Context<'_>, proc: ProcIndex, exception: &Exception) -> bool {
    if matches!(exception.state, ExceptionState::Unhandled | ExceptionState::Ended) {
        return true;
    }
    let Some(thread) = exception.thread else { return false };
    let process = context.process(proc);
    match context.waits.states.get(proc.0) {
        Some(ProcState::Blocked(threads)) => threads.iter().any(|one| one.call.thread == thread),
        Some(ProcState::Free(Free::Outside(outside))) => outside.thread == thread,
        Some(ProcState::Free(Free::Polling(call) | Free::Local(call))) => call.thread == thread,
        // One that has finished has no other threads that could do something for others.
        Some(ProcState::Finished(_)) => process.is_some_and(|process| {
            process.calls.iter().any(|call| call.thread == thread)
                || process.outside.iter().any(|outside| outside.thread == thread)
        }),
        _ => false,
    }
}

/// `rank 0 handles ValueError from parse at x.py:9`.
pub fn summary(exceptions: &[RankException]) -> String {
    let mut parts: Vec<String> = exceptions.iter().take(NAMED).map(words_of).collect();
    match exceptions.len().saturating_sub(NAMED) {
        0 => {}
        more => parts.push(words::counted(more, "more exception")),
    }
    words::list(&parts, "and")
}

fn words_of(one: &RankException) -> String {
    format!("{} {}", words::ranks(one.ranks.iter().copied()), does(&one.exception, one.ranks.len()))
}

/// What so many ranks do by an exception, after their names.
pub fn does(exception: &Exception, ranks: usize) -> String {
    let verb = |one: &'static str, many: &'static str| if ranks == 1 { one } else { many };
    let has = verb("has", "have");
    let spot = blame::spot(&place_of(exception, &[]));
    let at = |word: &str| spot.as_ref().map_or_else(String::new, |spot| format!(" {word} {spot}"));
    match (exception.state, exception.name.as_str()) {
        (ExceptionState::Handled, "") => format!("{} an exception{}", verb("handles", "handle"), at("from")),
        (ExceptionState::Handled, name) => format!("{} {name}{}", verb("handles", "handle"), at("from")),
        (ExceptionState::Unhandled, "") => format!("{has} an unhandled exception{}", at("from")),
        (ExceptionState::Unhandled, name) => format!("{has} an unhandled {name}{}", at("from")),
        (ExceptionState::Unwinding, _) => format!("{} a C++ exception{}", verb("unwinds", "unwind"), at("in")),
        (ExceptionState::Signal, name) => {
            let name = if name.is_empty() { "a signal" } else { name };
            let within = match &exception.within {
                Some(within) if spot.is_some() => format!("{} (in {within})", at("in")),
                Some(within) => format!(" in {within}"),
                None => at("in"),
            };
            let handler = exception.handler.as_deref().map_or_else(String::new, |name| format!(" {name}"));
            format!("got {name}{within} and {} in its handler{handler}", verb("is", "are"))
        }
        (ExceptionState::Ended, _) => format!("{has} ended {} Python program", verb("its", "their")),
        (ExceptionState::Ending, name @ ("exit" | "quick_exit")) => format!("{has} called {name}{}", at("in")),
        (ExceptionState::Ending, name) => format!("{has} come to {name}{}", at("in")),
    }
}

/// Where they came from, as places to look at.
pub fn blamed(exceptions: &[RankException]) -> Vec<Blamed> {
    exceptions.iter().map(place).filter(|place| place.caller.is_some() || place.file.is_some()).collect()
}

fn place(one: &RankException) -> Blamed {
    place_of(&one.exception, &one.ranks)
}

fn place_of(exception: &Exception, ranks: &[i64]) -> Blamed {
    Blamed {
        ranks: ranks.to_vec(),
        function: String::new(),
        file: exception.file.clone(),
        line: exception.line,
        caller: exception.function.clone(),
        certain: exception.state != ExceptionState::Handled,
    }
}

/// Whether Python has ended in a process, which then keeps nothing of its exceptions.
pub fn python_ended(context: &Context<'_>, proc: ProcIndex) -> bool {
    let process = context.process(proc);
    process.is_some_and(|process| process.python_ended) && finished::finished(context, proc).is_some()
}
