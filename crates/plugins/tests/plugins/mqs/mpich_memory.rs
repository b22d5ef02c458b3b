//! Made-up structures of MPICH in the memory of a mock target, and a plug-in with the habits of MPICH's that reads them.

use std::path::PathBuf;
use std::sync::Arc;

use layouts::{Field, FieldKind, LayoutSource, Layouts, TypeLayout};
use model::{Communicator, QueueReport, QueueSource};
use plugins::mqs::{Datatype, Datatypes, PluginError, PluginRequest, PluginSource, dialect};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Reason, TargetAbi};

use super::toy::image;
use crate::compiled;

fn plugin(options: &str) -> PathBuf {
    compiled::plugin("tvmpich.c", &options.split_whitespace().collect::<Vec<_>>())
}

/// Name, offset and size of each field; a minus marks a signed one.
type Fields = &'static [(&'static str, u64, u64, bool)];

const COMM: Fields = &[
    ("handle", 0, 4, false),
    ("context_id", 8, 2, false),
    ("recvcontext_id", 10, 2, false),
    ("remote_size", 12, 4, true),
    ("rank", 16, 4, true),
    ("local_size", 20, 4, true),
    ("comm_next", 24, 8, false),
    ("name", 32, 128, false),
    ("comm_kind", 160, 4, false),
    ("node_comm", 168, 8, false),
];
/// As in a configuration with extended context ids.
const WIDE_COMM: Fields = &[
    ("handle", 0, 4, false),
    ("context_id", 4, 4, false),
    ("recvcontext_id", 8, 4, false),
    ("remote_size", 12, 4, true),
    ("rank", 16, 4, true),
    ("local_size", 20, 4, true),
    ("comm_next", 24, 8, false),
    ("name", 32, 128, false),
    ("comm_kind", 160, 4, false),
    ("node_comm", 168, 8, false),
];
const REQUEST: Fields = &[
    ("handle", 0, 4, false),
    ("kind", 8, 4, false),
    ("cc_ptr", 16, 8, false),
    ("cc", 24, 4, true),
    ("comm", 32, 8, false),
    ("status.count_lo", 40, 4, true),
    ("status.count_hi_and_cancelled", 44, 4, true),
    ("status.MPI_SOURCE", 48, 4, true),
    ("status.MPI_TAG", 52, 4, true),
    ("u.persist.real_request", 64, 8, false),
    ("next", 72, 8, false),
    ("dev", 80, 48, false),
    ("dev.is_local", 80, 4, true),
    ("dev.ch4", 88, 40, false),
    ("dev.ch4.am.buffer", 88, 8, false),
    ("dev.ch4.am.count", 96, 8, true),
    ("dev.ch4.am.datatype", 104, 4, false),
    ("dev.ch4.am.u.send.dest", 108, 4, true),
    ("dev.ch4.am.u.recv.source", 108, 4, true),
    ("dev.ch4.am.u.recv.context_id", 112, 2, false),
    ("dev.ch4.am.u.recv.tag", 116, 4, true),
];
const DEBUGQ: Fields = &[
    ("req", 0, 8, false),
    ("tag", 8, 4, true),
    ("rank", 12, 4, true),
    ("context_id", 16, 4, true),
    ("buf", 24, 8, false),
    ("count", 32, 8, true),
    ("next", 40, 8, false),
];
const SENDQ: Fields = &[
    ("sreq", 0, 8, false),
    ("tag", 8, 4, true),
    ("rank", 12, 4, true),
    ("context_id", 16, 4, true),
    ("next", 24, 8, false),
];
const AM: Fields = &[
    ("buffer", 0, 8, false),
    ("count", 8, 8, true),
    ("datatype", 16, 4, false),
    ("u.recv.source", 20, 4, true),
    ("u.recv.context_id", 24, 2, false),
    ("u.recv.tag", 28, 4, true),
];

struct Mpich {
    wide: bool,
    without: Option<&'static str>,
}

