//! The odd rank: who is not where nearly all others are, or behind them, or at work while they stand. It is given only where
//! nothing certain names the cause, and never as certain; where there is no crowd, nobody is apart from it.

mod behind;
mod groups;
mod spots;

use hashbrown::HashMap;

use super::Context;
use super::deadlock::capital;
use crate::job::ProcIndex;
use crate::movement::Compared;
use crate::stuck::Seen;
use crate::waits::{Free, Need, ProcState};
use crate::words;
use groups::{Group, groups};
use model::{Finding, FindingKind, Motion, OddReason, Standing};
use spots::{Manner, Spot, Spots, Step};

/// A crowd has so many members at least.
const CROWD: usize = 3;

/// How many odd groups are shown.
const SHOWN: usize = 4;

/// Adds the odd ranks, likeliest first, to the other findings: before them where most queues are not known, since what follows
/// from queues then says little, else behind them.
pub fn add(context: &Context<'_>, movement: &[Compared], findings: &mut Vec<Finding>) {
    let count = context.job.procs.len();
    // That most are at something that waits for nobody is no cause: they ask again and again.
    let waits = |finding: &&Finding| finding.certain && finding.kind.is_wait();
    let held_up: usize = findings.iter().filter(waits).map(|finding| finding.ranks.len()).sum();
    let asking = held_up.saturating_mul(2) > count;
    if findings.iter().any(|finding| names_the_cause(finding) && !(asking && waits(&finding))) {
        return;
    }
    let mut odd = find(context, movement);
    // What names the same ranks first says more of them.
    if let Some(first) = findings.first().filter(|first| !first.kind.is_stuck()) {
        odd.retain(|odd| odd.ranks != first.ranks);
    }
    let all: Vec<ProcIndex> = (0..count).map(ProcIndex).collect();
    let place = if is_dark(context, &all, false) { 0 } else { findings.len() };
    findings.splice(place..place, odd);
}

fn find(context: &Context<'_>, movement: &[Compared]) -> Vec<Finding> {
    let spots = Spots::new(context);
    let placed: Vec<ProcIndex> =
        (0..spots.by_proc.len()).map(ProcIndex).filter(|proc| spots.spot(*proc).is_some()).collect();
    let moved = Moved::new(movement);
    if placed.len() <= CROWD || moved.is_running() || !is_dark(context, &placed, true) {
        return Vec::new();
    }
    let mut odd: HashMap<ProcIndex, Odd> = HashMap::new();
    for (proc, reason) in behind::find(context) {
        odd.entry(proc).or_default().reasons.push(reason);
    }
    if let Some(groups) = groups(&spots) {
        elsewhere(context, &spots, &groups, &mut odd);
    }
    if let Some(still) = moved.still_crowd() {
        let moving = moved.moved.iter().filter(|proc| spots.spot(**proc).is_some());
        let reason = OddReason::Moved { still: still as u64 };
        moving.for_each(|proc| odd.entry(*proc).or_default().reasons.push(reason.clone()));
    }
    findings(context, &spots, &placed, odd)
}

/// Whether a finding says for certain why somebody waits.
fn names_the_cause(finding: &Finding) -> bool {
    use FindingKind as Kind;
    finding.certain && !matches!(finding.kind, Kind::NeverCompleted | Kind::UnexpectedFlood | Kind::UnmatchedSend)
}

/// What is odd of a process.
#[derive(Debug, Default)]
struct Odd {
    reasons: Vec<OddReason>,
    /// The group of those that stand where it does, if these are few.
    group: Option<usize>,
}

/// So many are few among so many.
fn few(all: usize) -> usize {
    (all / 16).max(1)
}

/// So many of so many are nearly all.
fn nearly_all(number: usize, all: usize) -> bool {
    number >= CROWD && number.saturating_mul(4) >= all.saturating_mul(3)
}

/// Whether queues leave open what most of these wait for: else they show the cause, or that there is none. `moving`: also
/// where all is known but what is on its way.
fn is_dark(context: &Context<'_>, procs: &[ProcIndex], moving: bool) -> bool {
    let dark = procs.iter().filter(|proc| {
        let Some(process) = context.process(**proc) else { return false };
        let queues = process.communicators.iter().flat_map(|communicator| {
            [&communicator.pending_sends, &communicator.pending_receives, &communicator.unexpected_messages]
        });
        let unclear = context.threads(**proc).iter().any(|thread| {
            let moves = moving && thread.in_flight.is_some() && context.seen.get(proc.0) != Some(&Seen::Still);
            moves || matches!(thread.need, Need::Unknown(_)) || thread.need.doubt().is_some()
        });
        let lost = matches!(context.waits.states.get(proc.0), Some(ProcState::Free(Free::Unknown)));
        unclear || lost || process.communicators.is_empty() || !queues.into_iter().all(|queue| queue.is_whole())
    });
    dark.count().saturating_mul(2) >= procs.len()
}

