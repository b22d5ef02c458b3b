//! Names of functions that debuggers choose differently among several.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use gimli::{DebuggingInformationEntry, Dwarf, Unit, constants as dw};
use object::SymbolKind;
use object::read::{Object, ObjectSymbol};

use super::source_names::{text, unit_path};
use layouts::{DebugSections, Section, read_file};
use target::file_budget::FileBudget;
use target::files::ShortNames;
use target::printable;

const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Scopes nested deeper than this are damage.
const MAX_DEPTH: usize = 32;

/// The symbol of the file `path` that stands for the code at each of `starts` (addresses of the file): `None` where none
/// starts there.
///
/// A library gives a function many names (`mpi_recv_`, `MPI_RECV`, `ompi_recv_f`). gdb 13 takes the one that comes last in the
/// order of their bytes (as tried; `compare_minimal_symbols` in gdb/minsyms.c sorts them), and so do we.
pub fn symbol_names(path: &Path, starts: &[u64]) -> Vec<Option<String>> {
    let Ok(bytes) = read_file(path) else { return vec![None; starts.len()] };
    let Ok(file) = object::File::parse(ShortNames(&bytes)) else { return vec![None; starts.len()] };
    let mut last: HashMap<u64, Option<&[u8]>> = starts.iter().map(|start| (*start, None)).collect();
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
            continue;
        }
        if let (Some(last), Ok(name)) = (last.get_mut(&symbol.address()), symbol.name_bytes()) {
            *last = (*last).max(Some(name));
        }
    }
    starts.iter().map(|start| last.get(start).copied().flatten().map(printable)).collect()
}

/// The names in the source of the functions at `starts`, with the modules and functions around them (`grid::exchange`), in
/// the compile unit whose main file has the path `unit`. lldb tells the names that a Fortran compiler makes of them.
pub fn scoped_names(path: &Path, unit: &str, starts: &[u64]) -> Vec<Option<String>> {
    let mut found = vec![None; starts.len()];
    let Ok(sections) = DebugSections::open(path, &FileBudget::new(path)) else { return found };
    let reader = sections.units();
    let dwarf = reader.dwarf();
    let end = Instant::now() + TIME_LIMIT;
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if Instant::now() > end {
            break;
        }
        let Some(opened) = reader.open(header) else { continue };
        if unit_path(&opened).as_deref() == Some(unit) {
            // A damaged unit says as much as it has said until then.
            let _ = scoped_names_in(dwarf, &opened, starts, end, &mut found);
        }
    }
    found
}

fn scoped_names_in(
    dwarf: &Dwarf<Section>,
    unit: &Unit<Section>,
    starts: &[u64],
    end: Instant,
    found: &mut [Option<String>],
) -> gimli::Result<()> {
    let mut scopes: Vec<(isize, String)> = Vec::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if Instant::now() > end {
            break;
        }
        let depth = entry.depth();
        scopes.retain(|(at, _)| *at < depth);
        if !matches!(entry.tag(), dw::DW_TAG_module | dw::DW_TAG_subprogram) || scopes.len() >= MAX_DEPTH {
            continue;
        }
        let Some(name) = attribute_text(dwarf, unit, entry) else { continue };
        if let Some(gimli::AttributeValue::Addr(start)) = entry.attr_value(dw::DW_AT_low_pc) {
            for (found, _) in found.iter_mut().zip(starts).filter(|(_, wanted)| **wanted == start) {
                let around = scopes.iter().map(|(_, scope)| format!("{scope}::"));
                *found = Some(around.chain([name.clone()]).collect());
            }
        }
        scopes.push((depth, name));
    }
    Ok(())
}

fn attribute_text(
    dwarf: &Dwarf<Section>,
    unit: &Unit<Section>,
    entry: &DebuggingInformationEntry<Section>,
) -> Option<String> {
    dwarf.attr_string(unit, entry.attr_value(dw::DW_AT_name)?).ok().map(|name| text(&name))
}
