//! What a function was given by its caller, by the debug information of the call.

use std::collections::HashMap;

use gimli::{
    EvaluationResult, Expression, Location, Operation, Piece, Register, RunTimeEndian, UnitOffset, Value, ValueType,
};

use super::call_sites::{CallSite, Slice, expression, number_of};

/// Operations of one expression; expressions and reads for all arguments of a call together.
const MAX_OPERATIONS: u32 = 1000;
const MAX_EXPRESSIONS: u32 = 500;
const MAX_READS: u32 = 500;

/// Addresses have no more bytes than this (x86-64).
const MASK: u64 = u64::MAX;

/// A frame that has called the function in the next inner one, without those of functions that were inlined.
#[derive(Debug, Clone)]
pub struct CallFrame<'a> {
    /// The call.
    pub site: &'a CallSite,
    /// Where `.text` of its file begins in memory.
    pub text: u64,
    /// Registers that the frame still has, by DWARF's numbers.
    pub registers: HashMap<u16, u64>,
    /// The canonical frame address.
    pub cfa: Option<u64>,
}

/// The arguments of the call of the first frame, by their numbers, with 64 bits as they are in registers: of shorter ones the upper
/// bits mean nothing. Left out where the value is not known. Of `frames` each has called the function of the one before it.
pub fn call_values(frames: &[CallFrame<'_>], read: &mut dyn FnMut(u64, usize) -> Option<Vec<u8>>) -> Vec<(usize, u64)> {
    let Some((frame, callers)) = frames.split_first() else { return Vec::new() };
    let mut values = Values { read, expressions: MAX_EXPRESSIONS, reads: MAX_READS };
    let arguments = frame.site.arguments.iter();
    arguments.filter_map(|(number, value)| Some((*number, values.of(value, frame, callers)?))).collect()
}

struct Values<'r> {
    read: &'r mut dyn FnMut(u64, usize) -> Option<Vec<u8>>,
    expressions: u32,
    reads: u32,
}

impl Values<'_> {
    /// The number that an expression comes to; `None` where it needs what is not known.
    fn of(&mut self, bytes: &[u8], frame: &CallFrame<'_>, callers: &[CallFrame<'_>]) -> Option<u64> {
        self.expressions = self.expressions.checked_sub(1)?;
        let site = frame.site;
        let mut evaluation = expression(bytes).evaluation(site.encoding);
        evaluation.set_max_iterations(MAX_OPERATIONS);
        let mut next = evaluation.evaluate().ok()?;
        loop {
            next = match next {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresMemory { address, size, space: None, base_type } if !site.is_jump => {
                    let value = self.memory(site, address, size, base_type)?;
                    evaluation.resume_with_memory(value)
                }
                EvaluationResult::RequiresRegister { register, base_type } if !site.is_jump => {
                    let value = *frame.registers.get(&register.0)?;
                    evaluation.resume_with_register(Value::from_u64(kind(site, base_type)?, value).ok()?)
                }
                EvaluationResult::RequiresFrameBase if !site.is_jump => {
                    evaluation.resume_with_frame_base(frame_base(frame)?)
                }
                EvaluationResult::RequiresCallFrameCfa if !site.is_jump => {
                    evaluation.resume_with_call_frame_cfa(frame.cfa?)
                }
                EvaluationResult::RequiresEntryValue(place) if !site.is_jump => {
                    let value = self.entry_value(place, site, callers)?;
                    evaluation.resume_with_entry_value(Value::Generic(value))
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(loaded(frame, address)?)
                }
                EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                    let address = *site.addresses.get(&index.0)?;
                    let address = if relocate { loaded(frame, address)? } else { address };
                    evaluation.resume_with_indexed_address(address)
                }
                EvaluationResult::RequiresBaseType(offset) => {
                    evaluation.resume_with_base_type(*site.types.get(&offset.0)?)
                }
                _ => return None,
            }
            .ok()?;
        }
        // The value of a call's argument is what is left on the stack.
        let value = match (evaluation.value_result(), evaluation.as_result()) {
            (Some(value), _) => value,
            (None, [Piece { location: Location::Value { value }, size_in_bits: None, .. }]) => *value,
            _ => return None,
        };
        value.to_u64(MASK).ok()
    }

    fn memory(&mut self, site: &CallSite, address: u64, size: u8, base_type: UnitOffset) -> Option<Value> {
        self.reads = self.reads.checked_sub(1)?;
        if !(1..=8).contains(&size) {
            return None;
        }
        let bytes = (self.read)(address, usize::from(size)).filter(|bytes| bytes.len() == usize::from(size))?;
        let kind = kind(site, base_type)?;
        if kind != ValueType::Generic {
            return Value::parse(kind, Slice::new(&bytes, RunTimeEndian::Little)).ok();
        }
        Some(Value::Generic(bytes.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte))))
    }

    /// What a register held when the function around `site` was entered: what its own caller gave it.
    fn entry_value(&mut self, place: Expression<Slice<'_>>, site: &CallSite, callers: &[CallFrame<'_>]) -> Option<u64> {
        let (caller, outer) = callers.split_first()?;
        let Operation::Register { register } = only_operation(place.0.slice(), site)? else { return None };
        let number = number_of(register)?;
        let (_, value) = caller.site.arguments.iter().find(|(at, _)| *at == number)?;
        self.of(value, caller, outer)
    }
}

/// Compilers name a register, which stands for what it holds (DWARF 5, 3.3.5), or the canonical frame address.
fn frame_base(frame: &CallFrame<'_>) -> Option<u64> {
    let held = |register: Register| frame.registers.get(&register.0).copied();
    match only_operation(frame.site.frame_base.as_deref()?, frame.site)? {
        Operation::Register { register } => held(register),
        Operation::RegisterOffset { register, offset, .. } => Some(held(register)?.wrapping_add_signed(offset)),
        Operation::CallFrameCFA => frame.cfa,
        _ => None,
    }
}

fn only_operation<'b>(bytes: &'b [u8], site: &CallSite) -> Option<Operation<Slice<'b>>> {
    let mut operations = expression(bytes).operations(site.encoding);
    let only = operations.next().ok()??;
    operations.next().ok()?.is_none().then_some(only)
}

/// Where data of the file lies in memory; `None` for an address that the linker did not know.
fn loaded(frame: &CallFrame<'_>, address: u64) -> Option<u64> {
    let known = frame.site.data.iter().any(|range| range.contains(&address));
    known.then(|| frame.text.wrapping_add(address.wrapping_sub(frame.site.text)))
}

/// The type of a number; `None` where it is not known.
fn kind(site: &CallSite, base_type: UnitOffset) -> Option<ValueType> {
    if base_type.0 == 0 { Some(ValueType::Generic) } else { site.types.get(&base_type.0).copied() }
}
