//! The calls that optimising compilers describe: what each gives to the function that it calls (DWARF 5, 3.4; the form of GNU
//! before that, <https://dwarfstd.org/issues/100909.2.html>).

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use gimli::{
    AttributeValue, DebugInfoOffset, DebuggingInformationEntry, Encoding, EndianSlice, Expression, Operation, Reader,
    Register, RunTimeEndian, Unit, UnitOffset, ValueType, constants as dw,
};

use super::code_file::code_file;
use symbols::{DebugSection, OpenUnit, UnitReader, code_of};
use target::printable;

/// A longer name is damage (bytes).
const MAX_NAME: usize = 4096;

/// Looking for one call may take this long; what was not found by then stays unknown.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// More arguments than this has no function of MPI.
const MAX_ARGUMENTS: usize = 64;

/// A longer expression, or one that refers to more types or addresses, is damage.
const MAX_EXPRESSION: usize = 4096;
const MAX_REFERENCES: usize = 64;

/// References from an entry to the one that has its name.
const MAX_HOPS: usize = 8;

/// The registers of the first arguments (System V ABI for AMD64, 3.2.3), by DWARF's numbers (figure 3.36); and that of the stack.
const REGISTERS: [u16; 6] = [5, 4, 1, 2, 8, 9];
const STACK_POINTER: u16 = 7;

/// Sections whose addresses a program may hand on. Where the linker knew no address, it wrote what lies in none of them: zero.
const DATA: [&str; 5] = [".data", ".bss", ".rodata", ".ldata", ".lbss"];

type Entry = DebuggingInformationEntry<DebugSection>;

/// Bytes of an expression that is kept.
pub(super) type Slice<'b> = EndianSlice<'b, RunTimeEndian>;

/// A call, as the debug information has it. Addresses are counted from the beginning of `.text`.
#[derive(Debug, Clone)]
pub struct CallSite {
    /// The symbol of the function that is called; `None` where it is called through a pointer.
    pub target: Option<String>,
    /// Where the function begins that the call stands in.
    pub entry: u64,
    /// Whether that function calls others by jumps, so that it may be entered from one of them; `true` where that is not known.
    pub jumps: bool,
    /// Whether the call is such a jump: the frame that it was made in is gone.
    pub(super) is_jump: bool,
    /// Each argument's place and its value.
    pub(super) arguments: Vec<(usize, Vec<u8>)>,
    pub(super) frame_base: Option<Vec<u8>>,
    pub(super) encoding: Encoding,
    /// Types of numbers that expressions refer to, by their offsets in the unit.
    pub(super) types: HashMap<usize, ValueType>,
    /// Addresses of the file that expressions refer to, by their indices.
    pub(super) addresses: HashMap<usize, u64>,
    /// Addresses of the file that have data, and that of `.text`.
    pub(super) data: Vec<Range<u64>>,
    pub(super) text: u64,
}

impl CallSite {
    /// An argument that has the same value whenever the call is made: what the compiler wrote down is a number.
    pub fn constant(&self, number: usize) -> Option<u64> {
        let (_, value) = self.arguments.iter().find(|(known, _)| *known == number)?;
        let mut operations = expression(value).operations(self.encoding);
        let first = operations.next().ok()??;
        if operations.next().ok()?.is_some() {
            return None;
        }
        match first {
            Operation::UnsignedConstant { value } => Some(value),
            Operation::SignedConstant { value } => Some(value as u64),
            _ => None,
        }
    }

    /// Whether a value is one that the function had when it was entered: what its own caller gave it.
    pub fn needs_caller(&self) -> bool {
        self.arguments.iter().any(|(_, value)| {
            let mut operations = expression(value).operations(self.encoding);
            std::iter::from_fn(|| operations.next().ok().flatten())
                .any(|operation| matches!(operation, Operation::EntryValue { .. }))
        })
    }
}

/// The call in the file `path` that returns to `offset`, counted from the beginning of `.text`. `None` where the file does not
/// describe it, or has another build-id than `build_id` (hexadecimal digits). Only code of x86-64 is read.
pub fn call_site(path: &Path, offset: u64, build_id: Option<&str>) -> Option<CallSite> {
    let (file, text) = code_file(path, build_id)?;
    let wanted = text.start.checked_add(offset)?;
    let units = file.units()?;
    let search = Search { units: &units, wanted, end: Instant::now() + TIME_LIMIT };
    let mut found = search.in_units(file.unit_addresses()?.at(wanted.checked_sub(1)?))?;
    let of_data = |name: &[u8]| DATA.iter().any(|known| name.starts_with(known.as_bytes()));
    found.data = file.section_addresses().filter(|(name, _)| of_data(name)).map(|(_, range)| range).collect();
    found.entry = found.entry.wrapping_sub(text.start);
    found.text = text.start;
    Some(found)
}

struct Search<'d> {
    units: &'d UnitReader,
    /// The address in the file to which the call returns.
    wanted: u64,
    end: Instant,
}

