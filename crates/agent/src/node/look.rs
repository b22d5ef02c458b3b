//! What is done with the ranks of a node: they are read, listed, or written to a file.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use model::Snapshot;
use native::host;
use serde_json::{Value, json};
use session::Wrappers;
use target::{printable_path, processes};

use super::find::Rank;
use super::question::{Action, Asked};
use crate::arguments::Command;
use crate::live::Reader;
use crate::output::Output;
use crate::process::{Question, Told};
use crate::refused;

/// What ranks gave.
#[derive(Default)]
pub struct Found {
    /// A snapshot of each.
    pub parts: Vec<Snapshot>,
    /// Those that were recorded.
    pub recorded: Vec<Vec<u8>>,
}

impl Found {
    /// Has a reader do with ranks what is asked.
    pub fn read(&mut self, ranks: &[Rank], asked: &Asked, reader: &mut Reader) {
        let command = match asked.action {
            Action::Record { .. } => Command::Record,
            Action::Stacks => Command::Stacks,
            Action::Handles { .. } => Command::Handles,
            Action::Read | Action::List => Command::Diagnose,
        };
        let wrappers = Wrappers::named(asked.wrappers.iter().cloned());
        let pids: Vec<u32> = ranks.iter().map(|rank| rank.pid).collect();
        let question = Question { command, wrappers, profile: None, handles: asked.handles() };
        let mut answers = reader.read(&pids, &question, asked.timeout());
        for rank in ranks {
            match answers.remove(&rank.pid) {
                Some(Ok(Told::Snapshot(mut snapshot))) => {
                    snapshot.place(i64::from(rank.pid), Some(rank.rank), rank.size, None, None);
                    for history in snapshot.processes.iter_mut().filter_map(|process| process.history.as_mut()) {
                        history.shorten();
                    }
                    self.parts.push(*snapshot);
                }
                Some(Ok(Told::Recorded(bytes, problem))) => {
                    self.recorded.push(bytes);
                    let wrong = problem.map(|problem| format!("{problem}; what could be read of it is recorded"));
                    self.parts.push(placed(rank, wrong));
                }
                Some(Err(failure)) => self.parts.push(placed(rank, Some(failure.in_a_line()))),
                None => {}
            }
        }
    }
}

/// Writes the recording of this node: its place and size, or what is wrong.
pub fn record(directory: &Path, recorded: &[Vec<u8>]) -> Value {
    let name = super::node().or_else(host).unwrap_or_else(|| "node".to_owned());
    let harmless = |letter: char| if letter.is_ascii_alphanumeric() || "_.-".contains(letter) { letter } else { '_' };
    let path = directory.join(format!("{}.mpirec", name.chars().map(harmless).collect::<String>()));
    if recorded.is_empty() {
        return Value::Null;
    }
    let parts: Vec<&[u8]> = recorded.iter().map(Vec::as_slice).collect();
    // One that is there is used; of one that cannot be made the file tells.
    let _ = DirBuilder::new().mode(0o700).create(directory);
    match Output::new(&path).and_then(|output| output.write(&parts)) {
        Ok(()) => {
            let size = fs::metadata(&path).map(|about| about.len()).ok();
            json!({ "path": path.to_string_lossy(), "bytes": size, "processes": parts.len() })
        }
        Err(failure) => json!({ "problem": failure.in_a_line() }),
    }
}

/// A rank that runs, without more of it.
pub fn listed(rank: &Rank) -> Snapshot {
    let mut snapshot = placed(rank, None);
    for process in &mut snapshot.processes {
        process.executable =
            fs::read_link(processes::place(rank.pid).join("exe")).ok().map(|path| printable_path(&path).into());
        process.state = Some(refused::state_word(rank.pid).into());
        process.world_key = rank.world.clone().map(Into::into);
    }
    snapshot
}

/// A rank of which nothing is known but its place, and perhaps what is wrong.
fn placed(rank: &Rank, problem: Option<String>) -> Snapshot {
    let process = model::Process {
        rank: Some(rank.rank),
        world_size: rank.size,
        pid: Some(i64::from(rank.pid)),
        host: host().map(Into::into),
        problems: problem.into_iter().collect(),
        ..model::Process::default()
    };
    Snapshot { processes: vec![process.into()], ..Snapshot::default() }
}
