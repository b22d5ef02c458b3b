//! Requests of one-sided operations: the components rdma and pt2pt (ompi/mca/osc, v4.1.4 and v5.0.7).

use super::Depth;
use super::request::Request;
use crate::ReaderError;
use crate::record::{Record, shapes};
use model::{Handle, HandleKind, HandleState, Typed};

shapes! {
    /// A request of rdma. Of its members only the window is always set.
    Rdma = ["ompi_osc_rdma_request_t"] { win: "super.req_mpi_object.win" };
    /// A request of pt2pt, which also says what is moved.
    PointToPoint = ["ompi_osc_pt2pt_request_t"] {
        kind: "type",
        buffer: "origin_addr",
        count: "origin_count",
        datatype: "origin_dt",
        win: "super.req_mpi_object.win",
    };
}

/// The functions, by the constants of pt2pt's requests (osc_pt2pt_header.h).
const CALLS: &[(&str, &str)] = &[
    ("OMPI_OSC_PT2PT_HDR_TYPE_GET", "MPI_Rget"),
    ("OMPI_OSC_PT2PT_HDR_TYPE_PUT", "MPI_Rput"),
    ("OMPI_OSC_PT2PT_HDR_TYPE_ACC", "MPI_Raccumulate"),
    ("OMPI_OSC_PT2PT_HDR_TYPE_GET_ACC", "MPI_Rget_accumulate"),
];

/// Adds what the request holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(request: &Request<'_>, handle: &mut Handle) -> Result<(), ReaderError> {
    let reader = request.reader;
    let mut call = None;
    let mut data = None;
    let win = if request.class == "ompi_osc_rdma_request_t" {
        let shape = Rdma::resolve(reader.layouts)?;
        let record = Record::owned(reader.target, request.addr, shape.size)?;
        handle.unknown("call", "the component rdma does not always set which operation it is");
        record.pointer(shape.win)
    } else {
        let shape = PointToPoint::resolve(reader.layouts)?;
        let record = Record::owned(reader.target, request.addr, shape.size)?;
        let kind = record.int(shape.kind);
        let known = CALLS.iter().find(|(name, _)| reader.layouts.constant(name).ok() == Some(kind));
        call = known.map(|(_, call)| *call);
        match call {
            Some(call) => handle.fact("call", call),
            None => handle.unknown("call", "the library made it for an operation of its own"),
        }
        data = Some((record.pointer(shape.buffer), record.uint(shape.count), record.pointer(shape.datatype)));
        record.pointer(shape.win)
    };
    let window = reader.describe(HandleKind::Win, win.get(), Depth::Short);
    if request.depth == Depth::Full {
        handle.fact("window", reader.reference(HandleKind::Win, win));
        match data {
            Some((address, count, datatype)) => {
                handle.fact("buffer", address.to_string());
                handle.fact("count", count);
                handle.fact("datatype", reader.reference(HandleKind::Datatype, datatype));
            }
            None => {
                for fact in ["buffer", "count", "datatype"] {
                    handle.unknown(fact, "the component rdma does not keep it");
                }
            }
        }
    }
    let name = match window.typed {
        Typed::Window(known, _) if window.state == HandleState::Live => known.label(window.name.as_deref()),
        _ => window.summary,
    };
    handle.summary = format!("{} on {name}, {}", call.unwrap_or("one-sided operation"), request.status_word());
    Ok(())
}
