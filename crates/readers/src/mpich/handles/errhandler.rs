//! Error handlers (pmodels/mpich, src/include/mpir_errhandler.h, v3.4 to v5.0).

use serde_json::Value;

use super::super::handle_value::{HandleValue, ObjectKind};
use super::value::Object;
use super::{Depth, HandleReader, NO_OBJECT, file};
use crate::ReaderError;
use crate::record::{Record, shape};
use model::{Handle, HandleKind};
use target::address::TargetAddr;

/// MPI_ERRORS_ARE_FATAL: the one of objects that have none of their own.
pub const DEFAULT: HandleValue = HandleValue(0x5400_0000);

shape!(
    /// Error handlers. The function is a union of functions, whatever the language.
    Errhandler = ["MPIR_Errhandler"] { kind: "kind", function: "errfn" }
    optional {
        language: "language",
    }
);

/// Members that point to the error handler of an object.
const ATTACHED: &[(HandleKind, &str)] =
    &[(HandleKind::Comm, "errhandler"), (HandleKind::Session, "errhandler"), (HandleKind::Win, "errhandler")];

/// The languages (`MPIR_Lang_t`, src/include/mpir_misc.h; `MPIR_LANG__X` is a function in C with a state of its own).
pub const LANGUAGES: &[(&str, &str)] = &[
    ("MPIR_LANG__C", "C"),
    ("MPIR_LANG__X", "C"),
    ("MPIR_LANG__CXX", "C++"),
    ("MPIR_LANG__FORTRAN", "Fortran"),
    ("MPIR_LANG__FORTRAN90", "Fortran"),
];

/// The word for a language's number.
pub fn language(reader: &HandleReader<'_>, number: i64) -> Option<&'static str> {
    LANGUAGES.iter().find(|(name, _)| reader.layouts.constant(name).ok() == Some(number)).map(|(_, word)| *word)
}

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let mut of = None;
    if let Some(name) = object.constant {
        handle.name = Some(name.to_owned());
        handle.freed = Some(false);
        name.clone_into(&mut handle.summary);
        handle.fact("object", "any");
        // Their functions are the library's, not the user's.
        handle.fact("function", Value::Null);
        handle.fact("language", "C");
    } else {
        let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
        let shape = Errhandler::resolve(reader.layouts)?;
        let mut buffer = Vec::new();
        let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
        let number = record.uint(shape.kind);
        let kind = u32::try_from(number).ok().and_then(ObjectKind::from_number);
        of = kind;
        let word = match kind {
            Some(ObjectKind::Comm) => "communicator",
            Some(ObjectKind::File) => "file",
            Some(ObjectKind::Win) => "window",
            Some(ObjectKind::Session) => "session",
            _ => {
                let what = format!("the error handler at {at} is for objects of the kind {number}");
                return Err(ReaderError::Damaged(what));
            }
        };
        handle.fact("object", word);
        let reason = "MPI_Errhandler_free takes it away at once, or leaves no mark while objects still use it";
        handle.unknown.insert("freed".to_owned(), reason.into());
        let address = reader.target.read_pointer(record.address_of(shape.function))?;
        let function = reader.function(address);
        let text = function.get("symbol").and_then(Value::as_str).map(str::to_owned);
        handle.summary =
            format!("{word} error handler {}", text.unwrap_or_else(|| format!("the function at {address}")));
        handle.fact("function", function);
        match shape.language.map(|slot| record.int(slot)) {
            Some(number) => match language(reader, number) {
                Some(word) => handle.fact("language", word),
                None => handle.unknown("language", format!("the library has no language with the number {number}")),
            },
            None => handle.unknown("language", "this release does not keep it"),
        }
    }
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
    (at, of): (TargetAddr, Option<ObjectKind>),
    handle: &mut Handle,
) {
    let files = matches!(of, None | Some(ObjectKind::File)) && file::exist(reader);
    if files && of.is_some() {
        handle.unknown("attached_to", file::NO_LIST);
        return;
    }
    // Objects that were given none have the default one (src/mpi/errhan/errhan_impl.c, v4.0.2).
    let default = object.value == DEFAULT;
    let wanted = [at, TargetAddr::new(0)];
    reader.referrers("attached_to", ATTACHED, &wanted[..if default { 2 } else { 1 }], handle);
    if files {
        handle.unknown.insert("attached_to.files".to_owned(), file::NO_LIST.into());
    }
}
