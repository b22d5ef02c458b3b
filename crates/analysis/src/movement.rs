//! How ranks moved between two looks at the same job.

use hashbrown::HashMap;

use super::diagnose::{Earlier, Watched};
use super::parallel;
use super::stuck::Seen;
use functions::{WaitKind, wait_kind};
use model::{Call, Communicator, Motion, Operation, Outside, Process, RankMovement, Snapshot};

/// How each process of the later look moved, and what that tells of it; in the order of the later snapshot.
pub fn compare(earlier: Earlier<'_>, later: &Snapshot) -> Vec<(RankMovement, Seen)> {
    let mut before: HashMap<Who<'_>, &Process> = HashMap::new();
    for process in &earlier.snapshot.processes {
        before.entry(who(earlier.snapshot, process)).or_insert(process);
    }
    let asked = later.processes.iter().any(|process| asks_again(process));
    parallel::map(later.processes.len(), |index| {
        let process = &later.processes[index];
        let rank = later.rank_of(process);
        let (state, seen, how) = match before.get(&who(later, process)) {
            Some(before) => of(before, process, earlier.watched, asked),
            None => (Motion::Unknown, Seen::Once, vec!["it was not looked at twice".to_owned()]),
        };
        (RankMovement { rank, state, how }, seen)
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
fn of(before: &Process, after: &Process, watched: &Watched, asked: bool) -> (Motion, Seen, Vec<String>) {
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
        how.push(format!("it stood in {}, and stands in {}", where_it_is(before), where_it_is(after)));
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
    if prints == Some(false) {
        how.push("the program's own variables changed".to_owned());
    }
    if moving {
        how.push("messages went through the memory or the connections that it shares with others".to_owned());
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
    if asked && (moving || prints == Some(false)) && !calls && !queues && !traffic && prints.is_some() {
        how.push("one-sided calls of others may do that while it waits".to_owned());
        return (Motion::Unknown, Seen::Once, how);
    }
    if calls || moving || prints == Some(false) {
        return (Motion::Moved, Seen::Moved, how);
    }
    if queues || traffic {
        return (Motion::Slow, Seen::Moved, how);
    }
    if before.calls.is_empty() && before.outside.is_empty() {
        return (Motion::Unknown, Seen::Once, vec!["where its threads stand is not known".to_owned()]);
    }
    let counts = |process: &Process| process.communicators.iter().all(|found| found.traffic_complete);
    match prints {
        Some(_) if unseen && !counts(after) => {
            let why = "its calls and queues are the same, but its messages may go over a network that nobody sees";
            (Motion::Unknown, Seen::Once, vec![why.to_owned()])
        }
        Some(_) => (Motion::Stuck, Seen::Still, how),
        None => {
            let why = "its calls and queues are the same, but whether the program went round a loop in between could not be seen";
            (Motion::Unknown, Seen::Once, vec![why.to_owned()])
        }
    }
}

type Spot<'a> = (i64, &'a str, Option<&'a str>, Option<i64>);

fn spot(call: &Call) -> Spot<'_> {
    (call.thread, &call.function, call.file.as_deref(), call.line)
}

fn outside_spot(thread: &Outside) -> Spot<'_> {
    // The innermost function of a thread that works changes with each instruction; its line tells.
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

/// Whether the fingerprints of all threads in MPI are equal; `None` where one is missing.
fn prints(before: &Process, after: &Process) -> Option<bool> {
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
    if before.is_empty() { None } else { Some(before == after) }
}

fn same_queues(before: &Process, after: &Process) -> bool {
    fn told(operation: &Operation) -> impl PartialEq + '_ {
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
                            && before.iter().zip(after).all(|(one, other)| told(one) == told(other))
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
