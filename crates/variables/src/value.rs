//! Values with their types.

use std::rc::Rc;

use calls::Unknown;
use calls::expression::{Shape, Typed};
use target::ByteOrder;

use crate::arrays::unknown_bounds;
use crate::frame::{Context, gone};
use crate::handles;
use crate::held::Held;
use crate::limits::LARGEST;
use crate::locate::number_bytes;
use crate::members::member;
use crate::types::{Real, Type};
use crate::variable::value_of;

/// A type, and where a value of it is.
#[derive(Clone)]
pub(crate) struct Raw {
    pub type_: Type,
    pub held: Held,
    /// Of a bit-field its first bit, and how many it has.
    pub bits: Option<(u64, u64)>,
}

impl Raw {
    pub fn new(type_: Type, held: Held) -> Self {
        Self { type_, held, bits: None }
    }

    pub fn real(&self, context: &Context) -> Result<Real, Unknown> {
        self.type_.real(context, self.held.place())
    }

    /// The integer, or the address that a pointer or a reference holds.
    pub fn number_of(&self, context: &Context) -> Result<i128, Unknown> {
        let (bytes, signed) = match self.real(context)? {
            Real::Number { bytes, signed, .. } => (bytes, signed),
            Real::Pointer { bytes, .. } | Real::Reference { bytes, .. } => (bytes, false),
            _ => return Err(self.of_type("is not an integer")),
        };
        let (content, width) = match self.bits {
            Some((first, count)) if count <= 8 * bytes => (self.held.bits(context, first, count)?, count),
            Some(_) => return Err(gone()),
            None => (self.held.read(context, usize::try_from(bytes).map_err(|_| gone())?)?, 8 * bytes),
        };
        let order = context.files.first().map_or(ByteOrder::Little, |file| file.info.abi().byte_order);
        let fold = |value: u128, byte: &u8| (value << 8) | u128::from(*byte);
        let number = match order {
            ByteOrder::Little => content.iter().rev().fold(0, fold),
            ByteOrder::Big => content.iter().fold(0, fold),
        };
        if width == 0 {
            return Ok(0);
        }
        let unused = 128_u32.saturating_sub(u32::try_from(width).unwrap_or(128));
        if signed {
            return Ok(((number << unused) as i128) >> unused);
        }
        i128::try_from(number).map_err(|_| Unknown::new("the number has too many digits"))
    }

    /// A sentence about the value.
    pub fn of_type(&self, what: &str) -> Unknown {
        Unknown::new(format!("a value of the type {} {what}", self.type_.name()))
    }

    /// What is so many bytes from where the pointer leads to.
    pub fn pointed_at(&self, context: &Context, target: &Type, bytes: i128) -> Result<Self, Unknown> {
        if let Some((die, offset)) = self.held.pointer() {
            let bytes = bytes.checked_add(offset.into()).ok_or_else(gone)?;
            let held = value_of(context, die)?.held.further(bytes).ok_or_else(gone)?;
            return Ok(Self::new(target.clone(), held));
        }
        let address = self.number_of(context)?.wrapping_add(bytes) as u64;
        Ok(Self::new(target.clone(), Held::Memory(address & mask(context))))
    }

    /// What a reference refers to, else the value itself.
    pub fn without_reference(self, context: &Context) -> Result<Self, Unknown> {
        match self.type_.bare() {
            Type::Die(_) => match self.real(context) {
                Ok(Real::Reference { target, .. }) => self.pointed_at(context, &target, 0),
                _ => Ok(self),
            },
            _ => Ok(self),
        }
    }
}

/// Addresses have no more bits than these.
fn mask(context: &Context) -> u64 {
    match context.files.first().map(|file| file.info.abi().pointer_width.bytes()) {
        Some(4) => u64::from(u32::MAX),
        _ => u64::MAX,
    }
}

/// A value of a variable or an expression of the program.
#[derive(Clone)]
pub struct Value {
    context: Rc<Context>,
    raw: Raw,
}

impl std::fmt::Debug for Value {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "a value of the type {}", self.raw.type_.name())
    }
}

impl Value {
    /// What a reference refers to, else the value. Fails where nothing is left of it.
    pub(crate) fn new(context: &Rc<Context>, raw: Raw) -> Result<Self, Unknown> {
        let raw = raw.without_reference(context)?;
        if raw.held.is_gone() {
            return Err(gone());
        }
        Ok(Self { context: context.clone(), raw })
    }

