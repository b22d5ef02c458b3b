//! The pools of an MPICH library: where the objects of each kind lie.

use super::handle_value::{HandleValue, ObjectKind, Place};
use super::pool_layout::{Head, HeadLayout};
use super::scan::{HeadCandidate, Scan, scan};
use crate::ReaderError;
use target::address::TargetAddr;
use target::{Range, Target, TargetError};

/// Predefined objects of a kind: no release has more (datatypes have the most).
const MAX_BUILTINS: u64 = 256;

/// Where each object has the count of its references (`MPIR_OBJECT_HEADER`, src/include/mpir_objects.h, v3.4 to v5.0).
const REFERENCES: u64 = 4;

/// Where a free object has the address of the next one.
pub(super) const NEXT: u64 = 8;

/// Which predefined datatype a handle is, and how large that is.
const DATATYPE_INDEX: u32 = 0xff;
const DATATYPE_SIZE: u32 = 0xff00;

/// The first so many predefined datatypes are in every build: those of C.
const SEEN_DATATYPES: u64 = 8;

/// There are five datatypes of pairs, and some of MPI_Type_create_f90_real and its like (`MPIR_DATATYPE_PREALLOC` is 8).
const MAX_PAIRS: u64 = 64;

/// A pool whose head and objects agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// Address of its head.
    pub at: TargetAddr,
    /// How to read the head again.
    pub layout: HeadLayout,
    /// What it said last.
    pub head: Head,
    /// Whether its direct block was seen to hold objects of the kind: a pool that was never used has none yet.
    pub verified: bool,
}

/// An array of predefined objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtins {
    /// Their kind.
    pub kind: ObjectKind,
    /// Address of the first.
    pub at: TargetAddr,
    /// Bytes of each.
    pub stride: u64,
    /// How many have their own handle.
    pub count: u64,
}

/// A block of objects, one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Address of the first.
    pub at: TargetAddr,
    /// How many there are.
    pub count: u64,
    /// Bytes of each.
    pub stride: u64,
    /// The first one's handle, without the bits of a request's pool.
    pub first: HandleValue,
}

/// All pools and arrays that were found in a library.
#[derive(Debug, Clone, Default)]
pub struct Pools {
    /// The pools, in the order of their addresses. Requests may have many.
    pub pools: Vec<Pool>,
    /// The arrays of predefined objects.
    pub builtins: Vec<Builtins>,
    /// Whether anything has the handle of MPI_COMM_WORLD.
    pub has_world: bool,
    /// Bytes of the library that could not be read: something may be missing.
    pub unread: u64,
    /// Where the library's variables lie.
    pub ranges: Vec<Range>,
}

impl Pools {
    /// Finds the pools in the writable memory of a library.
    ///
    /// # Errors
    /// Where the process is gone, or nothing of the memory could be read.
    pub fn find(target: &dyn Target, ranges: &[Range]) -> Result<Self, ReaderError> {
        let Scan { heads, builtins, pairs, bytes, unread, first_error, ranges } = scan(target, ranges)?;
        if let (0, Some(error)) = (bytes, first_error) {
            return Err(error.into());
        }
        let has_world = builtins.iter().any(|candidate| candidate.kind == ObjectKind::Comm);
        let mut found = Self { has_world, unread, ranges, ..Self::default() };
        for candidate in heads {
            let verified = has_objects(target, &candidate);
            // An object that starts like a head would, in the middle of a found one, is none.
            found.pools.push(Pool { at: candidate.at, layout: candidate.layout, head: candidate.head, verified });
        }
        found.keep_likely();
        for at in pairs {
            found.add_pairs(target, at);
        }
        let mut lone_world = Vec::new();
        for candidate in builtins {
            // The pool of communicators, for one, is unused where a job of one rank has made none.
            let Some(stride) = found.of(candidate.kind).max_by_key(|pool| pool.verified).map(|pool| pool.head.size)
            else {
                continue;
            };
            let (at, count) = if candidate.kind == ObjectKind::Datatype {
                let at = TargetAddr::new(candidate.at.get().wrapping_sub(stride));
                (at, datatype_count(target, at, stride))
            } else {
                (candidate.at, builtin_count(target, candidate.at, candidate.kind, stride))
            };
            let known = found.builtins.iter_mut().find(|known| known.kind == candidate.kind);
            match known {
                Some(known) if known.count >= count => {}
                Some(known) => *known = Builtins { kind: candidate.kind, at, stride, count },
                None if count > 1 => found.builtins.push(Builtins { kind: candidate.kind, at, stride, count }),
                None => lone_world.extend((count == 1 && candidate.kind == ObjectKind::Comm).then_some((at, stride))),
            }
        }
        // With sessions MPI_Comm_create_from_group makes MPI_COMM_WORLD for itself, and no MPI_COMM_SELF
        // (src/mpi/comm/comm_impl.c, v4.0).
        if found.builtins(ObjectKind::Comm).is_none() && found.has_session(target) {
            let in_use = |at: &TargetAddr| {
                target.read_uint(at.wrapping_add(REFERENCES), 4).is_ok_and(|count| (1..1 << 20).contains(&count))
            };
            let mut worlds = lone_world.into_iter().filter(|(at, _)| in_use(at));
            if let (Some((at, stride)), None) = (worlds.next(), worlds.next()) {
                found.builtins.push(Builtins { kind: ObjectKind::Comm, at, stride, count: 1 });
            }
        }
        Ok(found)
    }

