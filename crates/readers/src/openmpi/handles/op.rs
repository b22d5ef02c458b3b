//! Operators (`ompi_op_t`, ompi/op/op.h, v4.1.4 and v5.0.7).

use super::{Depth, HandleReader};
use crate::record::{Record, shapes};
use crate::{ReaderError, functions};
use model::Handle;
use model::handle::{self, Fact, Language};
use target::address::TargetAddr;
use target::printable;

shapes! {
    /// Operators. The user's function is the first word of a union, whatever the language.
    Op = ["ompi_op_t"] { name: "o_name", flags: "o_flags", function: "o_func.c_fn" };
}

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// Flags of the languages; an operator without any of them is C's (`ompi_op_create_user`, ompi/op/op.c, v4.1.4 and v5.0.7).
const LANGUAGES: &[(&str, Language)] = &[
    ("OMPI_OP_FLAGS_FORTRAN_FUNC", Language::Fortran),
    ("OMPI_OP_FLAGS_CXX_FUNC", Language::Cxx),
    ("OMPI_OP_FLAGS_JAVA_FUNC", Language::Java),
];

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = Op::resolve(reader.layouts)?;
    // Nearly all of the structure are functions for each datatype.
    let size = [shape.name, shape.flags, shape.function].map(|slot| slot.offset + slot.size).into_iter().max();
    let record = Record::owned(reader.target, addr, size.unwrap_or(shape.size))?;
    let flags = record.uint(shape.flags);
    let has = |name: &str| flags & reader.flag(name) != 0;
    if depth == Depth::Full {
        // Of blocking reductions and of accumulations nothing in memory says which operator they use.
        reader.users_of_operator(addr).tell("users", handle);
    }
    let mut op = handle::Op { function: Ok(None), language: Ok(None), commutative: Ok(has("OMPI_OP_FLAGS_COMMUTE")) };
    if has("OMPI_OP_FLAGS_INTRINSIC") {
        let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
        handle.predefined = Some(true);
        handle.summary.clone_from(&name);
        handle.name = Some(name);
    } else {
        let language = LANGUAGES.iter().find(|(flag, _)| has(flag)).map_or(Language::C, |(_, language)| *language);
        op.language = Ok(Some(language));
        op.function = match language {
            // The function that the object holds is the library's own (`ompi_op_set_java_callback`, ompi/op/op.c, v4.1.4).
            Language::Java => Err("the Java virtual machine knows which function it is".into()),
            _ => Ok(functions::at(reader.target, record.pointer(shape.function))),
        };
        handle.summary = op.summary();
    }
    op.tell(handle);
    Ok(())
}
