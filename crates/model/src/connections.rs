//! What the kernel holds for a process's connections.

use serde::{Deserialize, Serialize};

/// What the kernel holds for the TCP connections of a process, over which an MPI may send. Only a hint: connections of MPI are not told
/// from others, and no bytes from what they say.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TcpConnections {
    /// How many there are; None where that is not known.
    pub open: Option<i64>,
    /// Bytes that have arrived and that the process has not read; None where that is not known.
    pub unread_bytes: Option<i64>,
    /// Bytes that the process has sent and whose arrival was not acknowledged; None where that is not known.
    pub unacknowledged_bytes: Option<i64>,
    /// Why nothing is known; None where something is.
    pub reason: Option<String>,
}

impl TcpConnections {
    /// Why nothing is known of a process whose reader cannot ask the kernel.
    pub fn not_asked(via: &str) -> Self {
        let reason = match via {
            "core" => "a core file does not hold the kernel's data",
            "recording" => "the recording was made without it",
            _ => "the kernel has it only for a live process of this machine",
        };
        Self { reason: Some(reason.to_owned()), ..Self::default() }
    }
}
