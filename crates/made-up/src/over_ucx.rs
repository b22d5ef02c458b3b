//! The same imitation of Open MPI over the pml ucx: UCX's worker as its layouts have it, the pml's own structures made up.

use readers::record::Slot;
use readers::ucx::UcxLayout;
use target::address::TargetAddr;

use super::memory::Memory;
use super::openmpi_types::Build;
use super::process::{LITTLE_64, Member, Process};

const MODULE: &str = "mca_pml_ucx_module_t";
const PERSISTENT: &str = "mca_pml_ucx_persistent_request_t";
const POOL: &str = "opal_free_list_t";
/// Bytes of the pml's request behind each of UCX's.
const REQUEST: &str = "ompi_request_t";

/// Flags of UCX's requests (src/ucp/core/ucp_request.h, v1.13 to v1.20).
const CALLED_BACK: u64 = 1 << 6;
const SENDS: u64 = 1 << 14;
const RECEIVES: u64 = 1 << 17;
const COMPLETED: u64 = 1;

/// Bytes of the stack that is searched.
const STACK: u64 = 1 << 14;

/// What UCX matches by: communicator (by its number), rank and tag.
pub const fn word(context: u64, rank: u64, tag: i64) -> u64 {
    (tag as u64) << 40 | rank << 20 | context
}

/// A process of rank 1 in a job of 4, whose messages UCX moves.
pub struct OverUcx {
    /// The process; its communicators are numbered from 10 on.
    pub process: Process,
    /// The layout of its UCX.
    pub layout: UcxLayout,
    /// Where its thread stands.
    pub stack: TargetAddr,
    worker: TargetAddr,
    free: Vec<TargetAddr>,
    endpoints: Vec<TargetAddr>,
    last_message: TargetAddr,
    sequence: u64,
}

fn put(memory: &mut Memory, at: TargetAddr, slot: Slot, value: u64) {
    memory.put_int(at.wrapping_add(slot.offset as u64), slot.size.min(8) as u64, value as i64);
}

impl OverUcx {
    /// Nothing is posted yet.
    pub fn new(layout: UcxLayout, seed: u64) -> Self {
        let build = Build { extended: seed % 2 == 1, ..Build::default() };
        let (mut process, _) = Process::new(LITTLE_64, build, seed);
        process.pml = "ucx";
        let group: Vec<Member> = (0..4).map(Member::Ours).collect();
        let group = process.group(&group);
        process.comm("other", group, 2);
        let worker = process.mem.alloc(layout.worker.size as u64, 64);
        let context = process.mem.alloc(64, 64);
        let module = process.object(MODULE);
        process.symbols.push(("ompi_pml_ucx", module));
        process.set_pointer(module, MODULE, "ucp_context", context);
        process.set_pointer(module, MODULE, "ucp_worker", worker);
        process.set(module, MODULE, "request_size", layout.request.size as i64);
        put(&mut process.mem, worker, layout.worker.context, context.get());

        // Empty queues of receives: their ends are where a first element's address will stand.
        let size = layout.receives.size as u64;
        let table = process.mem.alloc(1024 * size, 64);
        put(&mut process.mem, worker, layout.worker.expected, table.get());
        let wildcard = worker.wrapping_add(layout.worker.wildcard.offset as u64);
        for queue in (0..1024).map(|index| table.wrapping_add(index * size)).chain([wildcard]) {
            let head = queue.wrapping_add(layout.receives.queue.offset as u64);
            process.mem.put_pointer(head.wrapping_add(8), head);
        }
        let all = worker.wrapping_add(layout.worker.unexpected.offset as u64);
        let by_tag = process.mem.alloc(16, 16);
        put(&mut process.mem, worker, layout.worker.unexpected_by_tag, by_tag.get());
        for list in [all, by_tag] {
            process.mem.put_pointer(list, list);
            process.mem.put_pointer(list.wrapping_add(8), list);
        }
        let stack = process.mem.alloc(STACK, 64);
        let mut made = Self {
            process,
            layout,
            stack,
            worker,
            free: Vec::new(),
            endpoints: Vec::new(),
            last_message: all,
            sequence: 0,
        };
        made.pool(8);
        made.persistent_pool(module);
        made.message_pool();
        for vpid in 0..4 {
            made.connect(vpid);
        }
        made
    }

