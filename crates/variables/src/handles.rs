//! Which records hold a handle of MPI, by the names of their types and members: those of `mpi_f08` and of the bindings for C++.

use calls::Unknown;
use functions::HandleKind;
use gimli::constants as dw;

use crate::frame::Context;
use crate::limits::MOST_HOPS;
use crate::members::{member, own_members};
use crate::types::Type;
use crate::value::Raw;

/// Classes of MPI's bindings for C++, derived ones too (Open MPI v4.1.4: ompi/mpi/cxx/*.h; v5.0 has none).
const CLASSES: [(&str, HandleKind); 17] = [
    ("MPI::Comm", HandleKind::Comm),
    ("MPI::Comm_Null", HandleKind::Comm),
    ("MPI::Intracomm", HandleKind::Comm),
    ("MPI::Intercomm", HandleKind::Comm),
    ("MPI::Cartcomm", HandleKind::Comm),
    ("MPI::Graphcomm", HandleKind::Comm),
    ("MPI::Datatype", HandleKind::Datatype),
    ("MPI::Errhandler", HandleKind::Errhandler),
    ("MPI::File", HandleKind::File),
    ("MPI::Group", HandleKind::Group),
    ("MPI::Info", HandleKind::Info),
    ("MPI::Op", HandleKind::Op),
    ("MPI::Request", HandleKind::Request),
    ("MPI::Prequest", HandleKind::Request),
    ("MPI::Grequest", HandleKind::Request),
    ("MPI::Win", HandleKind::Win),
    ("MPI::Status", HandleKind::Status),
];

/// The only member of the handles of `mpi_f08` (Open MPI v4.1.4, v5.0.7: ompi/mpi/fortran/use-mpi-f08/mod/mpi-f08-types.F90).
const F08_MEMBER: &str = "mpi_val";

/// The handle that a value holds; `None` where it holds none.
pub(crate) fn handle(context: &Context, raw: &Raw) -> Result<Option<i128>, Unknown> {
    let mut type_ = raw.type_.clone();
    for _ in 0..MOST_HOPS {
        let Type::Die(die) = &type_ else { return Ok(None) };
        match die.tag() {
            Some(
                dw::DW_TAG_const_type
                | dw::DW_TAG_volatile_type
                | dw::DW_TAG_restrict_type
                | dw::DW_TAG_atomic_type
                | dw::DW_TAG_typedef,
            ) => {}
            Some(dw::DW_TAG_structure_type | dw::DW_TAG_class_type) => {
                let die = die.completed(&context.files).unwrap_or_else(|| die.clone());
                let Some(name) = die.qualified_name() else { return Ok(None) };
                let held = &raw.held;
                if let Some((_, kind)) = CLASSES.iter().find(|(known, _)| *known == name) {
                    if *kind == HandleKind::Status {
                        return Ok(None);
                    }
                    // The member's name follows that of the kind's type in C.
                    let inner = member(context, &die, held, &kind.c_type().to_lowercase())?;
                    let inner = inner.ok_or_else(|| raw.of_type("has no handle"))?;
                    let number = inner.number_of(context)?;
                    let bytes = inner.type_.size(context, None)?;
                    let bits = u32::try_from(8 * bytes.clamp(0, 8)).unwrap_or(64);
                    return Ok(Some(number & ((1_i128 << bits) - 1)));
                }
                // Compilers of Fortran write names in lower or upper case. Names alone prove little: the members must fit.
                let name = die.name().unwrap_or_default().to_lowercase();
                let known = HandleKind::listed().any(|kind| kind.c_type().to_lowercase() == name);
                let own = own_members(context, &die, 2);
                let [only] = own.as_slice() else { return Ok(None) };
                if !known || only.to_lowercase() != F08_MEMBER {
                    return Ok(None);
                }
                let inner = member(context, &die, held, only)?;
                return inner.map(|inner| inner.number_of(context)).transpose();
            }
            _ => return Ok(None),
        }
        type_ = Type::of(die);
    }
    Ok(None)
}
