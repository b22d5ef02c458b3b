//! Which sends and receives belong together.

use analysis::job::Job;
use analysis::matching::{Matching, OperationPlace, Outcome};
use model::{Operation, OperationStatus, Queue, QueueKind, QueueState, Snapshot, Traffic};
use proptest::prelude::*;

use super::support::{add, of_length, operation, post, with_status, with_text, world};

const RENDEZVOUS: &str = "rendezvous: the sender waits for a receive";

/// With whom an operation is paired.
fn partner(snapshot: &Snapshot, place: OperationPlace) -> Option<OperationPlace> {
    let job = Job::new(snapshot);
    let matching = Matching::new(&job);
    match matching.at(place).unwrap().outcome {
        Outcome::Pair(other) => Some(matching.entry(other).unwrap().place),
        _ => None,
    }
}

fn outcome(snapshot: &Snapshot, place: OperationPlace) -> Outcome {
    Matching::new(&Job::new(snapshot)).at(place).unwrap().outcome
}

#[test]
fn receives_are_matched_in_the_order_of_posting_and_messages_in_that_of_sending() {
    let mut snapshot = world(2);
    let receives = [Some(5), None, Some(5)]
        .map(|tag| post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), tag)));
    let sends = [5, 6, 5].map(|tag| post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(tag))));
    for (receive, send) in receives.iter().zip(sends) {
        assert_eq!(partner(&snapshot, *receive), Some(send));
        assert_eq!(partner(&snapshot, send), Some(*receive));
    }
}

#[test]
fn what_is_complete_or_held_matches_nothing() {
    let mut snapshot = world(2);
    let over = [
        with_status(OperationStatus::Complete, operation(Some(1), Some(5))),
        with_status(
            OperationStatus::Matched,
            with_text("a matched message that no MPI_Mrecv has received yet", operation(None, None)),
        ),
        with_status(OperationStatus::Complete, with_text("cancelled", operation(Some(1), Some(5)))),
    ];
    let over = over.map(|operation| post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation));
    let moving = post(
        &mut snapshot,
        0,
        0,
        QueueKind::PendingReceives,
        with_status(OperationStatus::Matched, operation(Some(1), Some(5))),
    );
    let send = post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(5)));
    for place in over {
        assert_eq!(outcome(&snapshot, place), Outcome::Over);
    }
    assert_eq!(outcome(&snapshot, moving), Outcome::Moving);
    assert_eq!(outcome(&snapshot, send), Outcome::Unmatched);
}

#[test]
fn tags_communicators_and_ranks_keep_apart() {
    let mut snapshot = world(3);
    add(&mut snapshot, "dup", "3", &[0, 1, 2]);
    let receive = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(5)));
    let others = [
        post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(6))),
        post(&mut snapshot, 1, 1, QueueKind::PendingSends, operation(Some(0), Some(5))),
        post(&mut snapshot, 2, 0, QueueKind::PendingSends, operation(Some(0), Some(5))),
        post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(2), Some(5))),
    ];
    for place in others.into_iter().chain([receive]) {
        assert_eq!(outcome(&snapshot, place), Outcome::Unmatched, "{place:?}");
    }
}

#[test]
fn the_librarys_own_operations_meet_only_one_another() {
    let mut snapshot = world(2);
    let internal = |operation| Operation { internal: true, ..operation };
    let application = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), None));
    let library = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, internal(operation(Some(1), Some(-17))));
    let send = post(&mut snapshot, 1, 0, QueueKind::PendingSends, internal(operation(Some(0), Some(-17))));
    assert_eq!(outcome(&snapshot, application), Outcome::Unmatched);
    assert_eq!(partner(&snapshot, library), Some(send));
}

