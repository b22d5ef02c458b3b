//! A process with an imitation of Open MPI inside: it does to memory what the library does, on made-up layouts.

use layouts::Layouts;
use model::{Communicator, Operation, QueueReport, QueueSource};
use readers::ReaderError;
use readers::openmpi::OpenMpiReader;
use readers::openmpi::pml::Pml;
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ByteOrder, PointerWidth, TargetAbi};

use super::layout::Types;
use super::memory::Memory;
use super::openmpi_types::{Build, types};

pub const LITTLE_64: TargetAbi = TargetAbi::LITTLE_64;
pub const ABIS: [TargetAbi; 4] = [
    TargetAbi::LITTLE_64,
    TargetAbi { byte_order: ByteOrder::Big, pointer_width: PointerWidth::Eight },
    TargetAbi { byte_order: ByteOrder::Little, pointer_width: PointerWidth::Four },
    TargetAbi { byte_order: ByteOrder::Big, pointer_width: PointerWidth::Four },
];

pub const OWN_JOB: u32 = 0x1234_0001;
pub const OTHER_JOB: u32 = 0x7777_0002;

pub use super::traffic::{Message, Receive, Send};

const COMM: &str = "ompi_communicator_t";
const GROUP: &str = "ompi_group_t";
const BASE: &str = "mca_pml_base_request_t";
const RECEIVE: &str = "mca_pml_ob1_recv_request_t";
const SEND: &str = "mca_pml_ob1_send_request_t";
const PEER: &str = "mca_pml_ob1_comm_proc_t";
const POOL: &str = "opal_free_list_t";

/// A communicator of the imitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comm(pub usize);

#[derive(Debug, Clone)]
struct CommParts {
    addr: TargetAddr,
    pml: TargetAddr,
    peers: Vec<TargetAddr>,
}

#[derive(Debug, Clone)]
struct Pool {
    addr: TargetAddr,
    class: TargetAddr,
    item: &'static str,
    free: Vec<TargetAddr>,
}

/// A member of a group.
#[derive(Debug, Clone, Copy)]
pub enum Member {
    /// A process with that number in our job.
    Ours(u32),
    /// The same, not created yet.
    Sentinel(u32),
    /// A process of another job.
    Theirs(u32),
    /// The same, not created yet.
    TheirSentinel(u32),
}

/// Bytes of one element of the datatype that requests use.
pub const ELEMENT: u64 = 8;

#[derive(Debug, Clone)]
pub struct Process {
    pub types: Types,
    pub mem: Memory,
    pub build: Build,
    pub pml: &'static str,
    pub symbols: Vec<(&'static str, TargetAddr)>,
    comms: Vec<CommParts>,
    sends: Pool,
    receives: Pool,
    /// Objects in the first chunk of each pool, and in each further one.
    pub chunks: (u64, u64),
    procs: Vec<(Option<u32>, u32, TargetAddr)>,
    pub datatype: TargetAddr,
    table: TargetAddr,
    slots: u64,
}

impl Process {
    /// A process of rank 1 in a job of 4, with MPI_COMM_WORLD.
    pub fn new(abi: TargetAbi, build: Build, seed: u64) -> (Self, Comm) {
        let none = || Pool { addr: TargetAddr::NULL, class: TargetAddr::NULL, item: "", free: Vec::new() };
        let mut process = Self {
            types: types(abi, build, seed),
            mem: Memory::new(abi, seed),
            build,
            pml: "ob1",
            symbols: Vec::new(),
            comms: Vec::new(),
            sends: none(),
            receives: none(),
            chunks: (2, 3),
            procs: Vec::new(),
            datatype: TargetAddr::NULL,
            table: TargetAddr::NULL,
            slots: 0,
        };
        process.table = process.symbol("ompi_mpi_communicators", "opal_pointer_array_t");
        process.slots = 24;
        let slots = process.mem.alloc(process.slots * process.width(), process.width());
        process.set_pointer(process.table, "opal_pointer_array_t", "addr", slots);
        process.set(process.table, "opal_pointer_array_t", "size", process.slots as i64);
        let class = process.mem.alloc(64, 16);
        process.symbols.push(("ompi_communicator_t_class", class));
        process.symbol("ompi_mpi_comm_null", COMM);
        process.symbol("ompi_mpi_comm_world", COMM);
        process.datatype = process.object("ompi_datatype_t");
        process.set_text(process.datatype, "ompi_datatype_t", "name", b"MPI_DOUBLE");
        process.set(process.datatype, "ompi_datatype_t", "super.size", ELEMENT as i64);
        process.sends = process.pool("mca_pml_base_send_requests", SEND);
        process.receives = process.pool("mca_pml_base_recv_requests", RECEIVE);
        let module = process.symbol("mca_pml_ob1", "mca_pml_ob1_t");
        let (pending, _) = process.types.field("mca_pml_ob1_t", "non_existing_communicator_pending");
        process.empty_list(module.wrapping_add(pending));
        let group = process.group(&[Member::Ours(0), Member::Ours(1), Member::Sentinel(2), Member::Ours(3)]);
        let world = process.comm_at(process.symbol_at("ompi_mpi_comm_world"), "MPI_COMM_WORLD", group, 1);
        (process, world)
    }

