//! Which finding is the cause, and which only follow from it: what a person must mend comes first.

use hashbrown::HashSet;

use super::findings::slow::Waiters;
use super::findings::{Context, epochs};
use super::graph::{self, NodeId};
use super::job::ProcIndex;
use super::words;
use functions::{Started, WaitKind, wait_kind};
use model::{Blamed, Finding, FindingKind, RankCall, RequestState, Verdict};

/// Puts the causes before what follows from them, and the rest behind.
pub fn order(context: &Context<'_>, findings: &mut [Finding]) {
    let stuck: Vec<HashSet<i64>> = findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::Deadlock)
        .map(|finding| finding.ranks.iter().copied().collect())
        .collect();
    let ended = findings.iter().filter(|finding| finding.kind == FindingKind::FinishedRank);
    let ended: Vec<Ended> = ended.map(Ended::new).collect();
    let sure = findings.iter().any(|finding| finding.kind.is_stuck() && finding.certain);
    let epochs = findings.iter().filter(|finding| finding.kind == FindingKind::OneSidedEpochs && finding.certain);
    let epochs: HashSet<i64> = epochs.flat_map(|finding| &finding.ranks).copied().collect();
    let mismatch = findings.iter().any(|finding| finding.kind == FindingKind::RankMismatch);
    let behind = if mismatch { behind(context, &stuck) } else { HashSet::new() };
    let held = Held { context, deadlocks: &stuck, ended: &ended, epochs: &epochs, behind: &behind };
    // Equal ones stay as they were.
    findings.sort_by_key(|finding| rank(finding, sure, &held));
}

/// The place of a finding: the smaller the earlier. `sure`: some ranks can never go on for certain.
fn rank(finding: &Finding, sure: bool, held: &Held<'_>) -> (u8, bool) {
    use FindingKind as Kind;
    let place = match finding.kind {
        // Who holds a lock says why others are missing.
        Kind::Deadlock if finding.calls.iter().any(|call| call.call.function.is_empty()) => 1,
        // Why a rank that waits for a freed request is missing elsewhere.
        Kind::Deadlock if !sure && !finding.certain && finding.calls.iter().any(waits_for_freed) => 1,
        Kind::Deadlock | Kind::FinishedRank | Kind::Polling => 3,
        // Why ranks of a circle do not meet in their collectives: the headline says "perhaps".
        Kind::CollectiveMismatch | Kind::RootMismatch if sure && !finding.certain && held.explains(finding) => {
            if finding.kind == Kind::RootMismatch {
                0
            } else {
                1
            }
        }
        Kind::RankMismatch | Kind::OperatorMismatch | Kind::CountMismatch | Kind::DatatypeMismatch
            if sure && !finding.certain && is_of_collective_calls(finding) && held.explains(finding) =>
        {
            1
        }
        // What else is only possible explains nothing that is certain.
        _ if sure && !finding.certain => 4,
        Kind::CollectiveMismatch | Kind::RootMismatch | Kind::TagMismatch | Kind::CommunicatorMismatch => 0,
        // Whoever is to send to them waits as well, and may send it then: the message for somebody else says nothing.
        Kind::RankMismatch if waits_only(finding, held.behind) => 4,
        Kind::RankMismatch | Kind::NeverStarted => 1,
        // Of messages it is no reason to wait.
        Kind::CountMismatch if is_of_collectives(finding) && held.explains(finding) => 1,
        // Seen by the flight recorder: a reason where somebody still stands in it.
        Kind::OperatorMismatch | Kind::CountMismatch | Kind::DatatypeMismatch
            if is_where_some_stand(finding) && held.explains(finding) =>
        {
            1
        }
        Kind::OneSidedEpochs => 2,
        Kind::MissingInCollective if is_polled_for(finding) => 2,
        Kind::MissingInCollective if held.without_collective(finding) || held.by_locks(finding) => 4,
        Kind::MissingInCollective if holds_a_circle(finding, held.deadlocks) => 2,
        Kind::MissingInCollective if is_where_others_ended(finding, held.ended) => 2,
        _ => 4,
    };
    (place, place <= 3 && !finding.certain)
}

