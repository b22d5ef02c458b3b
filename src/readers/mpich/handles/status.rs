//! Statuses, which lie in the application's memory: 20 bytes in MPICH's C interface, 32 in the ABI of MPI 5
//! (pmodels/mpich, src/include/mpi.h.in, v3.4 to v5.0; src/binding/abi/mpi_abi.h and src/include/mpir_status.h, v5.0.1).

use super::HandleReader;
use crate::address::TargetAddr;
use crate::layouts::Layouts;
use crate::model::{Handle, HandleKind, HandleState};
use crate::readers::record::{Record, shape};

shape!(
    /// A status. Fortran's statuses are the same bytes.
    Status = ["MPI_Status"] { source: "MPI_SOURCE", tag: "MPI_TAG", error: "MPI_ERROR" }
    optional {
        low: "count_lo",
        high: "count_hi_and_cancelled",
        reserved: "MPI_internal",
    }
);

/// The error classes of the standard by their numbers (MPICH's and those of the ABI are in the constants of its release).
const ERROR_CLASSES: &[&str] = &[
    "MPI_ERR_ACCESS",
    "MPI_ERR_AMODE",
    "MPI_ERR_ARG",
    "MPI_ERR_ASSERT",
    "MPI_ERR_BAD_FILE",
    "MPI_ERR_BASE",
    "MPI_ERR_BUFFER",
    "MPI_ERR_COMM",
    "MPI_ERR_CONVERSION",
    "MPI_ERR_COUNT",
    "MPI_ERR_DIMS",
    "MPI_ERR_DISP",
    "MPI_ERR_DUP_DATAREP",
    "MPI_ERR_FILE",
    "MPI_ERR_FILE_EXISTS",
    "MPI_ERR_FILE_IN_USE",
    "MPI_ERR_GROUP",
    "MPI_ERR_INFO",
    "MPI_ERR_INFO_KEY",
    "MPI_ERR_INFO_NOKEY",
    "MPI_ERR_INFO_VALUE",
    "MPI_ERR_INTERN",
    "MPI_ERR_IN_STATUS",
    "MPI_ERR_IO",
    "MPI_ERR_KEYVAL",
    "MPI_ERR_LOCKTYPE",
    "MPI_ERR_NAME",
    "MPI_ERR_NOT_SAME",
    "MPI_ERR_NO_MEM",
    "MPI_ERR_NO_SPACE",
    "MPI_ERR_NO_SUCH_FILE",
    "MPI_ERR_OP",
    "MPI_ERR_OTHER",
    "MPI_ERR_PENDING",
    "MPI_ERR_PORT",
    "MPI_ERR_PROC_ABORTED",
    "MPI_ERR_QUOTA",
    "MPI_ERR_RANK",
    "MPI_ERR_READ_ONLY",
    "MPI_ERR_REQUEST",
    "MPI_ERR_RMA_ATTACH",
    "MPI_ERR_RMA_CONFLICT",
    "MPI_ERR_RMA_FLAVOR",
    "MPI_ERR_RMA_RANGE",
    "MPI_ERR_RMA_SHARED",
    "MPI_ERR_RMA_SYNC",
    "MPI_ERR_ROOT",
    "MPI_ERR_SERVICE",
    "MPI_ERR_SESSION",
    "MPI_ERR_SIZE",
    "MPI_ERR_SPAWN",
    "MPI_ERR_TAG",
    "MPI_ERR_TOPOLOGY",
    "MPI_ERR_TRUNCATE",
    "MPI_ERR_TYPE",
    "MPI_ERR_UNKNOWN",
    "MPI_ERR_UNSUPPORTED_DATAREP",
    "MPI_ERR_UNSUPPORTED_OPERATION",
    "MPI_ERR_VALUE_TOO_LARGE",
    "MPI_ERR_WIN",
];

/// The bits of an error code that are its class (`ERROR_CLASS_MASK`, src/include/mpir_err.h, v4.0.2).
const ERROR_CLASS: i64 = 0x7f;

/// The status at an address.
pub fn at(reader: &HandleReader<'_>, addr: TargetAddr) -> Handle {
    // MPI_STATUS_IGNORE is (MPI_Status *)1, in the ABI of MPI 5 a null pointer.
    if addr.get() == u64::from(!reader.process.abi) {
        return Handle {
            kind: HandleKind::Status,
            handle: Some(addr.to_string()),
            name: Some("MPI_STATUS_IGNORE".to_owned()),
            predefined: Some(true),
            state: HandleState::Null,
            summary: "MPI_STATUS_IGNORE".to_owned(),
            ..Handle::default()
        };
    }
    let read = Status::resolve(reader.layouts)
        .map_err(|error| error.to_string())
        .and_then(|shape| reader.target.read_bytes(addr, shape.size).map_err(|error| error.to_string()));
    match read {
        Ok(bytes) => of_bytes(reader, &bytes, Some(addr)),
        Err(detail) => unknown(Some(addr), detail),
    }
}