    pub fn width(&self) -> u64 {
        self.mem.abi.pointer_width.bytes()
    }

    // ---- Objects and fields.

    /// A zeroed object of a type.
    pub fn object(&mut self, type_name: &str) -> TargetAddr {
        self.mem.alloc(self.types.size(type_name), 8)
    }

    fn symbol(&mut self, name: &'static str, type_name: &str) -> TargetAddr {
        let at = self.object(type_name);
        self.symbols.push((name, at));
        at
    }

    pub fn symbol_at(&self, name: &str) -> TargetAddr {
        self.symbols.iter().find(|(known, _)| *known == name).unwrap().1
    }

    pub fn field(&self, at: TargetAddr, type_name: &str, field: &str) -> TargetAddr {
        at.wrapping_add(self.types.field(type_name, field).0)
    }

    pub fn set(&mut self, at: TargetAddr, type_name: &str, field: &str, value: i64) {
        let (offset, size) = self.types.field(type_name, field);
        self.mem.put_int(at.wrapping_add(offset), size, value);
    }

    pub fn get(&self, at: TargetAddr, type_name: &str, field: &str) -> u64 {
        let (offset, size) = self.types.field(type_name, field);
        self.mem.get_uint(at.wrapping_add(offset), size)
    }

    pub fn set_pointer(&mut self, at: TargetAddr, type_name: &str, field: &str, to: TargetAddr) {
        self.set(at, type_name, field, to.get() as i64);
    }

    pub fn set_text(&mut self, at: TargetAddr, type_name: &str, field: &str, text: &[u8]) {
        let (offset, size) = self.types.field(type_name, field);
        assert!(text.len() as u64 <= size);
        self.mem.put(at.wrapping_add(offset), text);
    }

    pub fn constant(&self, name: &str) -> i64 {
        self.types.constant(name)
    }

    // ---- Lists.

    fn sentinel(&self, list: TargetAddr) -> TargetAddr {
        self.field(list, "opal_list_t", "opal_list_sentinel")
    }

    pub(super) fn link(&mut self, from: TargetAddr, to: TargetAddr) {
        self.set_pointer(from, "opal_list_item_t", "opal_list_next", to);
        self.set_pointer(to, "opal_list_item_t", "opal_list_prev", from);
    }

    pub fn empty_list(&mut self, list: TargetAddr) {
        let sentinel = self.sentinel(list);
        self.link(sentinel, sentinel);
        self.set(list, "opal_list_t", "opal_list_length", 0);
    }

    pub fn append(&mut self, list: TargetAddr, item: TargetAddr) {
        let sentinel = self.sentinel(list);
        let last = self.mem.get_pointer(self.field(sentinel, "opal_list_item_t", "opal_list_prev"));
        self.link(last, item);
        self.link(item, sentinel);
        let len = self.get(list, "opal_list_t", "opal_list_length");
        self.set(list, "opal_list_t", "opal_list_length", len as i64 + 1);
    }

