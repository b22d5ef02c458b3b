//! A process with an imitation of MPICH inside: pools and lists as the library keeps them, on made-up layouts.

use layouts::Layouts;
use model::{Communicator, QueueReport, QueueSource};
use readers::mpich::handle_value::{HandleValue, ObjectKind, Place};
use readers::mpich::library::Library;
use readers::mpich::pool_layout::HeadLayout;
use readers::mpich::pools::Pools;
use readers::mpich::{MpichProcess, MpichReader};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Range, Target, TargetAbi};

use super::layout::{C, Order, Types};
use super::memory::Memory;

pub const REQUEST: &str = "MPIR_Request";
pub const MORE: &str = "MPIDIG_req_ext_t";
const COMM: &str = "MPIR_Comm";
const VARIABLES: u64 = 16 << 10;
const OBJECTS: u64 = 32;

pub const SEND: i64 = 1;
pub const RECEIVE: i64 = 2;
pub const PERSISTENT_SEND: i64 = 3;
pub const MATCHED_PROBE: i64 = 11;

/// Events of libfabric.
pub const OFI_RECEIVE: i64 = 2;
pub const OFI_PEEK: i64 = 8;

pub const MPI_INT: i64 = 0x4c00_0405;
pub const MPI_BYTE: i64 = 0x4c00_010d;
pub const WORLD_CONTEXT: i64 = 0;
pub const SELF_CONTEXT: i64 = 16;

/// What the device keeps of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// Source and tag stand in the request.
    Ch4,
    /// Source and tag stand in its status, as since 4.3.
    Ch4Status,
    Ch3,
}

