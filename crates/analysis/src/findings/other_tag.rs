//! What ranks outside MPI have posted, beside what comes to them. Nobody knows whether they ever wait for it.

use super::Context;
use crate::job::ProcIndex;
use crate::matching::{Entry, Outcome};
use crate::words;
use model::{OperationStatus, QueueKind};

/// So many ranks are looked at, and receives of each.
const LOOKED_AT: usize = 64;

/// How many operations of a rank are gone through: a flood of messages says nothing more.
const SCANNED: usize = 4096;

/// The first message that has arrived at one of these ranks and that it has not received, in a clause.
pub fn arrived(context: &Context<'_>, procs: &[ProcIndex]) -> Option<String> {
    procs.iter().take(LOOKED_AT).find_map(|proc| {
        let own = context.matching.of_proc(*proc);
        let is_open = |entry: &&Entry<'_>| {
            entry.is_own()
                && entry.outcome == Outcome::Unmatched
                && entry.place.queue == QueueKind::UnexpectedMessages
                && entry.operation.status != OperationStatus::InTransit
        };
        // All of them: their number is told.
        let mut open = own.iter().filter(is_open);
        let first = open.next()?;
        let (tag, sender) = (first.operation.actual_tag?, first.peer.filter(|sender| sender != proc)?);
        let (rank, from) = (words::proc(context.job, *proc), words::proc(context.job, sender));
        let others = match open.count() {
            0 => String::new(),
            others => format!(", nor {}", words::counted(others, "other message")),
        };
        Some(format!("{rank} has not received tag {tag} from {from}{others}"))
    })
}

/// A receive that one of these ranks has posted, and a message of the same sender with another tag, in a clause.
pub fn posted(context: &Context<'_>, procs: &[ProcIndex]) -> Option<String> {
    procs.iter().take(LOOKED_AT).find_map(|proc| {
        let own = context.matching.of_proc(*proc);
        let own = &own[..own.len().min(SCANNED)];
        let is_open = |entry: &&Entry<'_>| {
            entry.is_own() && !entry.probe && entry.outcome == Outcome::Unmatched && !entry.operation.tag_wild
        };
        let posted = own.iter().filter(is_open).filter(|one| one.place.queue == QueueKind::PendingReceives);
        posted.take(LOOKED_AT).find_map(|receive| {
            let sender = receive.peer.filter(|sender| *sender != *proc)?;
            let arrived =
                own.iter().filter(|one| one.place.queue == QueueKind::UnexpectedMessages && one.peer == Some(sender));
            let of_sender = context.matching.of_proc(sender).iter().take(SCANNED);
            let sent = of_sender.filter(|one| one.place.queue == QueueKind::PendingSends && one.peer == Some(*proc));
            let wanted = receive.operation.desired_tag?;
            let other =
                arrived.chain(sent).filter(is_open).filter(|one| one.communicator == receive.communicator).find_map(
                    |one| one.operation.actual_tag.or(one.operation.desired_tag).filter(|tag| *tag != wanted),
                )?;
            let (rank, from) = (words::proc(context.job, *proc), words::proc(context.job, sender));
            Some(format!("{rank} has posted a receive of tag {wanted} from {from}, which has sent tag {other}"))
        })
    })
}
