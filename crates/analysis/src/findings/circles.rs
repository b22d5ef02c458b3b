//! Collectives of several communicators that ranks have come to in different orders, blocking ones and others: each waits for
//! ranks that wait in another one.

use hashbrown::{HashMap, HashSet};

use super::Context;
use super::collectives::{Group, about, is_are, on};
use super::non_blocking::{Pending, have};
use crate::advice::{self, Change};
use crate::graph;
use crate::job::{CommunicatorId, ProcIndex};
use crate::waits::{CollectiveId, INTERCOMM_CREATE};
use crate::words;
use functions::small;
use model::{Finding, FindingKind};

/// How many circles are shown.
const SHOWN: usize = 16;

/// So many of the collectives of a circle are named in its sentence.
const NAMED: usize = 4;

/// One of the collectives in which stuck ranks wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Which {
    /// A blocking one.
    Blocking(CollectiveId),
    /// A place among the non-blocking ones.
    NonBlocking(usize),
}

/// A collective in which ranks are stuck, and who has to come yet.
struct StuckCollective<'g> {
    which: Which,
    communicator: CommunicatorId,
    /// Its function, as far as it is known.
    function: Option<&'g str>,
    stuck: &'g [ProcIndex],
    /// Ascending.
    missing: Vec<ProcIndex>,
}

impl StuckCollective<'_> {
    const fn is_blocking(&self) -> bool {
        matches!(self.which, Which::Blocking(_))
    }
}

/// The findings, and who is missing in which collective of a circle.
#[derive(Debug, Default)]
pub struct Circles {
    /// One finding for each circle.
    pub findings: Vec<Finding>,
    missing: HashMap<Which, HashSet<ProcIndex>>,
}

impl Circles {
    /// Those that are missing in one of the collectives because they wait in others of its circle; `None` for one that is in none.
    pub fn missing(&self, which: Which) -> Option<&HashSet<ProcIndex>> {
        self.missing.get(&which)
    }
}

/// All circles of these, those of fewer collectives first.
pub fn find<'g>(
    context: &Context<'_>,
    groups: impl IntoIterator<Item = &'g Group<'g>>,
    pending: &'g [Pending<'g>],
) -> Circles {
    let sure = |id: &CommunicatorId| context.job.communicators.get(id.0).is_some_and(|shared| shared.doubt.is_none());
    let blocking = groups.into_iter().filter_map(blocking);
    let others = pending.iter().enumerate().filter_map(|(index, collective)| non_blocking(context, index, collective));
    let collectives: Vec<StuckCollective<'_>> =
        blocking.chain(others).filter(|collective| sure(&collective.communicator)).collect();
    let mut at: HashMap<ProcIndex, Vec<usize>> = HashMap::new();
    for (index, collective) in collectives.iter().enumerate() {
        for proc in collective.stuck {
            at.entry(*proc).or_default().push(index);
        }
    }
    let mut needs: HashSet<(usize, usize)> = HashSet::new();
    for (index, collective) in collectives.iter().enumerate() {
        let others = collective.missing.iter().filter_map(|proc| at.get(proc)).flatten();
        needs.extend(
            others
                .filter(|other| collectives[**other].communicator != collective.communicator)
                .map(|other| (index, *other)),
        );
    }
    let mut cycles = graph::circles(collectives.len(), needs);
    cycles.sort_by_key(|circle| (circle.len(), circle.first().copied()));
    let mut circles = Circles::default();
    for circle in cycles.iter().take(SHOWN) {
        let mut circle: Vec<&StuckCollective<'_>> = circle.iter().map(|index| &collectives[*index]).collect();
        // The order of the two does not say which is wrong; that of fewer ranks is likelier.
        circle.sort_by_key(|collective| collective.stuck.len());
        let inside: HashSet<ProcIndex> = circle.iter().flat_map(|collective| collective.stuck).copied().collect();
        let missed = left_out(context, &circle, &inside);
        for collective in circle.iter().filter(|collective| !missed.contains(&collective.which)) {
            circles.missing.insert(
                collective.which,
                collective.missing.iter().copied().filter(|proc| inside.contains(proc)).collect(),
            );
        }
        if missed.is_empty() {
            circles.findings.push(finding(context, &circle));
        }
    }
    circles
}

