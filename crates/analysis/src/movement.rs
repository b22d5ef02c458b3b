//! How ranks moved between two looks at the same job.

use hashbrown::HashMap;

use super::diagnose::{Earlier, Watched};
use super::parallel;
use super::stuck::Seen;
use functions::{WaitKind, wait_kind};
use model::{Call, Communicator, Motion, Operation, Outside, Process, RankMovement, Snapshot};

/// What two looks at a process have in common.
#[derive(Debug, Clone)]
pub struct Compared {
    /// How it moved.
    pub movement: RankMovement,
    /// What that says of it.
    pub seen: Seen,
    /// Whether it may go round the same calls for ever.
    pub round: Round,
}

/// Whether a process sent or got messages, and is no further for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// It is where it was, and its own variables are what they were.
    Same,
    /// It is elsewhere in the same function. Its variables cannot be compared there.
    Elsewhere,
    /// It did something else, or nothing.
    No,
}

/// How each process of the later look moved; in the order of the later snapshot.
pub fn compare(earlier: Earlier<'_>, later: &Snapshot) -> Vec<Compared> {
    let mut before: HashMap<Who<'_>, &Process> = HashMap::new();
    for process in &earlier.snapshot.processes {
        before.entry(who(earlier.snapshot, process)).or_insert(process);
    }
    let asked = later.processes.iter().any(|process| asks_again(process));
    parallel::map(later.processes.len(), |index| {
        let process = &later.processes[index];
        let rank = later.rank_of(process);
        let Some(before) = before.get(&who(later, process)) else {
            let how = vec!["there was no second look at it".to_owned()];
            let movement = RankMovement { rank, state: Motion::Unknown, how };
            return Compared { movement, seen: Seen::Once, round: Round::No };
        };
        let (state, seen, how) = motion_of(before, process, earlier.watched, asked);
        let round = round(before, process, state, earlier.watched);
        Compared { movement: RankMovement { rank, state, how }, seen, round }
    })
}

/// Whether a process is in a one-sided call: waiting for a lock, or for a target, libraries ask again and again.
fn asks_again(process: &Process) -> bool {
    process.calls.iter().any(|call| wait_kind(&call.c_name()).is_one_sided())
}

/// A process at both looks: its rank, its number, and the host that it is on.
type Who<'a> = (Option<i64>, Option<i64>, Option<&'a str>);

fn who<'a>(snapshot: &Snapshot, process: &'a Process) -> Who<'a> {
    (snapshot.rank_of(process), process.pid, process.host.as_deref())
}

/// `asked`: some process may send messages without going on.
fn motion_of(before: &Process, after: &Process, watched: &Watched, asked: bool) -> (Motion, Seen, Vec<String>) {
    if before.stage != after.stage {
        return (
            Motion::Moved,
            Seen::Moved,
            vec!["it is further in its life: MPI_Init or MPI_Finalize came between".to_owned()],
        );
    }
    let mut how = Vec::new();
    let (moving, unseen) = (watched.moving.has(after), watched.unseen.has(after));
    let calls = places(before) != places(after);
    if calls {
        how.push(format!("it was in {}, and is in {}", where_it_is(before), where_it_is(after)));
    }
    let queues = !same_queues(before, after);
    if queues {
        how.push("its queues changed".to_owned());
    }
    let traffic = !same_traffic(before, after);
    if traffic {
        how.push("messages were sent or arrived".to_owned());
    }
    let prints = prints(before, after);
    if prints == Some(Prints::Changed) {
        how.push("the program's own variables changed".to_owned());
    }
    if moving || prints == Some(Prints::Messages) {
        how.push("messages passed through the memory or the connections that it shares with others".to_owned());
    }
    let polls = |process: &Process| {
        process.calls.iter().any(|call| wait_kind(&call.c_name()) == WaitKind::Poll)
            || process.calls.is_empty() && !process.outside.is_empty()
    };
    let in_poll = [before, after]
        .iter()
        .any(|process| process.calls.iter().any(|call| wait_kind(&call.c_name()) == WaitKind::Poll));
    if in_poll && polls(before) && polls(after) && !queues && !traffic && same_caller(before, after) {
        how.push("it goes in and out of MPI, and nothing of its messages changed".to_owned());
        return (Motion::Spinning, Seen::Once, how);
    }
    let moving = moving || prints.is_some_and(|prints| prints != Prints::Same);
    if asked && moving && !calls && !queues && !traffic && prints.is_some() {
        how.push("one-sided calls of other ranks may do that while it waits".to_owned());
        return (Motion::Unknown, Seen::Once, how);
    }
    if calls || moving {
        return (Motion::Moved, Seen::Moved, how);
    }
    if queues || traffic {
        return (Motion::Slow, Seen::Moved, how);
    }
    if before.calls.is_empty() && before.outside.is_empty() {
        return (Motion::Unknown, Seen::Once, vec!["not known where its threads are".to_owned()]);
    }
    let counts = |process: &Process| process.communicators.iter().all(|communicator| communicator.traffic_complete);
    match prints {
        Some(_) if unseen && !counts(after) => {
            let why = "its calls and queues are the same, but its messages may go over a network that cannot be read";
            (Motion::Unknown, Seen::Once, vec![why.to_owned()])
        }
        Some(_) => (Motion::Stuck, Seen::Still, how),
        None => {
            let why = "its calls and queues are the same, but the program may have gone round a loop in between";
            (Motion::Unknown, Seen::Once, vec![why.to_owned()])
        }
    }
}

