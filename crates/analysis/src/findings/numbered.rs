//! Which call in the source had which number among the non-blocking collectives of a communicator: a library numbers them, and
//! the source tells which a rank may have started one after the other.
//!
//! Whether control came by these calls nobody has seen: what follows from them is never certain.

use super::Context;
use super::non_blocking::Pending;
use crate::blame::Blame;
use crate::job::{ProcIndex, Shared};
use crate::words;
use model::{Blamed, EarlierCollective, Finding, RequestState, StartedBy};

/// Of more ranks than this it is not looked since when they differ.
const MOST: usize = 64;

/// The calls of one process on one communicator, as far as its source tells them.
struct Numbered<'a> {
    proc: ProcIndex,
    /// The number that its next one will have.
    next: i64,
    ways: Vec<Way<'a>>,
}

/// Those on one way to the place where the process stands, the last one first.
#[derive(PartialEq, Eq)]
struct Way<'a> {
    calls: Vec<&'a EarlierCollective>,
    /// Whether there were none before them.
    whole: bool,
}

/// Where two processes first started different ones under the same number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Differing<'a> {
    sequence: i64,
    calls: [&'a EarlierCollective; 2],
}

fn site(call: &EarlierCollective) -> (&str, Option<&str>, i64) {
    (&call.function, call.file.as_deref(), call.line)
}

/// Whether two calls cannot be the same collective.
fn differ(one: &EarlierCollective, other: &EarlierCollective) -> bool {
    one.function != other.function || one.root.zip(other.root).is_some_and(|(one, other)| one != other)
}

impl<'a> Numbered<'a> {
    fn new(context: &Context<'a>, shared: &Shared<'_>, proc: ProcIndex) -> Option<Self> {
        let process = context.job.procs.get(proc.0)?.process?;
        let communicator = &shared.view(proc)?.communicator;
        let next = communicator.next_sequence?;
        let mut ways: Vec<Way<'a>> = Vec::new();
        for calls in process.earlier_collectives.chunk_by(|one, other| one.way == other.way) {
            let known = calls.iter().take_while(|call| call.communicator.is_some()).count();
            let whole = known == calls.len() && calls.last().is_some_and(|call| call.first);
            let here = |call: &&EarlierCollective| call.communicator == Some(communicator.unique_id);
            let way = Way { calls: calls[..known].iter().filter(here).collect(), whole };
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        let mut numbered = Self { proc, next, ways };
        // What is known otherwise of the open ones shows which ways control cannot have taken.
        let requests = process.calls.iter().flat_map(|call| &call.requests);
        for request in requests.filter(|request| request.state == RequestState::Open) {
            if let (Some(sequence), [only]) = (request.sequence, request.started_by.as_slice())
                && request.communicator == Some(communicator.unique_id)
            {
                let is = |call: &EarlierCollective| {
                    let started = (only.function.as_str(), only.file.as_deref(), only.line.unwrap_or_default());
                    site(call) == started
                };
                numbered.ways.retain(|way| way.at(next, sequence).is_none_or(is));
            }
        }
        (!numbered.ways.is_empty()).then_some(numbered)
    }

    /// The one call that may have had a number.
    fn at(&self, sequence: i64) -> Option<&'a EarlierCollective> {
        let mut all = self.ways.iter().map(|way| way.at(self.next, sequence));
        let first = all.next()??;
        all.all(|other| other.is_some_and(|other| site(other) == site(first))).then_some(first)
    }

    /// The number of the first call of a way.
    fn begin(&self, way: &Way<'_>) -> Option<i64> {
        self.next.checked_sub(i64::try_from(way.calls.len()).ok()?)
    }
}

impl<'a> Way<'a> {
    fn at(&self, next: i64, sequence: i64) -> Option<&'a EarlierCollective> {
        let back = next.checked_sub(sequence)?.checked_sub(1)?;
        self.calls.get(usize::try_from(back).ok()?).copied()
    }
}