fn waits_for_freed(call: &RankCall) -> bool {
    call.call.requests.iter().any(|request| request.state == RequestState::Freed)
}

/// Whether all of its calls wait for non-blocking collectives.
fn is_of_collectives(finding: &Finding) -> bool {
    let numbered = |call: &RankCall| call.call.requests.iter().any(|request| request.sequence.is_some());
    !finding.calls.is_empty() && finding.calls.iter().all(numbered)
}

/// Whether all of its ranks stand in collectives.
fn is_of_collective_calls(finding: &Finding) -> bool {
    let is_collective = |call: &RankCall| matches!(wait_kind(&call.call.c_name()), WaitKind::Collective(..));
    !finding.calls.is_empty() && finding.calls.iter().all(is_collective)
}

/// Whether ranks poll for those that it names.
fn is_polled_for(finding: &Finding) -> bool {
    let polls = |call: &RankCall| {
        let is_other = call.rank.is_some_and(|rank| !finding.ranks.contains(&rank));
        is_other && wait_kind(&call.call.c_name()) == WaitKind::Poll
    };
    finding.kind == FindingKind::MissingInCollective && finding.calls.iter().any(polls)
}

/// Whether it is about collective calls in which some of its ranks stand still.
fn is_where_some_stand(finding: &Finding) -> bool {
    let stands = |call: &RankCall| {
        let is_same = |blamed: &Blamed| {
            (&*blamed.function, blamed.line) == (&*call.call.c_name(), call.call.line)
                && call.rank.is_some_and(|rank| blamed.ranks.contains(&rank))
        };
        finding.blamed.iter().any(is_same)
    };
    let is_collective = |blamed: &Blamed| {
        matches!(wait_kind(&blamed.function), WaitKind::Collective(..))
            || functions::find(&blamed.function).and_then(|function| function.starts()) == Some(Started::Collective)
    };
    finding.blamed.iter().all(is_collective) && finding.calls.iter().any(stands)
}

/// Who waits for ranks that have finished, and these.
struct Ended {
    waiting: HashSet<i64>,
    ended: HashSet<i64>,
}

impl Ended {
    fn new(finding: &Finding) -> Self {
        let waits = |call: &&RankCall| call.waits_for.is_some() && wait_kind(&call.call.c_name()) != WaitKind::Finalize;
        let waiting: HashSet<i64> = finding.calls.iter().filter(waits).filter_map(|call| call.rank).collect();
        let ended = finding.ranks.iter().copied().filter(|rank| !waiting.contains(rank)).collect();
        Self { waiting, ended }
    }
}

/// Who waits for ranks that wait for one another, and is none of these.
fn behind(context: &Context<'_>, circles: &[HashSet<i64>]) -> HashSet<i64> {
    let within: HashSet<i64> = circles.iter().flatten().copied().collect();
    let procs: Vec<ProcIndex> = within.iter().filter_map(|rank| context.job.proc(*rank)).collect();
    let waiting = Waiters::new(context.sure).all(&procs);
    context.ranks(&waiting).into_iter().filter(|rank| !within.contains(rank)).collect()
}

/// The ranks of which a finding says for what they wait.
fn waiting(finding: &Finding) -> impl Iterator<Item = i64> {
    finding.calls.iter().filter(|call| call.waits_for.is_some()).filter_map(|call| call.rank)
}

/// Whether a finding says of ranks for what they wait, and of these only.
fn waits_only(finding: &Finding, ranks: &HashSet<i64>) -> bool {
    let mut waiting = waiting(finding).peekable();
    waiting.peek().is_some() && waiting.all(|rank| ranks.contains(&rank))
}