fn round(before: &Process, after: &Process, state: Motion, watched: &Watched) -> Round {
    let prints = prints(before, after);
    let exchanges = watched.moving.has(after) || prints == Some(Prints::Messages) || !same_traffic(before, after);
    if !exchanges || !matches!(state, Motion::Moved | Motion::Slow) || before.stage != after.stage {
        return Round::No;
    }
    match (places(before) == places(after), prints) {
        (true, Some(Prints::Same | Prints::Messages)) => Round::Same,
        (false, _) if !after.calls.is_empty() && same_caller(before, after) => Round::Elsewhere,
        _ => Round::No,
    }
}

type Spot<'a> = (i64, &'a str, Option<&'a str>, Option<i64>);

fn spot(call: &Call) -> Spot<'_> {
    (call.thread, &call.function, call.file.as_deref(), call.line)
}

fn outside_spot(thread: &Outside) -> Spot<'_> {
    // The innermost function of a thread that works changes with each instruction: its line is compared.
    (thread.thread, thread.caller.as_deref().unwrap_or_default(), thread.file.as_deref(), thread.line)
}

fn places(process: &Process) -> Vec<Spot<'_>> {
    let mut all: Vec<Spot<'_>> = process.calls.iter().map(spot).collect();
    all.extend(process.outside.iter().map(outside_spot));
    all.sort_unstable();
    all
}

fn where_it_is(process: &Process) -> String {
    match (process.calls.first(), process.outside.first()) {
        (Some(call), _) => {
            let line = call.line.map_or_else(String::new, |line| format!(" (line {line})"));
            format!("{}{line}", call.c_name())
        }
        (None, Some(thread)) => {
            let name = thread.caller.as_deref().or(thread.function.as_deref()).unwrap_or("a function without a name");
            let line = thread.line.map_or_else(String::new, |line| format!(" (line {line})"));
            format!("{name}{line}")
        }
        (None, None) => "a place that is not known".to_owned(),
    }
}

fn same_caller(before: &Process, after: &Process) -> bool {
    fn callers(process: &Process) -> Vec<(i64, Option<&str>)> {
        let inside = process.calls.iter().map(|call| (call.thread, call.caller.as_deref()));
        let outside = process.outside.iter().map(|thread| (thread.thread, thread.caller.as_deref()));
        let mut all: Vec<_> = inside.chain(outside).collect();
        all.sort_unstable();
        all
    }
    callers(before) == callers(after)
}

/// What the fingerprints of two looks say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prints {
    /// Nothing changed.
    Same,
    /// The memory through which messages come changed.
    Messages,
    /// The program's own registers, stack or variables changed.
    Changed,
}

/// Of all threads in MPI; `None` where a fingerprint is missing.
fn prints(before: &Process, after: &Process) -> Option<Prints> {
    fn inside(process: &Process) -> Option<Vec<(i64, &str)>> {
        let calls = process.calls.iter().map(|call| Some((call.thread, call.fingerprint.as_deref()?)));
        let mut all = calls.collect::<Option<Vec<_>>>()?;
        if all.is_empty() {
            let first = process.outside.iter().take(1);
            let threads = first.map(|thread| Some((thread.thread, thread.fingerprint.as_deref()?)));
            all = threads.collect::<Option<Vec<_>>>()?;
        }
        all.sort_unstable();
        Some(all)
    }
    let (before, after) = (inside(before)?, inside(after)?);
    let own = |(thread, print): &(i64, &str)| (*thread, print.split('.').next().map(str::to_owned));
    match (&before, &after) {
        _ if before.is_empty() => None,
        (before, after) if before == after => Some(Prints::Same),
        (before, after) if before.iter().map(own).eq(after.iter().map(own)) => Some(Prints::Messages),
        _ => Some(Prints::Changed),
    }
}

fn same_queues(before: &Process, after: &Process) -> bool {
    fn facts(operation: &Operation) -> impl PartialEq + '_ {
        (
            (operation.status, operation.request, operation.internal),
            (operation.desired_local_rank, operation.desired_tag, operation.desired_length, operation.any_source),
            (operation.actual_local_rank, operation.actual_tag, operation.actual_length),
        )
    }
    fn queues(communicator: &Communicator) -> [&Vec<Operation>; 3] {
        let Communicator { pending_sends, pending_receives, unexpected_messages, .. } = communicator;
        [&pending_sends.operations, &pending_receives.operations, &unexpected_messages.operations]
    }
    // What was the same at both looks mostly is the same memory.
    before.communicators.place() == after.communicators.place()
        || before.communicators.len() == after.communicators.len()
            && before.communicators.iter().zip(&after.communicators).all(|(before, after)| {
                before.unique_id == after.unique_id
                    && queues(before).iter().zip(queues(after)).all(|(before, after)| {
                        before.len() == after.len()
                            && before.iter().zip(after).all(|(one, other)| facts(one) == facts(other))
                    })
            })
}

fn same_traffic(before: &Process, after: &Process) -> bool {
    // What was the same at both looks mostly is the same memory.
    before.communicators.place() == after.communicators.place()
        || before.communicators.len() == after.communicators.len()
            && before
                .communicators
                .iter()
                .zip(&after.communicators)
                .all(|(before, after)| before.traffic == after.traffic)
}
