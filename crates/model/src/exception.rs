//! What takes threads off their way: exceptions of Python and C++, signals, and the end of the program.

use serde::{Deserialize, Serialize};

/// An exception, a signal, or the end of a program: of which type, and where it came. What an exception says is the user's data,
/// and not told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Exception {
    /// The name of its type (`ValueError`, `std::runtime_error`), of the signal (`SIGABRT`), or of what ends the program (`exit`,
    /// `ERROR STOP`); empty where it is not known.
    pub name: String,
    /// What became of it.
    pub state: ExceptionState,
    /// The debugger's number of the thread that handles it; null: of none, or not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<i64>,
    /// The program's innermost function through which it came, else the innermost of all.
    pub function: Option<String>,
    /// Its source file.
    pub file: Option<String>,
    /// The line at which it was raised, or called what raised it.
    pub line: Option<i64>,
    /// Of a signal: the function that the program had called when it came, such as `malloc`; null: none, or not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// Of a signal: the function that handles it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
}

/// What became of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ExceptionState {
    /// Its handler runs: `except`, `finally`, the end of a `with`; `catch`.
    #[default]
    Handled,
    /// Nobody handled it, and the program ends.
    Unhandled,
    /// C++: it unwinds the stack, and destructors run.
    Unwinding,
    /// A signal, whose handler runs.
    Signal,
    /// No exception: the program ends itself.
    Ending,
    /// No exception that is known: a Python program has come to its end, and its interpreter with it.
    Ended,
}

/// An exception of ranks that others wait for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RankException {
    /// The ranks that have it (as `Snapshot::rank_of` has them), ascending.
    pub ranks: Vec<i64>,
    /// The exception; no thread is told of it.
    #[serde(flatten)]
    pub exception: Exception,
}
