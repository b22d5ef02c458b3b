//! Where variables are: the expressions and lists of locations of DWARF (DWARF 5, 2.5 and 2.6).

use std::rc::Rc;

use calls::Unknown;
use gimli::Section as _;
use gimli::{
    AttributeValue, DieReference, EvaluationResult, Expression, Location, Operation, Piece, Reader, Register,
    UnitOffset, Value, ValueType, constants as dw,
};
use target::ByteOrder;

use crate::Section;
use crate::die::Die;
use crate::entry_values::{entry_value, parameter_value};
use crate::frame::{Context, damaged, gone};
use crate::held::{Held, Part, What};
use crate::limits::{LONGEST_NUMBER, MOST_LOCATIONS, MOST_OPERATIONS};

/// What an expression is about.
#[derive(Clone, Copy, Default)]
pub(crate) struct Subject {
    /// Where the object lies whose type or member it describes.
    pub object: Option<u64>,
    /// What is on its stack at the beginning.
    pub initial: Option<u64>,
}

/// The expression that holds in the frame: the only one, or that of a list for its program counter. `None`: there is none.
pub(crate) fn expression_at(
    context: &Context,
    die: &Die,
    value: AttributeValue<Section>,
) -> Option<Expression<Section>> {
    if let AttributeValue::Exprloc(expression) = value {
        return (!expression.0.is_empty()).then_some(expression);
    }
    if let AttributeValue::Block(bytes) = value {
        return (!bytes.is_empty()).then_some(Expression(bytes));
    }
    // Addresses of a frame belong to the file of the frame alone.
    let address = context.facts.pc.wrapping_sub(die.file.bias);
    let mut list = die.unit.dwarf().attr_locations(&die.unit, value).ok().flatten()?;
    let mut default = None;
    for _ in 0..MOST_LOCATIONS {
        let Ok(Some(entry)) = list.next() else { break };
        if (entry.range.begin, entry.range.end) == (0, u64::MAX) {
            default = Some(entry.data);
        } else if (entry.range.begin..entry.range.end).contains(&address) {
            return (!entry.data.0.is_empty()).then_some(entry.data);
        }
    }
    default.filter(|expression| !expression.0.is_empty())
}

/// Where a value of so many bytes is that an attribute locates.
pub(crate) fn located(
    context: &Context,
    die: &Die,
    value: AttributeValue<Section>,
    size: Option<u64>,
) -> Result<Held, Unknown> {
    let expression = expression_at(context, die, value).ok_or_else(gone)?;
    let pieces = pieces(context, die, expression, Subject::default())?;
    held(context, die, pieces, size)
}

/// The number that an attribute is, computes or refers to: a bound, a stride, an address. `None`: it has none here.
pub(crate) fn computed(
    context: &Context,
    die: &Die,
    value: AttributeValue<Section>,
    subject: Subject,
) -> Result<u64, Unknown> {
    let expression = expression_at(context, die, value).ok_or_else(gone)?;
    let pieces = pieces(context, die, expression, subject)?;
    match pieces.as_slice() {
        [Piece { location: Location::Address { address }, size_in_bits: None, .. }] => Ok(*address),
        [Piece { location: Location::Value { value }, size_in_bits: None, .. }] => {
            value.to_u64(mask(die)).map_err(|_| damaged())
        }
        [Piece { location: Location::Register { register }, size_in_bits: None, .. }] => held_by(context, *register),
        _ => Err(gone()),
    }
}

