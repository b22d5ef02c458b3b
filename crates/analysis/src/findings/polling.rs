//! Ranks that poll for what nobody will send.

use super::Context;
use super::deadlock::capital;
use crate::job::PartyId;
use crate::words;
use model::{Finding, FindingKind};

/// How many findings are told.
const SHOWN: usize = 16;

/// One finding for each rank that polls for what can come only from ranks that wait for it, if it does nothing else. Never
/// certain: what else a loop around MPI_Test does is not known.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let stuck = |party: &&PartyId| context.polling.is_stuck(**party);
    let found = context.waits.polling.iter().filter(|(party, _)| stuck(party)).take(SHOWN).map(|(party, thread)| {
        let job = context.job;
        let who = words::party(job, *party);
        let waits_for = context.waits.words(job, *party, thread);
        let function = thread.call.c_name();
        let for_what = waits_for.map_or_else(String::new, |words| format!(" and waits for {words}"));
        let others: Vec<PartyId> = (0..job.parties.len())
            .map(PartyId)
            .filter(|other| other != party && context.polling.is_stuck(*other) && !context.threads(*other).is_empty())
            .collect();
        let mut evidence = vec![format!("{} polls with {function}{for_what}.", capital(&who))];
        if !others.is_empty() {
            let verb = words::wait(others.len());
            evidence.push(format!("{} {verb} for it, or for others that do.", capital(&words::parties(job, &others))));
        }
        evidence.push("Not certain: what else the loop around this call does is not known.".to_owned());
        let mut calls = context.calls(&[*party]);
        if let Some(own) = calls.first_mut() {
            own.waits_for = context.waits.words(job, *party, thread);
        }
        calls.extend(context.calls(&others));
        let summary = format!("{who} polls with {function} for what nobody will send");
        Finding {
            kind: FindingKind::Polling,
            summary,
            ranks: context.ranks(&[*party]),
            calls,
            evidence,
            advice: Some("Look at the loop around that call: what ends it?".to_owned()),
            certain: false,
        }
    });
    found.collect()
}
