//! The debug information of one file: its sections as a reader of DWARF wants them, its units, and which has an address.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gimli::{Dwarf, SectionId};

use super::split::Splits;
use super::units::{UnitData, Units};
use super::{ObjectFile, Section, debug_file};

/// Larger tables of abbreviations are refused: gimli reads a unit's table as a whole, at about 25 times its size in memory.
const MAX_ABBREVIATIONS: usize = 16 << 20;

/// Finding out which unit has which addresses may take this long; what was not read by then stays unknown.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// More ranges of addresses than this are damage.
const MAX_RANGES: usize = 1 << 22;

pub(crate) struct Information {
    pub(crate) main: Units,
    /// What dwz moved out of it.
    pub(crate) supplement: Option<Units>,
    splits: Splits,
    ranges: OnceLock<Vec<UnitRange>>,
}

struct UnitRange {
    begin: u64,
    end: u64,
    /// The largest end of this range and all before it.
    furthest: u64,
    unit: usize,
}

impl Information {
    pub(crate) fn load(file: &ObjectFile) -> Option<Self> {
        file.section(".debug_info")?;
        let supplement = debug_file::supplement(file);
        let mut dwarf = load(file)?;
        if let Some(supplement) = &supplement {
            dwarf.load_sup(|id| Ok::<_, ()>(section(supplement, id))).ok()?;
        }
        let supplement = supplement.as_ref().and_then(load).map(|dwarf| Units::new(Arc::new(dwarf)));
        let main = Units::new(Arc::new(dwarf));
        Some(Self { main, supplement, splits: Splits::new(file), ranges: OnceLock::new() })
    }

    pub(crate) fn dwarf(&self) -> &Arc<Dwarf<Section>> {
        self.main.dwarf()
    }

    /// The units that have code at an address.
    pub(crate) fn units_at(&self, address: u64) -> Vec<Arc<UnitData>> {
        let ranges = self.ranges.get_or_init(|| self.find_ranges());
        let end = ranges.partition_point(|range| range.begin <= address);
        let mut found: Vec<usize> = Vec::new();
        for range in ranges.get(..end).unwrap_or_default().iter().rev() {
            if range.furthest <= address {
                break;
            }
            if address < range.end && !found.contains(&range.unit) {
                found.push(range.unit);
            }
            // A few overlap where a linker folded functions; many are damage.
            if found.len() >= 16 {
                break;
            }
        }
        found.into_iter().filter_map(|unit| self.main.unit(unit, &self.splits)).collect()
    }

    fn find_ranges(&self) -> Vec<UnitRange> {
        let end = Instant::now() + TIME_LIMIT;
        let mut found = Vec::new();
        for unit in 0..self.main.len() {
            if Instant::now() > end || found.len() > MAX_RANGES {
                break;
            }
            let ranges = self.main.ranges(unit);
            found.extend(ranges.into_iter().map(|(begin, end)| UnitRange { begin, end, furthest: end, unit }));
        }
        found.sort_by_key(|range| range.begin);
        let mut furthest = 0;
        for range in &mut found {
            furthest = furthest.max(range.end);
            range.furthest = furthest;
        }
        found
    }
}

fn load(file: &ObjectFile) -> Option<Dwarf<Section>> {
    let dwarf = Dwarf::load(|id| Ok::<_, ()>(section(file, id))).ok()?;
    let (abbreviations, _) = file.section(SectionId::DebugAbbrev.name())?;
    (abbreviations.bytes().len() <= MAX_ABBREVIATIONS).then_some(dwarf)
}

/// The section, empty where the file has none. Macros are large and nobody asks for them.
fn section(file: &ObjectFile, id: SectionId) -> Section {
    let wanted = !matches!(id, SectionId::DebugMacro | SectionId::DebugMacinfo);
    let section = if wanted { file.section(id.name()) } else { None };
    section.map_or_else(|| empty(file), |(bytes, _)| bytes)
}

pub(crate) fn empty(file: &ObjectFile) -> Section {
    Section::new(Arc::from([]), file.endian())
}
