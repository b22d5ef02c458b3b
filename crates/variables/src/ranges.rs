//! Which code an entry has.

use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, constants as dw};

use crate::Section;
use crate::limits::MOST_RANGES;
use crate::unit::Unit;

/// The ranges of addresses of a unit, a function or a block, in the file.
pub(crate) fn ranges(
    dwarf: &Dwarf<Section>,
    unit: &Unit,
    entry: &DebuggingInformationEntry<Section>,
) -> Vec<(u64, u64)> {
    if let Some(value) = entry.attr_value(dw::DW_AT_ranges)
        && let Ok(Some(mut list)) = dwarf.attr_ranges(unit, value)
    {
        let next = || list.next().ok().flatten().map(|range| (range.begin, range.end));
        return std::iter::from_fn(next).take(MOST_RANGES).collect();
    }
    let Some(begin) = low_pc(dwarf, unit, entry) else { return Vec::new() };
    let end = match entry.attr_value(dw::DW_AT_high_pc) {
        Some(AttributeValue::Udata(length)) => begin.checked_add(length),
        Some(value) => dwarf.attr_address(unit, value).ok().flatten(),
        None => None,
    };
    end.map(|end| (begin, end)).into_iter().collect()
}

/// Where the code of an entry begins.
pub(crate) fn low_pc(dwarf: &Dwarf<Section>, unit: &Unit, entry: &DebuggingInformationEntry<Section>) -> Option<u64> {
    dwarf.attr_address(unit, entry.attr_value(dw::DW_AT_low_pc)?).ok().flatten()
}

/// Where a function is entered: its first range also where parts of it lie elsewhere.
pub(crate) fn entered_at(
    dwarf: &Dwarf<Section>,
    unit: &Unit,
    entry: &DebuggingInformationEntry<Section>,
) -> Option<u64> {
    if let Some(value) = entry.attr_value(dw::DW_AT_entry_pc) {
        let begin = || ranges(dwarf, unit, entry).first().map(|range| range.0);
        return match value {
            // An offset from where the code begins.
            AttributeValue::Udata(offset) => begin()?.checked_add(offset),
            value => dwarf.attr_address(unit, value).ok().flatten(),
        };
    }
    ranges(dwarf, unit, entry).first().map(|range| range.0)
}