/// Groups of few that stand apart from all others, where these are crowds.
fn elsewhere(context: &Context<'_>, spots: &Spots<'_>, groups: &[Group], odd: &mut HashMap<ProcIndex, Odd>) {
    let all: usize = groups.iter().map(|group| group.procs.len()).sum();
    let is_crowd = |group: &&Group| group.procs.len() >= CROWD.max(all.div_ceil(8));
    let crowds: Vec<&Group> = groups.iter().filter(is_crowd).collect();
    let crowded: usize = crowds.iter().map(|group| group.procs.len()).sum();
    let inside = crowds.iter().filter(|group| manner(spots, group) != Manner::Outside);
    let waiting: usize = inside.map(|group| group.procs.len()).sum();
    let apart: Vec<(usize, &Group)> =
        groups.iter().enumerate().filter(|(_, group)| group.procs.len() <= few(all)).collect();
    let alone: usize = apart.iter().map(|(_, group)| group.procs.len()).sum();
    // Who is apart from those that compute is no reason for anything.
    if !nearly_all(crowded, all) || !nearly_all(waiting, crowded) || alone > (all / 8).max(2) {
        return;
    }
    let Some(largest) = crowds.iter().max_by_key(|group| group.procs.len()) else { return };
    let roles = Roles::new(context, spots, &crowds, &apart);
    for (place, group) in apart {
        if roles.explain(spots, group, &crowds) {
            continue;
        }
        let (Some(own), Some(others)) = (spots.all.get(group.spot), spots.all.get(largest.spot)) else { continue };
        let reason = OddReason::Elsewhere {
            own: spots.standing(own),
            others: spots.standing(others),
            number: largest.number as u64,
            parted_in: parted_in(spots, own, others),
        };
        for proc in &group.procs {
            let entry = odd.entry(*proc).or_default();
            entry.reasons.push(reason.clone());
            entry.group = Some(place);
        }
    }
}

fn manner(spots: &Spots<'_>, group: &Group) -> Manner {
    spots.all.get(group.spot).map_or(Manner::Outside, |spot| spot.manner)
}

/// The innermost function that two have in common.
fn parted_in(spots: &Spots<'_>, one: &Spot, other: &Spot) -> Option<String> {
    let pairs = one.path.iter().zip(&other.path);
    let common = pairs.take_while(|(one, other)| one.function == other.function).last()?;
    spots.functions.get(common.0.function)?.0.map(ToOwned::to_owned)
}

/// What else than a mistake may set ranks apart.
struct Roles {
    /// Those at the ends of the row of ranks that are apart by their place in it.
    ends: Vec<ProcIndex>,
}

impl Roles {
    /// Where the others wait for messages, rank 0 alone may be their master, and both ends have one neighbour only.
    fn new(context: &Context<'_>, spots: &Spots<'_>, crowds: &[&Group], apart: &[(usize, &Group)]) -> Self {
        let messages = |group: &&&Group| matches!(manner(spots, group), Manner::Messages | Manner::Polls);
        let by_messages: usize = crowds.iter().filter(messages).map(|group| group.procs.len()).sum();
        let all: usize = crowds.iter().map(|group| group.procs.len()).sum();
        let mut ends = Vec::new();
        if nearly_all(by_messages, all) {
            let ranked = (0..context.job.procs.len()).map(ProcIndex);
            let mut ranked: Vec<_> = ranked.filter_map(|proc| Some((words::rank(context.job, proc)?, proc))).collect();
            ranked.sort_unstable();
            let alone = |proc: &ProcIndex| apart.iter().any(|(_, group)| group.procs == [*proc]);
            let first = ranked.first().filter(|(rank, proc)| *rank == 0 && alone(proc));
            let last = ranked.last().filter(|(_, proc)| first.is_some() && alone(proc));
            ends.extend([first, last].into_iter().flatten().map(|(_, proc)| *proc));
        }
        Self { ends }
    }

    fn explain(&self, spots: &Spots<'_>, group: &Group, crowds: &[&Group]) -> bool {
        let Some(own) = spots.all.get(group.spot) else { return true };
        // A root calls the same function from another line.
        let root = |other: &Spot| {
            let ((Some(own_step), outer), (Some(step), further)) = (ends(&own.path), ends(&other.path)) else {
                return false;
            };
            let same_call = own.manner == Manner::Rooted && own.function == other.function;
            same_call && own_step.function == step.function && outer == further
        };
        let is_root = group.procs.len() == 1 && crowds.iter().any(|crowd| spots.all.get(crowd.spot).is_some_and(root));
        is_root || own.manner != Manner::Finished && group.procs.iter().all(|proc| self.ends.contains(proc))
    }
}

/// The innermost frame, and those further out.
fn ends(path: &[Step]) -> (Option<&Step>, &[Step]) {
    path.split_last().map_or((None, path), |(last, outer)| (Some(last), outer))
}

/// What two looks show: who moved, and how many did not.
struct Moved {
    moved: Vec<ProcIndex>,
    still: usize,
}

impl Moved {
    fn new(movement: &[Compared]) -> Self {
        let mut compared = Self { moved: Vec::new(), still: 0 };
        for (at, process) in movement.iter().enumerate() {
            match process.movement.state {
                Motion::Moved | Motion::Slow => compared.moved.push(ProcIndex(at)),
                Motion::Stuck | Motion::Spinning => compared.still += 1,
                Motion::Unknown => {}
            }
        }
        compared
    }

