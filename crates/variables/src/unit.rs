//! One unit of a file's debug information.

use std::ops::Deref;
use std::sync::OnceLock;
use std::time::Instant;

use gimli::{AttributeValue, DebuggingInformationEntry, UnitOffset, constants as dw};
use symbols::{Language, OpenUnit};
use target::file_budget::Kept;

use crate::Section;
use crate::info::{DebugInfo, UnitStart};
use crate::limits::{DEEPEST, MOST_RANGES, TIME_LIMIT};
use crate::names::Names;
use crate::ranges::ranges;

type Functions = Vec<(u64, u64, UnitOffset)>;

/// A unit that has been opened.
pub(crate) struct Unit {
    /// Where it begins in the file.
    pub start: UnitStart,
    unit: OpenUnit,
    /// Begin and end of the code of functions, and where they stand.
    functions: OnceLock<Kept<Functions>>,
    names: OnceLock<Kept<Names>>,
    language: Language,
}

impl Deref for Unit {
    type Target = gimli::Unit<Section>;

    fn deref(&self) -> &Self::Target {
        &self.unit
    }
}

impl Unit {
    pub(crate) fn new(start: UnitStart, unit: OpenUnit) -> Self {
        let mut made =
            Self { start, unit, functions: OnceLock::new(), names: OnceLock::new(), language: Language::Other };
        let told = made.root().and_then(|root| match root.attr_value(dw::DW_AT_language)? {
            AttributeValue::Language(language) => Some(language),
            _ => None,
        });
        made.language = Language::of(told);
        made
    }

    /// The entry of the unit itself.
    pub(crate) fn root(&self) -> Option<DebuggingInformationEntry<Section>> {
        self.unit.entry(self.unit.header.root_offset()).ok()
    }

    /// Whether it was written in Fortran.
    pub(crate) fn is_fortran(&self) -> bool {
        self.language == Language::Fortran
    }

    /// Whether it was written in C++.
    pub(crate) fn is_cxx(&self) -> bool {
        self.language == Language::Cpp
    }

    /// The innermost function whose code has an address of the file.
    pub(crate) fn function_at(&self, info: &DebugInfo, address: u64) -> Option<UnitOffset> {
        let read = || {
            let found = self.all_functions(info).unwrap_or_default();
            let bytes = size_of_val(found.as_slice());
            info.budget().keep(".debug_info", found, bytes, Functions::new())
        };
        let all = self.functions.get_or_init(read);
        // Of functions within functions the innermost comes last.
        all.iter().rev().find(|(begin, end, _)| (*begin..*end).contains(&address)).map(|found| found.2)
    }

    fn all_functions(&self, info: &DebugInfo) -> gimli::Result<Functions> {
        let end = Instant::now() + TIME_LIMIT;
        let mut found = Vec::new();
        let mut entries = self.unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if entry.tag() == dw::DW_TAG_subprogram {
                let of_entry = ranges(info.dwarf(), self, entry);
                found.extend(of_entry.iter().map(|(begin, end)| (*begin, *end, entry.offset())));
            }
            if found.len() > MOST_RANGES || Instant::now() > end {
                break;
            }
        }
        found.shrink_to_fit();
        Ok(found)
    }

    /// The names of this unit alone.
    pub(crate) fn names(&self, info: &DebugInfo) -> &Names {
        let read = || {
            let mut found = Names::default();
            found.add_unit(info, self, Instant::now() + TIME_LIMIT);
            found.sort();
            found.kept(info.budget())
        };
        self.names.get_or_init(read)
    }

    /// The entries from that of the unit to the one at an offset, both included.
    pub(crate) fn path(&self, wanted: UnitOffset, end: Instant) -> Option<Vec<UnitOffset>> {
        let mut found = Vec::new();
        let mut entries = self.unit.entries();
        entries.next_dfs().ok()??;
        while found.len() < 4 * DEEPEST {
            // The last of the siblings that begins before it.
            loop {
                let mut next = entries.clone();
                match next.next_sibling() {
                    Ok(Some(entry)) if entry.offset() <= wanted => entries = next,
                    _ => break,
                }
                if Instant::now() > end {
                    return None;
                }
            }
            let offset = entries.current()?.offset();
            found.push(offset);
            if offset == wanted {
                return Some(found);
            }
            if !entries.current()?.has_children() {
                return None;
            }
            entries.next_entry().ok()?;
            entries.current()?;
        }
        None
    }
}
