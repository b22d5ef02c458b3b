//! Non-blocking collectives that can never complete: members that have not begun them, and members that have begun others.
//!
//! Libraries number those of a communicator, and each process keeps the number that its next one will have.

use std::collections::{BTreeMap, HashSet};

use super::Context;
use super::circles::{Circles, Which};
use super::collectives::{on, whereabouts};
use super::misfits::{do_not_fit, other_roots, others_started};
use super::planned::{self, Plans};
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
pub fn find(context: &Context<'_>, pending: &[Pending<'_>], circles: &Circles) -> Vec<Finding> {
    let mut told = Vec::new();
    let mut mismatched: HashSet<CommunicatorId> = HashSet::new();
    for (place, one) in pending.iter().enumerate() {
        let crossing = circles.missing(Which::NonBlocking(place));
        if let Some(found) = of(context, one, crossing) {
            if found.kind != FindingKind::MissingInCollective {
                mismatched.insert(one.communicator);
            }
            told.push(found);
        } else if crossing.is_some() {
            mismatched.insert(one.communicator);
        }
    }
    // What follows from one that was told is not told as one of its own.
    let mut others: BTreeMap<CommunicatorId, Vec<&Pending<'_>>> = BTreeMap::new();
    for one in pending.iter().filter(|one| !mismatched.contains(&one.communicator) && can_never_complete(context, one))
    {
        others.entry(one.communicator).or_default().push(one);
    }
    told.extend(others.into_iter().filter_map(|(id, pending)| different(context, id, &pending)));
    told
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

fn of(context: &Context<'_>, pending: &Pending<'_>, elsewhere: Option<&HashSet<ProcIndex>>) -> Option<Finding> {
    let Pending { communicator: id, sequence, group } = pending;
    let (id, sequence, waiting) = (*id, *sequence, &group.waiting);
    let shared = context.job.communicators.get(id.0).filter(|shared| shared.doubt.is_none())?;
    let is_behind =
        |view: &&View<'_>| view.communicator.next_sequence.and_then(|next| has_begun(next, sequence)) == Some(false);
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
        blamed: context.blamed(&missing.iter().chain(waiting).copied().collect::<Vec<_>>()),
        ..Finding::default()
    }
}

/// Whether all members have begun it and are in MPI, where the library moves its messages, and it can never complete.
fn can_never_complete(context: &Context<'_>, pending: &Pending<'_>) -> bool {
    let shared = context.job.communicators.get(pending.communicator.0).filter(|shared| shared.doubt.is_none());
    // One that may still complete tells nothing of what the others began.
    let stuck = || pending.waiting().iter().all(|proc| context.stuck_for_certain(*proc));
    let Some(shared) = shared.filter(|_| !pending.group.persistent && stuck()) else { return false };
    let begun = begun(pending, shared);
    let there = |proc: &ProcIndex| {
        let inside = context.perhaps_stuck(*proc) && super::finished::finished(context, *proc).is_none();
        inside && begun.contains(proc)
    };
    let members = shared.groups.as_ref().map(|groups| groups.iter().flatten());
    members.is_some_and(|mut members| members.all(|member| member.as_ref().is_some_and(there)))
}

/// Collectives of a communicator that can never complete though all members have begun them: these have not begun the same ones.
fn different(context: &Context<'_>, id: CommunicatorId, pending: &[&Pending<'_>]) -> Option<Finding> {
    let mut waiting: Vec<ProcIndex> = pending.iter().flat_map(|one| one.waiting()).copied().collect();
    waiting.sort_unstable();
    waiting.dedup();
    let (job, place) = (context.job, on(context, id));
    let who = words::procs(job, &waiting);
    let wait = words::wait(waiting.len());
    let evidence = vec![
        format!("By the library's numbers all members of {place} have begun it, and all of them are in MPI calls."),
        "Not certain: that they began different ones, in a different order, or with different roots, follows only from \
         that it does not complete."
            .to_owned(),
    ];
    (!waiting.is_empty()).then(|| Finding {
        kind: FindingKind::CollectiveMismatch,
        summary: format!(
            "{who} {wait} in a non-blocking collective on {place} that all have started, but not as the same one"
        ),
        ranks: context.ranks(&waiting),
        calls: context.calls(&waiting),
        certain: false,
        evidence,
        blamed: context.blamed(&waiting),
        ..Finding::default()
    })
}
