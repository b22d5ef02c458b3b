//! Messages that are there, and receives that wait, which differ in one thing.
//!
//! That the two were meant for each other nobody can know: a finding says what was sent and what is waited for, and only
//! where the receive can never be matched otherwise.

use hashbrown::{HashMap, HashSet};

use super::probed;
use super::text::{
    ProcWait, blame_for, communicator, counted, place, receiver, sender, sent, starts, tag, wants, where_it_is,
};
use super::{Context, MAX_FINDINGS};
use crate::advice::{self, Change};
use crate::blame::Blame;
use crate::job::{CommunicatorId, ProcIndex};
use crate::matching::{Entry, OperationId, OperationPlace, Outcome, name};
use model::{Finding, FindingKind, QueueKind, Sender, Text};

/// Near misses, and the operations that they mention.
pub(super) struct Near {
    pub(super) findings: Vec<Finding>,
    pub(super) mentioned: HashSet<OperationPlace>,
}

/// Of messages that are equal in what is looked for so many are looked at.
const MAX_LOOKED_AT: usize = 64;

/// Unmatched messages by what may be equal in them.
#[derive(Default)]
struct Index {
    /// To a receiver, on a communicator, from a sender or anybody: the tag differs.
    by_sender: HashMap<(ProcIndex, CommunicatorId, Option<ProcIndex>), Vec<OperationId>>,
    /// To a receiver, from a sender or anybody, with a tag: the communicator differs.
    by_tag: HashMap<(ProcIndex, Option<ProcIndex>, Option<i64>), Vec<OperationId>>,
    /// To a receiver, on a communicator, with a tag: the sender differs.
    to: HashMap<(ProcIndex, CommunicatorId, Option<i64>), Vec<OperationId>>,
    /// From a sender, on a communicator, with a tag: the receiver differs.
    from: HashMap<(ProcIndex, CommunicatorId, Option<i64>), Vec<OperationId>>,
    /// To a receiver, from the member with a number of another communicator, with a tag: who was meant is another rank there.
    by_number: HashMap<(ProcIndex, i64, Option<i64>), Vec<OperationId>>,
}

fn add<K: std::hash::Hash + Eq>(map: &mut HashMap<K, Vec<OperationId>>, key: K, id: OperationId) {
    let list = map.entry(key).or_default();
    if list.len() < MAX_LOOKED_AT {
        list.push(id);
    }
}

/// What receives ask for: no message is looked for by anything else.
struct Asked {
    /// Whether a process has a receive that is looked at, by its number.
    receivers: Vec<bool>,
    /// Whether one asks for messages of a process, by its number.
    senders: Vec<bool>,
    any_source: bool,
    any_tag: bool,
}

impl Asked {
    fn new(context: &Context<'_, '_>) -> Self {
        let none = vec![false; context.job.procs.len()];
        Self { receivers: none.clone(), senders: none, any_source: false, any_tag: false }
    }

    fn add(&mut self, receive: &Entry<'_>) {
        set(&mut self.receivers, receive.place.proc);
        match receive.peer {
            Some(from) => set(&mut self.senders, from),
            None => self.any_source = true,
        }
        self.any_tag |= wanted_tag(receive).is_none();
    }

    /// What may be asked for where a message has `value`.
    fn either<T>(value: T, any: bool) -> impl Iterator<Item = Option<T>> {
        [Some(value)].into_iter().chain(any.then_some(None))
    }
}

fn set(flags: &mut [bool], proc: ProcIndex) {
    if let Some(flag) = flags.get_mut(proc.0) {
        *flag = true;
    }
}

/// The tag that a receive asks for; `None`: any.
fn wanted_tag(receive: &Entry<'_>) -> Option<i64> {
    if receive.operation.tag_wild { None } else { receive.operation.desired_tag }
}

