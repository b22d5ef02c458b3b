//! The universe: the processes of several worlds numbered through, so that each has a global rank of its own.
//!
//! A rank in MPI_COMM_WORLD names a process only within its world. With MPI_Comm_spawn and MPI_Comm_connect a job has several,
//! and the debugger numbers all processes, the first world's first: its ranks stay what they are (mqs document, "The Process
//! naming problem"). Which worlds there are, the job says, or the keys that the MPI library has for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use model::{Communicator, Elsewhere, Process, Remark, Shared, Snapshot, World};

/// A world of a job that is known from its launcher.
#[derive(Debug, Clone, Default)]
pub struct JobWorld {
    /// Its number, what the launcher calls it, its size, first place and parent.
    pub world: World,
    /// Its processes on this machine.
    pub pids: Vec<i64>,
}

/// The note of a process whose world is not known.
const UNKNOWN: &str = "not known which of the worlds this process is in, so its global ranks are not known either; \
    to get them from the launcher, read the whole job: --job";

/// Numbers the processes of a snapshot with several worlds, and names by these numbers whom its groups and operations are
/// about; in one of a single world nothing changes. `job` has the worlds that are known otherwise; empty: none.
pub fn number(snapshot: &mut Snapshot, job: &[JobWorld]) {
    if !snapshot.worlds.is_empty() {
        // It has been numbered.
        return;
    }
    let mut keys = snapshot.processes.iter().filter_map(|process| process.world_key.as_deref());
    let first = keys.next();
    // What is only looked at is not copied.
    if job.is_empty() && keys.all(|key| Some(key) == first) {
        forget_only_world(snapshot);
        return;
    }
    let mut worlds = worlds_of(snapshot, job);
    if worlds.len() <= 1 {
        forget_only_world(snapshot);
        return;
    }
    place(&mut worlds, &snapshot.processes);
    let unknown = World { number: -1, ..World::default() };
    let by_key: HashMap<&str, &World> =
        worlds.iter().filter_map(|world| Some((world.key.as_deref()?, world))).collect();
    for process in &mut snapshot.processes {
        let own = process.world.and_then(|number| worlds.iter().find(|world| world.number == number));
        if own.is_none() {
            process.notes.push(UNKNOWN.to_owned());
        }
        // Ranks in a world that is not known would be taken for those of the first one.
        let own = own.unwrap_or(&unknown);
        process.universe_rank = index(own, process.rank);
        for communicator in &mut process.communicators {
            translate(communicator, own, &by_key);
        }
    }
    snapshot.worlds = worlds;
    snapshot.share_groups();
    snapshot.sort();
}

/// Of a single world the name says nothing, unless members of others are named beside it.
fn forget_only_world(snapshot: &mut Snapshot) {
    for process in &mut snapshot.processes {
        if process.world.is_some() {
            process.world = None;
        }
        let alone = || process.communicators.iter().all(|communicator| communicator.elsewhere.is_empty());
        if process.world_key.is_some() && alone() {
            process.world_key = None;
        }
    }
}

/// The worlds in their order; each process is given the number of its own.
fn worlds_of(snapshot: &mut Snapshot, job: &[JobWorld]) -> Vec<World> {
    let mut worlds: Vec<World> = job.iter().map(|known| known.world.clone()).collect();
    worlds.sort_by_key(|world| world.number);
    worlds.dedup_by_key(|world| world.number);
    let by_pid: HashMap<i64, i64> =
        job.iter().flat_map(|known| known.pids.iter().map(|pid| (*pid, known.world.number))).collect();
    for process in &mut snapshot.processes {
        // A rank that could not be read has been given its number.
        let own = process.world.filter(|number| worlds.iter().any(|world| world.number == *number));
        process.world = process.pid.and_then(|pid| by_pid.get(&pid).copied()).or(own);
        let world = worlds.iter_mut().find(|world| Some(world.number) == process.world);
        if let Some(world) = world.filter(|world| world.key.is_none()) {
            world.key = process.world_key.as_deref().map(str::to_owned);
        }
    }
    // Worlds that the job does not have: all, where none is known.
    let mut others: BTreeMap<&str, Order> = BTreeMap::new();
    for process in &snapshot.processes {
        let Some(key) = process.world_key.as_deref().filter(|_| process.world.is_none()) else { continue };
        if worlds.iter().any(|world| world.key.as_deref() == Some(key)) {
            continue;
        }
        let order = others.entry(key).or_insert(Order { depth: 0, pid: i64::MAX });
        order.pid = order.pid.min(process.pid.unwrap_or(i64::MAX));
        order.depth = order.depth.max(depth(&snapshot.processes, process));
    }
    let mut others: Vec<_> = others.into_iter().map(|(key, order)| (order, key.to_owned())).collect();
    others.sort();
    let next = worlds.last().map_or(0, |world| world.number.saturating_add(1));
    for (number, (_, key)) in (next..).zip(others) {
        worlds.push(World { number, key: Some(key), ..World::default() });
    }
    let numbers: HashMap<&str, i64> =
        worlds.iter().filter_map(|world| Some((world.key.as_deref()?, world.number))).collect();
    for process in &mut snapshot.processes {
        let by_key = process.world_key.as_deref().and_then(|key| numbers.get(key).copied());
        process.world = process.world.or(by_key);
    }
    let parents: HashMap<i64, i64> = snapshot
        .processes
        .iter()
        .filter_map(|process| Some((process.world?, *numbers.get(process.parent_world_key.as_deref()?)?)))
        .collect();
    for world in &mut worlds {
        world.parent = world.parent.or_else(|| parents.get(&world.number).copied());
    }
    worlds
}

