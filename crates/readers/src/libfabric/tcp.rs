//! tcp: reliable messages over sockets (prov/tcp/src/xnet*, 1.18 to 2.6; prov/net in 1.17).
//!
//! Messages that no receive matches are read and saved, until there are too many from one process, or one is too long: its
//! connection then stops with that message, and what follows stays in the kernel.

use super::endpoint::behind;
use super::layout::{Layout, Tcp, TcpEntryShape};
use super::shared::{Both, in_sequence};
use super::{Listed, MAX_LIST, Message, Number, Receive, Source, given, part_of, pieces, process_of};
use crate::record::{Record, Slot};
use crate::walk::{circular_list, linear_list};
use target::address::TargetAddr;
use target::{Reason, Target};

/// `XNET_REMOTE_CQ_DATA` (prov/tcp/src/xnet_proto.h).
const WITH_DATA: u64 = 1 << 0;

/// `xnet_op_tag`: with a tag (`ofi_op_tagged` in 1.17).
pub(super) const TAGGED: u64 = 1;

/// `xnet_op_tag_rts`: only announced (1.18 and later).
pub(super) const ANNOUNCED: u64 = 5;

/// Most connections with messages.
const MAX_PEERS: usize = 1 << 20;

/// The lists of an endpoint.
///
/// # Errors
/// A sentence, where the endpoint does not lead to them.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Both, Reason> {
    let tcp = part_of(layout, &layout.tcp, "tcp")?;
    let at = behind(target, endpoint, tcp.endpoint.shared.offset, "receives")?;
    let read = |slot: Slot| slot.read_pointer(target, at).map_err(Reason::of);
    if read(tcp.receives.owner)? != endpoint {
        return Err(Reason::new(format!("the receives of libfabric's endpoint at {endpoint} are not its own")));
    }
    let heads = (read(tcp.receives.receives)?, tcp.receives.directed.address_in(at));
    let receives = in_sequence(target, layout.array.as_ref(), heads, |at| receive(target, &tcp.entry, at));
    Ok((receives, messages(target, tcp, read(tcp.receives.domain)?)))
}

fn receive(target: &dyn Target, shape: &TcpEntryShape, at: TargetAddr) -> Result<(u64, Receive), Reason> {
    let record = Record::owned(target, at, shape.size)?;
    let (buffer, length) = pieces(target, record.address_of(shape.pieces), record.uint(shape.count))?;
    let found = Receive {
        source: Source::of(record.uint(shape.address)),
        tag: record.uint(shape.tag),
        ignore: record.uint(shape.ignore),
        context: given(record.pointer(shape.context))?,
        buffer,
        length,
    };
    Ok((record.uint(shape.sequence), found))
}

fn messages(target: &dyn Target, tcp: &Tcp, domain: TargetAddr) -> Listed<Message> {
    let list = |slot: Slot| circular_list(target, slot.address_in(domain), 0, MAX_PEERS);
    let mut all = Listed::default();
    let saved = list(tcp.domain.saved);
    for link in saved.elements {
        let queue = tcp.saved.messages.address_in(tcp.saved.link.structure_of(link));
        match target.read_pointer(queue) {
            Ok(first) => {
                let walk = linear_list(target, first, 0, MAX_LIST);
                all.append(Listed::of(walk, "a message", |at| saved_message(target, &tcp.entry, at)));
            }
            Err(error) => all.fail(Reason::of(error)),
        }
        if all.found.len() >= MAX_LIST {
            break;
        }
    }
    let waiting = list(tcp.domain.waiting);
    for link in waiting.elements {
        match of_connection(target, tcp, tcp.connection.link.structure_of(link)) {
            Ok(message) => {
                all.found.push(message);
                all.fail("a connection of libfabric has stopped at a message that no receive matches; what was sent behind it is not read");
            }
            Err(reason) => all.fail(reason),
        }
    }
    all.fail_if(saved.stopped.or(waiting.stopped).map(Reason::of));
    all
}

fn saved_message(target: &dyn Target, shape: &TcpEntryShape, at: TargetAddr) -> Result<Message, Reason> {
    let record = Record::owned(target, at, shape.size)?;
    let context = record.pointer(shape.context);
    Ok(Message {
        source: Source::of(record.uint(shape.address)).address(),
        claimed: (!context.is_null()).then_some(context),
        ..of_header(shape, &record.view(), 0)
    })
}

/// The message that a connection has stopped at.
fn of_connection(target: &dyn Target, tcp: &Tcp, at: TargetAddr) -> Result<Message, Reason> {
    let shape = &tcp.connection;
    let word = |slot: Slot| slot.read_pointer(target, at).map_err(Reason::of);
    let peer = word(shape.peer)?;
    let source = process_of(target, peer, tcp.peer.address)?;
    let claimed = word(shape.claimed)?;
    let entry = &tcp.entry;
    let header = shape.header.address_in(at);
    let record = Record::owned(target, header, entry.header.size)?;
    let message = of_header(entry, &record.view(), entry.header.offset);
    Ok(Message { source, claimed: (!claimed.is_null()).then_some(claimed), ..message })
}

/// What a header says, which begins `shift` bytes further on in an entry than in this record.
pub(super) fn of_header(shape: &TcpEntryShape, record: &Record<'_>, shift: usize) -> Message {
    let word = |slot: Slot| record.uint(Slot { offset: slot.offset.wrapping_sub(shift), ..slot });
    let with_data = word(shape.flags) & WITH_DATA != 0;
    let announced = word(shape.kind) == ANNOUNCED;
    let length = match (announced, with_data) {
        (true, true) => shape.data_announced.map(word),
        (true, false) => shape.announced.map(word),
        (false, _) => None,
    };
    let length = length.unwrap_or_else(|| word(shape.length).saturating_sub(word(shape.header_length)));
    Message {
        source: None,
        tag: word(if with_data { shape.data_tag } else { shape.plain_tag }),
        data: with_data.then(|| word(shape.data)),
        length,
        claimed: None,
        number: shape.number.filter(|_| announced).map(|slot| Number::OfPair(word(slot))),
    }
}