    /// UCX's pool of requests, with one chunk.
    fn pool(&mut self, count: u64) {
        let layout = &self.layout;
        let (pool, chunk) = layout.pool.as_ref().unwrap();
        let held = layout.request.size as u64 + self.process.types.size(REQUEST);
        let stride = (8 + held).next_multiple_of(64);
        let memory = &mut self.process.mem;
        let data = memory.alloc(pool.size as u64, 64);
        let at = memory.alloc(chunk.size as u64, 64);
        let elements = memory.alloc(count * stride, 64);
        put(memory, data, pool.element, 8 + held);
        put(memory, data, pool.alignment, 64);
        put(memory, data, pool.chunks, at.get());
        put(memory, at, chunk.elements, elements.get());
        put(memory, at, chunk.count, count);
        put(memory, self.worker, layout.worker.pool.unwrap(), data.get());
        self.free = (0..count).map(|index| elements.wrapping_add(index * stride + 8)).collect();
    }

    fn persistent_pool(&mut self, module: TargetAddr) {
        let process = &mut self.process;
        let class = process.mem.alloc(64, 16);
        process.symbols.push(("mca_pml_ucx_persistent_request_t_class", class));
        let pool = process.field(module, MODULE, "persistent_reqs");
        process.pool_at(pool, class, PERSISTENT);
    }

    fn message_pool(&mut self) {
        let process = &mut self.process;
        let class = process.mem.alloc(64, 16);
        let pool = process.object(POOL);
        process.symbols.push(("ompi_message_free_list", pool));
        process.pool_at(pool, class, "ompi_message_t");
    }

    /// Makes the connection to a process.
    fn connect(&mut self, vpid: u32) {
        let endpoint = self.process.mem.alloc(self.layout.endpoint.size as u64, 64);
        put(&mut self.process.mem, endpoint, self.layout.endpoint.worker, self.worker.get());
        let proc = self.process.proc_of(vpid);
        let all = self.process.field(proc, "ompi_proc_t", "proc_endpoints");
        self.process.mem.put_pointer(all.wrapping_add(8), endpoint);
        self.endpoints.push(endpoint);
    }

    /// Takes a request from the pool.
    fn take(&mut self) -> TargetAddr {
        let request = self.free.pop().unwrap();
        let pool = self.worker.wrapping_add(self.layout.worker.requests.unwrap().offset as u64);
        self.process.mem.put_pointer(TargetAddr::new(request.get() - 8), pool);
        request
    }

    fn fill_receive(&mut self, at: TargetAddr, word: u64, mask: u64, flags: u64) {
        let request = &self.layout.request;
        let memory = &mut self.process.mem;
        let fields = [
            (request.flags, RECEIVES | flags),
            (request.worker, self.worker.get()),
            (request.tag, word),
            (request.mask, mask),
            (request.sequence, self.sequence),
            (request.iterated_length.or(request.length).unwrap(), 40),
            (request.iterated_buffer.or(request.buffer).unwrap(), 0xb0b0),
        ];
        for (slot, value) in fields {
            put(memory, at, slot, value);
        }
        self.sequence += 1;
    }

    /// Hangs a receive into a queue: into that of wildcards, or into one of the table.
    fn push(&mut self, at: TargetAddr, wild: bool) {
        let (worker, receives, request) = (&self.layout.worker, &self.layout.receives, &self.layout.request);
        let memory = &mut self.process.mem;
        let table = memory.get_pointer(self.worker.wrapping_add(worker.expected.offset as u64));
        let wildcard = self.worker.wrapping_add(worker.wildcard.offset as u64);
        let queue = if wild { wildcard } else { table.wrapping_add(77 * receives.size as u64) };
        let end = queue.wrapping_add((receives.queue.offset + 8) as u64);
        let link = at.wrapping_add(request.link.offset as u64);
        let last = memory.get_pointer(end);
        memory.put_pointer(last, link);
        memory.put_pointer(end, link);
    }

    /// Posts a receive; the request that the program has.
    pub fn receive(&mut self, word: u64, mask: u64) -> TargetAddr {
        let at = self.take();
        self.fill_receive(at, word, mask, CALLED_BACK);
        self.push(at, mask != u64::MAX);
        at.wrapping_add(self.layout.request.size as u64)
    }

    /// A receive of a blocking call, on the stack.
    pub fn blocking_receive(&mut self, word: u64) {
        let at = self.stack.wrapping_add(512);
        self.fill_receive(at, word, u64::MAX, 0);
        self.push(at, false);
    }

    /// A receive that has got its message; with `complete` it is done.
    pub fn matched(&mut self, word: u64, complete: bool) {
        let at = self.take();
        self.fill_receive(at, word, u64::MAX, CALLED_BACK | if complete { COMPLETED } else { 0 });
        let request = &self.layout.request;
        put(&mut self.process.mem, at, request.sender_tag, word);
        put(&mut self.process.mem, at, request.sender_length, 24);
    }

