//! What is told of messages that do not fit, and of those that nobody receives.

use analysis::findings::messages::Fate;
use model::{FindingKind, Operation, OperationStatus, Queue, QueueKind, Snapshot, Traffic};

use super::support::{add, findings, of_length, operation, post, stands, told, with_status, with_text, world};

const FINALIZE: Fate = Fate::Finished("is in MPI_Finalize");

#[test]
fn a_tag_mismatch_names_both_tags() {
    let mut snapshot = world(2);
    add(&mut snapshot, "halo", "3", &[0, 1]);
    let wait = post(&mut snapshot, 0, 1, QueueKind::PendingReceives, operation(Some(1), Some(17)));
    post(
        &mut snapshot,
        0,
        1,
        QueueKind::UnexpectedMessages,
        with_text("eager", of_length(128, operation(Some(1), Some(18)))),
    );
    stands(&mut snapshot, 0, "MPI_Recv", 7);
    stands(&mut snapshot, 1, "MPI_Barrier", 9);
    let found = findings(&snapshot, &[Fate::Stuck, Fate::Stuck], &[wait]);
    assert_eq!(told(&found), "TagMismatch [0, 1] certain: rank 1 sent tag 18 on \"halo\", rank 0 waits for tag 17\n");
    let calls: Vec<_> =
        found[0].calls.iter().map(|call| (call.rank, call.call.line, call.waits_for.as_deref())).collect();
    assert_eq!(calls, [(Some(0), Some(7), Some("tag 17 from rank 1 on \"halo\"")), (Some(1), Some(9), None)]);
    assert_eq!(found[0].evidence[0], "the message of 128 bytes is among the unexpected messages of rank 0");
}

#[test]
fn what_is_not_certain_says_why() {
    let mut snapshot = world(2);
    let wait = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(17)));
    post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, operation(Some(1), Some(18)));
    let suspect = findings(&snapshot, &[Fate::Suspect, Fate::Suspect], &[wait]);
    assert!(!suspect[0].certain);
    assert!(suspect[0].evidence.iter().any(|text| text.contains("not certain")), "{suspect:?}");
    snapshot.processes[1].communicators[0].pending_sends = Queue::no_information("no lists").into();
    let blind = findings(&snapshot, &[Fate::Stuck, Fate::Stuck], &[wait]);
    assert!(!blind[0].certain);
    assert!(blind[0].evidence.contains(&"not all was read: pending sends of rank 1: no lists".to_owned()), "{blind:?}");
}

#[test]
fn a_backlog_of_those_that_go_on_is_not_told() {
    let mut snapshot = world(2);
    let wait = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(17)));
    post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, operation(Some(1), Some(18)));
    post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(19)));
    assert_eq!(told(&findings(&snapshot, &[Fate::Open, Fate::Open], &[wait])), "");
    // One that is stuck elsewhere does not wait for this receive.
    assert_eq!(told(&findings(&snapshot, &[Fate::Stuck, Fate::Open], &[])), "");
}

#[test]
fn a_message_on_another_communicator() {
    let mut snapshot = world(2);
    add(&mut snapshot, "library", "3", &[0, 1]);
    let wait = post(&mut snapshot, 1, 1, QueueKind::PendingReceives, operation(Some(0), Some(6)));
    post(&mut snapshot, 1, 0, QueueKind::UnexpectedMessages, operation(Some(0), Some(6)));
    assert_eq!(
        told(&findings(&snapshot, &[Fate::Stuck, Fate::Stuck], &[wait])),
        "CommunicatorMismatch [0, 1] certain: rank 0 sent tag 6 to rank 1 on MPI_COMM_WORLD, \
         rank 1 waits for tag 6 from rank 0 on \"library\"\n"
    );
}

