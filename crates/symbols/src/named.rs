//! The symbols of one file by their names, as gdb 13 finds them (`lookup_minimal_symbol` in gdb/minsyms.c, `elf_symtab_read` in
//! gdb/elfread.c).

use gimli::RunTimeEndian;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, Sym as _};
use object::{Endianness, pod};

use target::file_budget::Growing;

use super::msymbols::{MAX_NAMES, MAX_SYMBOLS, SYMBOLS, name_at};
use super::{ObjectFile, Section};

/// Of a symbol that is only there for programs that were linked before (Linux Standard Base, 10.7.2).
const HIDDEN_VERSION: u16 = 0x8000;

/// A symbol: where its name begins in the strings of its table, how long that is, and the address.
#[derive(Clone, Copy)]
struct Named {
    at: u32,
    length: u32,
    is_dynamic: bool,
    address: u64,
}

/// Symbols of one kind, by their names.
#[derive(Default)]
struct ByName(Vec<Named>);

/// The bytes of names, of `.strtab` and `.dynstr`.
#[derive(Default)]
struct Strings {
    full: Option<Section>,
    dynamic: Option<Section>,
}

impl Strings {
    fn name(&self, symbol: &Named) -> &[u8] {
        let section = if symbol.is_dynamic { &self.dynamic } else { &self.full };
        let begin = symbol.at as usize;
        let range = begin..begin.saturating_add(symbol.length as usize);
        section.as_ref().and_then(|section| section.bytes().get(range)).unwrap_or_default()
    }
}

impl ByName {
    fn sort(&mut self, strings: &Strings) {
        // Those of the same name stay in the order of the tables.
        self.0.sort_by(|a, b| strings.name(a).cmp(strings.name(b)));
        self.0.shrink_to_fit();
    }

    fn all<'a>(&'a self, strings: &'a Strings, name: &'a str) -> impl Iterator<Item = &'a Named> {
        let from = self.0.partition_point(|symbol| strings.name(symbol) < name.as_bytes());
        let rest = self.0.get(from..).unwrap_or_default().iter();
        rest.take_while(move |symbol| strings.name(symbol) == name.as_bytes())
    }
}

#[derive(Default)]
pub(crate) struct NamedSymbols {
    strings: Strings,
    external: ByName,
    local: ByName,
    /// Those that other units know, and that threads have in common.
    variables: ByName,
    claimed: Growing,
}

impl NamedSymbols {
    pub(crate) fn new(file: &ObjectFile) -> Self {
        let mut found = Self::default();
        for is_dynamic in [false, true] {
            if file.is_64() {
                found.read::<FileHeader64<Endianness>>(file, is_dynamic);
            } else {
                found.read::<FileHeader32<Endianness>>(file, is_dynamic);
            }
        }
        let Self { strings, external, local, variables, .. } = &mut found;
        for symbols in [external, local, variables] {
            symbols.sort(strings);
        }
        found
    }

    /// One that other files know.
    pub(crate) fn external(&self, name: &str) -> Option<u64> {
        self.external.all(&self.strings, name).map(|symbol| symbol.address).max()
    }

    /// One that no other file knows.
    pub(crate) fn local(&self, name: &str) -> Option<u64> {
        self.local.all(&self.strings, name).map(|symbol| symbol.address).min()
    }

    /// A variable of the file, by its symbol.
    pub(crate) fn variable(&self, name: &str) -> Option<u64> {
        self.variables.all(&self.strings, name).next().map(|variable| variable.address)
    }

    /// The same where other files know it too.
    pub(crate) fn exported_variable(&self, name: &str) -> Option<u64> {
        let is_exported = self.variables.all(&self.strings, name).any(|variable| variable.is_dynamic);
        self.variable(name).filter(|_| is_exported)
    }

    /// Whether there may be another symbol.
    fn has_room(&mut self, file: &ObjectFile) -> bool {
        // Twice: a vector that grows has both sizes for a moment.
        self.claimed.by(file.budget(), SYMBOLS, 2 * size_of::<Named>())
    }

    fn read<E: FileHeader<Endian = Endianness>>(&mut self, file: &ObjectFile, is_dynamic: bool) -> Option<()> {
        let (table, strings) = if is_dynamic { (".dynsym", ".dynstr") } else { (".symtab", ".strtab") };
        let (bytes, _) = file.section(table)?;
        let (strings, _) = file.section(strings)?;
        let kept = if is_dynamic { &mut self.strings.dynamic } else { &mut self.strings.full };
        *kept = Some(strings.clone());
        let endian = match file.endian() {
            RunTimeEndian::Little => Endianness::Little,
            RunTimeEndian::Big => Endianness::Big,
        };
        let versions = if is_dynamic { file.section(".gnu.version") } else { None };
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
            let at = symbol.st_name(endian);
            let Some(name) = name_at(&strings, at) else { continue };
            read += name.len();
            if read > MAX_NAMES || !self.has_room(file) {
                break;
            }
            // One with a default version is known without it too.
            let plain = name.windows(2).position(|pair| pair == b"@@").unwrap_or(name.len());
            let Ok(length) = u32::try_from(plain) else { continue };
            let symbols = if is_variable {
                &mut self.variables
            } else if is_local {
                &mut self.local
            } else {
                &mut self.external
            };
            symbols.0.push(Named { at, length, is_dynamic, address: symbol.st_value(endian).into() });
        }
        Some(())
    }
}