#[test]
fn a_message_that_has_arrived_and_its_pending_send_are_one() {
    let mut snapshot = world(2);
    let arrived = |tag| with_text(RENDEZVOUS, operation(Some(1), Some(tag)));
    let eager =
        post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, with_text("eager", operation(Some(1), Some(8))));
    let first = post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, arrived(8));
    let sends = [8, 8].map(|tag| post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(tag))));
    let job = Job::new(&snapshot);
    let matching = Matching::new(&job);
    let same = |place| matching.at(place).unwrap().same.map(|id| matching.entry(id).unwrap().place);
    assert_eq!(same(eager), None);
    assert_eq!(same(first), Some(sends[0]));
    assert_eq!(same(sends[0]), Some(first));
    assert_eq!(same(sends[1]), None);
}

#[test]
fn a_send_whose_tag_is_not_kept_is_found_by_its_length() {
    let mut snapshot = world(2);
    let arrived = of_length(1 << 20, operation(Some(1), Some(8)));
    let arrived = post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, arrived);
    let unknown = Operation { desired_tag: None, tag_wild: false, ..of_length(1 << 20, operation(Some(0), Some(0))) };
    let send = post(&mut snapshot, 1, 0, QueueKind::PendingSends, unknown.clone());
    let lost = post(&mut snapshot, 1, 0, QueueKind::PendingSends, unknown);
    let receive = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(9)));
    let job = Job::new(&snapshot);
    let matching = Matching::new(&job);
    assert_eq!(matching.at(send).unwrap().same, matching.id(arrived));
    assert_eq!(matching.at(send).unwrap().outcome, matching.at(arrived).unwrap().outcome);
    assert!(matches!(matching.at(lost).unwrap().outcome, Outcome::Unclear(_)));
    // It may be what the receive waits for.
    assert!(matches!(matching.at(receive).unwrap().outcome, Outcome::Unclear(_)));
}

#[test]
fn probes_take_no_message() {
    let mut snapshot = world(2);
    let probe = Operation { call: Some("MPI_Probe".into()), ..operation(Some(1), Some(5)) };
    let probe = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, probe);
    let receive = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(5)));
    let send = post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(5)));
    assert_eq!(partner(&snapshot, probe), Some(send));
    assert_eq!(partner(&snapshot, receive), Some(send));
    assert_eq!(partner(&snapshot, send), Some(receive));
}

#[test]
fn with_any_source_what_others_may_take_is_contested() {
    let mut snapshot = world(3);
    let any = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(None, Some(5)));
    let one = post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(5)));
    let two = post(&mut snapshot, 2, 0, QueueKind::PendingSends, operation(Some(0), Some(5)));
    let other = post(&mut snapshot, 2, 0, QueueKind::PendingSends, operation(Some(0), Some(6)));
    assert_eq!(partner(&snapshot, any), Some(one));
    assert_eq!(outcome(&snapshot, two), Outcome::Contested);
    assert_eq!(outcome(&snapshot, other), Outcome::Unmatched);
    // The other message may be the one that it takes.
    let specific = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(5)));
    assert_eq!(outcome(&snapshot, specific), Outcome::Contested);
}

#[test]
fn without_any_source_there_is_one_outcome() {
    let mut snapshot = world(2);
    post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(5)));
    let second = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(5)));
    post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(5)));
    assert_eq!(outcome(&snapshot, second), Outcome::Unmatched);
}

#[test]
fn what_was_not_read_is_told() {
    let mut snapshot = world(3);
    let specific = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(5)));
    let any = post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(None, Some(5)));
    let send = post(&mut snapshot, 0, 0, QueueKind::PendingSends, operation(Some(2), Some(5)));
    let blind = |snapshot: &Snapshot, place| {
        let job = Job::new(snapshot);
        let matching = Matching::new(&job);
        matching.blind(&job, matching.at(place).unwrap())
    };
    assert_eq!([specific, any, send].map(|place| blind(&snapshot, place)), [None, None, None]);
    snapshot.processes[2].communicators[0].pending_sends = Queue::no_information("not kept").into();
    assert_eq!(blind(&snapshot, specific), None);
    assert_eq!(blind(&snapshot, any).unwrap(), "pending sends of rank 2: not kept");
    snapshot.processes[2].communicators[0].pending_receives = Queue::no_information("not kept").into();
    assert_eq!(blind(&snapshot, send).unwrap(), "pending receives of rank 2: not kept");
    snapshot.processes.truncate(1);
    assert_eq!(blind(&snapshot, specific).unwrap(), "rank 1 was not read");
    snapshot.processes[0].communicators[0].unexpected_messages = Queue::no_information("in the network").into();
    assert_eq!(blind(&snapshot, specific).unwrap(), "unexpected messages at rank 0: in the network");
}

