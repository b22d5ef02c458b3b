//! What is open on a window. Both devices keep it in the window: ch4 in the part that active messages use, which all its
//! networks fill in, too (pmodels/mpich, src/mpid/ch4/src/mpidig_win.h, v3.4 to v5.0), ch3 in states of its own
//! (src/mpid/ch3/src/ch3u_rma_sync.c, v3.4 to v5.0).

use super::super::communicators::Found;
use super::super::groups::Groups;
use super::HandleReader;
use crate::ReaderError;
use crate::record::{Record, Slot, shapes};
use model::Known;
use model::handle::{self, Epoch, Lock, WorldRanks};
use target::Reason;
use target::address::TargetAddr;

shapes! {
    /// A window of ch4 (`MPIDIG_win_t`, src/mpid/ch4/include/mpidpre.h).
    Shape4 = ["MPIR_Win"] {
        access: "dev.am.sync.access_epoch_type",
        exposure: "dev.am.sync.exposure_epoch_type",
        started: "dev.am.sync.sc.group",
        posted: "dev.am.sync.pw.group",
        locks: "dev.am.sync.lock.count",
        targets: "dev.am.targets",
        no_locks: "dev.am.info_args.no_locks",
    };
    /// What a window of ch4 has of one process (`MPIDIG_win_target_t`, the same file), in a table of uthash.
    Target = ["MPIDIG_win_target_t"] {
        access: "sync.access_epoch_type",
        rank: "rank",
        next: "hash_handle.next",
    };
    /// A window of ch3 (`MPIDI_DEV_WIN_DECL`, src/mpid/ch3/include/mpidpre.h).
    Shape3 = ["MPIR_Win"] {
        access: "states.access_state",
        exposure: "states.exposure_state",
        started: "start_ranks_in_win_grp",
        started_count: "start_grp_size",
        no_locks: "info_args.no_locks",
    };
    /// A group, as far as its number of processes.
    Group = ["MPIR_Group"] { count: "size" };
}

/// What is open on a window.
#[derive(Debug)]
pub struct Epochs {
    /// Whether the application promised to use no locks.
    pub no_locks: bool,
    /// Whether MPI_Win_lock_all is open.
    pub lock_all: bool,
    /// What an open MPI_Win_lock has locked.
    pub locks: Known<Vec<Lock>>,
    /// The world ranks of an open MPI_Win_start.
    pub started: Known<Option<WorldRanks>>,
    /// The world ranks of an open MPI_Win_post.
    pub posted: Known<Option<WorldRanks>>,
    /// What is open.
    pub open: handle::Open,
}

/// One kind of epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    None,
    Lock,
    Start,
    Post,
    Fence,
    LockAll,
}

/// By the numbers of ch4 (`MPIDIG_EPOTYPE_NONE` and those after it, src/mpid/ch4/src/ch4_types.h, v3.4 to v5.0).
const OF_CH4: &[Open] = &[Open::None, Open::Lock, Open::Start, Open::Post, Open::Fence, Open::Fence, Open::LockAll];

/// By the numbers of ch3, from `MPIDI_RMA_NONE` on (`enum MPIDI_RMA_states`, src/mpid/ch3/include/mpidpre.h, v3.4 to v5.0).
const OF_CH3: &[Open] = &[
    Open::None,
    Open::Fence,
    Open::Fence,
    Open::Start,
    Open::Start,
    Open::Post,
    Open::Lock,
    Open::LockAll,
    Open::LockAll,
    Open::LockAll,
];
const FIRST_OF_CH3: i64 = 63;

const LOCKS_OF_CH3: &str = "ch3 keeps them with its operations, which are not read";
const POSTED_OF_CH3: &str = "ch3 keeps only how many of them are not done";

impl Open {
    fn of(known: &[Self], first: i64, number: i64) -> Result<Self, ReaderError> {
        let index = number.checked_sub(first).and_then(|index| usize::try_from(index).ok());
        let found = index.and_then(|index| known.get(index)).copied();
        found.ok_or_else(|| ReaderError::Damaged(format!("{number} is not a known kind of epoch")))
    }
}

/// Which epochs are open.
fn open(access: Open, exposure: Open) -> handle::Open {
    let accessed = match access {
        Open::Lock => Some(Epoch::Lock),
        Open::LockAll => Some(Epoch::LockAll),
        Open::Start => Some(Epoch::Start),
        Open::None | Open::Post | Open::Fence => None,
    };
    let exposed = (exposure == Open::Post).then_some(Epoch::Post);
    // Any other synchronisation ends the epoch that a fence has opened.
    let neither = accessed.is_none() && exposed.is_none();
    let fence = (neither && (access == Open::Fence || exposure == Open::Fence)).then_some(Epoch::Fence);
    handle::Open([accessed, exposed, fence].into_iter().flatten().collect())
}

