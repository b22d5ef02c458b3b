//! Who read the queues.

use serde::{Deserialize, Serialize};

use super::{Communicator, Usual};

/// Who read the queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// The built-in reader.
    #[default]
    Builtin,
    /// A vendor plug-in.
    Plugin,
    /// Nobody: the operations are those that the flight recorder has seen begin.
    Recorder,
}

/// How the facts about a process were obtained.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Source {
    /// Who read the queues.
    pub kind: SourceKind,
    /// Path of the plug-in.
    pub plugin: Option<String>,
    /// Where structure layouts came from: `debug-info`, `dwarf` or `profile:NAME`; null where none was needed.
    pub layouts: Option<String>,
    /// How memory was read: `gdb`, `lldb`, `native`, `core`, `recording`.
    pub via: String,
}

impl Usual for Source {
    const USUAL: &'static Self = &Self { kind: SourceKind::Builtin, plugin: None, layouts: None, via: String::new() };
}

/// What a queue source says of one process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueReport {
    /// The communicators with their queues.
    pub communicators: Vec<Communicator>,
    /// What the MPI library calls the process's world (`Process::world_key`).
    pub world: Option<String>,
    /// What it calls the world that spawned the process.
    pub parent_world: Option<String>,
    /// Facts in words that belong to no communicator.
    pub notes: Vec<String>,
    /// What could not be read, in sentences.
    pub problems: Vec<String>,
}

/// Something that reads the message queues of one stopped process: the built-in reader or a hosted plug-in.
pub trait QueueSource {
    /// Why nothing at all could be read.
    type Error: std::error::Error;

    /// Reads all communicators and all queues, internal operations included (marked as such).
    ///
    /// # Errors
    /// Only where nothing could be read; partial results are reported with their problems.
    fn read_queues(&mut self) -> Result<QueueReport, Self::Error>;
}
