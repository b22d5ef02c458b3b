//! World ranks of the members of a group.
//!
//! A group holds pointers to process objects, or *sentinels*: numbers with the lowest bit set that encode a
//! process's name, used until the first communication with it (ompi/proc/proc.h, v4.1.4 and v5.0.7). Pointers of one process may
//! differ between groups, so members are compared by name. A sparse group refers to its parent's members instead
//! (ompi/group/group.h, builds with sparse groups only).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::shapes::Shapes;
use crate::ReaderError;
use crate::members::MemberLists;
use crate::record::Record;
use model::{Elsewhere, Group};
use target::address::TargetAddr;
use target::{PointerWidth, Target, collect};

/// No communicator has more members than this (4 Mi).
const MAX_MEMBERS: u64 = 1 << 22;

/// All groups together never have more members than this (16 Mi).
const MAX_ALL_MEMBERS: u64 = 1 << 24;

/// Sparse groups that refer to one another deeper than this are damaged.
const MAX_DEPTH: usize = 64;

/// A process's name: its job and its number in it, which is its rank in that job's MPI_COMM_WORLD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcName {
    job: u32,
    vpid: u32,
}

/// World ranks by rank in a group; `None` for a process of another job, which has no rank in our MPI_COMM_WORLD.
pub type WorldRanks = Group;

/// The members of a group.
#[derive(Clone)]
struct Members {
    ranks: WorldRanks,
    /// Those of other jobs, with their ranks in the group.
    others: Rc<Vec<(i64, ProcName)>>,
}

/// Translates groups, each once.
pub struct Groups<'a> {
    target: &'a dyn Target,
    shapes: &'a Shapes,
    own_job: Cell<Option<u32>>,
    names: RefCell<HashMap<TargetAddr, ProcName>>,
    known: RefCell<HashMap<TargetAddr, Result<Members, ReaderError>>>,
    lists: MemberLists,
    /// How many members have been read.
    read: Cell<u64>,
}

impl<'a> Groups<'a> {
    /// No groups are read yet.
    pub fn new(target: &'a dyn Target, shapes: &'a Shapes) -> Self {
        let (names, known) = (RefCell::default(), RefCell::default());
        let (own_job, lists, read) = (Cell::new(None), MemberLists::default(), Cell::new(0));
        Self { target, shapes, own_job, names, known, lists, read }
    }

    /// Learns which job is ours from the group of MPI_COMM_WORLD and this process's rank in it.
    ///
    /// # Errors
    /// Where the group cannot be read, or our own entry in it does not carry our rank.
    pub fn set_world(&self, group: TargetAddr, my_rank: i64) -> Result<(), ReaderError> {
        let members = self.members(group, 0)?;
        let own = usize::try_from(my_rank).ok().and_then(|rank| members.get(rank)).copied();
        let own = own.ok_or_else(|| damaged(format!("rank {my_rank} of {} in MPI_COMM_WORLD", members.len())))?;
        let own = self.name(own)?;
        if i64::from(own.vpid) != my_rank {
            return Err(damaged(format!("rank {my_rank} in MPI_COMM_WORLD is process {} of its job", own.vpid)));
        }
        self.own_job.set(Some(own.job));
        Ok(())
    }

