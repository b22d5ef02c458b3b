//! Ranks that wait for one another.

use hashbrown::HashSet;

use super::{Context, freed, held};
use crate::advice::{self, Change, Circle};
use crate::graph::{Knots, NodeId};
use crate::job::ProcIndex;
use crate::stuck::{Seen, Stuck};
use crate::waits::Posted;
use crate::words;
use model::{AwaitedKind, Finding, FindingKind};

/// How many deadlocks of one job have a finding each.
const SHOWN: usize = 16;

/// How many ranks of a cycle are named in the summary.
const NAMED: usize = 6;

/// All deadlocks, those that are certain first, larger ones before smaller ones.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = deadlocks(context, context.sure, true);
    findings.extend(deadlocks(context, context.possible, false));
    findings
}

fn deadlocks(context: &Context<'_>, stuck: &Stuck, certain: bool) -> Vec<Finding> {
    let knots = stuck.knots();
    let ends = stuck.ends(&knots);
    let mut waiting: Vec<Vec<ProcIndex>> = vec![Vec::new(); knots.knots.len()];
    for index in 0..context.job.procs.len() {
        let proc = ProcIndex(index);
        let node = stuck.node(proc);
        if !stuck.is_stuck(proc) || knots.knot_of(node).is_some() {
            continue;
        }
        if let Some(knot) = ends[node.0].and_then(|end| knots.knot_of(end)) {
            waiting[knot].push(proc);
        }
    }
    let mut deadlocks: Vec<(usize, Finding)> = Vec::new();
    for (index, knot) in knots.knots.iter().enumerate() {
        let members = distinct(stuck, &knot.nodes);
        let holds = knot.nodes.len() > 1 || knots.waits_for(knot.nodes[0]).contains(&knot.nodes[0]);
        if holds && !members.is_empty() {
            deadlocks.push((members.len(), finding(context, stuck, &knots, index, &members, &waiting[index], certain)));
        }
    }
    // Each goes over the whole graph, and these come last.
    let alone = context.waits.held.iter().filter(|(_, held)| certain && held.never.is_some());
    let alone: Vec<ProcIndex> = alone.map(|(proc, _)| *proc).filter(|proc| stuck.is_stuck(*proc)).collect();
    let more = (deadlocks.len() + alone.len()).saturating_sub(SHOWN);
    deadlocks.extend(alone.iter().take(SHOWN).filter_map(|proc| Some((1, held::by_itself(context, *proc)?))));
    if !certain {
        deadlocks.extend(freed::finding(context, stuck).map(|finding| (1, finding)));
    }
    deadlocks.sort_by_key(|(members, _)| std::cmp::Reverse(*members));
    let mut deadlocks: Vec<Finding> = deadlocks.into_iter().take(SHOWN).map(|(_, finding)| finding).collect();
    if let Some(last) = deadlocks.last_mut().filter(|_| more > 0) {
        last.evidence.push(format!("{} like these are not listed one by one.", words::counted(more, "more deadlock")));
    }
    deadlocks
}

fn distinct(stuck: &Stuck, nodes: &[NodeId]) -> Vec<ProcIndex> {
    let mut known = HashSet::new();
    nodes.iter().filter_map(|node| stuck.proc(*node)).filter(|proc| known.insert(*proc)).collect()
}

