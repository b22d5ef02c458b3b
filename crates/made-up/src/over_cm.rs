//! The same imitation of Open MPI over the pml cm with the mtl ofi: libfabric's rxm as its layouts have it, Open MPI's own
//! structures made up.

use readers::libfabric::Layout;
use readers::record::Slot;
use target::address::TargetAddr;

use super::memory::Memory;
use super::openmpi_types::Build;
use super::process::{ELEMENT, LITTLE_64, Member, Process};

const MODULE: &str = "mca_mtl_ofi_module_t";
const REQUEST: &str = "ompi_mtl_ofi_request_t";
const ENDPOINT: &str = "mca_mtl_ofi_endpoint_t";
const THIN_RECEIVE: &str = "mca_pml_cm_thin_recv_request_t";
const HEAVY_RECEIVE: &str = "mca_pml_cm_hvy_recv_request_t";
const THIN_SEND: &str = "mca_pml_cm_thin_send_request_t";
const HEAVY_SEND: &str = "mca_pml_cm_hvy_send_request_t";

/// The address of any process.
pub const ANY: u64 = u64::MAX;
/// The mtl's number of requests of probes.
const PROBE: i64 = 3;
/// The bits of a synchronous send's answer.
const ANSWER: u64 = 2 << 32;
/// Bits that may differ where any tag will do; without these, the bit of synchronous sends.
pub const ANY_TAG: u64 = 0x7fff_ffff;
const SYNCHRONOUS: u64 = 1 << 32;

/// Sends of one process.
const MOST_SENDS: u64 = 16;

/// What libfabric matches by: communicator (by its number) and tag.
pub const fn word(context: u64, tag: i64) -> u64 {
    context << 34 | (tag as u64 & 0xffff_ffff)
}

/// libfabric's address of a process.
pub const fn address(vpid: u64) -> u64 {
    100 + vpid
}

/// A process of rank 1 in a job of 4, whose messages libfabric moves.
pub struct OverCm {
    /// The process; its communicators are numbered from 10 on.
    pub process: Process,
    /// The layout of its libfabric: one whose rxm has a queue of its own.
    pub layout: Layout,
    queue: TargetAddr,
    last_receive: TargetAddr,
    last_message: TargetAddr,
    pool: TargetAddr,
    table: TargetAddr,
    sent: u64,
}

fn put(memory: &mut Memory, at: TargetAddr, slot: Slot, value: u64) {
    memory.put_int(at.wrapping_add(slot.offset as u64), slot.size.min(8) as u64, value as i64);
}

impl OverCm {
    /// The layouts that serve.
    pub fn layouts() -> Vec<Layout> {
        let all = Layout::shipped(LITTLE_64).into_iter();
        all.filter(|layout| layout.rxm_queue.is_some() && layout.rxm.as_ref().is_some_and(|rxm| rxm.shared.is_none()))
            .collect()
    }

