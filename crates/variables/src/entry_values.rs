//! What a function was given when it was entered, by what the compiler wrote down of the call.

use calls::Unknown;
use gimli::{Expression, Operation, Register, constants as dw};
use symbols::{CallEntry, ParameterEntry, Walk, each_inside, has_all_calls, has_code};

use crate::Section;
use crate::die::Die;
use crate::frame::{Context, gone};
use crate::limits::MOST_TAIL_CALLS;
use crate::locate::left_by;
use crate::names::Kind;

/// What that place held when the function of the frame was entered.
pub(crate) fn entry_value(context: &Context, die: &Die, place: Expression<Section>) -> Result<u64, Unknown> {
    let register = register_of(die, &place).ok_or_else(gone)?;
    given(context, &|site, parameter| {
        parameter.location().is_some_and(|location| register_of(site, &location) == Some(register))
    })
}

/// What the function of the frame was given for a parameter that it does not have any more.
pub(crate) fn parameter_value(context: &Context, wanted: &Die) -> Result<u64, Unknown> {
    given(context, &|site, parameter| {
        parameter.origin().is_some_and(|value| site.referred(&value).as_ref() == Some(wanted))
    })
}

/// The only register that an expression names.
fn register_of(die: &Die, expression: &Expression<Section>) -> Option<Register> {
    let mut operations = expression.clone().operations(die.unit.encoding());
    let Ok(Some(Operation::Register { register })) = operations.next() else { return None };
    matches!(operations.next(), Ok(None)).then_some(register)
}

type Wanted<'w> = &'w dyn Fn(&Die, &ParameterEntry) -> bool;

/// The value of a parameter of the call that entered the function of the frame.
fn given(context: &Context, wanted: Wanted<'_>) -> Result<u64, Unknown> {
    let function = context.function.as_ref().ok_or_else(gone)?;
    let caller = context.caller().ok_or_else(gone)?;
    let outer = caller.function.as_ref().ok_or_else(gone)?;
    // Its program counter is in the last byte of the call.
    let after = caller.facts.pc.wrapping_add(1).wrapping_sub(outer.file.bias);
    let site = site_of(context, outer, after).ok_or_else(gone)?;
    if !enters(context, &caller, &site, function) || is_entered_by_itself(context, function) {
        return Err(gone());
    }
    let value = site.child(context.end(), |_, entry| {
        ParameterEntry::of(entry).filter(|parameter| wanted(&site, parameter))?.value()
    });
    left_by(&caller, outer, value.ok_or_else(gone)?)
}

/// The call in a function that returns to an address of its file.
fn site_of(context: &Context, function: &Die, after: u64) -> Option<Die> {
    let mut found = None;
    each_site(context, function, &mut |site, call| {
        if !call.is_jump() && call.returns_to(site.unit.dwarf(), &site.unit) == Some(after) {
            found = Some(site.clone());
        }
        found.is_some()
    });
    found
}

/// Looks at the calls in the code of a function until `look` says that this was enough; false where not all could be seen.
fn each_site(context: &Context, function: &Die, look: &mut dyn FnMut(&Die, &CallEntry) -> bool) -> bool {
    let seen = each_inside(&function.unit, function.offset, context.end(), &mut |entry| match CallEntry::of(entry) {
        Some(call) if look(&function.other(entry.offset()), &call) => Walk::Stop,
        _ => Walk::Into,
    });
    matches!(seen, Ok(true))
}

/// The function that a call is written down to lead to.
fn callee(site: &Die) -> Option<Die> {
    site.referred(&CallEntry::of(&site.entry()?)?.origin()?)
}

/// Whether a call has entered a function itself, and none that jumped there.
fn enters(context: &Context, caller: &Context, site: &Die, function: &Die) -> bool {
    if let Some(callee) = callee(site) {
        return callee.first_declared() == function.first_declared()
            || is_external(&callee) && callee.symbol().is_some() && callee.symbol() == function.symbol();
    }
    // A call through a pointer, whose instruction may tell.
    let Some(begin) = function.entry().and_then(|entry| function.unit.entered_at(&entry)) else { return false };
    let begin = begin.wrapping_add(function.file.bias);
    if let Some(target) = site.entry().and_then(|entry| CallEntry::of(&entry)?.target())
        && let Ok(address) = left_by(caller, site, target)
    {
        return address == begin;
    }
    let read = |address: u64, length: usize| context.read(address, length).ok();
    let after = caller.facts.pc.wrapping_add(1);
    calls::call_target(after, &read, &read) == Some(begin)
}

fn is_external(function: &Die) -> bool {
    function.is_set(dw::DW_AT_external)
}

/// Whether a function may have been entered again by jumps from those that it ends with: its caller's values are then not those
/// that it got.
fn is_entered_by_itself(context: &Context, function: &Die) -> bool {
    let mut waiting = vec![function.clone()];
    let mut seen: Vec<Die> = Vec::new();
    while let Some(next) = waiting.pop() {
        if seen.contains(&next) {
            continue;
        }
        if seen.len() >= MOST_TAIL_CALLS {
            return true;
        }
        let mut unknown = !next.entry().is_some_and(|entry| has_all_calls(&entry));
        let complete = each_site(context, &next, &mut |site, call| {
            if !call.is_jump() {
                return false;
            }
            let Some(callee) = callee(site) else {
                unknown = true;
                return true;
            };
            match defined(context, &callee) {
                // Back to where it began.
                Some(target) if target == *function => unknown = true,
                Some(target) => waiting.push(target),
                None => unknown = !calls_nobody(&callee),
            }
            unknown
        });
        if unknown || !complete {
            return true;
        }
        seen.push(next);
    }
    false
}

/// Whether a function without debug information is one of a library that ends with no jump to a function of the program.
fn calls_nobody(function: &Die) -> bool {
    const BEGINNINGS: [&str; 11] =
        ["MPI_", "PMPI_", "mpi_", "pmpi_", "_gfortran_", "__builtin_", "mem", "str", "__cxa_", "_ZdlPv", "_ZdaPv"];
    const NAMES: [&str; 16] = [
        "free", "malloc", "calloc", "realloc", "printf", "fprintf", "puts", "putchar", "fputs", "fputc", "fwrite",
        "fflush", "fclose", "exit", "abort", "usleep",
    ];
    let is_known =
        |name: String| NAMES.contains(&name.as_str()) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    is_external(function) && function.is_declaration() && function.symbol().is_some_and(is_known)
}

/// The entry of a function that has its code; of those without debug information there is none.
fn defined(context: &Context, function: &Die) -> Option<Die> {
    let has_code = |die: &Die| die.entry().is_some_and(|entry| has_code(&entry));
    if has_code(function) {
        return Some(function.clone());
    }
    let symbol = function.symbol()?;
    let declared = function.first_declared();
    let in_unit = function.file.info.names_of(&function.unit).of(Kind::Symbol, &symbol);
    let mut own = in_unit.filter_map(|named| Die::named(&function.file, named));
    if let Some(found) = own.find(|die| has_code(die) && die.first_declared() == declared) {
        return Some(found);
    }
    if !is_external(function) {
        return None;
    }
    context.files.iter().find_map(|file| {
        let mut all = file.info.names().of(Kind::Symbol, &symbol).filter(|named| named.external);
        all.find_map(|named| Die::named(file, named).filter(has_code))
    })
}