impl LayoutSource for Mpich {
    fn name(&self) -> String {
        "made up".to_owned()
    }
    fn type_layout(&self, name: &str) -> Result<Option<TypeLayout>, Reason> {
        let (size, fields): (u64, Fields) = match name {
            "MPIR_Comm_list" => (16, &[("sequence_number", 0, 4, true), ("head", 8, 8, false)]),
            "MPIR_Comm" => (176, if self.wide { WIDE_COMM } else { COMM }),
            "MPIR_Request" => (128, REQUEST),
            "MPIR_Debugq" => (56, DEBUGQ),
            "MPIR_Sendq" => (32, SENDQ),
            "MPIDI_Devreq_t" => (48, &[("is_local", 0, 4, true), ("ch4.am", 8, 40, false)]),
            "MPIDIG_req_t" => (40, AM),
            _ => return Ok(None),
        };
        let kept = fields.iter().filter(|field| self.without != Some(field.0));
        let field = |&(name, offset, size, signed): &(&str, u64, u64, bool)| {
            let kind = match (size, signed) {
                (9.., _) => FieldKind::Struct,
                (_, true) => FieldKind::Signed,
                _ => FieldKind::Unsigned,
            };
            (name.to_owned(), Field { offset, size, kind, type_name: "x".to_owned() })
        };
        Ok(Some(TypeLayout { size, fields: Arc::new(kept.map(field).collect()) }))
    }
    fn constant(&self, _: &str) -> Result<Option<i64>, Reason> {
        Ok(None)
    }
}

const HEAP: u64 = 0x10_0000;
const COMMS: u64 = HEAP + 0x1000;
const ENTRIES: u64 = HEAP + 0x2000;
const REQUESTS: u64 = HEAP + 0x4000;
const SYMBOLS: [&str; 6] = [
    "MPIR_All_communicators",
    "MPIR_Sendq_head",
    "MPIR_Recvq_head",
    "MPIR_Unexpq_head",
    "MPID_Recvq_posted_head_ptr",
    "MPID_Recvq_unexpected_head_ptr",
];
const INT: u32 = 0x4c00_0405;
pub const BYTE: u32 = 0x4c00_010d;
pub const DERIVED: u32 = 0x8c00_0005;
pub const ANY_SOURCE: i32 = -2;
/// A context id of collectives has this bit more.
pub const COLLECTIVE: u32 = 1;

/// The memory of a process, in the making.
pub struct Process {
    heap: Vec<u8>,
    comms: u64,
    requests: u64,
    wide: bool,
}

/// An operation, with what differs from a plain pending one.
#[derive(Clone, Copy)]
pub struct Op {
    pub rank: i32,
    pub tag: i32,
    pub context: u32,
    pub count: u64,
    pub datatype: u32,
    pub counter: i32,
    pub kind: u32,
    /// Context id that the request has.
    pub own: u32,
}

pub const OP: Op = Op { rank: 1, tag: 5, context: 0, count: 3, datatype: INT, counter: 1, kind: 2, own: 0 };

impl Process {
    pub fn new(wide: bool) -> Self {
        Self { heap: vec![0; 0x8000], comms: 0, requests: 0, wide }
    }

