//! The joints of all sentences of all kinds of findings, with and without each part that need not be there.

use std::collections::BTreeSet;

use analysis::diagnose::{Earlier, Watched, diagnose};
use analysis::findings::messages::Fate;
use model::{
    Argument, CallRequest, Finding, FindingKind, HandleWord, Operation, OperationStatus, Outside, QueueKind,
    RequestState, Snapshot, Stage, State, SystemCall,
};

use super::made::{call, counted, job, outside, receive, send};
use super::made_stacks::dark_job;
use super::recorded::saw_contents;
use super::support::{add, findings, of_length, operation, post, with_status, with_text};

/// What is wrong with a sentence, or a part of one; `None` where nothing is.
pub fn fault(sentence: &str) -> Option<String> {
    let bad = [
        ",;",
        ",.",
        ";.",
        ":.",
        ",,",
        ";;",
        "..",
        " ,",
        " ;",
        " .",
        " :",
        "  ",
        "()",
        "( ",
        " )",
        "\"\"",
        "Some(",
        "None",
        "{",
        "}",
        "perhaps perhaps",
    ];
    if let Some(found) = bad.iter().find(|bad| sentence.contains(**bad)) {
        return Some(format!("has {found:?}"));
    }
    if sentence.trim() != sentence || sentence.is_empty() || sentence.ends_with([',', ';', ':', '(']) {
        return Some("begins or ends badly".to_owned());
    }
    if sentence.matches('(').count() != sentence.matches(')').count()
        || !sentence.matches('"').count().is_multiple_of(2)
    {
        return Some("parentheses or quotes are not closed".to_owned());
    }
    let words: Vec<&str> = sentence.split(' ').collect();
    let twice = words.windows(2).find(|pair| pair[0].eq_ignore_ascii_case(pair[1]));
    twice.map(|pair| format!("says {:?} twice", pair[0]))
}

#[test]
fn faults_are_found() {
    for bad in ["waits for nobody,; rank 3", "a  b", "in f ()", "the the", " a", "a,", "x (y", "perhaps perhaps a"] {
        assert!(fault(bad).is_some(), "{bad}");
    }
    assert_eq!(fault("rank 0 is in MPI_Test, which waits for nobody; rank 1 waits for it"), None);
}

