//! Which messages were received, and which are still to be, by how many were sent and how many receives have begun.

use hashbrown::HashMap;
use std::collections::BTreeMap;

use super::{Member, Members, communicator, recorded};
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

impl Counts {
    /// Whether nothing is missing in them.
    fn is_sure(self) -> bool {
        self.whole && self.untold == 0
    }
}

/// The operations of one member that wait, in their order, by the other rank and the tag.
#[derive(Debug, Default)]
struct Waiting {
    sends: HashMap<(i64, i64), Vec<usize>>,
    /// Those that name both.
    receives: HashMap<(i64, i64), Vec<usize>>,
}

/// Sets the state of the operations of a communicator's members, and lists the messages that nobody has received.
pub(super) fn settle(snapshot: &mut Snapshot, members: &Members) {
    let counts: Vec<Counts> = members.iter().map(|member| counts_of(snapshot, member)).collect();
    let waiting: Vec<Waiting> =
        members.iter().zip(&counts).map(|(member, known)| begin(snapshot, member, known.untold)).collect();
    for (way, numbers) in ways(snapshot, members, &counts) {
        if counts[way.from].untold == 0
            && counts[way.to].untold == 0
            && let (Some(sent), Some(received)) = (numbers.sent, numbers.received)
        {
            of_way(snapshot, members, &waiting, way, sent, received);
        }
    }
    let sides = [false, true].map(|second| {
        let of_side = || members.iter().zip(&counts).filter(move |(member, _)| member.second == second);
        (of_side().count(), of_side().all(|(_, counts)| counts.is_sure()))
    });
    for (member, known) in members.iter().zip(&counts) {
        finish(snapshot, member, *known, sides);
    }
}

fn counts_of(snapshot: &Snapshot, member: &Member) -> Counts {
    let known = recorded(snapshot, member);
    let history = snapshot.processes.get(member.process).and_then(|process| process.history.as_ref());
    let lost = history.is_none_or(|history| history.lost_messages > 0 || history.lost_calls > 0 || history.bypassed);
    let counted = known.is_some_and(|known| known.messages.is_some());
    Counts { whole: counted && !lost, untold: known.map_or(0, |known| known.untold) }
}

/// All operations as the recorder has them, before anything is concluded.
fn begin(snapshot: &mut Snapshot, member: &Member, untold: u64) -> Waiting {
    let Some(communicator) = communicator(snapshot, member) else { return Waiting::default() };
    for queue in [&mut communicator.pending_sends, &mut communicator.pending_receives] {
        if queue.operations.iter().any(|operation| operation.status != OperationStatus::Pending) {
            queue.operations.iter_mut().for_each(|operation| operation.status = OperationStatus::Pending);
        }
        if untold > 0 {
            queue.dropped = queue.dropped.max(untold);
        }
    }
    *communicator.unexpected_messages = Queue::default();
    Waiting {
        sends: by_rank_and_tag(&communicator.pending_sends),
        receives: by_rank_and_tag(&communicator.pending_receives),
    }
}

fn by_rank_and_tag(queue: &Queue) -> HashMap<(i64, i64), Vec<usize>> {
    let mut places: HashMap<(i64, i64), Vec<usize>> = HashMap::new();
    for (place, operation) in
        queue.operations.iter().enumerate().filter(|(_, operation)| !operation.any_source && !operation.tag_wild)
    {
        if let (Some(rank), Some(tag)) = (operation.desired_local_rank, operation.desired_tag) {
            places.entry((rank, tag)).or_default().push(place);
        }
    }
    places
}

/// Whether a member's peers are in the second group.
fn side_of_peers(member: &Member, is_inter: bool) -> bool {
    member.second != is_inter
}

