//! Why is it stuck: from one snapshot, or from two looks at the same job.

use hashbrown::HashSet;

use super::findings::{
    self, Context, circles, collectives, deadlock, epochs, finished, messages, non_blocking, recorded, requests, slow,
};
use super::job::ProcIndex;
use super::parallel::both;
use super::stuck::{Reading, Stuck};
use super::worked::Worked;
use super::{advice, call_arguments, cause, live_lock, movement, verdict};
use model::{Finding, Snapshot, State, Verdict, Which};

/// An earlier look at the same job.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// What was read then.
    pub snapshot: &'a Snapshot,
    /// Time between the two, in milliseconds, during which the job ran.
    pub interval_ms: Option<u64>,
    /// What was seen of messages in between.
    pub watched: &'a Watched,
}

/// What was seen of the messages of processes while they ran on.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// Those whose messages were seen to go.
    pub moving: Which,
    /// Those whose messages may have gone where nobody saw them.
    pub unseen: Which,
}

/// Finds what is wrong; the findings that explain most come first.
pub fn diagnose(snapshot: &Snapshot, earlier: Option<Earlier<'_>>) -> (Vec<Finding>, Verdict) {
    let complete = call_arguments::completed(snapshot);
    conclude(&Worked::new(&complete), snapshot, earlier)
}

/// Tells what follows from what was worked out of a snapshot, or of one that is the same as it.
pub(crate) fn conclude(
    worked: &Worked<'_>,
    snapshot: &Snapshot,
    earlier: Option<Earlier<'_>>,
) -> (Vec<Finding>, Verdict) {
    let Worked { job, matching, waits } = worked;
    let count = snapshot.processes.len();
    let movement = earlier.map(|earlier| movement::compare(earlier, snapshot)).unwrap_or_default();
    let seen: Vec<_> = movement.iter().map(|compared| compared.seen).collect();
    let sure = Stuck::new(job, waits, Reading::Hopeful, &seen, |_| false);
    let possible = Stuck::new(job, waits, Reading::Strict, &seen, |proc: ProcIndex| sure.is_stuck(proc));
    let ignored = |proc: ProcIndex| sure.is_stuck(proc) || possible.is_stuck(proc);
    let polling = Stuck::new(job, waits, Reading::Polling, &seen, ignored);
    let (sure, possible, polling, seen) = (&sure, &possible, &polling, seen.as_slice());
    let context = Context { snapshot, job, matching, waits, sure, possible, polling, seen };
    let (others, of_messages) = both(count, || findings_but_messages(&context), || messages_of(&context));
    // Of equal ones what was done first goes first: what follows is where ranks stand now.
    let mut findings = recorded::find(&context);
    findings.extend(others);
    findings.extend(of_messages);
    for finding in findings::given::find(&context) {
        // The flight recorder may have given the same finding.
        if !findings.iter().any(|known| (known.kind, &known.ranks) == (finding.kind, &finding.ranks)) {
            findings.push(finding);
        }
    }
    findings.extend(findings::partners::find(&context));
    let in_epochs = epochs::find(&context, &findings);
    findings.extend(in_epochs);
    findings.extend(findings::polled::find(&context));
    findings.extend(findings::polling::find(&context));
    findings.extend(requests::find(&context));
    findings.extend(slow::find(&context));
    cause::order(&context, &mut findings);
    findings::odd_rank::add(&context, &movement, &mut findings);
    findings::parted::add(&mut findings);
    findings::exceptions::add(&context, &mut findings);
    cause::follow(&context, &mut findings);
    findings.iter_mut().for_each(advice::complete);
    let mut verdict = verdict::from_findings(&context, &findings);
    // Only now: the headline has its own word for what is not certain.
    for finding in findings.iter_mut().filter(|finding| finding.kind.is_stuck() && !finding.certain) {
        finding.summary.insert_str(0, "perhaps ");
    }
    if let State::Running | State::Waiting = verdict.state
        && let Some((ranks, text)) = live_lock::suspected(&context, &movement)
    {
        verdict.headline = if verdict.state == State::Running { text } else { format!("{text} {}", verdict.headline) };
        verdict.live_lock = ranks;
    }
    verdict.interval_ms = earlier.and_then(|earlier| earlier.interval_ms);
    verdict.movement = movement.into_iter().map(|one| one.movement).collect();
    (findings, verdict)
}

/// Findings about who waits for whom and in which collective.
fn findings_but_messages(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = deadlock::find(context);
    findings.extend(finished::find(context));
    let pending = non_blocking::pending(context);
    let groups = collectives::groups(context);
    let circles = circles::find(context, groups.values().flatten(), &pending);
    findings.extend(circles.findings.iter().cloned());
    findings.extend(collectives::find(context, &groups, &pending, &circles));
    findings.extend(non_blocking::find(context, &pending, &circles));
    findings
}

/// Findings about messages, which ask who is stuck and for which operations.
fn messages_of(context: &Context<'_>) -> Vec<Finding> {
    let all = || (0..context.job.procs.len()).map(ProcIndex);
    let fates: Vec<messages::Fate> = all().map(|proc| context.fate(proc)).collect();
    let waited: HashSet<_> = all()
        .flat_map(|proc| context.threads(proc))
        .chain(context.waits.polling.values())
        .flat_map(|thread| &thread.operations)
        .map(|op| op.matched_at())
        .collect();
    messages::find(&messages::Context { job: context.job, matching: context.matching, fates: &fates, waited: &waited })
}
