//! Which non-blocking collectives all members have begun, as the same one: those end by themselves.

use hashbrown::{HashMap, HashSet};

use super::{Members, recorded};
use model::{RequestState, Snapshot, Text};

/// Takes requests of such collectives for complete: nobody else must do anything for them. Whether the library has done with
/// them the recorder does not know.
pub(super) fn settle(snapshot: &mut Snapshot, members: &Members) {
    let Some(first) = members.first().and_then(|first| recorded(snapshot, first)) else { return };
    let size = first.size.unwrap_or(i64::MAX).saturating_add(first.remote_size.unwrap_or(0));
    if i64::try_from(members.len()).is_ok_and(|read| read < size) {
        return;
    }
    let begun = begun_by_all(snapshot, members);
    if begun.is_empty() {
        return;
    }
    for member in members {
        let Some(process) = snapshot.processes.get_mut(member.process) else { continue };
        let Some(id) = process.communicators.get(member.communicator).map(|one| one.unique_id) else { continue };
        let is_settled = |request: &model::CallRequest| {
            let number = request.sequence.and_then(|number| u64::try_from(number).ok());
            let is_begun = number.is_some_and(|number| begun.contains(&number));
            request.state == RequestState::Open && request.communicator == Some(id) && is_begun
        };
        // What is not changed is not copied: it may be that of another snapshot as well.
        if !process.calls.iter().flat_map(|call| &call.requests).any(is_settled) {
            continue;
        }
        for request in process.calls.iter_mut().flat_map(|call| &mut call.requests).filter(|one| is_settled(one)) {
            request.state = RequestState::Complete;
        }
    }
}

/// The numbers of those that all have begun, and in which nobody called another function or gave another root.
fn begun_by_all(snapshot: &Snapshot, members: &Members) -> HashSet<u64> {
    let mut called: HashMap<u64, (&Text, Option<i64>, usize)> = HashMap::new();
    for member in members {
        let Some(known) = recorded(snapshot, member) else { continue };
        for collective in known.latest.iter().filter(|collective| collective.started > 0) {
            let (function, root, count) =
                called.entry(collective.started).or_insert((&collective.function, collective.given.peer, 0));
            if *function == &collective.function && *root == collective.given.peer {
                *count += 1;
            }
        }
    }
    called.into_iter().filter(|(_, (.., count))| *count == members.len()).map(|(number, _)| number).collect()
}
