//! Worlds: what one MPI_COMM_WORLD has, where a job has several.

use serde::{Deserialize, Serialize};

/// One world of a job: the processes that one command, or one MPI_Comm_spawn, started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct World {
    /// Its number in the job, from 0.
    pub number: i64,
    /// What the MPI library calls it (`Process::world_key`); `None` where none of its processes said.
    pub key: Option<String>,
    /// What the launcher calls it.
    pub name: Option<String>,
    /// Number of its processes.
    pub size: Option<i64>,
    /// Place of its rank 0 in the universe of all processes; `None` where the size of a world before it is not known.
    pub first: Option<i64>,
    /// Number of the world that spawned it; `None` for one that a command started, or where that is not known.
    pub parent: Option<i64>,
}

/// Neighbouring members of a group who are of another world than the process that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Elsewhere {
    /// Whether they are in the remote group of an intercommunicator.
    pub remote: bool,
    /// Rank of the first of them in the group.
    pub local_rank: i64,
    /// How many they are, with ranks that follow one another in both.
    pub count: i64,
    /// What the MPI library calls their world.
    pub world_key: String,
    /// The first one's rank in the MPI_COMM_WORLD of that world.
    pub rank: i64,
}

/// More runs than this are damage; of the members after them it is not known who they are.
const MAX_RUNS: usize = 1 << 16;

impl Elsewhere {
    /// The members of a group that are of other worlds, given each one's rank in the group, world and rank there.
    pub fn runs(remote: bool, members: impl IntoIterator<Item = (i64, String, i64)>) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        for (local_rank, world, rank) in members {
            let full = runs.len() >= MAX_RUNS;
            match runs.last_mut() {
                Some(run)
                    if run.world_key == world
                        && run.local_rank.checked_add(run.count) == Some(local_rank)
                        && run.rank.checked_add(run.count) == Some(rank) =>
                {
                    run.count += 1;
                }
                _ if full => break,
                _ => runs.push(Self { remote, local_rank, count: 1, world_key: world, rank }),
            }
        }
        runs
    }

    /// The rank in its world of the member that has `local_rank` in the group, where it is one of these.
    pub fn rank_of(&self, local_rank: i64) -> Option<i64> {
        let distance = local_rank.checked_sub(self.local_rank)?;
        if (0..self.count).contains(&distance) { self.rank.checked_add(distance) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_world_are_one_entry() {
        let member = |local: i64, world: &str, rank: i64| (local, world.to_owned(), rank);
        let runs = Elsewhere::runs(
            true,
            [member(0, "a", 4), member(1, "a", 5), member(2, "a", 7), member(3, "b", 8), member(5, "b", 9)],
        );
        let told: Vec<_> =
            runs.iter().map(|run| (run.local_rank, run.count, run.world_key.as_str(), run.rank)).collect();
        assert_eq!(told, [(0, 2, "a", 4), (2, 1, "a", 7), (3, 1, "b", 8), (5, 1, "b", 9)]);
        assert_eq!((runs[0].rank_of(1), runs[0].rank_of(2), runs[3].rank_of(4)), (Some(5), None, None));
    }

    #[test]
    fn what_a_hostile_file_says_does_not_overflow() {
        let run = Elsewhere { local_rank: i64::MIN, count: i64::MAX, rank: i64::MAX, ..Elsewhere::default() };
        assert_eq!(
            (run.rank_of(i64::MAX), run.rank_of(i64::MIN + 1), run.rank_of(i64::MIN)),
            (None, None, Some(i64::MAX))
        );
    }
}
