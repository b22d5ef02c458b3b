//! The communicators of an MPICH whose layouts nobody has (Intel's, Cray's, a release to come): what can be told without.
//!
//! Every object begins with its handle, a count of references and, while it is free, the address of the next free one
//! (`MPIR_Handle_common`, src/include/mpir_objects.h, releases 3.0 to 5.0). All else is found by what MPI_COMM_WORLD and
//! MPI_COMM_SELF must say, and believed only where all communicators of the process make sense by it.

use std::collections::HashMap;

use super::communicators::c_handle;
use super::handle_value::{HandleValue, ObjectKind, Place};
use super::pools::{NEXT, Pools};
use crate::members::MemberLists;
use crate::queues::refuse;
use crate::{ReaderError, add_problem};
use model::{Communicator, Group, HandleWord, QueueReport};
use target::address::TargetAddr;
use target::{Reason, Target, TargetAbi, TargetError, printable, zeroed};

/// Largest communicator object that is looked through, in bytes; releases have up to 2,000.
const MAX_OBJECT: u64 = 1 << 16;

/// Communicators that are looked at; the rest is told to be left out.
const MAX_COMMUNICATORS: usize = 20_000;

/// Longest name in bytes (`MPI_MAX_OBJECT_NAME`).
const MAX_NAME: usize = 128;

/// No communicator has more processes than this.
const MAX_GROUP: i64 = 1 << 24;

/// Where three numbers of a communicator lie, as one of the known releases orders them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbers {
    remote_size: Option<usize>,
    rank: usize,
    size: usize,
}

/// Where the members of a communicator lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offsets {
    name: usize,
    /// Any of these will do: they give the same for all communicators.
    numbers: Numbers,
    /// Whether `comm_kind` stands before the name, as in releases 3.3 to 4.3.
    kind: bool,
    /// Addresses of communicators that are parts of another.
    parts: Vec<usize>,
}

/// A communicator's memory.
struct Object {
    at: TargetAddr,
    value: HandleValue,
    bytes: Vec<u8>,
}

impl Object {
    fn int(&self, offset: usize, abi: TargetAbi) -> Option<i64> {
        self.bytes.get(offset..offset.checked_add(4)?).map(|bytes| abi.int(bytes))
    }

    fn pointer(&self, offset: usize, abi: TargetAbi) -> Option<TargetAddr> {
        let width = usize::try_from(abi.pointer_width.bytes()).ok()?;
        self.bytes.get(offset..offset.checked_add(width)?).map(|bytes| TargetAddr::new(abi.uint(bytes)))
    }

    fn name(&self, offset: usize) -> &[u8] {
        let rest = self.bytes.get(offset..).unwrap_or_default();
        let rest = &rest[..rest.len().min(MAX_NAME)];
        &rest[..rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len())]
    }
}

/// Finds where the members lie.
///
/// # Errors
/// Where the process is gone; a sentence where nothing can be told for sure.
pub fn locate(target: &dyn Target, pools: &Pools) -> Result<Result<Offsets, Reason>, TargetError> {
    let objects = objects(target, pools, &mut Vec::new())?;
    Ok(offsets(&objects, target.abi()))
}