/// How many messages went each way, in one order.
fn ways(snapshot: &Snapshot, members: &Members, counts: &[Counts]) -> BTreeMap<Way, Numbers> {
    let by_rank: HashMap<(bool, i64), usize> =
        members.iter().enumerate().map(|(at, member)| ((member.second, member.rank), at)).collect();
    let mut ways: BTreeMap<Way, Numbers> = BTreeMap::new();
    for (at, member) in members.iter().enumerate() {
        let Some(known) = recorded(snapshot, member) else { continue };
        let side = side_of_peers(member, known.remote_size.is_some());
        for count in known.messages.iter().flat_map(|all| all.iter()) {
            let Some(peer) = by_rank.get(&(side, count.peer)).copied() else { continue };
            if count.sent > 0 {
                ways.entry(Way { to: peer, from: at, tag: count.tag }).or_default().sent = Some(count.sent);
            }
            if count.received > 0 {
                ways.entry(Way { to: at, from: peer, tag: count.tag }).or_default().received = Some(count.received);
            }
        }
    }
    // Who counts everything has sent and received none of what it does not list.
    let none = |at: usize| counts.get(at).is_some_and(|counts| counts.whole).then_some(0);
    for (way, numbers) in &mut ways {
        numbers.sent = numbers.sent.or_else(|| none(way.from));
        numbers.received = numbers.received.or_else(|| none(way.to));
    }
    ways
}

fn of_way(snapshot: &mut Snapshot, members: &Members, waiting: &[Waiting], way: Way, sent: u64, received: u64) {
    let (Some(from), Some(to)) = (members.get(way.from), members.get(way.to)) else { return };
    let receives = waiting.get(way.to).and_then(|one| one.receives.get(&(from.rank, way.tag)));
    keep_latest(snapshot, to, QueueKind::PendingReceives, receives, received.saturating_sub(sent));
    let unreceived = sent.saturating_sub(received);
    let sends = waiting.get(way.from).and_then(|one| one.sends.get(&(to.rank, way.tag)));
    let open = keep_latest(snapshot, from, QueueKind::PendingSends, sends, unreceived);
    let Some(communicator) = communicator(snapshot, to) else { return };
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

/// Of these operations the latest ones wait still, so many; the others are matched. Returns how many wait.
fn keep_latest(
    snapshot: &mut Snapshot,
    member: &Member,
    queue: QueueKind,
    places: Option<&Vec<usize>>,
    waiting: u64,
) -> u64 {
    let (Some(communicator), Some(places)) = (communicator(snapshot, member), places) else { return 0 };
    let kept = places.len().min(usize::try_from(waiting).unwrap_or(usize::MAX));
    let operations = &mut queue.of_mut(communicator).operations;
    for place in &places[..places.len() - kept] {
        if let Some(operation) = operations.get_mut(*place) {
            operation.status = OperationStatus::Matched;
        }
    }
    kept as u64
}

/// Says whether all messages to a member are known. `sides`: how many members of each group were read, and whether the counts
/// of all these are sure.
fn finish(snapshot: &mut Snapshot, member: &Member, own: Counts, sides: [(usize, bool); 2]) {
    let known = recorded(snapshot, member);
    let inter = known.and_then(|known| known.remote_size);
    let size = inter.or_else(|| known.and_then(|known| known.size)).unwrap_or(0);
    let (read, peers) = sides[usize::from(side_of_peers(member, inter.is_some()))];
    let why = if !own.is_sure() {
        Some(
            "not all of its messages could be counted: some were cancelled, freed, or did not fit into the flight \
             recorder",
        )
    } else if i64::try_from(read).is_ok_and(|read| read < size) {
        Some("messages of members that were not read are not known")
    } else if !peers {
        Some("not all messages of other members could be counted")
    } else {
        None
    };
    let Some(communicator) = communicator(snapshot, member) else { return };
    let queue = &mut communicator.unexpected_messages;
    if let Some(why) = why {
        (queue.state, queue.detail) = (QueueState::Error, Some(why.to_owned()));
    }
    queue.unordered = if queue.operations.len() > 1 { queue.operations.len() as u64 } else { 0 };
    // All that was sent is received or listed: nothing is on its way unseen.
    communicator.traffic_complete = why.is_none();
}
