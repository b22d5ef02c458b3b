//! Sends of tcp (`xnet_tx_queue_insert`, `xnet_complete_tx`, `xnet_rts_check`, prov/tcp/src/xnet_{progress,msg}.c, 1.18 to 2.6;
//! prov/net in 1.17).
//!
//! Each connection has the send that is going, those behind it in their order, and those that have gone and wait for an answer.
//! Of long messages only the announcement goes until a receive matches: these have no order.

use std::collections::HashSet;

use super::arrays;
use super::layout::{Layout, Tcp, TcpSends};
use super::tcp::{ANNOUNCED, TAGGED, of_header};
use super::{Listed, MAX_LIST, Number, Send, given, part_of, process_of};
use crate::record::{Record, Slot};
use crate::walk::linear_list;
use target::address::TargetAddr;
use target::{Reason, Target};

/// `xnet_op_data`: of an announced message, whose header was written over.
const DATA: u64 = 7;

/// Announced messages of one connection (`ofi_byte_idx`, include/ofi_indexer.h).
const ANNOUNCEMENTS: usize = 256;

/// Those of an endpoint.
///
/// # Errors
/// A sentence, where the layout has none.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Listed<Send>, Reason> {
    let what = "tcp's sends";
    let (tcp, shapes) = (part_of(layout, &layout.tcp, what)?, part_of(layout, &layout.tcp_sends, what)?);
    let mut all = Listed::default();
    let at = |slot: Slot| slot.address_in(endpoint);
    let mut connections = Vec::new();
    match arrays::objects(target, &shapes.map, at(shapes.endpoint.connections)) {
        Ok(objects) => connections.extend(objects.into_iter().map(|(_, connection)| connection)),
        Err(reason) => all.fail(reason),
    }
    match target.read_pointer(at(shapes.endpoint.loopback)) {
        Ok(loopback) => connections.extend((!loopback.is_null()).then_some(loopback)),
        Err(error) => all.fail(Reason::of(error)),
    }
    let mut seen = HashSet::new();
    for connection in connections {
        let problem = match seen.insert(connection) {
            true => of_connection(target, tcp, shapes, endpoint, connection, &mut all).err(),
            false => Some(Reason::new(format!("libfabric's endpoint at {endpoint} has a connection twice"))),
        };
        if let Some(reason) = problem {
            all.fail(reason);
            break;
        }
    }
    Ok(all)
}

/// Adds those of one connection.
fn of_connection(
    target: &dyn Target,
    tcp: &Tcp,
    shapes: &TcpSends,
    endpoint: TargetAddr,
    connection: TargetAddr,
    all: &mut Listed<Send>,
) -> Result<(), Reason> {
    let record = Record::owned(target, connection, shapes.connection.size)?;
    if record.pointer(shapes.connection.owner) != endpoint {
        return Err(Reason::new(format!("a connection of libfabric's endpoint at {endpoint} is not its own")));
    }
    let (at, peer) = (record.pointer(shapes.connection.endpoint), record.pointer(shapes.connection.peer));
    if at.is_null() {
        return Ok(());
    }
    let destination = process_of(target, peer, tcp.peer.address)?;
    let pointer = |slot: Slot| slot.read_pointer(target, at).map_err(Reason::of);
    let announced = match shapes.queues.announced {
        Some(slot) => announced(target, shapes, pointer(slot)?)?,
        None => Vec::new(),
    };
    let mut waiting = vec![pointer(shapes.queues.current)?];
    waiting.retain(|current| !current.is_null());
    let list = |slot: Slot| Ok::<_, Reason>(linear_list(target, pointer(slot)?, 0, MAX_LIST));
    let queue = list(shapes.queues.waiting)?;
    waiting.extend(queue.elements);
    let not_gone: HashSet<TargetAddr> = waiting.iter().copied().collect();
    let (unanswered, leaving) = (list(shapes.queues.unanswered)?, list(shapes.queues.leaving)?);
    let mut gone: Vec<(TargetAddr, bool)> = Vec::new();
    gone.extend(announced.iter().filter(|(_, at)| !not_gone.contains(at)).map(|(_, at)| (*at, false)));
    gone.extend(unanswered.elements.into_iter().chain(leaving.elements).map(|at| (at, true)));
    // Which of those that have gone was first is only told by a list that has them all.
    let in_order = gone.len() <= 1 || gone.iter().all(|(_, listed)| *listed);
    let mut seen = HashSet::new();
    let entries = gone.into_iter().map(|(at, _)| (at, in_order)).chain(waiting.into_iter().map(|at| (at, true)));
    for (at, in_order) in entries.filter(|(at, _)| seen.insert(*at)) {
        let number = announced.iter().find(|(_, one)| *one == at).map(|(number, _)| Number::OfPair(*number));
        match send(target, tcp, at) {
            Ok(found) => all.found.extend(found.map(|send| {
                // A message that a receive has matched is sent behind all that were posted meanwhile.
                Send { destination, number, in_order: in_order && !send.1, ..send.0 }
            })),
            Err(reason) => all.fail(format!("a send of libfabric at {at}: {reason}")),
        }
    }
    let stopped = queue.stopped.or(unanswered.stopped).or(leaving.stopped);
    all.fail_if(stopped.map(|stopped| format!("libfabric's list of sends: {stopped}")));
    Ok(())
}

