//! The units of debug information.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gimli::{DebugInfoOffset, Dwarf, Unit, UnitHeader, UnitOffset, constants as dw};

use super::DebugSection;
use super::frames::Language;
use super::functions::Functions;
use super::lines::Lines;
use super::split::Splits;

/// More units are damage.
const MAX_UNITS: usize = 1 << 20;

/// The units of `.debug_info`, opened when they are wanted.
pub(crate) struct Units {
    dwarf: Arc<Dwarf<DebugSection>>,
    /// Where each begins: only references from one to another want to know all.
    starts: OnceLock<Vec<DebugInfoOffset>>,
    opened: Mutex<BTreeMap<DebugInfoOffset, Option<Arc<UnitData>>>>,
}

/// One unit.
pub(crate) struct UnitData {
    pub(crate) dwarf: Arc<Dwarf<DebugSection>>,
    /// What describes functions: that of the `.dwo` file where there is one.
    pub(crate) unit: Unit<DebugSection>,
    /// Where there is one, what the file itself still says of it: it has the lines.
    skeleton: Option<(Arc<Dwarf<DebugSection>>, Unit<DebugSection>)>,
    /// The unit in the file itself.
    pub(crate) offset: Option<DebugInfoOffset>,
    pub(crate) language: Language,
    /// Whether the language is Rust, whose symbols stand for names in the source in a way of their own.
    pub(crate) is_rust: bool,
    functions: OnceLock<Functions>,
    lines: OnceLock<Lines>,
}

impl Units {
    pub(crate) fn new(dwarf: Arc<Dwarf<DebugSection>>) -> Self {
        Self { dwarf, starts: OnceLock::new(), opened: Mutex::default() }
    }

    pub(crate) fn dwarf(&self) -> &Arc<Dwarf<DebugSection>> {
        &self.dwarf
    }

    /// The unit that begins there. It has code where `splits` are told.
    pub(crate) fn unit(&self, start: DebugInfoOffset, splits: Option<&Splits>) -> Option<Arc<UnitData>> {
        let opened = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = opened().get(&start) {
            return known.clone();
        }
        let header = self.dwarf.debug_info.header_from_offset(start).ok();
        let unit = header.and_then(|header| UnitData::open(&self.dwarf, header, splits)).map(Arc::new);
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
        self.starts.get_or_init(|| {
            let mut headers = self.dwarf.units();
            let headers = std::iter::from_fn(|| headers.next().ok().flatten());
            headers.take(MAX_UNITS).filter_map(|header| header.debug_info_offset()).collect()
        })
    }
}

impl UnitData {
    fn open(
        dwarf: &Arc<Dwarf<DebugSection>>,
        header: UnitHeader<DebugSection>,
        splits: Option<&Splits>,
    ) -> Option<Self> {
        let unit = dwarf.unit(header).ok()?;
        let offset = unit.header.debug_info_offset();
        let split = splits.and_then(|splits| splits.of(dwarf, &unit));
        let (dwarf, unit, skeleton) = match split {
            Some((split, of_split)) => (split, of_split, Some((dwarf.clone(), unit))),
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
        Some(Self { dwarf, unit, skeleton, offset, language, is_rust, functions, lines })
    }

    pub(crate) fn is_split(&self) -> bool {
        self.skeleton.is_some()
    }

    pub(crate) fn functions(&self) -> &Functions {
        self.functions.get_or_init(|| Functions::new(self))
    }

    pub(crate) fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| match &self.skeleton {
            Some((dwarf, unit)) => Lines::new(dwarf, unit),
            None => Lines::new(&self.dwarf, &self.unit),
        })
    }
}
