//! Where nemesis's queues, cells and fast boxes are: `MPID_nem_mem_region` (mpid_nem_defs.h, v3.4.3 to v5.0.1) is a variable of a
//! stripped library. It is recognised by how its pointers into the segment lie to each other.

use crate::mpich::variables;
use crate::record::Record;
use target::address::TargetAddr;
use target::{Range, Target, TargetAbi, TargetError};

/// `MPL_CACHELINE_SIZE`, `MPID_NEM_CELL_LEN` and `MPID_NEM_NUM_CELLS`, those of each process (mpid_nem_datatypes.h).
pub const CACHE_LINE: u64 = 64;
pub const CELL: u64 = 64 << 10;
const CELLS: u64 = 64;

/// `MPID_NEM_FBOX_LEN`: a flag in a cache line of its own, and a cell.
const FAST_BOX: u64 = CELL + CACHE_LINE;

/// A queue has what all write in one cache line, and what its owner writes in another (`MPID_nem_queue_t`).
const QUEUE: u64 = 2 * CACHE_LINE;

/// The least that is set apart for fast boxes (`MPID_NEM_ASYMM_NULL_VAL`).
const LEAST: u64 = 64;

/// A node never has more processes of one job than this.
const MAX_LOCAL: u64 = 1 << 16;

/// The segment of a node: fast boxes, cells, queues of free cells, queues of receivers (`MPID_nem_init`, mpid_nem_init.c).
#[derive(Debug)]
pub struct Region {
    /// Where it begins.
    pub start: TargetAddr,
    /// The place of this process on the node.
    pub own: u64,
    /// How many processes MPI_COMM_WORLD has.
    pub procs: u64,
    /// Ranks in MPI_COMM_WORLD by places on the node.
    ranks: Vec<i64>,
}

/// Where the members of `MPID_nem_mem_region` lie.
#[derive(Debug)]
struct Places {
    size: usize,
    num_local: usize,
    num_procs: usize,
    local_procs: usize,
    local_rank: usize,
    ext_procs: usize,
    boxes_in: usize,
    elements: usize,
    free_queue: usize,
    queue: usize,
    rank: usize,
}

impl Places {
    /// By the rules of C for alignment.
    fn of(abi: TargetAbi) -> Self {
        let width = usize::try_from(abi.pointer_width.bytes()).unwrap_or(8);
        let mut end = 0_usize;
        let mut place = |size: usize| {
            let at = end.next_multiple_of(size);
            end = at + size;
            at
        };
        let (_segment, _lock) = (place(width), place(4));
        let (num_local, num_procs) = (place(4), place(4));
        let (local_procs, local_rank, _local_ranks) = (place(width), place(4), place(width));
        let (ext_procs, _ext_ranks) = (place(4), place(width));
        let (boxes_in, _boxes_out) = (place(width), place(width));
        let (elements, _free_queues, _queues) = (place(width), place(width), place(width));
        let (free_queue, queue, rank) = (place(width), place(width), place(4));
        Self {
            size: end,
            num_local,
            num_procs,
            local_procs,
            local_rank,
            ext_procs,
            boxes_in,
            elements,
            free_queue,
            queue,
            rank,
        }
    }
}

/// Finds it among the library's variables.
///
/// # Errors
/// Where the process is gone.
pub fn find(target: &dyn Target, ranges: &[Range]) -> Result<Option<Region>, TargetError> {
    let places = Places::of(target.abi());
    variables::find(target, ranges, places.size, |record| region(target, record, &places))
}

