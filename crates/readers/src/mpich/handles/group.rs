//! Groups (pmodels/mpich, src/include/mpir_group.h, v3.4 to v5.0).

use serde_json::Value;

use super::super::groups::Groups;
use super::value::Object;
use super::{Depth, HandleReader};
use crate::ReaderError;
use crate::record::{Record, shape};
use model::{Handle, HandleKind};
use target::TargetError;
use target::address::TargetAddr;

shape!(
    /// What all groups have.
    Group = ["MPIR_Group"] { count: "size", rank: "rank" }
    optional {
        mapped: "pmap.use_map",
    }
);

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let mut buffer = Vec::new();
    let empty = object.constant.is_some();
    let shape = Group::resolve(reader.layouts)?;
    let record = object.at.map(|at| Record::read(reader.target, at, shape.size, &mut buffer)).transpose()?;
    let (count, rank) = match &record {
        // What has no processes has no ranks.
        Some(record) if !empty => (record.int(shape.count), record.int(shape.rank)),
        _ => (0, -1),
    };
    if count < 0 || rank >= count.max(1) {
        return Err(ReaderError::Damaged(format!("a group has {count} members, we are number {rank}")));
    }
    handle.freed = empty.then_some(false);
    if !empty {
        let reason = "MPI_Group_free takes it away at once, or leaves no mark while communicators still use it";
        handle.unknown.insert("freed".to_owned(), reason.into());
    }
    handle.name = object.constant.map(str::to_owned);
    let member = (rank >= 0).then_some(rank);
    handle.summary = match (empty, member) {
        (true, _) => "MPI_GROUP_EMPTY".to_owned(),
        (_, Some(rank)) => format!("group of {count}, rank {rank}"),
        (_, None) => format!("group of {count}, without this process"),
    };
    handle.fact("rank", member);
    handle.fact("size", count);
    if depth == Depth::Short {
        return Ok(());
    }
    let Some((at, record)) = object.at.zip(record).filter(|_| !empty) else {
        handle.fact("ranks", Vec::<i64>::new());
        handle.fact("storage", "dense");
        handle.fact("communicators", Vec::<Value>::new());
        handle.fact("windows", Vec::<Value>::new());
        return Ok(());
    };
    let world = reader.communicators().map(|all| all.found.first().and_then(|world| world.facts.size).unwrap_or(0));
    let ranks = world.and_then(|world| {
        let groups = Groups::new(reader.target, reader.layouts, world)?;
        groups.group(at, count).map_err(|reason| ReaderError::Damaged(reason.into()))
    });
    match ranks {
        Ok(Some(ranks)) => handle.fact("ranks", ranks.to_vec()),
        Ok(None) => handle.unknown("ranks", "the group has no list of its processes in a form that is read here"),
        Err(error) => handle.unknown("ranks", error.to_string()),
    }
    let strided = shape.mapped.is_some_and(|slot| record.uint(slot) == 0);
    handle.fact("storage", if strided { "strided" } else { "dense" });
    let members = [(HandleKind::Comm, "local_group"), (HandleKind::Comm, "remote_group")];
    reader.referrers("communicators", &members, &[at], handle);
    add_windows(reader, at, handle);
    Ok(())
}

/// Adds the windows whose communicator has the group at `at`: they have no group of their own.
fn add_windows(reader: &HandleReader<'_>, at: TargetAddr, handle: &mut Handle) {
    let slot = reader.shapes.communicator.local_group;
    let group = |comm: TargetAddr| reader.target.read_pointer(comm.wrapping_add(slot.offset as u64));
    let windows = reader.pointing(HandleKind::Win, "comm_ptr");
    match windows.targets().map(|comm| Ok((*comm, group(*comm)?))).collect::<Result<Vec<_>, TargetError>>() {
        Ok(groups) => {
            let comms: Vec<_> = groups.into_iter().filter(|(_, group)| *group == at).map(|(comm, _)| comm).collect();
            reader.referrers("windows", &[(HandleKind::Win, "comm_ptr")], &comms, handle);
        }
        Err(error) => handle.unknown("windows", error.to_string()),
    }
}
