//! The units of debug information.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gimli::{DebugInfoOffset, Dwarf, UnitHeader, UnitOffset, constants as dw};
use target::file_budget::Kept;

use super::DebugSection;
use super::frames::Language;
use super::functions::Functions;
use super::lines::Lines;
use super::split::{SplitUnit, Splits};
use super::unit_reader::{OpenUnit, UnitReader};

/// More units are damage.
const MAX_UNITS: usize = 1 << 20;

/// The units of `.debug_info`, opened when they are wanted.
pub(crate) struct Units {
    reader: Arc<UnitReader>,
    /// Where each begins: only references from one to another want to know all.
    starts: OnceLock<Kept<Vec<DebugInfoOffset>>>,
    opened: Mutex<BTreeMap<DebugInfoOffset, Option<Arc<UnitData>>>>,
}

/// One unit.
pub(crate) struct UnitData {
    pub(crate) dwarf: Arc<Dwarf<DebugSection>>,
    /// What describes functions: that of the `.dwo` file where there is one.
    pub(crate) unit: OpenUnit,
    /// Where there is one, what the file itself still says of it: it has the lines.
    skeleton: Option<(Arc<Dwarf<DebugSection>>, OpenUnit)>,
    /// The unit in the file itself.
    pub(crate) offset: Option<DebugInfoOffset>,
    pub(crate) language: Language,
    /// Whether the language is Rust, whose symbols stand for names in the source in a way of their own.
    pub(crate) is_rust: bool,
    reader: Arc<UnitReader>,
    functions: OnceLock<Kept<Functions>>,
    lines: OnceLock<Kept<Lines>>,
}

impl Units {
    pub(crate) fn new(reader: Arc<UnitReader>) -> Self {
        Self { reader, starts: OnceLock::new(), opened: Mutex::default() }
    }

    pub(crate) fn reader(&self) -> &Arc<UnitReader> {
        &self.reader
    }

    /// The unit that begins there. It has code where `splits` are told.
    pub(crate) fn unit(&self, start: DebugInfoOffset, splits: Option<&Splits>) -> Option<Arc<UnitData>> {
        let opened = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = opened().get(&start) {
            return known.clone();
        }
        let header = self.reader.dwarf().debug_info.header_from_offset(start).ok();
        let unit = header.and_then(|header| UnitData::open(&self.reader, header, splits)).map(Arc::new);
        opened().entry(start).or_insert(unit).clone()
    }

    /// The unit that has an offset of the section, and the offset in it. It is not one of code.
    pub(crate) fn containing(&self, offset: DebugInfoOffset) -> Option<(Arc<UnitData>, UnitOffset)> {
        let starts = self.starts();
        let after = starts.partition_point(|start| *start <= offset);
        let unit = self.unit(*starts.get(after.checked_sub(1)?)?, None)?;
        let within = offset.0.checked_sub(unit.offset?.0).map(UnitOffset)?;
        Some((unit, within))
    }

    fn starts(&self) -> &[DebugInfoOffset] {
        let list = || {
            let mut headers = self.reader.dwarf().units();
            let headers = std::iter::from_fn(|| headers.next().ok().flatten());
            let starts: Vec<_> = headers.take(MAX_UNITS).filter_map(|header| header.debug_info_offset()).collect();
            let bytes = size_of_val(starts.as_slice());
            self.reader.budget().keep(".debug_info", starts, bytes, Vec::new())
        };
        self.starts.get_or_init(list)
    }
}

impl UnitData {
    fn open(reader: &Arc<UnitReader>, header: UnitHeader<DebugSection>, splits: Option<&Splits>) -> Option<Self> {
        let unit = reader.open(header)?;
        let dwarf = reader.dwarf();
        let offset = unit.header.debug_info_offset();
        let split = splits.and_then(|splits| splits.of(reader, &unit));
        let (dwarf, unit, skeleton) = match split {
            Some(SplitUnit { dwarf: of_split, unit: split }) => (of_split, split, Some((dwarf.clone(), unit))),
            None => (dwarf.clone(), unit, None),
        };
        let mut entries = unit.entries();
        let root = entries.next_dfs().ok()??;
        let told = match root.attr_value(dw::DW_AT_language) {
            Some(gimli::AttributeValue::Language(language)) => Some(language),
            _ => None,
        };
        let language = Language::of(told);
        let is_rust = told == Some(dw::DW_LANG_Rust);
        let (functions, lines) = (OnceLock::new(), OnceLock::new());
        let reader = Arc::clone(reader);
        Some(Self { dwarf, unit, skeleton, offset, language, is_rust, reader, functions, lines })
    }

    pub(crate) fn is_split(&self) -> bool {
        self.skeleton.is_some()
    }

    pub(crate) fn functions(&self) -> &Functions {
        let read = || {
            let functions = Functions::new(self);
            let bytes = functions.bytes();
            self.reader.budget().keep(".debug_info", functions, bytes, Functions::default())
        };
        self.functions.get_or_init(read)
    }

    pub(crate) fn lines(&self) -> &Lines {
        let read = || {
            let lines = match &self.skeleton {
                Some((dwarf, unit)) => Lines::new(dwarf, unit),
                None => Lines::new(&self.dwarf, &self.unit),
            };
            let bytes = lines.bytes();
            self.reader.budget().keep(".debug_line", lines, bytes, Lines::default())
        };
        self.lines.get_or_init(read)
    }
}
