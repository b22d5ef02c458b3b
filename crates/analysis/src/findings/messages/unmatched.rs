//! Sends that nobody receives, and receives to which nobody sends.

use hashbrown::{HashMap, HashSet};

use super::text::{ProcWait, blamed, counted, place, receiver, sender, sent, starts, wants, where_it_is};
use super::{Context, Fate, MAX_FINDINGS};
use crate::job::ProcIndex;
use crate::matching::{Entry, Matching, OperationPlace, Outcome, name};
use model::{Finding, FindingKind, QueueKind};

/// Operations that are alike: of one kind, between the same two, with the same tag.
type Alike = (FindingKind, ProcIndex, Option<ProcIndex>, Option<i64>);

/// One finding of such operations.
struct Group<'a, 'b> {
    kind: FindingKind,
    first: &'b Entry<'a>,
    count: usize,
    certain: bool,
    why: String,
    procs: Vec<ProcWait>,
}

/// All but those that near misses have `mentioned`.
pub(super) fn find(context: &Context<'_, '_>, mentioned: &HashSet<OperationPlace>) -> Vec<Finding> {
    let mut groups: Vec<Group<'_, '_>> = Vec::new();
    let mut alike: HashMap<Alike, usize> = HashMap::new();
    for entry in &context.matching.entries {
        let alone = entry.is_own() && entry.outcome == Outcome::Unmatched && !mentioned.contains(&entry.place);
        // Of a message that has arrived, the finding is about its send.
        if !alone || (entry.place.queue == QueueKind::UnexpectedMessages && entry.same.is_some()) {
            continue;
        }
        let (kind, owner, other) = match entry.place.queue {
            QueueKind::PendingReceives => (FindingKind::UnmatchedReceive, Some(entry.place.proc), entry.peer),
            _ => (FindingKind::UnmatchedSend, receiver(entry), sender(entry)),
        };
        let key = (kind, owner.unwrap_or(entry.place.proc), other, entry.operation.desired_tag);
        let known = alike.get(&key).copied();
        // A job of many ranks has many: what is not shown is not put into words.
        if known.is_none() && groups.len() >= MAX_FINDINGS {
            continue;
        }
        let unmatched =
            if kind == FindingKind::UnmatchedReceive { receive(context, entry) } else { message(context, entry) };
        let Some((certain, why)) = unmatched else { continue };
        let at = known.unwrap_or_else(|| {
            alike.insert(key, groups.len());
            groups.push(Group { kind, first: entry, count: 0, certain, why, procs: Vec::new() });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(at) {
            group.count += 1;
            group.certain &= certain;
            if group.count == 1 {
                group.procs.extend(owner.into_iter().chain(other).map(|proc| (proc, None)));
            }
        }
    }
    groups.into_iter().map(|group| finding(context, group)).collect()
}

/// Whether nobody ever receives a message, how sure that is, and why.
fn message(context: &Context<'_, '_>, message: &Entry<'_>) -> Option<(bool, String)> {
    let to = receiver(message)?;
    let (own, gone) = (name(context.job, to), context.fate(to));
    let known = context.matching.blind(context.job, message).is_none();
    match gone {
        Fate::Finished(how) => {
            let certain = known && is_there(context, message, to);
            Some((certain, format!("{own} {how} and receives nothing more")))
        }
        Fate::Stuck | Fate::Suspect => {
            // What else lies there is the backlog of a job that stands still.
            let stuck = context.is_stuck_in(message)?;
            let certain = known && stuck && gone == Fate::Stuck;
            let can = if gone == Fate::Stuck { "can" } else { "can perhaps" };
            Some((certain, format!("{own} has no receive that fits, and {can} never go on to post one")))
        }
        Fate::Open => None,
    }
}

/// Whether it is known that a message has not been received. A library that does not count may have the buffer of a send back
/// only when its sender looks; who waits for that would have a finding.
fn is_there(context: &Context<'_, '_>, message: &Entry<'_>, to: ProcIndex) -> bool {
    let seen = message.place.queue == QueueKind::UnexpectedMessages || message.same.is_some();
    let counted = |from| Matching::coming(context.job, message.communicator, from, to).is_some();
    seen || sender(message).is_some_and(counted) || context.is_stuck_in(message) == Some(true)
}

/// Whether nobody ever sends to a receive, how sure that is, and why.
fn receive(context: &Context<'_, '_>, receive: &Entry<'_>) -> Option<(bool, String)> {
    if receive.probe {
        return None;
    }
    let blind = context.matching.blind(context.job, receive).is_some();
    let own = receive.place.proc;
    // What was sent before its sender finished may be on its way: certain is only who waits where nothing comes any more,
    // or what both sides have counted.
    let waits = context.is_stuck_in(receive) == Some(true);
    let coming = |from: ProcIndex| context.matching.unseen(context.job, receive.communicator, from, own);
    let finished = |proc: ProcIndex| match context.fate(proc) {
        Fate::Finished(how) => Some(format!("{} {how} and sends nothing more", name(context.job, proc))),
        _ => None,
    };
    if let Some(peer) = receive.peer {
        if let Some(why) = finished(peer) {
            let coming = coming(peer);
            let known = !blind && (waits || coming == Some(0));
            return (waits || coming.is_none_or(|coming| coming == 0)).then_some((known, why));
        }
    } else if receive.operation.any_source {
        let shared = context.job.communicators.get(receive.communicator.0)?;
        let members = shared.group(shared.peers(receive.side));
        let others = || members.iter().filter(|member| **member != Some(own));
        if members.len() > 1 && others().all(|member| member.is_some_and(|member| finished(member).is_some())) {
            let quiet = waits || others().flatten().all(|member| coming(*member) == Some(0));
            return Some((!blind && quiet, "all others of the communicator have finished".to_owned()));
        }
    }
    let why = finished(receive.place.proc)?.replace(" and sends nothing more", " with the receive still pending");
    Some((false, why))
}

fn finding(context: &Context<'_, '_>, group: Group<'_, '_>) -> Finding {
    let (first, count) = (group.first, group.count);
    let own = name(context.job, first.place.proc);
    let mut evidence = Vec::new();
    let more =
        |noun: &str| if count > 1 { format!(" (and {} like this)", counted(count - 1, noun)) } else { String::new() };
    let summary = if group.kind == FindingKind::UnmatchedSend {
        evidence.push(where_it_is(context, first));
        format!("{}, which receives it nowhere{}", sent(context, first), more("message"))
    } else {
        let perhaps = if group.certain { "" } else { "perhaps " };
        format!(
            "{own} has a receive pending for {}, to which {perhaps}nobody sends{}",
            wants(context, first),
            more("receive")
        )
    };
    evidence.push(group.why);
    if !group.certain {
        evidence.push(match context.matching.blind(context.job, first) {
            Some(why) => format!("not all was read: {why}"),
            None if group.kind == FindingKind::UnmatchedReceive => {
                "it is not certain that no message for it is on its way".to_owned()
            }
            None => "it is not certain that its other side is never posted".to_owned(),
        });
    }
    let mut finding = Finding { kind: group.kind, summary, certain: group.certain, evidence, ..Finding::default() };
    finding.started_by = starts(context, first);
    finding.blamed = blamed(context, &[first]);
    place(context, &mut finding, &group.procs);
    finding
}
