//! Debug information that the compiler left beside the object files (`-gsplit-dwarf`): `.dwo` files, or one `.dwp`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use gimli::{Dwarf, DwarfPackage, Unit};
use target::file_budget::FileBudget;

use super::information::section;
use super::unit_reader::{OpenUnit, UnitReader};
use super::{DebugPlaces, DebugSection, ObjectFile};

/// A longer path is damage.
const MAX_NAME: usize = 4096;

/// More units of a `.dwo` file are damage: it is that of one.
const MAX_UNITS: usize = 1 << 12;

/// The unit that a skeleton stands for.
pub(crate) struct SplitUnit {
    pub(crate) dwarf: Arc<Dwarf<DebugSection>>,
    pub(crate) unit: OpenUnit,
}

pub(crate) struct Splits {
    path: PathBuf,
    places: DebugPlaces,
    budget: FileBudget,
    package: OnceLock<Option<DwarfPackage<DebugSection>>>,
}

impl Splits {
    pub(crate) fn new(file: &ObjectFile) -> Self {
        let (path, places, budget) = (file.path().to_path_buf(), file.places().clone(), file.budget().clone());
        Self { path, places, budget, package: OnceLock::new() }
    }

    /// The unit that a skeleton stands for, where its file is there.
    pub(crate) fn of(&self, reader: &UnitReader, skeleton: &Unit<DebugSection>) -> Option<SplitUnit> {
        let parent = &**reader.dwarf();
        let id = skeleton.dwo_id?;
        let name = parent.attr_string(skeleton, skeleton.dwo_name().ok()??).ok()?;
        let package = self.package.get_or_init(|| self.package());
        let packed = package.as_ref().and_then(|package| package.find_cu(id, parent).ok().flatten());
        let dwarf = packed.or_else(|| self.beside(parent, skeleton, &name.bytes()?))?;
        let dwarf = Arc::new(dwarf);
        let own = UnitReader::new(Arc::clone(&dwarf), self.budget.clone());
        let mut headers = dwarf.units();
        let headers = std::iter::from_fn(|| headers.next().ok().flatten()).take(MAX_UNITS);
        let mut unit = headers.filter_map(|header| own.open(header)).find(|unit| unit.dwo_id == Some(id))?;
        unit.copy_relocated_attributes(skeleton);
        Some(SplitUnit { dwarf, unit })
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
        let file = ObjectFile::opened(&path, &self.places, self.budget.clone(), true).ok()?;
        let mut dwarf = Dwarf::load(|id| Ok::<_, ()>(section(&file, id.dwo_name()))).ok()?;
        dwarf.make_dwo(parent);
        Some(dwarf)
    }

    fn package(&self) -> Option<DwarfPackage<DebugSection>> {
        let mut path = self.path.clone().into_os_string();
        path.push(".dwp");
        let file = ObjectFile::opened(Path::new(&path), &self.places, self.budget.clone(), true).ok()?;
        DwarfPackage::load(|id| Ok::<_, gimli::Error>(section(&file, id.dwo_name())), section(&file, None)).ok()
    }
}
