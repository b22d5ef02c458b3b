//! What is said of the whole.

use super::cause;
use super::findings::deadlock::capital;
use super::findings::slow::{self, Waiters};
use super::findings::{Context, odd_rank};
use super::job::{Doubt, ProcIndex};
use super::stuck::Seen;
use super::waits::{Free, Need, ProcState, Standstill};
use super::words;
use functions::WaitKind;
use model::{Finding, FindingKind, Frame, Limit, LimitKind, Process, Snapshot, State, Verdict};

/// How many process ids are shown, to be typed.
const MOST_PIDS: usize = 16;

/// How many sentences of one kind the limits have.
const SHOWN: usize = 4;

/// The verdict, without what two looks add.
pub fn from_findings(context: &Context<'_>, findings: &[Finding]) -> Verdict {
    let (limited_by, limits) = limits(context).into_iter().unzip();
    let finding_of = |place: Option<usize>| place.and_then(|place| Some((place, findings.get(place)?)));
    let stuck = |certain: bool| finding_of(Verdict::stuck(findings, certain));
    let waiting = finding_of(Verdict::wait(findings));
    let blind = Blind::new(context);
    let deadlock = |word: &str, finding: &Finding| {
        let besides = slow::besides(context).map(|besides| format!(" Besides, {besides}."));
        headline(word, finding) + &besides.unwrap_or_default()
    };
    let (state, headline, place) = if let Some(alone) = worlds_of_one(context) {
        (State::Suspect, alone, None)
    } else if let Some((place, finding)) = stuck(true) {
        let (place, finding) = finding_of(cause::first_cause(findings)).unwrap_or((place, finding));
        let word = if finding.certain { "Deadlock: " } else { "Deadlock, perhaps because " };
        (State::Deadlock, deadlock(word, finding), Some(place))
    } else if let Some((place, finding)) = stuck(false) {
        let (place, finding) = finding_of(cause::first_cause(findings)).unwrap_or((place, finding));
        (State::Suspect, deadlock("Possible deadlock: ", finding), Some(place))
    } else if places(context).0 == 0 {
        (State::Unknown, nothing(context), None)
    } else if let Some((place, finding)) =
        finding_of(first_odd(findings)).filter(|(place, _)| *place == 0 || waiting.is_none())
    {
        let unread = blind.words(context);
        (State::Unknown, odd_rank::headline(finding, unread.as_deref()), Some(place))
    } else if let Some(unread) = blind.words(context) {
        let known = waiting.map_or_else(|| blind.waits(context), |(_, finding)| Some(finding.summary.clone()));
        let known = known.unwrap_or_else(|| places(context).1);
        let place = waiting.map(|(place, _)| place);
        (State::Unknown, format!("Not known whether it is a deadlock: {known}; {unread}."), place)
    } else if let (Some((_, finding)), Some((place, error))) = (waiting, finding_of(error_ahead(findings))) {
        let error = headline("A mistake: ", error);
        (State::Waiting, format!("{error} Besides, {}.", finding.summary), Some(place))
    } else if let Some((place, finding)) = waiting {
        (State::Waiting, format!("{}.", capital(&finding.summary)), Some(place))
    } else if let Some(ranks) = all_in_init(context) {
        let text = "is in MPI_Init, and no rank waits for another: see the stacks for what the library does there";
        (State::Unknown, format!("Not known whether the job is stuck: {ranks} {text}."), None)
    } else if let Some(stopped) = stopped(context) {
        (State::Unknown, format!("Not known whether the job is stuck: {stopped}."), None)
    } else {
        (State::Running, format!("Nobody is stuck as far as can be seen: {}.", places(context).1), None)
    };
    Verdict { state, headline, finding: place, limits, limited_by, ..Verdict::default() }
}