#[test]
fn a_message_from_another_rank_and_one_to_another_rank() {
    let mut snapshot = world(4);
    let wait = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(3), Some(12)));
    post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, operation(Some(2), Some(12)));
    assert_eq!(
        told(&findings(&snapshot, &[Fate::Stuck; 4], &[wait])),
        "RankMismatch [0, 2] certain: rank 2 sent tag 12 to rank 0 on MPI_COMM_WORLD, \
         rank 0 waits for tag 12 from rank 3 on MPI_COMM_WORLD\n"
    );
    let mut snapshot = world(4);
    let wait = post(&mut snapshot, 3, 0, QueueKind::PendingReceives, operation(Some(2), Some(30)));
    post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, operation(Some(2), Some(30)));
    assert_eq!(
        told(&findings(&snapshot, &[Fate::Stuck; 4], &[wait])),
        "RankMismatch [0, 2, 3] certain: rank 2 sent tag 30 to rank 0 on MPI_COMM_WORLD, \
         rank 3 waits for tag 30 from rank 2 on MPI_COMM_WORLD\n"
    );
    // Rank 0 may still receive it.
    let fates = [Fate::Open, Fate::Stuck, Fate::Stuck, Fate::Stuck];
    assert_eq!(told(&findings(&snapshot, &fates, &[wait])), "");
}

#[test]
fn a_receive_of_any_tag_has_no_tag_mismatch() {
    let mut snapshot = world(3);
    let wait = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), None));
    post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, operation(Some(2), Some(4)));
    let found = findings(&snapshot, &[Fate::Stuck; 3], &[wait]);
    assert_eq!(found.iter().map(|finding| finding.kind).collect::<Vec<_>>(), [FindingKind::RankMismatch]);
}

#[test]
fn many_alike_are_one_finding() {
    let mut snapshot = world(100);
    let mut waits = Vec::new();
    for rank in 0..100 {
        let left = (rank + 99) % 100;
        waits.push(post(&mut snapshot, rank, 0, QueueKind::PendingReceives, operation(Some(left as i64), Some(1))));
        post(&mut snapshot, rank, 0, QueueKind::UnexpectedMessages, operation(Some(left as i64), Some(2)));
        stands(&mut snapshot, rank, "MPI_Recv", 5);
    }
    let found = findings(&snapshot, &[Fate::Stuck; 100], &waits);
    assert_eq!(found.len(), 1, "{}", told(&found));
    assert_eq!(found[0].ranks.len(), 100);
    assert!(found[0].summary.ends_with("(and 99 receives like this)"), "{}", found[0].summary);
    assert!(found[0].calls.len() <= 16);
}

/// Rank 1 sends so many bytes, rank 0 has room for so many; so many messages have left rank 1 and arrived.
fn lengths(bytes: u64, room: u64, traffic: Option<(u64, u64)>) -> String {
    let mut snapshot = world(2);
    let datatype = |name: &str, size: u64, bytes: u64| Operation {
        datatype: Some(name.into()),
        count: Some(bytes / size),
        ..of_length(bytes, operation(None, Some(5)))
    };
    let receive = Operation { desired_global_rank: Some(1), any_source: false, ..datatype("MPI_DOUBLE", 8, room) };
    post(&mut snapshot, 0, 0, QueueKind::PendingReceives, receive);
    let send = Operation { desired_global_rank: Some(0), any_source: false, ..datatype("MPI_DOUBLE", 8, bytes) };
    post(&mut snapshot, 1, 0, QueueKind::PendingSends, send);
    if let Some((sent, arrived)) = traffic {
        for (rank, sent, arrived) in [(0, 0, arrived), (1, sent, 0)] {
            snapshot.processes[rank].communicators[0].traffic = vec![Traffic {
                local_rank: 1 - rank as i64,
                sent: Some(sent),
                arrived: Some(arrived),
                modulus: 65536,
                ..Traffic::default()
            }]
            .into();
        }
    }
    told(&findings(&snapshot, &[Fate::Open, Fate::Open], &[]))
}

#[test]
fn truncation_is_certain_only_where_nothing_can_come_before() {
    let words = "the message from rank 1 to rank 0 with tag 5 on MPI_COMM_WORLD has 800 bytes, \
                 its receive has room for 400\n";
    assert_eq!(lengths(800, 400, Some((1, 0))), format!("Truncation [0, 1] certain: {words}"));
    assert_eq!(lengths(800, 400, None), format!("Truncation [0, 1] possible: {words}"));
    // A small message is on its way, and the receive is for it.
    assert_eq!(lengths(800, 400, Some((2, 0))), "");
    assert_eq!(lengths(400, 800, Some((1, 0))), "");
}

