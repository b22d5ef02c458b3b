//! What the host makes of what a plug-in with the habits of MPICH's says.

use model::{Communicator, Operation, OperationStatus, QueueReport, QueueState};
use plugins::mqs::PluginError;

use super::mpich_memory::{ANY_SOURCE, BYTE, COLLECTIVE, DERIVED, OP, Op, Process, with_requests};

fn world(process: &mut Process) -> u64 {
    let world = process.comm("MPI_COMM_WORLD", 0x4400_0000, [0, 0], [4, 4]);
    process.near(world);
    world
}

fn named<'a>(report: &'a QueueReport, name: &str) -> &'a Communicator {
    report.communicators.iter().find(|comm| comm.name == name).unwrap_or_else(|| panic!("{name}: {report:?}"))
}

fn tags(operations: &[Operation]) -> Vec<Option<i64>> {
    operations.iter().map(|operation| operation.desired_tag).collect()
}

#[test]
fn receives_are_in_matching_order_with_ranks_lengths_and_status() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    let large = Op { tag: 1, rank: 3, count: 1 << 33, datatype: BYTE, ..OP };
    let requests = [
        process.note("MPIR_Recvq_head", large, comm),
        process.note("MPIR_Recvq_head", Op { rank: ANY_SOURCE, tag: -1, datatype: DERIVED, ..OP }, comm),
        process.note("MPIR_Recvq_head", Op { tag: 3, counter: 0, ..OP }, comm),
        process.note("MPIR_Recvq_head", Op { tag: 4, own: COLLECTIVE, ..OP }, comm),
    ];
    let report = process.read("", None, &[]).expect("a report");
    assert_eq!(report.problems, [""; 0]);
    let queue = &named(&report, "MPI_COMM_WORLD").pending_receives;
    assert_eq!((queue.state, &queue.detail), (QueueState::Ok, &None));
    let [first, any, complete, collective] = &queue.operations[..] else { panic!("{queue:?}") };
    let found: Vec<_> = queue.operations.iter().map(|operation| operation.request).collect();
    assert_eq!(found, requests.map(Some));
    // The plug-in gives a count of 32 bits.
    assert_eq!((first.desired_local_rank, first.desired_length), (Some(3), Some(1 << 33)));
    // The plug-in gives rank 65534.
    assert!(any.any_source && any.tag_wild && any.desired_local_rank.is_none());
    assert_eq!((any.desired_length, any.datatype.as_deref()), (Some(3 * 24), Some("column")));
    assert_eq!((first.status, first.actual_tag), (OperationStatus::Pending, None));
    // The plug-in says that it is pending.
    assert_eq!(complete.status, OperationStatus::Complete);
    assert_eq!((complete.actual_local_rank, complete.actual_tag, complete.actual_length), (Some(1), Some(77), Some(8)));
    assert_eq!((complete.desired_tag, complete.internal), (Some(3), false));
    assert!(collective.internal, "a receive of a collective looks like any other to the plug-in");
    assert!(first.unknown.contains_key("desired_global_rank"), "nothing is known of the communicators");
}

#[test]
fn world_ranks_and_names_are_those_of_our_own_communicators() {
    let mut process = Process::new(false);
    let comm = process.comm("", 0x8400_0004, [16, 16], [2, 2]);
    process.near(comm);
    process.note("MPIR_Sendq_head", Op { kind: 1, context: 16, ..OP }, comm);
    let known = [Communicator {
        name: "unnamed".into(),
        unique_id: 0x8400_0004,
        handle: Some(model::HandleWord(0x8400_0004)),
        size: Some(2),
        group: Some([Some(3), Some(2)].into()),
        ..Communicator::default()
    }];
    let report = process.read("", None, &known).expect("a report");
    let [only] = &report.communicators[..] else { panic!("{report:?}") };
    assert_eq!((only.name.as_str(), only.handle), ("unnamed", Some(model::HandleWord(0x8400_0004))));
    let [send] = &only.pending_sends.operations[..] else { panic!("{only:?}") };
    assert_eq!((send.desired_global_rank, send.actual_global_rank), (Some(2), Some(2)));
    assert!(send.extra_text.is_empty(), "the plug-in calls every send non-blocking");
    assert!(!send.unknown.contains_key("desired_global_rank"));
}

#[test]
fn a_length_that_no_request_tells_is_not_known() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    let netmod = process.note("MPIR_Recvq_head", Op { tag: 7, ..OP }, comm);
    // The union holds something else, with the number of a datatype by chance.
    process.put(netmod + 96, &99_u64.to_le_bytes());
    process.note("MPIR_Recvq_head", Op { tag: 8, datatype: 0x8c00_0009, ..OP }, comm);
    process.note("MPIR_Recvq_head", Op { tag: 9, count: 0, datatype: 0x8c00_0009, ..OP }, comm);
    let report = process.read("", None, &[]).expect("a report");
    let [netmod, freed, empty] = &named(&report, "MPI_COMM_WORLD").pending_receives.operations[..] else { panic!() };
    for operation in [netmod, freed] {
        assert_eq!((operation.desired_length, operation.count), (None, Some(3)));
        assert!(operation.unknown.contains_key("desired_length"), "{operation:?}");
    }
    assert!(netmod.unknown.contains_key("internal"), "whether a collective posted it is not known either");
    assert_eq!((empty.desired_length, empty.unknown.contains_key("desired_length")), (Some(0), false));
}

