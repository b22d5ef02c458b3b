//! Statuses, which lie in the application's memory: 20 bytes in MPICH's C interface, 32 in the ABI of MPI 5
//! (pmodels/mpich, src/include/mpi.h.in, v3.4 to v5.0; src/binding/abi/mpi_abi.h and src/include/mpir_status.h, v5.0.1).

use super::HandleReader;
use crate::record::{Record, shapes};
use crate::status::{self, error_class, ignored, unknown};
use layouts::Layouts;
use model::Handle;
use target::address::TargetAddr;

shapes! {
    /// A status. Fortran's statuses are the same bytes.
    Status = ["MPI_Status"] { source: "MPI_SOURCE", tag: "MPI_TAG", error: "MPI_ERROR" } optional {
        low: "count_lo",
        high: "count_hi_and_cancelled",
        reserved: "MPI_internal",
    };
}

/// No address space has more bytes (x86-64 with pages in five levels), and so no message.
const MAX_BYTES: u64 = 1 << 57;

/// The bits of an error code that are its class (`ERROR_CLASS_MASK`, src/include/mpir_err.h, v4.0.2).
const ERROR_CLASS: i64 = 0x7f;

/// The status at an address.
pub fn at(reader: &HandleReader<'_>, addr: TargetAddr) -> Handle {
    // MPI_STATUS_IGNORE is (MPI_Status *)1, in the ABI of MPI 5 a null pointer.
    if addr.get() == u64::from(!reader.process.abi) {
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
    let (bytes, cancelled) = ((high >> 1) << 32 | low, high & 1 != 0);
    let garbage = (bytes > MAX_BYTES).then(|| format!("its length is {bytes} bytes (never set, or garbage)"));
    let error_name = error_name(reader.layouts, error);
    let status = status::Status { source, tag, error, error_name, bytes, cancelled };
    status.described(reader.layouts, addr, garbage)
}

/// The name of an error's class; `None` where the standard has no such class.
fn error_name(layouts: &Layouts, error: i64) -> Option<&'static str> {
    // The bits above the class say where it happened.
    error_class(layouts, if error > 0 { error & ERROR_CLASS } else { error })
}
