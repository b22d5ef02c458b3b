//! Sends that the messages at their receivers name: completed and ordered where all agrees, else left as they are.

use analysis::named::complete;
use model::{Operation, OperationStatus, QueueKind, Remark, Snapshot};
use proptest::prelude::*;

use super::support::{add, of_length, operation, post, with_status, world};

const NOT_KEPT: &str = "not kept";

/// A send of which only the request is known.
fn forgotten(request: u64) -> Operation {
    let mut send = Operation { library_request: Some(request), ..Operation::default() };
    for fact in ["desired_local_rank", "desired_tag", "desired_length"] {
        send.not_known(fact, NOT_KEPT);
    }
    send
}

/// A message that names its sender's request.
fn message(from: i64, tag: i64, length: u64, request: u64) -> Operation {
    let facts = of_length(length, operation(Some(from), Some(tag)));
    Operation {
        actual_local_rank: Some(from),
        actual_global_rank: Some(from),
        actual_tag: Some(tag),
        actual_length: Some(length),
        sender_request: Some(request),
        ..facts
    }
}

fn send(snapshot: &mut Snapshot, rank: usize, operation: Operation) {
    let queue = &mut snapshot.processes[rank].communicators[0].pending_sends;
    queue.operations.push(operation);
    queue.unordered += 1;
}

fn arrive(snapshot: &mut Snapshot, rank: usize, operation: Operation) {
    post(snapshot, rank, 0, QueueKind::UnexpectedMessages, operation);
}

fn sends(snapshot: &Snapshot, rank: usize) -> &[Operation] {
    &snapshot.processes[rank].communicators[0].pending_sends.operations
}

/// Peer, tag and length, as far as they are known.
fn facts(send: &Operation) -> (Option<i64>, Option<i64>, Option<u64>) {
    assert_eq!((send.desired_tag, send.desired_length), (send.actual_tag, send.actual_length));
    assert_eq!(send.desired_global_rank, send.actual_global_rank);
    assert_eq!(send.unknown.contains_key("desired_local_rank"), send.desired_local_rank.is_none());
    assert_eq!(send.unknown.contains_key("desired_tag"), send.desired_tag.is_none());
    (send.desired_global_rank, send.desired_tag, send.desired_length)
}

const NOTHING: (Option<i64>, Option<i64>, Option<u64>) = (None, None, None);

#[test]
fn a_message_tells_of_the_send_that_it_names() {
    let mut job = world(4);
    send(&mut job, 0, forgotten(0x100));
    send(&mut job, 1, forgotten(0x100));
    arrive(&mut job, 3, message(0, 7, 12, 0x100));
    complete(&mut job);
    let told = &sends(&job, 0)[0];
    assert_eq!((facts(told), told.desired_local_rank), ((Some(3), Some(7), Some(12)), Some(3)));
    let evidence = told.evidence.as_deref().unwrap();
    assert_eq!(evidence, "peer, tag, length: from the message at rank 3, which names this request");
    assert!(told.unknown.is_empty());
    // The same number in another process is another request.
    assert_eq!(facts(&sends(&job, 1)[0]), NOTHING);
    let before = job.clone();
    complete(&mut job);
    assert_eq!(job, before);
}

#[test]
fn what_a_matching_probe_has_taken_tells_it_too() {
    let mut job = world(2);
    send(&mut job, 0, forgotten(0x100));
    let held = Operation { extra_text: vec![Remark::MatchedMessage], ..message(0, 7, 12, 0x100) };
    post(&mut job, 1, 0, QueueKind::PendingReceives, held);
    complete(&mut job);
    assert_eq!(facts(&sends(&job, 0)[0]), (Some(1), Some(7), Some(12)));
}

