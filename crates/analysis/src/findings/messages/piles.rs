//! Operations that pile up: messages that nobody receives, requests that nobody completes.

use hashbrown::HashMap;

use super::text::{counted, length, place};
use super::{Context, Fate, MAX_FINDINGS};
use crate::advice::{self, Change};
use crate::blame::Blame;
use crate::job::ProcIndex;
use crate::matching::{Entry, name};
use crate::words;
use model::{Finding, FindingKind, OperationStatus, QueueKind};

/// So many messages at one rank are a flood: an eager message takes a fragment of 4 KiB or more of the library's memory, so
/// these are megabytes that nobody asked for; halo exchanges and task queues keep tens.
const FLOOD_MESSAGES: usize = 1000;

/// So many bytes are, where they are not few large messages, which stay with their senders: with the usual eager limits of
/// 4 to 64 KiB it takes a thousand messages and more.
const FLOOD_BYTES: u64 = 64 << 20;

/// Fewer messages than these are no flood, however large.
const FLOOD_AT_LEAST: usize = 100;

/// So many complete requests that nobody waits for are lost, not merely waited for later: programs complete what they
/// start within an iteration.
const LOST_REQUESTS: usize = 1000;

pub(super) fn find(context: &Context<'_, '_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for index in 0..context.job.snapshot.processes.len() {
        let proc = ProcIndex(index);
        findings.extend(flood(context, proc));
        findings.extend(lost(context, proc));
        if findings.len() >= MAX_FINDINGS {
            break;
        }
    }
    findings
}

/// A sender, a tag, and the place of a communicator.
type Sort = (Option<ProcIndex>, Option<i64>, usize);

fn flood(context: &Context<'_, '_>, proc: ProcIndex) -> Option<Finding> {
    let entries = context.matching.of_proc(proc);
    // What is in transit lies in memory of its sender's.
    let taken = |entry: &&Entry<'_>| {
        let arrived = entry.place.queue == QueueKind::UnexpectedMessages;
        arrived && entry.operation.status != OperationStatus::InTransit && entry.is_own()
    };
    let messages = || entries.iter().filter(taken);
    let count = messages().count();
    let sum = |bytes: u64, length: Option<u64>| bytes.saturating_add(length.unwrap_or_default());
    // What waits at its sender takes no memory here.
    let bytes = messages().filter(|entry| entry.same.is_none()).map(length).fold(0, sum);
    if count < FLOOD_MESSAGES && (bytes < FLOOD_BYTES || count < FLOOD_AT_LEAST) {
        return None;
    }
    let mut by_sort: HashMap<Sort, (usize, u64)> = HashMap::new();
    for entry in messages() {
        let sort = (entry.peer, entry.operation.desired_tag, entry.place.communicator);
        let most = by_sort.entry(sort).or_default();
        most.0 += 1;
        most.1 = sum(most.1, length(entry));
    }
    let ((peer, tag, comm), (most, of_bytes)) = by_sort.into_iter().max_by_key(|(sort, (most, _))| (*most, *sort))?;
    let own = name(context.job, proc);
    let from = peer.map_or_else(|| "an unknown rank".to_owned(), |peer| name(context.job, peer));
    let communicator = context.job.snapshot.processes.get(proc.0).and_then(|process| process.communicators.get(comm));
    let on = communicator.map_or_else(String::new, |communicator| format!(" on {}", words::communicator(communicator)));
    let tag = tag.map_or_else(|| "a tag that is not known".to_owned(), |tag| format!("tag {tag}"));
    let evidence = vec![
        format!("{} of {of_bytes} bytes come from {from} with {tag}{on}", counted(most, "message")),
        "messages that have arrived and that no receive has taken use the library's memory".to_owned(),
    ];
    let mut finding = Finding {
        kind: FindingKind::UnexpectedFlood,
        summary: format!(
            "{} of {bytes} bytes pile up at {own}, most from {from} with {tag}{on}",
            counted(count, "message")
        ),
        certain: true,
        evidence,
        ..Finding::default()
    };
    let procs: Vec<_> = std::iter::once(proc).chain(peer).map(|proc| (proc, None)).collect();
    place(context, &mut finding, &procs);
    blame_standing(&mut finding);
    Some(finding)
}

/// Such a finding is about the ranks, wherever they stand.
fn blame_standing(finding: &mut Finding) {
    let mut blame = Blame::default();
    finding.calls.iter().for_each(|one| blame.standing(one.rank, &one.call));
    finding.blamed = blame.places();
}

/// Requests that are complete and that nobody waits for or tests.
fn lost(context: &Context<'_, '_>, proc: ProcIndex) -> Option<Finding> {
    let requests = || {
        let entries = context.matching.of_proc(proc).iter();
        entries.filter(|entry| entry.place.queue != QueueKind::UnexpectedMessages && entry.is_own() && !entry.probe)
    };
    let complete = requests().filter(|entry| entry.operation.status == OperationStatus::Complete).count();
    let own = || name(context.job, proc);
    let (summary, evidence) = match context.fate(proc) {
        Fate::Finished(how) if requests().next().is_some() => {
            let (own, all) = (own(), requests().count());
            let requests = counted(all, "request");
            (
                format!("{own} {how} with {requests} that it never completed"),
                format!(
                    "{complete} of {all} are complete but were not waited for, tested or freed; the others are not \
                     complete"
                ),
            )
        }
        _ if complete >= LOST_REQUESTS => (
            format!("{} has {complete} requests that are complete and that nobody waited for", own()),
            "each of them uses the library's memory until MPI_Wait, MPI_Test or MPI_Request_free".to_owned(),
        ),
        _ => return None,
    };
    let mut finding = Finding {
        kind: FindingKind::NeverCompleted,
        summary,
        certain: true,
        evidence: vec![evidence],
        ..Finding::default()
    };
    place(context, &mut finding, &[(proc, None)]);
    blame_standing(&mut finding);
    if matches!(context.fate(proc), Fate::Finished(_)) {
        advice::give(&mut finding, Change::Unfinished);
    }
    Some(finding)
}
