//! Snapshots written by hand.

use std::fmt::Write as _;

use analysis::findings::messages::{Context, Fate, find};
use analysis::job::{Job, ProcIndex};
use analysis::matching::{Matching, OperationPlace};
use model::{Call, Communicator, Finding, Operation, OperationStatus, Process, QueueKind, Snapshot};

/// A snapshot of so many ranks, each of which has MPI_COMM_WORLD.
pub fn world(size: i64) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for rank in 0..size {
        let world = communicator("MPI_COMM_WORLD", "0", rank, &(0..size).collect::<Vec<_>>());
        let communicators = vec![world];
        let process = Process { rank: Some(rank), communicators: communicators.into(), ..Process::default() };
        snapshot.processes.push(process.into());
    }
    snapshot
}

/// What a member has of an intracommunicator.
pub fn communicator(name: &str, context: &str, rank: i64, members: &[i64]) -> Communicator {
    Communicator {
        name: name.into(),
        name_set: Some(true),
        context_id: (!context.is_empty()).then(|| context.to_owned()).map(Into::into),
        local_rank: members.iter().position(|member| *member == rank).map(|at| at as i64),
        size: Some(members.len() as i64),
        group: Some(members.iter().map(|member| Some(*member)).collect()),
        ..Communicator::default()
    }
}

/// Gives members a further communicator.
pub fn add(snapshot: &mut Snapshot, name: &str, context: &str, members: &[i64]) {
    for rank in members {
        let process = &mut snapshot.processes[*rank as usize];
        process.communicators.push(communicator(name, context, *rank, members));
    }
}

/// A pending operation with a peer (`None`: any source) and a tag (`None`: any tag).
pub fn operation(peer: Option<i64>, tag: Option<i64>) -> Operation {
    Operation {
        desired_local_rank: peer,
        desired_global_rank: peer,
        any_source: peer.is_none(),
        tag_wild: tag.is_none(),
        desired_tag: tag,
        ..Operation::default()
    }
}

pub fn of_length(length: u64, operation: Operation) -> Operation {
    Operation { desired_length: Some(length), ..operation }
}

pub fn with_text(text: &'static str, operation: Operation) -> Operation {
    Operation { extra_text: vec![text.into()], ..operation }
}

pub fn with_status(status: OperationStatus, operation: Operation) -> Operation {
    Operation { status, ..operation }
}

/// Puts an operation at the end of a queue of a rank's communicator.
pub fn post(
    snapshot: &mut Snapshot,
    rank: usize,
    communicator: usize,
    queue: QueueKind,
    operation: Operation,
) -> OperationPlace {
    let found = &mut snapshot.processes[rank].communicators[communicator];
    let list = &mut queue.of_mut(found).operations;
    list.push(operation);
    OperationPlace { proc: ProcIndex(rank), communicator, queue, index: list.len() - 1 }
}

/// Where a rank stands.
pub fn stands(snapshot: &mut Snapshot, rank: usize, function: &str, line: i64) {
    snapshot.processes[rank].calls.push(Call {
        thread: 1,
        function: function.into(),
        file: Some("a.c".into()),
        line: Some(line),
        ..Call::default()
    });
}

/// The findings about messages.
pub fn findings(snapshot: &Snapshot, fates: &[Fate], waited: &[OperationPlace]) -> Vec<Finding> {
    let job = Job::new(snapshot);
    let matching = Matching::new(&job);
    let waited = waited.iter().copied().collect();
    find(&Context { job: &job, matching: &matching, fates, waited: &waited })
}

/// Kinds, ranks, certainty and summaries, a line each.
pub fn told(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let sure = if finding.certain { "certain" } else { "possible" };
        writeln!(out, "{:?} {:?} {sure}: {}", finding.kind, finding.ranks, finding.summary).unwrap();
    }
    out
}
