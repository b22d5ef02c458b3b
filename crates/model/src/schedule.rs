//! What a library has planned for a non-blocking or persistent collective.

use serde::{Deserialize, Serialize};

/// The plan of one process for one collective: what it sends and receives until it is complete, with what is done already.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Schedule {
    /// The functions that make such a plan, by all algorithms of the library: it was one of these. Empty: not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<PossibleFunction>,
    /// The messages that it sends to members, by peers; null: not known, or too many to be told.
    pub sends: Option<Vec<PlannedMessages>>,
    /// The messages that it receives from members, by peers; null: not known, or too many to be told.
    pub receives: Option<Vec<PlannedMessages>>,
}

/// A function that may have made a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PossibleFunction {
    /// Its name: `MPI_Ibcast`.
    pub function: String,
    /// The roots with which it makes that plan, ascending; null: it has none, or they are not known, or too many to be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<Vec<i64>>,
}

/// What goes to one member, or comes from one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PlannedMessages {
    /// The member's rank in the communicator; on an intercommunicator in the other group.
    pub peer: i64,
    /// How many messages.
    pub messages: u64,
    /// Their bytes together; null: not known.
    pub bytes: Option<u64>,
}

impl Schedule {
    /// Whether it may be of that function; true where nothing is known.
    pub fn may_be(&self, function: &str) -> bool {
        self.functions.is_empty() || self.of(function).is_some()
    }

    /// What is known of it as one of that function.
    pub fn of(&self, function: &str) -> Option<&PossibleFunction> {
        self.functions.iter().find(|one| one.function == function)
    }

    /// The function, where there is only one.
    pub fn function(&self) -> Option<&str> {
        if let [only] = self.functions.as_slice() { Some(&only.function) } else { None }
    }

    /// The root, where it can have only that one.
    pub fn root(&self) -> Option<i64> {
        let mut roots = self.functions.iter().map(|one| one.roots.as_deref());
        let Some([first]) = roots.next()? else { return None };
        roots.all(|other| other == Some(&[*first])).then_some(*first)
    }
}
