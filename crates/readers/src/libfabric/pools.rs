//! libfabric's pools of objects (`struct ofi_bufpool`, include/ofi_mem.h, prov/util/src/util_buf.c, 1.17 to 2.6): those in use are
//! all but the free ones, which are linked.

use std::collections::HashSet;

use super::layout::Pool;
use crate::record::{Record, Slot};
use crate::walk::linear_list;
use layouts::FieldKind;
use target::address::TargetAddr;
use target::{Reason, Target};

/// Regions of a pool.
const MAX_REGIONS: u64 = 1 << 12;

/// Objects of a pool: `tx_attr.size` at most, which users can set.
const MAX_OBJECTS: u64 = 1 << 18;

/// An object is smaller than this, in bytes.
const MAX_STRIDE: u64 = 1 << 24;

/// The objects that are in use.
///
/// # Errors
/// A sentence, where the pool cannot be read or cannot be one.
pub fn in_use(target: &dyn Target, shape: &Pool, at: TargetAddr) -> Result<Vec<TargetAddr>, Reason> {
    let width = target.abi().pointer_width.bytes();
    let pool = Record::owned(target, at, shape.pool.size)?;
    let (regions, in_region) = (pool.uint(shape.pool.region_count), pool.uint(shape.pool.in_region));
    let stride = pool.uint(shape.pool.stride);
    let header = shape.object.size as u64;
    let objects = regions.checked_mul(in_region).filter(|objects| *objects <= MAX_OBJECTS);
    let (Some(objects), true) = (objects, regions <= MAX_REGIONS && (header..MAX_STRIDE).contains(&stride)) else {
        return Err(Reason::new(format!("what is at {at} is not a pool of libfabric's")));
    };
    let first =
        Slot { offset: shape.pool.free.offset, size: usize::try_from(width).unwrap_or(8), kind: FieldKind::Pointer };
    // The link is what stands first before an object.
    let limit = usize::try_from(objects).unwrap_or(0).saturating_add(1);
    let free = linear_list(target, pool.pointer(first), shape.object.next.offset as u64, limit);
    if let Some(stopped) = free.stopped {
        return Err(Reason::new(format!("libfabric's pool at {at}: {stopped}")));
    }
    let free: HashSet<TargetAddr> = free.elements.into_iter().collect();
    let table = pool.pointer(shape.pool.regions);
    let mut found = Vec::new();
    for index in 0..regions {
        let region = target.read_pointer(table.wrapping_add(index * width))?;
        let record = Record::owned(target, region, shape.region.size)?;
        if record.pointer(shape.region.pool) != at {
            return Err(Reason::new(format!("a region of libfabric's pool at {at} is not its own")));
        }
        let first = record.pointer(shape.region.first);
        for number in 0..in_region {
            let object = first.wrapping_add(number * stride);
            if !free.contains(&TargetAddr::new(object.get().wrapping_sub(header))) {
                found.push(object);
            }
        }
    }
    Ok(found)
}
