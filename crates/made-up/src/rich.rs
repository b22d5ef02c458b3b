//! A process in which everything occurs that the reader reads, and damage to it.

use layouts::Layouts;
use model::{Queue, QueueReport, QueueSource, QueueState};
use readers::ReaderError;
use readers::openmpi::OpenMpiReader;
use readers::openmpi::pml::Pml;
use target::address::TargetAddr;
use target::{Image, Symbol, Target, TargetAbi, TargetError};

use super::memory::{Memory, PAGE};
use super::openmpi_types::Build;
use super::process::{ABIS, Member, Message, Process, Receive, Send};
use super::rng::Rng;

/// A process with every kind of communicator, request and message.
pub fn rich(abi: TargetAbi, seed: u64) -> Process {
    let build =
        Build { extended: seed % 2 == 1, padded: seed % 3 == 1, name_pointers: seed % 5 == 1, ..Build::default() };
    let (mut process, world) = Process::new(abi, build, seed);
    let members: Vec<Member> = (0..12).map(Member::Ours).collect();
    let dense = process.group(&members);
    let strided = process.strided(dense, 5, 1, 2);
    let sporadic = process.sporadic(strided, &[(3, 2), (0, 2)]);
    let bitmap = process.bitmap(dense, &[0b0101_0101, 0b1]);
    let sparse = process.comm("sparse", sporadic, 0);
    let bits = process.comm("bits", bitmap, 0);
    let local = process.group(&[Member::Ours(0), Member::Ours(1)]);
    let remote = process.group(&[Member::Ours(2), Member::Theirs(0)]);
    let (inter, inner) = process.intercomm("inter", local, remote, 1);
    for (tag, comm) in (0..).zip([world, sparse, bits, inter, inner]) {
        process.receive(comm, Receive { from: Some(1), tag: Some(tag), ..Receive::default() });
        process.receive(comm, Receive { from: None, tag: None, ..Receive::default() });
        let matched = process.receive(comm, Receive { from: Some(0), tag: Some(20 + tag), ..Receive::default() });
        process.matched(comm, matched, 0, 20 + tag, 24);
        process.send(comm, Send { to: 1, tag: 40 + tag, ..Send::default() });
        let mode = "MCA_PML_BASE_SEND_BUFFERED";
        process.send(comm, Send { to: 0, tag: 60 + tag, mode, ..Send::default() });
        process.arrive(comm, Message { from: 1, tag: 80 + tag, ..Message::default() });
        process.arrive(comm, Message { from: 1, tag: 100 + tag, kind: "RNDV", bytes: 100_000, extended: false });
    }
    let kind = "MCA_PML_REQUEST_PROBE";
    let stack = process.object("mca_pml_ob1_recv_request_t");
    process.receive_at(stack, world, Receive { from: Some(3), tag: Some(5), kind, ..Receive::default() });
    let mut early = |sequence| process.fragment(Message { from: 2, tag: 9, ..Message::default() }, 10, sequence);
    let rings = [[early(4), early(5), early(6)], [early(9), early(10), early(11)]];
    process.out_of_order(world, 2, 2, &[&rings[0], &rings[1]]);
    process.unplaced(Message::default(), 99);
    process
}

/// What is read from a process whose memory is `memory`.
pub fn read(process: &Process, layouts: &Layouts, target: &dyn Target) -> Result<QueueReport, ReaderError> {
    OpenMpiReader::new(target, layouts, Pml::named(process.pml)).read_queues()
}

/// All queues of a report.
pub fn queues(report: &QueueReport) -> impl Iterator<Item = &Queue> {
    report
        .communicators
        .iter()
        .flat_map(|found| [&*found.pending_sends, &*found.pending_receives, &*found.unexpected_messages])
}

/// How many requests and messages a report has, notes of unplaced ones included.
pub fn census(report: &QueueReport) -> (usize, usize) {
    let mut requests: Vec<u64> =
        queues(report).flat_map(|queue| &queue.operations).filter_map(|operation| operation.request).collect();
    requests.sort_unstable();
    requests.dedup();
    let messages = report.communicators.iter().map(|found| found.unexpected_messages.operations.len()).sum::<usize>();
    (requests.len(), messages + report.notes.len())
}

/// Whether a result says that something is wrong.
pub fn complains(result: &Result<QueueReport, ReaderError>) -> bool {
    match result {
        Ok(report) => !report.problems.is_empty() || queues(report).any(|queue| queue.state == QueueState::Error),
        Err(_) => true,
    }
}

