//! Persistent requests, which the pml keeps in a pool of its own: while one is active, UCX has another request for it.

use std::collections::HashMap;
use std::sync::Arc;

use super::decoder::{self, Decoded, Decoder, matched_with};
use super::tag;
use crate::ReaderError;
use crate::openmpi::pool;
use crate::openmpi::requests::{COMPLETED, RequestConstants};
use crate::openmpi::shapes::{PoolShapes, Shapes};
use crate::record::Record;
use crate::send_mode::SendMode;
use model::{Operation, OperationStatus, Remark};
use target::address::TargetAddr;

/// `MCA_PML_UCX_REQUEST_FLAG_SEND` (open-mpi/ompi, ompi/mca/pml/ucx/pml_ucx_request.h, v4.1.4 and v5.0.10).
const SENDS: u64 = 1;

/// What a persistent request would do.
#[derive(Debug, Clone)]
pub struct Persistent {
    /// The request that the program has.
    pub request: TargetAddr,
    buffer: u64,
    count: u64,
    bytes: Option<u64>,
    name: Option<Arc<str>>,
    /// The datatype object.
    pub datatype: TargetAddr,
    /// Of a send.
    pub mode: Option<SendMode>,
}

impl Persistent {
    /// Fills in what it knows better than UCX.
    pub fn put_into(&self, operation: &mut Operation) {
        operation.persistent = true;
        operation.request = Some(self.request.get());
        operation.call = Some(decoder::init(self.mode));
        (operation.buffer, operation.count) = (Some(self.buffer), Some(self.count));
        operation.datatype = self.name.clone().map(Into::into);
        if let Some(bytes) = self.bytes.and_then(|bytes| bytes.checked_mul(self.count)) {
            operation.desired_length = Some(bytes);
        }
        for fact in ["buffer", "count", "datatype"] {
            operation.unknown.remove(fact);
        }
        // A synchronous one has said so already.
        let remark = self.mode.and_then(SendMode::remark).filter(|remark| !operation.extra_text.contains(remark));
        operation.extra_text.extend(remark);
    }
}

/// Persistent requests that UCX has none for.
#[derive(Default)]
pub struct Found {
    /// Active ones that are complete: sends, then receives.
    pub complete: [Vec<Decoded>; 2],
    /// Inactive ones.
    pub inactive: Vec<Decoded>,
}

/// Reads the pool at `at`; those that UCX has a request for go to the decoder. Returns why there may be more, too.
///
/// # Errors
/// Where the pool cannot be read.
pub fn read(
    decoder: &mut Decoder<'_>,
    shapes: &Shapes,
    pools: &PoolShapes,
    constants: &RequestConstants,
    at: TargetAddr,
    room: &mut usize,
) -> Result<(Found, Vec<String>), ReaderError> {
    let shape = &decoder.ucx.persistent;
    let (target, size) = (decoder.target, shape.size);
    // A pool that was never used describes nothing yet.
    let allocated = pools.free_list.allocated;
    if allocated.read_uint(target, at)? == 0 {
        return Ok((Found::default(), Vec::new()));
    }
    let (mut found, mut active) = (Found::default(), HashMap::new());
    let problems = pool::walk(target, shapes, pools, at, size, |record| {
        if *room == 0 {
            return false;
        }
        let Some(one) = One::of(decoder, constants, &record) else { return true };
        *room -= 1;
        match one {
            One::Active(native, facts) => {
                active.insert(native, facts);
            }
            One::Complete(decoded) => found.complete[usize::from(decoded.mode.is_none())].push(*decoded),
            One::Inactive(decoded) => found.inactive.push(*decoded),
        }
        true
    })?;
    decoder.active = active;
    Ok((found, problems))
}

/// What a persistent request is doing.
pub enum One {
    /// UCX has a request for it, behind which lies this one of the pml.
    Active(TargetAddr, Persistent),
    /// It was started and is complete.
    Complete(Box<Decoded>),
    /// It waits to be started.
    Inactive(Box<Decoded>),
}

