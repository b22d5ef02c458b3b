//! Statuses, which lie in the application's memory.

use super::HandleReader;
use crate::record::{Record, shapes};
use crate::status::{self, error_class, ignored, unknown};
use model::Handle;
use target::address::TargetAddr;

shapes! {
    /// A status (`ompi_status_public_t`, ompi/include/mpi.h.in, v4.1.4 and v5.0.7). Fortran's statuses are the same bytes.
    Status = ["ompi_status_public_t"] {
        source: "MPI_SOURCE",
        tag: "MPI_TAG",
        error: "MPI_ERROR",
        cancelled: "_cancelled",
        bytes: "_ucount",
    };
}

/// The status at an address.
pub fn at(reader: &HandleReader<'_>, addr: TargetAddr) -> Handle {
    if addr.is_null() {
        // MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE (ompi/include/mpi.h.in, v4.1.4 and v5.0.7).
        return ignored(addr);
    }
    let read = Status::resolve(reader.layouts)
        .map_err(|error| error.to_string())
        .and_then(|shape| reader.target.read_bytes(addr, shape.size).map_err(|error| error.to_string()));
    match read {
        Ok(bytes) => of_bytes(reader, &bytes, Some(addr)),
        Err(detail) => unknown(Some(addr), detail),
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
    let [source, tag, error, cancelled] =
        [shape.source, shape.tag, shape.error, shape.cancelled].map(|slot| record.int(slot));
    // Only the library writes this member, and only from its own flags or those of MPI_Status_set_cancelled.
    let garbage = (!(0..=1).contains(&cancelled))
        .then(|| format!("its member _cancelled is {cancelled} (never set, or garbage)"));
    let (error_name, bytes) = (error_name(reader, error), record.uint(shape.bytes));
    let status = status::Status { source, tag, error, error_name, bytes, cancelled: cancelled != 0 };
    status.described(reader.layouts, addr, garbage)
}

/// The name of an error class; `None` where the standard has no such class.
pub fn error_name(reader: &HandleReader<'_>, error: i64) -> Option<&'static str> {
    error_class(reader.layouts, error)
}
