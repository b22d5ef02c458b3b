//! Statuses, which lie in the application's memory.

use super::HandleReader;
use crate::address::TargetAddr;
use crate::model::{Handle, HandleKind, HandleState};
use crate::readers::record::{Record, shape};

shape!(
    /// A status (`ompi_status_public_t`, ompi/include/mpi.h.in, v4.1.4 and v5.0.7).
    Status = ["ompi_status_public_t"] {
        source: "MPI_SOURCE",
        tag: "MPI_TAG",
        error: "MPI_ERROR",
        cancelled: "_cancelled",
        bytes: "_ucount",
    }
);

/// The status at an address.
pub fn at(reader: &HandleReader<'_>, addr: TargetAddr) -> Handle {
    let read = Status::resolve(reader.layouts)
        .map_err(|error| error.to_string())
        .and_then(|shape| reader.target.read_bytes(addr, shape.size).map_err(|error| error.to_string()));
    match read {
        Ok(bytes) => of_bytes(reader, &bytes, Some(addr)),
        Err(detail) => Handle {
            kind: HandleKind::Status,
            handle: Some(addr.to_string()),
            state: HandleState::Unknown,
            summary: format!("unknown MPI_Status: {detail}"),
            detail: Some(detail),
            ..Handle::default()
        },
    }
}

/// The status with these bytes.
pub fn of_bytes(reader: &HandleReader<'_>, bytes: &[u8], addr: Option<TargetAddr>) -> Handle {
    let mut handle =
        Handle { kind: HandleKind::Status, handle: addr.map(|addr| addr.to_string()), ..Handle::default() };
    match Status::resolve(reader.layouts) {
        Ok(shape) => {
            let record = Record::new(addr.unwrap_or_default(), bytes, reader.target.abi());
            handle.state = HandleState::Live;
            handle.fact("source", record.int(shape.source));
            handle.fact("tag", record.int(shape.tag));
            handle.fact("error", record.int(shape.error));
            handle.fact("cancelled", record.uint(shape.cancelled) != 0);
            handle.fact("bytes", record.uint(shape.bytes));
            handle.summary = format!("from {}, tag {}", record.int(shape.source), record.int(shape.tag));
        }
        Err(error) => {
            handle.detail = Some(error.to_string());
            handle.summary = format!("unknown MPI_Status: {error}");
        }
    }
    handle
}
