//! MPICH's variable that leads to UCX's workers.

use crate::mpich::variables;
use crate::record::{Record, Slot, shapes};
use crate::ucx::{UcxLayout, Workers};
use layouts::Layouts;
use target::address::TargetAddr;
use target::{Range, Target, TargetError};

shapes! {
    /// `MPIDI_UCX_global` (pmodels/mpich, src/mpid/ch4/netmod/ucx/ucx_types.h, v3.4 to v5.0).
    GlobalShape = ["MPIDI_UCX_global_t"] { context: "context", first: "ctx" } optional { count: "num_vnis", newer_count: "num_vcis" };
    /// What it has for each interface.
    InterfaceShape = ["MPIDI_UCX_context_t"] { worker: "worker", address: "if_address", length: "addrname_len" };
}

/// No build has more interfaces (`MPIDI_CH4_MAX_VCIS`).
const MAX_INTERFACES: u64 = 64;

/// Longest address of a process in bytes; those of machines with many network cards have some thousand.
const MAX_ADDRESS: u64 = 1 << 20;

/// Looks for `MPIDI_UCX_global` in the library's variables; once for each layout that fits, for releases may differ in requests only.
///
/// # Errors
/// Where the process is gone.
pub fn find(
    target: &dyn Target,
    layouts: &Layouts,
    ranges: &[Range],
    candidates: &[UcxLayout],
) -> Result<Vec<Workers>, TargetError> {
    let (Ok(global), Ok(interface)) = (GlobalShape::resolve(layouts), InterfaceShape::resolve(layouts)) else {
        return Ok(Vec::new());
    };
    let look = |record: &Record<'_>| interfaces(target, &global, &interface, record, candidates);
    Ok(variables::find(target, ranges, global.size, look)?.unwrap_or_default())
}

/// The workers, if a record is the variable.
fn interfaces(
    target: &dyn Target,
    global: &GlobalShape,
    interface: &InterfaceShape,
    record: &Record<'_>,
    candidates: &[UcxLayout],
) -> Option<Vec<Workers>> {
    let is_address = |at: TargetAddr| at.get() > 4096 && at.get().is_multiple_of(8);
    let context = record.pointer(global.context);
    let count = global.newer_count.or(global.count).map_or(1, |slot| record.uint(slot));
    if !is_address(context) || !(1..=MAX_INTERFACES).contains(&count) {
        return None;
    }
    let mut at = Vec::new();
    for index in 0..usize::try_from(count).ok()? {
        let here = |mut slot: Slot| {
            slot.offset += global.first.offset + index * interface.size;
            slot
        };
        let worker = record.pointer(here(interface.worker));
        let length = record.uint(here(interface.length));
        if !is_address(worker)
            || record.pointer(here(interface.address)).is_null()
            || !(1..MAX_ADDRESS).contains(&length)
        {
            return None;
        }
        at.push(worker);
    }
    let fits = |layout: &&UcxLayout| at.iter().all(|worker| layout.is_worker(target, *worker, context));
    let found: Vec<Workers> =
        candidates.iter().filter(fits).map(|layout| Workers { at: at.clone(), layout: layout.clone() }).collect();
    (!found.is_empty()).then_some(found)
}
