//! The calls in functions by their debug information: where they lead to, and which of them are jumps that end their function
//! (DWARF 5, 3.4; before that the form of GNU). They are told as gdb 13 reads them (`read_call_site_scope` in
//! gdb/dwarf2/read.c).

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use gimli::{AttributeValue, DebuggingInformationEntry, UnitOffset, constants as dw};

use super::frames::Language;
use super::functions::ranges;
use super::information::Information;
use super::references::Place;
use super::units::UnitData;
use super::{DebugSection, ObjectFile};

/// Reading the calls of one function may take this long, and it may have so many.
const TIME_LIMIT: Duration = Duration::from_secs(2);
const MAX_CALLS: usize = 1 << 16;

/// The time is looked at once for so many entries.
const ENTRIES_BETWEEN: usize = 1 << 10;

/// The calls of more functions are not kept.
const MAX_KEPT: usize = 1 << 10;

type Entry = DebuggingInformationEntry<DebugSection>;

/// One call, or a jump that ends its function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The address of the file behind its instruction.
    pub after: u64,
    /// Where it leads to.
    pub target: Target,
}

/// Where a call leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// It is not written down, or changes as the program runs.
    Unknown,
    /// Addresses of the file: where the function's parts begin.
    Addresses(Vec<u64>),
    /// A function that is elsewhere, by its symbol.
    Symbol(String),
}

/// The calls of one function.
#[derive(Debug, Default)]
pub(crate) struct FunctionCalls {
    all: Vec<Call>,
    /// Those that are jumps, the last one first; none where not all are written down.
    jumps: Arc<[Call]>,
}

/// Those of functions that were asked for, by where these begin.
pub(crate) type KeptCalls = HashMap<u64, Arc<FunctionCalls>>;

impl ObjectFile {
    /// The call that returns to an address of the file.
    pub fn call_before(&self, after: u64) -> Option<Call> {
        let (function, begin) = self.described(after.checked_sub(1)?)?;
        self.calls_of(&function, begin)?.all.iter().find(|call| call.after == after).cloned()
    }

    /// The jumps to other functions that end the function which begins at an address of the file, the last one first: none
    /// where the compiler has not written down all of them. `None` where no function with debug information begins there.
    pub fn jumps_of(&self, begin: u64) -> Option<Arc<[Call]>> {
        let (function, own) = self.described(begin).filter(|(_, own)| *own == begin)?;
        Some(Arc::clone(&self.calls_of(&function, own)?.jumps))
    }

    /// Where the function begins that covers an address of the file, by debug information or else by symbols.
    pub fn function_begin(&self, address: u64) -> Option<u64> {
        let described = self.described(address).map(|(_, begin)| begin);
        described.or_else(|| self.symbol_at(address).map(|function| function.start))
    }

    /// The function with debug information that covers an address, and where it begins.
    fn described(&self, address: u64) -> Option<(Place, u64)> {
        let units = self.information()?.units_at(address);
        units.into_iter().find_map(|unit| {
            let offset = unit.functions().at(address)?;
            let entry = unit.unit.entry(offset).ok()?;
            let (begin, _) = ranges(&unit, &entry).next()?;
            Some((Place::new(unit, offset), begin))
        })
    }

    fn calls_of(&self, function: &Place, begin: u64) -> Option<Arc<FunctionCalls>> {
        let kept = || self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().get(&begin) {
            return Some(Arc::clone(known));
        }
        let found = Arc::new(FunctionCalls::new(self.information()?, function));
        let mut kept = kept();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(begin, Arc::clone(&found));
        Some(found)
    }
}

