//! Which line an address belongs to, as gdb 13 tells it: its line tables (`lnp_state_machine::record_line` in
//! gdb/dwarf2/read.c, `record_line` in gdb/buildsym.c) and its choice among them (`find_pc_sect_line` in gdb/symtab.c).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use gimli::{Dwarf, Unit};

use super::DebugSection;
use super::file_names::{FileName, FileNames};

/// Reading one unit's table may take this long, and it may have so many rows.
const TIME_LIMIT: Duration = Duration::from_secs(2);
const MAX_ROWS: usize = 1 << 20;

/// The time is looked at once for so many rows.
const ROWS_BETWEEN: usize = 1 << 12;

/// The lines of one unit.
#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) names: FileNames,
    /// A table for each file; the number is its index.
    tables: Vec<(u64, Vec<Row>)>,
}

#[derive(Clone, Copy)]
struct Row {
    address: u64,
    /// 0 where the code of the file ends.
    line: u32,
    is_statement: bool,
}

impl Lines {
    pub(crate) fn new(dwarf: &Dwarf<DebugSection>, unit: &Unit<DebugSection>) -> Self {
        let mut building = Building { names: FileNames::new(dwarf, unit), ..Building::default() };
        // Damaged lines say as much as they have said until then.
        let _ = building.read(unit);
        for (_, table) in &mut building.tables {
            // An end goes before what begins at its address.
            table.sort_by_key(|row| (row.address, row.line != 0));
            table.shrink_to_fit();
        }
        Self { names: building.names, tables: building.tables }
    }

    /// The memory that they take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let rows = |(_, table): &(u64, Vec<Row>)| size_of_val(table.as_slice());
        self.names.bytes() + self.tables.iter().map(rows).sum::<usize>()
    }

    /// File and line of an address.
    pub(crate) fn at(&self, address: u64) -> Option<(&FileName, u32)> {
        let mut best: Option<(u64, Row)> = None;
        for (file, table) in &self.tables {
            let after = table.partition_point(|row| row.address <= address);
            let Some(mut at) = after.checked_sub(1) else { continue };
            let Some(mut row) = table.get(at).copied() else { continue };
            if row.line == 0 || best.is_some_and(|(_, best)| row.address <= best.address) {
                continue;
            }
            let first = row;
            while !row.is_statement && at > 0 {
                at -= 1;
                let Some(before) = table.get(at).filter(|before| before.address == row.address && before.line != 0)
                else {
                    break;
                };
                row = *before;
            }
            best = Some((*file, if row.is_statement { row } else { first }));
        }
        let (file, row) = best?;
        Some((self.names.get(file)?, row.line))
    }
}

#[derive(Default)]
struct Building {
    names: FileNames,
    tables: Vec<(u64, Vec<Row>)>,
    by_id: HashMap<String, usize>,
    by_index: HashMap<u64, Option<usize>>,
}

/// Where the machine that reads lines stands in a sequence.
#[derive(Default)]
struct Machine {
    /// The table and line that the last row went to.
    table: Option<usize>,
    line: u64,
    address: u64,
    /// Whether a row at this address began a statement.
    statement_here: bool,
    /// Whether the line had a discriminator: then only its first row counts.
    discriminated: bool,
    previous: Option<(u64, u64)>,
    /// Whether the linker removed the code.
    removed: bool,
    started: bool,
}

impl Building {
    fn read(&mut self, unit: &Unit<DebugSection>) -> gimli::Result<()> {
        let Some(program) = unit.line_program.clone() else { return Ok(()) };
        let end = Instant::now() + TIME_LIMIT;
        let mut rows = program.rows();
        let mut machine = Machine::default();
        let mut count = 0;
        while let Some((_, row)) = rows.next_row()? {
            count += 1;
            if count > MAX_ROWS || count % ROWS_BETWEEN == 0 && Instant::now() > end {
                break;
            }
            if !machine.started {
                machine.started = true;
                machine.removed = row.address() == 0 && unit.low_pc != 0;
            }
            self.row(row, &mut machine);
            if row.end_sequence() {
                machine = Machine::default();
            }
        }
        Ok(())
    }

    fn row(&mut self, row: &gimli::LineRow, machine: &mut Machine) {
        let line = row.line().map_or(0, |line| line.get());
        let now = Some((row.file_index(), line));
        machine.discriminated = row.discriminator() != 0 || machine.discriminated && machine.previous == now;
        machine.previous = now;
        let ends = row.end_sequence();
        let table = self.table(row.file_index());
        if table.is_some() && (row.op_index() == 0 || ends) && !machine.removed {
            let changed = machine.table != table;
            let shadowed = changed && machine.address == row.address() && !row.is_stmt() && machine.statement_here;
            let ignored = !ends && (shadowed || line == 0);
            if let Some(last) = machine.table
                && (changed && !ignored || ends)
            {
                self.push(last, Row { address: row.address(), line: 0, is_statement: true });
            }
            let wanted = changed || line != machine.line || !machine.discriminated;
            if let (false, false, true, Some(table)) = (ends, ignored, wanted, table) {
                let short = u32::try_from(line).unwrap_or(0);
                self.push(table, Row { address: row.address(), line: short, is_statement: row.is_stmt() });
                (machine.table, machine.line) = (Some(table), line);
            }
        }
        if machine.address != row.address() {
            machine.statement_here = false;
            machine.address = row.address();
        }
        machine.statement_here |= row.is_stmt();
    }

    /// The table of the file with that index.
    fn table(&mut self, index: u64) -> Option<usize> {
        if let Some(known) = self.by_index.get(&index) {
            return *known;
        }
        let found = self.names.get(index).map(|name| {
            let next = self.tables.len();
            let table = *self.by_id.entry(name.id.clone()).or_insert(next);
            if table == next {
                self.tables.push((index, Vec::new()));
            }
            table
        });
        if self.by_index.len() < MAX_ROWS {
            self.by_index.insert(index, found);
        }
        found
    }

    fn push(&mut self, table: usize, row: Row) {
        let Some((_, rows)) = self.tables.get_mut(table) else { return };
        if row.line == 0 {
            // What has no code goes; an end of nothing is none.
            let mut last = None;
            while let Some(row_before) = rows.last().copied() {
                last = Some(row_before.line);
                if row_before.address != row.address {
                    break;
                }
                rows.pop();
            }
            if last.is_none_or(|line| line == 0) {
                return;
            }
        }
        rows.push(row);
    }
}

/// The addresses that the lines of a unit speak of.
pub(crate) fn ranges(unit: &Unit<DebugSection>) -> Vec<(u64, u64)> {
    let Some(program) = unit.line_program.clone() else { return Vec::new() };
    let end = Instant::now() + TIME_LIMIT;
    let mut rows = program.rows();
    let (mut found, mut begin, mut count) = (Vec::new(), None, 0);
    while let Ok(Some((_, row))) = rows.next_row() {
        count += 1;
        if count > MAX_ROWS || count % ROWS_BETWEEN == 0 && Instant::now() > end {
            break;
        }
        let start = *begin.get_or_insert(row.address());
        if row.end_sequence() {
            if start != 0 && start < row.address() {
                found.push((start, row.address()));
            }
            begin = None;
        }
    }
    found
}