    /// Learns which job is ours from the object of this process; nothing from none.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn set_own(&self, process: TargetAddr) -> Result<(), ReaderError> {
        if !process.is_null() {
            self.own_job.set(Some(self.name(process)?.job));
        }
        Ok(())
    }

    /// Whether it is known which job is ours; else no process has a world rank.
    pub fn knows_world(&self) -> bool {
        self.own_job.get().is_some()
    }

    /// The world ranks of a group's members.
    ///
    /// # Errors
    /// Where the group or one of its members cannot be read.
    pub fn world_ranks(&self, group: TargetAddr) -> Result<WorldRanks, ReaderError> {
        Ok(self.of(group)?.ranks)
    }

    /// The world ranks of the members of a group that a communicator has: what all communicators have is limited.
    ///
    /// # Errors
    /// As [`Groups::world_ranks`]; where these are too many.
    pub fn of_communicator(&self, group: TargetAddr) -> Result<WorldRanks, ReaderError> {
        let ranks = self.world_ranks(group)?;
        self.target.claim_members(ranks.len() as u64)?;
        Ok(ranks)
    }

    /// The members of a group that are of other worlds; none where the group cannot be read.
    pub fn elsewhere(&self, group: TargetAddr, remote: bool) -> Vec<Elsewhere> {
        if group.is_null() {
            return Vec::new();
        }
        let Ok(members) = self.of(group) else { return Vec::new() };
        Elsewhere::runs(
            remote,
            members.others.iter().map(|(rank, name)| (*rank, world(name.job), i64::from(name.vpid))),
        )
    }

    /// The process objects that the groups read so far name, with their ranks in our MPI_COMM_WORLD.
    pub fn world_processes(&self) -> Vec<(TargetAddr, i64)> {
        let own = self.own_job.get();
        let names = self.names.borrow();
        let of_ours = names.iter().filter(|(_, name)| own == Some(name.job));
        of_ours.map(|(at, name)| (*at, i64::from(name.vpid))).collect()
    }

    /// What Open MPI calls our world, where it is known.
    pub fn world(&self) -> Option<String> {
        self.own_job.get().map(world)
    }

    /// The process objects of a group's members, in the order of their ranks; null for one that only its name stands for.
    ///
    /// # Errors
    /// Where the group cannot be read.
    pub fn processes(&self, group: TargetAddr) -> Result<Vec<TargetAddr>, ReaderError> {
        let named = |member: TargetAddr| if member.get() & 1 == 1 { TargetAddr::NULL } else { member };
        Ok(self.members(group, 0)?.into_iter().map(named).collect())
    }

    fn of(&self, group: TargetAddr) -> Result<Members, ReaderError> {
        if let Some(known) = self.known.borrow().get(&group) {
            return known.clone();
        }
        let members = self.read_members(group);
        self.known.borrow_mut().insert(group, members.clone());
        members
    }

    fn read_members(&self, group: TargetAddr) -> Result<Members, ReaderError> {
        let own_job = self.own_job.get();
        let names: Vec<ProcName> =
            self.members(group, 0)?.into_iter().map(|member| self.name(member)).collect::<Result<_, _>>()?;
        let rank = |name: &ProcName| (Some(name.job) == own_job).then_some(i64::from(name.vpid));
        let ranks = self.lists.keep(names.len() as u64, names.iter().map(rank))?;
        // Without our own job nobody is known to be of another one.
        let other = |(_, name): &(i64, ProcName)| own_job.is_some_and(|own| own != name.job);
        let others = (0..).zip(names).filter(other).collect();
        Ok(Members { ranks, others: Rc::new(others) })
    }

    fn members(&self, group: TargetAddr, depth: usize) -> Result<Vec<TargetAddr>, ReaderError> {
        let (shape, constants) = (&self.shapes.group, &self.shapes.constants);
        let record = Record::owned(self.target, group, shape.size)?;
        let count = record.uint(shape.count);
        if count > MAX_MEMBERS {
            return Err(damaged(format!("the group at {group} has {count} members")));
        }
        // Also bounds damaged groups that refer to one another.
        self.read.set(self.read.get() + count);
        if self.read.get() > MAX_ALL_MEMBERS {
            return Err(damaged(format!("the groups have more than {MAX_ALL_MEMBERS} members")));
        }
        let flags = record.uint(shape.flags);
        let sparse = flags & (constants.group_sporadic | constants.group_strided | constants.group_bitmap);
        if flags & constants.group_dense != 0 || sparse == 0 {
            return self.pointers(record.pointer(shape.procs), count);
        }
        if depth >= MAX_DEPTH {
            return Err(damaged(format!("more than {MAX_DEPTH} sparse groups refer to one another at {group}")));
        }
        let parents = self.members(record.pointer(shape.parent), depth + 1)?;
        let chosen = if sparse & constants.group_sporadic != 0 {
            self.sporadic(&record.view(), parents.len())?
        } else if sparse & constants.group_strided != 0 {
            let (offset, stride) = (record.int(shape.strided_offset), record.int(shape.strided_stride));
            collect(count, (0..count as i64).map(|rank| offset.wrapping_add(rank.wrapping_mul(stride))))?
        } else {
            self.bitmap(&record.view(), parents.len())?
        };
        if chosen.len() as u64 != count {
            return Err(damaged(format!("the sparse group at {group} has {} of {count} members", chosen.len())));
        }
        let parent = |rank: i64| usize::try_from(rank).ok().and_then(|rank| parents.get(rank)).copied();
        let members: Option<Vec<_>> = chosen.into_iter().map(parent).collect();
        members.ok_or_else(|| damaged(format!("the sparse group at {group} reaches out of its parent")))
    }

    fn pointers(&self, at: TargetAddr, count: u64) -> Result<Vec<TargetAddr>, ReaderError> {
        let abi = self.target.abi();
        let width = abi.pointer_width.bytes();
        let bytes = self.target.read_bytes(at, usize::try_from(count * width).unwrap_or(0))?;
        Ok(bytes.chunks_exact(width as usize).map(|bytes| TargetAddr::new(abi.uint(bytes))).collect())
    }

    /// Ranges of the parent's ranks, one after the other (ompi/group/group_sporadic.c, v4.1.4).
    fn sporadic(&self, group: &Record<'_>, most: usize) -> Result<Vec<i64>, ReaderError> {
        let (shape, range) = (&self.shapes.group, &self.shapes.sporadic_range);
        let (at, len) = (group.pointer(shape.sporadic), group.uint(shape.sporadic_len));
        if len > most as u64 {
            return Err(damaged(format!("the group at {} has {len} ranges of ranks", group.addr)));
        }
        let mut ranks = Vec::new();
        let mut buffer = Vec::new();
        for index in 0..len {
            let entry = Record::read(self.target, at.wrapping_add(index * range.size as u64), range.size, &mut buffer)?;
            let (first, len) = (entry.int(range.first), entry.int(range.len));
            if len < 0 || len > (most - ranks.len()) as i64 {
                return Err(damaged(format!("a range of {len} ranks in the group at {}", group.addr)));
            }
            ranks.extend((0..len).map(|rank| first.wrapping_add(rank)));
        }
        Ok(ranks)
    }

    /// One bit for each of the parent's ranks, lowest bit first (ompi/group/group_bitmap.c, v4.1.4).
    fn bitmap(&self, group: &Record<'_>, most: usize) -> Result<Vec<i64>, ReaderError> {
        let shape = &self.shapes.group;
        let len = usize::try_from(group.uint(shape.bitmap_len)).unwrap_or(usize::MAX).min(most / 8 + 1);
        let bytes = self.target.read_bytes(group.pointer(shape.bitmap), len)?;
        Ok((0..len * 8).filter(|bit| bytes[bit / 8] >> (bit % 8) & 1 == 1).map(|bit| bit as i64).collect())
    }

    fn name(&self, member: TargetAddr) -> Result<ProcName, ReaderError> {
        if member.get() & 1 == 1 {
            return self.sentinel(member.get());
        }
        if let Some(known) = self.names.borrow().get(&member) {
            return Ok(*known);
        }
        let shape = &self.shapes.proc;
        let number = |slot: crate::record::Slot| slot.read_uint(self.target, member);
        let name = ProcName { job: number(shape.job)? as u32, vpid: number(shape.vpid)? as u32 };
        self.names.borrow_mut().insert(member, name);
        Ok(name)
    }

    /// Decodes a sentinel (`ompi_proc_sentinel_to_name` in ompi/proc/proc.h, v4.1.4 and v5.0.7). In 64 bits it holds
    /// the whole name; in 32 bits only the number, and the job is our own.
    fn sentinel(&self, sentinel: u64) -> Result<ProcName, ReaderError> {
        match self.target.abi().pointer_width {
            PointerWidth::Eight => {
                let (local, family) = (sentinel >> 1 & 0x7fff, sentinel >> 16 & 0xffff);
                Ok(ProcName { job: (family << 16 | local) as u32, vpid: (sentinel >> 32) as u32 })
            }
            PointerWidth::Four => {
                let vpid = (sentinel >> 1) as u32;
                // While we learn which job is ours, any number stands for it.
                Ok(ProcName { job: self.own_job.get().unwrap_or_default(), vpid })
            }
        }
    }
}

/// The number of a job: of 4.x that of the launcher in the upper half and a count of its jobs in the lower; of 5.x a hash of the
/// namespace (open-mpi/ompi, orte/util/name_fns.c, v4.1.4; opal/mca/pmix/base/pmix_base_fns.c, v5.0.7).
fn world(job: u32) -> String {
    format!("jobid {job:#010x}")
}

fn damaged(what: String) -> ReaderError {
    ReaderError::Damaged(what)
}