/// Those of which only the announcement goes, with their numbers.
fn announced(target: &dyn Target, shapes: &TcpSends, table: TargetAddr) -> Result<Vec<(u64, TargetAddr)>, Reason> {
    let item = &shapes.item;
    if table.is_null() {
        return Ok(Vec::new());
    }
    let bytes = target.read_bytes(table, ANNOUNCEMENTS * item.size)?;
    let records = (0..).zip(bytes.chunks_exact(item.size)).skip(1);
    let records = records.map(|(number, bytes)| (number, Record::new(table, bytes, target.abi())));
    // A number that is free has the next one.
    let taken = records.filter(|(_, record)| record.int(item.next) == -1);
    Ok(taken.map(|(number, record)| (number, record.pointer(item.item))).collect())
}

/// A send, and whether it was announced and is matched; `None` for what is none of the MPI's with a tag.
fn send(target: &dyn Target, tcp: &Tcp, at: TargetAddr) -> Result<Option<(Send, bool)>, Reason> {
    let shape = &tcp.entry;
    let record = Record::owned(target, at, shape.size)?;
    let kind = record.uint(shape.kind);
    let context = record.pointer(shape.context);
    // What was copied is done for the MPI, which is told of nothing.
    if !matches!(kind, TAGGED | ANNOUNCED | DATA) || context.is_null() {
        return Ok(None);
    }
    let header = of_header(shape, &record.view(), 0);
    let count = if kind == ANNOUNCED { record.uint(shape.ignore) } else { record.uint(shape.count) };
    let send = Send {
        destination: None,
        tag: header.tag,
        context: given(context)?,
        buffer: whole(target, tcp, &record.view(), count, header.length),
        length: header.length,
        number: None,
        in_order: false,
    };
    Ok(Some((send, kind == DATA)))
}

/// Where the data lies, if in one piece: pieces that have gone are taken off from the front, the last one keeps its end.
fn whole(target: &dyn Target, tcp: &Tcp, record: &Record<'_>, count: u64, length: u64) -> Option<TargetAddr> {
    /// `XNET_IOV_LIMIT`, and the header.
    const MOST: u64 = 5;
    let shape = &tcp.entry;
    let buffer = record.pointer(shape.buffer?);
    let (last, width) = (count.checked_sub(1).filter(|last| *last < MOST)?, target.abi().pointer_width.bytes());
    let word = |index: u64| {
        let offset = shape.pieces.offset + usize::try_from((2 * last + index) * width).unwrap_or(0);
        record.uint(Slot { offset, size: usize::try_from(width).unwrap_or(8), kind: layouts::FieldKind::Unsigned })
    };
    let whole = word(0).checked_add(word(1)) == buffer.get().checked_add(length);
    (whole && !buffer.is_null()).then_some(buffer)
}
