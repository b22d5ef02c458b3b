//! Where the code of an entry lies.

use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, Error, RangeIter, Reader, Unit, constants as dw};

/// Its ranges of addresses. gimli adds a length to where code begins, whatever their sum is.
///
/// # Errors
/// Where the entry is damaged: its code ends behind the last address there can be, for one.
pub fn code_of<R: Reader>(
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
