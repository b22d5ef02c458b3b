//! Requests that are no messages: generalized ones, collectives, partitioned and one-sided operations.

use super::super::handle_value::HandleValue;
use super::super::requests::Kind;
use super::request::Request;
use super::{Depth, HandleReader, errhandler, point_to_point, schedules};
use crate::record::{Record, Slot, shapes};
use crate::{ReaderError, functions, planned};
use model::handle::{Fact, Functions, GeneralizedRequest, PartitionedDetails, PartitionedRequest, Reference};
use model::{Handle, HandleKind, Known, Typed};
use target::Reason;
use target::address::TargetAddr;

shapes! {
    /// The functions of a generalized request.
    Generalized = ["MPIR_Grequest_fns"] {
        query: "U.C.query_fn",
        free: "U.C.free_fn",
        cancel: "U.C.cancel_fn",
        state: "grequest_extra_state",
        language: "greq_lang",
    };
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
    } optional {
        source: "dev.ch4.part_req.u.recv.source",
        tag: "dev.ch4.part_req.u.recv.tag",
    };
}

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
    let at = slot.read_pointer(reader.target, request.at)?;
    let shape = Generalized::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, at, shape.size)?;
    handle.fact("call", "MPI_Grequest_start");
    let function = |slot: Slot| functions::at(reader.target, record.pointer(slot));
    let query = function(shape.query);
    let name = Functions::called(query.as_ref());
    if depth == Depth::Full {
        let language = errhandler::language(reader, record.int(shape.language));
        let facts = GeneralizedRequest {
            functions: Ok(Functions { query, free: function(shape.free), cancel: function(shape.cancel) }),
            extra_state: Ok(record.pointer(shape.state).to_string()),
            language: language.ok_or_else(|| "the number of its language is not known".into()),
        };
        facts.tell(handle);
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
    let record = Record::owned(reader.target, request.at, shape.size)?;
    let sends = request.kind == Kind::PartitionedSend;
    let peer = record.int(if sends { shape.destination } else { shape.source.unwrap_or(shape.status_source) });
    let facts = PartitionedRequest {
        sends,
        peer,
        tag: match sends {
            true => Err("MPICH keeps the tag of such a send only in the header that it has sent".into()),
            false => Ok(record.int(shape.tag.unwrap_or(shape.status_tag))),
        },
        partitions: record.int(shape.partitions),
        partitions_done: Err("MPICH counts them where the message goes, which is not read".into()),
    };
    facts.describe(&on(reader, request), request.progress(), handle);
    if depth == Depth::Full {
        let world = reader.world_rank(request.communicator, peer);
        let world: Known<i64> = world.ok_or_else(|| "the group of the communicator does not give it".into());
        world.tell("peer_world", handle);
        let datatype = HandleValue(u32::try_from(record.uint(shape.datatype)).unwrap_or(0));
        let details = PartitionedDetails {
            communicator: communicator(reader, request),
            buffer: record.pointer(shape.buffer).to_string(),
            count: record.int(shape.count),
            datatype: Some(point_to_point::datatype(reader, datatype)),
        };
        details.tell(handle);
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
        Some(slot) => slot.read_pointer(reader.target, request.at)?,
        None => TargetAddr::NULL,
    };
    handle.unknown("call", "MPI_Rput, MPI_Rget, MPI_Raccumulate and MPI_Rget_accumulate leave the same request");
    let on = reader.window_label(window).map_or_else(String::new, |name| format!(" on {name}"));
    handle.summary = format!("one-sided operation{on}, {}", request.status_word());
    if depth == Depth::Full {
        let window = reader.reference(HandleKind::Win, window).ok_or_else(|| "the request does not name it".into());
        Known::tell(window, "window", handle);
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
        let planned = if request.kind == Kind::Collective && !request.complete {
            let read = schedules::read(reader, request).map_err(Reason::of);
            read.and_then(|found| found.ok_or_else(|| "its schedule was not found".into()))
        } else {
            Err("only of one that goes on a schedule is looked for".into())
        };
        let tag = planned.as_ref().ok().and_then(|planned| planned.tag);
        tag.ok_or_else(|| "only a schedule with messages gives it".into()).tell("tag", handle);
        let planned = planned.map(|planned| planned.schedule);
        planned::tell(&planned, handle);
        if let Typed::Request(known) = &mut handle.typed {
            known.schedule = planned.ok();
            known.sequence = tag;
        }
        for fact in ["round", "rounds", "sub_requests"] {
            handle.unknown(fact, "MPICH's schedules have no rounds");
        }
    } else {
        handle.unknown("call", "several functions leave the same request");
    }
    handle.summary = format!("{what}{}, {}", on(reader, request), request.status_word());
    if depth == Depth::Full {
        communicator(reader, request).tell("communicator", handle);
    }
}

fn on(reader: &HandleReader<'_>, request: &Request) -> String {
    if request.communicator.is_null() { String::new() } else { format!(" {}", reader.on(request.communicator)) }
}

fn communicator(reader: &HandleReader<'_>, request: &Request) -> Known<Option<Reference>> {
    let found = reader.reference(HandleKind::Comm, request.communicator).map(Some);
    found.ok_or_else(|| "the request does not name it".into())
}
