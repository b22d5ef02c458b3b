//! What ranks give one call of a collective, windows that others have locked, and collectives for which ranks poll.

use analysis::diagnose::diagnose;
use model::{Argument, Finding, FindingKind, HandleWord, Operation, Remark, Snapshot, State, Verdict, Window};

use super::made::{call, counted, job, of_kind, outside, receive, twice};

/// Lets a rank stand in a collective on MPI_COMM_WORLD with these arguments: numbers, and what they are called.
fn stand(snapshot: &mut Snapshot, rank: usize, function: &str, numbers: &[(&str, i64)], names: &[(&str, &str)]) {
    call(snapshot, rank, function, 20);
    let own = snapshot.processes[rank].calls.last_mut().unwrap();
    own.communicator = Some(0);
    own.arguments.extend(numbers.iter().map(|(name, value)| Argument {
        name: (*name).into(),
        value: Some(*value),
        ..Argument::default()
    }));
    own.arguments.extend(names.iter().map(|(name, meaning)| Argument {
        name: (*name).into(),
        meaning: Some((*meaning).into()),
        ..Argument::default()
    }));
}

/// What the headline is about.
fn told_first<'f>(findings: &'f [Finding], verdict: &Verdict) -> &'f Finding {
    let first = &findings[verdict.finding.unwrap()];
    let doubted = first.evidence.iter().any(|one| one.starts_with("Not certain"));
    assert_ne!(first.certain, doubted, "{first:?}");
    first
}

/// A part of a collective that a rank waits for.
fn part(snapshot: &mut Snapshot, rank: usize, from: i64) {
    let function = snapshot.processes[rank].calls[0].function.to_string();
    let posted = receive(snapshot, rank, Some(from), -16);
    posted.internal = true;
    posted.extra_text = vec![format!("part of a collective: {function} (tag -16)").into()];
}

/// Ranks 1 and 2 in an MPI_Allreduce that rank 0, which computes, has not entered.
fn beside(one: &[(&str, &str)], other: &[(&str, &str)], counts: [i64; 2]) -> Snapshot {
    let mut snapshot = job(3);
    outside(&mut snapshot, 0, "solve");
    for (rank, names, count) in [(1, one, counts[0]), (2, other, counts[1])] {
        stand(&mut snapshot, rank, "MPI_Allreduce", &[("count", count)], names);
        part(&mut snapshot, rank, 0);
    }
    counted(&mut snapshot);
    snapshot
}

#[test]
fn what_does_not_agree_is_told_before_a_rank_that_computes() {
    let (sum, max) = ([("datatype", "MPI_INT"), ("op", "MPI_SUM")], [("datatype", "MPI_INT"), ("op", "MPI_MAX")]);
    let double = [("datatype", "MPI_DOUBLE"), ("op", "MPI_SUM")];
    for (other, counts, kind) in [
        (max, [1, 1], FindingKind::OperatorMismatch),
        (sum, [1, 2], FindingKind::CountMismatch),
        (double, [1, 1], FindingKind::DatatypeMismatch),
    ] {
        let (findings, verdict) = diagnose(&beside(&sum, &other, counts), None);
        let first = told_first(&findings, &verdict);
        assert_eq!((first.kind, first.certain, &first.ranks[..]), (kind, true, &[1, 2][..]), "{findings:?}");
        assert_eq!(verdict.state, State::Waiting);
        assert!(verdict.headline.starts_with("A mistake: in MPI_Allreduce on MPI_COMM_WORLD "), "{}", verdict.headline);
        assert!(verdict.headline.contains("Besides, rank 0 is outside MPI in work"), "{}", verdict.headline);
    }
    // As many bytes, and nothing that is known.
    let bytes = [("datatype", "MPI_BYTE"), ("op", "MPI_SUM")];
    for (other, counts) in [(&sum[..], [1, 1]), (&bytes, [1, 4]), (&[], [1, 7])] {
        let (findings, _) = diagnose(&beside(&sum, other, counts), None);
        assert!(findings.iter().all(|one| one.kind == FindingKind::SlowRank), "{findings:?}");
    }
}

