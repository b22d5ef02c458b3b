//! All that was read at one time.

use serde::{Deserialize, Serialize};

use super::Process;

/// The schema of the JSON.
pub const SCHEMA: &str = "mpi-queues/1";

/// One or many processes at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// When it was taken, RFC 3339 in UTC.
    pub captured_at: Option<String>,
    /// The processes, by rank where known.
    #[serde(default)]
    pub processes: Vec<Process>,
    /// What could not be read at all, in sentences.
    #[serde(default)]
    pub problems: Vec<String>,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self { schema: SCHEMA.to_owned(), captured_at: None, processes: Vec::new(), problems: Vec::new() }
    }
}
