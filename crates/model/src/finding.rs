//! What follows from a snapshot: why a job is stuck.

use serde::{Deserialize, Serialize};

use super::{Call, OddReason, RankException, RankStart};

/// Declares the kinds, and a list of all.
macro_rules! kinds {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$attribute:meta])* $kind:ident,)* }) => {
        $(#[$about])*
        pub enum $name { $($(#[$attribute])* $kind,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];
        }
    };
}

kinds! {
/// What kind of thing was found. The words are those of the JSON and of docs/diagnosis.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FindingKind {
    /// Ranks wait for one another, and none of them can ever go on.
    #[default]
    #[serde(rename = "deadlock")]
    Deadlock,
    /// Ranks wait for one that has finished, exited or aborted.
    #[serde(rename = "finished rank")]
    FinishedRank,
    /// Ranks wait for one that stands outside MPI in something that may never end: a lock, a stopped process.
    #[serde(rename = "stuck outside MPI")]
    StuckOutside,
    /// Ranks wait for one that computes, sleeps, or waits for input. Whether that waits for them in turn is not known.
    #[serde(rename = "slow rank")]
    SlowRank,
    /// A rank polls (MPI_Test, MPI_Iprobe) for what nobody will send.
    #[serde(rename = "polling")]
    Polling,
    /// A message is there, and a receive waits, but the tags differ.
    #[serde(rename = "tag mismatch")]
    TagMismatch,
    /// The same, but the communicators differ.
    #[serde(rename = "communicator mismatch")]
    CommunicatorMismatch,
    /// The same, but it comes from another rank than the receive asks for, or was sent to another rank.
    #[serde(rename = "rank mismatch")]
    RankMismatch,
    /// A message is longer than the receive that takes it.
    #[serde(rename = "truncation")]
    Truncation,
    /// Sender and receiver, or members of a collective operation, do not agree on the number of bytes or elements, where that is
    /// no truncation.
    #[serde(rename = "count mismatch")]
    CountMismatch,
    /// Sender and receiver, or members of a collective operation, do not agree on the datatype.
    #[serde(rename = "datatype mismatch")]
    DatatypeMismatch,
    /// Members of a communicator stand in different collective operations of it.
    #[serde(rename = "collective mismatch")]
    CollectiveMismatch,
    /// They stand in the same one, with different roots (or other arguments that must be equal).
    #[serde(rename = "root mismatch")]
    RootMismatch,
    /// They stand in the same one, or did, with different operators.
    #[serde(rename = "operator mismatch")]
    OperatorMismatch,
    /// Members of a communicator do not take part in a collective operation in which the others wait.
    #[serde(rename = "missing in collective")]
    MissingInCollective,
    /// A send that nobody receives.
    #[serde(rename = "unmatched send")]
    UnmatchedSend,
    /// A receive to which nobody sends.
    #[serde(rename = "unmatched receive")]
    UnmatchedReceive,
    /// A persistent or partitioned request that was made and never started (or a partition that was never marked ready).
    #[serde(rename = "never started")]
    NeverStarted,
    /// Requests that nobody waits for or tests, though they are complete, or pile up.
    #[serde(rename = "never completed")]
    NeverCompleted,
    /// Many messages pile up that nobody receives.
    #[serde(rename = "unexpected flood")]
    UnexpectedFlood,
    /// One-sided epochs wait for each other, or for one that was never opened or closed.
    #[serde(rename = "one-sided epochs")]
    OneSidedEpochs,
    /// Ranks are not where nearly all others are, or behind them, where nothing else tells the cause: never certain.
    #[serde(rename = "odd rank")]
    OddRank,
}
}

impl FindingKind {
    /// Whether such a finding says that ranks never go on.
    pub const fn is_stuck(self) -> bool {
        matches!(self, Self::Deadlock | Self::FinishedRank | Self::Polling)
    }

    /// Whether such a finding says that a message and a receive do not fit.
    pub const fn is_misfit(self) -> bool {
        matches!(self, Self::TagMismatch | Self::CommunicatorMismatch | Self::RankMismatch)
    }

    /// Whether such a finding says for what ranks wait that may go on.
    pub const fn is_wait(self) -> bool {
        matches!(self, Self::SlowRank | Self::StuckOutside)
    }
}

/// A call of a rank that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RankCall {
    /// The rank (as `Snapshot::rank_of` has it).
    pub rank: Option<i64>,
    /// Where it stands. The function is empty where it is not inside MPI; file, line and caller then say where it is.
    #[serde(flatten)]
    pub call: Call,
    /// What it waits for there, in words: `rank 1 to send tag 17 on "halo"`.
    pub waits_for: Option<String>,
}

