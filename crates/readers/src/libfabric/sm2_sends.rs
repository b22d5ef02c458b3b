//! Sends of sm2 (prov/sm2/src/sm2_{ep,fifo.h,progress}.c, 1.19 to 2.6). A long message is announced by an entry of the sender's, which
//! the receiver hands back as soon as it has looked: from then on only the receiver has something of the send. It is named by what
//! the MPI gave for it, so that the MPI's own request still tells which it is.

use std::collections::{HashMap, HashSet};

use super::endpoint::{behind, field};
use super::layout::{Layout, Sm2Sends};
use super::{ANY_ADDRESS, Listed, Number, Send, Source, TAGGED, given, part_of, pieces};
use crate::record::{Record, Slot};
use target::address::TargetAddr;
use target::{Reason, Target};

// States of an entry (`SM2_RETURN`, `SM2_GENERATE_COMPLETION`, prov/sm2/src/sm2.h).
const RETURNED: u64 = 1 << 0;
const RECEIVED: u64 = 1 << 3;

/// Processes of one job (`SM2_MAX_UNIVERSE_SIZE`).
const MAX_PROCESSES: u64 = 256;

/// Entries of a process (`SM2_NUM_XFER_ENTRY_PER_PEER`: 1024); their numbers have 15 bits.
const MAX_ENTRIES: u64 = 1 << 15;

/// Entries that are sent to all processes and not looked at, as far as they are followed.
const MAX_QUEUED: usize = 1 << 16;

/// Those of an endpoint.
///
/// # Errors
/// A sentence, where the endpoint does not lead to them.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Listed<Send>, Reason> {
    let shapes = part_of(layout, &layout.sm2_sends, "sm2's sends")?;
    let own = own(target, shapes, endpoint)?;
    let entries = in_use(target, shapes, own.region)?;
    let mut all: Listed<(TargetAddr, Send)> =
        Listed::each(entries, "a send", |at| Ok(send(target, shapes, &own, at)?.map(|send| (at, send))));
    if !all.found.is_empty() {
        place(target, shapes, &own, &mut all.found);
    }
    Ok(Listed { found: all.found.into_iter().map(|(_, send)| send).collect(), problem: all.problem })
}

/// What an endpoint has: where all shared memory begins, its own part of that, its number, and those of the others.
struct Own {
    base: TargetAddr,
    region: TargetAddr,
    number: u64,
    addresses: TargetAddr,
}

fn own(target: &dyn Target, shapes: &Sm2Sends, endpoint: TargetAddr) -> Result<Own, Reason> {
    let shape = &shapes.own;
    let pointer = |slot: Slot, what| behind(target, endpoint, slot.offset, what);
    Ok(Own {
        base: behind(target, pointer(shape.map, "shared memory")?, shapes.map.base.offset, "shared memory")?,
        region: pointer(shape.region, "part of shared memory")?,
        number: shape.number.read_uint(target, endpoint)?,
        addresses: pointer(shape.addresses, "addresses")?,
    })
}

/// The entries of a process that are not free.
fn in_use(target: &dyn Target, shapes: &Sm2Sends, region: TargetAddr) -> Result<Vec<TargetAddr>, Reason> {
    const LINK: usize = 2;
    let shape = &shapes.entries;
    let offset = field(target, region, shapes.region.entries.offset);
    let at = region.wrapping_add(offset.ok_or("its part of shared memory cannot be read")?);
    let record = Record::owned(target, at, shape.size)?;
    let (count, stride) = (record.uint(shape.count), record.uint(shape.stride));
    let no_pool = || Reason::new(format!("what is at {at} is not a pool of libfabric's"));
    let bytes = usize::try_from(count).ok().filter(|_| count <= MAX_ENTRIES).map(|count| count * LINK);
    let (Some(bytes), true) = (bytes, stride >= shapes.entry.size as u64) else { return Err(no_pool()) };
    let links = target.read_bytes(record.address_of(shape.next), bytes)?;
    let mut free = HashSet::new();
    let mut next = target.abi().int(record.bytes(shape.free));
    while next != -1 {
        let index = u64::try_from(next).ok().filter(|index| *index < count).ok_or_else(no_pool)?;
        // A number twice is no list.
        if !free.insert(index) {
            return Err(no_pool());
        }
        let place = usize::try_from(next).unwrap_or(0) * LINK;
        next = target.abi().int(links.get(place..place + LINK).unwrap_or_default());
    }
    let first = at.wrapping_add(record.uint(shape.first));
    let used = (0..count).filter(|index| !free.contains(index));
    Ok(used.map(|index| first.wrapping_add(index.wrapping_mul(stride))).collect())
}