    /// In 5.0.2 the pool of datatypes does not name its direct block: the datatypes of pairs, such as MPI_DOUBLE_INT, and those
    /// of MPI_Type_create_f90_real stand in an array of their own. `at`: where there may be one.
    fn add_pairs(&mut self, target: &dyn Target, at: TargetAddr) {
        let mut pools = self.pools.iter_mut().filter(|pool| pool.verified && pool.head.kind == ObjectKind::Datatype);
        let Some(pool) = pools.next().filter(|pool| pool.head.direct == 0) else { return };
        let first = HandleValue::first(Place::Direct, ObjectKind::Datatype);
        let in_use = |index: &u64| {
            let at = at.wrapping_add(index * pool.head.size);
            let handle = HandleValue(first.0 | *index as u32);
            is_object(target, at, handle)
                && target.read_uint(at.wrapping_add(REFERENCES), 4).is_ok_and(|count| count as i32 > 0)
        };
        let count = (0..MAX_PAIRS).take_while(in_use).count() as u64;
        if count > 1 {
            (pool.head.direct, pool.head.direct_size) = (at.get(), count);
        }
    }

    /// Takes what only looks like an unused pool only where its layout is that of a verified one and its size
    /// contradicts none.
    fn keep_likely(&mut self) {
        let Some(layout) = self.pools.iter().find(|pool| pool.verified).map(|pool| pool.layout) else {
            self.pools.clear();
            return;
        };
        let verified: Vec<(ObjectKind, u64)> =
            self.pools.iter().filter(|pool| pool.verified).map(|pool| (pool.head.kind, pool.head.size)).collect();
        self.pools.retain(|pool| {
            let fits = verified.iter().all(|(kind, size)| *kind != pool.head.kind || *size == pool.head.size);
            pool.verified || (pool.layout == layout && !pool.head.initialized && fits)
        });
    }

    /// Whether there is anything: a library without is no MPICH, or MPI was never initialised in it.
    pub fn is_empty(&self) -> bool {
        !self.pools.iter().any(|pool| pool.verified)
    }

    /// Bytes of the objects of a kind, where the objects of a pool or an array confirm it.
    pub fn stride(&self, kind: ObjectKind) -> Option<u64> {
        let pool = self.of(kind).find(|pool| pool.verified).map(|pool| pool.head.size);
        pool.or_else(|| self.builtins(kind).map(|builtins| builtins.stride))
    }

    /// The sizes of all kinds that were verified, in bytes.
    pub fn sizes(&self) -> Vec<(ObjectKind, u64)> {
        ObjectKind::ALL.into_iter().filter_map(|kind| Some((kind, self.stride(kind)?))).collect()
    }

    /// The pools of a kind.
    pub fn of(&self, kind: ObjectKind) -> impl Iterator<Item = &Pool> {
        self.pools.iter().filter(move |pool| pool.head.kind == kind)
    }

    /// The predefined objects of a kind, where they have an array.
    pub fn builtins(&self, kind: ObjectKind) -> Option<&Builtins> {
        self.builtins.iter().find(|builtins| builtins.kind == kind)
    }

    /// The blocks of a kind's pools, the direct ones first; problems go to `problem`.
    pub fn blocks(&self, target: &dyn Target, kind: ObjectKind, mut problem: impl FnMut(String)) -> Vec<Block> {
        let mut blocks = Vec::new();
        for pool in self.of(kind).filter(|pool| pool.verified) {
            blocks.extend(pool.blocks(target, &mut problem));
        }
        blocks
    }