/// The collectives of a circle to which those that are missing do not come any more, by their sources. These have findings, and
/// the others follow from it. Who stands in the same function on another communicator has not left it out, and where all of them
/// were left out it is not known which one was meant.
fn left_out(context: &Context<'_>, circle: &[&StuckCollective<'_>], inside: &HashSet<ProcIndex>) -> HashSet<Which> {
    let is = |collective: &&&StuckCollective<'_>| {
        let Some(function) = collective.function else { return false };
        let missing: Vec<ProcIndex> = collective.missing.iter().copied().filter(|proc| inside.contains(proc)).collect();
        let alike = circle.iter().filter(|other| other.function.is_some_and(|other| small(other) == small(function)));
        let stands = alike.flat_map(|other| other.stuck).any(|proc| missing.binary_search(proc).is_ok());
        // What a destructor calls stands nowhere in the source of those that come to it later.
        let implicit = destructor(context, collective.stuck).is_some();
        !stands && !implicit && !missing.is_empty() && missing.iter().all(|proc| passed_by(context, *proc, function))
    };
    let left_out: HashSet<Which> = circle.iter().filter(is).map(|collective| collective.which).collect();
    if left_out.len() == circle.len() { HashSet::new() } else { left_out }
}

/// The destructor of C++ in which all of these stand.
fn destructor<'c>(context: &Context<'c>, procs: &[ProcIndex]) -> Option<&'c str> {
    let mut callers = procs.iter().map(|proc| {
        let caller = context.threads(*proc).first()?.call.caller.as_deref()?;
        caller.contains('~').then_some(caller)
    });
    let first = callers.next()??;
    callers.all(|caller| caller == Some(first)).then_some(first)
}

/// That processes do not come to a collective any more, in a sentence, where their sources say so.
pub fn passed_by_words(context: &Context<'_>, procs: &[ProcIndex], function: &str) -> Option<String> {
    let all = !procs.is_empty() && procs.iter().all(|proc| passed_by(context, *proc, function));
    let does = if procs.len() == 1 { "does" } else { "do" };
    all.then(|| format!("By the source, {} {does} not reach {function} any more.", words::procs(context.job, procs)))
}

/// Whether by its source a process does not come to a collective function any more.
pub fn passed_by(context: &Context<'_>, proc: ProcIndex, function: &str) -> bool {
    let process = context.process(proc);
    let later = process.and_then(|process| process.later_collectives.as_ref());
    later.is_some_and(|later| !later.iter().any(|one| small(one) == small(function)))
}

fn blocking<'g>(group: &'g Group<'g>) -> Option<StuckCollective<'g>> {
    // Members of two groups are in it.
    if group.collective.function == INTERCOMM_CREATE {
        return None;
    }
    Some(StuckCollective {
        which: Which::Blocking(group.id),
        communicator: group.collective.communicator?,
        function: Some(&group.collective.function),
        stuck: &group.stuck,
        missing: group.collective.missing.clone(),
    })
}

fn non_blocking<'g>(context: &Context<'_>, index: usize, collective: &'g Pending<'g>) -> Option<StuckCollective<'g>> {
    // The number of a persistent one says who has made it, not who has started it.
    let shared = context.job.communicators.get(collective.communicator.0).filter(|_| !collective.is_persistent())?;
    let behind = |proc: &ProcIndex| collective.is_missing(context, *proc) == Some(true);
    let mut missing: Vec<ProcIndex> = shared.views.iter().map(|view| view.proc).filter(behind).collect();
    missing.sort_unstable();
    Some(StuckCollective {
        which: Which::NonBlocking(index),
        communicator: collective.communicator,
        function: collective.function(),
        stuck: collective.waiting(),
        missing,
    })
}

/// One communicator, or several that are called the same, and a function in which ranks stand there.
struct Clause<'c> {
    blocking: bool,
    function: &'c str,
    on: String,
    communicator: CommunicatorId,
    /// Its members, in whatever order they have their ranks; `None` where they are not known.
    members: Option<Vec<Vec<Option<ProcIndex>>>>,
    procs: Vec<ProcIndex>,
}