    /// Whether so many went on that the job is not stuck.
    fn is_running(&self) -> bool {
        self.moved.len() > few(self.moved.len() + self.still)
    }

    /// How many stood still, where nearly all did and somebody did not.
    fn still_crowd(&self) -> Option<usize> {
        let all = self.moved.len() + self.still;
        (!self.moved.is_empty() && nearly_all(self.still, all)).then_some(self.still)
    }
}

/// One finding for all that are odd in the same way, likeliest first.
fn findings(
    context: &Context<'_>,
    spots: &Spots<'_>,
    placed: &[ProcIndex],
    odd: HashMap<ProcIndex, Odd>,
) -> Vec<Finding> {
    let mut together: Vec<(Odd, Vec<ProcIndex>)> = Vec::new();
    let mut each: Vec<(ProcIndex, Odd)> = odd.into_iter().collect();
    each.sort_unstable_by_key(|(proc, _)| *proc);
    for (proc, odd) in each {
        match together.iter_mut().find(|(known, _)| known.group == odd.group && known.reasons == odd.reasons) {
            Some((_, procs)) => procs.push(proc),
            None => together.push((odd, vec![proc])),
        }
    }
    let likely = |odd: &Odd| odd.reasons.iter().map(weight).sum::<u32>();
    together.sort_by_key(|(odd, procs)| (std::cmp::Reverse(likely(odd)), procs.len()));
    let all = together.into_iter().take(SHOWN);
    all.map(|(odd, procs)| finding(context, spots, placed, &odd, &procs)).collect()
}

/// How much a reason says of who is the cause.
fn weight(reason: &OddReason) -> u32 {
    match reason {
        OddReason::Behind { .. } => 8,
        OddReason::Moved { .. } => 4,
        OddReason::Elsewhere { own, .. } if own.finished || own.function.is_none() => 3,
        OddReason::Elsewhere { .. } => 2,
    }
}

fn finding(context: &Context<'_>, spots: &Spots<'_>, placed: &[ProcIndex], odd: &Odd, procs: &[ProcIndex]) -> Finding {
    let job = context.job;
    let others: Vec<ProcIndex> = placed.iter().copied().filter(|proc| procs.binary_search(proc).is_err()).collect();
    let read = if job.procs.len() > placed.len() { " that were read" } else { "" };
    let the_others = format!("the other {}{read}", others.len());
    let (who, one) = (words::procs(job, procs), procs.len() == 1);
    let pick = |single: &'static str, many: &'static str| if one { single } else { many };
    let (is, it) = (pick("is", "are"), pick("it", "they"));
    let mut place = procs.first().and_then(|proc| spots.spot(*proc)).map(|spot| spots.standing(spot));
    let mut elsewhere = odd.reasons.iter().find_map(|reason| match reason {
        OddReason::Elsewhere { others, number, .. } => Some((others.clone(), *number)),
        _ => None,
    });
    // The table has the lines; here they stand only where nothing else distinguishes the two places.
    let alike = |(one, (other, _)): (&Standing, &(Standing, u64))| one.without_line() == other.without_line();
    if !place.as_ref().zip(elsewhere.as_ref()).is_some_and(alike) {
        place = place.map(|place| place.without_line());
        elsewhere = elsewhere.map(|(place, number)| (place.without_line(), number));
    }
    let at = place.map_or_else(String::new, |place| format!("{it} {is} {place}"));
    let there = elsewhere.map_or_else(String::new, |(place, number)| match number == others.len() as u64 {
        true => format!("; they are {place}"),
        false => format!("; {number} of them are {place}"),
    });
    let summary = match odd.reasons.first() {
        Some(OddReason::Behind { communicator, own, others }) => format!(
            "{who} {is} behind {the_others}: {} next non-blocking collective on {} is number {own}, theirs is \
             {others}; {at}{there}",
            pick("its", "their"),
            words::named(communicator),
        ),
        Some(OddReason::Moved { .. }) => {
            format!("{who} went on between the two looks, where {the_others} stood still: {at}{there}")
        }
        _ => format!("{who} {is} not where {the_others} are: {at}{there}"),
    };
    let mut calls = context.calls(procs);
    calls.extend(context.calls(&others));
    let evidence = odd.reasons.iter().map(|reason| reason.to_string());
    Finding {
        kind: FindingKind::OddRank,
        summary,
        ranks: context.ranks(procs),
        calls,
        odd: odd.reasons.clone(),
        certain: false,
        evidence: evidence.chain([DOUBT.to_owned()]).collect(),
        blamed: context.blamed(procs),
        ..Finding::default()
    }
}

const DOUBT: &str = "Not certain: other ranks are elsewhere, but that does not mean that they wait for it.";

/// The headline of odd ranks, where nothing else is known.
pub fn headline(finding: &Finding, unread: Option<&str>) -> String {
    let open = unread.map_or_else(
        || "not known whether that holds them up".to_owned(),
        |unread| format!("not known whether it is a deadlock: {unread}"),
    );
    format!("{}. {}.", capital(&finding.summary), capital(&open))
}
