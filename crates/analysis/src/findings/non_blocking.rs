//! Non-blocking collectives that can never complete: members that have not begun them, and members that have begun others.
//!
//! Libraries number those of a communicator, and each process keeps the number that its next one will have.

use std::collections::{BTreeMap, HashSet};

use super::Context;
use super::collectives::{on, whereabouts};
use crate::job::{CommunicatorId, ProcIndex, Shared};
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
pub struct Pending {
    /// Its communicator.
    pub communicator: CommunicatorId,
    sequence: i64,
    group: Group,
}

impl Pending {
    /// Those that wait for it.
    pub fn waiting(&self) -> &[ProcIndex] {
        &self.group.waiting
    }

    /// The function that started it, as far as the source tells, with an article where it does not.
    pub fn name(&self) -> String {
        self.function().map_or_else(|| "a non-blocking collective".to_owned(), str::to_owned)
    }

    /// The function that started it, as far as the source tells.
    pub fn function(&self) -> Option<&str> {
        match self.group.names.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether a member has not begun it; `None` where that is not known.
    pub fn is_missing(&self, context: &Context<'_>, proc: ProcIndex) -> Option<bool> {
        let shared = context.job.communicators.get(self.communicator.0)?;
        has_begun(shared.view(proc)?.communicator.next_sequence?, self.sequence).map(|begun| !begun)
    }
}

/// Non-blocking collectives that stuck ranks wait for.
pub fn pending(context: &Context<'_>) -> Vec<Pending> {
    let mut waiting: BTreeMap<(CommunicatorId, i64), Group> = BTreeMap::new();
    let stuck = |proc: &ProcIndex| context.perhaps_stuck(*proc);
    for proc in (0..context.job.procs.len()).map(ProcIndex).filter(stuck) {
        let requests = context.threads(proc).iter().flat_map(|thread| &thread.call.requests);
        for request in requests.filter(|request| request.state == RequestState::Open) {
            let (Some(communicator), Some(sequence)) = (request.communicator, request.sequence) else { continue };
            let Some((shared, _)) = context.job.by_unique_id(proc.0, communicator) else { continue };
            let group = waiting.entry((shared, sequence)).or_default();
            group.persistent |= request.persistent;
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
pub fn find(context: &Context<'_>, pending: &[Pending]) -> Vec<Finding> {
    let told = pending.iter().filter_map(|one| of(context, one));
    told.collect()
}

/// Those that wait for one.
#[derive(Default)]
struct Group {
    waiting: Vec<ProcIndex>,
    /// The functions that started it, as far as one of each request comes into question.
    names: Vec<String>,
    started: Vec<(ProcIndex, StartedBy)>,
    /// Whether it was made once to be started each time: its number says who has made it, not who has started it.
    persistent: bool,
}

fn of(context: &Context<'_>, pending: &Pending) -> Option<Finding> {
    let Pending { communicator: id, sequence, group } = pending;
    let (id, sequence, waiting) = (*id, *sequence, &group.waiting);
    let shared = context.job.communicators.get(id.0).filter(|shared| shared.doubt.is_none())?;
    let mut behind: Vec<ProcIndex> = Vec::new();
    let mut begun: HashSet<ProcIndex> = HashSet::new();
    for view in &shared.views {
        match view.communicator.next_sequence.and_then(|next| has_begun(next, sequence)) {
            Some(true) => _ = begun.insert(view.proc),
            Some(false) => behind.push(view.proc),
            None => {}
        }
    }
    let certain = waiting.iter().all(|proc| context.stuck_for_certain(*proc));
    if let Some(found) = others_started(context, pending, certain).or_else(|| other_roots(context, pending)) {
        return Some(found);
    }
    // Those that stand in a blocking collective of it are told with that.
    let inside = |proc: ProcIndex| {
        let collective =
            |thread: &Thread<'_>| thread.collective.map(|id| context.waits.collectives.get(id).communicator);
        context.threads(proc).iter().any(|thread| collective(thread) == Some(Some(id)))
    };
    behind.retain(|proc| context.is_out(*proc) && !inside(*proc));
    if !behind.is_empty() {
        return Some(not_begun(context, (id, sequence), waiting, &behind, certain));
    }
    // One that may still complete tells nothing of what the others began.
    if group.persistent || !certain { None } else { different(context, (id, shared), waiting, &begun) }
}

/// Members that have started other functions as the same collective, by the source.
fn others_started(context: &Context<'_>, pending: &Pending, certain: bool) -> Option<Finding> {
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
    let told: Vec<String> = by_call
        .iter()
        .map(|(function, procs)| format!("{} {} started {function}", words::procs(job, procs), have(procs.len())))
        .collect();
    let sure = certain && group.started.iter().all(|(_, started)| started.certain);
    let mut evidence = vec![format!(
        "By the library's numbers these are the same collective of {}: number {}.",
        on(context, pending.communicator),
        pending.sequence
    )];
    if !sure {
        evidence.push("Not certain: which calls started them follows from the source.".to_owned());
    }
    Some(Finding {
        kind: FindingKind::CollectiveMismatch,
        summary: format!("on {} {}", on(context, pending.communicator), words::list(&told, "and")),
        ranks: context.ranks(&group.waiting),
        calls: context.calls(&group.waiting),
        certain: sure,
        evidence,
        blamed: context.blamed(&group.waiting),
        ..Finding::default()
    })
}

/// Members that, by the source, have started the same collective with different roots.
fn other_roots(context: &Context<'_>, pending: &Pending) -> Option<Finding> {
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
        blamed: context.blamed(&group.waiting),
        ..Finding::default()
    })
}

fn have(number: usize) -> &'static str {
    if number == 1 { "has" } else { "have" }
}

/// Members that have not begun what others wait for.
fn not_begun(
    context: &Context<'_>,
    (id, sequence): (CommunicatorId, i64),
    waiting: &[ProcIndex],
    missing: &[ProcIndex],
    certain: bool,
) -> Finding {
    let (job, place) = (context.job, on(context, id));
    let have = have(missing.len());
    let wait = words::wait(waiting.len());
    let (who, others) = (words::procs(job, missing), words::procs(job, waiting));
    let mut summary =
        format!("{who} {have} not started the non-blocking collective on {place} for which {others} {wait}");
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

/// A collective that all members have begun and that can never complete though all of them are in MPI, where the library moves
/// its messages: they have not begun the same one.
fn different(
    context: &Context<'_>,
    (id, shared): (CommunicatorId, &Shared<'_>),
    waiting: &[ProcIndex],
    begun: &HashSet<ProcIndex>,
) -> Option<Finding> {
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
        blamed: context.blamed(waiting),
        ..Finding::default()
    })
}
