//! Entries of debug information: flags, the code that they have, and what stands in a function.

use std::time::Instant;

use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, Error, RangeIter, Reader, Unit, UnitOffset, constants as dw,
};

use super::DebugSection;

/// More ranges of one entry are not looked at.
const MAX_RANGES: usize = 1 << 16;

/// The time is looked at once for so many entries.
const ENTRIES_BETWEEN: usize = 1 << 10;

/// An entry with its attributes.
pub type Entry = DebuggingInformationEntry<DebugSection>;

/// The value of an attribute.
pub type Value = AttributeValue<DebugSection>;

/// Whether a flag is there and set.
pub fn is_set(entry: &Entry, name: dw::DwAt) -> bool {
    matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)))
}

/// The first of the attributes that the entry has.
pub fn first_of(entry: &Entry, names: &[dw::DwAt]) -> Option<Value> {
    names.iter().find_map(|name| entry.attr_value(*name))
}

/// Whether it says where its code lies.
pub fn has_code(entry: &Entry) -> bool {
    entry.has_attr(dw::DW_AT_low_pc) || entry.has_attr(dw::DW_AT_ranges)
}

/// Its ranges of addresses. gimli adds a length to where code begins, whatever their sum is.
///
/// # Errors
/// Where the entry is damaged: its code ends behind the last address there can be, for one.
fn code_of<R: Reader>(
    dwarf: &Dwarf<R>,
    unit: &Unit<R>,
    entry: &DebuggingInformationEntry<R>,
) -> gimli::Result<RangeIter<R>> {
    if let Some(AttributeValue::Udata(length)) = entry.attr_value(dw::DW_AT_high_pc)
        && let Some(begin) = entry.attr_value(dw::DW_AT_low_pc)
        && let Some(begin) = dwarf.attr_address(unit, begin)?
    {
        begin.checked_add(length).ok_or(Error::AddressOverflow)?;
    }
    dwarf.die_ranges(unit, entry)
}

/// That of a whole unit.
pub(crate) fn code_of_unit<R: Reader>(dwarf: &Dwarf<R>, unit: &Unit<R>) -> gimli::Result<RangeIter<R>> {
    let mut entries = unit.entries();
    entries.next_dfs()?;
    code_of(dwarf, unit, entries.current().ok_or(Error::MissingUnitDie)?)
}

/// Where the code of an entry lies. What a linker removed begins at zero.
pub fn ranges(
    dwarf: &Dwarf<DebugSection>,
    unit: &Unit<DebugSection>,
    entry: &Entry,
) -> impl Iterator<Item = (u64, u64)> + use<> {
    let mut ranges = if has_code(entry) { code_of(dwarf, unit, entry).ok() } else { None };
    let pairs = std::iter::from_fn(move || ranges.as_mut()?.next().ok().flatten()).take(MAX_RANGES);
    pairs.map(|range| (range.begin, range.end)).filter(|(begin, end)| *begin != 0 && begin < end)
}

/// Where a function is entered: its first range also where parts of it lie elsewhere.
pub fn entered_at(dwarf: &Dwarf<DebugSection>, unit: &Unit<DebugSection>, entry: &Entry) -> Option<u64> {
    let begin = || ranges(dwarf, unit, entry).next().map(|(begin, _)| begin);
    match entry.attr_value(dw::DW_AT_entry_pc) {
        // An offset from where the code begins.
        Some(AttributeValue::Udata(offset)) => begin()?.checked_add(offset),
        Some(value) => dwarf.attr_address(unit, value).ok().flatten(),
        None => begin(),
    }
}

/// How a look at what stands in a function goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// With what stands in the entry.
    Into,
    /// With what follows it.
    Over,
    /// This was enough.
    Stop,
}

/// Looks at what stands in a function, but for functions that stand in it. Whether it came to an end before `end`.
///
/// # Errors
/// Where the function is damaged.
pub fn each_inside(
    unit: &Unit<DebugSection>,
    function: UnitOffset,
    end: Instant,
    look: &mut dyn FnMut(&Entry) -> Walk,
) -> gimli::Result<bool> {
    let mut entries = unit.entries_at_offset(function)?;
    entries.next_dfs()?;
    let mut over: Option<isize> = None;
    let mut count = 0;
    while let Some(entry) = entries.next_dfs()? {
        let depth = entry.depth();
        if depth < 1 {
            break;
        }
        count += 1;
        if count % ENTRIES_BETWEEN == 0 && Instant::now() > end {
            return Ok(false);
        }
        over = over.filter(|outer| depth > *outer);
        if over.is_some() {
            continue;
        }
        match if entry.tag() == dw::DW_TAG_subprogram { Walk::Over } else { look(entry) } {
            Walk::Into => {}
            Walk::Over => over = Some(depth),
            Walk::Stop => break,
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use gimli::{EndianSlice, LittleEndian, SectionId};

    use super::*;

    #[test]
    fn code_that_ends_behind_all_addresses_is_damage() {
        // A unit with where its code begins, and how long that is.
        let abbreviations = [1, 0x11, 0, 0x11, 0x01, 0x12, 0x07, 0, 0, 0];
        let ranges = |begin: u64, length: u64| {
            let head = [&5_u16.to_le_bytes()[..], &[1, 8], &0_u32.to_le_bytes(), &[1]].concat();
            let unit = [&head[..], &begin.to_le_bytes(), &length.to_le_bytes()].concat();
            let information = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();
            let load = |id: SectionId| {
                let bytes = match id {
                    SectionId::DebugInfo => &information[..],
                    SectionId::DebugAbbrev => &abbreviations,
                    _ => &[],
                };
                Ok::<_, Error>(EndianSlice::new(bytes, LittleEndian))
            };
            let dwarf = Dwarf::load(load)?;
            let header = dwarf.units().next()?.ok_or(Error::MissingUnitDie)?;
            let mut found = code_of_unit(&dwarf, &dwarf.unit(header)?)?;
            found.next().map(|range| range.map(|range| (range.begin, range.end)))
        };
        assert_eq!(ranges(0x1000, 0x20), Ok(Some((0x1000, 0x1020))));
        assert_eq!(ranges(u64::MAX - 1, 0x20), Err(Error::AddressOverflow));
    }
}
