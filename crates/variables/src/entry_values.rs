//! What a function was given when it was entered, by what the compiler wrote down of the call (DWARF 5, 3.4; the form of GNU
//! before that, <https://dwarfstd.org/issues/100909.2.html>).

use calls::Unknown;
use gimli::{Expression, Operation, Register, constants as dw};

use crate::Section;
use crate::die::{Die, Entry};
use crate::frame::{Context, gone};
use crate::limits::MOST_TAIL_CALLS;
use crate::locate::left_by;
use crate::names::{Kind, is_set};
use crate::ranges::entered_at;

/// What that place held when the function of the frame was entered.
pub(crate) fn entry_value(context: &Context, die: &Die, place: Expression<Section>) -> Result<u64, Unknown> {
    let register = register_of(die, &place).ok_or_else(gone)?;
    given(context, &|parameter, entry| {
        let location = entry.attr_value(dw::DW_AT_location).and_then(|value| value.exprloc_value());
        location.is_some_and(|location| register_of(parameter, &location) == Some(register))
    })
}

/// What the function of the frame was given for a parameter that it does not have any more.
pub(crate) fn parameter_value(context: &Context, wanted: &Die) -> Result<u64, Unknown> {
    given(context, &|parameter, entry| {
        let value = entry.attr_value(dw::DW_AT_call_parameter).or_else(|| entry.attr_value(dw::DW_AT_abstract_origin));
        value.is_some_and(|value| parameter.referred(&value).as_ref() == Some(wanted))
    })
}

/// The only register that an expression names.
fn register_of(die: &Die, expression: &Expression<Section>) -> Option<Register> {
    let mut operations = expression.clone().operations(die.unit.encoding());
    let Ok(Some(Operation::Register { register })) = operations.next() else { return None };
    matches!(operations.next(), Ok(None)).then_some(register)
}

type Wanted<'w> = &'w dyn Fn(&Die, &Entry) -> bool;

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
    let end = context.end();
    let value = site.child(end, |parameter, entry| {
        let is_parameter = matches!(entry.tag(), dw::DW_TAG_call_site_parameter | dw::DW_TAG_GNU_call_site_parameter);
        if !is_parameter || !wanted(parameter, entry) {
            return None;
        }
        let value = [dw::DW_AT_call_value, dw::DW_AT_GNU_call_site_value];
        value.iter().find_map(|name| entry.attr_value(*name))?.exprloc_value()
    });
    left_by(&caller, outer, value.ok_or_else(gone)?)
}

/// The call in a function that returns to an address of its file.
fn site_of(context: &Context, function: &Die, after: u64) -> Option<Die> {
    let mut found = None;
    each_site(context, function, &mut |site, entry| {
        let name = if entry.tag() == dw::DW_TAG_call_site { dw::DW_AT_call_return_pc } else { dw::DW_AT_low_pc };
        let value = entry.attr_value(name);
        let address = value.and_then(|value| site.file.info.dwarf().attr_address(&site.unit, value).ok().flatten());
        if address == Some(after) && !is_tail_call(entry) {
            found = Some(site.clone());
        }
        found.is_some()
    });
    found
}

/// Looks at the calls in the code of a function until `look` says that this was enough; false where not all could be seen.
fn each_site(context: &Context, function: &Die, look: &mut dyn FnMut(&Die, &Entry) -> bool) -> bool {
    let Ok(mut entries) = function.unit.entries_at_offset(function.offset) else { return false };
    if !matches!(entries.next_dfs(), Ok(Some(_))) {
        return false;
    }
    let mut inner = None;
    loop {
        let entry = match entries.next_dfs() {
            Ok(Some(entry)) if entry.depth() > 0 => entry,
            Ok(_) => return true,
            Err(_) => return false,
        };
        if std::time::Instant::now() > context.end() {
            return false;
        }
        let depth = entry.depth();
        if inner.is_some_and(|inner| depth > inner) {
            continue;
        }
        inner = (entry.tag() == dw::DW_TAG_subprogram).then_some(depth);
        if matches!(entry.tag(), dw::DW_TAG_call_site | dw::DW_TAG_GNU_call_site)
            && look(&function.other(entry.offset()), entry)
        {
            return true;
        }
    }
}

fn is_tail_call(entry: &Entry) -> bool {
    is_set(entry, dw::DW_AT_call_tail_call) || is_set(entry, dw::DW_AT_GNU_tail_call)
}

/// The function that a call is written down to lead to.
fn callee(site: &Die) -> Option<Die> {
    let entry = site.entry()?;
    let name = if entry.tag() == dw::DW_TAG_call_site { dw::DW_AT_call_origin } else { dw::DW_AT_abstract_origin };
    site.referred(&entry.attr_value(name)?)
}

/// Whether a call has entered a function itself, and none that jumped there.
fn enters(context: &Context, caller: &Context, site: &Die, function: &Die) -> bool {
    if let Some(callee) = callee(site) {
        return callee.first_declared() == function.first_declared()
            || is_external(&callee) && callee.symbol().is_some() && callee.symbol() == function.symbol();
    }
    // A call through a pointer, whose instruction may tell.
    let Some(begin) = function.entry().and_then(|entry| entered_at(function.file.info.dwarf(), &function.unit, &entry))
    else {
        return false;
    };
    let begin = begin.wrapping_add(function.file.bias);
    let target = site.entry().and_then(|entry| {
        let target = [dw::DW_AT_call_target, dw::DW_AT_GNU_call_site_target];
        target.iter().find_map(|name| entry.attr_value(*name))?.exprloc_value()
    });
    if let Some(target) = target
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
        let all = [
            dw::DW_AT_call_all_calls,
            dw::DW_AT_call_all_tail_calls,
            dw::DW_AT_GNU_all_call_sites,
            dw::DW_AT_GNU_all_tail_call_sites,
        ];
        let written = next.entry().is_some_and(|entry| all.iter().any(|name| is_set(&entry, *name)));
        let mut unknown = !written;
        let complete = each_site(context, &next, &mut |site, entry| {
            if !is_tail_call(entry) {
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
    let has_code = |die: &Die| {
        let entry = die.entry()?;
        (entry.has_attr(dw::DW_AT_low_pc) || entry.has_attr(dw::DW_AT_ranges)).then_some(())
    };
    if has_code(function).is_some() {
        return Some(function.clone());
    }
    let symbol = function.symbol()?;
    let declared = function.first_declared();
    let in_unit: Vec<_> = function.unit.names(&function.file.info).of(Kind::Symbol, &symbol).collect();
    let mut own = in_unit.into_iter().filter_map(|named| Die::named(&function.file, named));
    if let Some(found) = own.find(|die| has_code(die).is_some() && die.first_declared() == declared) {
        return Some(found);
    }
    if !is_external(function) {
        return None;
    }
    context.files.iter().find_map(|file| {
        let mut all = file.info.names().of(Kind::Symbol, &symbol).filter(|named| named.external);
        all.find_map(|named| Die::named(file, named).filter(|die| has_code(die).is_some()))
    })
}