fn unknown(addr: Option<TargetAddr>, detail: String) -> Handle {
    Handle {
        kind: HandleKind::Status,
        handle: addr.map(|addr| addr.to_string()),
        state: HandleState::Unknown,
        summary: format!("unknown MPI_Status: {}", crate::readers::beginning(&detail)),
        detail: Some(detail),
        ..Handle::default()
    }
}

/// The status with these bytes; more bytes than a status has are left alone.
pub fn of_bytes(reader: &HandleReader<'_>, bytes: &[u8], addr: Option<TargetAddr>) -> Handle {
    let shape = match Status::resolve(reader.layouts) {
        Ok(shape) => shape,
        Err(error) => return unknown(addr, error.to_string()),
    };
    if bytes.len() < shape.size {
        return unknown(addr, format!("a status has {} bytes, these are {}", shape.size, bytes.len()));
    }
    let record = Record::new(addr.unwrap_or_default(), bytes, reader.target.abi());
    let [source, tag, error] = [shape.source, shape.tag, shape.error].map(|slot| record.int(slot));
    let (low, high) = match (shape.low, shape.high, shape.reserved) {
        (Some(low), Some(high), _) => (record.uint(low), record.uint(high)),
        // The first two reserved integers are the same two members.
        (_, _, Some(reserved)) => {
            let word = |index: usize| {
                let bytes = record.bytes(reserved).get(4 * index..4 * index + 4);
                bytes.map_or(0, |bytes| reader.target.abi().uint(bytes))
            };
            (word(0), word(1))
        }
        _ => return unknown(addr, "this release's members for the length are not known".to_owned()),
    };
    let (length, cancelled) = ((high >> 1) << 32 | low, high & 1 != 0);
    let mut handle = Handle {
        kind: HandleKind::Status,
        handle: addr.map(|addr| addr.to_string()),
        predefined: Some(false),
        state: HandleState::Live,
        ..Handle::default()
    };
    handle.fact("source", source);
    handle.fact("tag", tag);
    handle.fact("error", error);
    let error_name = error_name(reader.layouts, error);
    match error_name {
        Some(name) => handle.fact("error_name", name),
        None => handle.unknown(
            "error_name",
            "it is no error class of the standard: functions that complete one operation leave this member as it was",
        ),
    }
    handle.fact("bytes", length);
    handle.unknown("elements", "a status does not know the datatype");
    handle.fact("cancelled", cancelled);
    if let Some(detail) = garbage(reader, source, length) {
        handle.state = HandleState::Invalid;
        handle.summary = format!("not an MPI_Status: {detail}");
        handle.detail = Some(detail);
        return handle;
    }
    let constant = |name: &str| reader.layouts.constant(name).ok();
    let named = |value: i64, names: &[&str]| {
        let found = names.iter().find(|name| constant(name) == Some(value));
        found.map_or_else(|| value.to_string(), |name| (*name).to_owned())
    };
    let empty = constant("MPI_ANY_SOURCE") == Some(source) && constant("MPI_ANY_TAG") == Some(tag) && length == 0;
    handle.summary = if cancelled {
        "cancelled".to_owned()
    } else if empty {
        // What completing an inactive request gives (MPI-3.1, 3.7.3).
        "empty".to_owned()
    } else {
        let source = named(source, &["MPI_PROC_NULL", "MPI_ANY_SOURCE", "MPI_UNDEFINED"]);
        let tag = named(tag, &["MPI_ANY_TAG", "MPI_UNDEFINED"]);
        format!("from {source}, tag {tag}, {length} bytes")
    };
    if let Some(name) = error_name.filter(|_| error != 0) {
        handle.summary = format!("{}, {name}", handle.summary);
    }
    handle
}

/// The name of an error's class; `None` where the standard has no such class.
fn error_name(layouts: &Layouts, error: i64) -> Option<&'static str> {
    if error == 0 {
        return Some("MPI_SUCCESS");
    }
    // The bits above the class say where it happened.
    let class = if error > 0 { error & ERROR_CLASS } else { error };
    ERROR_CLASSES.iter().copied().find(|name| layouts.constant(name).is_ok_and(|value| value == class))
}

/// No address space has more bytes (x86-64 with pages in five levels), and so no message.
const MAX_LENGTH: u64 = 1 << 57;

/// Why no MPI function can have left these members so.
fn garbage(reader: &HandleReader<'_>, source: i64, length: u64) -> Option<String> {
    if length > MAX_LENGTH {
        return Some(format!("its length is {length} bytes (never set, or garbage)"));
    }
    let allowed = ["MPI_ANY_SOURCE", "MPI_PROC_NULL", "MPI_ROOT", "MPI_UNDEFINED"];
    let special = || allowed.iter().any(|name| reader.layouts.constant(name).is_ok_and(|value| value == source));
    (source < 0 && !special()).then(|| format!("its member MPI_SOURCE is {source} (never set, or garbage)"))
}
