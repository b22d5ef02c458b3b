//! What threads wait for and what is told of it, on snapshots built by hand.

use analysis::diagnose::{Earlier, Watched, diagnose};
use model::{Argument, FindingKind, HandleWord, Motion, Mpi, Snapshot, Stage, State, Traffic, Window};

use super::made::{call, counted, in_transit, job, of_kind, outside, receive, send, twice};

#[test]
fn two_receives_of_each_other() {
    let mut snapshot = job(3);
    for (rank, from) in [(0, 1), (1, 0), (2, 0)] {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, Some(from), 17);
    }
    let (findings, verdict) = diagnose(&snapshot, None);
    assert_eq!((findings[0].kind, findings[0].certain, verdict.state), (FindingKind::Deadlock, false, State::Suspect));
    counted(&mut snapshot);
    for (findings, verdict) in [diagnose(&snapshot, None), twice(&snapshot)] {
        assert_eq!(verdict.state, State::Deadlock, "{verdict:?}");
        let [deadlock] = findings.as_slice() else { panic!("{findings:?}") };
        assert_eq!(deadlock.summary, "ranks 0 and 1 wait for one another in MPI_Recv");
        assert_eq!((deadlock.ranks.as_slice(), deadlock.certain), (&[0, 1][..], true));
        assert_eq!(deadlock.calls[0].waits_for.as_deref(), Some("rank 1 to send tag 17 on MPI_COMM_WORLD"));
        assert!(deadlock.evidence.iter().any(|sentence| sentence == "Rank 2 waits for these."), "{deadlock:?}");
    }
}

#[test]
fn a_message_on_its_way_is_no_deadlock_for_certain() {
    let mut snapshot = job(2);
    for (rank, from) in [(0, 1), (1, 0)] {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, Some(from), 17);
    }
    counted(&mut snapshot);
    snapshot.processes[0].communicators[0].traffic[1].sent = Some(1);
    let (findings, verdict) = diagnose(&snapshot, None);
    assert!(findings.iter().all(|finding| !finding.certain), "{findings:?}");
    assert_eq!(verdict.state, State::Suspect);
}

#[test]
fn a_message_in_transit_is_known_in_place_of_the_count() {
    let with = |tags: &[i64], sent: u64| {
        let mut snapshot = job(2);
        for (rank, from) in [(0, 1), (1, 0)] {
            call(&mut snapshot, rank, "MPI_Recv", 10);
            receive(&mut snapshot, rank, Some(from), 17);
        }
        counted(&mut snapshot);
        snapshot.processes[0].communicators[0].traffic[1].sent = Some(sent);
        tags.iter().for_each(|tag| in_transit(&mut snapshot, 1, 0, *tag));
        let (findings, verdict) = diagnose(&snapshot, None);
        (findings.iter().any(|finding| finding.kind == FindingKind::Deadlock && finding.certain), verdict.state)
    };
    // All that was sent was read, and nothing of it fits.
    assert_eq!(with(&[18], 1), (true, State::Deadlock));
    assert_eq!(with(&[18, 19], 2), (true, State::Deadlock));
    // One more is on its way, and nobody knows which.
    assert_eq!(with(&[18], 2), (false, State::Suspect));
    // It fits: the receiver takes it out and goes on.
    assert_eq!(with(&[17], 1), (false, State::Running));
    assert_eq!(with(&[18, 17], 2), (false, State::Running));
}

#[test]
fn a_rank_outside_mpi_has_messages_in_front_of_it() {
    let mut snapshot = job(2);
    outside(&mut snapshot, 0, "compute");
    call(&mut snapshot, 1, "MPI_Recv", 10);
    receive(&mut snapshot, 1, Some(0), 17);
    let summary = |snapshot: &Snapshot| {
        let (findings, _) = diagnose(snapshot, None);
        of_kind(&findings, FindingKind::SlowRank)[0].summary.clone()
    };
    let plain = "rank 0 is outside MPI in work (compute) while rank 1 waits for it";
    assert_eq!(summary(&snapshot), plain);
    in_transit(&mut snapshot, 0, 1, 5);
    assert_eq!(summary(&snapshot), format!("{plain} (it does not take part in MPI: 1 message waits for it)"));
    in_transit(&mut snapshot, 0, 1, 6);
    in_transit(&mut snapshot, 0, 1, 6);
    assert_eq!(summary(&snapshot), format!("{plain} (it does not take part in MPI: 3 messages wait for it)"));
}

