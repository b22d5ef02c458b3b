//! Non-blocking collectives that can never complete: members that have not begun them, and members that have begun others.
//!
//! Libraries number those of a communicator, and each process keeps the number that its next one will have.

use hashbrown::HashSet;
use std::collections::BTreeMap;

use super::Context;
use super::circles::{Circles, Which, passed_by_words};
use super::collectives::{on, whereabouts};
use super::finished::finished;
use super::misfits::{do_not_fit, other_roots, others_started};
use super::numbered::{self, Since};
use super::planned::{self, Plans};
use crate::job::{CommunicatorId, ProcIndex, Shared, View};
use crate::waits::{Finished, Op, Thread};
use crate::words;
use model::{Finding, FindingKind, RequestState, StartedBy};

/// Numbers further apart than this are not compared: libraries begin anew after the last one.
const WINDOW: i64 = 1 << 20;

/// How many findings are shown.
const SHOWN: usize = 16;

/// Whether a member of a communicator has begun the one of number `sequence`, by the number that its next one has; `None` where
/// that is not known, or they cannot be compared.
pub(super) fn has_begun(member: &View<'_>, sequence: i64) -> Option<bool> {
    let ahead = member.communicator.next_sequence?.checked_sub(sequence)?;
    (-WINDOW..WINDOW).contains(&ahead).then_some(ahead > 0)
}

/// A non-blocking collective that stuck ranks wait for.
pub struct Pending<'a> {
    /// Its communicator.
    pub communicator: CommunicatorId,
    pub(super) sequence: i64,
    pub(super) group: Group<'a>,
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
        self.function().map_or_else(|| "a non-blocking collective".to_owned(), str::to_owned)
    }

    /// The function that started it, as far as the source or what the library has planned tell.
    pub fn function(&self) -> Option<&str> {
        match self.group.names.as_slice() {
            [only] => Some(only),
            _ => match planned::common(&self.group.plans).as_deref() {
                Some([only]) => Some(only),
                _ => None,
            },
        }
    }

    /// The function that started it for certain, as all members say.
    pub(super) fn only(&self) -> Option<&str> {
        let Group { names, started, waiting, .. } = &self.group;
        let all = started.len() >= waiting.len() && started.iter().all(|(_, one)| one.certain);
        if let [only] = names.as_slice() { Some(only).filter(|_| all).map(String::as_str) } else { None }
    }

    /// Whether a member has not begun it; `None` where that is not known.
    pub fn is_missing(&self, context: &Context<'_>, proc: ProcIndex) -> Option<bool> {
        let shared = context.job.communicators.get(self.communicator.0)?;
        has_begun(shared.view(proc)?, self.sequence).map(|begun| !begun)
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
pub fn find(context: &Context<'_>, pending: &[Pending<'_>], circles: &Circles) -> Vec<Finding> {
    let mut findings = Vec::new();
    // Those of a communicator that wait for one that can never complete, or does not fit.
    let mut held: BTreeMap<CommunicatorId, HashSet<ProcIndex>> = BTreeMap::new();
    // Ascending by communicator and number.
    for (place, collective) in pending.iter().enumerate() {
        let crossing = circles.missing(Which::NonBlocking(place));
        let earlier = held.get(&collective.communicator);
        let finding = finding_of(context, collective, (crossing, earlier));
        let misfit = finding.as_ref().is_some_and(|finding| finding.kind != FindingKind::MissingInCollective);
        // What follows from another finding is no finding of its own.
        let unlike =
            (finding.is_none() && crossing.is_none() && earlier.is_none() && can_never_complete(context, collective))
                .then(|| different(context, collective));
        if misfit || unlike.is_some() || crossing.is_some() {
            held.entry(collective.communicator).or_default().extend(collective.waiting());
        }
        findings.extend(finding.or(unlike));
    }
    findings
}

