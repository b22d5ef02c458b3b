//! The stubs through which a file calls functions of others: gdb names them `NAME@plt`, as BFD does
//! (`elf_x86_64_get_synthetic_symtab` in bfd/elf64-x86-64.c). Only those of x86-64 are known.

use std::collections::HashMap;

use gimli::RunTimeEndian;
use object::elf::{self, Rela64, Sym64};
use object::{Architecture, LittleEndian, pod};

use super::ObjectFile;

/// Sections of stubs. In `.plt` of code for IBT those of `.plt.sec` stand for it.
const SECTIONS: [&str; 4] = [".plt", ".plt.got", ".plt.sec", ".plt.bnd"];

/// More stubs, or longer names, are damage.
const MAX_STUBS: usize = 1 << 18;
const MAX_NAME: usize = 4096;
const MAX_NAMES: usize = 1 << 24;

/// The instruction `endbr64`.
const ENDBR: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

pub(crate) struct Stub {
    pub(crate) address: u64,
    /// Number of the section that it lies in.
    pub(crate) section: usize,
    pub(crate) name: String,
}

/// All stubs of a file.
pub(crate) fn stubs(file: &ObjectFile) -> Vec<Stub> {
    if file.architecture() != Architecture::X86_64 || !file.is_64() || file.endian() != RunTimeEndian::Little {
        return Vec::new();
    }
    let slots = slots(file);
    if slots.is_empty() {
        return Vec::new();
    }
    let (mut found, mut length) = (Vec::new(), 0);
    for name in SECTIONS {
        let head = file.sections().iter().find(|section| section.name == name.as_bytes());
        let (Some(head), Some((code, address))) = (head, file.section(name)) else { continue };
        // A stub has 8 or 16 bytes.
        for (number, stub) in code.bytes().chunks(8).enumerate().take(MAX_STUBS) {
            let Some(start) = address.checked_add(number as u64 * 8) else { break };
            let stub = code.bytes().get(number * 8..).and_then(|rest| rest.get(..16)).unwrap_or(stub);
            if let Some(name) = slot(stub, start).and_then(|slot| slots.get(&slot)) {
                // Thousands of stubs may have one name.
                length += name.len();
                if length > MAX_NAMES {
                    return found;
                }
                found.push(Stub { address: start, section: head.index, name: format!("{name}@plt") });
            }
        }
    }
    found
}

/// The place of the address to which a stub jumps.
fn slot(stub: &[u8], start: u64) -> Option<u64> {
    let mut at = 0;
    if stub.starts_with(&ENDBR) {
        at += ENDBR.len();
    }
    // With the prefix of MPX or IBT.
    if stub.get(at) == Some(&0xf2) {
        at += 1;
    }
    let jump = stub.get(at..at + 6)?;
    if !jump.starts_with(&[0xff, 0x25]) {
        return None;
    }
    let offset = i32::from_le_bytes(jump.get(2..6)?.try_into().ok()?);
    Some(start.wrapping_add(at as u64 + 6).wrapping_add_signed(i64::from(offset)))
}

/// Names of functions by the places where the linker writes their addresses.
fn slots(file: &ObjectFile) -> HashMap<u64, String> {
    let (mut found, mut length) = (HashMap::new(), 0);
    let symbols = file.section(".dynsym");
    let symbols = symbols.as_ref().map_or(&[][..], |(bytes, _)| bytes.bytes());
    let strings = file.section(".dynstr");
    let strings = strings.as_ref().map_or(&[][..], |(bytes, _)| bytes.bytes());
    let symbols = all::<Sym64<LittleEndian>>(symbols);
    for section in [".rela.plt", ".rela.dyn"] {
        let Some((bytes, _)) = file.section(section) else { continue };
        for relocation in all::<Rela64<LittleEndian>>(bytes.bytes()) {
            let info = relocation.r_info.get(LittleEndian);
            let kind = elf::RelocationType((info & 0xffff_ffff) as u32);
            let place = relocation.r_offset.get(LittleEndian);
            let name = match kind {
                elf::R_X86_64_JUMP_SLOT | elf::R_X86_64_GLOB_DAT => {
                    let symbol = usize::try_from(info >> 32).ok().and_then(|index| symbols.get(index));
                    symbol.and_then(|symbol| name(strings, symbol.st_name.get(LittleEndian)))
                }
                elf::R_X86_64_IRELATIVE => Some(format!("*ABS*+{:#x}", relocation.r_addend.get(LittleEndian))),
                _ => None,
            };
            let Some(name) = name else { continue };
            length += name.len();
            if length > MAX_NAMES || found.len() >= MAX_STUBS {
                return found;
            }
            found.entry(place).or_insert(name);
        }
    }
    found
}

fn all<T: pod::Pod>(bytes: &[u8]) -> &[T] {
    pod::slice_from_bytes(bytes, bytes.len() / size_of::<T>()).map_or(&[], |(all, _)| all)
}

fn name(strings: &[u8], at: u32) -> Option<String> {
    let rest = strings.get(usize::try_from(at).ok()?..)?;
    let name = rest.get(..MAX_NAME).unwrap_or(rest).split(|byte| *byte == 0).next()?;
    (!name.is_empty()).then(|| target::printable(name))
}