#[test]
fn a_rank_that_moved_is_in_no_deadlock() {
    let mut snapshot = job(2);
    for (rank, from) in [(0, 1), (1, 0)] {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, Some(from), 17);
    }
    let mut earlier = snapshot.clone();
    earlier.processes[1].calls[0].fingerprint = Some("other".to_owned());
    let (findings, verdict) =
        diagnose(&snapshot, Some(Earlier { snapshot: &earlier, interval_ms: None, watched: &Watched::default() }));
    assert_eq!((findings.len(), verdict.state), (0, State::Running), "{findings:?}");
    let states: Vec<Motion> = verdict.movement.iter().map(|movement| movement.state).collect();
    assert_eq!(states, [Motion::Stuck, Motion::Moved]);
}

#[test]
fn who_goes_in_and_out_of_mpi_with_nothing_to_show_for_it_polls() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Recv", 10);
    receive(&mut snapshot, 0, Some(1), 17);
    call(&mut snapshot, 1, "MPI_Test", 20);
    let state = |earlier: &Snapshot| {
        let earlier = Earlier { snapshot: earlier, interval_ms: None, watched: &Watched::default() };
        diagnose(&snapshot, Some(earlier)).1.movement[1].state
    };
    assert_eq!(state(&snapshot), Motion::Spinning);
    let mut earlier = snapshot.clone();
    earlier.processes[1].calls[0].function = "MPI_Send".into();
    assert_eq!(state(&earlier), Motion::Moved);
}

/// MPICH's queues in shared memory are rings, which have the same content again after some hundred messages.
#[test]
fn ranks_whose_messages_were_seen_to_move_are_in_no_deadlock() {
    let mut snapshot = job(2);
    for (rank, from) in [(0, 1), (1, 0)] {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, Some(from), 17);
    }
    let pids: Vec<i64> = snapshot.processes.iter().filter_map(|process| process.pid).collect();
    let looked = |moving: &[i64]| {
        let watched = &Watched { moving: moving.iter().copied().collect(), ..Watched::default() };
        let (findings, verdict) =
            diagnose(&snapshot, Some(Earlier { snapshot: &snapshot, interval_ms: None, watched }));
        let states: Vec<Motion> = verdict.movement.iter().map(|movement| movement.state).collect();
        (findings.len(), verdict.state, states)
    };
    assert_eq!(looked(&[]), (1, State::Deadlock, vec![Motion::Stuck, Motion::Stuck]));
    assert_eq!(looked(&pids), (0, State::Running, vec![Motion::Moved, Motion::Moved]));
    assert_eq!(looked(&pids[..1]), (0, State::Running, vec![Motion::Moved, Motion::Stuck]));
}

/// Whether a rank outside MPI ever waits for what it has posted nobody knows, but a message of another tag is worth a word.
#[test]
fn what_a_rank_outside_mpi_has_posted_is_told_beside_a_message_of_another_tag() {
    let told = |tag: i64| {
        let mut snapshot = job(2);
        outside(&mut snapshot, 0, "compute");
        receive(&mut snapshot, 0, Some(1), 10);
        call(&mut snapshot, 1, "MPI_Ssend", 20);
        send(&mut snapshot, 1, 0, tag, false);
        let (findings, verdict) = diagnose(&snapshot, None);
        assert_eq!(verdict.state, State::Waiting, "{findings:?}");
        verdict.headline
    };
    let headline = told(11);
    assert!(
        headline.ends_with("; rank 0 has posted a receive of tag 10 from rank 1, which has sent tag 11."),
        "{headline}"
    );
    assert!(!told(10).contains("has posted"));
}

