//! Names of source files as the compiler was given them.
//!
//! Debuggers disagree about them: gdb tells `../src/solver.c` where lldb tells the absolute path that this comes to. What
//! debug information says (DW_AT_name, and the line table's own names) settles it.

use std::path::Path;
use std::time::{Duration, Instant};

use gimli::{Dwarf, Unit};

use layouts::{DebugSections, Section};
use target::file_budget::FileBudget;
use target::printable;
use target::source_path::{joined, resolved};

/// Looking through one file may take this long; what was not found by then stays unknown.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// A longer name is damage.
const MAX_NAME: usize = 4096;

/// A source file by the paths that it comes to: that of its compile unit, and its own, which is the unit's but for headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePath {
    /// Path of the compile unit's main file, from the root.
    pub unit: String,
    /// Path of the file itself, from the root.
    pub file: String,
}

/// What the debug information of the file `path` calls each of `wanted`: `None` where it does not name that one, or is not
/// there. A file of a unit is named as gdb 13 does it (`dwarf2_start_subfile` in gdb/dwarf2/read.c).
pub fn source_names(path: &Path, wanted: &[SourcePath]) -> Vec<Option<String>> {
    let mut found = vec![None; wanted.len()];
    let Ok(sections) = DebugSections::open(path, &FileBudget::new(path)) else { return found };
    let reader = sections.units();
    let dwarf = reader.dwarf();
    let end = Instant::now() + TIME_LIMIT;
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if Instant::now() > end || found.iter().all(Option::is_some) {
            break;
        }
        // A damaged unit says nothing of the others.
        let Some(unit) = reader.open(header) else { continue };
        for (place, wanted) in found.iter_mut().zip(wanted).filter(|(place, _)| place.is_none()) {
            *place = name_in_unit(dwarf, &unit, wanted);
        }
    }
    found
}

fn name_in_unit(dwarf: &Dwarf<Section>, unit: &Unit<Section>, wanted: &SourcePath) -> Option<String> {
    if unit_path(unit)? != wanted.unit {
        return None;
    }
    let directory = unit.comp_dir.as_ref().map(text).unwrap_or_default();
    let name = text(unit.name.as_ref()?);
    let header = unit.line_program.as_ref().map(|program| program.header());
    if wanted.file == wanted.unit {
        // A directory that is not absolute (-ffile-prefix-map) is told with the name where the line table has it so.
        let relative = !directory.is_empty() && !directory.starts_with('/');
        let listed = header.filter(|header| header.version() >= 5).is_some_and(|header| {
            header.file_names().iter().any(|entry| {
                let path_name = dwarf.attr_string(unit, entry.path_name()).ok().map(|name| text(&name));
                entry.directory_index() == 0 && path_name.as_ref() == Some(&name)
            })
        });
        return Some(if relative && listed { joined(&directory, &name) } else { name });
    }
    let header = header?;
    header.file_names().iter().find_map(|entry| {
        let string = |value| dwarf.attr_string(unit, value).ok().map(|name| text(&name));
        let mut name = string(entry.path_name())?;
        // Before DWARF 5, directory 0 is the unit's own and has no entry.
        let listed = header.version() >= 5 || entry.directory_index() != 0;
        if let (true, false, Some(parent)) = (listed, name.starts_with('/'), entry.directory(header).and_then(string)) {
            name = joined(&parent, &name);
        }
        (resolved(&joined(&directory, &name)) == wanted.file).then_some(name)
    })
}

/// Path of a compile unit's main file, as lldb shows it.
pub(super) fn unit_path(unit: &Unit<Section>) -> Option<String> {
    Some(resolved(&joined(&unit.comp_dir.as_ref().map(text).unwrap_or_default(), &text(unit.name.as_ref()?))))
}

pub(super) fn text(bytes: &Section) -> String {
    printable_name(&bytes.bytes().unwrap_or_default())
}

pub(super) fn printable_name(bytes: &[u8]) -> String {
    printable(&bytes[..bytes.len().min(MAX_NAME)])
}