/// A call that a person has to look at, or to change, because of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Blamed {
    /// The ranks that made it (as `Snapshot::rank_of` has them), ascending.
    pub ranks: Vec<i64>,
    /// The MPI function by its name in C: the call in which they stand, or the one that started what they wait for or sent
    /// the message. Empty where it is a place outside MPI.
    pub function: String,
    /// Source file, as `Frame::file` has it.
    pub file: Option<String>,
    /// Line.
    pub line: Option<i64>,
    /// The application's function.
    pub caller: Option<String>,
    /// Whether it is this call: of what was started or sent, several may come into question.
    pub certain: bool,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Finding {
    /// What kind of thing.
    pub kind: FindingKind,
    /// One sentence that names ranks, and what is wrong; where that is not certain it begins with "perhaps".
    pub summary: String,
    /// The ranks it is about, as `Snapshot.rank` takes them; of a cycle in the order in which they wait for one
    /// another, else ascending.
    pub ranks: Vec<i64>,
    /// Where these stand; for many ranks at the same place some of them.
    pub calls: Vec<RankCall>,
    /// Calls that started the operations, or sent the messages, that it is about; of one operation several where none is certain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub started_by: Vec<RankStart>,
    /// Of an odd rank: what it has that nearly all others have not, the strongest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub odd: Vec<OddReason>,
    /// Exceptions, signals and ends of programs of the ranks that others wait for, which may be why they wait.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<RankException>,
    /// The calls to look at or to change, those most to blame first; of many places some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blamed: Vec<Blamed>,
    /// Of the finding that is told first: the ranks that can never go on because of it, directly or through others, beside
    /// those that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<i64>,
    /// Whether it follows from the finding that is told first: who mends that one need not mind this one.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub consequence: bool,
    /// Whether it follows from what was read; else it is possible, and `evidence` says what is not known.
    pub certain: bool,
    /// What it follows from, in sentences, the strongest first; and what is not known where it is not certain.
    pub evidence: Vec<String>,
    /// What to change, and where, in a sentence or two; None only in a JSON of an earlier version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// What is said of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Some ranks can never go on.
    Deadlock,
    /// Some ranks can perhaps never go on; a second look, or what could not be read, would tell.
    Suspect,
    /// Ranks wait for others that are still at work.
    Waiting,
    /// Nobody waits for long, or messages are on their way.
    Running,
    /// Too little could be read.
    #[default]
    Unknown,
}

/// How far a rank moved between two looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Motion {
    /// Nothing moved.
    Stuck,
    /// It is where it was, and something of it moved.
    Slow,
    /// It goes in and out of MPI and gets nowhere.
    Spinning,
    /// It went on.
    Moved,
    /// Not known.
    #[default]
    Unknown,
}

/// How one rank was seen to move between two looks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RankMovement {
    /// The rank (as `Snapshot::rank_of` has it).
    pub rank: Option<i64>,
    /// How far.
    pub state: Motion,
    /// What moved, or why nothing is known, in sentences.
    pub how: Vec<String>,
}

/// What kind of thing limits a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Ranks were not read.
    #[default]
    NotRead,
    /// Where ranks stand is not known.
    PlaceUnknown,
    /// What ranks wait for is not known, or not for certain.
    WaitUnknown,
    /// Queues of ranks could not be read.
    QueuesNotRead,
    /// Stacks of ranks were not seen to their end.
    StacksNotRead,
    /// Communicators could not be told apart.
    CommunicatorsAlike,
    /// Ranks could not be compared with the earlier look.
    NotCompared,
    /// The application has no debug information where ranks stand.
    NoDebugInformation,
}

/// What limits a diagnosis: the sentence at the same place of [`Verdict::limits`] says it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Limit {
    /// What kind of thing.
    pub kind: LimitKind,
    /// The ranks it is about (as `Snapshot::rank_of` has them); empty where it is about a communicator.
    pub ranks: Vec<i64>,
}

/// The diagnosis of a snapshot, beside its findings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Verdict {
    /// What is said of the whole.
    pub state: State,
    /// What is said of the whole, in a sentence.
    pub headline: String,
    /// The place of the finding whose claim the headline tells, from 0; None where it tells none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<usize>,
    /// What limits it, in sentences: ranks that could not be read, communicators that could not be told apart, queues
    /// without information.
    pub limits: Vec<String>,
    /// Of what kind the limits are, in the same order; empty in an older JSON.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limited_by: Vec<Limit>,
    /// Time between two looks in milliseconds; None for a single one, or where it is not known.
    pub interval_ms: Option<u64>,
    /// The ranks that may be in a live lock: messages went between them, and nothing else of the job changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub live_lock: Vec<i64>,
    /// How ranks moved between two looks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub movement: Vec<RankMovement>,
}

impl Verdict {
    /// The place of the finding by which some ranks can never go on: for certain, or perhaps.
    pub fn stuck(findings: &[Finding], certain: bool) -> Option<usize> {
        findings.iter().position(|finding| finding.certain == certain && finding.kind.is_stuck())
    }

    /// The place of the finding by which ranks wait for others that may go on.
    pub fn wait(findings: &[Finding]) -> Option<usize> {
        findings.iter().position(|finding| finding.kind.is_wait())
    }
}