#[test]
fn messages_that_are_seen_nowhere_are_counted() {
    let mut snapshot = world(2);
    post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(5)));
    let count = |local_rank, sent, arrived| Traffic {
        local_rank,
        sent: Some(sent),
        arrived: Some(arrived),
        modulus: 65536,
        ..Default::default()
    };
    let unseen = |snapshot: &Snapshot| {
        let job = Job::new(snapshot);
        let world = job.communicator(0, 0).unwrap();
        Matching::new(&job).unseen(&job, world, job.proc(1).unwrap(), job.proc(0).unwrap())
    };
    assert_eq!(unseen(&snapshot), None);
    snapshot.processes[0].communicators[0].traffic = vec![count(1, 0, 65534)].into();
    // Of as many as have arrived the pending one is one.
    for (sent, expected) in [(65534, Some(0)), (65535, Some(0)), (1, Some(2)), (65536, None)] {
        snapshot.processes[1].communicators[0].traffic = vec![count(0, sent, 0)].into();
        assert_eq!(unseen(&snapshot), expected, "{sent}");
    }
}

/// A small persistent send of Open MPI is pending until its sender looks, though it was received.
#[test]
fn a_send_that_was_received_is_no_message_for_others() {
    let count = |local_rank, sent, arrived| Traffic {
        local_rank,
        sent: Some(sent),
        arrived: Some(arrived),
        modulus: 65536,
        ..Default::default()
    };
    let mut snapshot = world(2);
    post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(5)));
    post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(5)));
    let outcomes = |snapshot: &Snapshot| {
        let job = Job::new(snapshot);
        Matching::new(&job).entries.iter().map(|entry| entry.outcome).collect::<Vec<_>>()
    };
    let pairs = |outcomes: &[Outcome]| outcomes.iter().all(|one| matches!(one, Outcome::Pair(_)));
    assert!(pairs(&outcomes(&snapshot)));
    snapshot.processes[0].communicators[0].traffic = vec![count(1, 0, 7)].into();
    snapshot.processes[1].communicators[0].traffic = vec![count(0, 7, 0)].into();
    assert_eq!(outcomes(&snapshot), [Outcome::Unmatched, Outcome::Moving]);
    // It may lie where it was not read.
    snapshot.processes[0].communicators[0].unexpected_messages.state = QueueState::Error;
    assert!(!outcomes(&snapshot).contains(&Outcome::Moving));
    snapshot.processes[0].communicators[0].unexpected_messages.state = QueueState::Ok;
    // One is on its way.
    snapshot.processes[1].communicators[0].traffic = vec![count(0, 8, 0)].into();
    assert!(pairs(&outcomes(&snapshot)));
}

#[test]
fn a_hundred_thousand_of_each_are_matched_at_once() {
    let mut snapshot = world(2);
    for tag in 0..100_000 {
        post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(Some(1), Some(tag)));
        post(
            &mut snapshot,
            0,
            0,
            QueueKind::UnexpectedMessages,
            with_text(RENDEZVOUS, operation(Some(1), Some(200_000 + tag))),
        );
        post(&mut snapshot, 1, 0, QueueKind::PendingSends, operation(Some(0), Some(200_000 + tag)));
    }
    let matching_job = Job::new(&snapshot);
    let matching = Matching::new(&matching_job);
    assert_eq!(matching.entries.len(), 300_000);
    assert!(matching.entries.iter().all(|entry| entry.outcome == Outcome::Unmatched));
    assert_eq!(matching.entries.iter().filter(|entry| entry.same.is_some()).count(), 200_000);
}