/// Snapshots in which a kind is found. A new kind does not compile without one.
fn made(kind: FindingKind) -> Vec<Snapshot> {
    let in_receives = || {
        let mut snapshot = job(3);
        for rank in 0..3 {
            call(&mut snapshot, rank, "MPI_Recv", 10);
            receive(&mut snapshot, rank, Some((rank as i64 + 1) % 2), 17);
        }
        counted(&mut snapshot);
        snapshot
    };
    let waits_for_zero = || {
        let mut snapshot = in_receives();
        snapshot.processes[0].calls.clear();
        snapshot.processes[0].communicators[0].pending_receives.operations.clear();
        snapshot
    };
    let in_collectives = |functions: [&str; 3], root: bool| {
        let mut snapshot = job(3);
        for (rank, function) in functions.into_iter().enumerate() {
            call(&mut snapshot, rank, function, 20);
            if root {
                let value = Some((rank == 1).into());
                let argument = Argument { name: "root".into(), value, ..Argument::default() };
                snapshot.processes[rank].calls[0].arguments.push(argument);
            }
        }
        snapshot
    };
    let unfit = |wanted: Operation, sent: Operation| {
        let mut snapshot = in_receives();
        add(&mut snapshot, "halo", "3", &[0, 1, 2]);
        for rank in 0..2 {
            snapshot.processes[rank].communicators[0].pending_receives.operations.clear();
        }
        post(&mut snapshot, 0, 0, QueueKind::PendingReceives, wanted);
        post(&mut snapshot, 1, 0, QueueKind::PendingReceives, operation(Some(0), Some(2)));
        post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, sent);
        counted(&mut snapshot);
        vec![snapshot]
    };
    match kind {
        FindingKind::Deadlock => vec![in_receives()],
        FindingKind::FinishedRank => [Stage::Finalizing, Stage::Finalized, Stage::Ended]
            .into_iter()
            .map(|stage| {
                let mut snapshot = waits_for_zero();
                snapshot.processes[0].stage = Some(stage);
                snapshot
            })
            .collect(),
        FindingKind::StuckOutside => {
            let mut lock = waits_for_zero();
            outside(&mut lock, 0, "pthread_mutex_lock");
            lock.processes[0].outside[0].system_call = Some(SystemCall {
                name: Some("futex".to_owned()),
                waits: true,
                timed: false,
                descriptor: None,
                waits_for: None,
            });
            let mut stopped = waits_for_zero();
            stopped.processes[0].state = Some("stopped".into());
            vec![lock, stopped]
        }
        FindingKind::SlowRank => {
            let mut works = waits_for_zero();
            outside(&mut works, 0, "compute");
            let mut reads = waits_for_zero();
            outside(&mut reads, 0, "read");
            let mut late = waits_for_zero();
            late.processes[0].stage = Some(Stage::NotInitialized);
            let mut late_there = late.clone();
            outside(&mut late_there, 0, "pause");
            let mut local = waits_for_zero();
            call(&mut local, 0, "MPI_Type_commit", 5);
            let mut polls = waits_for_zero();
            call(&mut polls, 0, "MPI_Test", 5);
            vec![works, reads, late, late_there, local, polls]
        }
        FindingKind::Polling => {
            let mut snapshot = in_receives();
            snapshot.processes[0].calls[0].function = "MPI_Test".into();
            vec![snapshot]
        }
        FindingKind::TagMismatch => unfit(operation(Some(1), Some(17)), operation(Some(1), Some(18))),
        FindingKind::RankMismatch => unfit(operation(Some(2), Some(17)), operation(Some(1), Some(17))),
        FindingKind::CommunicatorMismatch => {
            let mut snapshots = unfit(operation(Some(1), Some(17)), operation(Some(1), Some(99)));
            let queue = &mut snapshots[0].processes[0].communicators[0].unexpected_messages;
            let message = Operation { desired_tag: Some(17), ..queue.operations.remove(0) };
            post(&mut snapshots[0], 0, 1, QueueKind::UnexpectedMessages, message);
            snapshots
        }
        FindingKind::Truncation => unfit(
            Operation {
                count: Some(5),
                datatype: Some("MPI_INT".into()),
                ..of_length(20, operation(Some(1), Some(5)))
            },
            of_length(40, operation(Some(1), Some(5))),
        ),
        FindingKind::CountMismatch => {
            let mut snapshot = job(2);
            call(&mut snapshot, 0, "MPI_Recv", 10);
            call(&mut snapshot, 1, "MPI_Send", 20);
            let receive = Operation { count: Some(10), ..of_length(80, operation(Some(1), Some(5))) };
            post(&mut snapshot, 0, 0, QueueKind::PendingReceives, receive);
            post(&mut snapshot, 1, 0, QueueKind::PendingSends, of_length(12, operation(Some(0), Some(5))));
            vec![snapshot]
        }
        FindingKind::DatatypeMismatch => {
            let typed = |name: &str, operation| Operation { datatype: Some(name.into()), count: Some(10), ..operation };
            let mut snapshot = job(2);
            call(&mut snapshot, 0, "MPI_Recv", 10);
            call(&mut snapshot, 1, "MPI_Send", 20);
            post(
                &mut snapshot,
                0,
                0,
                QueueKind::PendingReceives,
                typed("MPI_INT", of_length(40, operation(Some(1), Some(5)))),
            );
            post(
                &mut snapshot,
                1,
                0,
                QueueKind::PendingSends,
                typed("MPI_FLOAT", of_length(40, operation(Some(0), Some(5)))),
            );
            vec![snapshot]
        }
        FindingKind::CollectiveMismatch => vec![in_collectives(["MPI_Barrier", "MPI_Allreduce", "MPI_Barrier"], false)],
        FindingKind::OperatorMismatch => {
            let with = |op| ("MPI_Reduce", Some(1), Some("MPI_INT"), Some(op));
            let mut snapshot = in_receives();
            saw_contents(&mut snapshot, &[with("MPI_SUM"), with("MPI_MAX"), with("MPI_MIN")], false);
            vec![snapshot]
        }
        FindingKind::RootMismatch => vec![in_collectives(["MPI_Bcast"; 3], true)],
        FindingKind::MissingInCollective => {
            let mut snapshot = in_collectives(["MPI_Barrier", "MPI_Barrier", "MPI_Recv"], false);
            receive(&mut snapshot, 2, Some(0), 3);
            counted(&mut snapshot);
            vec![snapshot]
        }
        FindingKind::UnmatchedSend => {
            let mut snapshot = in_receives();
            snapshot.processes[2].calls[0].function = "MPI_Ssend".into();
            snapshot.processes[2].communicators[0].pending_receives.operations.clear();
            send(&mut snapshot, 2, 0, 3, true);
            vec![snapshot]
        }
        FindingKind::UnmatchedReceive => {
            let mut snapshot = waits_for_zero();
            snapshot.processes[0].stage = Some(Stage::Finalized);
            vec![snapshot]
        }
        FindingKind::NeverStarted => {
            let mut snapshot = in_receives();
            snapshot.processes[0].calls[0].function = "MPI_Waitall".into();
            let idle = |index| CallRequest {
                index,
                state: RequestState::Inactive,
                persistent: true,
                ..CallRequest::default()
            };
            let open =
                CallRequest { handle: Some(HandleWord(0x1011)), state: RequestState::Open, ..CallRequest::default() };
            let summary = Some("MPI_Recv_init from 1".to_owned());
            snapshot.processes[0].calls[0].requests = vec![open, CallRequest { summary, ..idle(1) }, idle(2)];
            vec![snapshot]
        }
        FindingKind::NeverCompleted => {
            let mut snapshot = job(2);
            call(&mut snapshot, 0, "MPI_Finalize", 10);
            let complete = with_status(OperationStatus::Complete, operation(Some(0), Some(3)));
            post(&mut snapshot, 0, 0, QueueKind::PendingReceives, complete);
            snapshot.processes[0].stage = Some(Stage::Finalizing);
            vec![snapshot]
        }
        FindingKind::UnexpectedFlood => {
            let mut snapshot = job(2);
            call(&mut snapshot, 0, "MPI_Barrier", 10);
            for _ in 0..1001 {
                let message = with_text("eager", of_length(100, operation(Some(1), Some(3))));
                post(&mut snapshot, 0, 0, QueueKind::UnexpectedMessages, message);
            }
            vec![snapshot]
        }
        FindingKind::OddRank => {
            let mut elsewhere = dark_job(8);
            for rank in 0..8 {
                call(&mut elsewhere, rank, if rank == 3 { "MPI_Recv" } else { "MPI_Barrier" }, 20);
            }
            let mut behind = elsewhere.clone();
            for (rank, process) in behind.processes.iter_mut().enumerate() {
                process.communicators[0].next_sequence = Some(if rank == 3 { 7 } else { 8 });
            }
            let mut works = elsewhere.clone();
            works.processes[3].calls.clear();
            outside(&mut works, 3, "compute");
            vec![elsewhere, behind, works]
        }
        FindingKind::OneSidedEpochs => {
            let mut snapshot = job(2);
            for rank in 0..2 {
                call(&mut snapshot, rank, "MPI_Win_wait", 10);
                snapshot.processes[rank].calls[0].communicator = Some(0);
            }
            vec![snapshot]
        }
    }
}