/// The region that a record is, if it is one.
fn region(target: &dyn Target, record: &Record<'_>, places: &Places) -> Option<Region> {
    let abi = target.abi();
    let width = abi.pointer_width.bytes();
    let int = |offset: usize| u64::try_from(abi.int(record.part(offset, 4))).ok();
    let pointer = |offset: usize| TargetAddr::new(abi.uint(record.part(offset, usize::try_from(width).unwrap_or(8))));
    let (local, procs, own) = (int(places.num_local)?, int(places.num_procs)?, int(places.local_rank)?);
    // Most places are ruled out here, without a read.
    if local == 0 || local > MAX_LOCAL || own >= local || procs < local || int(places.ext_procs)? != procs - local {
        return None;
    }
    let rank = i64::try_from(int(places.rank)?).ok()?;
    let mut region = Region { start: pointer(0), own, procs, ranks: Vec::new() };
    let agree = pointer(places.elements) == region.cells(local).wrapping_add(own * CELLS * CELL)
        && pointer(places.free_queue) == region.free_queues(local).wrapping_add(own * QUEUE)
        && pointer(places.queue) == region.queues(local).wrapping_add(own * QUEUE);
    if !agree {
        return None;
    }
    let table = |offset: usize, width: u64| {
        let bytes = target.read_bytes(pointer(offset), usize::try_from(local * width).ok()?).ok()?;
        let size = usize::try_from(width).ok()?;
        Some(bytes.chunks_exact(size).map(|one| abi.uint(one)).collect::<Vec<_>>())
    };
    let ranks = table(places.local_procs, 4)?;
    region.ranks = ranks.into_iter().filter_map(|rank| i64::try_from(rank).ok()).collect();
    let in_range = |rank: &i64| u64::try_from(*rank).is_ok_and(|rank| rank < procs);
    let boxes = table(places.boxes_in, width)?;
    let boxes_agree = (0..).zip(boxes).all(|(place, at)| region.fast_box(place).get() == at);
    let whole = region.local() == local && region.rank_of(own) == Some(rank);
    (whole && region.ranks.iter().all(in_range) && boxes_agree).then_some(region)
}

impl Region {
    /// How many processes are on the node.
    pub fn local(&self) -> u64 {
        self.ranks.len() as u64
    }

    /// The rank in MPI_COMM_WORLD of a process by its place on the node.
    pub fn rank_of(&self, local: u64) -> Option<i64> {
        self.ranks.get(usize::try_from(local).ok()?).copied()
    }

    /// The place on the node of a rank in MPI_COMM_WORLD.
    pub fn place_of(&self, rank: i64) -> Option<u64> {
        u64::try_from(self.ranks.iter().position(|one| *one == rank)?).ok()
    }

    /// The box in which a peer lays cells for this process; null for itself (`MAILBOX_INDEX`).
    pub fn fast_box(&self, sender: u64) -> TargetAddr {
        let others = self.local().saturating_sub(1);
        let index = match sender.cmp(&self.own) {
            std::cmp::Ordering::Greater => others * sender + self.own,
            std::cmp::Ordering::Less => others * sender + self.own - 1,
            std::cmp::Ordering::Equal => return TargetAddr::NULL,
        };
        self.start.wrapping_add(index * FAST_BOX)
    }

    /// The queue of a process by its place on the node.
    pub fn queue_of(&self, local: u64) -> TargetAddr {
        self.queues(self.local()).wrapping_add(local * QUEUE)
    }

    /// Where a relative pointer leads; `None` where there is no cell. Where all processes have mapped the segment at the same place,
    /// pointers are what they are (`MPID_nem_asymm_base_addr`).
    pub fn cell(&self, value: u64) -> Option<TargetAddr> {
        let at = if value >= self.start.get() { value } else { self.start.get().wrapping_add(value) };
        let offset = at.wrapping_sub(self.cells(self.local()).get());
        (offset < self.number_of_cells() * CELL && offset.is_multiple_of(CELL)).then_some(TargetAddr::new(at))
    }

    /// How many cells there are.
    pub fn number_of_cells(&self) -> u64 {
        self.local() * CELLS
    }

    fn cells(&self, local: u64) -> TargetAddr {
        self.start.wrapping_add((local * (local.saturating_sub(1)) * FAST_BOX).max(LEAST))
    }

    fn free_queues(&self, local: u64) -> TargetAddr {
        self.cells(local).wrapping_add(local * CELLS * CELL)
    }

    fn queues(&self, local: u64) -> TargetAddr {
        self.free_queues(local).wrapping_add(local * QUEUE)
    }
}
