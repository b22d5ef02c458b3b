//! The debug information of one file, shared between the processes that have loaded it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use gimli::{
    Abbreviations, AttributeValue, DebugInfoOffset, Dwarf, Reader, UnitHeader, UnitOffset, UnitType, constants as dw,
};
use target::TargetAbi;

use crate::abbreviations::length_of_table;
use crate::limits::{INDEX_TIME, KEPT_ABBREVIATIONS, KEPT_UNITS, MOST_RANGES, MOST_UNITS};
use crate::names::Names;
use crate::ranges::ranges;
use crate::unit::Unit;
use gimli::Section as _;

/// How a section of a file is read.
pub type Section = gimli::EndianArcSlice<gimli::RunTimeEndian>;

/// The debug information of one file. What it takes long to find is found once, when it is first asked for.
pub struct DebugInfo {
    dwarf: Arc<Dwarf<Section>>,
    abi: TargetAbi,
    headers: OnceLock<Headers>,
    kept: Mutex<Kept>,
    units_by_address: OnceLock<ByAddress>,
    names: OnceLock<Names>,
}

/// The units: those of `.debug_info` by their offsets, behind them those of `.debug_types`.
#[derive(Default)]
struct Headers {
    all: Vec<UnitHeader<Section>>,
    /// How many are of `.debug_info`.
    ordered: usize,
    signatures: HashMap<u64, (usize, UnitOffset)>,
}

/// Which units have which code.
#[derive(Default)]
struct ByAddress {
    ranges: Vec<(u64, u64, usize)>,
    /// Those that do not say it.
    others: Vec<usize>,
}

/// Units that have been opened.
#[derive(Default)]
struct Kept {
    units: HashMap<usize, Arc<Unit>>,
    tables: HashMap<usize, Arc<Abbreviations>>,
    cost: usize,
}

impl DebugInfo {
    /// That of a file whose numbers are stored as `abi` says.
    pub fn new(dwarf: Arc<Dwarf<Section>>, abi: TargetAbi) -> Self {
        Self {
            dwarf,
            abi,
            headers: OnceLock::new(),
            kept: Mutex::default(),
            units_by_address: OnceLock::new(),
            names: OnceLock::new(),
        }
    }

    pub(crate) fn dwarf(&self) -> &Dwarf<Section> {
        &self.dwarf
    }

    pub(crate) fn abi(&self) -> TargetAbi {
        self.abi
    }

    fn headers(&self) -> &Headers {
        self.headers.get_or_init(|| {
            let end = Instant::now() + INDEX_TIME;
            let mut found = Headers::default();
            let mut units = self.dwarf.units();
            while let Ok(Some(header)) = units.next() {
                if found.all.len() >= MOST_UNITS || Instant::now() > end {
                    break;
                }
                found.add(header);
            }
            found.ordered = found.all.len();
            let mut units = self.dwarf.type_units();
            while let Ok(Some(header)) = units.next() {
                if found.all.len() >= MOST_UNITS || Instant::now() > end {
                    break;
                }
                found.add(header);
            }
            found
        })
    }

    /// How many units there are.
    pub(crate) fn units(&self) -> usize {
        self.headers().all.len()
    }