/// Those that wait for one.
#[derive(Default)]
pub(super) struct Group<'a> {
    /// They.
    pub waiting: Vec<ProcIndex>,
    /// The functions that started it, as far as one of each request comes into question.
    pub names: Vec<String>,
    /// Who started it on which of them, as far as one call comes into question.
    pub started: Vec<(ProcIndex, StartedBy)>,
    /// What their libraries have planned for it.
    pub plans: Plans<'a>,
    /// Whether it was made once to be started each time: its number says who has made it, not who has started it.
    pub persistent: bool,
}

/// `crossing`: who waits in another collective of its circle; `earlier`: who waits for an earlier one that never completes.
fn finding_of(
    context: &Context<'_>,
    pending: &Pending<'_>,
    (crossing, earlier): (Option<&HashSet<ProcIndex>>, Option<&HashSet<ProcIndex>>),
) -> Option<Finding> {
    let Pending { communicator: id, sequence, group } = pending;
    let (id, sequence, waiting) = (*id, *sequence, &group.waiting);
    let shared = context.job.communicators.get(id.0).filter(|shared| shared.doubt.is_none())?;
    let is_behind = |view: &&View<'_>| has_begun(view, sequence) == Some(false);
    let mut behind: Vec<ProcIndex> = shared.views.iter().filter(is_behind).map(|view| view.proc).collect();
    let certain = waiting.iter().all(|proc| context.stuck_for_certain(*proc));
    let misfit = planned::misfit(shared, &group.plans, pending.only()).filter(|_| !group.persistent);
    let finding = others_started(context, pending, certain, misfit.as_ref())
        .or_else(|| misfit.as_ref().map(|misfit| do_not_fit(context, pending, misfit, certain)))
        .or_else(|| other_roots(context, pending));
    if let Some(mut finding) = finding {
        numbered::explain(context, pending, &mut finding, waiting);
        return Some(finding);
    }
    // Those that stand in a blocking collective of it have a finding there.
    let inside = |proc: ProcIndex| {
        let collective =
            |thread: &Thread<'_>| thread.collective.map(|id| context.waits.collectives.get(id).communicator);
        context.threads(proc).iter().any(|thread| collective(thread) == Some(Some(id)))
    };
    let explained =
        |proc: &ProcIndex| [crossing, earlier].into_iter().flatten().any(|explained| explained.contains(proc));
    behind.retain(|proc| context.is_out(*proc) && !inside(*proc) && !explained(proc));
    if !behind.is_empty() {
        return Some(not_begun(context, pending, &behind, certain));
    }
    None
}

/// Members of its communicator that have begun it.
fn begun(pending: &Pending<'_>, shared: &Shared<'_>) -> HashSet<ProcIndex> {
    let has = |view: &&View<'_>| has_begun(view, pending.sequence) == Some(true);
    shared.views.iter().filter(has).map(|view| view.proc).collect()
}

pub(super) fn have(number: usize) -> &'static str {
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
    let mut summary = format!("{who} {have} not started {name} on {place} for which {others} {wait}");
    let mut evidence = vec![format!(
        "The library numbers the non-blocking collectives of {place}: {others} {wait} for number {sequence}, which \
         {who} {have} not reached."
    )];
    evidence.extend(whereabouts(context, missing, &mut summary));
    evidence.extend(passed_by_words(context, missing, &name));
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
        blamed: context.blamed(&missing.iter().chain(waiting).copied().collect::<Vec<_>>()),
        ..Finding::default()
    }
}

