//! The variables of the MPIR interface of one process.

use std::collections::BTreeMap;

use super::entries::{self, text};
use super::search::search;
use super::{Candidates, Found, Presence, ProcDesc, ProcessTable};
use layouts::Layouts;
use target::address::TargetAddr;
use target::{Symbol, Target, TargetError, printable};

/// All names of the interface, both spellings of MPIR_ignore_queues included.
const NAMES: [&str; 17] = [
    "MPIR_Breakpoint",
    "MPIR_acquired_pre_main",
    "MPIR_attach_fifo",
    "MPIR_being_debugged",
    "MPIR_debug_abort_string",
    "MPIR_debug_gate",
    "MPIR_debug_state",
    "MPIR_dll_name",
    "MPIR_executable_path",
    "MPIR_force_to_main",
    "MPIR_i_am_starter",
    "MPIR_ignore_queue",
    "MPIR_ignore_queues",
    "MPIR_partial_attach_ok",
    "MPIR_proctable",
    "MPIR_proctable_size",
    "MPIR_server_arguments",
];

/// Longest text of a variable, in bytes. The document gives paths 256 and arguments 1024; launchers have more.
const MAX_TEXT: usize = 1 << 16;

/// How often a table is read that changes meanwhile.
const TRIES: usize = 3;

/// What a process says by the MPIR interface. `layouts` is asked for MPIR_PROCDESC. Where there are no symbols, the table
/// is searched for among the process's variables, by the `candidates` that must stand in it.
///
/// A process without the interface is no error: then nothing is found, and the problems say so.
///
/// # Errors
/// [`TargetError::Gone`] where the process ends meanwhile.
pub fn process_table(
    target: &dyn Target,
    layouts: &Layouts,
    candidates: &Candidates,
) -> Result<ProcessTable, TargetError> {
    let mut reading = Reading { target, found: BTreeMap::new(), table: ProcessTable::default() };
    let known = reading.look_up()?;
    // Without any symbol of the interface it may be a stripped launcher.
    if known && !reading.found.is_empty() {
        let has = |name| reading.found.contains_key(name);
        reading.table.presence = Some(Presence {
            gate: has("MPIR_debug_gate"),
            starter: has("MPIR_i_am_starter"),
            acquired_pre_main: has("MPIR_acquired_pre_main"),
            force_to_main: has("MPIR_force_to_main"),
            partial_attach_ok: has("MPIR_partial_attach_ok"),
            ignore_queues: has("MPIR_ignore_queues") || has("MPIR_ignore_queue"),
        });
    }
    reading.table.debug_state = reading.number("MPIR_debug_state")?;
    reading.table.being_debugged = reading.number("MPIR_being_debugged")?;
    reading.table.abort_string = reading.pointed("MPIR_debug_abort_string")?;
    reading.table.executable_path = reading.array("MPIR_executable_path")?;
    reading.table.attach_fifo = reading.array("MPIR_attach_fifo")?;
    reading.table.dll_name = reading.array("MPIR_dll_name")?;
    reading.table.server_arguments = reading.arguments("MPIR_server_arguments")?;
    reading.read_table(layouts, known)?;
    if reading.table.found.is_none() && !candidates.is_empty() {
        reading.search_table(candidates)?;
    }
    Ok(reading.table)
}

struct Reading<'t> {
    target: &'t dyn Target,
    found: BTreeMap<&'static str, Symbol>,
    table: ProcessTable,
}

