//! Damaged memory: what was dropped, what does not resolve, and what contradicts itself is nothing to be certain of.

use analysis::diagnose::diagnose;
use analysis::waits::{Peer, peer};
use model::{Argument, HandleWord, Mpi, Process, Snapshot, State};

use super::made::{call, counted, job, receive, twice};

/// Rank 1 receives from itself by its queue; its call was given source 0 and tag 999, where `arguments` are told.
fn damaged(arguments: &[(&str, i64)]) -> Snapshot {
    let mut snapshot = job(2);
    call(&mut snapshot, 1, "MPI_Recv", 10);
    receive(&mut snapshot, 1, Some(1), 4);
    call(&mut snapshot, 0, "MPI_Recv", 10);
    receive(&mut snapshot, 0, Some(0), 4);
    for process in &mut snapshot.processes {
        let queue = &mut process.communicators[0].pending_receives;
        queue.operations[0].call = Some("MPI_Recv".into());
        process.communicators[0].handle = Some(HandleWord(0x1000));
    }
    let given =
        |(name, value): &(&str, i64)| Argument { name: (*name).into(), value: Some(*value), ..Argument::default() };
    snapshot.processes[1].calls[0].arguments = arguments.iter().map(given).collect();
    counted(&mut snapshot);
    // Rank 0 is not what this is about.
    snapshot.processes[0].calls.clear();
    snapshot.processes[0].communicators[0].pending_receives.operations.clear();
    super::made::outside(&mut snapshot, 0, "work");
    snapshot
}

/// That rank 1 waits for itself is told as possible at most, and why.
fn doubted(snapshot: &Snapshot, why: &str) {
    for (findings, verdict) in [diagnose(snapshot, None), twice(snapshot)] {
        assert_ne!(verdict.state, State::Deadlock, "{why}: {findings:?}");
        let certain = findings.iter().any(|finding| finding.certain && finding.summary.contains("itself"));
        assert!(!certain, "{findings:?}");
        let all = findings.iter().flat_map(|finding| &finding.evidence).chain(&verdict.limits);
        assert!(all.into_iter().any(|sentence| sentence.contains(why)), "{why}: {findings:?} {verdict:?}");
    }
}

#[test]
fn arguments_and_queue_that_agree_are_certain() {
    for arguments in [&[][..], &[("source", 1), ("tag", 4)]] {
        let (_, verdict) = diagnose(&damaged(arguments), None);
        assert_eq!(verdict.state, State::Deadlock, "{arguments:?} {verdict:?}");
    }
}

#[test]
fn a_queue_that_contradicts_the_arguments_is_not_certain() {
    for arguments in [&[("source", 0), ("tag", 999)][..], &[("source", 0)], &[("tag", 999)]] {
        doubted(&damaged(arguments), "the arguments of the call differ");
    }
}

#[test]
fn a_dropped_request_forbids_certainty() {
    for queue in 0..2 {
        let mut snapshot = damaged(&[("source", 1), ("tag", 4)]);
        snapshot.processes[1].communicators[0].queues_mut()[queue].dropped = 1;
        doubted(&snapshot, "an entry that is not understood");
    }
}

#[test]
fn a_communicator_that_does_not_resolve_forbids_certainty() {
    let mut snapshot = damaged(&[("comm", 0x5555)]);
    doubted(&snapshot, "not among those that were found");
    // One that resolved to what is no communicator of the process.
    snapshot.processes[1].calls[0].arguments.clear();
    snapshot.processes[1].calls[0].communicator = Some(0x77);
    doubted(&snapshot, "not among those that were found");
}

#[test]
fn a_queue_that_was_not_read_whole_is_certain_only_with_the_arguments() {
    use model::QueueState;
    let mut snapshot = damaged(&[]);
    snapshot.processes[1].communicators[0].pending_receives.state = QueueState::Error;
    doubted(&snapshot, "not all posted operations could be read");
}

#[test]
fn constants_are_those_of_the_mpi() {
    let process = |implementation: &str, world: &str| {
        let mut process = job(1).processes.remove(0);
        process.mpi = Some(Mpi { implementation: implementation.to_owned(), ..Mpi::default() }.into());
        process.communicators[0].handle = HandleWord::of(world);
        process
    };
    let named = |process: &Process, value: i64| {
        peer(process, Some(&Argument { name: "source".into(), value: Some(value), ..Argument::default() }))
    };
    // MPI_ANY_SOURCE and MPI_PROC_NULL: of Open MPI, of MPICH, of the ABI of MPI 5, and of nobody knows what.
    for (implementation, world, any, null) in
        [("Open MPI", "0x7f0012345678", -1, -2), ("MPICH", "0x44000000", -2, -1), ("MPICH", "0x101", -1, -3)]
    {
        let process = process(implementation, world);
        for value in -5..3 {
            let expected = match value {
                value if value >= 0 => Peer::Rank(value),
                value if value == any => Peer::Any,
                value if value == null => Peer::Null,
                _ => Peer::Unknown,
            };
            assert_eq!(named(&process, value), expected, "{implementation} {world} {value}");
        }
    }
    let unknown = process("MPICH", "0x9");
    assert_eq!((named(&unknown, -1), named(&unknown, -2)), (Peer::Unknown, Peer::Unknown));
}
