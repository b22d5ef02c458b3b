//! The calls of MPI that stand in the machine code of a function, with their lines: where its source is not here.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use gimli::{Dwarf, SectionId, Unit};
use object::read::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget};
use object::{Architecture, SymbolKind};

use crate::call_target::call_target;
use functions::mpi_function;
use layouts::{DebugSections, Section, read_file};

/// Looking through one file may take this long; what was not found by then stays unknown.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// A longer function (bytes) is not looked through.
const LONGEST: u64 = 1 << 20;

/// Of code so many bytes are looked at, at most (`call_target`).
const LONGEST_READ: usize = 16;

/// A function with more calls tells nothing by them.
const MOST: usize = 500;

/// A call of a function of MPI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeCall {
    /// Where it returns to, counted from the beginning of `.text`.
    pub after: u64,
    /// The function, as `mpi_function` names it.
    pub function: String,
    /// Its line, where debug information tells it.
    pub line: Option<i64>,
}

/// The calls in the function of the file `path` that has the code at `offset`, counted from the beginning of `.text`, in their order.
/// `None` where nothing tells where that function begins and ends, or the file has another build-id than `build_id` (hexadecimal
/// digits). Only code of x86-64 is read.
pub fn code_calls(path: &Path, offset: u64, build_id: Option<&str>) -> Option<Vec<CodeCall>> {
    let bytes = read_file(path).ok()?;
    let file = object::File::parse(bytes.as_slice()).ok()?;
    if file.architecture() != Architecture::X86_64 || !file.is_64() || !file.is_little_endian() {
        return None;
    }
    if let (Some(wanted), Some(own)) = (build_id, target::build_id(&file))
        && !wanted.eq_ignore_ascii_case(&own)
    {
        return None;
    }
    let section = file.section_by_name(".text")?;
    let (start, code) = (section.address(), section.data().ok()?);
    let wanted = start.checked_add(offset)?;
    let (begin, end) = function_around(&file, wanted)?;
    let range = begin.checked_sub(start)?..end.checked_sub(start)?;
    let own = code.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)?;
    let names = Names::new(&file);
    let mut found = Vec::new();
    for at in 0..own.len().saturating_sub(4) {
        // What is no call by chance leads to the beginning of no function of MPI.
        let after = match own.get(at..at + 2)? {
            [0xe8, _] => begin + at as u64 + 5,
            [0xff, 0x15] => begin + at as u64 + 6,
            _ => continue,
        };
        let Some(function) = names.called(after).and_then(|name| mpi_function(&name)) else { continue };
        if found.len() >= MOST {
            return None;
        }
        found.push(CodeCall { after: after.wrapping_sub(start), function, line: None });
    }
    let lines = lines(path, &bytes, &found.iter().map(|call| start + call.after - 1).collect::<Vec<_>>());
    for (call, line) in found.iter_mut().zip(lines.unwrap_or_default()) {
        call.line = line;
    }
    Some(found)
}

/// Where the function begins and ends that has an address.
fn function_around(file: &object::File<'_>, address: u64) -> Option<(u64, u64)> {
    let mut all = file.symbols().chain(file.dynamic_symbols()).filter(|symbol| symbol.kind() == SymbolKind::Text);
    let range = |symbol: object::Symbol<'_, '_>| (symbol.address(), symbol.address().saturating_add(symbol.size()));
    // The call may be the last thing in it.
    let (begin, end) = all.find_map(|symbol| {
        let (begin, end) = range(symbol);
        (begin < address && address <= end && end - begin <= LONGEST).then_some((begin, end))
    })?;
    Some((begin, end))
}

/// The functions that code can call, by their addresses or by the places of their addresses.
struct Names<'f> {
    file: &'f object::File<'f>,
    own: HashMap<u64, String>,
    imported: HashMap<u64, String>,
}

impl<'f> Names<'f> {
    fn new(file: &'f object::File<'f>) -> Self {
        let mut own = HashMap::new();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            if let (true, Ok(name)) = (symbol.is_definition() && symbol.kind() == SymbolKind::Text, symbol.name())
                && mpi_function(name).is_some()
            {
                own.insert(symbol.address(), name.to_owned());
            }
        }
        let mut imported = HashMap::new();
        if let Some(symbols) = file.dynamic_symbol_table() {
            for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
                if let RelocationTarget::Symbol(index) = relocation.target()
                    && let Ok(symbol) = symbols.symbol_by_index(index)
                    && let Ok(name) = symbol.name()
                    && mpi_function(name).is_some()
                {
                    imported.insert(address, name.to_owned());
                }
            }
        }
        Self { file, own, imported }
    }

    /// The function that the call before an address leads to.
    fn called(&self, after: u64) -> Option<String> {
        // The places of imported functions hold their own addresses here, so that they can be told.
        let memory = |address: u64, _: usize| Some(address.to_le_bytes().to_vec());
        let target = call_target(after, &|address, length| self.code(address, length), &memory)?;
        self.imported.get(&target).or_else(|| self.own.get(&target)).cloned()
    }

    fn code(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let section = self
            .file
            .sections()
            .find(|section| (section.address()..section.address().saturating_add(section.size())).contains(&address))?;
        let data = section.data().ok()?;
        let at = usize::try_from(address - section.address()).ok()?;
        // A stub may be the last one of its section.
        let mut found = [0; LONGEST_READ];
        let here = data.get(at..data.len().min(at + length.min(LONGEST_READ)))?;
        found.get_mut(..here.len())?.copy_from_slice(here);
        found.get(..length).map(<[u8]>::to_vec)
    }
}

/// The lines of addresses of a file.
fn lines(path: &Path, bytes: &[u8], wanted: &[u64]) -> Option<Vec<Option<i64>>> {
    let sections = DebugSections::new(path, bytes).ok()?;
    let dwarf = Dwarf::load(|id: SectionId| Ok::<_, gimli::Error>(sections.reader(id))).ok()?;
    let end = Instant::now() + TIME_LIMIT;
    let mut found = vec![None; wanted.len()];
    let first = *wanted.first()?;
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if Instant::now() > end {
            break;
        }
        let Ok(unit) = dwarf.unit(header) else { continue };
        let Ok(mut ranges) = dwarf.unit_ranges(&unit) else { continue };
        let has =
            std::iter::from_fn(|| ranges.next().ok().flatten()).any(|range| (range.begin..range.end).contains(&first));
        if has {
            lines_in(&unit, wanted, end, &mut found);
            break;
        }
    }
    Some(found)
}

fn lines_in(unit: &Unit<Section<'_>>, wanted: &[u64], end: Instant, found: &mut [Option<i64>]) {
    let Some(program) = unit.line_program.clone() else { return };
    let mut rows = program.rows();
    let mut before: Option<(u64, Option<i64>)> = None;
    while let Ok(Some((_, row))) = rows.next_row() {
        if Instant::now() > end {
            return;
        }
        if let Some((begin, line)) = before {
            let piece = begin..row.address();
            for (place, _) in found.iter_mut().zip(wanted).filter(|(_, address)| piece.contains(address)) {
                *place = line;
            }
        }
        let line = row.line().and_then(|line| i64::try_from(line.get()).ok());
        before = (!row.end_sequence()).then_some((row.address(), line));
    }
}
