//! Where a field of an MPI library's structure lies, and who says so.
//!
//! Layouts come from a named, ordered list of sources: the debugger's own types (the MPI library has debug
//! information), then a profile that we ship. Readers ask [`Layouts`]; they never know which source answered,
//! but the answer can always be traced.

mod dwarf;
mod format;
mod make;
mod object_file;
mod object_types;
mod pooled;
mod profile;
mod shipped;
mod source;
mod verify;
mod wanted;

pub use make::{MakeError, MakeRequest, profile_from_objects, types_of_file};
pub use object_file::{DebugSections, Section, read_file};
pub use object_types::ObjectTypes;
pub use pooled::{Candidate, candidates};
pub use profile::{Identity, Producer, Profile, ProfileError, ProfileHeader};
pub use shipped::{Shipped, shipped_for, shipped_named, shipped_profiles};
pub use source::{LayoutSource, Layouts};
pub use verify::{Chosen, Difference, NoProfile, Verification, choose_profile, compare_abi};
pub use wanted::{Structure, Wanted};

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use target::Reason;

/// How the bytes of a field are to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FieldKind {
    /// A signed integer or an enumeration with negative values.
    Signed,
    /// An unsigned integer, boolean or enumeration.
    Unsigned,
    /// A floating-point number.
    Float,
    /// A data or function pointer.
    Pointer,
    /// A structure; its own members follow as `name.member`.
    Struct,
    /// A union; its members follow as `name.member`.
    Union,
    /// An array; `type_name` is that of its elements with the count in brackets.
    Array,
}

/// One member of a structure. Members of nested structures are flattened: `super.size`, `hdr.hdr_match.hdr_tag`.
/// Members of anonymous structures and unions appear under their own name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Offset from the start of the outermost structure, in bytes.
    pub offset: u64,
    /// Size of the member, in bytes; 0 for a flexible array.
    pub size: u64,
    /// How to understand the bytes.
    pub kind: FieldKind,
    /// The C type's name, for people (`struct ompi_group_t *`, `char[64]`).
    #[serde(rename = "type")]
    pub type_name: String,
}

/// Size and members of one structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeLayout {
    /// Size in bytes.
    pub size: u64,
    /// Members by flattened name. Shared: each process of a job has the same.
    pub fields: Arc<BTreeMap<String, Field>>,
}

/// A type, field or constant that a reader needs and no source has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// No source knows the type.
    #[error("no layout source has the type {type_name} (asked: {sources})")]
    NoType {
        /// The type's name as the MPI source spells it.
        type_name: String,
        /// The names of the sources that were asked, in order.
        sources: String,
    },
    /// The type is known but lacks the field.
    #[error("the type {type_name} from {source_name} has no field {field}")]
    NoField {
        /// The type's name.
        type_name: String,
        /// The field that is missing.
        field: String,
        /// The source that knows the type.
        source_name: String,
    },
    /// The field does not lie inside its type or has an impossible size.
    #[error("the field {type_name}.{field} from {source_name} is impossible: {reason}")]
    BadField {
        /// The type's name.
        type_name: String,
        /// The field's flattened name.
        field: String,
        /// The source that said so.
        source_name: String,
        /// What is impossible about it.
        reason: String,
    },
    /// No source knows the constant.
    #[error("no layout source has the constant {name} (asked: {sources})")]
    NoConstant {
        /// The constant's name.
        name: String,
        /// The names of the sources that were asked, in order.
        sources: String,
    },
    /// A source failed.
    #[error("the layout source {source_name} failed: {reason}")]
    Source {
        /// The source that failed.
        source_name: String,
        /// What it said.
        reason: Reason,
    },
}

impl From<LayoutError> for Reason {
    fn from(error: LayoutError) -> Self {
        Self::of(error)
    }
}