    pub(super) fn remove(&mut self, list: TargetAddr, item: TargetAddr) {
        let before = self.mem.get_pointer(self.field(item, "opal_list_item_t", "opal_list_prev"));
        let after = self.mem.get_pointer(self.field(item, "opal_list_item_t", "opal_list_next"));
        self.link(before, after);
        let len = self.get(list, "opal_list_t", "opal_list_length");
        self.set(list, "opal_list_t", "opal_list_length", len as i64 - 1);
    }

    // ---- Pools.

    fn pool(&mut self, symbol: &'static str, item: &'static str) -> Pool {
        let addr = self.symbol(symbol, POOL);
        let class = self.mem.alloc(64, 16);
        // Objects of a pool may be larger than their type.
        self.set(addr, POOL, "fl_frag_size", self.types.size(item) as i64 + 24);
        self.set(addr, POOL, "fl_frag_alignment", 64);
        self.set_pointer(addr, POOL, "fl_frag_class", class);
        let allocations = self.field(addr, POOL, "fl_allocations");
        self.empty_list(allocations);
        Pool { addr, class, item, free: Vec::new() }
    }

    /// Makes an empty pool of what is there.
    pub(super) fn pool_at(&mut self, addr: TargetAddr, class: TargetAddr, item: &'static str) {
        self.set(addr, POOL, "fl_frag_size", self.types.size(item) as i64);
        self.set(addr, POOL, "fl_frag_alignment", 8);
        self.set_pointer(addr, POOL, "fl_frag_class", class);
        let allocations = self.field(addr, POOL, "fl_allocations");
        self.empty_list(allocations);
    }

    /// Adds a chunk of `count` zeroed objects, which have the class of the pool: as if they were in use.
    pub(super) fn items_of(&mut self, pool: TargetAddr, item: &str, count: u64) -> Vec<TargetAddr> {
        let head = self.types.size("opal_free_list_item_t");
        let stride = self.types.size(item).next_multiple_of(8);
        let chunk = self.mem.alloc(head + 8 + count * stride, 8);
        self.append(self.field(pool, POOL, "fl_allocations"), chunk);
        let class = TargetAddr::new(self.get(pool, POOL, "fl_frag_class"));
        let first = (chunk.get() + head).next_multiple_of(8);
        let items: Vec<_> = (0..count).map(|index| TargetAddr::new(first + index * stride)).collect();
        for item in &items {
            self.set_pointer(*item, "opal_object_t", "obj_class", class);
        }
        let allocated = self.get(pool, POOL, "fl_num_allocated") + count;
        self.set(pool, POOL, "fl_num_allocated", allocated as i64);
        self.set(pool, POOL, "fl_num_per_alloc", count as i64);
        items
    }

    /// A process of our job.
    pub(super) fn proc_of(&mut self, vpid: u32) -> TargetAddr {
        self.proc(OWN_JOB, vpid)
    }

    /// Adds a chunk of `count` objects.
    pub fn grow(&mut self, sends: bool, count: u64) {
        let pool = if sends { self.sends.clone() } else { self.receives.clone() };
        let head = self.types.size("opal_free_list_item_t");
        let stride = self.get(pool.addr, POOL, "fl_frag_size").next_multiple_of(64);
        let chunk = self.mem.alloc(head + 64 + count * stride, 8);
        self.append(self.field(pool.addr, POOL, "fl_allocations"), chunk);
        let mut free = Vec::new();
        for index in 0..count {
            let item = TargetAddr::new((chunk.get() + head).next_multiple_of(64) + index * stride);
            self.set_pointer(item, "opal_object_t", "obj_class", pool.class);
            self.set(item, BASE, "req_ompi.req_state", self.constant("OMPI_REQUEST_INVALID"));
            self.set(item, BASE, "req_ompi.req_type", self.constant("OMPI_REQUEST_PML"));
            if pool.item == SEND {
                self.set(item, BASE, "req_type", self.constant("MCA_PML_REQUEST_SEND"));
            }
            free.push(item);
        }
        let mut rng = self.types.rng.clone();
        rng.shuffle(&mut free);
        self.types.rng = rng;
        let allocated = self.get(pool.addr, POOL, "fl_num_allocated") + count;
        self.set(pool.addr, POOL, "fl_num_allocated", allocated as i64);
        self.set(pool.addr, POOL, "fl_num_per_alloc", self.chunks.1 as i64);
        if sends { &mut self.sends.free } else { &mut self.receives.free }.extend(free);
    }

