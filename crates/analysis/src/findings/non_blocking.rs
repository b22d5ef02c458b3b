//! Non-blocking collectives that can never complete: members that have not begun them, and members that have begun others.
//!
//! Libraries number those of a communicator, and each process keeps the number that its next one will have.

use std::collections::{BTreeMap, HashSet};

use super::Context;
use super::collectives::{on, whereabouts};
use super::crossed::Told;
use super::planned::{self, Misfit, Plans};
use crate::job::{CommunicatorId, ProcIndex, Shared, View};
use crate::waits::Thread;
use crate::words;
use model::{Finding, FindingKind, RequestState, StartedBy};

/// Numbers further apart than this are not compared: libraries begin anew after the last one.
const WINDOW: i64 = 1 << 20;

/// How many findings are told.
const SHOWN: usize = 16;

/// Whether a process whose next one has number `next` has begun number `sequence`; `None` where they cannot be compared.
fn has_begun(next: i64, sequence: i64) -> Option<bool> {
    let ahead = next.checked_sub(sequence)?;
    (-WINDOW..WINDOW).contains(&ahead).then_some(ahead > 0)
}

/// A non-blocking collective that stuck ranks wait for.
pub struct Pending<'a> {
    /// Its communicator.
    pub communicator: CommunicatorId,
    sequence: i64,
    group: Group<'a>,
}

impl Pending<'_> {
    /// Those that wait for it.
    pub fn waiting(&self) -> &[ProcIndex] {
        &self.group.waiting
    }

    /// Whether it was made once to be started each time.
    pub const fn is_persistent(&self) -> bool {
        self.group.persistent
    }

    /// The function that started it, as far as the source or what the library has planned tell, with an article where they do not.
    pub fn name(&self) -> String {
        match (self.group.names.as_slice(), planned::common(&self.group.plans).as_deref()) {
            ([only], _) => only.clone(),
            (_, Some([only])) => (*only).to_owned(),
            _ => "a non-blocking collective".to_owned(),
        }
    }

    /// The function that started it for certain, as all members say.
    fn only(&self) -> Option<&str> {
        let Group { names, started, waiting, .. } = &self.group;
        let all = started.len() >= waiting.len() && started.iter().all(|(_, one)| one.certain);
        if let [only] = names.as_slice() { Some(only).filter(|_| all).map(String::as_str) } else { None }
    }

    /// Whether a member has not begun it; `None` where that is not known.
    pub fn is_missing(&self, context: &Context<'_>, proc: ProcIndex) -> Option<bool> {
        let shared = context.job.communicators.get(self.communicator.0)?;
        has_begun(shared.view(proc)?.communicator.next_sequence?, self.sequence).map(|begun| !begun)
    }
}

/// Non-blocking collectives that stuck ranks wait for.
pub fn pending<'a>(context: &Context<'a>) -> Vec<Pending<'a>> {
    let mut waiting: BTreeMap<(CommunicatorId, i64), Group<'a>> = BTreeMap::new();
    let stuck = |proc: &ProcIndex| context.perhaps_stuck(*proc);
    for proc in (0..context.job.procs.len()).map(ProcIndex).filter(stuck) {
        let requests = context.threads(proc).iter().flat_map(|thread| &thread.call.requests);
        for request in requests.filter(|request| request.state == RequestState::Open) {
            let (Some(communicator), Some(sequence)) = (request.communicator, request.sequence) else { continue };
            let Some((shared, _)) = context.job.by_unique_id(proc.0, communicator) else { continue };
            let group = waiting.entry((shared, sequence)).or_default();
            group.persistent |= request.persistent;
            if let Some(plan) = &request.schedule {
                group.plans.push((proc, plan));
            }
            if let [only] = request.started_by.as_slice() {
                if !group.names.contains(&only.function) {
                    group.names.push(only.function.clone());
                }
                group.started.push((proc, only.clone()));
            }
            if group.waiting.last() != Some(&proc) {
                group.waiting.push(proc);
            }
        }
    }
    let groups = waiting.into_iter().take(SHOWN);
    groups.map(|((communicator, sequence), group)| Pending { communicator, sequence, group }).collect()
}