/// Whether all members have begun it and are in MPI, where the library moves its messages, and it can never complete.
fn can_never_complete(context: &Context<'_>, pending: &Pending<'_>) -> bool {
    let shared = context.job.communicators.get(pending.communicator.0).filter(|shared| shared.doubt.is_none());
    // One that may still complete says nothing of what the others began.
    let stuck = || pending.waiting().iter().all(|proc| context.stuck_for_certain(*proc));
    let Some(shared) = shared.filter(|_| !pending.group.persistent && stuck()) else { return false };
    let begun = begun(pending, shared);
    let there = |proc: &ProcIndex| {
        // In MPI_Finalize as well libraries move what is pending while they wait for the others.
        let inside = matches!(finished(context, *proc), None | Some(Finished::Finalizing));
        inside && context.perhaps_stuck(*proc) && begun.contains(proc)
    };
    let members = shared.groups.as_ref().map(|groups| groups.iter().flatten());
    members.is_some_and(|mut members| members.all(|member| member.as_ref().is_some_and(there)))
}

/// A collective that can never complete though all members have begun it: they have not begun the same one.
fn different(context: &Context<'_>, pending: &Pending<'_>) -> Finding {
    let (job, place, waiting) = (context.job, on(context, pending.communicator), pending.waiting());
    let (who, wait) = (words::procs(job, waiting), words::wait(waiting.len()));
    let others = others(context, pending);
    let all: Vec<ProcIndex> = waiting.iter().chain(&others).copied().collect();
    let mut evidence = vec![format!(
        "By the library's numbers, all members of {place} have begun it, and all of them are in MPI calls."
    )];
    let waited_for = match pending.function() {
        Some(name) => format!("for {name} on {place}"),
        None => format!("in a non-blocking collective on {place}"),
    };
    let mut summary = if others.is_empty() {
        format!("{who} {wait} {waited_for}, but have not started the same one")
    } else {
        let (those, have) = (words::procs(job, &others), have(others.len()));
        format!("{who} {wait} {waited_for}, where {those} {have} started another collective instead")
    };
    let mut kind = FindingKind::CollectiveMismatch;
    let since = numbered::since(context, pending, &all);
    if let Some(Since { sequence, functions, .. }) = &since {
        let clauses: Vec<String> = functions
            .iter()
            .map(|(function, procs)| format!("{} {} started {function}", words::procs(job, procs), have(procs.len())))
            .collect();
        match functions.as_slice() {
            // The same function, with other roots.
            [_] => kind = FindingKind::RootMismatch,
            _ => summary = format!("on {place} {} as the same collective", words::list(&clauses, "and")),
        }
        evidence.push(format!(
            "By the source, these have number {sequence}; what {who} {wait} for has {}.",
            pending.sequence
        ));
    }
    evidence.push(
        "Not certain: the only sign that they began different ones, in a different order, or with different roots is \
         that it does not complete."
            .to_owned(),
    );
    let mut finding = Finding {
        kind,
        summary,
        ranks: context.ranks(&all),
        calls: context.calls(&all),
        certain: false,
        evidence,
        blamed: context.blamed(waiting),
        ..Finding::default()
    };
    if let Some(since) = since {
        numbered::put_first(&mut finding, since.blamed);
    }
    finding
}

/// Members that have begun it and do not wait for it: those whose part is missing, as far as the library's operations show.
fn others(context: &Context<'_>, pending: &Pending<'_>) -> Vec<ProcIndex> {
    let waiting = pending.waiting();
    let Some(shared) = context.job.communicators.get(pending.communicator.0) else { return Vec::new() };
    let all: Vec<ProcIndex> =
        shared.views.iter().map(|view| view.proc).filter(|proc| !waiting.contains(proc)).collect();
    let operations = waiting.iter().flat_map(|proc| context.threads(*proc)).flat_map(|thread| &thread.operations);
    let own =
        operations.filter(|op| op.shared == pending.communicator && op.operation.sequence() == Some(pending.sequence));
    let peers = own.filter_map(Op::global_rank);
    let owing: HashSet<ProcIndex> = peers.filter_map(|rank| context.job.proc(rank)).collect();
    let some: Vec<ProcIndex> = all.iter().copied().filter(|proc| owing.contains(proc)).collect();
    if some.is_empty() { all } else { some }
}
