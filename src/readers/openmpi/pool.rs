//! The pools that all requests come from, walked chunk by chunk.
//!
//! Every request, blocking or not, lives in `mca_pml_base_send_requests` or `mca_pml_base_recv_requests`
//! (except that of a blocking probe, which lies on the stack). A pool is a list of chunks; a chunk is a list item
//! followed by equally spaced objects (`opal_free_list_grow_st`, opal/class/opal_free_list.c, v4.1.4 and v5.0.7). Chunks are
//! read in one piece each, so that every request is visited once, whatever the number of communicators.

use super::shapes::{Ob1Shapes, Shapes};
use crate::address::TargetAddr;
use crate::readers::ReaderError;
use crate::readers::record::Record;
use crate::readers::walk::circular_list;
use crate::target::Target;

/// A pool never has more chunks than this; each holds 64 requests by default.
const MAX_CHUNKS: usize = 1 << 20;

/// Requests are smaller than this, in bytes; so are their alignments.
const MAX_ITEM: u64 = 1 << 16;

/// A chunk is read in pieces of at most this many bytes.
const MAX_READ: u64 = 1 << 22;

/// What a walk of a pool came to.
#[derive(Debug, Default)]
pub struct PoolWalk {
    /// How many objects were visited.
    pub visited: u64,
    /// What could not be read.
    pub problems: Vec<String>,
}

/// The geometry of a pool.
struct Pool {
    class: TargetAddr,
    stride: u64,
    alignment: u64,
    allocated: u64,
    per_alloc: u64,
}

/// Calls `visit` with every object of the pool at `pool`, free ones included. Objects are at least `item_size` bytes;
/// `visit` returns false to stop.
///
/// # Errors
/// Where the pool's own description cannot be read or cannot be right.
pub fn walk(
    target: &dyn Target,
    shapes: &Shapes,
    ob1: &Ob1Shapes,
    pool_at: TargetAddr,
    item_size: usize,
    mut visit: impl FnMut(Record<'_>) -> bool,
) -> Result<PoolWalk, ReaderError> {
    let shape = &ob1.free_list;
    let mut buffer = Vec::new();
    let record = Record::read(target, pool_at, shape.size, &mut buffer)?;
    let raw_size = record.uint(shape.item_size);
    let alignment = record.uint(shape.alignment).max(1);
    if raw_size < item_size as u64 || raw_size > MAX_ITEM || alignment > MAX_ITEM {
        return Err(ReaderError::Damaged(format!(
            "the request pool at {pool_at} has objects of {raw_size} bytes aligned to {alignment}; they need {item_size}"
        )));
    }
    let pool = Pool {
        class: record.pointer(shape.class),
        stride: raw_size.next_multiple_of(alignment),
        alignment,
        allocated: record.uint(shape.allocated),
        per_alloc: record.uint(shape.per_alloc).max(1),
    };
    let list = record.address_of(shape.allocations);
    let sentinel = list.wrapping_add(shapes.list.sentinel.offset as u64);
    let chunks = circular_list(target, sentinel, shapes.list_item.next.offset as u64, MAX_CHUNKS);

    let mut walk = PoolWalk::default();
    if let Some(stop) = chunks.stopped {
        walk.problems.push(format!("the request pool at {pool_at} was not read whole: {stop}"));
    }
    // Every chunk but the first holds `per_alloc` objects; the first holds the rest. A capped last chunk is shorter,
    // which its objects' class pointers show.
    let later = (chunks.elements.len() as u64).saturating_sub(1).saturating_mul(pool.per_alloc);
    let first = pool.allocated.checked_sub(later).unwrap_or(pool.per_alloc);
    for (index, chunk) in chunks.elements.into_iter().enumerate() {
        let most = if index == 0 { first } else { pool.per_alloc };
        let start = chunk.wrapping_add(ob1.free_list_memory.size as u64).align_up(pool.alignment);
        if !read_chunk(target, shapes, &pool, start, most.min(pool.allocated), &mut walk, &mut visit) {
            break;
        }
    }
    Ok(walk)
}

fn read_chunk(
    target: &dyn Target,
    shapes: &Shapes,
    pool: &Pool,
    start: TargetAddr,
    most: u64,
    walk: &mut PoolWalk,
    visit: &mut impl FnMut(Record<'_>) -> bool,
) -> bool {
    let abi = target.abi();
    let at_once = (MAX_READ / pool.stride).max(1);
    let mut buffer = Vec::new();
    let mut index = 0;
    while index < most {
        let len = (most - index).min(at_once);
        buffer.resize((len * pool.stride) as usize, 0);
        let at = start.wrapping_add(index * pool.stride);
        if let Err(error) = target.read(at, &mut buffer) {
            // Perhaps only the end of the piece is missing: try smaller ones before giving up.
            if len > 1 {
                let half = most.min(index + len / 2);
                if !read_chunk(target, shapes, pool, at, half - index, walk, visit) {
                    return false;
                }
                index = half;
                if walk.problems.len() > 8 {
                    return true;
                }
                continue;
            }
            walk.problems.push(format!("a request could not be read: {error}"));
            return true;
        }
        for (offset, item) in (0..).step_by(pool.stride as usize).zip(buffer.chunks_exact(pool.stride as usize)) {
            let record = Record::new(at.wrapping_add(offset), item, abi);
            if record.pointer(shapes.object.class) != pool.class {
                if index == 0 && offset == 0 {
                    let what = "a chunk of the request pool starts with an object of another class";
                    walk.problems.push(format!("{what}, at {at}"));
                }
                return true;
            }
            walk.visited += 1;
            if !visit(record) {
                return false;
            }
        }
        index += len;
    }
    true
}
