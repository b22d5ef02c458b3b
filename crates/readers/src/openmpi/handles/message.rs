//! Matched messages (`ompi_message_t`, ompi/message/message.h, v4.1.4 and v5.0.7).

use std::collections::HashSet;

use super::{Depth, HandleReader};
use crate::openmpi::ob1::shapes::Request;
use crate::openmpi::pml::Pml;
use crate::openmpi::pool;
use crate::openmpi::requests::COMPLETED;
use crate::openmpi::shapes::PoolShapes;
use crate::record::{Record, shapes};
use crate::{ReaderError, add_problem};
use model::handle::{self, Fact};
use model::{Handle, HandleKind, HandleState};
use target::Reason;
use target::address::TargetAddr;

shapes! {
    /// Messages.
    Message = ["ompi_message_t"] {
        next: "super.super.opal_list_next",
        comm: "comm",
        request: "req_ptr",
        source: "peer",
        bytes: "count",
    };
}

/// The object behind MPI_MESSAGE_NO_PROC, and the pool of all others (ompi/message/message.c, v4.1.4 and v5.0.7).
const NO_PROC: &str = "ompi_message_no_proc";
const POOL: &str = "ompi_message_free_list";

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    if reader.symbol(NO_PROC)? == Some(addr) {
        handle.predefined = Some(true);
        handle.freed = Some(false);
        handle.name = Some("MPI_MESSAGE_NO_PROC".to_owned());
        handle.summary = "MPI_MESSAGE_NO_PROC".to_owned();
        return Ok(());
    }
    let shape = Message::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, addr, shape.size)?;
    let back = (!in_use(&record.view(), &shape))
        .then_some("it has been received or was never matched; the object is back in the library's pool");
    let received = received(reader, &record.view(), &shape).then_some("it has been received");
    handle.freed = Some(back.or(received).is_some());
    if let Some(detail) = back.or(received) {
        handle.fail(HandleState::Freed, detail);
        return Ok(());
    }
    let (comm, request) = (record.pointer(shape.comm), record.pointer(shape.request));
    let (source, bytes) = (record.int(shape.source), record.uint(shape.bytes));
    let probe = probe(reader, request, comm, (source, bytes)).map_err(Reason::of);
    let known = match &probe {
        Ok(Probe::Waiting) => Err("no message has been matched yet: MPI_Mprobe is still waiting".into()),
        Ok(_) => Ok(()),
        Err(reason) => Err(reason.clone()),
    };
    let tag = match &probe {
        Ok(Probe::Matched(tag)) => Ok(*tag),
        Ok(Probe::NotTold(reason)) => Err(reason.clone()),
        _ => Ok(0),
    };
    let message = handle::Message {
        communicator: known.clone().map(|()| reader.reference(HandleKind::Comm, comm)),
        source: known.clone().map(|()| source),
        tag: known.clone().and(tag),
        bytes: known.map(|()| bytes),
    };
    message.tell(handle);
    handle.summary = match probe {
        Ok(Probe::Matched(tag)) => format!("from {source}, tag {tag} {}, {bytes} bytes", reader.on(comm)),
        Ok(Probe::Waiting) => "not matched yet: MPI_Mprobe is still waiting".to_owned(),
        Ok(Probe::NotTold(_)) => format!("from {source} {}, {bytes} bytes", reader.on(comm)),
        Err(reason) => format!("a matched message whose request could not be read: {reason}"),
    };
    if depth == Depth::Full {
        let request = match reader.pml {
            Pml::Ob1 => Ok(reader.reference(HandleKind::Request, request)),
            other => Err(Reason::new(format!("{other} keeps no MPI_Request for it"))),
        };
        request.tell("request", handle);
    }
    Ok(())
}

/// What the request of a message says.
enum Probe {
    /// The message has been matched and has this tag.
    Matched(i64),
    /// The probe goes on; the message holds nothing yet.
    Waiting,
    /// The pml does not hold the tag so; why.
    NotTold(Reason),
}