    pub(super) fn request(&mut self, sends: bool) -> TargetAddr {
        loop {
            let pool = if sends { &mut self.sends } else { &mut self.receives };
            if let Some(item) = pool.free.pop() {
                return item;
            }
            let addr = pool.addr;
            let first = self.get(addr, POOL, "fl_num_allocated") == 0;
            self.grow(sends, if first { self.chunks.0 } else { self.chunks.1 });
        }
    }

    // ---- Groups and communicators.

    fn proc(&mut self, job: u32, vpid: u32) -> TargetAddr {
        if let Some((_, _, at)) = self.procs.iter().find(|(known, number, _)| *known == Some(job) && *number == vpid) {
            return *at;
        }
        let at = self.object("ompi_proc_t");
        self.set(at, "ompi_proc_t", "super.proc_name.jobid", i64::from(job));
        self.set(at, "ompi_proc_t", "super.proc_name.vpid", i64::from(vpid));
        self.procs.push((Some(job), vpid, at));
        at
    }

    fn sentinel_of(&self, job: u32, vpid: u32) -> TargetAddr {
        let vpid = u64::from(vpid);
        TargetAddr::new(match self.mem.abi.pointer_width {
            // The low half of a job's number has 15 bits here.
            PointerWidth::Eight => vpid << 32 | u64::from(job >> 16) << 16 | u64::from(job & 0x7fff) << 1 | 1,
            PointerWidth::Four => vpid << 1 | 1,
        })
    }

    pub fn group(&mut self, members: &[Member]) -> TargetAddr {
        let group = self.object(GROUP);
        let table = self.mem.alloc(self.width() * members.len().max(1) as u64, 8);
        for (index, member) in (0..).zip(members) {
            let value = match *member {
                Member::Ours(vpid) => self.proc(OWN_JOB, vpid),
                Member::Sentinel(vpid) => self.sentinel_of(OWN_JOB, vpid),
                Member::Theirs(vpid) => self.proc(OTHER_JOB, vpid),
                Member::TheirSentinel(vpid) => self.sentinel_of(OTHER_JOB, vpid),
            };
            self.mem.put_pointer(table.wrapping_add(index * self.width()), value);
        }
        self.set(group, GROUP, "grp_proc_count", members.len() as i64);
        self.set_pointer(group, GROUP, "grp_proc_pointers", table);
        self.set(group, GROUP, "grp_flags", self.constant("OMPI_GROUP_DENSE"));
        group
    }

    fn sparse(&mut self, parent: TargetAddr, count: u64, flag: &str) -> TargetAddr {
        let group = self.object(GROUP);
        self.set(group, GROUP, "grp_proc_count", count as i64);
        self.set_pointer(group, GROUP, "grp_parent_group_ptr", parent);
        self.set(group, GROUP, "grp_flags", self.constant(flag));
        group
    }

    pub fn strided(&mut self, parent: TargetAddr, count: u64, offset: i64, stride: i64) -> TargetAddr {
        let group = self.sparse(parent, count, "OMPI_GROUP_STRIDED");
        self.set(group, GROUP, "sparse_data.grp_strided.grp_strided_offset", offset);
        self.set(group, GROUP, "sparse_data.grp_strided.grp_strided_stride", stride);
        group
    }

