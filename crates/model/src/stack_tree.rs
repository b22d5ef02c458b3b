//! The stacks of many processes as one tree.

use serde::{Deserialize, Serialize};

use super::process::is_false;
use super::{FrameLanguage, RankSet};

/// Processes: by their ranks, those without by their process ids.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Members {
    /// Ranks (as `Snapshot::rank_of` has them).
    pub ranks: RankSet,
    /// Process ids of those whose rank is not known.
    #[serde(skip_serializing_if = "RankSet::is_empty")]
    pub pids: RankSet,
    /// How many there are of which neither is known.
    #[serde(skip_serializing_if = "is_zero")]
    pub unnamed: u64,
}

impl Members {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty() && self.pids.is_empty() && self.unnamed == 0
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.ranks.len().saturating_add(self.pids.len()).saturating_add(self.unnamed)
    }
}

// As serde calls it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The threads of one number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ThreadMembers {
    /// The debugger's number of the thread.
    pub thread: i64,
    /// Whose thread of that number it is.
    #[serde(flatten)]
    pub members: Members,
}

/// How often in a row stacks have a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repeats {
    /// At least, of all stacks.
    pub least: u64,
    /// At most.
    pub most: u64,
}

/// A frame that stacks have in common, together with all frames that are further out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StackNode {
    /// The place in `StackTree::nodes` of the frame that called it, which stands before it; None: it is outermost.
    pub parent: Option<usize>,
    /// How many frames of the tree are further out.
    pub depth: usize,
    /// Name of the function without parameters; of MPI's as the application calls it. None where it is not known.
    pub function: Option<String>,
    /// Source file as the compiler was given it, where debug information says it; of MPI's functions None.
    pub file: Option<String>,
    /// Line in it at which the stacks stand.
    pub line: Option<i64>,
    /// The language of code that an interpreter runs; None: compiled code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<FrameLanguage>,
    /// The file that the code is from, where the function is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Whether it is a function of MPI; frames inside it are folded away.
    #[serde(skip_serializing_if = "is_false")]
    pub mpi: bool,
    /// Whether what called it is not known: the stacks were not seen to their end.
    #[serde(skip_serializing_if = "is_false")]
    pub incomplete: bool,
    /// How many frames between it and the one that called it are left out, of stacks that are too deep.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Where stacks have the frame several times in a row (a function that calls itself): how often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// Whose stacks pass through it.
    #[serde(flatten)]
    pub members: Members,
    /// Ranks of the tree whose stacks do not pass through it, where these are no more than those that do.
    #[serde(skip_serializing_if = "RankSet::is_empty")]
    pub absent: RankSet,
    /// Whose stacks end here: it is their innermost frame that is not folded away.
    #[serde(skip_serializing_if = "Members::is_empty")]
    pub ends: Members,
    /// The threads whose stacks pass through it, by their numbers; empty where only main threads are in the tree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadMembers>,
}

/// The stacks of many processes as one tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StackTree {
    /// Whether all threads are in it, not the main ones only. Threads of the MPI library and its helpers are not, unless
    /// `internal`.
    pub all_threads: bool,
    /// Whether frames are there that else are folded away: inside MPI, of what wraps MPI, of interpreters, before `main`.
    pub internal: bool,
    /// Whose stacks are in it.
    #[serde(flatten)]
    pub members: Members,
    /// Those of which no stack could be read.
    #[serde(skip_serializing_if = "Members::is_empty")]
    pub not_read: Members,
    /// Those with a stack that was not seen to its outermost frame.
    #[serde(skip_serializing_if = "Members::is_empty")]
    pub incomplete: Members,
    /// Those with a stack whose innermost frames are left out, because the tree would be too large.
    #[serde(skip_serializing_if = "Members::is_empty")]
    pub cut: Members,
    /// What threads of the tree wait for outside MPI, and who has it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<StackWait>,
    /// Each frame after the one that called it, and before what that called further; where several are called by one, the one
    /// that most processes pass through first.
    pub nodes: Vec<StackNode>,
}

/// What threads wait for outside MPI.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StackWait {
    /// Whose threads.
    #[serde(flatten)]
    pub members: Members,
    /// What for, in words: `the lock of history.log, which rank 0 holds`.
    pub what: String,
}
