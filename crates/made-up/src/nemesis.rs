//! Nemesis of the imitation of MPICH's ch3: what others have put into cells for this process.

use target::address::TargetAddr;

use super::layout::{C, Order, Types};
use super::mpich::Mpich;

/// Ranks in MPI_COMM_WORLD of the processes on the node, and the place of this one among them.
pub const RANKS: [i64; 3] = [0, 1, 3];
pub const OWN: u64 = 1;

const PROCS: u64 = 4;
const LINE: u64 = 64;
const CELL: u64 = 64 << 10;
const CELLS: u64 = 64;
const FAST_BOX: u64 = CELL + LINE;

pub const PACKET: &str = "MPIDI_CH3_Pkt_t";
const CONNECTION: &str = "MPIDI_VC";

pub const EAGER: i64 = 0;
pub const EAGER_SHORT: i64 = 1;
pub const EAGER_SYNCHRONOUS: i64 = 2;
pub const ANSWER: i64 = 3;
pub const READY: i64 = 4;
pub const RENDEZVOUS: i64 = 5;
pub const PUT: i64 = 10;
pub const RENDEZVOUS_BY_NEMESIS: i64 = 40;

/// What ch3 has beside requests and communicators.
pub fn types(types: &mut Types) {
    let mut packet = ["type", "match.parts.tag", "sender_req_id"].map(|name| (member(name), C::I(4))).to_vec();
    packet.extend([(member("match.parts.rank"), C::I(2)), (member("match.parts.context_id"), C::U(2))]);
    packet.extend([(member("data_sz"), C::I(8)), ("eagershort_send.data_sz", C::I(8))]);
    packet.push(("eagershort_send.data", C::Chars(16)));
    types.define(PACKET, Order::Shuffled, &packet);
    let mut connection = ["lpid", "pg_rank"].map(|name| (name, C::I(4))).to_vec();
    connection.extend(["ch.recv_active", "ch.fbox_in", "ch.recv_queue"].map(|name| (name, C::Ptr)));
    types.define(CONNECTION, Order::Shuffled, &connection);
    types.define("MPIDI_VCRT", Order::AsWritten, &[("handle", C::I(4)), ("size", C::I(4)), ("vcr_table", C::Ptr)]);
}

fn member(name: &str) -> &'static str {
    format!("eager_send.{name}").leak()
}

/// Where the parts are.
#[derive(Debug, Clone)]
pub struct Nemesis {
    /// The variables: `MPID_nem_mem_region`, and those around `MPID_nem_recv_seqno`.
    pub region: TargetAddr,
    pub variables: TargetAddr,
    pub segment: TargetAddr,
    pub queue: TargetAddr,
    pub list: TargetAddr,
    pub numbers: TargetAddr,
    /// The connections, by rank.
    pub connections: Vec<TargetAddr>,
    /// Whether all have the segment at the same place.
    symmetric: bool,
    /// How many cells each process has sent, and used of its own.
    sent: [u64; 3],
    used: [u64; 3],
    last: Option<TargetAddr>,
}

/// A packet.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    pub kind: i64,
    pub source: i64,
    pub tag: i64,
    pub context: i64,
    pub bytes: i64,
    pub request: i64,
}

impl Nemesis {
    fn cells(&self) -> TargetAddr {
        self.segment.wrapping_add(RANKS.len() as u64 * (RANKS.len() as u64 - 1) * FAST_BOX)
    }

    /// The box in which a peer lays cells for this process.
    pub fn fast_box(&self, local: u64) -> TargetAddr {
        let others = RANKS.len() as u64 - 1;
        let place = if local > OWN { OWN } else { OWN - 1 };
        self.segment.wrapping_add((others * local + place) * FAST_BOX)
    }

    /// A pointer of the queue.
    fn relative(&self, at: TargetAddr) -> TargetAddr {
        if self.symmetric { at } else { TargetAddr::new(at.get() - self.segment.get()) }
    }
}

impl Mpich {
    fn width(&self) -> u64 {
        self.mem.abi.pointer_width.bytes()
    }

    /// Where a cell's payload begins.
    pub fn front(&self) -> u64 {
        (2 * self.width() + 12).next_multiple_of(8)
    }

