//! Persistent requests that were never started, in the calls that wait for them.

use super::Context;
use crate::blame::Blame;
use crate::job::ProcIndex;
use crate::words;
use model::{Blamed, Call, CallRequest, Finding, FindingKind, RankCall, RankStart, RequestState};

/// How many findings of this kind are shown.
const MOST: usize = 16;

/// One for each call of a stuck rank that waits for requests of which some were not started. To wait for such a one is
/// allowed, and over at once: it is a finding only for ranks that go no further.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let stuck = (0..context.job.procs.len()).map(ProcIndex).filter(|proc| context.perhaps_stuck(*proc));
    stuck.flat_map(|proc| never_started(context, proc)).take(MOST).collect()
}

fn never_started(context: &Context<'_>, proc: ProcIndex) -> Vec<Finding> {
    let calls = context.threads(proc).iter().map(|thread| thread.call);
    let findings = calls.filter_map(|call| {
        let idle: Vec<&CallRequest> =
            call.requests.iter().filter(|request| request.state == RequestState::Inactive).collect();
        let first = idle.first()?;
        let request = match &first.summary {
            Some(summary) => format!("the one at index {} ({summary})", first.index),
            None => format!("the one at index {}", first.index),
        };
        let others = match idle.len() {
            1 => String::new(),
            more => format!(" and {} more", more - 1),
        };
        let (own, name, count) = (words::proc(context.job, proc), call.c_name(), call.requests.len());
        let certain = context.stuck_for_certain(proc);
        Some(Finding {
            kind: FindingKind::NeverStarted,
            summary: format!(
                "{own} waits in {name} for {count} requests, of which {request}{others} was not started: it sends and \
                 receives nothing"
            ),
            ranks: context.ranks(&[proc]),
            calls: vec![RankCall { rank: words::rank(context.job, proc), call: call.clone(), waits_for: None }],
            certain,
            evidence: vec!["A wait for a persistent request that is not active returns at once.".to_owned()],
            blamed: blamed(words::rank(context.job, proc), call, &idle),
            ..Finding::default()
        })
    });
    findings.collect()
}

/// The calls that made the requests, and the one that waits for them.
fn blamed(rank: Option<i64>, call: &Call, idle: &[&CallRequest]) -> Vec<Blamed> {
    let mut blame = Blame::default();
    for started in idle.iter().flat_map(|request| &request.started_by) {
        blame.start(&RankStart { rank, started: started.clone() });
    }
    blame.standing(rank, call);
    blame.places()
}
