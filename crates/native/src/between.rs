//! Between two looks: processes run on, and it is watched which of them move and which get no processor.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use target::{LiveProcess, processes};

use crate::network::Network;
use crate::stacks::{MessagePiece, SharedMemory, message_memory};

/// A process that wants a processor must have had one for so long: else it could not move.
pub const RAN: Duration = Duration::from_millis(5);

/// So often shared memory is looked at: MPICH's rings of cells have no counter, and may look the same by chance.
const LOOKS: u32 = 10;

/// Between two questions whether to go on.
const PAUSE: Duration = Duration::from_millis(50);

/// What was seen of messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// Processes through whose shared memory, or connections with one another, messages went.
    pub moving: Vec<u32>,
    /// Those whose messages may have gone where nobody sees them.
    pub unseen: Vec<u32>,
}

/// What was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Between {
    /// Of messages.
    pub watched: Watched,
    /// Those that wanted a processor and had none.
    pub hungry: Vec<u32>,
    /// For how long all ran on.
    pub ran: Duration,
}

impl Between {
    /// Lets processes run on for so long, and for at most `patience` more until all that want a processor had one. `over` is
    /// asked now and then whether to end now, and says so again once it has said so.
    pub fn wait(pids: &[u32], long: Duration, patience: Duration, mut over: impl FnMut() -> bool) -> Self {
        let begun = Instant::now();
        let used: BTreeMap<u32, u64> = pids.iter().filter_map(|pid| Some((*pid, run_time(*pid)?))).collect();
        let watched = watch(pids, begun + long, &mut over);
        let until = begun + long + patience;
        let mut hungry = starved(&used, RAN);
        while !hungry.is_empty() && Instant::now() < until && !over() {
            std::thread::sleep(PAUSE);
            hungry = starved(&used, RAN);
        }
        Self { watched, hungry, ran: begun.elapsed() }
    }
}

/// For how long threads of a process have had a processor, in nanoseconds (Linux, Documentation/scheduler/sched-stats.rst).
/// `None` where the kernel does not tell.
fn run_time(pid: u32) -> Option<u64> {
    let mut total = 0_u64;
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let text = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        total = total.saturating_add(text.split_whitespace().next()?.parse().ok()?);
    }
    Some(total)
}

/// Whether a thread of a process has a processor or waits for one.
pub fn wants_processor(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| processes::letter(&task.path())).any(|state| state == 'R')
}

/// Those that want a processor and have had less than `least` since they had used so many nanoseconds of it; not those of which it is
/// not known.
pub fn starved(used: &BTreeMap<u32, u64>, least: Duration) -> Vec<u32> {
    let enough = |before: u64, now: u64| Duration::from_nanos(now.saturating_sub(before)) >= least;
    let hungry =
        |(pid, before): (&u32, &u64)| run_time(*pid).is_some_and(|now| !enough(*before, now)) && wants_processor(*pid);
    used.iter().filter(|one| hungry(*one)).map(|(pid, _)| *pid).collect()
}

/// Watches the messages of processes, which run on, until then. What is shared is read once for all of them.
///
/// Lasts until then, or until it is `over`, which is asked now and then, and says so again once it has said so.
pub fn watch(pids: &[u32], until: Instant, over: &mut impl FnMut() -> bool) -> Watched {
    let before = Network::of(pids);
    let shared: Vec<Sharing> = pids.iter().filter_map(|pid| Sharing::of(*pid)).collect();
    let pause = until.saturating_duration_since(Instant::now()) / LOOKS;
    let first = contents(&shared, &HashSet::new());
    let mut found: HashSet<u32> = HashSet::new();
    while found.len() < shared.len() && Instant::now() + pause <= until && !over() {
        sleep(Instant::now() + pause, over);
        let now = contents(&shared, &found);
        let changed = |piece: &MessagePiece| matches!((first.get(piece.what()), now.get(piece.what())), (Some(Some(before)), Some(Some(now))) if before != now);
        found.extend(shared.iter().filter(|one| one.pieces.iter().any(changed)).map(|one| one.pid));
    }
    sleep(until, over);
    let now = Network::of(pids);
    found.extend(now.moving(&before));
    // Memory that may not be read.
    let readable: HashSet<u32> = shared.iter().map(|one| one.pid).collect();
    let mut unseen: HashSet<u32> = pids.iter().copied().filter(|pid| !readable.contains(pid)).collect();
    unseen.extend(now.unseen(&before));
    let sorted = |pids: HashSet<u32>| {
        let mut pids: Vec<u32> = pids.into_iter().collect();
        pids.sort_unstable();
        pids
    };
    Watched { moving: sorted(found), unseen: sorted(unseen) }
}

/// Until then, or until it is `over`.
fn sleep(until: Instant, over: &mut impl FnMut() -> bool) {
    while Instant::now() < until && !over() {
        std::thread::sleep(until.saturating_duration_since(Instant::now()).min(PAUSE));
    }
}

/// A process, and what it shares with others.
struct Sharing {
    pid: u32,
    memory: File,
    pieces: Vec<MessagePiece>,
}

impl Sharing {
    fn of(pid: u32) -> Option<Self> {
        let mappings = LiveProcess::open(pid).ok()?.mappings().ok()?;
        let memory = File::open(processes::place(pid).join("mem")).ok()?;
        Some(Self { pid, memory, pieces: message_memory(pid, &mappings) })
    }
}

/// A digest of each piece, `None` where it cannot be read; without those of processes that were seen to move.
fn contents(shared: &[Sharing], but: &HashSet<u32>) -> HashMap<SharedMemory, Option<u64>> {
    let mut contents: HashMap<SharedMemory, Option<u64>> = HashMap::new();
    let mut bytes = Vec::new();
    for one in shared.iter().filter(|one| !but.contains(&one.pid)) {
        for piece in &one.pieces {
            let known = contents.entry(piece.what().clone()).or_default();
            if known.is_none() {
                *known = piece.digest(|at, len| {
                    target::fit(&mut bytes, len).ok()?;
                    one.memory.read_exact_at(&mut bytes, at).ok()?;
                    Some(&bytes)
                });
            }
        }
    }
    contents
}
