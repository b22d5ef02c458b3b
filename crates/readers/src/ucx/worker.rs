//! UCX's workers: they hold the receives that wait and the messages that nobody has asked for yet.

use std::collections::HashSet;

use super::layout::{Structures, UcxLayout};
use super::links::{Links, Met};
use super::request::{Native, Sample};
use crate::record::{Record, Slot};
use crate::walk::circular_list;
use layouts::FieldKind;
use target::address::TargetAddr;
use target::{Reason, Target};

/// Most messages and receives of one worker (2 Mi).
const MAX_LIST: usize = 1 << 21;

/// The workers of a process, as one layout reads them.
#[derive(Debug, Clone)]
pub struct Workers {
    /// Their addresses.
    pub at: Vec<TargetAddr>,
    /// The layout that fits them.
    pub layout: UcxLayout,
}

/// A message that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// What it is matched by.
    pub word: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Where its data lies, if all of it is here in one piece.
    pub buffer: Option<TargetAddr>,
    /// Only announced: the sender keeps the data until somebody receives it.
    pub announced: bool,
    /// What its sender calls its request, if it waits for an answer.
    pub sender: Option<u64>,
}

// Flags of a message (UCP_RECV_DESC_FLAG_*, openucx/ucx, src/ucp/core/ucp_request.h and ucp_types.h, v1.10 to v1.20).
const EAGER: u64 = 1 << 1;
const EAGER_ONLY: u64 = 1 << 2;
const EAGER_SYNC: u64 = 1 << 3;
const EAGER_OFFLOAD: u64 = 1 << 4;
const RENDEZVOUS: u64 = 1 << 6;

/// Bytes of a header that has the tag alone (`ucp_eager_hdr_t`).
const TAG: usize = 8;

impl Workers {
    /// Whether what a request of UCX says of its owner leads to one of these.
    pub fn own(&self, target: &dyn Target, native: &Native) -> bool {
        let Some(more) = native.more else { return false };
        let worker = match native.sample {
            Sample::Receive(..) => Some(more.owner),
            Sample::Send(_) | Sample::Arrived(_) => {
                let slot = self.layout.endpoint.worker;
                slot.read_pointer(target, more.owner).ok()
            }
        };
        worker.is_some_and(|worker| self.at.contains(&worker))
    }

    /// Whether a network card matches messages of a worker itself: those that it holds are on no list.
    pub fn is_offloading(&self, target: &dyn Target, worker: TargetAddr) -> bool {
        let slot = self.layout.worker.offloading;
        let card = slot.map(|slot| slot.read_pointer(target, worker));
        matches!(card, Some(Ok(card)) if !card.is_null())
    }

    /// The messages of one worker in matching order, and why there may be more.
    pub fn arrived(&self, target: &dyn Target, worker: TargetAddr) -> (Vec<Arrived>, Option<String>) {
        let head = self.layout.worker.unexpected.address_in(worker);
        // ucs_list_link_t: the one before, then the one after (openucx/ucx, src/ucs/datastruct/list.h).
        let walk = circular_list(target, head, target.abi().pointer_width.bytes(), MAX_LIST);
        let mut problem = walk.stopped.map(|stopped| format!("UCX's list of messages: {stopped}"));
        let mut messages = Vec::new();
        for link in walk.elements {
            match self.message(target, link) {
                Ok(message) => messages.push(message),
                Err(reason) => {
                    problem.get_or_insert(format!("a message of UCX at {link}: {reason}"));
                }
            }
        }
        (messages, problem)
    }

    fn message(&self, target: &dyn Target, link: TargetAddr) -> Result<Arrived, Reason> {
        let links = self.layout.arrived.links;
        // It is on two lists: that of its tag, and that of all (UCP_RDESC_ALL_LIST).
        let second = links.offset + links.size / 2;
        self.held(target, TargetAddr::new(link.get().wrapping_sub(second as u64)))
    }

