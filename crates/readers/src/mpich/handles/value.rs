//! What the value of a C handle stands for.

use super::super::handle_value::{HandleValue, ObjectKind, Place};
use super::{HandleReader, predefined};
use crate::ReaderError;
use model::HandleKind;
use target::address::TargetAddr;

/// An object that a handle names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Object {
    /// The value that MPICH gives the handle inside the library.
    pub value: HandleValue,
    /// Where it lies; `None`: a predefined one whose object was not found.
    pub at: Option<TargetAddr>,
    /// Its name in mpi.h.
    pub constant: Option<&'static str>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A null handle, and its name.
    Null(&'static str),
    /// An object that is in use.
    Live(Object),
    /// What was an object and is free again; why that is known.
    Freed(String),
    /// No object of the kind, and why.
    Invalid(String),
}

/// Predefined handles of the ABI of MPI 5 are below this (src/binding/abi/mpi_abi_util.h, v5.0.1).
pub const ABI_PREDEFINED: u64 = 0x1000;

/// The tables of datatypes are looked for in so many bytes of each part of the library's variables.
const MAX_TABLES: u64 = 64 << 20;

/// The kind that MPICH's objects have for a kind of handles; `None` for files, which ROMIO has, and statuses.
pub const fn object_kind(kind: HandleKind) -> Option<ObjectKind> {
    Some(match kind {
        HandleKind::Comm => ObjectKind::Comm,
        HandleKind::Datatype => ObjectKind::Datatype,
        HandleKind::Errhandler => ObjectKind::Errhandler,
        HandleKind::Group => ObjectKind::Group,
        HandleKind::Info => ObjectKind::Info,
        // A matched message is the request of its probe.
        HandleKind::Message | HandleKind::Request => ObjectKind::Request,
        HandleKind::Op => ObjectKind::Op,
        HandleKind::Session => ObjectKind::Session,
        HandleKind::Win => ObjectKind::Win,
        HandleKind::File | HandleKind::Status => return None,
    })
}

/// What a C handle of that kind means.
///
/// # Errors
/// Where memory that decides it cannot be read.
pub fn meaning(reader: &HandleReader<'_>, kind: HandleKind, raw: u64) -> Result<Meaning, ReaderError> {
    if reader.process.abi {
        return of_abi(reader, kind, raw);
    }
    match integer(raw) {
        Some(value) => of_integer(reader, kind, value),
        None => Ok(Meaning::Invalid(format!("{raw:#x} has more than the 32 bits of this MPI's handles"))),
    }
}

/// A handle of 32 bits, also one that was widened with its sign.
fn integer(raw: u64) -> Option<HandleValue> {
    let value = raw as u32;
    let widened = i64::from(value as i32) as u64;
    (raw == u64::from(value) || raw == widened).then_some(HandleValue(value))
}

/// What an integer handle of that kind means.
///
/// # Errors
/// As [`meaning`].
pub fn of_integer(reader: &HandleReader<'_>, kind: HandleKind, value: HandleValue) -> Result<Meaning, ReaderError> {
    let named = predefined::by_value(kind, value).filter(|named| {
        named.name != predefined::ERRORS_ABORT || reader.process.library.series().is_none_or(|series| series >= (4, 0))
    });
    if let Some(named) = named.filter(|_| value.place() == Place::Invalid) {
        return Ok(Meaning::Null(named.name));
    }
    let Some(wanted) = object_kind(kind) else {
        return Ok(Meaning::Invalid(format!("{:#x} is an integer", value.0)));
    };
    match value.kind() {
        Some(found) if found == wanted => {}
        Some(found) => return Ok(Meaning::Invalid(format!("{:#x} {}", value.0, other(reader, found, value)))),
        None => return Ok(Meaning::Invalid(format!("{:#x} is not an MPICH handle", value.0))),
    }
    let constant = named.map(|named| named.name).or_else(|| predefined::datatype_name(value));
    if let Some(at) = reader.process.pools.address_of(reader.target, value) {
        return Ok(match freed(reader, wanted, value, at)? {
            Some(why) => Meaning::Freed(why),
            None => Meaning::Live(Object { value, at: Some(at), constant }),
        });
    }
    if constant.is_some() {
        return Ok(Meaning::Live(Object { value, at: None, constant }));
    }
    let known = reader.process.pools.of(wanted).any(|pool| pool.verified);
    let unread = if reader.process.pools.unread > 0 { ", as far as the library's memory can be read" } else { "" };
    Ok(Meaning::Invalid(match value.place() {
        Place::Invalid => format!("{:#x} stands for no object", value.0),
        _ if known => format!("the library has no {} with the handle {:#x}{unread}", noun(wanted), value.0),
        _ => format!("the library has made no {} yet{unread}", noun(wanted)),
    }))
}

/// What a value is that has the bits of another kind than was asked for.
fn other(reader: &HandleReader<'_>, kind: ObjectKind, value: HandleValue) -> String {
    if let Some(name) = predefined::name_of(value) {
        return format!("is {name}");
    }
    let public = HandleKind::all().find(|public| object_kind(*public) == Some(kind));
    let what = public.map_or("object of the library's own", HandleKind::c_type);
    let exists = reader.process.pools.address_of(reader.target, value).is_some();
    if exists { format!("is an {what}") } else { format!("has the bits of an {what}, and there is none") }
}

