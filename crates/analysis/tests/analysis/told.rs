//! What only the arguments of calls tell of operations, and which operations are not those of the call.

use analysis::diagnose::diagnose;
use model::{Argument, Communicator, Finding, FindingKind, HandleWord, Operation, Snapshot, Stage, State};

use super::made::{call, job, of_kind, outside, receive, send, twice};

/// Gives a rank's only call what the application gave it, on MPI_COMM_WORLD.
fn given(snapshot: &mut Snapshot, rank: usize, arguments: &[(&str, i64)]) {
    let communicator = Some(snapshot.processes[rank].communicators[0].unique_id);
    let call = snapshot.processes[rank].calls.last_mut().unwrap();
    call.communicator = communicator;
    let argument = |(name, value): &(&str, i64)| {
        let (name, value) = ((*name).to_owned(), Some(*value));
        Argument { name: name.into(), value, ..Argument::default() }
    };
    call.arguments = arguments.iter().map(argument).collect();
}

/// A send of which the library keeps only the length, as MPICH does of what it sends at once.
fn send_without_a_peer(snapshot: &mut Snapshot, rank: usize) {
    let operation = Operation { desired_length: Some(8), ..Operation::default() };
    snapshot.processes[rank].communicators[0].pending_sends.operations.push(operation);
}

#[test]
fn arguments_tell_to_whom_a_send_goes() {
    let mut snapshot = job(3);
    for (rank, to) in [(0, 1), (1, 0)] {
        call(&mut snapshot, rank, "MPI_Ssend", 5);
        given(&mut snapshot, rank, &[("dest", to), ("tag", 3)]);
        send_without_a_peer(&mut snapshot, rank);
    }
    outside(&mut snapshot, 2, "work");
    let (findings, verdict) = twice(&snapshot);
    assert_eq!(verdict.state, State::Deadlock, "{findings:?}");
    let [deadlock] = of_kind(&findings, FindingKind::Deadlock)[..] else { panic!("{findings:?}") };
    assert_eq!((&deadlock.ranks[..], deadlock.certain), (&[0, 1][..], true));
    assert!(deadlock.calls.iter().all(|call| call.waits_for.as_deref().is_some_and(|words| words.contains("tag 3"))));
}

#[test]
fn a_send_whose_receiver_the_arguments_tell_fits_a_receive() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Ssend", 5);
    given(&mut snapshot, 0, &[("dest", 1), ("tag", 3)]);
    send_without_a_peer(&mut snapshot, 0);
    call(&mut snapshot, 1, "MPI_Recv", 6);
    receive(&mut snapshot, 1, Some(0), 3);
    let (findings, verdict) = twice(&snapshot);
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!(verdict.state, State::Running);
}

#[test]
fn a_send_to_nobody_knows_whom_waits_for_any_member() {
    let mut snapshot = job(3);
    for rank in 0..2 {
        call(&mut snapshot, rank, "MPI_Ssend", 5);
        send_without_a_peer(&mut snapshot, rank);
    }
    outside(&mut snapshot, 2, "work");
    let (findings, _) = twice(&snapshot);
    assert!(of_kind(&findings, FindingKind::Deadlock).is_empty(), "rank 2 may receive it: {findings:?}");
    snapshot.processes[2].outside.clear();
    call(&mut snapshot, 2, "MPI_Ssend", 5);
    send_without_a_peer(&mut snapshot, 2);
    let (findings, _) = twice(&snapshot);
    let [deadlock] = of_kind(&findings, FindingKind::Deadlock)[..] else { panic!("{findings:?}") };
    assert_eq!((&deadlock.ranks[..], deadlock.certain), (&[0, 1, 2][..], true));
}

#[test]
fn a_receive_that_a_send_to_nobody_knows_whom_may_fit_is_not_stuck_for_certain() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Ssend", 5);
    send_without_a_peer(&mut snapshot, 0);
    call(&mut snapshot, 1, "MPI_Recv", 6);
    receive(&mut snapshot, 1, Some(0), 3);
    let (findings, _) = twice(&snapshot);
    assert!(findings.iter().all(|finding| !finding.certain), "{findings:?}");
    // Of another tag it cannot be.
    snapshot.processes[0].communicators[0].pending_sends.operations[0].desired_tag = Some(4);
    let (findings, _) = twice(&snapshot);
    let [deadlock] = of_kind(&findings, FindingKind::Deadlock)[..] else { panic!("{findings:?}") };
    assert!(deadlock.certain);
}

