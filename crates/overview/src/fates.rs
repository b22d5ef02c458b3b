//! Ranks that have the same fate, as the nodes of a graph: they stand at the same place, and the diagnosis says the same of them.

use std::fmt;

use hashbrown::{HashMap, HashSet};

use analysis::job::{Job, ProcIndex};
use analysis::waits::{Finished, Free, ProcState, Waits};
use model::{Call, Finding, Outside, RankSet, Verdict};
use serde::Serialize;

/// A graph with more nodes than this is not read by anybody.
pub const MOST_NODES: usize = 40;

/// The ranks of the cause are nodes of their own where they are so few.
const MOST_ALONE: usize = 12;

/// What the diagnosis says of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The cause is about them.
    Cause,
    /// They can never go on because of the cause.
    Held,
    /// They are in another finding.
    Found,
    /// Nothing is said of them.
    Free,
}

/// How far ranks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// They wait in MPI.
    Waiting,
    /// They poll.
    Polling,
    /// They are in a function of MPI that waits for nobody.
    Local,
    /// They are outside MPI.
    Outside,
    /// The kernel holds them.
    Stopped,
    /// They have not called MPI_Init.
    NotStarted,
    /// They stand in MPI_Finalize.
    Finalizing,
    /// They have called it.
    Finalized,
    /// They have ended.
    Ended,
    /// They stand in MPI_Abort.
    Aborting,
    /// Where they stand is not known.
    Unknown,
    /// They were not read.
    NotRead,
}

/// Ranks with the same fate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fate {
    /// Their ranks (`Snapshot::rank_of`).
    pub ranks: RankSet,
    /// How many processes they are, those without a rank as well.
    pub processes: u64,
    /// The process id of the first one, for those without ranks.
    pub pid: Option<i64>,
    /// What the diagnosis says of them.
    pub role: Role,
    /// How far they are.
    pub standing: Standing,
    /// The function of MPI that they are in; outside MPI, or of ranks that stand at different places, `None`.
    pub function: Option<String>,
    /// The application's source file.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<i64>,
    /// The application's function.
    pub caller: Option<String>,
    /// What they wait for that nobody can bring about, or of which nothing is known: why.
    pub notes: Vec<String>,
    /// The places of findings that are about some of them.
    pub findings: Vec<usize>,
}

/// What ranks have in common that are one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key<'a> {
    role: Role,
    standing: Standing,
    alone: Option<ProcIndex>,
    place: Option<Place<'a>>,
}

/// Function, file, line, caller.
type Place<'a> = (Option<&'a str>, Option<&'a str>, Option<i64>, Option<&'a str>);

/// How much of it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Each rank of the cause by itself.
    Alone,
    /// File and line.
    Lines,
    /// The function of MPI.
    Functions,
    /// How far they are.
    Standings,
}

/// All nodes, and the node of each process of the job.
pub fn fates(
    job: &Job<'_>,
    waits: &Waits<'_>,
    findings: &[Finding],
    verdict: &Verdict,
    moved: &HashSet<i64>,
) -> (Vec<Fate>, Vec<usize>) {
    let roles = Roles::new(findings, verdict);
    for detail in [Detail::Alone, Detail::Lines, Detail::Functions, Detail::Standings] {
        if detail == Detail::Alone && roles.cause.len() > MOST_ALONE {
            continue;
        }
        if let Some(found) = grouped(job, waits, &roles, moved, detail) {
            return found;
        }
    }
    (Vec::new(), vec![0; job.procs.len()])
}

/// Which ranks are told of.
struct Roles {
    cause: HashSet<i64>,
    held: HashSet<i64>,
    found: HashSet<i64>,
}

impl Roles {
    fn new(findings: &[Finding], verdict: &Verdict) -> Self {
        let cause = findings.get(verdict.finding.unwrap_or(0));
        Self {
            cause: cause.map(|finding| finding.ranks.iter().copied().collect()).unwrap_or_default(),
            // Of those that wait in the cause itself some stand among its calls, the others are told beside it.
            held: cause.into_iter().flat_map(told_to_wait).collect(),
            found: findings.iter().flat_map(|finding| finding.ranks.iter().copied()).collect(),
        }
    }

    fn of(&self, rank: Option<i64>) -> Role {
        match rank {
            Some(rank) if self.cause.contains(&rank) => Role::Cause,
            Some(rank) if self.held.contains(&rank) => Role::Held,
            Some(rank) if self.found.contains(&rank) => Role::Found,
            _ => Role::Free,
        }
    }
}

fn told_to_wait(cause: &Finding) -> impl Iterator<Item = i64> + '_ {
    let calls = cause.calls.iter().filter(|call| call.waits_for.is_some()).filter_map(|call| call.rank);
    calls.chain(cause.waiting.iter().copied())
}

