//! The calls in functions by their debug information: where they lead to, and which of them are jumps that end their function.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use gimli::constants as dw;

use super::ObjectFile;
use super::call_entries::{CallEntry, has_all_calls};
use super::debug_entry::DebugEntry;
use super::entries::{Walk, each_inside};
use super::frames::Language;
use super::information::Information;

/// Reading the calls of one function may take this long, and it may have so many.
const TIME_LIMIT: Duration = Duration::from_secs(2);
const MAX_CALLS: usize = 1 << 16;

/// The calls of more functions are not kept.
const MAX_KEPT: usize = 1 << 10;

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
    fn described(&self, address: u64) -> Option<(DebugEntry, u64)> {
        let function = self.information()?.function_at(address)?;
        let (begin, _) = function.unit.ranges(&function.entry()?).next()?;
        Some((function, begin))
    }

    fn calls_of(&self, function: &DebugEntry, begin: u64) -> Option<Arc<FunctionCalls>> {
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
    fn new(information: &Information, function: &DebugEntry) -> Self {
        let unit = &function.unit;
        let (mut all, mut jumps, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        let mut is_full = false;
        let read = each_inside(unit, function.offset, Instant::now() + TIME_LIMIT, &mut |entry| {
            let has_no_code = || unit.ranges(entry).next().is_none();
            if entry.tag() == dw::DW_TAG_inlined_subroutine && has_no_code() {
                return Walk::Over;
            }
            let Some(call) = CallEntry::of(entry) else { return Walk::Into };
            // The first of those behind which the same address is.
            if let Some(after) = call.returns_to(unit.dwarf(), unit).filter(|after| seen.insert(*after)) {
                let target = target(information, function, &call);
                all.push(Call { after, target });
                jumps.extend(all.last().filter(|_| call.is_jump()).cloned());
            }
            is_full = all.len() >= MAX_CALLS;
            if is_full { Walk::Stop } else { Walk::Into }
        });
        // What is not complete says nothing of ways that may be elsewhere.
        let is_complete = matches!(read, Ok(true)) && !is_full;
        if !is_complete || !function.entry().is_some_and(|entry| has_all_calls(&entry)) {
            jumps.clear();
        }
        jumps.reverse();
        Self { all, jumps: jumps.into() }
    }
}

fn target(information: &Information, around: &DebugEntry, call: &CallEntry) -> Target {
    let origin = if call.target().is_none() { call.origin() } else { None };
    let function = origin.and_then(|value| around.referred(information, &value));
    function.and_then(|function| of_function(information, &function)).unwrap_or(Target::Unknown)
}

fn of_function(information: &Information, function: &DebugEntry) -> Option<Target> {
    let is_declaration = function.is_set(information, dw::DW_AT_declaration)
        && function.with(information, &[dw::DW_AT_specification]).is_none();
    if is_declaration {
        // Of a function of C that C++ declares, no symbol has the name with parameters that gdb 13 makes.
        let plain = || function.name(information).filter(|_| function.unit.language != Language::Cpp);
        return function.linkage_name(information).or_else(plain).map(Target::Symbol);
    }
    let begins: Vec<u64> = function.unit.ranges(&function.entry()?).map(|(begin, _)| begin).collect();
    (!begins.is_empty()).then_some(Target::Addresses(begins))
}
