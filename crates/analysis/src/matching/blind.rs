//! What was not read, so that nothing follows from its absence.

use hashbrown::HashMap;

use super::{Entry, Matching};
use crate::job::{CommunicatorId, Job, ProcIndex, View};
use crate::words;
use model::{OperationStatus, Queue, QueueKind, QueueState, Remark};

impl Matching<'_> {
    /// Why nothing follows from an operation having no counterpart; `None` where all that could be one was read. Of
    /// receives this is about messages that have arrived or wait at their sender, not about those on their way.
    pub fn blind(&self, job: &Job<'_>, entry: &Entry<'_>) -> Option<String> {
        let shared = job.communicators.get(entry.communicator.0)?;
        if let Some(doubt) = &shared.doubt {
            return Some(format!("{}: {doubt}", words::named(shared.name)));
        }
        let own = shared.view(entry.place.proc).map(|view| view.communicator);
        match entry.place.queue {
            QueueKind::PendingReceives => {
                let arrived = own.and_then(|own| missing(&own.unexpected_messages));
                let arrived =
                    arrived.map(|why| format!("unexpected messages at {}: {why}", name(job, entry.place.proc)));
                arrived.or_else(|| match entry.peer {
                    Some(peer) => sends_of(job, entry.communicator, peer),
                    None => self.unknown_sends.get(&entry.communicator).cloned(),
                })
            }
            QueueKind::PendingSends => {
                let Some(peer) = entry.peer else { return Some("its receiver is not known".to_owned()) };
                let Some(process) = job.procs.get(peer.0).and_then(|proc| proc.process) else {
                    return Some(format!("{} was not read", name(job, peer)));
                };
                let Some(view) = shared.view(peer) else {
                    return process.problems.first().map(|problem| format!("{}: {problem}", name(job, peer)));
                };
                missing(&view.communicator.pending_receives)
                    .map(|why| format!("pending receives of {}: {why}", name(job, peer)))
            }
            QueueKind::UnexpectedMessages => own
                .and_then(|own| missing(&own.pending_receives))
                .map(|why| format!("pending receives of {}: {why}", name(job, entry.place.proc))),
        }
    }
}

/// How many messages of each sender to each receiver are seen, though they have not arrived: as pending sends, or in transit.
pub(super) type Unsent = HashMap<(CommunicatorId, ProcIndex, ProcIndex), u64>;

impl Matching<'_> {
    /// How many messages on a communicator are on their way from one process to another and are seen nowhere; `None` where the
    /// library does not count, or one of them was not read.
    pub fn unseen(&self, job: &Job<'_>, communicator: CommunicatorId, from: ProcIndex, to: ProcIndex) -> Option<u64> {
        let coming = Self::coming(job, communicator, from, to)?;
        coming.checked_sub(self.unsent.get(&(communicator, from, to)).copied().unwrap_or_default())
    }

    /// How many messages on a communicator have left one process and have not arrived at another; `None` as for `unseen`.
    pub fn coming(job: &Job<'_>, communicator: CommunicatorId, from: ProcIndex, to: ProcIndex) -> Option<u64> {
        let shared = job.communicators.get(communicator.0).filter(|shared| shared.doubt.is_none())?;
        let (sender, receiver) = (shared.view(from)?, shared.view(to)?);
        let count = |one: &View<'_>, other: &View<'_>| {
            let rank = other.communicator.local_rank?;
            let mut counted = one.communicator.traffic.iter();
            let traffic = counted.find(|count| count.local_rank == rank && !count.within_local_group);
            let none = one.communicator.traffic_complete.then_some((Some(0), Some(0), None));
            traffic.map(|count| (count.sent, count.arrived, Some(count.modulus))).or(none)
        };
        let ((sent, _, one), (_, arrived, two)) = (count(sender, receiver)?, count(receiver, sender)?);
        let (sent, arrived) = (sent?, arrived?);
        let Some(modulus) = one.or(two) else { return Some(0) };
        if one.is_some_and(|one| two.is_some_and(|two| one != two)) {
            return None;
        }
        if sent >= modulus || arrived >= modulus {
            return None;
        }
        Some(if sent >= arrived { sent - arrived } else { sent + (modulus - arrived) })
    }
}

/// Counts the sends that have not arrived, and the messages in transit.
pub(super) fn unsent(entries: &[Entry<'_>]) -> Unsent {
    let mut unsent = Unsent::new();
    for entry in entries.iter().filter(|entry| entry.operation.status == OperationStatus::InTransit) {
        let within = entry.operation.has(&Remark::WithinLocalGroup);
        if let Some(from) = entry.peer.filter(|_| !within) {
            *unsent.entry((entry.communicator, from, entry.place.proc)).or_default() += 1;
        }
    }
    for entry in entries.iter().filter(|entry| entry.place.queue == QueueKind::PendingSends) {
        let within = entry.operation.has(&Remark::WithinLocalGroup);
        if let (Some(to), true) = (entry.peer, entry.waits() && entry.same.is_none() && !within) {
            *unsent.entry((entry.communicator, entry.place.proc, to)).or_default() += 1;
        }
    }
    unsent
}

/// How a process is named in sentences.
pub fn name(job: &Job<'_>, proc: ProcIndex) -> String {
    match job.procs.get(proc.0).and_then(|proc| proc.rank) {
        Some(rank) => format!("rank {rank}"),
        None => "a process whose rank is not known".to_owned(),
    }
}

fn missing(queue: &Queue) -> Option<String> {
    let why = || match (&queue.detail, queue.state) {
        (Some(detail), _) => detail.clone(),
        (None, QueueState::Ok) => "some were found, but it is not known what they are".to_owned(),
        (None, _) => "they could not be read".to_owned(),
    };
    (!queue.is_whole()).then(why)
}

/// Why it is not known what a member sends.
fn sends_of(job: &Job<'_>, communicator: CommunicatorId, peer: ProcIndex) -> Option<String> {
    let Some(process) = job.procs.get(peer.0).and_then(|proc| proc.process) else {
        return Some(format!("{} was not read", name(job, peer)));
    };
    let view = job.communicators.get(communicator.0).and_then(|shared| shared.view(peer));
    let Some(view) = view else {
        return process.problems.first().map(|problem| format!("{}: {problem}", name(job, peer)));
    };
    missing(&view.communicator.pending_sends).map(|why| format!("pending sends of {}: {why}", name(job, peer)))
}

/// Of which communicators the sends of some member are not known, and why.
pub(super) fn unknown_sends(job: &Job<'_>) -> HashMap<CommunicatorId, String> {
    let mut unknown = HashMap::new();
    for (index, shared) in job.communicators.iter().enumerate() {
        let id = CommunicatorId(index);
        let members = shared.groups.as_deref().map(|groups| groups.iter().flatten());
        let why = match members {
            None => Some("its members are not known".to_owned()),
            Some(mut members) => members.find_map(|member| match member {
                None => Some("not all of its members are known".to_owned()),
                Some(member) => sends_of(job, id, *member),
            }),
        };
        if let Some(why) = why {
            unknown.insert(id, why);
        }
    }
    unknown
}
