//! Messages that lie in UCX's shared memory (posix, sysv) and that this process has not taken out yet.
//!
//! Each interface of a worker for shared memory has a ring, into which peers write (`uct_mm_iface_t` and `uct_mm_fifo_element_t`,
//! openucx/ucx, src/uct/sm/mm/base/mm_iface.{h,c}, the same in v1.13.1, v1.18.0, v1.19.0 and v1.20.0). The interface lies behind members
//! that differ between builds; it is recognised by what its members and the ring say of each other.

use super::worker::{Arrived, Workers};
use target::address::TargetAddr;
use target::{PointerWidth, Reason, Target};

/// A worker never has more interfaces than this.
const MAX_INTERFACES: u64 = 256;

/// The members stand within so many bytes of an interface: before them are its handlers and memory.
const REACH: usize = 4096;
const WORD: usize = 8;

/// The ring's number of elements is set by a variable of the user's.
const MAX_SHIFT: u32 = 20;

/// An element begins with its flags and the kind of message (a byte each), the length of the message (two), and where its data is
/// for the sender (16) and for this process (8), packed.
const ELEMENT: u64 = 28;
const DATA: u64 = 20;
const MAX_ELEMENT: u64 = 1 << 20;

/// `UCT_MM_FIFO_ELEM_FLAG_INLINE`: the data follows the element.
const INLINE: u64 = 1 << 1;

/// `UCT_MM_IFACE_FIFO_HEAD_EVENT_ARMED`, a bit in the number of the next element to be written.
const ARMED: u64 = 1 << 63;

/// How far the ring was read stands in its second cache line (`uct_mm_fifo_ctl_t`).
const TAIL: u64 = 128;

// Kinds of messages (`ucp_am_id_t`, src/ucp/core/ucp_types.h) that begin one with a tag.
const EAGER_ONLY: u64 = 2;
const EAGER_FIRST: u64 = 3;
const EAGER_SYNC_ONLY: u64 = 6;
const EAGER_SYNC_FIRST: u64 = 7;
const RENDEZVOUS: u64 = 9;

/// Bytes of the headers of whole messages: the tag, and where the sender wants to know that it was received its
/// endpoint and request (`ucp_eager_hdr_t`, `ucp_eager_sync_hdr_t`, src/ucp/tag/eager.h).
const EAGER_HEADER: u64 = 8;
const SYNC_HEADER: u64 = 24;

/// Where an announcement says that it is of a message with a tag: `UCP_RNDV_RTS_TAG_OK` (src/ucp/rndv/rndv.h).
const WITH_TAG: u64 = 0;

/// A ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ring {
    elements: TargetAddr,
    element_len: u64,
    shift: u32,
    /// The number of the next element to be read, and to be written.
    next: u64,
    head: u64,
}

impl Workers {
    /// The messages in the rings of one worker, each ring's as they were sent, and why there may be more. Where nothing for shared
    /// memory is found there are none.
    pub fn in_transit(&self, target: &dyn Target, worker: TargetAddr, limit: usize) -> (Vec<Arrived>, Option<String>) {
        let mut found = Vec::new();
        let mut problem = None;
        for ring in self.rings(target, worker).unwrap_or_default() {
            if let Err(reason) = self.ring(target, &ring, limit, &mut found) {
                problem.get_or_insert(reason.to_string());
            }
        }
        (found, problem)
    }

    fn rings(&self, target: &dyn Target, worker: TargetAddr) -> Option<Vec<Ring>> {
        if target.abi().pointer_width != PointerWidth::Eight {
            return None;
        }
        let (interfaces, count) = (self.layout.worker.interfaces?, self.layout.worker.interface_count?);
        let table = interfaces.read_pointer(target, worker).ok()?;
        let count = count.read_uint(target, worker).ok()?;
        if count > MAX_INTERFACES {
            return None;
        }
        let mut rings: Vec<Ring> = Vec::new();
        for index in 0..count {
            // ucp_worker_iface_t begins with the interface (src/ucp/core/ucp_worker.h).
            let own = target.read_pointer(table.wrapping_add(index * WORD as u64)).ok()?;
            let interface = target.read_pointer(own).ok()?;
            let bytes = [REACH, REACH / 2].into_iter().find_map(|len| target.read_bytes(interface, len).ok());
            let bytes = bytes.unwrap_or_default();
            rings.extend(ring_in(target, &bytes).filter(|ring| !rings.contains(ring)));
        }
        Some(rings)
    }

