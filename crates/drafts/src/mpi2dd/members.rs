//! The ranks of a job, gathered from the tables of all its directories.

use std::collections::HashMap;

use super::info;
use super::processes::{NotOpened, Place, Processes};
use super::report::{Member, Problems, Spawn, State, World};
use super::strings::{Strings, Text};
use super::tables;

/// Processes that are looked at to see whether they are the ones that tables mean.
const MAX_CHECKS: usize = 1 << 16;

/// Claims about the spawn of one world that are kept: two are a contradiction already.
const MAX_SPAWNS: usize = 8;

#[derive(Default)]
pub(super) struct Members {
    worlds: Vec<World>,
    /// The number of each world by its name.
    numbers: HashMap<Option<String>, usize>,
    /// By process: its world and its number in it.
    places: HashMap<Place, (usize, usize)>,
    checks: usize,
}

impl Members {
    /// One entry of the proctable of the process `directory`.
    pub(super) fn add(
        &mut self,
        processes: &dyn Processes,
        directory: &Place,
        index: usize,
        entry: tables::Process,
        problems: &mut Problems,
    ) {
        let mut tell = |what: String| {
            problems.add(format!("{}: entry {index} of its proctable (pid {}): {what}", directory.name(), entry.pid));
        };
        for (field, text) in
            [("host_name", &entry.host), ("executable_name", &entry.executable), ("comm_world_id", &entry.world)]
        {
            if let Some(reason) = text.problem() {
                tell(format!("its {field} is not text: {reason}"));
            }
        }
        let rank = (entry.rank >= 0).then_some(entry.rank);
        if rank.is_none() {
            tell(format!("its rank is {}", entry.rank));
        }
        let known = |text: &Text| text.known().filter(|text| !text.is_empty()).map(ToOwned::to_owned);
        let (host, executable, id) = (known(&entry.host), known(&entry.executable), known(&entry.world));
        if id.is_none() && entry.world.problem().is_none() {
            tell("it has no comm_world_id, so its MPI_COMM_WORLD is not known".to_owned());
        }
        let place = Place::of(processes, host.as_deref(), entry.pid);
        let number = self.world(id);
        if let Some(&(other, place_there)) = self.places.get(&place) {
            let member = &self.worlds[other].members[place_there];
            // Processes may stand in several proctables, which the draft allows; but as one and the same.
            if other != number || member.rank != rank {
                let had = describe(&self.worlds[other].id, member.rank);
                tell(format!(
                    "it is {} here, and {had} in another entry, which stands",
                    describe(&self.worlds[number].id, rank)
                ));
            }
            return;
        }
        let mut member = Member {
            rank,
            pid: entry.pid,
            host,
            executable,
            state: State::Elsewhere,
            directory: (directory.pid, directory.elsewhere.clone()),
            problem: None,
        };
        if let Some(reason) = entry.host.problem() {
            member.state = State::Unknown;
            member.problem = Some(format!("its host is not known: {reason}"));
        } else if place.elsewhere.is_none() {
            self.check(processes, &mut member);
        }
        match entry.spawned {
            Ok(None) => self.worlds[number].started = true,
            Ok(Some(spawn)) => {
                let spawn = Spawn { world: known(&spawn.world), rank: spawn.rank, sequence: spawn.sequence };
                let spawns = &mut self.worlds[number].spawns;
                if !spawns.contains(&spawn) && spawns.len() < MAX_SPAWNS {
                    spawns.push(spawn);
                }
            }
            Err(reason) => tell(reason.into()),
        }
        let members = &mut self.worlds[number].members;
        self.places.insert(place, (number, members.len()));
        members.push(member);
    }

    fn world(&mut self, id: Option<String>) -> usize {
        *self.numbers.entry(id).or_insert_with_key(|id| {
            self.worlds.push(World { id: id.clone(), started: false, spawns: Vec::new(), members: Vec::new() });
            self.worlds.len() - 1
        })
    }

    /// Whether the process of this machine with a member's id is the one that is meant.
    fn check(&mut self, processes: &dyn Processes, member: &mut Member) {
        self.checks += 1;
        let unknown = |reason: String| (State::Unknown, Some(reason));
        (member.state, member.problem) = if self.checks > MAX_CHECKS {
            unknown(format!("it was not looked at: {MAX_CHECKS} processes were before"))
        } else {
            match processes.open(member.pid, member.executable.as_deref()) {
                Err(NotOpened::Ended) => (State::Ended, Some("there is no such process".to_owned())),
                Err(NotOpened::Failed(reason)) => unknown(format!("it cannot be read: {reason}")),
                // Where the table names host and executable and these agree, nothing more is asked of a rank.
                Ok(opened) if opened.agrees && member.host.is_some() && member.executable.is_some() => {
                    member.executable = Some(opened.executable);
                    (State::Here, None)
                }
                Ok(opened) => {
                    let named = member.executable.replace(opened.executable.clone());
                    let differs = match named {
                        Some(named) if !opened.agrees => format!("it runs {}, not {named}", opened.executable),
                        _ => String::new(),
                    };
                    let also =
                        |what: &str| if differs.is_empty() { what.to_owned() } else { format!("{differs}; {what}") };
                    match info::find(&Strings::new(&*opened.target)) {
                        Ok(Some(_)) if differs.is_empty() => (State::Here, None),
                        Ok(Some(_)) => (State::Here, Some(also("as it has MPI2DD_info, it counts all the same"))),
                        Ok(None) => (State::Another, Some(also("it has no MPI2DD_info, so it is another process"))),
                        Err(refused) => unknown(also(&refused.to_string())),
                    }
                }
            }
        };
    }

    /// The worlds, with what contradicts itself told.
    pub(super) fn finish(self, processes: &dyn Processes, problems: &mut Problems) -> Vec<World> {
        for world in &self.worlds {
            let name = world_name(&world.id);
            if usize::from(world.started) + world.spawns.len() > 1 {
                problems.add(format!("{name}: its entries disagree on how it was spawned"));
            }
            for spawn in &world.spawns {
                if spawn.rank < 0 || spawn.sequence < 0 {
                    let (rank, sequence) = (spawn.rank, spawn.sequence);
                    problems.add(format!("{name}: its spawn descriptor names rank {rank} and sequence {sequence}"));
                }
                if spawn.world.is_none() || !self.numbers.contains_key(&spawn.world) {
                    let parent = world_name(&spawn.world);
                    problems.add(format!("{name}: it was spawned by {parent}, which no proctable has that was found"));
                }
            }
            let mut ranks: HashMap<i32, &Member> = HashMap::new();
            for member in &world.members {
                let Some(rank) = member.rank else { continue };
                if let Some(first) = ranks.insert(rank, member) {
                    let place = |member: &Member| Place::of(processes, member.host.as_deref(), member.pid).name();
                    let (one, other) = (place(first), place(member));
                    problems.add(format!("{name}: {one} and {other} are both said to be rank {rank}"));
                }
            }
        }
        self.worlds
    }
}

fn world_name(id: &Option<String>) -> String {
    id.as_ref().map_or_else(|| "a world without comm_world_id".to_owned(), |id| format!("the world {id}"))
}

fn describe(id: &Option<String>, rank: Option<i32>) -> String {
    let rank = rank.map_or_else(|| "a rank that is not known".to_owned(), |rank| format!("rank {rank}"));
    format!("{rank} of {}", world_name(id))
}
