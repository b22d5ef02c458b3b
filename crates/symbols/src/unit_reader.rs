//! Opens units of debug information. What gimli sets aside memory for is looked at before it is asked.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use gimli::{
    Abbreviations, AttributeValue, DebugLineOffset, Dwarf, Error, FileEntry, Reader, Section as _, Unit, UnitHeader,
    constants as dw,
};
use target::file_budget::{Claimed, FileBudget};

use super::DebugSection;

const ABBREVIATIONS: &str = ".debug_abbrev";
const LINES: &str = ".debug_line";

/// Bytes in memory for each byte of a table of abbreviations, about.
const ABBREVIATIONS_FACTOR: u64 = 25;

/// An abbreviation with more attributes is damage, and so is one with more that take no byte of an entry: reading those costs time
/// that nobody counts.
const MOST_ATTRIBUTES: usize = 1024;
const MOST_EMPTY_ATTRIBUTES: usize = 32;

/// Tables of abbreviations that no unit has open are kept up to so many bytes.
const KEPT_TABLES: u64 = 1 << 20;

/// Directories and files of one unit's lines take at most so many bytes of memory.
const MOST_LINE_HEADER: u64 = 64 << 20;

/// The units of a file. What they are read from is shared.
pub struct UnitReader {
    dwarf: Arc<Dwarf<DebugSection>>,
    budget: FileBudget,
    tables: Mutex<Tables>,
}

#[derive(Default)]
struct Tables {
    known: HashMap<usize, Arc<Table>>,
    length: u64,
}

/// A table of abbreviations, which counts as long as somebody has it.
#[derive(Debug)]
struct Table {
    abbreviations: Arc<Abbreviations>,
    _claimed: Claimed,
}

/// A unit, with what it takes of its file's budget.
pub struct OpenUnit {
    unit: Unit<DebugSection>,
    _table: Arc<Table>,
    _lines: Claimed,
}

impl Deref for OpenUnit {
    type Target = Unit<DebugSection>;

    fn deref(&self) -> &Self::Target {
        &self.unit
    }
}

impl DerefMut for OpenUnit {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.unit
    }
}

impl UnitReader {
    /// That of a file with this debug information.
    pub fn new(dwarf: Arc<Dwarf<DebugSection>>, budget: FileBudget) -> Self {
        Self { dwarf, budget, tables: Mutex::default() }
    }

    /// The debug information.
    pub fn dwarf(&self) -> &Arc<Dwarf<DebugSection>> {
        &self.dwarf
    }

    /// What the file may take.
    pub fn budget(&self) -> &FileBudget {
        &self.budget
    }

    /// Opens a unit. `None` where it is damaged, or beyond what its file may take.
    pub fn open(&self, header: UnitHeader<DebugSection>) -> Option<OpenUnit> {
        let table = self.table(&header)?;
        let cost = line_header_cost(&self.dwarf, &header, &table.abbreviations).ok()?;
        let meanwhile = self.budget.claimed(LINES, cost).ok()?;
        self.budget.entries(LINES, "bytes of directories and files", cost, MOST_LINE_HEADER).ok()?;
        let abbreviations = Arc::clone(&table.abbreviations);
        let unit = Unit::new_with_abbreviations(&self.dwarf, header, abbreviations).ok()?;
        drop(meanwhile);
        let kept = unit.line_program.as_ref().map_or(0, |program| {
            let header = program.header();
            size_of_val(header.include_directories()) + size_of_val(header.file_names())
        });
        let lines = self.budget.claimed(LINES, (kept + size_of::<OpenUnit>()) as u64).ok()?;
        Some(OpenUnit { unit, _table: table, _lines: lines })
    }

    fn table(&self, header: &UnitHeader<DebugSection>) -> Option<Arc<Table>> {
        let offset = header.debug_abbrev_offset().0;
        let tables = || self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tables().known.get(&offset) {
            return Some(Arc::clone(known));
        }
        let measured = measure(self.dwarf.debug_abbrev.reader(), offset).ok()?;
        let attributes = measured.attributes as u64;
        self.budget.entries(ABBREVIATIONS, "attributes of one entry", attributes, MOST_ATTRIBUTES as u64).ok()?;
        let empty = measured.empty_attributes as u64;
        self.budget
            .entries(ABBREVIATIONS, "attributes without bytes of one entry", empty, MOST_EMPTY_ATTRIBUTES as u64)
            .ok()?;
        let length = measured.length as u64;
        let claimed = self.budget.claimed(ABBREVIATIONS, length.saturating_mul(ABBREVIATIONS_FACTOR)).ok()?;
        let abbreviations = self.dwarf.abbreviations(header).ok()?;
        let table = Arc::new(Table { abbreviations, _claimed: claimed });
        let mut tables = tables();
        if tables.length.saturating_add(length) > KEPT_TABLES {
            *tables = Tables::default();
        }
        if length <= KEPT_TABLES {
            tables.length += length;
            tables.known.insert(offset, Arc::clone(&table));
        }
        Some(table)
    }
}

