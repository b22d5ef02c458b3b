//! Windows of one-sided communication, as far as a diagnosis needs them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A window that a call of the process is on, or of which it has locked a part.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Window {
    /// The C handle's value, as `Call::window` has it.
    pub handle: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// `Communicator::unique_id` of the communicator that the library made for it, where the process's list has that.
    pub communicator: Option<u64>,
    /// World ranks of its processes in rank order; an element is null where that is not known.
    pub group: Option<Vec<Option<i64>>>,
    /// Which epochs are open here: `none`, `fence`, `lock`, `lock_all`, `start`, `post`, or several such as `start+post`.
    pub epoch: Option<String>,
    /// Whether MPI_Win_lock_all is open.
    pub lock_all: Option<bool>,
    /// Ranks in the window of each open MPI_Win_lock, also of one that still waits.
    pub locks: Option<Vec<i64>>,
    /// World ranks to which an MPI_Win_start is open; null where none is, or `unknown` says why that is not known.
    pub started: Option<Vec<Option<i64>>>,
    /// World ranks for which an MPI_Win_post is open; null likewise.
    pub posted: Option<Vec<Option<i64>>>,
    /// Why facts are null, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown: BTreeMap<String, String>,
}