#[test]
fn messages_that_a_rank_outside_mpi_has_not_received_are_told() {
    let headline = |messages: usize| {
        let mut snapshot = job(2);
        outside(&mut snapshot, 0, "nanosleep");
        // Sent eagerly, and complete there.
        (0..messages).for_each(|_| send(&mut snapshot, 1, 0, 4, true));
        snapshot.processes[1].communicators[0].pending_sends.operations.clear();
        call(&mut snapshot, 1, "MPI_Recv", 20);
        receive(&mut snapshot, 1, Some(0), 9);
        diagnose(&snapshot, None).1.headline
    };
    assert!(headline(0).ends_with("while rank 1 waits for it."), "{}", headline(0));
    assert!(headline(1).ends_with("waits for it; rank 0 has not received tag 4 from rank 1."), "{}", headline(1));
    assert!(headline(3).ends_with("has not received tag 4 from rank 1, nor 2 other messages."), "{}", headline(3));
}

/// What changes nothing but messages may go on for ever.
#[test]
fn ranks_that_only_exchange_messages_may_be_in_a_live_lock() {
    let mut snapshot = job(3);
    for (rank, from) in [(0, 1), (1, 0)] {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, Some(from), 17);
    }
    call(&mut snapshot, 2, "MPI_Barrier", 20);
    let pids: Vec<i64> = snapshot.processes.iter().filter_map(|process| process.pid).collect();
    let told = |earlier: &Snapshot, moving: &[i64]| {
        let watched = &Watched { moving: moving.iter().copied().collect(), ..Watched::default() };
        let verdict = diagnose(&snapshot, Some(Earlier { snapshot: earlier, interval_ms: None, watched })).1;
        assert_eq!(!verdict.live_lock.is_empty(), verdict.headline.contains("live lock"));
        verdict.headline
    };
    let live_lock =
        "Perhaps a live lock: ranks 0 and 1 exchange messages (MPI_Recv), and nothing else in the job changed.";
    assert_eq!(told(&snapshot, &pids[..2]), live_lock);
    let mut earlier = snapshot.clone();
    earlier.processes[1].calls[0].function = "MPI_Ssend".into();
    assert_eq!(told(&earlier, &pids[..2]), live_lock, "elsewhere in the same function");
    // Who exchanges messages alone does so with somebody who was not seen; one whose variables changed goes on.
    assert!(!told(&snapshot, &pids[..1]).contains("live lock"));
    earlier.processes[0].calls[0].fingerprint = Some("other".to_owned());
    assert!(!told(&earlier, &pids[..2]).contains("live lock"));
}

/// An MPI that counts nothing, over a network that the kernel does not count: an answer may be on its way at both looks.
#[test]
fn ranks_whose_messages_nobody_sees_are_in_no_certain_deadlock() {
    let mut snapshot = job(2);
    for (rank, from) in [(0, 1), (1, 0)] {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, Some(from), 17);
    }
    let looked = |snapshot: &Snapshot, unseen: &[i64]| {
        let watched = &Watched { unseen: unseen.iter().copied().collect(), ..Watched::default() };
        let (findings, verdict) = diagnose(snapshot, Some(Earlier { snapshot, interval_ms: Some(500), watched }));
        let how = verdict.movement[0].how.join(" ");
        (findings[0].certain, verdict.movement[0].state, how.contains("a network that cannot be read"))
    };
    let pids: Vec<i64> = snapshot.processes.iter().filter_map(|process| process.pid).collect();
    for process in &mut snapshot.processes {
        process.communicators[0].traffic_complete = false;
        process.communicators[0].traffic = Vec::new().into();
    }
    assert_eq!(looked(&snapshot, &[]), (true, Motion::Stuck, false));
    assert_eq!(looked(&snapshot, &pids), (false, Motion::Unknown, true));
    // Where it counts, as many have arrived as were sent.
    for process in &mut snapshot.processes {
        process.communicators[0].traffic_complete = true;
    }
    assert_eq!(looked(&snapshot, &pids), (true, Motion::Stuck, false));
}

