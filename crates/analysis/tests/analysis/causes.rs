//! What is told first, and what the calls that started operations add: on snapshots built by hand.

use analysis::diagnose::diagnose;
use model::{
    CallRequest, Communicator, Finding, FindingKind, HandleWord, Operation, Remark, RequestState, Sender, Snapshot,
    StartedBy, State, Verdict,
};

use super::made::{call, counted, job, of_kind, receive, send, twice};

/// A second communicator of all, in which ranks have the numbers of `members`.
fn second(snapshot: &mut Snapshot, members: &[i64]) {
    for (rank, process) in snapshot.processes.iter_mut().enumerate() {
        let own = members.iter().position(|member| *member == rank as i64).map(|at| at as i64);
        process.communicators.push(Communicator {
            name: "halo".into(),
            name_set: Some(true),
            unique_id: 3,
            context_id: Some("3".into()),
            local_rank: own,
            size: Some(members.len() as i64),
            group: Some(members.iter().map(|member| Some(*member)).collect()),
            ..Communicator::default()
        });
    }
}

/// A blocking collective on the communicator with that number.
fn collective(snapshot: &mut Snapshot, rank: usize, function: &str, line: i64, communicator: u64) {
    call(snapshot, rank, function, line);
    let own = snapshot.processes[rank].calls.last_mut().unwrap();
    own.communicator = Some(communicator);
}

/// A request of non-blocking collective number 32 on MPI_COMM_WORLD, started by a function with a root.
fn waits_for(snapshot: &mut Snapshot, rank: usize, from: i64, function: &str, root: Option<i64>, certain: bool) {
    call(snapshot, rank, "MPI_Wait", 11);
    let started = StartedBy {
        function: function.to_owned(),
        file: Some("a.c".to_owned()),
        line: Some(10),
        root,
        certain,
        ..StartedBy::default()
    };
    snapshot.processes[rank].calls[0].requests.push(CallRequest {
        handle: Some(HandleWord(0x77)),
        state: RequestState::Open,
        communicator: Some(0),
        sequence: Some(32),
        started_by: vec![started].into(),
        ..CallRequest::default()
    });
    receive(snapshot, rank, Some(from), -32);
    let posted = snapshot.processes[rank].communicators[0].pending_receives.operations.last_mut().unwrap();
    posted.internal = true;
    posted.extra_text.push(Remark::NumberedCollective(-32));
    snapshot.processes[rank].communicators[0].next_sequence = Some(33);
}

/// What is told, with its kinds, and that the headline tells the first.
fn told(snapshot: Snapshot) -> (Vec<Finding>, Verdict) {
    let (findings, verdict) = twice(&snapshot);
    assert_eq!((verdict.state, verdict.finding), (State::Deadlock, Some(0)), "{findings:?}");
    let word = if findings[0].certain { "Deadlock:" } else { "Deadlock, perhaps because" };
    assert_eq!(verdict.headline, format!("{word} {}.", findings[0].summary));
    // One look leaves it open, and says the same first.
    let (possible, verdict) = diagnose(&snapshot, None);
    assert_eq!((verdict.state, possible[0].certain), (State::Suspect, false), "{possible:?}");
    assert!(verdict.headline.starts_with("Possible deadlock: "), "{verdict:?}");
    (findings, verdict)
}

