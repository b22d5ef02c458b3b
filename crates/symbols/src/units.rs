//! The units of debug information.

use std::sync::{Arc, OnceLock};

use gimli::{DebugInfoOffset, Dwarf, Unit, UnitHeader, constants as dw};

use super::Section;
use super::frames::Language;
use super::functions::Functions;
use super::lines::{self, Lines};
use super::split::Splits;

/// More units are damage.
const MAX_UNITS: usize = 1 << 20;

/// More ranges of one unit are not read.
const MAX_RANGES: usize = 1 << 20;

/// All units of `.debug_info`, opened when they are wanted.
pub(crate) struct Units {
    dwarf: Arc<Dwarf<Section>>,
    slots: Vec<Slot>,
}

struct Slot {
    /// Where it begins and ends in the section.
    start: usize,
    end: usize,
    header: UnitHeader<Section>,
    unit: OnceLock<Option<Arc<UnitData>>>,
}

/// One unit.
pub(crate) struct UnitData {
    pub(crate) dwarf: Arc<Dwarf<Section>>,
    /// What describes functions: that of the `.dwo` file where there is one.
    pub(crate) unit: Unit<Section>,
    /// Where there is one, what the file itself still says of it: it has the lines.
    skeleton: Option<(Arc<Dwarf<Section>>, Unit<Section>)>,
    /// The unit in the file itself.
    pub(crate) offset: Option<DebugInfoOffset>,
    pub(crate) language: Language,
    /// Whether the language is Rust, whose symbols stand for names in the source in a way of their own.
    pub(crate) is_rust: bool,
    functions: OnceLock<Functions>,
    lines: OnceLock<Lines>,
}

impl Units {
    pub(crate) fn new(dwarf: Arc<Dwarf<Section>>) -> Self {
        let mut slots: Vec<Slot> = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            let Some(offset) = header.debug_info_offset() else { continue };
            if slots.len() >= MAX_UNITS {
                break;
            }
            let end = offset.0.saturating_add(header.length_including_self());
            slots.push(Slot { start: offset.0, end, header, unit: OnceLock::new() });
        }
        Self { dwarf, slots }
    }

    pub(crate) fn dwarf(&self) -> &Arc<Dwarf<Section>> {
        &self.dwarf
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The unit with that number.
    pub(crate) fn unit(&self, number: usize, splits: &Splits) -> Option<Arc<UnitData>> {
        let slot = self.slots.get(number)?;
        let open = || UnitData::open(&self.dwarf, slot.header.clone(), Some(splits)).map(Arc::new);
        slot.unit.get_or_init(open).clone()
    }

    /// The unit that has an offset of the section, and the offset in it. It is not one of code.
    pub(crate) fn containing(&self, offset: DebugInfoOffset) -> Option<(Arc<UnitData>, gimli::UnitOffset)> {
        let after = self.slots.partition_point(|slot| slot.start <= offset.0);
        let slot = self.slots.get(after.checked_sub(1)?).filter(|slot| offset.0 < slot.end)?;
        let open = || UnitData::open(&self.dwarf, slot.header.clone(), None).map(Arc::new);
        let unit = slot.unit.get_or_init(open).clone()?;
        Some((unit, offset.to_unit_offset(&slot.header)?))
    }

    /// The addresses of a unit's code.
    pub(crate) fn ranges(&self, number: usize) -> Vec<(u64, u64)> {
        let Some(slot) = self.slots.get(number) else { return Vec::new() };
        if matches!(slot.header.type_(), gimli::UnitType::Type { .. } | gimli::UnitType::SplitType { .. }) {
            return Vec::new();
        }
        let Ok(unit) = self.dwarf.unit(slot.header.clone()) else { return Vec::new() };
        let mut found = Vec::new();
        if let Ok(mut ranges) = self.dwarf.unit_ranges(&unit) {
            // What a linker removed begins at zero.
            let pairs = std::iter::from_fn(|| ranges.next().ok().flatten()).take(MAX_RANGES);
            found.extend(pairs.map(|range| (range.begin, range.end)).filter(|(begin, end)| *begin != 0 && begin < end));
        }
        if found.is_empty() {
            // A unit may say where its code lies in its lines alone.
            found = lines::ranges(&unit);
        }
        found
    }
}

impl UnitData {
    fn open(dwarf: &Arc<Dwarf<Section>>, header: UnitHeader<Section>, splits: Option<&Splits>) -> Option<Self> {
        let unit = dwarf.unit(header).ok()?;
        let offset = unit.header.debug_info_offset();
        let split = splits.and_then(|splits| splits.of(dwarf, &unit));
        let (dwarf, unit, skeleton) = match split {
            Some((split, of_split)) => (split, of_split, Some((dwarf.clone(), unit))),
            None => (dwarf.clone(), unit, None),
        };
        let mut entries = unit.entries();
        let root = entries.next_dfs().ok()??;
        let told = match root.attr_value(dw::DW_AT_language) {
            Some(gimli::AttributeValue::Language(language)) => Some(language),
            _ => None,
        };
        let language = Language::of(told);
        let is_rust = told == Some(dw::DW_LANG_Rust);
        let (functions, lines) = (OnceLock::new(), OnceLock::new());
        Some(Self { dwarf, unit, skeleton, offset, language, is_rust, functions, lines })
    }

    pub(crate) fn is_split(&self) -> bool {
        self.skeleton.is_some()
    }

    pub(crate) fn functions(&self) -> &Functions {
        self.functions.get_or_init(|| Functions::new(self))
    }

    pub(crate) fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| match &self.skeleton {
            Some((dwarf, unit)) => Lines::new(dwarf, unit),
            None => Lines::new(&self.dwarf, &self.unit),
        })
    }
}
