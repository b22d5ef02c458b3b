//! Sends of rxm (prov/rxm/src/rxm_{msg,cq}.c, 1.17 to 2.6): in a pool, without an order.
//!
//! Short messages are there until they have gone, long ones until the receiver has fetched them. To which process a send goes is
//! kept only where the sender writes (`FI_OFI_RXM_USE_RNDV_WRITE`); else a header says under which number the receiver has the
//! connection, which two receivers can have in common.

use std::collections::{HashMap, HashSet};

use super::layout::{Layout, RxmSends};
use super::{Listed, Number, Send, arrays, given, part_of, pieces, pools, process_of};
use crate::record::{Record, Slot};
use layouts::FieldKind;
use target::address::TargetAddr;
use target::{Reason, Target};

/// `ofi_op_tagged` (include/ofi_proto.h).
const TAGGED: u64 = 1;

// `rxm_ctrl_*` (prov/rxm/src/rxm.h): a message, a part of one, the announcement of one.
const MESSAGE: u64 = 0;
const PART: u64 = 1;
const ANNOUNCED: u64 = 2;

/// The connections of an endpoint, with the processes that they lead to.
struct Connections {
    processes: HashMap<TargetAddr, Option<u64>>,
    /// By the receivers' numbers; `None` where several have it.
    numbers: HashMap<u64, Option<TargetAddr>>,
}

/// Those of an endpoint.
///
/// # Errors
/// A sentence, where the layout has none.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Listed<Send>, Reason> {
    let shapes = part_of(layout, &layout.rxm_sends, "rxm's sends")?;
    let mut all = Listed::default();
    let read = connections(target, shapes, endpoint, &mut all).and_then(|connections| {
        let pool = shapes.endpoint.pool.read_pointer(target, endpoint)?;
        let objects = pools::in_use(target, &shapes.pool, pool)?;
        all.append(Listed::each(objects, "a send", |at| send(target, shapes, &connections, at)));
        Ok(())
    });
    all.fail_if(read.err());
    // A message can have several parts.
    let mut contexts = HashSet::new();
    all.found.retain(|send| contexts.insert(send.context));
    Ok(all)
}

/// The connections. Adds messages of which parts could not be sent at once.
fn connections(
    target: &dyn Target,
    shapes: &RxmSends,
    endpoint: TargetAddr,
    all: &mut Listed<Send>,
) -> Result<Connections, Reason> {
    let shape = &shapes.connection;
    let mut found = Connections { processes: HashMap::new(), numbers: HashMap::new() };
    let table = shapes.endpoint.connections.address_in(endpoint);
    for (_, at) in arrays::objects(target, &shapes.map, table)? {
        let record = Record::owned(target, at, shape.size)?;
        if record.pointer(shape.owner) != endpoint {
            return Err(Reason::new(format!("a connection of libfabric's endpoint at {endpoint} is not its own")));
        }
        let process = process_of(target, record.pointer(shape.peer), shapes.peer.address).ok().flatten();
        if found.processes.insert(at, process).is_some() {
            return Err(Reason::new(format!("libfabric's endpoint at {endpoint} has a connection twice")));
        }
        found.numbers.entry(record.uint(shape.target)).and_modify(|one| *one = None).or_insert(Some(at));
        let (deferred, entry) = (record.address_of(shape.deferred), (shapes.deferred.link, shapes.deferred.size));
        all.append(Listed::linked(target, deferred, entry, "a send", |record| {
            in_parts(target, shapes, process, record)
        }));
    }
    Ok(found)
}

/// A message of which parts could not be sent at once.
fn in_parts(
    target: &dyn Target,
    shapes: &RxmSends,
    destination: Option<u64>,
    record: &Record<'_>,
) -> Result<Option<Send>, Reason> {
    let shape = &shapes.deferred;
    let context = record.pointer(shape.context);
    if record.uint(shape.kind) != shapes.parts || record.uint(shape.operation) != TAGGED || context.is_null() {
        return Ok(None);
    }
    let (buffer, _) = pieces(target, record.address_of(shape.pieces), record.uint(shape.count))?;
    Ok(Some(Send {
        destination,
        tag: record.uint(shape.tag),
        context: given(context)?,
        buffer,
        length: record.uint(shape.length),
        number: None,
        in_order: false,
    }))
}

fn send(
    target: &dyn Target,
    shapes: &RxmSends,
    connections: &Connections,
    at: TargetAddr,
) -> Result<Option<Send>, Reason> {
    let shape = &shapes.send;
    let size = shape.size.max(shape.data.offset) + shapes.pieces.size;
    let record = Record::owned(target, at, size)?;
    let (packet, context) = (record.uint(shape.packet), record.pointer(shape.context));
    // What was copied is done for the MPI, which is told of nothing.
    let of_message = matches!(packet, MESSAGE | PART | ANNOUNCED) && record.uint(shape.operation) == TAGGED;
    if !of_message || context.is_null() {
        return Ok(None);
    }
    let known = record.pointer(shape.connection);
    let by_number = || connections.numbers.get(&record.uint(shape.target)).copied().flatten();
    let connection = if connections.processes.contains_key(&known) { Some(known) } else { by_number() };
    Ok(Some(Send {
        destination: connection.and_then(|at| connections.processes.get(&at).copied().flatten()),
        tag: record.uint(shape.tag),
        context: given(context)?,
        buffer: if packet == ANNOUNCED { announced(shapes, &record.view()) } else { None },
        length: record.uint(shape.length),
        number: (packet == ANNOUNCED).then(|| Number::OfProcess(record.uint(shape.number))),
        in_order: false,
    }))
}

/// Where the data of an announced message lies, if in one piece (`struct ofi_rma_iov`: address, length, key). Zero where the
/// receiver names it by an offset (`FI_MR_VIRT_ADDR` is not asked for).
fn announced(shapes: &RxmSends, record: &Record<'_>) -> Option<TargetAddr> {
    let shift = shapes.send.data.offset;
    let count = Slot { offset: shift + shapes.pieces.count.offset, ..shapes.pieces.count };
    let first = Slot { offset: shift + shapes.pieces.pieces.offset, size: 8, kind: FieldKind::Unsigned };
    let address = TargetAddr::new(record.uint(first));
    (record.uint(count) == 1 && !address.is_null()).then_some(address)
}

/// By what a message names its send. `at`: the packet that it came as.
pub fn number(target: &dyn Target, layout: &Layout, at: TargetAddr) -> Option<Number> {
    let shape = &layout.rxm_sends.as_ref()?.packet;
    let word = |slot: Slot| slot.read_uint(target, at).ok();
    if at.is_null() || word(shape.kind)? != ANNOUNCED {
        return None;
    }
    Some(Number::OfProcess(word(shape.number)?))
}
