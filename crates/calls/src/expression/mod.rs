//! The values of expressions that stand in the program's source, worked out here: a debugger is asked only for what
//! [`Scope`] and [`Typed`] have.

mod arithmetic;
mod c;
pub mod c_grammar;
mod c_tokens;
mod c_words;
mod fortran;
pub mod fortran_grammar;
mod fortran_tokens;
mod object;
mod scope;
mod tokens;
pub mod tree;

pub use object::{Object, is_literal, object_in_c, object_in_fortran};
pub use scope::{Evaluated, Scope, Shape, Typed, Value};

use crate::Unknown;
use fortran::Whole;

/// The number of a constant of MPI by its name; `None` where it has none, or is no constant.
pub type Constant<'c> = &'c dyn Fn(&str) -> Result<Option<i128>, Unknown>;

/// The value of an expression of C or C++. `registers`: see [`c_grammar::parse`].
///
/// # Errors
/// Where it has none.
pub fn of_c<S: Scope>(
    text: &str,
    scope: &S,
    constant: Constant<'_>,
    registers: bool,
) -> Result<Value<S::Typed>, Unknown> {
    let is_type = |name: &str| {
        let is_value = || -> Result<bool, Unknown> { Ok(scope.variable(name)?.is_some() || constant(name)?.is_some()) };
        // What is not known any more is a variable, too.
        if is_value().unwrap_or(true) {
            return Some(false);
        }
        scope.has_type(name).is_ok_and(|has| has).then_some(true)
    };
    let node = c_grammar::parse(text, &is_type, registers)?;
    c::Evaluator { scope, constant }.value(&node)
}

/// The value of an expression of C or C++ as a function of MPI was given it.
///
/// # Errors
/// Where it is neither a number, nor a handle, nor in memory.
pub fn given_in_c<S: Scope>(text: &str, scope: &S, constant: Constant<'_>) -> Result<Evaluated, Unknown> {
    scope::given(&of_c(text, scope, constant, false)?, false)
}

/// The value of an expression of Fortran as a function of MPI was given it; of a section of an array, where it begins.
///
/// # Errors
/// As [`given_in_c`].
pub fn given_in_fortran<S: Scope>(text: &str, scope: &S, constant: Constant<'_>) -> Result<Evaluated, Unknown> {
    let node = fortran_grammar::parse(text)?;
    match (fortran::Evaluator { scope, constant }).whole(&node)? {
        Whole::Section(section) => Ok(section),
        Whole::Value(value) => scope::given(&value, true),
    }
}

/// What a name means.
fn name<S: Scope>(scope: &S, constant: Constant<'_>, name: &str) -> Result<Value<S::Typed>, Unknown> {
    if let Some(found) = scope.variable(name)? {
        return Ok(Value::Typed(found));
    }
    match constant(name)? {
        Some(number) => Ok(Value::Number(number)),
        None => Err(Unknown::new(scope.missing(name)?)),
    }
}
