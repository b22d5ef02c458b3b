//! What an entry says itself or through the entries that it refers to, and the names of functions that follow from that.

use std::sync::Arc;

use gimli::{AttributeValue, UnitOffset, constants as dw};

use super::entries::{Entry, Value, first_of};
use super::file_names::text;
use super::frames::Language;
use super::information::Information;
use super::units::{DebugUnit, Units};
use super::{demangle, names};

/// References from an entry to the one that has its name or type.
const MAX_HOPS: usize = 32;

/// Scopes nested deeper than this are damage, and so are longer names.
const MAX_DEPTH: usize = 64;
const MAX_NAME: usize = 1 << 16;

const ANONYMOUS: &str = "(anonymous namespace)";

/// An entry of some unit.
#[derive(Clone)]
pub struct DebugEntry {
    /// Its unit.
    pub unit: Arc<DebugUnit>,
    /// Where it stands there.
    pub offset: UnitOffset,
    /// Whether it lies in what dwz moved elsewhere.
    pub is_moved: bool,
}

impl PartialEq for DebugEntry {
    /// Of entries of one file.
    fn eq(&self, other: &Self) -> bool {
        (self.unit.start, self.offset, self.is_moved) == (other.unit.start, other.offset, other.is_moved)
    }
}

impl DebugEntry {
    /// That of a unit of the file itself.
    pub fn new(unit: Arc<DebugUnit>, offset: UnitOffset) -> Self {
        Self { unit, offset, is_moved: false }
    }

    /// With its attributes.
    pub fn entry(&self) -> Option<Entry> {
        self.unit.entry(self.offset).ok()
    }

    /// What it is.
    pub fn tag(&self) -> Option<dw::DwTag> {
        self.entry().map(|entry| entry.tag())
    }

    fn string(&self, value: Value) -> Option<String> {
        self.unit.dwarf().attr_string(&self.unit, value).ok().map(|name| text(Some(&name)))
    }

    /// The first entry that has one of the attributes: this one, or what it is an instance or the definition of.
    pub fn with(&self, information: &Information, names: &[dw::DwAt]) -> Option<(Self, Value)> {
        self.origins(information).find_map(|place| {
            let value = first_of(&place.entry()?, names)?;
            Some((place, value))
        })
    }

    /// This one, and those that it is an instance or the definition of.
    pub fn origins(&self, information: &Information) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self.clone()), |one| one.origin(information)).take(MAX_HOPS)
    }

    fn origin(&self, information: &Information) -> Option<Self> {
        let value = first_of(&self.entry()?, &[dw::DW_AT_abstract_origin, dw::DW_AT_specification])?;
        self.referred(information, &value)
    }

    /// The entry that an attribute of this one refers to.
    pub fn referred(&self, information: &Information, value: &Value) -> Option<Self> {
        let supplement = || Some((information.supplement.as_ref()?, true));
        let (units, is_moved): (&Units, bool) = match value {
            AttributeValue::DebugInfoRefSup(_) if !self.unit.is_split() => supplement()?,
            AttributeValue::DebugInfoRef(_) if self.is_moved => supplement()?,
            _ => (&information.main, self.is_moved),
        };
        let (start, offset) = match value {
            AttributeValue::DebugInfoRefSup(offset) => units.containing(*offset)?,
            value => units.referred(&self.unit, value)?,
        };
        let is_own = start == self.unit.start && is_moved == self.is_moved;
        let unit = if is_own { Arc::clone(&self.unit) } else { units.unit(start)? };
        Some(Self { unit, offset, is_moved })
    }

    /// Whether it or what it is an instance of has a flag.
    pub fn is_set(&self, information: &Information, name: dw::DwAt) -> bool {
        matches!(self.with(information, &[name]), Some((_, AttributeValue::Flag(true))))
    }

    /// Its name.
    pub fn name(&self, information: &Information) -> Option<String> {
        let (place, value) = self.with(information, &[dw::DW_AT_name])?;
        place.string(value)
    }

    /// The symbol that it says it has.
    pub fn linkage_name(&self, information: &Information) -> Option<String> {
        let (place, value) = self.with(information, &[dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name])?;
        place.string(value)
    }
}

/// The name of a function, or of a call of one that is inlined, without parameters.
pub(crate) fn function_name(information: &Information, place: &DebugEntry) -> Option<String> {
    let name = place.name(information)?;
    let full = match (place.unit.language, place.linkage_name(information)) {
        (Language::Cpp, Some(linkage)) => demangle::with_parameters(&linkage).unwrap_or(linkage),
        (Language::Cpp | Language::Fortran, _) => scoped(information, place, name),
        // As gdb has it, which knows Rust's older symbols alone here.
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
fn scoped(information: &Information, place: &DebugEntry, name: String) -> String {
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
fn around(information: &Information, place: &DebugEntry) -> Option<(DebugEntry, dw::DwTag)> {
    let declaring = place.origins(information).last()?;
    let offset = declaring.unit.functions().around(declaring.offset)?;
    let around = DebugEntry { offset, ..declaring };
    let tag = around.entry()?.tag();
    Some((around, tag))
}
