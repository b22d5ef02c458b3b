//! Made-up structures with the names of Open MPI's as a mock target, and the variants of tests/programs/plugins/handles.c.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use drafts::mpidbg::{By, HandleOutcome, HandleRequest, Query, query_handles};
use layouts::{Field, FieldKind, LayoutSource, Layouts, TypeLayout};
use model::{Handle, HandleKind};
use plugins::host::run::Run;
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ByteOrder, PointerWidth, Reason, TargetAbi};

use crate::compiled::variant;

/// Compiles a variant of the plug-in.
pub fn plugin(options: &str) -> PathBuf {
    variant("handles.c", options)
}

const HEAP: u64 = 0x10_0000;
pub const WORLD: u64 = HEAP + 0x1000;
pub const NULL_COMM: u64 = HEAP + 0x1200;
pub const CART: u64 = HEAP + 0x1400;
pub const INTER: u64 = HEAP + 0x1600;
pub const GRAPH: u64 = HEAP + 0x1800;
pub const DIST: u64 = HEAP + 0x1a00;
pub const REQUEST_NULL: u64 = HEAP + 0x2000;
pub const REQUEST: u64 = HEAP + 0x2100;
pub const FATAL: u64 = HEAP + 0x2200;
pub const HANDLER: u64 = HEAP + 0x2300;
pub const STATUS: u64 = HEAP + 0x2400;
pub const UNSET: u64 = HEAP + 0x2600;
/// An `MPI::Cartcomm` of the C++ bindings.
pub const OBJECT: u64 = HEAP + 0x2500;
const COMMS: u64 = HEAP + 0x100;
const REQUESTS: u64 = HEAP + 0x180;
const ERRHANDLERS: u64 = HEAP + 0x200;

type Offsets = &'static [(&'static str, u64)];

/// Each type with its size and the offsets of its fields: nobody's real ones.
const TYPES: &[(&str, u64, Offsets)] = &[
    (
        "ompi_communicator_t",
        0x90,
        &[
            ("c_my_rank", 4),
            ("c_flags", 12),
            ("c_f_to_c_index", 16),
            ("c_name", 20),
            ("c_local_group", 88),
            ("c_remote_group", 96),
            ("c_topo", 104),
        ],
    ),
    ("ompi_group_t", 32, &[("grp_proc_count", 4), ("grp_proc_pointers", 16)]),
    ("ompi_proc_t", 16, &[("super.proc_name.vpid", 8)]),
    ("mca_topo_base_module_t", 32, &[("reorder", 3), ("mtc.cart", 8), ("mtc.graph", 8)]),
    ("mca_topo_base_comm_cart_2_2_0_t", 32, &[("ndims", 4), ("dims", 8), ("periods", 16)]),
    ("mca_topo_base_comm_graph_2_2_0_t", 32, &[("nnodes", 0), ("index", 8), ("edges", 16)]),
    ("ompi_request_t", 32, &[("req_f_to_c_index", 8)]),
    (
        "ompi_errhandler_t",
        0x80,
        &[
            ("eh_f_to_c_index", 0),
            ("eh_mpi_object_type", 4),
            ("eh_lang", 8),
            ("eh_comm_fn", 16),
            ("eh_win_fn", 88),
            ("eh_file_fn", 96),
            ("eh_name", 24),
        ],
    ),
    ("opal_pointer_array_t", 24, &[("size", 4), ("addr", 16)]),
];

fn offset(name: &str, field: &str) -> u64 {
    let (.., fields) = TYPES.iter().find(|(found, ..)| *found == name).expect("a type");
    fields.iter().find(|(found, _)| *found == field).expect("a field").1
}

struct Heap {
    abi: TargetAbi,
    bytes: Vec<u8>,
    free: u64,
}