/// What a pointer of the ABI of MPI 5 means.
fn of_abi(reader: &HandleReader<'_>, kind: HandleKind, raw: u64) -> Result<Meaning, ReaderError> {
    if raw < ABI_PREDEFINED {
        let value = match predefined::by_abi(kind, raw) {
            Some(named) => Some(HandleValue(named.value)),
            None if kind == HandleKind::Datatype => {
                predefined::datatype_of_abi(raw).map(|value| with_size(reader, value))
            }
            None => None,
        };
        return match value {
            Some(value) => of_integer(reader, kind, value),
            None => Ok(Meaning::Invalid(match predefined::name_of_abi(raw) {
                Some(name) => format!("{raw:#x} is {name}"),
                None => format!("{raw:#x} is none of the {}s that MPI 5 predefines", kind.noun()),
            })),
        };
    }
    let at = TargetAddr::new(raw);
    let nothing = || Meaning::Invalid(format!("no MPI object is at {at} (never set, or freed and overwritten)"));
    let value = match reader.target.read_uint(at, 4) {
        Ok(value) => HandleValue(u32::try_from(value).unwrap_or(0)),
        Err(error) if error.is_left_out() => return Err(error.into()),
        Err(_) => return Ok(nothing()),
    };
    if reader.process.pools.address_of(reader.target, value) != Some(at) {
        return Ok(nothing());
    }
    of_integer(reader, kind, value)
}

/// The handle of a predefined datatype with its size.
fn with_size(reader: &HandleReader<'_>, value: HandleValue) -> HandleValue {
    if value.place() != Place::Builtin {
        return value;
    }
    let known = predefined_datatypes(reader);
    known.iter().find(|known| known.0 & 0xffff_00ff == value.0).copied().unwrap_or(value)
}

/// The handles of predefined datatypes that the library's table of them has, read once; none before 5.0.
pub fn predefined_datatypes<'r>(reader: &'r HandleReader<'_>) -> &'r [HandleValue] {
    reader.datatypes.get_or_init(|| datatype_handles(reader))
}

/// The handles of predefined datatypes, from the library's table in which each stands beside that of the type which the
/// library uses in its place, of the same size and number (`MPIR_Internal_types`, src/include/mpir_datatype.h, v5.0.1).
fn datatype_handles(reader: &HandleReader<'_>) -> Vec<HandleValue> {
    const CHUNK: u64 = 1 << 20;
    let abi = reader.target.abi();
    let mut found: Vec<HandleValue> = Vec::new();
    for range in &reader.process.pools.ranges {
        for offset in (0..range.len.min(MAX_TABLES)).step_by(CHUNK as usize) {
            let len = usize::try_from((range.len - offset).min(CHUNK)).unwrap_or(0);
            let Ok(bytes) = reader.target.read_bytes(range.start.wrapping_add(offset), len) else { continue };
            let words: Vec<u32> = bytes.chunks_exact(4).map(|word| abi.uint(word) as u32).collect();
            for pair in words.windows(2) {
                let same = pair[1] & 0xff80_ffff == pair[0] | 0x0080_0000;
                let value = HandleValue(pair[0]);
                let datatype =
                    pair[0] & 0xffff_0000 == 0x4c00_0000 && same && predefined::datatype_name(value).is_some();
                if datatype && found.len() < 256 && !found.contains(&value) {
                    found.push(value);
                }
            }
        }
    }
    found
}

/// Why the object at `at` is not in use any more; `None` where it is.
fn freed(
    reader: &HandleReader<'_>,
    kind: ObjectKind,
    value: HandleValue,
    at: TargetAddr,
) -> Result<Option<String>, ReaderError> {
    if value.place() == Place::Builtin {
        return Ok(None);
    }
    if reader.is_free(kind, at) {
        return Ok(Some("it is among the library's free objects: freed, or not yet made".to_owned()));
    }
    let count = references(reader, at)?;
    if count <= 0 && is_counted(kind) {
        return Ok(Some(format!("its memory has been given back (reference count {count})")));
    }
    Ok(None)
}

/// Whether the library counts who uses the objects of a kind: not info objects (src/mpi/info/infoutil.c, v4.0.2), nor
/// sessions (`MPII_Init_thread`, src/mpi/init/mpir_init.c, v4.0.2; `MPIR_Session_create`, src/mpi/session/session_util.c,
/// v4.3.2), nor ch4's windows (src/mpid/ch4/src/mpidig_win.c, v4.0.2).
pub const fn is_counted(kind: ObjectKind) -> bool {
    !matches!(kind, ObjectKind::Info | ObjectKind::Session | ObjectKind::Win)
}

/// How many times the library counts the object at `at` as used.
///
/// # Errors
/// Where it cannot be read.
pub fn references(reader: &HandleReader<'_>, at: TargetAddr) -> Result<i32, ReaderError> {
    let slot = reader.shapes.header.references;
    Ok(slot.read_uint(reader.target, at)? as u32 as i32)
}

/// The value that the application's variable has.
pub fn c_value(abi: bool, kind: HandleKind, object: &Object) -> u64 {
    if !abi {
        return u64::from(object.value.0);
    }
    let named = predefined::by_value(kind, object.value).map(|named| u64::from(named.abi));
    let datatype = || predefined::datatype_abi(object.value).map(u64::from);
    let named = if kind == HandleKind::Datatype { named.or_else(datatype) } else { named };
    named.or(object.at.map(TargetAddr::get)).unwrap_or_default()
}

/// What the objects of a kind are called.
pub const fn noun(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Comm => "communicator",
        ObjectKind::Group => "group",
        ObjectKind::Datatype => "datatype",
        ObjectKind::File => "file",
        ObjectKind::Errhandler => "error handler",
        ObjectKind::Op => "operator",
        ObjectKind::Info => "info object",
        ObjectKind::Win => "window",
        ObjectKind::Keyval => "keyval",
        ObjectKind::Attr => "attribute",
        ObjectKind::Request => "request",
        ObjectKind::Vconn => "connection",
        ObjectKind::GrequestClass => "class of generalized requests",
        ObjectKind::Session => "session",
        ObjectKind::Internal => "stream",
    }
}
