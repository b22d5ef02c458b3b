//! Which messages were received, and which are still to be, by how many were sent and how many receives have begun.

use hashbrown::HashMap;
use std::collections::BTreeMap;

use super::{Members, recorded};
use model::{Operation, OperationStatus, Queue, QueueKind, QueueState, Remark, Snapshot};

/// So many messages of one sender and tag are listed; the others are only counted.
const MOST_LISTED: u64 = 256;

const NO_LENGTH: &str = "the flight recorder counts messages only";

/// Messages from one member to another with one tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    to: usize,
    from: usize,
    tag: i64,
}

/// How many there are; `None` where that is not known.
#[derive(Debug, Clone, Copy, Default)]
struct Numbers {
    sent: Option<u64>,
    received: Option<u64>,
}

/// What is known of the counts of one member.
#[derive(Debug, Clone, Copy)]
struct Counts {
    /// Whether all that it sent and received is in them.
    whole: bool,
    /// Messages of which it is not known from whom they are, or whether they were received.
    untold: u64,
}

/// Sets the state of the operations of a communicator's members, and lists the messages that nobody has received.
pub(super) fn settle(snapshot: &mut Snapshot, members: &Members) {
    let counts: Vec<Counts> =
        members.iter().map(|member| counts_of(snapshot, member.process, member.communicator)).collect();
    let by_rank: HashMap<(bool, i64), usize> =
        members.iter().enumerate().map(|(at, member)| ((member.second, member.rank), at)).collect();
    for (member, known) in members.iter().zip(&counts) {
        begin(snapshot, member.process, member.communicator, known.untold);
    }
    for (way, numbers) in ways(snapshot, members, &counts, &by_rank) {
        if counts[way.from].untold == 0
            && counts[way.to].untold == 0
            && let (Some(sent), Some(received)) = (numbers.sent, numbers.received)
        {
            of_way(snapshot, members, way, sent, received);
        }
    }
    for (at, member) in members.iter().enumerate() {
        finish(snapshot, members, at, &counts, &by_rank, member.second);
    }
}

fn counts_of(snapshot: &Snapshot, process: usize, communicator: usize) -> Counts {
    let known = recorded(snapshot, process, communicator);
    let history = snapshot.processes.get(process).and_then(|process| process.history.as_ref());
    let lost = history.is_none_or(|history| history.lost_messages > 0 || history.lost_calls > 0 || history.bypassed);
    let counted = known.is_some_and(|known| known.messages.is_some());
    Counts { whole: counted && !lost, untold: known.map_or(0, |known| known.untold) }
}

/// All operations as the recorder has them, before anything is concluded.
fn begin(snapshot: &mut Snapshot, process: usize, communicator: usize, untold: u64) {
    let Some(process) = snapshot.processes.get_mut(process) else { return };
    let Some(communicator) = process.communicators.get_mut(communicator) else { return };
    for queue in [&mut communicator.pending_sends, &mut communicator.pending_receives] {
        if queue.operations.iter().any(|one| one.status != OperationStatus::Pending) {
            queue.operations.iter_mut().for_each(|one| one.status = OperationStatus::Pending);
        }
        if untold > 0 {
            queue.dropped = queue.dropped.max(untold);
        }
    }
    *communicator.unexpected_messages = Queue::default();
}

/// How many messages went each way, in one order.
fn ways(
    snapshot: &Snapshot,
    members: &Members,
    counts: &[Counts],
    by_rank: &HashMap<(bool, i64), usize>,
) -> BTreeMap<Way, Numbers> {
    let mut found: BTreeMap<Way, Numbers> = BTreeMap::new();
    for (at, member) in members.iter().enumerate() {
        let Some(known) = recorded(snapshot, member.process, member.communicator) else { continue };
        let side = if known.remote_size.is_some() { !member.second } else { member.second };
        for count in known.messages.iter().flat_map(|all| all.iter()) {
            let Some(peer) = by_rank.get(&(side, count.peer)).copied() else { continue };
            if count.sent > 0 {
                found.entry(Way { to: peer, from: at, tag: count.tag }).or_default().sent = Some(count.sent);
            }
            if count.received > 0 {
                found.entry(Way { to: at, from: peer, tag: count.tag }).or_default().received = Some(count.received);
            }
        }
    }
    // Who counts everything has none of what it does not tell.
    let none = |at: usize| counts.get(at).is_some_and(|counts| counts.whole).then_some(0);
    for (way, numbers) in &mut found {
        numbers.sent = numbers.sent.or_else(|| none(way.from));
        numbers.received = numbers.received.or_else(|| none(way.to));
    }
    found
}