/// ob1 keeps the receive request that matched (`mca_pml_ob1_improbe`, ompi/mca/pml/ob1/pml_ob1_iprobe.c, v4.1.4 and v5.0.7).
fn probe(
    reader: &HandleReader<'_>,
    request: TargetAddr,
    comm: TargetAddr,
    message: (i64, u64),
) -> Result<Probe, ReaderError> {
    if *reader.pml == Pml::Ucx {
        let (opened, _) = reader.ucx().as_ref().map_err(|reason| ReaderError::Damaged(reason.to_string()))?;
        return Ok(match opened.message(reader.target, request) {
            Ok((tag, _)) => Probe::Matched(tag),
            Err(reason) => Probe::NotTold(reason),
        });
    }
    if *reader.pml == Pml::Cm {
        let tag =
            reader.cm().as_ref().map_err(Clone::clone).and_then(|opened| opened.tag(reader.target, request, message));
        // Of one that was received it is not asked.
        return Ok(tag.map_or_else(Probe::NotTold, |tag| tag.map_or(Probe::Waiting, Probe::Matched)));
    }
    if *reader.pml != Pml::Ob1 {
        return Ok(Probe::NotTold(format!("{} keeps it in a form of its own", reader.pml).into()));
    }
    let shape = Request::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, request, shape.size)?;
    let kinds = ["MCA_PML_REQUEST_MPROBE", "MCA_PML_REQUEST_IMPROBE"];
    let kind = record.uint(shape.pml_kind);
    let probes = kinds.iter().any(|name| reader.layouts.constant(name).is_ok_and(|value| value as u64 == kind));
    if !probes || record.uint(shape.complete) != COMPLETED {
        // Until it is matched, the message still holds what an earlier message left (`mca_pml_ob1_mprobe`).
        return Ok(Probe::Waiting);
    }
    if record.pointer(shape.comm) != comm {
        return Err(ReaderError::Damaged(format!("the request at {request} is of another communicator")));
    }
    Ok(Probe::Matched(record.int(shape.status_tag)))
}

/// Taking an object from the pool clears its link, giving it back sets it (opal/class/opal_lifo.h, v4.1.4 and v5.0.7).
fn in_use(record: &Record<'_>, shape: &Message) -> bool {
    record.pointer(shape.next).is_null()
}

/// Whether a message was received although the object is not back in the pool: with the pml cm it never is.
fn received(reader: &HandleReader<'_>, record: &Record<'_>, shape: &Message) -> bool {
    *reader.pml == Pml::Cm
        && reader.cm().as_ref().is_ok_and(|opened| {
            let message = (record.int(shape.source), record.uint(shape.bytes));
            opened.tag(reader.target, record.pointer(shape.request), message) == Ok(None)
        })
}

/// Adds objects that are in no table of the library, and why these are not all.
pub fn more(reader: &HandleReader<'_>, found: &mut Vec<TargetAddr>, reasons: &mut Vec<String>) {
    match walk_pool(reader) {
        Ok((messages, problems)) => {
            let known: HashSet<TargetAddr> = found.iter().copied().collect();
            found.extend(messages.into_iter().filter(|addr| !known.contains(addr)));
            for problem in problems {
                add_problem(reasons, problem);
            }
        }
        Err(error) => reasons.push(format!("the pool of messages could not be read: {error}")),
    }
}

fn walk_pool(reader: &HandleReader<'_>) -> Result<(Vec<TargetAddr>, Vec<String>), ReaderError> {
    let at = reader.symbol(POOL)?.ok_or(ReaderError::NoSymbol(POOL))?;
    let (shape, pools) = (Message::resolve(reader.layouts)?, PoolShapes::resolve(reader.layouts)?);
    let mut messages = Vec::new();
    let problems = pool::walk(reader.target, reader.shapes, &pools, at, shape.size, |record| {
        if in_use(&record, &shape) && !received(reader, &record, &shape) {
            messages.push(record.addr);
        }
        true
    })?;
    Ok((messages, problems))
}
