//! Collectives of several communicators that ranks have entered, or started, in different orders: the ones wait on one
//! communicator for ranks that wait on another for the ones.

use std::collections::{HashMap, HashSet};

use super::Context;
use super::collectives::on;
use super::non_blocking::Pending;
use crate::job::{CommunicatorId, ProcIndex};
use crate::waits::CollectiveId;
use crate::words;
use model::{Finding, FindingKind};

/// Of more collectives than this it is not looked who waits for whom in a circle.
const MOST: usize = 64;

/// A collective in which ranks are stuck, and who has to come yet.
struct Place {
    what: What,
    communicator: CommunicatorId,
    name: String,
    stuck: Vec<ProcIndex>,
    missing: HashSet<ProcIndex>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// By its place among those that are pending.
    Started(usize),
    Entered(CollectiveId),
}

/// What was told.
#[derive(Debug, Default)]
pub struct Told {
    /// One finding for each circle.
    pub findings: Vec<Finding>,
    started: HashMap<usize, HashSet<ProcIndex>>,
    entered: HashMap<CollectiveId, HashSet<ProcIndex>>,
}

impl Told {
    /// Those that are missing in a non-blocking collective, as these findings say.
    pub fn missing_in_started(&self, place: usize) -> Option<&HashSet<ProcIndex>> {
        self.started.get(&place)
    }

    /// Those that are missing in a blocking one.
    pub fn missing_in_entered(&self, id: CollectiveId) -> Option<&HashSet<ProcIndex>> {
        self.entered.get(&id)
    }
}

/// Circles through a non-blocking collective; those of blocking ones only are told with these.
pub fn find(context: &Context<'_>, pending: &[Pending<'_>]) -> Told {
    let places = places(context, pending);
    let mut at: HashMap<ProcIndex, Vec<usize>> = HashMap::new();
    for (index, place) in places.iter().enumerate() {
        for proc in &place.stuck {
            at.entry(*proc).or_default().push(index);
        }
    }
    // Which ones each needs to complete, in one step or in many.
    let mut needs: Vec<Vec<bool>> = vec![vec![false; places.len()]; places.len()];
    for (index, place) in places.iter().enumerate() {
        for other in place.missing.iter().filter_map(|proc| at.get(proc)).flatten() {
            needs[index][*other] = places[*other].communicator != place.communicator;
        }
    }
    for middle in 0..places.len() {
        let onwards = needs[middle].clone();
        for row in needs.iter_mut().filter(|row| row[middle]) {
            row.iter_mut().zip(&onwards).for_each(|(known, onwards)| *known |= onwards);
        }
    }
    let mut told = Told::default();
    let mut seen = vec![false; places.len()];
    for first in 0..places.len() {
        let circle: Vec<usize> =
            (0..places.len()).filter(|other| needs[first][*other] && needs[*other][first]).collect();
        if seen[first] || circle.len() < 2 {
            continue;
        }
        circle.iter().for_each(|one| seen[*one] = true);
        let circle: Vec<&Place> = circle.into_iter().map(|one| &places[one]).collect();
        if !circle.iter().any(|place| matches!(place.what, What::Started(_))) {
            continue;
        }
        let inside: HashSet<ProcIndex> = circle.iter().flat_map(|place| place.stuck.iter().copied()).collect();
        for place in &circle {
            let missing = place.missing.intersection(&inside).copied().collect();
            match place.what {
                What::Started(index) => _ = told.started.insert(index, missing),
                What::Entered(id) => _ = told.entered.insert(id, missing),
            }
        }
        told.findings.push(finding(context, &circle));
    }
    told
}

fn places(context: &Context<'_>, pending: &[Pending<'_>]) -> Vec<Place> {
    let mut found = Vec::new();
    for (index, one) in pending.iter().enumerate() {
        let known = context.job.communicators.get(one.communicator.0).filter(|shared| shared.doubt.is_none());
        let Some(shared) = known.filter(|_| !one.is_persistent()) else { continue };
        let behind = |proc: &ProcIndex| one.is_missing(context, *proc) == Some(true);
        let missing: HashSet<ProcIndex> = shared.views.iter().map(|view| view.proc).filter(behind).collect();
        found.push(Place {
            what: What::Started(index),
            communicator: one.communicator,
            name: one.name(),
            stuck: one.waiting().to_vec(),
            missing,
        });
    }
    for (id, collective) in context.waits.collectives.iter() {
        let Some(communicator) = collective.communicator else { continue };
        let here = |proc: &&ProcIndex| {
            context.threads(**proc).iter().any(|thread| thread.collective == Some(id)) && context.perhaps_stuck(**proc)
        };
        let stuck: Vec<ProcIndex> = collective.present.iter().filter(here).copied().collect();
        if !stuck.is_empty() {
            let (name, missing) = (collective.function.clone(), collective.missing.iter().copied().collect());
            found.push(Place { what: What::Entered(id), communicator, name, stuck, missing });
        }
    }
    found.truncate(MOST);
    found
}

fn finding(context: &Context<'_>, circle: &[&Place]) -> Finding {
    let job = context.job;
    let mut all: Vec<ProcIndex> = circle.iter().flat_map(|place| place.stuck.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let told: Vec<String> = circle
        .iter()
        .map(|place| {
            let (who, wait) = (words::procs(job, &place.stuck), words::wait(place.stuck.len()));
            let preposition = if matches!(place.what, What::Started(_)) { "for" } else { "in" };
            format!("{who} {wait} {preposition} {} on {}", place.name, on(context, place.communicator))
        })
        .collect();
    let evidence = circle.iter().map(|place| {
        let mut missing: Vec<ProcIndex> = place.missing.iter().copied().filter(|proc| all.contains(proc)).collect();
        missing.sort_unstable();
        let (who, has) = (words::procs(job, &missing), if missing.len() == 1 { "has" } else { "have" });
        match place.what {
            What::Started(_) => {
                format!("By the library's numbers {who} {has} not started that on {}.", on(context, place.communicator))
            }
            What::Entered(_) => format!("{} {has} not entered {}.", super::deadlock::capital(&who), place.name),
        }
    });
    let mut evidence: Vec<String> = evidence.collect();
    // Who is not in an operation that some leave early may have left it.
    let early = circle.iter().find(|place| matches!(place.what, What::Entered(_)) && !synchronises(&place.name));
    let certain = early.is_none() && all.iter().all(|proc| context.stuck_for_certain(*proc));
    match early {
        Some(place) => {
            evidence.push(format!("Not certain: ranks may leave {} before others have entered it.", place.name));
        }
        None if !certain => evidence.extend(context.doubts(&all)),
        None => {}
    }
    Finding {
        kind: FindingKind::CollectiveMismatch,
        summary: format!("collectives of {} communicators in different order: {}", number(circle), words::list(&told, "and")),
        ranks: context.ranks(&all),
        calls: context.calls(&all),
        certain,
        evidence,
        advice: Some("Make all ranks start the collectives of these communicators in the same order.".to_owned()),
        ..Finding::default()
    }
}

fn synchronises(function: &str) -> bool {
    use functions::{Reach, WaitKind, wait_kind};
    matches!(wait_kind(function), WaitKind::Collective(_, Reach::All))
}

fn number(circle: &[&Place]) -> String {
    let communicators: HashSet<CommunicatorId> = circle.iter().map(|place| place.communicator).collect();
    match communicators.len() {
        2 => "two".to_owned(),
        3 => "three".to_owned(),
        4 => "four".to_owned(),
        other => other.to_string(),
    }
}
