//! A plug-in with the habits of MPICH's, over made-up structures of MPICH: what the host makes of what it says.

use std::path::{Path, PathBuf};
use std::process::Command;

use mpi_queues::address::TargetAddr;
use mpi_queues::layouts::{Field, FieldKind, LayoutSource, Layouts, TypeLayout};
use mpi_queues::model::{Communicator, Operation, OperationStatus, QueueReport, QueueSource, QueueState};
use mpi_queues::mqs::{Datatype, Datatypes, PluginError, PluginRequest, PluginSource};
use mpi_queues::target::TargetAbi;
use mpi_queues::target::mock::MockTarget;

use crate::mqs_toy::image;

fn plugin(options: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mqs-plugins");
    std::fs::create_dir_all(&dir).expect("a directory for plug-ins");
    let out = dir.join(format!("tvmpich{options}-{}-{:?}.so", std::process::id(), std::thread::current().id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/plugins/tvmpich.c");
    let status = Command::new("cc")
        .args(["-Wall", "-shared", "-fPIC", "-O1"])
        .args(options.split_whitespace())
        .arg("-o")
        .arg(&out)
        .arg(source)
        .status();
    assert!(status.expect("a C compiler (cc)").success());
    out
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
    fn type_layout(&self, name: &str) -> Result<Option<TypeLayout>, String> {
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
        Ok(Some(TypeLayout { size, fields: kept.map(field).collect() }))
    }
    fn constant(&self, _: &str) -> Result<Option<i64>, String> {
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
const BYTE: u32 = 0x4c00_010d;
const DERIVED: u32 = 0x8c00_0005;
const ANY_SOURCE: i32 = -2;
/// A context id of collectives has this bit more.
const COLLECTIVE: u32 = 1;

/// The memory of a process, in the making.
struct Process {
    heap: Vec<u8>,
    comms: u64,
    requests: u64,
    wide: bool,
}

/// An operation, with what differs from a plain pending one.
#[derive(Clone, Copy)]
struct Op {
    rank: i32,
    tag: i32,
    context: u32,
    count: u64,
    datatype: u32,
    counter: i32,
    kind: u32,
    /// Context id that the request has.
    own: u32,
}

const OP: Op = Op { rank: 1, tag: 5, context: 0, count: 3, datatype: INT, counter: 1, kind: 2, own: 0 };

impl Process {
    fn new(wide: bool) -> Self {
        Self { heap: vec![0; 0x8000], comms: 0, requests: 0, wide }
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        let at = (at - HEAP) as usize;
        self.heap[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Where the pointer of a symbol lies.
    fn symbol(name: &str) -> u64 {
        HEAP + 16 * SYMBOLS.iter().position(|symbol| *symbol == name).expect("a symbol") as u64
    }

    /// Adds a communicator: name, handle, context ids for sending and receiving, sizes local and remote.
    fn comm(&mut self, name: &str, handle: u32, contexts: [u32; 2], sizes: [i32; 2]) -> u64 {
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
    fn near(&mut self, comm: u64) {
        self.put(comm + 168, &comm.to_le_bytes());
    }

    fn request(&mut self, op: Op, comm: u64) -> u64 {
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
    fn note(&mut self, list: &str, op: Op, comm: u64) -> u64 {
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

    fn read(
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
        let request = PluginRequest { implementation: "MPICH".to_owned(), ..PluginRequest::new(plugin(options)) };
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

fn world(process: &mut Process) -> u64 {
    let world = process.comm("MPI_COMM_WORLD", 0x4400_0000, [0, 0], [4, 4]);
    process.near(world);
    world
}

fn named<'a>(report: &'a QueueReport, name: &str) -> &'a Communicator {
    report.communicators.iter().find(|comm| comm.name == name).unwrap_or_else(|| panic!("{name}: {report:?}"))
}

fn tags(operations: &[Operation]) -> Vec<Option<i64>> {
    operations.iter().map(|operation| operation.desired_tag).collect()
}

#[test]
fn receives_are_in_matching_order_with_ranks_lengths_and_status() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    let large = Op { tag: 1, rank: 3, count: 1 << 33, datatype: BYTE, ..OP };
    let requests = [
        process.note("MPIR_Recvq_head", large, comm),
        process.note("MPIR_Recvq_head", Op { rank: ANY_SOURCE, tag: -1, datatype: DERIVED, ..OP }, comm),
        process.note("MPIR_Recvq_head", Op { tag: 3, counter: 0, ..OP }, comm),
        process.note("MPIR_Recvq_head", Op { tag: 4, own: COLLECTIVE, ..OP }, comm),
    ];
    let report = process.read("", None, &[]).expect("a report");
    assert_eq!(report.problems, [""; 0]);
    let queue = &named(&report, "MPI_COMM_WORLD").pending_receives;
    assert_eq!((queue.state, &queue.detail), (QueueState::Ok, &None));
    let [first, any, complete, collective] = &queue.operations[..] else { panic!("{queue:?}") };
    let found: Vec<_> = queue.operations.iter().map(|operation| operation.request).collect();
    assert_eq!(found, requests.map(Some));
    // The plug-in gives a count of 32 bits.
    assert_eq!((first.desired_local_rank, first.desired_length), (Some(3), Some(1 << 33)));
    // The plug-in gives rank 65534.
    assert!(any.any_source && any.tag_wild && any.desired_local_rank.is_none());
    assert_eq!((any.desired_length, any.datatype.as_deref()), (Some(3 * 24), Some("column")));
    assert_eq!((first.status, first.actual_tag), (OperationStatus::Pending, None));
    // The plug-in says that it is pending.
    assert_eq!(complete.status, OperationStatus::Complete);
    assert_eq!((complete.actual_local_rank, complete.actual_tag, complete.actual_length), (Some(1), Some(77), Some(8)));
    assert_eq!((complete.desired_tag, complete.internal), (Some(3), false));
    assert!(collective.internal, "a receive of a collective looks like any other to the plug-in");
    assert!(first.unknown.contains_key("desired_global_rank"), "nothing is known of the communicators");
}

#[test]
fn world_ranks_and_names_are_those_of_our_own_communicators() {
    let mut process = Process::new(false);
    let comm = process.comm("", 0x8400_0004, [16, 16], [2, 2]);
    process.near(comm);
    process.note("MPIR_Sendq_head", Op { kind: 1, context: 16, ..OP }, comm);
    let known = [Communicator {
        name: "unnamed".to_owned(),
        unique_id: 0x8400_0004,
        handle: Some("0x84000004".to_owned()),
        size: Some(2),
        group: Some(vec![Some(3), Some(2)]),
        ..Communicator::default()
    }];
    let report = process.read("", None, &known).expect("a report");
    let [only] = &report.communicators[..] else { panic!("{report:?}") };
    assert_eq!((only.name.as_str(), only.handle.as_deref()), ("unnamed", Some("0x84000004")));
    let [send] = &only.pending_sends.operations[..] else { panic!("{only:?}") };
    assert_eq!((send.desired_global_rank, send.actual_global_rank, send.desired_length), (Some(2), Some(2), Some(12)));
    assert_eq!(send.extra_text, [""; 0], "the plug-in calls every send non-blocking");
    assert!(!send.unknown.contains_key("desired_global_rank"));
}

#[test]
fn a_length_that_no_request_tells_is_not_known() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    let netmod = process.note("MPIR_Recvq_head", Op { tag: 7, ..OP }, comm);
    // The union holds something else, with the number of a datatype by chance.
    process.put(netmod + 96, &99_u64.to_le_bytes());
    process.note("MPIR_Recvq_head", Op { tag: 8, datatype: 0x8c00_0009, ..OP }, comm);
    process.note("MPIR_Recvq_head", Op { tag: 9, count: 0, datatype: 0x8c00_0009, ..OP }, comm);
    let report = process.read("", None, &[]).expect("a report");
    let [netmod, freed, empty] = &named(&report, "MPI_COMM_WORLD").pending_receives.operations[..] else { panic!() };
    for operation in [netmod, freed] {
        assert_eq!((operation.desired_length, operation.count), (None, Some(3)));
        assert!(operation.unknown.contains_key("desired_length"), "{operation:?}");
    }
    assert!(netmod.unknown.contains_key("internal"), "whether a collective posted it is not known either");
    assert_eq!((empty.desired_length, empty.unknown.contains_key("desired_length")), (Some(0), false));
}

#[test]
fn messages_that_have_arrived_have_the_length_of_their_request() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    process.note("MPIR_Unexpq_head", Op { tag: 1, count: 40, datatype: BYTE, ..OP }, 0);
    let other = process.note("MPIR_Unexpq_head", Op { tag: 2, count: 41, datatype: BYTE, ..OP }, 0);
    process.put(other + 116, &3_i32.to_le_bytes());
    process.put(comm + 16, &2_i32.to_le_bytes());
    let report = process.read("", None, &[]).expect("a report");
    let [first, second] = &named(&report, "MPI_COMM_WORLD").unexpected_messages.operations[..] else { panic!() };
    assert_eq!((first.desired_length, first.actual_length, first.actual_tag), (Some(40), Some(40), Some(1)));
    assert_eq!((first.buffer, first.system_buffer), (Some(0x7001), true));
    assert_eq!((second.desired_length, second.actual_length, second.buffer), (None, None, None));
    assert!(second.unknown.contains_key("desired_length"));
}

#[test]
fn a_persistent_request_that_is_not_started_is_not_listed() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    let started = process.note("MPIR_Sendq_head", Op { kind: 3, tag: 1, ..OP }, comm);
    process.put(started + 64, &started.to_le_bytes());
    process.note("MPIR_Sendq_head", Op { kind: 3, tag: 2, counter: 0, ..OP }, comm);
    let report = process.read("", None, &[]).expect("a report");
    let [only] = &named(&report, "MPI_COMM_WORLD").pending_sends.operations[..] else { panic!("{report:?}") };
    assert_eq!((only.desired_tag, only.persistent, only.status), (Some(1), true, OperationStatus::Pending));
}

#[test]
fn sends_on_an_intercommunicator_are_missed_and_told() {
    let mut process = Process::new(false);
    world(&mut process);
    let inter = process.comm("inter", 0x8400_0006, [32, 48], [3, 5]);
    // The library notes the context id for receiving; the plug-in looks for that for sending.
    process.note("MPIR_Sendq_head", Op { kind: 1, context: 48, ..OP }, inter);
    let report = process.read("", None, &[]).expect("a report");
    let found = named(&report, "inter");
    assert_eq!(found.size, Some(3), "the plug-in gives the size of the remote group");
    assert_eq!((found.pending_sends.state, found.pending_sends.operations.len()), (QueueState::Error, 0));
    let detail = found.pending_sends.detail.clone().unwrap_or_default();
    assert!(detail.contains("leaves out 1 pending sends") && detail.contains("--source builtin"), "{detail}");
}

#[test]
fn context_ids_of_twenty_bits_do_not_alias() {
    let mut process = Process::new(true);
    let comm = world(&mut process);
    let far = process.comm("far", 0x8400_0005, [1 << 16, 1 << 16], [4, 4]);
    process.near(far);
    process.note("MPIR_Recvq_head", Op { tag: 1, ..OP }, comm);
    process.note("MPIR_Recvq_head", Op { tag: 2, context: 1 << 16, ..OP }, far);
    let report = process.read("", None, &[]).expect("a report");
    assert_eq!(tags(&named(&report, "MPI_COMM_WORLD").pending_receives.operations), [Some(1)]);
    assert_eq!(tags(&named(&report, "far").pending_receives.operations), [Some(2)]);
}

#[test]
fn communicators_of_the_library_are_not_listed() {
    let mut process = Process::new(false);
    world(&mut process);
    let node = process.comm("", 0x8400_0001, [2, 2], [4, 4]);
    process.note("MPIR_Recvq_head", Op { context: 2, ..OP }, node);
    let report = process.read("", None, &[]).expect("a report");
    assert_eq!(report.communicators.len(), 1);
    assert!(report.notes.iter().any(|note| note.starts_with("1 operations are not listed")), "{:?}", report.notes);
}

#[test]
fn what_the_netmod_holds_is_no_empty_queue() {
    let mut process = Process::new(false);
    process.comm("MPI_COMM_WORLD", 0x4400_0000, [0, 0], [4, 4]);
    let report = process.read("", None, &[]).expect("a report");
    let found = named(&report, "MPI_COMM_WORLD");
    assert_eq!(found.unexpected_messages.state, QueueState::NoInformation);
    assert_eq!(found.pending_receives.state, QueueState::Ok);
    with_requests(&mut process, "MPID_Recvq_posted_head_ptr", &[]);
    with_requests(&mut process, "MPID_Recvq_unexpected_head_ptr", &[]);
    let report = process.read("-DREQUESTS", None, &[]).expect("a report");
    let found = named(&report, "MPI_COMM_WORLD");
    assert_eq!(found.unexpected_messages.state, QueueState::NoInformation);
    assert_eq!(found.pending_receives.state, QueueState::NoInformation, "only active messages are in that list");
}

/// Makes the list of requests that ch4 has up to 4.0.2.
fn with_requests(process: &mut Process, list: &str, requests: &[u64]) {
    let symbol = Process::symbol(list);
    // The symbol points to a pointer to the first one.
    process.put(symbol, &(symbol + 8).to_le_bytes());
    let mut last = symbol + 8;
    for request in requests {
        process.put(last, &request.to_le_bytes());
        last = request + 72;
    }
}

#[test]
fn the_names_of_former_releases_are_found_where_the_members_lie_now() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    let posted = [Op { rank: ANY_SOURCE, tag: -1, ..OP }, Op { tag: 17, datatype: DERIVED, ..OP }];
    let posted = posted.map(|op| process.request(op, comm));
    let arrived = process.request(Op { tag: 99, count: 16, datatype: BYTE, counter: 0, ..OP }, 0);
    with_requests(&mut process, "MPID_Recvq_posted_head_ptr", &posted);
    with_requests(&mut process, "MPID_Recvq_unexpected_head_ptr", &[arrived]);
    let report = process.read("-DREQUESTS", None, &[]).expect("a report");
    let found = named(&report, "MPI_COMM_WORLD");
    let [any, tagged] = &found.pending_receives.operations[..] else { panic!("{found:?}") };
    assert!(any.any_source && any.tag_wild);
    assert_eq!((any.desired_length, any.request), (Some(12), Some(posted[0])));
    assert_eq!((tagged.desired_tag, tagged.desired_length), (Some(17), Some(3 * 24)));
    let [unexpected] = &found.unexpected_messages.operations[..] else { panic!("{found:?}") };
    assert_eq!((unexpected.desired_length, unexpected.status), (Some(16), OperationStatus::Pending));
    assert!(report.notes.iter().any(|note| note.contains("MPI_Send")), "blocked sends are in no list");

    let refused = process.read("-DREQUESTS", Some("u.recv.tag"), &[]);
    assert!(
        matches!(&refused, Err(PluginError::MissingLayouts { missing, .. }) if missing == &["the field MPIDIG_req_t.tag"]),
        "{refused:?}"
    );
}

#[test]
fn a_send_whose_request_belongs_to_the_netmod_has_no_length() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    with_requests(&mut process, "MPID_Recvq_posted_head_ptr", &[]);
    with_requests(&mut process, "MPID_Recvq_unexpected_head_ptr", &[]);
    for (number, comm) in [(1, comm), (2, 0)] {
        let request = process.request(Op { tag: number, kind: 1, ..OP }, comm);
        let at = ENTRIES + 0x40 * u64::from(number as u32);
        process.put(at, &request.to_le_bytes());
        process.put(at + 8, &number.to_le_bytes());
        process.put(at + 12, &1_i32.to_le_bytes());
        let first = process.pointer(Process::symbol("MPIR_Sendq_head"));
        process.put(at + 24, &first.to_le_bytes());
        process.put(Process::symbol("MPIR_Sendq_head"), &at.to_le_bytes());
    }
    let report = process.read("-DREQUESTS", None, &[]).expect("a report");
    let [memory, netmod] = &named(&report, "MPI_COMM_WORLD").pending_sends.operations[..] else { panic!("{report:?}") };
    assert_eq!((memory.desired_tag, memory.desired_length, memory.buffer), (Some(1), Some(12), Some(0x7001)));
    assert_eq!((netmod.desired_tag, netmod.desired_length, netmod.buffer), (Some(2), None, None));
    assert!(netmod.unknown.contains_key("desired_length"));
}

#[test]
fn damage_is_told_and_changes_nothing_else() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    process.note("MPIR_Recvq_head", Op { tag: 1, ..OP }, comm);
    let request = process.note("MPIR_Recvq_head", Op { tag: 2, ..OP }, comm);
    process.put(request + 16, &0xdead_0000_u64.to_le_bytes());
    let report = process.read("", None, &[]).expect("a report");
    let queue = &named(&report, "MPI_COMM_WORLD").pending_receives;
    assert_eq!((queue.state, queue.operations.len()), (QueueState::Error, 2));
    assert!(queue.detail.as_deref().is_some_and(|detail| detail.contains("0xdead0000")), "{queue:?}");
    assert_eq!(queue.operations[0].desired_length, Some(12));
}
