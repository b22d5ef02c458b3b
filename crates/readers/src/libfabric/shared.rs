//! Receives and messages that prov/util keeps for several providers (prov/util/src/util_srx.c, 1.19 to 2.6): rxm, shm, sm2; and
//! those that shm kept by itself before (prov/shm/src/smr_ep.c, 1.17).

use super::arrays;
use super::endpoint::{behind, field};
use super::layout::{ArrayShape, EntryShape, Layout, Shared, Shm};
use super::{
    Listed, MAX_LIST, Message, Number, REMOTE_CQ_DATA, Receive, Source, given, part_of, pieces, shm_sends, sm2_sends,
};
use crate::record::{Record, Slot};
use crate::walk::{circular_list, linear_list};
use target::address::TargetAddr;
use target::{Reason, Target};

/// Both lists of an endpoint.
pub type Both = (Listed<Receive>, Listed<Message>);

/// By what a message names its send; of what the provider itself has of the message.
pub type Names<'a> = &'a dyn Fn(TargetAddr) -> Option<Number>;

/// Most processes that have messages.
const MAX_PEERS: usize = 1 << 20;

/// Those of shm and sm2.
///
/// # Errors
/// A sentence, where the endpoint does not lead to them.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr, provider: &str) -> Result<Both, Reason> {
    let number = |context| match provider {
        "sm2" => sm2_sends::number(target, layout.sm2_sends.as_ref()?, context),
        _ => shm_sends::number(target, layout, context),
    };
    let slot = match provider {
        "sm2" => part_of(layout, &layout.sm2, provider)?.shared,
        _ => part_of(layout, &layout.shm, provider)?.shared,
    };
    let at = behind(target, endpoint, slot.offset, "receives")?;
    of_context(target, layout, at, &number)
}

/// Those behind a receive context (`struct fid_peer_srx`), whose own context is the object that has them.
///
/// # Errors
/// A sentence, where it is none.
pub fn of_context(target: &dyn Target, layout: &Layout, at: TargetAddr, number: Names<'_>) -> Result<Both, Reason> {
    let class = field(target, at, layout.endpoint.class.offset);
    let object = field(target, at, layout.endpoint.context.offset).map(TargetAddr::new);
    let (Some(object), true) = (object, class == Some(layout.classes.shared)) else {
        return Err(Reason::new(format!("what libfabric's endpoint has at {at} is not a receive context")));
    };
    match (&layout.shared, &layout.shm_queue) {
        (Some(shared), _) => of_util(target, layout, shared, object, number),
        (None, Some(shm)) => Ok(of_shm(target, shm, object, number)),
        (None, None) => Err(Reason::new(format!("the layout {} has no receive context", layout.name))),
    }
}

fn of_util(
    target: &dyn Target,
    layout: &Layout,
    shared: &Shared,
    at: TargetAddr,
    number: Names<'_>,
) -> Result<Both, Reason> {
    let first = shared.lists.receives.read_pointer(target, at)?;
    let heads = (first, shared.lists.directed.address_in(at));
    let receives = in_sequence(target, layout.array.as_ref(), heads, |at| receive(target, shared, at));
    Ok((receives, messages(target, shared, at, number)))
}

/// Receives in the order in which they were posted: those from any source begin at `first`, and each process has a list of its own
/// in the array at `directed`. In every release the link to the next is what an entry begins with.
pub fn in_sequence(
    target: &dyn Target,
    array: Option<&ArrayShape>,
    (first, directed): (TargetAddr, TargetAddr),
    read: impl Fn(TargetAddr) -> Result<(u64, Receive), Reason>,
) -> Listed<Receive> {
    let width = usize::try_from(target.abi().pointer_width.bytes()).unwrap_or(8);
    let head = Slot { offset: 0, size: width, kind: layouts::FieldKind::Pointer };
    let mut heads = vec![first];
    let listed = arrays::items(target, array, directed, 2 * width, |_, item| heads.push(item.pointer(head)));
    let mut all: Listed<(u64, Receive)> = Listed::default();
    for head in heads.into_iter().filter(|head| !head.is_null()) {
        all.append(Listed::of(linear_list(target, head, 0, MAX_LIST), "a receive", &read));
    }
    all.fail_if(listed.err());
    all.found.sort_by_key(|(sequence, _)| *sequence);
    Listed { found: all.found.into_iter().map(|(_, receive)| receive).collect(), problem: all.problem }
}

