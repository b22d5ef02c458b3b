//! Sends that the messages at their receivers name: what the sender's library does not keep, the receiver's has.
//!
//! A message whose sender waits for an answer carries the request that the answer is for. So a message that nobody has received
//! (`Operation::sender_request`) tells the peer, the tag and the length of one send (`Operation::library_request`) of the
//! process that it came from, and the messages of one sender at one receiver tell the order of its sends. Only what agrees in
//! everything that both know is believed.

use hashbrown::HashMap;

use model::{Communicator, Operation, OperationStatus, Remark, Snapshot};

/// A pending send: its process, its communicator, its place in the queue.
type SendPlace = (usize, usize, usize);

/// What is said of a process with sends that could not be put in order.
const ORDER: &str = "pending sends: the MPI library keeps some of those to one peer on no list, and the order in \
    which they were posted is not known; if their messages were read at that peer, they are in the order of these";

/// Completes the sends of a snapshot whose processes are numbered (`universe::number`), and notes where their order is not known.
pub fn complete(snapshot: &mut Snapshot) {
    let named = names(snapshot);
    for (at, name) in &named {
        fill(snapshot, *at, name);
    }
    order(snapshot, &named);
    for process in &mut snapshot.processes {
        let unordered = process.communicators.iter().map(|communicator| communicator.pending_sends.unordered);
        let unordered = unordered.fold(0_u64, u64::saturating_add);
        if unordered > 1 && process.notes.iter().all(|note| note != ORDER) {
            process.notes.push(ORDER.to_owned());
        }
    }
}

/// What a message says of the send that it names.
struct Name {
    /// The receiver's global rank.
    receiver: i64,
    /// Its rank among those that the sender sends to; `None` where the library sends on a communicator of its own.
    local: Option<i64>,
    tag: Option<i64>,
    length: Option<u64>,
    /// The message's place among the receiver's; `None` of one that a matching probe has taken.
    order: Option<usize>,
    /// What the library posts it for, where it is the library's.
    internal: Option<Vec<Remark>>,
}

/// The sends that exactly one message names, with what it says of them.
fn names(snapshot: &Snapshot) -> HashMap<SendPlace, Name> {
    let mut waiting: HashMap<(usize, u64), Option<SendPlace>> = HashMap::new();
    for (at, operation) in sends(snapshot) {
        if let Some(request) = operation.library_request.filter(|_| operation.status != OperationStatus::Complete) {
            waiting.entry((at.0, request)).and_modify(|known| *known = None).or_insert(Some(at));
        }
    }
    let mut named: HashMap<SendPlace, Option<Name>> = HashMap::new();
    if waiting.is_empty() {
        return HashMap::new();
    }
    let mut ranks: HashMap<i64, Option<usize>> = HashMap::new();
    for (index, process) in snapshot.processes.iter().enumerate() {
        if let Some(rank) = snapshot.rank_of(process) {
            ranks.entry(rank).and_modify(|known| *known = None).or_insert(Some(index));
        }
    }
    for process in &snapshot.processes {
        let Some(receiver) = snapshot.rank_of(process).filter(|rank| ranks.get(rank).is_some_and(Option::is_some))
        else {
            continue;
        };
        for communicator in &process.communicators {
            let arrived = communicator.unexpected_messages.operations.iter().enumerate();
            let held = communicator.pending_receives.operations.iter();
            let held = held.filter(|operation| operation.has(&Remark::MatchedMessage));
            let messages = arrived.map(|(at, message)| (Some(at), message)).chain(held.map(|message| (None, message)));
            for (order, message) in messages {
                let (Some(request), Some(sender)) = (message.sender_request, message.actual_global_rank) else {
                    continue;
                };
                let Some(Some(sender)) = ranks.get(&sender) else { continue };
                let Some(Some(at)) = waiting.get(&(*sender, request)) else { continue };
                let name = agreed(snapshot, *at, receiver, communicator, message).map(|name| Name { order, ..name });
                // What two messages name, or one that contradicts, is not known.
                named.entry(*at).and_modify(|known| *known = None).or_insert(name);
            }
        }
    }
    named.into_iter().filter_map(|(at, name)| Some((at, name?))).collect()
}

fn sends(snapshot: &Snapshot) -> impl Iterator<Item = (SendPlace, &Operation)> {
    snapshot.processes.iter().enumerate().flat_map(|(process, read)| {
        read.communicators.iter().enumerate().flat_map(move |(comm, communicator)| {
            let operations = communicator.pending_sends.operations.iter().enumerate();
            operations.map(move |(index, operation)| ((process, comm, index), operation))
        })
    })
}

/// What a message says of a send, if both can be of one communicator and nothing that both know differs.
fn agreed(
    snapshot: &Snapshot,
    (process, comm, index): SendPlace,
    receiver: i64,
    theirs: &Communicator,
    message: &Operation,
) -> Option<Name> {
    let ours = snapshot.processes.get(process)?.communicators.get(comm)?;
    let send = ours.pending_sends.operations.get(index)?;
    let librarys = |operation: &Operation| operation.has(&Remark::WithinLibrarysCommunicator);
    let same =
        |ours: Option<i64>, theirs: Option<i64>| ours.is_none_or(|ours| theirs.is_none_or(|theirs| ours == theirs));
    let length = message.actual_length.or(message.desired_length);
    let mut fits = is_one(ours, theirs)
        && librarys(send) == librarys(message)
        && same(send.desired_tag, message.actual_tag)
        && same(send.desired_global_rank, Some(receiver))
        && send.desired_length.is_none_or(|known| length.is_none_or(|length| known == length));
    let local = theirs.local_rank.filter(|_| !librarys(send));
    if let Some(local) = local {
        let peers = ours.remote_group.as_ref().or(ours.group.as_ref());
        let member = peers.map(|peers| usize::try_from(local).ok().and_then(|at| peers.get(at)).copied());
        // A member beyond the group is none; one that is not known may be anybody.
        fits &= member.is_none_or(|member| member.is_some_and(|known| known.is_none_or(|known| known == receiver)))
            && same(send.desired_local_rank, Some(local))
            && same(ours.local_rank, message.actual_local_rank);
    }
    let purpose =
        |remark: &&Remark| matches!(remark, Remark::Collective(_) | Remark::NumberedCollective(_) | Remark::Library(_));
    let internal = message.internal.then(|| message.extra_text.iter().filter(purpose).cloned().collect());
    fits.then_some(Name { receiver, local, tag: message.actual_tag, length, order: None, internal })
}

