//! The symbols of one file by their names, as gdb 13 finds them (`lookup_minimal_symbol` in gdb/minsyms.c, `elf_symtab_read` in
//! gdb/elfread.c).

use std::collections::HashMap;

use gimli::RunTimeEndian;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, Sym as _};
use object::{Endianness, pod};

use super::ObjectFile;
use super::msymbols::{MAX_NAMES, MAX_SYMBOLS, name_at};

/// Of a symbol that is only there for programs that were linked before (Linux Standard Base, 10.7.2).
const HIDDEN_VERSION: u16 = 0x8000;

#[derive(Default)]
pub(crate) struct NamedSymbols {
    external: HashMap<Box<[u8]>, u64>,
    local: HashMap<Box<[u8]>, u64>,
    variables: HashMap<Box<[u8]>, Variable>,
}

/// A variable that other units know, and that threads have in common.
#[derive(Clone, Copy)]
struct Variable {
    address: u64,
    /// Whether other files know it too.
    exported: bool,
}

impl NamedSymbols {
    pub(crate) fn new(file: &ObjectFile) -> Self {
        let mut found = Self::default();
        for (table, strings) in [(".symtab", ".strtab"), (".dynsym", ".dynstr")] {
            if file.is_64() {
                found.read::<FileHeader64<Endianness>>(file, table, strings);
            } else {
                found.read::<FileHeader32<Endianness>>(file, table, strings);
            }
        }
        found
    }

    /// One that other files know.
    pub(crate) fn external(&self, name: &str) -> Option<u64> {
        self.external.get(name.as_bytes()).copied()
    }

    /// One that no other file knows.
    pub(crate) fn local(&self, name: &str) -> Option<u64> {
        self.local.get(name.as_bytes()).copied()
    }

    /// A variable of the file, by its symbol.
    pub(crate) fn variable(&self, name: &str) -> Option<u64> {
        self.variables.get(name.as_bytes()).map(|variable| variable.address)
    }

    /// The same where other files know it too.
    pub(crate) fn exported_variable(&self, name: &str) -> Option<u64> {
        self.variables.get(name.as_bytes()).filter(|variable| variable.exported).map(|variable| variable.address)
    }

    fn read<E: FileHeader<Endian = Endianness>>(
        &mut self,
        file: &ObjectFile,
        table: &str,
        strings: &str,
    ) -> Option<()> {
        let (bytes, _) = file.section(table)?;
        let (strings, _) = file.section(strings)?;
        let endian = match file.endian() {
            RunTimeEndian::Little => Endianness::Little,
            RunTimeEndian::Big => Endianness::Big,
        };
        let versions = if table == ".dynsym" { file.section(".gnu.version") } else { None };
        let is_hidden = |number: usize| {
            let version = versions.as_ref().and_then(|(bytes, _)| bytes.bytes().get(2 * number..)?.first_chunk::<2>());
            let version = version.map(|bytes| match endian {
                Endianness::Little => u16::from_le_bytes(*bytes),
                Endianness::Big => u16::from_be_bytes(*bytes),
            });
            version.is_some_and(|version| version & HIDDEN_VERSION != 0)
        };
        let count = bytes.bytes().len() / size_of::<E::Sym>();
        let (symbols, _) = pod::slice_from_bytes::<E::Sym>(bytes.bytes(), count).ok()?;
        let mut read = 0;
        for (number, symbol) in symbols.iter().enumerate().skip(1).take(MAX_SYMBOLS) {
            let index = usize::from(symbol.st_shndx(endian).0);
            let known = file.sections().binary_search_by_key(&index, |section| section.index).ok();
            let is_code = known.and_then(|at| file.sections().get(at)).is_some_and(|section| section.is_code);
            let kind = symbol.st_type();
            let is_local = symbol.st_bind() == elf::STB_LOCAL;
            let is_variable = known.is_some() && !is_code && kind == elf::STT_OBJECT && !is_local;
            let is_wanted = is_variable || is_code && kind != elf::STT_SECTION && kind != elf::STT_FILE;
            if !is_wanted || is_hidden(number) {
                continue;
            }
            let Some(name) = name_at(&strings, symbol.st_name(endian)) else { continue };
            read += name.len();
            if read > MAX_NAMES {
                break;
            }
            let address: u64 = symbol.st_value(endian).into();
            // One with a default version is known without it too.
            let plain = name.windows(2).position(|pair| pair == b"@@").map_or(name, |at| &name[..at]);
            if is_variable {
                let known = Variable { address, exported: false };
                let known = self.variables.entry(plain.into()).or_insert(known);
                known.exported |= table == ".dynsym";
            } else if is_local {
                let known = self.local.entry(plain.into()).or_insert(address);
                *known = address.min(*known);
            } else {
                let known = self.external.entry(plain.into()).or_insert(address);
                *known = address.max(*known);
            }
        }
        Some(())
    }
}