#[test]
fn sends_that_nobody_receives() {
    let mut snapshot = job(2);
    for (rank, to) in [(0, 1), (1, 0)] {
        call(&mut snapshot, rank, "MPI_Ssend", 5);
        send(&mut snapshot, rank, to, 3, true);
    }
    let (findings, _) = diagnose(&snapshot, None);
    let deadlock = of_kind(&findings, FindingKind::Deadlock);
    assert_eq!((deadlock.len(), deadlock[0].certain), (1, true), "{findings:?}");
    // One that was not seen at its receiver may just have been taken.
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Ssend", 5);
    send(&mut snapshot, 0, 1, 3, false);
    call(&mut snapshot, 1, "MPI_Recv", 5);
    receive(&mut snapshot, 1, Some(0), 4);
    counted(&mut snapshot);
    let (findings, _) = diagnose(&snapshot, None);
    assert!(findings.iter().all(|finding| !finding.certain), "{findings:?}");
}

#[test]
fn a_send_that_fits_a_receive_moves() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Ssend", 5);
    send(&mut snapshot, 0, 1, 3, false);
    call(&mut snapshot, 1, "MPI_Recv", 5);
    receive(&mut snapshot, 1, Some(0), 3);
    counted(&mut snapshot);
    let (findings, verdict) = diagnose(&snapshot, None);
    assert_eq!((findings.len(), verdict.state), (0, State::Running), "{findings:?}");
}

#[test]
fn a_receive_from_anybody_is_stuck_only_with_all_others() {
    let mut snapshot = job(3);
    for rank in 0..3 {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, (rank > 0).then_some(0), 17);
    }
    counted(&mut snapshot);
    let (findings, _) = diagnose(&snapshot, None);
    assert_eq!((findings[0].ranks.len(), findings[0].certain), (3, true), "{findings:?}");
    snapshot.processes[2].calls.clear();
    snapshot.processes[2].communicators[0].pending_receives.operations.clear();
    outside(&mut snapshot, 2, "compute");
    let (findings, verdict) = diagnose(&snapshot, None);
    let [slow] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((slow.kind, slow.ranks.as_slice(), verdict.state), (FindingKind::SlowRank, &[2][..], State::Waiting));
    assert_eq!(slow.summary, "rank 2 is outside MPI in work (compute) while ranks 0 and 1 wait for it");
}

#[test]
fn a_rank_that_has_finished_sends_nothing() {
    for stage in [Stage::Finalized, Stage::Ended, Stage::Finalizing] {
        let mut snapshot = job(3);
        call(&mut snapshot, 0, "MPI_Recv", 10);
        receive(&mut snapshot, 0, Some(1), 17);
        if stage == Stage::Finalizing {
            call(&mut snapshot, 1, "MPI_Finalize", 12);
        }
        snapshot.processes[1].stage = Some(stage);
        call(&mut snapshot, 2, "MPI_Recv", 10);
        receive(&mut snapshot, 2, Some(0), 17);
        // Where nothing counts messages, one may be on its way: a second look tells.
        let (findings, verdict) = diagnose(&snapshot, None);
        let perhaps = of_kind(&findings, FindingKind::FinishedRank);
        assert!(perhaps.iter().all(|finding| !finding.certain && finding.ranks == [0, 1]), "{findings:?}");
        assert_eq!((perhaps.len(), verdict.state), (1, State::Suspect), "{stage:?}");
        let (findings, verdict) = twice(&snapshot);
        let [finished, ..] = findings.as_slice() else { panic!("{findings:?}") };
        assert!(of_kind(&findings, FindingKind::Deadlock).is_empty(), "{findings:?}");
        assert_eq!((finished.kind, finished.certain), (FindingKind::FinishedRank, true), "{stage:?}");
        assert_eq!((finished.ranks.as_slice(), verdict.state), (&[0, 1][..], State::Deadlock));
    }
}