/// Fields that say how much there is of something.
const COUNTS: &[(&str, &str)] = &[
    ("opal_free_list_t", "fl_num_allocated"),
    ("opal_free_list_t", "fl_num_per_alloc"),
    ("opal_free_list_t", "fl_frag_size"),
    ("opal_free_list_t", "fl_frag_alignment"),
    ("opal_list_t", "opal_list_length"),
    ("opal_pointer_array_t", "size"),
    ("ompi_group_t", "grp_proc_count"),
    ("ompi_group_t", "sparse_data.grp_sporadic.grp_sporadic_list_len"),
    ("mca_btl_base_segment_t", "seg_len"),
];

/// One piece of damage, chosen by three numbers.
pub fn damage(process: &Process, memory: &mut Memory, kind: u8, choice: u64, value: u64) {
    let objects = &process.mem.objects;
    let (object, size) = objects[(choice % objects.len() as u64) as usize];
    let width = process.width();
    let at = object.wrapping_add((choice >> 20) % size.max(1));
    let word = object.wrapping_add(((choice >> 20) % size.max(1)) / width * width);
    let page = at.get() / PAGE * PAGE;
    let other = objects[(value % objects.len() as u64) as usize].0;
    let interesting =
        [0, 1, 2, 0x7f, 0x7fff_ffff, 0x8000_0000, u64::from(u32::MAX), i64::MAX as u64, 1 << 63, u64::MAX];
    match kind % 8 {
        0 => put(memory, at, &[value as u8]),
        1 => put(memory, word, &value.to_le_bytes()[..width as usize]),
        2 => put(memory, word, &interesting[value as usize % interesting.len()].to_le_bytes()[..width as usize]),
        3 => pointer(memory, word, other),
        4 => pointer(memory, word, object),
        5 => drop(memory.pages.remove(&page)),
        6 => {
            if let Some(bytes) = memory.pages.get_mut(&page) {
                bytes.truncate((value % PAGE) as usize);
            }
        }
        _ => {
            let (type_name, field) = COUNTS[value as usize % COUNTS.len()];
            let (offset, size) = process.types.field(type_name, field);
            let number = interesting[(value >> 8) as usize % interesting.len()];
            put(memory, object.wrapping_add(offset), &number.to_le_bytes()[..size as usize]);
        }
    }
}

fn pointer(memory: &mut Memory, at: TargetAddr, to: TargetAddr) {
    let mut bytes = to.get().to_le_bytes()[..memory.abi.pointer_width.bytes() as usize].to_vec();
    if memory.abi.byte_order == target::ByteOrder::Big {
        bytes.reverse();
    }
    put(memory, at, &bytes);
}

/// Writes what is mapped, and leaves out what is not.
pub fn put(memory: &mut Memory, at: TargetAddr, bytes: &[u8]) {
    for (offset, byte) in (0..).zip(bytes) {
        let at = at.wrapping_add(offset).get();
        if let Some(target) =
            memory.pages.get_mut(&(at / PAGE * PAGE)).and_then(|page| page.get_mut((at % PAGE) as usize))
        {
            *target = *byte;
        }
    }
}

/// Damages a rich process as `data` says and reads it: what a fuzzer calls. Returns what was read.
pub fn fuzz(data: &[u8]) -> Option<Result<QueueReport, ReaderError>> {
    let (first, rest) = data.split_first()?;
    let mut process = rich(ABIS[*first as usize % 4], u64::from(*first / 4 % 8));
    let mut memory = process.mem.clone();
    for piece in rest.chunks_exact(17) {
        let number =
            |range: std::ops::Range<usize>| piece[range].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        damage(&process, &mut memory, piece[0], number(1..9), number(9..17));
    }
    let layouts = process.layouts();
    process.mem = memory;
    let target = process.target();
    let result = read(&process, &layouts, &target);
    assert!(target.reads() < 200_000, "{} reads", target.reads());
    Some(result)
}

/// Damage as bytes for [`fuzz`], from a seed.
pub fn damage_from_seed(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut data = vec![seed as u8];
    for _ in 0..rng.below(6) + 1 {
        data.extend((0..17).map(|_| rng.next() as u8));
    }
    data
}

/// A target in which every address is readable: what is not mapped repeats a pattern.
pub struct Endless<T> {
    pub inner: T,
    pub pattern: Vec<u8>,
}

impl<T: Target> Target for Endless<T> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        if self.inner.read(addr, buf).is_err() {
            let shift = addr.get() as usize % self.pattern.len();
            let pattern = self.pattern.iter().cycle().skip(shift);
            buf.iter_mut().zip(pattern).for_each(|(byte, pattern)| *byte = *pattern);
        }
        Ok(())
    }
    fn abi(&self) -> TargetAbi {
        self.inner.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.inner.symbol(name)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.inner.images()
    }
}
