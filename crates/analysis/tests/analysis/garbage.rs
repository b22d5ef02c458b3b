//! Snapshots that make no sense: a diagnosis of them ends, whatever numbers stand in them.

use std::sync::Arc;

use analysis::diagnose::{Earlier, Watched, diagnose};
use analysis::named::complete;
use analysis::worked::Kept;
use model::{
    Argument, Call, CallRequest, Communicator, Group, Mpi, Operation, OperationStatus, Outside, Process, Queue,
    QueueState, RequestState, Snapshot, Stage, Traffic,
};
use proptest::option;
use proptest::prelude::*;

fn number() -> impl Strategy<Value = i64> + Clone {
    prop_oneof![6 => -2..5_i64, 1 => any::<i64>(), 1 => Just(i64::MAX), 1 => Just(i64::MIN)]
}

fn length() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 0..3_u64, 1 => Just(u64::MAX), 1 => any::<u64>()]
}

const WORDS: &[&str] = &[
    "",
    "eager",
    "rendezvous",
    "cancelled",
    "a matched message",
    "part of a collective: MPI_Barrier (tag -16)",
    "MPI_Recv",
    "MPI_Wait",
    "MPI_Waitany",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Ireduce",
    "MPI_Probe",
    "MPI_Test",
    "MPI_Finalize",
    "MPI_Init",
    "mpi_waitall_",
    "MPI_Win_fence",
    "MPI_Comm_split",
    "MPI_Sendrecv",
    "MPI_é",
    "\u{0}",
    "halo",
    "MPI_COMM_WORLD",
    "0x10",
    "within the local group of the intercommunicator",
    "stopped",
    "zombie",
    "pthread_mutex_lock",
    "read",
];

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(WORDS).prop_map(str::to_owned)
}

fn operation() -> impl Strategy<Value = Operation> {
    let status =
        prop::sample::select(vec![OperationStatus::Pending, OperationStatus::Matched, OperationStatus::Complete]);
    let ranks = (option::of(number()), option::of(number()), option::of(number()), option::of(number()));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let tags = (option::of(number()), option::of(number()), option::of(length()), option::of(length()));
    (status, ranks, flags, tags, option::of(word()), option::of(0..3_u64), prop::collection::vec(word(), 0..2))
        .prop_map(|(status, ranks, flags, tags, call, request, words)| Operation {
            status,
            desired_local_rank: ranks.0,
            desired_global_rank: ranks.1,
            actual_local_rank: ranks.2,
            actual_global_rank: ranks.3,
            any_source: flags.0,
            tag_wild: flags.1,
            internal: flags.2,
            persistent: flags.3,
            desired_tag: tags.0,
            actual_tag: tags.1,
            desired_length: tags.2,
            actual_length: tags.3,
            count: tags.2,
            call: call.map(Into::into),
            request: request.map(|request| 0x10 * request),
            library_request: request,
            sender_request: request,
            extra_text: words.into_iter().map(Into::into).collect(),
            ..Operation::default()
        })
}

fn queue() -> impl Strategy<Value = Queue> {
    let state =
        prop::sample::select(vec![QueueState::Ok, QueueState::Ok, QueueState::NoInformation, QueueState::Error]);
    let dropped = prop::sample::select(vec![0, 0, 0, 1, u64::MAX]);
    (state, prop::collection::vec(operation(), 0..4), dropped).prop_map(|(state, operations, dropped)| Queue {
        state,
        detail: None,
        operations,
        unordered: dropped,
        dropped,
    })
}

fn group() -> impl Strategy<Value = Option<Group>> {
    option::of(prop::collection::vec(option::of(number()), 0..5).prop_map(Into::into))
}

fn communicator() -> impl Strategy<Value = Communicator> {
    let traffic = (number(), any::<bool>(), option::of(length()), option::of(length()), length()).prop_map(
        |(local_rank, within_local_group, sent, arrived, modulus)| Traffic {
            local_rank,
            within_local_group,
            sent,
            arrived,
            modulus,
        },
    );
    let names = (word(), option::of(any::<bool>()), 0..3_u64, option::of(word()));
    let numbers = (option::of(number()), option::of(number()), any::<bool>());
    (names, numbers, group(), group(), prop::collection::vec(traffic, 0..3), (queue(), queue(), queue())).prop_map(
        |(names, numbers, group, remote_group, traffic, queues)| Communicator {
            name: names.0.into(),
            name_set: names.1,
            unique_id: names.2,
            context_id: names.3.map(Into::into),
            local_rank: numbers.0,
            size: numbers.1,
            traffic_complete: numbers.2,
            group,
            remote_group,
            traffic: traffic.into(),
            pending_sends: queues.0.into(),
            pending_receives: queues.1.into(),
            unexpected_messages: queues.2.into(),
            ..Communicator::default()
        },
    )
}

