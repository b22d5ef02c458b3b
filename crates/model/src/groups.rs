//! The groups of communicators, kept once.

use std::collections::HashSet;
use std::sync::Arc;

use super::Snapshot;

/// The members of a group in rank order. Every process of a job has those of MPI_COMM_WORLD: where snapshots are merged, equal
/// ones are kept once.
pub type Group = Arc<[Option<i64>]>;

/// Groups that are known already.
#[derive(Debug, Default)]
pub struct Groups(HashSet<Group>);

impl Groups {
    /// Takes from a snapshot what is known already: each of n processes has the n members of MPI_COMM_WORLD.
    pub fn share(&mut self, snapshot: &mut Snapshot) {
        let communicators = snapshot.processes.iter_mut().flat_map(|process| &mut process.communicators);
        for group in communicators.flat_map(|found| [&mut found.group, &mut found.remote_group]).flatten() {
            match self.0.get(&*group) {
                Some(same) => *group = Arc::clone(same),
                None => _ = self.0.insert(Arc::clone(group)),
            }
        }
    }
}
