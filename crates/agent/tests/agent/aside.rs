//! Jobs that are a recorded one but for something that changes nothing of what is wrong: with a rank more that stands aside, with
//! other names, in another order. What is told first must be the same, of the same ranks.

use analysis::diagnose::diagnose;
use model::{Finding, Outside, Process, Snapshot, Stage, Traffic};

const WORLD: &str = "MPI_COMM_WORLD";

/// What is told first: its kind, its ranks, and whether it is certain.
type First = Option<(String, Vec<i64>, bool)>;

fn first(snapshot: &Snapshot) -> (First, String) {
    let (findings, verdict) = diagnose(snapshot, None);
    let told = |finding: &Finding| {
        let mut ranks = finding.ranks.clone();
        ranks.sort_unstable();
        // Who has no data for a rank need not wait for it: beside one that stands aside ranks may be in several such calls.
        let of_each_pair = finding.calls.iter().any(|one| one.call.c_name() == "MPI_Allgatherv");
        (format!("{:?}", finding.kind), ranks, finding.certain && !of_each_pair)
    };
    (verdict.finding.and_then(|place| findings.get(place)).map(told), verdict.headline)
}

/// What differs in a job that is told as the agent has told it; one sentence each.
pub fn differences(name: &str, told: &serde_json::Value) -> Vec<String> {
    let snapshot: Snapshot = serde_json::from_value(told.clone()).unwrap();
    let (expected, headline) = first(&snapshot);
    // Where ranks only wait for others that are at work, one more of these is as much a cause.
    let is_wrong = matches!(told["verdict"]["state"].as_str(), Some("deadlock" | "suspect"));
    let changed = [
        ("a rank that computes", with_one_aside(&snapshot, Aside::Computes)),
        ("a rank that sleeps", with_one_aside(&snapshot, Aside::Sleeps)),
        ("a rank that is stopped", with_one_aside(&snapshot, Aside::Stopped)),
        ("other names", Some(renamed(&snapshot))),
        ("another order", Some(reversed(&snapshot))),
    ];
    let others = changed.map(|(what, other)| (what, other, expected.clone()));
    let mirrored = mirror(&snapshot);
    let as_mirrored = expected.map(|(kind, ranks, certain)| {
        let mut ranks: Vec<_> = ranks.into_iter().map(|rank| last_rank(&snapshot) - rank).collect();
        ranks.sort_unstable();
        (kind, ranks, certain)
    });
    let mut all = Vec::new();
    for (what, other, expected) in others.into_iter().chain([("other ranks", mirrored, as_mirrored)]) {
        let Some(other) = other.filter(|_| is_wrong) else { continue };
        let (found, said) = first(&other);
        if found != expected {
            all.push(format!("{name}, {what}: {said} Without: {headline}"));
        }
    }
    all
}

#[derive(Clone, Copy, PartialEq)]
enum Aside {
    Computes,
    Sleeps,
    Stopped,
}

/// Whether the application waits for a message of any rank, or of one that MPICH does not keep (of a partitioned one): one rank
/// more may send it.
fn takes_any(snapshot: &Snapshot) -> bool {
    let posted = |one: &model::Communicator| {
        let mut operations = one.pending_receives.operations.iter();
        operations.any(|one| one.any_source && !one.internal)
    };
    let partitioned =
        |call: &model::Call| call.requests.iter().any(|one| one.sort == Some(model::RequestSort::Partitioned));
    let given = |call: &model::Call| {
        call.argument("source").is_some_and(|one| one.meaning.as_deref() == Some("MPI_ANY_SOURCE"))
    };
    snapshot.processes.iter().any(|process| {
        process.communicators.iter().any(posted) || process.calls.iter().any(|call| given(call) || partitioned(call))
    })
}