#[derive(Clone)]
pub struct Mpich {
    pub types: Types,
    pub mem: Memory,
    pub device: Device,
    pub symbols: Vec<(&'static str, TargetAddr)>,
    variables: TargetAddr,
    requests: TargetAddr,
    comms: TargetAddr,
    used: u64,
    head: HeadLayout,
    request_head: TargetAddr,
}

fn types(abi: TargetAbi, device: Device, seed: u64) -> Types {
    let mut types = Types::new(abi, seed);
    let header = [("handle", C::I(4)), ("ref_count", C::I(4))];
    types.define("MPIR_Handle_common", Order::AsWritten, &[header[0], header[1], ("next", C::Ptr)]);
    let mut comm = header.to_vec();
    comm.extend(["rank", "remote_size", "local_size", "comm_kind"].map(|name| (name, C::I(4))));
    comm.extend(["context_id", "recvcontext_id"].map(|name| (name, C::U(2))));
    comm.extend(
        ["local_group", "remote_group", "local_comm", "node_comm", "node_roots_comm"].map(|name| (name, C::Ptr)),
    );
    comm.push(("name", C::Chars(32)));
    if device == Device::Ch3 {
        comm.extend(["dev.vcrt", "dev.local_vcrt"].map(|name| (name, C::Ptr)));
        super::nemesis::types(&mut types);
    }
    types.define(COMM, Order::Shuffled, &comm);
    types.define("MPIR_Datatype", Order::Shuffled, &[header[0], header[1], ("size", C::Size), ("name", C::Chars(32))]);
    let mut request = header.to_vec();
    request.extend(["cc_ptr", "comm", "u.persist.real_request", "next", "prev"].map(|name| (name, C::Ptr)));
    request.extend(["kind", "cc"].map(|name| (name, C::I(4))));
    let status = ["count_lo", "count_hi_and_cancelled", "MPI_SOURCE", "MPI_TAG", "MPI_ERROR"];
    request.extend(
        ["status.count_lo", "status.count_hi_and_cancelled", "status.MPI_SOURCE", "status.MPI_TAG", "status.MPI_ERROR"]
            .map(|name| (name, C::I(4))),
    );
    assert_eq!(status.len(), 5);
    match device {
        Device::Ch3 => {
            request.extend(["dev.user_buf", "dev.tmpbuf", "dev.partner_request"].map(|name| (name, C::Ptr)));
            request.extend([("dev.user_count", C::I(8)), ("dev.recv_data_sz", C::I(8)), ("dev.state", C::U(4))]);
            request.extend([("dev.match.parts.tag", C::I(4)), ("dev.match.parts.rank", C::I(2))]);
            request.extend([("dev.match.parts.context_id", C::U(2)), ("dev.datatype", C::I(4))]);
            request.extend([("dev.sender_req_id", C::I(4)), ("dev.pending_pkt", C::Struct(super::nemesis::PACKET))]);
        }
        Device::Ch4 | Device::Ch4Status => {
            request.extend([("dev.is_local", C::I(4)), ("dev.anysource_partner_request", C::Ptr)]);
            request.extend(["dev.ch4.am.req", "dev.ch4.am.buffer", "dev.ch4.preq.buffer"].map(|name| (name, C::Ptr)));
            request.extend([("dev.ch4.am.count", C::I(8)), ("dev.ch4.am.datatype", C::I(4))]);
            request.extend([("dev.ch4.am.u.send.dest", C::I(4)), ("dev.ch4.am.u.recv.context_id", C::U(2))]);
            request.extend(["p_type", "rank", "tag", "datatype"].map(|name| (preq(name), C::I(4))));
            request.push(("dev.ch4.preq.count", C::I(8)));
            request.extend([("dev.ch4.self.buf", C::Ptr), ("dev.ch4.self.match_req", C::Ptr)]);
            request.extend([("dev.ch4.self.count", C::I(8)), ("dev.ch4.self.datatype", C::I(4))]);
            request.push(("dev.ch4.self.tag", C::I(4)));
            request.extend([("dev.ch4.netmod.ofi.event_id", C::I(4)), ("dev.ch4.netmod.ofi.util_id", C::I(4))]);
            request
                .extend([("dev.ch4.netmod.ofi.util.iov.iov_base", C::Ptr), ("dev.ch4.netmod.ofi.context_id", C::U(2))]);
            request.push(("dev.ch4.netmod.ofi.util.iov.iov_len", C::Size));
            request.push(("dev.ch4.netmod.ofi.datatype", C::I(4)));
            if device == Device::Ch4Status {
                // Since 4.0.
                request.push(("dev.ch4.netmod.ofi.kind", C::I(4)));
            }
            if device == Device::Ch4 {
                request.extend(["dev.ch4.am.u.recv.source", "dev.ch4.am.u.recv.tag"].map(|name| (name, C::I(4))));
            }
        }
    }
    types.define(REQUEST, Order::Shuffled, &request);
    let more = [
        ("status", C::U(8)),
        ("send_async.offset", C::I(8)),
        ("send_async.data_sz_left", C::I(8)),
        ("send_async.datatype", C::I(4)),
        ("rreq.peer_req_ptr", C::Ptr),
    ];
    types.define(MORE, Order::Shuffled, &more);
    if device != Device::Ch3 {
        let mut header = ["src_rank", "tag", "context_id", "error_bits", "flags"].map(|name| (name, C::I(4))).to_vec();
        header.extend([("sreq_ptr", C::Ptr), ("data_sz", C::Size), ("rndv_hdr_sz", C::Size)]);
        types.define("MPIDIG_hdr_t", Order::Shuffled, &header);
    }
    let entry =
        [("req", C::Ptr), ("tag", C::I(4)), ("rank", C::I(4)), ("buf", C::Ptr), ("count", C::I(8)), ("next", C::Ptr)];
    types.define("MPIR_Debugq", Order::Shuffled, &entry);
    for (name, value) in
        [("SEND", SEND), ("RECV", RECEIVE), ("PREQUEST_SEND", PERSISTENT_SEND), ("MPROBE", MATCHED_PROBE)]
    {
        types.constants.insert(format!("MPIR_REQUEST_KIND__{name}").leak(), value);
    }
    types.constants.insert("MPIR_COMM_KIND__INTERCOMM", 1);
    types.constants.extend([("MPI_ANY_SOURCE", -2), ("MPI_ANY_TAG", -1)]);
    for (name, value) in [
        ("EVENT_RECV", OFI_RECEIVE),
        ("EVENT_PEEK", OFI_PEEK),
        ("PEEK_START", 0),
        ("PEEK_NOT_FOUND", 1),
        ("PEEK_FOUND", 2),
    ] {
        types.constants.insert(format!("MPIDI_OFI_{name}").leak(), value);
    }
    types
}

fn preq(name: &str) -> &'static str {
    format!("dev.ch4.preq.{name}").leak()
}