    fn ring(&self, target: &dyn Target, ring: &Ring, limit: usize, found: &mut Vec<Arrived>) -> Result<(), Reason> {
        for number in ring.next..ring.head {
            let at = ring.element(number);
            let bytes = target.read_bytes(at, ELEMENT as usize)?;
            let field = |from: usize, to: usize| target.abi().uint(bytes.get(from..to).unwrap_or_default());
            let (flags, kind, length) = (field(0, 1), field(1, 2), field(2, 4));
            if flags & 1 != number >> ring.shift & 1 {
                return Err(Reason::new("a message is just being written into a ring of UCX".to_owned()));
            }
            if found.len() >= limit {
                return Err(Reason::new("there are more messages than a process can have".to_owned()));
            }
            let data = if flags & INLINE != 0 { at.get() + ELEMENT } else { field(DATA as usize, ELEMENT as usize) };
            found.extend(self.sent(target, TargetAddr::new(data), kind, length)?);
        }
        Ok(())
    }

    /// What lies at `at`, if it begins a message with a tag.
    fn sent(&self, target: &dyn Target, at: TargetAddr, kind: u64, length: u64) -> Result<Option<Arrived>, Reason> {
        let (first, announced) = (&self.layout.first, &self.layout.announced);
        let read = |offset: usize| target.read_uint(at.wrapping_add(offset as u64), 8).map_err(Reason::of);
        // As on the list of unexpected messages: behind what other headers have (worker.rs).
        let within = announced.senders.offset.saturating_sub(announced.sender.offset);
        let whole = |header: u64, sender: Option<u64>| -> Result<Option<Arrived>, Reason> {
            let length = length.checked_sub(header).ok_or("a message of UCX is shorter than its header")?;
            let buffer = Some(at.wrapping_add(header));
            Ok(Some(Arrived { word: read(0)?, length, buffer, announced: false, sender }))
        };
        match kind {
            EAGER_ONLY => whole(EAGER_HEADER, None),
            EAGER_SYNC_ONLY => whole(SYNC_HEADER, Some(read(EAGER_HEADER as usize + within)?)),
            EAGER_FIRST | EAGER_SYNC_FIRST => {
                let length = read(first.total.offset)?;
                let sender = (kind == EAGER_SYNC_FIRST).then(|| read(first.size + within)).transpose()?;
                Ok(Some(Arrived { word: read(0)?, length, buffer: None, announced: false, sender }))
            }
            RENDEZVOUS => {
                let of =
                    announced.opcode.map_or(Ok(WITH_TAG), |slot| slot.read_uint(target, at).map_err(Reason::of))?;
                let (length, sender) = (read(announced.total.offset)?, Some(read(announced.senders.offset)?));
                let message = Arrived { word: read(0)?, length, buffer: None, announced: true, sender };
                Ok((of == WITH_TAG).then_some(message))
            }
            _ => Ok(None),
        }
    }
}

impl Ring {
    fn element(&self, number: u64) -> TargetAddr {
        self.elements.wrapping_add((number & ((1 << self.shift) - 1)) * self.element_len)
    }
}

