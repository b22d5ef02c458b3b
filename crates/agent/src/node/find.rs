//! The ranks of a job on this node, by the environment of processes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;

use model::RankSet;
use native::{Environment, status};
use target::processes;

use super::question::{Asked, Family};
use crate::users;

/// So many processes of a job that may not be looked at are named.
const MAX_NAMED: usize = 5;

/// What the system began with is no rank.
const INIT: u32 = 1;

/// So many processes above one are looked at.
const MAX_DEPTH: usize = 64;

/// One rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rank {
    /// Its process.
    pub pid: u32,
    /// In its world.
    pub rank: i64,
    /// Of its world, where the launcher tells.
    pub size: Option<i64>,
    /// What the launcher calls its world, where it does.
    pub world: Option<String>,
}

/// A process that a launcher has started as a rank, or what that has started.
struct Candidate {
    rank: Rank,
    /// The variable that tells the rank.
    variable: String,
    parent: u32,
    /// Whether it has the variables of the job, also those that may be missing.
    is_numbered: bool,
}

type Variables = HashMap<String, String>;

/// What there is of a job on this node.
pub struct Found {
    /// Its ranks.
    pub ranks: Vec<Rank>,
    /// Processes of the user that may be ranks: their environment may not be read.
    pub denied: Vec<u32>,
    /// Those that say to be ranks, and are somebody else's.
    left_out: Vec<OfOther>,
    /// Whose the job is.
    owner: u32,
}

/// A process that would be a rank if it were its user's.
struct OfOther {
    pid: u32,
    rank: i64,
    users: [u32; 3],
}

impl Found {
    /// What is to be told of how they were found, in a sentence.
    pub fn problem(&self) -> Option<String> {
        // Where ranks were found, what may not be looked at is something else of the user's.
        if !self.ranks.is_empty() || self.denied.is_empty() {
            return None;
        }
        let named: Vec<String> = self.denied.iter().take(MAX_NAMED).map(u32::to_string).collect();
        let (count, named) = (self.denied.len(), named.join(", "));
        Some(format!("the environment of {count} processes may not be read, among them {named}"))
    }

    /// What is told of processes of other users, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let (host, owner) = (native::host().unwrap_or_default(), users::named(self.owner));
        let named = |one: &OfOther| {
            let other = one.users.iter().find(|user| **user != self.owner).copied().unwrap_or_default();
            // With the user's name a set-user-id program does what its owner may do.
            let whose = if one.users[0] == self.owner { "with the rights of" } else { "of" };
            let (pid, rank, other) = (one.pid, one.rank, users::named(other));
            format!(
                "on {host} pid {pid} {whose} {other} says that it is rank {rank}, and is left out: the job is {owner}'s"
            )
        };
        let more = self.left_out.len().saturating_sub(MAX_NAMED);
        let said =
            (more > 0).then(|| format!("on {host} {more} more processes of other users than the job's are left out"));
        self.left_out.iter().take(MAX_NAMED).map(named).chain(said).collect()
    }
}

/// The ranks of a job.
pub fn ranks(asked: &Asked) -> Found {
    let own: Variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let user = status(std::process::id()).map(|status| status.user);
    let (mut found, mut denied, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for pid in pids() {
        if [std::process::id(), INIT].contains(&pid) {
            continue;
        }
        let Some(users) = status(pid).and_then(|status| status.users) else { continue };
        // Root may look at the processes of all; a user at his own.
        if user != Some(0) && user != Some(users[1]) {
            continue;
        }
        if asked.pids.as_ref().is_some_and(|named| !is_below(pid, named)) {
            continue;
        }
        match environment(pid) {
            Some(environment) => match candidate(pid, &environment, &own, asked) {
                Some(one) if !is_of(users, asked.owner) => left_out.push(OfOther { pid, rank: one.rank.rank, users }),
                one => found.extend(one),
            },
            None if is_of(users, asked.owner) && !processes::has_ended(pid) && has_program(pid) => {
                denied.push(pid);
            }
            None => {}
        }
    }
    Found { ranks: chosen(numbered(found), asked.ranks.as_ref()), denied, left_out, owner: asked.owner }
}

/// Those that have the number of the job where some have it; else all: their launcher has handed on none.
fn numbered(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    if candidates.iter().any(|one| one.is_numbered) {
        candidates.retain(|one| one.is_numbered);
    }
    candidates
}

/// Whether a process has the rights of this user and of nobody else.
fn is_of(users: [u32; 3], owner: u32) -> bool {
    users == [owner; 3]
}

/// Threads of the kernel run none.
fn has_program(pid: u32) -> bool {
    fs::read_link(processes::place(pid).join("exe")).err().is_none_or(|error| error.kind() != ErrorKind::NotFound)
}

fn pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    pids
}