    /// Ranges of first rank and length.
    pub fn sporadic(&mut self, parent: TargetAddr, ranges: &[(i64, i64)]) -> TargetAddr {
        let count: i64 = ranges.iter().map(|(_, len)| len).sum();
        let group = self.sparse(parent, count as u64, "OMPI_GROUP_SPORADIC");
        let size = self.types.size("ompi_group_sporadic_list_t");
        let list = self.mem.alloc(size * ranges.len() as u64, 8);
        for (index, (first, len)) in (0..).zip(ranges) {
            let at = list.wrapping_add(index * size);
            self.set(at, "ompi_group_sporadic_list_t", "rank_first", *first);
            self.set(at, "ompi_group_sporadic_list_t", "length", *len);
        }
        self.set_pointer(group, GROUP, "sparse_data.grp_sporadic.grp_sporadic_list", list);
        self.set(group, GROUP, "sparse_data.grp_sporadic.grp_sporadic_list_len", ranges.len() as i64);
        group
    }

    pub fn bitmap(&mut self, parent: TargetAddr, bits: &[u8]) -> TargetAddr {
        let count: u32 = bits.iter().map(|byte| byte.count_ones()).sum();
        let group = self.sparse(parent, u64::from(count), "OMPI_GROUP_BITMAP");
        let array = self.mem.alloc(bits.len() as u64, 1);
        self.mem.put(array, bits);
        self.set_pointer(group, GROUP, "sparse_data.grp_bitmap.grp_bitmap_array", array);
        self.set(group, GROUP, "sparse_data.grp_bitmap.grp_bitmap_array_len", bits.len() as i64);
        group
    }

    /// An ordinary communicator over a group.
    pub fn comm(&mut self, name: &str, group: TargetAddr, my_rank: i64) -> Comm {
        let at = self.object(COMM);
        self.comm_at(at, name, group, my_rank)
    }

    fn comm_at(&mut self, at: TargetAddr, name: &str, group: TargetAddr, my_rank: i64) -> Comm {
        self.communicator(at, name, (group, group), my_rank)
    }

    /// An intercommunicator and its internal local communicator.
    pub fn intercomm(&mut self, name: &str, local: TargetAddr, remote: TargetAddr, my_rank: i64) -> (Comm, Comm) {
        let (at, inner) = (self.object(COMM), self.object(COMM));
        let inner = self.communicator(inner, "made by the library", (local, local), my_rank);
        let comm = self.communicator(at, name, (local, remote), my_rank);
        self.set_pointer(at, COMM, "c_local_comm", self.comms[inner.0].addr);
        let named = self.constant("OMPI_COMM_NAMEISSET");
        self.set(at, COMM, "c_flags", named | self.constant("OMPI_COMM_INTER"));
        self.set(self.comms[inner.0].addr, COMM, "c_flags", 0);
        (comm, inner)
    }

    fn communicator(&mut self, at: TargetAddr, name: &str, groups: (TargetAddr, TargetAddr), my_rank: i64) -> Comm {
        let class = self.symbol_at("ompi_communicator_t_class");
        self.set_pointer(at, "opal_object_t", "obj_class", class);
        if self.build.name_pointers {
            let text = self.mem.alloc(name.len() as u64 + 1, 1);
            self.mem.put(text, name.as_bytes());
            self.set_pointer(at, COMM, "c_name", text);
        } else {
            self.set_text(at, COMM, "c_name", name.as_bytes());
        }
        self.set(at, COMM, "c_my_rank", my_rank);
        self.set(at, COMM, "c_flags", self.constant("OMPI_COMM_NAMEISSET"));
        self.set_pointer(at, COMM, "c_local_group", groups.0);
        self.set_pointer(at, COMM, "c_remote_group", groups.1);
        let peers = self.get(groups.1, GROUP, "grp_proc_count");
        let pml_type = if self.build.extended { "mca_pml_comm_t" } else { "mca_pml_ob1_comm_t" };
        let pml = self.object(pml_type);
        self.set_pointer(at, COMM, "c_pml_comm", pml);
        let procs = self.mem.alloc(peers.max(1) * self.width(), 8);
        self.set_pointer(pml, pml_type, "procs", procs);
        self.set(pml, pml_type, "num_procs", peers as i64);
        if !self.build.custom_matching {
            self.empty_list(self.field(pml, pml_type, "wild_receives"));
        }
        let index = self.comms.len();
        self.comms.push(CommParts { addr: at, pml, peers: vec![TargetAddr::NULL; peers as usize] });
        let number = if self.build.extended { "c_index" } else { "c_contextid" };
        self.set(at, COMM, number, index as i64 + 10);
        // Slots are left free in between.
        self.set_slot(2 * index as u64, at);
        Comm(index)
    }