    fn fill_send(&mut self, at: TargetAddr, to: usize, word: u64, flags: u64) {
        let request = &self.layout.request;
        let memory = &mut self.process.mem;
        let fields = [
            (request.flags, SENDS | flags),
            (request.endpoint, self.endpoints[to].get()),
            (request.send_tag, word),
            (request.send_length, 4000),
            (request.send_buffer, 0xc0c0),
        ];
        for (slot, value) in fields {
            put(memory, at, slot, value);
        }
    }

    /// A send that goes on.
    pub fn send(&mut self, to: usize, word: u64) {
        let at = self.take();
        self.fill_send(at, to, word, CALLED_BACK);
    }

    /// A blocking send, on the stack.
    pub fn blocking_send(&mut self, to: usize, word: u64) {
        self.fill_send(self.stack.wrapping_add(2048), to, word, 0);
    }

    /// A persistent receive that waits to be started.
    pub fn persistent(&mut self, word: u64) {
        let module = self.process.symbol_at("ompi_pml_ucx");
        let pool = self.process.field(module, MODULE, "persistent_reqs");
        let [item] = self.process.items_of(pool, PERSISTENT, 1)[..] else { return };
        let process = &mut self.process;
        let inactive = process.constant("OMPI_REQUEST_INACTIVE");
        process.set(item, PERSISTENT, "ompi.req_state", inactive);
        process.set(item, PERSISTENT, "tag", word as i64);
        process.set(item, PERSISTENT, "recv.tag_mask", -1);
        process.set(item, PERSISTENT, "count", 7);
        let datatype = process.datatype;
        process.set_pointer(item, PERSISTENT, "ompi_datatype", datatype);
    }

    fn arrived(&mut self, word: u64) -> TargetAddr {
        let arrived = &self.layout.arrived;
        let memory = &mut self.process.mem;
        let at = memory.alloc(arrived.size as u64 + 64, 64);
        put(memory, at, arrived.flags, 0b110);
        put(memory, at, arrived.length, 28);
        put(memory, at, arrived.header_length, 8);
        memory.put_int(at.wrapping_add(arrived.size as u64), 8, word as i64);
        at
    }

    /// A message that nobody has asked for.
    pub fn unexpected(&mut self, word: u64) {
        let at = self.arrived(word);
        let links = self.layout.arrived.links;
        let link = at.wrapping_add((links.offset + links.size / 2) as u64);
        let all = self.worker.wrapping_add(self.layout.worker.unexpected.offset as u64);
        let memory = &mut self.process.mem;
        memory.put_pointer(self.last_message.wrapping_add(8), link);
        memory.put_pointer(link, self.last_message);
        memory.put_pointer(link.wrapping_add(8), all);
        memory.put_pointer(all, link);
        self.last_message = link;
    }

    /// A message that a matching probe took.
    pub fn held(&mut self, word: u64, comm: TargetAddr) {
        let at = self.arrived(word);
        let pool = self.process.symbol_at("ompi_message_free_list");
        let [item] = self.process.items_of(pool, "ompi_message_t", 1)[..] else { return };
        self.process.set_pointer(item, "ompi_message_t", "comm", comm);
        self.process.set_pointer(item, "ompi_message_t", "req_ptr", at);
    }

    /// Everything that occurs; how many operations of each queue there are: sends, receives, messages.
    pub fn rich(layout: UcxLayout, seed: u64) -> (Self, [usize; 3]) {
        let mut made = Self::new(layout, seed);
        let (world, other) = (10, 11);
        made.receive(word(world, 2, 5), u64::MAX);
        made.receive(word(world, 0xfffff, 6), 0xffff_ff00_000f_ffff);
        made.receive(word(other, 3, 0), 0x8000_00ff_ffff_ffff);
        made.receive(word(world, 0, -16), u64::MAX);
        made.blocking_receive(word(world, 0, 7));
        made.matched(word(world, 3, 8), false);
        made.matched(word(world, 3, 9), true);
        made.send(3, word(world, 1, 20));
        made.blocking_send(0, word(other, 2, 21));
        made.persistent(word(world, 2, 30));
        made.unexpected(word(world, 3, 40));
        made.unexpected(word(other, 0, 41));
        let comm = made.process.symbol_at("ompi_mpi_comm_world");
        made.held(word(world, 2, 50), comm);
        (made, [2, 8, 2])
    }
}