#[test]
fn a_collective_without_operations_waits_for_who_is_missing() {
    let mut snapshot = job(4);
    for rank in 0..3 {
        call(&mut snapshot, rank, "MPI_Barrier", 20);
    }
    call(&mut snapshot, 3, "MPI_Recv", 30);
    receive(&mut snapshot, 3, Some(0), 1);
    let (findings, _) = twice(&snapshot);
    let deadlock = of_kind(&findings, FindingKind::Deadlock);
    assert_eq!((deadlock.len(), deadlock[0].certain), (1, true), "{findings:?}");
    let told = deadlock[0].calls.iter().find(|call| call.rank == Some(0)).and_then(|call| call.waits_for.clone());
    assert_eq!(told.as_deref(), Some("rank 3 to enter MPI_Barrier on MPI_COMM_WORLD"));
    assert!(of_kind(&diagnose(&snapshot, None).0, FindingKind::Deadlock).iter().all(|finding| !finding.certain));
}

#[test]
fn arguments_say_which_receive_a_call_waits_for() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Recv", 10);
    receive(&mut snapshot, 0, Some(1), 1);
    receive(&mut snapshot, 0, Some(0), 2);
    let argument = |name: &str, value| Argument { name: name.into(), value: Some(value), ..Argument::default() };
    snapshot.processes[0].calls[0].arguments = vec![argument("source", 0), argument("tag", 2)];
    outside(&mut snapshot, 1, "compute");
    counted(&mut snapshot);
    let (findings, _) = diagnose(&snapshot, None);
    let deadlock = of_kind(&findings, FindingKind::Deadlock);
    assert_eq!(deadlock.first().map(|finding| finding.summary.as_str()), Some("rank 0 waits for itself in MPI_Recv"));
}

#[test]
fn the_half_of_an_exchange_with_nobody_waits_for_nobody() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Sendrecv", 10);
    // Of an MPI_Irecv before it.
    receive(&mut snapshot, 0, Some(1), 9);
    send(&mut snapshot, 0, 1, 5, true);
    let mpi = Mpi { implementation: "Open MPI".to_owned(), ..Mpi::default() };
    snapshot.processes[0].mpi = Some(mpi.into());
    snapshot.processes[0].communicators[0].handle = Some(HandleWord(0x1000));
    let argument = |name: &str, value| Argument { name: name.into(), value: Some(value), ..Argument::default() };
    snapshot.processes[0].calls[0].arguments = vec![argument("dest", 1), argument("source", -2)];
    call(&mut snapshot, 1, "MPI_Recv", 12);
    receive(&mut snapshot, 1, Some(0), 7);
    counted(&mut snapshot);
    let (findings, _) = diagnose(&snapshot, None);
    let calls: Vec<_> = of_kind(&findings, FindingKind::Deadlock).iter().flat_map(|one| &one.calls).collect();
    let told = calls.iter().find(|call| call.rank == Some(0)).and_then(|call| call.waits_for.clone());
    assert_eq!(told.as_deref(), Some("rank 1 to receive tag 5 on MPI_COMM_WORLD"), "{findings:?}");
}

#[test]
fn ranks_in_different_collectives() {
    let mut snapshot = job(3);
    for (rank, function) in ["MPI_Barrier", "MPI_Allreduce", "MPI_Barrier"].into_iter().enumerate() {
        call(&mut snapshot, rank, function, 20);
    }
    let (findings, _) = twice(&snapshot);
    let mismatch = of_kind(&findings, FindingKind::CollectiveMismatch);
    assert_eq!((mismatch.len(), mismatch[0].certain), (1, true), "{findings:?}");
    let words = "on MPI_COMM_WORLD rank 1 is in MPI_Allreduce and ranks 0 and 2 are in MPI_Barrier";
    assert_eq!(mismatch[0].summary, words);
    // One look alone cannot tell a mismatch from ranks that are a step apart.
    assert!(diagnose(&snapshot, None).0.iter().all(|finding| !finding.certain), "{findings:?}");
}

