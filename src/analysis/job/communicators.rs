//! Which communicators of different processes are the same one.
//!
//! A context id names a communicator only among processes that share it: the halves of a split have the same id and other
//! members, and Open MPI 5 numbers communicators for each process. So an identity is the id together with the members.

use std::collections::HashMap;

use super::{Party, PartyId};
use crate::model::{Communicator, Snapshot};

/// A place in [`super::Job::communicators`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommunicatorId(pub usize);

/// One of the two groups of an intercommunicator; an intracommunicator has the first only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The only group, or the one that comes first.
    First,
    /// The other group of an intercommunicator.
    Second,
}

/// What one process has of a communicator.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Whose.
    pub party: PartyId,
    /// Which of the two groups it is in.
    pub side: Side,
    /// Its place in `Process::communicators`.
    pub place: usize,
    /// What was read.
    pub communicator: &'a Communicator,
}

/// A communicator of a job.
#[derive(Debug, Clone)]
pub struct Shared<'a> {
    /// A name that members have for it.
    pub name: &'a str,
    /// Its groups in rank order: one, or two of an intercommunicator; a member is `None` where it is not known. `None`:
    /// the members are not known at all.
    pub groups: Option<Vec<Vec<Option<PartyId>>>>,
    /// What its members have of it, by party.
    pub views: Vec<View<'a>>,
    /// Why it is not certain that these are views of one communicator, or of all that there are; `None` where it is.
    pub doubt: Option<String>,
}

/// All communicators, and which of them stands at which place of each process.
pub(super) fn identify<'a>(
    snapshot: &'a Snapshot,
    _parties: &[Party<'a>],
    by_rank: &HashMap<i64, PartyId>,
) -> (Vec<Shared<'a>>, Vec<Vec<CommunicatorId>>) {
    type Key<'a> = (Option<&'a str>, Option<&'a [Option<i64>]>, Option<&'a [Option<i64>]>);
    let mut found: Vec<Shared<'a>> = Vec::new();
    let mut by_key: HashMap<Key<'a>, CommunicatorId> = HashMap::new();
    let mut by_place = Vec::with_capacity(snapshot.processes.len());
    for (index, process) in snapshot.processes.iter().enumerate() {
        let mut places = Vec::with_capacity(process.communicators.len());
        for (place, communicator) in process.communicators.iter().enumerate() {
            let (own, other) = (communicator.group.as_deref(), communicator.remote_group.as_deref());
            // Both sides of an intercommunicator name the same two groups, the other way round.
            let swapped = other.is_some_and(|other| own.is_some_and(|own| other < own));
            let side = if swapped { Side::Second } else { Side::First };
            let key = if swapped { (other, own) } else { (own, other) };
            let id = *by_key.entry((communicator.context_id.as_deref(), key.0, key.1)).or_insert_with(|| {
                let members = |group: &[Option<i64>]| {
                    group.iter().map(|rank| by_rank.get(&(*rank)?).copied()).collect::<Vec<_>>()
                };
                let groups = key.0.map(|first| std::iter::once(first).chain(key.1).map(members).collect());
                found.push(Shared { name: &communicator.name, groups, views: Vec::new(), doubt: None });
                CommunicatorId(found.len() - 1)
            });
            found[id.0].views.push(View { party: PartyId(index), side, place, communicator });
            places.push(id);
        }
        by_place.push(places);
    }
    (found, by_place)
}
