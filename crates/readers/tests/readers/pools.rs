//! Pools of MPICH's objects, found in made-up memory.

use made_up::rng::Rng;
use readers::mpich::handle_value::{HandleValue, ObjectKind, Place};
use readers::mpich::pool_layout::HeadLayout;
use readers::mpich::pools::Pools;
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ByteOrder, PointerWidth, Range, Target, TargetAbi};

/// Where the library's variables lie, and blocks that were allocated later.
const DATA: u64 = 0x7000_0000;
const HEAP: u64 = 0x5000_0000;

const COMM_SIZE: usize = 832;
const REQUEST_SIZE: usize = 272;

/// A library's variables under construction.
struct Library {
    abi: TargetAbi,
    layout: HeadLayout,
    data: Vec<u8>,
    heap: Vec<u8>,
}

/// What the head of a pool is to say.
struct Filled {
    kind: ObjectKind,
    size: usize,
    direct: usize,
    used: bool,
    blocks: usize,
}

impl Library {
    fn new(abi: TargetAbi, layout: HeadLayout, bytes: usize) -> Self {
        Self { abi, layout, data: vec![0; bytes], heap: vec![0; 1 << 20] }
    }

    fn number(abi: TargetAbi, bytes: &mut [u8], at: usize, size: usize, value: u64) {
        for (index, byte) in value.to_le_bytes().into_iter().take(size).enumerate() {
            let place = if abi.byte_order == ByteOrder::Little { index } else { size - 1 - index };
            bytes[at + place] = byte;
        }
    }

    fn word(&mut self, at: usize, value: u32) {
        Self::number(self.abi, &mut self.data, at, 4, u64::from(value));
    }

    fn pointer(&mut self, at: usize, value: u64) {
        let width = self.abi.pointer_width.bytes() as usize;
        Self::number(self.abi, &mut self.data, at, width, value);
    }

    /// A head at `at` whose direct block of eight objects stands at `direct`, with blocks of 16 objects on the heap.
    fn pool(&mut self, at: usize, filled: &Filled) {
        let Filled { kind, size, direct, used, blocks } = *filled;
        let layout = self.layout;
        self.word(at + layout.kind, kind as u32);
        self.word(at + layout.size, size as u32);
        self.pointer(at + layout.direct, DATA + direct as u64);
        self.word(at + layout.direct_size, 8);
        if !used {
            return;
        }
        self.word(at + layout.initialized, 1);
        self.pointer(at + layout.avail, DATA + (direct + size) as u64);
        let per_block = if layout.num_allocated.is_some() { 16 } else { 1024 };
        if let Some(slot) = layout.block_size {
            self.word(at + slot, per_block);
        }
        if let (Some(all), Some(free)) = (layout.num_allocated, layout.num_avail) {
            self.word(at + all, 8 + per_block * blocks as u32);
            self.word(at + free, 5);
        }
        for index in 0..8 {
            self.word(direct + index * size, HandleValue::first(Place::Direct, kind).0 | index as u32);
        }
        if blocks > 0 {
            self.pointer(at + layout.indirect, HEAP);
            self.word(at + layout.indirect_size, blocks as u32);
        }
        for block in 0..blocks {
            let first = 4096 + block * (per_block as usize) * size;
            let width = self.abi.pointer_width.bytes() as usize;
            Self::number(self.abi, &mut self.heap, block * width, width, HEAP + first as u64);
            for index in 0..per_block as usize {
                let handle = HandleValue::first(Place::Indirect, kind).0 | (block as u32) << 12 | index as u32;
                Self::number(self.abi, &mut self.heap, first + index * size, 4, u64::from(handle));
            }
        }
    }

    fn builtins(&mut self, at: usize, kind: ObjectKind, size: usize, count: usize) {
        for index in 0..count {
            self.word(at + index * size, HandleValue::first(Place::Builtin, kind).0 | index as u32);
        }
    }

    fn target(self) -> (MockTarget, Vec<Range>) {
        let ranges = vec![Range { start: TargetAddr::new(DATA), len: self.data.len() as u64 }];
        let mut target = MockTarget::new(self.abi);
        target.add_segment(TargetAddr::new(DATA), self.data);
        target.add_segment(TargetAddr::new(HEAP), self.heap);
        (target, ranges)
    }
}