/// The epochs of the window at `at`, whose communicator is `comm`.
///
/// # Errors
/// Where the layouts have no such window, it cannot be read, or it makes no sense.
pub fn read(reader: &HandleReader<'_>, at: TargetAddr, comm: &Found) -> Result<Epochs, ReaderError> {
    if reader.layouts.has_field("MPIR_Win", "dev.am.sync.access_epoch_type") {
        of_ch4(reader, at, comm)
    } else {
        of_ch3(reader, at, comm)
    }
}

fn of_ch4(reader: &HandleReader<'_>, at: TargetAddr, comm: &Found) -> Result<Epochs, ReaderError> {
    let shape = Shape4::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, at, record_size(reader)?)?;
    let access = Open::of(OF_CH4, 0, record.int(shape.access))?;
    let exposure = Open::of(OF_CH4, 0, record.int(shape.exposure))?;
    let group = |open: bool, slot: Slot| match open {
        true => members(reader, record.pointer(slot)).map(Some),
        false => Ok(None),
    };
    let locks = match access {
        Open::Lock => locked(reader, record.pointer(shape.targets), record.uint(shape.locks), comm),
        _ => Ok(Vec::new()),
    };
    Ok(Epochs {
        no_locks: record.uint(shape.no_locks) != 0,
        lock_all: access == Open::LockAll,
        locks,
        started: group(access == Open::Start, shape.started),
        posted: group(exposure == Open::Post, shape.posted),
        open: open(access, exposure),
    })
}

fn record_size(reader: &HandleReader<'_>) -> Result<usize, ReaderError> {
    Ok(crate::record::size_of(reader.layouts, "MPIR_Win")?)
}

/// The world ranks of a group.
fn members(reader: &HandleReader<'_>, at: TargetAddr) -> Known<WorldRanks> {
    let read = || -> Result<WorldRanks, ReaderError> {
        let count = Group::resolve(reader.layouts)?.count;
        let count = count.read_uint(reader.target, at)?;
        let world = reader.communicators()?.world_size();
        let groups = Groups::new(reader.target, reader.layouts, world)?;
        let members = groups
            .group(at, i64::try_from(count).unwrap_or(0))
            .map_err(|reason| ReaderError::Damaged(reason.into()))?;
        members
            .map(|members| members.to_vec())
            .ok_or_else(|| ReaderError::NotRead("the group has no list of its processes".to_owned()))
    };
    read().map_err(Reason::of)
}

/// The ranks that are locked, of which there must be `count`.
fn locked(reader: &HandleReader<'_>, first: TargetAddr, count: u64, comm: &Found) -> Known<Vec<Lock>> {
    let read = || -> Result<Vec<Lock>, ReaderError> {
        let shape = Target::resolve(reader.layouts)?;
        let (mut found, mut at, mut buffer) = (Vec::new(), first, Vec::new());
        // A window has at most one of each process.
        for _ in 0..comm.peers() {
            if at.is_null() {
                break;
            }
            let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
            let rank = record.int(shape.rank);
            if !(0..comm.peers()).contains(&rank) {
                return Err(ReaderError::Damaged(format!("the window has the rank {rank}, which is none of its own")));
            }
            if Open::of(OF_CH4, 0, record.int(shape.access))? == Open::Lock {
                found.push(rank);
            }
            at = record.pointer(shape.next);
        }
        if found.len() as u64 != count || !at.is_null() {
            return Err(ReaderError::Damaged(format!("the window counts {count} locks, {} were found", found.len())));
        }
        found.sort_unstable();
        Ok(found.into_iter().map(|rank| Lock { rank, sort: None }).collect())
    };
    read().map_err(Reason::of)
}

fn of_ch3(reader: &HandleReader<'_>, at: TargetAddr, comm: &Found) -> Result<Epochs, ReaderError> {
    let shape = Shape3::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, at, record_size(reader)?)?;
    let access = Open::of(OF_CH3, FIRST_OF_CH3, record.int(shape.access))?;
    let exposure = Open::of(OF_CH3, FIRST_OF_CH3, record.int(shape.exposure))?;
    let started = match access {
        Open::Start => ranks(reader, record.pointer(shape.started), record.int(shape.started_count), comm).map(Some),
        _ => Ok(None),
    };
    let posted = if exposure == Open::Post { Err(POSTED_OF_CH3.into()) } else { Ok(None) };
    Ok(Epochs {
        no_locks: record.uint(shape.no_locks) != 0,
        lock_all: access == Open::LockAll,
        locks: if access == Open::Lock { Err(LOCKS_OF_CH3.into()) } else { Ok(Vec::new()) },
        started,
        posted,
        open: open(access, exposure),
    })
}

/// The world ranks of an array of ranks in the window.
fn ranks(reader: &HandleReader<'_>, at: TargetAddr, count: i64, comm: &Found) -> Known<WorldRanks> {
    let count = usize::try_from(count).ok().filter(|count| *count as i64 <= comm.peers());
    let count = count.ok_or_else(|| "the window started an epoch with more processes than it has".to_owned())?;
    let bytes = reader.target.read_bytes(at, count * 4)?;
    let ranks = bytes.chunks_exact(4).map(|bytes| reader.target.abi().int(bytes));
    Ok(ranks.map(|rank| comm.world_rank(rank)).collect())
}
