//! Ranks that poll for what nobody will send.

use super::Context;
use super::deadlock::capital;
use crate::job::ProcIndex;
use crate::words;
use model::{Finding, FindingKind};

/// How many findings are shown.
const SHOWN: usize = 16;

/// One finding for each rank that polls for what can come only from ranks that wait for it, if it does nothing else. Never
/// certain: what else a loop around MPI_Test does is not known.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let stuck = |proc: &&ProcIndex| context.polling.is_stuck(**proc);
    let findings = context.waits.polling.iter().filter(|(proc, _)| stuck(proc)).take(SHOWN).map(|(proc, thread)| {
        let job = context.job;
        let who = words::proc(job, *proc);
        let waits_for = context.waits.words(job, *proc, thread);
        let function = thread.call.c_name();
        let for_what = waits_for.map_or_else(String::new, |words| format!(" and waits for {words}"));
        let others: Vec<ProcIndex> = (0..job.procs.len())
            .map(ProcIndex)
            .filter(|other| other != proc && context.polling.is_stuck(*other) && !context.threads(*other).is_empty())
            .collect();
        let mut evidence = vec![format!("{} polls with {function}{for_what}.", capital(&who))];
        if !others.is_empty() {
            let verb = words::wait(others.len());
            evidence.push(format!("{} {verb} for it, or for others that do.", capital(&words::procs(job, &others))));
        }
        evidence.push("Not certain: what else the loop around this call does is not known.".to_owned());
        let mut calls = context.calls(&[*proc]);
        if let Some(own) = calls.first_mut() {
            own.waits_for = context.waits.words(job, *proc, thread);
        }
        calls.extend(context.calls(&others));
        let summary = format!("{who} polls with {function} for what nobody will send");
        Finding {
            kind: FindingKind::Polling,
            summary,
            ranks: context.ranks(&[*proc]),
            calls,
            evidence,
            blamed: context.blamed(&[*proc]),
            certain: false,
            ..Finding::default()
        }
    });
    findings.collect()
}
