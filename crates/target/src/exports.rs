//! What a loaded file exports, by the tables with which the dynamic linker itself finds it: no file is opened, and a name costs a
//! few words of memory.
//!
//! System V ABI, chapter 5 (dynamic section, symbol table, hash table); DT_GNU_HASH as glibc reads it (elf/dl-lookup.c).

use super::{Module, Symbol, Target};
use crate::address::TargetAddr;

const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_SONAME: u64 = 14;
const DT_GNU_HASH: u64 = 0x6fff_fef5;

/// More entries than these are damage.
const MAX_DYNAMIC: u64 = 1024;
const MAX_CHAIN: u64 = 1 << 16;
const MAX_NAME: usize = 4096;

const UNDEFINED: u64 = 0;
const LOCAL: u64 = 0;
const THREAD_LOCAL: u64 = 6;

/// The tables of one file.
#[derive(Debug, Clone)]
pub struct Exports {
    bias: TargetAddr,
    strings: TargetAddr,
    symbols: TargetAddr,
    hash: Hash,
    file_name: Option<u64>,
}

#[derive(Debug, Clone)]
enum Hash {
    Gnu { buckets: u64, first: u64, bloom: (TargetAddr, u64, u64), table: TargetAddr },
    SystemV { buckets: u64, table: TargetAddr },
}

impl Exports {
    /// The tables of a file; `None` where they cannot be read.
    pub fn of(target: &(impl Target + ?Sized), module: &Module) -> Option<Self> {
        let width = target.abi().pointer_width.bytes();
        let (mut strings, mut symbols, mut gnu, mut system_v, mut file_name) = (None, None, None, None, None);
        for number in 0..MAX_DYNAMIC {
            let entry = module.dynamic.wrapping_add(number * 2 * width);
            let value = target.read_uint(entry.wrapping_add(width), width).ok()?;
            match target.read_uint(entry, width).ok()? {
                0 => break,
                DT_STRTAB => strings = Some(value),
                DT_SYMTAB => symbols = Some(value),
                DT_HASH => system_v = Some(value),
                DT_GNU_HASH => gnu = Some(value),
                DT_SONAME => file_name = Some(value),
                _ => {}
            }
        }
        // glibc adds the bias to addresses, other C libraries do not.
        let place = |value: u64| {
            if value >= module.bias.get() { TargetAddr::new(value) } else { module.bias.wrapping_add(value) }
        };
        let hash = match (gnu, system_v) {
            (Some(gnu), _) => gnu_hash(target, place(gnu), width)?,
            (None, Some(hash)) => {
                let at = place(hash);
                Hash::SystemV { buckets: target.read_uint(at, 4).ok()?, table: at.wrapping_add(8) }
            }
            (None, None) => return None,
        };
        Some(Self { bias: module.bias, strings: place(strings?), symbols: place(symbols?), hash, file_name })
    }

    /// By which name other files need this one (DT_SONAME).
    pub fn file_name(&self, target: &(impl Target + ?Sized)) -> Option<Vec<u8>> {
        target.read_c_string(self.strings.wrapping_add(self.file_name?), MAX_NAME).ok()
    }

    /// Where the file defines `name`.
    pub fn find(&self, target: &(impl Target + ?Sized), name: &str) -> Option<Symbol> {
        match &self.hash {
            Hash::Gnu { buckets, first, bloom, table } => self.find_gnu(target, name, *buckets, *first, *bloom, *table),
            Hash::SystemV { buckets, table } => {
                let word = |index: u64| target.read_uint(table.wrapping_add(index.checked_mul(4)?), 4).ok();
                let mut symbol = word(system_v_hash(name).checked_rem(*buckets)?)?;
                for _ in 0..MAX_CHAIN {
                    if symbol == 0 {
                        return None;
                    }
                    if let Some(found) = self.symbol(target, symbol, name) {
                        return Some(found);
                    }
                    symbol = word(buckets.checked_add(symbol)?)?;
                }
                None
            }
        }
    }

