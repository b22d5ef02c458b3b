//! The locks that a process holds, or is waiting for, on the memory of a window's processes.

use super::epochs::{Fields, Names, Window};
use super::{HandleReader, attributes};
use crate::ReaderError;
use model::handle::{Lock, LockType};
use target::address::TargetAddr;

/// No window has more processes than this (4 Mi).
const MAX_SIZE: u64 = 1 << 22;

/// The locks that rdma or pt2pt keeps: an object for each, in an array by rank or in a hash table
/// (`ompi_osc_rdma_module_lock_find`, ompi/mca/osc/rdma/osc_rdma.h, v4.1.4; `ompi_osc_pt2pt_module_lock_find`).
///
/// # Errors
/// Where they cannot be read or do not agree with the window.
pub fn of_messages(module: &Fields<'_>, window: Window, names: &Names) -> Result<Vec<Lock>, ReaderError> {
    let reader = module.reader;
    let array = if reader.layouts.has_field(names.module, "outstanding_lock_array") {
        module.pointer("outstanding_lock_array")?
    } else {
        TargetAddr::NULL
    };
    let found: Vec<(i64, TargetAddr)> = if array.is_null() {
        attributes::values(reader, module.place("outstanding_locks")?)?
    } else {
        let width = reader.target.abi().pointer_width.bytes();
        let bytes = array_of(reader, array, window.size, width)?;
        let slots = bytes.chunks_exact(width as usize).map(|slot| TargetAddr::new(reader.target.abi().uint(slot)));
        (0..).zip(slots).filter(|(_, at)| !at.is_null()).collect()
    };
    // An MPI_Win_lock_all of pt2pt stands among them as the lock of rank -1.
    found.into_iter().filter(|(rank, _)| *rank >= 0).map(|(rank, at)| one(module, names, rank, at)).collect()
}

fn one(module: &Fields<'_>, names: &Names, rank: i64, at: TargetAddr) -> Result<Lock, ReaderError> {
    let reader = module.reader;
    let sync = Fields { reader, type_name: names.sync, at };
    let is_lock = sync.int("type")? == reader.layouts.constant(names.lock)?;
    if sync.pointer("module")? != module.at || !is_lock || sync.int("sync.lock.target")? != rank {
        return Err(ReaderError::Damaged(format!("the lock of rank {rank} at {at} is none")));
    }
    let kind = sync.int("sync.lock.type")?;
    let sorts = [("MPI_LOCK_EXCLUSIVE", LockType::Exclusive), ("MPI_LOCK_SHARED", LockType::Shared)];
    let is = |name: &str| reader.layouts.constant(name).is_ok_and(|value| value == kind);
    match sorts.into_iter().find(|(name, _)| is(name)) {
        Some((_, sort)) => Ok(Lock { rank, sort: Some(sort) }),
        None => Err(ReaderError::Damaged(format!("the lock of rank {rank} at {at} is of the kind {kind}"))),
    }
}

/// The locks that sm keeps: an enumeration for each rank (`ompi_osc_sm_lock`, ompi/mca/osc/sm/osc_sm_passive_target.c,
/// v4.1.4 and v5.0.7). Of one with MPI_MODE_NOCHECK it does not keep the type.
///
/// # Errors
/// Where they cannot be read or do not agree with the window.
pub fn of_shared_memory(module: &Fields<'_>, window: Window) -> Result<Vec<Lock>, ReaderError> {
    let reader = module.reader;
    let bytes = array_of(reader, module.pointer("outstanding_locks")?, window.size, 4)?;
    let (exclusive, shared) = (Some(LockType::Exclusive), Some(LockType::Shared));
    let known = [("lock_exclusive", exclusive), ("lock_shared", shared), ("lock_nocheck", None)];
    let none = reader.layouts.constant("lock_none")?;
    let mut locks = Vec::new();
    for (rank, word) in (0..).zip(bytes.chunks_exact(4)) {
        let word = reader.target.abi().int(word);
        let is = |name: &str| reader.layouts.constant(name).is_ok_and(|value| value == word);
        match known.iter().find(|(name, _)| is(name)) {
            Some((_, sort)) => locks.push(Lock { rank, sort: *sort }),
            None if word == none => {}
            None => {
                return Err(ReaderError::Damaged(format!(
                    "the lock of rank {rank} in sm's list is of the kind {word}"
                )));
            }
        }
    }
    Ok(locks)
}

fn array_of(reader: &HandleReader<'_>, at: TargetAddr, size: u64, width: u64) -> Result<Vec<u8>, ReaderError> {
    if size > MAX_SIZE {
        return Err(ReaderError::Damaged(format!("the window has {size} processes")));
    }
    Ok(reader.target.read_bytes(at, (size * width) as usize)?)
}