/// Where two processes first differed, whose calls of number `sequence` do not fit; `None`: the source leaves that open.
fn first_differing<'a>(one: &Numbered<'a>, other: &Numbered<'a>, sequence: i64) -> Option<Differing<'a>> {
    let both = || one.ways.iter().flat_map(|way| other.ways.iter().map(move |another| (way, another)));
    let at = |(way, another): (&Way<'a>, &Way<'a>), number| {
        Some([way.at(one.next, number)?, another.at(other.next, number)?])
    };
    // Two that do not fit come from one call only where it was given different things.
    let apart = |pair: &(&Way<'a>, &Way<'a>)| at(*pair, sequence).is_some_and(|[one, other]| site(one) != site(other));
    let some_apart = both().any(|pair| apart(&pair));
    let mut first: Option<Differing<'a>> = None;
    for pair in both().filter(|pair| !some_apart || apart(pair)) {
        let (Some(begin), Some(another)) = (one.begin(pair.0), other.begin(pair.1)) else { continue };
        let begin = begin.max(another);
        let differing = (begin..=sequence)
            .find_map(|number| at(pair, number).filter(|[a, b]| differ(a, b)).map(|calls| (number, calls)));
        let Some((number, calls)) = differing else { continue };
        // Where all that is known differs, it is not known where that began.
        let known = number > begin || (pair.0.whole && pair.1.whole && one.begin(pair.0) == other.begin(pair.1));
        let (sequence, calls) = if known { (number, calls) } else { (sequence, at(pair, sequence)?) };
        let this = Differing { sequence, calls };
        if first.is_some_and(|first| first != this) {
            return None;
        }
        first = Some(this);
    }
    first
}

/// Members that by the source have started different collectives as the same one.
pub struct Since {
    /// Since this number.
    pub sequence: i64,
    /// Their calls.
    pub blamed: Vec<Blamed>,
    /// The functions, with the members that called them.
    pub functions: Vec<(String, Vec<ProcIndex>)>,
}

/// Since when the calls of members have differed, whose calls of one number do not fit.
pub fn since(context: &Context<'_>, pending: &Pending<'_>, procs: &[ProcIndex]) -> Option<Since> {
    let shared = context.job.communicators.get(pending.communicator.0)?;
    let all: Vec<Numbered<'_>> =
        procs.iter().take(MOST).filter_map(|proc| Numbered::new(context, shared, *proc)).collect();
    let (one, others) = all.split_first()?;
    let differing = others.iter().filter_map(|other| Some((first_differing(one, other, pending.sequence)?, other)));
    let (first, other) = differing.min_by_key(|(differing, _)| differing.sequence)?;
    let mut blame = Blame::default();
    let mut functions: Vec<(String, Vec<ProcIndex>)> = Vec::new();
    for numbered in &all {
        let [mine, theirs] = first.calls;
        let call = match numbered.proc {
            proc if proc == one.proc => Some(mine),
            proc if proc == other.proc => Some(theirs),
            _ => numbered.at(first.sequence),
        };
        let Some(call) = call else { continue };
        blame.start(&model::RankStart {
            rank: words::rank(context.job, numbered.proc),
            started: StartedBy {
                function: call.function.clone(),
                file: call.file.clone(),
                line: Some(call.line),
                caller: call.caller.clone(),
                ..StartedBy::default()
            },
        });
        match functions.iter_mut().find(|(function, _)| *function == call.function) {
            Some((_, procs)) => procs.push(numbered.proc),
            None => functions.push((call.function.clone(), vec![numbered.proc])),
        }
    }
    Some(Since { sequence: first.sequence, blamed: blame.places(), functions })
}

/// Adds to a finding about members whose calls do not fit since when they have not.
pub fn explain(context: &Context<'_>, pending: &Pending<'_>, finding: &mut Finding, procs: &[ProcIndex]) {
    let Some(Since { sequence, blamed, functions }) = since(context, pending, procs) else { return };
    if sequence < pending.sequence {
        let clauses: Vec<String> = functions
            .iter()
            .map(|(function, procs)| format!("{function} ({})", words::procs(context.job, procs)))
            .collect();
        let clauses = words::list(&clauses, "and");
        finding.evidence.push(format!("By the source, they already differ from number {sequence} on: {clauses}."));
    }
    put_first(finding, blamed);
}

/// Names calls before those that a finding names already.
pub fn put_first(finding: &mut Finding, calls: Vec<Blamed>) {
    let place = |blamed: &Blamed| (blamed.function.clone(), blamed.file.clone(), blamed.line);
    let mut known = std::mem::take(&mut finding.blamed);
    for blamed in calls {
        // What is known of the same call for certain, or of more ranks, says that already.
        let same = known.iter().position(|other| {
            place(other) == place(&blamed) && blamed.ranks.iter().all(|rank| other.ranks.contains(rank))
        });
        finding.blamed.push(same.map_or(blamed, |at| known.remove(at)));
    }
    finding.blamed.append(&mut known);
}
