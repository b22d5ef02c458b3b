//! Exceptions of Python programs.

use serde::{Deserialize, Serialize};

/// An exception of Python: of which type, and where it was raised. What it says is the user's data, and not told.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PythonException {
    /// The name of its type: `ValueError`.
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
}

/// What became of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ExceptionState {
    /// Its handler runs: `except`, `finally`, or the end of a `with`.
    #[default]
    Handled,
    /// Nobody handled it, and the program ends.
    Unhandled,
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
    pub exception: PythonException,
}
