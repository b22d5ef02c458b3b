//! Sends of sockets (prov/sockets/src/sock_{ep,progress,comm}.c, 1.15 to 2.6). The receiver's library takes all of them in where a
//! thread of its own does so: then they wait only for room on their way.

use super::endpoint::field;
use super::layout::{Layout, Sockets, SocketsSends};
use super::sockets::MOST_PIECES;
use super::{COPIED, Listed, REMOTE_CQ_DATA, Send, given, part_of, process_of};
use crate::record::{Record, Slot};
use target::address::TargetAddr;
use target::{Reason, Target};

/// `SOCK_OP_TSEND` (prov/sockets/include/sock.h).
const TAGGED: u64 = 1;

/// Those of an endpoint. `receives`: its receive context.
///
/// # Errors
/// A sentence, where the endpoint does not lead to them.
pub fn read(
    target: &dyn Target,
    layout: &Layout,
    attributes: TargetAddr,
    receives: TargetAddr,
) -> Result<Listed<Send>, Reason> {
    let what = "the sends of sockets";
    let (shapes, sockets) = (part_of(layout, &layout.sockets_sends, what)?, part_of(layout, &layout.sockets, what)?);
    let shape = &shapes.sends;
    let context = of_sends(target, sockets, shapes, attributes, receives).unwrap_or(TargetAddr::NULL);
    let record = Record::owned(target, context, shape.size).ok();
    let record = record
        .filter(|record| record.pointer(shape.attributes) == attributes)
        .ok_or_else(|| Reason::new(format!("what libfabric's endpoint has at {context} are no sends of its own")))?;
    let (going, entry) = (record.address_of(shape.going), (shapes.send.link, shapes.send.size));
    let mut all = Listed::linked(target, going, entry, "a send", |record| send(target, shapes, context, record));
    if record.uint(shape.read) != record.uint(shape.written) {
        all.fail("sends that libfabric has not begun with are not read");
    }
    Ok(all)
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
    record: &Record<'_>,
) -> Result<Option<Send>, Reason> {
    let (shape, piece) = (&shapes.send, &shapes.piece);
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
            _ => tag_of_gone(target, shapes, record, length)?,
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
        let at = record.pointer(shape.buffer).wrapping_add(start);
        let began = Record::owned(target, at, size)?;
        let same = |slot: Slot| began.bytes(slot) == own(slot);
        if began.uint(header.operation) == TAGGED && same(header.entry) && same(header.length) {
            return Ok(began.uint(tag));
        }
    }
    Err(Reason::new("it has gone, and its tag is not kept"))
}