    /// The message at `at`, which a matching probe may have taken off the lists.
    ///
    /// # Errors
    /// A sentence, where it cannot be read or is of no known form.
    pub fn held(&self, target: &dyn Target, at: TargetAddr) -> Result<Arrived, Reason> {
        let Structures { arrived, first, announced, .. } = &*self.layout;
        let record = Record::owned(target, at, arrived.size)?;
        let flags = record.uint(arrived.flags);
        let (length, header_length) = (record.uint(arrived.length), record.uint(arrived.header_length));
        let header = at.wrapping_add(arrived.size as u64);
        let read = |offset: usize| target.read_uint(header.wrapping_add(offset as u64), 8).map_err(Reason::of);
        // The tag is the first word of every header.
        let word = read(0)?;
        // What the sender calls its request stands behind what other headers have (`ucp_eager_sync_hdr_t`,
        // `ucp_eager_sync_first_hdr_t`, src/ucp/tag/eager.h), as in an announcement.
        let within = announced.senders.offset.saturating_sub(announced.sender.offset);
        let synchronous = |before: usize| match flags & EAGER_SYNC {
            0 => Ok(None),
            _ => read(before + within).map(Some),
        };
        // As ucp_tag_probe_nb (src/ucp/tag/probe.c) tells the length.
        if flags & EAGER_ONLY != 0 {
            let length = length.checked_sub(header_length).ok_or("it is shorter than its header")?;
            let (buffer, sender) = (Some(header.wrapping_add(header_length)), synchronous(TAG)?);
            return Ok(Arrived { word, length, buffer, announced: false, sender });
        }
        match flags & (EAGER | EAGER_OFFLOAD | RENDEZVOUS) {
            EAGER => {
                let (length, sender) = (read(first.total.offset)?, synchronous(first.size)?);
                Ok(Arrived { word, length, buffer: None, announced: false, sender })
            }
            RENDEZVOUS => {
                let (length, sender) = (read(announced.total.offset)?, Some(read(announced.senders.offset)?));
                Ok(Arrived { word, length, buffer: None, announced: true, sender })
            }
            _ => Err(Reason::new(format!("its flags are {flags:#x}, which are not known here"))),
        }
    }

    /// The receives that wait, by the addresses of their links; `None` where a list is broken.
    pub fn waiting(&self, target: &dyn Target) -> Option<HashSet<TargetAddr>> {
        self.posted(target, &mut Links::default())
    }

    /// The same, but for those of `links`, which are marked there.
    pub fn posted(&self, target: &dyn Target, links: &mut Links) -> Option<HashSet<TargetAddr>> {
        // UCP_TAG_MATCH_HASH_SIZE, rounded up to a power of two (src/ucp/tag/tag_match.c).
        const LISTS: usize = 1024;
        let Structures { worker: shape, receives, .. } = &*self.layout;
        let abi = target.abi();
        let mut others = HashSet::new();
        let width = usize::try_from(abi.pointer_width.bytes()).ok()?;
        let pointer = |offset: usize| Slot { offset, size: width, kind: FieldKind::Pointer };
        for worker in &self.at {
            let table = shape.expected.read_pointer(target, *worker).ok()?;
            let wildcard = shape.wildcard.address_in(*worker);
            for (at, count) in [(table, LISTS), (wildcard, 1)] {
                let bytes = target.read_bytes(at, count * receives.size).ok()?;
                for (index, queue) in bytes.chunks_exact(receives.size).enumerate() {
                    // ucs_queue_head_t: the first element, and where the pointer to a next one will stand: in the last element, or
                    // here where there is none (src/ucs/datastruct/queue.h).
                    let queue = Record::new(at.wrapping_add((index * receives.size) as u64), queue, abi);
                    let mut next = queue.pointer(pointer(receives.queue.offset));
                    let (mut last, end) =
                        (queue.address_of(receives.queue), queue.pointer(pointer(receives.queue.offset + width)));
                    while last != end {
                        last = next;
                        next = match links.meet(last) {
                            Met::Now(next) => next,
                            Met::Unknown if !last.is_null() && others.len() < MAX_LIST && others.insert(last) => {
                                target.read_pointer(last).ok()?
                            }
                            Met::Unknown | Met::Before => return None,
                        };
                    }
                }
            }
        }
        Some(others)
    }
}