/// All findings about these.
pub fn find(context: &Context<'_>, pending: &[Pending<'_>], crossed: &Told) -> Vec<Finding> {
    let mut told = Vec::new();
    let mut mismatched: HashSet<CommunicatorId> = HashSet::new();
    for (place, one) in pending.iter().enumerate() {
        if let Some(found) = of(context, one, crossed.missing(place)) {
            if found.kind != FindingKind::MissingInCollective {
                mismatched.insert(one.communicator);
            }
            told.push(found);
        } else if crossed.missing(place).is_some() {
            mismatched.insert(one.communicator);
        }
    }
    // What follows from one that was told is not told as one of its own.
    for one in pending.iter().filter(|one| !mismatched.contains(&one.communicator)) {
        told.extend(different(context, one));
    }
    told
}

/// Those that wait for one.
#[derive(Default)]
struct Group<'a> {
    waiting: Vec<ProcIndex>,
    /// The functions that started it, as far as one of each request comes into question.
    names: Vec<String>,
    started: Vec<(ProcIndex, StartedBy)>,
    /// What their libraries have planned for it.
    plans: Plans<'a>,
    /// Whether it was made once to be started each time: its number says who has made it, not who has started it.
    persistent: bool,
}

fn of(context: &Context<'_>, pending: &Pending<'_>, elsewhere: Option<&HashSet<ProcIndex>>) -> Option<Finding> {
    let Pending { communicator: id, sequence, group } = pending;
    let (id, sequence, waiting) = (*id, *sequence, &group.waiting);
    let shared = context.job.communicators.get(id.0).filter(|shared| shared.doubt.is_none())?;
    let is_behind = |view: &&View<'_>| {
        view.communicator.next_sequence.and_then(|next| has_begun(next, sequence)) == Some(false)
    };
    let mut behind: Vec<ProcIndex> = shared.views.iter().filter(is_behind).map(|view| view.proc).collect();
    let certain = waiting.iter().all(|proc| context.stuck_for_certain(*proc));
    let misfit = planned::misfit(shared, &group.plans, pending.only()).filter(|_| !group.persistent);
    let found = others_started(context, pending, certain, misfit.as_ref())
        .or_else(|| misfit.as_ref().map(|misfit| do_not_fit(context, pending, misfit, certain)))
        .or_else(|| other_roots(context, pending));
    if let Some(found) = found {
        return Some(found);
    }
    // Those that stand in a blocking collective of it are told with that.
    let inside = |proc: ProcIndex| {
        let collective =
            |thread: &Thread<'_>| thread.collective.map(|id| context.waits.collectives.get(id).communicator);
        context.threads(proc).iter().any(|thread| collective(thread) == Some(Some(id)))
    };
    let told = |proc: &ProcIndex| elsewhere.is_some_and(|told| told.contains(proc));
    behind.retain(|proc| context.is_out(*proc) && !inside(*proc) && !told(proc));
    if !behind.is_empty() {
        return Some(not_begun(context, pending, &behind, certain));
    }
    None
}

/// Members of its communicator that have begun it.
fn begun(pending: &Pending<'_>, shared: &Shared<'_>) -> HashSet<ProcIndex> {
    let has = |view: &&View<'_>| {
        view.communicator.next_sequence.and_then(|next| has_begun(next, pending.sequence)) == Some(true)
    };
    shared.views.iter().filter(has).map(|view| view.proc).collect()
}

/// Members that have started other functions as the same collective, by the source.
fn others_started(
    context: &Context<'_>,
    pending: &Pending<'_>,
    certain: bool,
    misfit: Option<&Misfit>,
) -> Option<Finding> {
    let group = &pending.group;
    if group.names.len() < 2 {
        return None;
    }
    let job = context.job;
    let mut by_call: Vec<(&str, Vec<ProcIndex>)> = Vec::new();
    for (proc, started) in &group.started {
        match by_call.iter_mut().find(|(function, _)| *function == started.function) {
            Some((_, procs)) => procs.push(*proc),
            None => by_call.push((&started.function, vec![*proc])),
        }
    }
    by_call.sort_by_key(|(_, procs)| procs.len());
    let proven = misfit == Some(&Misfit::Functions);
    let is_sure = |function: &str, procs: &[ProcIndex]| {
        let by_source = |proc: &ProcIndex| group.started.iter().any(|(other, one)| other == proc && one.certain);
        let by_plan = |proc: &ProcIndex| {
            group.plans.iter().any(|(other, plan)| other == proc && plan.function() == Some(function))
        };
        procs.iter().all(|proc| by_source(proc) || by_plan(proc))
    };
    let told: Vec<String> = by_call
        .iter()
        .map(|(function, procs)| {
            let perhaps = if proven && !is_sure(function, procs) { "what may be " } else { "" };
            format!("{} {} started {perhaps}{function}", words::procs(job, procs), have(procs.len()))
        })
        .collect();
    let sure = certain && (proven || by_call.iter().all(|(function, procs)| is_sure(function, procs)));
    let mut evidence = vec![format!(
        "By the library's numbers these are the same collective of {}: number {}.",
        on(context, pending.communicator),
        pending.sequence
    )];
    if proven {
        evidence.push(NO_COMMON.to_owned());
    } else if !sure {
        evidence.push("Not certain: which calls started them follows from the source.".to_owned());
    }
    Some(Finding {
        kind: FindingKind::CollectiveMismatch,
        summary: format!("on {} {}", on(context, pending.communicator), words::list(&told, "and")),
        ranks: context.ranks(&group.waiting),
        calls: context.calls(&group.waiting),
        certain: sure,
        evidence,
        advice: Some(super::collectives::ORDER.to_owned()),
        ..Finding::default()
    })
}

