//! Words for operations, and the calls of ranks.

use super::Context;
use crate::blame::Blame;
use crate::job::ProcIndex;
use crate::matching::{Entry, name};
use crate::words;
pub(super) use crate::words::counted;
use functions::{WaitKind, wait_kind};
use model::{Blamed, Call, Finding, OperationStatus, QueueKind, RankCall, RankStart, Sender, StartedBy};

/// How many calls of functions that have returned are shown for one message.
const MOST_ELSEWHERE: usize = 4;

/// So many calls are shown with one finding.
const MAX_CALLS: usize = 16;

/// `"halo"`, `MPI_COMM_WORLD`.
pub(super) fn communicator(context: &Context<'_, '_>, entry: &Entry<'_>) -> String {
    let view = context.job.communicators.get(entry.communicator.0);
    let own = view.and_then(|shared| shared.view(entry.place.proc).or(shared.views.first()));
    own.map_or_else(|| "a communicator".to_owned(), |view| words::communicator(view.communicator))
}

/// `tag 17`, `any tag`.
pub(super) fn tag(entry: &Entry<'_>) -> String {
    words::tag(entry.operation)
}

/// `rank 1`, `any rank`.
pub(super) fn peer(context: &Context<'_, '_>, entry: &Entry<'_>) -> String {
    match (entry.operation.any_source, entry.peer) {
        (true, _) => "any rank".to_owned(),
        (false, Some(peer)) => name(context.job, peer),
        (false, None) => "a rank that is not known".to_owned(),
    }
}

/// Who sent a message, or has it still to send.
pub(super) fn sender(entry: &Entry<'_>) -> Option<ProcIndex> {
    if entry.place.queue == QueueKind::PendingSends { Some(entry.place.proc) } else { entry.peer }
}

/// For whom it is.
pub(super) fn receiver(entry: &Entry<'_>) -> Option<ProcIndex> {
    if entry.place.queue == QueueKind::PendingSends { entry.peer } else { Some(entry.place.proc) }
}

/// The length of a message in bytes.
pub(super) fn length(entry: &Entry<'_>) -> Option<u64> {
    entry.operation.actual_length.or(entry.operation.desired_length)
}

/// `rank 0 waits for tag 17 from rank 1 on "halo"`, after the name of the rank.
pub(super) fn wants(context: &Context<'_, '_>, receive: &Entry<'_>) -> String {
    format!("{} from {} on {}", tag(receive), peer(context, receive), communicator(context, receive))
}

/// `rank 1 sent tag 18 to rank 0 on "halo"`, `rank 1 sends ...` where it still waits for it to be received.
pub(super) fn sent(context: &Context<'_, '_>, message: &Entry<'_>) -> String {
    let proc = |proc: Option<ProcIndex>| proc.map_or_else(|| "an unknown rank".to_owned(), |id| name(context.job, id));
    let verb = if message.place.queue == QueueKind::PendingSends || message.same.is_some() { "sends" } else { "sent" };
    let (from, to) = (proc(sender(message)), proc(receiver(message)));
    format!("{from} {verb} {} to {to} on {}", tag(message), communicator(context, message))
}

/// What was read of a message, as evidence.
pub(super) fn where_it_is(context: &Context<'_, '_>, message: &Entry<'_>) -> String {
    let bytes = length(message).map_or_else(String::new, |bytes| format!(" of {bytes} bytes"));
    let to = receiver(message).map_or_else(|| "its receiver".to_owned(), |id| name(context.job, id));
    // Of a send the message at the other end says where it lies.
    let same = message.same.and_then(|same| context.matching.entry(same));
    let in_transit = |entry: &Entry<'_>| entry.operation.status == OperationStatus::InTransit;
    if in_transit(message) || same.is_some_and(in_transit) {
        return format!("the message{bytes} is in transit: {to} has not taken it out of shared memory yet");
    }
    match (message.place.queue, message.same) {
        (QueueKind::PendingSends, None) => format!("the send{bytes} is pending at its sender"),
        (QueueKind::PendingSends, Some(_)) | (_, Some(_)) => {
            format!("the message{bytes} is among the unexpected messages of {to}, and its sender waits for the receive")
        }
        (_, None) => format!("the message{bytes} is among the unexpected messages of {to}"),
    }
}

