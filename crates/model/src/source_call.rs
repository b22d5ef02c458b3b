//! Calls of MPI that stand in the source around the place of a thread, and what they tell of its requests.

use serde::{Deserialize, Serialize};

use super::{Argument, Text};

/// A call of MPI in the source of a function that is on a stack. Nobody has seen it run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SourceCall {
    /// The debugger's number of the thread on whose stack its function is.
    pub thread: i64,
    /// The function's name in C.
    pub function: String,
    /// Source file, as `Frame::file` has it.
    pub file: Option<String>,
    /// Line at which the call begins.
    pub line: i64,
    /// The application's function that it stands in.
    pub caller: Option<String>,
    /// What it is given, as far as that is known now: later the variables of the function may have other values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
    /// `Communicator::unique_id` of the communicator that it is given now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub communicator: Option<u64>,
    /// What is known of the request that it returns.
    pub request: RequestObject,
    /// Whether it is told because it may have sent a message before, not for its request.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub sent: bool,
    /// Whether its function is not on the stack: it has returned, if it was called at all.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub elsewhere: bool,
    /// Where it is told because it may have started a collective before: the number of the way through the source on which it
    /// stands. The calls of one way are in order, the last one first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub way: Option<u32>,
    /// Whether it is told because control may come to it yet.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub later: bool,
    /// Whether no other stands before it on its way.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub first: bool,
}

/// How the request of a call in the source has to do with those that the thread's call waits for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RequestObject {
    /// As the source has it, such as `&reqs[i]`.
    pub expression: Option<String>,
    /// Whether it is the same.
    pub same: SameObject,
    /// Its place among those of the thread's call; None: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<i64>,
    /// Whether no other call can have set it, by the source.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub alone: bool,
    /// The handle that it holds now, as its language has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<i64>,
    /// Whether that language is Fortran.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub fortran: bool,
}

/// Whether two expressions name the same object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SameObject {
    /// They do: by their words in one function, or by their address.
    Yes,
    /// They name others.
    No,
    /// Not known.
    #[default]
    Unknown,
}

/// The call that started the operation of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StartedBy {
    /// The function's name in C; of a persistent request that which has made it.
    pub function: String,
    /// Source file of the call, as `Call::file` has it.
    pub file: Option<String>,
    /// Line at which it begins.
    pub line: Option<i64>,
    /// The application's function that it stands in.
    pub caller: Option<String>,
    /// The request, as the source has it: `&reqs[1]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Of a collective with a root: the one that the call would be given now; null: not known, or it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<i64>,
    /// Whether no other call comes into question.
    pub certain: bool,
    /// What it follows from.
    pub how: StartedHow,
}

/// What tells who started a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StartedHow {
    /// The source: the same object is given to both calls.
    #[default]
    Source,
    /// The variable that is given to the call holds this request now.
    Handle,
    /// The source has such a call in a function on the stack, and what the library keeps fits it.
    Facts,
    /// The flight recorder has seen the call.
    Recorder,
}

/// A call in the source that may have sent a message before, or may send one yet: in a function on a stack, or in another one of
/// the same source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Sender {
    /// The function's name in C.
    pub function: Text,
    /// Source file of the call, as `Call::file` has it.
    pub file: Option<Text>,
    /// Line at which it begins.
    pub line: i64,
    /// The application's function that it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<Text>,
    /// The destination that it would be given now: a rank in the communicator; null: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dest: Option<i64>,
    /// The tag that it would be given now; null: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<i64>,
    /// `Communicator::unique_id` of the communicator that it would be given now; null: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub communicator: Option<u64>,
    /// Whether its function is not on the stack: it has returned, if it was called at all.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub elsewhere: bool,
}

/// A call in the source that may have started a non-blocking collective before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EarlierCollective {
    /// The number of the way on which control may have come by it. Those of one way are in order, the last one first.
    pub way: u32,
    /// Whether there was none before it on this way, by the source.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub first: bool,
    /// The function's name in C.
    pub function: String,
    /// Source file of the call, as `Call::file` has it.
    pub file: Option<String>,
    /// Line at which it begins.
    pub line: i64,
    /// The application's function that it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// `Communicator::unique_id` of the communicator that it would be given now; null: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub communicator: Option<u64>,
    /// The root that it would be given now; null: not known, or it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<i64>,
}

/// A call that started an operation or sent a message, of one rank.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RankStart {
    /// The rank (as `Snapshot::rank_of` has it).
    pub rank: Option<i64>,
    /// Its call.
    #[serde(flatten)]
    pub started: StartedBy,
}
