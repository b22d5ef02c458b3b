//! The debug sections of an object file, executable or shared library, ready to be read as DWARF.
//!
//! In a relocatable file (`.o`) the references between debug sections are zero until its relocations are applied, which
//! we do on a copy, as a linker would.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use gimli::{EndianSlice, RunTimeEndian, SectionId};
use object::read::{Object, ObjectSection, ObjectSymbol, RelocationTarget};
use object::{CompressionFormat, ObjectKind, RelocationKind};

use super::make::MakeError;
use target::files::read_regular;
use target::{ByteOrder, PointerWidth, TargetAbi, printable};

/// Larger files are refused: the largest MPI library with debug information is a few hundred megabytes.
const MAX_FILE: u64 = 2 << 30;

/// Larger tables of abbreviations are refused. gimli reads a unit's table as a whole, at about 25 times its size in memory; that
/// of a whole web browser is smaller than this.
const MAX_ABBREVIATIONS: usize = 16 << 20;

/// The parts of DWARF that describe types and calls, and those that gimli looks at when it opens a unit.
const SECTIONS: [SectionId; 10] = [
    SectionId::DebugAbbrev,
    SectionId::DebugInfo,
    SectionId::DebugTypes,
    SectionId::DebugStr,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugAddr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
];

/// How a DWARF reader sees one section.
pub type Section<'a> = EndianSlice<'a, RunTimeEndian>;

/// Reads a file as a whole.
pub fn read_file(path: &Path) -> Result<Vec<u8>, MakeError> {
    let fail = |reason: String| MakeError::File { path: path.display().to_string(), reason };
    read_regular(path, MAX_FILE).map_err(|error| fail(error.to_string()))
}

/// The debug sections of one file.
pub struct DebugSections<'a> {
    sections: HashMap<&'static str, Cow<'a, [u8]>>,
    endian: RunTimeEndian,
    /// Byte order and pointer width of the file.
    pub abi: TargetAbi,
}

impl<'a> DebugSections<'a> {
    /// Takes the debug sections out of a file's bytes.
    pub fn new(path: &Path, bytes: &'a [u8]) -> Result<Self, MakeError> {
        let fail = |reason: String| MakeError::File { path: path.display().to_string(), reason };
        let file = object::File::parse(bytes).map_err(|error| fail(error.to_string()))?;
        let (byte_order, endian) = if file.is_little_endian() {
            (ByteOrder::Little, RunTimeEndian::Little)
        } else {
            (ByteOrder::Big, RunTimeEndian::Big)
        };
        let pointer_width = if file.is_64() { PointerWidth::Eight } else { PointerWidth::Four };
        let mut sections = HashMap::new();
        let mut total = 0;
        for id in SECTIONS {
            let name = id.name();
            // A relocatable file has one section of the same name for each type unit (-fdebug-types-section).
            let mut data: Option<Cow<'a, [u8]>> = None;
            for section in file.sections().filter(|section| section.name() == Ok(name)) {
                let compressed = section.compressed_data().map_err(|error| fail(format!("{name}: {error}")))?;
                // The file says how large its sections are unpacked; believe it only so far.
                let unpacked = compressed.uncompressed_size;
                if compressed.format != CompressionFormat::None && unpacked > MAX_FILE - total {
                    return Err(fail(format!(
                        "{name} has {unpacked} bytes when unpacked; the limit for all is {MAX_FILE}"
                    )));
                }
                let mut piece = compressed.decompress().map_err(|error| fail(format!("{name}: {error}")))?;
                total = total.saturating_add(piece.len() as u64);
                if total > MAX_FILE {
                    return Err(fail(format!("its debug sections have more than {MAX_FILE} bytes")));
                }
                if file.kind() == ObjectKind::Relocatable {
                    relocate(&file, &section, piece.to_mut(), byte_order);
                }
                match &mut data {
                    None => data = Some(piece),
                    Some(data) => data.to_mut().extend_from_slice(&piece),
                }
            }
            let Some(data) = data else { continue };
            if id == SectionId::DebugAbbrev && data.len() > MAX_ABBREVIATIONS {
                return Err(fail(format!("{name} has {} bytes; the limit is {MAX_ABBREVIATIONS}", data.len())));
            }
            sections.insert(name, data);
        }
        let has_types = |name| sections.get(name).is_some_and(|data: &Cow<'_, [u8]>| !data.is_empty());
        if !has_types(SectionId::DebugInfo.name()) && !has_types(SectionId::DebugTypes.name()) {
            return Err(MakeError::NoDebugInfo { path: path.display().to_string() });
        }
        // A stripped file may still have this link.
        if let Ok(Some((name, _))) = file.gnu_debugaltlink() {
            let supplement = printable(name);
            return Err(MakeError::Supplement { path: path.display().to_string(), supplement });
        }
        Ok(Self { sections, endian, abi: TargetAbi { byte_order, pointer_width } })
    }

    /// The section as a DWARF reader; empty where the file has none.
    pub fn reader(&self, id: SectionId) -> Section<'_> {
        EndianSlice::new(self.sections.get(id.name()).map_or(&[][..], |data| data), self.endian)
    }
}

/// Applies the absolute relocations of a debug section. Others (relative to code, pairs of RISC-V) only concern code
/// addresses, which say nothing about types.
fn relocate<'data>(
    file: &object::File<'data>,
    section: &object::Section<'data, '_>,
    data: &mut [u8],
    byte_order: ByteOrder,
) {
    for (offset, relocation) in section.relocations() {
        if relocation.kind() != RelocationKind::Absolute {
            continue;
        }
        let base = match relocation.target() {
            RelocationTarget::Symbol(index) => file.symbol_by_index(index).map_or(0, |symbol| symbol.address()),
            _ => 0,
        };
        let size = usize::from(relocation.size() / 8);
        if !matches!(size, 4 | 8) {
            continue;
        }
        let Ok(start) = usize::try_from(offset) else { continue };
        let place = start.checked_add(size).and_then(|end| data.get_mut(start..end));
        let Some(place) = place else { continue };
        let abi = TargetAbi { byte_order, pointer_width: PointerWidth::Eight };
        let implicit = if relocation.has_implicit_addend() { abi.uint(place) } else { 0 };
        let value = base.wrapping_add(implicit).wrapping_add_signed(relocation.addend());
        match byte_order {
            ByteOrder::Little => place.copy_from_slice(&value.to_le_bytes()[..size]),
            ByteOrder::Big => place.copy_from_slice(&value.to_be_bytes()[8 - size..]),
        }
    }
}