/// Takes a part away that need not be there; of the number of these.
type Part = fn(&mut Snapshot);
const PARTS: &[Part] = &[
    |snapshot| calls(snapshot, |call| (call.file, call.line) = (None, None)),
    |snapshot| calls(snapshot, |call| call.caller = None),
    |snapshot| calls(snapshot, |call| call.fingerprint = None),
    |snapshot| calls(snapshot, |call| call.requests.iter_mut().for_each(|request| request.summary = None)),
    |snapshot| threads(snapshot, |thread| thread.function = None),
    |snapshot| threads(snapshot, |thread| thread.caller = None),
    |snapshot| threads(snapshot, |thread| (thread.file, thread.line) = (None, None)),
    |snapshot| {
        for process in &mut snapshot.processes {
            process.communicators.iter_mut().for_each(|one| one.name = model::Text::default());
        }
    },
    |snapshot| operations(snapshot, |one| (one.desired_tag, one.actual_tag) = (None, None)),
    |snapshot| operations(snapshot, |one| one.tag_wild = true),
    |snapshot| operations(snapshot, |one| one.any_source = true),
    |snapshot| operations(snapshot, |one| (one.desired_length, one.count, one.datatype) = (None, None, None)),
    |snapshot| snapshot.processes.iter_mut().for_each(|process| process.pid = None),
    |snapshot| snapshot.processes.iter_mut().for_each(|process| process.rank = None),
    |snapshot| snapshot.processes.iter_mut().for_each(|process| process.all_threads = Some(false)),
    |snapshot| {
        for process in &mut snapshot.processes {
            process.communicators.iter_mut().for_each(|one| one.traffic.clear());
        }
    },
    |snapshot| {
        snapshot.processes.pop();
    },
];

fn calls(snapshot: &mut Snapshot, change: impl Fn(&mut model::Call)) {
    snapshot.processes.iter_mut().flat_map(|process| &mut process.calls).for_each(change);
}

fn threads(snapshot: &mut Snapshot, change: impl Fn(&mut Outside)) {
    snapshot.processes.iter_mut().flat_map(|process| &mut process.outside).for_each(change);
}

fn operations(snapshot: &mut Snapshot, change: impl Fn(&mut Operation)) {
    for communicator in snapshot.processes.iter_mut().flat_map(|process| &mut process.communicators) {
        communicator.queues_mut().into_iter().flat_map(|queue| &mut queue.operations).for_each(&change);
    }
}

