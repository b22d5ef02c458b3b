//! Types, and what is behind their typedefs and qualifiers.

use std::rc::Rc;

use calls::Unknown;
use gimli::{AttributeValue, constants as dw};
use target::ByteOrder;

use crate::arrays::{Array, array};
use crate::die::Die;
use crate::frame::{Context, damaged};
use crate::limits::{DEEPEST, LARGEST, LONGEST_NUMBER, MOST_HOPS};
use crate::locate::{Subject, computed};
use crate::plain_types::Plain;

/// A type.
#[derive(Clone)]
pub(crate) enum Type {
    Void,
    /// One that the debug information refers to and does not have here (a supplementary file, damage).
    Lost,
    /// As the debug information has it.
    Die(Die),
    /// One that no debug information has.
    Plain(Plain),
    /// Made here.
    Pointer(Rc<Type>),
    /// An array whose bounds are known, or one of the arrays that it has as its elements: without its first dimensions.
    Array(Rc<Array>, usize),
}

/// A type without its names.
#[derive(Clone)]
pub(crate) enum Real {
    Void,
    Number {
        bytes: u64,
        signed: bool,
        truth: bool,
    },
    Pointer {
        bytes: u64,
        target: Type,
    },
    Reference {
        bytes: u64,
        target: Type,
    },
    Array(Rc<Array>, usize),
    /// A structure, a class or a union.
    Record(Die),
    Function,
    /// A number that is not an integer, a string of Fortran, and whatever else there is.
    Other {
        bytes: Option<u64>,
    },
}

impl Type {
    /// That of an entry.
    pub fn of(die: &Die) -> Self {
        match die.attribute(dw::DW_AT_type) {
            Some((owner, value)) => owner.referred(&value).map_or(Self::Lost, Self::Die),
            None => Self::Void,
        }
    }

    /// Without typedefs and qualifiers.
    pub fn bare(&self) -> Self {
        let Self::Die(die) = self else { return self.clone() };
        let mut die = die.clone();
        for _ in 0..MOST_HOPS {
            match die.tag() {
                Some(
                    dw::DW_TAG_typedef
                    | dw::DW_TAG_const_type
                    | dw::DW_TAG_volatile_type
                    | dw::DW_TAG_restrict_type
                    | dw::DW_TAG_atomic_type
                    | dw::DW_TAG_immutable_type
                    | dw::DW_TAG_packed_type
                    | dw::DW_TAG_shared_type
                    | dw::DW_TAG_template_alias,
                ) => match Self::of(&die) {
                    Self::Die(next) => die = next,
                    other => return other,
                },
                _ => return Self::Die(die),
            }
        }
        Self::Lost
    }

    /// What it is; of an array with the bounds that it has for an object at an address.
    pub fn real(&self, context: &Context, object: Option<u64>) -> Result<Real, Unknown> {
        let die = match self.bare() {
            Self::Void => return Ok(Real::Void),
            Self::Lost => return Err(Unknown::new("its type is not in the debug information")),
            Self::Plain(plain) if !plain.number => return Ok(Real::Other { bytes: Some(plain.bytes) }),
            Self::Plain(Plain { bytes, signed, truth, .. }) => return Ok(Real::Number { bytes, signed, truth }),
            Self::Pointer(target) => {
                return Ok(Real::Pointer { bytes: address_bytes(context), target: (*target).clone() });
            }
            Self::Array(array, from) => return Ok(Real::Array(array, from)),
            Self::Die(die) => die,
        };
        let entry = die.entry().ok_or_else(damaged)?;
        let bytes = entry.attr_value(dw::DW_AT_byte_size).and_then(|value| value.udata_value());
        Ok(match entry.tag() {
            dw::DW_TAG_base_type => base_type(&die, bytes.ok_or_else(damaged)?),
            dw::DW_TAG_enumeration_type => {
                let complete = die.completed(&context.files).unwrap_or(die);
                enumeration(context, &complete)?
            }
            dw::DW_TAG_subrange_type => return context.deeper(|| Self::of(&die).real(context, object)),
            tag @ (dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type) => {
                let bytes = bytes.unwrap_or_else(|| die.file.info.abi().pointer_width.bytes());
                let target = Self::of(&die);
                if !(1..=8).contains(&bytes) {
                    Real::Other { bytes: Some(bytes) }
                } else if tag == dw::DW_TAG_pointer_type {
                    Real::Pointer { bytes, target }
                } else {
                    Real::Reference { bytes, target }
                }
            }
            dw::DW_TAG_array_type => return context.deeper(|| array(context, &die, object)),
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type | dw::DW_TAG_interface_type => {
                Real::Record(die.completed(&context.files).unwrap_or(die))
            }
            dw::DW_TAG_subroutine_type | dw::DW_TAG_subprogram => Real::Function,
            dw::DW_TAG_string_type => Real::Other { bytes: string_bytes(context, &die, bytes, object) },
            _ => Real::Other { bytes },
        })
    }