/// What the library has planned for the members.
const NO_COMMON: &str = "What the library has planned for it differs so that no single function can have started it on all of them.";

/// Members whose libraries have planned what does not fit together.
fn do_not_fit(context: &Context<'_>, pending: &Pending<'_>, misfit: &Misfit, certain: bool) -> Finding {
    let (waiting, place) = (&pending.group.waiting, on(context, pending.communicator));
    let who = words::procs(context.job, waiting);
    let name = pending.name();
    let numbers = format!("By the library's numbers these are the same collective of {place}: number {}.", pending.sequence);
    let mut evidence = vec![numbers];
    let (kind, summary, proven) = match misfit {
        Misfit::Functions => {
            evidence.push(NO_COMMON.to_owned());
            let told = planned_functions(context, pending);
            let summary = match told.len() {
                2.. => format!("on {place} {}", words::list(&told, "and")),
                _ => format!("on {place} {who} have started different non-blocking collectives as the same one"),
            };
            (FindingKind::CollectiveMismatch, summary, true)
        }
        Misfit::Roots { function, by_root } => {
            evidence.push("All members must give the same root; the root is a rank in the communicator.".to_owned());
            evidence.push("The roots follow from the messages that the library has planned.".to_owned());
            let told: Vec<String> = by_root
                .iter()
                .map(|(root, procs)| format!("{} with root {root}", words::procs(context.job, procs)))
                .collect();
            let name = function.as_deref().unwrap_or(&name);
            let summary = match told.len() {
                2.. => format!("in {name} on {place} {} wait for one another", words::list(&told, "and")),
                _ => format!("in {name} on {place} {who} have not given the same root"),
            };
            (FindingKind::RootMismatch, summary, true)
        }
        Misfit::Messages(exchange) => {
            evidence.push(exchange.words(context));
            let one = pending.only().is_some();
            if !one {
                evidence.push(
                    "Not certain: whether the functions differ, or their roots, does not follow from that; the calls do not fit."
                        .to_owned(),
                );
            }
            let kind = if one { FindingKind::RootMismatch } else { FindingKind::CollectiveMismatch };
            let started = "what they have started as the same non-blocking collective does not fit together";
            let summary = match one {
                true => format!("in {name} on {place} {who} have given arguments that do not fit together"),
                false => format!("{who} wait on {place}, but {started}"),
            };
            (kind, summary, one)
        }
        Misfit::Sizes(exchange) => {
            evidence.push(exchange.words(context));
            let summary = format!("in {name} on {place} {who} have given different numbers of elements, or datatypes");
            (FindingKind::CountMismatch, summary, true)
        }
    };
    if proven && !certain {
        evidence.extend(context.doubts(waiting));
    }
    Finding {
        kind,
        summary,
        ranks: context.ranks(waiting),
        calls: context.calls(waiting),
        certain: certain && proven,
        evidence,
        advice: Some("Compare the calls that started them: same function, root, count and datatype on all ranks?".to_owned()),
        ..Finding::default()
    }
}

/// Who started which function, by what is planned, where it can be only one for each.
fn planned_functions(context: &Context<'_>, pending: &Pending<'_>) -> Vec<String> {
    let mut by_function: BTreeMap<&str, Vec<ProcIndex>> = BTreeMap::new();
    for (proc, plan) in &pending.group.plans {
        let Some(function) = plan.function() else { return Vec::new() };
        by_function.entry(function).or_default().push(*proc);
    }
    let told = by_function.iter().map(|(function, procs)| {
        format!("{} {} started {function}", words::procs(context.job, procs), have(procs.len()))
    });
    told.collect()
}