#[test]
fn what_contradicts_or_is_ambiguous_tells_nothing() {
    let told = |change: &dyn Fn(&mut Snapshot)| {
        let mut job = world(3);
        send(&mut job, 0, forgotten(0x100));
        arrive(&mut job, 2, message(0, 7, 12, 0x100));
        change(&mut job);
        complete(&mut job);
        sends(&job, 0)[0].evidence.is_some()
    };
    let own = |job: &mut Snapshot, change: fn(&mut Operation)| {
        change(&mut job.processes[0].communicators[0].pending_sends.operations[0]);
    };
    assert!(told(&|_| {}));
    assert!(told(&|job| own(job, |send| send.desired_tag = Some(7))));
    assert!(!told(&|job| own(job, |send| send.desired_tag = Some(8))));
    assert!(!told(&|job| own(job, |send| send.desired_length = Some(13))));
    assert!(!told(&|job| own(job, |send| send.desired_global_rank = Some(1))));
    assert!(!told(&|job| own(job, |send| send.desired_local_rank = Some(1))));
    assert!(!told(&|job| own(job, |send| send.status = OperationStatus::Complete)));
    assert!(!told(&|job| own(job, |send| send.library_request = Some(0x101))));
    assert!(!told(&|job| own(job, |send| send.extra_text = vec![Remark::WithinLibrarysCommunicator])));
    // Two sends, two messages, two processes of that name.
    assert!(!told(&|job| send(job, 0, forgotten(0x100))));
    assert!(!told(&|job| arrive(job, 1, message(0, 8, 12, 0x100))));
    assert!(!told(&|job| job.processes[1].rank = Some(0)));
    assert!(!told(&|job| job.processes[1].rank = Some(2)));
    // Another communicator: another id, another size, other members, another rank of the sender.
    assert!(!told(&|job| job.processes[0].communicators[0].context_id = Some("1".into())));
    assert!(!told(&|job| job.processes[0].communicators[0].size = Some(4)));
    assert!(!told(&|job| job.processes[0].communicators[0].group = Some([Some(0), Some(1), Some(5)].into())));
    assert!(!told(&|job| job.processes[0].communicators[0].group = Some([Some(0), Some(1)].into())));
    assert!(!told(&|job| job.processes[0].communicators[0].local_rank = Some(1)));
    assert!(!told(&|job| job.processes[0].communicators[0].remote_group = Some([Some(2)].into())));
    assert!(told(&|job| job.processes[0].communicators[0].group = None));
}

#[test]
fn peers_are_ranks_of_the_communicator_and_of_the_remote_group() {
    let mut job = world(4);
    add(&mut job, "reversed", "7", &[3, 1]);
    for (rank, own, context) in [(0_usize, [0, 2], "8/9"), (3, [1, 3], "9/8")] {
        let other = [if rank == 0 { 1 } else { 0 }, if rank == 0 { 3 } else { 2 }];
        add(&mut job, "inter", context, &[rank as i64]);
        let inter = job.processes[rank].communicators.last_mut().unwrap();
        inter.group = Some(own.map(Some).into());
        inter.remote_group = Some(other.map(Some).into());
        inter.local_rank = own.iter().position(|member| *member == rank as i64).map(|at| at as i64);
    }
    job.processes[1].communicators[1].pending_sends.operations.push(forgotten(1));
    let reversed = Operation { actual_global_rank: Some(1), ..message(1, 5, 6, 1) };
    post(&mut job, 3, 1, QueueKind::UnexpectedMessages, reversed);
    job.processes[0].communicators[1].pending_sends.operations.push(forgotten(2));
    let inter = Operation { actual_global_rank: Some(0), ..message(0, 8, 9, 2) };
    post(&mut job, 3, 2, QueueKind::UnexpectedMessages, inter);
    complete(&mut job);
    let of = |rank: usize| job.processes[rank].communicators[1].pending_sends.operations[0].clone();
    assert_eq!((facts(&of(1)), of(1).desired_local_rank), ((Some(3), Some(5), Some(6)), Some(0)));
    assert_eq!((facts(&of(0)), of(0).desired_local_rank), ((Some(3), Some(8), Some(9)), Some(1)));
}

