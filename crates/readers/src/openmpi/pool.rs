//! The pools that all requests come from, walked chunk by chunk.
//!
//! Every request, blocking or not, lives in `mca_pml_base_send_requests` or `mca_pml_base_recv_requests`
//! (except that of a blocking probe, which lies on the stack). A pool is a list of chunks; a chunk is a list item
//! followed by equally spaced objects (`opal_free_list_grow_st`, opal/class/opal_free_list.c, v4.1.4 and v5.0.7). Chunks are
//! read in large pieces, so that every request is visited once, whatever the number of communicators.

use super::shapes::{PoolShapes, Shapes};
use crate::ReaderError;
use crate::record::Record;
use crate::walk::circular_list;
use target::address::TargetAddr;
use target::{Target, fit};

/// A pool never has more objects than this (16 Mi), nor more chunks; a chunk holds 64 requests by default.
const MAX_OBJECTS: u64 = 1 << 24;

/// Requests are smaller than this, in bytes; so are their alignments.
const MAX_ITEM: u64 = 1 << 16;

/// A chunk is read in pieces of at most this many bytes.
const MAX_READ: u64 = 1 << 22;

/// Calls `visit` with every object of the pool at `pool_at`, free ones included. Objects are at least `item_size` bytes;
/// `visit` returns false to stop. Returns sentences about what could not be read.
///
/// # Errors
/// Where the pool's own description cannot be read or cannot be right.
pub fn walk(
    target: &dyn Target,
    shapes: &Shapes,
    pools: &PoolShapes,
    pool_at: TargetAddr,
    item_size: usize,
    visit: impl FnMut(Record<'_>) -> bool,
) -> Result<Vec<String>, ReaderError> {
    let shape = &pools.free_list;
    let record = Record::owned(target, pool_at, shape.size)?;
    let raw_size = record.uint(shape.item_size);
    let alignment = record.uint(shape.alignment).max(1);
    let damaged = |what: String| Err(ReaderError::Damaged(format!("the request pool at {pool_at} {what}")));
    if raw_size < item_size as u64 || raw_size > MAX_ITEM || alignment > MAX_ITEM {
        return damaged(format!("has objects of {raw_size} bytes aligned to {alignment}; they need {item_size}"));
    }
    let allocated = record.uint(shape.allocated);
    if allocated > MAX_OBJECTS {
        return damaged(format!("has {allocated} objects"));
    }
    let per_alloc = record.uint(shape.per_alloc).clamp(1, MAX_OBJECTS);
    let list = record.address_of(shape.allocations);
    let sentinel = shapes.list.sentinel.address_in(list);
    // No chunk is empty.
    let chunks = circular_list(target, sentinel, shapes.list_item.next.offset as u64, allocated as usize);

    let mut walker = Walker {
        target,
        class_offset: shapes.object.class.offset,
        class: record.pointer(shape.class),
        stride: raw_size.next_multiple_of(alignment),
        left: allocated,
        cause: None,
        stopped: false,
        visit,
    };
    let first_object = |chunk: TargetAddr| chunk.wrapping_add(pools.free_list_memory.size as u64).align_up(alignment);
    // Every chunk but the first holds `per_alloc` objects; the first holds the rest.
    let later = (chunks.elements.len() as u64).saturating_sub(1).saturating_mul(per_alloc);
    let first = allocated.saturating_sub(later);
    let mut in_first = 0;
    for (index, chunk) in chunks.elements.iter().enumerate() {
        let seen = walker.run(first_object(*chunk), if index == 0 { first } else { per_alloc });
        if index == 0 {
            in_first = seen;
        }
    }
    if let (1.., Some(chunk)) = (walker.left, chunks.elements.first())
        && in_first == first
    {
        // A limit (`fl_max_to_alloc`) cuts the last chunk, so the first may hold more than was reckoned.
        let next = first_object(*chunk).wrapping_add(first * walker.stride);
        walker.run(next, walker.left);
    }
    let visited = allocated - walker.left;
    let mut problems = Vec::new();
    if let Some(stop) = chunks.stopped {
        problems.push(format!("the request pool at {pool_at} was not read whole: {stop}"));
    }
    if walker.left > 0 && !walker.stopped {
        let cause = walker.cause.map_or_else(String::new, |cause| format!(": {cause}"));
        problems
            .push(format!("only {visited} of {allocated} objects of the request pool at {pool_at} were found{cause}"));
    }
    Ok(problems)
}

struct Walker<'a, F> {
    target: &'a dyn Target,
    class_offset: usize,
    class: TargetAddr,
    stride: u64,
    /// How many objects have not been visited yet.
    left: u64,
    /// Why a run ended early for the first time.
    cause: Option<String>,
    /// The visitor wants no more.
    stopped: bool,
    visit: F,
}

impl<F: FnMut(Record<'_>) -> bool> Walker<'_, F> {
    /// Visits at most `most` objects from `start` on, up to the first that cannot be read or is of another class. Returns
    /// how many there were.
    fn run(&mut self, start: TargetAddr, most: u64) -> u64 {
        let most = most.min(self.left);
        let at_most = (MAX_READ / self.stride).max(1);
        let mut at_once = at_most;
        let mut buffer = Vec::new();
        let mut seen = 0;
        while seen < most && !self.stopped {
            let len = (most - seen).min(at_once);
            let at = start.wrapping_add(seen * self.stride);
            let bytes = usize::try_from(len * self.stride).unwrap_or(usize::MAX);
            match fit(&mut buffer, bytes).and_then(|()| self.target.read_once(at, &mut buffer)) {
                Ok(()) => {}
                Err(error) if error.is_missing() && len > 1 => {
                    // Perhaps only the end is missing.
                    at_once = len / 2;
                    continue;
                }
                Err(error) => {
                    self.cause.get_or_insert_with(|| error.to_string());
                    return seen;
                }
            }
            let objects = self.visit_piece(at, &buffer);
            seen += objects;
            if objects < len {
                return seen;
            }
        }
        seen
    }

    fn visit_piece(&mut self, at: TargetAddr, piece: &[u8]) -> u64 {
        let abi = self.target.abi();
        let width = abi.pointer_width.bytes() as usize;
        let mut objects = 0;
        for item in piece.chunks_exact(self.stride as usize) {
            let record = Record::new(at.wrapping_add(objects * self.stride), item, abi);
            let class = item.get(self.class_offset..).and_then(|bytes| bytes.get(..width)).unwrap_or_default();
            if abi.uint(class) != self.class.get() {
                self.cause.get_or_insert_with(|| format!("the object at {} is of another class", record.addr));
                return objects;
            }
            objects += 1;
            self.left -= 1;
            if !(self.visit)(record) {
                self.stopped = true;
                return objects;
            }
        }
        objects
    }
}
