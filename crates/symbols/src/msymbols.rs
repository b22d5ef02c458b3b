//! The symbols of one file by their addresses, and which of them gdb takes for an address: its minimal symbols
//! (gdb 13, `elf_symtab_read` in gdb/elfread.c, `lookup_minimal_symbol_by_pc_section` in gdb/minsyms.c).

use gimli::RunTimeEndian;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, Sym as _};
use object::{Architecture, Endianness, pod};

use target::file_budget::Growing;

use super::demangle::demangled;
use super::object_file::SectionHead;
use super::{ObjectFile, Section, plt};

/// More symbols, or bytes of names, are not read from one file: names of a damaged one overlap.
pub(crate) const MAX_SYMBOLS: usize = 1 << 22;
pub(crate) const MAX_NAMES: usize = 1 << 28;

/// What symbols are called in the budget of a file.
pub(crate) const SYMBOLS: &str = "symbol table";

/// A longer name is damage.
const MAX_NAME: usize = 1 << 16;

/// A function by its symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function<'a> {
    name: &'a [u8],
    /// Where it begins.
    pub start: u64,
    /// How many bytes it has; `None` where the symbol does not say: then it goes on to the next one.
    pub size: Option<u64>,
}

impl Function<'_> {
    /// The symbol itself.
    pub fn symbol(&self) -> String {
        target::printable(self.name)
    }

    /// The name in the source, without parameters.
    pub fn name(&self) -> String {
        demangled(&self.symbol())
    }
}

/// A symbol in code.
#[derive(Debug, Clone, Copy)]
struct Entry {
    address: u64,
    size: u64,
    /// Number of its section.
    section: usize,
    name: Name,
    is_function: bool,
}

/// Where a name begins and ends.
#[derive(Debug, Clone, Copy)]
enum Name {
    InFile(u32, u32),
    /// That of a stub, which is made up.
    Own(u32, u32),
}

#[derive(Default)]
pub(crate) struct SymbolTable {
    /// By address; those at one address by the bytes of their names.
    entries: Vec<Entry>,
    /// The file's names.
    strings: Option<Section>,
    names: Vec<u8>,
    claimed: Growing,
}

impl SymbolTable {
    pub(crate) fn new(file: &ObjectFile) -> Self {
        let mut table = Self::default();
        if file.is_64() {
            table.fill::<FileHeader64<Endianness>>(file);
        } else {
            table.fill::<FileHeader32<Endianness>>(file);
        }
        let (strings, names, entries) = (&table.strings, &table.names, &mut table.entries);
        let name = |entry: &Entry| bytes_of(strings.as_ref(), names, entry.name);
        entries.sort_by(|a, b| a.address.cmp(&b.address).then_with(|| name(a).cmp(name(b))));
        entries.dedup_by(|a, b| a.address == b.address && a.section == b.section && name(a) == name(b));
        table
    }

