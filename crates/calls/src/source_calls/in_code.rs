//! The same where the source is not here: calls in the machine code, and what compilers wrote down of them.

use std::sync::Arc;

use super::{Waited, returned, sends};
use crate::arguments::KeptFiles;
use crate::caller::{integers, narrow};
use crate::code_calls::{CodeCall, code_calls};
use crate::described::{Link, site_of, values};
use crate::expression::Object;
use crate::kept_places::Place;
use crate::{CallSite, Caller, Frame, Parameter, parameters};
use functions::c_name;
use model::{Argument, SourceCall};

use super::same::compared;

/// The calls in the function of a frame, that may have started what the thread waits for (`waits`: the function, by its name in
/// C, and what it was given).
pub(super) fn in_code<C: Caller>(
    caller: &C,
    name: Option<&str>,
    waits: Option<(&str, &[Argument])>,
    kept: &KeptFiles,
) -> Option<Vec<SourceCall>> {
    let frame = caller.frames().ok()?.next()?.ok()?;
    let look = |place: &Place| code_calls(&place.path, place.offset, place.build_id.as_deref());
    let calls = kept.codes.of(&frame, look)?;
    let width = caller.family().ok().flatten().map_or(8, |family| family.handle_bytes());
    let waited = waits.and_then(|(function, arguments)| Waited::new(function, arguments, None, width));
    let sent = calls.iter().filter(|call| sends(&c_name(&call.function)));
    let there = |call: &CodeCall| Frame { pc: frame.text.wrapping_add(call.after), ..frame.clone() };
    let site = |call: &CodeCall| site_of(&kept.sites, &there(call));
    let sent = sent.filter_map(|call| {
        let arguments = site(call).map(|site| constants(call, &site)).unwrap_or_default();
        Some(SourceCall { sent: true, arguments, ..bare(call, name)? })
    });
    let found = calls.iter().filter(|call| returned(&c_name(&call.function)).is_some()).filter_map(|call| {
        let mut one = bare(call, name)?;
        let site = site(call);
        one.arguments = site.as_ref().map(|site| constants(call, site)).unwrap_or_default();
        if let Some(address) = site.and_then(|site| request_address(caller, there(call), call, site)) {
            // What a register held when the call was made need not be what it holds now: another place proves nothing.
            let object = Object { path: String::new(), element: Some(0), pointer: true };
            if let Some(waited) = &waited {
                (one.request.same, one.request.index) = compared(Some(&object), Some(address as i64), waited);
            }
            let bytes = if one.request.fortran { 4 } else { width };
            let held = integers(caller, address, 1, bytes).ok();
            one.request.handle = held.and_then(|held| held.first().copied());
        }
        Some(one)
    });
    let mut found: Vec<SourceCall> = found.chain(sent).collect();
    // What stands shortly before the place comes first.
    let line = caller.line().ok().flatten().unwrap_or(0);
    found.sort_by_key(|one| (one.line > line, line.abs_diff(one.line)));
    Some(found)
}

fn bare(call: &CodeCall, name: Option<&str>) -> Option<SourceCall> {
    let function = c_name(&call.function).into_owned();
    let mut one = SourceCall { function, line: call.line?, caller: name.map(str::to_owned), ..SourceCall::default() };
    one.request.fortran = is_fortran(call);
    Some(one)
}

/// What a call of C is given that has the same value each time.
fn constants(call: &CodeCall, site: &CallSite) -> Vec<Argument> {
    let known = parameters(&c_name(&call.function), false).filter(|_| !is_fortran(call)).unwrap_or_default();
    let constant = |(number, parameter): (usize, &Parameter)| {
        let value = narrow(site.constant(number)?, parameter.bytes?);
        Some(Argument { name: parameter.name.into(), value: Some(value), fixed: true, ..Argument::default() })
    };
    known.iter().enumerate().filter(|(_, one)| !one.address).filter_map(constant).collect()
}

fn is_fortran(call: &CodeCall) -> bool {
    call.function.starts_with("mpi_")
}

/// The address that a call gives for its request, by what the compiler wrote down of it.
fn request_address<C: Caller>(caller: &C, there: Frame, call: &CodeCall, site: Arc<CallSite>) -> Option<u64> {
    if site.needs_caller() {
        return None;
    }
    let function = c_name(&call.function);
    let parameter = returned(&function)?;
    let number = parameters(&function, is_fortran(call))?;
    let number = number.iter().position(|one| one.name == parameter.name)?;
    values(&[Link { frame: there, site }], caller).get(&number).copied()
}