    /// Nothing is posted yet.
    pub fn new(layout: Layout, seed: u64) -> Self {
        let build = Build { extended: seed % 2 == 1, ..Build::default() };
        let (mut process, _) = Process::new(LITTLE_64, build, seed);
        process.pml = "cm";
        let group: Vec<Member> = (0..4).map(Member::Ours).collect();
        let group = process.group(&group);
        process.comm("other", group, 2);
        let module = process.object(MODULE);
        let used = process.mem.alloc(8, 8);
        process.mem.put_pointer(used, module);
        process.symbols.extend([("ompi_mtl_ofi", module), ("ompi_mtl", used)]);
        let context = process.object("mca_mtl_ofi_context_t");
        let endpoint = process.mem.alloc(0x6000, 64);
        process.set_pointer(context, "mca_mtl_ofi_context_t", "rx_ep", endpoint);
        process.set_pointer(module, MODULE, "ofi_ctxt", context);
        for (field, value) in [
            ("total_ctxts_used", 1),
            ("any_addr", -1),
            ("fi_cq_data", 1),
            ("mpi_tag_mask", 0xffff_ffff),
            ("sync_send_ack", ANSWER as i64),
            ("sync_proto_mask", 3 << 32),
        ] {
            process.set(module, MODULE, field, value);
        }
        for vpid in 0..4 {
            let object = process.object(ENDPOINT);
            process.set_pointer(object, ENDPOINT, "mtl_ofi_module", module);
            process.set(object, ENDPOINT, "peer_fiaddr", address(vpid) as i64);
            let proc = process.proc_of(vpid as u32);
            let all = process.field(proc, "ompi_proc_t", "proc_endpoints");
            process.mem.put_pointer(all.wrapping_add(8), object);
        }
        for (symbol, item) in
            [("mca_pml_base_send_requests", "cm_send_slot"), ("mca_pml_base_recv_requests", "cm_receive_slot")]
        {
            let (pool, class) = (process.symbol_at(symbol), process.mem.alloc(64, 16));
            process.pool_at(pool, class, item);
        }
        let (messages, class) = (process.object("opal_free_list_t"), process.mem.alloc(64, 16));
        process.symbols.push(("ompi_message_free_list", messages));
        process.pool_at(messages, class, "ompi_message_t");
        let queue = Self::fabric(&mut process.mem, &layout, endpoint);
        let (shape, ..) = layout.rxm_queue.as_ref().unwrap();
        let head = |slot: Slot| queue.wrapping_add(slot.offset as u64);
        let (last_receive, last_message) = (head(shape.receives), head(shape.messages));
        let (pool, table) = Self::sends(&mut process.mem, &layout, endpoint);
        Self { process, layout, queue, last_receive, last_message, pool, table, sent: 0 }
    }

    /// No sends yet: an empty pool, which grows by one object; and a connection to process 3. The pool and its table.
    fn sends(memory: &mut Memory, layout: &Layout, endpoint: TargetAddr) -> (TargetAddr, TargetAddr) {
        let shapes = layout.rxm_sends.as_ref().unwrap();
        let (shape, pool) = (&shapes.pool, memory.alloc(shapes.pool.pool.size as u64, 16));
        let table = memory.alloc(8 * MOST_SENDS, 16);
        put(memory, endpoint, shapes.endpoint.pool, pool.get());
        put(memory, pool, shape.pool.stride, 4096);
        put(memory, pool, shape.pool.regions, table.get());
        put(memory, pool, shape.pool.in_region, 1);
        let (connection, peer) =
            (memory.alloc(shapes.connection.size as u64, 16), memory.alloc(shapes.peer.size as u64, 16));
        put(memory, connection, shapes.connection.owner, endpoint.get());
        put(memory, connection, shapes.connection.peer, peer.get());
        put(memory, connection, shapes.connection.target, 1);
        put(memory, peer, shapes.peer.address, address(3));
        let deferred = connection.wrapping_add(shapes.connection.deferred.offset as u64);
        memory.put_pointer(deferred, deferred);
        let (map, chunk) = (endpoint.wrapping_add(shapes.endpoint.connections.offset as u64), memory.alloc(8192, 64));
        memory.put_pointer(map.wrapping_add(shapes.map.chunk.offset as u64), chunk);
        memory.put_int(map.wrapping_add(shapes.map.count.offset as u64), 4, 1);
        memory.put_pointer(chunk, connection);
        (pool, table)
    }

    /// libfabric's entry of a send to process 3.
    fn goes(&mut self, mtl: TargetAddr, word: u64) {
        let context = self.process.field(mtl, REQUEST, "ctx");
        let shapes = self.layout.rxm_sends.as_ref().unwrap();
        let (shape, memory) = (&shapes.pool, &mut self.process.mem);
        let (region, object) = (memory.alloc(shape.region.size as u64, 16), memory.alloc(1024, 16));
        put(memory, region, shape.region.first, object.get());
        put(memory, region, shape.region.pool, self.pool.get());
        memory.put_pointer(self.table.wrapping_add(8 * self.sent), region);
        self.sent += 1;
        put(memory, self.pool, shape.pool.region_count, self.sent);
        let shape = &shapes.send;
        for (slot, value) in [
            (shape.packet, 2),
            (shape.operation, 1),
            (shape.target, 1),
            (shape.tag, word),
            (shape.length, 60),
            (shape.number, 70 + self.sent),
            (shape.context, context.get()),
        ] {
            put(memory, object, slot, value);
        }
    }

