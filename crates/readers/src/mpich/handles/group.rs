//! Groups (pmodels/mpich, src/include/mpir_group.h, v3.4 to v5.0).

use super::super::groups::Groups;
use super::value::Object;
use super::{Depth, HandleReader};
use crate::ReaderError;
use crate::record::{Record, shapes};
use crate::references::Refers;
use model::handle::{self, GroupDetails, References, WorldRanks};
use model::{Handle, HandleKind, Known};
use target::address::TargetAddr;

shapes! {
    /// What all groups have.
    Group = ["MPIR_Group"] { count: "size", rank: "rank" } optional {
        mapped: "pmap.use_map",
    };
}

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let empty = object.constant.is_some();
    let shape = Group::resolve(reader.layouts)?;
    let record = object.at.map(|at| Record::owned(reader.target, at, shape.size)).transpose()?;
    let (count, rank) = match &record {
        // What has no processes has no ranks.
        Some(record) if !empty => (record.int(shape.count), record.int(shape.rank)),
        _ => (0, -1),
    };
    if count < 0 || rank >= count.max(1) {
        return Err(ReaderError::Damaged(format!("a group has {count} members, this process is number {rank}")));
    }
    handle.freed_leaves_no_mark(empty, "MPI_Group_free", "communicators");
    handle::Group { rank: (rank >= 0).then_some(rank), size: count }.describe(empty, handle);
    if depth == Depth::Short {
        return Ok(());
    }
    let Some((at, record)) = object.at.zip(record).filter(|_| !empty) else {
        let none = || Ok(References::default());
        let details = GroupDetails { ranks: Ok(Vec::new()), storage: "dense", communicators: none(), windows: none() };
        details.describe(handle);
        return Ok(());
    };
    let strided = shape.mapped.is_some_and(|slot| record.uint(slot) == 0);
    let members = [(HandleKind::Comm, "local_group"), (HandleKind::Comm, "remote_group")];
    let problems = &mut handle.problems;
    let details = GroupDetails {
        ranks: ranks(reader, at, count),
        storage: if strided { "strided" } else { "dense" },
        communicators: reader.referrers("communicators", &members, &[at], problems),
        windows: windows(reader, at, problems),
    };
    details.describe(handle);
    Ok(())
}

/// The world ranks of the group at `at`, which has `count` members.
fn ranks(reader: &HandleReader<'_>, at: TargetAddr, count: i64) -> Known<WorldRanks> {
    let world = reader.communicators()?.world_size();
    let groups = Groups::new(reader.target, reader.layouts, world)?;
    let ranks = groups.group(at, count).map_err(|reason| ReaderError::Damaged(reason.into()))?;
    let ranks = ranks.map(|ranks| ranks.to_vec());
    ranks.ok_or_else(|| "the group has no list of its processes in a form that is read here".into())
}

/// The windows whose communicator has the group at `at`: they have no group of their own.
fn windows(reader: &HandleReader<'_>, at: TargetAddr, problems: &mut Vec<String>) -> Known<References> {
    let slot = reader.shapes.communicator.local_group;
    let member = (HandleKind::Win, "comm_ptr");
    let mut comms = Vec::new();
    for comm in reader.pointing(member).by_target.keys() {
        if slot.read_pointer(reader.target, *comm)? == at {
            comms.push(*comm);
        }
    }
    // The same order in each run.
    comms.sort_unstable();
    reader.referrers("windows", &[member], &comms, problems)
}
