//! Operators (`ompi_op_t`, ompi/op/op.h, v4.1.4 and v5.0.7).

use serde_json::Value;

use super::{Depth, HandleReader};
use crate::ReaderError;
use crate::record::{Record, shape};
use model::Handle;
use target::address::TargetAddr;
use target::printable;

shape!(
    /// Operators. The user's function is the first word of a union, whatever the language.
    Op = ["ompi_op_t"] { name: "o_name", flags: "o_flags", function: "o_func.c_fn" }
);

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// A summary shows at most this many characters of a function's name.
const SHOWN: usize = 60;

/// Flags of the languages; an operator without any of them is C's (`ompi_op_create_user`, ompi/op/op.c, v4.1.4 and v5.0.7).
const LANGUAGES: &[(&str, &str)] =
    &[("OMPI_OP_FLAGS_FORTRAN_FUNC", "Fortran"), ("OMPI_OP_FLAGS_CXX_FUNC", "C++"), ("OMPI_OP_FLAGS_JAVA_FUNC", JAVA)];

/// With Java, the function that the object holds is the library's own (`ompi_op_set_java_callback`, ompi/op/op.c, v4.1.4).
const JAVA: &str = "Java";

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = Op::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    // Nearly all of the structure are functions for each datatype.
    let size = [shape.name, shape.flags, shape.function].map(|slot| slot.offset + slot.size).into_iter().max();
    let record = Record::read(reader.target, addr, size.unwrap_or(shape.size), &mut buffer)?;
    let flags = record.uint(shape.flags);
    let has = |name: &str| flags & reader.flag(name) != 0;
    let commutative = has("OMPI_OP_FLAGS_COMMUTE");
    if depth == Depth::Full {
        // Of blocking reductions and of accumulations nothing in memory says which operator they use.
        reader.add_users_of_operator(addr, handle);
    }
    if has("OMPI_OP_FLAGS_INTRINSIC") {
        let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
        handle.predefined = Some(true);
        handle.summary.clone_from(&name);
        handle.name = Some(name);
        handle.fact("function", Value::Null);
        handle.fact("language", Value::Null);
        handle.fact("commutative", commutative);
        return Ok(());
    }
    let language = LANGUAGES.iter().find(|(flag, _)| has(flag)).map_or("C", |(_, language)| language);
    let order = if commutative { "commutative" } else { "not commutative" };
    if language == JAVA {
        handle.summary = format!("an operator of {language}, {order}");
        handle.unknown("function", "the Java virtual machine knows which function it is");
    } else {
        let function = reader.function(record.pointer(shape.function));
        let name = function["symbol"].as_str().or_else(|| function["address"].as_str()).unwrap_or("no function");
        let name: String = name.chars().take(SHOWN).collect();
        handle.summary = format!("operator {name} in {language}, {order}");
        handle.fact("function", function);
    }
    handle.fact("language", language);
    handle.fact("commutative", commutative);
    Ok(())
}
