//! Requests of nonblocking and persistent collectives of the component libnbc.
//!
//! A collective is a schedule of rounds; each round posts messages with a tag of the collective, and ends when they are
//! complete. Nothing says which function it was (ompi/mca/coll/libnbc/nbc.c and nbc_internal.h, v4.1.4 and v5.0.7).

use super::request::Request;
use super::{Depth, HandleReader};
use crate::ReaderError;
use crate::record::{Record, Slot, shape, size_of};
use model::handle::{Fact, Reference};
use model::{Handle, HandleKind, Typed};
use target::Reason;
use target::address::TargetAddr;

shape!(
    /// A request.
    Nbc = ["ompi_coll_libnbc_request_t"] {
        comm: "comm",
        tag: "tag",
        position: "row_offset",
        posted: "req_array",
        posted_len: "req_count",
        schedule: "schedule",
    }
);
shape!(
    /// A schedule.
    Schedule = ["NBC_Schedule"] { len: "size", data: "data" }
);

/// A round never has more messages than this (1 Mi): a few for each process.
const MAX_POSTED: u64 = 1 << 20;

/// At most this many of them are shown.
const MAX_SHOWN: u64 = 1000;

/// A schedule never has more bytes than this (64 Mi).
const MAX_SCHEDULE: u64 = 1 << 26;

/// The structures of a schedule's operations, by their numbers (`NBC_Fn_type`, nbc_internal.h, v4.1.4 and v5.0.7).
const OPERATIONS: &[&str] = &["NBC_Args_send", "NBC_Args_recv", "NBC_Args_op", "NBC_Args_copy", "NBC_Args_unpack"];

/// Adds what the request holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(request: &Request<'_>, handle: &mut Handle) -> Result<(), ReaderError> {
    let reader = request.reader;
    let shape = Nbc::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, request.addr, shape.size, &mut buffer)?;
    handle.unknown("call", "the library does not keep which collective it is");
    let position = record.uint(shape.position);
    let schedule = record.pointer(shape.schedule);
    let rounds = if request.inactive {
        Err("it has not been started".into())
    } else if schedule.is_null() {
        // NBC_Free gives the schedule back.
        Err("it has completed, and its schedule is gone".into())
    } else {
        rounds(reader, schedule, position).map_err(Reason::of)
    };
    let progress = rounds.as_ref().map_or_else(|_| String::new(), |(round, of)| format!(", round {round} of {of}"));
    rounds.clone().map(|(round, _)| round).tell("round", handle);
    rounds.map(|(_, of)| of).tell("rounds", handle);
    let tag = record.int(shape.tag);
    handle.fact("tag", tag);
    let comm = record.pointer(shape.comm);
    // Once it is complete, the request still names its communicator in the part that all requests share.
    let comm = if comm.is_null() { request.communicator } else { comm };
    if let Typed::Request(known) = &mut handle.typed {
        // libnbc counts its tags down.
        known.sequence = Some(tag.wrapping_neg());
    }
    if request.depth == Depth::Full {
        request.add_communicator(handle);
        let posted = posted(reader, record.pointer(shape.posted), record.int(shape.posted_len));
        posted.map_err(Reason::of).tell("sub_requests", handle);
    }
    let sort = if request.persistent { "persistent" } else { "nonblocking" };
    handle.summary = format!("{sort} collective {}{progress}, {}", request.on(comm), request.status_word());
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

/// The number of the round that begins at `position`, from 1, and how many rounds there are.
fn rounds(reader: &HandleReader<'_>, at: TargetAddr, position: u64) -> Result<(u64, u64), ReaderError> {
    let mut current = None;
    let mut count = 0;
    walk(reader, at, |start, _| {
        count += 1;
        if start == position {
            current = Some(count);
        }
    })?;
    let damaged = || ReaderError::Damaged(format!("no round of the schedule at {at} begins at {position}"));
    Ok((current.ok_or_else(damaged)?, count))
}

/// Calls `round` with the position of each round of a schedule and the positions of its operations in the schedule.
///
/// A round is the number of its operations, then these one by one without padding, then a byte that tells whether another
/// round follows.
fn walk(
    reader: &HandleReader<'_>,
    at: TargetAddr,
    mut round: impl FnMut(u64, &[(u64, usize)]),
) -> Result<(), ReaderError> {
    let shape = Schedule::resolve(reader.layouts)?;
    let sizes: Result<Vec<usize>, _> = OPERATIONS.iter().map(|name| size_of(reader.layouts, name)).collect();
    let sizes = sizes?;
    let int = Slot::resolve(reader.layouts, OPERATIONS[0], "type")?.size;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
    let damaged = |what: &str| ReaderError::Damaged(format!("the schedule at {at} {what}"));
    let len = u64::try_from(record.int(shape.len)).ok().filter(|len| *len <= MAX_SCHEDULE);
    let data = reader
        .target
        .read_bytes(record.pointer(shape.data), len.ok_or_else(|| damaged("is absurdly long"))? as usize)?;
    let number = |position: usize| {
        let bytes = position.checked_add(int).and_then(|end| data.get(position..end));
        bytes.map(|bytes| reader.target.abi().uint(bytes)).ok_or_else(|| damaged("ends early"))
    };
    let mut position = 0;
    loop {
        let start = position;
        let count = number(position)?;
        position += int;
        let mut operations = Vec::new();
        for _ in 0..count {
            let kind = number(position)? as usize;
            let size = sizes.get(kind).ok_or_else(|| damaged("has an operation that does not exist"))?;
            operations.push((position as u64, kind));
            position += size;
        }
        round(start as u64, &operations);
        // Every round has at least these bytes, so this ends with the data.
        match data.get(position) {
            Some(0) => return Ok(()),
            Some(_) => position += 1,
            None => return Err(damaged("ends early")),
        }
    }
}

/// The operators that a collective still uses, each once: those of its schedule.
///
/// # Errors
/// Where the request or its schedule cannot be read.
pub fn operators(reader: &HandleReader<'_>, request: TargetAddr) -> Result<Vec<TargetAddr>, ReaderError> {
    let slot = Slot::resolve(reader.layouts, "ompi_coll_libnbc_request_t", "schedule")?;
    let schedule = reader.target.read_pointer(request.wrapping_add(slot.offset as u64))?;
    let mut found = Vec::new();
    if schedule.is_null() {
        return Ok(found);
    }
    let data = Slot::resolve(reader.layouts, "NBC_Schedule", "data")?;
    let data = reader.target.read_pointer(schedule.wrapping_add(data.offset as u64))?;
    let op = Slot::resolve(reader.layouts, "NBC_Args_op", "op")?.offset as u64;
    let mut positions = Vec::new();
    walk(reader, schedule, |_, operations| {
        positions.extend(
            operations.iter().filter(|(_, kind)| OPERATIONS.get(*kind) == Some(&"NBC_Args_op")).map(|one| one.0),
        );
    })?;
    for position in positions {
        let addr = reader.target.read_pointer(data.wrapping_add(position + op))?;
        if !found.contains(&addr) {
            found.push(addr);
        }
    }
    Ok(found)
}