    /// The endpoint with its domain and provider, and empty lists; the queue.
    fn fabric(memory: &mut Memory, layout: &Layout, endpoint: TargetAddr) -> TargetAddr {
        let (domain, provider, name) = (memory.alloc(4096, 64), memory.alloc(256, 64), memory.alloc(64, 64));
        put(memory, endpoint, layout.endpoint.class, layout.classes.endpoint);
        put(memory, endpoint, layout.util.domain, domain.get());
        put(memory, domain, layout.domain.provider, provider.get());
        let numbers: Vec<u64> = layout.fits[0].split('.').map(|part| part.parse().unwrap()).collect();
        let release = numbers[0] * 100 + numbers[1];
        let version = (release << 16) | (numbers.get(2).copied().unwrap_or(0) * 10);
        put(memory, provider, layout.provider.version, version);
        put(memory, provider, layout.provider.name, name.get());
        memory.put(name, b"ofi_rxm\0");
        let (shape, ..) = layout.rxm_queue.as_ref().unwrap();
        let queue = endpoint.wrapping_add(layout.rxm.as_ref().unwrap().queue.unwrap().offset as u64);
        put(memory, queue, shape.owner, endpoint.get());
        for slot in [shape.receives, shape.messages] {
            let head = queue.wrapping_add(slot.offset as u64);
            memory.put_pointer(head, head);
            memory.put_pointer(head.wrapping_add(8), head);
        }
        queue
    }

    /// Hangs an element behind the last one of a ring.
    fn push(memory: &mut Memory, head: TargetAddr, last: &mut TargetAddr, link: TargetAddr) {
        memory.put_pointer(*last, link);
        memory.put_pointer(link, head);
        memory.put_pointer(link.wrapping_add(8), *last);
        memory.put_pointer(head.wrapping_add(8), link);
        *last = link;
    }

    /// libfabric's entry of a receive.
    fn waits(&mut self, mtl: TargetAddr, word: u64, ignore: u64, from: u64) {
        let context = self.process.field(mtl, REQUEST, "ctx");
        let (shape, receive, _) = self.layout.rxm_queue.as_ref().unwrap();
        let memory = &mut self.process.mem;
        let at = memory.alloc(receive.size as u64, 16);
        put(memory, at, receive.address, from);
        put(memory, at, receive.tag, word);
        put(memory, at, receive.ignore, ignore);
        put(memory, at, receive.context, context.get());
        put(memory, at, receive.count, 1);
        let head = self.queue.wrapping_add(shape.receives.offset as u64);
        let link = at.wrapping_add(receive.link.offset as u64);
        Self::push(memory, head, &mut self.last_receive, link);
    }

    /// A message that nobody has asked for.
    pub fn unexpected(&mut self, word: u64, from: u64) {
        let (shape, _, message) = self.layout.rxm_queue.as_ref().unwrap();
        let memory = &mut self.process.mem;
        let at = memory.alloc(message.size as u64, 16);
        put(memory, at, message.address, address(from));
        put(memory, at, message.tag, word);
        put(memory, at, message.flags, 1 << 17);
        put(memory, at, message.data, from);
        put(memory, at, message.length, 28);
        let head = self.queue.wrapping_add(shape.messages.offset as u64);
        let link = at.wrapping_add(message.link.offset as u64);
        Self::push(memory, head, &mut self.last_message, link);
    }

