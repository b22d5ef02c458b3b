//! Which units have code at an address.
//!
//! `.debug_aranges` (DWARF 5, 6.1.2) tells it in one small table, which gdb believes as well (`read_addrmap_from_aranges` in
//! gdb/dwarf2/read.c). Compilers may leave it out, of some units or of all: those are asked themselves, which means to look
//! into each.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gimli::{DebugInfoOffset, Dwarf, UnitHeader, UnitType, constants as dw};

use super::entries::code_of_unit;
use super::unit_reader::UnitReader;
use super::{DebugSection, lines};
use target::file_budget::Claimed;

/// Finding out which unit has which addresses may take this long; what was not read by then stays unknown.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The time is looked at once for so many entries.
const ENTRIES_BETWEEN: usize = 1 << 12;

/// More ranges of addresses than this are damage.
const MAX_RANGES: usize = 1 << 20;

/// More ranges of one unit are not read.
const MAX_OF_UNIT: usize = 1 << 20;

/// More units are damage.
const MAX_UNITS: usize = 1 << 20;

/// A few units overlap where a linker folded functions; many are damage.
const MAX_OVERLAPPING: usize = 16;

/// The units of `.debug_info` by the addresses of their code.
pub struct UnitAddresses {
    reader: Arc<UnitReader>,
    told: OnceLock<Told>,
    others: OnceLock<Others>,
}

/// What the table says.
#[derive(Default)]
struct Told {
    ranges: Ranges,
    /// The units that it speaks of, in order.
    units: Vec<DebugInfoOffset>,
}

/// What units say that the table does not speak of.
#[derive(Default)]
struct Others {
    ranges: Ranges,
    silent: Vec<DebugInfoOffset>,
}

#[derive(Default)]
struct Ranges {
    all: Vec<UnitRange>,
    _claimed: Option<Claimed>,
}

struct UnitRange {
    begin: u64,
    end: u64,
    /// The largest end of this range and all before it.
    furthest: u64,
    unit: DebugInfoOffset,
}

impl UnitAddresses {
    /// Those of a file with these units; they are read when they are asked for.
    pub fn new(reader: Arc<UnitReader>) -> Self {
        Self { reader, told: OnceLock::new(), others: OnceLock::new() }
    }

    /// The units that have code at an address of the file, that whose range begins last first.
    pub fn at(&self, address: u64) -> Vec<DebugInfoOffset> {
        let told = self.told().ranges.at(address);
        if told.is_empty() { self.others().ranges.at(address) } else { told }
    }

    /// Units with code that do not say where it is.
    pub fn silent(&self) -> &[DebugInfoOffset] {
        &self.others().silent
    }

    fn told(&self) -> &Told {
        self.told.get_or_init(|| {
            let mut found = Told::default();
            // A damaged table says as much as it has said until then.
            let _ = found.read(self.reader.dwarf(), Instant::now() + TIME_LIMIT);
            found.ranges.sort();
            found.ranges.claim(&self.reader, ".debug_aranges");
            found.units.sort_unstable();
            found
        })
    }

    fn others(&self) -> &Others {
        self.others.get_or_init(|| {
            let end = Instant::now() + TIME_LIMIT;
            let mut found = Others::default();
            let mut headers = self.reader.dwarf().units();
            let headers = std::iter::from_fn(|| headers.next().ok().flatten()).take(MAX_UNITS);
            for header in headers.take_while(|_| Instant::now() < end) {
                let Some(offset) = header.debug_info_offset() else { continue };
                if found.ranges.is_full() {
                    break;
                }
                if self.told().units.binary_search(&offset).is_err() {
                    found.add(&self.reader, header, offset);
                }
            }
            found.ranges.sort();
            found.ranges.claim(&self.reader, ".debug_info");
            found
        })
    }
}

impl Told {
    fn read(&mut self, dwarf: &Dwarf<DebugSection>, end: Instant) -> gimli::Result<()> {
        let mut count = 0;
        let mut headers = dwarf.debug_aranges.headers();
        while let Some(header) = headers.next()? {
            let unit = header.debug_info_offset();
            let mut entries = header.entries();
            while let Some(entry) = entries.next()? {
                count += 1;
                if self.ranges.is_full() || count % ENTRIES_BETWEEN == 0 && Instant::now() > end {
                    return Ok(());
                }
                self.ranges.push(entry.range().begin, entry.range().end, unit);
            }
            // Only now: what is said of a unit is all of it, or nothing.
            self.units.push(unit);
        }
        Ok(())
    }
}

impl Others {
    fn add(&mut self, reader: &UnitReader, header: UnitHeader<DebugSection>, offset: DebugInfoOffset) {
        if matches!(header.type_(), UnitType::Type { .. } | UnitType::SplitType { .. }) {
            return;
        }
        let Some(unit) = reader.open(header) else { return };
        let dwarf = reader.dwarf();
        let before = self.ranges.all.len();
        if let Ok(mut ranges) = code_of_unit(dwarf, &unit) {
            for range in std::iter::from_fn(|| ranges.next().ok().flatten()).take(MAX_OF_UNIT) {
                self.ranges.push(range.begin, range.end, offset);
            }
        }
        if self.ranges.all.len() == before {
            // A unit may say where its code lies in its lines alone.
            for (begin, end) in lines::ranges(&unit) {
                self.ranges.push(begin, end, offset);
            }
        }
        let is_code = || {
            let mut entries = unit.entries();
            entries.next_dfs().ok().flatten().is_some_and(|root| root.tag() == dw::DW_TAG_compile_unit)
        };
        if self.ranges.all.len() == before && is_code() {
            self.silent.push(offset);
        }
    }
}

impl Ranges {
    /// What a linker removed begins at zero.
    fn push(&mut self, begin: u64, end: u64, unit: DebugInfoOffset) {
        if begin != 0 && begin < end {
            self.all.push(UnitRange { begin, end, furthest: end, unit });
        }
    }

    fn is_full(&self) -> bool {
        self.all.len() > MAX_RANGES
    }

    /// Pays for them; beyond the limit none is kept.
    fn claim(&mut self, reader: &UnitReader, section: &str) {
        let bytes = size_of_val(self.all.as_slice()) as u64;
        match reader.budget().claimed(section, bytes) {
            Ok(claimed) => self._claimed = Some(claimed),
            Err(_) => self.all = Vec::new(),
        }
    }

    fn sort(&mut self) {
        self.all.sort_by_key(|range| range.begin);
        let mut furthest = 0;
        for range in &mut self.all {
            furthest = furthest.max(range.end);
            range.furthest = furthest;
        }
        self.all.shrink_to_fit();
    }

    fn at(&self, address: u64) -> Vec<DebugInfoOffset> {
        let end = self.all.partition_point(|range| range.begin <= address);
        let mut found: Vec<DebugInfoOffset> = Vec::new();
        for range in self.all.get(..end).unwrap_or_default().iter().rev() {
            if range.furthest <= address || found.len() >= MAX_OVERLAPPING {
                break;
            }
            if address < range.end && !found.contains(&range.unit) {
                found.push(range.unit);
            }
        }
        found
    }
}