impl Mpich {
    /// With MPI_COMM_WORLD of four processes, all on this node, and MPI_COMM_SELF.
    pub fn new(abi: TargetAbi, device: Device, seed: u64) -> Self {
        let types = types(abi, device, seed);
        let mut mem = Memory::new(abi, seed);
        let variables = mem.alloc(VARIABLES + OBJECTS * (types.size(REQUEST) + 2 * types.size(COMM)), 64);
        let requests = variables.wrapping_add(VARIABLES);
        let comms = requests.wrapping_add(OBJECTS * types.size(REQUEST));
        let head = HeadLayout::all(abi)[1];
        let request_head = variables.wrapping_add(64);
        let mut process =
            Self { types, mem, device, symbols: Vec::new(), variables, requests, comms, used: 0, head, request_head };
        process.pool(request_head, ObjectKind::Request, requests, process.types.size(REQUEST));
        let pool = comms.wrapping_add(OBJECTS / 2 * process.types.size(COMM));
        process.pool(variables.wrapping_add(256), ObjectKind::Comm, pool, process.types.size(COMM));
        process.comm(comms, 0x4400_0000, "MPI_COMM_WORLD", 4, WORLD_CONTEXT);
        process.comm(comms.wrapping_add(process.types.size(COMM)), 0x4400_0001, "MPI_COMM_SELF", 1, SELF_CONTEXT);
        // The communicator of the node, which is all of MPI_COMM_WORLD.
        process.comm(pool, 0x8400_0000, "", 4, WORLD_CONTEXT + 2);
        process.set(comms, COMM, "node_comm", pool.get() as i64);
        // The others are free.
        let free = pool.wrapping_add(process.types.size(COMM));
        process.chain(process.variables.wrapping_add(256), free, OBJECTS / 2 - 1, process.types.size(COMM));
        let (at, size) = (process.requests, process.types.size(REQUEST));
        process.chain(process.request_head, at, OBJECTS, size);
        process
    }

    fn pool(&mut self, at: TargetAddr, kind: ObjectKind, direct: TargetAddr, size: u64) {
        let head = self.head;
        let count = if kind == ObjectKind::Comm { OBJECTS / 2 } else { OBJECTS };
        let mut word = |slot: usize, value: u64| self.mem.put_int(at.wrapping_add(slot as u64), 4, value as i64);
        word(head.kind, kind as u64);
        word(head.size, size);
        word(head.direct_size, count);
        word(head.initialized, 1);
        word(head.num_allocated.unwrap(), count);
        word(head.num_avail.unwrap(), 1);
        self.mem.put_pointer(at.wrapping_add(head.direct as u64), direct);
        for index in 0..count {
            let handle = HandleValue::first(Place::Direct, kind).0 | index as u32;
            self.mem.put_int(direct.wrapping_add(index * size), 4, i64::from(handle));
        }
    }

    /// Makes `count` objects from `first` on the free ones of a pool.
    fn chain(&mut self, head: TargetAddr, first: TargetAddr, count: u64, size: u64) {
        let next = self.types.field("MPIR_Handle_common", "next").0;
        for index in 0..count {
            let to = if index + 1 < count { first.wrapping_add((index + 1) * size) } else { TargetAddr::NULL };
            self.mem.put_pointer(first.wrapping_add(index * size + next), to);
        }
        self.mem
            .put_pointer(head.wrapping_add(self.head.avail as u64), if count > 0 { first } else { TargetAddr::NULL });
    }

    fn comm(&mut self, at: TargetAddr, handle: i64, name: &str, size: i64, context: i64) {
        for (field, value) in [("ref_count", 1), ("local_size", size), ("remote_size", size), ("context_id", context)] {
            self.set(at, COMM, field, value);
        }
        self.set(at, COMM, "handle", handle);
        self.set(at, COMM, "recvcontext_id", context);
        let (offset, _) = self.types.field(COMM, "name");
        self.mem.put(at.wrapping_add(offset), name.as_bytes());
    }

    pub fn world(&self) -> TargetAddr {
        self.comms
    }

    pub fn own(&self) -> TargetAddr {
        self.comms.wrapping_add(self.types.size(COMM))
    }

    pub fn set(&mut self, at: TargetAddr, type_name: &str, field: &str, value: i64) {
        let (offset, size) = self.types.field(type_name, field);
        self.mem.put_int(at.wrapping_add(offset), size, value);
    }

    /// A request in use, with fields.
    pub fn request(&mut self, kind: i64, counter: i64, comm: TargetAddr, fields: &[(&str, i64)]) -> TargetAddr {
        let size = self.types.size(REQUEST);
        let at = self.requests.wrapping_add(self.used * size);
        self.used += 1;
        let left = OBJECTS - self.used;
        self.chain(self.request_head, at.wrapping_add(size), left, size);
        let own = at.wrapping_add(self.types.field(REQUEST, "cc").0);
        for (field, value) in [("ref_count", 2), ("kind", kind), ("cc", counter), ("cc_ptr", own.get() as i64)] {
            self.set(at, REQUEST, field, value);
        }
        for field in ["next", "prev", "u.persist.real_request"] {
            self.set(at, REQUEST, field, 0);
        }
        self.set(at, REQUEST, "comm", comm.get() as i64);
        if self.device != Device::Ch3 {
            let more = self.mem.alloc(self.types.size(MORE), 8);
            self.set(at, REQUEST, "dev.is_local", 1);
            self.set(at, REQUEST, "dev.ch4.am.req", more.get() as i64);
            // What an unused cell may hold.
            self.set(more, MORE, "send_async.data_sz_left", 77);
        }
        for (field, value) in fields {
            self.set(at, REQUEST, field, *value);
        }
        at
    }

