//! UCX's worker that the pml has, and which layout of UCX fits it.

use super::shapes::UcxShapes;
use super::tag;
use crate::ReaderError;
use crate::openmpi::shapes::PoolShapes;
use crate::record::{Record, Slot};
use crate::ucx::{Flags, Native, RequestPool, Sample, UcxLayout, Workers};
use target::address::TargetAddr;
use target::{Reason, Target};

/// As many requests are enough to tell layouts apart.
const SAMPLES: usize = 256;

/// The pml's worker.
pub struct Found {
    /// The worker, by the layout that fits it.
    pub workers: Workers,
    /// The pool of persistent requests.
    pub persistent: TargetAddr,
}

/// Finds the worker (`ompi_pml_ucx`, open-mpi/ompi, ompi/mca/pml/ucx/pml_ucx.c, v4.1.4 and v5.0.10).
///
/// # Errors
/// Where the pml cannot be read. Where it has no worker that is known how to read: the reason.
pub fn find(target: &dyn Target, shapes: &UcxShapes, pools: &PoolShapes) -> Result<Result<Found, Reason>, ReaderError> {
    let symbols = (target.symbol("ompi_pml_ucx")?, target.symbol("mca_pml_ucx_persistent_request_t_class")?);
    let (Some(module), Some(class)) = symbols else {
        return Ok(Err("this build does not export the symbols of the pml ucx".into()));
    };
    let (module, class) = (module.addr, class.addr);
    let shape = &shapes.module;
    let record = Record::owned(target, module, shape.size)?;
    let (context, worker) = (record.pointer(shape.context), record.pointer(shape.worker));
    if context.is_null() || worker.is_null() {
        return Ok(Err("the pml ucx has no worker of UCX now".into()));
    }
    let Some(shift) = shift(target, shapes, pools, module, class) else {
        return Ok(Err("the pool of persistent requests is not where this release of the pml ucx has it".into()));
    };
    let after = |slot: Slot| slot.address_in(module).wrapping_add(shift);
    let persistent = after(shape.persistent);
    // UCX says itself how large its requests are (`ucp_context_query`).
    let size = target.read_uint(after(shape.request_size), shape.request_size.size as u64)?;
    let mut best: Option<(usize, Workers)> = None;
    for layout in UcxLayout::shipped(target.abi()) {
        if layout.request.size as u64 != size || !layout.is_worker(target, worker, context) {
            continue;
        }
        let Ok(fits) = score(target, &layout, worker, shapes.behind.size) else { continue };
        if best.as_ref().is_none_or(|(most, _)| fits > *most) {
            best = Some((fits, Workers { at: vec![worker], layout }));
        }
    }
    Ok(match best {
        Some((_, workers)) => Ok(Found { workers, persistent }),
        None => Err(format!(
            "this process runs a UCX that is not among the known ones (1.13 to 1.20): its requests have {size} bytes"
        )
        .into()),
    })
}

/// How far the members behind the table of datatypes lie from where the profile has them: how many datatypes are predefined depends
/// on the build. The pool of persistent requests has its class.
fn shift(
    target: &dyn Target,
    shapes: &UcxShapes,
    pools: &PoolShapes,
    module: TargetAddr,
    class: TargetAddr,
) -> Option<u64> {
    /// No two builds differ by more datatypes than this.
    const MOST: i64 = 32;
    let word = target.abi().pointer_width.bytes();
    let member = module.wrapping_add((shapes.module.persistent.offset + pools.free_list.class.offset) as u64);
    let shift = |words: i64| (words as u64).wrapping_mul(word);
    let has_class = |shift: &u64| target.read_pointer(member.wrapping_add(*shift)) == Ok(class);
    let mut places = (0..=MOST).flat_map(|words| [words, -words]).map(shift);
    places.find(has_class)
}

/// How many requests make sense by a layout.
fn score(target: &dyn Target, layout: &UcxLayout, worker: TargetAddr, user: usize) -> Result<usize, ReaderError> {
    let pool = RequestPool::of(target, layout, worker, user)?;
    let (mut fits, mut seen) = (0, 0);
    let owner = layout.endpoint.worker;
    // What cannot be read is told when the requests are.
    let _ = pool.walk(|record| {
        let flags = Flags::of(layout, &record);
        if flags.called_back() && !flags.completed() {
            seen += 1;
            let native = Native::of(layout, &record, flags.receives());
            fits += usize::from(native.and_then(|native| Some((native.sample, native.more?))).is_some_and(
                |(sample, more)| match sample {
                    Sample::Receive(_, mask) => more.owner == worker && tag::open(mask).is_some(),
                    _ => owner.read_pointer(target, more.owner) == Ok(worker),
                },
            ));
        }
        seen < SAMPLES
    });
    Ok(fits)
}
