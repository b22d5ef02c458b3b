//! Verification of layouts that do not come from a profile.

use super::interim::{Verification, verify_sizes};
use crate::layouts::{LayoutSource, Profile, shipped_profiles};
use crate::target::Target;

/// Compares the sizes that a source gives for every class that the shipped profiles know with the sizes in the live
/// process. A program can carry the structures of another build in its own debug information.
pub fn verify(target: &dyn Target, source: &dyn LayoutSource) -> Verification {
    let names: std::collections::BTreeSet<String> = shipped_profiles()
        .iter()
        .filter_map(|(_, text)| Profile::from_json(text).ok())
        .flat_map(|profile| profile.types.into_keys())
        .collect();
    let size = |name: &str| source.type_layout(name).ok().flatten().map(|layout| layout.size);
    verify_sizes(target, names.iter().map(String::as_str), &size)
}