/// The summary. Ranks in the same function on communicators of the same name are named together, but not where these have the
/// same members: one may have been mistaken for the other.
fn summary_of(context: &Context<'_>, circle: &[&StuckCollective<'_>]) -> String {
    let mut clauses: Vec<Clause<'_>> = Vec::new();
    let members = |id: CommunicatorId| {
        let mut groups = context.job.communicators.get(id.0)?.groups.clone()?;
        groups.iter_mut().for_each(|group| group.sort_unstable());
        Some(groups)
    };
    for collective in circle {
        let function = collective.function.unwrap_or("a non-blocking collective");
        let mut on = about(context, collective.communicator, collective.function.unwrap_or_default());
        let members = members(collective.communicator);
        let is_other = |known: &Clause<'_>| known.communicator != collective.communicator && known.members == members;
        let alike = clauses.iter_mut().find(|known| {
            (known.blocking, known.function, &known.on) == (collective.is_blocking(), function, &on) && !is_other(known)
        });
        if let Some(alike) = alike {
            alike.procs.extend(collective.stuck);
            continue;
        }
        if clauses.iter().any(|known| known.on == on && is_other(known)) {
            on = on.strip_prefix("a ").map_or_else(|| format!("another {on}"), |noun| format!("another {noun}"));
        }
        let (blocking, communicator, procs) =
            (collective.is_blocking(), collective.communicator, collective.stuck.to_vec());
        clauses.push(Clause { blocking, function, on, communicator, members, procs });
    }
    let more = clauses.len().saturating_sub(NAMED);
    let named = clauses.iter_mut().take(NAMED).map(|Clause { blocking, function, on, procs, .. }| {
        procs.sort_unstable();
        procs.dedup();
        let (who, number) = (words::procs(context.job, procs), procs.len());
        match blocking {
            true => format!("{who} {} in {function} on {on}", is_are(number)),
            false => format!("{who} {} for {function} on {on}", words::wait(number)),
        }
    });
    let mut sentences: Vec<String> = named.collect();
    if more > 0 {
        sentences.push(format!("others in {}", words::counted(more, "more collective")));
    }
    words::list(&sentences, "and")
}

fn finding(context: &Context<'_>, circle: &[&StuckCollective<'_>]) -> Finding {
    let mut all: Vec<ProcIndex> = circle.iter().flat_map(|collective| collective.stuck).copied().collect();
    let mut known = HashSet::new();
    all.retain(|proc| known.insert(*proc));
    let mut summary = summary_of(context, circle);
    let mut evidence = Vec::new();
    if circle.iter().any(|collective| collective.is_blocking()) {
        evidence.push("Each of these ranks waits for members that wait in another one.".to_owned());
    } else {
        summary.push_str(", each for ranks that have not started it");
    }
    for collective in circle.iter().filter(|collective| !collective.is_blocking()).take(NAMED) {
        let missing: Vec<ProcIndex> = collective.missing.iter().copied().filter(|proc| known.contains(proc)).collect();
        evidence.push(format!(
            "By the library's numbers, {} {} not started that on {}, and {} in another one.",
            words::procs(context.job, &missing),
            have(missing.len()),
            on(context, collective.communicator),
            words::wait(missing.len())
        ));
    }
    evidence.push(
        "This happens if ranks call collectives of several communicators in different orders, or leave one out."
            .to_owned(),
    );
    if let Some(name) = circle.iter().find_map(|collective| destructor(context, collective.stuck)) {
        summary.push_str(&format!(" ({name} is a destructor, which an exception calls as well)"));
    }
    let certain = all.iter().all(|proc| context.stuck_for_certain(*proc));
    if !certain {
        evidence.extend(context.doubts(&all));
    }
    // The same function on two communicators: one of them may be the wrong one.
    let same = matches!(circle, [one, other] if one.function.is_some() && one.function == other.function);
    let mut ranks = context.ranks(&all);
    ranks.sort_unstable();
    let mut finding = Finding {
        kind: if same { FindingKind::CommunicatorMismatch } else { FindingKind::CollectiveMismatch },
        summary,
        ranks,
        calls: context.calls(&all),
        certain,
        evidence,
        blamed: context.blamed(&all),
        ..Finding::default()
    };
    advice::give(&mut finding, if same { Change::Communicators } else { Change::OrderOfCommunicators });
    finding
}