    /// A receive, or with a null communicator a message, in the words of the device.
    pub fn receive(
        &mut self,
        comm: TargetAddr,
        [source, tag, context]: [i64; 3],
        count: i64,
        datatype: i64,
    ) -> TargetAddr {
        let buffer = 0x1234_5670;
        match self.device {
            Device::Ch3 => self.request(
                RECEIVE,
                1,
                comm,
                &[
                    ("dev.match.parts.rank", source),
                    ("dev.match.parts.tag", tag),
                    ("dev.match.parts.context_id", context),
                    ("dev.user_count", count),
                    ("dev.datatype", datatype),
                    ("dev.user_buf", buffer),
                    ("dev.recv_data_sz", count),
                    ("dev.tmpbuf", buffer),
                ],
            ),
            Device::Ch4 | Device::Ch4Status => {
                let names = match self.device {
                    Device::Ch4 => ["dev.ch4.am.u.recv.source", "dev.ch4.am.u.recv.tag"],
                    _ => ["status.MPI_SOURCE", "status.MPI_TAG"],
                };
                self.request(
                    RECEIVE,
                    1,
                    comm,
                    &[
                        (names[0], source),
                        (names[1], tag),
                        ("dev.ch4.am.u.recv.context_id", context),
                        ("dev.ch4.am.count", count),
                        ("dev.ch4.am.datatype", datatype),
                        ("dev.ch4.am.buffer", buffer),
                    ],
                )
            }
        }
    }

    /// The C handle of an object.
    pub fn handle(&self, at: TargetAddr) -> u64 {
        self.mem.get_uint(at, 4)
    }

    /// Where the rest of a request's facts lies.
    pub fn more(&self, at: TargetAddr) -> TargetAddr {
        self.mem.get_pointer(at.wrapping_add(self.types.field(REQUEST, "dev.ch4.am.req").0))
    }

    /// Sets a variable of the library, the `number`th.
    pub fn variable(&mut self, number: u64, to: TargetAddr) {
        self.mem.put_pointer(self.variables.wrapping_add(1024 + 8 * number), to);
    }

    /// Links requests into a list that hangs on a variable of the library, the `number`th.
    pub fn list(&mut self, number: u64, requests: &[TargetAddr]) {
        self.variable(number, requests[0]);
        for (index, at) in requests.iter().enumerate() {
            let next = requests.get(index + 1).copied().unwrap_or(TargetAddr::NULL);
            let before = if index == 0 { requests[requests.len() - 1] } else { requests[index - 1] };
            self.set(*at, REQUEST, "next", next.get() as i64);
            self.set(*at, REQUEST, "prev", if self.device == Device::Ch3 { 0x77 } else { before.get() as i64 });
        }
    }

    pub fn target(&self) -> MockTarget {
        let mut target = self.mem.target();
        for (name, at) in &self.symbols {
            target.add_symbol(name, *at, None);
        }
        target
    }

    /// The library's variables.
    pub fn range(&self) -> Range {
        let len = VARIABLES + OBJECTS * (self.types.size(REQUEST) + 2 * self.types.size(COMM));
        Range { start: self.variables, len }
    }

    /// What the reader says of a process like this one, with memory of the caller's.
    pub fn read_of(&self, target: &dyn Target) -> Option<QueueReport> {
        let pools = Pools::find(target, &[self.range()]).ok()?;
        let device = if self.device == Device::Ch3 { "ch3:nemesis" } else { "ch4:ofi" };
        let library = Library {
            implementation: "MPICH".to_owned(),
            version: None,
            device: Some(device.to_owned()),
            debug_lists: false,
        };
        let process = MpichProcess { library, pools, abi: false };
        let layouts = Layouts::new(vec![Box::new(self.types.clone())]);
        MpichReader::new(target, &layouts, &process).read_queues().ok()
    }

    pub fn read(&self) -> QueueReport {
        self.read_of(&self.target()).expect("the process can be read")
    }

    pub fn read_world(&self) -> Communicator {
        self.read().communicators.remove(0)
    }
}
