//! The types of one object file as a layout source.

use std::path::PathBuf;

use super::{LayoutSource, MakeError, MakeRequest, TypeLayout, profile_from_objects};
use target::Reason;
use target::files::about;

/// Larger files are not read, in bytes: one type is not worth more than the second or two that this takes.
const MAX_FILE: u64 = 256 << 20;

/// The debug information of an executable or library. The file is read anew for each type that is asked for.
pub struct ObjectTypes {
    path: PathBuf,
}

impl ObjectTypes {
    /// Those of the file at `path`.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }
}

impl LayoutSource for ObjectTypes {
    fn name(&self) -> String {
        "dwarf".to_owned()
    }

    fn type_layout(&self, type_name: &str) -> Result<Option<TypeLayout>, Reason> {
        let len = about(&self.path).map_or(0, |about| about.size);
        if len > MAX_FILE {
            return Err(Reason::new(format!(
                "{} has {len} bytes; types are read from files up to {MAX_FILE}",
                self.path.display()
            )));
        }
        let (objects, types) = (vec![self.path.clone()], vec![type_name.to_owned()]);
        match profile_from_objects(&MakeRequest { objects, types, ..MakeRequest::default() }) {
            Ok(mut made) => Ok(made.types.remove(type_name)),
            Err(MakeError::NoDebugInfo { .. } | MakeError::MissingTypes { .. }) => Ok(None),
            Err(error) => Err(Reason::of(error)),
        }
    }

    fn constant(&self, _: &str) -> Result<Option<i64>, Reason> {
        Ok(None)
    }
}