fn kinds(findings: &[Finding]) -> Vec<FindingKind> {
    findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn a_blocking_collective_against_one_that_was_started() {
    let mut snapshot = job(2);
    collective(&mut snapshot, 1, "MPI_Alltoall", 20, 0);
    snapshot.processes[1].communicators[0].next_sequence = Some(32);
    waits_for(&mut snapshot, 0, 1, "MPI_Iallreduce", None, true);
    let (findings, _) = told(snapshot);
    assert_eq!(kinds(&findings), [FindingKind::CollectiveMismatch, FindingKind::Deadlock]);
    let summary = "on MPI_COMM_WORLD rank 1 is in MPI_Alltoall and rank 0 waits for MPI_Iallreduce";
    assert_eq!((findings[0].summary.as_str(), findings[0].certain), (summary, true));
}

#[test]
fn different_functions_as_the_same_collective() {
    for certain in [true, false] {
        let mut snapshot = job(2);
        waits_for(&mut snapshot, 0, 1, "MPI_Ibcast", Some(0), true);
        waits_for(&mut snapshot, 1, 0, "MPI_Ibarrier", None, certain);
        let (findings, _) = told(snapshot);
        let mismatch = of_kind(&findings, FindingKind::CollectiveMismatch)[0];
        let summary = "on MPI_COMM_WORLD rank 0 has started MPI_Ibcast and rank 1 has started MPI_Ibarrier";
        assert_eq!((mismatch.summary.as_str(), mismatch.certain), (summary, certain));
        // What is only possible is said to be where it is the first thing said.
        assert_eq!(findings[0].kind, FindingKind::CollectiveMismatch);
    }
}

#[test]
fn different_roots_by_the_source_are_possible() {
    let mut snapshot = job(2);
    waits_for(&mut snapshot, 0, 1, "MPI_Ireduce", Some(0), true);
    waits_for(&mut snapshot, 1, 0, "MPI_Ireduce", Some(1), true);
    let (findings, _) = told(snapshot);
    let roots = of_kind(&findings, FindingKind::RootMismatch)[0];
    let summary = "in MPI_Ireduce on MPI_COMM_WORLD rank 0 gives root 0 and rank 1 gives root 1";
    assert_eq!((roots.summary.as_str(), roots.certain), (summary, false));
    assert!(roots.evidence.iter().any(|sentence| sentence.starts_with("Not certain")));
}

#[test]
fn collectives_of_two_communicators() {
    for (functions, kind, words) in [
        (
            ["MPI_Barrier", "MPI_Barrier"],
            FindingKind::CommunicatorMismatch,
            "rank 0 is in MPI_Barrier on MPI_COMM_WORLD and rank 1 is in MPI_Barrier on \"halo\"",
        ),
        (
            ["MPI_Allreduce", "MPI_Barrier"],
            FindingKind::CollectiveMismatch,
            "rank 0 is in MPI_Allreduce on MPI_COMM_WORLD and rank 1 is in MPI_Barrier on \"halo\"",
        ),
    ] {
        let mut snapshot = job(2);
        second(&mut snapshot, &[0, 1]);
        collective(&mut snapshot, 0, functions[0], 10, 0);
        collective(&mut snapshot, 1, functions[1], 20, 3);
        let (findings, _) = told(snapshot);
        assert_eq!(kinds(&findings), [kind, FindingKind::Deadlock]);
        assert_eq!(
            (findings[0].summary.as_str(), findings[0].certain, &*findings[0].ranks),
            (words, true, &[0, 1][..])
        );
    }
}

#[test]
fn a_rank_of_the_circle_that_is_not_in_the_collective() {
    let mut snapshot = job(2);
    collective(&mut snapshot, 1, "MPI_Barrier", 20, 0);
    call(&mut snapshot, 0, "MPI_Recv", 10);
    receive(&mut snapshot, 0, Some(1), 7);
    let (findings, _) = told(snapshot);
    assert_eq!(kinds(&findings), [FindingKind::MissingInCollective, FindingKind::Deadlock]);
    // Where two wait for each other's messages the barrier of the third is no cause.
    let mut snapshot = job(3);
    for (rank, from) in [(0, 1), (1, 0)] {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, Some(from), 7);
    }
    collective(&mut snapshot, 2, "MPI_Barrier", 20, 0);
    let (findings, _) = told(snapshot);
    assert_eq!(findings[0].kind, FindingKind::Deadlock);
}

