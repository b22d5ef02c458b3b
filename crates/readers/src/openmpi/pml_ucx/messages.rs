//! Messages that MPI_Mprobe matched and that nobody has received yet: the pml has the address of UCX's.

use super::decoder::{Decoded, Decoder};
use super::tag;
use crate::ReaderError;
use crate::openmpi::communicators::Communicators;
use crate::openmpi::detect::required;
use crate::openmpi::pool;
use crate::openmpi::shapes::{PoolShapes, Shapes};
use model::{Operation, OperationStatus, Remark};
use target::Reason;
use target::address::TargetAddr;

const EVIDENCE: &str = "in the message of UCX that Open MPI's matched message leads to";

/// Reads them, and says why there may be more.
///
/// # Errors
/// Where the pool of messages cannot be read.
pub fn read(
    decoder: &mut Decoder<'_>,
    shapes: &Shapes,
    pools: &PoolShapes,
    communicators: &Communicators,
    room: &mut usize,
) -> Result<(Vec<Decoded>, Vec<String>), ReaderError> {
    let at = required(decoder.target, "ompi_message_free_list")?.addr;
    let allocated = pools.free_list.allocated;
    if allocated.read_uint(decoder.target, at)? == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let shape = &decoder.ucx.message;
    let (mut found, mut broken) = (Vec::new(), Vec::new());
    let mut problems = pool::walk(decoder.target, shapes, pools, at, shape.size, |record| {
        // Those that are free are linked.
        if !record.pointer(shape.next).is_null() {
            return true;
        }
        if *room == 0 {
            return false;
        }
        *room -= 1;
        match one(decoder, communicators, record.pointer(shape.comm), record.pointer(shape.native)) {
            Ok(decoded) => found.push(decoded),
            Err(problem) if broken.is_empty() => broken.push(problem.to_string()),
            Err(_) => {}
        }
        true
    })?;
    problems.extend(broken);
    Ok((found, problems))
}

fn one(
    decoder: &Decoder<'_>,
    communicators: &Communicators,
    comm: TargetAddr,
    native: TargetAddr,
) -> Result<Decoded, Reason> {
    let message = decoder.workers.held(decoder.target, native);
    let message = message.map_err(|reason| Reason::new(format!("the matched message at {native}: {reason}")))?;
    let index = decoder.places.arrived(message.word);
    let index = index.filter(|index| communicators.found.get(*index).is_some_and(|found| found.addr == comm));
    let other = || Reason::new(format!("the matched message at {native} is of another communicator"));
    let index = index.ok_or_else(other)?;
    let (rank, tag) = (Some(tag::rank(message.word)), Some(tag::tag(message.word)));
    let operation = Box::new(Operation {
        status: OperationStatus::Matched,
        desired_local_rank: rank,
        desired_tag: tag,
        actual_local_rank: rank,
        actual_tag: tag,
        actual_length: Some(message.length),
        extra_text: vec![Remark::MatchedMessage],
        evidence: Some(EVIDENCE.into()),
        ..Operation::default()
    });
    let (link, sender, mode, datatype) = (None, None, None, TargetAddr::NULL);
    Ok(Decoded { comm: index, order: u64::MAX, link, sender, operation, sends: false, mode, datatype })
}