fn call() -> impl Strategy<Value = Call> {
    let names = prop::sample::select(vec!["source", "dest", "tag", "root", "comm", "count", "outcount"]);
    let argument = (names, option::of(number()), option::of(word())).prop_map(|(name, value, meaning)| Argument {
        name: name.into(),
        value,
        meaning: meaning.map(Into::into),
        ..Argument::default()
    });
    let states = prop::sample::select(vec![
        RequestState::Open,
        RequestState::Complete,
        RequestState::Inactive,
        RequestState::Null,
        RequestState::Freed,
        RequestState::Invalid,
        RequestState::Unknown,
    ]);
    let request = (number(), option::of(word()), states).prop_map(|(index, handle, state)| CallRequest {
        index,
        handle: handle.as_deref().and_then(model::HandleWord::of),
        state,
        ..CallRequest::default()
    });
    let lists = (prop::collection::vec(argument, 0..4), prop::collection::vec(request, 0..3));
    (number(), word(), option::of(number()), option::of(0..3_u64), lists, option::of(word())).prop_map(
        |(thread, function, line, communicator, lists, fingerprint)| Call {
            thread,
            function: function.into(),
            line,
            communicator,
            arguments: lists.0,
            requests: lists.1,
            fingerprint,
            ..Call::default()
        },
    )
}

fn process() -> impl Strategy<Value = Process> {
    let stages = option::of(prop::sample::select(vec![
        Stage::NotInitialized,
        Stage::Initialized,
        Stage::Finalizing,
        Stage::Finalized,
        Stage::Ended,
    ]));
    let outside = (number(), option::of(word()), option::of(word())).prop_map(|(thread, function, caller)| Outside {
        thread,
        function,
        caller,
        ..Outside::default()
    });
    let numbers = (option::of(number()), option::of(number()), option::of(number()), option::of(number()));
    let lists = (
        prop::collection::vec(call(), 0..3),
        prop::collection::vec(outside, 0..2),
        prop::collection::vec(communicator(), 0..3),
    );
    let implementation = option::of(prop::sample::select(vec!["Open MPI", "MPICH", ""]));
    (numbers, stages, option::of(word()), option::of(any::<bool>()), lists, implementation).prop_map(
        |(numbers, stage, state, all_threads, lists, implementation)| Process {
            rank: numbers.0,
            world_size: numbers.1,
            pid: numbers.2,
            world: numbers.3,
            mpi: implementation.map(|name| Mpi { implementation: name.to_owned(), ..Mpi::default() }).map(Into::into),
            stage,
            state: state.map(Into::into),
            all_threads,
            calls: lists.0.into(),
            outside: lists.1.into(),
            communicators: lists.2.into(),
            ..Process::default()
        },
    )
}

fn garbage() -> impl Strategy<Value = Snapshot> {
    prop::collection::vec(process(), 0..5)
        .prop_map(|all| Snapshot { processes: all.into_iter().map(Into::into).collect(), ..Snapshot::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: made_up::share::rounds(150, 1500) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_makes_no_sense_is_diagnosed_without_a_panic(earlier in garbage(), later in garbage()) {
        let mut completed = later.clone();
        complete(&mut completed);
        diagnose(&completed, None);
        let alone = diagnose(&later, None);
        // The same again, and from what the JSON keeps of it.
        prop_assert_eq!(&diagnose(&later, None), &alone);
        let mut read: Snapshot = serde_json::from_str(&serde_json::to_string(&later).unwrap()).unwrap();
        prop_assert_eq!(&read, &later);
        read.share_groups();
        prop_assert_eq!(&diagnose(&read, None), &alone);
        for other in [&earlier, &later] {
            let (findings, verdict) = diagnose(&later, Some(Earlier { snapshot: other, interval_ms: Some(u64::MAX), watched: &Watched::default() }));
            prop_assert!(!verdict.headline.is_empty());
            prop_assert!(findings.iter().all(|finding| !finding.summary.is_empty()));
        }
        // What was worked out of a first look serves a second one that finds the same.
        let kept = Kept::new(&Arc::new(later.clone()));
        prop_assert_eq!(&kept.diagnose(), &alone);
        let first = Earlier { snapshot: &later, interval_ms: None, watched: &Watched::default() };
        prop_assert_eq!(kept.diagnose_again(&later, &read, first), Some(diagnose(&read, Some(first))));
    }
}

/// Processes with many threads, communicators and operations that all look the same.
#[test]
fn many_threads_that_look_the_same_are_diagnosed() {
    let waits = |thread: i64| Call { thread, function: "MPI_Recv".into(), ..Call::default() };
    let receive = Operation { any_source: true, call: Some("MPI_Recv".into()), ..Operation::default() };
    let communicator = Communicator {
        size: Some(i64::MAX),
        group: Some([Some(0), Some(0), None, Some(-7)].into()),
        pending_receives: Queue { operations: vec![receive; 20], ..Queue::default() }.into(),
        ..Communicator::default()
    };
    let process = Process {
        rank: Some(0),
        calls: (0..200).map(waits).collect(),
        communicators: vec![communicator; 10].into(),
        ..Process::default()
    };
    let (_, verdict) = diagnose(&Snapshot { processes: vec![process.into(); 2], ..Snapshot::default() }, None);
    assert!(!verdict.headline.is_empty());
}
