//! Who has begun fewer non-blocking collectives than the others.

use hashbrown::HashMap;
use std::collections::BTreeMap;

use super::super::Context;
use super::{few, nearly_all};
use crate::job::{ProcIndex, Shared};
use model::{Communicator, OddReason, RequestState};

/// Numbers further apart than this are not compared: libraries begin anew after the last one.
const WINDOW: i64 = 1 << 20;

/// Those that are behind in a communicator of which nearly all members are equally far, and by how much there.
pub fn find(context: &Context<'_>) -> Vec<(ProcIndex, OddReason)> {
    let mut by_proc: HashMap<ProcIndex, (usize, OddReason)> = HashMap::new();
    for shared in &context.job.communicators {
        for (proc, reason) in in_communicator(context, shared) {
            // What most members say counts.
            let known = by_proc.get(&proc).is_some_and(|(members, _)| *members >= shared.views.len());
            if !known {
                by_proc.insert(proc, (shared.views.len(), reason));
            }
        }
    }
    let mut all: Vec<_> = by_proc.into_iter().map(|(proc, (_, reason))| (proc, reason)).collect();
    all.sort_unstable_by_key(|(proc, _)| *proc);
    all
}

fn in_communicator(context: &Context<'_>, shared: &Shared<'_>) -> Vec<(ProcIndex, OddReason)> {
    // Where it is doubtful which are one communicator, only the one that everybody has is compared.
    if shared.doubt.is_some() && shared.name != "MPI_COMM_WORLD" {
        return Vec::new();
    }
    let known: Vec<(ProcIndex, i64)> = shared
        .views
        .iter()
        .filter_map(|view| Some((view.proc, next(context, view.proc, view.communicator)?)))
        .collect();
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    known.iter().for_each(|(_, next)| *counts.entry(*next).or_default() += 1);
    let Some((most, number)) = counts.iter().map(|(next, number)| (*next, *number)).max_by_key(|(_, count)| *count)
    else {
        return Vec::new();
    };
    let less = |next: i64| most.checked_sub(next).is_some_and(|by| (1..WINDOW).contains(&by));
    let behind: Vec<_> = known.iter().filter(|(_, next)| less(*next)).collect();
    if !nearly_all(number, known.len()) || behind.len() > few(known.len()) {
        return Vec::new();
    }
    // The one that is furthest behind, and those with it.
    let Some(least) = behind.iter().map(|(_, next)| *next).min() else { return Vec::new() };
    let reason = OddReason::Behind { communicator: shared.name.to_owned(), own: least, others: most };
    behind.iter().filter(|(_, next)| *next == least).map(|(proc, _)| (*proc, reason.clone())).collect()
}

/// The number of a process's next one: what the library keeps, else one more than that of the last for which it waits.
fn next(context: &Context<'_>, proc: ProcIndex, communicator: &Communicator) -> Option<i64> {
    let waited = || {
        let requests = context.threads(proc).iter().flat_map(|thread| &thread.call.requests);
        let open = requests.filter(|request| {
            request.state == RequestState::Open && request.communicator == Some(communicator.unique_id)
        });
        open.filter_map(|request| request.sequence).max()?.checked_add(1)
    };
    communicator.next_sequence.or_else(waited)
}
