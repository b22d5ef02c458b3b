//! Debug information that the compiler left beside the object files (`-gsplit-dwarf`): `.dwo` files, or one `.dwp`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use gimli::{Dwarf, DwarfPackage, Unit};

use super::information::section;
use super::{DebugPlaces, DebugSection, ObjectFile};

/// A longer path is damage.
const MAX_NAME: usize = 4096;

type SplitUnit = (Arc<Dwarf<DebugSection>>, Unit<DebugSection>);

pub(crate) struct Splits {
    path: PathBuf,
    places: DebugPlaces,
    package: OnceLock<Option<DwarfPackage<DebugSection>>>,
}

impl Splits {
    pub(crate) fn new(file: &ObjectFile) -> Self {
        Self { path: file.path().to_path_buf(), places: file.places().clone(), package: OnceLock::new() }
    }

    /// The unit that a skeleton stands for, where its file is there.
    pub(crate) fn of(&self, parent: &Dwarf<DebugSection>, skeleton: &Unit<DebugSection>) -> Option<SplitUnit> {
        let id = skeleton.dwo_id?;
        let name = parent.attr_string(skeleton, skeleton.dwo_name().ok()??).ok()?;
        let package = self.package.get_or_init(|| self.package());
        let packed = package.as_ref().and_then(|package| package.find_cu(id, parent).ok().flatten());
        let dwarf = packed.or_else(|| self.beside(parent, skeleton, &name.bytes()?))?;
        let mut headers = dwarf.units();
        let mut found = None;
        while let Ok(Some(header)) = headers.next() {
            let Ok(unit) = dwarf.unit(header) else { continue };
            if unit.dwo_id == Some(id) {
                found = Some(unit);
                break;
            }
        }
        let mut unit = found?;
        unit.copy_relocated_attributes(skeleton);
        Some((Arc::new(dwarf), unit))
    }

    fn beside(
        &self,
        parent: &Dwarf<DebugSection>,
        skeleton: &Unit<DebugSection>,
        name: &[u8],
    ) -> Option<Dwarf<DebugSection>> {
        let directory = skeleton.comp_dir.as_ref().and_then(DebugSection::bytes).unwrap_or_default();
        if name.is_empty() || name.len() + directory.len() > MAX_NAME {
            return None;
        }
        let path = Path::new(OsStr::from_bytes(&directory)).join(OsStr::from_bytes(name));
        let file = ObjectFile::opened(&path, &self.places, true).ok()?;
        let mut dwarf = Dwarf::load(|id| Ok::<_, ()>(section(&file, id.dwo_name()))).ok()?;
        dwarf.make_dwo(parent);
        Some(dwarf)
    }

    fn package(&self) -> Option<DwarfPackage<DebugSection>> {
        let mut path = self.path.clone().into_os_string();
        path.push(".dwp");
        let file = ObjectFile::opened(Path::new(&path), &self.places, true).ok()?;
        DwarfPackage::load(|id| Ok::<_, gimli::Error>(section(&file, id.dwo_name())), section(&file, None)).ok()
    }
}
