//! What a debugger knows of a process besides its memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Stack, TcpConnections};

/// What a debugger knows of a process besides its memory, symbols and types.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Process id on its host.
    pub pid: Option<i64>,
    /// Host name.
    pub host: Option<String>,
    /// Path of the executable.
    pub executable: Option<String>,
    /// How memory was read: `gdb`, `lldb`, `native`, `core`.
    pub via: String,
    /// The debugger with its version, such as `gdb 13.1`.
    pub debugger: String,
    /// Variables of the initial environment that were asked for and are set.
    pub environment: BTreeMap<String, String>,
    /// The stack of each thread.
    pub stacks: Vec<Stack>,
    /// Whether every thread has a stack here, each down to its outermost frame.
    pub all_threads: bool,
    /// What the kernel holds for its connections; None where it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpConnections>,
    /// What could not be found out, in sentences.
    pub problems: Vec<String>,
}
