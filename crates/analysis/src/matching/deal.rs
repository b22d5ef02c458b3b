//! Deals messages to receives.

use hashbrown::{HashMap, HashSet};
use model::QueueKind;
use std::collections::VecDeque;

use super::gather::Bucket;
use super::{Entry, OperationId, Outcome};
use crate::job::{CommunicatorId, ProcIndex};

/// Whom a receive asks for; `None`: any source, or any tag.
type Wanted = (Option<ProcIndex>, Option<i64>);

const NO_TAG: &str = "its tag is not known";
const NO_PEER: &str = "which rank it is for is not known";
const OTHERS: &str = "too little is known about some operations that could match it";

/// A message, as far as matching goes.
#[derive(Clone, Copy)]
struct Message {
    sender: ProcIndex,
    tag: i64,
    /// What stands for it: what has arrived, else the send.
    id: OperationId,
}

/// Deals the messages of a bucket to its receives and notes what becomes of each.
pub(super) fn deal(bucket: &Bucket, entries: &mut [Entry<'_>]) {
    let (messages, unclear_messages) = messages(bucket, entries);
    let mut posted: HashMap<Wanted, VecDeque<(usize, OperationId)>> = HashMap::new();
    let mut wanted: HashSet<Wanted> = HashSet::new();
    let mut probes: Vec<(OperationId, Wanted)> = Vec::new();
    let mut unclear_receives = false;
    let mut any_source = false;
    for (order, id) in bucket.receives.iter().enumerate() {
        let Some(entry) = entries.get_mut(id.0) else { continue };
        match wanted_by(entry) {
            Err(why) => {
                entry.outcome = Outcome::Unclear(why);
                unclear_receives = true;
            }
            Ok(wants) if entry.probe => probes.push((*id, wants)),
            Ok(wants) => {
                any_source |= wants.0.is_none();
                wanted.insert(wants);
                posted.entry(wants).or_default().push_back((order, *id));
            }
        }
    }
    let mut sent: HashMap<Wanted, OperationId> = HashMap::new();
    for message in &messages {
        for wants in could_want(message) {
            sent.entry(wants).or_insert(message.id);
        }
        let first = could_want(message)
            .into_iter()
            .filter_map(|wants| Some((*posted.get(&wants)?.front()?, wants)))
            .min_by_key(|((order, _), _)| *order);
        let Some(((_, receive), wants)) = first else {
            let fits = any_source && could_want(message).iter().any(|wants| wanted.contains(wants));
            let outcome = match (fits, unclear_receives) {
                (true, _) => Outcome::Contested,
                (false, true) => Outcome::Unclear(OTHERS),
                (false, false) => Outcome::Unmatched,
            };
            set(entries, message.id, outcome);
            continue;
        };
        if let Some(queue) = posted.get_mut(&wants) {
            queue.pop_front();
        }
        set(entries, message.id, Outcome::Pair(receive));
        set(entries, receive, Outcome::Pair(message.id));
    }
    let left = posted.into_iter().flat_map(|(wants, queue)| queue.into_iter().map(move |(_, id)| (id, wants)));
    for (id, wants) in left {
        let outcome = match (any_source && sent.contains_key(&wants), unclear_messages) {
            (true, _) => Outcome::Contested,
            (false, true) => Outcome::Unclear(OTHERS),
            (false, false) => Outcome::Unmatched,
        };
        set(entries, id, outcome);
    }
    for (id, wants) in probes {
        let outcome = match (sent.get(&wants), unclear_messages) {
            (Some(message), _) => Outcome::Pair(*message),
            (None, true) => Outcome::Unclear(OTHERS),
            (None, false) => Outcome::Unmatched,
        };
        set(entries, id, outcome);
    }
}

/// Sends of which the library does not keep for whom they are may fit what was left without a message.
pub(super) fn unaddressed(entries: &mut [Entry<'_>]) {
    let nowhere = |entry: &Entry<'_>| {
        entry.place.queue == QueueKind::PendingSends && entry.peer.is_none() && entry.waits() && entry.is_own()
    };
    let mut from: HashMap<(CommunicatorId, ProcIndex), HashSet<Option<i64>>> = HashMap::new();
    for entry in entries.iter().filter(|entry| nowhere(entry)) {
        from.entry((entry.communicator, entry.place.proc)).or_default().insert(entry.operation.desired_tag);
    }
    if from.is_empty() {
        return;
    }
    let mut from_any: HashMap<CommunicatorId, HashSet<Option<i64>>> = HashMap::new();
    for ((communicator, _), tags) in &from {
        from_any.entry(*communicator).or_default().extend(tags);
    }
    let mut met: HashSet<(CommunicatorId, Option<ProcIndex>)> = HashSet::new();
    for entry in entries.iter_mut() {
        let receives = entry.place.queue == QueueKind::PendingReceives && entry.is_own();
        if !receives || entry.outcome != Outcome::Unmatched {
            continue;
        }
        let tags = match entry.peer {
            Some(peer) => from.get(&(entry.communicator, peer)),
            None => from_any.get(&entry.communicator),
        };
        let wanted = entry.operation.desired_tag.filter(|_| !entry.operation.tag_wild);
        if tags.is_some_and(|tags| wanted.is_none() || tags.contains(&None) || tags.contains(&wanted)) {
            entry.outcome = Outcome::Unclear(OTHERS);
            met.insert((entry.communicator, entry.peer));
        }
    }
    for entry in entries.iter_mut().filter(|entry| nowhere(entry)) {
        let meets = |sender| met.contains(&(entry.communicator, sender));
        if meets(Some(entry.place.proc)) || meets(None) {
            entry.outcome = Outcome::Unclear(NO_PEER);
        }
    }
}

/// The messages of a bucket in an order in which they may be matched: what has arrived, then what is still to be sent. And
/// whether there are some of which too little is known.
fn messages(bucket: &Bucket, entries: &mut [Entry<'_>]) -> (Vec<Message>, bool) {
    let mut messages = Vec::with_capacity(bucket.arrived.len() + bucket.sends.len());
    let mut unclear = false;
    for id in bucket.arrived.iter().chain(&bucket.sends) {
        let Some(entry) = entries.get_mut(id.0) else { continue };
        let sends = entry.place.queue == QueueKind::PendingSends;
        if sends && entry.same.is_some() {
            // It has arrived.
            continue;
        }
        let sender = if sends { Some(entry.place.proc) } else { entry.peer };
        match (sender, entry.operation.desired_tag) {
            (Some(sender), Some(tag)) => messages.push(Message { sender, tag, id: *id }),
            (sender, _) => {
                entry.outcome = Outcome::Unclear(if sender.is_none() { NO_PEER } else { NO_TAG });
                unclear = true;
            }
        }
    }
    (messages, unclear)
}

fn wanted_by(entry: &Entry<'_>) -> Result<Wanted, &'static str> {
    let operation = entry.operation;
    let source = match (operation.any_source, entry.peer) {
        (true, _) => None,
        (false, Some(peer)) => Some(peer),
        (false, None) => return Err(NO_PEER),
    };
    let tag = match (operation.tag_wild, operation.desired_tag) {
        (true, _) => None,
        (false, Some(tag)) => Some(tag),
        (false, None) => return Err(NO_TAG),
    };
    Ok((source, tag))
}

/// The receives that a message fits.
fn could_want(message: &Message) -> [Wanted; 4] {
    let (sender, tag) = (Some(message.sender), Some(message.tag));
    [(sender, tag), (sender, None), (None, tag), (None, None)]
}

/// Notes what becomes of an operation; of a message at both ends.
fn set(entries: &mut [Entry<'_>], id: OperationId, outcome: Outcome) {
    let same = entries.get_mut(id.0).and_then(|entry| {
        entry.outcome = outcome;
        entry.same
    });
    if let Some(entry) = same.and_then(|same| entries.get_mut(same.0)) {
        entry.outcome = outcome;
    }
}
