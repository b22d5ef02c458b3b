//! The collectives and sends that control may still come to from a place in a function.

use std::collections::HashSet;
use std::ops::Range;

use super::others::{head, same_name};
use super::sends;
use crate::source::flow::{Body, following};
use crate::source::{Mention, Source, mentions};
use functions::{Started, WaitKind, find, wait_kind};

/// So many pieces of a source are gone through.
const MOST_PIECES: usize = 256;

/// What stands behind a place.
#[derive(Default)]
pub(super) struct Later {
    /// Collectives, each function once; also in functions of the same source that are called there. The end of the program
    /// (MPI_Finalize) is one of them where control comes to it.
    pub(super) collectives: Vec<Mention>,
    /// What sends, in this function alone.
    pub(super) sends: Vec<Mention>,
}

/// What stands behind `place`; `None`: not known.
pub(super) fn later(source: &Source, body: &Body, place: usize) -> Option<Later> {
    let mut pieces: Vec<Range<usize>> = following(body, place)?;
    let own = pieces.len();
    let mut units: Option<Vec<(String, Range<usize>)>> = None;
    let mut entered: HashSet<usize> = HashSet::new();
    let mut known: HashSet<String> = HashSet::new();
    let mut found = Later::default();
    let mut at = 0;
    while let Some(piece) = pieces.get(at).cloned() {
        at += 1;
        if at > MOST_PIECES {
            return None;
        }
        let all = mentions(source, &piece).unwrap_or_default();
        for one in all {
            if at <= own && sends(&one.function) && !found.sends.iter().any(|other| other.at == one.at) {
                found.sends.push(one);
            } else if is_collective(&one.function) && known.insert(one.function.clone()) {
                found.collectives.push(one);
            }
        }
        for (name, _) in source.calls_in(&piece) {
            let units =
                units.get_or_insert_with(|| source.bodies().map(|unit| (head(source, &unit).0, unit.range)).collect());
            for (index, (_, range)) in units.iter().enumerate().filter(|(_, (own, _))| same_name(source, own, &name)) {
                if entered.insert(index) {
                    pieces.push(range.clone());
                }
            }
        }
    }
    Some(found)
}

fn is_collective(function: &str) -> bool {
    let starts = || find(function).is_some_and(|function| function.starts() == Some(Started::Collective));
    matches!(wait_kind(function), WaitKind::Collective(..) | WaitKind::Finalize) || starts()
}
