//! The debug sections of an object file, executable or shared library, ready to be read as DWARF.
//!
//! In a relocatable file (`.o`) the references between debug sections are zero until its relocations are applied, which
//! we do on a copy, as a linker would.

use std::path::Path;
use std::sync::Arc;

use gimli::{Dwarf, RunTimeEndian, SectionId};
use object::read::{Object, ObjectSection, ObjectSymbol, RelocationTarget};
use object::{CompressionFormat, RelocationKind};
use symbols::{DebugPlaces, ObjectFile, UnitReader};

use super::make::MakeError;
use target::file_budget::{FileBudget, FileLimits, FileOverLimit};
use target::files::{ShortNames, read_regular};
use target::{ByteOrder, PointerWidth, TargetAbi, printable};

/// How a DWARF reader sees one section.
pub use symbols::DebugSection as Section;

/// Larger files are refused: the largest MPI library with debug information is a few hundred megabytes.
const MAX_FILE: u64 = 2 << 30;

/// Larger object files are not read: they are read as a whole.
const MAX_OBJECT: u64 = 256 << 20;

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

/// Reads a file as a whole.
///
/// # Errors
/// Where it cannot be read, or is too large.
pub fn read_file(path: &Path) -> Result<Vec<u8>, MakeError> {
    let fail = |reason: String| MakeError::File { path: path.display().to_string(), reason };
    read_regular(path, MAX_OBJECT).map_err(|error| fail(error.to_string()))
}

/// The debug information of one file.
pub struct DebugSections {
    dwarf: Arc<Dwarf<Section>>,
    budget: FileBudget,
    /// Byte order and pointer width of the file.
    pub abi: TargetAbi,
}

impl DebugSections {
    /// That of a file which the user has named: it may take more than those that a process names.
    ///
    /// # Errors
    /// Where the file cannot be read, or has none.
    pub fn of_user(path: &Path) -> Result<Self, MakeError> {
        let usual = FileLimits::default();
        let bytes = MAX_FILE.max(usual.file_bytes);
        let steps = usual.file_steps.saturating_mul(100);
        let limits = FileLimits { file_bytes: bytes, job_bytes: bytes, file_steps: steps, job_steps: steps };
        Self::open(path, &FileBudget::with(path, limits))
    }

    /// That of a file; what it takes is paid from a budget.
    ///
    /// # Errors
    /// Where the file cannot be read, or has none.
    pub fn open(path: &Path, budget: &FileBudget) -> Result<Self, MakeError> {
        let fail = |reason: String| MakeError::File { path: path.display().to_string(), reason };
        let file = ObjectFile::open_within(path, &DebugPlaces::none(), budget);
        Self::of(&file.map_err(|error| fail(error.to_string()))?)
    }

    /// The same of a file that is open.
    ///
    /// # Errors
    /// Where it has none.
    pub fn of(file: &ObjectFile) -> Result<Self, MakeError> {
        let path = || file.path().display().to_string();
        let byte_order = match file.endian() {
            RunTimeEndian::Little => ByteOrder::Little,
            RunTimeEndian::Big => ByteOrder::Big,
        };
        let pointer_width = if file.is_64() { PointerWidth::Eight } else { PointerWidth::Four };
        let abi = TargetAbi { byte_order, pointer_width };
        let budget = file.budget().clone();
        let dwarf = if file.is_relocatable() {
            linked(file, byte_order)?
        } else {
            let section = |id: SectionId| {
                let found = SECTIONS.contains(&id).then(|| file.debug_section(id.name())).flatten();
                Ok::<_, gimli::Error>(found.unwrap_or_else(|| Section::new(Arc::from([]), file.endian())))
            };
            Dwarf::load(section).map_err(|error| MakeError::File { path: path(), reason: error.to_string() })?
        };
        let is_empty = |section: &Section| gimli::Reader::is_empty(section);
        if is_empty(gimli::Section::reader(&dwarf.debug_info)) && is_empty(gimli::Section::reader(&dwarf.debug_types)) {
            return Err(match budget.over() {
                Some(over) => MakeError::File { path: path(), reason: over.to_string() },
                None => MakeError::NoDebugInfo { path: path() },
            });
        }
        // A stripped file may still have this link.
        if let Some((name, _)) = file.supplement() {
            return Err(MakeError::Supplement { path: path(), supplement: printable(name) });
        }
        Ok(Self { dwarf: Arc::new(dwarf), budget, abi })
    }

    /// Its units.
    pub fn units(&self) -> UnitReader {
        UnitReader::new(Arc::clone(&self.dwarf), self.budget.clone())
    }
}

/// The sections of an object file, with its relocations applied.
fn linked(object: &ObjectFile, byte_order: ByteOrder) -> Result<Dwarf<Section>, MakeError> {
    let path = object.path();
    let fail = |reason: String| MakeError::File { path: path.display().to_string(), reason };
    let budget = object.budget();
    let bytes = read_file(path)?;
    let beyond = |over: FileOverLimit| fail(over.to_string());
    let _whole = budget.claimed("whole content", bytes.len() as u64).map_err(beyond)?;
    let file = object::File::parse(ShortNames(bytes.as_slice())).map_err(|error| fail(error.to_string()))?;
    let load = |id: SectionId| {
        let name = id.name();
        let mut data = Vec::new();
        if SECTIONS.contains(&id) {
            // There is one section of the same name for each type unit (-fdebug-types-section).
            for section in file.sections().filter(|section| section.name() == Ok(name)) {
                let fail = |error: object::read::Error| fail(format!("{name}: {error}"));
                let compressed = section.compressed_data().map_err(fail)?;
                // The file says how large its sections are unpacked. Twice: the pieces are put together.
                let unpacked = compressed.uncompressed_size.saturating_mul(2);
                budget.claim(name, unpacked).map_err(beyond)?;
                if compressed.format != CompressionFormat::None {
                    budget.steps(name, unpacked).map_err(beyond)?;
                }
                let mut piece = compressed.decompress().map_err(fail)?;
                relocate(&file, &section, piece.to_mut(), byte_order);
                data.extend_from_slice(&piece);
            }
        }
        Ok(Section::within(data.into(), object.endian(), budget, name))
    };
    Dwarf::load(load)
}

/// Applies the absolute relocations of a debug section. Others (relative to code, pairs of RISC-V) only concern code
/// addresses, which say nothing about types.
fn relocate<'data, R: object::ReadRef<'data>>(
    file: &object::File<'data, R>,
    section: &object::Section<'data, '_, R>,
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
