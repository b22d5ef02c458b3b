//! The frames of an address: the function, and what is inlined in it there.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use gimli::{DwLang, UnitOffset, constants as dw};

use super::ObjectFile;
use super::debug_entry::{DebugEntry, function_name};
use super::file_names::FileName;
use super::functions::inlined_at;
use super::information::Information;
use super::units::DebugUnit;

/// Looking for what is inlined at one address may take this long.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Answers to more addresses are not kept, nor longer ones: ranks of one job stand in few functions.
const MAX_KEPT: usize = 4096;
const MAX_LENGTH: usize = 1 << 14;

/// The language that a unit was compiled of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
    /// Fortran.
    Fortran,
    /// Another one, or not known.
    Other,
}

impl Language {
    /// By DW_AT_language.
    pub fn of(told: Option<DwLang>) -> Self {
        match told {
            Some(dw::DW_LANG_C | dw::DW_LANG_C89 | dw::DW_LANG_C99 | dw::DW_LANG_C11 | dw::DW_LANG_C17) => Self::C,
            Some(
                dw::DW_LANG_C_plus_plus
                | dw::DW_LANG_C_plus_plus_03
                | dw::DW_LANG_C_plus_plus_11
                | dw::DW_LANG_C_plus_plus_14
                | dw::DW_LANG_C_plus_plus_17
                | dw::DW_LANG_C_plus_plus_20,
            ) => Self::Cpp,
            Some(
                dw::DW_LANG_Fortran77
                | dw::DW_LANG_Fortran90
                | dw::DW_LANG_Fortran95
                | dw::DW_LANG_Fortran03
                | dw::DW_LANG_Fortran08
                | dw::DW_LANG_Fortran18,
            ) => Self::Fortran,
            _ => Self::Other,
        }
    }
}

/// One frame by its debug information.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFrame {
    /// The function as its source names it, without parameters; `None` where lines alone are known.
    pub function: Option<String>,
    /// The source file as the compiler was given it.
    pub file: Option<String>,
    /// Its path, from the root where that is known.
    pub path: Option<PathBuf>,
    /// The line.
    pub line: Option<u32>,
    /// Whether the function is inlined in that of the next frame.
    pub inlined: bool,
    /// The language of the unit.
    pub language: Language,
}

/// Answers that were given.
pub(crate) type Kept = HashMap<u64, Arc<[SourceFrame]>>;

impl ObjectFile {
    /// The frames at an address of the file, the innermost first: what is inlined there, then the function itself. For a frame
    /// that called another one, ask for the byte before its return address. Empty without debug information.
    pub fn frames_at(&self, address: u64) -> Vec<SourceFrame> {
        let kept = || self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().get(&address) {
            return known.to_vec();
        }
        let found = self.information().map(|information| find(information, address)).unwrap_or_default();
        let length = |frame: &SourceFrame| {
            let names = [frame.function.as_ref(), frame.file.as_ref()].into_iter().flatten();
            size_of::<SourceFrame>() + names.map(String::len).sum::<usize>()
        };
        let mut kept = kept();
        if kept.len() < MAX_KEPT && found.iter().map(length).sum::<usize>() < MAX_LENGTH {
            kept.insert(address, found.as_slice().into());
        }
        found
    }
}

fn find(information: &Information, address: u64) -> Vec<SourceFrame> {
    let end = Instant::now() + TIME_LIMIT;
    let mut lines_alone = Vec::new();
    for unit in information.units_at(address) {
        let found = in_unit(information, &unit, address);
        if unit.function_at(address).is_some() {
            return found;
        }
        if lines_alone.is_empty() {
            lines_alone = found;
        }
        if Instant::now() > end {
            break;
        }
    }
    lines_alone
}

fn in_unit(information: &Information, unit: &Arc<DebugUnit>, address: u64) -> Vec<SourceFrame> {
    let lines = unit.lines();
    let mut at = lines.at(address).map(|(file, line)| (Some(file.clone()), line));
    let function = unit.function_at(address);
    let mut found = Vec::new();
    if let Some(function) = function {
        let inlined = inlined_at(unit, function, address, Instant::now() + TIME_LIMIT);
        for offset in inlined.into_iter().rev() {
            let place = DebugEntry::new(unit.clone(), offset);
            // A call without a name is none for gdb.
            let Some(name) = function_name(information, &place) else { continue };
            found.push(frame(unit, Some(name), true, at.take()));
            at = called_from(unit, offset);
        }
    }
    let name = function.and_then(|offset| function_name(information, &DebugEntry::new(unit.clone(), offset)));
    if name.is_some() || at.is_some() || function.is_some() || !found.is_empty() {
        found.push(frame(unit, name, false, at));
    }
    found
}

/// The place of a call that is inlined.
fn called_from(unit: &DebugUnit, call: UnitOffset) -> Option<(Option<FileName>, u32)> {
    let entry = unit.entry(call).ok()?;
    let number = |name| entry.attr_value(name).and_then(|value| value.udata_value());
    let line = number(dw::DW_AT_call_line).and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0)?;
    let names = &unit.lines().names;
    let file = match entry.attr_value(dw::DW_AT_call_file) {
        Some(gimli::AttributeValue::FileIndex(index)) => names.get(index),
        Some(value) => value.udata_value().and_then(|index| names.get(index)),
        None => names.main.as_ref(),
    };
    Some((file.cloned(), line))
}

fn frame(
    unit: &DebugUnit,
    function: Option<String>,
    inlined: bool,
    at: Option<(Option<FileName>, u32)>,
) -> SourceFrame {
    let (file, line) = at.map_or((None, None), |(file, line)| (file, Some(line)));
    let (name, path) = file.map_or((None, None), |file| (Some(file.name), Some(file.path)));
    SourceFrame { function, file: name, path, line, inlined, language: unit.language }
}
