//! Which processes stand at one place: what differs by a line of the same loop does not count.

use std::collections::BTreeMap;

use super::spots::{Manner, Spot, Spots};
use crate::job::ProcIndex;

/// Lines that are no further apart may be of one loop that asks again and again.
const NEAR: u64 = 3;

/// The same of a loop with messages, in which each line may wait.
const NEXT: u64 = 1;

/// With more different spots there is no crowd that anybody is apart from.
const MOST_SPOTS: usize = 512;

/// Processes at one place.
#[derive(Debug)]
pub struct Group {
    /// Who.
    pub procs: Vec<ProcIndex>,
    /// The spot at which most of them stand, and how many.
    pub spot: usize,
    /// How many stand just there.
    pub number: usize,
}

/// The places and who stands there; `None` where there are too many.
pub fn groups(spots: &Spots<'_>) -> Option<Vec<Group>> {
    let count = spots.all.len();
    if count > MOST_SPOTS {
        return None;
    }
    let mut place: Vec<usize> = (0..count).collect();
    for one in 0..count {
        for other in 0..one {
            let (first, second) = (root(&place, one), root(&place, other));
            if first != second && same(&spots.all[one], &spots.all[other]) {
                place[first.max(second)] = first.min(second);
            }
        }
    }
    let mut by_place: BTreeMap<usize, BTreeMap<usize, Vec<ProcIndex>>> = BTreeMap::new();
    for (at, spot) in spots.by_proc.iter().enumerate().filter_map(|(at, spot)| Some((at, (*spot)?))) {
        by_place.entry(root(&place, spot)).or_default().entry(spot).or_default().push(ProcIndex(at));
    }
    let group = |by_spot: BTreeMap<usize, Vec<ProcIndex>>| {
        let (spot, number) =
            by_spot.iter().map(|(spot, procs)| (*spot, procs.len())).max_by_key(|(_, number)| *number)?;
        let mut procs: Vec<ProcIndex> = by_spot.into_values().flatten().collect();
        procs.sort_unstable();
        Some(Group { procs, spot, number })
    };
    Some(by_place.into_values().filter_map(group).collect())
}

fn root(place: &[usize], mut at: usize) -> usize {
    // Each points to one before it, or to itself.
    while let Some(next) = place.get(at).copied().filter(|next| *next != at) {
        at = next;
    }
    at
}

/// Whether two spots may be of one loop, so that it is chance who of it was met where.
fn same(one: &Spot, other: &Spot) -> bool {
    let volatile = |spot: &Spot| matches!(spot.manner, Manner::Polls | Manner::Outside);
    let (first, second) = (&one.path, &other.path);
    let common = first.iter().zip(second).take_while(|(one, other)| one == other).count();
    let apart = |one: Option<i64>, other: Option<i64>| one.zip(other).map_or(0, |(one, other)| one.abs_diff(other));
    let in_loop = |apart: u64| {
        let both = |wanted: &dyn Fn(&Spot) -> bool| wanted(one) && wanted(other);
        both(&volatile) && apart <= NEAR || both(&|spot| spot.manner == Manner::Messages) && apart <= NEXT
    };
    match (first.get(common), second.get(common)) {
        (None, None) => in_loop(0),
        (Some(step), Some(further)) => {
            let apart = apart(step.line, further.line);
            if step.function != further.function || apart > NEAR {
                return false;
            }
            match (common + 1 == first.len(), common + 1 == second.len()) {
                (true, true) => in_loop(apart),
                (true, false) => volatile(one) && other.manner == Manner::Polls,
                (false, true) => volatile(other) && one.manner == Manner::Polls,
                (false, false) => false,
            }
        }
        (None, Some(_)) => common > 0 && volatile(one) && other.manner == Manner::Polls,
        (Some(_), None) => common > 0 && volatile(other) && one.manner == Manner::Polls,
    }
}
