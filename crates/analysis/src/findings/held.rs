//! Words for what ranks outside MPI wait for, and who has it.

use super::Context;
use super::deadlock::capital;
use super::slow::{Waiters, within};
use crate::advice::{self, Change, Circle};
use crate::awaited::{NAMED, Names, lock};
use crate::job::ProcIndex;
use crate::waits::{self, Never, THREADS, Whose};
use crate::words;
use model::{Awaited, AwaitedKind, Call, Finding, FindingKind, Outside, Process};

/// What ranks wait for that stand outside MPI, and who has it: `the lock of history, which rank 0 holds`.
pub fn awaited(context: &Context<'_>, proc: ProcIndex, awaited: &Awaited) -> String {
    let process = context.process(proc);
    let rank = |pid: i64| Some(words::proc(context.job, context.waits.by_pid.beside(process?, pid)?));
    let never = context.waits.held.get(&proc).and_then(|held| held.never.as_ref());
    Names { own: process.and_then(|process| process.pid), rank: &rank }.awaited(awaited, never)
}

/// What each of these ranks waits for, those that wait for the same together; empty where all are in MPI.
pub fn summary(context: &Context<'_>, procs: &[ProcIndex]) -> String {
    if !procs.iter().any(|proc| context.waits.held.contains_key(proc)) {
        return String::new();
    }
    // Who waits for a lock goes first.
    let (mut outside, mut inside) = (Groups::default(), Groups::default());
    for proc in procs {
        match context.waits.held.get(proc) {
            Some(held) => outside.add(format!("for {}", awaited(context, *proc, held.awaited)), *proc),
            None => {
                let threads = context.threads(*proc);
                let function = threads.first().map_or_else(|| "MPI".into(), |thread| thread.call.c_name());
                inside.add(format!("in {function}"), *proc);
            }
        }
    }
    let groups: Vec<(String, Vec<ProcIndex>)> = outside.0.into_iter().chain(inside.0).collect();
    let more = groups.len() > NAMED;
    let mut clauses: Vec<String> = groups
        .into_iter()
        .take(NAMED)
        .map(|(clause, mut procs)| {
            procs.sort_unstable();
            format!("{} {} {clause}", words::procs(context.job, &procs), words::wait(procs.len()))
        })
        .collect();
    if more {
        clauses.push("others wait elsewhere".to_owned());
    }
    match &clauses[..] {
        // A clause with a comma goes before.
        [first, second] => format!("{first}, and {second}"),
        _ => words::list(&clauses, "and"),
    }
}

/// Processes by what they wait for, in the order of adding. One more kind than is named is kept, to know that there are others.
#[derive(Default)]
struct Groups(Vec<(String, Vec<ProcIndex>)>);

impl Groups {
    fn add(&mut self, clause: String, proc: ProcIndex) {
        let is_full = self.0.len() > NAMED;
        match self.0.iter_mut().find(|(known, _)| *known == clause) {
            Some((_, all)) => all.push(proc),
            None if is_full => {}
            None => self.0.push((clause, vec![proc])),
        }
    }
}

/// What a rank outside MPI waits for, with the whole path of a file, in a sentence.
pub fn evidence(context: &Context<'_>, proc: ProcIndex) -> Option<String> {
    let held = context.waits.held.get(&proc)?;
    let path = held.awaited.path.as_deref().filter(|path| path.contains('/'));
    let path = path.map(|path| format!(" ({path})")).unwrap_or_default();
    let awaited = awaited(context, proc, held.awaited);
    Some(format!("{} waits for {awaited}{path}.", capital(&words::proc(context.job, proc))))
}