fn offsets(objects: &[Object], abi: TargetAbi) -> Result<Offsets, Reason> {
    let [world, own, ..] = objects else { return Err(Reason::new("MPI_COMM_WORLD and MPI_COMM_SELF were not found")) };
    let named = |offset: &usize| {
        world.bytes[*offset..].starts_with(b"MPI_COMM_WORLD\0")
            && own.bytes.get(*offset..).is_some_and(|rest| rest.starts_with(b"MPI_COMM_SELF\0"))
    };
    let names: Vec<usize> = (0..world.bytes.len()).filter(named).collect();
    let [name] = names[..] else {
        return Err(Reason::new("the names of MPI_COMM_WORLD and MPI_COMM_SELF were not found in their objects"));
    };
    // Until 4.3: remote_size, rank, attributes (a pointer), local_size; since 5.0: context_id, recvcontext_id, rank,
    // local_size, and the rest elsewhere (src/include/mpir_comm.h).
    let aligned = || (8..world.bytes.len()).step_by(4);
    let older =
        aligned().map(|at| Numbers { remote_size: Some(at), rank: at + 4, size: (at + 8).next_multiple_of(8) + 8 });
    let newer = aligned().map(|at| Numbers { remote_size: None, rank: at, size: at + 4 });
    let newer = newer.filter(|numbers| follows_contexts(world, own, numbers.rank, abi));
    let fitting = |all: &mut dyn Iterator<Item = Numbers>| -> Vec<Numbers> {
        all.filter(|numbers| make_sense(objects, *numbers, abi)).collect()
    };
    let mut found = fitting(&mut older.into_iter());
    if found.is_empty() {
        found = fitting(&mut newer.into_iter());
    }
    let Some(numbers) = found.first().copied() else {
        return Err(Reason::new("no place in the objects holds what can be ranks and sizes"));
    };
    let values = |numbers: Numbers| -> Vec<_> {
        objects.iter().map(|object| (object.int(numbers.rank, abi), object.int(numbers.size, abi))).collect()
    };
    if found.iter().any(|other| values(*other) != values(numbers)) {
        return Err(Reason::new("several places in the objects hold what can be ranks and sizes"));
    }
    let kind = numbers.remote_size.is_some_and(|remote| kinds_make_sense(objects, name, remote, numbers.size, abi));
    Ok(Offsets { name, numbers, kind, parts: parts(objects, name, abi) })
}

/// Whether what stands before the rank can be context ids: of an intracommunicator both are the same, and each has its own.
fn follows_contexts(world: &Object, own: &Object, rank: usize, abi: TargetAbi) -> bool {
    let context = |object: &Object| {
        let receive = object.int(rank.checked_sub(4)?, abi)?;
        (object.int(rank.checked_sub(8)?, abi)? == receive).then_some(receive)
    };
    context(world).zip(context(own)).is_some_and(|(world, own)| world >= 0 && own >= 0 && world != own)
}

/// Whether the numbers can be ranks and sizes of all communicators.
fn make_sense(objects: &[Object], numbers: Numbers, abi: TargetAbi) -> bool {
    let read = |object: &Object| {
        let size = object.int(numbers.size, abi)?;
        let remote = numbers.remote_size.map_or(Some(size), |at| object.int(at, abi))?;
        Some((object.int(numbers.rank, abi)?, size, remote))
    };
    let [world, own, ..] = objects else { return false };
    let (Some((_, world_size, world_remote)), Some(own)) = (read(world), read(own)) else { return false };
    let is_group = |size: i64| (1..=MAX_GROUP).contains(&size);
    own == (0, 1, 1)
        && world_remote == world_size
        && objects.iter().all(|object| {
            read(object)
                .is_some_and(|(rank, size, remote)| (0..size).contains(&rank) && is_group(size) && is_group(remote))
        })
}

/// Whether what stands before the name can be `comm_kind`: 0 only where both groups are of one size, else 1.
fn kinds_make_sense(objects: &[Object], name: usize, remote: usize, size: usize, abi: TargetAbi) -> bool {
    let Some(at) = name.checked_sub(4) else { return false };
    objects.iter().enumerate().all(|(index, object)| match object.int(at, abi) {
        Some(0) => object.int(remote, abi) == object.int(size, abi),
        Some(1) => index > 1,
        _ => false,
    })
}

/// Where communicators hold the addresses of their parts, which have no name (the processes of a node, an
/// intercommunicator's local ones). A place that also points to predefined communicators is a list of all.
fn parts(objects: &[Object], name: usize, abi: TargetAbi) -> Vec<usize> {
    let known: HashMap<TargetAddr, &Object> = objects.iter().map(|object| (object.at, object)).collect();
    let width = usize::try_from(abi.pointer_width.bytes()).unwrap_or(8);
    let is_part = |offset: &usize| {
        let mut pointed = objects.iter().filter_map(|object| known.get(&object.pointer(*offset, abi)?)).peekable();
        pointed.peek().is_some()
            && pointed.all(|object| object.value.place() != Place::Builtin && object.name(name).is_empty())
    };
    let len = objects.first().map_or(0, |object| object.bytes.len());
    // Before that stands what the object was chained with while it was free.
    (NEXT as usize + width..len).step_by(width).filter(is_part).collect()
}