#[test]
fn datatypes_that_differ_and_lengths_that_are_no_whole_number() {
    for (sent, wanted, kind) in [
        ("MPI_FLOAT", "MPI_INT", Some(FindingKind::DatatypeMismatch)),
        ("MPI_INTEGER", "MPI_INT", None),
        ("MPI_BYTE", "MPI_INT", None),
        ("my vector", "MPI_INT", None),
    ] {
        let mut snapshot = world(2);
        let typed = |name: &str, operation| Operation { datatype: Some(name.into()), count: Some(10), ..operation };
        post(
            &mut snapshot,
            0,
            0,
            QueueKind::PendingReceives,
            typed(wanted, of_length(40, operation(Some(1), Some(5)))),
        );
        post(&mut snapshot, 1, 0, QueueKind::PendingSends, typed(sent, of_length(40, operation(Some(0), Some(5)))));
        let found = findings(&snapshot, &[Fate::Open, Fate::Open], &[]);
        assert_eq!(found.first().map(|finding| finding.kind), kind, "{sent}");
    }
    let mut snapshot = world(2);
    let receive = Operation { count: Some(10), ..of_length(80, operation(Some(1), Some(5))) };
    post(&mut snapshot, 0, 0, QueueKind::PendingReceives, receive);
    post(&mut snapshot, 1, 0, QueueKind::PendingSends, of_length(12, operation(Some(0), Some(5))));
    let found = findings(&snapshot, &[Fate::Open, Fate::Open], &[]);
    assert_eq!(found[0].kind, FindingKind::CountMismatch);
}

#[test]
fn a_message_to_one_that_receives_nothing_more() {
    let mut snapshot = world(2);
    post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, with_text("eager", operation(Some(1), Some(3))));
    assert_eq!(
        told(&findings(&snapshot, &[FINALIZE, FINALIZE], &[])),
        "UnmatchedSend [0, 1] certain: rank 1 sent tag 3 to rank 0 on MPI_COMM_WORLD, which receives it nowhere\n"
    );
    assert_eq!(told(&findings(&snapshot, &[Fate::Stuck, FINALIZE], &[])), "", "the backlog of one that stands still");
    assert_eq!(told(&findings(&snapshot, &[Fate::Open, FINALIZE], &[])), "");
}

#[test]
fn a_send_in_which_a_rank_is_stuck() {
    let mut snapshot = world(2);
    let send = post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(3)));
    let both = [Fate::Stuck, Fate::Stuck];
    assert!(told(&findings(&snapshot, &both, &[send])).starts_with("UnmatchedSend [0, 1] certain: rank 1 sends tag 3"));
    let suspect = [Fate::Suspect, Fate::Suspect];
    assert!(told(&findings(&snapshot, &suspect, &[send])).starts_with("UnmatchedSend [0, 1] possible:"));
    assert_eq!(told(&findings(&snapshot, &[Fate::Open, Fate::Open], &[send])), "");
}

/// What ranks have sent to one another and got, as one sees it.
fn counted(snapshot: &mut Snapshot, rank: usize, of: &[(i64, u64, u64)]) {
    let counts = of.iter().map(|(local_rank, sent, arrived)| Traffic {
        local_rank: *local_rank,
        sent: Some(*sent),
        arrived: Some(*arrived),
        modulus: 65536,
        ..Traffic::default()
    });
    snapshot.processes[rank].communicators[0].traffic = counts.collect();
}

