//! Exceptions, signals and ends of programs as what may be the cause.

use analysis::diagnose::diagnose;
use model::{Exception, ExceptionState, FindingKind, Snapshot, Stage, State, SystemCall};

use super::made::{call, job, of_kind, outside, receive, send, twice};

/// Lets a rank have an exception from a line of `x.py`.
fn raises(snapshot: &mut Snapshot, rank: usize, name: &str, state: ExceptionState, line: i64) {
    snapshot.processes[rank].exceptions.push(Exception {
        name: name.to_owned(),
        state,
        thread: (state != ExceptionState::Unhandled).then_some(1),
        function: Some("check".to_owned()),
        file: Some("/home/me/x.py".to_owned()),
        line: Some(line),
        ..Exception::default()
    });
}

/// Rank 0 is in MPI_Finalize, and ranks 1 and 2 wait for it.
fn finished() -> Snapshot {
    let mut snapshot = job(3);
    call(&mut snapshot, 0, "MPI_Finalize", 30);
    snapshot.processes[0].stage = Some(Stage::Finalizing);
    for rank in [1, 2] {
        call(&mut snapshot, rank, "MPI_Recv", 10);
        receive(&mut snapshot, rank, Some(0), 17);
    }
    snapshot
}

/// All receive from the next first.
fn circle(size: i64) -> Snapshot {
    let mut snapshot = job(size);
    for rank in 0..size {
        call(&mut snapshot, rank as usize, "MPI_Recv", 10);
        receive(&mut snapshot, rank as usize, Some((rank + 1) % size), 17);
    }
    snapshot
}

#[test]
fn a_rank_that_left_through_an_exception_is_the_cause() {
    for (state, words, certain) in [
        (ExceptionState::Handled, "rank 0 handles ValueError from check at x.py:12", false),
        (ExceptionState::Unhandled, "rank 0 has an unhandled ValueError from check at x.py:12", true),
    ] {
        let mut snapshot = finished();
        raises(&mut snapshot, 0, "ValueError", state, 12);
        let (findings, verdict) = twice(&snapshot);
        let first = &findings[0];
        assert_eq!((first.kind, first.certain, verdict.state), (FindingKind::FinishedRank, true, State::Deadlock));
        assert_eq!(first.summary, format!("{words} and is in MPI_Finalize, while ranks 1 and 2 wait for it"));
        assert!(verdict.headline.contains(words), "{}", verdict.headline);
        let [exception] = first.exceptions.as_slice() else { panic!("{first:?}") };
        assert_eq!((exception.ranks.as_slice(), exception.exception.state), (&[0][..], state));
        assert_eq!(exception.exception.thread, None);
        let place = &first.blamed[0];
        assert_eq!((place.caller.as_deref(), place.line, place.certain), (Some("check"), Some(12), certain));
    }
}

#[test]
fn several_ranks_and_several_exceptions_are_told_apart() {
    let mut snapshot = finished();
    call(&mut snapshot, 2, "MPI_Finalize", 30);
    snapshot.processes[2].calls.remove(0);
    snapshot.processes[2].stage = Some(Stage::Finalizing);
    snapshot.processes[2].communicators[0].pending_receives.operations.clear();
    snapshot.processes[1].communicators[0].pending_receives.operations.clear();
    snapshot.processes[1].calls.clear();
    call(&mut snapshot, 1, "MPI_Barrier", 11);
    for rank in [0, 2] {
        raises(&mut snapshot, rank, "ValueError", ExceptionState::Unhandled, 12);
    }
    let same = twice(&snapshot).0;
    let finding = of_kind(&same, FindingKind::FinishedRank)[0];
    let words = "ranks 0 and 2 have an unhandled ValueError from check at x.py:12 and are in MPI_Finalize, while rank 1 \
                 waits for them";
    assert_eq!(finding.summary, words);
    snapshot.processes[2].exceptions[0].line = Some(13);
    let other = twice(&snapshot).0;
    let finding = of_kind(&other, FindingKind::FinishedRank)[0];
    assert_eq!((finding.exceptions.len(), finding.exceptions[0].ranks.as_slice()), (2, &[0][..]));
    let words = "rank 0 has an unhandled ValueError from check at x.py:12 and rank 2 has an unhandled ValueError from check at \
                 x.py:13 while rank 1 waits for ranks 0 and 2, which are in MPI_Finalize";
    assert_eq!(finding.summary, words);
}

