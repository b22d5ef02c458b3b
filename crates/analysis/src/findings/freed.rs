//! Ranks that wait for requests that were freed.

use super::Context;
use super::slow::Waiters;
use crate::advice::{self, Change, Circle};
use crate::job::ProcIndex;
use crate::stuck::Stuck;
use crate::words;
use model::{Call, CallRequest, Finding, FindingKind, RequestState};

/// How many requests are shown.
const SHOWN: usize = 8;

/// The call in which a rank waits for requests that are none any more.
fn call<'a>(context: &Context<'a>, proc: ProcIndex) -> Option<&'a Call> {
    let [thread] = context.threads(proc) else { return None };
    freed(thread.call).next().map(|_| thread.call)
}

fn freed(call: &Call) -> impl Iterator<Item = &CallRequest> {
    call.requests.iter().filter(|one| one.state == RequestState::Freed)
}

/// One finding for all of them; `None` where there are none. `stuck`: who waits, as far as can be seen.
pub fn finding(context: &Context<'_>, stuck: &Stuck) -> Option<Finding> {
    let all = (0..context.job.procs.len()).map(ProcIndex).filter(|proc| stuck.is_stuck(*proc));
    let waiting: Vec<_> = all.filter_map(|proc| Some((proc, call(context, proc)?))).collect();
    let (_, first) = waiting.first()?;
    let procs: Vec<ProcIndex> = waiting.iter().map(|(proc, _)| *proc).collect();
    let mut others = Waiters::new(stuck).all(&procs);
    others.retain(|proc| !procs.contains(proc));
    let same = waiting.iter().all(|(_, call)| call.c_name() == first.c_name());
    let place = if same { first.c_name() } else { "MPI".into() };
    let requests =
        if waiting.len() == 1 && freed(first).count() == 1 { "a request that was" } else { "requests that were" };
    let (who, wait) = (words::procs(context.job, &procs), words::wait(procs.len()));
    let mut summary = format!("{who} {wait} in {place} for {requests} freed");
    if !others.is_empty() {
        let (who, wait) = (words::procs(context.job, &others), words::wait(others.len()));
        let them = if procs.len() == 1 { "it" } else { "them" };
        summary.push_str(&format!(", and {who} {wait} for {them}"));
    }
    let evidence = waiting.iter().flat_map(|(proc, call)| {
        let (rank, of, function) = (words::proc(context.job, *proc), call.requests.len(), call.c_name());
        freed(call).map(move |request| {
            let number = request.index.saturating_add(1);
            format!("In {rank}, request {number} of {of} of {function} belongs to the library again.")
        })
    });
    let mut evidence: Vec<String> = evidence.take(SHOWN).collect();
    evidence.push("Not certain: the library may use the memory of a freed request for another one.".to_owned());
    let mut ranks = procs.clone();
    ranks.extend(others);
    let mut finding = Finding {
        kind: FindingKind::Deadlock,
        summary,
        ranks: context.ranks(&ranks),
        calls: context.calls(&ranks),
        certain: false,
        evidence,
        blamed: context.blamed(&procs),
        ..Finding::default()
    };
    advice::give(&mut finding, Change::Order(Circle::Freed));
    Some(finding)
}