/// How large a table of abbreviations is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Measured {
    /// Bytes.
    length: usize,
    /// The most attributes of one abbreviation.
    attributes: usize,
    /// The same of those that take no byte of an entry.
    empty_attributes: usize,
}

/// Measures the table at an offset (DWARF 5, 7.5.3).
fn measure<R: Reader<Offset = usize>>(section: &R, offset: usize) -> gimli::Result<Measured> {
    let mut rest = section.clone();
    rest.skip(offset)?;
    let before = rest.len();
    let mut found = Measured::default();
    while rest.read_uleb128()? != 0 {
        rest.read_uleb128()?;
        rest.read_u8()?;
        let (mut attributes, mut empty) = (0, 0);
        loop {
            let (name, form) = (rest.read_uleb128()?, rest.read_uleb128()?);
            let is_constant = form == u64::from(dw::DW_FORM_implicit_const.0);
            if is_constant {
                rest.read_sleb128()?;
            }
            if name == 0 && form == 0 {
                break;
            }
            attributes += 1;
            empty += usize::from(is_constant || form == u64::from(dw::DW_FORM_flag_present.0));
        }
        found.attributes = found.attributes.max(attributes);
        found.empty_attributes = found.empty_attributes.max(empty);
    }
    found.length = before.saturating_sub(rest.len());
    Ok(found)
}

/// At most so many bytes gimli sets aside for directories and files of a unit's lines: it does so by their numbers, as far as
/// there are bytes in the header (`LineProgramHeader::parse` in gimli's src/read/line.rs, 0.34).
///
/// # Errors
/// Where the unit's first entry is damaged.
fn line_header_cost<R: Reader<Offset = usize>>(
    dwarf: &Dwarf<R>,
    header: &UnitHeader<R>,
    abbreviations: &Abbreviations,
) -> gimli::Result<u64> {
    let mut entries = header.entries(abbreviations);
    entries.next_dfs()?;
    let root = entries.current().ok_or(Error::MissingUnitDie)?;
    let Some(AttributeValue::DebugLineRef(offset)) = root.attr_value(dw::DW_AT_stmt_list) else { return Ok(0) };
    // What is damaged there is an error for gimli, too.
    Ok(cost_of_lines(dwarf, offset).unwrap_or(0))
}

fn cost_of_lines<R: Reader<Offset = usize>>(dwarf: &Dwarf<R>, offset: DebugLineOffset) -> gimli::Result<u64> {
    let mut rest = dwarf.debug_line.reader().clone();
    rest.skip(offset.0)?;
    let (length, format) = rest.read_initial_length()?;
    rest.truncate(length)?;
    let version = rest.read_u16()?;
    if version >= 5 {
        // Sizes of addresses and of segment selectors.
        rest.skip(2)?;
    }
    let bytes = rest.read_length(format)?.min(rest.len()) as u64;
    // An entry has at least one byte in version 5, and at least five before.
    let entry = (size_of::<FileEntry<R>>() + size_of::<AttributeValue<R>>()) as u64;
    Ok(if version >= 5 { bytes.saturating_mul(entry) } else { bytes.saturating_mul(entry) / 5 })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use gimli::{EndianSlice, LittleEndian};

    use super::*;

    fn measured(bytes: &[u8]) -> gimli::Result<Measured> {
        measure(&EndianSlice::new(bytes, LittleEndian), 0)
    }

    #[test]
    fn a_table_of_abbreviations_is_measured_before_it_is_read() {
        // A unit with a name and a constant that the table itself has, and a variable without attributes.
        let table = [1, 0x11, 1, 0x03, 0x08, 0x13, 0x21, 0x0c, 0, 0, 2, 0x34, 0, 0, 0, 0];
        assert_eq!(measured(&table), Ok(Measured { length: table.len(), attributes: 2, empty_attributes: 1 }));
        assert!(measured(&table[..table.len() - 1]).is_err(), "a table without an end");
        let many = [vec![1, 0x11, 0], [0x3f, 0x19].repeat(100), vec![0, 0, 0]].concat();
        assert_eq!(measured(&many).unwrap().empty_attributes, 100);
    }
}