    /// A request of a pool that goes on; and the mtl's part of it.
    fn request(&mut self, type_name: &'static str, kind: &str, comm: TargetAddr) -> (TargetAddr, TargetAddr) {
        let receive = kind.starts_with("RECV");
        let (symbol, item) = match receive {
            true => ("mca_pml_base_recv_requests", "cm_receive_slot"),
            false => ("mca_pml_base_send_requests", "cm_send_slot"),
        };
        let pool = self.process.symbol_at(symbol);
        let at = self.process.items_of(pool, item, 1)[0];
        let process = &mut self.process;
        let set = |process: &mut Process, field: &str, value: i64| process.set(at, "cm_request", field, value);
        let (active, pml) = (process.constant("OMPI_REQUEST_ACTIVE"), process.constant("OMPI_REQUEST_PML"));
        let kind = process.constant(&format!("MCA_PML_CM_REQUEST_{kind}"));
        set(process, "req_ompi.req_state", active);
        set(process, "req_ompi.req_type", pml);
        set(process, "req_pml_type", kind);
        set(process, "req_comm", comm.get() as i64);
        set(process, "req_convertor.count", 5);
        set(process, "req_convertor.pBaseBuf", 0xb0b0);
        let datatype = process.datatype;
        set(process, "req_datatype", datatype.get() as i64);
        let mtl = process.field(at, type_name, "req_mtl");
        process.set_pointer(mtl, REQUEST, "super.ompi_req", at);
        process.set_pointer(mtl, REQUEST, "comm", comm);
        (at, mtl)
    }

    fn kept(&mut self, mtl: TargetAddr, word: u64, from: u64) {
        self.process.set(mtl, REQUEST, "match_bits", word as i64);
        self.process.set(mtl, REQUEST, "remote_addr", from as i64);
    }

    /// Posts a receive from an address.
    pub fn receive(&mut self, comm: TargetAddr, word: u64, ignore: u64, from: u64) {
        let (_, mtl) = self.request(THIN_RECEIVE, "RECV_THIN", comm);
        self.kept(mtl, word, from);
        self.waits(mtl, word, ignore | SYNCHRONOUS, from);
    }

    /// A receive of a blocking call, whose request lies on a stack.
    pub fn blocking_receive(&mut self, comm: TargetAddr, word: u64, from: u64) {
        let mtl = self.process.object(REQUEST);
        let convertor = self.process.object("opal_convertor_t");
        let datatype = self.process.datatype;
        self.process.set_pointer(convertor, "opal_convertor_t", "pDesc", datatype);
        self.process.set(convertor, "opal_convertor_t", "count", 3);
        self.process.set_pointer(mtl, REQUEST, "comm", comm);
        self.process.set_pointer(mtl, REQUEST, "convertor", convertor);
        self.kept(mtl, word, from);
        self.waits(mtl, word, SYNCHRONOUS, from);
    }

    /// A receive that has got its message; with `complete` it is done.
    pub fn matched(&mut self, comm: TargetAddr, word: u64, from: u64, complete: bool) {
        let (at, mtl) = self.request(THIN_RECEIVE, "RECV_THIN", comm);
        self.kept(mtl, word, from);
        if complete {
            self.process.set(at, "cm_request", "req_ompi.req_complete", 1);
            self.process.set(at, "cm_request", "req_ompi.req_status._ucount", 24);
        }
    }

    /// A send; a synchronous one waits for its answer.
    pub fn send(&mut self, comm: TargetAddr, word: u64, to: u64, synchronous: bool) {
        let (at, mtl) = self.request(THIN_SEND, "SEND_THIN", comm);
        let mode = if synchronous { "SYNCHRONOUS" } else { "STANDARD" };
        let mode = self.process.constant(&format!("MCA_PML_BASE_SEND_{mode}"));
        self.process.set(at, "cm_send", "req_send_mode", mode);
        if synchronous {
            self.answered(mtl, word, to);
        }
    }

    /// The receive that waits for the answer to a synchronous send.
    fn answered(&mut self, mtl: TargetAddr, word: u64, to: u64) {
        let answer = self.process.object(REQUEST);
        self.process.set_pointer(answer, REQUEST, "parent", mtl);
        self.waits(answer, word | ANSWER, 0, address(to));
    }

    /// A standard send to process 3 that waits in libfabric.
    pub fn waiting_send(&mut self, comm: TargetAddr, word: u64) {
        let (at, mtl) = self.request(THIN_SEND, "SEND_THIN", comm);
        let mode = self.process.constant("MCA_PML_BASE_SEND_STANDARD");
        self.process.set(at, "cm_send", "req_send_mode", mode);
        self.goes(mtl, word);
    }

    /// A blocking standard send to process 3, whose request lies on a stack.
    pub fn blocking_standard_send(&mut self, word: u64) {
        let mtl = self.process.object(REQUEST);
        self.process.set(mtl, REQUEST, "length", 60);
        self.goes(mtl, word);
    }

