//! What a recording says in JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use model::Facts;
use target::{CodePlace, Image, TargetAbi};

/// The frame that begins a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProcessDescription {
    /// When it was recorded, RFC 3339 in UTC.
    pub captured_at: Option<String>,
    /// Program and version that recorded it.
    pub tool: String,
    /// What the debugger knows; the stacks stand in frames of their own.
    pub facts: Facts,
    /// Rank in MPI_COMM_WORLD, where it was known.
    pub rank: Option<i64>,
    /// Size of MPI_COMM_WORLD, where it was known.
    pub world_size: Option<i64>,
    /// The MPI, such as `Open MPI 4.1.4`.
    pub mpi: Option<String>,
    /// The layouts that were used: `debug-info` or `profile:NAME`.
    pub layouts: Option<String>,
    /// Byte order and pointer width.
    pub abi: TargetAbi,
    /// The images, the executable first.
    pub images: Vec<ImageDescription>,
    /// Whether a symbol that the recording does not have does not exist.
    pub symbols_complete: bool,
    /// Whether all writable memory of the MPI library and the heap were asked for.
    pub full: bool,
    /// Why the process could not be read when it was recorded; a replay says the same.
    pub problem: Option<String>,
}

/// An image, as [`Image`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImageDescription {
    /// The path by which the target names the file.
    pub path: String,
    /// The ELF load bias in bytes.
    pub bias: u64,
    /// The ELF build-id as hexadecimal digits.
    pub build_id: Option<String>,
    /// Whether this is the executable itself.
    pub executable: bool,
}

impl From<&Image> for ImageDescription {
    fn from(image: &Image) -> Self {
        Self {
            path: image.path.clone(),
            bias: image.bias.get(),
            build_id: image.build_id.clone(),
            executable: image.is_executable,
        }
    }
}

impl From<&ImageDescription> for Image {
    fn from(image: &ImageDescription) -> Self {
        Self {
            path: image.path.clone(),
            bias: target::address::TargetAddr::new(image.bias),
            build_id: image.build_id.clone(),
            is_executable: image.executable,
        }
    }
}

/// The frame that ends a process.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessEnd {
    /// Bytes of memory in it.
    pub memory: u64,
    /// What was asked for and could not be recorded, in sentences.
    pub left_out: Vec<String>,
    /// Where the stacks of its threads ended, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_pointers: Option<Vec<u64>>,
    /// Where addresses are from that were asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<u64, CodePlace>,
}

/// The frame that ends a file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileEnd {
    /// How many processes it has.
    pub processes: u64,
}
