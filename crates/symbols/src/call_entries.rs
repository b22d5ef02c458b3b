//! What the debug information says of one call (DWARF 5, 3.4; the form of GNU before that,
//! <https://dwarfstd.org/issues/100909.2.html>).

use gimli::{Dwarf, Expression, Unit, constants as dw};

use super::DebugSection;
use super::entries::{Entry, Value, first_of, is_set};

/// The entry of a call.
pub struct CallEntry<'e>(&'e Entry);

impl<'e> CallEntry<'e> {
    /// `None` for an entry of something else.
    pub fn of(entry: &'e Entry) -> Option<Self> {
        matches!(entry.tag(), dw::DW_TAG_call_site | dw::DW_TAG_GNU_call_site).then_some(Self(entry))
    }

    /// The address of the file behind its instruction, which is what it returns to.
    pub fn returns_to(&self, dwarf: &Dwarf<DebugSection>, unit: &Unit<DebugSection>) -> Option<u64> {
        let value = first_of(self.0, &[dw::DW_AT_call_return_pc, dw::DW_AT_low_pc])?;
        dwarf.attr_address(unit, value).ok().flatten()
    }

    /// Whether it is a jump that ends its function.
    pub fn is_jump(&self) -> bool {
        is_set(self.0, dw::DW_AT_call_tail_call) || is_set(self.0, dw::DW_AT_GNU_tail_call)
    }

    /// What refers to the function that is called.
    pub fn origin(&self) -> Option<Value> {
        first_of(self.0, &[dw::DW_AT_call_origin, dw::DW_AT_abstract_origin])
    }

    /// What computes the address that is called.
    pub fn target(&self) -> Option<Expression<DebugSection>> {
        first_of(self.0, &[dw::DW_AT_call_target, dw::DW_AT_GNU_call_site_target])?.exprloc_value()
    }
}

/// The entry of what a call gives for one parameter.
pub struct ParameterEntry<'e>(&'e Entry);

impl<'e> ParameterEntry<'e> {
    /// `None` for an entry of something else.
    pub fn of(entry: &'e Entry) -> Option<Self> {
        let is_parameter = matches!(entry.tag(), dw::DW_TAG_call_site_parameter | dw::DW_TAG_GNU_call_site_parameter);
        is_parameter.then_some(Self(entry))
    }

    /// Where the function that is called finds it.
    pub fn location(&self) -> Option<Expression<DebugSection>> {
        self.0.attr_value(dw::DW_AT_location)?.exprloc_value()
    }

    /// What refers to the parameter of the function that is called.
    pub fn origin(&self) -> Option<Value> {
        first_of(self.0, &[dw::DW_AT_call_parameter, dw::DW_AT_abstract_origin])
    }

    /// What computes the value that is given.
    pub fn value(&self) -> Option<Expression<DebugSection>> {
        first_of(self.0, &[dw::DW_AT_call_value, dw::DW_AT_GNU_call_site_value])?.exprloc_value()
    }
}

/// Whether all calls, or all jumps, of a function are written down.
pub fn has_all_calls(function: &Entry) -> bool {
    let all = [
        dw::DW_AT_call_all_calls,
        dw::DW_AT_GNU_all_call_sites,
        dw::DW_AT_call_all_tail_calls,
        dw::DW_AT_GNU_all_tail_call_sites,
    ];
    all.iter().any(|name| is_set(function, *name))
}