/// A library with communicators and requests, one head near the end of the first chunk that is read together.
fn usual(abi: TargetAbi, layout: HeadLayout) -> Library {
    let mut library = Library::new(abi, layout, (1 << 20) + 65_536);
    library.pool(
        (1 << 20) - 24,
        &Filled { kind: ObjectKind::Comm, size: COMM_SIZE, direct: 0x1000, used: true, blocks: 0 },
    );
    library
        .pool(0x400, &Filled { kind: ObjectKind::Request, size: REQUEST_SIZE, direct: 0x4000, used: true, blocks: 2 });
    library.pool(0x500, &Filled { kind: ObjectKind::Win, size: 400, direct: 0x8000, used: false, blocks: 0 });
    library.builtins(0x10_000, ObjectKind::Comm, COMM_SIZE, 2);
    library
}

fn every_abi() -> impl Iterator<Item = TargetAbi> {
    let orders = [ByteOrder::Little, ByteOrder::Big];
    let widths = [PointerWidth::Eight, PointerWidth::Four];
    orders.into_iter().flat_map(move |byte_order| {
        widths.into_iter().map(move |pointer_width| TargetAbi { byte_order, pointer_width })
    })
}

#[test]
fn pools_of_every_release_are_found() {
    for abi in every_abi() {
        for layout in HeadLayout::all(abi) {
            let (target, ranges) = usual(abi, layout).target();
            let pools = Pools::find(&target, &ranges).unwrap();
            let sizes = vec![(ObjectKind::Comm, COMM_SIZE as u64), (ObjectKind::Request, REQUEST_SIZE as u64)];
            assert_eq!(pools.sizes(), sizes, "{abi:?} {layout:?}");
            // The pool of windows has never been used: it is known, and nothing is in it.
            let unused: Vec<_> = pools.of(ObjectKind::Win).collect();
            assert_eq!((unused.len(), unused[0].verified, unused[0].head.initialized), (1, false, false));
            let mut problems = Vec::new();
            let blocks = pools.blocks(&target, ObjectKind::Request, |problem| problems.push(problem));
            assert_eq!((blocks.len(), problems), (3, Vec::<String>::new()));
        }
    }
}

/// MPICH 5.0.2: the pool of datatypes names no direct block, and the datatypes of pairs stand in an array of their own.
#[test]
fn datatypes_of_pairs_are_found_where_their_pool_does_not_name_them() {
    const SIZE: usize = 256;
    for abi in every_abi() {
        let layout = HeadLayout::all(abi)[0];
        let mut library = Library::new(abi, layout, 65_536);
        let comms = Filled { kind: ObjectKind::Comm, size: COMM_SIZE, direct: 0x1000, used: true, blocks: 0 };
        library.pool(0x400, &comms);
        library.builtins(0xd000, ObjectKind::Comm, COMM_SIZE, 2);
        let direct = 0x8000;
        library.pool(0x600, &Filled { kind: ObjectKind::Datatype, size: SIZE, direct, used: true, blocks: 1 });
        library.pointer(0x600 + layout.direct, 0);
        library.word(0x600 + layout.direct_size, 0);
        library.word(0x600 + layout.num_allocated.unwrap(), 16);
        library.data[direct..direct + 8 * SIZE].fill(0);
        for index in 0..5 {
            library
                .word(0xa000 + index * SIZE, HandleValue::first(Place::Direct, ObjectKind::Datatype).0 | index as u32);
            library.word(0xa000 + index * SIZE + 4, 1);
        }
        let (target, ranges) = library.target();
        let pools = Pools::find(&target, &ranges).unwrap();
        let found: Vec<_> =
            pools.of(ObjectKind::Datatype).map(|pool| (pool.head.direct, pool.head.direct_size)).collect();
        assert_eq!(found, [(DATA + 0xa000, 5)], "{abi:?}");
    }
}