/// What an expression comes to.
pub(crate) fn pieces(
    context: &Context,
    die: &Die,
    expression: Expression<Section>,
    subject: Subject,
) -> Result<Vec<Piece<Section>>, Unknown> {
    context.deeper(|| {
        context.count_expression()?;
        let mut evaluation = expression.evaluation(die.unit.encoding());
        evaluation.set_max_iterations(MOST_OPERATIONS);
        if let Some(initial) = subject.initial {
            evaluation.set_initial_value(initial);
        }
        if let Some(object) = subject.object {
            evaluation.set_object_address(object);
        }
        let mut next = evaluation.evaluate().map_err(failed)?;
        // Each operation asks for at most one thing.
        for _ in 0..=MOST_OPERATIONS {
            next = match next {
                EvaluationResult::Complete => return Ok(evaluation.result()),
                EvaluationResult::RequiresMemory { address, size, space: None, base_type } => {
                    let value = memory(context, die, address, size, base_type)?;
                    evaluation.resume_with_memory(value)
                }
                EvaluationResult::RequiresRegister { register, base_type } => {
                    let value = held_by(context, register)?;
                    let value = Value::from_u64(kind(die, base_type)?, value).map_err(|_| gone())?;
                    evaluation.resume_with_register(value)
                }
                EvaluationResult::RequiresFrameBase => evaluation.resume_with_frame_base(frame_base(context)?),
                EvaluationResult::RequiresTls(offset) => {
                    let address = context.memory.tls(die.file.bias, offset);
                    evaluation.resume_with_tls(
                        address.ok_or_else(|| Unknown::new("where the thread keeps its own variables is not known"))?,
                    )
                }
                EvaluationResult::RequiresCallFrameCfa => {
                    evaluation.resume_with_call_frame_cfa(context.facts.cfa.ok_or_else(gone)?)
                }
                EvaluationResult::RequiresAtLocation(reference) => {
                    evaluation.resume_with_at_location(location_of(context, die, reference)?)
                }
                EvaluationResult::RequiresEntryValue(place) => {
                    evaluation.resume_with_entry_value(Value::Generic(entry_value(context, die, place)?))
                }
                EvaluationResult::RequiresParameterRef(parameter) => {
                    evaluation.resume_with_parameter_ref(parameter_value(context, &die.other(parameter))?)
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(loaded(die, address)?)
                }
                EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                    let address = die.unit.dwarf().address(&die.unit, index).map_err(|_| damaged())?;
                    evaluation.resume_with_indexed_address(if relocate { loaded(die, address)? } else { address })
                }
                EvaluationResult::RequiresBaseType(offset) => evaluation.resume_with_base_type(kind(die, offset)?),
                _ => return Err(gone()),
            }
            .map_err(failed)?;
        }
        Err(damaged())
    })
}

fn failed(error: gimli::Error) -> Unknown {
    match error {
        // A descriptor that lies in no memory.
        gimli::Error::InvalidPushObjectAddress => gone(),
        _ => damaged(),
    }
}

/// The number that an expression leaves, as the values of a call's arguments are written down.
pub(crate) fn left_by(context: &Context, die: &Die, expression: Expression<Section>) -> Result<u64, Unknown> {
    computed(context, die, AttributeValue::Exprloc(expression), Subject::default())
}

/// Where an address of the file is in memory. The linker wrote zero for what it left out.
fn loaded(die: &Die, address: u64) -> Result<u64, Unknown> {
    if address == 0 { Err(gone()) } else { Ok(address.wrapping_add(die.file.bias)) }
}

fn held_by(context: &Context, register: Register) -> Result<u64, Unknown> {
    context.facts.registers.get(&register.0).copied().ok_or_else(gone)
}

fn memory(context: &Context, die: &Die, address: u64, size: u8, base_type: UnitOffset) -> Result<Value, Unknown> {
    if !(1..=8).contains(&size) {
        return Err(damaged());
    }
    let bytes = context.read(address, usize::from(size))?;
    let kind = kind(die, base_type)?;
    if kind == ValueType::Generic {
        return Ok(Value::Generic(die.file.info.abi().uint(&bytes)));
    }
    let order = die.unit.dwarf().debug_info.reader().endian();
    Value::parse(kind, Section::new(bytes.into(), order)).map_err(|_| damaged())
}

/// The type of a number in an expression.
fn kind(die: &Die, base_type: UnitOffset) -> Result<ValueType, Unknown> {
    if base_type.0 == 0 {
        return Ok(ValueType::Generic);
    }
    let entry = die.unit.entry(base_type).map_err(|_| damaged())?;
    ValueType::from_entry(&entry).ok().flatten().ok_or_else(gone)
}

fn location_of(context: &Context, die: &Die, reference: DieReference) -> Result<Section, Unknown> {
    let other = match reference {
        DieReference::UnitRef(offset) => Some(die.other(offset)),
        DieReference::DebugInfoRef(offset) => die.referred(&AttributeValue::DebugInfoRef(offset)),
    };
    let found = other.and_then(|other| {
        let value = other.entry()?.attr_value(dw::DW_AT_location)?;
        expression_at(context, &other, value)
    });
    found.map(|expression| expression.0).ok_or_else(gone)
}

/// What `DW_OP_fbreg` counts from: compilers name a register, which stands for what it holds (DWARF 5, 3.3.5), the canonical
/// frame address, or an expression.
pub(crate) fn frame_base(context: &Context) -> Result<u64, Unknown> {
    let function = context.function.as_ref().ok_or_else(gone)?;
    let (die, value) = function.attribute(dw::DW_AT_frame_base).ok_or_else(gone)?;
    let expression = expression_at(context, &die, value).ok_or_else(gone)?;
    // A frame base that is counted from the frame base has none.
    let mut operations = expression.clone().operations(die.unit.encoding());
    while let Ok(Some(operation)) = operations.next() {
        if matches!(operation, Operation::FrameOffset { .. }) {
            return Err(damaged());
        }
    }
    computed(context, &die, AttributeValue::Exprloc(expression), Subject::default())
}