/// Posted receives and sends of others to rank 0, as peers and tags.
type Given = (Vec<(Option<i64>, Option<i64>)>, Vec<(i64, i64)>);

fn given() -> impl Strategy<Value = Given> {
    let receive = (proptest::option::of(1_i64..3), proptest::option::of(0_i64..3));
    (proptest::collection::vec(receive, 0..5), proptest::collection::vec((1_i64..3, 0_i64..3), 0..5))
}

/// All outcomes of a race, by the standard's words: the senders' messages arrive in any order that keeps each sender's own,
/// and each takes the first receive that fits.
fn outcomes(receives: &[(Option<i64>, Option<i64>)], sends: &[(i64, i64)]) -> Vec<Vec<Option<usize>>> {
    fn go(
        receives: &[(Option<i64>, Option<i64>)],
        sends: &[(i64, i64)],
        left: &[usize],
        taken: &mut Vec<Option<usize>>,
        all: &mut Vec<Vec<Option<usize>>>,
    ) {
        if left.is_empty() {
            all.push(taken.clone());
            return;
        }
        for sender in [1, 2] {
            let Some(at) = left.iter().position(|send| sends[*send].0 == sender) else { continue };
            let send = left[at];
            let mut rest = left.to_vec();
            rest.remove(at);
            let (from, tag) = sends[send];
            let fits = |receive: &usize| {
                let (source, wanted) = receives[*receive];
                taken[*receive].is_none()
                    && source.is_none_or(|source| source == from)
                    && wanted.is_none_or(|wanted| wanted == tag)
            };
            let receive = (0..receives.len()).find(fits);
            if let Some(receive) = receive {
                taken[receive] = Some(send);
            }
            go(receives, sends, &rest, taken, all);
            if let Some(receive) = receive {
                taken[receive] = None;
            }
        }
    }
    let mut all = Vec::new();
    go(receives, sends, &(0..sends.len()).collect::<Vec<_>>(), &mut vec![None; receives.len()], &mut all);
    all
}

proptest! {
    /// What is paired is one of the outcomes that the standard allows; what is said to be unmatched is so in all of them.
    #[test]
    fn the_outcome_is_one_of_those_that_are_possible((receives, sends) in given()) {
        let mut snapshot = world(3);
        let receive_places: Vec<OperationPlace> = receives
            .iter()
            .map(|(source, tag)| post(&mut snapshot, 0, 0, QueueKind::PendingReceives, operation(*source, *tag)))
            .collect();
        let send_places: Vec<OperationPlace> = sends
            .iter()
            .map(|(from, tag)| post(&mut snapshot, *from as usize, 0, QueueKind::PendingSends, operation(Some(0), Some(*tag))))
            .collect();
        let job = Job::new(&snapshot);
        let matching = Matching::new(&job);
        let all = outcomes(&receives, &sends);
        let found: Vec<Option<usize>> = receive_places
            .iter()
            .map(|place| match matching.at(*place).unwrap().outcome {
                Outcome::Pair(other) => {
                    let other = matching.entry(other).unwrap().place;
                    send_places.iter().position(|place| *place == other)
                }
                _ => None,
            })
            .collect();
        prop_assert!(all.contains(&found), "{found:?} is none of {all:?}");
        for (index, place) in receive_places.iter().enumerate() {
            if matching.at(*place).unwrap().outcome == Outcome::Unmatched {
                prop_assert!(all.iter().all(|taken| taken[index].is_none()), "receive {index}: {all:?}");
            }
        }
        for (index, place) in send_places.iter().enumerate() {
            if matching.at(*place).unwrap().outcome == Outcome::Unmatched {
                prop_assert!(all.iter().all(|taken| !taken.contains(&Some(index))), "send {index}: {all:?}");
            }
        }
    }
}