/// What is wrong where each of several processes of a job is a world of its own, as a launcher of another MPI leaves them.
fn worlds_of_one(context: &Context<'_>) -> Option<String> {
    let Snapshot { processes, worlds, .. } = context.job.snapshot;
    let is_alone = |process: &Process| (process.rank, process.world_size) == (Some(0), Some(1));
    // Worlds of one that have spawned another, or have met, are meant.
    let meets = |process: &Process| process.communicators.iter().any(|one| one.remote_group.is_some());
    if processes.len() < 2
        || !worlds.is_empty()
        || !processes.iter().all(|process| is_alone(process) && !meets(process))
    {
        return None;
    }
    let library = processes.iter().find_map(|process| process.mpi.as_ref());
    let library = library.map_or_else(
        || "that of the program".to_owned(),
        |mpi| [mpi.implementation.as_str(), mpi.version.as_deref().unwrap_or_default()].join(" ").trim().to_owned(),
    );
    let count = processes.len();
    Some(format!(
        "Each of the {count} processes is a world of its own, rank 0 of 1: they were not started by the launcher of \
         their MPI, {library}. Start the job with the mpirun or mpiexec of that MPI."
    ))
}

/// All ranks, in words, where all of them stand in MPI_Init.
fn all_in_init(context: &Context<'_>) -> Option<String> {
    let states = &context.waits.states;
    let is_in_it = |state: &ProcState<'_>| match state {
        ProcState::Blocked(threads) => threads.iter().all(|thread| thread.wait_kind == WaitKind::Init),
        _ => false,
    };
    let ranks = if states.len() == 1 { "the rank".to_owned() } else { format!("each of {} ranks", states.len()) };
    (!states.is_empty() && states.iter().all(is_in_it)).then_some(ranks)
}

/// Who stands because a signal has stopped it, with what lets it go on; `None` where nobody does. Nobody
/// knows where it would be otherwise.
fn stopped(context: &Context<'_>) -> Option<String> {
    let held_by = |wanted: Standstill| -> Vec<ProcIndex> {
        let states = context.waits.states.iter().enumerate();
        let held = states.filter(|(_, state)| matches!(state, ProcState::Free(Free::Stopped(by)) if *by == wanted));
        held.map(|(index, _)| ProcIndex(index)).collect()
    };
    let (stopped, frozen) = (held_by(Standstill::Signal), held_by(Standstill::Cgroup));
    let clauses: Vec<String> = [let_go_on(context, &stopped), thaw(context, &frozen)].into_iter().flatten().collect();
    if clauses.is_empty() {
        return None;
    }
    let all_are = stopped.len() + frozen.len() == context.waits.states.len();
    let others = if all_are { None } else { Some(places(context).1).filter(|others| !others.is_empty()) };
    Some(others.into_iter().chain(clauses).collect::<Vec<_>>().join("; "))
}

fn thaw(context: &Context<'_>, frozen: &[ProcIndex]) -> Option<String> {
    let (is, goes) = if frozen.len() == 1 { ("is", "goes") } else { ("are", "go") };
    let who = (!frozen.is_empty()).then(|| words::procs(context.job, frozen))?;
    Some(format!("{who} {is} frozen by a cgroup and {goes} on once 0 is written to its cgroup.freeze"))
}

fn let_go_on(context: &Context<'_>, stopped: &[ProcIndex]) -> Option<String> {
    let first = stopped.first()?;
    let process = |proc: &ProcIndex| context.job.procs.get(proc.0).and_then(|proc| proc.process);
    let host = process(first).and_then(|process| process.host.as_deref());
    let is_there = |process: &&Process| process.host.as_deref() == host;
    let pids: Option<Vec<String>> = stopped
        .iter()
        .map(|proc| process(proc).filter(is_there).and_then(|process| process.pid).map(|pid| pid.to_string()))
        .collect();
    let alone = stopped.len() == 1;
    let which = match pids.filter(|pids| pids.len() <= MOST_PIDS) {
        Some(pids) => pids.join(" "),
        None if alone => "with its process id".to_owned(),
        None => "with their process ids".to_owned(),
    };
    let (is, goes) = if alone { ("is", "goes") } else { ("are", "go") };
    let who = words::procs(context.job, stopped);
    Some(format!("{who} {is} stopped by a signal and {goes} on after: kill -CONT {which}"))
}

