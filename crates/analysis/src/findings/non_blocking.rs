//! Non-blocking collectives that can never complete: members that have not begun them, and members that have begun others.
//!
//! Libraries number those of a communicator, and each process keeps the number that its next one will have.

use std::collections::{BTreeMap, HashSet};

use super::Context;
use super::collectives::{on, whereabouts};
use crate::job::{CommunicatorId, ProcIndex, Shared};
use crate::words;
use model::{Finding, FindingKind, RequestState};

/// Numbers further apart than this are not compared: libraries begin anew after the last one.
const WINDOW: i64 = 1 << 20;

/// How many findings are told.
const SHOWN: usize = 16;

/// Whether a process whose next one has number `next` has begun number `sequence`; `None` where they cannot be compared.
fn has_begun(next: i64, sequence: i64) -> Option<bool> {
    let ahead = next.checked_sub(sequence)?;
    (-WINDOW..WINDOW).contains(&ahead).then_some(ahead > 0)
}

/// All findings about non-blocking collectives that stuck ranks wait for.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut waiting: BTreeMap<(CommunicatorId, i64), Group> = BTreeMap::new();
    let stuck = |proc: &ProcIndex| context.perhaps_stuck(*proc);
    for proc in (0..context.job.procs.len()).map(ProcIndex).filter(stuck) {
        let requests = context.threads(proc).iter().flat_map(|thread| &thread.call.requests);
        for request in requests.filter(|request| request.state == RequestState::Open) {
            let (Some(communicator), Some(sequence)) = (request.communicator, request.sequence) else { continue };
            let Some((shared, _)) = context.job.by_unique_id(proc.0, communicator) else { continue };
            let group = waiting.entry((shared, sequence)).or_default();
            group.persistent |= request.persistent;
            if group.waiting.last() != Some(&proc) {
                group.waiting.push(proc);
            }
        }
    }
    let groups = waiting.into_iter().take(SHOWN);
    groups.filter_map(|((id, sequence), group)| of(context, id, sequence, &group)).collect()
}

/// Those that wait for one.
#[derive(Default)]
struct Group {
    waiting: Vec<ProcIndex>,
    /// Whether it was made once to be started each time: its number says who has made it, not who has started it.
    persistent: bool,
}

fn of(context: &Context<'_>, id: CommunicatorId, sequence: i64, group: &Group) -> Option<Finding> {
    let waiting = &group.waiting;
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
    behind.retain(|proc| context.is_out(*proc));
    if !behind.is_empty() {
        return Some(not_begun(context, (id, sequence), waiting, &behind, certain));
    }
    // One that may still complete tells nothing of what the others began.
    if group.persistent || !certain { None } else { different(context, (id, shared), waiting, &begun) }
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
    let have = if missing.len() == 1 { "has" } else { "have" };
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
        advice: Some("Look why the path of that rank does not lead to that collective.".to_owned()),
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
        advice: Some(
            "Compare the non-blocking collectives that the ranks start: same function, order and root?".to_owned(),
        ),
    })
}