fn finding(
    context: &Context<'_>,
    stuck: &Stuck,
    knots: &Knots,
    knot: usize,
    members: &[ProcIndex],
    waiting: &[ProcIndex],
    certain: bool,
) -> Finding {
    let job = context.job;
    let cycle = knots.cycle(knot, |node| stuck.proc(node).is_some());
    let cycle = distinct(stuck, &cycle);
    // In the order in which they wait for one another, then the rest of those that hold one another.
    let mut ordered = cycle.clone();
    let in_cycle: HashSet<ProcIndex> = cycle.iter().copied().collect();
    ordered.extend(members.iter().copied().filter(|proc| !in_cycle.contains(proc)));
    let functions = |procs: &[ProcIndex]| {
        let names = procs.iter().map(|proc| {
            let threads = context.threads(*proc);
            threads.first().map_or_else(|| "?".to_owned(), |thread| thread.call.c_name().into_owned())
        });
        names.collect::<Vec<_>>()
    };
    let mut summary = held::summary(context, &ordered);
    if summary.is_empty() {
        summary = in_mpi(context, members, functions(&ordered));
    }
    let mut inside = ordered.iter().filter_map(|proc| held::inside(context, *proc));
    if let Some(clause) = inside.next() {
        summary.push_str(&format!("; {clause}"));
    }
    let mut evidence: Vec<String> = inside.take(NAMED).map(|clause| format!("{}.", capital(&clause))).collect();
    for pair in cycle_pairs(&cycle).take(NAMED) {
        if let Some(sentence) = held::evidence(context, pair.0) {
            evidence.push(sentence);
            continue;
        }
        let waits_for = context.threads(pair.0).iter().find_map(|thread| context.waits.words(job, pair.0, thread));
        let place = context.threads(pair.0).first().map(|thread| thread.call.c_name()).unwrap_or_default();
        if let Some(waits_for) = waits_for {
            evidence.push(format!("{} is in {place} and waits for {waits_for}.", capital(&words::proc(job, pair.0))));
        }
    }
    if !waiting.is_empty() {
        let verb = words::wait(waiting.len());
        evidence.push(format!("{} {verb} for these.", capital(&words::procs(job, waiting))));
    }
    let still = members.iter().all(|proc| context.seen.get(proc.0) == Some(&Seen::Still));
    if still {
        evidence.push("These ranks did not move between two looks.".to_owned());
    }
    if !certain {
        evidence.extend(context.doubts(members));
    } else if !still {
        evidence.push("No message is on its way between them: all that were sent have arrived.".to_owned());
    }
    let mut finding = Finding {
        kind: FindingKind::Deadlock,
        summary,
        ranks: context.ranks(&ordered),
        calls: context.calls(&ordered),
        certain,
        evidence,
        blamed: context.blamed(&ordered),
        started_by: context.started(&ordered),
        ..Finding::default()
    };
    advice::give(&mut finding, Change::Order(circle(context, members)));
    finding
}

/// That the members of a deadlock, which stand in these functions of MPI, wait for one another.
fn in_mpi(context: &Context<'_>, members: &[ProcIndex], functions: Vec<String>) -> String {
    let whom = match members {
        [only] => format!("{} waits for itself", words::proc(context.job, *only)),
        _ => format!("{} wait for one another", words::procs(context.job, members)),
    };
    let mut names: Vec<String> = Vec::new();
    for name in functions {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() > NAMED {
        names.truncate(NAMED);
        names.push("other calls".to_owned());
    }
    format!("{whom} in {}", words::list(&names, "and"))
}

/// How the members of a deadlock wait for one another.
fn circle(context: &Context<'_>, members: &[ProcIndex]) -> Circle {
    let threads = || members.iter().flat_map(|proc| context.threads(*proc));
    let all = |queue| {
        threads().all(|thread| !thread.operations.is_empty() && thread.operations.iter().all(|op| op.queue == queue))
    };
    let kinds = || members.iter().filter_map(|proc| Some(context.waits.held.get(proc)?.awaited.kind));
    let is_lock = |kind| {
        use AwaitedKind::{FileLock, Gil, Mutex, Rlock, Rwlock};
        matches!(kind, FileLock | Gil | Mutex | Rlock | Rwlock)
    };
    if kinds().any(is_lock) || members.iter().any(|proc| held::is_locked_inside(context, *proc)) {
        Circle::Held
    } else if kinds().next().is_some() {
        Circle::Ends
    } else if members.len() == 1 {
        Circle::Itself
    } else if is_one_call(context, members) {
        Circle::OneCall
    } else if threads().any(|thread| thread.collective.is_some()) {
        Circle::Collectives
    } else if all(Posted::Receives) && threads().all(|thread| !thread.call.requests.is_empty()) {
        Circle::Requests
    } else if all(Posted::Receives) {
        Circle::Receives
    } else if all(Posted::Sends) {
        Circle::Sends
    } else {
        Circle::Mixed
    }
}

/// Whether all of them stand in the same collective operation, at one line as far as that is known.
fn is_one_call(context: &Context<'_>, members: &[ProcIndex]) -> bool {
    let mut places = members.iter().map(|proc| {
        let [thread] = context.threads(*proc) else { return None };
        Some((thread.collective?, thread.call.file.as_deref(), thread.call.line))
    });
    let Some(Some(first)) = places.next() else { return false };
    places.all(|place| place == Some(first))
}

fn cycle_pairs(cycle: &[ProcIndex]) -> impl Iterator<Item = (ProcIndex, ProcIndex)> + '_ {
    cycle.iter().copied().zip(cycle.iter().copied().cycle().skip(1))
}

/// A sentence's first letter.
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}
