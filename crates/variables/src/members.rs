//! Members of structures, classes and unions.

use calls::Unknown;
use gimli::{AttributeValue, Expression, Operation, constants as dw};
use target::ByteOrder;

use crate::Section;
use crate::die::{Die, Entry};
use crate::frame::{Context, damaged, gone};
use crate::held::Held;
use crate::limits::MOST_HOPS;
use crate::locate::{Subject, computed};
use crate::types::{Real, Type};
use crate::value::Raw;
use crate::variable::value_of;

/// A structure with more members is damage.
const MOST_MEMBERS: usize = 1 << 16;

/// The class that a record of Fortran is derived from is a member of it; of a polymorphic one the object is behind another.
const OBJECT: &str = "_data";

/// A member of a record by its name, also of those that it is derived from and of members without a name. `None`: it has none.
pub(crate) fn member(context: &Context, record: &Die, held: &Held, name: &str) -> Result<Option<Raw>, Unknown> {
    let found = context.deeper(|| find(context, record, held, name))?;
    if found.is_none() && record.unit.is_fortran() && name != OBJECT {
        return context.deeper(|| of_fortran(context, record, held, name));
    }
    Ok(found)
}

/// Whether a record has such a member, wherever it lies.
pub(crate) fn has_member(context: &Context, record: &Die, name: &str) -> bool {
    // Where what is derived from a virtual base lies depends on the object.
    !matches!(member(context, record, &Held::Parts(std::rc::Rc::from([]), 0), name), Ok(None))
}

/// The names of a record's own members, in their order.
pub(crate) fn own_members(context: &Context, record: &Die, most: usize) -> Vec<String> {
    let members = entries(context, record).into_iter().filter(|(_, entry)| entry.tag() == dw::DW_TAG_member);
    members.filter_map(|(die, _)| die.name()).take(most).collect()
}

fn entries(context: &Context, record: &Die) -> Vec<(Die, Entry)> {
    let mut found = Vec::new();
    record.each_child(context.end(), &mut |die, entry| {
        if matches!(entry.tag(), dw::DW_TAG_member | dw::DW_TAG_inheritance | dw::DW_TAG_variable) {
            found.push((die.clone(), entry.clone()));
        }
        found.len() >= MOST_MEMBERS
    });
    found
}

fn find(context: &Context, record: &Die, held: &Held, name: &str) -> Result<Option<Raw>, Unknown> {
    let all = entries(context, record);
    for (die, entry) in &all {
        let own = die.name();
        match (entry.tag(), own.as_deref()) {
            (dw::DW_TAG_member | dw::DW_TAG_variable, Some(own)) if own == name => {
                let is_static = entry.tag() == dw::DW_TAG_variable || die.is_declaration() && is_external(die);
                return if is_static {
                    value_of(context, die).map(Some)
                } else {
                    placed(context, die, entry, held).map(Some)
                };
            }
            // What stands in a member without a name is found as if it stood outside.
            (dw::DW_TAG_member, None) => {
                if let Real::Record(inner) = Type::of(die).real(context, None)? {
                    let begin = placed(context, die, entry, held)?;
                    if let Some(found) = context.deeper(|| find(context, &inner, &begin.held, name))? {
                        return Ok(Some(found));
                    }
                }
            }
            _ => {}
        }
    }
    let mut found: Option<Raw> = None;
    for (die, entry) in all.iter().filter(|(_, entry)| entry.tag() == dw::DW_TAG_inheritance) {
        let Real::Record(base) = Type::of(die).real(context, None)? else { continue };
        let is_virtual = matches!(
            entry.attr_value(dw::DW_AT_virtuality),
            Some(AttributeValue::Virtuality(virtuality)) if virtuality != dw::DW_VIRTUALITY_none
        );
        if is_virtual && !matches!(held, Held::Memory(_)) {
            // Where it lies cannot be told, whether it is there can.
            if context.deeper(|| find(context, &base, held, name))?.is_some() {
                return Err(gone());
            }
            continue;
        }
        let begin = base_at(context, die, entry, held);
        let begin = match begin {
            Ok(begin) => begin,
            // Whatever is in the memory of the object: it matters only where it has the member.
            Err(unknown) => {
                if context.deeper(|| find(context, &base, held, name))?.is_some() {
                    return Err(unknown);
                }
                continue;
            }
        };
        let Some(one) = context.deeper(|| find(context, &base, &begin, name))? else { continue };
        if let Some(other) = &found
            && (other.held.place().is_none() || other.held.place() != one.held.place())
        {
            return Err(Unknown::new(format!("it has more than one member {name}")));
        }
        found = Some(one);
    }
    Ok(found)
}

/// The class of that name that another is derived from, or the class itself.
pub(crate) fn base_named(context: &Context, record: &Die, name: &str) -> Option<Die> {
    let mut waiting = vec![record.clone()];
    for _ in 0..MOST_HOPS {
        let class = waiting.pop()?;
        let own = class.qualified_name().unwrap_or_default();
        if own == name || own.strip_suffix(name).is_some_and(|prefix| prefix.ends_with("::")) {
            return Some(class);
        }
        for (die, _) in entries(context, &class).iter().filter(|(_, entry)| entry.tag() == dw::DW_TAG_inheritance) {
            if let Ok(Real::Record(base)) = Type::of(die).real(context, None) {
                waiting.push(base);
            }
        }
    }
    None
}

