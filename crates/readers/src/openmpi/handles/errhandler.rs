//! Error handlers (ompi/errhandler/errhandler.h, v4.1.4 and v5.0.7).

use super::{Depth, HandleReader};
use crate::ReaderError;
use crate::record::{Record, Slot, shape};
use model::{Handle, HandleKind};
use target::address::TargetAddr;
use target::printable;

shape!(
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
    }
);

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// Members that point to the error handler of an object.
const ATTACHED: &[(HandleKind, &str)] = &[
    (HandleKind::Comm, "error_handler"),
    (HandleKind::File, "error_handler"),
    (HandleKind::Session, "error_handler"),
    (HandleKind::Win, "error_handler"),
];

impl Errhandler {
    /// The word for the kind of objects that a handler is for, and the member with its function.
    fn object_of(&self, reader: &HandleReader<'_>, object: u64) -> Option<(&'static str, Option<Slot>)> {
        let kinds = [
            ("OMPI_ERRHANDLER_TYPE_PREDEFINED", "any", None),
            ("OMPI_ERRHANDLER_TYPE_COMM", "communicator", Some(self.comm)),
            ("OMPI_ERRHANDLER_TYPE_FILE", "file", Some(self.file)),
            ("OMPI_ERRHANDLER_TYPE_WIN", "window", Some(self.win)),
            ("OMPI_ERRHANDLER_TYPE_INSTANCE", "session", self.session),
        ];
        let known = |name: &str| reader.layouts.constant(name).is_ok_and(|value| value as u64 == object);
        kinds.into_iter().find(|(name, ..)| known(name)).map(|(_, word, slot)| (word, slot))
    }
}

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = Errhandler::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, addr, shape.size, &mut buffer)?;
    let object = record.uint(shape.object);
    let Some((word, slot)) = shape.object_of(reader, object) else {
        return Err(ReaderError::Damaged(format!("the error handler at {addr} is for objects of the kind {object}")));
    };
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    handle.name = Some(name.clone()).filter(|name| !name.is_empty());
    handle.predefined = Some(slot.is_none());
    handle.fact("object", word);
    handle.freed = slot.is_none().then_some(false);
    if slot.is_some() {
        let reason = "MPI_Errhandler_free takes it away at once, or leaves no mark while objects still use it";
        handle.unknown.insert("freed".to_owned(), reason.into());
    }
    let Some(slot) = slot else {
        // Only the standard's own have a name; their functions are the library's, not the user's.
        handle.summary = name;
        handle.fact("function", serde_json::Value::Null);
        return rest(reader, addr, depth, handle, &shape, &record);
    };
    let function = reader.function(record.pointer(slot));
    let text = function.get("symbol").and_then(|symbol| symbol.as_str()).map(str::to_owned);
    let text = text.unwrap_or_else(|| format!("the function at {}", record.pointer(slot)));
    handle.summary = format!("{word} error handler {text}");
    handle.fact("function", function);
    rest(reader, addr, depth, handle, &shape, &record)
}

fn rest(
    reader: &HandleReader<'_>,
    addr: TargetAddr,
    depth: Depth,
    handle: &mut Handle,
    shape: &Errhandler,
    record: &Record<'_>,
) -> Result<(), ReaderError> {
    let language = record.uint(shape.language);
    let words = [
        ("OMPI_ERRHANDLER_LANG_C", "C"),
        ("OMPI_ERRHANDLER_LANG_CXX", "C++"),
        ("OMPI_ERRHANDLER_LANG_FORTRAN", "Fortran"),
    ];
    let known = |name: &str| reader.layouts.constant(name).is_ok_and(|value| value as u64 == language);
    match words.iter().find(|(name, _)| known(name)) {
        Some((_, word)) => handle.fact("language", *word),
        None => handle.unknown("language", format!("the library has no language with the number {language}")),
    }
    if depth == Depth::Full {
        reader.referrers("attached_to", ATTACHED, addr, handle);
    }
    Ok(())
}