fn of_way(snapshot: &mut Snapshot, members: &Members, way: Way, sent: u64, received: u64) {
    let (Some(from), Some(to)) = (members.get(way.from), members.get(way.to)) else { return };
    let waiting = received.saturating_sub(sent);
    let receives = operations(snapshot, to.process, to.communicator, QueueKind::PendingReceives);
    keep_latest(receives, waiting, |one| {
        !one.any_source
            && !one.tag_wild
            && one.desired_local_rank == Some(from.rank)
            && one.desired_tag == Some(way.tag)
    });
    let unreceived = sent.saturating_sub(received);
    let sends = operations(snapshot, from.process, from.communicator, QueueKind::PendingSends);
    let open = keep_latest(sends, unreceived, |one| {
        one.desired_local_rank == Some(to.rank) && one.desired_tag == Some(way.tag)
    });
    let Some(process) = snapshot.processes.get_mut(to.process) else { return };
    let Some(communicator) = process.communicators.get_mut(to.communicator) else { return };
    let queue = &mut communicator.unexpected_messages;
    let listed = unreceived.min(MOST_LISTED);
    queue.dropped = queue.dropped.saturating_add(unreceived - listed);
    for number in 0..listed {
        let mut message = Operation {
            desired_local_rank: Some(from.rank),
            desired_global_rank: from.global,
            desired_tag: Some(way.tag),
            actual_local_rank: Some(from.rank),
            actual_global_rank: from.global,
            actual_tag: Some(way.tag),
            evidence: Some(format!("the flight recorders have counted {sent} sent and {received} received").into()),
            ..Operation::default()
        };
        // Its send is over: nothing of it is left there.
        if number + open < listed {
            message.extra_text.push(Remark::Eager);
        }
        message.not_known("desired_length", NO_LENGTH);
        queue.operations.push(message);
    }
}

fn operations(snapshot: &mut Snapshot, process: usize, communicator: usize, queue: QueueKind) -> &mut [Operation] {
    let process = snapshot.processes.get_mut(process);
    let communicator = process.and_then(|process| process.communicators.get_mut(communicator));
    communicator.map_or(&mut [], |communicator| queue.of_mut(communicator).operations.as_mut_slice())
}

/// Of those that are meant the latest ones wait still, so many; the others are matched. Returns how many wait.
fn keep_latest(operations: &mut [Operation], waiting: u64, is_meant: impl Fn(&Operation) -> bool) -> u64 {
    let mut kept = 0;
    for operation in operations.iter_mut().rev().filter(|one| is_meant(one)) {
        if kept < waiting {
            kept += 1;
        } else {
            operation.status = OperationStatus::Matched;
        }
    }
    kept
}

/// Says whether all messages to a member are known.
fn finish(
    snapshot: &mut Snapshot,
    members: &Members,
    at: usize,
    counts: &[Counts],
    by_rank: &HashMap<(bool, i64), usize>,
    second: bool,
) {
    let Some(member) = members.get(at) else { return };
    let known = recorded(snapshot, member.process, member.communicator);
    let inter = known.and_then(|known| known.remote_size);
    let size = inter.or_else(|| known.and_then(|known| known.size)).unwrap_or(0);
    let side = if inter.is_some() { !second } else { second };
    let read = members.iter().filter(|member| member.second == side).count() as i64;
    let is_sure = |at: usize| counts.get(at).is_some_and(|counts| counts.whole && counts.untold == 0);
    let peers = by_rank.iter().filter(|((one, _), _)| *one == side).all(|(_, at)| is_sure(*at));
    let why = if !is_sure(at) {
        Some(
            "not all of its messages could be counted: some were cancelled, freed, or had no room in the flight recorder",
        )
    } else if read < size {
        Some("messages of members that were not read are not known")
    } else if !peers {
        Some("not all messages of other members could be counted")
    } else {
        None
    };
    let Some(process) = snapshot.processes.get_mut(member.process) else { return };
    let Some(communicator) = process.communicators.get_mut(member.communicator) else { return };
    let queue = &mut communicator.unexpected_messages;
    if let Some(why) = why {
        (queue.state, queue.detail) = (QueueState::Error, Some(why.to_owned()));
    }
    queue.unordered = if queue.operations.len() > 1 { queue.operations.len() as u64 } else { 0 };
    // All that was sent is received or listed: nothing is on its way unseen.
    communicator.traffic_complete = why.is_none();
}
