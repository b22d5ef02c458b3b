//! Messages that MPI_Mprobe matched and that nobody has received yet (`ompi_mtl_ofi_improbe_generic`,
//! ompi/mca/mtl/ofi/mtl_ofi.h, v4.1.4 and v5.0.7).

use std::collections::HashSet;

use super::network::Network;
use super::requests::Decoded;
use crate::ReaderError;
use crate::openmpi::detect::required;
use crate::openmpi::pool;
use crate::openmpi::shapes::{PoolShapes, Shapes};
use crate::record::shapes;
use layouts::Layouts;
use model::{Operation, OperationStatus, Remark};
use target::{Reason, Target};

shapes! {
    /// A matched message (ompi/message/message.h).
    Message = ["ompi_message_t"] {
        next: "super.super.opal_list_next",
        comm: "comm",
        native: "req_ptr",
        source: "peer",
        bytes: "count",
    };
}

const EVIDENCE: &str = "in Open MPI's matched message, and in the request of the mtl ofi that it leads to";

/// Reads them, and says why there may be more.
///
/// # Errors
/// Where the pool of messages cannot be read.
pub fn read(
    target: &dyn Target,
    layouts: &Layouts,
    shapes: &Shapes,
    pools: &PoolShapes,
    network: &Result<Network, Reason>,
) -> Result<(Vec<Decoded>, Vec<String>), ReaderError> {
    let at = required(target, "ompi_message_free_list")?.addr;
    let allocated = pools.free_list.allocated;
    if allocated.read_uint(target, at)? == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let shape = Message::resolve(layouts)?;
    let (mut found, mut seen, mut unsure) = (Vec::new(), HashSet::new(), (0_u64, None));
    let mut problems = pool::walk(target, shapes, pools, at, shape.size, |record| {
        // Those that are free are linked.
        if !record.pointer(shape.next).is_null() {
            return true;
        }
        let (native, known) = (record.pointer(shape.native), (record.int(shape.source), record.uint(shape.bytes)));
        let tag = network.as_ref().map_err(Clone::clone);
        let tag = match tag.and_then(|network| network.tag_of_matched(target, native, known)) {
            // A request that is freed can become another probe's: it is one message's.
            Ok(tag) if tag.is_none() || !seen.insert(native) => return true,
            Ok(tag) => tag,
            Err(reason) => {
                unsure.0 += 1;
                unsure.1.get_or_insert(reason);
                return true;
            }
        };
        let source = Some(known.0);
        let operation = Operation {
            status: OperationStatus::Matched,
            desired_local_rank: source,
            desired_tag: tag,
            actual_local_rank: source,
            actual_tag: tag,
            actual_length: Some(known.1),
            extra_text: vec![Remark::MatchedMessage],
            evidence: Some(EVIDENCE.into()),
            ..Operation::default()
        };
        found.push(Decoded {
            comm: record.pointer(shape.comm),
            order: 0,
            peer: None,
            number: None,
            in_order: true,
            operation,
        });
        found.len() < crate::queues::MAX_OPERATIONS
    })?;
    if let (count, Some(reason)) = unsure {
        problems.push(format!("matched messages that may or may not have been received: {count} ({reason})"));
    }
    Ok((found, problems))
}
