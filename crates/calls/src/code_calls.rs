//! The calls of MPI that stand in the machine code of a function, with their lines: where its source is not here.

use std::collections::HashMap;
use std::path::Path;

use object::SymbolKind;
use object::read::{Object, ObjectSymbol, ObjectSymbolTable, RelocationTarget};

use crate::call_target::call_target;
use crate::code_file::code_file;
use functions::mpi_function;
use symbols::ObjectFile;
use target::files::{Contents, open_regular};

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
    let (object, text) = code_file(path, build_id)?;
    let start = text.start;
    let contents = Contents::new(open_regular(path).ok()?);
    let file = object::File::parse(&contents).ok()?;
    let (begin, end) = function_around(&file, start.checked_add(offset)?)?;
    if !text.contains(&begin) || end > text.end {
        return None;
    }
    let own = object.loaded_bytes(begin, end.checked_sub(begin)?)?;
    let names = Names::new(&object, &file);
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
    for call in &mut found {
        let line = object.frames_at(start + call.after - 1).first().and_then(|frame| frame.line);
        call.line = line.map(i64::from);
    }
    Some(found)
}

type File<'data> = object::File<'data, &'data Contents>;

/// Where the function begins and ends that has an address.
fn function_around(file: &File<'_>, address: u64) -> Option<(u64, u64)> {
    let mut all = file.symbols().chain(file.dynamic_symbols()).filter(|symbol| symbol.kind() == SymbolKind::Text);
    let range =
        |symbol: object::Symbol<'_, '_, &Contents>| (symbol.address(), symbol.address().saturating_add(symbol.size()));
    // The call may be the last thing in it.
    let (begin, end) = all.find_map(|symbol| {
        let (begin, end) = range(symbol);
        (begin < address && address <= end && end - begin <= LONGEST).then_some((begin, end))
    })?;
    Some((begin, end))
}

/// The functions that code can call, by their addresses or by the places of their addresses.
struct Names<'f> {
    object: &'f ObjectFile,
    own: HashMap<u64, String>,
    imported: HashMap<u64, String>,
}

impl<'f> Names<'f> {
    fn new(object: &'f ObjectFile, file: &File<'_>) -> Self {
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
        Self { object, own, imported }
    }

    /// The function that the call before an address leads to.
    fn called(&self, after: u64) -> Option<String> {
        // The places of imported functions hold their own addresses here, so that they can be told.
        let memory = |address: u64, _: usize| Some(address.to_le_bytes().to_vec());
        let target = call_target(after, &|address, length| self.code(address, length), &memory)?;
        self.imported.get(&target).or_else(|| self.own.get(&target)).cloned()
    }

    fn code(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        // A stub may be the last one of its section.
        let mut found = [0; LONGEST_READ];
        let here = self.object.loaded_bytes(address, length.min(LONGEST_READ) as u64)?;
        found.get_mut(..here.len())?.copy_from_slice(&here);
        found.get(..length).map(<[u8]>::to_vec)
    }
}
