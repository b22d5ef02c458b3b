//! Non-blocking collectives of several communicators that ranks have started in different orders: the ones wait on one
//! communicator for ranks that wait on another for the ones.

use std::collections::{HashMap, HashSet};

use super::Context;
use super::collectives::on;
use super::non_blocking::Pending;
use crate::advice::{self, Change};
use crate::job::{CommunicatorId, ProcIndex};
use crate::words;
use model::{Finding, FindingKind};

/// Of more collectives than this it is not looked who waits for whom in a circle.
const MOST: usize = 64;

/// A collective in which ranks are stuck, and who has to come yet.
struct Place {
    /// Among those that are pending.
    index: usize,
    communicator: CommunicatorId,
    name: String,
    function: Option<String>,
    stuck: Vec<ProcIndex>,
    missing: HashSet<ProcIndex>,
}

/// What was told.
#[derive(Debug, Default)]
pub struct Told {
    /// One finding for each circle.
    pub findings: Vec<Finding>,
    missing: HashMap<usize, HashSet<ProcIndex>>,
}

impl Told {
    /// Those that are missing in one of those that are pending, as these findings say.
    pub fn missing(&self, index: usize) -> Option<&HashSet<ProcIndex>> {
        self.missing.get(&index)
    }
}

/// Circles of those that are pending.
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
        let inside: HashSet<ProcIndex> = circle.iter().flat_map(|place| place.stuck.iter().copied()).collect();
        for place in &circle {
            told.missing.insert(place.index, place.missing.intersection(&inside).copied().collect());
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
            index,
            communicator: one.communicator,
            name: one.name(),
            function: one.function().map(str::to_owned),
            stuck: one.waiting().to_vec(),
            missing,
        });
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
            format!("{who} {wait} for {} on {}", place.name, on(context, place.communicator))
        })
        .collect();
    let evidence = circle.iter().map(|place| {
        let mut missing: Vec<ProcIndex> = place.missing.iter().copied().filter(|proc| all.contains(proc)).collect();
        missing.sort_unstable();
        let (who, has) = (words::procs(job, &missing), if missing.len() == 1 { "has" } else { "have" });
        format!(
            "By the library's numbers {who} {has} not started that on {}, and {wait} in another one.",
            on(context, place.communicator),
            wait = words::wait(missing.len())
        )
    });
    let mut evidence: Vec<String> = evidence.collect();
    evidence.push(
        "So it is where ranks start collectives of several communicators in different orders, or leave one out."
            .to_owned(),
    );
    let certain = all.iter().all(|proc| context.stuck_for_certain(*proc));
    if !certain {
        evidence.extend(context.doubts(&all));
    }
    // The same function on two communicators: one of them may be the wrong one.
    let same = matches!(circle, [one, other] if one.function.is_some() && one.function == other.function);
    let mut finding = Finding {
        kind: if same { FindingKind::CommunicatorMismatch } else { FindingKind::CollectiveMismatch },
        summary: format!("{}, each for ranks that have not started it", words::list(&told, "and")),
        ranks: context.ranks(&all),
        calls: context.calls(&all),
        certain,
        evidence,
        blamed: context.blamed(&all),
        ..Finding::default()
    };
    advice::give(&mut finding, Change::Communicators);
    finding
}
