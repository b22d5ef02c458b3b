//! What the front asks, as one line of JSON.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use model::{HandleKind, RankSet};
use serde::Deserialize;
use session::Designator;
use target::Reason;

/// How long reading may take at most, in seconds.
const MAX_TIMEOUT: f64 = 86_400.0;

/// Between two looks at most so many seconds go by.
const MAX_BETWEEN: f64 = 3_600.0;

/// One look at the ranks of a job.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Its number, which the answers have, too.
    pub look: u64,
    /// Whose job it is: what makes a process look like a rank, its environment, anybody can make up, but not its user.
    pub owner: u32,
    /// Which processes are of the job: variables of their environment, with their values; all ranks where there are none.
    pub job: BTreeMap<String, String>,
    /// The same with several values each: an engine may write one name in several ways. One that is not set is as an
    /// empty one.
    #[serde(default)]
    pub one_of: BTreeMap<String, Vec<String>>,
    /// Variables of the environment that must be as they are here, where they are set here: of nodes that share one /proc.
    #[serde(default)]
    pub same: Vec<String>,
    /// Variables that must not be as they are here: what was started with this agent is no rank.
    #[serde(default)]
    pub other: Vec<String>,
    /// Only these processes and what they have started, as a launcher has written them down; all where there are none.
    #[serde(default)]
    pub pids: Option<HashSet<u32>>,
    /// By which variables launchers tell ranks, in the order in which they count.
    pub families: Vec<Family>,
    /// Only these ranks; all where there are none.
    #[serde(default)]
    pub ranks: Option<RankSet>,
    /// Seconds for which the processes run on first, while it is watched whether they move.
    #[serde(default)]
    pub between: Option<f64>,
    /// What is to be done with them.
    #[serde(default)]
    pub action: Action,
    /// What wraps MPI.
    #[serde(default)]
    pub wrappers: Vec<String>,
    /// How long reading may take, in seconds.
    pub timeout: f64,
}

/// What is to be done with ranks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Action {
    /// Their queues, calls and stacks are read.
    #[default]
    Read,
    /// Only their stacks are.
    Stacks,
    /// The objects behind their handles are.
    Handles {
        /// The kinds, and the values by which people name one; of all kinds where there are none.
        wanted: Vec<(String, Option<String>)>,
    },
    /// They are found, and left alone.
    List,
    /// They are written to one file on this node.
    Record {
        /// The directory of the file, which is made where it is not there.
        directory: PathBuf,
    },
}

/// The variables of one kind of launcher.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// That of the rank.
    pub rank: String,
    /// Of the number of ranks; the first that is set counts.
    #[serde(default)]
    pub size: Vec<String>,
    /// What together names the world.
    #[serde(default)]
    pub world: Vec<String>,
}

impl Asked {
    /// The question of a line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(line: &[u8]) -> Result<Self, Reason> {
        let asked: Self =
            serde_json::from_slice(line).map_err(|error| Reason::new(format!("not a question: {error}")))?;
        if !(asked.timeout > 0.0 && asked.timeout <= MAX_TIMEOUT) {
            return Err(Reason::new("not a question: its timeout is no number of seconds between 0 and 86400"));
        }
        if asked.between.is_some_and(|seconds| !(0.0..=MAX_BETWEEN).contains(&seconds)) {
            return Err(Reason::new("not a question: the time between two looks is at most 3600 seconds"));
        }
        if let Action::Handles { wanted } = &asked.action
            && let Some((word, _)) = wanted.iter().find(|(word, _)| HandleKind::from_word(word).is_none())
        {
            return Err(Reason::new(format!("not a question: no kind of handles is called {word:?}")));
        }
        Ok(asked)
    }

    /// Which objects behind handles are wanted.
    pub fn handles(&self) -> Vec<(HandleKind, Option<Designator>)> {
        match &self.action {
            Action::Handles { wanted } if wanted.is_empty() => HandleKind::listed().map(|kind| (kind, None)).collect(),
            Action::Handles { wanted } => {
                let known = wanted.iter().filter_map(|(word, value)| Some((HandleKind::from_word(word)?, value)));
                known.map(|(kind, value)| (kind, value.as_deref().map(Designator::parse))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// How long reading may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_question_is_refused() {
        let good = r#"{"look":1,"owner":1000,"job":{"SLURM_JOB_ID":"7"},"families":[{"rank":"PMI_RANK"}],"timeout":5}"#;
        assert_eq!(Asked::of(good.as_bytes()).unwrap().look, 1);
        let more = good.replace(":5", r#":5,"action":{"record":{"directory":"/d"}},"ranks":"0-3,7""#);
        let asked = Asked::of(more.as_bytes()).unwrap();
        assert_eq!(asked.action, Action::Record { directory: "/d".into() });
        assert!(asked.ranks.is_some_and(|ranks| ranks.contains(7) && !ranks.contains(4)));
        let more = good.replace(":5", r#":5,"action":{"handles":{"wanted":[["comm","halo"],["request",null]]}}"#);
        let wanted = Asked::of(more.as_bytes()).unwrap().handles();
        assert_eq!(
            wanted,
            [(HandleKind::Comm, Some(Designator::Name("halo".to_owned()))), (HandleKind::Request, None)]
        );
        let all = good.replace(":5", r#":5,"action":{"handles":{"wanted":[]}}"#);
        assert_eq!(Asked::of(all.as_bytes()).unwrap().handles().len(), HandleKind::listed().count());
        let more = good.replace(":5", r#":5,"pids":[7,8,7],"one_of":{"FLUX_JOB_ID":["f1"]}"#);
        let asked = Asked::of(more.as_bytes()).unwrap();
        assert_eq!((asked.pids.map(|pids| pids.len()), asked.one_of.len()), (Some(2), 1));
        for (line, said) in [
            ("", "EOF"),
            ("look", "expected value"),
            (&good.replace("\"7\"", "7"), "invalid type"),
            (&good.replace("\"owner\":1000,", ""), "missing field `owner`"),
            (&good.replace(":5", ":0"), "between 0 and 86400"),
            (&good.replace(":5", ":5,\"between\":-1"), "3600"),
            (&good.replace(":5", ":5,\"run\":\"ls\""), "unknown field"),
            (&good.replace(":5", ":5,\"ranks\":\"all\""), "not a set of ranks"),
            (&good.replace(":5", ":5,\"pids\":[-1]"), "invalid value"),
            (&good.replace(":5", ":5,\"action\":\"run\""), "unknown variant"),
            (&good.replace(":5", ":5,\"action\":{\"record\":{}}"), "missing field"),
            (&good.replace(":5", ":5,\"action\":{\"handles\":{\"wanted\":[[\"x\",null]]}}"), "no kind of handles"),
        ] {
            let reason = Asked::of(line.as_bytes()).unwrap_err().to_string();
            assert!(reason.starts_with("not a question: ") && reason.contains(said), "{line}: {reason}");
        }
    }
}