/// All communicators that are in use, MPI_COMM_WORLD and MPI_COMM_SELF first.
fn objects(target: &dyn Target, pools: &Pools, problems: &mut Vec<String>) -> Result<Vec<Object>, TargetError> {
    let mut found = Vec::new();
    let mut add = |at: TargetAddr, stride: u64, place: &[Place], problems: &mut Vec<String>| {
        let mut bytes = zeroed(usize::try_from(stride.min(MAX_OBJECT)).unwrap_or(0))?;
        match target.read_once(at, &mut bytes) {
            Ok(()) => {
                let abi = target.abi();
                let word = |at: usize| bytes.get(at..at + 4).map_or(0, |bytes| abi.uint(bytes));
                let value = HandleValue(u32::try_from(word(0)).unwrap_or(0));
                let in_use = word(4) > 0 || value.place() == Place::Builtin;
                if in_use && value.kind() == Some(ObjectKind::Comm) && place.contains(&value.place()) {
                    found.push(Object { at, value, bytes });
                }
                Ok(found.len())
            }
            Err(TargetError::Gone) => Err(TargetError::Gone),
            Err(error) => {
                add_problem(problems, format!("the communicator at {at}: {error}"));
                Ok(found.len())
            }
        }
    };
    if let Some(builtins) = pools.builtins(ObjectKind::Comm) {
        for index in 0..builtins.count {
            add(builtins.at.wrapping_add(index * builtins.stride), builtins.stride, &[Place::Builtin], problems)?;
        }
    }
    for pool in pools.of(ObjectKind::Comm).filter(|pool| pool.verified && pool.head.initialized) {
        let (free, broken) = pool.free(target, NEXT);
        broken.into_iter().for_each(|problem| add_problem(problems, problem));
        for block in pool.blocks(target, &mut |problem| add_problem(problems, problem)) {
            for index in 0..block.count {
                let at = block.at.wrapping_add(index * block.stride);
                if free.contains(&at) {
                    continue;
                }
                if add(at, block.stride, &[Place::Direct, Place::Indirect], problems)? >= MAX_COMMUNICATORS {
                    add_problem(problems, format!("only {MAX_COMMUNICATORS} communicators were looked at"));
                    return Ok(found);
                }
            }
        }
    }
    Ok(found)
}

/// Reads the communicators; `why` says why there are no queues.
///
/// # Errors
/// Where the process is gone.
pub fn read(
    target: &dyn Target,
    pools: &Pools,
    offsets: &Offsets,
    abi_handles: bool,
    why: &str,
) -> Result<QueueReport, ReaderError> {
    let mut problems = Vec::new();
    let all = objects(target, pools, &mut problems)?;
    let abi = target.abi();
    let of_others: Vec<TargetAddr> =
        all.iter().flat_map(|object| offsets.parts.iter().filter_map(|at| object.pointer(*at, abi))).collect();
    let world_rank = all.first().and_then(|world| world.int(offsets.numbers.rank, abi));
    let lists = MemberLists::default();
    let mut communicators = Vec::new();
    for object in &all {
        let predefined = object.value.place() == Place::Builtin;
        // The third predefined one of some releases is the library's own copy of MPI_COMM_WORLD.
        if of_others.contains(&object.at) || (predefined && object.value.index() > 1) {
            continue;
        }
        let size = object.int(offsets.numbers.size, abi);
        let inter = offsets.kind && object.int(offsets.name.saturating_sub(4), abi) == Some(1);
        let remote = offsets.numbers.remote_size.and_then(|at| object.int(at, abi)).filter(|_| inter);
        let group = match (predefined, object.value.index(), size) {
            (true, 0, Some(size)) => members(&lists, target, size, Some, &mut problems),
            (true, 1, _) => Some([world_rank].into()),
            _ => None,
        };
        let unknown = |size| members(&lists, target, size, |_| None, &mut problems).unwrap_or_else(|| [].into());
        let name = printable(object.name(offsets.name));
        let mut facts = Communicator {
            name_set: Some(!name.is_empty()),
            name: name.into(),
            unique_id: u64::from(object.value.0),
            handle: Some(HandleWord(c_handle(object.value, object.at, abi_handles))),
            local_rank: object.int(offsets.numbers.rank, abi),
            size,
            group,
            remote_group: remote.map(unknown),
            ..Communicator::default()
        };
        refuse(&mut facts, why);
        communicators.push(facts);
    }
    let mut notes = vec![
        "communicators were found without layouts: names, ranks and sizes by what MPI_COMM_WORLD and MPI_COMM_SELF must say"
            .to_owned(),
    ];
    if !offsets.kind {
        notes.push("which communicators are intercommunicators is not known".to_owned());
    }
    Ok(QueueReport { communicators, notes, problems, ..QueueReport::default() })
}