fn mask(die: &Die) -> u64 {
    if die.unit.encoding().address_size == 4 { u64::from(u32::MAX) } else { u64::MAX }
}

/// What an expression came to, as the place of a value of so many bytes.
pub(crate) fn held(
    context: &Context,
    die: &Die,
    pieces: Vec<Piece<Section>>,
    size: Option<u64>,
) -> Result<Held, Unknown> {
    if let [Piece { location: Location::Address { address }, size_in_bits: None, .. }] = pieces.as_slice() {
        return Ok(Held::Memory(*address));
    }
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        let what = match &piece.location {
            Location::Empty => What::Missing,
            Location::Register { register } => match held_by(context, *register) {
                Ok(value) => What::Bytes(stored(die, value).into()),
                Err(_) => What::Missing,
            },
            Location::Address { address } => What::Memory(*address),
            Location::Value { value } => value_bytes(die, *value),
            Location::Bytes { value } => match value.to_slice() {
                Ok(bytes) => What::Bytes(bytes.into_owned().into()),
                Err(_) => What::Missing,
            },
            Location::ImplicitPointer { value, byte_offset } => {
                match die.referred(&AttributeValue::DebugInfoRef(*value)) {
                    Some(die) => What::Pointer(die, *byte_offset),
                    None => What::Missing,
                }
            }
        };
        let wanted = piece.size_in_bits.or(size.and_then(|size| size.checked_mul(8)));
        // Numbers lie at the lower end of a register, which comes last where the most significant byte comes first.
        let number = matches!(piece.location, Location::Register { .. } | Location::Value { .. });
        let skipped = match (&what, wanted, die.file.info.abi().byte_order) {
            (What::Bytes(bytes), Some(wanted), ByteOrder::Big) if number => {
                let own = 8 * bytes.len() as u64;
                own.saturating_sub(wanted).saturating_sub(piece.bit_offset.unwrap_or(0))
            }
            _ => piece.bit_offset.unwrap_or(0),
        };
        parts.push(Part { bits: piece.size_in_bits, what, skipped });
    }
    Ok(Held::Parts(Rc::from(parts), 0))
}

/// A register's content as memory would have it.
fn stored(die: &Die, value: u64) -> Vec<u8> {
    let width = die.file.info.abi().pointer_width.bytes() as usize;
    match die.file.info.abi().byte_order {
        ByteOrder::Little => value.to_le_bytes().get(..width).unwrap_or_default().to_vec(),
        ByteOrder::Big => value.to_be_bytes().get(8 - width..).unwrap_or_default().to_vec(),
    }
}

fn value_bytes(die: &Die, value: Value) -> What {
    let little = die.file.info.abi().byte_order == ByteOrder::Little;
    let bytes = match value {
        Value::F32(number) => if little { number.to_le_bytes() } else { number.to_be_bytes() }.to_vec(),
        Value::F64(number) => if little { number.to_le_bytes() } else { number.to_be_bytes() }.to_vec(),
        other => match other.to_u64(mask(die)) {
            Ok(number) if little => number.to_le_bytes().to_vec(),
            Ok(number) => number.to_be_bytes().to_vec(),
            Err(_) => return What::Missing,
        },
    };
    What::Bytes(bytes.into())
}

/// A constant that an attribute says, as a value of so many bytes.
pub(crate) fn constant(die: &Die, value: &AttributeValue<Section>, size: u64) -> Option<Held> {
    if let AttributeValue::Block(bytes) = value {
        return Some(Held::bytes(bytes.to_slice().ok()?.into_owned()));
    }
    if let AttributeValue::String(bytes) = value {
        return Some(Held::bytes(bytes.to_slice().ok()?.into_owned()));
    }
    if !(1..=LONGEST_NUMBER).contains(&size) {
        return None;
    }
    let number = match value {
        AttributeValue::Sdata(number) => i128::from(*number),
        AttributeValue::Data16(number) => *number as i128,
        other => i128::from(other.udata_value()?),
    };
    Some(Held::bytes(number_bytes(number, size, die.file.info.abi().byte_order)))
}

/// A number as so many bytes of memory (at most [`LONGEST_NUMBER`]).
pub(crate) fn number_bytes(number: i128, size: u64, order: ByteOrder) -> Vec<u8> {
    let size = size.min(LONGEST_NUMBER) as usize;
    match order {
        ByteOrder::Little => number.to_le_bytes().get(..size).unwrap_or_default().to_vec(),
        ByteOrder::Big => number.to_be_bytes().get(16 - size..).unwrap_or_default().to_vec(),
    }
}