/// Where the object of a class begins that the one of `held` is derived from. `None`: it is not.
pub(crate) fn base_of(context: &Context, record: &Die, held: &Held, wanted: &Die) -> Result<Option<Held>, Unknown> {
    if record == wanted {
        return Ok(Some(held.clone()));
    }
    let mut found = None;
    for (die, entry) in entries(context, record).iter().filter(|(_, entry)| entry.tag() == dw::DW_TAG_inheritance) {
        let Real::Record(base) = Type::of(die).real(context, None)? else { continue };
        if base_named(context, &base, &wanted.qualified_name().ok_or_else(damaged)?).is_none() {
            continue;
        }
        let begin = base_at(context, die, entry, held)?;
        let Some(one) = context.deeper(|| base_of(context, &base, &begin, wanted))? else { continue };
        if found.as_ref().is_some_and(|other: &Held| other.place().is_none() || other.place() != one.place()) {
            return Err(Unknown::new("it has more than one such member"));
        }
        found = Some(one);
    }
    Ok(found)
}

fn is_external(die: &Die) -> bool {
    die.is_set(dw::DW_AT_external)
}

/// Where the object of a class begins that another is derived from.
fn base_at(context: &Context, die: &Die, entry: &Entry, held: &Held) -> Result<Held, Unknown> {
    match entry.attr_value(dw::DW_AT_data_member_location) {
        None => Ok(held.clone()),
        Some(value) => located_at(context, die, value, held),
    }
}

/// What begins where an attribute says, in an object: so many bytes further, or where an expression leads to from it.
fn located_at(context: &Context, die: &Die, value: AttributeValue<Section>, held: &Held) -> Result<Held, Unknown> {
    let expression = match value {
        AttributeValue::Exprloc(expression) => expression,
        AttributeValue::Block(bytes) => Expression(bytes),
        value => {
            let bytes = value.sdata_value().map(i128::from).or(value.udata_value().map(i128::from));
            return held.further(bytes.ok_or_else(damaged)?).ok_or_else(gone);
        }
    };
    let mut operations = expression.clone().operations(die.unit.encoding());
    let (first, second) = (operations.next(), operations.next());
    if let (Ok(Some(Operation::PlusConstant { value })), Ok(None)) = (first, second) {
        return held.further(value.into()).ok_or_else(gone);
    }
    let begin = held.place().ok_or_else(gone)?;
    let subject = Subject { object: Some(begin), initial: Some(begin) };
    computed(context, die, AttributeValue::Exprloc(expression), subject).map(Held::Memory)
}

/// A member of an object.
fn placed(context: &Context, die: &Die, entry: &Entry, held: &Held) -> Result<Raw, Unknown> {
    let type_ = Type::of(die);
    if let Some(value) = entry.attr_value(dw::DW_AT_const_value) {
        let size = u64::try_from(type_.size(context, None)?).map_err(|_| damaged())?;
        return Ok(Raw::new(type_, crate::locate::constant(die, &value, size).ok_or_else(damaged)?));
    }
    let begin = match entry.attr_value(dw::DW_AT_data_member_location) {
        None => held.clone(),
        Some(value) => located_at(context, die, value, held)?,
    };
    let Some(count) = entry.attr_value(dw::DW_AT_bit_size).and_then(|value| value.udata_value()) else {
        return Ok(Raw::new(type_, begin));
    };
    let bytes = type_.size(context, None)?;
    let unit = u64::try_from(bytes).ok().filter(|bytes| (1..=16).contains(bytes)).ok_or_else(damaged)? * 8;
    let first = match entry.attr_value(dw::DW_AT_data_bit_offset).and_then(|value| value.udata_value()) {
        Some(first) => first,
        // Before DWARF 4: counted from the most significant bit of what it is stored in.
        None => {
            let from_top = entry.attr_value(dw::DW_AT_bit_offset).and_then(|value| value.sdata_value()).unwrap_or(0);
            let stored = entry.attr_value(dw::DW_AT_byte_size).and_then(|value| value.udata_value());
            let stored = stored.and_then(|bytes| bytes.checked_mul(8)).unwrap_or(unit);
            let first = match die.file.info.abi().byte_order {
                ByteOrder::Big => Some(i128::from(from_top)),
                ByteOrder::Little => {
                    i128::from(stored).checked_sub(from_top.into()).and_then(|left| left.checked_sub(count.into()))
                }
            };
            let first = first.ok_or_else(damaged)?;
            // It may begin before the place that is said.
            let whole = first.div_euclid(8);
            let begin = begin.further(whole).ok_or_else(gone)?;
            let within = u64::try_from(first.rem_euclid(8)).map_err(|_| damaged())?;
            return Ok(Raw { type_, held: begin, bits: Some((within, count)) });
        }
    };
    // It lies in a number of its type where one has all of its bits.
    let within = first % unit;
    let within = if within.checked_add(count).is_some_and(|end| end <= unit) { within } else { first % 8 };
    let held = begin.further(i128::from((first - within) / 8)).ok_or_else(gone)?;
    Ok(Raw { type_, held, bits: Some((within, count)) })
}

/// A member of what a derived type of Fortran extends, which is its first member; or of the object that `class(...)` stands for.
fn of_fortran(context: &Context, record: &Die, held: &Held, name: &str) -> Result<Option<Raw>, Unknown> {
    if let Some(object) = find(context, record, held, OBJECT)? {
        let Real::Pointer { target, .. } = object.real(context)? else { return Ok(None) };
        let inner = object.pointed_at(context, &target, 0)?;
        let Real::Record(die) = inner.real(context)? else { return Ok(None) };
        return context.deeper(|| member(context, &die, &inner.held, name));
    }
    let first = entries(context, record).into_iter().find(|(_, entry)| entry.tag() == dw::DW_TAG_member);
    let Some((die, entry)) = first else { return Ok(None) };
    let Real::Record(parent) = Type::of(&die).real(context, None)? else { return Ok(None) };
    if die.name() != parent.name() {
        return Ok(None);
    }
    let begin = placed(context, &die, &entry, held)?;
    context.deeper(|| member(context, &parent, &begin.held, name))
}
