//! What threads of a tree wait for outside MPI.

use hashbrown::HashMap;

use super::Who;
use super::merge::Group;
use crate::awaited::Names;
use crate::waits::{Whose, awaited, whose};
use model::{Outside, Process, Snapshot, Stack, StackWait};

/// How many different things are shown.
const MOST: usize = 64;

/// Ranks by the host and the id of their process there.
type Ranks<'a> = HashMap<(Option<&'a str>, i64), i64>;

#[derive(Default)]
pub(super) struct Waits<'a> {
    /// Known where any thread waits so.
    ranks: Option<Ranks<'a>>,
    groups: Vec<(String, Group)>,
}

impl<'a> Waits<'a> {
    pub(super) fn add(&mut self, snapshot: &'a Snapshot, who: &Who, process: &'a Process, stack: &Stack) {
        let of_stack = |thread: &&Outside| thread.thread == stack.thread && whose(thread) == Whose::Application;
        let Some(thread) = process.outside.iter().find(of_stack) else { return };
        let Some(awaited) = awaited(thread) else { return };
        let ranks = self.ranks.get_or_insert_with(|| {
            let all = snapshot.processes.iter();
            all.filter_map(|one| Some(((one.host.as_deref(), one.pid?), snapshot.rank_of(one)?))).collect()
        });
        let rank = |pid| ranks.get(&(process.host.as_deref(), pid)).map(|rank| format!("rank {rank}"));
        let what = Names { own: process.pid, rank: &rank }.awaited(awaited, None);
        let is_full = self.groups.len() >= MOST;
        match self.groups.iter_mut().find(|(known, _)| *known == what) {
            Some((_, group)) => group.add(who),
            None if is_full => {}
            None => {
                let mut group = Group::default();
                group.add(who);
                self.groups.push((what, group));
            }
        }
    }

    pub(super) fn finished(self) -> Vec<StackWait> {
        self.groups.into_iter().map(|(what, group)| StackWait { members: group.finished(), what }).collect()
    }
}
