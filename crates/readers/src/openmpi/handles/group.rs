//! Groups (ompi/group/group.h, v4.1.4 and v5.0.7).

use super::{Depth, HandleReader};
use crate::ReaderError;
use crate::record::{Record, shapes};
use crate::references::Refers;
use model::handle::{self, GroupDetails, WorldRanks};
use model::{Handle, HandleKind, Known};
use target::Reason;
use target::address::TargetAddr;

shapes! {
    /// What all groups have.
    Group = ["ompi_group_t"] { count: "grp_proc_count", rank: "grp_my_rank", flags: "grp_flags" };
}

/// Flags that tell how the members are stored, and the word for each.
const STORAGE: &[(&str, &str)] = &[
    ("OMPI_GROUP_DENSE", "dense"),
    ("OMPI_GROUP_SPORADIC", "sporadic"),
    ("OMPI_GROUP_STRIDED", "strided"),
    ("OMPI_GROUP_BITMAP", "bitmap"),
];

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = Group::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, addr, shape.size)?;
    let (count, rank, flags) = (record.int(shape.count), record.int(shape.rank), record.uint(shape.flags));
    if count < 0 || rank >= count.max(1) {
        return Err(ReaderError::Damaged(format!(
            "the group at {addr} has {count} members, this process is number \
            {rank}"
        )));
    }
    let empty = reader.symbol("ompi_mpi_group_empty")? == Some(addr);
    handle.predefined = Some(empty || flags & reader.flag("OMPI_GROUP_INTRINSIC") != 0);
    handle.freed_leaves_no_mark(handle.predefined == Some(true), "MPI_Group_free", "communicators");
    // Not a member: MPI_UNDEFINED or MPI_PROC_NULL, both negative.
    handle::Group { rank: (rank >= 0).then_some(rank), size: count }.describe(empty, handle);
    if depth == Depth::Short {
        return Ok(());
    }
    let stored = STORAGE.iter().find(|(name, _)| flags & reader.flag(name) != 0);
    let members = [(HandleKind::Comm, "c_local_group"), (HandleKind::Comm, "c_remote_group")];
    let problems = &mut handle.problems;
    let details = GroupDetails {
        ranks: reader.world_ranks(addr, problems),
        // An empty group has nothing to store, and no flag.
        storage: stored.map_or("dense", |(_, word)| word),
        communicators: reader.referrers("communicators", &members, &[addr], problems),
        windows: reader.referrers("windows", &[(HandleKind::Win, "w_group")], &[addr], problems),
    };
    details.describe(handle);
    Ok(())
}

impl HandleReader<'_> {
    /// World ranks of a group in rank order, null for a process of another job; or why they are not known.
    pub(super) fn world_ranks(&self, group: TargetAddr, problems: &mut Vec<String>) -> Known<WorldRanks> {
        let groups = self.groups(problems);
        if !groups.knows_world() {
            return Err(Reason::new(
                "this process has no MPI_COMM_WORLD that can be read, so no process has a rank in \
                it",
            ));
        }
        groups.world_ranks(group).map(|ranks| ranks.to_vec()).map_err(Reason::of)
    }

    /// The same; none for a null pointer.
    pub(super) fn world_ranks_of(&self, group: TargetAddr, problems: &mut Vec<String>) -> Known<Option<WorldRanks>> {
        if group.is_null() { Ok(None) } else { self.world_ranks(group, problems).map(Some) }
    }
}
