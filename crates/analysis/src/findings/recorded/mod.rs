//! The first collective in which members of a communicator differ, as the flight recorder has seen it: also where they have
//! gone on since, and stand where nothing shows it.

mod contents;

use hashbrown::HashMap;
use std::collections::BTreeMap;

use super::Context;
use crate::blame::Blame;
use crate::job::ProcIndex;
use crate::words;
use model::{Call, Finding, FindingKind, HandleWord, PastCollective, RecordedCommunicator, Text};

/// How many of them are shown.
const SHOWN: usize = 16;

/// Findings of more ranks than these are about those that are fewer.
const ALL_RANKS: usize = 64;

/// A communicator of one world: worlds have their own MPI_COMM_WORLD, which recorders call the same.
type Key<'a> = (Option<i64>, Option<&'a Text>, HandleWord);

/// Those that took part in a collective, each with its call.
type Members<'a> = Vec<(ProcIndex, &'a RecordedCommunicator, &'a PastCollective)>;

/// The latest collectives of a communicator by their numbers.
type ByNumber<'a> = BTreeMap<u64, Members<'a>>;

/// By what differs, in words: who called that.
type Called<'a> = BTreeMap<String, Vec<(ProcIndex, &'a PastCollective)>>;

/// All of them.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut known: HashMap<Key<'_>, Vec<(ProcIndex, &RecordedCommunicator)>> = HashMap::new();
    for (number, proc) in context.job.procs.iter().enumerate() {
        let Some(process) = proc.process else { continue };
        let Some(history) = &process.history else { continue };
        // Each process has its own MPI_COMM_SELF, and what is made of it; roots of intercommunicators are given as MPI_ROOT.
        let shared = history.communicators.iter().filter(|one| one.size != Some(1) && one.remote_size.is_none());
        for communicator in shared {
            let Some(identity) = communicator.identity else { continue };
            let key = (process.world, process.world_key.as_ref(), identity);
            known.entry(key).or_default().push((ProcIndex(number), communicator));
        }
    }
    let mut findings: Vec<Finding> = known.values().flat_map(|members| of_communicator(context, members)).collect();
    findings.sort_by(|one, other| one.summary.cmp(&other.summary));
    findings.truncate(SHOWN);
    findings
}

/// The findings of one communicator.
fn of_communicator(context: &Context<'_>, members: &[(ProcIndex, &RecordedCommunicator)]) -> Vec<Finding> {
    // Where all have begun as many, and the same with the same, nothing differs.
    let done = |one: &RecordedCommunicator| (one.collectives, one.order, one.contents);
    let Some((_, first)) = members.first() else { return Vec::new() };
    if members.iter().all(|(_, one)| done(one) == done(first)) {
        return Vec::new();
    }
    let mut by_number = ByNumber::new();
    for (proc, communicator) in members {
        for collective in communicator.latest.iter() {
            by_number.entry(collective.number).or_default().push((*proc, communicator, collective));
        }
    }
    let differing = by_number.iter().find(|(_, all)| differ(all));
    let before = differing.map_or(u64::MAX, |(number, _)| *number);
    // What is given in different functions differs rightly.
    let contents = by_number.range(..before).find_map(|(number, all)| contents::wrong_contents(context, *number, all));
    let order = differing.and_then(|(number, all)| {
        // Where all still stand in it, other findings say so from their calls.
        let all_inside = all.iter().all(|(_, _, collective)| collective.inside);
        (!all_inside).then(|| first_differing(context, &by_number, *number, all))
    });
    contents.into_iter().chain(order).collect()
}

/// Whether members cannot have called the same collective.
fn differ(all: &Members<'_>) -> bool {
    gave_other(all, |one| Some(&one.function)) || gave_other(all, |one| one.given.peer)
}

/// Whether something is known of two members, and differs.
fn gave_other<'a, T: PartialEq>(all: &'a Members<'a>, of: impl Fn(&'a PastCollective) -> Option<T>) -> bool {
    let mut known = all.iter().filter_map(|(_, _, one)| of(one));
    known.next().is_some_and(|first| known.any(|other| other != first))
}

fn first_differing(context: &Context<'_>, by_number: &ByNumber<'_>, number: u64, all: &Members<'_>) -> Finding {
    let one_function = !gave_other(all, |one| Some(&one.function));
    let words = |collective: &PastCollective| {
        let root = collective.given.peer.filter(|_| one_function);
        let root = root.map_or_else(String::new, |root| format!(" with root {root}"));
        format!("{}{root}", collective.function)
    };
    let kind = if one_function { FindingKind::RootMismatch } else { FindingKind::CollectiveMismatch };
    let rule = "all members of a communicator must call the same ones in the same order";
    let mut finding = finding_of(context, (number, kind, rule), all, words);
    let before = number.checked_sub(1).and_then(|before| by_number.get(&before));
    if number != 1 && before.is_none_or(|before| before.len() != all.len()) {
        let sentence = "Earlier calls are not kept for all of them, so they may have differed before.";
        finding.evidence.push(sentence.to_owned());
    }
    finding
}

/// A finding of one collective: by its number, its kind and what MPI demands there. `words`: what a member called, and with what.
fn finding_of(
    context: &Context<'_>,
    (number, kind, rule): (u64, FindingKind, &str),
    all: &Members<'_>,
    words: impl Fn(&PastCollective) -> String,
) -> Finding {
    let mut groups = Called::new();
    for (proc, _, collective) in all {
        groups.entry(words(collective)).or_default().push((*proc, collective));
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, members)| members.len());
    let parts: Vec<String> = groups
        .iter()
        .map(|(called, members)| {
            let procs: Vec<ProcIndex> = members.iter().map(|(proc, _)| *proc).collect();
            format!("{} called {called}", words::procs(context.job, &procs))
        })
        .collect();
    let name = all.iter().find_map(|(_, communicator, _)| communicator.name.as_deref()).unwrap_or_default();
    let total: usize = groups.iter().map(|(_, members)| members.len()).sum();
    let fewer = if total > ALL_RANKS { groups.len() - 1 } else { groups.len() };
    let procs: Vec<ProcIndex> =
        groups.iter().take(fewer).flat_map(|(_, members)| members.iter().map(|(proc, _)| *proc)).collect();
    let mut ranks = context.ranks(&procs);
    ranks.sort_unstable();
    let mut blame = Blame::default();
    for (proc, collective) in groups.iter().flat_map(|(_, members)| members) {
        let call = Call {
            function: collective.function.clone(),
            file: collective.given.file.clone(),
            line: collective.given.line,
            caller: collective.given.caller.clone(),
            ..Call::default()
        };
        blame.standing(words::rank(context.job, *proc), &call);
    }
    let name = words::named(name);
    Finding {
        kind,
        summary: format!("in collective {number} of {name} {}", words::list(&parts, "and")),
        ranks,
        calls: context.calls(&procs),
        certain: true,
        evidence: vec![format!("The flight recorder has seen collective {number} of {name}: {rule}.")],
        blamed: blame.places(),
        ..Finding::default()
    }
}