#[test]
fn a_rank_that_left_a_broadcast_is_a_step_ahead() {
    // Rank 0, the root, has left MPI_Bcast; rank 1 still waits in it for rank 2, which is missing in it.
    let mut snapshot = job(3);
    call(&mut snapshot, 0, "MPI_Barrier", 21);
    call(&mut snapshot, 1, "MPI_Bcast", 20);
    call(&mut snapshot, 2, "MPI_Recv", 10);
    receive(&mut snapshot, 2, Some(0), 4);
    let (findings, _) = twice(&snapshot);
    assert!(of_kind(&findings, FindingKind::CollectiveMismatch).is_empty(), "{findings:?}");
    assert_eq!(of_kind(&findings, FindingKind::Deadlock).len(), 1, "{findings:?}");
}

#[test]
fn who_polls_is_never_stuck_for_certain() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Test", 10);
    receive(&mut snapshot, 0, Some(1), 4);
    call(&mut snapshot, 1, "MPI_Recv", 12);
    receive(&mut snapshot, 1, Some(0), 5);
    counted(&mut snapshot);
    let (findings, verdict) = twice(&snapshot);
    assert_eq!(verdict.state, State::Suspect, "{findings:?}");
    let polling = of_kind(&findings, FindingKind::Polling);
    assert_eq!((polling.len(), polling[0].certain, polling[0].ranks.as_slice()), (1, false, &[0][..]));
    assert!(of_kind(&findings, FindingKind::Deadlock).is_empty(), "{findings:?}");
}

#[test]
fn a_message_that_fits_nobody_comes_before_who_polls() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Test", 10);
    receive(&mut snapshot, 0, Some(1), 4);
    send(&mut snapshot, 0, 1, 6, true);
    call(&mut snapshot, 1, "MPI_Recv", 12);
    receive(&mut snapshot, 1, Some(0), 5);
    counted(&mut snapshot);
    let (findings, verdict) = twice(&snapshot);
    assert_eq!(verdict.state, State::Suspect, "{findings:?}");
    let kinds: Vec<_> = findings.iter().map(|one| (one.kind, one.certain)).collect();
    assert_eq!(kinds[0], (FindingKind::TagMismatch, false), "{findings:?}");
    assert!(kinds.contains(&(FindingKind::Polling, false)), "{findings:?}");
}

#[test]
fn a_thread_that_was_not_seen_may_do_what_others_wait_for() {
    let mut snapshot = job(2);
    for (rank, from) in [(0, 1), (1, 0)] {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, Some(from), 17);
    }
    counted(&mut snapshot);
    snapshot.processes[1].all_threads = Some(false);
    for (findings, verdict) in [diagnose(&snapshot, None), twice(&snapshot)] {
        assert_eq!(verdict.state, State::Suspect);
        assert!(!findings[0].certain && findings.iter().all(|finding| !finding.certain), "{findings:?}");
        let doubt = "Not certain: not all threads of rank 1 could be read.";
        assert!(findings[0].evidence.iter().any(|sentence| sentence == doubt), "{findings:?}");
    }
}

#[test]
fn who_owes_its_part_of_a_broadcast_is_not_in_it() {
    let mut snapshot = job(3);
    for rank in [1, 2] {
        call(&mut snapshot, rank, "MPI_Bcast", 10);
        snapshot.processes[rank].calls[0].communicator = Some(0);
        receive(&mut snapshot, rank, Some(if rank == 1 { 0 } else { 1 }), -17);
        let posted = &mut snapshot.processes[rank].communicators[0].pending_receives.operations[0];
        posted.internal = true;
        posted.extra_text = vec!["part of a collective: MPI_Bcast (tag -17)".into()];
    }
    call(&mut snapshot, 0, "MPI_Recv", 20);
    receive(&mut snapshot, 0, Some(1), 3);
    counted(&mut snapshot);
    let (findings, _) = diagnose(&snapshot, None);
    let [missing] = of_kind(&findings, FindingKind::MissingInCollective)[..] else { panic!("{findings:?}") };
    assert_eq!((missing.ranks.as_slice(), missing.certain), (&[0][..], true), "{missing:?}");
    // Nothing was posted that says who owes what: rank 0 may have been through it.
    for rank in [1, 2] {
        snapshot.processes[rank].communicators[0].pending_receives.operations.clear();
    }
    let (findings, _) = diagnose(&snapshot, None);
    assert!(findings.iter().all(|finding| !finding.certain), "{findings:?}");
}