/// The likeliest odd rank.
fn first_odd(findings: &[Finding]) -> Option<usize> {
    findings.iter().position(|finding| finding.kind == FindingKind::OddRank)
}

/// A message that does not fit the receive that it will meet: that is wrong whatever the ranks do meanwhile.
fn error_ahead(findings: &[Finding]) -> Option<usize> {
    use FindingKind::{CountMismatch, DatatypeMismatch, OperatorMismatch, Truncation};
    let is = |finding: &Finding| {
        finding.certain && matches!(finding.kind, Truncation | DatatypeMismatch | CountMismatch | OperatorMismatch)
    };
    findings.iter().position(is)
}

/// What is claimed: the table under it has the lines.
fn headline(word: &str, finding: &Finding) -> String {
    format!("{word}{}.", finding.summary)
}

/// Of how many processes it is known where they stand, and how many stand where.
fn places(context: &Context<'_>) -> (usize, String) {
    let mut inside = 0;
    let mut outside = 0;
    let (mut stopped, mut frozen) = (0, 0);
    let mut finished = 0;
    let mut unknown = 0;
    for state in &context.waits.states {
        match state {
            ProcState::Blocked(_) | ProcState::Free(Free::Polling(_) | Free::Local(_)) => inside += 1,
            ProcState::Free(Free::Outside(_) | Free::NotStarted) => outside += 1,
            // Its lines say where in the program it was then.
            ProcState::Free(Free::Stopped(Standstill::Signal)) => stopped += 1,
            ProcState::Free(Free::Stopped(Standstill::Cgroup)) => frozen += 1,
            ProcState::Finished(_) => finished += 1,
            ProcState::Free(Free::Unknown | Free::NotRead) => unknown += 1,
        }
    }
    let parts: Vec<String> = [
        (inside, "in MPI"),
        (outside, "outside MPI"),
        (stopped, Standstill::Signal.participle()),
        (frozen, Standstill::Cgroup.participle()),
        (finished, "finished"),
        (unknown, "not known"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, place)| format!("{} {place}", words::counted(number, "rank")))
    .collect();
    (inside + outside + stopped + frozen + finished, parts.join(", "))
}

/// Of no rank it is known where it stands; where none was read, why the first was not.
fn nothing(context: &Context<'_>) -> String {
    match context.job.snapshot.problems.first().filter(|_| context.job.snapshot.processes.is_empty()) {
        Some(why) => format!("Nothing can be said: no rank was read. {}.", capital(why)),
        None => "Nothing can be said: where the ranks stand could not be read.".to_owned(),
    }
}

/// How many waiting ranks are each shown by itself.
const WAITING: usize = 2;

/// What was not read, so that nobody can say that nobody is stuck.
struct Blind {
    /// Those that were not read.
    not_read: Vec<ProcIndex>,
    /// Those of which it is not known where they stand.
    lost: Vec<ProcIndex>,
    /// Those whose queues were not read at all.
    queues: Vec<ProcIndex>,
    /// How many ranks the world has that are not even members of what was read.
    unseen: usize,
    /// Whether something failed that cannot be given to a rank.
    failed: bool,
}

impl Blind {
    fn new(context: &Context<'_>) -> Self {
        let job = context.job;
        let which = |wanted: &dyn Fn(ProcIndex, &ProcState<'_>) -> bool| -> Vec<ProcIndex> {
            let all = context.waits.states.iter().enumerate();
            all.filter(|(index, state)| wanted(ProcIndex(*index), state)).map(|(index, _)| ProcIndex(index)).collect()
        };
        let not_read = which(&|_, state| matches!(state, ProcState::Free(Free::NotRead)));
        let lost = which(&|_, state| matches!(state, ProcState::Free(Free::Unknown)));
        let queues = which(&|proc, state| {
            let process = job.procs.get(proc.0).and_then(|proc| proc.process);
            // Before the end of MPI_Init there are none.
            let none = |process: &Process| {
                process.communicators.is_empty() && !process.problems.is_empty() && !process.is_before_init()
            };
            matches!(state, ProcState::Blocked(_)) && process.is_some_and(none)
        });
        let sizes = job.snapshot.processes.iter().filter_map(|process| process.world_size);
        let size = sizes.max().filter(|_| job.snapshot.worlds.is_empty()).unwrap_or_default();
        let unseen = usize::try_from(size).unwrap_or_default().saturating_sub(job.procs.len());
        Self { not_read, lost, queues, unseen, failed: !job.snapshot.problems.is_empty() }
    }

