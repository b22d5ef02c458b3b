//! What an entry says itself or through the entries that it refers to, and the names that gdb 13 makes of that
//! (`dwarf2_physname`, `dwarf2_full_name` and `determine_prefix` in gdb/dwarf2/read.c).

use std::sync::Arc;

use gimli::{AttributeValue, DebuggingInformationEntry, UnitOffset, constants as dw};

use super::file_names::text;
use super::frames::Language;
use super::information::Information;
use super::units::UnitData;
use super::{DebugSection, demangle, names};

/// References from an entry to the one that has its name.
const MAX_HOPS: usize = 16;

/// Scopes nested deeper than this are damage, and so are longer names.
const MAX_DEPTH: usize = 64;
const MAX_NAME: usize = 1 << 16;

const ANONYMOUS: &str = "(anonymous namespace)";

type Value = AttributeValue<DebugSection>;

/// An entry of some unit.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) unit: Arc<UnitData>,
    pub(crate) offset: UnitOffset,
    /// Whether it lies in what dwz moved elsewhere.
    is_moved: bool,
}

impl Place {
    pub(crate) fn new(unit: Arc<UnitData>, offset: UnitOffset) -> Self {
        Self { unit, offset, is_moved: false }
    }

    pub(crate) fn entry(&self) -> Option<DebuggingInformationEntry<DebugSection>> {
        self.unit.unit.entry(self.offset).ok()
    }

    fn string(&self, value: Value) -> Option<String> {
        self.unit.dwarf.attr_string(&self.unit.unit, value).ok().map(|name| text(Some(&name)))
    }

    /// The first entry that has one of the attributes: this one, or what it is an instance or the definition of.
    pub(crate) fn with(&self, information: &Information, names: &[dw::DwAt]) -> Option<(Self, Value)> {
        let mut place = self.clone();
        for _ in 0..MAX_HOPS {
            let entry = place.entry()?;
            if let Some(value) = names.iter().find_map(|name| entry.attr_value(*name)) {
                return Some((place, value));
            }
            place = place.origin(information, &entry)?;
        }
        None
    }

    fn origin(&self, information: &Information, entry: &DebuggingInformationEntry<DebugSection>) -> Option<Self> {
        let next = [dw::DW_AT_specification, dw::DW_AT_abstract_origin];
        self.referred(information, &next.iter().find_map(|name| entry.attr_value(*name))?)
    }

    /// The entry that an attribute of this one refers to.
    pub(crate) fn referred(&self, information: &Information, value: &Value) -> Option<Self> {
        let (units, offset, is_moved) = match *value {
            AttributeValue::UnitRef(offset) => return Some(Self { offset, ..self.clone() }),
            AttributeValue::DebugInfoRef(offset) if !self.is_moved => (&information.main, offset, false),
            AttributeValue::DebugInfoRef(offset) | AttributeValue::DebugInfoRefSup(offset) => {
                (information.supplement.as_ref()?, offset, true)
            }
            _ => return None,
        };
        if self.unit.is_split() {
            return None;
        }
        let (unit, offset) = units.containing(offset)?;
        Some(Self { unit, offset, is_moved })
    }

    /// Whether it or what it is an instance of has a flag.
    pub(crate) fn is_set(&self, information: &Information, name: dw::DwAt) -> bool {
        matches!(self.with(information, &[name]), Some((_, AttributeValue::Flag(true))))
    }

    pub(crate) fn name(&self, information: &Information) -> Option<String> {
        let (place, value) = self.with(information, &[dw::DW_AT_name])?;
        place.string(value)
    }

    /// The symbol that it says it has.
    pub(crate) fn linkage_name(&self, information: &Information) -> Option<String> {
        let linkage = self.with(information, &[dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name]);
        linkage.and_then(|(place, value)| place.string(value))
    }
}

/// The name of a function, or of a call of one that is inlined, without parameters. `language`: that of the unit with the code.
pub(crate) fn function_name(information: &Information, place: &Place) -> Option<String> {
    let name = place.name(information)?;
    let full = match (place.unit.language, place.linkage_name(information)) {
        (Language::Cpp, Some(linkage)) => demangle::with_parameters(&linkage).unwrap_or(linkage),
        (Language::Cpp | Language::Fortran, _) => scoped(information, place, name),
        // gdb 13 knows Rust's older symbols alone here.
        (_, Some(linkage)) if place.unit.is_rust && linkage.starts_with("_ZN") => {
            demangle::with_parameters(&linkage).unwrap_or(linkage)
        }
        (..) if place.unit.is_rust => scoped(information, place, name),
        (_, Some(linkage)) => linkage,
        (_, None) => name,
    };
    Some(names::without_parameters(&full))
}

/// The name with what stands around it.
fn scoped(information: &Information, place: &Place, name: String) -> String {
    let mut parts = vec![name];
    let mut length = 0;
    let is_call = place.entry().is_some_and(|entry| entry.tag() == dw::DW_TAG_inlined_subroutine);
    let mut at = place.clone();
    for _ in 0..MAX_DEPTH {
        let Some((around, tag)) = around(information, &at) else { break };
        let name = around.name(information);
        let name = match tag {
            // A function of Fortran within another is known by that one's own name, but not where it is inlined.
            dw::DW_TAG_subprogram if place.unit.language == Language::Fortran && !is_call => {
                parts.extend(name);
                break;
            }
            dw::DW_TAG_subprogram => break,
            dw::DW_TAG_namespace => name.unwrap_or_else(|| ANONYMOUS.to_owned()),
            // What stands in something that has no name has no prefix.
            _ => match name {
                Some(name) => name,
                None => break,
            },
        };
        length += name.len();
        if length > MAX_NAME {
            break;
        }
        parts.push(name);
        at = around;
    }
    parts.reverse();
    parts.join("::")
}

/// What stands around the entry that declares an entry.
fn around(information: &Information, place: &Place) -> Option<(Place, dw::DwTag)> {
    let mut declaring = place.clone();
    for _ in 0..MAX_HOPS {
        let entry = declaring.entry()?;
        let Some(next) = declaring.origin(information, &entry) else { break };
        declaring = next;
    }
    let offset = declaring.unit.functions().around(declaring.offset)?;
    let around = Place { offset, ..declaring };
    let tag = around.entry()?.tag();
    Some((around, tag))
}