/// Without each part, without each two, and with each one alone.
fn variants(snapshot: &Snapshot) -> Vec<Snapshot> {
    let without = |taken: &dyn Fn(usize) -> bool| {
        let mut snapshot = snapshot.clone();
        PARTS.iter().enumerate().filter(|(place, _)| taken(*place)).for_each(|(_, part)| part(&mut snapshot));
        snapshot
    };
    let mut found = vec![snapshot.clone(), without(&|_| true)];
    for one in 0..PARTS.len() {
        found.push(without(&|place| place != one));
        for other in (0..=one).rev().step_by(made_up::share::every(4)) {
            found.push(without(&|place| place == one || place == other));
        }
    }
    found
}

/// All that is found: by one look, by two, and of messages alone for whatever becomes of their ranks.
fn all(snapshot: &Snapshot) -> (Vec<Finding>, Vec<String>) {
    let mut found = Vec::new();
    let mut further = Vec::new();
    for earlier in [None, Some(Earlier { snapshot, interval_ms: Some(500), watched: &Watched::default() })] {
        let (findings, verdict) = diagnose(snapshot, earlier);
        found.extend(findings);
        further.extend(verdict.limits.iter().cloned());
        assert!(verdict.headline.ends_with('.'), "{verdict:?}");
        assert!(verdict.state != State::Running || verdict.headline.starts_with("Nobody is stuck"), "{verdict:?}");
        further.push(verdict.headline);
    }
    for fate in [Fate::Stuck, Fate::Suspect, Fate::Open, Fate::Finished("is in MPI_Finalize")] {
        found.extend(findings(snapshot, &vec![fate; snapshot.processes.len()], &[]));
    }
    (found, further)
}

/// Whether a finding with lines has advice. Its sentences repeat none of them: its table has each once.
fn is_advised(finding: &Finding) -> bool {
    for one in &finding.blamed {
        let (Some(file), Some(line)) = (one.file.as_deref(), one.line) else { continue };
        for sentence in finding.advice.iter().chain([&finding.summary]) {
            // What tells two places apart, and what no table has, may stand in the sentence.
            let needed = finding.kind == FindingKind::OddRank
                || finding.exceptions.iter().any(|one| one.exception.line == Some(line));
            assert!(needed || !sentence.contains(&format!("{file}:{line}")), "{sentence:?}: {finding:?}");
        }
    }
    finding.advice.is_some() && finding.blamed.iter().any(|one| one.line.is_some())
}

/// All findings of a diagnosis have advice, in words that end.
#[test]
fn all_findings_have_advice() {
    for kind in FindingKind::ALL {
        for snapshot in made(*kind) {
            for variant in variants(&snapshot).iter().take(8) {
                for finding in diagnose(variant, None).0 {
                    let advice = finding.advice.as_deref().unwrap_or_default();
                    assert!(advice.ends_with(['.', '?']) && advice.len() > 20, "{finding:?}");
                }
            }
        }
    }
}

#[test]
fn no_sentence_of_any_kind_has_a_bad_joint() {
    let mut seen = BTreeSet::new();
    for kind in FindingKind::ALL {
        let (mut own, mut advised) = (false, 0);
        for snapshot in made(*kind) {
            let large = snapshot.processes[0].communicators[0].unexpected_messages.operations.len() > 100;
            let variants = variants(&snapshot);
            for variant in variants.iter().take(if large { 8 } else { variants.len() }) {
                let (found, further) = all(variant);
                for finding in &found {
                    own |= finding.kind == *kind;
                    seen.insert(finding.kind);
                    let waits = finding.calls.iter().filter_map(|call| call.waits_for.as_ref());
                    let told = finding.evidence.iter().chain(&finding.advice).chain(waits).chain([&finding.summary]);
                    for sentence in told {
                        assert_eq!(fault(sentence), None, "{kind:?}: {sentence:?} in {finding:?}");
                    }
                    assert!(!finding.summary.ends_with('.'), "{finding:?}");
                    advised += usize::from(finding.kind == *kind && is_advised(finding));
                }
                for sentence in &further {
                    assert_eq!(fault(sentence), None, "{kind:?}: {sentence:?}");
                }
            }
        }
        assert!(own, "{kind:?} was not found in what was made for it; found so far: {seen:?}");
        assert!(advised > 0, "{kind:?} never has advice and a line");
    }
}

#[test]
fn where_no_rank_was_read_the_headline_says_why() {
    let problems = vec!["rank 0: it has ended; to see the ranks, type: mpi-queues ranks 7".to_owned(), "x".to_owned()];
    let (_, verdict) = diagnose(&Snapshot { problems, ..Snapshot::default() }, None);
    assert_eq!(verdict.state, State::Unknown);
    assert_eq!(
        verdict.headline,
        "Nothing can be said: no rank was read. Rank 0: it has ended; to see the ranks, type: mpi-queues ranks 7."
    );
}
