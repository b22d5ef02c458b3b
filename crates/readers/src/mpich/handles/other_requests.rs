//! Requests that are no messages: generalized ones, collectives, partitioned and one-sided operations.

use serde_json::Value;

use super::super::handle_value::HandleValue;
use super::super::requests::Kind;
use super::request::Request;
use super::{Depth, HandleReader, errhandler, point_to_point};
use crate::record::{Record, Slot, shape};
use crate::{ReaderError, generalized};
use model::{Handle, HandleKind};
use target::address::TargetAddr;

shape!(
    /// The functions of a generalized request.
    Generalized = ["MPIR_Grequest_fns"] {
        query: "U.C.query_fn",
        free: "U.C.free_fn",
        cancel: "U.C.cancel_fn",
        state: "grequest_extra_state",
        language: "greq_lang",
    }
);

shape!(
    /// A partitioned operation (`MPIDI_part_request_t`, pmodels/mpich, src/mpid/ch4/include/mpidpre.h, v4.0 to v5.0; a
    /// receive's source and tag stand in the status since 4.3).
    Partitioned = ["MPIR_Request"] {
        partitions: "u.part.partitions",
        buffer: "dev.ch4.part_req.buffer",
        count: "dev.ch4.part_req.count",
        datatype: "dev.ch4.part_req.datatype",
        destination: "dev.ch4.part_req.u.send.dest",
        status_source: "status.MPI_SOURCE",
        status_tag: "status.MPI_TAG",
    }
    optional {
        source: "dev.ch4.part_req.u.recv.source",
        tag: "dev.ch4.part_req.u.recv.tag",
    }
);

/// Adds what a generalized request holds.
///
/// # Errors
/// Where its functions cannot be read.
pub fn generalized(
    reader: &HandleReader<'_>,
    request: &Request,
    depth: Depth,
    handle: &mut Handle,
) -> Result<(), ReaderError> {
    let slot = Slot::resolve(reader.layouts, "MPIR_Request", "u.ureq.greq_fns")?;
    let at = reader.target.read_pointer(request.at.wrapping_add(slot.offset as u64))?;
    let shape = Generalized::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
    handle.fact("call", "MPI_Grequest_start");
    let query = reader.function(record.pointer(shape.query));
    let name = generalized::called(&query);
    if depth == Depth::Full {
        let [free, cancel] = [shape.free, shape.cancel].map(|slot| reader.function(record.pointer(slot)));
        handle.fact("functions", generalized::functions(query, free, cancel));
        handle.fact("extra_state", record.pointer(shape.state).to_string());
        match errhandler::language(reader, record.int(shape.language)) {
            Some(language) => handle.fact("language", language),
            None => handle.unknown("language", "the number of its language is not known"),
        }
    }
    handle.summary = format!("MPI_Grequest_start{name}, {}", request.status_word());
    Ok(())
}

/// Adds what a partitioned operation was made with.
///
/// # Errors
/// Where the release has none that are known, or it cannot be read.
pub fn partitioned(
    reader: &HandleReader<'_>,
    request: &Request,
    depth: Depth,
    handle: &mut Handle,
) -> Result<(), ReaderError> {
    let shape = Partitioned::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, request.at, shape.size, &mut buffer)?;
    let send = request.kind == Kind::PartitionedSend;
    let (call, direction, to) =
        if send { ("MPI_Psend_init", "send", "to") } else { ("MPI_Precv_init", "receive", "from") };
    let peer = record.int(if send { shape.destination } else { shape.source.unwrap_or(shape.status_source) });
    let tag = (!send).then(|| record.int(shape.tag.unwrap_or(shape.status_tag)));
    let partitions = record.int(shape.partitions);
    handle.fact("call", call);
    handle.fact("direction", direction);
    handle.fact("peer", peer);
    handle.fact("partitions", partitions);
    match tag {
        Some(tag) => handle.fact("tag", tag),
        None => handle.unknown("tag", "MPICH keeps the tag of such a send only in the header that it has sent"),
    }
    let words = tag.map_or_else(|| ", tag not known".to_owned(), |tag| format!(", tag {tag}"));
    let on = on(reader, request);
    handle.summary = format!("{call} {to} {peer}{words}{on}, {partitions} partitions, {}", request.status_word());
    if depth == Depth::Full {
        match reader.world_rank(request.communicator, peer) {
            Some(world) => handle.fact("peer_world", world),
            None => handle.unknown("peer_world", "the group of the communicator does not tell it"),
        }
        handle.unknown("partitions_done", "MPICH counts them where the message goes, which is not read");
        handle.fact("buffer", record.pointer(shape.buffer).to_string());
        handle.fact("count", record.int(shape.count));
        let datatype = HandleValue(u32::try_from(record.uint(shape.datatype)).unwrap_or(0));
        handle.fact("datatype", point_to_point::datatype(reader, datatype));
        add_communicator(reader, request, handle);
    }
    Ok(())
}

/// Adds what is known of a one-sided operation.
///
/// # Errors
/// Where it cannot be read.
pub fn one_sided(
    reader: &HandleReader<'_>,
    request: &Request,
    depth: Depth,
    handle: &mut Handle,
) -> Result<(), ReaderError> {
    // 3.4 has no such member.
    let window = match Slot::probe(reader.layouts, "MPIR_Request", "u.rma.win")? {
        Some(slot) => reader.target.read_pointer(request.at.wrapping_add(slot.offset as u64))?,
        None => TargetAddr::NULL,
    };
    handle.unknown("call", "MPI_Rput, MPI_Rget, MPI_Raccumulate and MPI_Rget_accumulate leave the same request");
    let reference = reader.reference(HandleKind::Win, window);
    let name = reference.get("summary").and_then(Value::as_str).filter(|summary| summary.starts_with('"'));
    let name = name.and_then(|summary| summary.rfind(", rank ").and_then(|place| summary.get(..place)));
    let on = name.map_or_else(String::new, |name| format!(" on {name}"));
    handle.summary = format!("one-sided operation{on}, {}", request.status_word());
    if depth == Depth::Full {
        if window.is_null() {
            handle.unknown("window", "the request does not name it");
        } else {
            handle.fact("window", reference);
        }
    }
    Ok(())
}

/// Adds what is known of a collective, and of what is not known here.
pub fn other(reader: &HandleReader<'_>, request: &Request, depth: Depth, handle: &mut Handle) {
    let what = match request.kind {
        Kind::Collective => "nonblocking collective",
        Kind::PersistentCollective => "persistent collective",
        Kind::Partition => "part of a partitioned operation",
        _ => "request of a kind that is not known",
    };
    if matches!(request.kind, Kind::Collective | Kind::PersistentCollective) {
        handle.unknown("call", "the library does not keep which collective it is");
        for fact in ["round", "rounds", "sub_requests"] {
            handle.unknown(fact, "MPICH's schedules of collectives are not read");
        }
    } else {
        handle.unknown("call", "several functions leave the same request");
    }
    handle.summary = format!("{what}{}, {}", on(reader, request), request.status_word());
    if depth == Depth::Full {
        add_communicator(reader, request, handle);
    }
}

fn on(reader: &HandleReader<'_>, request: &Request) -> String {
    if request.communicator.is_null() { String::new() } else { format!(" {}", reader.on(request.communicator)) }
}

fn add_communicator(reader: &HandleReader<'_>, request: &Request, handle: &mut Handle) {
    if request.communicator.is_null() {
        handle.unknown("communicator", "the request does not name it");
    } else {
        handle.fact("communicator", reader.reference(HandleKind::Comm, request.communicator));
    }
}