fn send(target: &dyn Target, shapes: &Sm2Sends, own: &Own, at: TargetAddr) -> Result<Option<Send>, Reason> {
    let shape = &shapes.entry;
    let size = shapes.pieces.as_ref().map_or(0, |pieces| pieces.size).saturating_add(shape.data.offset);
    let record = Record::owned(target, at, size.min(shape.size))?;
    let (way, context) = (record.uint(shape.way), record.pointer(shape.context));
    // With others of its entries a process tells those that have sent to it; they have what a sender's MPI gave.
    let announces = [0, RETURNED | RECEIVED].contains(&record.uint(shape.state));
    let is_own = announces && record.uint(shape.sender) == own.number;
    if !is_own || !shapes.is_fetched(way) || record.uint(shape.operation) != TAGGED || context.is_null() {
        return Ok(None);
    }
    let first = match &shapes.pieces {
        Some(piece) if shapes.copied == Some(way) => {
            let here = |slot: Slot| Slot { offset: shape.data.offset + slot.offset, ..slot };
            pieces(target, record.address_of(here(piece.first)), record.uint(here(piece.count)))?.0
        }
        _ => None,
    };
    Ok(Some(Send {
        destination: None,
        tag: record.uint(shape.tag),
        context: given(context)?,
        buffer: first,
        length: record.uint(shape.length),
        number: Some(Number::given(context)),
        in_order: false,
    }))
}

/// Says to which processes those go that their receivers have not looked at: they lie in those ones' queues, in order.
fn place(target: &dyn Target, shapes: &Sm2Sends, own: &Own, found: &mut [(TargetAddr, Send)]) {
    /// No entry (`SM2_FIFO_FREE`).
    const NONE: u64 = -3_i64 as u64;
    let mut places: HashMap<TargetAddr, (u64, usize)> = HashMap::new();
    for (process, queue) in queues(target, shapes, own).unwrap_or_default() {
        // struct sm2_fifo: its first entry and its last one, from the beginning of all shared memory on.
        let mut next = field(target, queue, 0);
        while let Some(offset) = next.filter(|offset| *offset != NONE && places.len() < MAX_QUEUED) {
            let (at, order) = (own.base.wrapping_add(offset), places.len());
            if let Some((process, _)) = places.get_mut(&at) {
                // What lies in two queues is not known to be for either.
                *process = ANY_ADDRESS;
                break;
            }
            places.insert(at, (process, order));
            next = field(target, at, shapes.entry.next.offset);
        }
    }
    let place = |at: &TargetAddr| places.get(at).filter(|(process, _)| *process != ANY_ADDRESS);
    found.sort_by_key(|(at, _)| place(at).map_or(usize::MAX, |(_, order)| *order));
    for (at, send) in found {
        if let Some((process, _)) = place(at) {
            (send.destination, send.in_order) = (Some(*process), true);
        }
    }
}

/// Where each process has what was sent to it, with its number (`fi_addr_t`); `None` where that cannot be read.
fn queues(target: &dyn Target, shapes: &Sm2Sends, own: &Own) -> Option<Vec<(u64, TargetAddr)>> {
    let slot = shapes.addresses.addresses;
    let words = usize::try_from(MAX_PROCESSES * 8).unwrap_or(0).min(slot.size);
    let addresses = target.read_bytes(slot.address_in(own.addresses), words).ok()?;
    let base = own.base;
    let header = Record::owned(target, base, shapes.header.size).ok()?;
    let (first, stride) = (header.uint(shapes.header.first), header.uint(shapes.header.stride));
    let mut found = Vec::new();
    for (number, address) in (0_u64..).zip(addresses.chunks_exact(8).map(|word| target.abi().uint(word))) {
        let region = base.wrapping_add(first.wrapping_add(stride.wrapping_mul(number)));
        let queue = || field(target, region, shapes.region.queue.offset).map(|offset| region.wrapping_add(offset));
        if let Some(address) = Source::of(address).address()
            && let Some(queue) = queue()
        {
            found.push((address, queue));
        }
    }
    Some(found)
}

/// By what a message names its send. `at`: what sm2 has of the message.
pub fn number(target: &dyn Target, shapes: &Sm2Sends, at: TargetAddr) -> Option<Number> {
    let shape = &shapes.arrived;
    let word = |slot: Slot| slot.read_uint(target, at).ok();
    if at.is_null() || !shapes.is_fetched(word(shape.way)?) {
        return None;
    }
    word(shape.context).filter(|context| *context != 0).map(|context| Number::given(TargetAddr::new(context)))
}