#[test]
fn arguments_are_not_given_to_one_of_several_sends() {
    let mut snapshot = job(3);
    call(&mut snapshot, 0, "MPI_Ssend", 5);
    given(&mut snapshot, 0, &[("dest", 1), ("tag", 3)]);
    send_without_a_peer(&mut snapshot, 0);
    send_without_a_peer(&mut snapshot, 0);
    call(&mut snapshot, 1, "MPI_Recv", 6);
    receive(&mut snapshot, 1, Some(0), 4);
    outside(&mut snapshot, 2, "work");
    let (findings, _) = twice(&snapshot);
    assert!(findings.iter().all(|finding| finding.kind == FindingKind::SlowRank || !finding.certain), "{findings:?}");
}

/// Ranks 0 and 1, ranks 2 and 3 make an intercommunicator of their halves; nothing is posted. The tags are those of the halves.
fn halves(tags: [i64; 2]) -> Snapshot {
    let mut snapshot = job(4);
    for rank in 0..4_usize {
        let (half, other) = (rank / 2, 1 - rank / 2);
        call(&mut snapshot, rank, "MPI_Intercomm_create", 9);
        let remote = 2 * other as i64;
        given(
            &mut snapshot,
            rank,
            &[("local_leader", 0), ("peer_comm", 0x44000000), ("remote_leader", remote), ("tag", tags[half])],
        );
        let process = &mut snapshot.processes[rank];
        process.communicators[0].handle = Some(HandleWord(0x4400_0000));
        process.communicators.push(Communicator {
            name: "half".into(),
            unique_id: 7,
            context_id: Some(format!("half {half}").into()),
            local_rank: Some(rank as i64 % 2),
            size: Some(2),
            group: Some([0, 1].map(|member| Some(2 * half as i64 + member)).into_iter().collect()),
            ..Communicator::default()
        });
        process.calls[0].communicator = Some(7);
    }
    snapshot
}

#[test]
fn leaders_of_an_intercommunicator_with_different_tags_never_meet() {
    let (findings, _) = twice(&halves([200, 200]));
    assert!(findings.is_empty(), "{findings:?}");
    let (findings, verdict) = twice(&halves([200, 201]));
    assert_eq!(verdict.state, State::Deadlock, "{findings:?}");
    let [deadlock] = of_kind(&findings, FindingKind::Deadlock)[..] else { panic!("{findings:?}") };
    assert!([0, 2].iter().all(|rank| deadlock.ranks.contains(rank)), "{deadlock:?}");
    let (_, once) = diagnose(&halves([200, 201]), None);
    assert_eq!(once.state, State::Suspect);
}

#[test]
fn whom_leaders_of_an_intercommunicator_wait_for_is_not_known_without_arguments() {
    let mut snapshot = halves([200, 201]);
    for process in &mut snapshot.processes {
        process.calls[0].arguments.clear();
    }
    let (findings, verdict) = twice(&snapshot);
    assert!(findings.is_empty(), "{findings:?}");
    assert!(verdict.limits.iter().any(|limit| limit.contains("leaders")), "{verdict:?}");
}

#[test]
fn a_send_left_over_is_no_part_of_an_exchange() {
    let mut snapshot = job(3);
    call(&mut snapshot, 0, "MPI_Sendrecv", 5);
    receive(&mut snapshot, 0, Some(1), 3);
    // Its own send is over; this one an earlier MPI_Issend has left.
    send(&mut snapshot, 0, 2, 9, true);
    outside(&mut snapshot, 1, "work");
    snapshot.processes[2].stage = Some(Stage::Finalized);
    let told =
        |snapshot: &Snapshot| twice(snapshot).0.into_iter().filter(|finding| finding.certain).collect::<Vec<_>>();
    let stuck = |findings: &[Finding]| findings.iter().any(|finding| finding.kind == FindingKind::FinishedRank);
    assert!(!stuck(&told(&snapshot)), "{:?}", told(&snapshot));
    given(&mut snapshot, 0, &[("dest", 1), ("sendtag", 3), ("source", 1), ("recvtag", 3)]);
    assert!(!stuck(&twice(&snapshot).0), "{:?}", told(&snapshot));
    given(&mut snapshot, 0, &[("dest", 2), ("sendtag", 9), ("source", 1), ("recvtag", 3)]);
    assert!(stuck(&told(&snapshot)), "{:?}", told(&snapshot));
}

#[test]
fn a_send_left_over_is_not_that_of_the_call_whose_arguments_name_another_rank() {
    let mut snapshot = job(3);
    call(&mut snapshot, 0, "MPI_Send", 5);
    given(&mut snapshot, 0, &[("dest", 1), ("tag", 3)]);
    send(&mut snapshot, 0, 2, 9, true);
    outside(&mut snapshot, 1, "work");
    snapshot.processes[2].stage = Some(Stage::Finalized);
    let (findings, _) = twice(&snapshot);
    assert!(of_kind(&findings, FindingKind::FinishedRank).is_empty(), "{findings:?}");
}