    /// What was not read, in words; `None` where all was.
    fn words(&self, context: &Context<'_>) -> Option<String> {
        let were = |procs: &[ProcIndex]| if procs.len() == 1 { "was" } else { "were" };
        let mut parts = Vec::new();
        if !self.not_read.is_empty() {
            parts.push(format!("{} {} not read", words::procs(context.job, &self.not_read), were(&self.not_read)));
        }
        if self.unseen > 0 {
            let verb = if self.unseen == 1 { "was" } else { "were" };
            parts.push(format!("{} {verb} not read", words::counted(self.unseen, "further rank")));
        }
        if !self.lost.is_empty() {
            let stand = if self.lost.len() == 1 { "stands" } else { "stand" };
            parts.push(format!("where {} {stand} is not known", words::procs(context.job, &self.lost)));
        }
        if !self.queues.is_empty() {
            parts.push(format!("the queues of {} could not be read", words::procs(context.job, &self.queues)));
        }
        if parts.is_empty() && self.failed {
            parts.push("not all could be read".to_owned());
        }
        (!parts.is_empty()).then(|| words::list(&parts, "and"))
    }

    /// What those wait for who wait for one that was not read, else what others do.
    fn waits(&self, context: &Context<'_>) -> Option<String> {
        let job = context.job;
        let hidden: Vec<ProcIndex> =
            [&self.not_read, &self.lost, &self.queues].into_iter().flatten().copied().collect();
        let waiting = Waiters::new(context.possible).not_stuck(context, &hidden);
        let all = || (0..job.procs.len()).map(ProcIndex);
        let others = all().filter(|proc| !waiting.contains(proc));
        let mut clauses = Vec::new();
        for proc in waiting.iter().copied().chain(others) {
            for thread in context.threads(proc).iter().take(1) {
                if let Some(waits_for) = context.waits.words(job, proc, thread) {
                    clauses.push(format!(
                        "{} is in {} and waits for {waits_for}",
                        words::proc(job, proc),
                        thread.call.c_name()
                    ));
                }
            }
            if clauses.len() == WAITING {
                break;
            }
        }
        (!clauses.is_empty()).then(|| clauses.join("; "))
    }
}

