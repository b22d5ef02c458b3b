//! What a debugger must answer for expressions: variables and types by their names, members, elements and memory.
//!
//! Its own parser of expressions, which runs functions and writes to memory, registers and settings, never sees a text of
//! the program.

use crate::Unknown;

/// What can be done with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// An integer, a character, a truth or an enumerator.
    Number,
    /// An address with a type.
    Pointer,
    /// Elements one after another.
    Array,
    /// A structure, a class or a union.
    Record,
    /// A function, a number that is not an integer, and whatever else there is.
    Other,
}

/// The value of an expression as a function of MPI was given it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluated {
    /// An integer, a handle, or an address: what a pointer holds, where an array begins.
    pub number: i128,
    /// Bytes of an element of what it points at; `None` for what is no pointer and no array.
    pub width: Option<i128>,
    /// Where the value itself lies, `None` where in no memory.
    pub place: Option<i128>,
}

/// A value with a type, as a debugger has it. All methods fail where there is no answer.
#[allow(clippy::missing_errors_doc)]
pub trait Typed: Sized {
    /// What can be done with it.
    fn shape(&self) -> Result<Shape, Unknown>;

    /// The name of its type, for a sentence.
    fn type_name(&self) -> Result<String, Unknown>;

    /// The integer, or the address that a pointer holds.
    fn number(&self) -> Result<i128, Unknown>;

    /// Where it lies; `None` where in no memory.
    fn place(&self) -> Result<Option<i128>, Unknown>;

    /// Its bytes.
    fn size(&self) -> Result<i128, Unknown>;

    /// The bytes of an element of an array (of Fortran: whatever its dimensions), or of what a pointer points at.
    fn width(&self) -> Result<i128, Unknown>;

    /// Whether it is a pointer to what its unit only declares, such as many handles of MPI: how large that is takes long to
    /// find out where nobody needs it. `false` where that is not known.
    fn is_opaque(&self) -> bool {
        false
    }

    /// A member of a record, of one that it is derived from, or of the record that a pointer points at.
    fn member(&self, name: &str) -> Result<Self, Unknown>;

    /// An element of an array, or of what a pointer points at, counted from 0.
    fn element(&self, index: i128) -> Result<Self, Unknown>;

    /// A pointer to it.
    fn address(&self) -> Result<Self, Unknown>;

    /// A pointer so many elements further; an array becomes a pointer to its first.
    fn moved(&self, count: i128) -> Result<Self, Unknown>;

    /// The lowest and the highest index of each dimension of an array, in the order of the language.
    fn bounds(&self) -> Result<Vec<(i128, i128)>, Unknown>;

    /// The element of an array of Fortran with these indices.
    fn at(&self, indices: &[i128]) -> Result<Self, Unknown>;

    /// The handle of MPI that a record holds; `None` where it holds none.
    fn handle(&self) -> Result<Option<i128>, Unknown>;
}

/// A number, or what the debugger has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<T> {
    /// An integer without a type.
    Number(i128),
    /// A value with one.
    Typed(T),
}

/// What the names of a frame mean.
#[allow(clippy::missing_errors_doc)]
pub trait Scope {
    /// Its values.
    type Typed: Typed;

    /// A variable, a constant of the program or an enumerator; `None` where none has this name. Fails where variables are
    /// not known here, or this one is not known any more.
    fn variable(&self, name: &str) -> Result<Option<Self::Typed>, Unknown>;

    /// Whether a type has this name.
    fn has_type(&self, name: &str) -> Result<bool, Unknown>;

    /// Why a name means nothing here.
    fn missing(&self, name: &str) -> Result<String, Unknown>;

    /// A number or a pointer as another type of these. Fails where there is no such type, or it is none of these.
    fn cast(&self, value: Value<Self::Typed>, type_name: &str, pointers: usize) -> Result<Value<Self::Typed>, Unknown>;

    /// The bytes of a type.
    fn size_of(&self, type_name: &str, pointers: usize) -> Result<i128, Unknown>;

    /// A pointer to what has no variable but an address: a symbol without debug information.
    fn address_of_name(&self, _name: &str) -> Result<Option<Self::Typed>, Unknown> {
        Ok(None)
    }
}

impl<T: Typed> Value<T> {
    /// The value where it is a pointer or an array.
    pub(super) fn pointing(&self) -> Result<Option<&T>, Unknown> {
        Ok(match self {
            Self::Typed(value) if matches!(value.shape()?, Shape::Pointer | Shape::Array) => Some(value),
            _ => None,
        })
    }

    /// An integer.
    pub(super) fn integer(&self) -> Result<i128, Unknown> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Typed(value) if value.shape()? == Shape::Number => value.number(),
            Self::Typed(value) => Err(no_integer(value)),
        }
    }

    /// A number, or the address of a pointer or an array, as comparisons and casts take them.
    pub(super) fn plain(&self) -> Result<i128, Unknown> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Typed(value) => match value.shape()? {
                Shape::Array => value.moved(0)?.number(),
                Shape::Number | Shape::Pointer => value.number(),
                Shape::Record | Shape::Other => Err(no_integer(value)),
            },
        }
    }

    /// What can have a member.
    pub(super) fn record(self, name: &str) -> Result<T, Unknown> {
        match self {
            Self::Number(_) => Err(Unknown::new(format!("a number has no member {name}"))),
            Self::Typed(value) => Ok(value),
        }
    }
}

/// A sentence about a value, with the name of its type.
pub(super) fn of_type<T: Typed>(value: &T, what: &str) -> Unknown {
    match value.type_name() {
        Ok(name) => Unknown::new(format!("a value of the type {name} {what}")),
        Err(unknown) => unknown,
    }
}

fn no_integer<T: Typed>(value: &T) -> Unknown {
    of_type(value, "is not an integer")
}

/// A value as a function of MPI was given it.
pub(super) fn given<T: Typed>(value: &Value<T>, fortran: bool) -> Result<Evaluated, Unknown> {
    let value = match value {
        Value::Number(number) => return Ok(Evaluated { number: *number, width: None, place: None }),
        Value::Typed(value) => value,
    };
    let (shape, place) = (value.shape()?, value.place()?);
    let handle = match shape {
        Shape::Array => {
            let begin = place.ok_or_else(no_memory)?;
            return Ok(Evaluated { number: begin, width: Some(value.width()?), place });
        }
        Shape::Pointer => {
            let width = if value.is_opaque() { None } else { Some(value.width()?) };
            return Ok(Evaluated { number: value.number()?, width, place });
        }
        Shape::Number => return Ok(Evaluated { number: value.number()?, width: None, place }),
        Shape::Record => value.handle()?,
        Shape::Other => None,
    };
    match (handle, place) {
        (Some(number), _) => Ok(Evaluated { number, width: None, place }),
        // Fortran gives the address of everything.
        (None, Some(number)) if fortran => Ok(Evaluated { number, width: Some(value.size()?), place }),
        _ => Err(of_type(value, "is not a number")),
    }
}

pub(super) fn no_memory() -> Unknown {
    Unknown::new("the array is not in memory")
}
