//! The calls that optimising compilers describe: what each gives to the function that it calls.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use gimli::{Encoding, EndianSlice, Expression, Operation, Register, RunTimeEndian, ValueType, constants as dw};

use super::code_file::code_file;
use symbols::{
    CallEntry, DebugEntry, DebugSection, DebugUnit, Information, ParameterEntry, Walk, each_inside, has_all_calls,
};

/// Looking for one call may take this long; what was not found by then stays unknown.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// More arguments than this has no function of MPI.
const MAX_ARGUMENTS: usize = 64;

/// A longer expression, or one that refers to more types or addresses, is damage.
const MAX_EXPRESSION: usize = 4096;
const MAX_REFERENCES: usize = 64;

/// The registers of the first arguments (System V ABI for AMD64, 3.2.3), by DWARF's numbers (figure 3.36); and that of the stack.
const REGISTERS: [u16; 6] = [5, 4, 1, 2, 8, 9];
const STACK_POINTER: u16 = 7;

/// Sections whose addresses a program may hand on. Where the linker knew no address, it wrote what lies in none of them: zero.
const DATA: [&str; 5] = [".data", ".bss", ".rodata", ".ldata", ".lbss"];

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
    let information = file.information()?;
    let function = information.function_at(wanted.checked_sub(1)?)?;
    if function.unit.encoding().address_size != 8 || function.unit.dwo_id.is_some() {
        return None;
    }
    let mut found = in_function(information, &function, wanted)?;
    let of_data = |name: &[u8]| DATA.iter().any(|known| name.starts_with(known.as_bytes()));
    found.data = file.section_addresses().filter(|(name, _)| of_data(name)).map(|(_, range)| range).collect();
    found.entry = found.entry.wrapping_sub(text.start);
    found.text = text.start;
    Some(found)
}

/// The call in a function that returns to `wanted`, an address of the file.
fn in_function(information: &Information, function: &DebugEntry, wanted: u64) -> Option<CallSite> {
    let (unit, entry) = (&function.unit, function.entry()?);
    let mut found = CallSite {
        target: None,
        entry: unit.entered_at(&entry)?,
        jumps: !has_all_calls(&entry),
        is_jump: false,
        arguments: Vec::new(),
        frame_base: entry.attr_value(dw::DW_AT_frame_base).and_then(|value| kept(value.exprloc_value()?)),
        encoding: unit.encoding(),
        types: HashMap::new(),
        addresses: HashMap::new(),
        data: Vec::new(),
        text: 0,
    };
    // Depth of the call whose arguments follow.
    let (mut depth, mut seen) = (None, false);
    let read = each_inside(unit, function.offset, Instant::now() + TIME_LIMIT, &mut |entry| {
        depth = depth.filter(|call| entry.depth() > *call);
        if let Some(call) = CallEntry::of(entry) {
            found.jumps |= call.is_jump();
            if !seen && call.returns_to(unit.dwarf(), unit) == Some(wanted) {
                (depth, seen) = (Some(entry.depth()), true);
                found.is_jump = call.is_jump();
                found.target = call
                    .origin()
                    .and_then(|value| function.referred(information, &value))
                    .and_then(|target| target.linkage_name(information).or_else(|| target.name(information)));
            }
        } else if let Some(parameter) = ParameterEntry::of(entry)
            && depth.is_some()
            && found.arguments.len() < MAX_ARGUMENTS
        {
            found.arguments.extend(argument(&parameter, found.encoding));
        }
        Walk::Into
    });
    if !seen || !matches!(read, Ok(true)) {
        return None;
    }
    refer(unit, &mut found);
    Some(found)
}

/// Keeps the types and addresses that expressions refer to.
fn refer(unit: &DebugUnit, found: &mut CallSite) {
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
                    if let Ok(address) = unit.dwarf().address(unit, index) {
                        found.addresses.insert(index.0, address);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Bytes of x86-64's.
pub(super) fn expression(bytes: &[u8]) -> Expression<Slice<'_>> {
    Expression(Slice::new(bytes, RunTimeEndian::Little))
}

fn kept(expression: Expression<DebugSection>) -> Option<Vec<u8>> {
    let bytes = expression.0;
    if gimli::Reader::len(&bytes) > MAX_EXPRESSION { None } else { Some(bytes.bytes()?.into_owned()) }
}

/// The number of the argument that a register has.
pub(super) fn number_of(register: Register) -> Option<usize> {
    REGISTERS.iter().position(|known| *known == register.0)
}

/// The number of an argument among those that are given in registers or, after these, on the stack; and its value.
fn argument(parameter: &ParameterEntry, encoding: Encoding) -> Option<(usize, Vec<u8>)> {
    let mut operations = parameter.location()?.operations(encoding);
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
    (number < MAX_ARGUMENTS).then_some((number, kept(parameter.value()?)?))
}
