//! What a variable's entry says: its type, and where its value is.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use calls::Unknown;
use gimli::{AttributeValue, constants as dw};

use crate::die::{Die, File};
use crate::frame::{Context, damaged, gone};
use crate::held::Held;
use crate::limits::TIME_LIMIT;
use crate::locate::{constant, located};
use crate::names::{Kind, Named};
use crate::types::{Real, Type};
use crate::value::Raw;

/// The value of a variable, a parameter, a constant, an enumerator or a function.
pub(crate) fn value_of(context: &Context, die: &Die) -> Result<Raw, Unknown> {
    context.deeper(|| {
        let entry = die.entry().ok_or_else(damaged)?;
        match entry.tag() {
            dw::DW_TAG_enumerator => enumerator(context, die),
            dw::DW_TAG_subprogram => function(context, die),
            dw::DW_TAG_variable | dw::DW_TAG_formal_parameter | dw::DW_TAG_constant | dw::DW_TAG_member => {
                variable(context, die)
            }
            _ => Err(damaged()),
        }
    })
}

fn variable(context: &Context, die: &Die) -> Result<Raw, Unknown> {
    let type_ = Type::of(die);
    if let Some((owner, value)) = die.attribute(dw::DW_AT_const_value) {
        let size = u64::try_from(type_.size(context, None)?).map_err(|_| damaged())?;
        let held = constant(&owner, &value, size).ok_or_else(damaged)?;
        return Ok(Raw::new(type_, held));
    }
    if let Some((owner, value)) = die.attribute(dw::DW_AT_location) {
        if let Some(address) = external_symbol(die).and_then(|symbol| context.memory.copied(&symbol)) {
            return Ok(Raw::new(type_, Held::Memory(address)));
        }
        // Its size matters only where it lies in a register whose other end has the least significant byte.
        let size = type_.size(context, None).ok().and_then(|size| u64::try_from(size).ok());
        return Ok(Raw::new(type_, located(context, &owner, value, size)?));
    }
    if die.is_declaration() || die.tag() == Some(dw::DW_TAG_member) {
        return declared(context, die, type_);
    }
    match instance(die) {
        Some(found) => value_of(context, &found),
        None => Err(gone()),
    }
}

/// What link-time optimisation made of a variable: its place is described in another unit.
fn instance(die: &Die) -> Option<Die> {
    let declared = die.first_declared();
    // Variables of functions have their instances where the function has its own.
    let of_function = declared.parents(Instant::now() + TIME_LIMIT).iter().any(is_code);
    let name = declared.qualified_name().filter(|_| !of_function)?;
    let all = die.file.info.names().of(Kind::Value, &name).filter_map(|named| Die::named(&die.file, named));
    let mut others = all.filter(|other| other != die && other.unit.start != die.unit.start);
    others.find(|other| has_location(other) && other.first_declared() == declared)
}

fn has_location(die: &Die) -> bool {
    die.entry().is_some_and(|entry| entry.has_attr(dw::DW_AT_location))
}

fn is_code(die: &Die) -> bool {
    matches!(die.tag(), Some(dw::DW_TAG_subprogram | dw::DW_TAG_lexical_block))
}

fn external_symbol(die: &Die) -> Option<String> {
    if die.is_set(dw::DW_AT_external) { die.symbol() } else { None }
}

/// A variable that is only declared here: its definition in this unit, this file, then in others; at last its symbol.
fn declared(context: &Context, die: &Die, type_: Type) -> Result<Raw, Unknown> {
    if let Some(address) = by_symbol(context, die, &type_) {
        return Ok(Raw::new(type_, Held::Memory(address)));
    }
    if let Some(found) = definition(context, die) {
        let found = value_of(context, &found)?;
        // The declaration may say less of an array (`extern int a[];`).
        return Ok(found);
    }
    let symbol = die.symbol().ok_or_else(gone)?;
    match context.memory.symbol(&symbol) {
        Some(address) if is_external(die) => Ok(Raw::new(type_, Held::Memory(address))),
        _ => Err(gone()),
    }
}

/// Where a number or a pointer is, of which the declaration says all. The symbols of a file are few, and to find what defines
/// it is to read all debug information, of which programs have gigabytes.
fn by_symbol(context: &Context, die: &Die, type_: &Type) -> Option<u64> {
    let symbol = external_symbol(die)?;
    let found = context.memory.copied(&symbol).or_else(|| context.memory.defined(die.file.bias, &symbol))?;
    matches!(type_.real(context, None), Ok(Real::Number { .. } | Real::Pointer { .. })).then_some(found)
}

fn is_external(die: &Die) -> bool {
    die.is_set(dw::DW_AT_external)
}

/// The entry that defines a variable.
fn definition(context: &Context, die: &Die) -> Option<Die> {
    let has_place = |found: &Die| {
        let entry = found.entry();
        entry.is_some_and(|entry| {
            let dead = matches!(entry.attr_value(dw::DW_AT_location), Some(value) if is_dead(found, &value));
            entry.has_attr(dw::DW_AT_const_value) || entry.has_attr(dw::DW_AT_location) && !dead
        })
    };
    let name = die.qualified_name()?;
    // A declaration within a function names what stands outside of it.
    let name = if is_in_function(context, die) { die.name()? } else { name };
    let wanted = |file: &Rc<File>, all: Vec<Named>, own: bool| {
        let mut all = all.into_iter().filter(|named| own || named.external).filter_map(|named| Die::named(file, named));
        all.find(has_place)
    };
    let own = die.file.info.names_of(&die.unit).of(Kind::Value, &name).collect();
    if let Some(found) = wanted(&die.file, own, true) {
        return Some(found);
    }
    let others = context.files.iter().filter(|file| !Arc::ptr_eq(&file.info, &die.file.info));
    let mut files = std::iter::once(&die.file).chain(others);
    files.find_map(|file| wanted(file, file.info.names().of(Kind::Value, &name).collect(), false))
}

fn is_in_function(context: &Context, die: &Die) -> bool {
    die.first_declared().parents(context.end()).iter().any(is_code)
}

/// Whether a location is an address that the linker has left out.
pub(crate) fn is_dead(die: &Die, value: &AttributeValue<crate::Section>) -> bool {
    let AttributeValue::Exprloc(expression) = value else { return false };
    let mut operations = expression.clone().operations(die.unit.encoding());
    let first = operations.next();
    matches!(first, Ok(Some(gimli::Operation::Address { address: 0 }))) && matches!(operations.next(), Ok(None))
}

fn enumerator(context: &Context, die: &Die) -> Result<Raw, Unknown> {
    let (owner, value) = die.attribute(dw::DW_AT_const_value).ok_or_else(damaged)?;
    let parent = die.parents(context.end()).pop().ok_or_else(damaged)?;
    let type_ = Type::Die(parent);
    let Real::Number { bytes, .. } = type_.real(context, None)? else { return Err(damaged()) };
    let held = constant(&owner, &value, bytes).ok_or_else(damaged)?;
    Ok(Raw::new(type_, held))
}

fn function(context: &Context, die: &Die) -> Result<Raw, Unknown> {
    let entry = die.entry().ok_or_else(damaged)?;
    let address = match die.unit.entered_at(&entry) {
        Some(begin) => begin.wrapping_add(die.file.bias),
        None => {
            let symbol = external_symbol(die).and_then(|symbol| context.memory.symbol(&symbol));
            symbol.ok_or_else(gone)?
        }
    };
    Ok(Raw::new(Type::Die(die.clone()), Held::Memory(address)))
}