/// Lets a rank stand in a function of the window of MPI_COMM_WORLD, with epochs open to others.
fn on_window(snapshot: &mut Snapshot, rank: usize, function: &str, started: Option<&[i64]>, posted: Option<&[i64]>) {
    call(snapshot, rank, function, 10);
    let process = &mut snapshot.processes[rank];
    process.calls[0].window = Some("0x7".to_owned());
    process.calls[0].communicator = Some(0);
    let ranks = |ranks: Option<&[i64]>| ranks.map(|ranks| ranks.iter().copied().map(Some).collect());
    process.windows.push(Window {
        handle: Some("0x7".to_owned()),
        communicator: Some(0),
        started: ranks(started),
        posted: ranks(posted),
        ..Window::default()
    });
}

#[test]
fn who_exposes_memory_waits_for_those_that_it_has_posted_to() {
    let mut snapshot = job(3);
    on_window(&mut snapshot, 0, "MPI_Win_wait", None, Some(&[1]));
    call(&mut snapshot, 1, "MPI_Recv", 20);
    receive(&mut snapshot, 1, Some(0), 3);
    outside(&mut snapshot, 2, "work");
    counted(&mut snapshot);
    let (findings, verdict) = twice(&snapshot);
    assert_eq!(verdict.state, State::Deadlock, "{findings:?}");
    let deadlock = of_kind(&findings, FindingKind::Deadlock)[0];
    assert_eq!((deadlock.ranks.as_slice(), deadlock.certain), (&[0, 1][..], true));
    // The epochs are the cause, and come first.
    assert_eq!(findings[0].kind, FindingKind::OneSidedEpochs);
    let waits_for = deadlock.calls[0].waits_for.as_deref();
    assert_eq!(waits_for, Some("rank 1 to complete its access to the window"));
    assert_eq!(of_kind(&findings, FindingKind::OneSidedEpochs).len(), 1);
    // Memory counts no messages: at one look the last one may be on its way.
    let (findings, _) = diagnose(&snapshot, None);
    assert!(findings.iter().all(|finding| !finding.certain), "{findings:?}");
    // Any of two may be the one that is missing.
    snapshot.processes[0].windows[0].posted = Some(vec![Some(1), Some(2)]);
    let (findings, _) = twice(&snapshot);
    assert!(findings.iter().all(|finding| !finding.certain || finding.kind == FindingKind::SlowRank), "{findings:?}");
    let told = findings.iter().flat_map(|finding| &finding.calls).find_map(|call| call.waits_for.as_deref());
    assert_eq!(told, Some("some of ranks 1 and 2 to complete their accesses to the window"), "{findings:?}");
}

#[test]
fn who_holds_a_lock_is_the_cause_where_those_that_wait_for_it_are_missing() {
    let mut snapshot = job(3);
    for rank in [0, 2] {
        on_window(&mut snapshot, rank, "MPI_Win_lock", None, None);
        snapshot.processes[rank].windows[0].locks = Some(vec![0]);
        let rank_argument = Argument { name: "rank".into(), value: Some(0), ..Argument::default() };
        snapshot.processes[rank].calls[0].arguments.push(rank_argument);
    }
    on_window(&mut snapshot, 1, "MPI_Barrier", None, None);
    snapshot.processes[1].windows[0].locks = Some(vec![0]);
    let (_, verdict) = twice(&snapshot);
    let expected = "ranks 0 and 2 wait in MPI_Win_lock for rank 1, which holds the lock and is in MPI_Barrier.";
    assert_eq!(verdict.headline, format!("Deadlock: {expected}"));
}

