//! Shipped layout profiles: structure layouts of one MPI build as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{LayoutSource, TypeLayout};
use crate::target::TargetAbi;

/// The layouts of one MPI build (or of all builds that share them), with what identifies and produced them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Profile {
    /// Always `mpi-queues-layout`.
    pub schema: String,
    /// Version of the format, `MAJOR.MINOR`; an unknown major is refused.
    pub format: String,
    /// The name by which people and JSON refer to it, such as `openmpi-4.1`.
    pub name: String,
    /// Who made it and from what.
    pub producer: Producer,
    /// Which builds it is for.
    pub identity: Identity,
    /// Byte order and pointer width of the build.
    pub target: TargetAbi,
    /// Preprocessor and enumeration constants.
    pub constants: BTreeMap<String, i64>,
    /// Structure layouts by the name that the MPI's source uses.
    pub types: BTreeMap<String, TypeLayout>,
}

/// Who made a profile and from what.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Producer {
    /// Program and version.
    pub tool: String,
    /// The command that made it.
    pub command: String,
    /// Packages, files and their versions that it was made from.
    pub sources: Vec<String>,
}

/// Which builds a profile is for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Identity {
    /// `Open MPI`, `MPICH`.
    pub implementation: String,
    /// The version it was made from, such as `4.1.4`.
    pub version: String,
    /// Version prefixes that it is believed to fit, such as `4.1`; each use is still verified on the live process.
    pub fits: Vec<String>,
    /// Build-ids of the libraries it was made for, where they have one.
    pub build_ids: Vec<String>,
}

/// Why a profile was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// Not JSON, or not of the schema.
    #[error("not a layout profile: {0}")]
    Parse(#[from] serde_json::Error),
    /// A format of a later major version.
    #[error("layout profile format {0} is not supported (this program reads 1.x)")]
    Format(String),
}

impl Profile {
    /// Reads a profile.
    ///
    /// # Errors
    /// Where the text is not a profile of a format that we know.
    pub fn from_json(text: &str) -> Result<Self, ProfileError> {
        let profile: Self = serde_json::from_str(text)?;
        if profile.schema != "mpi-queues-layout" || profile.format.split('.').next() != Some("1") {
            return Err(ProfileError::Format(format!("{} {}", profile.schema, profile.format)));
        }
        Ok(profile)
    }
}

impl LayoutSource for Profile {
    fn name(&self) -> String {
        format!("profile:{}", self.name)
    }
    fn type_layout(&self, type_name: &str) -> Result<Option<TypeLayout>, String> {
        Ok(self.types.get(type_name).cloned())
    }
    fn constant(&self, name: &str) -> Result<Option<i64>, String> {
        Ok(self.constants.get(name).copied())
    }
}

/// The texts of the profiles that this build carries, by name.
pub fn shipped_profiles() -> &'static [(&'static str, &'static str)] {
    &[]
}