#[test]
fn what_is_gathered_is_compared_with_what_the_root_receives() {
    let mut snapshot = job(2);
    let numbers = [("sendcount", 1), ("recvcount", 1), ("root", 0)];
    for rank in 0..2 {
        snapshot.processes[rank].communicators[0].unique_id = 0;
        let names = [("sendtype", "MPI_CHAR"), ("recvtype", "MPI_INT")];
        stand(&mut snapshot, rank, "MPI_Gather", &numbers, &names);
    }
    let (findings, _) = twice(&snapshot);
    let found = of_kind(&findings, FindingKind::DatatypeMismatch);
    assert_eq!(
        found[0].summary, "in MPI_Gather on MPI_COMM_WORLD rank 0 receives 1 MPI_INT and rank 1 sends 1 MPI_CHAR",
        "{findings:?}"
    );
}

/// Ranks in MPI_Alltoallv, with what each sends to the others and receives from them.
fn all_to_all(sent: [[i64; 3]; 3], received: [[i64; 3]; 3]) -> Snapshot {
    let mut snapshot = job(3);
    for rank in 0..3 {
        let types = [("sendtype", "MPI_INT"), ("recvtype", "MPI_INT")];
        stand(&mut snapshot, rank, "MPI_Alltoallv", &[], &types);
        let arrays = [("sendcounts", sent[rank]), ("recvcounts", received[rank])];
        snapshot.processes[rank].calls[0].arguments.extend(arrays.map(|(name, values)| Argument {
            name: name.into(),
            values: Some(values.to_vec()),
            ..Argument::default()
        }));
    }
    snapshot
}

#[test]
fn counts_of_each_pair_must_agree() {
    let tens = [[10; 3]; 3];
    let found = |sent, received| {
        let (findings, _) = twice(&all_to_all(sent, received));
        findings.into_iter().find(|one| one.kind == FindingKind::CountMismatch).map(|one| one.summary)
    };
    assert_eq!(found(tens, tens), None);
    // What a rank gives for itself holds nobody up.
    assert_eq!(found([[0, 10, 10], [10; 3], [10; 3]], tens), None);
    let one = "in MPI_Alltoallv on MPI_COMM_WORLD rank 1 sends 7 MPI_INT to rank 2, which receives 10 MPI_INT from it";
    assert_eq!(found([[10; 3], [10, 10, 7], [10; 3]], tens).as_deref(), Some(one));
    let sender =
        "in MPI_Alltoallv on MPI_COMM_WORLD rank 1 sends 7 MPI_INT to ranks 0 and 2, which receive 10 MPI_INT from it";
    assert_eq!(found([[10; 3], [7; 3], [10; 3]], tens).as_deref(), Some(sender));
    let receiver =
        "in MPI_Alltoallv on MPI_COMM_WORLD rank 2 receives 7 MPI_INT from ranks 0 and 1, which send it 10 MPI_INT";
    assert_eq!(found(tens, [[10; 3], [10; 3], [7; 3]]).as_deref(), Some(receiver));
    let several = found([[10; 3], [7; 3], [8; 3]], tens).unwrap();
    assert!(
        several.ends_with(
            "rank 1 sends 7 MPI_INT to ranks 0 and 2, which receive 10 MPI_INT from it (and 2 pairs like this)"
        ),
        "{several}"
    );
}