#[test]
fn messages_that_have_arrived_have_the_length_of_their_request() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    process.note("MPIR_Unexpq_head", Op { tag: 1, count: 40, datatype: BYTE, ..OP }, 0);
    let other = process.note("MPIR_Unexpq_head", Op { tag: 2, count: 41, datatype: BYTE, ..OP }, 0);
    process.put(other + 116, &3_i32.to_le_bytes());
    process.put(comm + 16, &2_i32.to_le_bytes());
    let report = process.read("", None, &[]).expect("a report");
    let [first, second] = &named(&report, "MPI_COMM_WORLD").unexpected_messages.operations[..] else { panic!() };
    assert_eq!((first.desired_length, first.actual_length, first.actual_tag), (Some(40), Some(40), Some(1)));
    assert_eq!((first.buffer, first.system_buffer), (Some(0x7001), true));
    assert_eq!((second.desired_length, second.actual_length, second.buffer), (None, None, None));
    assert!(second.unknown.contains_key("desired_length"));
}

#[test]
fn a_persistent_request_that_is_not_started_is_not_listed() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    let started = process.note("MPIR_Sendq_head", Op { kind: 3, tag: 1, ..OP }, comm);
    process.put(started + 64, &started.to_le_bytes());
    process.note("MPIR_Sendq_head", Op { kind: 3, tag: 2, counter: 0, ..OP }, comm);
    let report = process.read("", None, &[]).expect("a report");
    let [only] = &named(&report, "MPI_COMM_WORLD").pending_sends.operations[..] else { panic!("{report:?}") };
    assert_eq!((only.desired_tag, only.persistent, only.status), (Some(1), true, OperationStatus::Pending));
}

#[test]
fn sends_on_an_intercommunicator_are_missed_and_told() {
    let mut process = Process::new(false);
    world(&mut process);
    let inter = process.comm("inter", 0x8400_0006, [32, 48], [3, 5]);
    // The library notes the context id for receiving; the plug-in looks for that for sending.
    process.note("MPIR_Sendq_head", Op { kind: 1, context: 48, ..OP }, inter);
    let report = process.read("", None, &[]).expect("a report");
    let found = named(&report, "inter");
    assert_eq!(found.size, Some(3), "the plug-in gives the size of the remote group");
    assert_eq!((found.pending_sends.state, found.pending_sends.operations.len()), (QueueState::Error, 0));
    let detail = found.pending_sends.detail.clone().unwrap_or_default();
    assert!(detail.contains("leaves out 1 pending sends") && detail.contains("--source builtin"), "{detail}");
}

#[test]
fn context_ids_of_twenty_bits_do_not_alias() {
    let mut process = Process::new(true);
    let comm = world(&mut process);
    let far = process.comm("far", 0x8400_0005, [1 << 16, 1 << 16], [4, 4]);
    process.near(far);
    process.note("MPIR_Recvq_head", Op { tag: 1, ..OP }, comm);
    process.note("MPIR_Recvq_head", Op { tag: 2, context: 1 << 16, ..OP }, far);
    let report = process.read("", None, &[]).expect("a report");
    assert_eq!(tags(&named(&report, "MPI_COMM_WORLD").pending_receives.operations), [Some(1)]);
    assert_eq!(tags(&named(&report, "far").pending_receives.operations), [Some(2)]);
}

#[test]
fn communicators_of_the_library_are_not_listed() {
    let mut process = Process::new(false);
    world(&mut process);
    let node = process.comm("", 0x8400_0001, [2, 2], [4, 4]);
    process.note("MPIR_Recvq_head", Op { context: 2, ..OP }, node);
    let report = process.read("", None, &[]).expect("a report");
    assert_eq!(report.communicators.len(), 1);
    assert!(report.notes.iter().any(|note| note.starts_with("1 operations are not listed")), "{:?}", report.notes);
}

