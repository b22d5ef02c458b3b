//! A message that has arrived, and the send that waits for it to be received, are one.

use hashbrown::HashMap;
use model::Remark;
use std::collections::VecDeque;

use super::gather::Bucket;
use super::{Entry, Matching, OperationId, Outcome};
use crate::job::{Job, ProcIndex};

/// Finds the messages that have arrived of pending sends: by sender and tag, in the order of sending. A send whose tag the
/// library does not keep is found by its length.
pub(super) fn join(bucket: &Bucket, entries: &mut [Entry<'_>]) {
    if bucket.arrived.is_empty() || bucket.sends.is_empty() {
        return;
    }
    let mut by_tag: HashMap<(ProcIndex, i64), VecDeque<OperationId>> = HashMap::new();
    let mut by_length: HashMap<(ProcIndex, u64), VecDeque<OperationId>> = HashMap::new();
    for id in &bucket.arrived {
        let Some(entry) = entries.get(id.0).filter(|entry| !went_at_once(entry)) else { continue };
        let Some(sender) = entry.peer else { continue };
        if let Some(tag) = entry.operation.desired_tag {
            by_tag.entry((sender, tag)).or_default().push_back(*id);
        }
        if let Some(length) = entry.operation.desired_length {
            by_length.entry((sender, length)).or_default().push_back(*id);
        }
    }
    for id in &bucket.sends {
        let Some(entry) = entries.get(id.0) else { continue };
        let (sender, operation) = (entry.place.proc, entry.operation);
        let list = match (operation.desired_tag, operation.desired_length) {
            (Some(tag), _) => by_tag.get_mut(&(sender, tag)),
            (None, Some(length)) => by_length.get_mut(&(sender, length)),
            (None, None) => None,
        };
        let Some(list) = list else { continue };
        let length = operation.desired_length;
        while let Some(arrived) = list.front().copied() {
            let message = entries.get(arrived.0);
            if message.is_none_or(|message| message.same.is_some()) {
                list.pop_front();
                continue;
            }
            // Messages of one tag arrive as they were sent: one of another length is an earlier one, of which nothing is left at
            // the sender.
            let other = message.and_then(|message| message.operation.desired_length);
            list.pop_front();
            if length.is_some() && other.is_some() && length != other {
                continue;
            }
            for (one, two) in [(*id, arrived), (arrived, *id)] {
                if let Some(entry) = entries.get_mut(one.0) {
                    entry.same = Some(two);
                }
            }
            break;
        }
    }
}

/// Takes the sends out whose messages have been received though their senders do not know it yet: ob1 of Open MPI has the
/// buffer of a small persistent send back only when its sender looks. All that was sent has arrived by the counters of both
/// sides, and does not lie there.
pub(super) fn without_received(job: &Job<'_>, bucket: &mut Bucket, entries: &mut [Entry<'_>]) {
    let mut known: HashMap<(ProcIndex, ProcIndex), bool> = HashMap::new();
    bucket.sends.retain(|id| {
        let Some(entry) = entries.get_mut(id.0) else { return false };
        let (communicator, from) = (entry.communicator, entry.place.proc);
        let Some(to) = entry.peer.filter(|_| entry.is_own() && entry.same.is_none()) else { return true };
        let received = *known.entry((from, to)).or_insert_with(|| {
            let view = job.communicators.get(communicator.0).and_then(|shared| shared.view(to));
            view.is_some_and(|view| view.communicator.unexpected_messages.is_whole())
                && Matching::coming(job, communicator, from, to) == Some(0)
        });
        if received {
            entry.outcome = Outcome::Moving;
        }
        !received
    });
}

/// Whether nothing of the message is left at its sender. Open MPI says it of every message.
fn went_at_once(entry: &Entry<'_>) -> bool {
    entry.operation.has(&Remark::Eager)
}
