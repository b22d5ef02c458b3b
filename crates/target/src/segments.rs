//! The memory that an image was loaded into, from its program headers as they stand in memory.

use super::{Image, Target, TargetError};
use crate::address::TargetAddr;

const PT_LOAD: u64 = 1;
const PF_X: u64 = 1;
const PF_W: u64 = 2;

/// More program headers than this are damage.
const MAX_HEADERS: u64 = 256;

/// No library has this much memory of its own (16 GiB); a header that says so is damaged.
const MAX_SEGMENT: u64 = 1 << 34;

/// Where the first byte of an executable lies that is not position independent: x86-64, i386, arm, ppc64.
const FIXED_BASES: [u64; 4] = [0x40_0000, 0x804_8000, 0x1_0000, 0x1000_0000];

/// A range of target memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Its first address.
    pub start: TargetAddr,
    /// Its length in bytes.
    pub len: u64,
}

impl Range {
    /// Whether `len` bytes at `addr` lie in it.
    pub fn holds(&self, addr: TargetAddr, len: u64) -> bool {
        let Some(offset) = addr.get().checked_sub(self.start.get()) else { return false };
        offset < self.len && len <= self.len - offset
    }
}

/// The loaded segments of an image, by what may be done with them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Segments {
    /// Variables (`.data`, `.bss`); parts are read-only after relocation.
    pub writable: Vec<Range>,
    /// Constants: neither writable nor code, unless the linker has put them beside the code.
    pub constants: Vec<Range>,
    /// Code.
    pub code: Vec<Range>,
}

/// Reads the program headers of an image.
///
/// # Errors
/// Where they cannot be read, or what stands there is no ELF header.
pub fn segments(target: &dyn Target, image: &Image) -> Result<Segments, TargetError> {
    let fixed = FIXED_BASES.iter().map(|base| TargetAddr::new(*base));
    let fixed = fixed.filter(|_| image.is_executable && image.bias.is_null());
    let mut first = None;
    for base in std::iter::once(image.bias).chain(fixed) {
        match headers_at(target, base, image.bias) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| TargetError::File {
        path: image.path.clone(),
        reason: "there is no ELF header where it is loaded".to_owned(),
    }))
}

/// The headers of the image whose ELF header stands at `base`; `None` where none stands there.
fn headers_at(target: &dyn Target, base: TargetAddr, bias: TargetAddr) -> Result<Option<Segments>, TargetError> {
    let mut magic = [0; 4];
    target.read(base, &mut magic)?;
    if magic != *b"\x7fELF" {
        return Ok(None);
    }
    // Elf64_Ehdr: e_phoff at 32, e_phentsize at 54, e_phnum at 56; Elf32_Ehdr: 28, 42, 44. Elf64_Phdr: p_flags at 4, p_vaddr
    // at 16, p_memsz at 40; Elf32_Phdr: 24, 8, 20.
    let width = target.abi().pointer_width.bytes();
    let (table, entry, count, flags, vaddr, memsz) =
        if width == 8 { (32, 54, 56, 4, 16, 40) } else { (28, 42, 44, 24, 8, 20) };
    let at = |offset| base.wrapping_add(offset);
    let table = at(target.read_uint(at(table), width)?);
    let (entry, count) = (target.read_uint(at(entry), 2)?, target.read_uint(at(count), 2)?);
    let mut found = Segments::default();
    for index in 0..count.min(MAX_HEADERS) {
        let header = table.wrapping_add(index * entry);
        if target.read_uint(header, 4)? != PT_LOAD {
            continue;
        }
        let flags = target.read_uint(header.wrapping_add(flags), 4)?;
        let start = bias.wrapping_add(target.read_uint(header.wrapping_add(vaddr), width)?);
        let len = target.read_uint(header.wrapping_add(memsz), width)?;
        if len == 0 || len > MAX_SEGMENT || start.checked_add(len).is_none() {
            continue;
        }
        let range = Range { start, len };
        match (flags & PF_W != 0, flags & PF_X != 0) {
            (true, _) => found.writable.push(range),
            (false, false) => found.constants.push(range),
            (false, true) => found.code.push(range),
        }
    }
    // Older linkers put constants and code into one segment.
    if found.constants.is_empty() {
        found.constants.clone_from(&found.code);
    }
    Ok(Some(found))
}