/// Who can never go on.
struct Held<'a> {
    context: &'a Context<'a>,
    deadlocks: &'a [HashSet<i64>],
    ended: &'a [Ended],
    /// Who stands in epochs of windows.
    epochs: &'a HashSet<i64>,
    /// Who waits for ranks of circles, and is in none.
    behind: &'a HashSet<i64>,
}

impl Held<'_> {
    /// Whether what a finding says of its ranks, two at least, may be why they can never go on: they wait for one another, or for
    /// some that have finished, or are all of a circle with others that wait for it.
    fn explains(&self, finding: &Finding) -> bool {
        let stuck = |rank: &i64| self.context.job.proc(*rank).is_some_and(|proc| self.context.perhaps_stuck(proc));
        let circle = |ranks: &HashSet<i64>| {
            let within = finding.ranks.iter().all(|rank| ranks.contains(rank));
            within || (ranks.iter().all(|rank| finding.ranks.contains(rank)) && finding.ranks.iter().all(stuck))
        };
        // Of those that ended some have done something else before than those that wait.
        let ended = |one: &Ended| {
            finding.ranks.iter().any(|rank| one.waiting.contains(rank))
                && finding.ranks.iter().all(|rank| stuck(rank) || one.ended.contains(rank))
        };
        finding.ranks.len() > 1 && (self.deadlocks.iter().any(circle) || self.ended.iter().any(ended))
    }

    /// Whether those that are missing in a collective all wait for locks: who holds these is why.
    fn by_locks(&self, finding: &Finding) -> bool {
        let job = self.context.job;
        let locked = |rank: &i64| job.proc(*rank).is_some_and(|proc| epochs::in_win_lock(self.context, proc).is_some());
        !finding.ranks.is_empty() && finding.ranks.iter().all(locked)
    }

    /// Whether those that are missing in a collective hold one another without it, some of them by an epoch: who holds a lock
    /// is not known, so all others of the window come into question, those in the collective as well.
    fn without_collective(&self, finding: &Finding) -> bool {
        if !finding.ranks.iter().any(|rank| self.epochs.contains(rank)) {
            return false;
        }
        let missing: HashSet<i64> = finding.ranks.iter().copied().collect();
        let stuck = self.context.sure;
        let rank = |node: usize| words::rank(self.context.job, stuck.proc(NodeId(node))?);
        let is_process = |node: usize| stuck.proc(NodeId(node)).is_some();
        let inside = |node: usize| !is_process(node) || rank(node).is_some_and(|rank| missing.contains(&rank));
        let edges = stuck.edges().map(|(from, to)| (from.0, to.0)).filter(|(from, to)| inside(*from) && inside(*to));
        let circles = graph::circles(stuck.len(), edges);
        circles.iter().any(|circle| circle.iter().filter_map(|node| rank(*node)).collect::<HashSet<_>>().len() > 1)
    }
}

/// Whether those that are missing have finished, and some of those that wait for them wait in the collective.
fn is_where_others_ended(finding: &Finding, ended: &[Ended]) -> bool {
    let missing: HashSet<i64> = finding.ranks.iter().copied().collect();
    let waiting = || finding.calls.iter().filter_map(|call| call.rank).filter(|rank| !missing.contains(rank));
    let within = |one: &Ended| {
        missing.iter().all(|rank| one.ended.contains(rank)) && waiting().any(|rank| one.waiting.contains(&rank))
    };
    finding.certain && !missing.is_empty() && ended.iter().any(within)
}

/// Whether a circle of ranks that wait for one another goes through the collective: some of it are missing there, and some wait.
fn holds_a_circle(finding: &Finding, deadlocks: &[HashSet<i64>]) -> bool {
    let missing: HashSet<i64> = finding.ranks.iter().copied().collect();
    let waiting = || finding.calls.iter().filter_map(|call| call.rank).filter(|rank| !missing.contains(rank));
    deadlocks
        .iter()
        .any(|circle| missing.iter().any(|rank| circle.contains(rank)) && waiting().any(|rank| circle.contains(&rank)))
}

