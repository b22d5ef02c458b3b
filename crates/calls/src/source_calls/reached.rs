//! Which calls control may have passed last before a thread came to its place.

use std::collections::HashMap;

use super::{Candidate, Waited, given, object, text_of};
use crate::source::flow::{Body, Mark, reaching};
use crate::source::{Mention, Source};
use functions::{WaitKind, wait_kind};
use model::SameObject;

/// Of each call whether control may have passed it last, of those that set the same request.
pub(super) fn reached(
    (source, body): (&Source, &Body),
    mentioned: &[Mention],
    place: usize,
    calls: &[Candidate],
    waited: Option<&Waited<'_>>,
) -> Vec<bool> {
    let mut found = vec![false; calls.len()];
    let mut groups: HashMap<(Option<i64>, bool), Vec<usize>> = HashMap::new();
    for (at, Candidate { call, .. }) in calls.iter().enumerate() {
        match call.request.same {
            SameObject::No => found[at] = true,
            // What a pointer leads to is not over when another is set.
            SameObject::Unknown => groups.entry((None, makes(&call.function))).or_default().push(at),
            SameObject::Yes => groups.entry((call.request.index, makes(&call.function))).or_default().push(at),
        }
    }
    for ((index, persistent), group) in groups {
        let mark = |at: &usize| {
            let Candidate { mention, call, .. } = &calls[*at];
            let ends = call.request.same == SameObject::Yes && call.request.index.is_some();
            Mark { at: mentioned[*mention].at, starts: true, ends }
        };
        let mut marks: Vec<Mark> = group.iter().map(mark).collect();
        if let Some(waited) = waited.filter(|_| !persistent) {
            let over = mentioned.iter().filter(|one| one.at != place && is_over(source, one, waited, index));
            marks.extend(over.map(|one| Mark { at: one.at, starts: false, ends: true }));
        }
        for mark in reaching(body, place, &marks) {
            if let Some(at) = group.get(mark) {
                found[*at] = true;
            }
        }
    }
    found
}

/// Whether a call waits for the request with this index, or frees it: nothing that started it before is waited for now.
fn is_over(source: &Source, mention: &Mention, waited: &Waited<'_>, index: Option<i64>) -> bool {
    let ends = wait_kind(&mention.function) == WaitKind::WaitAll || mention.function == "MPI_Request_free";
    let Some(parameter) = given(&mention.function).filter(|_| ends) else { return false };
    let text = text_of(mention, &mention.function, parameter.name, source);
    let (Some(own), Some(ended)) = (&waited.object, text.and_then(|text| object(&text, source))) else { return false };
    let whole = parameter.array.is_some();
    if own.path != ended.path {
        return false;
    }
    match (own.element, ended.element) {
        (Some(first), Some(one)) if whole => first == one && (index.is_some() || waited.count == Some(1)),
        (Some(first), Some(one)) => index.is_some_and(|index| first + i128::from(index) == one),
        // Of Fortran, without a subscript.
        (None, None) => source.fortran && (whole || waited.count == Some(1)),
        _ => false,
    }
}

/// Whether a call makes a persistent request, which stays.
fn makes(function: &str) -> bool {
    functions::find(function).is_some_and(|function| function.is_persistent())
}
