//! The debug information of one file, shared between the processes that have loaded it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use gimli::{AttributeValue, DebugInfoOffset, Dwarf, Reader, UnitHeader, UnitOffset, UnitType};
use symbols::{UnitAddresses, UnitReader};
use target::TargetAbi;
use target::file_budget::{FileBudget, Kept};

use crate::limits::{INDEX_TIME, KEPT_UNITS, MOST_UNITS};
use crate::names::Names;
use crate::unit::Unit;

/// How a section of a file is read.
pub use symbols::DebugSection as Section;

/// The debug information of one file. What it takes long to find is found once, when it is first asked for.
pub struct DebugInfo {
    reader: Arc<UnitReader>,
    abi: TargetAbi,
    addresses: Arc<UnitAddresses>,
    starts: OnceLock<Kept<Starts>>,
    /// Those that have been opened.
    units: Mutex<HashMap<UnitStart, Arc<Unit>>>,
    names: OnceLock<Kept<Names>>,
}

/// Where a unit begins in `.debug_info`; with [`OF_TYPES`], which of those in `.debug_types` it is. Files with larger sections
/// are refused before (`symbols`).
pub(crate) type UnitStart = u32;

const OF_TYPES: UnitStart = 1 << 31;

/// All units.
#[derive(Default)]
struct Starts {
    /// Those of `.debug_info`, in order.
    of_info: Vec<UnitStart>,
    of_types: Vec<UnitHeader<Section>>,
    signatures: HashMap<u64, (UnitStart, UnitOffset)>,
}

impl DebugInfo {
    /// That of a file with these units, whose numbers are stored as `abi` says; `addresses`: those of its units.
    pub fn new(reader: Arc<UnitReader>, addresses: Arc<UnitAddresses>, abi: TargetAbi) -> Self {
        Self { reader, abi, addresses, starts: OnceLock::new(), units: Mutex::default(), names: OnceLock::new() }
    }

    pub(crate) fn dwarf(&self) -> &Dwarf<Section> {
        self.reader.dwarf()
    }

    /// What the file may take.
    pub(crate) fn budget(&self) -> &FileBudget {
        self.reader.budget()
    }

    pub(crate) fn abi(&self) -> TargetAbi {
        self.abi
    }

    /// Only references from one unit to another and the names of a whole file want to know where all units begin.
    fn starts(&self) -> &Starts {
        self.starts.get_or_init(|| {
            let end = Instant::now() + INDEX_TIME;
            let mut found = Starts::default();
            let mut units = self.dwarf().units();
            while let Ok(Some(header)) = units.next() {
                if found.of_info.len() >= MOST_UNITS || Instant::now() > end {
                    break;
                }
                let start = header.debug_info_offset().and_then(|offset| UnitStart::try_from(offset.0).ok());
                let Some(start) = start.filter(|start| start & OF_TYPES == 0) else { break };
                found.of_info.push(start);
                found.sign(&header, start);
            }
            let mut units = self.dwarf().type_units();
            while let Ok(Some(header)) = units.next() {
                if found.of_types.len() >= MOST_UNITS || Instant::now() > end {
                    break;
                }
                found.sign(&header, OF_TYPES | found.of_types.len() as UnitStart);
                found.of_types.push(header);
            }
            let bytes = size_of_val(found.of_info.as_slice())
                + size_of_val(found.of_types.as_slice())
                + found.signatures.len() * 2 * size_of::<(u64, (UnitStart, UnitOffset))>();
            self.budget().keep(".debug_info", found, bytes, Starts::default())
        })
    }

    fn header(&self, start: UnitStart) -> Option<UnitHeader<Section>> {
        if start & OF_TYPES != 0 {
            return self.starts().of_types.get((start & !OF_TYPES) as usize).cloned();
        }
        self.dwarf().debug_info.header_from_offset(DebugInfoOffset(start as usize)).ok()
    }

    /// A unit by its beginning, which is kept open.
    pub(crate) fn unit(&self, start: UnitStart) -> Option<Arc<Unit>> {
        let mut units = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unit) = units.get(&start) {
            return Some(unit.clone());
        }
        let header = self.header(start)?;
        if units.len() >= KEPT_UNITS {
            units.clear();
        }
        let unit = Arc::new(Unit::new(start, self.reader.open(header)?));
        units.insert(start, unit.clone());
        Some(unit)
    }

    /// The unit, and where in it, that an offset in `.debug_info` is in.
    pub(crate) fn at(&self, offset: DebugInfoOffset) -> Option<(UnitStart, UnitOffset)> {
        let all = &self.starts().of_info;
        let before = all.partition_point(|start| *start as usize <= offset.0).checked_sub(1)?;
        let start = *all.get(before)?;
        Some((start, offset.to_unit_offset(&self.header(start)?)?))
    }

    /// What an attribute of an entry of that unit refers to.
    pub(crate) fn referred(&self, unit: &Unit, value: &AttributeValue<Section>) -> Option<(UnitStart, UnitOffset)> {
        match value {
            AttributeValue::UnitRef(offset) => offset.is_in_bounds(&unit.header).then_some((unit.start, *offset)),
            AttributeValue::DebugInfoRef(offset) => self.at(*offset),
            AttributeValue::DebugTypesRef(signature) => self.starts().signatures.get(&signature.0).copied(),
            _ => None,
        }
    }

    /// The unit whose code has an address of the file.
    pub(crate) fn unit_at(&self, address: u64) -> Option<UnitStart> {
        let start = |offset: DebugInfoOffset| UnitStart::try_from(offset.0).ok();
        if let Some(offset) = self.addresses.at(address).first() {
            return start(*offset);
        }
        let end = Instant::now() + INDEX_TIME;
        let silent = self.addresses.silent().iter().take_while(|_| Instant::now() < end);
        let mut silent = silent.filter_map(|offset| start(*offset));
        silent.find(|start| self.unit(*start).is_some_and(|unit| unit.function_at(self, address).is_some()))
    }

    /// The names of all units.
    pub(crate) fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let end = Instant::now() + INDEX_TIME;
            let mut found = Names::default();
            let starts = self.starts();
            let of_types = (0..starts.of_types.len()).map(|number| OF_TYPES | number as UnitStart);
            for start in starts.of_info.iter().copied().chain(of_types) {
                match self.unit(start) {
                    Some(unit) => found.add_unit(self, &unit, end),
                    None => found.complete = false,
                }
                if !found.complete && Instant::now() > end {
                    break;
                }
            }
            found.sort();
            found.kept(self.budget())
        })
    }

    /// A string of an entry.
    pub(crate) fn text(&self, unit: &Unit, value: AttributeValue<Section>) -> Option<String> {
        let bytes = self.dwarf().attr_string(unit, value).ok()?;
        Some(String::from_utf8_lossy(&bytes.to_slice().ok()?).into_owned())
    }
}

impl Starts {
    /// Notes the type that a unit describes for others.
    fn sign(&mut self, header: &UnitHeader<Section>, start: UnitStart) {
        if let UnitType::Type { type_signature, type_offset } | UnitType::SplitType { type_signature, type_offset } =
            header.type_()
        {
            self.signatures.entry(type_signature.0).or_insert((start, type_offset));
        }
    }
}