#[test]
fn what_the_netmod_holds_is_no_empty_queue() {
    let mut process = Process::new(false);
    process.comm("MPI_COMM_WORLD", 0x4400_0000, [0, 0], [4, 4]);
    let report = process.read("", None, &[]).expect("a report");
    let found = named(&report, "MPI_COMM_WORLD");
    assert_eq!(found.unexpected_messages.state, QueueState::NoInformation);
    assert_eq!(found.pending_receives.state, QueueState::Ok);
    with_requests(&mut process, "MPID_Recvq_posted_head_ptr", &[]);
    with_requests(&mut process, "MPID_Recvq_unexpected_head_ptr", &[]);
    let report = process.read("-DREQUESTS", None, &[]).expect("a report");
    let found = named(&report, "MPI_COMM_WORLD");
    assert_eq!(found.unexpected_messages.state, QueueState::NoInformation);
    assert_eq!(found.pending_receives.state, QueueState::NoInformation, "only active messages are in that list");
}

#[test]
fn the_names_of_former_releases_are_found_where_the_members_lie_now() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    let posted = [Op { rank: ANY_SOURCE, tag: -1, ..OP }, Op { tag: 17, datatype: DERIVED, ..OP }];
    let posted = posted.map(|op| process.request(op, comm));
    let arrived = process.request(Op { tag: 99, count: 16, datatype: BYTE, counter: 0, ..OP }, 0);
    with_requests(&mut process, "MPID_Recvq_posted_head_ptr", &posted);
    with_requests(&mut process, "MPID_Recvq_unexpected_head_ptr", &[arrived]);
    let report = process.read("-DREQUESTS", None, &[]).expect("a report");
    let found = named(&report, "MPI_COMM_WORLD");
    let [any, tagged] = &found.pending_receives.operations[..] else { panic!("{found:?}") };
    assert!(any.any_source && any.tag_wild);
    assert_eq!((any.desired_length, any.request), (Some(12), Some(posted[0])));
    assert_eq!((tagged.desired_tag, tagged.desired_length), (Some(17), Some(3 * 24)));
    let [unexpected] = &found.unexpected_messages.operations[..] else { panic!("{found:?}") };
    assert_eq!((unexpected.desired_length, unexpected.status), (Some(16), OperationStatus::Pending));
    assert!(report.notes.iter().any(|note| note.contains("MPI_Send")), "blocked sends are in no list");

    let refused = process.read("-DREQUESTS", Some("u.recv.tag"), &[]);
    assert!(
        matches!(&refused, Err(PluginError::MissingLayouts { missing, .. }) if missing == &["the field MPIDIG_req_t.tag"]),
        "{refused:?}"
    );
}

#[test]
fn a_send_of_ch4_has_no_length_whatever_an_earlier_use_left_in_its_request() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    with_requests(&mut process, "MPID_Recvq_posted_head_ptr", &[]);
    with_requests(&mut process, "MPID_Recvq_unexpected_head_ptr", &[]);
    for (number, comm) in [(1, comm), (2, 0)] {
        process.note_send(Op { tag: number, kind: 1, ..OP }, comm);
    }
    let report = process.read("-DREQUESTS", None, &[]).expect("a report");
    let sends = &named(&report, "MPI_COMM_WORLD").pending_sends.operations;
    assert_eq!(tags(sends), [Some(1), Some(2)]);
    for send in sends {
        assert_eq!((send.desired_length, send.buffer, send.count, send.datatype.as_deref()), (None, None, None, None));
        assert!(
            ["desired_length", "buffer", "datatype"].iter().all(|fact| send.unknown.contains_key(*fact)),
            "{send:?}"
        );
    }
}

#[test]
fn sends_that_only_share_a_context_id_are_not_listed_twice() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    let inter = process.comm("inter", 0x8400_0006, [0, 48], [4, 4]);
    with_requests(&mut process, "MPID_Recvq_posted_head_ptr", &[]);
    with_requests(&mut process, "MPID_Recvq_unexpected_head_ptr", &[]);
    for (number, comm) in [(1, comm), (2, inter)] {
        process.note_send(Op { tag: number, kind: 1, ..OP }, comm);
    }
    let report = process.read("-DREQUESTS", None, &[]).expect("a report");
    assert_eq!(tags(&named(&report, "MPI_COMM_WORLD").pending_sends.operations), [Some(1)]);
    assert_eq!(tags(&named(&report, "inter").pending_sends.operations), [Some(2)]);
}

#[test]
fn damage_is_told_and_changes_nothing_else() {
    let mut process = Process::new(false);
    let comm = world(&mut process);
    process.note("MPIR_Recvq_head", Op { tag: 1, ..OP }, comm);
    let request = process.note("MPIR_Recvq_head", Op { tag: 2, ..OP }, comm);
    process.put(request + 16, &0xdead_0000_u64.to_le_bytes());
    let report = process.read("", None, &[]).expect("a report");
    let queue = &named(&report, "MPI_COMM_WORLD").pending_receives;
    assert_eq!((queue.state, queue.operations.len()), (QueueState::Error, 2));
    assert!(queue.detail.as_deref().is_some_and(|detail| detail.contains("0xdead0000")), "{queue:?}");
    assert_eq!(queue.operations[0].desired_length, Some(12));
}