/// Messages whose sender is not known yet, or that are in one list, and those of each process.
fn messages(target: &dyn Target, shared: &Shared, at: TargetAddr, number: Names<'_>) -> Listed<Message> {
    let Shared { lists, whole, entry, peer } = shared;
    let one = |link: TargetAddr| message(target, entry, whole.entry.address_in(link), number);
    let head = lists.messages.address_in(at);
    let mut all = Listed::of(circular_list(target, head, 0, MAX_LIST), "a message", one);
    let peers = circular_list(target, lists.peers.address_in(at), 0, MAX_PEERS);
    for link in peers.elements {
        let peer_at = peer.link.structure_of(link);
        match peer.messages.read_pointer(target, peer_at) {
            Ok(first) => all.append(Listed::of(linear_list(target, first, 0, MAX_LIST), "a message", one)),
            Err(error) => all.fail(Reason::of(error)),
        }
        if all.found.len() >= MAX_LIST {
            break;
        }
    }
    all.fail_if(peers.stopped.map(Reason::of));
    all
}

fn receive(target: &dyn Target, shared: &Shared, at: TargetAddr) -> Result<(u64, Receive), Reason> {
    let whole = &shared.whole;
    let record = Record::owned(target, at, whole.size)?;
    let found = of_entry(target, &shared.entry, &record.view(), whole.entry.offset, record.uint(whole.ignore))?;
    Ok((record.uint(whole.sequence), found))
}

/// A receive, whose shared part lies `shift` bytes into its record.
fn of_entry(
    target: &dyn Target,
    shape: &EntryShape,
    record: &Record<'_>,
    shift: usize,
    ignore: u64,
) -> Result<Receive, Reason> {
    let here = |slot: Slot| Slot { offset: slot.offset + shift, ..slot };
    let (buffer, length) = pieces(target, record.pointer(here(shape.pieces)), record.uint(here(shape.count)))?;
    Ok(Receive {
        source: Source::of(record.uint(here(shape.address))),
        tag: record.uint(here(shape.tag)),
        ignore,
        context: given(record.pointer(here(shape.context)))?,
        buffer,
        length,
    })
}

/// The message whose shared part stands at `at`.
fn message(target: &dyn Target, shape: &EntryShape, at: TargetAddr, number: Names<'_>) -> Result<Message, Reason> {
    let record = Record::owned(target, at, shape.size)?;
    let with_data = record.uint(shape.flags) & REMOTE_CQ_DATA != 0;
    Ok(Message {
        source: Source::of(record.uint(shape.address)).address(),
        tag: record.uint(shape.tag),
        data: shape.data.filter(|_| with_data).map(|slot| record.uint(slot)),
        length: record.uint(shape.length),
        claimed: None,
        number: number(record.pointer(shape.peer_context)),
    })
}

/// The lists of shm's own: one of receives in the order in which they were posted, one of messages.
fn of_shm(target: &dyn Target, shm: &Shm, at: TargetAddr, number: Names<'_>) -> Both {
    /// `SMR_REMOTE_CQ_DATA` (prov/shm/src/smr.h, 1.17).
    const WITH_DATA: u64 = 1 << 0;
    let Shm { lists, whole, entry, command } = shm;
    let list = |slot: Slot| circular_list(target, slot.address_in(at), 0, MAX_LIST);
    let receives = Listed::of(list(lists.receives), "a receive", |at| {
        let record = Record::owned(target, at, whole.size)?;
        of_entry(target, entry, &record.view(), whole.entry.offset, record.uint(whole.ignore))
    });
    let messages = Listed::of(list(lists.messages), "a message", |at| {
        let mut found = message(target, entry, whole.entry.address_in(at), number)?;
        // This release keeps length and data in what the message came as.
        let came = at.wrapping_add((whole.entry.offset + entry.peer_context.offset) as u64);
        let came = target.read_pointer(came)?;
        let record = Record::owned(target, came, command.size)?;
        found.length = record.uint(command.length);
        found.data = (record.uint(command.flags) & WITH_DATA != 0).then(|| record.uint(command.data));
        Ok(found)
    });
    (receives, messages)
}
