//! Non-blocking collectives that ranks have started in different ways: by what libraries have planned for them, and by the calls
//! that may have started them. On snapshots built by hand.

use analysis::diagnose::diagnose;
use model::{
    CallRequest, EarlierCollective, Finding, FindingKind as Kind, HandleWord, PlannedMessages, PossibleFunction,
    Remark, RequestState, Schedule, Snapshot, StartedBy, State,
};

use super::made::{call, counted, job, of_kind, receive, twice};

const FIRST: i64 = 31;

/// A rank waits for a non-blocking collective of MPI_COMM_WORLD, the library for a part that is `from`'s.
fn waits(snapshot: &mut Snapshot, rank: usize, sequence: i64, from: i64) -> &mut CallRequest {
    call(snapshot, rank, "MPI_Wait", 90);
    receive(snapshot, rank, Some(from), -sequence);
    let world = &mut snapshot.processes[rank].communicators[0];
    let posted = world.pending_receives.operations.last_mut().unwrap();
    posted.internal = true;
    posted.extra_text.push(Remark::NumberedCollective(-sequence));
    world.next_sequence = Some(sequence + 1);
    let requests = &mut snapshot.processes[rank].calls[0].requests;
    requests.push(CallRequest {
        handle: Some(HandleWord(0x77)),
        state: RequestState::Open,
        communicator: Some(0),
        sequence: Some(sequence),
        ..CallRequest::default()
    });
    requests.last_mut().unwrap()
}

fn started(request: &mut CallRequest, function: &str, line: i64) {
    let (function, file, line) = (function.to_owned(), Some("a.c".to_owned()), Some(line));
    request.started_by = vec![StartedBy { function, file, line, certain: true, ..StartedBy::default() }].into();
}

/// What is planned by one of these functions, with these roots.
fn plan(functions: &[(&str, &[i64])]) -> Schedule {
    let one = |(function, roots): &(&str, &[i64])| PossibleFunction {
        function: (*function).to_owned(),
        roots: (!roots.is_empty()).then(|| roots.to_vec()),
    };
    Schedule { functions: functions.iter().map(one).collect(), ..Schedule::default() }
}

fn messages(peer: i64, messages: u64, bytes: u64) -> Option<Vec<PlannedMessages>> {
    Some(vec![PlannedMessages { peer, messages, bytes: Some(bytes) }])
}

/// Two ranks that wait for the same number, each for the other, with these plans.
fn two(plans: [Schedule; 2]) -> Snapshot {
    let mut snapshot = job(2);
    for (rank, plan) in plans.into_iter().enumerate() {
        waits(&mut snapshot, rank, FIRST, 1 - rank as i64).schedule = Some(Box::new(plan));
    }
    counted(&mut snapshot);
    snapshot
}

/// What is told first, and for certain, of ranks that can never go on.
fn first(snapshot: &Snapshot) -> Finding {
    let (findings, verdict) = twice(snapshot);
    assert_eq!(verdict.state, State::Deadlock, "{findings:?}");
    findings[verdict.finding.unwrap()].clone()
}

/// Function, line, ranks and certainty of the calls to look at.
fn blamed(finding: &Finding) -> Vec<(&str, i64, &[i64], bool)> {
    let one = |one: &'_ model::Blamed| (one.line.unwrap_or_default(), one.certain);
    finding.blamed.iter().map(|place| (place.function.as_str(), one(place).0, &*place.ranks, one(place).1)).collect()
}

#[test]
fn plans_of_different_functions() {
    let told = first(&two([plan(&[("MPI_Ibcast", &[0])]), plan(&[("MPI_Ibarrier", &[])])]));
    assert_eq!((told.kind, told.certain, &*told.ranks), (Kind::CollectiveMismatch, true, &[0, 1][..]));
    // Of several functions that are possible none is named.
    let several = [("MPI_Ireduce", &[1][..]), ("MPI_Igather", &[1])];
    let told = first(&two([plan(&several), plan(&[("MPI_Iscan", &[])])]));
    assert_eq!((told.kind, told.certain), (Kind::CollectiveMismatch, true));
    assert!(!told.summary.contains("MPI_Ireduce") && !told.summary.contains("MPI_Igather"), "{told:?}");
}

#[test]
fn plans_that_fit_prove_nothing() {
    for plans in [
        [plan(&[("MPI_Ibcast", &[0, 1]), ("MPI_Iscan", &[])]), plan(&[("MPI_Ibcast", &[1])])],
        // Of one nothing is known.
        [plan(&[("MPI_Ibcast", &[0])]), Schedule::default()],
        // With one of the two functions the roots are the same.
        [plan(&[("MPI_Ibcast", &[0]), ("MPI_Iscatter", &[0])]), plan(&[("MPI_Ibcast", &[1]), ("MPI_Iscatter", &[0])])],
    ] {
        let (findings, _) = twice(&two(plans));
        assert!(findings.iter().all(|one| !one.certain || one.kind == Kind::Deadlock), "{findings:?}");
    }
}