#[test]
fn a_handler_is_only_perhaps_the_reason_of_a_circle() {
    let mut snapshot = circle(3);
    raises(&mut snapshot, 1, "KeyError", ExceptionState::Handled, 9);
    let (findings, verdict) = twice(&snapshot);
    let first = &findings[0];
    assert_eq!((first.kind, first.certain), (FindingKind::Deadlock, true));
    let because = "perhaps because rank 1 handles KeyError from check at x.py:9";
    assert!(first.summary.ends_with(because), "{}", first.summary);
    assert!(verdict.headline.contains(because), "{}", verdict.headline);
    assert!(!first.blamed[0].certain && first.blamed[0].caller.as_deref() == Some("check"));
    assert_eq!(first.exceptions[0].ranks, [1]);
}

#[test]
fn a_program_that_runs_in_a_handler_has_no_cause_in_it() {
    let mut snapshot = circle(3);
    for rank in 0..3 {
        raises(&mut snapshot, rank, "ImportError", ExceptionState::Handled, 2);
    }
    let findings = twice(&snapshot).0;
    assert!(findings.iter().all(|finding| finding.exceptions.is_empty()), "{findings:?}");
    assert!(!findings[0].summary.contains("ImportError"));
    // One of its own beside it is told.
    raises(&mut snapshot, 2, "KeyError", ExceptionState::Handled, 9);
    let findings = twice(&snapshot).0;
    assert_eq!((findings[0].exceptions.len(), findings[0].exceptions[0].exception.name.as_str()), (1, "KeyError"));
}

#[test]
fn only_who_is_waited_for_in_its_handler_is_told() {
    // Of a rank that waits for the one that has finished.
    let mut snapshot = finished();
    raises(&mut snapshot, 1, "ValueError", ExceptionState::Handled, 12);
    assert!(twice(&snapshot).0.iter().all(|finding| finding.exceptions.is_empty()));
    // On another thread than the one that waits, and on one that is not known.
    for thread in [Some(7), None] {
        let mut snapshot = circle(2);
        raises(&mut snapshot, 0, "ValueError", ExceptionState::Handled, 12);
        snapshot.processes[0].exceptions[0].thread = thread;
        assert!(twice(&snapshot).0.iter().all(|finding| finding.exceptions.is_empty()), "{thread:?}");
    }
}

#[test]
fn who_waits_in_a_collective_may_have_come_there_by_a_handler() {
    // Rank 0 waits for a message of rank 1, which stands in a barrier.
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Recv", 10);
    receive(&mut snapshot, 0, Some(1), 17);
    call(&mut snapshot, 1, "MPI_Barrier", 11);
    raises(&mut snapshot, 1, "KeyError", ExceptionState::Handled, 9);
    let (findings, _) = twice(&snapshot);
    let missing = of_kind(&findings, FindingKind::MissingInCollective)[0];
    assert!(missing.summary.contains("perhaps because rank 1 handles KeyError from check at x.py:9"));
    // One that is missing because it still computes is no consequence of it.
    let mut snapshot = job(2);
    outside(&mut snapshot, 0, "compute");
    call(&mut snapshot, 1, "MPI_Barrier", 11);
    raises(&mut snapshot, 1, "KeyError", ExceptionState::Handled, 9);
    assert!(diagnose(&snapshot, None).0.iter().all(|finding| finding.exceptions.is_empty()));
}

#[test]
fn a_message_may_not_fit_because_a_handler_left_the_one_before_out() {
    let mut snapshot = job(2);
    call(&mut snapshot, 0, "MPI_Recv", 10);
    receive(&mut snapshot, 0, Some(1), 17);
    call(&mut snapshot, 1, "MPI_Ssend", 11);
    send(&mut snapshot, 1, 0, 18, true);
    raises(&mut snapshot, 1, "KeyError", ExceptionState::Handled, 9);
    let (findings, _) = twice(&snapshot);
    let first = of_kind(&findings, FindingKind::TagMismatch)[0];
    assert!(first.summary.ends_with("perhaps because rank 1 handles KeyError from check at x.py:9"));
    assert!(first.advice.as_deref().unwrap().starts_with("Use the same tag in the send and the receive"));
    assert!(first.blamed.first().unwrap().line != Some(9) && first.blamed.last().unwrap().line == Some(9));
}

#[test]
fn a_rank_outside_mpi_may_be_in_a_handler() {
    let mut snapshot = job(2);
    outside(&mut snapshot, 0, "compute");
    call(&mut snapshot, 1, "MPI_Recv", 10);
    receive(&mut snapshot, 1, Some(0), 17);
    raises(&mut snapshot, 0, "OSError", ExceptionState::Handled, 12);
    let (findings, verdict) = diagnose(&snapshot, None);
    let slow = of_kind(&findings, FindingKind::SlowRank)[0];
    assert!(slow.summary.ends_with("perhaps because it handles OSError from check at x.py:12"), "{}", slow.summary);
    assert_eq!(verdict.state, State::Waiting);
}