impl One {
    /// What the record of one says; `None` where it is in no use, or makes no sense.
    pub fn of(decoder: &mut Decoder<'_>, constants: &RequestConstants, record: &Record<'_>) -> Option<Self> {
        let shape = &decoder.ucx.persistent;
        let state = record.uint(shape.state);
        // Those that were never taken look inactive.
        if !record.pointer(shape.free).is_null() || state == constants.state_invalid {
            return None;
        }
        let (is_active, native) = (state == constants.state_active, record.pointer(shape.native));
        let facts = facts(decoder, constants, record);
        if is_active && !native.is_null() {
            return Some(Self::Active(native, facts));
        }
        let decoded = alone(decoder, record, &facts)?;
        Some(match is_active {
            true => Self::Complete(Box::new(completed(decoder, record, decoded))),
            false => Self::Inactive(Box::new(decoded)),
        })
    }
}

fn facts(decoder: &mut Decoder<'_>, constants: &RequestConstants, record: &Record<'_>) -> Persistent {
    let shape = &decoder.ucx.persistent;
    let (sends, number) = (record.uint(shape.flags) & SENDS != 0, record.uint(shape.mode));
    let datatype = record.pointer(shape.datatype);
    let (request, buffer, count) = (record.addr, record.uint(shape.buffer), record.uint(shape.count));
    let known = decoder.datatype(datatype);
    let mode = sends.then(|| constants.mode(number).unwrap_or(SendMode::Standard));
    Persistent { request, buffer, count, bytes: known.bytes, name: known.name, datatype, mode }
}

/// One that UCX has no request for: everything stands in it.
fn alone(decoder: &mut Decoder<'_>, record: &Record<'_>, facts: &Persistent) -> Option<Decoded> {
    let shape = &decoder.ucx.persistent;
    let word = record.uint(shape.tag);
    let mut operation = Operation::default();
    let comm = if facts.mode.is_some() {
        let comm = decoder.places.sends(word);
        operation.desired_tag = Some(tag::tag(word));
        let endpoint = record.pointer(shape.endpoint);
        operation.desired_local_rank = comm.and_then(|comm| decoder.endpoints.rank(decoder.places, comm, endpoint));
        if operation.desired_local_rank.is_none() {
            for fact in ["desired_local_rank", "desired_global_rank"] {
                operation.not_known(fact, "no process of the group has the connection that it sends over");
            }
        }
        comm
    } else {
        let found = decoder.places.receives(word, record.uint(shape.mask));
        if let Some((_, open)) = found {
            (operation.any_source, operation.tag_wild) = (open.any_source, open.any_tag);
            operation.desired_local_rank = (!open.any_source).then(|| tag::rank(word));
            operation.desired_tag = (!open.any_tag).then(|| tag::tag(word));
        }
        found.map(|(comm, _)| comm)
    };
    let Some(comm) = comm else {
        let known = decoder.places.knows(tag::context(word));
        if known {
            decoder.impossible += 1;
        } else {
            *decoder.orphans.entry(tag::context(word)).or_default() += 1;
        }
        return None;
    };
    facts.put_into(&mut operation);
    if !operation.tag_wild {
        decoder.internal(comm, tag::tag(word), &mut operation);
    }
    let (mode, datatype, operation) = (facts.mode, facts.datatype, Box::new(operation));
    Some(Decoded { comm, order: 0, link: None, sender: None, operation, sends: mode.is_some(), mode, datatype })
}

/// The same, of one that was started and is complete.
fn completed(decoder: &Decoder<'_>, record: &Record<'_>, mut decoded: Decoded) -> Decoded {
    let shape = &decoder.ucx.persistent;
    let operation = &mut decoded.operation;
    if record.uint(shape.complete) == COMPLETED {
        operation.status = OperationStatus::Complete;
    }
    if decoded.mode.is_some() {
        operation.actual_local_rank = operation.desired_local_rank;
        (operation.actual_tag, operation.actual_length) = (operation.desired_tag, operation.desired_length);
    } else if record.uint(shape.cancelled) != 0 {
        operation.extra_text.push(Remark::Cancelled);
    } else {
        matched_with(0, record.uint(shape.status_bytes), operation);
        operation.actual_local_rank = Some(record.int(shape.status_source));
        operation.actual_tag = Some(record.int(shape.status_tag));
        let error = record.int(shape.status_error);
        if error != 0 {
            operation.extra_text.push(Remark::ErrorCode(error));
        }
    }
    decoded
}