    /// The bytes of a value of it, as `sizeof` says; of one that is only declared 0, of `void` and functions 1 as gdb and GNU C
    /// have it.
    pub fn size(&self, context: &Context, object: Option<u64>) -> Result<i128, Unknown> {
        self.real(context, object)?.size()
    }

    /// Its name, for people.
    pub fn name(&self) -> String {
        let mut name = self.name_within(0);
        if let Some((at, _)) = name.char_indices().nth(60) {
            name.truncate(at);
        }
        name
    }

    fn name_within(&self, depth: usize) -> String {
        if depth > DEEPEST {
            return "?".to_owned();
        }
        let starred = |inner: String| if inner.ends_with('*') { format!("{inner}*") } else { format!("{inner} *") };
        let die = match self {
            Self::Void => return "void".to_owned(),
            Self::Lost => return "?".to_owned(),
            Self::Plain(plain) => return plain.name.to_owned(),
            Self::Pointer(target) => return starred(target.name_within(depth + 1)),
            Self::Array(array, from) => {
                let mut name = array.element.name_within(depth + 1);
                for dimension in array.dimensions.iter().skip(*from) {
                    match dimension.count() {
                        Some(count) => name.push_str(&format!(" [{count}]")),
                        None => name.push_str(" []"),
                    }
                }
                return name.replace("] [", "][");
            }
            Self::Die(die) => die,
        };
        let inner = || Self::of(die).name_within(depth + 1);
        let own = || die.qualified_name();
        match die.tag() {
            Some(dw::DW_TAG_pointer_type) => starred(inner()),
            Some(dw::DW_TAG_reference_type) => format!("{} &", inner()),
            Some(dw::DW_TAG_rvalue_reference_type) => format!("{} &&", inner()),
            Some(dw::DW_TAG_const_type) => format!("const {}", inner()),
            Some(dw::DW_TAG_volatile_type) => format!("volatile {}", inner()),
            Some(dw::DW_TAG_restrict_type | dw::DW_TAG_atomic_type) => inner(),
            Some(dw::DW_TAG_array_type) => format!("{} []", inner()),
            Some(dw::DW_TAG_subroutine_type | dw::DW_TAG_subprogram) => format!("{} ()", inner()),
            Some(dw::DW_TAG_string_type) => "character".to_owned(),
            tag => {
                let word = match tag {
                    _ if die.unit.is_cxx() || die.unit.is_fortran() => "",
                    Some(dw::DW_TAG_structure_type) => "struct ",
                    Some(dw::DW_TAG_union_type) => "union ",
                    Some(dw::DW_TAG_enumeration_type) => "enum ",
                    _ => "",
                };
                format!("{word}{}", own().unwrap_or_else(|| "{...}".to_owned()))
            }
        }
    }
}

impl Real {
    /// See [`Type::size`].
    pub fn size(&self) -> Result<i128, Unknown> {
        Ok(match self {
            Self::Void | Self::Function => 1,
            Self::Number { bytes, .. } | Self::Pointer { bytes, .. } | Self::Reference { bytes, .. } => {
                i128::from(*bytes)
            }
            Self::Array(array, from) => array.size(*from)?,
            Self::Record(die) => record_bytes(die),
            Self::Other { bytes } => {
                i128::from(bytes.ok_or_else(|| Unknown::new("the size of its type is not known"))?)
            }
        })
    }
}