#[test]
fn receives_to_which_nobody_sends() {
    let mut snapshot = world(3);
    let wait = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(3)));
    let finished = [Fate::Open, FINALIZE, Fate::Open];
    // What rank 1 sent before it finished may be on its way to a rank that is not in MPI.
    assert_eq!(
        told(&findings(&snapshot, &finished, &[])),
        "UnmatchedReceive [0, 1] possible: rank 0 has a receive pending for tag 3 from rank 1 on MPI_COMM_WORLD, \
         to which perhaps nobody sends\n"
    );
    let certain = "UnmatchedReceive [0, 1] certain: rank 0 has a receive pending for tag 3 from rank 1 on \
                   MPI_COMM_WORLD, to which nobody sends\n";
    assert_eq!(told(&findings(&snapshot, &[Fate::Stuck, FINALIZE, Fate::Open], &[wait])), certain);
    counted(&mut snapshot, 1, &[(0, 7, 0)]);
    counted(&mut snapshot, 0, &[(1, 0, 7)]);
    assert_eq!(told(&findings(&snapshot, &finished, &[])), certain);
    counted(&mut snapshot, 0, &[(1, 0, 6)]);
    assert_eq!(told(&findings(&snapshot, &finished, &[])), "");
    // The one that is missing lies in shared memory, and is another.
    let other = with_status(OperationStatus::InTransit, operation(Some(1), Some(4)));
    post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, other);
    assert_eq!(told(&findings(&snapshot, &finished, &[])), certain);
    assert_eq!(told(&findings(&snapshot, &[Fate::Stuck, Fate::Stuck, Fate::Stuck], &[])), "");
}

#[test]
fn receives_from_anybody_to_which_nobody_sends() {
    let mut snapshot = world(3);
    let wait = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(None, Some(3)));
    let finished = [Fate::Open, FINALIZE, FINALIZE];
    assert!(told(&findings(&snapshot, &finished, &[])).starts_with("UnmatchedReceive [0] possible"));
    let stuck = [Fate::Stuck, FINALIZE, FINALIZE];
    assert!(told(&findings(&snapshot, &stuck, &[wait])).starts_with("UnmatchedReceive [0] certain"));
    counted(&mut snapshot, 0, &[(1, 0, 7), (2, 0, 1)]);
    counted(&mut snapshot, 1, &[(0, 7, 0)]);
    counted(&mut snapshot, 2, &[(0, 1, 0)]);
    assert!(told(&findings(&snapshot, &finished, &[])).starts_with("UnmatchedReceive [0] certain"));
    counted(&mut snapshot, 2, &[(0, 2, 0)]);
    assert!(!told(&findings(&snapshot, &finished, &[])).contains("certain"));
    assert_eq!(told(&findings(&snapshot, &[Fate::Open, FINALIZE, Fate::Open], &[])), "");
    snapshot.processes.truncate(2);
    assert_eq!(told(&findings(&snapshot, &[Fate::Open, FINALIZE], &[])), "", "rank 2 was not read");
}

#[test]
fn messages_that_pile_up() {
    let mut snapshot = world(2);
    for _ in 0..1500 {
        let message = with_text("eager", of_length(100, operation(Some(1), Some(3))));
        post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, message);
    }
    assert_eq!(
        told(&findings(&snapshot, &[], &[])),
        "UnexpectedFlood [0, 1] certain: 1500 messages of 150000 bytes pile up at rank 0, \
         most from rank 1 with tag 3 on MPI_COMM_WORLD\n"
    );
    snapshot.processes[0].communicators[0].unexpected_messages.operations.truncate(200);
    assert_eq!(told(&findings(&snapshot, &[], &[])), "");
}

#[test]
fn requests_that_nobody_completes() {
    let mut snapshot = world(1);
    let complete = with_status(OperationStatus::Complete, operation(Some(0), Some(3)));
    post(&mut snapshot, 0, 0, QueueKind::PendingReceives, complete.clone());
    assert_eq!(told(&findings(&snapshot, &[Fate::Open], &[])), "");
    assert_eq!(
        told(&findings(&snapshot, &[FINALIZE], &[])),
        "NeverCompleted [0] certain: rank 0 is in MPI_Finalize with 1 request that it never completed\n"
    );
    for _ in 0..1000 {
        post(&mut snapshot, 0, 0, QueueKind::PendingReceives, complete.clone());
    }
    assert!(told(&findings(&snapshot, &[Fate::Open], &[])).starts_with("NeverCompleted [0] certain: rank 0 has 1001"));
}
