//! What flight recorders tell together of processes whose queues nobody can read.

use analysis::recorded::complete;
use model::{
    Communicator, HandleWord, History, MessageCount, Operation, OperationStatus, Process, Queue, QueueState,
    RecordedCommunicator, Remark, Snapshot, Source, SourceKind,
};

const WORLD: HandleWord = HandleWord(0x4400_0000);

/// A process with MPI_COMM_WORLD: its messages as (peer, tag, sent, received), its receives and its sends by peer and tag.
fn process(
    rank: i64,
    size: i64,
    messages: &[(i64, i64, u64, u64)],
    receives: &[(i64, i64)],
    sends: &[(i64, i64)],
) -> Process {
    let operation = |(peer, tag): &(i64, i64)| Operation {
        desired_local_rank: (*peer >= 0).then_some(*peer),
        any_source: *peer < 0,
        desired_tag: Some(*tag),
        ..Operation::default()
    };
    let queue = |all: &[(i64, i64)]| Queue { operations: all.iter().map(operation).collect(), ..Queue::default() };
    let count = |(peer, tag, sent, received): &(i64, i64, u64, u64)| MessageCount {
        peer: *peer,
        tag: *tag,
        sent: *sent,
        received: *received,
    };
    let known = RecordedCommunicator {
        handle: WORLD,
        identity: Some(HandleWord(1)),
        local_rank: Some(rank),
        size: Some(size),
        messages: Some(messages.iter().map(count).collect::<Vec<_>>().into()),
        ..RecordedCommunicator::default()
    };
    let communicator = Communicator {
        name: "MPI_COMM_WORLD".into(),
        handle: Some(WORLD),
        unique_id: WORLD.0,
        local_rank: Some(rank),
        size: Some(size),
        pending_receives: queue(receives).into(),
        pending_sends: queue(sends).into(),
        ..Communicator::default()
    };
    Process {
        rank: Some(rank),
        source: Some(Source { kind: SourceKind::Recorder, ..Source::default() }.into()),
        history: Some(History { communicators: vec![known], ..History::default() }.into()),
        communicators: vec![communicator].into(),
        ..Process::default()
    }
}

fn completed(processes: Vec<Process>) -> Snapshot {
    let processes = processes.into_iter().map(Into::into).collect();
    let mut snapshot = Snapshot { processes, ..Snapshot::default() };
    complete(&mut snapshot);
    // More processes may come: it is worked out anew.
    let once = snapshot.clone();
    complete(&mut snapshot);
    assert_eq!(snapshot, once);
    snapshot
}

fn world(snapshot: &Snapshot, process: usize) -> &Communicator {
    &snapshot.processes[process].communicators[0]
}

fn states(queue: &Queue) -> Vec<OperationStatus> {
    queue.operations.iter().map(|one| one.status).collect()
}

#[test]
fn the_latest_receives_wait_for_what_was_not_sent() {
    // Three were sent, five receives have begun, of which the first two are complete.
    let found = completed(vec![
        process(0, 2, &[(1, 7, 3, 0)], &[], &[]),
        process(1, 2, &[(0, 7, 0, 5)], &[(0, 7), (0, 7), (0, 7)], &[]),
    ]);
    use OperationStatus::{Matched, Pending};
    assert_eq!(states(&world(&found, 1).pending_receives), [Matched, Pending, Pending]);
    assert!(world(&found, 1).unexpected_messages.is_whole());
    assert_eq!(world(&found, 1).unexpected_messages.operations, []);
    assert_eq!(world(&found, 1).group.as_deref(), Some(&[Some(0), Some(1)][..]));
    assert!(world(&found, 1).traffic_complete);
}

#[test]
fn messages_that_nobody_has_received_are_listed_and_those_whose_send_is_over_say_so() {
    // Four sends have begun, of which the last is not over; one was received.
    let found = completed(vec![
        process(0, 2, &[(1, 7, 4, 0)], &[], &[(1, 7)]),
        process(1, 2, &[(0, 7, 0, 1)], &[(-1, 9)], &[]),
    ]);
    assert_eq!(states(&world(&found, 0).pending_sends), [OperationStatus::Pending]);
    let arrived = &world(&found, 1).unexpected_messages;
    let told: Vec<_> = arrived
        .operations
        .iter()
        .map(|one| (one.desired_local_rank, one.desired_global_rank, one.desired_tag, one.has(&Remark::Eager)))
        .collect();
    let message = |eager| (Some(0), Some(0), Some(7), eager);
    assert_eq!(told, [message(true), message(true), message(false)]);
    // From any source: which messages it takes is for matching to say.
    assert_eq!(states(&world(&found, 1).pending_receives), [OperationStatus::Pending]);
}

#[test]
fn a_send_whose_message_is_received_only_moves_yet() {
    let found =
        completed(vec![process(0, 2, &[(1, 7, 1, 0)], &[], &[(1, 7)]), process(1, 2, &[(0, 7, 0, 1)], &[(0, 7)], &[])]);
    assert_eq!(states(&world(&found, 0).pending_sends), [OperationStatus::Matched]);
    assert_eq!(states(&world(&found, 1).pending_receives), [OperationStatus::Matched]);
}

#[test]
fn of_members_that_were_not_read_nothing_is_said() {
    let found = completed(vec![process(1, 3, &[(0, 7, 0, 5), (2, 8, 0, 1)], &[(0, 7), (2, 8)], &[])]);
    assert_eq!(states(&world(&found, 0).pending_receives), [OperationStatus::Pending; 2]);
    assert_eq!(world(&found, 0).unexpected_messages.state, QueueState::Error);
    assert_eq!(world(&found, 0).group.as_deref(), Some(&[None, Some(1), None][..]));
    assert!(!world(&found, 0).traffic_complete);
}

#[test]
fn where_something_was_cancelled_nothing_is_said() {
    let mut receiver = process(1, 2, &[(0, 7, 0, 5)], &[(0, 7)], &[]);
    let mut history = (**receiver.history.as_ref().unwrap()).clone();
    history.communicators[0].untold = 1;
    receiver.history = Some(history.into());
    let found = completed(vec![process(0, 2, &[(1, 7, 6, 0)], &[], &[]), receiver]);
    assert_eq!(states(&world(&found, 1).pending_receives), [OperationStatus::Pending]);
    assert!(!world(&found, 1).pending_receives.is_whole() && !world(&found, 1).unexpected_messages.is_whole());
    assert_eq!(world(&found, 1).unexpected_messages.operations, []);
}

#[test]
fn numbers_of_damaged_memory_list_only_some() {
    let found = completed(vec![
        process(0, 2, &[(1, 7, u64::MAX, 0), (77, 7, 3, 3)], &[], &[]),
        process(1, 2, &[(0, 7, 0, 1)], &[], &[]),
    ]);
    let arrived = &world(&found, 1).unexpected_messages;
    assert!(arrived.operations.len() < 1000 && arrived.dropped > 1 << 60 && !arrived.is_whole());
}