impl FunctionCalls {
    fn new(information: &Information, function: &Place) -> Self {
        let mut found = Reading::default();
        let read = found.read(information, &function.unit, function.offset);
        // What is not complete says nothing of ways that may be elsewhere.
        let all = matches!(read, Ok(true)) && {
            let written = [
                dw::DW_AT_call_all_calls,
                dw::DW_AT_GNU_all_call_sites,
                dw::DW_AT_call_all_tail_calls,
                dw::DW_AT_GNU_all_tail_call_sites,
            ];
            written.iter().any(|name| function.is_set(information, *name))
        };
        let jumps: Vec<Call> = if all { found.jumps.into_iter().rev().collect() } else { Vec::new() };
        Self { all: found.all, jumps: jumps.into() }
    }
}

#[derive(Default)]
struct Reading {
    all: Vec<Call>,
    jumps: Vec<Call>,
}

impl Reading {
    /// Whether all were read.
    fn read(&mut self, information: &Information, unit: &Arc<UnitData>, function: UnitOffset) -> gimli::Result<bool> {
        let end = Instant::now() + TIME_LIMIT;
        let mut entries = unit.unit.entries_at_offset(function)?;
        entries.next_dfs()?;
        // That of something within the function which has no code, or of a function within it.
        let mut without: Option<isize> = None;
        let mut seen = std::collections::HashSet::new();
        let mut count = 0;
        while let Some(entry) = entries.next_dfs()? {
            let depth = entry.depth();
            if depth < 1 {
                break;
            }
            count += 1;
            if self.all.len() >= MAX_CALLS || count % ENTRIES_BETWEEN == 0 && Instant::now() > end {
                return Ok(false);
            }
            without = without.filter(|outer| depth > *outer);
            if without.is_some() {
                continue;
            }
            match entry.tag() {
                dw::DW_TAG_call_site | dw::DW_TAG_GNU_call_site => {
                    let Some(after) = address_after(unit, entry) else { continue };
                    // gdb keeps the first of those behind which the same address is.
                    if !seen.insert(after) {
                        continue;
                    }
                    let call = Call { after, target: target(information, unit, entry) };
                    let flag = |name| matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)));
                    if flag(dw::DW_AT_call_tail_call) || flag(dw::DW_AT_GNU_tail_call) {
                        self.jumps.push(call.clone());
                    }
                    self.all.push(call);
                }
                dw::DW_TAG_subprogram => without = Some(depth),
                dw::DW_TAG_inlined_subroutine if ranges(unit, entry).next().is_none() => without = Some(depth),
                _ => {}
            }
        }
        Ok(true)
    }
}

/// The address behind a call, which is what it returns to.
fn address_after(unit: &UnitData, entry: &Entry) -> Option<u64> {
    let value = entry.attr_value(dw::DW_AT_call_return_pc).or_else(|| entry.attr_value(dw::DW_AT_low_pc))?;
    unit.dwarf.attr_address(&unit.unit, value).ok().flatten()
}

fn target(information: &Information, unit: &Arc<UnitData>, entry: &Entry) -> Target {
    let names =
        [dw::DW_AT_call_target, dw::DW_AT_GNU_call_site_target, dw::DW_AT_call_origin, dw::DW_AT_abstract_origin];
    let value = names.iter().find_map(|name| entry.attr_value(*name));
    let function = value.and_then(|value| Place::new(unit.clone(), entry.offset()).referred(information, &value));
    function.and_then(|function| of_function(information, &function)).unwrap_or(Target::Unknown)
}

fn of_function(information: &Information, function: &Place) -> Option<Target> {
    let is_declaration = function.is_set(information, dw::DW_AT_declaration)
        && function.with(information, &[dw::DW_AT_specification]).is_none();
    if is_declaration {
        // gdb 13 makes a name with parameters of a function of C that C++ declares, which no symbol has.
        let plain = || function.name(information).filter(|_| function.unit.language != Language::Cpp);
        return function.linkage_name(information).or_else(plain).map(Target::Symbol);
    }
    let entry = function.entry()?;
    let begins: Vec<u64> = ranges(&function.unit, &entry).map(|(begin, _)| begin).collect();
    (!begins.is_empty()).then_some(Target::Addresses(begins))
}
