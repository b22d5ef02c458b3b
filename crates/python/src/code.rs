//! Code objects: whose code it is, and which line an instruction is of.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use target::address::TargetAddr;

use crate::error::{PythonError, unlike};
use crate::layout::Lines;
use crate::lines;
use crate::memory::Memory;

/// So many code objects are remembered.
const KEPT: usize = 4096;
/// So many lines of each.
const KEPT_LINES: usize = 64;

/// What a code object says.
#[derive(Debug)]
pub(crate) struct Code {
    pub file: String,
    pub function: String,
    /// The interpreter's own, which it puts around others: it has the name of a function where its file should be.
    pub made_up: bool,
    first_line: i64,
    /// `None` where it could not be read.
    table: Option<Vec<u8>>,
    lines: Lines,
    begin: TargetAddr,
    known: RefCell<HashMap<i64, Option<i64>>>,
}

impl Code {
    /// The line of the instruction at `offset` bytes; `None` where it has none.
    pub fn line(&self, memory: &Memory<'_>, offset: i64) -> Result<Option<i64>, PythonError> {
        // Before its first instruction.
        if offset < 0 {
            return Ok(Some(self.first_line).filter(|line| *line > 0));
        }
        let Some(table) = &self.table else { return Ok(None) };
        if let Some(known) = self.known.borrow().get(&offset) {
            return Ok(*known);
        }
        memory.pay(table.len() as u64)?;
        let line = match self.lines {
            Lines::Lnotab => Some(lines::in_lnotab(table, self.first_line, offset)),
            Lines::Ranges => lines::in_ranges(table, self.first_line, offset),
            Lines::Locations => lines::in_locations(table, self.first_line, offset),
        };
        // A damaged table may count up to anything.
        let line = line.filter(|line| (1..=i64::from(i32::MAX)).contains(line));
        let mut known = self.known.borrow_mut();
        if known.len() < KEPT_LINES {
            known.insert(offset, line);
        }
        Ok(line)
    }

    /// How many bytes after its beginning an address is.
    pub fn offset_of(&self, address: TargetAddr) -> i64 {
        address.get().wrapping_sub(self.begin.get()).cast_signed()
    }
}

/// The code objects of a process, each read once.
#[derive(Default)]
pub(crate) struct Codes {
    known: RefCell<HashMap<TargetAddr, Rc<Code>>>,
}

impl Codes {
    /// That at an address.
    pub fn get(&self, memory: &Memory<'_>, address: TargetAddr) -> Result<Rc<Code>, PythonError> {
        if let Some(known) = self.known.borrow().get(&address) {
            return Ok(Rc::clone(known));
        }
        let code = Rc::new(read(memory, address)?);
        let mut known = self.known.borrow_mut();
        if known.len() < KEPT {
            known.insert(address, Rc::clone(&code));
        }
        Ok(code)
    }
}

/// The table of lines; `None` where it could not be read.
fn table(memory: &Memory<'_>, code: TargetAddr) -> Result<Option<Vec<u8>>, PythonError> {
    let Ok(table) = memory.pointer(code, memory.layout.line_table) else { return Ok(None) };
    match memory.bytes(table) {
        Ok(table) => Ok(Some(table)),
        Err(PythonError::TooMuch) => Err(PythonError::TooMuch),
        Err(_) => Ok(None),
    }
}

fn read(memory: &Memory<'_>, address: TargetAddr) -> Result<Code, PythonError> {
    let layout = &memory.layout;
    if !memory.is_a(address, "code") {
        return Err(unlike("what should be Python code is not"));
    }
    let filename = memory.pointer(address, layout.filename)?;
    let short_name = memory.pointer(address, layout.short_name)?;
    let function = memory.text(memory.pointer(address, layout.name)?)?;
    Ok(Code {
        file: memory.text(filename)?,
        function,
        made_up: filename == short_name,
        first_line: memory.int(address, layout.first_line)?,
        table: table(memory, address)?,
        lines: layout.lines,
        begin: address.wrapping_add(layout.code),
        known: RefCell::default(),
    })
}
