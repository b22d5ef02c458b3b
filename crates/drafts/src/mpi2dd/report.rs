//! What a walk through the directories of a job has found, as it goes to Python.

use serde::Serialize;

use super::info::Info;

/// More problems are counted, not told one by one.
const MAX_PROBLEMS: usize = 100;

/// A job as its directories tell it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What the process says of itself at which the walk began.
    pub info: Info,
    /// Starters, directories and metadirectories in the order in which they were found; the first is where the walk began,
    /// whatever it is.
    pub directories: Vec<Directory>,
    /// The worlds in the order in which they were found.
    pub worlds: Vec<World>,
    /// What is wrong with it, in sentences.
    pub problems: Vec<String>,
}

/// What is known of a process that a table names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is a process of this machine, and the one that is meant.
    Here,
    /// It is on another host.
    Elsewhere,
    /// There is no such process (any more).
    Ended,
    /// There is a process of this id, and it is another one.
    Another,
    /// It is on this machine, and what it is cannot be found out.
    Unknown,
}

/// A process that tells of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Directory {
    /// Process id on its host.
    pub pid: i32,
    /// Its host as the table says; `None` where the walk began, or where no table says it.
    pub host: Option<String>,
    /// Its executable: as the kernel says, where it is here, else as the table says.
    pub executable: Option<String>,
    /// What is known of it.
    pub state: State,
    /// What it says of itself, where it could be read.
    pub info: Option<Info>,
}

/// One MPI_COMM_WORLD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct World {
    /// What names it in the job; `None` for processes of which no table says it.
    pub id: Option<String>,
    /// Whether an entry says that a starter made it.
    pub started: bool,
    /// What entries say of its spawn. More than one, or one beside `started`, contradict each other.
    pub spawns: Vec<Spawn>,
    /// Its processes in the order in which they were found.
    pub members: Vec<Member>,
}

/// Who spawned a world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Spawn {
    /// The world of that process; `None` where it is not told.
    pub world: Option<String>,
    /// Its rank there.
    pub rank: i32,
    /// The spawn's place among those of that process, from 0.
    pub sequence: i32,
}

/// One rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Member {
    /// Its rank; `None` where the table has a negative number.
    pub rank: Option<i32>,
    /// Process id on its host.
    pub pid: i32,
    /// Its host as the table says; `None` where it does not.
    pub host: Option<String>,
    /// Its executable: as the kernel says, where it is here, else as the table says.
    pub executable: Option<String>,
    /// What is known of it.
    pub state: State,
    /// The process in whose table it stands: process id and host of that.
    pub directory: (i32, Option<String>),
    /// What is wrong with it, in a sentence.
    pub problem: Option<String>,
}

/// Sentences, each once, and not without bound.
#[derive(Debug, Default)]
pub(super) struct Problems {
    told: Vec<String>,
    more: usize,
}

impl Problems {
    pub(super) fn add(&mut self, sentence: String) {
        if self.told.len() >= MAX_PROBLEMS {
            self.more += 1;
        } else if !self.told.contains(&sentence) {
            self.told.push(sentence);
        }
    }

    pub(super) fn into_sentences(mut self) -> Vec<String> {
        if self.more > 0 {
            self.told.push(format!("and {} more problems", self.more));
        }
        self.told
    }
}