#[test]
fn what_stands_beside_mpi_in_place_means_nothing() {
    for buffer in [1, -1] {
        let mut snapshot = job(3);
        for rank in 0..3 {
            let numbers = [("sendbuf", buffer), ("sendcount", 0), ("recvcount", 10)];
            stand(&mut snapshot, rank, "MPI_Allgather", &numbers, &[("sendtype", "MPI_INT"), ("recvtype", "MPI_INT")]);
        }
        let (findings, _) = twice(&snapshot);
        assert!(of_kind(&findings, FindingKind::CountMismatch).is_empty(), "{findings:?}");
    }
    // Where it is not known whether it is that, nothing is said.
    let mut snapshot = all_to_all([[7; 3]; 3], [[10; 3]; 3]);
    for process in &mut snapshot.processes {
        process.calls[0].arguments.push(Argument { name: "sendbuf".into(), ..Argument::default() });
    }
    let (findings, _) = twice(&snapshot);
    assert!(of_kind(&findings, FindingKind::CountMismatch).is_empty(), "{findings:?}");
}

#[test]
fn who_all_receive_in_a_gather_are_all_roots() {
    let mut snapshot = job(3);
    for (rank, from) in [(0, 1), (1, 2), (2, 0)] {
        stand(&mut snapshot, rank, "MPI_Gather", &[], &[]);
        part(&mut snapshot, rank, from);
        snapshot.processes[rank].communicators[0].pending_receives.operations[0].desired_length = Some(8);
    }
    counted(&mut snapshot);
    let (findings, verdict) = diagnose(&snapshot, None);
    let first = told_first(&findings, &verdict);
    assert_eq!((first.kind, first.certain), (FindingKind::RootMismatch, true), "{findings:?}");
    let circle = of_kind(&findings, FindingKind::Deadlock);
    assert!(circle[0].advice.as_deref().unwrap().starts_with("Compare what each rank passes"), "{circle:?}");
    // By a message of nothing a root lets others begin.
    let mut begun = snapshot.clone();
    begun.processes[1].communicators[0].pending_receives.operations[0].desired_length = Some(0);
    let (findings, _) = diagnose(&begun, None);
    assert!(of_kind(&findings, FindingKind::RootMismatch).is_empty(), "{findings:?}");
    // One that sends is a leaf.
    let mut with_a_leaf = snapshot.clone();
    with_a_leaf.processes[2].communicators[0].pending_receives.operations.clear();
    let (findings, _) = diagnose(&with_a_leaf, None);
    assert!(of_kind(&findings, FindingKind::RootMismatch).is_empty(), "{findings:?}");
}

#[test]
fn who_has_locked_a_window_is_named() {
    let mut snapshot = job(3);
    call(&mut snapshot, 0, "MPI_Barrier", 30);
    call(&mut snapshot, 1, "MPI_Recv", 17);
    receive(&mut snapshot, 1, Some(2), 5);
    call(&mut snapshot, 2, "MPI_Win_lock", 6);
    let own = &mut snapshot.processes[2].calls[0];
    own.window = Some("0x7".to_owned());
    own.arguments.push(Argument { name: "rank".into(), value: Some(0), ..Argument::default() });
    for (rank, locks) in [(1, vec![0]), (2, vec![0])] {
        let window =
            Window { handle: Some("0x7".to_owned()), communicator: Some(0), locks: Some(locks), ..Window::default() };
        snapshot.processes[rank].windows = vec![window].into();
    }
    let told = |snapshot: &Snapshot| {
        let (findings, verdict) = twice(snapshot);
        let first = told_first(&findings, &verdict);
        assert_eq!((first.kind, first.certain), (FindingKind::OneSidedEpochs, true), "{findings:?}");
        let expected = "rank 2 waits in MPI_Win_lock for rank 1, which holds the lock and is in MPI_Recv";
        assert_eq!(first.summary, expected);
        assert_eq!(first.calls[0].waits_for.as_deref(), Some("rank 1 to unlock the window"));
    };
    told(&snapshot);
    // Without arguments its only window tells for which lock it waits.
    let own = &mut snapshot.processes[2].calls[0];
    (own.window, own.arguments) = (None, Vec::new());
    told(&snapshot);
    // Not all libraries list the lock for which a rank waits.
    let mut windows = snapshot.processes[2].windows.to_vec();
    windows[0].locks = Some(Vec::new());
    snapshot.processes[2].windows = windows.into();
    told(&snapshot);
    // Rank 0 may be the one whose lock rank 2 wants: it makes no progress.
    snapshot.processes[0].calls.clear();
    outside(&mut snapshot, 0, "solve");
    let (findings, _) = twice(&snapshot);
    assert!(findings.iter().all(|finding| !finding.certain || !finding.ranks.contains(&2)), "{findings:?}");
}

