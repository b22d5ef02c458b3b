//! Operators (pmodels/mpich, src/include/mpir_op.h, v3.4 to v5.0).

use super::value::Object;
use super::{Depth, HandleReader, NO_OBJECT, errhandler};
use crate::record::{Record, shapes};
use crate::{ReaderError, functions};
use model::{Handle, handle};

shapes! {
    /// Operators. The function is a union of functions, whatever the language.
    Op = ["MPIR_Op"] { kind: "kind", function: "function" } optional {
        language: "language",
        commutes: "is_commute",
    };
}

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
        // As MPI_Op_commutative says (`MPIR_Op_is_commutative`, src/mpi/coll/op/op_impl.c, v3.4 to v5.0).
        let commutative = !["MPI_NO_OP", "MPI_REPLACE"].contains(&name);
        handle::Op { function: Ok(None), language: Ok(None), commutative: Ok(commutative) }.tell(handle);
        return Ok(());
    }
    let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
    let shape = Op::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, at, shape.size)?;
    let kind = record.int(shape.kind);
    let is = |names: &[&str]| names.iter().any(|name| reader.layouts.constant(name).ok() == Some(kind));
    // Until 4.3 the kind tells, since 5.0 a member.
    let commutative = match shape.commutes {
        Some(slot) => Ok(record.uint(slot) != 0),
        None if is(&["MPIR_OP_KIND__USER_NONCOMMUTE", "MPIR_OP_KIND__USER_NONCOMMUTE_LARGE"]) => Ok(false),
        None if is(&["MPIR_OP_KIND__USER", "MPIR_OP_KIND__USER_LARGE"]) => Ok(true),
        None => Err(format!("no operator of the application is of the kind {kind}").into()),
    };
    let language = shape.language.and_then(|slot| errhandler::language(reader, record.int(slot)));
    let op = handle::Op {
        function: Ok(functions::at(reader.target, reader.target.read_pointer(record.address_of(shape.function))?)),
        language: language.map(Some).ok_or_else(|| "this release does not keep it".into()),
        commutative,
    };
    handle.summary = op.summary();
    op.tell(handle);
    Ok(())
}
