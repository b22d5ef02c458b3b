//! The unwinding tables of one file, and the entry in them for an address.

use std::sync::OnceLock;

use gimli::{
    BaseAddresses, DebugFrame, DebugFrameOffset, EhFrame, EhFrameOffset, Expression, UnwindExpression, UnwindSection,
    Vendor,
};

use target::file_budget::FileBudget;

use crate::Section;
use crate::index::Index;
use crate::machine::Machine;
use crate::module::Sections;
use crate::row::Row;
use crate::search_table::SearchTable;

/// From where pointers in the tables are counted.
pub(crate) type Bases = BaseAddresses;

/// Which table something is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    EhFrame,
    DebugFrame,
}

/// The tables of code cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged;

#[derive(Debug)]
struct Searched<T> {
    section: T,
    index: OnceLock<Index>,
}

impl<T: UnwindSection<Section>> Searched<T> {
    fn new(section: T) -> Self {
        Self { section, index: OnceLock::new() }
    }

    fn find(&self, bases: &Bases, budget: &FileBudget, address: u64) -> Option<usize> {
        self.index.get_or_init(|| Index::new(&self.section, bases, budget)).find(address)
    }

    /// The row of the entry at an offset; `None` where that is for other addresses.
    fn row(&self, offset: T::Offset, table: Table, bases: &Bases, address: u64) -> Result<Option<Row>, Damaged> {
        let entry = self.section.fde_from_offset(bases, offset, T::cie_from_offset).map_err(|_| Damaged)?;
        if !entry.contains(address) {
            return Ok(None);
        }
        Row::new(&entry, &self.section, table, bases, address).ok_or(Damaged).map(Some)
    }
}

/// The sections of one file that tell of its frames.
#[derive(Debug)]
pub(crate) struct Tables {
    bases: Bases,
    budget: FileBudget,
    eh_frame: Option<(u64, Searched<EhFrame<Section>>)>,
    search_table: Option<SearchTable>,
    debug_frame: Option<Searched<DebugFrame<Section>>>,
}

impl Tables {
    pub fn new(machine: Machine, sections: Sections) -> Self {
        let vendor = match machine {
            Machine::X86_64 => Vendor::Default,
            Machine::Aarch64 => Vendor::AArch64,
        };
        let mut bases = Bases::default();
        if let Some((address, _)) = sections.eh_frame {
            bases = bases.set_eh_frame(address);
        }
        if let Some(address) = sections.text {
            bases = bases.set_text(address);
        }
        if let Some(address) = sections.got {
            bases = bases.set_got(address);
        }
        let eh_frame = sections.eh_frame.map(|(address, bytes)| {
            let mut section = EhFrame::from(bytes);
            section.set_address_size(8);
            section.set_vendor(vendor);
            (address, Searched::new(section))
        });
        let debug_frame = sections.debug_frame.map(|bytes| {
            let mut section = DebugFrame::from(bytes);
            section.set_address_size(8);
            section.set_vendor(vendor);
            Searched::new(section)
        });
        let search_table = sections.eh_frame_hdr.and_then(|(address, bytes)| SearchTable::new(address, bytes));
        // One that is for another section is of no use.
        let own = eh_frame.as_ref().map(|(address, _)| *address);
        let search_table = search_table.filter(|table| table.eh_frame() == own);
        Self { bases, budget: sections.budget, eh_frame, search_table, debug_frame }
    }

    /// What the tables say about an address of the file; `None` where they say nothing.
    pub fn row(&self, address: u64) -> Result<Option<Row>, Damaged> {
        let in_eh_frame = self.in_eh_frame(address);
        if let Ok(Some(_)) = in_eh_frame {
            return in_eh_frame;
        }
        match self.in_debug_frame(address) {
            Ok(None) => in_eh_frame,
            found => found,
        }
    }

    fn in_eh_frame(&self, address: u64) -> Result<Option<Row>, Damaged> {
        let Some((begin, section)) = &self.eh_frame else { return Ok(None) };
        let row = |offset| section.row(EhFrameOffset(offset), Table::EhFrame, &self.bases, address);
        let by_search = self.search_table.as_ref().and_then(|table| table.find(address));
        let by_search = by_search.and_then(|entry| usize::try_from(entry.checked_sub(*begin)?).ok());
        if let Some(Ok(Some(found))) = by_search.map(row) {
            return Ok(Some(found));
        }
        section.find(&self.bases, &self.budget, address).map_or(Ok(None), row)
    }

    fn in_debug_frame(&self, address: u64) -> Result<Option<Row>, Damaged> {
        let Some(section) = &self.debug_frame else { return Ok(None) };
        let row = |offset| section.row(DebugFrameOffset(offset), Table::DebugFrame, &self.bases, address);
        section.find(&self.bases, &self.budget, address).map_or(Ok(None), row)
    }

    /// The bytes of an expression.
    pub fn expression(&self, table: Table, expression: &UnwindExpression<usize>) -> Option<Expression<Section>> {
        match table {
            Table::EhFrame => expression.get(&self.eh_frame.as_ref()?.1.section).ok(),
            Table::DebugFrame => expression.get(&self.debug_frame.as_ref()?.section).ok(),
        }
    }
}