/// The job with one rank more in MPI_COMM_WORLD. `None` where there are several worlds, a rank was not read, or one more would
/// change something.
fn with_one_aside(snapshot: &Snapshot, aside: Aside) -> Option<Snapshot> {
    let size = i64::try_from(snapshot.processes.len()).unwrap();
    let is_whole = snapshot.processes.iter().all(|process| process.world_size == Some(size));
    if !snapshot.worlds.is_empty() || !is_whole || size == 0 || takes_any(snapshot) {
        return None;
    }
    let mut changed = snapshot.clone();
    let mut world = None;
    for process in &mut changed.processes {
        process.world_size = Some(size + 1);
        let Some(place) = process.communicators.iter().position(|one| &*one.name == WORLD) else { continue };
        let own = &mut process.communicators[place];
        own.size = Some(size + 1);
        own.group = Some(own.group.as_ref()?.iter().copied().chain([Some(size)]).collect());
        world = Some(own.clone());
        if own.traffic_complete {
            let modulus = own.traffic.first().map_or(65_536, |one| one.modulus);
            let none = Traffic { local_rank: size, sent: Some(0), arrived: Some(0), modulus, ..Traffic::default() };
            own.traffic.push(none);
        }
        let world_id = own.unique_id;
        for call in process.calls.iter_mut().filter(|call| call.communicator == Some(world_id)) {
            for argument in call.arguments.iter_mut().filter(|one| one.name.ends_with("counts")) {
                let values = argument.values.iter_mut().filter(|values| i64::try_from(values.len()) == Ok(size));
                values.for_each(|values| values.extend(values.last().copied()));
            }
        }
    }
    let mut world = world?;
    world.local_rank = Some(size);
    world.queues_mut().into_iter().for_each(|queue| queue.operations.clear());
    world.next_sequence = None;
    let traffic = |local_rank| Traffic { local_rank, sent: Some(0), arrived: Some(0), ..Traffic::default() };
    if world.traffic_complete {
        world.traffic = (0..=size).map(traffic).collect();
    }
    let like = &snapshot.processes[0];
    let outside = Outside {
        thread: 1,
        main: Some(true),
        application: Some(true),
        complete: Some(true),
        function: Some("stand".to_owned()),
        caller: Some("stand".to_owned()),
        file: Some("aside.c".to_owned()),
        line: Some(1),
        system_call: (aside == Aside::Sleeps).then(|| model::SystemCall {
            name: Some("clock_nanosleep".to_owned()),
            waits: true,
            ..model::SystemCall::default()
        }),
        ..Outside::default()
    };
    let process = Process {
        rank: Some(size),
        world_size: Some(size + 1),
        pid: Some(1),
        mpi: like.mpi.clone(),
        source: like.source.clone(),
        stage: Some(Stage::Initialized),
        state: (aside == Aside::Stopped).then(|| "stopped".into()),
        outside: vec![outside].into(),
        all_threads: Some(true),
        communicators: vec![world].into(),
        ..Process::default()
    };
    changed.processes.push(process.into());
    Some(changed)
}

/// With another file of every line, and other names of the communicators that the program has named.
fn renamed(snapshot: &Snapshot) -> Snapshot {
    let mut changed = snapshot.clone();
    for process in &mut changed.processes {
        for one in
            process.communicators.iter_mut().filter(|one| one.name_set == Some(true) && !one.name.starts_with("MPI_"))
        {
            one.name = format!("x {}", one.name).into();
        }
        for call in process.calls.iter_mut() {
            call.file = call.file.as_ref().map(|_| "/other/place.c".into());
        }
    }
    changed
}

/// With the processes in another order; each keeps its rank.
fn reversed(snapshot: &Snapshot) -> Snapshot {
    let mut changed = snapshot.clone();
    changed.processes.reverse();
    changed
}

fn last_rank(snapshot: &Snapshot) -> i64 {
    i64::try_from(snapshot.processes.len()).unwrap() - 1
}

/// With the last process as rank 0, and so on: the same communicators, in which each process keeps its place. `None` where there are
/// several worlds, or a rank was not read.
fn mirror(snapshot: &Snapshot) -> Option<Snapshot> {
    let last = last_rank(snapshot);
    let is_whole =
        snapshot.processes.iter().all(|process| process.world_size == Some(last + 1) && process.rank.is_some());
    if !snapshot.worlds.is_empty() || !is_whole {
        return None;
    }
    let other = |rank: Option<i64>| rank.map(|rank| if (0..=last).contains(&rank) { last - rank } else { rank });
    let others = |ranks: &[Option<i64>]| ranks.iter().map(|&rank| other(rank)).collect::<Vec<_>>();
    let mut changed = snapshot.clone();
    for process in &mut changed.processes {
        process.rank = other(process.rank);
        if let Some(history) = &mut process.history {
            history.world_rank = other(history.world_rank);
        }
        for one in process.communicators.iter_mut() {
            for group in [&mut one.group, &mut one.remote_group].into_iter().flatten() {
                *group = others(group).into();
            }
            let queues = one.queues_mut().into_iter().flat_map(|queue| queue.operations.iter_mut());
            for operation in queues {
                operation.desired_global_rank = other(operation.desired_global_rank);
                operation.actual_global_rank = other(operation.actual_global_rank);
            }
            for operation in one.inactive.iter_mut() {
                operation.desired_global_rank = other(operation.desired_global_rank);
            }
        }
        for call in process.calls.iter_mut() {
            call.group = call.group.as_deref().map(others);
        }
        for window in process.windows.iter_mut() {
            for ranks in [&mut window.group, &mut window.started, &mut window.posted].into_iter().flatten() {
                *ranks = others(ranks);
            }
        }
    }
    changed.processes.reverse();
    Some(changed)
}
