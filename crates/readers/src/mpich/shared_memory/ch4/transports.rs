//! Where the queues are: `MPIDI_POSIX_eager_iqueue_transport_t` (src/mpid/ch4/shm/posix/eager/iqueue/iqueue_types.h) is a variable
//! of a stripped library. It is recognised by what it and the pool of cells that it names say of each other.

use crate::record::Record;
use target::address::TargetAddr;
use target::{Range, Target, TargetError};

use crate::mpich::variables;

/// A terminal has a head and a tail, each in a cache line of its own, and flags in a third (`MPIDU_genq_shmem_queue_u`,
/// src/mpid/common/genq/mpidu_genqi_shmem_types.h).
pub const CACHE_LINE: u64 = 64;
const TERMINAL: u64 = 3 * CACHE_LINE;

/// More transports than those of all pairs of interfaces of a process (`MPIDI_CH4_MAX_VCIS` is 64) are damage.
const MAX_TRANSPORTS: usize = 64 * 64;

/// A node never has more processes of one job than this.
const MAX_PROCS: u64 = 1 << 16;

/// Cells and their numbers are set by variables of the user's; larger ones are none.
const MAX_CELL: u64 = 1 << 28;

/// One way in for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transport {
    /// The queue of this process.
    pub terminal: TargetAddr,
    /// Where the cells of all processes begin.
    pub cells: TargetAddr,
    /// Bytes of all cells.
    pub len: u64,
    /// How many cells there are.
    pub count: u64,
}

/// The places of members in the pool's structure (`MPIDU_genqi_shmem_pool_s`, the same file) by words: in v4.0.2 and v4.1.3, v4.2.3,
/// v4.3.2, v5.0.1. The size of a cell, that with its header, and the number of each process's cells come first in all.
struct PoolWords {
    procs: usize,
    /// How many queues of free cells each process has; one before there was a member.
    queues: Option<usize>,
    /// Bytes of the cells of one such queue; before there was a member, these lie close.
    queue_len: Option<usize>,
    rank: usize,
    slab: usize,
    base: usize,
    free_queues: usize,
}

const POOLS: &[PoolWords] = &[
    PoolWords { procs: 3, queues: None, queue_len: None, rank: 4, slab: 5, base: 6, free_queues: 8 },
    PoolWords { procs: 3, queues: None, queue_len: None, rank: 4, slab: 5, base: 7, free_queues: 9 },
    PoolWords { procs: 3, queues: Some(4), queue_len: None, rank: 5, slab: 6, base: 8, free_queues: 10 },
    PoolWords { procs: 4, queues: Some(5), queue_len: Some(3), rank: 7, slab: 8, base: 10, free_queues: 12 },
];

/// Words of the longest of them.
const POOL_WORDS: usize = 13;

/// Finds the transports among the library's variables.
///
/// # Errors
/// Where the process is gone.
pub fn find(target: &dyn Target, ranges: &[Range]) -> Result<Vec<Transport>, TargetError> {
    let abi = target.abi();
    let width = usize::try_from(abi.pointer_width.bytes()).unwrap_or(8);
    let mut found: Vec<Transport> = Vec::new();
    let size = 8 + 3 * width;
    variables::find(target, ranges, size, |record| {
        found.extend(transport(target, record, width).filter(|one| !found.contains(one)));
        (found.len() >= MAX_TRANSPORTS).then_some(())
    })?;
    Ok(found)
}

/// The transport that begins a record, if one does.
fn transport(target: &dyn Target, record: &Record<'_>, width: usize) -> Option<Transport> {
    let bytes = |offset: usize, size: usize| record.part(offset, size);
    let abi = target.abi();
    let (count, cell) = (abi.uint(bytes(0, 4)), abi.uint(bytes(4, 4)));
    let pointer = |index: usize| abi.uint(bytes(8 + index * width, width));
    let (terminals, own, pool) = (pointer(0), pointer(1), pointer(2));
    // Most places are ruled out here, without a read.
    let sane = count > 0 && (CACHE_LINE..=MAX_CELL).contains(&cell) && cell.is_multiple_of(8);
    if !sane || terminals == 0 || own < terminals || pool == 0 || !(own - terminals).is_multiple_of(TERMINAL) {
        return None;
    }
    let rank = (own - terminals) / TERMINAL;
    if rank >= MAX_PROCS {
        return None;
    }
    let pool = target.read_bytes(TargetAddr::new(pool), POOL_WORDS * width).ok()?;
    let word = |index: usize| abi.uint(pool.get(index * width..(index + 1) * width).unwrap_or_default());
    // An int, with whatever stands behind it.
    let number = |words: &PoolWords| abi.uint(pool.get(words.rank * width..words.rank * width + 4).unwrap_or_default());
    let known = |words: &&PoolWords| number(words) == rank && rank < word(words.procs);
    let len = POOLS.iter().filter(known).find_map(|words| Some((words, pool_len(words, &word, (count, cell))?)));
    let (words, len) = len?;
    let total = len / word(1).max(1);
    Some(Transport { terminal: TargetAddr::new(own), cells: TargetAddr::new(word(words.base)), len, count: total })
}

/// Bytes of all cells of a pool that says of itself what its transport says of it.
fn pool_len(words: &PoolWords, word: &impl Fn(usize) -> u64, (count, cell): (u64, u64)) -> Option<u64> {
    let (cell_len, procs) = (word(1), word(words.procs));
    let (slab, base) = (word(words.slab), word(words.base));
    let queues = words.queues.map_or(1, word);
    let agree = word(0) == cell
        && word(2) == count
        && cell_len > cell
        && cell_len.is_multiple_of(8)
        && (1..=MAX_PROCS).contains(&procs)
        && (1..=4).contains(&queues)
        && slab != 0
        && slab == base;
    if !agree {
        return None;
    }
    let queue_len = words.queue_len.map_or(cell_len.checked_mul(count)?, word);
    let len = procs.checked_mul(queues)?.checked_mul(queue_len)?;
    (slab.checked_add(len) == Some(word(words.free_queues))).then_some(len)
}