#[test]
fn plans_with_different_roots() {
    let told = first(&two([plan(&[("MPI_Ibcast", &[0])]), plan(&[("MPI_Ibcast", &[1])])]));
    assert_eq!((told.kind, told.certain), (Kind::RootMismatch, true));
    let words = "in MPI_Ibcast on MPI_COMM_WORLD rank 0 gives root 0 and rank 1 gives root 1";
    assert_eq!(told.summary, words);
    // Whichever of the two it was, their roots differ.
    let both = |root: &'static [i64]| plan(&[("MPI_Ireduce", root), ("MPI_Igather", root)]);
    let told = first(&two([both(&[0]), both(&[1])]));
    assert_eq!((told.kind, told.certain), (Kind::RootMismatch, true));
    assert!(told.summary.starts_with("in a non-blocking collective on MPI_COMM_WORLD"), "{told:?}");
}

#[test]
fn plans_with_messages_that_nobody_receives() {
    let of = |sends, receives| Schedule { sends, receives, ..plan(&[("MPI_Ibcast", &[]), ("MPI_Iscatter", &[])]) };
    let none = || Some(Vec::new());
    let plans = || [of(messages(1, 2, 8), none()), of(none(), messages(0, 1, 4))];
    let told = first(&two(plans()));
    assert_eq!((told.kind, told.certain), (Kind::CollectiveMismatch, false));
    assert!(
        told.evidence.iter().any(|one| one.contains("rank 0 sends 2 messages to rank 1, which expects 1")),
        "{told:?}"
    );
    // Where the function is known for certain it is what the calls were given.
    let mut snapshot = two(plans());
    for rank in 0..2 {
        started(&mut snapshot.processes[rank].calls[0].requests[0], "MPI_Ibcast", 10);
    }
    let told = first(&snapshot);
    assert_eq!((told.kind, told.certain), (Kind::RootMismatch, true));
    // As many messages of other sizes.
    let told = first(&two([of(messages(1, 1, 8), none()), of(none(), messages(0, 1, 4))]));
    assert_eq!((told.kind, told.certain), (Kind::CountMismatch, true));
    // What is not told is not compared.
    let (findings, _) = twice(&two([of(messages(1, 2, 8), none()), of(None, None)]));
    assert!(of_kind(&findings, Kind::CountMismatch).is_empty(), "{findings:?}");
}

/// The calls that a rank may have made before, by way: function and line, the last one first.
fn earlier(snapshot: &mut Snapshot, rank: usize, ways: &[&[(&str, i64)]]) {
    for (way, calls) in (0..).zip(ways) {
        for (at, (function, line)) in calls.iter().enumerate() {
            snapshot.processes[rank].earlier_collectives.push(EarlierCollective {
                way,
                first: at + 1 == calls.len(),
                function: (*function).to_owned(),
                file: Some("a.c".to_owned()),
                line: *line,
                communicator: Some(0),
                ..EarlierCollective::default()
            });
        }
    }
}

const SUM: &str = "MPI_Iallreduce";
const BARRIER: &str = "MPI_Ibarrier";

/// Rank 0 has called MPI_Iallreduce and MPI_Ibarrier, for which it waits, rank 1 the other way round.
fn reordered() -> Snapshot {
    let mut snapshot = job(2);
    started(waits(&mut snapshot, 0, FIRST + 1, 1), BARRIER, 11);
    started(waits(&mut snapshot, 1, FIRST + 1, 0), SUM, 21);
    earlier(&mut snapshot, 0, &[&[(BARRIER, 11), (SUM, 10)]]);
    earlier(&mut snapshot, 1, &[&[(SUM, 21), (BARRIER, 20)]]);
    counted(&mut snapshot);
    snapshot
}

#[test]
fn the_first_that_differ_are_named_first() {
    let told = first(&reordered());
    assert_eq!((told.kind, told.certain), (Kind::CollectiveMismatch, true));
    let places =
        [(SUM, 10, &[0][..], false), (BARRIER, 20, &[1], false), (BARRIER, 11, &[0], true), (SUM, 21, &[1], true)];
    assert_eq!(blamed(&told), places);
    assert!(told.evidence.iter().any(|one| one.contains("from number 31 on")), "{told:?}");
}

