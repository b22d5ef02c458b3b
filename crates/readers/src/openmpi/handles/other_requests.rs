//! Requests of generalized and file operations, partitioned communication, and those that only the common part is known of.

use super::request::Request;
use super::{Depth, object, ompio};
use crate::record::{Record, Slot, shape};
use crate::{ReaderError, generalized};
use model::{Handle, HandleKind, RequestSort};
use target::address::TargetAddr;

shape!(
    /// A generalized request (ompi/request/grequest.h, v4.1.4 and v5.0.7).
    Generalized = ["ompi_grequest_t"] {
        query: "greq_query",
        free: "greq_free",
        cancel: "greq_cancel",
        state: "greq_state",
        in_c: "greq_funcs_are_c",
    }
);
shape!(
    /// A request of ompio (ompi/mca/common/ompio/common_ompio_request.h, v4.1.4 and v5.0.7).
    File = ["mca_ompio_request_t"] { kind: "req_type" }
);
shape!(
    /// A request of partitioned communication (ompi/mca/part/persist/part_persist_request.h, v5.0.7). The members up to
    /// the tag are common to all components and, by the source, stay where they are.
    Partitioned = ["mca_part_persist_request_t"] {
        kind: "req_type",
        freed: "req_free_called",
        comm: "req_comm",
        datatype: "req_datatype",
        buffer: "req_addr",
        partitions: "req_parts",
        count: "req_count",
        peer: "req_peer",
        tag: "req_tag",
        done: "done_count",
    }
);

/// Adds what a generalized request holds.
///
/// # Errors
/// Where it cannot be read.
pub fn generalized(request: &Request<'_>, handle: &mut Handle) -> Result<(), ReaderError> {
    let reader = request.reader;
    let shape = Generalized::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, request.addr, shape.size, &mut buffer)?;
    let count = Slot::resolve(reader.layouts, "opal_object_t", "obj_reference_count")?;
    handle.fact("call", "MPI_Grequest_start");
    // The program and the operation hold it once each (`ompi_grequest_start`, ompi/request/grequest.c, v4.1.4 and v5.0.7).
    handle.freed = Some(!request.complete && record.uint(count) < 2);
    let freed = if handle.freed == Some(true) { ", freed by the application" } else { "" };
    let query = reader.function(record.pointer(shape.query));
    let name = generalized::called(&query);
    if request.depth == Depth::Full {
        // Builds with Open MPI's extension have a member between the functions and the state; its layout is another.
        if request.verified {
            let [free, cancel] = [shape.free, shape.cancel].map(|slot| reader.function(record.pointer(slot)));
            handle.fact("functions", generalized::functions(query, free, cancel));
            handle.fact("extra_state", record.pointer(shape.state).to_string());
            handle.fact("language", if record.uint(shape.in_c) != 0 { "C" } else { "Fortran" });
        } else {
            for fact in ["functions", "extra_state", "language"] {
                handle.unknown(fact, "this build has another layout of generalized requests");
            }
        }
    }
    let name = if request.verified { name } else { String::new() };
    handle.summary = format!("MPI_Grequest_start{name}, {}{freed}", request.status_word());
    Ok(())
}

/// Adds what a request of ompio holds.
///
/// # Errors
/// Where it cannot be read.
pub fn file(request: &Request<'_>, handle: &mut Handle) -> Result<(), ReaderError> {
    let reader = request.reader;
    let shape = File::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, request.addr, shape.size, &mut buffer)?;
    // MCA_OMPIO_REQUEST_WRITE, _READ, _WRITE_ALL, _READ_ALL.
    let direction = if record.uint(shape.kind) % 2 == 0 { "write" } else { "read" };
    handle.fact("direction", direction);
    let reason = format!("all of MPI_File_i{direction} and its variants leave the same request");
    handle.unknown("call", reason);
    let name = match ompio::file_of(reader, request.addr) {
        Ok(Some(file)) => {
            if request.depth == Depth::Full {
                handle.fact("file", reader.reference(HandleKind::File, file));
            }
            let summary = reader.describe(HandleKind::File, file.get(), Depth::Short).summary;
            format!(" of {}", summary.rsplit_once(", ").map_or(summary.as_str(), |(name, _)| name))
        }
        Ok(None) => {
            handle.unknown("file", "the request does not say which file it belongs to");
            String::new()
        }
        Err(error) => {
            handle.unknown("file", error.to_string());
            String::new()
        }
    };
    handle.summary = format!("file {direction}{name}, {}", request.status_word());
    Ok(())
}

