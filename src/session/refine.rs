//! Facts that follow from several others.

use std::borrow::Cow;

use crate::model::{Facts, Operation, OperationStatus, Process, QueueState, SourceKind};

/// Fills in the process's rank and the size of its world from MPI_COMM_WORLD.
pub fn set_identity(process: &mut Process) {
    let world = process.communicators.iter().find(|communicator| communicator.name == "MPI_COMM_WORLD");
    process.rank = world.and_then(|world| world.local_rank);
    process.world_size = world.and_then(|world| world.size);
}

/// Variables in which launchers tell a process its rank and the size of its world, those of Open MPI and of Hydra; for
/// where MPI_COMM_WORLD does not.
pub const RANK_VARIABLES: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE"];

/// Fills in what the debugger knows and memory does not tell.
pub fn add_facts(process: &mut Process, facts: &Facts) {
    process.pid = facts.pid;
    process.host.clone_from(&facts.host);
    process.executable.clone_from(&facts.executable);
    if let Some(source) = &mut process.source {
        source.via.clone_from(&facts.via);
    }
    let number = |name: &str| facts.environment.get(name).and_then(|value| value.parse::<i64>().ok());
    let [rank, size, hydra_rank, hydra_size] = RANK_VARIABLES;
    process.rank = process.rank.or_else(|| number(rank)).or_else(|| number(hydra_rank));
    process.world_size = process.world_size.or_else(|| number(size)).or_else(|| number(hydra_size));
    process.calls = facts.stacks.iter().filter_map(crate::model::Stack::call).collect();
    process.outside = facts.stacks.iter().filter_map(crate::model::Stack::outside).collect();
    process.all_threads = Some(facts.all_threads);
    process.problems.extend(facts.problems.iter().cloned());
    name_calls(process, facts.all_threads);
}

/// MPI functions that post a receive and wait for it.
const BLOCKING_RECEIVES: &[&str] = &["MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Mrecv"];

/// MPI functions that post a send and wait for it.
const BLOCKING_SENDS: &[&str] =
    &["MPI_Send", "MPI_Bsend", "MPI_Ssend", "MPI_Rsend", "MPI_Sendrecv", "MPI_Sendrecv_replace"];

/// What readers say of a send that waits until it is received.
const SYNCHRONOUS: &str = "synchronous send";

/// Names the function that made each request, where the stacks leave only one answer.
///
/// A request does not say whether a blocking call made it. But a blocking call's request exists only while a thread
/// stands in that call: where no thread does, every receive comes from MPI_Irecv, and where exactly one receive is pending
/// while one thread stands in MPI_Recv, it is that thread's. `all_threads` says that every thread's stack was read.
fn name_calls(process: &mut Process, all_threads: bool) {
    // MPICH's requests do not tell a standard send from one of another mode.
    let modes_known = process.mpi.as_ref().is_some_and(|mpi| mpi.implementation == "Open MPI");
    // A plug-in does not tell a synchronous send from a standard one, nor whether a request is persistent.
    let builtin = process.source.as_ref().is_some_and(|source| source.kind == SourceKind::Builtin);
    if !all_threads || !builtin {
        return;
    }
    let standing = |names: &[&str]| {
        let mut found = process.calls.iter().filter(|call| names.contains(&call.function.as_str()));
        (found.next().map(|call| call.function.clone()), found.next().is_some())
    };
    let (in_receive, more_receives) = standing(BLOCKING_RECEIVES);
    let (in_send, more_sends) = standing(BLOCKING_SENDS);
    // A persistent request was made by MPI_Recv_init or its siblings; a receive that is matched may be a message that a
    // matching probe holds.
    let unnamed = |operation: &&mut Operation| {
        operation.call.is_none()
            && !operation.internal
            && !operation.persistent
            && operation.status != OperationStatus::Complete
    };
    let unmatched = |operation: &&mut Operation| operation.status == OperationStatus::Pending;
    // The one that the thread waits for may be in a queue that cannot be read.
    let all_seen = process.communicators.iter().all(|found| found.pending_receives.state == QueueState::Ok);
    let mut receives: Vec<&mut Operation> = Vec::new();
    let mut sends: Vec<&mut Operation> = Vec::new();
    for communicator in &mut process.communicators {
        receives.extend(communicator.pending_receives.operations.iter_mut().filter(unnamed).filter(unmatched));
        let sent = communicator.pending_sends.operations.iter_mut().filter(unnamed);
        sends.extend(sent.filter(|send| modes_known || send.extra_text.iter().any(|text| text == SYNCHRONOUS)));
    }
    match (in_receive, more_receives, receives.as_mut_slice()) {
        (None, _, all) => all.iter_mut().for_each(|receive| receive.call = Some(Cow::Borrowed("MPI_Irecv"))),
        (Some(function), false, [only]) if all_seen => only.call = Some(Cow::Owned(function)),
        _ => {}
    }
    match (in_send, more_sends, sends.as_mut_slice()) {
        (None, _, all) => all.iter_mut().for_each(|send| send.call = non_blocking_send(send).map(Cow::Borrowed)),
        (Some(function), false, [only]) if modes_known => only.call = Some(Cow::Owned(function)),
        _ => {}
    }
}

fn non_blocking_send(send: &Operation) -> Option<&'static str> {
    let mode = |words: &str| send.extra_text.iter().any(|text| text == words);
    if mode("buffered send") {
        // MPI_Bsend of a large message leaves such a request behind as well.
        None
    } else if mode(SYNCHRONOUS) {
        Some("MPI_Issend")
    } else if mode("ready send") {
        Some("MPI_Irsend")
    } else {
        Some("MPI_Isend")
    }
}
