//! The debug information of one file: its sections as a reader of DWARF wants them, its units, and which has an address.

use std::sync::Arc;

use gimli::{Dwarf, SectionId};

use super::split::Splits;
use super::unit_reader::UnitReader;
use super::units::{UnitData, Units};
use super::{DebugSection, ObjectFile, UnitAddresses, debug_file};

pub(crate) struct Information {
    pub(crate) main: Units,
    /// What dwz moved out of it.
    pub(crate) supplement: Option<Units>,
    splits: Splits,
    pub(crate) addresses: Arc<UnitAddresses>,
}

impl Information {
    pub(crate) fn load(file: &ObjectFile) -> Option<Self> {
        file.debug_section(SectionId::DebugInfo.name())?;
        let supplement = debug_file::supplement(file);
        let mut dwarf = load(file)?;
        if let Some(supplement) = &supplement {
            dwarf.load_sup(|id| Ok::<_, ()>(wanted(supplement, id))).ok()?;
        }
        let reader = |dwarf| Arc::new(UnitReader::new(Arc::new(dwarf), file.budget().clone()));
        let supplement = supplement.as_ref().and_then(load).map(|dwarf| Units::new(reader(dwarf)));
        let main = reader(dwarf);
        let addresses = Arc::new(UnitAddresses::new(Arc::clone(&main)));
        Some(Self { main: Units::new(main), supplement, splits: Splits::new(file), addresses })
    }

    pub(crate) fn reader(&self) -> &Arc<UnitReader> {
        self.main.reader()
    }

    /// The units that have code at an address.
    pub(crate) fn units_at(&self, address: u64) -> Vec<Arc<UnitData>> {
        let found = self.addresses.at(address);
        found.into_iter().filter_map(|unit| self.main.unit(unit, Some(&self.splits))).collect()
    }
}

fn load(file: &ObjectFile) -> Option<Dwarf<DebugSection>> {
    file.debug_section(SectionId::DebugAbbrev.name())?;
    Dwarf::load(|id| Ok::<_, ()>(wanted(file, id))).ok()
}

/// Macros are large, to be unpacked where they are compressed, and nobody asks for them.
fn wanted(file: &ObjectFile, id: SectionId) -> DebugSection {
    let wanted = !matches!(id, SectionId::DebugMacro | SectionId::DebugMacinfo);
    section(file, wanted.then(|| id.name()))
}

/// The section with that name, empty where the file has none.
pub(crate) fn section(file: &ObjectFile, name: Option<&str>) -> DebugSection {
    let found = name.and_then(|name| file.debug_section(name));
    found.unwrap_or_else(|| DebugSection::new(Arc::from([]), file.endian()))
}