    /// A number of a type that is none of memory.
    pub(crate) fn made(context: &Rc<Context>, type_: Type, number: i128) -> Result<Self, Unknown> {
        let real = type_.real(context, None)?;
        let (bytes, number) = match real {
            Real::Number { bytes, truth: true, .. } => (bytes, i128::from(number != 0)),
            Real::Number { bytes, .. } | Real::Pointer { bytes, .. } => (bytes, number),
            _ => return Err(Unknown::new("only pointers and integers can be made of numbers")),
        };
        let order = context.files.first().map_or(ByteOrder::Little, |file| file.info.abi().byte_order);
        let held = Held::bytes(number_bytes(number, bytes, order));
        Ok(Self { context: context.clone(), raw: Raw::new(type_, held) })
    }

    fn real(&self) -> Result<Real, Unknown> {
        self.context.begin();
        self.context.deeper(|| self.raw.real(&self.context))
    }

    fn with(&self, raw: Raw) -> Result<Self, Unknown> {
        Self::new(&self.context, raw)
    }

    /// The number of what is one, and the address of what points or is an array, as casts take it.
    pub(crate) fn plain(&self) -> Result<i128, Unknown> {
        match self.shape()? {
            Shape::Array => self.moved(0)?.number(),
            Shape::Number | Shape::Pointer => self.number(),
            Shape::Record | Shape::Other => Err(self.raw.of_type("is not an integer")),
        }
    }

    /// Where the elements of an array begin, and the type of its elements with their bytes.
    fn elements(&self, array: &Rc<crate::arrays::Array>, from: usize) -> Result<(Held, Type, i128), Unknown> {
        let held = array.data.filter(|_| from == 0).map_or_else(|| self.raw.held.clone(), Held::Memory);
        let inner = from + 1;
        let element = if inner < array.dimensions.len() {
            // The arrays within it lie where they lie, whatever descriptor there was.
            Type::Array(array.clone(), inner)
        } else {
            array.element.clone()
        };
        let stride = array.dimensions.get(from).map_or(Some(array.width), |dimension| dimension.stride);
        Ok((held, element, stride.ok_or_else(unknown_bounds)?))
    }

    /// The bytes of what a pointer points at, for arithmetic.
    fn step(&self, target: &Type) -> Result<i128, Unknown> {
        match target.size(&self.context, None)? {
            0 => Err(Unknown::new(format!("the size of the type {} is not known", target.name()))),
            bytes => Ok(bytes),
        }
    }
}

fn too_far() -> Unknown {
    Unknown::new("an index in it is larger than memory")
}

fn times(count: i128, width: i128) -> Result<i128, Unknown> {
    count.checked_mul(width).filter(|bytes| bytes.abs() <= 4 * LARGEST).ok_or_else(too_far)
}

impl Typed for Value {
    fn shape(&self) -> Result<Shape, Unknown> {
        Ok(match self.real()? {
            Real::Number { .. } => Shape::Number,
            Real::Pointer { .. } => Shape::Pointer,
            Real::Array(..) => Shape::Array,
            Real::Record(_) => Shape::Record,
            Real::Void | Real::Reference { .. } | Real::Function | Real::Other { .. } => Shape::Other,
        })
    }

    fn type_name(&self) -> Result<String, Unknown> {
        Ok(self.raw.type_.name())
    }

    fn number(&self) -> Result<i128, Unknown> {
        self.context.begin();
        self.raw.number_of(&self.context)
    }

    fn place(&self) -> Result<Option<i128>, Unknown> {
        let elsewhere = match self.raw.type_.bare() {
            // Only arrays lie elsewhere than what stands for them.
            Type::Die(_) => match self.real() {
                Ok(Real::Array(array, 0)) => array.data,
                _ => None,
            },
            Type::Array(array, 0) => array.data,
            _ => None,
        };
        Ok(elsewhere.or(self.raw.held.place()).map(i128::from))
    }

    fn size(&self) -> Result<i128, Unknown> {
        self.real()?.size()
    }

    fn width(&self) -> Result<i128, Unknown> {
        match self.real()? {
            Real::Pointer { target, .. } => match target.bare().real(&self.context, None)? {
                Real::Array(array, _) if self.context.fortran => Ok(array.width),
                real => real.size(),
            },
            Real::Array(array, _) if self.context.fortran => Ok(array.width),
            Real::Array(array, from) if from + 1 < array.dimensions.len() => array.size(from + 1),
            Real::Array(array, _) => Ok(array.width),
            _ => Err(self.raw.of_type("has no elements")),
        }
    }

    fn is_opaque(&self) -> bool {
        let Ok(Real::Pointer { target, .. }) = self.real() else { return false };
        matches!(target.bare(), Type::Die(die) if die.is_declaration())
    }

