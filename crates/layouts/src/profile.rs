//! Shipped layout profiles: structure layouts of one MPI build as JSON.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Field, FieldKind, LayoutSource, TypeLayout};
use target::files::open_named;
use target::{Reason, TargetAbi};

/// What the `schema` member of every profile says.
pub(super) const SCHEMA: &str = "mpi-queues-layout";

/// The version of the format that we write.
pub(super) const FORMAT: &str = "1.1";

/// Longest text of a profile, in bytes; ours have up to 60,000.
pub(super) const MAX_PROFILE: u64 = 16 << 20;

/// Largest structure that a profile may describe, in bytes.
const MAX_TYPE: u64 = 1 << 30;

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
    /// Types, fields and constants that the readers would use and that this build does not have.
    #[serde(default)]
    pub missing: Vec<String>,
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
    /// The device that the build was configured with, such as `ch4:ofi,ucx` (MPICH).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Bytes of the types whose objects lie in pools (MPICH): the strides of a library's pools must be these. They stand here
    /// so that a header is enough to choose a profile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<String, u64>,
}

/// Why a profile was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file could not be read.
    #[error("cannot read the layout profile {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// More text than a profile has.
    #[error("a layout profile of {0} bytes is not read (the limit is {MAX_PROFILE} bytes)")]
    TooLarge(u64),
    /// Not JSON, or not of the schema.
    #[error("not a layout profile: {0}")]
    Parse(#[from] serde_json::Error),
    /// Another kind of JSON.
    #[error("not a layout profile: its schema is {0:?}, not \"mpi-queues-layout\"")]
    Schema(String),
    /// A format of another major version.
    #[error("layout profile format {0:?} is not supported (this program reads 1.x)")]
    Format(String),
    /// A size or offset that cannot be.
    #[error("the layout profile is damaged: {0}")]
    Impossible(Reason),
}

/// A profile without its types and constants: enough to choose one. Its `schema` and `format` are checked.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct ProfileHeader {
    /// Always `mpi-queues-layout`.
    pub schema: String,
    /// Version of the format.
    pub format: String,
    /// The profile's name.
    pub name: String,
    /// Which builds it is for.
    pub identity: Identity,
    /// Byte order and pointer width of the build.
    pub target: TargetAbi,
}

impl ProfileHeader {
    /// Reads only the header of a profile, which is about ten times faster than all of it.
    ///
    /// # Errors
    /// Where the text is not a profile of a format that we know.
    pub fn from_json(text: &str) -> Result<Self, ProfileError> {
        check_len(text.len() as u64)?;
        let header: Self = serde_json::from_str(text)?;
        check_format(&header.schema, &header.format)?;
        Ok(header)
    }
}

impl Profile {
    /// Reads a profile and checks that every field lies inside its type.
    ///
    /// # Errors
    /// Where the text is not a profile of a format that we know, is too large, or says something impossible.
    pub fn from_json(text: &str) -> Result<Self, ProfileError> {
        check_len(text.len() as u64)?;
        // A later major version may look different altogether: its number explains more than what is missing.
        let explain = |error: serde_json::Error| format_error(text).unwrap_or(ProfileError::Parse(error));
        let profile: Self = serde_json::from_str(text).map_err(explain)?;
        check_format(&profile.schema, &profile.format)?;
        for (name, layout) in &profile.types {
            check_type(name, layout, profile.target).map_err(ProfileError::Impossible)?;
        }
        for (name, size) in &profile.identity.sizes {
            if profile.types.get(name).is_none_or(|layout| layout.size != *size) {
                let what = format!("its identity says {size} bytes of {name}, its types do not");
                return Err(ProfileError::Impossible(what.into()));
            }
        }
        Ok(profile)
    }

    /// Reads a profile from a file.
    ///
    /// # Errors
    /// As [`Profile::from_json`], and where the file cannot be read.
    pub fn from_file(path: &Path) -> Result<Self, ProfileError> {
        let fail = |source| ProfileError::File { path: path.display().to_string(), source };
        let file = open_named(path).map_err(|error| fail(error.into()))?;
        let mut text = String::new();
        file.take(MAX_PROFILE + 1).read_to_string(&mut text).map_err(fail)?;
        Self::from_json(&text)
    }

    /// Adds what a later profile of the same name has besides: readers have learned more since this one was made. Types that
    /// differ stay as they are.
    pub fn add_from(&mut self, later: &Self) {
        for (name, value) in &later.constants {
            self.constants.entry(name.clone()).or_insert(*value);
        }
        for (name, layout) in &later.types {
            let own = self.types.entry(name.clone()).or_insert_with(|| layout.clone());
            let agrees = |(name, field)| own.fields.get(name).is_none_or(|known| known == field);
            if own.size == layout.size && own.fields != layout.fields && layout.fields.iter().all(agrees) {
                let added = layout.fields.iter().map(|(name, field)| (name.clone(), field.clone()));
                Arc::make_mut(&mut own.fields).extend(added);
            }
        }
    }
}

fn check_len(len: u64) -> Result<(), ProfileError> {
    if len > MAX_PROFILE { Err(ProfileError::TooLarge(len)) } else { Ok(()) }
}

fn check_format(schema: &str, format: &str) -> Result<(), ProfileError> {
    if schema != SCHEMA {
        return Err(ProfileError::Schema(schema.to_owned()));
    }
    if format.split('.').next() != Some("1") {
        return Err(ProfileError::Format(format.to_owned()));
    }
    Ok(())
}

/// The error that the schema or format of a text causes, if the text has any.
fn format_error(text: &str) -> Option<ProfileError> {
    #[derive(Deserialize)]
    struct Version {
        schema: String,
        format: String,
    }
    let version: Version = serde_json::from_str(text).ok()?;
    check_format(&version.schema, &version.format).err()
}

/// Whether a layout is one that a profile may hold; a sentence where it is not.
pub(super) fn check_type(name: &str, layout: &TypeLayout, target: TargetAbi) -> Result<(), Reason> {
    if layout.size > MAX_TYPE {
        return Err(Reason::new(format!("{name}: a structure of {} bytes", layout.size)));
    }
    for (field_name, field) in &*layout.fields {
        let Field { offset, size, kind, .. } = field;
        if offset.checked_add(*size).is_none_or(|end| end > layout.size) {
            let all = layout.size;
            return Err(Reason::new(format!(
                "{name}.{field_name}: offset {offset} and size {size} reach out of {all} bytes"
            )));
        }
        let possible = match kind {
            FieldKind::Signed | FieldKind::Unsigned => matches!(size, 1 | 2 | 4 | 8 | 16),
            FieldKind::Pointer => *size == target.pointer_width.bytes(),
            FieldKind::Float => (1..=64).contains(size),
            FieldKind::Struct | FieldKind::Union | FieldKind::Array => true,
        };
        if !possible {
            return Err(Reason::new(format!("{name}.{field_name}: {kind:?} field of {size} bytes")));
        }
    }
    Ok(())
}

impl LayoutSource for Profile {
    fn name(&self) -> String {
        format!("profile:{}", self.name)
    }
    fn type_layout(&self, type_name: &str) -> Result<Option<TypeLayout>, Reason> {
        Ok(self.types.get(type_name).cloned())
    }
    fn constant(&self, name: &str) -> Result<Option<i64>, Reason> {
        Ok(self.constants.get(name).copied())
    }
}
