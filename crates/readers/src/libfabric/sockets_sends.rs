//! Sends of sockets (prov/sockets/src/sock_{ep,progress,comm}.c, 1.15 to 2.6). The receiver's library takes all of them in where a
//! thread of its own does so: then they wait only for room on their way.

use super::endpoint::field;
use super::layout::{Layout, Sockets, SocketsSends};
use super::sockets::{MOST_PIECES, present};
use super::{COPIED, Listed, MAX_LIST, REMOTE_CQ_DATA, Send, given, process_of};
use crate::record::{Record, Slot};
use crate::walk::circular_list;
use target::address::TargetAddr;
use target::{Reason, Target};

/// `SOCK_OP_TSEND` (prov/sockets/include/sock.h).
const TAGGED: u64 = 1;

/// Those of an endpoint. `receives`: its receive context.
pub fn read(target: &dyn Target, layout: &Layout, attributes: TargetAddr, receives: TargetAddr) -> Listed<Send> {
    let (Some(shapes), Some(sockets)) = (&layout.sockets_sends, &layout.sockets) else {
        return Listed::failed(format!("the layout {} has nothing of the sends of sockets", layout.name));
    };
    let shape = &shapes.sends;
    let context = of_sends(target, sockets, shapes, attributes, receives).unwrap_or(TargetAddr::NULL);
    let record = match Record::owned(target, context, shape.size) {
        Ok(record) if record.pointer(shape.attributes) == attributes => record,
        _ => {
            return Listed::failed(format!("what libfabric's endpoint has at {context} are no sends of its own"));
        }
    };
    let walk = circular_list(target, record.address_of(shape.going), 0, MAX_LIST);
    let mut all = present(Listed::of(walk, "a send", |link| send(target, shapes, context, link)));
    if record.uint(shape.read) != record.uint(shape.written) {
        all.fail("sends that libfabric has not begun with are not read");
    }
    all
}

/// The send context of an endpoint; of one with several, that with the number of the receive context (as MPICH uses them:
/// `create_sep_tx`, `create_sep_rx`, pmodels/mpich, src/mpid/ch4/netmod/ofi/ofi_init.c, v4.0 to v5.0).
fn of_sends(
    target: &dyn Target,
    sockets: &Sockets,
    shapes: &SocketsSends,
    attributes: TargetAddr,
    receives: TargetAddr,
) -> Option<TargetAddr> {
    let pointer = |at: TargetAddr, slot: Slot| field(target, at, slot.offset).map(TargetAddr::new);
    let own = pointer(attributes, shapes.owner.sends)?;
    if !own.is_null() {
        return Some(own);
    }
    let word = |at: TargetAddr, slot: Slot| slot.read_uint(target, at).ok();
    let number = word(receives, sockets.receives.number)?;
    let several =
        pointer(attributes, shapes.owner.several).filter(|_| Some(number) < word(attributes, shapes.owner.count));
    target.read_pointer(several?.wrapping_add(number * target.abi().pointer_width.bytes())).ok()
}

fn send(
    target: &dyn Target,
    shapes: &SocketsSends,
    owner: TargetAddr,
    link: TargetAddr,
) -> Result<Option<Send>, Reason> {
    let (shape, piece) = (&shapes.send, &shapes.piece);
    let at = shape.link.structure_of(link);
    let mut buffer = Vec::new();
    let record = Record::read(target, at, shape.size, &mut buffer).map_err(Reason::of)?;
    if record.pointer(shape.owner) != owner {
        return Err(Reason::new("it belongs to another endpoint"));
    }
    let done = record.uint(shape.told) != 0 || record.uint(shape.flags) & COPIED != 0;
    if done || record.uint(shape.operation) != TAGGED {
        return Ok(None);
    }
    let count = record.uint(shape.count);
    if count > MOST_PIECES {
        return Err(Reason::new(format!("it has {count} pieces")));
    }
    let pieces = record.bytes(shape.pieces).chunks_exact(piece.size).take(usize::try_from(count).unwrap_or(0));
    let pieces: Vec<_> = pieces.map(|bytes| Record::new(TargetAddr::NULL, bytes, target.abi())).collect();
    let length = pieces.iter().fold(0_u64, |sum, one| sum.saturating_add(one.uint(piece.length)));
    let destination = process_of(target, record.pointer(shape.connection), shapes.connection.address)?;
    Ok(Some(Send {
        destination,
        tag: match record.uint(shape.gone) {
            0 => record.uint(shape.tag),
            _ => tag_of_gone(target, shapes, &record, length)?,
        },
        context: given(record.pointer(shape.context))?,
        buffer: match pieces.as_slice() {
            [one] => Some(one.pointer(piece.address)),
            _ => None,
        },
        length,
        number: None,
        in_order: true,
    }))
}

/// The tag of a message of `length` bytes that has gone whole and waits for its receiver's word: `sock_pe_progress_tx_send` clears
/// it, but what began the message (`struct sock_msg_hdr`, then the tag, then the MPI's own data) went through the entry's own buffer
/// as the last thing, before or with the message itself (`sock_comm_send`).
fn tag_of_gone(target: &dyn Target, shapes: &SocketsSends, record: &Record<'_>, length: u64) -> Result<u64, Reason> {
    let (shape, header) = (&shapes.send, &shapes.header);
    let tag = Slot { offset: header.size, ..shape.tag };
    let own_data = if record.uint(shape.flags) & REMOTE_CQ_DATA == 0 { 0 } else { 8 };
    let size = header.size.saturating_add(tag.size);
    let (buffered, room) = (record.uint(shape.buffered), record.uint(shape.room));
    let starts = [0, length].map(|length| buffered.checked_sub(length)?.checked_sub(own_data + size as u64));
    let own = |slot: Slot| record.bytes(Slot { offset: shape.header.offset.saturating_add(slot.offset), ..slot });
    for start in starts.into_iter().flatten().filter(|_| buffered <= room) {
        let mut buffer = Vec::new();
        let at = record.pointer(shape.buffer).wrapping_add(start);
        let began = Record::read(target, at, size, &mut buffer).map_err(Reason::of)?;
        let same = |slot: Slot| began.bytes(slot) == own(slot);
        if began.uint(header.operation) == TAGGED && same(header.entry) && same(header.length) {
            return Ok(began.uint(tag));
        }
    }
    Err(Reason::new("it has gone, and its tag is not kept"))
}
