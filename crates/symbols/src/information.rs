//! The debug information of one file: its sections as a reader of DWARF wants them, its units, and which has an address.

use std::sync::Arc;

use gimli::{Dwarf, Reader, SectionId};

use super::split::Splits;
use super::units::{UnitData, Units};
use super::{DebugSection, ObjectFile, UnitAddresses, debug_file};

/// Larger tables of abbreviations are refused: gimli reads a unit's table as a whole, at about 25 times its size in memory.
const MAX_ABBREVIATIONS: usize = 16 << 20;

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
        let supplement = supplement.as_ref().and_then(load).map(|dwarf| Units::new(Arc::new(dwarf)));
        let dwarf = Arc::new(dwarf);
        let addresses = Arc::new(UnitAddresses::new(Arc::clone(&dwarf)));
        Some(Self { main: Units::new(dwarf), supplement, splits: Splits::new(file), addresses })
    }

    pub(crate) fn dwarf(&self) -> &Arc<Dwarf<DebugSection>> {
        self.main.dwarf()
    }

    /// The units that have code at an address.
    pub(crate) fn units_at(&self, address: u64) -> Vec<Arc<UnitData>> {
        let found = self.addresses.at(address);
        found.into_iter().filter_map(|unit| self.main.unit(unit, Some(&self.splits))).collect()
    }
}

fn load(file: &ObjectFile) -> Option<Dwarf<DebugSection>> {
    let dwarf = Dwarf::load(|id| Ok::<_, ()>(wanted(file, id))).ok()?;
    let abbreviations = file.debug_section(SectionId::DebugAbbrev.name())?;
    (abbreviations.len() <= MAX_ABBREVIATIONS).then_some(dwarf)
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