/// The place of the cause that the headline names for ranks that can never go on; `None`: that finding is its own cause.
pub fn first_cause(findings: &[Finding]) -> Option<usize> {
    let first = findings.first()?;
    (!first.kind.is_stuck() && !first.kind.is_wait()).then_some(0)
}

/// The place of the first finding about ranks that can never go on, for certain or perhaps.
fn first(findings: &[Finding]) -> Option<usize> {
    let stuck = [true, false].into_iter().find_map(|certain| Verdict::stuck(findings, certain))?;
    Some(first_cause(findings).unwrap_or(stuck))
}

/// Says of the cause who waits because of it, and of the other findings whether they follow from it.
pub fn follow(context: &Context<'_>, findings: &mut [Finding]) {
    let Some(at) = first(findings) else { return };
    let Some(cause) = findings.get(at) else { return };
    let held = held(cause);
    let of_ranks = |ranks: &HashSet<i64>| {
        let all = (0..context.job.procs.len()).map(ProcIndex);
        let known = |proc: &ProcIndex| context.job.procs[proc.0].rank.is_some_and(|rank| ranks.contains(&rank));
        all.filter(known).collect::<Vec<_>>()
    };
    let procs = of_ranks(&held);
    let mut waiting: HashSet<i64> = HashSet::new();
    for stuck in [context.sure, context.possible] {
        let all = Waiters::new(stuck).all(&procs);
        let stuck: Vec<ProcIndex> = all.into_iter().filter(|proc| context.perhaps_stuck(*proc)).collect();
        waiting.extend(context.ranks(&stuck));
    }
    let about: HashSet<i64> = cause.ranks.iter().copied().collect();
    let mut others: Vec<i64> =
        waiting.iter().copied().filter(|rank| !held.contains(rank) && !about.contains(rank)).collect();
    others.sort_unstable();
    let (circle, polled) = (cause.kind == FindingKind::Deadlock, is_polled_for(cause));
    for (place, finding) in findings.iter_mut().enumerate() {
        if place == at {
            finding.waiting = std::mem::take(&mut others);
        } else {
            finding.consequence = follows(finding, &held, &waiting, (circle, polled));
        }
    }
}

/// The ranks that a cause holds: of messages that do not fit those that wait for them, else all that it is about.
fn held(cause: &Finding) -> HashSet<i64> {
    let waiting: HashSet<i64> = waiting(cause).collect();
    match cause.kind {
        kind if kind.is_misfit() && !waiting.is_empty() => waiting,
        FindingKind::FinishedRank | FindingKind::Deadlock => cause.ranks.iter().copied().collect(),
        _ => cause.ranks.iter().copied().chain(cause.calls.iter().filter_map(|call| call.rank)).collect(),
    }
}

/// Whether a finding follows from a cause that holds some ranks, for which others wait. `circle`: they wait for one another;
/// `polled`: others poll for what they have not started.
fn follows(finding: &Finding, held: &HashSet<i64>, waiting: &HashSet<i64>, (circle, polled): (bool, bool)) -> bool {
    let mut ranks = finding.ranks.iter();
    let through = |rank: &i64| held.contains(rank) || waiting.contains(rank);
    match finding.kind {
        FindingKind::RankMismatch => waits_only(finding, waiting),
        // Another circle of which no rank waits in the cause holds by itself.
        FindingKind::Deadlock => !circle && ranks.any(|rank| held.contains(rank)),
        FindingKind::FinishedRank => !circle && self::waiting(finding).all(|rank| held.contains(&rank)),
        FindingKind::Polling => polled && ranks.all(through),
        FindingKind::MissingInCollective | FindingKind::UnmatchedSend | FindingKind::UnmatchedReceive => {
            !finding.ranks.is_empty() && ranks.all(through)
        }
        FindingKind::OneSidedEpochs => !circle && ranks.all(through),
        _ => false,
    }
}