#[test]
fn a_flush_waits_for_no_more_than_that_its_target_calls_mpi() {
    let mut snapshot = job(3);
    call(&mut snapshot, 0, "MPI_Recv", 17);
    receive(&mut snapshot, 0, Some(2), 8);
    for rank in [1, 2] {
        call(&mut snapshot, rank, "MPI_Win_flush", 11);
    }
    for process in &mut snapshot.processes {
        let window = Window { communicator: Some(0), lock_all: Some(true), ..Window::default() };
        process.windows = vec![window].into();
    }
    let (findings, verdict) = diagnose(&snapshot, None);
    assert!(findings.iter().all(|finding| finding.kind != FindingKind::OneSidedEpochs), "{findings:?}");
    assert_eq!(verdict.state, State::Waiting);
    // One that is outside MPI may hold them up.
    snapshot.processes[0].calls.clear();
    outside(&mut snapshot, 0, "solve");
    let (_, verdict) = diagnose(&snapshot, None);
    assert!(verdict.headline.starts_with("Rank 0 is outside MPI in work (solve) while"), "{}", verdict.headline);
}

#[test]
fn who_has_not_started_a_collective_for_which_others_poll() {
    let mut snapshot = job(3);
    for rank in 0..3 {
        snapshot.processes[rank].communicators[0].next_sequence = Some(if rank == 2 { 37 } else { 38 });
    }
    for rank in 0..2 {
        call(&mut snapshot, rank, "MPI_Iprobe", 21);
        snapshot.processes[rank].communicators[0].pending_receives.operations.push(Operation {
            desired_local_rank: Some(2),
            desired_global_rank: Some(2),
            desired_tag: Some(-37),
            internal: true,
            request: Some(0x99),
            extra_text: vec![Remark::NumberedCollective(-37)],
            ..Operation::default()
        });
    }
    snapshot.processes[0].communicators[0].handle = Some(HandleWord(0x44));
    stand(&mut snapshot, 2, "MPI_Allreduce", &[], &[]);
    part(&mut snapshot, 2, 0);
    counted(&mut snapshot);
    let (findings, verdict) = diagnose(&snapshot, None);
    let first = told_first(&findings, &verdict);
    assert_eq!(
        (verdict.state, first.kind, &first.ranks[..]),
        (State::Suspect, FindingKind::MissingInCollective, &[2][..])
    );
    assert!(
        first.summary.starts_with("rank 2 has not started the non-blocking collective on MPI_COMM_WORLD for which")
    );
    // Who computes may start it yet.
    snapshot.processes[2].calls.clear();
    outside(&mut snapshot, 2, "solve");
    let (findings, _) = diagnose(&snapshot, None);
    assert!(of_kind(&findings, FindingKind::MissingInCollective).is_empty(), "{findings:?}");
}

/// Three ranks in a neighbourhood collective, each of which receives from the next one.
fn neighbours() -> Snapshot {
    let mut snapshot = job(3);
    for rank in 0..3 {
        stand(&mut snapshot, rank, "MPI_Neighbor_allgather", &[], &[]);
        part(&mut snapshot, rank, (rank as i64 + 1) % 3);
    }
    counted(&mut snapshot);
    snapshot
}