/// The calls that started an operation, or that may have sent a message that has arrived.
pub(super) fn starts(context: &Context<'_, '_>, entry: &Entry<'_>) -> Vec<RankStart> {
    let process = |proc: ProcIndex| context.job.procs.get(proc.0);
    let start_of =
        |proc: ProcIndex, started: StartedBy| RankStart { rank: process(proc).and_then(|one| one.rank), started };
    // Of a message whose send is pending, that has it.
    let same = entry.same.and_then(|same| context.matching.entry(same));
    for one in [Some(entry), same].into_iter().flatten() {
        if !one.operation.started_by.is_empty() {
            let all = one.operation.started_by.iter();
            return all.map(|started| start_of(one.place.proc, started.clone())).collect();
        }
    }
    if same.is_some() {
        return Vec::new();
    }
    let arrived = entry.place.queue == QueueKind::UnexpectedMessages;
    let Some(from) = sender(entry).filter(|_| arrived) else { return Vec::new() };
    let Some(process) = process(from).and_then(|one| one.process) else { return Vec::new() };
    let shared = context.job.communicators.get(entry.communicator.0);
    let place = shared.and_then(|shared| shared.view(from)).map(|view| view.communicator.unique_id);
    let to = shared.and_then(|shared| shared.view(entry.place.proc)).and_then(|view| view.communicator.local_rank);
    let may_be = |own: Option<i64>, other: Option<i64>| own.is_none() || other.is_none() || own == other;
    let fits = |sender: &&Sender| {
        let here = sender.communicator.is_none() || place.is_none() || sender.communicator == place;
        here && may_be(sender.tag, entry.operation.desired_tag) && may_be(sender.dest, to)
    };
    let started = |sender: &Sender| StartedBy {
        function: sender.function.clone().to_string(),
        file: sender.file.clone().map(|text| text.to_string()),
        line: Some(sender.line),
        caller: sender.caller.clone().map(|text| text.to_string()),
        ..StartedBy::default()
    };
    let all = |elsewhere: bool| {
        let mut starts: Vec<RankStart> = Vec::new();
        let fitting = process.senders.iter().filter(fits).filter(|one| one.elsewhere == elsewhere);
        for one in fitting.map(|one| start_of(from, started(one))) {
            // Code that was inlined stands at several places.
            if !starts.contains(&one) {
                starts.push(one);
            }
        }
        starts
    };
    let here = all(false);
    if !here.is_empty() {
        return here;
    }
    // Its function has returned: where many come into question, naming them does not help.
    let elsewhere = all(true);
    if elsewhere.len() <= MOST_ELSEWHERE { elsewhere } else { Vec::new() }
}

/// The calls that operations are about, in this order.
pub(super) fn blamed(context: &Context<'_, '_>, entries: &[&Entry<'_>]) -> Vec<Blamed> {
    let mut blame = Blame::default();
    entries.iter().for_each(|entry| blame_for(context, entry, &mut blame));
    blame.places()
}

/// The calls that started an operation or may have sent a message, else the one in which its rank has posted it.
pub(super) fn blame_for(context: &Context<'_, '_>, entry: &Entry<'_>, blame: &mut Blame) {
    let starts = starts(context, entry);
    if !starts.is_empty() {
        return starts.iter().for_each(|start| blame.start(start));
    }
    let posted = match entry.place.queue {
        QueueKind::UnexpectedMessages => entry.same.and_then(|same| context.matching.entry(same)),
        _ => Some(entry),
    };
    let Some(posted) = posted else { return };
    let owner = context.job.procs.get(posted.place.proc.0);
    let Some(process) = owner.and_then(|one| one.process) else { return };
    let posts = |call: &&Call| {
        let pair = (posted.place.queue, wait_kind(&call.c_name()));
        matches!(
            pair,
            (_, WaitKind::SendReceive)
                | (QueueKind::PendingSends, WaitKind::Send)
                | (QueueKind::PendingReceives, WaitKind::Receive | WaitKind::Probe)
        )
    };
    let waits = context.waited.contains(&posted.place) || posted.probe;
    let own = process.calls.iter().find(posts).or(process.calls.first());
    if let Some(call) = own.filter(|_| waits) {
        blame.standing(owner.and_then(|one| one.rank), call);
    }
}

/// A process of a finding, and what it waits for.
pub(super) type ProcWait = (ProcIndex, Option<String>);

/// Puts ranks and their calls into a finding.
pub(super) fn place(context: &Context<'_, '_>, finding: &mut Finding, procs: &[ProcWait]) {
    let rank = |proc: ProcIndex| context.job.procs.get(proc.0).and_then(|proc| proc.rank);
    let mut sorted: Vec<(Option<i64>, ProcIndex, Option<String>)> =
        procs.iter().map(|(proc, waits_for)| (rank(*proc), *proc, waits_for.clone())).collect();
    // One that says what it waits for before one of the same process that does not.
    sorted.sort_by_key(|(rank, proc, waits_for)| (*rank, *proc, waits_for.is_none()));
    sorted.dedup_by_key(|(_, proc, _)| *proc);
    finding.ranks = sorted.iter().filter_map(|(rank, ..)| *rank).collect();
    finding.ranks.dedup();
    for (rank, proc, waits_for) in sorted.into_iter().take(MAX_CALLS) {
        let Some(process) = context.job.procs.get(proc.0).and_then(|proc| proc.process) else { continue };
        let call = process.calls.first().cloned().or_else(|| {
            let outside = process.outside.iter().find(|outside| outside.file.is_some()).or(process.outside.first())?;
            Some(Call {
                thread: outside.thread,
                file: outside.file.clone().map(Into::into),
                line: outside.line,
                caller: outside.caller.clone().or_else(|| outside.function.clone()).map(Into::into),
                ..Call::default()
            })
        });
        if let Some(call) = call {
            finding.calls.push(RankCall { rank, call, waits_for });
        }
    }
}
