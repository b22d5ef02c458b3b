//! What an agent says of the ranks of its node: their snapshot, with what is equal for many said once.
//!
//! Each of n ranks has the n members of MPI_COMM_WORLD. They are written once for a node, as runs: a world of 100,000 ranks in a
//! few bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use reason::Reason;
use serde::{Deserialize, Serialize};

use super::{Group, Process, SCHEMA, Snapshot};

/// So many members the groups of all digests have together; another node may say anything.
const MAX_MEMBERS: usize = 1 << 24;

/// Members that follow each other: the world rank of the first, how many there are, and from each to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Run(Option<i64>, usize, i64);

impl Run {
    /// With one more; `None` where it does not follow.
    fn with(self, member: Option<i64>) -> Option<Self> {
        let Self(first, count, step) = self;
        let step = match (first, member) {
            (None, None) => 0,
            (Some(first), Some(next)) if count == 1 => next.checked_sub(first)?,
            (Some(first), Some(next)) => (at(first, count, step) == Some(next)).then_some(step)?,
            _ => return None,
        };
        Some(Self(first, count + 1, step))
    }
}

/// A group of one communicator: of which process, of which of its communicators, and whether it is the remote one; which of the
/// groups it is.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Place(usize, usize, bool, usize);

/// As it is written.
#[derive(Debug, Serialize, Deserialize)]
pub struct Digest<'a> {
    groups: Vec<Vec<Run>>,
    places: Vec<Place>,
    /// Without the groups of its communicators.
    snapshot: Cow<'a, Snapshot>,
}

impl Digest<'static> {
    /// That of a snapshot.
    pub fn of(mut snapshot: Snapshot) -> Self {
        snapshot.share_groups();
        let (mut groups, mut places) = (Vec::new(), Vec::new());
        let mut known: HashMap<*const Option<i64>, usize> = HashMap::new();
        // They are compared by where they stand: so long nothing may be freed.
        let mut held = Vec::new();
        for (process, communicator, remote, slot) in slots(&mut snapshot.processes) {
            let Some(group) = slot.take() else { continue };
            let number = *known.entry(group.as_ptr()).or_insert_with(|| {
                groups.push(runs(&group));
                groups.len() - 1
            });
            held.push(group);
            places.push(Place(process, communicator, remote, number));
        }
        Self { groups, places, snapshot: Cow::Owned(snapshot) }
    }
}

/// Where the groups of communicators are, by process, communicator, and whether it is the remote one.
fn slots(processes: &mut [Process]) -> impl Iterator<Item = (usize, usize, bool, &mut Option<Group>)> {
    processes.iter_mut().enumerate().flat_map(|(process, one)| {
        one.communicators.iter_mut().enumerate().flat_map(move |(communicator, found)| {
            let (local, remote) = (&mut found.group, &mut found.remote_group);
            [(process, communicator, false, local), (process, communicator, true, remote)]
        })
    })
}

fn runs(group: &[Option<i64>]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for member in group {
        match runs.last_mut().and_then(|run| Some((run.with(*member)?, run))) {
            Some((longer, run)) => *run = longer,
            None => runs.push(Run(*member, 1, 0)),
        }
    }
    runs
}

fn at(first: i64, place: usize, step: i64) -> Option<i64> {
    first.checked_add(step.checked_mul(i64::try_from(place).ok()?)?)
}

/// Reads digests of many nodes; what is equal on several is kept once.
#[derive(Debug, Default)]
pub struct Digests {
    known: HashMap<Vec<Run>, Group>,
    members: usize,
}