    /// Whether a session is in use. Their pool comes with the first (`MPIR_Session_create`, src/mpi/session/session_util.c, v4.0).
    pub fn has_session(&self, target: &dyn Target) -> bool {
        self.of(ObjectKind::Session).filter(|pool| pool.verified && pool.head.initialized).any(|pool| {
            let (free, broken) = pool.free(target, NEXT);
            let in_use = |block: Block| {
                (0..block.count).any(|index| !free.contains(&block.at.wrapping_add(index * block.stride)))
            };
            broken.is_none() && pool.blocks(target, &mut drop).into_iter().any(in_use)
        })
    }

    /// The address of the object of a handle: `None` where no pool has one with this handle.
    pub fn address_of(&self, target: &dyn Target, handle: HandleValue) -> Option<TargetAddr> {
        let kind = handle.kind()?;
        let is_it = |at: &TargetAddr| target.read_uint(*at, 4).is_ok_and(|value| value == u64::from(handle.0));
        match handle.place() {
            Place::Invalid => None,
            Place::Builtin => {
                let builtins = self.builtins(kind)?;
                let mask = if kind == ObjectKind::Datatype { DATATYPE_INDEX } else { u32::MAX };
                let index = u64::from(handle.index() & mask);
                (index < builtins.count).then(|| builtins.at.wrapping_add(index * builtins.stride)).filter(is_it)
            }
            Place::Direct => self.of(kind).filter(|pool| pool.verified).find_map(|pool| {
                // The upper bits of a request's index say which pool it is in.
                let index = u64::from(handle.index() & 0xfff);
                let at = TargetAddr::new(pool.head.direct).wrapping_add(index * pool.head.size);
                Some(at).filter(|at| index < pool.head.direct_size && is_it(at))
            }),
            Place::Indirect => self.of(kind).filter(|pool| pool.verified).find_map(|pool| {
                let width = target.abi().pointer_width.bytes();
                let index = u64::from(handle.index() & 0xfff);
                // Handles of requests have fewer bits for the block, the upper ones say which pool it is in: eight until
                // 4.2, six and seven since (MPIR_REQUEST_*, src/include/mpir_request.h).
                let blocks = [0x3fff, 0xff, 0x7f, 0x3f].map(|mask| u64::from(handle.index() >> 12 & mask));
                blocks.into_iter().filter(|block| *block < pool.head.blocks).find_map(|block| {
                    let slot = TargetAddr::new(pool.head.indirect).wrapping_add(block * width);
                    let at = target.read_pointer(slot).ok()?.wrapping_add(index * pool.head.size);
                    Some(at).filter(|at| index < pool.head.objects_in_block() && is_it(at))
                })
            }),
        }
    }
}

impl Pool {
    /// Objects in each indirect block. Where the head does not say it, the objects of the first block do: libraries that
    /// were made from MPICH have other blocks (Intel's of 2021.18).
    fn in_block(&self, target: &dyn Target) -> u64 {
        let head = &self.head;
        let said = head.objects_in_block();
        if head.blocks == 0 || head.block_size.is_some() || head.num_allocated.is_some() {
            return said;
        }
        let Ok(block) = target.read_pointer(TargetAddr::new(head.indirect)) else { return said };
        let first = HandleValue::first(Place::Indirect, head.kind);
        let is_there = |index: u64| {
            let handle = HandleValue(first.0 | u32::try_from(index).unwrap_or(u32::MAX));
            is_object(target, block.wrapping_add(index * head.size), handle)
        };
        let mut count = said;
        // The index in a block has twelve bits.
        while count < 4096 && is_there(count) && is_there(2 * count - 1) {
            count *= 2;
        }
        count
    }

    /// Its blocks, the direct one first. What cannot be read is told to `problem`.
    pub fn blocks(&self, target: &dyn Target, problem: &mut impl FnMut(String)) -> Vec<Block> {
        let Head { kind, size: stride, direct, direct_size, indirect, blocks, .. } = self.head;
        let first = HandleValue::first(Place::Direct, kind);
        let mut found = vec![Block { at: TargetAddr::new(direct), count: direct_size, stride, first }];
        let width = target.abi().pointer_width.bytes();
        for index in 0..blocks {
            let slot = TargetAddr::new(indirect).wrapping_add(index * width);
            let first = HandleValue(HandleValue::first(Place::Indirect, kind).0 | (index as u32) << 12);
            match target.read_pointer(slot) {
                Ok(at) if is_object(target, at, first) => {
                    found.push(Block { at, count: self.in_block(target), stride, first });
                }
                Ok(at) => problem(format!(
                    "block {index} of the pool of {} at {} does not hold such objects",
                    kind.type_name(),
                    at
                )),
                Err(error) => {
                    problem(format!("block {index} of the pool of {}: {error}", kind.type_name()));
                }
            }
        }
        found
    }

