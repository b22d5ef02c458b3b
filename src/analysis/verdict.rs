//! What is said of the whole.

use super::findings::Context;
use super::job::PartyId;
use super::stuck::Seen;
use super::waits::{Free, Need, Standing};
use super::words;
use crate::model::{Finding, FindingKind, QueueState, State, Verdict};

/// How many sentences of one kind the limits have.
const SHOWN: usize = 4;

/// Kinds of findings of which each says that some ranks never go on.
const STUCK: [FindingKind; 3] = [FindingKind::Deadlock, FindingKind::FinishedRank, FindingKind::Polling];

/// The verdict, without what two looks add.
pub fn of(context: &Context<'_>, findings: &[Finding]) -> Verdict {
    let limits = limits(context);
    let stuck =
        |certain: bool| findings.iter().find(|finding| finding.certain == certain && STUCK.contains(&finding.kind));
    let waiting =
        findings.iter().find(|finding| matches!(finding.kind, FindingKind::SlowRank | FindingKind::StuckOutside));
    let (state, headline) = if let Some(finding) = stuck(true) {
        (State::Deadlock, headline("Deadlock", &finding.summary))
    } else if let Some(finding) = stuck(false) {
        (State::Suspect, headline("Possible deadlock", &finding.summary))
    } else if let Some(finding) = waiting {
        (State::Waiting, format!("No deadlock: {}.", finding.summary))
    } else {
        nobody_stuck(context)
    };
    Verdict { state, headline, limits, ..Verdict::default() }
}

fn headline(word: &str, summary: &str) -> String {
    format!("{word}: {}.", summary.strip_prefix("perhaps ").unwrap_or(summary))
}

fn nobody_stuck(context: &Context<'_>) -> (State, String) {
    let mut inside = 0;
    let mut outside = 0;
    let mut finished = 0;
    let mut unknown = 0;
    for standing in &context.waits.standing {
        match standing {
            Standing::Blocked(_) | Standing::Free(Free::Polling(_) | Free::Local(_)) => inside += 1,
            Standing::Free(Free::Outside(_) | Free::NotStarted | Free::Stopped) => outside += 1,
            Standing::Finished(_) => finished += 1,
            Standing::Free(Free::Unknown | Free::NotRead) => unknown += 1,
        }
    }
    if inside + outside + finished == 0 {
        return (State::Unknown, "Nothing can be said: where the ranks stand could not be read.".to_owned());
    }
    let parts: Vec<String> =
        [(inside, "in MPI"), (outside, "outside MPI"), (finished, "finished"), (unknown, "not known")]
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, place)| format!("{} {place}", words::counted(number, "rank")))
            .collect();
    let unclear = (0..context.job.parties.len())
        .map(PartyId)
        .any(|party| context.threads(party).iter().any(|thread| matches!(thread.need, Need::Unknown(_))));
    let state = if unknown > 0 && unclear { State::Unknown } else { State::Running };
    (state, format!("Nobody is stuck as far as can be seen: {}.", parts.join(", ")))
}

fn limits(context: &Context<'_>) -> Vec<String> {
    let job = context.job;
    let mut limits = Vec::new();
    let which = |wanted: fn(&Standing<'_>) -> bool| -> Vec<PartyId> {
        let all = context.waits.standing.iter().enumerate();
        all.filter(|(_, standing)| wanted(standing)).map(|(index, _)| PartyId(index)).collect()
    };
    let not_read = which(|standing| matches!(standing, Standing::Free(Free::NotRead)));
    if !not_read.is_empty() {
        limits.push(format!("Not read: {}.", words::parties(job, &not_read)));
    }
    let unknown = which(|standing| matches!(standing, Standing::Free(Free::Unknown)));
    if !unknown.is_empty() {
        limits.push(format!("Where these stand is not known: {}.", words::parties(job, &unknown)));
    }
    let mut untold: Vec<(&'static str, Vec<PartyId>)> = Vec::new();
    let mut partial: Vec<PartyId> = Vec::new();
    let mut unread: Vec<PartyId> = Vec::new();
    for index in 0..job.parties.len() {
        let party = PartyId(index);
        for thread in context.threads(party) {
            if let Need::Unknown(reason) = thread.need {
                match untold.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, parties)) => parties.push(party),
                    None => untold.push((reason, vec![party])),
                }
            }
        }
        let Some(process) = job.parties[index].process else { continue };
        if process.all_threads != Some(true) && !context.threads(party).is_empty() {
            partial.push(party);
        }
        let broken = process.communicators.iter().any(|communicator| {
            [&communicator.pending_sends, &communicator.pending_receives, &communicator.unexpected_messages]
                .iter()
                .any(|queue| queue.state != QueueState::Ok)
        });
        if broken {
            unread.push(party);
        }
    }
    for (reason, parties) in untold.iter().take(SHOWN) {
        limits.push(format!("Of {}: {reason}.", words::parties(job, parties)));
    }
    if !unread.is_empty() {
        limits.push(format!("Not all queues of these could be read: {}.", words::parties(job, &unread)));
    }
    if !partial.is_empty() {
        limits.push(format!("Not all stacks of these were seen to their end: {}.", words::parties(job, &partial)));
    }
    let doubtful = job.communicators.iter().filter_map(|shared| shared.doubt.as_deref()).take(SHOWN);
    for doubt in doubtful {
        if !limits.iter().any(|limit| limit == doubt) {
            limits.push(doubt.to_owned());
        }
    }
    let lost: Vec<PartyId> = (0..context.seen.len())
        .map(PartyId)
        .filter(|party| context.seen[party.0] == Seen::Once && !context.threads(*party).is_empty())
        .collect();
    if !lost.is_empty() {
        limits.push(format!("Two looks tell no more than one of {}.", words::parties(job, &lost)));
    }
    limits
}