/// The bytes of a structure, 0 where it is only declared.
pub(crate) fn record_bytes(die: &Die) -> i128 {
    let bytes = die.number(dw::DW_AT_byte_size).unwrap_or(0);
    i128::from(bytes).min(LARGEST)
}

fn address_bytes(context: &Context) -> u64 {
    context.files.first().map_or(8, |file| file.info.abi().pointer_width.bytes())
}

fn base_type(die: &Die, bytes: u64) -> Real {
    let encoding = match die.entry().and_then(|entry| entry.attr_value(dw::DW_AT_encoding)) {
        Some(AttributeValue::Encoding(encoding)) => encoding,
        _ => return Real::Other { bytes: Some(bytes) },
    };
    let swapped = match die.entry().and_then(|entry| entry.attr_value(dw::DW_AT_endianity)) {
        Some(AttributeValue::Endianity(dw::DW_END_big)) => die.file.info.abi().byte_order != ByteOrder::Big,
        Some(AttributeValue::Endianity(dw::DW_END_little)) => die.file.info.abi().byte_order != ByteOrder::Little,
        _ => false,
    };
    let (signed, truth) = match encoding {
        _ if swapped || !(1..=LONGEST_NUMBER).contains(&bytes) => return Real::Other { bytes: Some(bytes) },
        dw::DW_ATE_signed | dw::DW_ATE_signed_char => (true, false),
        dw::DW_ATE_unsigned | dw::DW_ATE_unsigned_char | dw::DW_ATE_UTF | dw::DW_ATE_ASCII | dw::DW_ATE_UCS => {
            (false, false)
        }
        dw::DW_ATE_boolean => (false, true),
        dw::DW_ATE_address if bytes <= 8 => return Real::Pointer { bytes, target: Type::Void },
        _ => return Real::Other { bytes: Some(bytes) },
    };
    Real::Number { bytes, signed, truth }
}

fn enumeration(context: &Context, die: &Die) -> Result<Real, Unknown> {
    let underlying = match Type::of(die) {
        Type::Void => None,
        underlying => Some(context.deeper(|| underlying.real(context, None))?),
    };
    let (inner, signed) = match underlying {
        Some(Real::Number { bytes, signed, .. }) => (Some(bytes), signed),
        _ => {
            let negative = die.child(context.end(), |_, entry| {
                let value = entry.attr_value(dw::DW_AT_const_value);
                matches!(value, Some(AttributeValue::Sdata(number)) if number < 0).then_some(())
            });
            (None, negative.is_some())
        }
    };
    let bytes = die.number(dw::DW_AT_byte_size).or(inner).filter(|bytes| (1..=LONGEST_NUMBER).contains(bytes));
    let bytes = bytes.ok_or_else(|| Unknown::new("the size of its type is not known"))?;
    Ok(Real::Number { bytes, signed, truth: false })
}

/// The bytes of a string of Fortran (DWARF 5, 5.11): a number, or where its length lies.
fn string_bytes(context: &Context, die: &Die, bytes: Option<u64>, object: Option<u64>) -> Option<u64> {
    let Some((owner, value)) = die.attribute(dw::DW_AT_string_length) else { return bytes };
    if let Some(number) = value.udata_value() {
        return Some(number);
    }
    let width = die.number(dw::DW_AT_string_length_byte_size).or(bytes).unwrap_or(8);
    let address = match owner.referred(&value) {
        Some(variable) => {
            let (owner, location) = variable.attribute(dw::DW_AT_location)?;
            let found = crate::locate::located(context, &owner, location, Some(width)).ok()?;
            let bytes = found.read(context, usize::try_from(width).ok().filter(|width| *width <= 8)?).ok()?;
            return Some(die.file.info.abi().uint(&bytes));
        }
        None => {
            let subject = Subject { object, ..Subject::default() };
            computed(context, &owner, value, subject).ok()?
        }
    };
    let bytes = context.read(address, usize::try_from(width).ok().filter(|width| (1..=8).contains(width))?).ok()?;
    Some(die.file.info.abi().uint(&bytes))
}
