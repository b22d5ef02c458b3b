//! Error handlers (pmodels/mpich, src/include/mpir_errhandler.h, v3.4 to v5.0).

use super::super::handle_value::{HandleValue, ObjectKind};
use super::value::Object;
use super::{Depth, HandleReader, NO_OBJECT, file};
use crate::record::{Record, shapes};
use crate::references::Refers;
use crate::{ReaderError, functions};
use model::handle::{self, Fact, Language};
use model::{Handle, HandleKind};
use target::address::TargetAddr;

/// MPI_ERRORS_ARE_FATAL: the one of objects that have none of their own.
pub const DEFAULT: HandleValue = HandleValue(0x5400_0000);

shapes! {
    /// Error handlers. The function is a union of functions, whatever the language.
    Errhandler = ["MPIR_Errhandler"] { kind: "kind", function: "errfn" } optional {
        language: "language",
    };
}

/// Members that point to the error handler of an object.
const ATTACHED: &[(HandleKind, &str)] =
    &[(HandleKind::Comm, "errhandler"), (HandleKind::Session, "errhandler"), (HandleKind::Win, "errhandler")];

/// The languages (`MPIR_Lang_t`, src/include/mpir_misc.h; `MPIR_LANG__X` is a function in C with a state of its own).
const LANGUAGES: &[(&str, Language)] = &[
    ("MPIR_LANG__C", Language::C),
    ("MPIR_LANG__X", Language::C),
    ("MPIR_LANG__CXX", Language::Cxx),
    ("MPIR_LANG__FORTRAN", Language::Fortran),
    ("MPIR_LANG__FORTRAN90", Language::Fortran),
];

/// The language with that number.
pub fn language(reader: &HandleReader<'_>, number: i64) -> Option<Language> {
    let known = LANGUAGES.iter().find(|(name, _)| reader.layouts.constant(name).ok() == Some(number));
    known.map(|(_, language)| *language)
}

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let mut of = None;
    handle.name = object.constant.map(str::to_owned);
    handle.freed_leaves_no_mark(object.constant.is_some(), "MPI_Errhandler_free", "objects");
    let errhandler = if let Some(name) = object.constant {
        name.clone_into(&mut handle.summary);
        // Their functions are the library's, not the user's.
        handle::Errhandler { object: handle::Errhandler::object(None), function: None, language: Ok(Language::C) }
    } else {
        let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
        let shape = Errhandler::resolve(reader.layouts)?;
        let record = Record::owned(reader.target, at, shape.size)?;
        let number = record.uint(shape.kind);
        of = match u32::try_from(number).ok().and_then(ObjectKind::from_number) {
            Some(ObjectKind::Comm) => Some(HandleKind::Comm),
            Some(ObjectKind::File) => Some(HandleKind::File),
            Some(ObjectKind::Win) => Some(HandleKind::Win),
            Some(ObjectKind::Session) => Some(HandleKind::Session),
            _ => {
                let what = format!("the error handler at {at} is for objects of the kind {number}");
                return Err(ReaderError::Damaged(what));
            }
        };
        let address = reader.target.read_pointer(record.address_of(shape.function))?;
        let number = shape.language.map(|slot| record.int(slot)).ok_or_else(|| "this release does not keep it".into());
        let errhandler = handle::Errhandler {
            object: handle::Errhandler::object(of),
            function: functions::at(reader.target, address),
            language: number.and_then(|number| {
                let none = || format!("the library has no language with the number {number}").into();
                language(reader, number).ok_or_else(none)
            }),
        };
        handle.summary = errhandler.summary(address);
        errhandler
    };
    errhandler.tell(handle);
    if depth == Depth::Full {
        match object.at {
            Some(at) => attached(reader, object, (at, of), handle),
            None => handle.unknown("attached_to", NO_OBJECT),
        }
    }
    Ok(())
}

/// Adds the objects that have the error handler at `at`, which is for objects of the kind `of`, or for any. Those of files, and predefined ones, may be of files, too.
fn attached(
    reader: &HandleReader<'_>,
    object: &Object,
    (at, of): (TargetAddr, Option<HandleKind>),
    handle: &mut Handle,
) {
    let files = matches!(of, None | Some(HandleKind::File)) && file::exist(reader);
    if files && of.is_some() {
        handle.unknown("attached_to", file::NO_LIST);
        return;
    }
    // Objects that were given none have the default one (src/mpi/errhan/errhan_impl.c, v4.0.2).
    let default = object.value == DEFAULT;
    let wanted = [at, TargetAddr::new(0)];
    let wanted = &wanted[..if default { 2 } else { 1 }];
    reader.referrers("attached_to", ATTACHED, wanted, &mut handle.problems).tell("attached_to", handle);
    if files {
        handle.unknown.insert("attached_to.files".to_owned(), file::NO_LIST.into());
    }
}
