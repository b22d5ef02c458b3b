//! The debug information of one file: its sections as a reader of DWARF wants them, its units, and which has an address.

use std::sync::Arc;

use gimli::{DebugInfoOffset, Dwarf, SectionId};

use super::debug_entry::DebugEntry;
use super::split::Splits;
use super::unit_addresses::UnitAddresses;
use super::unit_reader::UnitReader;
use super::units::{DebugUnit, Units};
use super::{DebugSection, ObjectFile, debug_file};

/// The debug information of one file.
pub struct Information {
    /// The units of the file itself.
    pub main: Units,
    /// What dwz moved out of it.
    pub(crate) supplement: Option<Units>,
    addresses: UnitAddresses,
}

impl Information {
    /// That of units which stand alone.
    pub fn new(main: Units) -> Self {
        let addresses = UnitAddresses::new(Arc::clone(main.reader()));
        Self { main, supplement: None, addresses }
    }

    pub(crate) fn load(file: &ObjectFile) -> Option<Self> {
        file.debug_section(SectionId::DebugInfo.name())?;
        let supplement = debug_file::supplement(file);
        let mut dwarf = load(file)?;
        if let Some(supplement) = &supplement {
            dwarf.load_sup(|id| Ok::<_, ()>(wanted(supplement, id))).ok()?;
        }
        let reader = |dwarf| Arc::new(UnitReader::new(Arc::new(dwarf), file.budget().clone()));
        let supplement = supplement.as_ref().and_then(load).map(|dwarf| Units::new(reader(dwarf)));
        let main = Units::with_splits(reader(dwarf), Splits::new(file));
        Some(Self { supplement, ..Self::new(main) })
    }

    /// The units that have code at an address.
    pub(crate) fn units_at(&self, address: u64) -> impl Iterator<Item = Arc<DebugUnit>> {
        self.addresses.at(address).into_iter().filter_map(|DebugInfoOffset(start)| self.main.unit(start))
    }

    /// Units with code that do not say where it is.
    pub fn silent(&self) -> impl Iterator<Item = Arc<DebugUnit>> {
        self.addresses.silent().iter().filter_map(|DebugInfoOffset(start)| self.main.unit(*start))
    }

    /// The innermost function whose code has an address of the file.
    pub fn function_at(&self, address: u64) -> Option<DebugEntry> {
        self.units_at(address).find_map(|unit| {
            let offset = unit.function_at(address)?;
            Some(DebugEntry::new(unit, offset))
        })
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