/// The environment with which a process was started. `None`: it may not be read.
fn environment(pid: u32) -> Option<Variables> {
    let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    Some(Environment::of(pid)?.pairs().map(pair).collect())
}

/// Whether a process is one of those that are named, or has been started by one.
fn is_below(pid: u32, named: &HashSet<u32>) -> bool {
    let above = |pid: &u32| status(*pid).map(|status| status.parent);
    std::iter::successors(Some(pid), above).take(MAX_DEPTH).any(|one| named.contains(&one))
}

fn candidate(pid: u32, environment: &Variables, own: &Variables, asked: &Asked) -> Option<Candidate> {
    let written = |(name, values): (&String, &Vec<String>)| {
        let one = environment.get(name).map_or("", String::as_str);
        values.iter().any(|value| value == one)
    };
    let of_job =
        asked.job.iter().all(|(name, value)| environment.get(name) == Some(value)) && asked.one_of.iter().all(written);
    let here = asked.same.iter().all(|name| own.get(name).is_none_or(|value| environment.get(name) == Some(value)));
    let with_us = |name: &String| own.contains_key(name) && environment.get(name) == own.get(name);
    let ours = !asked.other.is_empty() && asked.other.iter().all(with_us);
    if !of_job || !here || ours {
        return None;
    }
    let status = status(pid).filter(|_| !processes::has_ended(pid))?;
    let (family, rank, size) = asked.families.iter().find_map(|family| identity(family, environment))?;
    let names: Option<Vec<&str>> = family.world.iter().map(|name| environment.get(name).map(String::as_str)).collect();
    let world = names.filter(|names| !names.is_empty()).map(|names| names.join("."));
    let is_numbered = asked.one_of.keys().all(|name| environment.contains_key(name));
    let (rank, variable) = (Rank { pid, rank, size, world }, family.rank.clone());
    Some(Candidate { rank, variable, parent: status.parent, is_numbered })
}

fn identity<'a>(family: &'a Family, environment: &Variables) -> Option<(&'a Family, i64, Option<i64>)> {
    let number =
        |name: &String| environment.get(name)?.parse::<i64>().ok().filter(|number| (0..1 << 31).contains(number));
    let rank = number(&family.rank)?;
    if !family.world.iter().all(|name| environment.contains_key(name)) {
        return None;
    }
    let size = family.size.iter().find_map(number);
    size.is_none_or(|size| rank < size).then_some((family, rank, size))
}

/// One process for each rank: a script, a debugger or `sh -c` may stand above it, and what it has started below.
fn chosen(candidates: Vec<Candidate>, wanted: Option<&RankSet>) -> Vec<Rank> {
    let mut by_rank: BTreeMap<(String, Option<String>, i64), Vec<Candidate>> = BTreeMap::new();
    for one in candidates {
        if wanted.is_none_or(|wanted| wanted.contains(one.rank.rank)) {
            let key = (one.variable.clone(), one.rank.world.clone(), one.rank.rank);
            by_rank.entry(key).or_default().push(one);
        }
    }
    let mut ranks = Vec::new();
    for several in by_rank.into_values() {
        let with_mpi: Vec<&Candidate> = several.iter().filter(|one| has_mpi(one.rank.pid)).collect();
        // The topmost of those that use MPI.
        let pids: Vec<u32> = with_mpi.iter().map(|one| one.rank.pid).collect();
        let top = with_mpi.iter().find(|one| !pids.contains(&one.parent));
        // A batch system calls everything that it starts a rank.
        let launched = |one: &&Candidate| one.variable != "SLURM_PROCID";
        ranks.extend(top.copied().or_else(|| several.last().filter(launched)).map(|one| one.rank.clone()));
    }
    ranks.sort_by_key(|rank| (rank.rank, rank.pid));
    ranks
}

