//! What is said of the whole.

use super::findings::Context;
use super::findings::slow::Waiters;
use super::job::{Doubt, PartyId};
use super::stuck::Seen;
use super::waits::{Free, Need, Standing};
use super::words;
use model::{Finding, Limit, LimitKind, Process, State, Verdict};

/// How many sentences of one kind the limits have.
const SHOWN: usize = 4;

/// The verdict, without what two looks add.
pub fn of(context: &Context<'_>, findings: &[Finding]) -> Verdict {
    let (limited_by, limits) = limits(context).into_iter().unzip();
    let finding = |place: Option<usize>| place.and_then(|place| Some((place, findings.get(place)?)));
    let stuck = |certain: bool| finding(Verdict::stuck(findings, certain));
    let waiting = finding(Verdict::wait(findings));
    let blind = Blind::new(context);
    let (state, headline, told) = if let Some((place, finding)) = stuck(true) {
        (State::Deadlock, headline("Deadlock", &finding.summary), Some(place))
    } else if let Some((place, finding)) = stuck(false) {
        (State::Suspect, headline("Possible deadlock", &finding.summary), Some(place))
    } else if places(context).0 == 0 {
        (State::Unknown, NOTHING.to_owned(), None)
    } else if let Some(unread) = blind.words(context) {
        let known = waiting.map_or_else(|| blind.waits(context), |(_, finding)| Some(finding.summary.clone()));
        let known = known.unwrap_or_else(|| places(context).1);
        let told = waiting.map(|(place, _)| place);
        (State::Unknown, format!("Not known whether it is a deadlock: {known}; {unread}."), told)
    } else if let Some((place, finding)) = waiting {
        (State::Waiting, format!("No deadlock: {}.", finding.summary), Some(place))
    } else {
        (State::Running, format!("Nobody is stuck as far as can be seen: {}.", places(context).1), None)
    };
    Verdict { state, headline, finding: told, limits, limited_by, ..Verdict::default() }
}

fn headline(word: &str, claim: &str) -> String {
    format!("{word}: {claim}.")
}

/// Of how many parties it is known where they stand, and how many stand where.
fn places(context: &Context<'_>) -> (usize, String) {
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
    let parts: Vec<String> =
        [(inside, "in MPI"), (outside, "outside MPI"), (finished, "finished"), (unknown, "not known")]
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, place)| format!("{} {place}", words::counted(number, "rank")))
            .collect();
    (inside + outside + finished, parts.join(", "))
}

const NOTHING: &str = "Nothing can be said: where the ranks stand could not be read.";

/// How many ranks that wait are told each by itself.
const WAITING: usize = 2;

/// What was not read, so that nobody can say that nobody is stuck.
struct Blind {
    /// Those that were not read.
    not_read: Vec<PartyId>,
    /// Those of which it is not known where they stand.
    lost: Vec<PartyId>,
    /// Those whose queues were not read at all.
    queues: Vec<PartyId>,
    /// How many ranks the world has that are not even members of what was read.
    unseen: usize,
    /// Whether something failed that cannot be given to a rank.
    failed: bool,
}

impl Blind {
    fn new(context: &Context<'_>) -> Self {
        let job = context.job;
        let which = |wanted: &dyn Fn(PartyId, &Standing<'_>) -> bool| -> Vec<PartyId> {
            let all = context.waits.standing.iter().enumerate();
            all.filter(|(index, standing)| wanted(PartyId(*index), standing)).map(|(index, _)| PartyId(index)).collect()
        };
        let not_read = which(&|_, standing| matches!(standing, Standing::Free(Free::NotRead)));
        let lost = which(&|_, standing| matches!(standing, Standing::Free(Free::Unknown)));
        let queues = which(&|party, standing| {
            let process = job.parties.get(party.0).and_then(|party| party.process);
            let none = |process: &Process| process.communicators.is_empty() && !process.problems.is_empty();
            matches!(standing, Standing::Blocked(_)) && process.is_some_and(none)
        });
        let sizes = job.snapshot.processes.iter().filter_map(|process| process.world_size);
        let size = sizes.max().filter(|_| job.snapshot.worlds.is_empty()).unwrap_or_default();
        let unseen = usize::try_from(size).unwrap_or_default().saturating_sub(job.parties.len());
        Self { not_read, lost, queues, unseen, failed: !job.snapshot.problems.is_empty() }
    }

    /// What was not read, in words; `None` where all was.
    fn words(&self, context: &Context<'_>) -> Option<String> {
        let were = |parties: &[PartyId]| if parties.len() == 1 { "was" } else { "were" };
        let mut parts = Vec::new();
        if !self.not_read.is_empty() {
            parts.push(format!("{} {} not read", words::parties(context.job, &self.not_read), were(&self.not_read)));
        }
        if self.unseen > 0 {
            let verb = if self.unseen == 1 { "was" } else { "were" };
            parts.push(format!("{} {verb} not read", words::counted(self.unseen, "further rank")));
        }
        if !self.lost.is_empty() {
            let stand = if self.lost.len() == 1 { "stands" } else { "stand" };
            parts.push(format!("where {} {stand} is not known", words::parties(context.job, &self.lost)));
        }
        if !self.queues.is_empty() {
            parts.push(format!("the queues of {} could not be read", words::parties(context.job, &self.queues)));
        }
        if parts.is_empty() && self.failed {
            parts.push("not all could be read".to_owned());
        }
        (!parts.is_empty()).then(|| words::list(&parts, "and"))
    }