/// The members of a communicator of so many processes, each of whom `rank` says; `None` where they are too many.
fn members(
    lists: &MemberLists,
    target: &dyn Target,
    size: i64,
    rank: impl Fn(i64) -> Option<i64>,
    problems: &mut Vec<String>,
) -> Option<Group> {
    let count = u64::try_from(size).ok()?;
    let kept = target.claim_members(count).and_then(|()| lists.keep(count, (0..size).map(rank)));
    kept.map_err(|error| add_problem(problems, format!("a communicator of {size} processes: {error}"))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As MPICH 3.4 to 4.3 order them: remote_size, rank, attributes, local_size, name.
    const FOUR: [usize; 4] = [68, 72, 88, 116];
    /// As 5.0 does: remote_size, rank, local_size, name.
    const FIVE: [usize; 4] = [180, 20, 24, 200];

    /// Rank and size of MPI_COMM_WORLD, MPI_COMM_SELF and a communicator with reversed ranks, with their context ids.
    fn three(places: [usize; 4], context: usize) -> Vec<Object> {
        let all = [
            (0x4400_0000, "MPI_COMM_WORLD", 0, 2, 0),
            (0x4400_0001, "MPI_COMM_SELF", 0, 1, 1),
            (0x8400_0000, "", 1, 2, 4),
        ];
        let object = |(handle, name, rank, size, id): (u32, &str, u32, u32, u32)| {
            let mut bytes = vec![0; 400];
            let mut put = |at: usize, value: u32| bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            // Elsewhere stands what can be rank and size, too: a power of two below the size, and the size.
            for (at, value) in [(300, 0), (304, size), (context, id << 4), (context + 4, id << 4)] {
                put(at, value);
            }
            for (at, value) in places.into_iter().zip([size, rank, size]) {
                put(at, value);
            }
            bytes[places[3]..places[3] + name.len()].copy_from_slice(name.as_bytes());
            Object { at: TargetAddr::new(0x1000), value: HandleValue(handle), bytes }
        };
        all.map(object).into()
    }

    #[test]
    fn ranks_are_found_as_each_series_orders_them_and_not_in_what_looks_alike() {
        for (places, context) in [(FOUR, 60), (FIVE, 12)] {
            let found = offsets(&three(places, context), TargetAbi::LITTLE_64);
            let numbers = found.map(|found| (found.numbers.rank, found.numbers.size));
            assert_eq!(numbers, Ok((places[1], places[2])));
        }
    }

    #[test]
    fn what_only_looks_like_ranks_is_not_believed() {
        let mut objects = three(FIVE, 12);
        for object in &mut objects {
            object.bytes[12..28].fill(0);
        }
        assert!(offsets(&objects, TargetAbi::LITTLE_64).is_err_and(|why| why.to_string().contains("no place")));
    }
}