#[test]
fn who_accesses_memory_waits_for_those_that_have_not_posted() {
    let mut snapshot = job(3);
    on_window(&mut snapshot, 0, "MPI_Win_complete", Some(&[1, 2]), None);
    on_window(&mut snapshot, 1, "MPI_Win_complete", Some(&[0]), None);
    outside(&mut snapshot, 2, "work");
    let (findings, _) = twice(&snapshot);
    assert_eq!((findings[0].ranks.as_slice(), findings[0].certain), (&[0, 1][..], true), "{findings:?}");
    // One has posted to the other: that one goes on.
    snapshot.processes[1].windows[0].posted = Some(vec![Some(0)]);
    let (findings, verdict) = twice(&snapshot);
    assert_ne!(verdict.state, State::Deadlock, "{findings:?}");
    // It is not known whether it has.
    let window = &mut snapshot.processes[1].windows[0];
    window.posted = None;
    window.unknown.insert("posted".to_owned(), "not kept".to_owned());
    let (_, verdict) = twice(&snapshot);
    assert_ne!(verdict.state, State::Deadlock);
}

#[test]
fn damaged_numbers_end_in_an_answer() {
    let mut snapshot = job(3);
    for (rank, value) in [i64::MIN, -1, i64::MAX].into_iter().enumerate() {
        call(&mut snapshot, rank, if rank == 1 { "MPI_Bcast" } else { "MPI_Recv" }, value);
        receive(&mut snapshot, rank, Some(value), 3);
        let communicator = &mut snapshot.processes[rank].communicators[0];
        communicator.local_rank = Some(value);
        communicator.size = Some(value);
        communicator.group = Some(vec![None, Some(value), Some(value), Some(0)].into());
        communicator.traffic =
            vec![Traffic { local_rank: value, sent: Some(u64::MAX), modulus: 0, ..Traffic::default() }].into();
    }
    snapshot.processes[2].rank = Some(0);
    let (_, verdict) = twice(&snapshot);
    assert!(!verdict.headline.is_empty());
}

#[test]
fn who_finalizes_without_a_frame_of_mpi_finalize_has_finished() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Recv", 10);
    receive(&mut snapshot, 0, Some(1), 17);
    outside(&mut snapshot, 1, "clock_nanosleep");
    snapshot.processes[1].stage = Some(Stage::Finalizing);
    let (findings, _) = twice(&snapshot);
    assert_eq!((findings[0].kind, findings[0].certain), (FindingKind::FinishedRank, true), "{findings:?}");
}

#[test]
fn of_a_wait_whose_request_is_not_known_the_operations_are_alternatives() {
    let mut snapshot = job(2);
    for (rank, from) in [(0, 1), (1, 0)] {
        call(&mut snapshot, rank, "MPI_Wait", 10);
        receive(&mut snapshot, rank, Some(from), 5);
        receive(&mut snapshot, rank, Some(from), 6);
    }
    counted(&mut snapshot);
    let (findings, _) = diagnose(&snapshot, None);
    let told = findings.iter().flat_map(|finding| &finding.calls).find_map(|call| call.waits_for.as_deref());
    let expected = "rank 1 to send tag 5 on MPI_COMM_WORLD or rank 1 to send tag 6 on MPI_COMM_WORLD";
    assert_eq!(told, Some(expected), "{findings:?}");
    // It may be a collective that it waits for, where nobody numbers them.
    assert!(!findings[0].certain, "{findings:?}");
    for process in &mut snapshot.processes {
        process.communicators[0].next_sequence = Some(-20);
    }
    let (findings, _) = diagnose(&snapshot, None);
    assert!(findings[0].certain, "{findings:?}");
}
