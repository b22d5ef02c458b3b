//! The made-up MPI of tests/programs/plugins/plugin.c as a mock target, and the plug-in's variants.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use layouts::{Field, FieldKind, LayoutSource, Layouts, TypeLayout};
use plugins::host::run::Run;
use plugins::mqs::{PluginOutcome, PluginRequest, Universe, read_with_plugin};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ByteOrder, Image, PointerWidth, Reason, TargetAbi};

use crate::compiled::variant;

/// Compiles a variant of the plug-in.
pub fn plugin(options: &str) -> PathBuf {
    variant("plugin.c", options)
}

/// Numbers of one target's byte order and pointer width.
struct Writer(TargetAbi);

impl Writer {
    fn int(&self, out: &mut [u8], at: usize, value: i32) {
        let bytes = match self.0.byte_order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        };
        out[at..at + 4].copy_from_slice(&bytes);
    }
    fn pointer(&self, out: &mut [u8], at: usize, value: u64) {
        match (self.0.byte_order, self.0.pointer_width) {
            (ByteOrder::Little, PointerWidth::Eight) => out[at..at + 8].copy_from_slice(&value.to_le_bytes()),
            (ByteOrder::Big, PointerWidth::Eight) => out[at..at + 8].copy_from_slice(&value.to_be_bytes()),
            (ByteOrder::Little, PointerWidth::Four) => {
                out[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
            }
            (ByteOrder::Big, PointerWidth::Four) => out[at..at + 4].copy_from_slice(&(value as u32).to_be_bytes()),
        }
    }
}

const HEAP: u64 = 0x10_0000;
const COMM: u64 = HEAP + 0x100;
const SECOND: u64 = HEAP + 0x200;
const GROUP: u64 = HEAP + 0x300;
const SPAWNED: u64 = HEAP + 0x400;
const OPS: u64 = HEAP + 0x1000;
const OP_SIZE: u64 = 0x80;

/// One operation: class, status, peer, world rank, tag, length.
pub const OPERATIONS: [[i32; 6]; 5] =
    [[1, 0, -1, -1, -1, 40], [0, 0, 1, 2, 7, 4096], [1, 0, 1, 2, 8, 80], [2, 0, 1, 2, 9, 12], [1, 1, 0, 0, -17, 0]];

/// Two communicators; the operations hang from the first one.
pub fn target(abi: TargetAbi) -> MockTarget {
    let w = Writer(abi);
    let mut heap = vec![0_u8; 0x8000];
    let at = |addr: u64| (addr - HEAP) as usize;
    w.int(&mut heap, 0, 1);
    w.pointer(&mut heap, 8, COMM);
    w.pointer(&mut heap, 16, SPAWNED);
    for (addr, id, name, ops, next) in
        [(COMM, 5, &b"halo\x1b exchange"[..], OPS, SECOND), (SECOND, -7, &b"second"[..], 0, 0)]
    {
        w.int(&mut heap, at(addr), id);
        w.int(&mut heap, at(addr) + 4, 1);
        w.int(&mut heap, at(addr) + 8, 3);
        w.pointer(&mut heap, at(addr) + 16, GROUP);
        w.pointer(&mut heap, at(addr) + 24, ops);
        w.pointer(&mut heap, at(addr) + 32, next);
        heap[at(addr) + 40..][..name.len()].copy_from_slice(name);
    }
    for (index, rank) in [0, 2, -1].into_iter().enumerate() {
        w.int(&mut heap, at(GROUP) + 4 * index, rank);
    }
    for (index, op) in OPERATIONS.iter().enumerate() {
        let addr = OPS + OP_SIZE * index as u64;
        for (field, value) in op.iter().enumerate() {
            w.int(&mut heap, at(addr) + 4 * field, *value);
        }
        w.pointer(&mut heap, at(addr) + 24, 0xdead_0000 + index as u64);
        let next = if index + 1 < OPERATIONS.len() { addr + OP_SIZE } else { 0 };
        w.pointer(&mut heap, at(addr) + 32, next);
        heap[at(addr) + 40..][..5].copy_from_slice(b"op %s");
    }
    w.int(&mut heap, at(SPAWNED), 4711);
    heap[at(SPAWNED) + 4..][..8].copy_from_slice(b"/bin/kid");
    heap[at(SPAWNED) + 20..][..5].copy_from_slice(b"node7");
    let mut target = MockTarget::new(abi);
    target.add_segment(TargetAddr::new(HEAP), heap);
    target.add_symbol("toy_mpi", TargetAddr::new(HEAP), Some(24));
    target.add_symbol("toy_breakpoint", TargetAddr::new(0x400_0000), None);
    target.add_image(image());
    target
}

pub fn image() -> Image {
    Image { path: "/opt/toy/libtoy%n.so".to_owned(), bias: TargetAddr::NULL, build_id: None, is_executable: false }
}

struct ToyLayouts;

impl LayoutSource for ToyLayouts {
    fn name(&self) -> String {
        "toy".to_owned()
    }
    fn type_layout(&self, name: &str) -> Result<Option<TypeLayout>, Reason> {
        let (size, fields): (u64, &[(&str, u64)]) = match name {
            "toy_comm" => {
                (0x80, &[("id", 0), ("rank", 4), ("size", 8), ("group", 16), ("ops", 24), ("next", 32), ("name", 40)])
            }
            "toy_op" => (
                OP_SIZE,
                &[
                    ("class", 0),
                    ("status", 4),
                    ("peer", 8),
                    ("world", 12),
                    ("tag", 16),
                    ("length", 20),
                    ("buffer", 24),
                    ("next", 32),
                    ("text", 40),
                ],
            ),
            "toy_spawned" => (0x40, &[("pid", 0), ("image", 4), ("host", 20), ("next", 40)]),
            _ => return Ok(None),
        };
        let field = |&(name, offset): &(&str, u64)| {
            let field = Field { offset, size: 4, kind: FieldKind::Signed, type_name: "int".to_owned() };
            (name.to_owned(), field)
        };
        Ok(Some(TypeLayout { size, fields: fields.iter().map(field).collect::<BTreeMap<_, _>>().into() }))
    }
    fn constant(&self, _name: &str) -> Result<Option<i64>, Reason> {
        Ok(None)
    }
}

pub fn layouts() -> Layouts {
    Layouts::new(vec![Box::new(ToyLayouts)])
}

/// Runs of so many seconds at most.
pub fn seconds(seconds: f64) -> Run<'static> {
    Run::within(Duration::from_secs_f64(seconds))
}

pub fn request<'a>(path: &Path, seconds: f64) -> PluginRequest<'a> {
    PluginRequest {
        run: self::seconds(seconds),
        universe: Universe { global_rank: Some(2), world_size: Some(4), identity: Some(2) },
        ..PluginRequest::new(path.to_owned())
    }
}

/// Runs a variant over the toy target; 20 s at most.
pub fn run(options: &str) -> PluginOutcome {
    run_within(options, 20.0)
}

pub fn run_within(options: &str, seconds: f64) -> PluginOutcome {
    let path = plugin(options);
    read_with_plugin(&target(TargetAbi::LITTLE_64), &layouts(), &image(), &request(&path, seconds))
}