impl Index {
    fn new(context: &Context<'_, '_>, asked: &Asked) -> Self {
        let mut index = Self::default();
        let is_set = |flags: &[bool], proc: ProcIndex| flags.get(proc.0).copied().unwrap_or(false);
        for (at, entry) in context.matching.entries.iter().enumerate() {
            let is_message = match entry.place.queue {
                QueueKind::PendingReceives => false,
                QueueKind::PendingSends => entry.same.is_none(),
                QueueKind::UnexpectedMessages => true,
            };
            if !is_message || !entry.is_own() || entry.outcome != Outcome::Unmatched {
                continue;
            }
            let (Some(from), Some(to), Some(tag)) = (sender(entry), receiver(entry), entry.operation.desired_tag)
            else {
                continue;
            };
            let (id, comm) = (OperationId(at), entry.communicator);
            if is_set(&asked.senders, from) {
                for tag in Asked::either(tag, asked.any_tag) {
                    add(&mut index.from, (from, comm, tag), id);
                }
            }
            if !is_set(&asked.receivers, to) {
                continue;
            }
            let number = number(context, comm, from);
            for tag in Asked::either(tag, asked.any_tag) {
                for from in Asked::either(from, asked.any_source) {
                    add(&mut index.by_tag, (to, from, tag), id);
                }
                add(&mut index.to, (to, comm, tag), id);
                if let Some(number) = number {
                    add(&mut index.by_number, (to, number, tag), id);
                }
            }
            for from in Asked::either(from, asked.any_source) {
                add(&mut index.by_sender, (to, comm, from), id);
            }
        }
        index
    }

    /// The messages that differ from what a receive wants in one thing, those that explain most first.
    fn near_misses(&self, context: &Context<'_, '_>, receive: &Entry<'_>) -> Vec<(FindingKind, OperationId)> {
        let (own, comm, from) = (receive.place.proc, receive.communicator, receive.peer);
        let wanted = wanted_tag(receive);
        let entry = |id: &OperationId| context.matching.entry(*id);
        let first = |list: Option<&Vec<OperationId>>, fits: &dyn Fn(&Entry<'_>) -> bool| {
            list.into_iter().flatten().copied().find(|id| entry(id).is_some_and(fits))
        };
        let mut misses = Vec::new();
        let other = first(self.by_tag.get(&(own, from, wanted)), &|message| message.communicator != comm);
        misses.extend(other.map(|id| (FindingKind::CommunicatorMismatch, id)));
        // A receive that takes any tag, or any source, misses nothing by these.
        if wanted.is_some() {
            let other =
                first(self.by_sender.get(&(own, comm, from)), &|message| message.operation.desired_tag != wanted);
            misses.extend(other.map(|id| (FindingKind::TagMismatch, id)));
        }
        // The same number on another communicator.
        if let (true, Some(asked)) = (misses.is_empty(), receive.operation.desired_local_rank) {
            let other = first(self.by_number.get(&(own, asked, wanted)), &|message| message.communicator != comm);
            misses.extend(other.map(|id| (FindingKind::CommunicatorMismatch, id)));
        }
        if let Some(from) = from {
            let other = first(self.to.get(&(own, comm, wanted)), &|message| sender(message) != Some(from));
            misses.extend(other.map(|id| (FindingKind::RankMismatch, id)));
            let astray =
                |message: &Entry<'_>| receiver(message).is_some_and(|to| to != own && context.is_out(to).is_some());
            let other = first(self.from.get(&(from, comm, wanted)), &astray);
            misses.extend(other.map(|id| (FindingKind::RankMismatch, id)));
        }
        misses
    }
}

/// The rank of a process in a communicator.
fn number(context: &Context<'_, '_>, communicator: CommunicatorId, proc: ProcIndex) -> Option<i64> {
    context.job.communicators.get(communicator.0)?.view(proc)?.communicator.local_rank
}

/// The call with which the rank that a receive waits for would send just that, later: as far as its source shows it with what its
/// variables are now.
fn comes_later<'e>(context: &Context<'e, '_>, receive: &Entry<'_>) -> Option<(ProcIndex, &'e Sender)> {
    let wanted = receive.operation.desired_tag.filter(|_| !receive.operation.tag_wild)?;
    let from = receive.peer.filter(|_| !receive.operation.any_source)?;
    let own = number(context, receive.communicator, receive.place.proc)?;
    let shared = context.job.communicators.get(receive.communicator.0)?;
    let communicator = shared.view(from)?.communicator.unique_id;
    let is = |one: &&Sender| (one.dest, one.tag, one.communicator) == (Some(own), Some(wanted), Some(communicator));
    let process = context.job.procs.get(from.0)?.process?;
    Some((from, process.later_sends.iter().find(is)?))
}

/// Receives and messages of one sender that differ in their tags, as many of the one as of the other: which go together, and by
/// how much all tags differ, where that is one number.
#[derive(Default)]
struct Pairs {
    messages: HashMap<OperationPlace, OperationId>,
    shifts: HashMap<OperationPlace, i64>,
}

