//! The groups of communicators, kept once.

use hashbrown::{HashMap, HashSet};
use std::sync::Arc;

use super::Snapshot;

/// The members of a group in rank order. Every process of a job has those of MPI_COMM_WORLD: where snapshots are merged, equal
/// ones are kept once.
pub type Group = Arc<[Option<i64>]>;

/// Groups that are known already.
#[derive(Debug, Default)]
pub struct Groups {
    by_members: HashSet<Group>,
    /// Those that were looked at, by where they are, and the equal one that is kept. They stay there meanwhile.
    by_place: HashMap<(usize, usize), (Group, Group)>,
}

impl Groups {
    /// Takes from a snapshot what is known already: each of n processes has the n members of MPI_COMM_WORLD.
    pub fn share(&mut self, snapshot: &mut Snapshot) {
        for process in &mut snapshot.processes {
            let found = process.communicators.iter();
            let mut groups = found.flat_map(|found| [&found.group, &found.remote_group]).flatten();
            // A process that has no other group is not changed: it may be that of another snapshot as well.
            let kept = groups.all(|group| Arc::ptr_eq(self.of(group), group));
            drop(groups);
            if kept {
                continue;
            }
            let communicators = process.communicators.iter_mut();
            for group in communicators.flat_map(|found| [&mut found.group, &mut found.remote_group]).flatten() {
                *group = Arc::clone(self.of(group));
            }
        }
        self.by_place.clear();
    }

    fn of<'a>(&'a mut self, group: &'a Group) -> &'a Group {
        // That of a process alone is nobody else's.
        if group.len() < 2 {
            return group;
        }
        let by_members = &mut self.by_members;
        let entry = self.by_place.entry((group.as_ptr().addr(), group.len()));
        let (_, same) = entry.or_insert_with(|| {
            let same = by_members.get(group).cloned().unwrap_or_else(|| {
                by_members.insert(Arc::clone(group));
                Arc::clone(group)
            });
            (Arc::clone(group), same)
        });
        same
    }
}