    /// What those wait for who wait for one that was not read, else what others do.
    fn waits(&self, context: &Context<'_>) -> Option<String> {
        let job = context.job;
        let hidden: Vec<PartyId> = [&self.not_read, &self.lost, &self.queues].into_iter().flatten().copied().collect();
        let waiting = Waiters::new(context.possible).of(context, &hidden);
        let all = || (0..job.parties.len()).map(PartyId);
        let others = all().filter(|party| !waiting.contains(party));
        let mut told = Vec::new();
        for party in waiting.iter().copied().chain(others) {
            for thread in context.threads(party).iter().take(1) {
                if let Some(waits_for) = context.waits.words(job, party, thread) {
                    told.push(format!(
                        "{} is in {} and waits for {waits_for}",
                        words::party(job, party),
                        thread.call.c_name()
                    ));
                }
            }
            if told.len() == WAITING {
                break;
            }
        }
        (!told.is_empty()).then(|| told.join("; "))
    }
}

fn limits(context: &Context<'_>) -> Vec<(Limit, String)> {
    let job = context.job;
    let mut limits = Vec::new();
    let mut limit = |kind: LimitKind, parties: &[PartyId], text: String| {
        limits.push((Limit { kind, ranks: context.ranks(parties) }, text));
    };
    let which = |wanted: fn(&Standing<'_>) -> bool| -> Vec<PartyId> {
        let all = context.waits.standing.iter().enumerate();
        all.filter(|(_, standing)| wanted(standing)).map(|(index, _)| PartyId(index)).collect()
    };
    let not_read = which(|standing| matches!(standing, Standing::Free(Free::NotRead)));
    if !not_read.is_empty() {
        limit(LimitKind::NotRead, &not_read, format!("Not read: {}.", words::parties(job, &not_read)));
    }
    let unknown = which(|standing| matches!(standing, Standing::Free(Free::Unknown)));
    if !unknown.is_empty() {
        limit(
            LimitKind::PlaceUnknown,
            &unknown,
            format!("Where these stand is not known: {}.", words::parties(job, &unknown)),
        );
    }
    let mut untold: Vec<(&'static str, Vec<PartyId>)> = Vec::new();
    let mut partial: Vec<PartyId> = Vec::new();
    let mut unread: Vec<PartyId> = Vec::new();
    for index in 0..job.parties.len() {
        let party = PartyId(index);
        for thread in context.threads(party) {
            let unknown = if let Need::Unknown(reason) = thread.need { Some(reason) } else { None };
            if let Some(reason) = unknown.or_else(|| thread.need.doubt()) {
                match untold.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, parties)) => parties.push(party),
                    None => untold.push((reason, vec![party])),
                }
            }
        }
        let Some(process) = job.parties[index].process else { continue };
        let lost = matches!(context.waits.standing[index], Standing::Free(Free::Unknown));
        let unseen = process.all_threads == Some(false) && lost;
        if unseen || process.all_threads != Some(true) && !context.threads(party).is_empty() {
            partial.push(party);
        }
        let broken = process.communicators.iter().any(|communicator| {
            [&communicator.pending_sends, &communicator.pending_receives, &communicator.unexpected_messages]
                .iter()
                .any(|queue| !queue.is_whole())
        });
        if broken {
            unread.push(party);
        }
    }
    for (reason, parties) in untold.iter().take(SHOWN) {
        limit(LimitKind::WaitUnknown, parties, format!("Of {}: {reason}.", words::parties(job, parties)));
    }
    if !unread.is_empty() {
        limit(
            LimitKind::QueuesNotRead,
            &unread,
            format!("Not all queues of these could be read: {}.", words::parties(job, &unread)),
        );
    }
    if !partial.is_empty() {
        limit(
            LimitKind::StacksNotRead,
            &partial,
            format!("Not all stacks of these were seen to their end: {}.", words::parties(job, &partial)),
        );
    }
    let mut doubts: Vec<Doubt> = Vec::new();
    for doubt in job.communicators.iter().filter_map(|shared| shared.doubt).take(SHOWN) {
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
            limit(LimitKind::CommunicatorsAlike, &[], doubt.to_string());
        }
    }
    let lost: Vec<PartyId> = (0..context.seen.len())
        .map(PartyId)
        .filter(|party| context.seen[party.0] == Seen::Once && !context.threads(*party).is_empty())
        .collect();
    if !lost.is_empty() {
        limit(
            LimitKind::NotCompared,
            &lost,
            format!("Two looks tell no more than one of {}.", words::parties(job, &lost)),
        );
    }
    limits
}