    fn fill<E: FileHeader<Endian = Endianness>>(&mut self, file: &ObjectFile) {
        let is_full = self.read::<E>(file, ".symtab", ".strtab");
        if !is_full {
            self.read::<E>(file, ".dynsym", ".dynstr");
        }
        for plt::Stub { address, section, name } in plt::stubs(file) {
            let start = self.names.len();
            if start + name.len() > MAX_NAMES || !self.has_room(file) {
                break;
            }
            self.names.extend_from_slice(name.as_bytes());
            let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(self.names.len())) else { break };
            self.entries.push(Entry { address, size: 0, section, name: Name::Own(start, end), is_function: true });
        }
    }

    /// Whether the table has symbols at all.
    fn read<E: FileHeader<Endian = Endianness>>(&mut self, file: &ObjectFile, table: &str, strings: &str) -> bool {
        let (Some((bytes, _)), Some((strings, _))) = (file.section(table), file.section(strings)) else { return false };
        let endian = match file.endian() {
            RunTimeEndian::Little => Endianness::Little,
            RunTimeEndian::Big => Endianness::Big,
        };
        let count = bytes.bytes().len() / size_of::<E::Sym>();
        let Ok((symbols, _)) = pod::slice_from_bytes::<E::Sym>(bytes.bytes(), count) else { return false };
        let mut read = 0;
        // The first has no meaning.
        for symbol in symbols.iter().skip(1).take(MAX_SYMBOLS) {
            let index = usize::from(symbol.st_shndx(endian).0);
            // They are in the order of their numbers.
            let known = file.sections().binary_search_by_key(&index, |section| section.index).ok();
            let section = known.and_then(|at| file.sections().get(at)).filter(|section| section.is_code);
            let Some(section) = section else { continue };
            let kind = symbol.st_type();
            if kind == elf::STT_SECTION || kind == elf::STT_FILE {
                continue;
            }
            let at = symbol.st_name(endian);
            let Some(name) = name_at(&strings, at) else { continue };
            read += name.len();
            if read > MAX_NAMES || !self.has_room(file) {
                break;
            }
            if is_label(name, file.architecture(), symbol.st_bind() == elf::STB_LOCAL) {
                continue;
            }
            let (address, size) = (symbol.st_value(endian).into(), symbol.st_size(endian).into());
            let is_function = kind == elf::STT_FUNC || kind == elf::STT_GNU_IFUNC;
            // A longer name than an offset can tell is none.
            let Some(end) = u32::try_from(name.len()).ok().and_then(|length| at.checked_add(length)) else { continue };
            let name = Name::InFile(at, end);
            self.entries.push(Entry { address, size, section: section.index, name, is_function });
        }
        self.strings = Some(strings);
        count > 1
    }

    /// Whether there may be another symbol.
    fn has_room(&mut self, file: &ObjectFile) -> bool {
        // Twice: a vector that grows has both sizes for a moment.
        self.claimed.by(file.budget(), SYMBOLS, 2 * size_of::<Entry>())
    }

    fn name(&self, entry: &Entry) -> &[u8] {
        bytes_of(self.strings.as_ref(), &self.names, entry.name)
    }

    /// The symbol that covers an address.
    pub(crate) fn at(&self, address: u64, sections: &[SectionHead]) -> Option<Function<'_>> {
        let section = section_of(address, sections)?;
        let end = self.entries.partition_point(|entry| entry.address <= address);
        let covers = |entry: &Entry| address - entry.address < entry.size;
        let mut without_size = None;
        let mut before = self.entries.get(..end)?.iter().rev().filter(|entry| entry.section == section).peekable();
        let mut best = None;
        while let Some(entry) = before.next() {
            if entry.size == 0 {
                // It may be a label in a function.
                without_size.get_or_insert(entry);
                continue;
            }
            // Past its end, and within a longer one that begins before it.
            if !covers(entry) && before.peek().is_some_and(|longer| covers(longer)) {
                continue;
            }
            best = Some(entry);
            break;
        }
        let entry = best.filter(|entry| covers(entry)).or(without_size)?;
        let size = (entry.size != 0).then_some(entry.size);
        Some(Function { name: self.name(entry), start: entry.address, size })
    }

    /// The name of the function that starts at an address.
    pub(crate) fn starting_at(&self, address: u64) -> Option<&[u8]> {
        let from = self.entries.partition_point(|entry| entry.address < address);
        let there = self.entries.get(from..)?.iter().take_while(|entry| entry.address == address);
        there.filter(|entry| entry.is_function).last().map(|entry| self.name(entry))
    }
}

/// The bytes of a name.
fn bytes_of<'a>(strings: Option<&'a Section>, own: &'a [u8], name: Name) -> &'a [u8] {
    let found = match name {
        Name::InFile(start, end) => strings.and_then(|strings| strings.bytes().get(start as usize..end as usize)),
        Name::Own(start, end) => own.get(start as usize..end as usize),
    };
    found.unwrap_or_default()
}

/// The number of the section of code that has an address.
fn section_of(address: u64, sections: &[SectionHead]) -> Option<usize> {
    let has = |section: &&SectionHead| {
        section.is_loaded && section.is_code && address.wrapping_sub(section.address) < section.size
    };
    sections.iter().find(has).map(|section| section.index)
}

pub(crate) fn name_at(strings: &Section, at: u32) -> Option<&[u8]> {
    let rest = strings.bytes().get(usize::try_from(at).ok()?..)?;
    let rest = rest.get(..MAX_NAME).unwrap_or(rest);
    let name = rest.split(|byte| *byte == 0).next()?;
    (!name.is_empty()).then_some(name)
}

/// Labels of compilers, and symbols that say what kind of code follows (`$x`, `$d`).
fn is_label(name: &[u8], architecture: Architecture, is_local: bool) -> bool {
    let marks = match architecture {
        Architecture::Aarch64 | Architecture::Aarch64_Ilp32 | Architecture::Arm => name.first() == Some(&b'$'),
        Architecture::Riscv32 | Architecture::Riscv64 => name.first() == Some(&b'$'),
        _ => false,
    };
    name.starts_with(b".L") || is_local && (marks || name.starts_with(b"$L"))
}