/// Members that, by the source, have started the same collective with different roots.
fn other_roots(context: &Context<'_>, pending: &Pending<'_>) -> Option<Finding> {
    let group = &pending.group;
    let [function] = group.names.as_slice() else { return None };
    let mut by_root: BTreeMap<i64, Vec<ProcIndex>> = BTreeMap::new();
    for (proc, started) in &group.started {
        by_root.entry(started.root?).or_default().push(*proc);
    }
    if by_root.len() < 2 {
        return None;
    }
    let told: Vec<String> =
        by_root.iter().map(|(root, procs)| format!("{} with root {root}", words::procs(context.job, procs))).collect();
    let place = on(context, pending.communicator);
    Some(Finding {
        kind: FindingKind::RootMismatch,
        summary: format!("in {function} on {place} {} wait for one another", words::list(&told, "and")),
        ranks: context.ranks(&group.waiting),
        calls: context.calls(&group.waiting),
        certain: false,
        evidence: vec![
            "All members must give the same root; the root is a rank in the communicator.".to_owned(),
            "Not certain: the roots are what the calls in the source would be given now.".to_owned(),
        ],
        advice: Some("Look how each of these ranks computes the root.".to_owned()),
        ..Finding::default()
    })
}

fn have(number: usize) -> &'static str {
    if number == 1 { "has" } else { "have" }
}

/// Members that have not begun what others wait for.
fn not_begun(context: &Context<'_>, pending: &Pending<'_>, missing: &[ProcIndex], certain: bool) -> Finding {
    let (sequence, waiting) = (pending.sequence, pending.waiting());
    let (job, place) = (context.job, on(context, pending.communicator));
    let name = match pending.only().or(planned::common(&pending.group.plans).and_then(|common| match common[..] {
        [only] => Some(only),
        _ => None,
    })) {
        Some(name) => name.to_owned(),
        None => "the non-blocking collective".to_owned(),
    };
    let have = have(missing.len());
    let wait = words::wait(waiting.len());
    let (who, others) = (words::procs(job, missing), words::procs(job, waiting));
    let mut summary =
        format!("{who} {have} not started {name} on {place} for which {others} {wait}");
    let mut evidence = vec![format!(
        "The library numbers the non-blocking collectives of {place}: {others} {wait} for number {sequence}, which {who} {have} not reached."
    )];
    evidence.extend(whereabouts(context, missing, &mut summary));
    if !certain {
        evidence.extend(context.doubts(waiting));
    }
    let mut calls = context.calls(missing);
    calls.extend(context.calls(waiting));
    Finding {
        kind: FindingKind::MissingInCollective,
        summary,
        ranks: context.ranks(missing),
        calls,
        certain,
        evidence,
        advice: Some("Look why the path of that rank does not lead to that collective.".to_owned()),
        ..Finding::default()
    }
}

/// A collective that all members have begun and that can never complete though all of them are in MPI, where the library moves
/// its messages: they have not begun the same one.
fn different(context: &Context<'_>, pending: &Pending<'_>) -> Option<Finding> {
    let (id, waiting) = (pending.communicator, pending.waiting());
    let shared = context.job.communicators.get(id.0).filter(|shared| shared.doubt.is_none())?;
    // One that may still complete tells nothing of what the others began.
    if pending.group.persistent || !waiting.iter().all(|proc| context.stuck_for_certain(*proc)) {
        return None;
    }
    let begun = begun(pending, shared);
    let mut members = shared.groups.as_ref()?.iter().flatten();
    let there = |proc: &ProcIndex| {
        let inside = context.perhaps_stuck(*proc) && super::finished::finished(context, *proc).is_none();
        inside && begun.contains(proc)
    };
    if !members.all(|member| member.as_ref().is_some_and(there)) {
        return None;
    }
    let (job, place) = (context.job, on(context, id));
    let who = words::procs(job, waiting);
    let wait = words::wait(waiting.len());
    let evidence = vec![
        format!("By the library's numbers all members of {place} have begun it, and all of them are in MPI calls."),
        "Not certain: that they began different ones, in a different order, or with different roots, follows only from \
         that it does not complete."
            .to_owned(),
    ];
    Some(Finding {
        kind: FindingKind::CollectiveMismatch,
        summary: format!(
            "{who} {wait} in a non-blocking collective on {place} that all have started, but not as the same one"
        ),
        ranks: context.ranks(waiting),
        calls: context.calls(waiting),
        certain: false,
        evidence,
        advice: Some(
            "Compare the non-blocking collectives that the ranks start: same function, order and root?".to_owned(),
        ),
        ..Finding::default()
    })
}
