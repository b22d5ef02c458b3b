//! Operators (pmodels/mpich, src/include/mpir_op.h, v3.4 to v5.0).

use serde_json::Value;

use super::value::Object;
use super::{Depth, HandleReader, NO_OBJECT, errhandler};
use crate::ReaderError;
use crate::record::{Record, shape};
use model::Handle;

shape!(
    /// Operators. The function is a union of functions, whatever the language.
    Op = ["MPIR_Op"] { kind: "kind", function: "function" }
    optional {
        language: "language",
        commutes: "is_commute",
    }
);

/// A summary shows at most this many characters of a function's name.
const SHOWN: usize = 60;

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    if depth == Depth::Full {
        handle.unknown("users", "operations in flight hold their operator in schedules that are not read");
    }
    if let Some(name) = object.constant {
        handle.name = Some(name.to_owned());
        name.clone_into(&mut handle.summary);
        handle.fact("function", Value::Null);
        handle.fact("language", Value::Null);
        // As MPI_Op_commutative says (`MPIR_Op_is_commutative`, src/mpi/coll/op/op_impl.c, v3.4 to v5.0).
        handle.fact("commutative", !["MPI_NO_OP", "MPI_REPLACE"].contains(&name));
        return Ok(());
    }
    let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
    let shape = Op::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
    let kind = record.int(shape.kind);
    let is = |names: &[&str]| names.iter().any(|name| reader.layouts.constant(name).ok() == Some(kind));
    // Until 4.3 the kind tells, since 5.0 a member.
    let commutative = match shape.commutes {
        Some(slot) => Some(record.uint(slot) != 0),
        None if is(&["MPIR_OP_KIND__USER_NONCOMMUTE", "MPIR_OP_KIND__USER_NONCOMMUTE_LARGE"]) => Some(false),
        None if is(&["MPIR_OP_KIND__USER", "MPIR_OP_KIND__USER_LARGE"]) => Some(true),
        None => None,
    };
    let function = reader.function(reader.target.read_pointer(record.address_of(shape.function))?);
    let name = function["symbol"].as_str().or_else(|| function["address"].as_str()).unwrap_or("no function");
    let name: String = name.chars().take(SHOWN).collect();
    let order = match commutative {
        Some(true) => ", commutative",
        Some(false) => ", not commutative",
        None => "",
    };
    let language = shape.language.and_then(|slot| errhandler::language(reader, record.int(slot)));
    let spoken = language.map(|language| format!(" in {language}")).unwrap_or_default();
    handle.summary = format!("operator {name}{spoken}{order}");
    handle.fact("function", function);
    match language {
        Some(language) => handle.fact("language", language),
        None => handle.unknown("language", "this release does not keep it"),
    }
    match commutative {
        Some(commutative) => handle.fact("commutative", commutative),
        None => handle.unknown("commutative", format!("no operator of the application is of the kind {kind}")),
    }
    Ok(())
}