fn limits(context: &Context<'_>) -> Vec<(Limit, String)> {
    let job = context.job;
    let mut limits = Vec::new();
    let mut limit = |kind: LimitKind, procs: &[ProcIndex], text: String| {
        limits.push((Limit { kind, ranks: context.ranks(procs) }, text));
    };
    let which = |wanted: fn(&ProcState<'_>) -> bool| -> Vec<ProcIndex> {
        let all = context.waits.states.iter().enumerate();
        all.filter(|(_, state)| wanted(state)).map(|(index, _)| ProcIndex(index)).collect()
    };
    let not_read = which(|state| matches!(state, ProcState::Free(Free::NotRead)));
    if !not_read.is_empty() {
        limit(LimitKind::NotRead, &not_read, format!("Not read: {}.", words::procs(job, &not_read)));
    }
    let unknown = which(|state| matches!(state, ProcState::Free(Free::Unknown)));
    if !unknown.is_empty() {
        limit(
            LimitKind::PlaceUnknown,
            &unknown,
            format!("Not known where these ranks are: {}.", words::procs(job, &unknown)),
        );
    }
    let mut by_reason: Vec<(&'static str, Vec<ProcIndex>)> = Vec::new();
    let mut partial: Vec<ProcIndex> = Vec::new();
    let mut unread: Vec<ProcIndex> = Vec::new();
    for index in 0..job.procs.len() {
        let proc = ProcIndex(index);
        for thread in context.threads(proc) {
            let unknown = if let Need::Unknown(reason) = thread.need { Some(reason) } else { None };
            if let Some(reason) = unknown.or_else(|| thread.need.doubt()) {
                match by_reason.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, procs)) => procs.push(proc),
                    None => by_reason.push((reason, vec![proc])),
                }
            }
        }
        let Some(process) = job.procs[index].process else { continue };
        let lost = matches!(context.waits.states[index], ProcState::Free(Free::Unknown));
        let unseen = process.all_threads == Some(false) && lost;
        if unseen || process.all_threads != Some(true) && !context.threads(proc).is_empty() {
            partial.push(proc);
        }
        let broken = process.communicators.iter().any(|communicator| {
            [&communicator.pending_sends, &communicator.pending_receives, &communicator.unexpected_messages]
                .iter()
                .any(|queue| !queue.is_whole())
        });
        if broken {
            unread.push(proc);
        }
    }
    for (reason, procs) in by_reason.iter().take(SHOWN) {
        limit(LimitKind::WaitUnknown, procs, format!("{}: {reason}.", capital(&words::procs(job, procs))));
    }
    if !unread.is_empty() {
        limit(
            LimitKind::QueuesNotRead,
            &unread,
            format!("Not all queues of these ranks could be read: {}.", words::procs(job, &unread)),
        );
    }
    if !partial.is_empty() {
        limit(
            LimitKind::StacksNotRead,
            &partial,
            format!("Not all stacks of these ranks could be read to their end: {}.", words::procs(job, &partial)),
        );
    }
    let mut doubts: Vec<Doubt> = Vec::new();
    for doubt in job.communicators.iter().filter_map(|shared| shared.doubt).take(SHOWN) {
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
            limit(LimitKind::CommunicatorsAlike, &[], doubt.to_string());
        }
    }
    for (file, procs) in without_debug_information(context) {
        let text = format!("No debug information in {file}: recompile it with -g for file and line.");
        limit(LimitKind::NoDebugInformation, &procs, text);
    }
    let lost: Vec<ProcIndex> = (0..context.seen.len())
        .map(ProcIndex)
        .filter(|proc| context.seen[proc.0] == Seen::Once && !context.threads(*proc).is_empty())
        .collect();
    if !lost.is_empty() {
        limit(LimitKind::NotCompared, &lost, format!("The second look adds nothing for {}.", words::procs(job, &lost)));
    }
    limits
}

/// The files of the application in whose code ranks stand without a line, a few of them.
fn without_debug_information(context: &Context<'_>) -> Vec<(String, Vec<ProcIndex>)> {
    let mut images: Vec<(String, Vec<ProcIndex>)> = Vec::new();
    for index in 0..context.job.procs.len() {
        let proc = ProcIndex(index);
        let Some(process) = context.process(proc) else { continue };
        let inside = process.calls.iter().map(|call| call.thread);
        let Some(thread) = inside.chain(process.outside.iter().map(|outside| outside.thread)).next() else { continue };
        let own = |frame: &&Frame| frame.application == Some(true) && !frame.wrapper && frame.language.is_none();
        let stack = process.stacks.iter().find(|stack| stack.thread == thread);
        let Some(frame) = stack.and_then(|stack| stack.frames.iter().find(own)) else { continue };
        let image = frame.image.as_deref().and_then(|path| path.rsplit('/').next());
        let Some(image) = image.filter(|_| frame.file.is_none()) else { continue };
        let is_full = images.len() >= SHOWN;
        match images.iter_mut().find(|(known, _)| known == image) {
            Some((_, procs)) => procs.push(proc),
            None if !is_full => images.push((image.to_owned(), vec![proc])),
            None => {}
        }
    }
    images
}
