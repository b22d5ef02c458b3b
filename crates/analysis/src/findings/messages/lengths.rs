//! Pairs whose lengths or datatypes do not fit.

use hashbrown::HashMap;

use super::text::{ProcWait, blamed, communicator, counted, length, place, receiver, sender, tag};
use super::{Context, MAX_FINDINGS};
use crate::datatypes::element;
use crate::job::ProcIndex;
use crate::matching::{Entry, Outcome, name};
use model::{Finding, FindingKind, OperationStatus, QueueKind, Remark};

/// What is wrong with a pair.
struct Wrong {
    kind: FindingKind,
    summary: String,
    evidence: String,
}

/// So many pairs that look wrong are looked at closely.
const MAX_LOOKED_AT: usize = 1000;

pub(super) fn find(context: &Context<'_, '_>) -> Vec<Finding> {
    let mut looked = 0;
    let mut findings: Vec<(Finding, usize, Vec<ProcWait>)> = Vec::new();
    let mut alike: HashMap<(FindingKind, ProcIndex, Option<ProcIndex>, Option<i64>), usize> = HashMap::new();
    for receive in
        context.matching.entries.iter().filter(|entry| entry.place.queue == QueueKind::PendingReceives && !entry.probe)
    {
        let message = match receive.outcome {
            Outcome::Pair(id) => context.matching.entry(id),
            _ => None,
        };
        let wrongs = match message {
            Some(message) => of_pair(context, receive, message),
            None => of_matched(context, receive).into_iter().collect(),
        };
        for wrong in wrongs {
            let own = receive.place.proc;
            let from = message.and_then(sender).or(receive.peer);
            let key = (wrong.kind, own, from, receive.operation.desired_tag);
            let known = alike.get(&key).copied();
            let next = findings.len();
            if known.is_none() {
                if next >= MAX_FINDINGS || looked >= MAX_LOOKED_AT {
                    continue;
                }
                looked += 1;
                let sure = message.map_or(Some(true), |message| is_pair(context, receive, message));
                let Some(sure) = sure else { continue };
                alike.insert(key, next);
                let Wrong { kind, summary, evidence } = wrong;
                let mut evidence = vec![evidence];
                if !sure {
                    evidence
                        .push("not known whether another message that comes before this one is on its way".to_owned());
                }
                let entries: Vec<&Entry<'_>> = std::iter::once(receive).chain(message).collect();
                let blamed = blamed(context, &entries);
                let finding = Finding { kind, summary, certain: sure, evidence, blamed, ..Finding::default() };
                findings.push((finding, 0, Vec::new()));
            }
            if let Some((_, count, procs)) = findings.get_mut(known.unwrap_or(next)) {
                *count += 1;
                procs.push((own, None));
                procs.extend(from.map(|proc| (proc, None)));
            }
        }
    }
    findings
        .into_iter()
        .map(|(mut finding, count, procs)| {
            if count > 1 {
                finding.summary.push_str(&format!(" (and {} like this)", counted(count - 1, "message")));
            }
            place(context, &mut finding, &procs);
            finding
        })
        .collect()
}

/// Whether a receive is going to take a message, and how sure that is. An earlier message that has left its sender and has
/// not arrived would be taken instead, and cannot be seen.
fn is_pair(context: &Context<'_, '_>, receive: &Entry<'_>, message: &Entry<'_>) -> Option<bool> {
    let (from, to) = (sender(message)?, receive.place.proc);
    let on_its_way = message.place.queue == QueueKind::PendingSends;
    match context.matching.unseen(context.job, receive.communicator, from, to) {
        Some(0) => Some(!receive.operation.any_source),
        Some(_) => None,
        // A collective's messages have the tags of the one before it; and a receive that is left says that more is coming.
        None if receive.operation.internal => None,
        None if on_its_way => {
            let alike = |other: &&Entry<'_>| {
                let (one, two) = (receive.operation, other.operation);
                other.outcome == Outcome::Unmatched
                    && (one.any_source, one.tag_wild, one.desired_tag)
                        == (two.any_source, two.tag_wild, two.desired_tag)
                    && receive.peer == other.peer
            };
            let queue = context.matching.queue(to, receive.place.communicator, QueueKind::PendingReceives);
            queue.iter().find(alike).is_none().then_some(false)
        }
        None => Some(false),
    }
}