    /// The free objects of the pool, `next_offset` being where each holds the address of the next one.
    ///
    /// # Errors
    /// A sentence, where the chain is broken: what follows is not known.
    pub fn free(
        &self,
        target: &dyn Target,
        next_offset: u64,
    ) -> (std::collections::HashSet<TargetAddr>, Option<String>) {
        let mut free = std::collections::HashSet::new();
        let most = self.head.direct_size + self.head.blocks * self.in_block(target);
        let mut at = TargetAddr::new(self.head.avail);
        let kind = self.head.kind.type_name();
        while !at.is_null() {
            if !free.insert(at) || free.len() as u64 > most {
                return (free, Some(format!("the chain of free objects of {kind} runs in a circle at {at}")));
            }
            at = match target.read_pointer(at.wrapping_add(next_offset)) {
                Ok(next) => next,
                Err(error) => return (free, Some(format!("the chain of free objects of {kind}: {error}"))),
            };
        }
        (free, None)
    }
}

/// Whether an object with this handle stands at `at`; a request's may also say which pool it is in.
fn is_object(target: &dyn Target, at: TargetAddr, handle: HandleValue) -> bool {
    // The upper ten bits of a request's index: its pool, and since 4.3 a flag.
    let pool_bits = if handle.kind() == Some(ObjectKind::Request) { 0x03f8_0000 } else { 0 };
    let value: Result<u64, TargetError> = target.read_uint(at, 4);
    value.is_ok_and(|value| u32::try_from(value).is_ok_and(|value| (value ^ handle.0) & !pool_bits == 0))
}

/// Whether the objects of the direct block, or where there is none of the first other one, have the handles of their places.
fn has_objects(target: &dyn Target, candidate: &HeadCandidate) -> bool {
    let Head { kind, size, direct, direct_size, .. } = candidate.head;
    let Some(last) = direct_size.checked_sub(1) else {
        let block = target.read_pointer(TargetAddr::new(candidate.head.indirect));
        let first = HandleValue::first(Place::Indirect, kind);
        let last = candidate.head.objects_in_block().saturating_sub(1);
        return block.is_ok_and(|block| {
            [0, 1, last]
                .into_iter()
                .all(|index| is_object(target, block.wrapping_add(index * size), HandleValue(first.0 | index as u32)))
        });
    };
    let first = HandleValue::first(Place::Direct, kind);
    [0, last.min(1), last].into_iter().all(|index| {
        let at = TargetAddr::new(direct).wrapping_add(index * size);
        is_object(target, at, HandleValue(first.0 | index as u32))
    })
}

/// How many objects with consecutive handles stand from `at` on.
fn builtin_count(target: &dyn Target, at: TargetAddr, kind: ObjectKind, stride: u64) -> u64 {
    let first = HandleValue::first(Place::Builtin, kind);
    (0..MAX_BUILTINS)
        .take_while(|index| {
            let at = at.wrapping_add(index * stride);
            target.read_uint(at, 4).is_ok_and(|value| value == u64::from(first.0) + index)
        })
        .count() as u64
}

/// How many places the array of predefined datatypes at `at` has, by those that are in use: one that this build has no
/// datatype for is zero, or has the null handle.
fn datatype_count(target: &dyn Target, at: TargetAddr, stride: u64) -> u64 {
    let first = HandleValue::first(Place::Builtin, ObjectKind::Datatype).0;
    let mut count = 0;
    for index in 1..MAX_BUILTINS {
        let Ok(value) = target.read_uint(at.wrapping_add(index * stride), 4) else { break };
        let value = u32::try_from(value).unwrap_or(0);
        if value & !DATATYPE_SIZE == first | index as u32 {
            count = index + 1;
        } else if (value != 0 && HandleValue(value).place() != Place::Invalid) || index <= SEEN_DATATYPES {
            break;
        }
    }
    count
}