/// Adds what a request of partitioned communication holds.
///
/// # Errors
/// Where it cannot be read.
pub fn partitioned(request: &Request<'_>, handle: &mut Handle) -> Result<(), ReaderError> {
    let reader = request.reader;
    let shape = Partitioned::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, request.addr, shape.size, &mut buffer)?;
    let (comm, datatype) = (record.pointer(shape.comm), record.pointer(shape.datatype));
    // Later releases have members more (v5.0.8); what comes before those is believed where it points to what it should.
    let plausible = is_a(request, HandleKind::Comm, comm) && is_a(request, HandleKind::Datatype, datatype);
    if !request.verified && !plausible {
        any(request, handle);
        return Ok(());
    }
    let sends = record.uint(shape.kind) == 0;
    let call = if sends { "MPI_Psend_init" } else { "MPI_Precv_init" };
    let (partitions, count, peer, tag) =
        (record.uint(shape.partitions), record.uint(shape.count), record.int(shape.peer), record.int(shape.tag));
    handle.freed = Some(record.uint(shape.freed) != 0);
    handle.fact("call", call);
    handle.fact("direction", if sends { "send" } else { "receive" });
    handle.fact("peer", peer);
    handle.fact("tag", tag);
    handle.fact("partitions", partitions);
    match (request.verified, request.inactive) {
        (true, false) => handle.fact("partitions_done", record.uint(shape.done)),
        (true, true) => handle.fact("partitions_done", 0),
        _ => handle.unknown("partitions_done", "this release has another layout of these requests"),
    }
    if request.depth == Depth::Full {
        handle.fact("communicator", reader.reference(HandleKind::Comm, comm));
        handle.fact("buffer", record.pointer(shape.buffer).to_string());
        handle.fact("count", count);
        handle.fact("datatype", reader.reference(HandleKind::Datatype, datatype));
    }
    let to = if sends { "to" } else { "from" };
    let on = request.on(comm);
    let word = request.status_word();
    handle.summary = format!("{call} {to} {peer}, tag {tag} {on}, {partitions} partitions, {word}");
    Ok(())
}

fn is_a(request: &Request<'_>, kind: HandleKind, addr: TargetAddr) -> bool {
    let place = super::kinds::of(kind);
    place.is_some_and(|place| matches!(object::find(request.reader, place, addr), Ok(object::Found::Live)))
}

/// Adds what is known of the object that stands for every operation that was complete at once.
///
/// # Errors
/// Where symbols cannot be read.
pub fn empty(request: &Request<'_>, handle: &mut Handle) -> Result<(), ReaderError> {
    let send = request.reader.symbol("ompi_request_empty_send")? == Some(request.addr);
    handle.predefined = Some(true);
    handle.unknown("call", "all operations that are complete at once share this request");
    let what = if send { "a send" } else { "an operation" };
    handle.summary = format!("{what} that was complete at once, complete");
    Ok(())
}

/// Adds what is known of a request whose class is not known.
pub fn any(request: &Request<'_>, handle: &mut Handle) {
    let component = format!("its component keeps the rest in a form of its own ({})", request.class);
    if request.sort == Some(RequestSort::NoOp) {
        // `ompi_request_persistent_noop_create`, ompi/request/request.c, v4.1.4 and v5.0.7.
        handle.unknown("call", "all functions for persistent requests leave this one where the peer is MPI_PROC_NULL");
        handle.summary = format!("persistent request to or from MPI_PROC_NULL, {}", request.status_word());
        return;
    }
    handle.unknown("call", component.as_str());
    let belongs = matches!(request.sort, Some(RequestSort::PointToPoint | RequestSort::Collective));
    let on = if belongs && is_a(request, HandleKind::Comm, request.communicator) {
        request.add_communicator(handle);
        format!(" {}", request.on(request.communicator))
    } else {
        String::new()
    };
    if request.sort == Some(RequestSort::PointToPoint) {
        for fact in ["direction", "peer", "tag", "buffer", "count", "datatype", "bytes"] {
            handle.unknown(fact, component.as_str());
        }
    }
    handle.summary =
        format!("{} request{on}, {}", request.sort.map_or("unknown", RequestSort::word), request.status_word());
}
