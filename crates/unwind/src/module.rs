//! What one file of code says about its frames. It knows no process: where the file is loaded stands beside it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use gimli::{Expression, UnwindExpression};
use object::read::elf::{ElfFile64, ProgramHeader};
use object::read::{Object, ObjectSection};
use object::{Architecture, Endianness};
use target::file_budget::FileBudget;

use crate::machine::Machine;
use crate::row::Row;
use crate::tables::{Damaged, Table, Tables};
use crate::{Section, section};

/// So many rows are kept. The threads of a job stand at few places.
const MOST_ROWS: usize = 4096;

/// Sections that tell of frames, with their addresses in the file.
#[derive(Debug, Clone, Default)]
pub struct Sections {
    /// What reading them is paid from.
    pub budget: FileBudget,
    /// `.eh_frame`.
    pub eh_frame: Option<(u64, Section)>,
    /// `.eh_frame_hdr`: entries of `.eh_frame` are found by it, where it is there.
    pub eh_frame_hdr: Option<(u64, Section)>,
    /// `.debug_frame`.
    pub debug_frame: Option<Section>,
    /// The address of `.text`.
    pub text: Option<u64>,
    /// The address of `.got`.
    pub got: Option<u64>,
}

/// Why bytes are no module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// They are no ELF file of 64 bits.
    #[error("it is not a 64-bit ELF file")]
    Format,
    /// They are for another machine.
    #[error("it is for another machine than x86-64 and little-endian AArch64")]
    Machine,
}

/// What the tables say about one address: nothing, or a row.
pub(crate) type Told = Result<Option<Arc<Row>>, Damaged>;

/// The unwinding tables of one file. Threads and processes can share it.
#[derive(Debug)]
pub struct Module {
    machine: Machine,
    tables: Tables,
    rows: Mutex<HashMap<u64, Told>>,
}

impl Module {
    /// Of these sections.
    pub fn new(machine: Machine, sections: Sections) -> Self {
        Self { machine, tables: Tables::new(machine, sections), rows: Mutex::default() }
    }

    /// Of an ELF file, or of the image of one in memory whose offsets are its addresses, as the vDSO is.
    ///
    /// # Errors
    /// Where it is none of a machine whose stacks are walked.
    pub fn from_elf_bytes(bytes: &[u8]) -> Result<Self, Unusable> {
        let file = ElfFile64::<Endianness>::parse(bytes).map_err(|_| Unusable::Format)?;
        if !file.is_little_endian() {
            return Err(Unusable::Machine);
        }
        let machine = match file.architecture() {
            Architecture::X86_64 => Machine::X86_64,
            Architecture::Aarch64 => Machine::Aarch64,
            _ => return Err(Unusable::Machine),
        };
        let address = |name| file.section_by_name(name).map(|section| section.address());
        let bytes = |name| {
            let data = file.section_by_name(name)?.uncompressed_data().ok()?;
            (!data.is_empty()).then(|| section(&data))
        };
        let placed = |name| Some((address(name)?, bytes(name)?));
        let mut sections = Sections {
            budget: FileBudget::default(),
            eh_frame: placed(".eh_frame"),
            eh_frame_hdr: placed(".eh_frame_hdr"),
            debug_frame: bytes(".debug_frame"),
            text: address(".text"),
            got: address(".got"),
        };
        if sections.eh_frame.is_none() {
            (sections.eh_frame_hdr, sections.eh_frame) = by_segments(&file).unzip();
        }
        Ok(Self::new(machine, sections))
    }

    /// For which machine it is.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// Whether the tables tell how to find the caller of the code at an address of the file.
    pub fn covers(&self, address: u64) -> bool {
        matches!(self.row(address), Ok(Some(_)))
    }

    /// What the tables say about an address of the file.
    pub(crate) fn row(&self, address: u64) -> Told {
        let lock = || self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&address) {
            return known.clone();
        }
        let row = self.tables.row(address).map(|row| row.map(Arc::new));
        let mut rows = lock();
        if rows.len() >= MOST_ROWS {
            rows.clear();
        }
        rows.insert(address, row.clone());
        row
    }

    pub(crate) fn expression(&self, table: Table, at: &UnwindExpression<usize>) -> Option<Expression<Section>> {
        self.tables.expression(table, at)
    }
}

type Placed = (u64, Section);

/// `.eh_frame_hdr` and `.eh_frame` of a file without section headers, by the segment that names the former. The latter ends
/// with an entry that is empty.
fn by_segments(file: &ElfFile64<'_, Endianness>) -> Option<(Placed, Placed)> {
    let endian = file.endian();
    let headers = file.elf_program_headers();
    let from = |address: u64| {
        let segment = headers.iter().find(|header| {
            header.p_type(endian) == object::elf::PT_LOAD
                && address.checked_sub(header.p_vaddr(endian)).is_some_and(|into| into < header.p_filesz(endian))
        })?;
        let into = usize::try_from(address - segment.p_vaddr(endian)).ok()?;
        segment.data(endian, file.data()).ok()?.get(into..)
    };
    let header = headers.iter().find(|header| header.p_type(endian) == object::elf::PT_GNU_EH_FRAME)?;
    let address = header.p_vaddr(endian);
    let size = usize::try_from(header.p_filesz(endian)).ok()?;
    let bytes = section(from(address)?.get(..size)?);
    let eh_frame = crate::search_table::SearchTable::new(address, bytes.clone())?.eh_frame()?;
    Some(((address, bytes), (eh_frame, section(from(eh_frame)?))))
}
