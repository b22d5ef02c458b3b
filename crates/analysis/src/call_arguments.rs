//! What only the arguments of a call say of the operation that it has posted: MPICH keeps neither peer nor tag of a send
//! that it sends at once (`MPIDIG_send` of ch4), but a thread that stands in MPI_Ssend has given both.

use std::borrow::Cow;

use super::waits::{Peer, peer};
use functions::{WaitKind, wait_kind};
use model::{Call, Operation, OperationStatus, Process, QueueKind, Snapshot};

/// Where an operation is, with the peer and the tag that its call was given.
struct PeerAndTag {
    process: usize,
    communicator: usize,
    queue: QueueKind,
    index: usize,
    rank: i64,
    tag: Option<i64>,
}

/// The snapshot with these facts; itself where there are none.
pub fn completed(snapshot: &Snapshot) -> Cow<'_, Snapshot> {
    let all = snapshot.processes.iter().enumerate();
    let peers: Vec<PeerAndTag> = all.flat_map(|(index, process)| of_process(index, process)).collect();
    if peers.is_empty() {
        return Cow::Borrowed(snapshot);
    }
    let mut snapshot = snapshot.clone();
    for known in peers {
        let process = snapshot.processes.get_mut(known.process);
        let communicator = process.and_then(|process| process.communicators.get_mut(known.communicator));
        let queue = communicator.map(|communicator| known.queue.of_mut(communicator));
        let Some(operation) = queue.and_then(|queue| queue.operations.get_mut(known.index)) else { continue };
        operation.desired_local_rank = Some(known.rank);
        operation.unknown.remove("desired_local_rank");
        if let Some(tag) = known.tag {
            operation.desired_tag = Some(tag);
            operation.unknown.remove("desired_tag");
        }
    }
    Cow::Owned(snapshot)
}

fn of_process(index: usize, process: &Process) -> Vec<PeerAndTag> {
    let sends = |kind| matches!(kind, WaitKind::Send | WaitKind::SendReceive);
    let receives = |kind| matches!(kind, WaitKind::Receive | WaitKind::SendReceive);
    let by_queue = [
        of_queue(index, process, QueueKind::PendingSends, sends, "dest", "sendtag"),
        of_queue(index, process, QueueKind::PendingReceives, receives, "source", "recvtag"),
    ];
    by_queue.into_iter().flatten().collect()
}

/// Only where nothing else comes into question: one thread is in such a call, and has one operation without a peer.
fn of_queue(
    index: usize,
    process: &Process,
    queue: QueueKind,
    posts: impl Fn(WaitKind) -> bool,
    peer_name: &str,
    tag_name: &str,
) -> Option<PeerAndTag> {
    let mut calls = process.calls.iter().filter(|call| posts(wait_kind(&call.c_name())));
    let call = calls.next().filter(|_| calls.next().is_none())?;
    let wanted = call.communicator?;
    let Peer::Rank(rank) = peer(process, call.argument(peer_name)) else { return None };
    let tag = call.argument(tag_name).or_else(|| call.argument("tag"));
    let tag = tag.and_then(|tag| tag.value).filter(|tag| *tag >= 0);
    let mut without: Option<(usize, usize, &Operation)> = None;
    for (place, communicator) in process.communicators.iter().enumerate() {
        for (at, operation) in queue.of(communicator).operations.iter().enumerate() {
            if !may_be_of(call, operation) {
                continue;
            }
            if operation.desired_local_rank.is_some() || operation.any_source {
                if communicator.unique_id == wanted && fits(operation, rank, tag) {
                    // This is the call's own, and the one without a peer another.
                    return None;
                }
                continue;
            }
            if without.replace((place, at, operation)).is_some() {
                return None;
            }
        }
    }
    let (place, at, operation) = without?;
    let here = process.communicators.get(place)?.unique_id == wanted;
    (here && fits(operation, rank, tag)).then_some(PeerAndTag {
        process: index,
        communicator: place,
        queue,
        index: at,
        rank,
        tag: if operation.tag_wild { None } else { tag },
    })
}

/// Whether a call may have posted an operation, by what is known of who did.
fn may_be_of(call: &Call, operation: &Operation) -> bool {
    let made = operation.call.as_deref();
    let named = made.is_none_or(|made| made == call.function || made == call.c_name());
    // Of MPI_Sendrecv one half may be over, and what is left is of an earlier call.
    let sure = made.is_some() || wait_kind(&call.c_name()) != WaitKind::SendReceive;
    named && sure && !operation.internal && !operation.persistent && operation.status != OperationStatus::Complete
}

fn fits(operation: &Operation, rank: i64, tag: Option<i64>) -> bool {
    let same_rank = operation.any_source || operation.desired_local_rank.is_none_or(|known| known == rank);
    let same_tag = tag.is_none_or(|tag| operation.desired_tag.is_none_or(|known| known == tag));
    same_rank && same_tag
}