/// What is wrong with a receive and the message that it is going to take.
fn of_pair(context: &Context<'_, '_>, receive: &Entry<'_>, message: &Entry<'_>) -> Vec<Wrong> {
    let proc = |proc: Option<ProcIndex>| proc.map_or_else(|| "an unknown rank".to_owned(), |id| name(context.job, id));
    let (from, to) = (proc(sender(message)), proc(receiver(message)));
    let on = communicator(context, receive);
    let (room, bytes) = (receive.operation.desired_length, length(message));
    let mut wrongs = Vec::new();
    if let (Some(room), Some(bytes)) = (room, bytes)
        && bytes > room
    {
        if receive.operation.internal {
            let part = receive.operation.extra_text.first().unwrap_or(&Remark::Collective(None));
            wrongs.push(Wrong {
                kind: FindingKind::CountMismatch,
                summary: format!(
                    "on {on} {from} sends {bytes} bytes in a collective operation in which {to} receives {room}"
                ),
                evidence: format!("{part}: the message has {bytes} bytes, the receive room for {room}"),
            });
        } else {
            wrongs.push(Wrong {
                kind: FindingKind::Truncation,
                summary: format!(
                    "the message from {from} to {to} with {} on {on} has {bytes} bytes, its receive has room for \
                     {room}",
                    tag(message)
                ),
                evidence: "by the order of matching this receive takes this message".to_owned(),
            });
        }
    }
    if receive.operation.internal {
        return wrongs;
    }
    let send = if message.place.queue == QueueKind::PendingSends {
        Some(message)
    } else {
        message.same.and_then(|same| context.matching.entry(same))
    };
    let Some(send) = send.map(|send| send.operation) else { return wrongs };
    let (sent, wanted) = (send.datatype.as_deref(), receive.operation.datatype.as_deref());
    if let (Some(one), Some(other)) = (element(sent), element(wanted))
        && one != other
    {
        let (sent, wanted) = (sent.unwrap_or_default(), wanted.unwrap_or_default());
        wrongs.push(Wrong {
            kind: FindingKind::DatatypeMismatch,
            summary: format!("{from} sends {sent} with {} to {to} on {on}, whose receive is of {wanted}", tag(message)),
            evidence: format!(
                "the send is of {}, the receive of {}",
                items(send.count, sent),
                items(receive.operation.count, wanted)
            ),
        });
    } else if let (Some(bytes), Some(room), Some(count)) =
        (bytes, room, receive.operation.count.filter(|count| *count > 0))
    {
        let size = room / count;
        if size > 0 && bytes < room && bytes % size != 0 {
            wrongs.push(Wrong {
                kind: FindingKind::CountMismatch,
                summary: format!(
                    "the message from {from} to {to} with {} on {on} has {bytes} bytes, which is no whole number of \
                     elements of {size} bytes",
                    tag(message)
                ),
                evidence: format!("the receive is of {}", items(Some(count), wanted.unwrap_or("elements"))),
            });
        }
    }
    wrongs
}

fn items(count: Option<u64>, of: &str) -> String {
    count.map_or_else(|| of.to_owned(), |count| format!("{count} {of}"))
}

/// What is wrong with a receive that has been matched.
fn of_matched(context: &Context<'_, '_>, receive: &Entry<'_>) -> Option<Wrong> {
    let operation = receive.operation;
    let (bytes, room) = (operation.actual_length?, operation.desired_length?);
    if operation.status == OperationStatus::Pending || operation.internal || bytes <= room {
        return None;
    }
    let from = match operation.actual_global_rank {
        Some(rank) => format!("rank {rank}"),
        None => "a rank that is not known".to_owned(),
    };
    let own = name(context.job, receive.place.proc);
    let on = communicator(context, receive);
    let tag = operation.actual_tag.map_or_else(|| tag(receive), |tag| format!("tag {tag}"));
    Some(Wrong {
        kind: FindingKind::Truncation,
        summary: format!(
            "the message from {from} to {own} with {tag} on {on} has {bytes} bytes, its receive has room for {room}"
        ),
        evidence: "the receive has been matched with this message".to_owned(),
    })
}