    /// A blocking synchronous send, whose request lies on a stack.
    pub fn blocking_send(&mut self, word: u64, to: u64) {
        let mtl = self.process.object(REQUEST);
        self.process.set(mtl, REQUEST, "length", 44);
        self.answered(mtl, word, to);
    }

    /// Persistent requests that wait to be started: a receive, and a send.
    pub fn persistent(&mut self, comm: TargetAddr, tag: i64) {
        let inactive = self.process.constant("OMPI_REQUEST_INACTIVE");
        for (type_name, kind) in [(HEAVY_RECEIVE, "RECV_HEAVY"), (HEAVY_SEND, "SEND_HEAVY")] {
            let (at, _) = self.request(type_name, kind, comm);
            self.process.set(at, "cm_request", "req_ompi.req_state", inactive);
            self.process.set(at, "cm_request", "req_ompi.req_persistent", 1);
            self.process.set(at, type_name, "req_tag", tag);
            self.process.set(at, type_name, "req_peer", 2);
            // A send's becomes the bytes to be sent.
            let count = if kind == "SEND_HEAVY" { 7 * ELEMENT as i64 } else { 7 };
            self.process.set(at, type_name, "req_count", count);
        }
    }

    /// A message that a matching probe took.
    pub fn held(&mut self, comm: TargetAddr, word: u64, from: i64) {
        let mtl = self.process.object(REQUEST);
        self.kept(mtl, word, ANY);
        self.process.set(mtl, REQUEST, "type", PROBE);
        self.process.set(mtl, REQUEST, "match_state", 1);
        self.process.set(mtl, REQUEST, "status.MPI_SOURCE", from);
        self.process.set(mtl, REQUEST, "status._ucount", 12);
        self.message(comm, mtl, from);
        // Another was received, and never given back; its request is freed and has become this one's.
        self.message(comm, mtl, from);
        let received = self.process.object(REQUEST);
        self.kept(received, word, ANY);
        self.message(comm, received, from);
    }

    fn message(&mut self, comm: TargetAddr, mtl: TargetAddr, from: i64) {
        let pool = self.process.symbol_at("ompi_message_free_list");
        let item = self.process.items_of(pool, "ompi_message_t", 1)[0];
        self.process.set_pointer(item, "ompi_message_t", "comm", comm);
        self.process.set_pointer(item, "ompi_message_t", "req_ptr", mtl);
        self.process.set(item, "ompi_message_t", "peer", from);
        self.process.set(item, "ompi_message_t", "count", 12);
    }

    /// Whether it is known that all ranks have the same number for a communicator: of builds as Open MPI
    /// 5.0's, which odd seeds make, it is not.
    pub fn numbers_are_shared(seed: u64) -> bool {
        seed.is_multiple_of(2)
    }

    /// Everything that occurs; how many operations of each queue there are: sends, receives, messages.
    pub fn rich(layout: Layout, seed: u64) -> (Self, [usize; 3]) {
        let mut made = Self::new(layout, seed);
        let (world, other) = (10, 11);
        let comm = made.process.symbol_at("ompi_mpi_comm_world");
        made.receive(comm, word(world, 5), 0, address(2));
        made.receive(comm, word(world, 6), 0, ANY);
        made.receive(comm, word(world, 0), ANY_TAG, address(0));
        made.receive(comm, word(world, -16), 0, address(0));
        made.blocking_receive(comm, word(world, 7), address(3));
        made.matched(comm, word(world, 8), address(3), false);
        made.matched(comm, word(world, 9), ANY, true);
        made.send(comm, word(world, 20), 3, false);
        made.send(comm, word(world, 21), 3, true);
        made.blocking_send(word(other, 22), 2);
        made.waiting_send(comm, word(world, 23));
        made.blocking_standard_send(word(other, 24));
        made.persistent(comm, 30);
        made.unexpected(word(world, 40), 3);
        made.unexpected(word(other, 41), 0);
        made.held(comm, word(world, 50), 2);
        (made, [3 + 2 * usize::from(Self::numbers_are_shared(seed)), 8, 2])
    }
}
