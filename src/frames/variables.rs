//! Where a program keeps its own variables.

use std::path::Path;

use object::read::{Object, ObjectSection, ObjectSymbol, RelocationTarget};
use object::{Architecture, RelocationFlags, SectionFlags, SectionKind, elf};

use crate::layouts::read_file;

/// The ranges of the file `path` (address in the file and length) that hold its variables: `.data`, `.bss` and the like, without
/// what it only keeps for its libraries (variables of theirs that the linker copied into it). Empty where it cannot be read.
pub fn own_variables(path: &Path) -> Vec<(u64, u64)> {
    let Ok(bytes) = read_file(path) else { return Vec::new() };
    let Ok(file) = object::File::parse(bytes.as_slice()) else { return Vec::new() };
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
    found
}

/// The variables of libraries that lie in the file, by address: start and end.
fn copied(file: &object::File<'_>) -> Vec<(u64, u64)> {
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
        assert!(!own_variables(&program).is_empty());
        assert!(own_variables(Path::new("/nix")).is_empty());
    }
}
