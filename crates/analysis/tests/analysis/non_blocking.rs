//! Non-blocking collectives that ranks missed, on snapshots built by hand.

use analysis::diagnose::diagnose;
use model::{CallRequest, Finding, FindingKind, HandleWord, Remark, RequestState, Snapshot};

use super::made::{call, counted, job, of_kind, receive, twice};

/// Rank `rank` waits for number 32 of MPI_COMM_WORLD, for which the library waits for a part of `from`'s.
fn waits(snapshot: &mut Snapshot, rank: usize, from: i64) {
    call(snapshot, rank, "MPI_Wait", 10);
    snapshot.processes[rank].calls[0].requests.push(CallRequest {
        handle: Some(HandleWord(0x77)),
        state: RequestState::Open,
        communicator: Some(0),
        sequence: Some(32),
        ..CallRequest::default()
    });
    receive(snapshot, rank, Some(from), -32);
    let posted = snapshot.processes[rank].communicators[0].pending_receives.operations.last_mut().unwrap();
    posted.internal = true;
    posted.extra_text.push(Remark::NumberedCollective(-32));
    snapshot.processes[rank].communicators[0].next_sequence = Some(33);
}

/// Ranks 0 and 1 wait for number 32, rank 2 stands in a receive from rank 0 and has `next` before it.
fn missed(next: Option<i64>) -> Snapshot {
    let mut snapshot = job(3);
    waits(&mut snapshot, 0, 2);
    waits(&mut snapshot, 1, 0);
    call(&mut snapshot, 2, "MPI_Recv", 20);
    receive(&mut snapshot, 2, Some(0), 5);
    snapshot.processes[2].communicators[0].next_sequence = next;
    counted(&mut snapshot);
    snapshot
}

fn about_collectives(findings: &[Finding]) -> Vec<&Finding> {
    let missing = of_kind(findings, FindingKind::MissingInCollective);
    missing.into_iter().chain(of_kind(findings, FindingKind::CollectiveMismatch)).collect()
}

#[test]
fn a_rank_that_has_not_begun_what_others_wait_for() {
    let snapshot = missed(Some(32));
    for (findings, _) in [diagnose(&snapshot, None), twice(&snapshot)] {
        let [missing] = about_collectives(&findings)[..] else { panic!("{findings:?}") };
        assert_eq!(
            missing.summary,
            "rank 2 has not started the non-blocking collective on MPI_COMM_WORLD for which ranks 0 and 1 wait: \
             it is in MPI_Recv"
        );
        assert_eq!((missing.kind, missing.certain), (FindingKind::MissingInCollective, true));
        assert_eq!(missing.ranks, [2]);
        assert_eq!(missing.calls.iter().map(|call| call.rank).collect::<Vec<_>>(), [Some(2), Some(0), Some(1)]);
    }
}

#[test]
fn nothing_is_told_of_numbers_that_cannot_be_compared() {
    // Not known, begun anew, nonsense; and one that has begun it, but stands elsewhere.
    for next in [None, Some(0), Some(32 - (1 << 20) - 1), Some(i64::MIN), Some(i64::MAX), Some(1 << 40)] {
        let (findings, _) = diagnose(&missed(next), None);
        let expected = usize::from(next == Some(0));
        assert_eq!(about_collectives(&findings).len(), expected, "{next:?}: {findings:?}");
    }
}

#[test]
fn all_have_begun_but_not_the_same_one() {
    let (findings, _) = diagnose(&missed(Some(33)), None);
    let [mismatch] = about_collectives(&findings)[..] else { panic!("{findings:?}") };
    assert_eq!((mismatch.kind, mismatch.certain), (FindingKind::CollectiveMismatch, false));
    // Also the one whose part is missing.
    assert_eq!(mismatch.ranks, [0, 1, 2]);
    // What may be on its way completes it yet.
    let mut snapshot = missed(Some(33));
    snapshot.processes[2].communicators[0].traffic[0].sent = Some(1);
    let (findings, _) = diagnose(&snapshot, None);
    assert!(about_collectives(&findings).is_empty(), "{findings:?}");
    // A persistent one that all have made is perhaps merely not started.
    let mut snapshot = missed(Some(33));
    snapshot.processes[1].calls[0].requests[0].persistent = true;
    let (findings, _) = diagnose(&snapshot, None);
    assert!(about_collectives(&findings).is_empty(), "{findings:?}");
    // Where one of them is outside MPI its library moves nothing.
    let mut snapshot = missed(Some(33));
    snapshot.processes[2].calls.clear();
    let (findings, _) = diagnose(&snapshot, None);
    assert!(about_collectives(&findings).is_empty(), "{findings:?}");
}

#[test]
fn a_rank_that_finished_has_not_begun_it() {
    let mut snapshot = missed(Some(32));
    snapshot.processes[2].calls[0].function = "MPI_Finalize".into();
    snapshot.processes[2].communicators[0].pending_receives.operations.clear();
    let (findings, _) = diagnose(&snapshot, None);
    let [missing] = about_collectives(&findings)[..] else { panic!("{findings:?}") };
    assert!(missing.summary.contains("rank 2 has not started"), "{missing:?}");
    assert!(missing.certain && missing.ranks == [2], "{missing:?}");
}