    fn find_gnu(
        &self,
        target: &(impl Target + ?Sized),
        name: &str,
        buckets: u64,
        first: u64,
        (bloom, words, shift): (TargetAddr, u64, u64),
        table: TargetAddr,
    ) -> Option<Symbol> {
        let width = target.abi().pointer_width.bytes();
        let bits = 8 * width;
        let hash = name.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(byte.into()));
        let hash = u64::from(hash);
        let mask = target.read_uint(bloom.wrapping_add((hash / bits).checked_rem(words)? * width), width).ok()?;
        if mask >> (hash % bits) & mask >> ((hash >> (shift & 31)) % bits) & 1 == 0 {
            return None;
        }
        let word = |index: u64| target.read_uint(table.wrapping_add(index.checked_mul(4)?), 4).ok();
        let chain = word(hash.checked_rem(buckets)?)?;
        if chain < first {
            return None;
        }
        for symbol in chain..chain.saturating_add(MAX_CHAIN) {
            let entry = word(buckets.checked_add(symbol - first)?)?;
            if entry | 1 == hash | 1
                && let Some(found) = self.symbol(target, symbol, name)
            {
                return Some(found);
            }
            // The last of a chain has its lowest bit set.
            if entry & 1 == 1 {
                return None;
            }
        }
        None
    }

    /// The symbol with a number, if it has that name and is defined here for others.
    fn symbol(&self, target: &(impl Target + ?Sized), number: u64, name: &str) -> Option<Symbol> {
        // Elf64_Sym: st_name, st_info at 4, st_shndx at 6, st_value at 8, st_size at 16; Elf32_Sym: 12, 14, 4, 8.
        let width = target.abi().pointer_width.bytes();
        let (entry, info, section, value, size) = if width == 8 { (24, 4, 6, 8, 16) } else { (16, 12, 14, 4, 8) };
        let at = self.symbols.wrapping_add(number.checked_mul(entry)?);
        let field = |offset: u64, width: u64| target.read_uint(at.wrapping_add(offset), width).ok();
        let text = self.strings.wrapping_add(field(0, 4)?);
        let mut found = vec![0; name.len() + 1];
        target.read(text, &mut found).ok()?;
        if found.split_last() != Some((&0, name.as_bytes())) {
            return None;
        }
        let info = field(info, 1)?;
        if field(section, 2)? == UNDEFINED || info >> 4 == LOCAL || info & 15 == THREAD_LOCAL {
            return None;
        }
        Some(Symbol { addr: self.bias.wrapping_add(field(value, width)?), size: Some(field(size, width)?) })
    }
}

fn gnu_hash(target: &(impl Target + ?Sized), at: TargetAddr, width: u64) -> Option<Hash> {
    let word = |index: u64| target.read_uint(at.wrapping_add(4 * index), 4).ok();
    let (buckets, first, words, shift) = (word(0)?, word(1)?, word(2)?, word(3)?);
    let bloom = at.wrapping_add(16);
    let table = bloom.wrapping_add(words * width);
    Some(Hash::Gnu { buckets, first, bloom: (bloom, words, shift), table })
}

fn system_v_hash(name: &str) -> u64 {
    let hash = name.bytes().fold(0_u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(byte.into());
        let top = hash & 0xf000_0000;
        (hash ^ (top >> 24)) & !top
    });
    hash.into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{LiveProcess, modules_from_link_map, r_debug_from_program_headers};

    /// This process's own C library, whose symbols the linker has found as well.
    #[test]
    fn what_the_linker_finds_is_found() {
        let target = LiveProcess::open(std::process::id()).unwrap();
        let (headers, count) = target.program_headers().unwrap().unwrap();
        let r_debug = r_debug_from_program_headers(&target, headers, count).unwrap().unwrap();
        let modules = modules_from_link_map(&target, r_debug).unwrap();
        let library = modules.iter().find(|module| module.name.ends_with(b"/libc.so.6")).unwrap();
        let exports = Exports::of(&target, library).unwrap();
        assert_eq!(exports.file_name(&target).as_deref(), Some(&b"libc.so.6"[..]));
        let found = |name: &str| exports.find(&target, name).map(|symbol| symbol.addr.get());
        assert_eq!(found("getpid"), Some(libc::getpid as *const () as u64));
        assert!(found("stdout").is_some());
        assert_eq!(exports.find(&target, "no_such_symbol"), None);
        // Tables that lie nowhere are no tables.
        let damaged = Module { dynamic: TargetAddr::new(8), ..library.clone() };
        assert!(Exports::of(&target, &damaged).is_none());
    }
}
