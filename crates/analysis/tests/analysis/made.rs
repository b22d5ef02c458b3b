//! Snapshots built by hand.

use std::sync::Arc;

use analysis::diagnose::{Earlier, Watched, diagnose};
use analysis::worked::Kept;
use model::{
    Call, Communicator, Finding, FindingKind, Operation, OperationStatus, Outside, Process, Snapshot, Stage, Traffic,
    Verdict,
};

/// A job of `size` ranks that stand nowhere yet, with MPI_COMM_WORLD.
pub fn job(size: i64) -> Snapshot {
    let world = |rank| Communicator {
        name: "MPI_COMM_WORLD".into(),
        name_set: Some(true),
        context_id: Some("0".into()),
        local_rank: Some(rank),
        size: Some(size),
        group: Some((0..size).map(Some).collect()),
        ..Communicator::default()
    };
    let process = |rank| Process {
        rank: Some(rank),
        world_size: Some(size),
        pid: Some(1000 + rank),
        stage: Some(Stage::Initialized),
        all_threads: Some(true),
        communicators: vec![world(rank)].into(),
        ..Process::default()
    };
    Snapshot { processes: (0..size).map(|rank| process(rank).into()).collect(), ..Snapshot::default() }
}

/// Lets a rank stand in an MPI function.
pub fn call(snapshot: &mut Snapshot, rank: usize, function: &str, line: i64) {
    snapshot.processes[rank].calls.push(Call {
        thread: 1,
        function: function.into(),
        file: Some("a.c".into()),
        line: Some(line),
        caller: Some("main".into()),
        fingerprint: Some("f".to_owned()),
        ..Call::default()
    });
}

/// Lets a rank stand outside MPI.
pub fn outside(snapshot: &mut Snapshot, rank: usize, function: &str) {
    snapshot.processes[rank].outside.push(Outside {
        thread: 1,
        function: Some(function.to_owned()),
        caller: Some("work".to_owned()),
        file: Some("a.c".to_owned()),
        line: Some(99),
        fingerprint: Some("g".to_owned()),
        ..Outside::default()
    });
}

/// A message in shared memory that a rank has not taken out, in MPI_COMM_WORLD.
pub fn in_transit(snapshot: &mut Snapshot, to: usize, from: i64, tag: i64) {
    snapshot.processes[to].communicators[0].unexpected_messages.operations.push(Operation {
        status: OperationStatus::InTransit,
        desired_local_rank: Some(from),
        desired_global_rank: Some(from),
        desired_tag: Some(tag),
        desired_length: Some(8),
        ..Operation::default()
    });
}

/// A pending receive of a rank, in MPI_COMM_WORLD.
pub fn receive(snapshot: &mut Snapshot, rank: usize, from: Option<i64>, tag: i64) -> &mut Operation {
    let request = 0x1000_u64.wrapping_add_signed(tag);
    let operations = &mut snapshot.processes[rank].communicators[0].pending_receives.operations;
    operations.push(Operation {
        desired_local_rank: from,
        desired_global_rank: from,
        any_source: from.is_none(),
        desired_tag: Some(tag),
        request: Some(request),
        ..Operation::default()
    });
    operations.last_mut().unwrap()
}

/// A pending send of a rank, in MPI_COMM_WORLD, and its message where it has arrived.
pub fn send(snapshot: &mut Snapshot, rank: usize, to: i64, tag: i64, arrived: bool) {
    let message = Operation { desired_tag: Some(tag), actual_tag: Some(tag), ..Operation::default() };
    let peer = |rank| Operation {
        desired_local_rank: Some(rank),
        desired_global_rank: Some(rank),
        actual_local_rank: Some(rank),
        actual_global_rank: Some(rank),
        ..message.clone()
    };
    snapshot.processes[rank].communicators[0].pending_sends.operations.push(peer(to));
    if arrived {
        snapshot.processes[to as usize].communicators[0].unexpected_messages.operations.push(peer(rank as i64));
    }
}

/// Lets everybody have sent nothing to anybody.
pub fn counted(snapshot: &mut Snapshot) {
    let size = snapshot.processes.len() as i64;
    for process in &mut snapshot.processes {
        let entry =
            |local_rank| Traffic { local_rank, sent: Some(0), arrived: Some(0), modulus: 65536, ..Traffic::default() };
        process.communicators[0].traffic = (0..size).map(entry).collect();
        process.communicators[0].traffic_complete = true;
    }
}

/// The findings of one kind.
pub fn of_kind(findings: &[Finding], kind: FindingKind) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.kind == kind).collect()
}

/// The diagnosis of two looks between which nothing moved: the same whether the first one's work is kept or not.
pub fn twice(snapshot: &Snapshot) -> (Vec<Finding>, Verdict) {
    let earlier = Earlier { snapshot, interval_ms: Some(500), watched: &Watched::default() };
    let found = diagnose(snapshot, Some(earlier));
    let kept = Kept::new(&Arc::new(snapshot.clone()));
    assert_eq!(kept.diagnose_again(snapshot, snapshot, earlier).as_ref(), Some(&found));
    found
}