impl Heap {
    fn put(&mut self, at: u64, bytes: &[u8]) {
        let at = (at - HEAP) as usize;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }
    fn int(&mut self, at: u64, value: i32) {
        let bytes = match self.abi.byte_order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        };
        self.put(at, &bytes);
    }
    fn pointer(&mut self, at: u64, value: u64) {
        match (self.abi.byte_order, self.abi.pointer_width) {
            (ByteOrder::Little, PointerWidth::Eight) => self.put(at, &value.to_le_bytes()),
            (ByteOrder::Big, PointerWidth::Eight) => self.put(at, &value.to_be_bytes()),
            (_, PointerWidth::Four) => self.int(at, value as i32),
        }
    }
    fn width(&self) -> u64 {
        self.abi.pointer_width.bytes()
    }
    fn new_place(&mut self, len: u64) -> u64 {
        let at = self.free;
        self.free += len.next_multiple_of(16);
        at
    }
    fn ints(&mut self, values: &[i32]) -> u64 {
        let at = self.new_place(4 * values.len() as u64);
        for (number, value) in values.iter().enumerate() {
            self.int(at + 4 * number as u64, *value);
        }
        at
    }
    fn pointers(&mut self, values: &[u64]) -> u64 {
        let at = self.new_place(8 * values.len() as u64);
        for (number, value) in values.iter().enumerate() {
            self.pointer(at + self.width() * number as u64, *value);
        }
        at
    }
    fn group(&mut self, ranks: &[i32]) -> u64 {
        let procs: Vec<u64> = ranks
            .iter()
            .map(|rank| {
                let proc = self.new_place(16);
                self.int(proc + offset("ompi_proc_t", "super.proc_name.vpid"), *rank);
                // An odd number stands for a process that has not been looked at.
                if *rank < 0 { 0x77 } else { proc }
            })
            .collect();
        let group = self.new_place(32);
        let procs = self.pointers(&procs);
        self.int(group + offset("ompi_group_t", "grp_proc_count"), ranks.len() as i32);
        self.pointer(group + offset("ompi_group_t", "grp_proc_pointers"), procs);
        group
    }
    fn table(&mut self, at: u64, entries: &[u64]) {
        let array = self.pointers(entries);
        self.int(at + offset("opal_pointer_array_t", "size"), entries.len() as i32);
        self.pointer(at + offset("opal_pointer_array_t", "addr"), array);
    }
    fn comm(&mut self, at: u64, name: &[u8], fortran: i32, flags: i32, rank: i32, ranks: &[i32]) {
        let field = |field| at + offset("ompi_communicator_t", field);
        self.put(field("c_name"), name);
        self.int(field("c_my_rank"), rank);
        self.int(field("c_flags"), flags);
        self.int(field("c_f_to_c_index"), fortran);
        let group = self.group(ranks);
        self.pointer(field("c_local_group"), group);
    }
    fn topology(&mut self, comm: u64, reorder: bool, names: (&str, &str, &str, &str), count: i32, arrays: [&[i32]; 2]) {
        let (kind, counted, first, second) = names;
        let (body, module) = (self.new_place(32), self.new_place(32));
        let [one, two] = arrays.map(|array| self.ints(array));
        self.int(body + offset(kind, counted), count);
        self.pointer(body + offset(kind, first), one);
        self.pointer(body + offset(kind, second), two);
        self.put(module + offset("mca_topo_base_module_t", "reorder"), &[u8::from(reorder)]);
        self.pointer(module + offset("mca_topo_base_module_t", "mtc.cart"), body);
        self.pointer(comm + offset("ompi_communicator_t", "c_topo"), module);
    }
}

/// Flags of Open MPI's communicators (open-mpi/ompi, ompi/communicator/communicator.h, 4.1.4 and 5.0.7).
const INTER_FLAG: i32 = 1;
const INTRINSIC: i32 = 4;
const CART_FLAG: i32 = 0x100;
const GRAPH_FLAG: i32 = 0x200;
const DIST_FLAG: i32 = 0x400;