impl Search<'_> {
    fn in_units(&self, units: Vec<DebugInfoOffset>) -> Option<CallSite> {
        units.into_iter().take_while(|_| Instant::now() < self.end).find_map(|unit| {
            let unit = self.unit(unit)?;
            if unit.encoding().address_size != 8 || unit.dwo_id.is_some() {
                return None;
            }
            self.in_unit(&unit).ok()?
        })
    }

    /// The unit that begins there.
    fn unit(&self, start: DebugInfoOffset) -> Option<OpenUnit> {
        self.units.open(self.units.dwarf().debug_info.header_from_offset(start).ok()?)
    }

    /// Whether the call's last byte lies in one of the ranges.
    fn is_in(&self, mut ranges: gimli::RangeIter<DebugSection>) -> bool {
        let call = self.wanted.wrapping_sub(1);
        std::iter::from_fn(|| ranges.next().ok().flatten()).any(|range| (range.begin..range.end).contains(&call))
    }

    fn in_unit(&self, unit: &Unit<DebugSection>) -> gimli::Result<Option<CallSite>> {
        let mut function = None;
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if Instant::now() > self.end {
                return Ok(None);
            }
            // Of functions within functions the innermost comes last.
            if entry.tag() == dw::DW_TAG_subprogram && self.is_in(code_of(self.units.dwarf(), unit, entry)?) {
                function = Some(entry.offset());
            }
        }
        function.map_or(Ok(None), |function| self.in_function(unit, function))
    }

    fn in_function(&self, unit: &Unit<DebugSection>, function: UnitOffset) -> gimli::Result<Option<CallSite>> {
        let mut entries = unit.entries_at_offset(function)?;
        let Some(entry) = entries.next_dfs()? else { return Ok(None) };
        let Some(begin) = self.begin(unit, entry)? else { return Ok(None) };
        let all = [
            dw::DW_AT_call_all_calls,
            dw::DW_AT_call_all_tail_calls,
            dw::DW_AT_GNU_all_call_sites,
            dw::DW_AT_GNU_all_tail_call_sites,
        ];
        let mut found = CallSite {
            target: None,
            entry: begin,
            jumps: !all.iter().any(|name| is_set(entry, *name)),
            is_jump: false,
            arguments: Vec::new(),
            frame_base: entry.attr_value(dw::DW_AT_frame_base).and_then(kept),
            encoding: unit.encoding(),
            types: HashMap::new(),
            addresses: HashMap::new(),
            data: Vec::new(),
            text: 0,
        };
        // Depths of the call whose arguments follow, and of a function within this one.
        let (mut call, mut inner, mut seen) = (None, None, false);
        while let Some(entry) = entries.next_dfs()? {
            let depth = entry.depth();
            if depth < 1 {
                break;
            }
            if Instant::now() > self.end {
                return Ok(None);
            }
            if inner.is_some_and(|inner| depth > inner) {
                continue;
            }
            inner = (entry.tag() == dw::DW_TAG_subprogram).then_some(depth);
            call = call.filter(|call| depth > *call);
            match entry.tag() {
                dw::DW_TAG_call_site | dw::DW_TAG_GNU_call_site => {
                    let jump = is_set(entry, dw::DW_AT_call_tail_call) || is_set(entry, dw::DW_AT_GNU_tail_call);
                    found.jumps |= jump;
                    if !seen && self.returns_to(unit, entry)? == Some(self.wanted) {
                        (call, seen) = (Some(depth), true);
                        found.is_jump = jump;
                        found.target = self.target(unit, entry);
                    }
                }
                dw::DW_TAG_call_site_parameter | dw::DW_TAG_GNU_call_site_parameter
                    if call.is_some() && found.arguments.len() < MAX_ARGUMENTS =>
                {
                    found.arguments.extend(argument(entry, found.encoding));
                }
                _ => {}
            }
        }
        if !seen {
            return Ok(None);
        }
        self.refer(unit, &mut found);
        Ok(Some(found))
    }

    /// Where a function is entered: its first range also where parts of it lie elsewhere.
    fn begin(&self, unit: &Unit<DebugSection>, function: &Entry) -> gimli::Result<Option<u64>> {
        for name in [dw::DW_AT_entry_pc, dw::DW_AT_low_pc] {
            if let Some(value) = function.attr_value(name)
                && let Some(address) = self.units.dwarf().attr_address(unit, value)?
            {
                return Ok(Some(address));
            }
        }
        Ok(code_of(self.units.dwarf(), unit, function)?.next()?.map(|range| range.begin))
    }

    fn returns_to(&self, unit: &Unit<DebugSection>, call: &Entry) -> gimli::Result<Option<u64>> {
        let name = if call.tag() == dw::DW_TAG_call_site { dw::DW_AT_call_return_pc } else { dw::DW_AT_low_pc };
        call.attr_value(name).map_or(Ok(None), |value| self.units.dwarf().attr_address(unit, value))
    }

    /// The symbol of the function that is called.
    fn target(&self, unit: &Unit<DebugSection>, call: &Entry) -> Option<String> {
        let name = if call.tag() == dw::DW_TAG_call_site { dw::DW_AT_call_origin } else { dw::DW_AT_abstract_origin };
        let mut at = referred(unit, call.attr_value(name)?)?;
        let (mut plain, mut other) = (None, None::<OpenUnit>);
        for _ in 0..MAX_HOPS {
            let known = other.as_deref().unwrap_or(unit);
            if at.to_unit_offset(&known.header).is_none() {
                let mut units = self.units.dwarf().units();
                let mut headers = std::iter::from_fn(|| units.next().ok().flatten());
                let header = headers.find(|header| at.to_unit_offset(header).is_some())?;
                other = Some(self.units.open(header)?);
            }
            let unit = other.as_deref().unwrap_or(unit);
            let entry = unit.entry(at.to_unit_offset(&unit.header)?).ok()?;
            let string = |name| {
                self.units
                    .dwarf()
                    .attr_string(unit, entry.attr_value(name)?)
                    .ok()?
                    .bytes()
                    .map(|bytes| printable(&bytes[..bytes.len().min(MAX_NAME)]))
            };
            let symbol = string(dw::DW_AT_linkage_name).or_else(|| string(dw::DW_AT_MIPS_linkage_name));
            if symbol.is_some() {
                return symbol;
            }
            plain = plain.or_else(|| string(dw::DW_AT_name));
            let next = [dw::DW_AT_abstract_origin, dw::DW_AT_specification];
            let Some(next) = next.iter().find_map(|name| entry.attr_value(*name)) else { break };
            at = referred(unit, next)?;
        }
        plain
    }

    /// Keeps the types and addresses that expressions refer to.
    fn refer(&self, unit: &Unit<DebugSection>, found: &mut CallSite) {
        let values = found.arguments.iter().map(|(_, value)| value).chain(&found.frame_base);
        for value in values {
            let mut operations = expression(value).operations(found.encoding);
            while let Ok(Some(operation)) = operations.next() {
                if found.types.len() + found.addresses.len() >= MAX_REFERENCES {
                    return;
                }
                match operation {
                    Operation::Convert { base_type }
                    | Operation::Reinterpret { base_type }
                    | Operation::RegisterOffset { base_type, .. }
                    | Operation::Deref { base_type, .. }
                    | Operation::TypedLiteral { base_type, .. } => {
                        let entry = unit.entry(base_type);
                        if let Ok(Some(kind)) = entry.and_then(|entry| ValueType::from_entry(&entry)) {
                            found.types.insert(base_type.0, kind);
                        }
                    }
                    Operation::AddressIndex { index } | Operation::ConstantIndex { index } => {
                        if let Ok(address) = self.units.dwarf().address(unit, index) {
                            found.addresses.insert(index.0, address);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

fn referred(unit: &Unit<DebugSection>, value: AttributeValue<DebugSection>) -> Option<DebugInfoOffset> {
    match value {
        AttributeValue::UnitRef(offset) => offset.to_debug_info_offset(&unit.header),
        AttributeValue::DebugInfoRef(offset) => Some(offset),
        _ => None,
    }
}

fn is_set(entry: &Entry, name: dw::DwAt) -> bool {
    matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)))
}

/// Bytes of x86-64's.
pub(super) fn expression(bytes: &[u8]) -> Expression<Slice<'_>> {
    Expression(Slice::new(bytes, RunTimeEndian::Little))
}

fn kept(value: AttributeValue<DebugSection>) -> Option<Vec<u8>> {
    let bytes = value.exprloc_value()?.0;
    if bytes.len() > MAX_EXPRESSION { None } else { Some(bytes.bytes()?.into_owned()) }
}

/// The number of the argument that a register has.
pub(super) fn number_of(register: Register) -> Option<usize> {
    REGISTERS.iter().position(|known| *known == register.0)
}

/// The number of an argument among those that are given in registers or, after these, on the stack; and its value.
fn argument(entry: &Entry, encoding: Encoding) -> Option<(usize, Vec<u8>)> {
    let place = entry.attr_value(dw::DW_AT_location)?.exprloc_value()?;
    let mut operations = place.operations(encoding);
    let first = operations.next().ok()??;
    if operations.next().ok()?.is_some() {
        return None;
    }
    let number = match first {
        Operation::Register { register } => number_of(register)?,
        Operation::RegisterOffset { register: Register(STACK_POINTER), offset, .. } if offset % 8 == 0 => {
            usize::try_from(offset / 8).ok()?.checked_add(REGISTERS.len())?
        }
        _ => return None,
    };
    let value = [dw::DW_AT_call_value, dw::DW_AT_GNU_call_site_value];
    let value = value.iter().find_map(|name| entry.attr_value(*name))?;
    (number < MAX_ARGUMENTS).then_some((number, kept(value)?))
}