/// Whether an MPI library is among what a process has mapped.
fn has_mpi(pid: u32) -> bool {
    let Ok(maps) = fs::read(processes::place(pid).join("maps")) else { return false };
    let name = |line: &[u8]| {
        let name = line.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        // The launcher may have our flight recorder as well, and what it starts.
        name.starts_with(b"libmpi") && !name.starts_with(b"libmpi_queues_")
    };
    maps.split(|byte| *byte == b'\n').filter(|line| line.contains(&b'/')).any(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_users_own_processes_are_ranks() {
        for (users, is_rank) in [
            ([1000, 1000, 1000], true),
            ([2000, 2000, 2000], false),
            ([0, 0, 0], false),
            // A set-user-id program, one that may return, one of another who has the rights.
            ([1000, 0, 0], false),
            ([1000, 1000, 0], false),
            ([2000, 1000, 1000], false),
        ] {
            assert_eq!(is_of(users, 1000), is_rank, "{users:?}");
        }
        let left_out = (1..8).map(|pid| OfOther { pid, rank: 0, users: [61_234; 3] }).collect();
        let found = Found { ranks: Vec::new(), denied: Vec::new(), left_out, owner: 0 };
        let notes = found.notes();
        let first = "pid 1 of uid 61234 says that it is rank 0, and is left out: the job is root (uid 0)'s";
        assert!(notes.len() == MAX_NAMED + 1 && notes[0].ends_with(first), "{notes:?}");
        assert!(notes[MAX_NAMED].ends_with("2 more processes of other users than the job's are left out"), "{notes:?}");
    }

    #[test]
    fn a_number_that_may_be_missing_is_as_an_empty_one() {
        let found = |values: &str, variables: &[(&str, &str)]| {
            let families = r#""families":[{"rank":"PMI_RANK"}]"#;
            let line = format!(
                r#"{{"look":1,"owner":0,"job":{{}},"one_of":{{"PBS_JOBID":[{values}]}},{families},"timeout":5}}"#
            );
            let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            candidate(std::process::id(), &environment, &Variables::new(), &Asked::of(line.as_bytes()).ok()?)
        };
        let (with, without) = ([("PMI_RANK", "0"), ("PBS_JOBID", "7.a")], [("PMI_RANK", "1")]);
        let one = found(r#""7.a","""#, &with);
        let other = found(r#""7.a","""#, &without);
        assert!(found(r#""8.a","""#, &with).is_none() && found(r#""7.a""#, &without).is_none());
        let ranks = |candidates: Vec<Option<Candidate>>| -> Vec<i64> {
            numbered(candidates.into_iter().flatten().collect()).iter().map(|one| one.rank.rank).collect()
        };
        assert_eq!(ranks(vec![other, one]), [0]);
        let other = found(r#""7.a","""#, &without);
        assert_eq!(ranks(vec![other]), [1]);
    }

    #[test]
    fn a_process_is_below_itself_and_those_above_it() {
        let own = std::process::id();
        assert!(is_below(own, &HashSet::from([own])));
        assert!(is_below(own, &status(own).map(|status| status.parent).into_iter().collect()));
        assert!(!is_below(own, &HashSet::from([u32::MAX])) && !is_below(own, &HashSet::new()));
        assert!(!is_below(u32::MAX, &HashSet::from([own])));
    }
}
