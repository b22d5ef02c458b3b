//! Ranks that wait in collectives of two communicators, blocking ones and others, each of them missing in the other's.

use std::collections::{HashMap, HashSet};

use super::Context;
use super::collectives::on;
use super::non_blocking::Pending;
use crate::advice::{self, Change};
use crate::job::{CommunicatorId, ProcIndex};
use crate::waits::CollectiveId;
use crate::words;
use model::{Finding, FindingKind};

/// A collective operation in which stuck ranks wait.
pub struct Place<'g> {
    /// Its communicator.
    pub communicator: CommunicatorId,
    /// Its function, as far as it is known.
    pub function: Option<&'g str>,
    /// Who waits in it, or for it.
    pub waiting: &'g [ProcIndex],
    /// The blocking one.
    pub collective: Option<CollectiveId>,
    /// Who is not in it.
    pub absent: Absent<'g>,
}

/// Who has not come to a collective operation.
pub enum Absent<'g> {
    /// These members, ascending.
    Members(&'g [ProcIndex]),
    /// Those that have not begun a non-blocking one.
    Pending(&'g Pending<'g>),
}

impl Place<'_> {
    fn misses(&self, context: &Context<'_>, proc: ProcIndex) -> bool {
        match self.absent {
            Absent::Members(members) => members.binary_search(&proc).is_ok(),
            Absent::Pending(pending) => pending.is_missing(context, proc) == Some(true),
        }
    }
}

/// So many places are compared with each other.
const MOST: usize = 64;

/// One finding for each pair, with the two places in the list; `most` at the most.
pub fn find(context: &Context<'_>, places: &[Place<'_>], most: usize) -> Vec<(Finding, [usize; 2])> {
    // Who waits where: a rank of several threads in several.
    let mut at: HashMap<ProcIndex, Vec<usize>> = HashMap::new();
    for (place, one) in places.iter().enumerate() {
        for proc in one.waiting {
            at.entry(*proc).or_default().push(place);
        }
    }
    let mut told: HashSet<[usize; 2]> = HashSet::new();
    let mut found = Vec::new();
    for (first, one) in places.iter().enumerate() {
        let others: HashSet<usize> = match one.absent {
            Absent::Members(members) => members.iter().filter_map(|proc| at.get(proc)).flatten().copied().collect(),
            Absent::Pending(_) => (0..places.len().min(MOST)).collect(),
        };
        let mut others: Vec<usize> = others.into_iter().collect();
        others.sort_unstable();
        for second in others {
            let other = &places[second];
            let pair = [first.min(second), first.max(second)];
            // Circles of non-blocking ones alone are told by `crossed`.
            let pending = one.absent.is_pending() && other.absent.is_pending();
            if first == second || pending || other.communicator == one.communicator || told.contains(&pair) {
                continue;
            }
            let mutual = other.waiting.iter().any(|proc| one.misses(context, *proc))
                && one.waiting.iter().any(|proc| other.misses(context, *proc));
            if mutual && found.len() < most {
                told.insert(pair);
                found.push((finding(context, one, other), [first, second]));
            }
        }
    }
    found
}

fn finding(context: &Context<'_>, one: &Place<'_>, other: &Place<'_>) -> Finding {
    let told = [one, other].map(|place| {
        let (ranks, number) = (words::procs(context.job, place.waiting), place.waiting.len());
        let does = match (place.absent.is_pending(), number) {
            (true, number) => format!("{} for", words::wait(number)),
            (false, 1) => "is in".to_owned(),
            (false, _) => "are in".to_owned(),
        };
        format!(
            "{ranks} {does} {} on {}",
            place.function.unwrap_or("a non-blocking collective"),
            on(context, place.communicator)
        )
    });
    let all: Vec<ProcIndex> = one.waiting.iter().chain(other.waiting).copied().collect();
    let mut ranks = context.ranks(&all);
    ranks.sort_unstable();
    ranks.dedup();
    let certain = all.iter().all(|proc| context.stuck_for_certain(*proc));
    let mut evidence = vec!["Each of these waits for members that stand in the other one.".to_owned()];
    if !certain {
        evidence.extend(context.doubts(&all));
    }
    let same = one.function.is_some() && one.function == other.function;
    let mut finding = Finding {
        kind: if same { FindingKind::CommunicatorMismatch } else { FindingKind::CollectiveMismatch },
        summary: format!("{} and {}", told[0], told[1]),
        ranks,
        calls: [one, other].iter().flat_map(|place| context.calls(place.waiting)).collect(),
        certain,
        evidence,
        blamed: context.blamed(&all),
        ..Finding::default()
    };
    advice::give(&mut finding, Change::Communicators);
    finding
}

impl Absent<'_> {
    fn is_pending(&self) -> bool {
        matches!(self, Self::Pending(_))
    }
}
