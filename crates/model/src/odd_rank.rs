//! Why a rank is told as an odd one: what it has that nearly all others have not.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where ranks stand.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Standing {
    /// The function of MPI that they are in; None: they are outside MPI.
    pub function: Option<String>,
    /// The application's innermost function.
    pub caller: Option<String>,
    /// Its source file.
    pub file: Option<String>,
    /// The line at which it is.
    pub line: Option<i64>,
    /// Whether they have ended, or are past MPI_Finalize.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub finished: bool,
}

impl Standing {
    /// The same without the line, which a table may tell.
    pub fn without_line(&self) -> Self {
        Self { file: None, line: None, ..self.clone() }
    }
}

impl fmt::Display for Standing {
    /// After a rank and "is": `in MPI_Recv, called by exchange at halo.c:40`, `outside MPI, in work at w.c:7`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let caller = self.caller.as_deref().filter(|name| !name.is_empty());
        match (&self.function, self.finished) {
            (_, true) => return out.write_str("past its end"),
            (Some(function), _) => write!(out, "in {function}")?,
            (None, _) => out.write_str("outside MPI")?,
        }
        match (caller, &self.function) {
            (Some(caller), Some(_)) => write!(out, ", called by {caller}")?,
            (Some(caller), None) => write!(out, ", in {caller}")?,
            (None, _) => {}
        }
        let file = self.file.as_deref().and_then(|file| file.rsplit('/').next()).filter(|name| !name.is_empty());
        match (file, self.line) {
            (Some(file), Some(line)) => write!(out, " at {file}:{line}"),
            _ => Ok(()),
        }
    }
}

/// What ranks have that nearly all others have not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "what", rename_all = "lowercase")]
pub enum OddReason {
    /// They stand elsewhere.
    Elsewhere {
        /// Where they stand.
        own: Standing,
        /// Where most of the others stand.
        others: Standing,
        /// How many others stand just there.
        number: u64,
        /// The innermost function that their stacks have in common with those; None: there is none.
        parted_in: Option<String>,
    },
    /// They have begun fewer non-blocking collectives of a communicator than the others.
    Behind {
        /// The communicator's name.
        communicator: String,
        /// The number of the next one there (`Communicator::next_sequence`).
        own: i64,
        /// Of the others.
        others: i64,
    },
    /// They went on between two looks, and the others stood still.
    Moved {
        /// How many others stood still.
        still: u64,
    },
}

impl fmt::Display for OddReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elsewhere { own, others, number, parted_in } => {
                write!(out, "It is {own}; {number} others are {others}")?;
                match parted_in {
                    Some(function) => write!(out, "; their stacks part in {function}."),
                    None => out.write_str("."),
                }
            }
            Self::Behind { communicator, own, others } => {
                let name = match communicator.as_str() {
                    "" => "a communicator without a name".to_owned(),
                    name if name.starts_with("MPI_COMM_") => name.to_owned(),
                    name => format!("\"{name}\""),
                };
                write!(out, "Its next non-blocking collective on {name} is number {own}, that of the others {others}.")
            }
            Self::Moved { still } => write!(out, "It went on between the two looks; {still} others stood still."),
        }
    }
}