#[test]
fn sends_stand_in_the_order_of_their_messages_at_each_peer() {
    let mut job = world(3);
    let known = |request, peer, tag| Operation {
        library_request: Some(request),
        actual_local_rank: Some(peer),
        actual_global_rank: Some(peer),
        actual_tag: Some(tag),
        ..operation(Some(peer), Some(tag))
    };
    for (request, peer, tag) in [(1, 1, 11), (2, 2, 22), (3, 1, 33), (4, 2, 44), (5, 1, 55)] {
        send(&mut job, 0, known(request, peer, tag));
    }
    send(&mut job, 0, with_status(OperationStatus::Complete, known(6, 1, 66)));
    job.processes[0].communicators[0].pending_sends.unordered = 5;
    for (tag, request) in [(33, 3), (55, 5), (11, 1)] {
        arrive(&mut job, 1, message(0, tag, 8, request));
    }
    // Of these one has not arrived.
    arrive(&mut job, 2, message(0, 44, 8, 4));
    complete(&mut job);
    let tags = |job: &Snapshot| sends(job, 0).iter().filter_map(|send| send.desired_tag).collect::<Vec<_>>();
    assert_eq!(tags(&job), [33, 22, 55, 44, 11, 66]);
    assert_eq!(job.processes[0].communicators[0].pending_sends.unordered, 2);
    assert!(job.processes[0].notes[0].contains("the order in which they were posted is not known"));
    complete(&mut job);
    assert_eq!((tags(&job), job.processes[0].notes.len()), (vec![33, 22, 55, 44, 11, 66], 1));
    // A send that may be to any of them.
    send(&mut job, 0, forgotten(7));
    job.processes[0].communicators[0].pending_sends.unordered = 6;
    complete(&mut job);
    assert_eq!(job.processes[0].communicators[0].pending_sends.unordered, 6);
}

#[test]
fn what_the_memory_of_a_send_leaves_open_the_message_decides() {
    let either = |length| {
        let mut job = world(2);
        let remark = Remark::EitherSend { large: 9000, to: 1, synchronous: 24 };
        send(&mut job, 0, Operation { extra_text: vec![remark], ..forgotten(1) });
        arrive(&mut job, 1, message(0, 7, length, 1));
        complete(&mut job);
        sends(&job, 0)[0].extra_text.clone()
    };
    assert_eq!((either(9000), either(24)), (vec![], vec![Remark::SynchronousSend]));
}

#[test]
fn the_librarys_own_sends_are_told_as_such() {
    let mut job = world(2);
    send(&mut job, 0, forgotten(1));
    let purpose = Remark::from("part of a collective: MPI_Barrier (tag 1)");
    let arrived = Operation { internal: true, extra_text: vec![purpose.clone()], ..message(0, 1, 0, 1) };
    arrive(&mut job, 1, arrived);
    complete(&mut job);
    assert!(sends(&job, 0)[0].internal);
    assert_eq!(sends(&job, 0)[0].extra_text, [purpose]);
}

proptest! {
    /// Whatever stands in a snapshot: no send is lost, none is named by two, and doing it twice changes nothing.
    #[test]
    fn nothing_is_lost(
        posted in prop::collection::vec((0..3_usize, 0..4_u64, prop::option::of(0..3_i64)), 0..12),
        arrived in prop::collection::vec((0..3_usize, 0..4_u64, -1..4_i64, 0..3_i64), 0..12),
        unordered in any::<u64>(),
    ) {
        let mut job = world(3);
        for (rank, request, peer) in &posted {
            send(&mut job, *rank, Operation { desired_global_rank: *peer, actual_global_rank: *peer, ..forgotten(*request) });
        }
        for (rank, request, from, tag) in &arrived {
            arrive(&mut job, *rank, message(*from, *tag, 8, *request));
        }
        job.processes[0].communicators[0].pending_sends.unordered = unordered;
        complete(&mut job);
        for rank in 0..3 {
            let requests = |list: Vec<u64>| { let mut list = list; list.sort_unstable(); list };
            let before = posted.iter().filter(|(at, ..)| *at == rank).map(|(_, request, _)| *request).collect();
            let after = sends(&job, rank).iter().filter_map(|send| send.library_request).collect();
            prop_assert_eq!(requests(before), requests(after));
        }
        let once = job.clone();
        complete(&mut job);
        // Their order only becomes better known.
        for process in &mut job.processes {
            for at in 0..process.communicators.len() {
                process.communicators[at].pending_sends.unordered = 0;
            }
        }
        for (one, other) in once.processes.iter().zip(&job.processes) {
            prop_assert_eq!(&one.communicators[0].pending_sends.operations, &other.communicators[0].pending_sends.operations);
        }
    }
}