/// The ring of an interface whose first bytes these are; `None` where it is none for shared memory.
fn ring_in(target: &dyn Target, bytes: &[u8]) -> Option<Ring> {
    let abi = target.abi();
    let uint = |at: usize, size: usize| bytes.get(at..at + size).map(|bytes| abi.uint(bytes));
    (0..bytes.len()).step_by(WORD).find_map(|at| {
        // recv_fifo_ctl, recv_fifo_elems, read_index_elem, read_index, fifo_shift, fifo_mask.
        let word = |index: usize| uint(at + index * WORD, WORD);
        let (control, elements, element, next) = (word(0)?, word(1)?, word(2)?, word(3)?);
        let (shift, mask) = (uint(at + 4 * WORD, 1)? as u32, uint(at + 4 * WORD + 4, 4)?);
        let close = elements > control && elements - control <= REACH as u64 && element >= elements;
        if control == 0 || !close || shift == 0 || shift > MAX_SHIFT || mask != (1 << shift) - 1 {
            return None;
        }
        // config.fifo_size and config.fifo_elem_size follow further on.
        let sizes = (at + 5 * WORD..bytes.len()).step_by(4).filter(|at| uint(*at, 4) == Some(mask + 1));
        let element_len = sizes
            .filter_map(|at| uint(at + 4, 4))
            .find(|len| (ELEMENT..=MAX_ELEMENT).contains(len) && (next & mask) * len == element - elements)?;
        let control = TargetAddr::new(control);
        let head = target.read_uint(control, 8).ok()? & !ARMED;
        let tail = target.read_uint(control.wrapping_add(TAIL), 8).ok()?;
        let agree = tail <= next && next <= head && head - tail <= mask + 1;
        agree.then_some(Ring { elements: TargetAddr::new(elements), element_len, shift, next, head })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::UcxLayout;
    use super::super::tests::{ABI, Memory, WORKER, process};
    use super::*;
    use target::mock::MockTarget;

    const BASE: u64 = 0x20_0000;
    const TABLE: u64 = BASE;
    const INTERFACE: u64 = BASE + 0x1000;
    const CONTROL: u64 = BASE + 0x4000;
    const ELEMENTS: u64 = CONTROL + 192;
    const APART: u64 = BASE + 0x8000;
    const LEN: u64 = 128;
    const SHIFT: u64 = 2;
    const LIMIT: usize = 1000;

    /// A worker with an interface for shared memory, of whose ring of four the elements from the sixth on were not read.
    struct Made {
        worker: Memory,
        shared: Memory,
        layout: UcxLayout,
        head: u64,
    }

    impl Made {
        fn new(layout: UcxLayout) -> Self {
            let mut worker = process(&layout);
            worker.field(WORKER, layout.worker.interfaces.unwrap(), TABLE);
            worker.field(WORKER, layout.worker.interface_count.unwrap(), 2);
            let mut shared = Memory::new(BASE, 0xa000);
            // The first interface is of another kind.
            for (index, interface) in [(0, BASE + 0x2800), (1, INTERFACE)] {
                shared.put(TABLE + 8 * index, BASE + 0x100 + 64 * index, 8);
                shared.put(BASE + 0x100 + 64 * index, interface, 8);
            }
            let at = INTERFACE + 1200;
            let next = 5;
            for (index, word) in [CONTROL, ELEMENTS, ELEMENTS + LEN, next, 3 << 32 | SHIFT].into_iter().enumerate() {
                shared.put(at + 8 * index as u64, word, 8);
            }
            shared.put(at + 200, 4, 4);
            shared.put(at + 204, LEN, 4);
            shared.put(CONTROL + TAIL, next, 8);
            let mut made = Self { worker, shared, layout, head: next };
            made.written();
            made
        }

        fn written(&mut self) {
            self.shared.put(CONTROL, self.head | ARMED, 8);
        }

        /// A peer writes an element: whether its data is inline, its kind, its length, and words of its data by their places.
        fn write(&mut self, inline: bool, kind: u64, length: u64, words: &[(usize, u64)]) {
            let at = ELEMENTS + (self.head & 3) * LEN;
            let owner = self.head >> SHIFT & 1;
            self.shared.put(at, owner | u64::from(inline) << 1, 1);
            self.shared.put(at + 1, kind, 1);
            self.shared.put(at + 2, length, 2);
            let apart = APART + self.head * 0x100;
            self.shared.put(at + DATA, apart, 8);
            for (offset, word) in words {
                self.shared.put(if inline { at + ELEMENT } else { apart } + *offset as u64, *word, 8);
            }
            self.head += 1;
            self.written();
        }

        fn target(&self) -> MockTarget {
            let mut target = self.worker.target();
            target.add_segment(TargetAddr::new(self.shared.base), self.shared.bytes.clone());
            target
        }

        fn read(&self) -> (Vec<Arrived>, Option<String>) {
            let worker = TargetAddr::new(WORKER);
            let workers = Workers { at: vec![worker], layout: self.layout.clone() };
            workers.in_transit(&self.target(), worker, LIMIT)
        }

        fn words(&self) -> Vec<u64> {
            let (found, problem) = self.read();
            assert_eq!(problem, None);
            found.iter().map(|message| message.word).collect()
        }
    }

    #[test]
    fn every_form_of_a_message_in_every_layout_that_is_carried() {
        for layout in UcxLayout::shipped(ABI) {
            let total = layout.first.total.offset;
            let size = layout.announced.total.offset;
            let mut made = Made::new(layout);
            assert!(made.words().is_empty());
            made.write(true, EAGER_ONLY, 28, &[(0, 7)]);
            made.write(false, EAGER_SYNC_ONLY, 124, &[(0, 8)]);
            made.write(false, EAGER_FIRST, 8000, &[(0, 9), (total, 100_000)]);
            made.write(true, RENDEZVOUS, 60, &[(0, 10), (size, 8 << 20)]);
            let (found, problem) = made.read();
            assert_eq!(problem, None);
            let told: Vec<_> = found.iter().map(|one| (one.word, one.length, one.announced)).collect();
            assert_eq!(told, [(7, 20, false), (8, 100, false), (9, 100_000, false), (10, 8 << 20, true)]);
            assert_eq!(found[0].buffer, Some(TargetAddr::new(ELEMENTS + LEN + ELEMENT + EAGER_HEADER)));
            assert!(found[2].buffer.is_none() && found[3].buffer.is_none());
        }
    }

    #[test]
    fn what_is_no_message_with_a_tag_is_left_out() {
        let mut made = Made::new(UcxLayout::shipped(ABI).remove(0));
        let opcode = made.layout.announced.opcode.unwrap().offset;
        for kind in [1, 4] {
            made.write(true, kind, 40, &[(0, 1)]);
        }
        made.write(true, RENDEZVOUS, 60, &[(0, 10), (opcode, 1)]);
        made.write(true, EAGER_ONLY, 28, &[(0, 7)]);
        assert_eq!(made.words(), [7]);
    }

    #[test]
    fn what_is_just_being_written_is_told() {
        let mut made = Made::new(UcxLayout::shipped(ABI).remove(0));
        made.write(true, EAGER_ONLY, 28, &[(0, 7)]);
        // The element was taken, and its owner's bit not turned yet.
        made.head += 1;
        made.shared.put(ELEMENTS + 2 * LEN, 0, 1);
        made.written();
        let (found, problem) = made.read();
        assert_eq!((found.len(), problem.is_some()), (1, true));
    }

    #[test]
    fn damage_ends_and_finds_no_more_than_there_is_room_for() {
        let mut made = Made::new(UcxLayout::shipped(ABI).remove(0));
        for word in 0..4 {
            made.write(word % 2 == 0, EAGER_ONLY, 28, &[(0, word)]);
        }
        let good = made.shared.bytes.clone();
        let words = (0..good.len()).step_by(8).filter(|offset| good[*offset..offset + 8] != [0; 8]);
        for offset in words {
            for value in [0, 1, 0xff, u64::MAX, 1 << 63, BASE, CONTROL, INTERFACE] {
                made.shared.put(BASE + offset as u64, value, 8);
                assert!(made.read().0.len() <= 4, "{offset:#x} {value:#x}");
            }
            made.shared.bytes.clone_from(&good);
        }
    }
}
