//! Whether there is an object of a kind at an address.

use super::freed::{self, Remains};
use super::kinds::Kind;
use super::{HandleReader, table};
use crate::ReaderError;
use crate::record::shapes;
use model::HandleKind;
use target::address::TargetAddr;
use target::{TargetError, printable};

/// What stands at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The null handle of the kind.
    Null,
    /// An object of the kind.
    Live,
    /// What was one.
    Freed(Remains),
    /// No object of the kind, and what instead.
    Invalid(String),
}

shapes! {
    /// A class of objects.
    Class = ["opal_class_t"] { name: "cls_name", parent: "cls_parent" };
    /// An object that is counted.
    Counted = ["opal_object_t"] { references: "obj_reference_count" };
}

/// Classes derive from one another at most this deep; Open MPI's own are four deep.
const MAX_DEPTH: usize = 16;

/// Looks at the object at `addr`.
///
/// # Errors
/// Where it cannot be told: a core file or recording lacks the memory, or a structure is not known.
pub fn find(reader: &HandleReader<'_>, kind: &Kind, addr: TargetAddr) -> Result<Found, ReaderError> {
    if addr.is_null() {
        return Ok(Found::Invalid(
            "the null pointer, which is not an MPI handle (a variable that was never set?)".to_owned(),
        ));
    }
    if reader.symbol(kind.null)? == Some(addr) {
        return Ok(Found::Null);
    }
    if !is_aligned(reader, addr) {
        return Ok(Found::Invalid(format!("{addr} is not the address of an object (never set, or garbage)")));
    }
    let unreadable = |error: TargetError| match error {
        TargetError::Fault { .. } => Ok(Found::Invalid(format!("{addr} is not mapped (never set, or garbage)"))),
        other => Err(ReaderError::from(other)),
    };
    let class = match super::super::communicators::class_of(reader.target, reader.shapes, addr) {
        Ok(class) => class,
        Err(error) => return unreadable(error),
    };
    let wanted = reader.symbol(&format!("{}_class", kind.type_name))?;
    let derived = match derives(reader, class, wanted, kind.type_name) {
        Ok(derived) => derived,
        // What malloc wrote over the class can look like an address that a core file does not tell of.
        Err(error) => {
            return match freed::remains(reader, kind, addr) {
                Ok(Some(remains)) => Ok(Found::Freed(remains)),
                _ => Err(error),
            };
        }
    };
    match derived {
        Derived::Yes => {}
        // Predefined datatypes are made by the compiler, as objects of the base class (OMPI_DATATYPE_INIT_PREDEFINED,
        // ompi/datatype/ompi_datatype_internal.h, v4.1.4 and v5.0.7).
        Derived::No(name) if kind.kind == HandleKind::Datatype && name == "opal_datatype_t" => {}
        Derived::No(name) => {
            let instead = super::kinds::KINDS.iter().find(|other| other.type_name == name);
            let what = instead.map_or_else(
                || format!("an object of the class {name}"),
                |other| format!("an {}", other.kind.c_type()),
            );
            return Ok(Found::Invalid(format!("{what} stands at {addr}")));
        }
        Derived::NoClass => {
            if let Some(remains) = freed::remains(reader, kind, addr)? {
                return Ok(Found::Freed(remains));
            }
            return Ok(Found::Invalid(format!("no MPI object is at {addr} (never set, or freed and overwritten)")));
        }
    }
    let count = references(reader, addr)?;
    if count <= 0 {
        return Ok(freed(format!("its memory has been given back (reference count {count})")));
    }
    if kind.registered {
        let index = table::stated_index(reader, kind, addr)?;
        let other = table::object_of(reader, kind, index);
        // What the table cannot tell is no reason to doubt the object.
        if index >= 0 && other.is_ok_and(|found| found != Some(addr)) {
            return Ok(freed(format!("slot {index} of the library's table is no longer its own")));
        }
    }
    Ok(Found::Live)
}

/// How many times the library counts the object at `addr` as used.
///
/// # Errors
/// Where it cannot be read.
pub fn references(reader: &HandleReader<'_>, addr: TargetAddr) -> Result<i32, ReaderError> {
    let count = Counted::resolve(reader.layouts)?.references;
    Ok(count.read_uint(reader.target, addr)? as u32 as i32)
}

fn freed(detail: String) -> Found {
    Found::Freed(Remains { detail, name: None })
}

/// Whether an object with pointers in it can stand there.
fn is_aligned(reader: &HandleReader<'_>, addr: TargetAddr) -> bool {
    addr.get().is_multiple_of(reader.target.abi().pointer_width.bytes())
}

enum Derived {
    Yes,
    No(String),
    NoClass,
}

/// Whether the class at `class` is the wanted one or derives from it.
fn derives(
    reader: &HandleReader<'_>,
    class: TargetAddr,
    wanted: Option<TargetAddr>,
    type_name: &str,
) -> Result<Derived, ReaderError> {
    if wanted == Some(class) && !class.is_null() {
        return Ok(Derived::Yes);
    }
    let shape = Class::resolve(reader.layouts)?;
    let mut own_name = None;
    let mut at = class;
    for _ in 0..MAX_DEPTH {
        if at.is_null() || !is_aligned(reader, at) {
            break;
        }
        if wanted == Some(at) {
            return Ok(Derived::Yes);
        }
        let Some((name, parent)) = class_at(reader, &shape, at)? else { break };
        if wanted.is_none() && name == type_name {
            return Ok(Derived::Yes);
        }
        own_name.get_or_insert(name);
        at = parent;
    }
    Ok(own_name.map_or(Derived::NoClass, Derived::No))
}

/// Name and parent of a class; `None` where no class stands there.
fn class_at(
    reader: &HandleReader<'_>,
    shape: &Class,
    at: TargetAddr,
) -> Result<Option<(String, TargetAddr)>, ReaderError> {
    let read = crate::record::Record::owned(reader.target, at, shape.size);
    let record = match read {
        Ok(record) => record,
        Err(error) if error.is_left_out() => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    let name = match record.text(shape.name, 64, reader.target) {
        Ok(name) => name,
        Err(error) if error.is_left_out() => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    // The names of classes are identifiers; what is none of that is no class.
    let identifier = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let plausible = !name.is_empty() && name.iter().all(identifier);
    Ok(plausible.then(|| (printable(&name), record.pointer(shape.parent))))
}