#[test]
fn of_a_python_that_has_ended_it_is_said_that_nothing_is_kept() {
    let mut snapshot = finished();
    snapshot.processes[0].python_ended = true;
    snapshot.processes[0].calls.clear();
    let (findings, _) = twice(&snapshot);
    let first = &findings[0];
    assert_eq!(first.summary, "ranks 1 and 2 wait for rank 0, which is in MPI_Finalize");
    assert!(first.evidence.iter().any(|one| one.starts_with("Python has ended in rank 0. ")), "{:?}", first.evidence);
    let places: Vec<(&str, &[i64])> =
        first.blamed.iter().map(|one| (one.function.as_str(), one.ranks.as_slice())).collect();
    assert_eq!(places, [("MPI_Recv", &[1, 2][..]), ("MPI_Finalize", &[0][..])]);
    assert!(first.exceptions.is_empty());
}

#[test]
fn of_many_exceptions_some_are_told() {
    let mut snapshot = job(21);
    for rank in 0..20 {
        call(&mut snapshot, rank, "MPI_Finalize", 30);
        snapshot.processes[rank].stage = Some(Stage::Finalizing);
        raises(&mut snapshot, rank, "", ExceptionState::Handled, rank as i64);
    }
    call(&mut snapshot, 20, "MPI_Barrier", 11);
    let (findings, _) = twice(&snapshot);
    let finding = of_kind(&findings, FindingKind::FinishedRank)[0];
    assert_eq!(finding.exceptions.len(), 4);
    assert!(finding.summary.contains("handles an exception from check at x.py:"), "{}", finding.summary);
    assert!(finding.summary.len() < 400, "{}", finding.summary);
}

/// Ranks 1 and 2 stand in a collective that rank 0 does not enter.
fn one_elsewhere(function: &str) -> Snapshot {
    let mut snapshot = job(3);
    call(&mut snapshot, 0, function, 30);
    for rank in [1, 2] {
        call(&mut snapshot, rank, "MPI_Allreduce", 10);
    }
    snapshot
}

#[test]
fn a_rank_that_unwinds_or_ends_is_where_it_is_because_of_that() {
    for (name, state, expected) in [
        ("", ExceptionState::Unwinding, ", because rank 0 unwinds a C++ exception in check at x.py:9"),
        ("exit", ExceptionState::Ending, ", because rank 0 has called exit in check at x.py:9"),
        ("ERROR STOP", ExceptionState::Ending, ", because rank 0 has come to ERROR STOP in check at x.py:9"),
        ("SIGTERM", ExceptionState::Signal, ", because rank 0 got SIGTERM in check at x.py:9 and is in its handler"),
    ] {
        let mut snapshot = one_elsewhere("MPI_Win_free");
        raises(&mut snapshot, 0, name, state, 9);
        let (findings, _) = diagnose(&snapshot, None);
        let told = findings.iter().find(|finding| finding.summary.contains(expected));
        assert!(told.is_some_and(|finding| finding.exceptions.len() == 1), "{expected}: {findings:#?}");
    }
}

#[test]
fn a_handler_that_waits_for_the_heap_is_the_first_that_is_told() {
    let mut snapshot = one_elsewhere("MPI_Barrier");
    snapshot.processes[0].calls = Vec::new().into();
    outside(&mut snapshot, 0, "futex_wait");
    let thread = &mut snapshot.processes[0].outside[0];
    thread.through = ["futex_wait", "__GI___libc_malloc"].map(str::to_owned).to_vec();
    thread.system_call = Some(SystemCall {
        name: Some("futex".to_owned()),
        waits: true,
        timed: false,
        descriptor: None,
        waits_for: None,
    });
    raises(&mut snapshot, 0, "SIGABRT", ExceptionState::Signal, 9);
    let signal = &mut snapshot.processes[0].exceptions[0];
    (signal.within, signal.handler) = (Some("malloc".to_owned()), Some("dump".to_owned()));
    let (findings, _) = diagnose(&snapshot, None);
    let first = &findings[0];
    let expected = "rank 0 got SIGABRT in check at x.py:9 (in malloc) and is in its handler dump, where it waits for the \
                    heap's lock while ranks 1 and 2 wait for it";
    assert_eq!((first.kind, first.summary.as_str()), (FindingKind::StuckOutside, expected));
    assert!(first.advice.as_deref().is_some_and(|advice| advice.contains("finds a corrupted heap")), "{first:#?}");
}
