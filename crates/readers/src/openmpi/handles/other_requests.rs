//! Requests of generalized and file operations, partitioned communication, and those that only the common part is known of.

use super::request::{Request, is_completed_send};
use super::{Depth, file, object, ompio};
use crate::record::{Record, Slot, shapes};
use crate::{ReaderError, functions};
use model::handle::{Fact, Functions, GeneralizedRequest, Language, PartitionedDetails, PartitionedRequest};
use model::{Handle, HandleKind, RequestSort};
use target::Reason;
use target::address::TargetAddr;

shapes! {
    /// A generalized request (ompi/request/grequest.h, v4.1.4 and v5.0.7).
    Generalized = ["ompi_grequest_t"] {
        query: "greq_query",
        free: "greq_free",
        cancel: "greq_cancel",
        state: "greq_state",
        in_c: "greq_funcs_are_c",
    };
    /// A request of ompio (ompi/mca/common/ompio/common_ompio_request.h, v4.1.4 and v5.0.7).
    File = ["mca_ompio_request_t"] { kind: "req_type" };
    /// A request of partitioned communication (ompi/mca/part/persist/part_persist_request.h, v5.0.7). The members up to
    /// the tag are those of all components (ompi/mca/part/base/part_base_prequest.h); the others differ within a series.
    Partitioned = ["mca_part_persist_request_t", "mca_part_base_prequest_t"] {
        kind: "req_type",
        freed: "req_free_called",
        comm: "req_comm",
        datatype: "req_datatype",
        buffer: "req_addr",
        partitions: "req_parts",
        count: "req_count",
        peer: "req_peer",
        tag: "req_tag",
    } optional {
        done: "done_count",
    };
}

/// Adds what a generalized request holds.
///
/// # Errors
/// Where it cannot be read.
pub fn generalized(request: &Request<'_>, handle: &mut Handle) -> Result<(), ReaderError> {
    let reader = request.reader;
    let shape = Generalized::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, request.addr, shape.size)?;
    let count = object::Counted::resolve(reader.layouts)?.references;
    handle.fact("call", "MPI_Grequest_start");
    // The program and the operation hold it once each (`ompi_grequest_start`, ompi/request/grequest.c, v4.1.4 and v5.0.7).
    handle.freed = Some(!request.complete && record.uint(count) < 2);
    let freed = if handle.freed == Some(true) { ", freed by the application" } else { "" };
    let function = |slot: Slot| functions::at(reader.target, record.pointer(slot));
    let query = function(shape.query);
    let name = Functions::called(query.as_ref());
    if request.depth == Depth::Full {
        // Builds with Open MPI's extension have a member between the functions and the state; its layout is another.
        let sure =
            if request.verified { Ok(()) } else { Err("this build has another layout of generalized requests".into()) };
        let language = if record.uint(shape.in_c) != 0 { Language::C } else { Language::Fortran };
        let facts = GeneralizedRequest {
            functions: sure.clone().map(|()| Functions {
                query,
                free: function(shape.free),
                cancel: function(shape.cancel),
            }),
            extra_state: sure.clone().map(|()| record.pointer(shape.state).to_string()),
            language: sure.map(|()| language),
        };
        facts.tell(handle);
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
    let record = Record::owned(reader.target, request.addr, shape.size)?;
    // MCA_OMPIO_REQUEST_WRITE, _READ, _WRITE_ALL, _READ_ALL.
    let direction = if record.uint(shape.kind) % 2 == 0 { "write" } else { "read" };
    handle.fact("direction", direction);
    let reason = format!("all of MPI_File_i{direction} and its variants leave the same request");
    handle.unknown("call", reason);
    let file = ompio::file_of(reader, request.addr).map_err(Reason::of);
    let file = file.and_then(|file| file.ok_or_else(|| "the request does not say which file it belongs to".into()));
    let described = |file: &TargetAddr| reader.describe(HandleKind::File, file.get(), Depth::Short);
    let name = file.as_ref().map_or_else(|_| String::new(), |file| format!(" of {}", file::label(&described(file))));
    if request.depth == Depth::Full || file.is_err() {
        file.map(|file| reader.reference(HandleKind::File, file)).tell("file", handle);
    }
    handle.summary = format!("file {direction}{name}, {}", request.status_word());
    Ok(())
}

/// Adds what a request of partitioned communication holds.
///
/// # Errors
/// Where it cannot be read.
pub fn partitioned(request: &Request<'_>, handle: &mut Handle) -> Result<(), ReaderError> {
    let reader = request.reader;
    let Ok(shape) = Partitioned::resolve(reader.layouts) else {
        any(request, handle);
        return Ok(());
    };
    let record = Record::owned(reader.target, request.addr, shape.size)?;
    let (comm, datatype) = (record.pointer(shape.comm), record.pointer(shape.datatype));
    // Later releases have members more (v5.0.8); what comes before those is believed where it points to what it should.
    let plausible = is_a(request, HandleKind::Comm, comm) && is_a(request, HandleKind::Datatype, datatype);
    if !request.verified && !plausible {
        any(request, handle);
        return Ok(());
    }
    let sends = record.uint(shape.kind) == 0;
    handle.freed = Some(record.uint(shape.freed) != 0);
    let facts = PartitionedRequest {
        sends,
        peer: record.int(shape.peer),
        tag: Ok(record.int(shape.tag)),
        partitions: record.int(shape.partitions),
        partitions_done: match (shape.done.filter(|_| request.verified), request.inactive) {
            (Some(done), false) => Ok(record.int(done)),
            (Some(_), true) => Ok(0),
            (None, _) => Err("this release has another layout of these requests".into()),
        },
    };
    facts.describe(&format!(" {}", request.on(comm)), request.progress(), handle);
    if request.depth == Depth::Full {
        let details = PartitionedDetails {
            communicator: Ok(reader.reference(HandleKind::Comm, comm)),
            buffer: record.pointer(shape.buffer).to_string(),
            count: record.int(shape.count),
            datatype: reader.reference(HandleKind::Datatype, datatype),
        };
        details.tell(handle);
    }
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
    let send = request.reader.symbol("ompi_request_empty_send")? == Some(request.addr)
        || is_completed_send(request.reader, request.addr)?;
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