impl Reading<'_> {
    /// Whether all names could be looked up.
    fn look_up(&mut self) -> Result<bool, TargetError> {
        let mut failed = None;
        for name in NAMES {
            match self.target.symbol(name) {
                Ok(Some(symbol)) => {
                    self.found.insert(name, symbol);
                    self.table.symbols.insert(name, symbol.addr);
                }
                Ok(None) => {}
                Err(TargetError::Gone) => return Err(TargetError::Gone),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if let Some(error) = &failed {
            self.table
                .problems
                .push(format!("whether it has all variables of the MPIR interface is not known: {error}"));
        }
        Ok(failed.is_none())
    }

    /// Notes why a variable cannot be read; the end of the process ends everything.
    fn noted<R>(&mut self, name: &str, read: Result<R, TargetError>) -> Result<Option<R>, TargetError> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(TargetError::Gone) => Err(TargetError::Gone),
            Err(error) => {
                self.table.problems.push(format!("{name} cannot be read: {error}"));
                Ok(None)
            }
        }
    }

    fn number(&mut self, name: &str) -> Result<Option<i64>, TargetError> {
        let Some(symbol) = self.found.get(name) else { return Ok(None) };
        // `int` in the document; a launcher whose variable is of another size has said so in its symbol table.
        let size = symbol.size.filter(|size| matches!(size, 1 | 2 | 4 | 8)).unwrap_or(4);
        let read = self.target.read_bytes(symbol.addr, size as usize);
        let read = read.map(|bytes| self.target.abi().int(&bytes));
        self.noted(name, read)
    }

    /// The text that a variable points to.
    fn pointed(&mut self, name: &str) -> Result<Option<String>, TargetError> {
        let Some(symbol) = self.found.get(name) else { return Ok(None) };
        let read = self.target.read_pointer(symbol.addr);
        let Some(addr) = self.noted(name, read)?.filter(|addr| !addr.is_null()) else { return Ok(None) };
        let found = text(self.target, addr, MAX_TEXT);
        Ok(found.map_err(|reason| self.table.problems.push(format!("the text of {name} {reason}"))).ok())
    }

    /// The bytes of a variable that is an array of characters.
    fn characters(&mut self, name: &str) -> Result<Option<Vec<u8>>, TargetError> {
        let Some(symbol) = self.found.get(name) else { return Ok(None) };
        let room = symbol.size.filter(|size| *size > 0).and_then(|size| usize::try_from(size).ok());
        let read = match room {
            Some(room) => self.target.read_bytes(symbol.addr, room.min(MAX_TEXT)),
            // The symbol table of an old linker; one text is all that can be told without the array's length.
            None => self.target.read_c_string(symbol.addr, MAX_TEXT),
        };
        self.noted(name, read)
    }

    fn array(&mut self, name: &str) -> Result<Option<String>, TargetError> {
        let bytes = self.characters(name)?.unwrap_or_default();
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok((!text.is_empty()).then(|| printable(text)))
    }

    /// Texts that follow one another, each with its NUL; an empty one is behind the last.
    fn arguments(&mut self, name: &str) -> Result<Vec<String>, TargetError> {
        let bytes = self.characters(name)?.unwrap_or_default();
        Ok(bytes.split(|byte| *byte == 0).take_while(|text| !text.is_empty()).map(printable).collect())
    }

    fn read_table(&mut self, layouts: &Layouts, known: bool) -> Result<(), TargetError> {
        let (Some(pointer), Some(_)) = (self.found.get("MPIR_proctable"), self.found.get("MPIR_proctable_size")) else {
            if known {
                let lacking = ["MPIR_proctable", "MPIR_proctable_size"].into_iter();
                let lacking: Vec<_> = lacking.filter(|name| !self.found.contains_key(name)).collect();
                self.table.problems.push(format!(
                    "it has no variable {} of the MPIR interface for debuggers: it is not a launcher, has no such \
                     interface, or is stripped of its symbols",
                    lacking.join(" and no ")
                ));
            }
            return Ok(());
        };
        let pointer = pointer.addr;
        self.table.found = Some(Found::Symbols);
        let layout = match ProcDesc::find(layouts, self.target.abi()) {
            Ok((layout, note)) => {
                self.table.problems.extend(note);
                layout
            }
            Err(reason) => {
                self.table.problems.push(format!("where the fields of MPIR_PROCDESC are is not known: {reason}"));
                return Ok(());
            }
        };
        let before = self.table.problems.len();
        for rest in (0..TRIES).rev() {
            // The launcher runs on while we read.
            self.table.problems.truncate(before);
            let start = self.start_and_size(pointer)?;
            self.read_entries(start, &layout)?;
            let again = self.start_and_size(pointer)?;
            if start == again {
                break;
            }
            if rest == 0 {
                self.table.problems.push("MPIR_proctable has changed while it was read; read it again".to_owned());
            }
        }
        if !self.table.entries.is_empty() && self.table.debug_state == Some(0) {
            self.table.problems.push(
                "MPIR_debug_state is 0: the launcher has not said yet that its table of processes is complete"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Reads the table of a launcher without symbols.
    fn search_table(&mut self, candidates: &Candidates) -> Result<(), TargetError> {
        let located = match search(self.target, candidates) {
            Ok(located) => located,
            Err(reason) => {
                self.table.problems.push(format!("its table of processes was searched for in memory: {reason}"));
                return Ok(());
            }
        };
        let layout = ProcDesc::built_in(self.target.abi());
        let mut problems = Vec::new();
        let entries = entries::read(self.target, located.start, located.count, &layout, &mut problems)?;
        if self.target.read_pointer(located.pointer)? != located.start {
            self.table.problems.push("its table of processes has changed while it was read; read it again".to_owned());
            return Ok(());
        }
        // That there are no symbols is no problem any more.
        self.table.problems = problems;
        self.table.found = Some(Found::Memory);
        self.table.layout = Some(layout.origin);
        self.table.size = i64::try_from(located.count).ok();
        self.table.entries = entries;
        Ok(())
    }

    /// Where the table is and how many entries it has, as the variables say now.
    fn start_and_size(&mut self, pointer: TargetAddr) -> Result<(Option<TargetAddr>, Option<i64>), TargetError> {
        let start = self.target.read_pointer(pointer);
        Ok((self.noted("MPIR_proctable", start)?, self.number("MPIR_proctable_size")?))
    }

    fn read_entries(
        &mut self,
        (start, size): (Option<TargetAddr>, Option<i64>),
        layout: &ProcDesc,
    ) -> Result<(), TargetError> {
        self.table.layout = None;
        self.table.entries = Vec::new();
        self.table.size = size;
        let (Some(start), Some(size)) = (start, size) else { return Ok(()) };
        let Ok(count) = u64::try_from(size) else {
            self.table.problems.push(format!("MPIR_proctable_size is {size}, which is not a number of processes"));
            return Ok(());
        };
        if count == 0 {
            // Open MPI 4.1 fills the table when the processes have come to MPI_Init; what is no MPI program never does.
            self.table.problems.push(
                "MPIR_proctable_size is 0: the launcher has not listed any process yet; that of Open MPI 4.1 does so \
                 once they have called MPI_Init"
                    .to_owned(),
            );
        } else if start.is_null() {
            self.table.problems.push(format!("MPIR_proctable is NULL, though MPIR_proctable_size is {size}"));
        } else {
            self.table.layout = Some(layout.origin);
            self.table.entries = entries::read(self.target, start, count, layout, &mut self.table.problems)?;
        }
        Ok(())
    }
}