    /// Sets everything up; nothing is queued. `symmetric`: all have the segment at the same place; `ascending`: variables lie in the
    /// order of their file.
    pub fn nemesis(&mut self, symmetric: bool, ascending: bool) -> Nemesis {
        let width = self.width();
        let locals = RANKS.len() as u64;
        let (boxes, cells) = (locals * (locals - 1) * FAST_BOX, locals * CELLS * CELL);
        let size = boxes + cells + 4 * locals * LINE;
        let segment = self.mem.reserve(size, 4096);
        let free_queues = segment.wrapping_add(boxes + cells);
        self.mem.back(free_queues, 4 * locals * LINE);
        let queues = free_queues.wrapping_add(2 * locals * LINE);
        let queue = queues.wrapping_add(OWN * 2 * LINE);
        let (region, variables) = (self.range().start.wrapping_add(2048), self.range().start.wrapping_add(3072));
        let [ranks, boxes_in, numbers] = [4 * locals, width * locals, 2 * PROCS].map(|size| self.mem.alloc(size, 8));
        let list = self.mem.alloc(5 * width * locals, 8);
        let mut made = Nemesis {
            region,
            variables,
            segment,
            queue,
            list,
            numbers,
            connections: Vec::new(),
            symmetric,
            sent: [0; 3],
            used: [0; 3],
            last: None,
        };
        let elements = made.cells().wrapping_add(OWN * CELLS * CELL);
        let free = free_queues.wrapping_add(OWN * 2 * LINE);
        let (own, rank) = (OWN as i64, RANKS[OWN as usize]);
        let word = |at: TargetAddr| (width, at.get() as i64);
        let nowhere = (width, 0x7770);
        let ints = [(4, 1), (4, locals as i64), (4, PROCS as i64)];
        let tables = [word(ranks), (4, own), nowhere, (4, (PROCS - locals) as i64), nowhere, word(boxes_in), nowhere];
        let ends = [word(elements), nowhere, nowhere, word(free), word(queue), (4, rank)];
        let mut at = region;
        for (size, value) in [&[word(segment)][..], &ints, &tables, &ends].concat() {
            at = TargetAddr::new(at.get().next_multiple_of(size));
            self.mem.put_int(at, size, value);
            at = at.wrapping_add(size);
        }
        for (local, rank) in (0..).zip(RANKS) {
            self.mem.put_int(ranks.wrapping_add(4 * local), 4, rank);
            let fast_box = if local == OWN { TargetAddr::NULL } else { made.fast_box(local) };
            if local != OWN {
                self.mem.back(fast_box, LINE + 4096);
            }
            self.mem.put_pointer(boxes_in.wrapping_add(width * local), fast_box);
            let element = list.wrapping_add(5 * width * local);
            self.mem.put_int(element.wrapping_add(3 * width), 4, rank);
            self.mem.put_pointer(element.wrapping_add(4 * width), fast_box);
        }
        // head, tail, list, its last, the current one, the one that is polled, a cell, numbers.
        let last = list.wrapping_add(5 * width * (locals - 1));
        let null = TargetAddr::NULL;
        let mut words = [null, null, list, last, null, list, elements, numbers];
        if !ascending {
            words.reverse();
        }
        for (index, to) in (0..).zip(words) {
            self.mem.put_pointer(variables.wrapping_add(index * width), to);
        }
        self.connections(&mut made, queues);
        made
    }

    fn connections(&mut self, made: &mut Nemesis, queues: TargetAddr) {
        let width = self.width();
        let (first, _) = self.types.field("MPIDI_VCRT", "vcr_table");
        let table = self.mem.alloc(first + width * PROCS, 8);
        self.set(table, "MPIDI_VCRT", "size", PROCS as i64);
        for rank in 0..PROCS {
            let at = self.mem.alloc(self.types.size(CONNECTION), 8);
            self.mem.put_pointer(table.wrapping_add(first + width * rank), at);
            self.set(at, CONNECTION, "lpid", rank as i64);
            self.set(at, CONNECTION, "pg_rank", rank as i64);
            if let Some(local) = RANKS.iter().position(|one| *one == rank as i64) {
                let local = local as u64;
                self.set(at, CONNECTION, "ch.recv_queue", queues.wrapping_add(local * 2 * LINE).get() as i64);
                let fast_box = if local == OWN { 0 } else { made.fast_box(local).get() };
                self.set(at, CONNECTION, "ch.fbox_in", fast_box as i64);
            }
            made.connections.push(at);
        }
        let world = self.world();
        self.set(world, "MPIR_Comm", "dev.vcrt", table.get() as i64);
    }