#[test]
fn neighbours_that_do_not_name_each_other_are_told() {
    let (findings, verdict) = diagnose(&neighbours(), None);
    let first = told_first(&findings, &verdict);
    assert_eq!((first.kind, first.certain, &first.ranks[..]), (FindingKind::RankMismatch, false, &[0, 1, 2][..]));
    assert_eq!(
        first.summary,
        "in MPI_Neighbor_allgather on MPI_COMM_WORLD rank 0 receives from rank 1, which is in the same call, sends it \
         nothing and waits for rank 2 (and 2 ranks like this)"
    );
    assert!(
        verdict.headline.starts_with("Deadlock, perhaps because in MPI_Neighbor_allgather"),
        "{}",
        verdict.headline
    );
}

#[test]
fn leaders_that_do_not_name_each_other_are_told_without_arguments() {
    let mut snapshot = job(3);
    for (rank, from) in [(0, 2), (2, 1)] {
        call(&mut snapshot, rank, "MPI_Intercomm_create", 8);
        let posted = receive(&mut snapshot, rank, Some(from), 99);
        (posted.count, posted.datatype) = (Some(1), Some("MPI_INT".into()));
    }
    call(&mut snapshot, 1, "MPI_Intercomm_create", 8);
    let posted = receive(&mut snapshot, 1, Some(0), -17);
    posted.internal = true;
    posted.extra_text = vec!["part of a collective: MPI_Bcast (tag -17)".into()];
    counted(&mut snapshot);
    let (findings, verdict) = diagnose(&snapshot, None);
    let first = told_first(&findings, &verdict);
    assert_eq!((verdict.state, first.kind), (State::Deadlock, FindingKind::RankMismatch), "{findings:?}");
    assert_eq!(
        first.summary,
        "in MPI_Intercomm_create rank 0 waits for rank 2, which names another leader: it waits for rank 1"
    );
    // With a second receive it is not known which one is the leader's.
    let posted = receive(&mut snapshot, 0, Some(1), 7);
    (posted.count, posted.datatype) = (Some(1), Some("MPI_INT".into()));
    let (findings, _) = diagnose(&snapshot, None);
    assert!(findings.iter().all(|one| !one.certain), "{findings:?}");
}

#[test]
fn tags_that_differ_by_one_number_are_told_once() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Waitall", 37);
    call(&mut snapshot, 1, "MPI_Recv", 40);
    for number in 0..3 {
        let request = receive(&mut snapshot, 0, Some(1), 65_536 + number).request.unwrap();
        snapshot.processes[0].calls[0].requests.push(model::CallRequest {
            index: number,
            handle: Some(HandleWord(request)),
            state: model::RequestState::Open,
            ..model::CallRequest::default()
        });
    }
    // In another order.
    for tag in [2, 0, 1] {
        super::made::send(&mut snapshot, 1, 0, tag, true);
        snapshot.processes[1].communicators[0].pending_sends.operations.clear();
    }
    receive(&mut snapshot, 1, Some(0), 3);
    counted(&mut snapshot);
    snapshot.processes[1].communicators[0].traffic[0].sent = Some(3);
    snapshot.processes[0].communicators[0].traffic[1].arrived = Some(3);
    let (findings, _) = diagnose(&snapshot, None);
    let found = of_kind(&findings, FindingKind::TagMismatch);
    assert_eq!(found.len(), 1, "{findings:?}");
    assert_eq!(
        found[0].summary,
        "rank 1 sent tag 0 on MPI_COMM_WORLD, rank 0 waits for tag 65536 (3 receives and as many messages: each tag is \
         65536 less than the one that is waited for, as if tags were cut to 16 bits)"
    );
}