impl Digests {
    /// The snapshot of a digest.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(&mut self, text: &[u8]) -> Result<Snapshot, Reason> {
        let wrong = |what: String| Reason::new(format!("not a digest of a node: {what}"));
        let digest: Digest = serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
        let mut snapshot = digest.snapshot.into_owned();
        if snapshot.schema != SCHEMA {
            return Err(wrong(format!("its schema is not {SCHEMA}")));
        }
        let groups = digest.groups.into_iter().map(|runs| self.group(runs)).collect::<Result<Vec<_>, _>>()?;
        for Place(process, communicator, remote, number) in digest.places {
            let found = snapshot.processes.get_mut(process).and_then(|one| one.communicators.get_mut(communicator));
            let (Some(found), Some(group)) = (found, groups.get(number)) else {
                return Err(wrong("a group of a communicator that it does not have".to_owned()));
            };
            let slot = if remote { &mut found.remote_group } else { &mut found.group };
            *slot = Some(Arc::clone(group));
        }
        Ok(snapshot)
    }

    fn group(&mut self, runs: Vec<Run>) -> Result<Group, Reason> {
        if let Some(known) = self.known.get(&runs) {
            return Ok(Arc::clone(known));
        }
        let members = runs.iter().fold(self.members, |sum, run| sum.saturating_add(run.1));
        if members > MAX_MEMBERS {
            return Err(Reason::new(format!("the groups of its communicators have more than {MAX_MEMBERS} members")));
        }
        let member = |run: Run| (0..run.1).map(move |place| run.0.and_then(|first| at(first, place, run.2)));
        let group: Group = runs.iter().flat_map(|run| member(*run)).collect::<Vec<_>>().into();
        self.members = members;
        self.known.insert(runs, Arc::clone(&group));
        Ok(group)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Communicator;

    fn with(groups: &[&[Option<i64>]]) -> Snapshot {
        let communicator =
            |group: &&[Option<i64>]| Communicator { group: Some((*group).into()), ..Communicator::default() };
        let process = Process { communicators: groups.iter().map(communicator).collect(), ..Process::default() };
        Snapshot { processes: vec![process.clone(), process], ..Snapshot::default() }
    }

    fn written(snapshot: &Snapshot) -> String {
        serde_json::to_string(&Digest::of(snapshot.clone())).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let group = |members: &[i64]| members.iter().copied().map(Some).collect::<Vec<_>>();
        for members in [
            Vec::new(),
            group(&[7]),
            group(&[0, 1, 2, 3]),
            group(&[9, 7, 5, 5, 5, 4]),
            group(&[0, 2, 1, 3, i64::MAX, i64::MIN]),
            vec![None, None, Some(4), None, Some(0), Some(8), Some(16)],
        ] {
            let mut snapshot = with(&[&members, &[Some(1), Some(0)]]);
            snapshot.processes[1].communicators[0].remote_group = Some(vec![Some(3)].into());
            let mut digests = Digests::default();
            let first = digests.read(written(&snapshot).as_bytes()).unwrap();
            assert!(first == snapshot, "{members:?}");
            let second = digests.read(written(&snapshot).as_bytes()).unwrap();
            let of = |snapshot: &Snapshot| snapshot.processes[1].communicators[0].group.clone().unwrap();
            assert!(Arc::ptr_eq(&of(&first), &of(&second)));
        }
    }

    #[test]
    fn a_large_world_is_short() {
        let world: Vec<Option<i64>> = (0..131_072).map(Some).collect();
        assert!(written(&with(&[&world])).len() < 2_000);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let good = written(&with(&[&[Some(0), Some(1)]]));
        for (text, said) in [
            (String::new(), "EOF"),
            (good.replace("[0,0,false,0]", "[2,0,false,0]"), "does not have"),
            (good.replace("[0,0,false,0]", "[0,1,false,0]"), "does not have"),
            (good.replace("[0,0,false,0]", "[0,0,false,1]"), "does not have"),
            (good.replace("[0,2,1]", "[0,18446744073709551615,1]"), "members"),
            (good.replace(SCHEMA, "another/1"), "schema"),
        ] {
            let error = Digests::default().read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
        // Numbers that are none are not known.
        let text = good.replace("[0,2,1]", "[9223372036854775807,2,1]");
        let read = Digests::default().read(text.as_bytes()).unwrap();
        assert_eq!(*read.processes[0].communicators[0].group.clone().unwrap(), [Some(i64::MAX), None]);
    }
}