    /// The request of a message that a peer's connection is taking out.
    pub fn receiving(&mut self, made: &Nemesis, rank: usize, request: i64) {
        self.set(made.connections[rank], CONNECTION, "ch.recv_active", request);
    }

    /// A peer queues a packet, with its data in as many cells as that takes; returns the first.
    pub fn queue_packet(&mut self, made: &mut Nemesis, local: u64, packet: Packet) -> TargetAddr {
        let size = self.types.size(PACKET) as i64;
        let full = (CELL - self.front()) as i64;
        let carries = matches!(packet.kind, EAGER | EAGER_SYNCHRONOUS | READY);
        let mut left = size + if carries { packet.bytes } else { 0 };
        let mut first = None;
        while left > 0 {
            let len = left.min(full);
            left -= len;
            let at = self.queue_cell_of(made, local, len);
            if first.is_none() {
                self.packet(at, packet);
            }
            first.get_or_insert(at);
        }
        first.expect("a packet has a size")
    }

    /// A peer queues a cell; returns where it is.
    fn queue_cell_of(&mut self, made: &mut Nemesis, local: u64, len: i64) -> TargetAddr {
        let used = made.used[local as usize];
        let at = made.cells().wrapping_add((local * CELLS + used) * CELL);
        made.used[local as usize] += 1;
        self.mem.back(at, 512);
        self.cell(made, at, local, RANKS[local as usize], len);
        let relative = made.relative(at);
        let (queue, width) = (made.queue, self.width());
        let link = made.last.replace(at).unwrap_or(queue);
        self.mem.put_pointer(link, relative);
        self.mem.put_pointer(queue.wrapping_add(width), relative);
        at
    }

    /// A peer lays a packet into its fast box; returns the cell there.
    pub fn box_packet(&mut self, made: &mut Nemesis, local: u64, packet: Packet) -> TargetAddr {
        let at = made.fast_box(local);
        let cell = at.wrapping_add(LINE);
        let data = if packet.kind == EAGER { packet.bytes } else { 0 };
        let len = self.types.size(PACKET) as i64 + data;
        self.cell(made, cell, local, local as i64, len);
        self.packet(cell, packet);
        self.mem.put_int(at, 4, 1);
        cell
    }

    fn cell(&mut self, made: &mut Nemesis, at: TargetAddr, local: u64, source: i64, len: i64) {
        let width = self.width();
        let number = made.sent[local as usize];
        made.sent[local as usize] += 1;
        let parts = [(0, width, 0), (width, 4, source), (width + 4, 4, 0), (width + 8, width, len)];
        for (offset, size, value) in parts.into_iter().chain([(2 * width + 8, 2, number as i64)]) {
            self.mem.put_int(at.wrapping_add(offset), size, value);
        }
    }

    fn packet(&mut self, cell: TargetAddr, packet: Packet) {
        let at = cell.wrapping_add(self.front());
        let short = packet.kind == EAGER_SHORT;
        let fields = [
            ("eager_send.type", packet.kind),
            ("eager_send.match.parts.tag", packet.tag),
            ("eager_send.match.parts.rank", packet.source),
            ("eager_send.match.parts.context_id", packet.context),
            ("eager_send.sender_req_id", packet.request),
            ("eager_send.data_sz", if short { 0x7777 } else { packet.bytes }),
            ("eagershort_send.data_sz", packet.bytes),
        ];
        for (field, value) in fields {
            self.set(at, PACKET, field, value);
        }
    }

    /// This process has taken out so many cells of a rank.
    pub fn taken(&mut self, made: &Nemesis, rank: u64, count: i64) {
        self.mem.put_int(made.numbers.wrapping_add(2 * rank), 2, count);
    }
}
