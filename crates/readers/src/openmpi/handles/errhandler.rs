//! Error handlers (ompi/errhandler/errhandler.h, v4.1.4 and v5.0.7).

use super::{Depth, HandleReader};
use crate::record::{Record, Slot, shapes};
use crate::references::Refers;
use crate::{ReaderError, functions};
use model::handle::{self, Fact, Language};
use model::{Handle, HandleKind, Known};
use target::address::TargetAddr;
use target::printable;

shapes! {
    /// Error handlers. Each function is set for its own kind of object only.
    Errhandler = ["ompi_errhandler_t"] {
        name: "eh_name",
        object: "eh_mpi_object_type",
        language: "eh_lang",
        comm: "eh_comm_fn",
        file: "eh_file_fn",
        win: "eh_win_fn",
    } optional {
        session: "eh_instance_fn",
    };
}

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// Members that point to the error handler of an object.
const ATTACHED: &[(HandleKind, &str)] = &[
    (HandleKind::Comm, "error_handler"),
    (HandleKind::File, "error_handler"),
    (HandleKind::Session, "error_handler"),
    (HandleKind::Win, "error_handler"),
];

/// What functions are written in.
const LANGUAGES: &[(&str, Language)] = &[
    ("OMPI_ERRHANDLER_LANG_C", Language::C),
    ("OMPI_ERRHANDLER_LANG_CXX", Language::Cxx),
    ("OMPI_ERRHANDLER_LANG_FORTRAN", Language::Fortran),
];

impl Errhandler {
    /// The kind of objects that a handler is for, and the member with its function; none for a predefined one.
    fn object_of(&self, reader: &HandleReader<'_>, object: u64) -> Option<Option<(HandleKind, Option<Slot>)>> {
        let kinds = [
            ("OMPI_ERRHANDLER_TYPE_PREDEFINED", None),
            ("OMPI_ERRHANDLER_TYPE_COMM", Some((HandleKind::Comm, Some(self.comm)))),
            ("OMPI_ERRHANDLER_TYPE_FILE", Some((HandleKind::File, Some(self.file)))),
            ("OMPI_ERRHANDLER_TYPE_WIN", Some((HandleKind::Win, Some(self.win)))),
            ("OMPI_ERRHANDLER_TYPE_INSTANCE", Some((HandleKind::Session, self.session))),
        ];
        let known = |name: &str| reader.layouts.constant(name).is_ok_and(|value| value as u64 == object);
        kinds.into_iter().find(|(name, _)| known(name)).map(|(_, of)| of)
    }
}

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = Errhandler::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, addr, shape.size)?;
    let object = record.uint(shape.object);
    let Some(of) = shape.object_of(reader, object) else {
        return Err(ReaderError::Damaged(format!("the error handler at {addr} is for objects of the kind {object}")));
    };
    // Only the standard's own have a name; their functions are the library's, not the user's. Releases without sessions
    // have no function for those.
    let function = of.and_then(|(_, slot)| slot);
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    handle.name = Some(name.clone()).filter(|name| !name.is_empty());
    handle.predefined = Some(function.is_none());
    handle.freed_leaves_no_mark(function.is_none(), "MPI_Errhandler_free", "objects");
    let address = function.map_or(TargetAddr::NULL, |slot| record.pointer(slot));
    let errhandler = handle::Errhandler {
        object: handle::Errhandler::object(of.map(|(kind, _)| kind)),
        function: functions::at(reader.target, address),
        language: language(reader, record.uint(shape.language)),
    };
    handle.summary = if function.is_some() { errhandler.summary(address) } else { name };
    errhandler.tell(handle);
    if depth == Depth::Full {
        reader.referrers("attached_to", ATTACHED, &[addr], &mut handle.problems).tell("attached_to", handle);
    }
    Ok(())
}

fn language(reader: &HandleReader<'_>, number: u64) -> Known<Language> {
    let known = |name: &str| reader.layouts.constant(name).is_ok_and(|value| value as u64 == number);
    let found = LANGUAGES.iter().find(|(name, _)| known(name)).map(|(_, language)| *language);
    found.ok_or_else(|| format!("the library has no language with the number {number}").into())
}