    /// A unit by its number, which is kept open.
    pub(crate) fn unit(&self, number: usize) -> Option<Arc<Unit>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unit) = kept.units.get(&number) {
            return Some(unit.clone());
        }
        let header = self.headers().all.get(number)?.clone();
        let table = header.debug_abbrev_offset().0;
        let abbreviations = match kept.tables.get(&table) {
            Some(known) => known.clone(),
            None => {
                let cost = length_of_table(self.dwarf.debug_abbrev.reader(), table)?;
                if kept.cost.saturating_add(cost) > KEPT_ABBREVIATIONS {
                    *kept = Kept::default();
                }
                if cost > KEPT_ABBREVIATIONS {
                    return None;
                }
                let read = self.dwarf.abbreviations(&header).ok()?;
                kept.cost += cost;
                kept.tables.insert(table, read.clone());
                read
            }
        };
        if kept.units.len() >= KEPT_UNITS {
            *kept = Kept::default();
        }
        let unit = gimli::Unit::new_with_abbreviations(&self.dwarf, header, abbreviations).ok()?;
        let unit = Arc::new(Unit::new(number, unit));
        kept.units.insert(number, unit.clone());
        Some(unit)
    }

    /// The unit, and where in it, that an offset in `.debug_info` is in.
    pub(crate) fn at(&self, offset: DebugInfoOffset) -> Option<(usize, UnitOffset)> {
        let headers = self.headers();
        let all = headers.all.get(..headers.ordered)?;
        let before = |header: &UnitHeader<Section>| header.debug_info_offset().is_some_and(|start| start <= offset);
        let number = all.partition_point(before).checked_sub(1)?;
        Some((number, offset.to_unit_offset(all.get(number)?)?))
    }

    /// What an attribute of an entry of that unit refers to.
    pub(crate) fn referred(&self, unit: usize, value: &AttributeValue<Section>) -> Option<(usize, UnitOffset)> {
        match value {
            AttributeValue::UnitRef(offset) => {
                let header = self.headers().all.get(unit)?;
                offset.is_in_bounds(header).then_some((unit, *offset))
            }
            AttributeValue::DebugInfoRef(offset) => self.at(*offset),
            AttributeValue::DebugTypesRef(signature) => self.headers().signatures.get(&signature.0).copied(),
            _ => None,
        }
    }

    /// The number of the unit whose code has an address of the file.
    pub(crate) fn unit_at(&self, address: u64) -> Option<usize> {
        let all = self.units_by_address.get_or_init(|| self.by_address());
        let has = |(begin, end, _): &&(u64, u64, usize)| (*begin..*end).contains(&address);
        if let Some((_, _, number)) = all.ranges.iter().find(has) {
            return Some(*number);
        }
        let end = Instant::now() + INDEX_TIME;
        let mut others = all.others.iter().take_while(|_| Instant::now() < end);
        others.find(|number| self.unit(**number).is_some_and(|unit| unit.function_at(self, address).is_some())).copied()
    }

    fn by_address(&self) -> ByAddress {
        let end = Instant::now() + INDEX_TIME;
        let mut found = ByAddress::default();
        for number in 0..self.units() {
            if found.ranges.len() >= MOST_RANGES || Instant::now() > end {
                break;
            }
            let Some(unit) = self.unit(number) else { continue };
            let Some(root) = unit.root() else { continue };
            let before = found.ranges.len();
            found.ranges.extend(ranges(&self.dwarf, &unit, &root).into_iter().map(|(begin, end)| (begin, end, number)));
            if found.ranges.len() == before && root.tag() == dw::DW_TAG_compile_unit {
                found.others.push(number);
            }
        }
        found
    }

    /// The names of all units.
    pub(crate) fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let end = Instant::now() + INDEX_TIME;
            let mut found = Names::default();
            for number in 0..self.units() {
                match self.unit(number) {
                    Some(unit) => found.add_unit(self, &unit, end),
                    None => found.complete = false,
                }
                if !found.complete && Instant::now() > end {
                    break;
                }
            }
            found.sort();
            found
        })
    }

    /// A string of an entry.
    pub(crate) fn text(&self, unit: &Unit, value: AttributeValue<Section>) -> Option<String> {
        let bytes = self.dwarf.attr_string(unit, value).ok()?;
        Some(String::from_utf8_lossy(&bytes.to_slice().ok()?).into_owned())
    }
}

impl Headers {
    fn add(&mut self, header: UnitHeader<Section>) {
        if let UnitType::Type { type_signature, type_offset } | UnitType::SplitType { type_signature, type_offset } =
            header.type_()
        {
            self.signatures.entry(type_signature.0).or_insert((self.all.len(), type_offset));
        }
        self.all.push(header);
    }
}