/// Rank 1 waits for tag 5 from itself on a communicator in which it is number 0; rank 0 has sent that tag on MPI_COMM_WORLD.
fn other_number(senders: Vec<Sender>) -> Vec<Finding> {
    let mut snapshot = job(2);
    second(&mut snapshot, &[1, 0]);
    call(&mut snapshot, 1, "MPI_Recv", 20);
    let wait = Operation {
        desired_local_rank: Some(0),
        desired_global_rank: Some(1),
        desired_tag: Some(5),
        ..Operation::default()
    };
    snapshot.processes[1].communicators[1].pending_receives.operations.push(wait);
    let message = Operation {
        desired_local_rank: Some(0),
        desired_global_rank: Some(0),
        actual_local_rank: Some(0),
        desired_tag: Some(5),
        actual_tag: Some(5),
        ..Operation::default()
    };
    snapshot.processes[1].communicators[0].unexpected_messages.operations.push(message);
    call(&mut snapshot, 0, "MPI_Finalize", 30);
    snapshot.processes[0].senders = senders.into();
    told(snapshot).0
}

#[test]
fn the_same_number_on_another_communicator() {
    let findings = other_number(Vec::new());
    let summary = "rank 0 sent tag 5 to rank 1 on MPI_COMM_WORLD, rank 1 waits for tag 5 from rank 1 on \"halo\"";
    assert_eq!((findings[0].kind, findings[0].summary.as_str()), (FindingKind::CommunicatorMismatch, summary));
}

#[test]
fn who_may_have_sent_a_message_that_has_arrived() {
    let sender = |line, dest, tag, communicator| Sender {
        function: "MPI_Send".into(),
        file: Some("a.c".into()),
        line,
        dest,
        tag,
        communicator,
        ..Sender::default()
    };
    let findings = other_number(vec![
        sender(1, Some(1), Some(5), Some(0)),
        sender(2, None, None, None),
        // Another destination, tag, communicator.
        sender(3, Some(0), Some(5), Some(0)),
        sender(4, Some(1), Some(6), Some(0)),
        sender(5, Some(1), Some(5), Some(3)),
        sender(2, None, None, None),
    ]);
    let told: Vec<_> =
        findings[0].started_by.iter().map(|one| (one.rank, one.started.line, one.started.certain)).collect();
    assert_eq!(told, [(Some(0), Some(1), false), (Some(0), Some(2), false)]);
}

/// Ranks 0 and 1 wait for each other's message, one with tag 18 of rank 1 lies at rank 0; rank 1 sends `later` after that.
fn with_a_message_left(later: Vec<Sender>) -> Finding {
    let mut snapshot = job(2);
    for (rank, from, tag) in [(0, 1, 17), (1, 0, 5)] {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, Some(from), tag);
    }
    let message = Operation {
        desired_local_rank: Some(1),
        desired_global_rank: Some(1),
        actual_local_rank: Some(1),
        desired_tag: Some(18),
        actual_tag: Some(18),
        ..Operation::default()
    };
    snapshot.processes[0].communicators[0].unexpected_messages.operations.push(message);
    snapshot.processes[1].later_sends = later.into();
    twice(&snapshot).0.swap_remove(0)
}

#[test]
fn what_is_sent_later_has_no_wrong_tag() {
    let sender = |dest, tag, communicator| Sender {
        function: "MPI_Send".into(),
        line: 30,
        dest: Some(dest),
        tag: Some(tag),
        communicator,
        ..Sender::default()
    };
    assert_eq!(with_a_message_left(vec![sender(0, 17, Some(0))]).kind, FindingKind::Deadlock);
    // None at all, another destination, tag, communicator, or one that is not known.
    for later in [vec![], vec![sender(1, 17, Some(0))], vec![sender(0, 18, Some(0))], vec![sender(0, 17, None)]] {
        let first = with_a_message_left(later);
        assert_eq!((first.kind, first.certain), (FindingKind::TagMismatch, true));
    }
}