    fn member(&self, name: &str) -> Result<Self, Unknown> {
        let no_member = || self.raw.of_type(&format!("has no member {name}"));
        let record = match self.real()? {
            Real::Pointer { target, .. } => self.raw.pointed_at(&self.context, &target, 0)?,
            _ => self.raw.clone(),
        };
        let Real::Record(die) = record.real(&self.context)? else { return Err(no_member()) };
        let found = member(&self.context, &die, &record.held, name)?;
        self.with(found.ok_or_else(no_member)?)
    }

    fn element(&self, index: i128) -> Result<Self, Unknown> {
        match self.real()? {
            Real::Array(array, from) => {
                if let Some(dimension) = array.dimensions.get(from)
                    && let Some(count) = dimension.count()
                    // An array at the end of a structure may be declared with no elements or with one.
                    && count > 1
                    && !(0..count).contains(&index)
                {
                    return Err(Unknown::new(format!("the array has no element {index}: there are {count}")));
                }
                let (held, element, stride) = self.elements(&array, from)?;
                let held = held.further(times(index, stride)?).ok_or_else(gone)?;
                self.with(Raw::new(element, held))
            }
            Real::Pointer { target, .. } => {
                if matches!(target.bare(), Type::Void) {
                    return Err(Unknown::new("a pointer to void has no elements"));
                }
                let bytes = match index {
                    // Also of what is only declared, and of functions.
                    0 => 0,
                    _ => times(index, self.step(&target)?)?,
                };
                self.with(self.raw.pointed_at(&self.context, &target, bytes)?)
            }
            _ => Err(self.raw.of_type("has no elements")),
        }
    }

    fn address(&self) -> Result<Self, Unknown> {
        let place = self.place()?.ok_or_else(|| Unknown::new("it has no address"))?;
        Self::made(&self.context, Type::Pointer(Rc::new(self.raw.type_.clone())), place)
    }

    fn moved(&self, count: i128) -> Result<Self, Unknown> {
        match self.real()? {
            Real::Array(array, from) => {
                let (held, element, stride) = self.elements(&array, from)?;
                let place = held.place().ok_or_else(|| Unknown::new("the array is not in memory"))?;
                let number = i128::from(place).checked_add(times(count, stride)?).ok_or_else(too_far)?;
                Self::made(&self.context, Type::Pointer(Rc::new(element)), number)
            }
            // What has no address can be pointed at, but not moved.
            Real::Pointer { .. } if count == 0 => Ok(self.clone()),
            Real::Pointer { target, .. } => {
                let bytes = times(count, self.step(&target)?)?;
                let number = self.number()?.checked_add(bytes).ok_or_else(too_far)?;
                Self::made(&self.context, self.raw.type_.clone(), number)
            }
            _ => Err(self.raw.of_type("cannot be counted on from")),
        }
    }

    fn bounds(&self) -> Result<Vec<(i128, i128)>, Unknown> {
        let Real::Array(array, from) = self.real()? else {
            return Err(self.raw.of_type("is not an array"));
        };
        // Of the last dimension of `a(*)` the end is not known, nor is one that the compiler has lost: no telling which.
        let bounds = array.dimensions.iter().skip(from).map(|one| Some((one.low, one.high?)));
        let mut found = bounds.collect::<Option<Vec<_>>>().ok_or_else(unknown_bounds)?;
        // The last dimension is outside.
        found.reverse();
        Ok(found)
    }

    fn at(&self, indices: &[i128]) -> Result<Self, Unknown> {
        let Real::Array(array, from) = self.real()? else {
            return Err(self.raw.of_type("is not an array"));
        };
        let dimensions = array.dimensions.get(from..).unwrap_or_default();
        if indices.len() != dimensions.len() {
            return Err(Unknown::new(format!(
                "an array of {} dimensions with {} indices",
                dimensions.len(),
                indices.len()
            )));
        }
        let mut bytes = 0_i128;
        for (index, dimension) in indices.iter().rev().zip(dimensions) {
            let counted = index.checked_sub(dimension.low).ok_or_else(too_far)?;
            let stride = dimension.stride.ok_or_else(unknown_bounds)?;
            bytes = bytes.checked_add(times(counted, stride)?).ok_or_else(too_far)?;
        }
        let held = array.data.filter(|_| from == 0).map_or_else(|| self.raw.held.clone(), Held::Memory);
        self.with(Raw::new(array.element.clone(), held.further(bytes).ok_or_else(gone)?))
    }

    fn handle(&self) -> Result<Option<i128>, Unknown> {
        self.context.begin();
        handles::handle(&self.context, &self.raw)
    }
}
