//! Requests of nonblocking and persistent collectives of the component libnbc.
//!
//! A collective is a schedule of rounds; each round posts messages with a tag of the collective, and ends when they are
//! complete. Nothing says which function it was (ompi/mca/coll/libnbc/nbc.c and nbc_internal.h, v4.1.4 and v5.0.7): the
//! schedule excludes those that would have made another one.

use super::request::Request;
use super::schedule::{self, Rounds};
use super::{Depth, HandleReader};
use crate::ReaderError;
use crate::planned;
use crate::record::{Record, Slot, shapes};
use model::handle::{Fact, Reference};
use model::{Handle, HandleKind, Known, Typed};
use target::Reason;
use target::address::TargetAddr;

shapes! {
    /// A request.
    Nbc = ["ompi_coll_libnbc_request_t"] {
        comm: "comm",
        tag: "tag",
        position: "row_offset",
        posted: "req_array",
        posted_len: "req_count",
        schedule: "schedule",
        temporary: "tmpbuf",
    };
}
/// A round never has more messages than this (1 Mi): a few for each process.
const MAX_POSTED: u64 = 1 << 20;

/// At most this many of them are shown.
const MAX_SHOWN: u64 = 1000;

/// Adds what the request holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(request: &Request<'_>, handle: &mut Handle) -> Result<(), ReaderError> {
    let reader = request.reader;
    let shape = Nbc::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, request.addr, shape.size)?;
    let position = record.uint(shape.position);
    let schedule = record.pointer(shape.schedule);
    let found = if schedule.is_null() {
        // NBC_Free gives the schedule back.
        Err("it has completed, and its schedule is gone".into())
    } else {
        Rounds::read(reader, schedule).map_err(Reason::of)
    };
    let rounds: Known<(u64, u64)> = match &found {
        _ if request.inactive => Err("it has not been started".into()),
        Ok(found) => found.place(position).map_err(Reason::of),
        Err(reason) => Err(reason.clone()),
    };
    let progress = rounds.as_ref().map_or_else(|_| String::new(), |(round, of)| format!(", round {round} of {of}"));
    rounds.clone().map(|(round, _)| round).tell("round", handle);
    rounds.map(|(_, of)| of).tell("rounds", handle);
    let tag = record.int(shape.tag);
    handle.fact("tag", tag);
    let comm = record.pointer(shape.comm);
    // Once it is complete, the request still names its communicator in the part that all requests share.
    let comm = if comm.is_null() { request.communicator } else { comm };
    let temporary = !record.pointer(shape.temporary).is_null();
    let plan = found.and_then(|found| {
        let member = schedule::member(reader, comm, request.persistent, temporary)?;
        found.planned(reader, member).map_err(Reason::of)
    });
    let name = planned::tell(&plan, handle);
    if let Typed::Request(known) = &mut handle.typed {
        known.schedule = plan.ok();
        // libnbc counts its tags down.
        known.sequence = Some(tag.wrapping_neg());
    }
    if request.depth == Depth::Full {
        request.add_communicator(handle);
        let posted = posted(reader, record.pointer(shape.posted), record.int(shape.posted_len));
        posted.map_err(Reason::of).tell("sub_requests", handle);
    }
    let sort = if request.persistent { "persistent" } else { "nonblocking" };
    handle.summary = format!("{name}{sort} collective {}{progress}, {}", request.on(comm), request.status_word());
    Ok(())
}

/// References to the messages of the round that goes on.
fn posted(reader: &HandleReader<'_>, at: TargetAddr, len: i64) -> Result<Vec<Reference>, ReaderError> {
    let len = u64::try_from(len).ok().filter(|len| *len <= MAX_POSTED);
    let len =
        len.ok_or_else(|| ReaderError::Damaged("a collective's round has an absurd number of messages".into()))?;
    if at.is_null() || len == 0 {
        return Ok(Vec::new());
    }
    let abi = reader.target.abi();
    let width = abi.pointer_width.bytes();
    let bytes = reader.target.read_bytes(at, (len.min(MAX_SHOWN) * width) as usize)?;
    let requests = bytes.chunks_exact(width as usize).map(|pointer| TargetAddr::new(abi.uint(pointer)));
    Ok(requests.filter_map(|at| reader.reference(HandleKind::Request, at)).collect())
}

/// The operators that a collective still uses, each once: those of its schedule.
///
/// # Errors
/// Where the request or its schedule cannot be read.
pub fn operators(reader: &HandleReader<'_>, request: TargetAddr) -> Result<Vec<TargetAddr>, ReaderError> {
    let slot = Slot::resolve(reader.layouts, "ompi_coll_libnbc_request_t", "schedule")?;
    let schedule = slot.read_pointer(reader.target, request)?;
    if schedule.is_null() { Ok(Vec::new()) } else { Ok(Rounds::read(reader, schedule)?.operators(reader)?) }
}
