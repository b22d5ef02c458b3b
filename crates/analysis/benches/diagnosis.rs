//! Time and memory of a diagnosis of a large job that never ran.
//!
//! `cargo bench --bench diagnosis -- SCENE RANKS OPERATIONS` makes the snapshot of a job of that many ranks with that many
//! operations each, diagnoses it, and prints a line of JSON. Scenes: `ring`, `any`, `barrier`, `mixed`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Instant;

use analysis::diagnose::diagnose;
use model::{Argument, Call, Communicator, Group, Mpi, Operation, Outside, Process, Queue, Snapshot, Stage, Traffic};

/// Ranks in a communicator of neighbours.
const ROW: i64 = 64;

/// Peak memory of this process so far, in MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc is read");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line VmHWM");
    line.trim().trim_end_matches(" kB").trim().parse::<f64>().expect("a number") / 1024.0
}

fn operation(peer: Option<i64>, global: Option<i64>, tag: i64, call: &'static str) -> Operation {
    Operation {
        desired_local_rank: peer,
        desired_global_rank: global,
        any_source: peer.is_none(),
        desired_tag: Some(tag),
        desired_length: Some(4096),
        call: Some(call.into()),
        count: Some(512),
        ..Operation::default()
    }
}

/// What one rank has: the world, and a row of its neighbours; every fourth operation is a receive, a receive from anybody in
/// the row, a message with a tag that nobody asks for, and a send that nobody receives.
fn communicators(rank: i64, ranks: i64, operations: i64, world: &Group, row: &Group) -> Vec<Communicator> {
    let first = rank - rank % ROW;
    let (mut receives, mut any, mut messages, mut sends) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for index in 0..operations {
        let (next, previous) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        match index % 4 {
            0 => receives.push(operation(
                Some(next),
                Some(next),
                index,
                if index == 0 { "MPI_Recv" } else { "MPI_Irecv" },
            )),
            1 => any.push(operation(None, None, index, if index == 1 { "MPI_Recv" } else { "MPI_Irecv" })),
            2 => {
                let mut message = operation(Some(previous), Some(previous), 100_000 + index, "");
                message.call = None;
                message.extra_text = vec!["eager".into()];
                message.actual_local_rank = message.desired_local_rank;
                message.actual_global_rank = message.desired_global_rank;
                messages.push(message);
            }
            _ => sends.push(operation(Some(next), Some(next), 200_000 + index, "MPI_Isend")),
        }
    }
    let count = |peer: i64| Traffic {
        local_rank: peer,
        sent: Some(0),
        arrived: Some(0),
        modulus: 65_536,
        ..Traffic::default()
    };
    let queue = |operations: Vec<Operation>| Queue { operations, ..Queue::default() };
    let shared = |name: &str, unique_id: u64, local_rank: i64, group: &Group| Communicator {
        name: name.into(),
        name_set: Some(true),
        unique_id,
        context_id: Some(unique_id.to_string().into()),
        local_rank: Some(local_rank),
        size: i64::try_from(group.len()).ok(),
        group: Some(group.clone()),
        traffic_complete: true,
        ..Communicator::default()
    };
    vec![
        Communicator {
            pending_receives: queue(receives).into(),
            unexpected_messages: queue(messages).into(),
            pending_sends: queue(sends).into(),
            traffic: vec![count((rank + 1) % ranks)].into(),
            ..shared("MPI_COMM_WORLD", 0, rank, world)
        },
        Communicator { pending_receives: queue(any).into(), ..shared("row", 3, rank - first, row) },
    ]
}

fn call(scene: &str, rank: i64, ranks: i64) -> Option<Call> {
    let argument = |name: &str, value: i64| Argument { name: name.into(), value: Some(value), ..Argument::default() };
    let (function, communicator, arguments) = match (scene, rank % 4) {
        ("ring", _) | ("mixed", 0) => ("MPI_Recv", 0, vec![argument("source", (rank + 1) % ranks), argument("tag", 0)]),
        ("any", _) | ("mixed", 1) => ("MPI_Recv", 3, vec![argument("source", -1), argument("tag", 1)]),
        ("barrier", 0..2) | ("mixed", 2) => ("MPI_Barrier", 0, Vec::new()),
        ("barrier", _) => ("MPI_Recv", 0, vec![argument("source", (rank + 1) % ranks), argument("tag", 0)]),
        _ => return None,
    };
    let (file, caller) = (Some("halo.c".to_owned()), Some("exchange".to_owned()));
    let function = function.to_owned();
    Some(Call {
        thread: 1,
        function: function.into(),
        file: file.map(Into::into),
        caller: caller.map(Into::into),
        line: Some(7),
        communicator: Some(communicator),
        arguments,
        ..Call::default()
    })
}

fn snapshot(scene: &str, ranks: i64, operations: i64) -> Snapshot {
    let world: Group = (0..ranks).map(Some).collect();
    let rows: Vec<Group> =
        (0..ranks).step_by(64).map(|first| (first..(first + ROW).min(ranks)).map(Some).collect()).collect();
    let process = |rank: i64| {
        let call = call(scene, rank, ranks);
        let work = Outside {
            thread: 1,
            function: Some("work".to_owned()),
            caller: Some("work".to_owned()),
            ..Outside::default()
        };
        let row = rows.get(usize::try_from(rank / ROW).expect("a rank")).expect("its row");
        Process {
            rank: Some(rank),
            world_size: Some(ranks),
            pid: Some(rank + 1000),
            mpi: Some(Mpi { implementation: "Open MPI".to_owned(), ..Mpi::default() }.into()),
            stage: Some(Stage::Initialized),
            outside: if call.is_none() { vec![work].into() } else { Vec::new().into() },
            calls: call.into_iter().collect(),
            all_threads: Some(true),
            communicators: communicators(rank, ranks, operations, &world, row).into(),
            ..Process::default()
        }
    };
    Snapshot { processes: (0..ranks).map(|rank| process(rank).into()).collect(), ..Snapshot::default() }
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [scene, ranks, operations] = given.as_slice() else {
        println!("usage: cargo bench --bench diagnosis -- ring|any|barrier|mixed RANKS OPERATIONS");
        return;
    };
    let (ranks, operations) = (ranks.parse().expect("a number of ranks"), operations.parse().expect("a number"));
    let snapshot = snapshot(scene, ranks, operations);
    let before = peak();
    let started = Instant::now();
    let (findings, verdict) = diagnose(&snapshot, None);
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{}",
        serde_json::json!({
            "scene": scene, "ranks": ranks, "operations": operations, "seconds": seconds, "megabytes": peak(),
            "snapshot_megabytes": before, "findings": findings.len(), "state": verdict.state, "headline": verdict.headline,
        })
    );
}
