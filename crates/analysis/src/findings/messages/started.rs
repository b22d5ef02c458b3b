//! Persistent requests that were made and are not started, where somebody waits for what they would do.

use hashbrown::HashMap;

use super::text::{blamed, counted, place, receiver, sender, sent, starts, wants};
use super::{Context, MAX_FINDINGS};
use crate::blame::Blame;
use crate::job::{CommunicatorId, ProcIndex};
use crate::matching::{Entry, Outcome, name, peer};
use model::{Finding, FindingKind, Operation, QueueKind, RankStart};

/// Who waits, on which communicator, for whom, and for which tag; `None`: any.
type Waiting = (ProcIndex, CommunicatorId, Option<ProcIndex>, Option<i64>);

pub(super) fn find(context: &Context<'_, '_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut communicators = context.job.snapshot.processes.iter().flat_map(|process| &process.communicators);
    // Most programs have no persistent requests: what ranks wait for is not asked for their sake.
    if communicators.all(|communicator| communicator.inactive.is_empty()) {
        return findings;
    }
    let waiting = waiting(context);
    if waiting.is_empty() {
        return findings;
    }
    for (index, process) in context.job.snapshot.processes.iter().enumerate() {
        let proc = ProcIndex(index);
        // For one that waits, the first request that would help it, and how many.
        let mut helped: HashMap<usize, (Entry<'_>, &Operation, usize)> = HashMap::new();
        for (at, communicator) in
            process.communicators.iter().enumerate().filter(|(_, communicator)| !communicator.inactive.is_empty())
        {
            let Some(id) = context.job.communicator(index, at) else { continue };
            let Some(shared) = context.job.communicators.get(id.0) else { continue };
            let Some(view) = shared.view(proc).filter(|view| view.place == at) else { continue };
            for operation in &communicator.inactive {
                let other = peer(context.job, shared, view, operation);
                let tag = operation.desired_tag;
                let send = is_send(operation);
                let keys = match (send, other) {
                    (true, Some(to)) => [(Some(proc), tag), (Some(proc), None), (None, tag), (None, None)]
                        .map(|(from, tag)| (to, id, from, tag))
                        .to_vec(),
                    // What waits is a message to this process: of any sender, or any tag, where the receive takes these.
                    (false, other) => vec![(proc, id, other, if operation.tag_wild { None } else { tag })],
                    (true, None) => Vec::new(),
                };
                let map = if send { &waiting.receives } else { &waiting.messages };
                if let Some(number) = keys.iter().find_map(|key| map.get(key)).copied()
                    && let Some(entry) = context.matching.entries.get(number)
                {
                    helped.entry(number).or_insert_with(|| (entry.clone(), operation, 0)).2 += 1;
                }
            }
        }
        let mut helped: Vec<_> = helped.into_iter().collect();
        helped.sort_by_key(|(at, _)| *at);
        for (_, (entry, operation, count)) in helped {
            if findings.len() >= MAX_FINDINGS {
                return findings;
            }
            findings.push(finding(context, proc, &entry, operation, count));
        }
    }
    findings
}

/// What stuck ranks wait for: places in the list of entries.
struct Lists {
    receives: HashMap<Waiting, usize>,
    messages: HashMap<Waiting, usize>,
}

impl Lists {
    fn is_empty(&self) -> bool {
        self.receives.is_empty() && self.messages.is_empty()
    }
}

fn waiting(context: &Context<'_, '_>) -> Lists {
    let mut lists = Lists { receives: HashMap::new(), messages: HashMap::new() };
    for (at, entry) in context.matching.entries.iter().enumerate() {
        let alone = entry.is_own() && entry.outcome == Outcome::Unmatched;
        if !alone || context.is_stuck_in(entry).is_none() {
            continue;
        }
        let comm = entry.communicator;
        if entry.place.queue == QueueKind::PendingReceives {
            let tag = if entry.operation.tag_wild { None } else { entry.operation.desired_tag };
            lists.receives.entry((entry.place.proc, comm, entry.peer, tag)).or_insert(at);
        } else if let (Some(from), Some(to), Some(tag)) = (sender(entry), receiver(entry), entry.operation.desired_tag)
        {
            for (from, tag) in [(Some(from), Some(tag)), (Some(from), None), (None, Some(tag)), (None, None)] {
                lists.messages.entry((to, comm, from, tag)).or_insert(at);
            }
        }
    }
    lists
}

/// Receives alone are made by MPI_Recv_init. MPICH does not keep which of two functions made a send.
fn is_send(operation: &Operation) -> bool {
    operation.call.as_deref() != Some("MPI_Recv_init")
}

fn finding(
    context: &Context<'_, '_>,
    proc: ProcIndex,
    entry: &Entry<'_>,
    operation: &Operation,
    count: usize,
) -> Finding {
    let own = name(context.job, proc);
    let direction = if is_send(operation) { "send" } else { "receive" };
    let other = name(context.job, entry.place.proc);
    let waits = if entry.place.queue == QueueKind::PendingReceives {
        format!("{other} waits for {}", wants(context, entry))
    } else {
        format!("{} and waits", sent(context, entry))
    };
    let certain = context.is_stuck_in(entry) == Some(true) && context.matching.blind(context.job, entry).is_none();
    let mut evidence = vec![format!(
        "{own} has {} that would do it and {} inactive: a wait for an inactive request returns at once",
        counted(count, &format!("persistent {direction}")),
        if count == 1 { "is" } else { "are" }
    )];
    if !certain {
        evidence.push("it is not certain that nothing else comes".to_owned());
    }
    let mut finding = Finding {
        kind: FindingKind::NeverStarted,
        summary: format!("{waits}, but the persistent {direction} of {own} for it is not started"),
        certain,
        evidence,
        ..Finding::default()
    };
    let rank = context.job.procs.get(proc.0).and_then(|proc| proc.rank);
    let made = operation.started_by.iter().map(|started| RankStart { rank, started: started.clone() });
    let mut blame = Blame::default();
    made.clone().for_each(|start| blame.start(&start));
    finding.blamed = blame.places();
    finding.blamed.extend(blamed(context, &[entry]));
    finding.started_by = made.chain(starts(context, entry)).collect();
    place(context, &mut finding, &[(proc, None), (entry.place.proc, None)]);
    finding
}