/// A process of rank 1 of 4 with one object of each shape.
pub fn target(abi: TargetAbi) -> MockTarget {
    let mut heap = Heap { abi, bytes: vec![0; 0x8000], free: HEAP + 0x3000 };
    heap.comm(WORLD, b"MPI_COMM_WORLD", 0, INTRINSIC, 1, &[0, 1, 2, 3]);
    heap.comm(NULL_COMM, b"MPI_COMM_NULL", 2, INTRINSIC, -2, &[]);
    heap.comm(CART, b"grid\x1b of %n", 4, CART_FLAG, 1, &[2, 1, -1]);
    let names = ("mca_topo_base_comm_cart_2_2_0_t", "ndims", "dims", "periods");
    heap.topology(CART, true, names, 2, [&[3, 1], &[0, 1]]);
    heap.comm(INTER, b"between", 5, INTER_FLAG, 0, &[1]);
    let remote = heap.group(&[0, 2, 3]);
    heap.pointer(INTER + offset("ompi_communicator_t", "c_remote_group"), remote);
    heap.comm(GRAPH, b"ring", 6, GRAPH_FLAG, 0, &[1, 2, 3]);
    let names = ("mca_topo_base_comm_graph_2_2_0_t", "nnodes", "index", "edges");
    heap.topology(GRAPH, false, names, 3, [&[2, 3, 4], &[1, 2, 0, 0]]);
    heap.comm(DIST, b"", 7, DIST_FLAG, 0, &[1, 0]);
    heap.table(COMMS, &[WORLD, 0, NULL_COMM, 0, CART, INTER, GRAPH, DIST]);
    heap.int(REQUEST_NULL + 8, 0);
    heap.int(REQUEST + 8, -1);
    heap.table(REQUESTS, &[REQUEST_NULL, REQUEST]);
    heap.put(FATAL + offset("ompi_errhandler_t", "eh_name"), b"MPI_ERRORS_ARE_FATAL");
    heap.int(FATAL, 1);
    heap.int(HANDLER, 2);
    heap.int(HANDLER + offset("ompi_errhandler_t", "eh_mpi_object_type"), 1);
    heap.pointer(HANDLER + offset("ompi_errhandler_t", "eh_comm_fn"), 0x40_1234);
    heap.put(HANDLER + offset("ompi_errhandler_t", "eh_name"), b"never shown");
    // Of a file, and without a function: a structure that is not whole yet.
    heap.int(UNSET, 3);
    heap.int(UNSET + offset("ompi_errhandler_t", "eh_mpi_object_type"), 3);
    heap.table(ERRHANDLERS, &[0, FATAL, HANDLER, UNSET]);
    heap.pointer(OBJECT + heap.width(), CART);
    let mut target = MockTarget::new(abi);
    target.add_segment(TargetAddr::new(HEAP), heap.bytes);
    for (name, at) in [
        ("ompi_mpi_communicators", COMMS),
        ("ompi_request_f_to_c_table", REQUESTS),
        ("ompi_errhandler_f_to_c_table", ERRHANDLERS),
        ("ompi_mpi_comm_world", WORLD),
        ("ompi_mpi_comm_null", NULL_COMM),
        ("ompi_request_null", REQUEST_NULL),
    ] {
        target.add_symbol(name, TargetAddr::new(at), Some(24));
    }
    target
}

struct ToyLayouts;

impl LayoutSource for ToyLayouts {
    fn name(&self) -> String {
        "toy".to_owned()
    }
    fn type_layout(&self, name: &str) -> Result<Option<TypeLayout>, Reason> {
        let found = TYPES.iter().find(|(found, ..)| *found == name);
        Ok(found.map(|&(_, size, fields)| {
            let field = |&(name, offset): &(&str, u64)| {
                let field = Field { offset, size: 4, kind: FieldKind::Signed, type_name: "int".to_owned() };
                (name.to_owned(), field)
            };
            TypeLayout { size, fields: fields.iter().map(field).collect::<BTreeMap<_, _>>().into() }
        }))
    }
    fn constant(&self, _name: &str) -> Result<Option<i64>, Reason> {
        Ok(None)
    }
}

pub fn layouts() -> Layouts {
    Layouts::new(vec![Box::new(ToyLayouts)])
}

pub fn comm(value: u64) -> Query {
    Query { kind: HandleKind::Comm, by: By::Handle(value) }
}

pub fn request<'a>(path: &Path, queries: &[Query], seconds: f64) -> HandleRequest<'a> {
    HandleRequest {
        run: Run::within(Duration::from_secs_f64(seconds)),
        global_rank: Some(1),
        queries: queries.to_vec(),
        ..HandleRequest::new(path.to_owned())
    }
}

/// Asks a variant over the made-up process; 20 s at most.
pub fn run(options: &str, queries: &[Query]) -> HandleOutcome {
    let path = plugin(options);
    query_handles(&target(TargetAbi::LITTLE_64), &layouts(), &request(&path, queries, 20.0))
}

/// The one answer to one query.
pub fn one(options: &str, query: Query) -> Handle {
    let outcome = run(options, &[query]);
    assert_eq!(outcome.failure, None, "{options}");
    let [handle] = &outcome.handles[..] else { panic!("{outcome:?}") };
    handle.clone()
}