#[test]
fn an_error_ahead_is_told_before_the_rank_that_computes() {
    let mut snapshot = job(2);
    super::made::outside(&mut snapshot, 0, "relax");
    receive(&mut snapshot, 0, Some(1), 4);
    snapshot.processes[0].communicators[0].pending_receives.operations[0].desired_length = Some(80);
    call(&mut snapshot, 1, "MPI_Ssend", 20);
    super::made::send(&mut snapshot, 1, 0, 4, false);
    snapshot.processes[1].communicators[0].pending_sends.operations[0].desired_length = Some(160);
    super::made::counted(&mut snapshot);
    snapshot.processes[1].communicators[0].traffic[0].sent = Some(1);
    let (findings, verdict) = twice(&snapshot);
    assert_eq!(verdict.state, State::Waiting, "{findings:?}");
    let first = &findings[verdict.finding.unwrap()];
    assert_eq!((first.kind, first.certain), (FindingKind::Truncation, true));
    assert!(
        verdict.headline.starts_with("A mistake: ") && verdict.headline.contains(" Besides, rank 0 is outside MPI")
    );
}

#[test]
fn a_possible_reason_of_ranks_that_wait_for_one_that_finished() {
    // Rank 0 has finished, rank 2 waits for it, and rank 1 for rank 2, in a broadcast with another root.
    let mut snapshot = job(3);
    call(&mut snapshot, 0, "MPI_Finalize", 40);
    for (rank, root, from) in [(1, 0, 2), (2, 2, 0)] {
        collective(&mut snapshot, rank, "MPI_Bcast", 20, 0);
        let argument = model::Argument { name: "root".into(), value: Some(root), ..model::Argument::default() };
        snapshot.processes[rank].calls[0].arguments.push(argument);
        receive(&mut snapshot, rank, Some(from), -17);
        let posted = snapshot.processes[rank].communicators[0].pending_receives.operations.last_mut().unwrap();
        posted.internal = true;
    }
    super::made::counted(&mut snapshot);
    let (findings, _) = told(snapshot);
    assert_eq!((findings[0].kind, findings[0].certain), (FindingKind::RootMismatch, false), "{findings:?}");
}

/// Ranks 0 and 1 wait for each other, rank 2 for rank 3, and that for rank `then`; rank 3 has sent to rank 1 what rank 2 waits for.
fn a_message_for_another(then: i64) -> Vec<Finding> {
    let mut snapshot = job(4);
    for (rank, (from, tag)) in [(1, 17), (0, 99), (3, 1), (then, 5)].into_iter().enumerate() {
        call(&mut snapshot, rank, "MPI_Recv", 10 + rank as i64);
        receive(&mut snapshot, rank, Some(from), tag);
    }
    send(&mut snapshot, 3, 1, 1, true);
    counted(&mut snapshot);
    diagnose(&snapshot, None).0
}

#[test]
fn a_message_for_somebody_else_tells_nothing_of_ranks_that_wait_because_of_the_cause() {
    let findings = a_message_for_another(1);
    let told = of_kind(&findings, FindingKind::RankMismatch);
    assert!(!told.is_empty() && told.iter().all(|one| one.consequence), "{findings:?}");
    // Here ranks 2 and 3 hold one another.
    let findings = a_message_for_another(2);
    let told = of_kind(&findings, FindingKind::RankMismatch);
    assert!(told.iter().any(|one| !one.consequence), "{findings:?}");
}

#[test]
fn who_waits_for_a_request_that_was_freed_is_the_cause() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Waitall", 65);
    let request = |index, state| CallRequest { index, state, ..CallRequest::default() };
    snapshot.processes[0].calls[0].requests = vec![request(0, RequestState::Complete), request(1, RequestState::Freed)];
    call(&mut snapshot, 1, "MPI_Recv", 85);
    receive(&mut snapshot, 1, Some(0), 7);
    let (findings, verdict) = twice(&snapshot);
    assert_eq!(verdict.state, State::Suspect, "{}", verdict.headline);
    let found = &findings[verdict.finding.unwrap()];
    assert_eq!(
        found.summary,
        "perhaps rank 0 waits in MPI_Waitall for a request that was freed, and rank 1 waits for it"
    );
    assert_eq!((found.certain, &found.ranks[..]), (false, &[0, 1][..]));
    // Nobody knows what stands there that is no request at all.
    snapshot.processes[0].calls[0].requests[1].state = RequestState::Invalid;
    assert_eq!(twice(&snapshot).1.state, State::Running);
}