#[test]
fn where_the_source_leaves_it_open_only_those_are_named_that_are_waited_for() {
    let only = [(BARRIER, 11, &[0][..], true), (SUM, 21, &[1], true)];
    type Change = fn(&mut Snapshot);
    let changes: [Change; 5] = [
        // Nothing is known of what was before.
        |snapshot| snapshot.processes[1].earlier_collectives.iter_mut().for_each(|one| one.first = false),
        // One was on a communicator that is not known, or on another one.
        |snapshot| snapshot.processes[0].earlier_collectives[1].communicator = None,
        |snapshot| snapshot.processes[0].earlier_collectives[1].communicator = Some(8),
        // What is waited for was started by another call than the way tells.
        |snapshot| snapshot.processes[1].earlier_collectives[0].line = 99,
        |snapshot| snapshot.processes[1].communicators[0].next_sequence = None,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut snapshot = reordered();
        change(&mut snapshot);
        assert_eq!(blamed(&first(&snapshot)), only, "change {number}");
    }
}

/// Rank 0 waits for its first one, rank 1 has completed that as another one, and waits for the next.
fn swallowed() -> Snapshot {
    let mut snapshot = job(2);
    started(waits(&mut snapshot, 0, FIRST, 1), BARRIER, 10);
    started(waits(&mut snapshot, 1, FIRST + 1, 0), BARRIER, 21);
    earlier(&mut snapshot, 0, &[&[(BARRIER, 10)]]);
    earlier(&mut snapshot, 1, &[&[(BARRIER, 21), ("MPI_Ibcast", 20)]]);
    counted(&mut snapshot);
    snapshot
}

#[test]
fn one_that_another_took_for_its_own_goes_before_the_next() {
    let snapshot = swallowed();
    let told = first(&snapshot);
    assert_eq!((told.kind, told.certain, &*told.ranks), (Kind::CollectiveMismatch, false, &[0, 1][..]));
    let words =
        "on MPI_COMM_WORLD rank 0 has started MPI_Ibarrier and rank 1 has started MPI_Ibcast as the same collective";
    assert_eq!(told.summary, words);
    assert_eq!(blamed(&told), [(BARRIER, 10, &[0][..], true), ("MPI_Ibcast", 20, &[1], false)]);
    // That rank 0 has not come to the next one follows from it.
    let (findings, _) = twice(&snapshot);
    assert!(of_kind(&findings, Kind::MissingInCollective).is_empty(), "{findings:?}");
    // Without the source it is told all the same, of both.
    let mut snapshot = swallowed();
    snapshot.processes[1].earlier_collectives.clear();
    let told = first(&snapshot);
    assert_eq!((told.kind, told.certain, &*told.ranks), (Kind::CollectiveMismatch, false, &[0, 1][..]));
    assert!(told.summary.ends_with("where rank 1 has started another collective instead"), "{told:?}");
}

#[test]
fn a_rank_that_has_finished_may_have_started_another_one() {
    let mut snapshot = job(2);
    started(waits(&mut snapshot, 0, FIRST + 1, 1), BARRIER, 11);
    call(&mut snapshot, 1, "MPI_Finalize", 40);
    snapshot.processes[1].communicators[0].next_sequence = Some(FIRST + 2);
    earlier(&mut snapshot, 0, &[&[(BARRIER, 11), (SUM, 10)]]);
    // Behind the two branches it may have come through either; not through that of rank 0, or it would fit.
    earlier(&mut snapshot, 1, &[&[(BARRIER, 11), (SUM, 10)], &[(SUM, 21), (BARRIER, 20)]]);
    counted(&mut snapshot);
    let told = first(&snapshot);
    assert_eq!((told.kind, told.certain, &*told.ranks), (Kind::CollectiveMismatch, false, &[0, 1][..]));
    assert_eq!(blamed(&told), [(SUM, 10, &[0][..], false), (BARRIER, 20, &[1], false), (BARRIER, 11, &[0], true)]);
    // One that has not begun it is missing.
    snapshot.processes[1].communicators[0].next_sequence = Some(FIRST + 1);
    let (findings, _) = twice(&snapshot);
    assert!(of_kind(&findings, Kind::CollectiveMismatch).is_empty(), "{findings:?}");
    assert_eq!(of_kind(&findings, Kind::MissingInCollective).len(), 1, "{findings:?}");
}

#[test]
fn nothing_of_this_is_told_of_ranks_that_may_go_on() {
    let mut snapshot = swallowed();
    snapshot.processes[0].communicators[0].traffic[1].sent = Some(1);
    let (findings, verdict) = diagnose(&snapshot, None);
    assert_ne!(verdict.state, State::Deadlock);
    assert!(findings.iter().all(|one| !one.certain), "{findings:?}");
}

#[test]
fn numbers_from_damaged_memory() {
    for next in [i64::MIN, i64::MAX, -1, 0] {
        let mut snapshot = reordered();
        snapshot.processes[0].communicators[0].next_sequence = Some(next);
        for one in &mut snapshot.processes[1].earlier_collectives {
            (one.line, one.root) = (next, Some(next));
        }
        twice(&snapshot);
    }
}