#[test]
fn worlds_of_one_process_have_another_launcher() {
    let mut snapshot = job(3);
    for process in &mut snapshot.processes {
        (process.rank, process.world_size) = (Some(0), Some(1));
        process.mpi = Some(
            model::Mpi {
                implementation: "MPICH".to_owned(),
                version: Some("4.0.2".to_owned()),
                ..model::Mpi::default()
            }
            .into(),
        );
    }
    let (_, verdict) = diagnose(&snapshot, None);
    assert!(
        verdict.headline.starts_with("Each of the 3 processes is a world of its own")
            && verdict.headline.contains("MPICH 4.0.2"),
        "{}",
        verdict.headline
    );
    // One that has spawned another, and one alone.
    let mut spawned = snapshot.clone();
    spawned.processes[0].communicators[0].remote_group = Some([Some(1)].into());
    snapshot.processes.truncate(1);
    for other in [spawned, snapshot] {
        assert!(!diagnose(&other, None).1.headline.contains("a world of its own"));
    }
}

/// Ranks in MPI_Comm_create_from_group on all of them, each with a string of its own or without one that is known.
fn named_groups(names: &[Option<&str>]) -> Snapshot {
    let mut snapshot = job(names.len() as i64);
    for (rank, name) in names.iter().enumerate() {
        call(&mut snapshot, rank, "MPI_Comm_create_from_group", 11);
        let call = &mut snapshot.processes[rank].calls[0];
        call.group = Some((0..names.len() as i64).map(Some).collect());
        let meaning = name.map(|name| format!("\"{name}\"").into());
        call.arguments = vec![Argument { name: "stringtag".into(), meaning, ..Argument::default() }];
    }
    snapshot
}

#[test]
fn members_that_give_a_group_different_names_never_meet() {
    let snapshot = named_groups(&[Some("coordinator"), Some("worker"), Some("worker")]);
    let (findings, verdict) = twice(&snapshot);
    let expected = "in MPI_Comm_create_from_group rank 0 gives the string \"coordinator\" and ranks 1 and 2 give the \
                    string \"worker\"";
    assert_eq!((findings[0].kind, findings[0].summary.as_str()), (FindingKind::CollectiveMismatch, expected));
    assert!(findings[0].certain && verdict.state == State::Deadlock, "{findings:#?}");
    assert_eq!(findings[0].ranks, [0, 1, 2]);
}

#[test]
fn a_member_that_is_not_there_is_the_one_that_is_waited_for() {
    let mut snapshot = named_groups(&[Some("all"), Some("all"), Some("all")]);
    snapshot.processes[2].calls = Vec::new().into();
    outside(&mut snapshot, 2, "solve");
    let (findings, _) = diagnose(&snapshot, None);
    assert!(findings.iter().all(|finding| finding.kind != FindingKind::CollectiveMismatch), "{findings:#?}");
    assert!(findings[0].summary.starts_with("rank 2 is outside MPI"), "{findings:#?}");
    // All are there: they go on.
    let (findings, _) = diagnose(&named_groups(&[Some("all"), Some("all")]), None);
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn groups_that_differ_under_one_name_never_meet() {
    let mut snapshot = named_groups(&[Some("all"), Some("all"), Some("all")]);
    snapshot.processes[1].calls[0].group = Some(vec![Some(0), Some(1)]);
    snapshot.processes[2].calls = Vec::new().into();
    call(&mut snapshot, 2, "MPI_Barrier", 14);
    let (findings, _) = twice(&snapshot);
    let expected =
        "in MPI_Comm_create_from_group rank 0 gives the group of ranks 0-2 and rank 1 gives the group of ranks 0 and 1";
    assert_eq!((findings[0].summary.as_str(), findings[0].certain), (expected, true), "{findings:#?}");
    // Groups that have nobody in common are made apart.
    let mut snapshot = named_groups(&[Some("all"), Some("all"), Some("all"), Some("all")]);
    for (rank, group) in [(0, [0, 1]), (2, [2, 3])] {
        snapshot.processes[rank].calls[0].group = Some(group.map(Some).to_vec());
    }
    for rank in [1, 3] {
        snapshot.processes[rank].calls = Vec::new().into();
        outside(&mut snapshot, rank, "solve");
    }
    let (findings, _) = twice(&snapshot);
    assert!(findings.iter().all(|finding| finding.kind != FindingKind::CollectiveMismatch), "{findings:#?}");
}