/// Whether two processes' communicators may be one: as far as both know, its id and its size.
fn is_one(ours: &Communicator, theirs: &Communicator) -> bool {
    let swapped = |id: &str| id.split_once('/').map(|(sends, receives)| format!("{receives}/{sends}"));
    let ids = ours.context_id.as_deref().zip(theirs.context_id.as_deref());
    let inter = (ours.remote_group.is_some(), theirs.remote_group.is_some());
    inter.0 == inter.1
        && (inter.0 || ours.size.zip(theirs.size).is_none_or(|(ours, theirs)| ours == theirs))
        && ids.is_none_or(|(ours, theirs)| ours == theirs || swapped(ours).as_deref() == Some(theirs))
}

fn fill(snapshot: &mut Snapshot, (process, comm, index): SendPlace, name: &Name) {
    let communicator = snapshot.processes.get_mut(process).and_then(|process| process.communicators.get_mut(comm));
    let Some(send) = communicator.and_then(|communicator| communicator.pending_sends.operations.get_mut(index)) else {
        return;
    };
    let mut filled = Vec::new();
    if send.desired_local_rank.is_none() && send.desired_global_rank.is_none() {
        (send.desired_local_rank, send.desired_global_rank) = (name.local, Some(name.receiver));
        (send.actual_local_rank, send.actual_global_rank) = (name.local, Some(name.receiver));
        send.unknown.remove("desired_global_rank");
        if name.local.is_some() {
            send.unknown.remove("desired_local_rank");
        }
        filled.push("peer");
    }
    if send.desired_tag.is_none() && name.tag.is_some() {
        (send.desired_tag, send.actual_tag) = (name.tag, name.tag);
        send.unknown.remove("desired_tag");
        filled.push("tag");
    }
    if send.desired_length.is_none() && name.length.is_some() {
        (send.desired_length, send.actual_length) = (name.length, name.length);
        send.unknown.remove("desired_length");
        filled.push("length");
    }
    let either = |remark: &Remark| match remark {
        Remark::EitherSend { large, to, synchronous } => Some((*large, *to, *synchronous)),
        _ => None,
    };
    if let Some((large, to, synchronous)) = send.extra_text.iter().find_map(either) {
        let fits = |length| name.length == Some(length);
        if fits(synchronous) && !(fits(large) && name.local == Some(to)) {
            send.extra_text.push(Remark::SynchronousSend);
        }
        send.extra_text.retain(|remark| either(remark).is_none());
    }
    if let Some(purpose) = name.internal.as_ref().filter(|_| !send.internal) {
        send.internal = true;
        send.extra_text.extend(purpose.iter().cloned());
        filled.push("purpose");
    }
    if !filled.is_empty() {
        let before = send.evidence.take().map(|before| format!("{before}; ")).unwrap_or_default();
        let (filled, rank) = (filled.join(", "), name.receiver);
        send.evidence =
            Some(format!("{before}{filled}: from the message at rank {rank}, which names this request").into());
    }
}

/// Puts the sends to each peer in the order of their messages there, where there is one of each.
fn order(snapshot: &mut Snapshot, named: &HashMap<SendPlace, Name>) {
    for (process, read) in snapshot.processes.iter_mut().enumerate() {
        // What is only looked at is not copied.
        if read.communicators.iter().all(|communicator| communicator.pending_sends.unordered == 0) {
            continue;
        }
        for (comm, communicator) in read.communicators.iter_mut().enumerate() {
            let queue = &mut communicator.pending_sends;
            if queue.unordered == 0 {
                continue;
            }
            let mut peers: HashMap<Option<i64>, Vec<usize>> = HashMap::new();
            for (index, operation) in queue.operations.iter().enumerate() {
                if operation.status != OperationStatus::Complete {
                    peers.entry(operation.actual_global_rank).or_default().push(index);
                }
            }
            let lost: usize = peers.get(&None).map_or(0, Vec::len);
            // Those without a known peer may be to any of them.
            if lost > 0 {
                continue;
            }
            for places in peers.into_values() {
                let order = |index: &usize| named.get(&(process, comm, *index)).and_then(|name| name.order);
                let orders: Option<Vec<usize>> = places.iter().map(order).collect();
                if places.len() > 1 {
                    let Some(orders) = orders else { continue };
                    let mut sorted: Vec<(usize, Operation)> = Vec::with_capacity(places.len());
                    for (order, place) in orders.into_iter().zip(&places) {
                        if let Some(operation) = queue.operations.get_mut(*place) {
                            sorted.push((order, std::mem::take(operation)));
                        }
                    }
                    sorted.sort_by_key(|(order, _)| *order);
                    for (place, (_, operation)) in places.iter().zip(sorted) {
                        if let Some(to) = queue.operations.get_mut(*place) {
                            *to = operation;
                        }
                    }
                }
                queue.unordered = queue.unordered.saturating_sub(places.len() as u64);
            }
        }
    }
}
