//! Where a program keeps its own variables.

use std::path::Path;

use object::read::{Object, ObjectSection, ObjectSegment, ObjectSymbol, ReadRef, RelocationTarget};
use object::{Architecture, RelocationFlags, SectionFlags, SectionKind, elf};

use target::files::{Contents, open_regular};

/// That of ELF files with 64 bits (System V ABI, `Elf64_Ehdr`); no other is longer.
const LONGEST_HEADER: u64 = 64;

/// The variables of a program, in the addresses of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnVariables {
    /// Where the program headers come to lie (AT_PHDR, less the load bias).
    pub headers: u64,
    /// Addresses and lengths.
    pub ranges: Vec<(u64, u64)>,
}

/// Where the file `path` has variables: `.data`, `.bss` and the like, without what it only keeps for its libraries (variables of
/// theirs that the linker copied into it). `None` where it cannot be read.
pub fn own_variables(path: &Path) -> Option<OwnVariables> {
    let contents = Contents::new(open_regular(path).ok()?);
    let file = object::File::parse(&contents).ok()?;
    let headers = program_headers(&file, (&contents).read_bytes_at(0, LONGEST_HEADER).ok()?)?;
    let copies = copied(&file);
    let mut found = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        let writable = sh_flags.contains(elf::SHF_WRITE) && !sh_flags.contains(elf::SHF_TLS);
        let kind = matches!(section.kind(), SectionKind::Data | SectionKind::UninitializedData);
        // Tables of the linker, which binds functions when they are first called.
        let linked = section.name().is_ok_and(|name| name.starts_with(".got") || name == ".dynamic");
        if writable && kind && !linked && section.size() > 0 {
            found.extend(without(section.address(), section.size(), &copies));
        }
    }
    found.sort_unstable();
    Some(OwnVariables { headers, ranges: found })
}

/// The address of the program headers (e_phoff of the ELF header, System V ABI) in the segment that has them.
fn program_headers<'data, R: ReadRef<'data>>(file: &object::File<'data, R>, bytes: &[u8]) -> Option<u64> {
    let number = |bytes: &[u8]| {
        let digits = bytes.iter().map(|byte| u64::from(*byte));
        let value = |sum: u64, digit: u64| (sum << 8) | digit;
        if file.is_little_endian() { digits.rev().fold(0, value) } else { digits.fold(0, value) }
    };
    let place = number(bytes.get(if file.is_64() { 32..40 } else { 28..32 })?);
    file.segments().find_map(|segment| {
        let (start, length) = segment.file_range();
        let within = place.checked_sub(start).filter(|within| *within < length)?;
        segment.address().checked_add(within)
    })
}

/// The variables of libraries that lie in the file, by address: start and end.
fn copied<'data, R: ReadRef<'data>>(file: &object::File<'data, R>) -> Vec<(u64, u64)> {
    let copy = match file.architecture() {
        Architecture::X86_64 | Architecture::X86_64_X32 => elf::R_X86_64_COPY,
        Architecture::I386 => elf::R_386_COPY,
        Architecture::Aarch64 => elf::R_AARCH64_COPY,
        Architecture::PowerPc64 => elf::R_PPC64_COPY,
        Architecture::Riscv64 => elf::R_RISCV_COPY,
        _ => return Vec::new(),
    };
    let Some(symbols) = file.dynamic_symbol_table() else { return Vec::new() };
    let mut found = Vec::new();
    for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
        let RelocationTarget::Symbol(index) = relocation.target() else { continue };
        if r_type == copy
            && let Ok(symbol) = object::ObjectSymbolTable::symbol_by_index(&symbols, index)
        {
            found.push((address, address.saturating_add(symbol.size())));
        }
    }
    found.sort_unstable();
    found
}

/// A range without others, as addresses and lengths.
fn without(start: u64, length: u64, others: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let end = start.saturating_add(length);
    let (mut found, mut at) = (Vec::new(), start);
    for (from, to) in others.iter().filter(|(from, to)| *to > start && *from < end) {
        if *from > at {
            found.push((at, from - at));
        }
        at = at.max(*to);
    }
    if end > at {
        found.push((at, end - at));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_without_others() {
        assert_eq!(without(10, 10, &[]), [(10, 10)]);
        assert_eq!(without(10, 10, &[(0, 5), (12, 14), (13, 15), (30, 40)]), [(10, 2), (15, 5)]);
        assert_eq!(without(10, 10, &[(5, 25)]), []);
        assert_eq!(without(u64::MAX, 2, &[]), []);
        assert_eq!(without(10, 10, &[(8, 12), (18, 30)]), [(12, 6)]);
    }

    #[test]
    fn a_program_has_variables_of_its_own() {
        static mut OWN: u64 = 7;
        let program = std::env::current_exe().unwrap_or_default();
        let _ = &raw mut OWN;
        let found = own_variables(&program).unwrap_or(OwnVariables { headers: 0, ranges: Vec::new() });
        assert_eq!(found.headers % 0x1000, 0x40);
        assert!(!found.ranges.is_empty());
        assert_eq!(own_variables(Path::new("/nix")), None);
    }
}
