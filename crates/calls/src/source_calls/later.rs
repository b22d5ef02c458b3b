//! The collectives and sends that control may still come to from a place in a function.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::others::head;
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
    let mut units: Option<HashMap<String, Vec<Range<usize>>>> = None;
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
            // Each is gone through once.
            let units = units.get_or_insert_with(|| functions(source));
            pieces.extend(units.remove(&key(source, &name)).unwrap_or_default());
        }
    }
    Some(found)
}

/// The functions of a source by their names.
fn functions(source: &Source) -> HashMap<String, Vec<Range<usize>>> {
    let mut found: HashMap<String, Vec<Range<usize>>> = HashMap::new();
    for unit in source.bodies() {
        found.entry(key(source, &head(source, &unit).0)).or_default().push(unit.range);
    }
    found
}

/// A name as it is looked up: Fortran's have no case.
fn key(source: &Source, name: &str) -> String {
    if source.fortran { name.to_ascii_lowercase() } else { name.to_owned() }
}

fn is_collective(function: &str) -> bool {
    let starts = || find(function).is_some_and(|function| function.starts() == Some(Started::Collective));
    matches!(wait_kind(function), WaitKind::Collective(..) | WaitKind::Finalize) || starts()
}
