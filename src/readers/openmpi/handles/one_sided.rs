//! Requests of one-sided operations: the components rdma and pt2pt (ompi/mca/osc, v4.1.4 and v5.0.7).

use super::Depth;
use super::request::Request;
use crate::model::{Handle, HandleKind};
use crate::readers::ReaderError;
use crate::readers::record::{Record, shape};

shape!(
    /// A request; both components name these members alike.
    OneSided = ["ompi_osc_rdma_request_t"] { kind: "type", buffer: "origin_addr", win: "super.req_mpi_object.win" }
);
shape!(
    /// The same of pt2pt, which also says what is moved.
    PointToPoint = ["ompi_osc_pt2pt_request_t"] {
        kind: "type",
        buffer: "origin_addr",
        count: "origin_count",
        datatype: "origin_dt",
        win: "super.req_mpi_object.win",
    }
);

/// The functions, by the ends of the components' constants (osc_rdma_types.h, osc_pt2pt_header.h).
const CALLS: &[(&str, &str)] =
    &[("_GET", "MPI_Rget"), ("_PUT", "MPI_Rput"), ("_ACC", "MPI_Raccumulate"), ("_GET_ACC", "MPI_Rget_accumulate")];

/// Adds what the request holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(request: &Request<'_>, handle: &mut Handle) -> Result<(), ReaderError> {
    let reader = request.reader;
    let mut buffer = Vec::new();
    let rdma = request.class == "ompi_osc_rdma_request_t";
    let (kind, address, win, data) = if rdma {
        let shape = OneSided::resolve(reader.layouts)?;
        let record = Record::read(reader.target, request.addr, shape.size, &mut buffer)?;
        (record.int(shape.kind), record.pointer(shape.buffer), record.pointer(shape.win), None)
    } else {
        let shape = PointToPoint::resolve(reader.layouts)?;
        let record = Record::read(reader.target, request.addr, shape.size, &mut buffer)?;
        let data = (record.uint(shape.count), record.pointer(shape.datatype));
        (record.int(shape.kind), record.pointer(shape.buffer), record.pointer(shape.win), Some(data))
    };
    let prefix = if rdma { "OMPI_OSC_RDMA_TYPE" } else { "OMPI_OSC_PT2PT_HDR_TYPE" };
    let known = |end: &str| reader.layouts.constant(&format!("{prefix}{end}")).ok() == Some(kind);
    let call = CALLS.iter().find(|(end, _)| known(end)).map(|(_, call)| *call);
    match call {
        Some(call) => handle.fact("call", call),
        None => handle.unknown("call", "the library made it for an operation of its own"),
    }
    let window = reader.describe(HandleKind::Win, win.get(), Depth::Short).summary;
    if request.depth == Depth::Full {
        handle.fact("window", reader.reference(HandleKind::Win, win));
        handle.fact("buffer", address.to_string());
        match data {
            Some((count, datatype)) => {
                handle.fact("count", count);
                handle.fact("datatype", reader.reference(HandleKind::Datatype, datatype));
            }
            None => {
                for fact in ["count", "datatype"] {
                    handle.unknown(fact, "the component rdma does not keep it");
                }
            }
        }
    }
    let name = window.split(", ").next().unwrap_or_default();
    handle.summary = format!("{} on {name}, {}", call.unwrap_or("one-sided operation"), request.status_word());
    Ok(())
}
