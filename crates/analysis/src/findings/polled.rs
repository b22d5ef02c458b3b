//! Non-blocking collectives for which ranks poll (MPI_Test, MPI_Iprobe in a loop), and that a rank has not started which can perhaps
//! never go on.

use std::collections::BTreeMap;

use super::Context;
use super::collectives::{on, whereabouts};
use super::non_blocking::{has_begun, have};
use crate::job::{CommunicatorId, ProcIndex};
use crate::words;
use model::{Finding, FindingKind, Process, StartedBy};

/// How many findings are shown.
const SHOWN: usize = 16;

/// Who polls, and the functions that may have started it there.
#[derive(Default)]
struct Polled {
    procs: Vec<ProcIndex>,
    started: Vec<String>,
}

/// What may have started a collective: by its operations, by the request that is tested, or as the only one in the source.
fn started(process: &Process, of_operations: &[StartedBy], sequence: i64) -> Vec<String> {
    let requests = process.calls.iter().flat_map(|call| &call.requests).filter(|one| one.sequence == Some(sequence));
    let known = of_operations.iter().chain(requests.flat_map(|one| &one.started_by)).map(|one| one.function.clone());
    let known: Vec<String> = known.collect();
    if !known.is_empty() {
        return known;
    }
    process.earlier_collectives.iter().map(|one| one.function.clone()).collect()
}

/// One finding for each collective.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut polled: BTreeMap<(CommunicatorId, i64), Polled> = BTreeMap::new();
    for op in &context.waits.polled {
        let (Some(process), Some(sequence)) = (context.process(op.proc), op.operation.sequence()) else { continue };
        let entry = polled.entry((op.shared, sequence)).or_default();
        if entry.procs.last() != Some(&op.proc) {
            entry.procs.push(op.proc);
            entry.started.extend(started(process, op.operation.started_by.as_slice(), sequence));
        }
    }
    // Later ones of a communicator wait for the first.
    let mut last = None;
    let mut first = |id: CommunicatorId| last.replace(id) != Some(id);
    polled
        .into_iter()
        .filter(|((id, _), _)| first(*id))
        .filter_map(|(key, entry)| finding_of(context, key, &entry))
        .take(SHOWN)
        .collect()
}

fn finding_of(context: &Context<'_>, (id, sequence): (CommunicatorId, i64), polled: &Polled) -> Option<Finding> {
    let shared = context.job.communicators.get(id.0).filter(|shared| shared.doubt.is_none())?;
    let behind = shared.views.iter().filter(|view| has_begun(view, sequence) == Some(false)).map(|view| view.proc);
    let held = |proc: &ProcIndex| context.polling.is_stuck(*proc) || context.is_out(*proc);
    let missing: Vec<ProcIndex> =
        behind.filter(|proc| held(proc) && !context.waits.polling.contains_key(proc)).collect();
    if missing.is_empty() {
        return None;
    }
    let job = context.job;
    let mut names: Vec<&str> = polled.started.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let name = match names[..] {
        [only] => only,
        _ => "the non-blocking collective",
    };
    let (who, others) = (words::procs(job, &missing), words::procs(job, &polled.procs));
    let verb = if polled.procs.len() == 1 { "polls" } else { "poll" };
    let place = on(context, id);
    let mut summary = format!("{who} {} not started {name} on {place} for which {others} {verb}", have(missing.len()));
    let mut evidence = vec![format!(
        "The library numbers the non-blocking collectives of {place}: {others} {verb} for number {sequence}, which {who} {} not reached.",
        have(missing.len())
    )];
    evidence.extend(whereabouts(context, &missing, &mut summary));
    evidence.push("Not certain: what else the loops around these calls do is not known.".to_owned());
    let all: Vec<ProcIndex> = missing.iter().chain(&polled.procs).copied().collect();
    Some(Finding {
        kind: FindingKind::MissingInCollective,
        summary,
        ranks: context.ranks(&missing),
        calls: context.calls(&all),
        certain: false,
        evidence,
        blamed: context.blamed(&all),
        ..Finding::default()
    })
}
