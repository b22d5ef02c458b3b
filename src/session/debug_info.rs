//! Verification of layouts that do not come from a profile.

use crate::layouts::{LayoutSource, Profile, READER_TYPES, Verification, verify_classes};
use crate::target::Target;

/// Compares the sizes that a source gives for every type that readers use with the sizes in the live process: a program
/// can carry the structures of another build in its own debug information. `constants` is a profile of the
/// same release series.
pub fn verify(target: &dyn Target, source: &dyn LayoutSource, constants: &Profile) -> Verification {
    let layout = |name: &&str| Some(((*name).to_owned(), source.type_layout(name).ok().flatten()?));
    let types = READER_TYPES.iter().filter_map(layout).collect();
    verify_classes(target, &Profile { name: source.name(), target: target.abi(), types, ..constants.clone() })
}