fn grouped(
    job: &Job<'_>,
    waits: &Waits<'_>,
    roles: &Roles,
    moved: &HashSet<i64>,
    detail: Detail,
) -> Option<(Vec<Fate>, Vec<usize>)> {
    let mut places: HashMap<Key<'_>, usize> = HashMap::new();
    let mut members: Vec<(Key<'_>, Vec<ProcIndex>)> = Vec::new();
    let mut nodes = Vec::with_capacity(job.procs.len());
    for (index, proc) in job.procs.iter().enumerate() {
        let role = roles.of(proc.rank.filter(|rank| !moved.contains(rank)));
        let (standing, place) = standing(job, waits, ProcIndex(index));
        let alone = (detail == Detail::Alone && role == Role::Cause).then_some(ProcIndex(index));
        let place = match detail {
            Detail::Alone | Detail::Lines => place,
            Detail::Functions => place.map(|(function, ..)| (function, None, None, None)),
            Detail::Standings => None,
        };
        let key = Key { role, standing, alone, place };
        let node = *places.entry(key).or_insert_with(|| {
            members.push((key, Vec::new()));
            members.len() - 1
        });
        if members.len() > MOST_NODES && detail != Detail::Standings {
            return None;
        }
        if let Some((_, of_node)) = members.get_mut(node) {
            of_node.push(ProcIndex(index));
        }
        nodes.push(node);
    }
    let fate = |(key, of_node): (Key<'_>, Vec<ProcIndex>)| {
        let (function, file, line, caller) = key.place.unwrap_or_default();
        let first = of_node.first().and_then(|first| job.procs.get(first.0));
        Fate {
            ranks: RankSet::of(of_node.iter().filter_map(|proc| job.procs.get(proc.0)?.rank)),
            processes: of_node.len() as u64,
            pid: first.and_then(|proc| proc.process?.pid),
            role: key.role,
            standing: key.standing,
            function: function.map(str::to_owned),
            file: file.map(str::to_owned),
            line,
            caller: caller.map(str::to_owned),
            notes: Vec::new(),
            findings: Vec::new(),
        }
    };
    Some((members.into_iter().map(fate).collect(), nodes))
}

/// How far a process is, and where it stands.
fn standing<'a>(job: &Job<'a>, waits: &Waits<'a>, proc: ProcIndex) -> (Standing, Option<Place<'a>>) {
    let process = job.procs.get(proc.0).and_then(|proc| proc.process);
    let first = process.and_then(|process| process.calls.first()).map(of_call);
    let outside = process.and_then(|process| process.outside.first()).map(of_outside);
    match waits.states.get(proc.0) {
        None => (Standing::NotRead, None),
        Some(ProcState::Blocked(threads)) => {
            (Standing::Waiting, threads.first().map(|thread| of_call(thread.call)).or(first))
        }
        Some(ProcState::Finished(how)) => {
            let standing = match how {
                Finished::Finalizing => Standing::Finalizing,
                Finished::Finalized => Standing::Finalized,
                Finished::Ended => Standing::Ended,
                Finished::Aborting => Standing::Aborting,
            };
            (standing, first.or(outside))
        }
        Some(ProcState::Free(free)) => match free {
            Free::Outside(thread) => (Standing::Outside, Some(of_outside(thread))),
            Free::Polling(call) => (Standing::Polling, Some(of_call(call))),
            Free::Local(call) => (Standing::Local, Some(of_call(call))),
            Free::Stopped(_) => (Standing::Stopped, first.or(outside)),
            Free::NotStarted => (Standing::NotStarted, outside),
            Free::Unknown => (Standing::Unknown, first.or(outside)),
            Free::NotRead => (Standing::NotRead, None),
        },
    }
}

fn of_call(call: &Call) -> Place<'_> {
    (Some(&call.function), call.file.as_deref(), call.line, call.caller.as_deref())
}

fn of_outside(thread: &Outside) -> Place<'_> {
    // The function in which it stands is mostly one of a library: the place of the program tells more.
    (None, thread.file.as_deref(), thread.line, thread.caller.as_deref().or(thread.function.as_deref()))
}

impl fmt::Display for Standing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Waiting => "waits",
            Self::Polling => "polls",
            Self::Local => "in MPI",
            Self::Outside => "outside MPI",
            Self::Stopped => "stopped",
            Self::NotStarted => "before MPI_Init",
            Self::Finalizing => "in MPI_Finalize",
            Self::Finalized => "after MPI_Finalize",
            Self::Ended => "has ended",
            Self::Aborting => "in MPI_Abort",
            Self::Unknown => "not known where",
            Self::NotRead => "not read",
        })
    }
}
