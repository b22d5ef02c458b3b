//! Groups (ompi/group/group.h, v4.1.4 and v5.0.7).

use super::{Depth, HandleReader};
use crate::ReaderError;
use crate::record::{Record, shape};
use model::{Handle, HandleKind};
use target::Reason;
use target::address::TargetAddr;

shape!(
    /// What all groups have.
    Group = ["ompi_group_t"] { count: "grp_proc_count", rank: "grp_my_rank", flags: "grp_flags" }
);

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
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, addr, shape.size, &mut buffer)?;
    let (count, rank, flags) = (record.int(shape.count), record.int(shape.rank), record.uint(shape.flags));
    if count < 0 || rank >= count.max(1) {
        return Err(ReaderError::Damaged(format!("the group at {addr} has {count} members, we are number {rank}")));
    }
    let empty = reader.symbol("ompi_mpi_group_empty")? == Some(addr);
    handle.predefined = Some(empty || flags & reader.flag("OMPI_GROUP_INTRINSIC") != 0);
    handle.freed = handle.predefined.filter(|predefined| *predefined).map(|_| false);
    if handle.freed.is_none() {
        let reason = "MPI_Group_free takes it away at once, or leaves no mark while communicators still use it";
        handle.unknown.insert("freed".to_owned(), reason.into());
    }
    handle.name = empty.then(|| "MPI_GROUP_EMPTY".to_owned());
    // Not a member: MPI_UNDEFINED or MPI_PROC_NULL, both negative.
    let member = (rank >= 0).then_some(rank);
    handle.summary = match (empty, member) {
        (true, _) => "MPI_GROUP_EMPTY".to_owned(),
        (_, Some(rank)) => format!("group of {count}, rank {rank}"),
        (_, None) => format!("group of {count}, without this process"),
    };
    handle.fact("rank", member);
    handle.fact("size", count);
    if depth == Depth::Full {
        let ranks = reader.world_ranks(addr, &mut handle.problems);
        match ranks {
            Ok(ranks) => handle.fact("ranks", ranks),
            Err(reason) => handle.unknown("ranks", reason),
        }
        let stored = STORAGE.iter().find(|(name, _)| flags & reader.flag(name) != 0);
        // An empty group has nothing to store, and no flag.
        handle.fact("storage", stored.map_or("dense", |(_, word)| word));
        let (local, remote) = ((HandleKind::Comm, "c_local_group"), (HandleKind::Comm, "c_remote_group"));
        reader.referrers("communicators", &[local, remote], addr, handle);
        reader.referrers("windows", &[(HandleKind::Win, "w_group")], addr, handle);
    }
    Ok(())
}

impl HandleReader<'_> {
    /// World ranks of a group in rank order, null for a process of another job; or why they are not known.
    pub(super) fn world_ranks(
        &self,
        group: TargetAddr,
        problems: &mut Vec<String>,
    ) -> Result<Vec<Option<i64>>, Reason> {
        let groups = self.groups(problems);
        if !groups.knows_world() {
            return Err(Reason::new("this process has no MPI_COMM_WORLD that can be read, so nobody has a rank in it"));
        }
        groups.world_ranks(group).map(|ranks| ranks.to_vec()).map_err(Reason::of)
    }
}