/// A rank whose own threads never give back the lock that it waits for.
pub fn by_itself(context: &Context<'_>, proc: ProcIndex) -> Option<Finding> {
    let held = context.waits.held.get(&proc)?;
    let never = held.never.as_ref()?;
    let rank = words::proc(context.job, proc);
    let mut others: Vec<ProcIndex> =
        [context.sure, context.possible].iter().flat_map(|stuck| Waiters::new(stuck).all(&[proc])).collect();
    others.sort_unstable();
    others.dedup();
    let mut summary = match never {
        Never::Circle(threads) => {
            let numbers: Vec<String> = threads.iter().map(ToString::to_string).collect();
            let outside = || context.process(proc).into_iter().flat_map(|process| &process.outside);
            let waits = |number: &i64| {
                let awaited = waits::awaited(outside().find(|thread| thread.thread == *number)?)?;
                Some(match (awaited.kind, awaited.owners.first().and_then(|owner| owner.thread)) {
                    (AwaitedKind::Thread, Some(thread)) => format!("the end of thread {thread}"),
                    (AwaitedKind::Team, Some(thread)) => format!("thread {thread} at the barrier of OpenMP"),
                    _ => lock(awaited.kind).to_owned(),
                })
            };
            let waits_for: Vec<String> = threads.iter().filter_map(waits).take(NAMED).collect();
            format!(
                "threads {} of {rank} wait for one another ({})",
                words::list(&numbers, "and"),
                waits_for.join(", ")
            )
        }
        Never::Itself | Never::Ended => format!("{rank} waits for {}", awaited(context, proc, held.awaited)),
    };
    if !others.is_empty() {
        let (who, wait) = (words::procs(context.job, &others), words::wait(others.len()));
        summary.push_str(&format!(", and {who} {wait} for it"));
    }
    others.insert(0, proc);
    let mut evidence: Vec<String> = threads(context, proc);
    if *never == Never::Ended {
        evidence.push("The lock has the number of a thread that no longer exists.".to_owned());
    }
    let mut finding = Finding {
        kind: FindingKind::Deadlock,
        summary,
        ranks: context.ranks(&others),
        calls: context.calls(&others),
        certain: true,
        evidence,
        blamed: context.blamed(&[proc]),
        ..Finding::default()
    };
    let circle = match never {
        Never::Itself => Circle::Relocked,
        Never::Ended => Circle::NeverUnlocked,
        Never::Circle(_) => Circle::OrderOfLocks,
    };
    advice::give(&mut finding, Change::Order(circle));
    Some(finding)
}

/// The lock for which a thread of the application waits, and that another one of its process has, which is in MPI. That a thread
/// waits for the end of another one is no cause of anything.
pub fn of_own_thread<'a>(process: &Process, thread: &'a Outside) -> Option<&'a Awaited> {
    // What a library's own threads wait for is no part of what the application does.
    let awaited = waits::awaited(thread).filter(|_| waits::whose(thread) == Whose::Application)?;
    if awaited.kind == AwaitedKind::Thread {
        return None;
    }
    let owner = awaited.owners.first()?.thread?;
    process.calls.iter().take(THREADS).any(|call| call.thread == owner).then_some(awaited)
}

/// A thread of a rank that waits for what another one of them has, which is in MPI: what for, and in which call that is.
fn own(process: &Process) -> Option<(&Outside, &Awaited, &Call)> {
    process.outside.iter().take(THREADS).find_map(|thread| {
        let awaited = of_own_thread(process, thread)?;
        let owner = awaited.owners.first()?.thread?;
        Some((thread, awaited, process.calls.iter().find(|call| call.thread == owner)?))
    })
}

/// Whether a thread of a rank waits for a lock that another one of them has, which is in MPI.
pub fn is_locked_inside(context: &Context<'_>, proc: ProcIndex) -> bool {
    let waiting = context.process(proc).and_then(own);
    waiting.is_some_and(|(_, awaited, _)| awaited.kind != AwaitedKind::Team)
}

/// A thread of a rank that waits for what another one of them has, which is in MPI: in a clause.
pub fn inside(context: &Context<'_>, proc: ProcIndex) -> Option<String> {
    let (thread, awaited, call) = own(context.process(proc)?)?;
    let (rank, number) = (words::proc(context.job, proc), thread.thread);
    let (owner, function) = (call.thread, call.c_name());
    Some(if awaited.kind == AwaitedKind::Team {
        format!("thread {number} of {rank} waits at the barrier of OpenMP for thread {owner}, which is in {function}")
    } else {
        let lock = lock(awaited.kind);
        format!("thread {number} of {rank} waits for {lock}, which thread {owner} holds in {function}")
    })
}

/// Where the threads of a rank wait for what others of them have, each in a sentence.
fn threads(context: &Context<'_>, proc: ProcIndex) -> Vec<String> {
    let Some(process) = context.process(proc) else { return Vec::new() };
    let waits = |thread: &Outside| {
        let awaited = waits::awaited(thread)?;
        let owner = awaited.owners.first()?.thread?;
        let within = within(&(None, thread.caller.clone(), None, None));
        let object = match awaited.kind {
            AwaitedKind::Team => format!("thread {owner} at the barrier of OpenMP"),
            AwaitedKind::Thread => format!("the end of thread {owner}"),
            kind if owner == thread.thread => format!("{} that it holds itself", lock(kind)),
            kind => format!("{} that thread {owner} holds", lock(kind)),
        };
        Some(format!("Thread {} waits{within} for {object}.", thread.thread))
    };
    process.outside.iter().filter_map(waits).take(NAMED).collect()
}