impl Pairs {
    fn new(context: &Context<'_, '_>, index: &Index, receives: &[(Entry<'_>, bool)]) -> Self {
        type Key = (ProcIndex, CommunicatorId, Option<ProcIndex>);
        let mut waiting: HashMap<Key, Vec<(i64, OperationPlace)>> = HashMap::new();
        for (receive, _) in receives {
            if let Some(tag) = wanted_tag(receive) {
                waiting
                    .entry((receive.place.proc, receive.communicator, receive.peer))
                    .or_default()
                    .push((tag, receive.place));
            }
        }
        let mut pairs = Self::default();
        for (key, mut wanted) in waiting {
            let tag = |id: &OperationId| Some((context.matching.entry(*id)?.operation.desired_tag?, *id));
            let mut sent: Vec<(i64, OperationId)> =
                index.by_sender.get(&key).into_iter().flatten().filter_map(tag).collect();
            if wanted.len() < 2 || wanted.len() != sent.len() {
                continue;
            }
            wanted.sort_unstable_by_key(|(tag, _)| *tag);
            sent.sort_unstable_by_key(|(tag, _)| *tag);
            let shift =
                |((wanted, _), (sent, _)): (&(i64, OperationPlace), &(i64, OperationId))| wanted.wrapping_sub(*sent);
            let mut shifts = wanted.iter().zip(&sent).map(shift);
            let common = shifts.next().filter(|first| shifts.all(|other| other == *first));
            for ((_, place), (_, id)) in wanted.iter().zip(&sent) {
                pairs.messages.insert(*place, *id);
                pairs.shifts.extend(common.map(|shift| (*place, shift)));
            }
        }
        pairs
    }
}

/// One near miss, and how many are like it.
struct Miss<'e> {
    kind: FindingKind,
    receive: Entry<'e>,
    message: OperationId,
    certain: bool,
    /// The call of another rank that would send what is waited for, later.
    later: Option<(ProcIndex, &'e Sender)>,
    /// How much less the tags of all messages are than those that are waited for.
    shift: Option<i64>,
    /// How many receives miss messages in the same way.
    count: usize,
    /// Receivers and senders of all of them.
    procs: Vec<ProcWait>,
    /// Their calls.
    blame: Blame,
}

/// What is equal in near misses that are shown as one.
type Alike = (FindingKind, String, Option<i64>, Option<i64>, Option<(Text, i64)>);

pub(super) fn find(context: &Context<'_, '_>) -> Near {
    let mut misses: Vec<Miss<'_>> = Vec::new();
    let mut alike: HashMap<Alike, usize> = HashMap::new();
    let mut mentioned: HashSet<OperationPlace> = HashSet::new();
    let posted = context.matching.entries.iter().filter_map(|receive| {
        let waits = receive.place.queue == QueueKind::PendingReceives
            && receive.is_own()
            && receive.outcome == Outcome::Unmatched;
        Some((receive.clone(), waits.then(|| context.is_stuck_in(receive)).flatten()?))
    });
    let probes = probed::all(context);
    let probes = probes.iter().filter_map(|probe| Some((probe.entry(context)?, probe.stuck)));
    let receives: Vec<(Entry<'_>, bool)> = posted.chain(probes).collect();
    let mut asked = Asked::new(context);
    receives.iter().for_each(|(receive, _)| asked.add(receive));
    let index = Index::new(context, &asked);
    let pairs = Pairs::new(context, &index, &receives);
    for &(ref receive, stuck) in &receives {
        for (kind, id) in index.near_misses(context, receive) {
            let is_tag = kind == FindingKind::TagMismatch;
            let id = pairs.messages.get(&receive.place).copied().filter(|_| is_tag).unwrap_or(id);
            let shift = pairs.shifts.get(&receive.place).copied().filter(|_| is_tag);
            let Some(message) = context.matching.entry(id) else { continue };
            let later = comes_later(context, receive);
            let certain = stuck
                && later.is_none()
                && context.matching.blind(context.job, receive).is_none()
                && context.matching.blind(context.job, message).is_none();
            mentioned.insert(receive.place);
            mentioned.insert(message.place);
            let same = message.same.and_then(|same| context.matching.entry(same));
            mentioned.extend(same.map(|same| same.place));
            let process = context.job.procs.get(receive.place.proc.0).and_then(|proc| proc.process);
            let call = process.and_then(|process| process.calls.first());
            let line = call.and_then(|call| Some((call.file.clone()?, call.line?)));
            let names = format!("{}/{}", communicator(context, receive), communicator(context, message));
            let tags = match shift {
                Some(shift) => (Some(shift), None),
                None => (receive.operation.desired_tag, message.operation.desired_tag),
            };
            let key = (kind, names, tags.0, tags.1, line);
            let next = misses.len();
            let miss = *alike.entry(key).or_insert(next);
            if miss == next {
                let (receive, procs, blame) = (receive.clone(), Vec::new(), Blame::default());
                misses.push(Miss { kind, receive, message: id, certain, later, shift, count: 0, procs, blame });
            }
            if let Some(miss) = misses.get_mut(miss) {
                miss.count += 1;
                miss.certain &= certain;
                miss.later = miss.later.or(later);
                miss.procs.push((receive.place.proc, Some(wants(context, receive))));
                let others = [sender(message), receiver(message)].into_iter().flatten();
                miss.procs.extend(others.map(|proc| (proc, None)));
                for entry in [receive, message] {
                    blame_for(context, entry, &mut miss.blame);
                }
            }
        }
    }
    let left_out = misses.len().saturating_sub(MAX_FINDINGS);
    let mut findings: Vec<Finding> =
        misses.into_iter().take(MAX_FINDINGS).filter_map(|miss| finding(context, miss)).collect();
    if let (Some(last), true) = (findings.last_mut(), left_out > 0) {
        last.evidence.push(format!("{} more of this kind", counted(left_out, "finding")));
    }
    Near { findings, mentioned }
}

/// What a difference of tags may come from, after these words: of 16 bits remain where it is a multiple of 65536.
fn cut(shift: i64) -> String {
    let bits = [32, 16, 8].into_iter().find(|bits| shift != 0 && shift % (1_i64 << bits) == 0);
    bits.map_or_else(String::new, |bits| format!(", as if tags were cut to {bits} bits"))
}

fn finding(context: &Context<'_, '_>, miss: Miss<'_>) -> Option<Finding> {
    let (receive, message) = (&miss.receive, context.matching.entry(miss.message)?);
    let own = name(context.job, receive.place.proc);
    let mut summary = format!("{}, {own} waits for {}", sent(context, message), wants(context, receive));
    if miss.kind == FindingKind::TagMismatch && !receive.operation.any_source {
        // The rest is equal.
        let from = sender(message).map_or_else(String::new, |proc| name(context.job, proc));
        let verb =
            if message.place.queue == QueueKind::PendingSends || message.same.is_some() { "sends" } else { "sent" };
        let on = communicator(context, receive);
        summary = format!("{from} {verb} {} on {on}, {own} waits for {}", tag(message), tag(receive));
    }
    match miss.shift.filter(|_| miss.count > 1) {
        Some(shift) => summary.push_str(&format!(
            " ({} and as many messages: each tag is {} {} than the one that is waited for{})",
            counted(miss.count, "receive"),
            shift.unsigned_abs(),
            if shift < 0 { "more" } else { "less" },
            cut(shift)
        )),
        None if miss.count > 1 => {
            summary.push_str(&format!(" (and {} like this)", counted(miss.count - 1, "receive")));
        }
        None => {}
    }
    let mut finding = Finding { kind: miss.kind, summary, certain: miss.certain, ..Finding::default() };
    finding.evidence.push(where_it_is(context, message));
    finding.evidence.push(format!("nothing that was read fits the receive of {own}: {}", wants(context, receive)));
    if miss.certain {
        finding.evidence.push(format!("{own} can never go on otherwise"));
    } else if let Some((proc, send)) = miss.later {
        let from = name(context.job, proc);
        finding.evidence.push(format!(
            "not certain: by the source, {from} sends what {own} waits for later, in line {}: the order may be wrong",
            send.line
        ));
    } else {
        let blind = context.matching.blind(context.job, receive);
        let why = blind.or_else(|| context.matching.blind(context.job, message));
        finding.evidence.push(match why {
            Some(why) => format!("not all was read: {why}"),
            None => format!("it is not certain that {own} can never go on otherwise"),
        });
    }
    finding.blamed = miss.blame.places();
    finding.started_by = starts(context, receive);
    finding.started_by.extend(starts(context, message));
    place(context, &mut finding, &miss.procs);
    if miss.later.is_some() {
        advice::give(&mut finding, Change::OrderOfMessages);
    }
    Some(finding)
}