/// The order of worlds: who was spawned follows who spawned it, else by process ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    depth: usize,
    pid: i64,
}

/// How many worlds stand above that of a process, as far as processes of them were read.
fn depth(processes: &[Shared<Process>], process: &Process) -> usize {
    let parent_of = |key: &str| {
        let mut own = processes.iter().filter(|process| process.world_key.as_deref() == Some(key));
        own.find_map(|process| process.parent_world_key.as_deref())
    };
    let mut depth = 0;
    let mut at = process.world_key.as_deref();
    // A chain is never longer than there are processes; damage may close it to a ring.
    while let Some(parent) = at.and_then(parent_of).filter(|_| depth < processes.len()) {
        depth += 1;
        at = Some(parent);
    }
    depth
}

/// Sizes, and the place of each world's rank 0.
fn place(worlds: &mut [World], processes: &[Shared<Process>]) {
    let mut first = Some(0_i64);
    for world in worlds {
        let mut members = processes.iter().filter(|process| process.world == Some(world.number));
        world.size = world.size.or_else(|| members.find_map(|process| process.world_size)).filter(|size| *size >= 0);
        world.first = world.first.filter(|first| *first >= 0).or(first);
        first = world.first.zip(world.size).and_then(|(first, size)| first.checked_add(size));
    }
}

/// The place in the universe of a rank of a world.
fn index(world: &World, rank: Option<i64>) -> Option<i64> {
    let rank = rank.filter(|rank| *rank >= 0 && world.size.is_none_or(|size| *rank < size))?;
    world.first?.checked_add(rank)
}

fn translate(communicator: &mut Communicator, own: &World, by_key: &HashMap<&str, &World>) {
    let Communicator {
        group,
        remote_group,
        elsewhere,
        pending_sends,
        pending_receives,
        unexpected_messages,
        inactive,
        ..
    } = communicator;
    // Where the first world's size is not known, the ranks of our own have no number: they are named as others' are.
    if own.first.is_none()
        && let Some(key) = &own.key
    {
        for (remote, members) in [(false, group.as_deref()), (true, remote_group.as_deref())] {
            let known =
                (0..).zip(members.unwrap_or_default()).filter_map(|(at, rank)| Some((at, key.clone(), (*rank)?)));
            elsewhere.extend(Elsewhere::runs(remote, known));
        }
    }
    for (remote, members) in [(false, &mut *group), (true, &mut *remote_group)] {
        let Some(members) = members else { continue };
        let members = Arc::make_mut(members);
        for member in members.iter_mut() {
            *member = index(own, *member);
        }
        for run in elsewhere.iter().filter(|run| run.remote == remote) {
            let Some(world) = by_key.get(run.world_key.as_str()).filter(|world| world.number != own.number) else {
                continue;
            };
            let start = usize::try_from(run.local_rank).unwrap_or(usize::MAX);
            let count = usize::try_from(run.count).unwrap_or(0);
            for (at, member) in members.iter_mut().enumerate().skip(start).take(count) {
                *member = member.or_else(|| index(world, run.rank_of(i64::try_from(at).ok()?)));
            }
        }
    }
    let queues = [pending_sends, pending_receives, unexpected_messages].map(|queue| &mut queue.operations);
    for operations in queues.into_iter().chain([&mut **inactive]) {
        for operation in operations {
            let local = operation.has(&Remark::WithinLocalGroup);
            let peers = if local { &*group } else { remote_group.as_ref().map_or(&*group, |_| &*remote_group) };
            let peer = |rank: Option<i64>| peers.as_ref()?.get(usize::try_from(rank?).ok()?).copied().flatten();
            let number = |global: Option<i64>, local: Option<i64>| match global {
                Some(rank) => index(own, Some(rank)),
                None => peer(local),
            };
            operation.desired_global_rank = number(operation.desired_global_rank, operation.desired_local_rank);
            operation.actual_global_rank = number(operation.actual_global_rank, operation.actual_local_rank);
        }
    }
}