#[test]
fn handles_lead_to_their_objects() {
    for abi in every_abi() {
        for layout in HeadLayout::all(abi) {
            let (target, ranges) = usual(abi, layout).target();
            let pools = Pools::find(&target, &ranges).unwrap();
            for (place, kind, index) in [
                (Place::Builtin, ObjectKind::Comm, 1),
                (Place::Direct, ObjectKind::Comm, 7),
                (Place::Direct, ObjectKind::Request, 3),
                (Place::Indirect, ObjectKind::Request, 1 << 12 | 15),
            ] {
                let handle = HandleValue(HandleValue::first(place, kind).0 | index);
                let at = pools.address_of(&target, handle).unwrap();
                assert_eq!(target.read_uint(at, 4).unwrap(), u64::from(handle.0));
            }
            for wrong in [0x4400_0002, 0x8400_0008, 0xac00_0009, 0xec00_2000, 0x0400_0000, 0xa000_0000, 0xffff_ffff, 0]
            {
                assert_eq!(pools.address_of(&target, HandleValue(wrong)), None, "{wrong:#x}");
            }
        }
    }
}

#[test]
fn a_library_before_mpi_init_has_none() {
    let abi = TargetAbi { byte_order: ByteOrder::Little, pointer_width: PointerWidth::Eight };
    let mut library = Library::new(abi, HeadLayout::all(abi)[0], 65_536);
    for (at, kind) in [(0x400, ObjectKind::Comm), (0x500, ObjectKind::Request)] {
        library.pool(at, &Filled { kind, size: 832, direct: 0x1000, used: false, blocks: 0 });
    }
    let (target, ranges) = library.target();
    assert!(Pools::find(&target, &ranges).unwrap().is_empty());
}

#[test]
fn a_job_of_one_rank_may_have_no_communicator_in_the_pool() {
    let abi = TargetAbi { byte_order: ByteOrder::Little, pointer_width: PointerWidth::Eight };
    let mut library = Library::new(abi, HeadLayout::all(abi)[1], 65_536);
    library.pool(0x400, &Filled { kind: ObjectKind::Comm, size: COMM_SIZE, direct: 0x1000, used: false, blocks: 0 });
    let requests = Filled { kind: ObjectKind::Request, size: REQUEST_SIZE, direct: 0x4000, used: true, blocks: 0 };
    library.pool(0x500, &requests);
    library.builtins(0x6000, ObjectKind::Comm, COMM_SIZE, 2);
    let (target, ranges) = library.target();
    let pools = Pools::find(&target, &ranges).unwrap();
    assert_eq!(pools.stride(ObjectKind::Comm), Some(COMM_SIZE as u64));
    assert!(pools.address_of(&target, HandleValue(0x4400_0001)).is_some());
}

#[test]
fn memory_that_cannot_be_read_is_counted() {
    let abi = TargetAbi { byte_order: ByteOrder::Little, pointer_width: PointerWidth::Eight };
    let (target, mut ranges) = usual(abi, HeadLayout::all(abi)[0]).target();
    ranges.push(Range { start: TargetAddr::new(0x1000), len: 8192 });
    let pools = Pools::find(&target, &ranges).unwrap();
    assert_eq!((pools.unread, pools.sizes().len()), (8192, 2));
    assert!(Pools::find(&target, &ranges[1..]).is_err());
}

#[test]
fn damage_never_misleads_for_long() {
    let abi = TargetAbi { byte_order: ByteOrder::Little, pointer_width: PointerWidth::Eight };
    let mut rng = Rng::new(5);
    for layout in HeadLayout::all(abi) {
        for _ in 0..60 {
            let mut library = usual(abi, layout);
            for _ in 0..2000 {
                let at = (rng.next() as usize % 0x9000) & !3;
                let value = match rng.next() % 4 {
                    0 => rng.next() as u32 % 20,
                    1 => 0x4400_0000,
                    2 => DATA as u32 + rng.next() as u32 % 0x9000,
                    _ => rng.next() as u32,
                };
                library.word(at, value);
            }
            let (target, ranges) = library.target();
            let Ok(pools) = Pools::find(&target, &ranges) else { continue };
            for kind in ObjectKind::ALL {
                let blocks = pools.blocks(&target, kind, |_| {});
                assert!(blocks.iter().all(|block| block.count <= 4096 && block.stride <= 65_536));
                for pool in pools.of(kind) {
                    let (free, _) = pool.free(&target, 8);
                    assert!(free.len() as u64 <= 1 + pool.head.direct_size + pool.head.blocks * 4096);
                }
            }
        }
    }
}