    pub fn set_slot(&mut self, slot: u64, to: TargetAddr) {
        assert!(slot < self.slots);
        let table = self.mem.get_pointer(self.field(self.table, "opal_pointer_array_t", "addr"));
        self.mem.put_pointer(table.wrapping_add(slot * self.width()), to);
    }

    pub fn addr(&self, comm: Comm) -> TargetAddr {
        self.comms[comm.0].addr
    }

    pub fn pml_type(&self) -> &'static str {
        if self.build.extended { "mca_pml_comm_t" } else { "mca_pml_ob1_comm_t" }
    }

    /// ob1's part of a communicator.
    pub fn pml_comm(&self, comm: Comm) -> TargetAddr {
        self.comms[comm.0].pml
    }

    /// ob1's state of a peer, made when it is first needed.
    pub fn peer(&mut self, comm: Comm, rank: i64) -> TargetAddr {
        let known = self.comms[comm.0].peers[rank as usize];
        if !known.is_null() {
            return known;
        }
        let at = self.object(PEER);
        if !self.build.custom_matching {
            self.empty_list(self.field(at, PEER, "specific_receives"));
            self.empty_list(self.field(at, PEER, "unexpected_frags"));
        }
        self.set(at, PEER, "expected_sequence", 1);
        let procs = self.mem.get_pointer(self.field(self.pml_comm(comm), self.pml_type(), "procs"));
        self.mem.put_pointer(procs.wrapping_add(rank as u64 * self.width()), at);
        self.comms[comm.0].peers[rank as usize] = at;
        at
    }

    pub fn wild_list(&self, comm: Comm) -> TargetAddr {
        self.field(self.pml_comm(comm), self.pml_type(), "wild_receives")
    }

    pub fn specific_list(&mut self, comm: Comm, rank: i64) -> TargetAddr {
        let peer = self.peer(comm, rank);
        self.field(peer, PEER, "specific_receives")
    }

    pub fn unexpected_list(&mut self, comm: Comm, rank: i64) -> TargetAddr {
        let peer = self.peer(comm, rank);
        self.field(peer, PEER, "unexpected_frags")
    }

    // ---- Reading.

    pub fn target(&self) -> MockTarget {
        let mut target = self.mem.target();
        for (name, at) in &self.symbols {
            target.add_symbol(name, *at, None);
        }
        target
    }

    pub fn layouts(&self) -> Layouts {
        Layouts::new(vec![Box::new(self.types.clone())])
    }

    pub fn try_read(&self) -> Result<QueueReport, ReaderError> {
        let (target, layouts) = (self.target(), self.layouts());
        OpenMpiReader::new(&target, &layouts, Pml::named(self.pml)).read_queues()
    }

    /// Reads without any problem.
    pub fn read(&self) -> QueueReport {
        let report = self.try_read().unwrap();
        assert_eq!(report.problems, Vec::<String>::new());
        report
    }
}

/// The communicator of that name.
pub fn named<'r>(report: &'r QueueReport, name: &str) -> &'r Communicator {
    let found = report.communicators.iter().find(|communicator| communicator.name == name);
    found.unwrap_or_else(|| panic!("no communicator {name}"))
}

/// The tags of operations, in order; wild ones are `None`.
pub fn tags(operations: &[Operation]) -> Vec<Option<i64>> {
    operations.iter().map(|operation| operation.desired_tag).collect()
}

/// Whether the text occurs among the further facts of an operation.
pub fn says(operation: &Operation, words: &str) -> bool {
    operation.extra_text.iter().any(|remark| remark.to_string().contains(words))
}