    pub fn put(&mut self, at: u64, bytes: &[u8]) {
        let at = (at - HEAP) as usize;
        self.heap[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Where the pointer of a symbol lies.
    pub fn symbol(name: &str) -> u64 {
        HEAP + 16 * SYMBOLS.iter().position(|symbol| *symbol == name).expect("a symbol") as u64
    }

    /// Adds a communicator: name, handle, context ids for sending and receiving, sizes local and remote.
    pub fn comm(&mut self, name: &str, handle: u32, contexts: [u32; 2], sizes: [i32; 2]) -> u64 {
        let at = COMMS + 0x100 * self.comms;
        self.comms += 1;
        self.put(at, &handle.to_le_bytes());
        if self.wide {
            self.put(at + 4, &contexts[0].to_le_bytes());
            self.put(at + 8, &contexts[1].to_le_bytes());
        } else {
            self.put(at + 8, &(contexts[0] as u16).to_le_bytes());
            self.put(at + 10, &(contexts[1] as u16).to_le_bytes());
        }
        self.put(at + 12, &sizes[1].to_le_bytes());
        self.put(at + 20, &sizes[0].to_le_bytes());
        self.put(at + 32, name.as_bytes());
        self.put(at + 160, &u32::from(contexts[0] != contexts[1]).to_le_bytes());
        let list = Self::symbol("MPIR_All_communicators") + 8;
        let first = self.pointer(list);
        self.put(at + 24, &first.to_le_bytes());
        self.put(list, &at.to_le_bytes());
        at
    }

    fn pointer(&self, at: u64) -> u64 {
        let at = (at - HEAP) as usize;
        u64::from_le_bytes(self.heap[at..at + 8].try_into().unwrap_or_default())
    }

    /// All processes of a communicator are on one node.
    pub fn near(&mut self, comm: u64) {
        self.put(comm + 168, &comm.to_le_bytes());
    }

    pub fn request(&mut self, op: Op, comm: u64) -> u64 {
        let at = REQUESTS + 0x100 * self.requests;
        self.requests += 1;
        self.put(at + 8, &op.kind.to_le_bytes());
        self.put(at + 16, &(at + 24).to_le_bytes());
        self.put(at + 24, &op.counter.to_le_bytes());
        self.put(at + 32, &comm.to_le_bytes());
        for (offset, value) in [(40, 8), (48, 1), (52, 77)] {
            self.put(at + offset, &i32::to_le_bytes(value));
        }
        self.put(at + 80, &1_i32.to_le_bytes());
        self.put(at + 88, &(0x7000 + op.tag as u32 as u64).to_le_bytes());
        self.put(at + 96, &op.count.to_le_bytes());
        self.put(at + 104, &op.datatype.to_le_bytes());
        self.put(at + 108, &op.rank.to_le_bytes());
        if op.kind == 2 {
            self.put(at + 112, &(op.own as u16).to_le_bytes());
            self.put(at + 116, &op.tag.to_le_bytes());
        }
        at
    }

    /// Notes an operation, the newest first. Messages that arrived have neither buffer nor count there.
    pub fn note(&mut self, list: &str, op: Op, comm: u64) -> u64 {
        let request = self.request(op, comm);
        let at = ENTRIES + 0x40 * self.requests;
        self.put(at, &request.to_le_bytes());
        self.put(at + 8, &op.tag.to_le_bytes());
        self.put(at + 12, &op.rank.to_le_bytes());
        self.put(at + 16, &op.context.to_le_bytes());
        if list != "MPIR_Unexpq_head" {
            self.put(at + 24, &(0x7000 + op.tag as u32 as u64).to_le_bytes());
            self.put(at + 32, &op.count.to_le_bytes());
        }
        let first = self.pointer(Self::symbol(list));
        self.put(at + 40, &first.to_le_bytes());
        self.put(Self::symbol(list), &at.to_le_bytes());
        request
    }

    /// Notes a send as releases up to 4.0.2 do.
    pub fn note_send(&mut self, op: Op, comm: u64) {
        let request = self.request(op, comm);
        let at = ENTRIES + 0x40 * self.requests;
        self.put(at, &request.to_le_bytes());
        self.put(at + 8, &op.tag.to_le_bytes());
        self.put(at + 12, &op.rank.to_le_bytes());
        self.put(at + 16, &op.context.to_le_bytes());
        let first = self.pointer(Self::symbol("MPIR_Sendq_head"));
        self.put(at + 24, &first.to_le_bytes());
        self.put(Self::symbol("MPIR_Sendq_head"), &at.to_le_bytes());
    }

    pub fn read(
        &self,
        options: &str,
        without: Option<&'static str>,
        known: &[Communicator],
    ) -> Result<QueueReport, PluginError> {
        let mut target = MockTarget::new(TargetAbi::LITTLE_64);
        target.add_segment(TargetAddr::new(HEAP), self.heap.clone());
        for symbol in SYMBOLS {
            target.add_symbol(symbol, TargetAddr::new(Self::symbol(symbol)), None);
        }
        target.add_image(image());
        let layouts = Layouts::new(vec![Box::new(Mpich { wide: self.wide, without })]);
        let request = PluginRequest { dialect: dialect::MPICH, ..PluginRequest::new(plugin(options)) };
        let image = image();
        let mut source = PluginSource::new(&target, &layouts, &image, request, known);
        source.datatypes = &Derived;
        let report = source.read_queues();
        let messages = source.outcome().map(|outcome| outcome.messages.clone()).unwrap_or_default();
        assert_eq!(messages.is_empty(), report.is_ok(), "the text for failure is told where it failed: {messages:?}");
        report
    }
}

/// Knows one derived datatype, of 24 bytes.
struct Derived;

impl Datatypes for Derived {
    fn datatype(&self, handle: u64) -> Option<Datatype> {
        (handle == u64::from(DERIVED)).then(|| Datatype { bytes: Some(24), name: Some("column".into()) })
    }
}

/// Makes the list of requests that ch4 has up to 4.0.2.
pub fn with_requests(process: &mut Process, list: &str, requests: &[u64]) {
    let symbol = Process::symbol(list);
    // The symbol points to a pointer to the first one.
    process.put(symbol, &(symbol + 8).to_le_bytes());
    let mut last = symbol + 8;
    for request in requests {
        process.put(last, &request.to_le_bytes());
        last = request + 72;
    }
}
