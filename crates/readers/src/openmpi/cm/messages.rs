//! Messages that MPI_Mprobe matched and that nobody has received yet (`ompi_mtl_ofi_improbe_generic`,
//! ompi/mca/mtl/ofi/mtl_ofi.h, v4.1.4 and v5.0.7).

use super::network::Network;
use super::requests::Decoded;
use crate::ReaderError;
use crate::openmpi::detect::required;
use crate::openmpi::pool;
use crate::openmpi::shapes::{PoolShapes, Shapes};
use crate::record::shape;
use layouts::Layouts;
use model::{Operation, OperationStatus, Remark};
use target::{Reason, Target};

shape!(
    /// A matched message (ompi/message/message.h).
    Message = ["ompi_message_t"] {
        next: "super.super.opal_list_next",
        comm: "comm",
        native: "req_ptr",
        source: "peer",
        bytes: "count",
    }
);

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
    network: &Result<Network<'_>, Reason>,
) -> Result<(Vec<Decoded>, Vec<String>), ReaderError> {
    let at = required(target, "ompi_message_free_list")?.addr;
    let allocated = pools.free_list.allocated;
    if target.read_uint(at.wrapping_add(allocated.offset as u64), allocated.size as u64)? == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let shape = Message::resolve(layouts)?;
    let mut found = Vec::new();
    let problems = pool::walk(target, shapes, pools, at, shape.size, |record| {
        // Those that are free are linked.
        if !record.pointer(shape.next).is_null() {
            return true;
        }
        let tag = network.as_ref().map_err(ToString::to_string).and_then(|network| {
            let kept = network.kept(record.pointer(shape.native)).map_err(|reason| reason.to_string())?;
            Ok(network.bits.tag(kept.bits))
        });
        let source = Some(record.int(shape.source));
        let mut operation = Operation {
            status: OperationStatus::Matched,
            desired_local_rank: source,
            actual_local_rank: source,
            actual_length: Some(record.uint(shape.bytes)),
            extra_text: vec![Remark::MatchedMessage],
            evidence: Some(EVIDENCE.into()),
            ..Operation::default()
        };
        match tag {
            Ok(tag) => (operation.desired_tag, operation.actual_tag) = (Some(tag), Some(tag)),
            Err(reason) => operation.not_known("desired_tag", reason),
        }
        found.push(Decoded { comm: record.pointer(shape.comm), order: 0, peer: None, operation });
        found.len() < super::MAX_OPERATIONS
    })?;
    Ok((found, problems))
}
