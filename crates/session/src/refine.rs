//! Facts that follow from several others.

use std::borrow::Cow;

use functions::Function;
use model::{
    Call, Communicator, Facts, Operation, OperationStatus, Process, QueueKind, Remark, SourceCall, SourceKind, Stage,
    TcpConnections,
};

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
    process.host = facts.host.as_deref().map(Into::into);
    process.executable = facts.executable.as_deref().map(Into::into);
    if let Some(source) = &mut process.source {
        source.via.clone_from(&facts.via);
    }
    let number = |name: &str| facts.environment.get(name).and_then(|value| value.parse::<i64>().ok());
    let [rank, size, hydra_rank, hydra_size] = RANK_VARIABLES;
    process.rank = process.rank.or_else(|| number(rank)).or_else(|| number(hydra_rank));
    process.world_size = process.world_size.or_else(|| number(size)).or_else(|| number(hydra_size));
    process.calls = facts.stacks.iter().filter_map(model::Stack::call).collect();
    process.outside = facts.stacks.iter().filter_map(model::Stack::outside).collect();
    process.source_calls = source_calls(facts).into();
    process.all_threads = Some(facts.all_threads);
    // Not every library marks the beginning of MPI_Finalize, and its structures go before the function returns.
    let finalizing = process.calls.iter().any(|call| call.c_name() == "MPI_Finalize");
    if finalizing && matches!(process.stage, None | Some(Stage::Initialized | Stage::Finalized)) {
        process.stage = Some(Stage::Finalizing);
    }
    process.tcp = Some(facts.tcp.clone().unwrap_or_else(|| TcpConnections::not_asked(&facts.via)).into());
    process.problems.extend(facts.problems.iter().cloned());
}

/// Keeps the frames of all threads.
pub fn keep_stacks(process: &mut Process, facts: &Facts) {
    process.stacks = facts.stacks.iter().map(model::Stack::bare).collect();
}

/// What the stacks tell of the source.
pub(super) fn source_calls(facts: &Facts) -> Vec<SourceCall> {
    let around = facts.stacks.iter().flat_map(|stack| stack.source_calls.iter().map(|call| (stack.thread, call)));
    around.map(|(thread, call)| SourceCall { thread, ..call.clone() }).collect()
}

/// Names the function that made each request, where the stacks leave only one answer.
///
/// A request does not say whether a blocking call made it. But a blocking call's request exists only while a thread
/// stands in that call: where no thread does, every receive comes from MPI_Irecv; where one thread stands in MPI_Recv, its
/// receive is the only one that is pending, or the only one that is as the call's arguments say.
/// `modes_known`: whether requests tell a standard send from one of another mode.
pub(super) fn name_calls(process: &mut Process, modes_known: bool) {
    // A plug-in does not tell a synchronous send from a standard one, nor whether a request is persistent.
    let builtin = process.source.as_ref().is_some_and(|source| source.kind == SourceKind::Builtin);
    if process.all_threads != Some(true) || !builtin {
        return;
    }
    let calls = std::mem::take(&mut process.calls);
    let named: Vec<(&Call, Function)> =
        calls.iter().filter_map(|call| Some((call, functions::find(&call.c_name())?))).collect();
    let standing = |of: fn(&Function) -> bool| {
        let mut found = named.iter().filter(|(_, function)| of(function)).map(|(call, _)| *call);
        (found.next(), found.next().is_some())
    };
    let (in_receive, more_receives) = standing(Function::receives);
    let (in_send, more_sends) = standing(Function::sends);
    // A persistent request was made by MPI_Recv_init or its siblings; a receive that is matched may be a message that a
    // matching probe holds.
    let unnamed = |operation: &Operation| {
        operation.call.is_none()
            && !operation.internal
            && !operation.persistent
            && operation.status != OperationStatus::Complete
    };
    // The one that the thread waits for may be in a queue that cannot be read.
    let all_seen = process.communicators.iter().all(|found| found.pending_receives.is_whole());
    let communicators = &mut process.communicators;
    if !more_receives && (in_receive.is_none() || all_seen) {
        let posted = |receive: &Operation| unnamed(receive) && receive.status == OperationStatus::Pending;
        name(communicators, QueueKind::PendingReceives, posted, in_receive.map(|call| (call, &RECEIVE)), |_| {
            Some("MPI_Irecv")
        });
    }
    if !more_sends && (in_send.is_none() || modes_known) {
        let posted = |send: &Operation| unnamed(send) && (modes_known || send.has(&Remark::SynchronousSend));
        name(communicators, QueueKind::PendingSends, posted, in_send.map(|call| (call, &SEND)), non_blocking_send);
    }
    process.calls = calls;
}

/// Parameters of blocking calls that say what the request is: where several are named, the first that a call has.
struct Parameters {
    peer: &'static [&'static str],
    tag: &'static [&'static str],
    buffer: &'static [&'static str],
}

const RECEIVE: Parameters = Parameters { peer: &["source"], tag: &["recvtag", "tag"], buffer: &["recvbuf", "buf"] };
const SEND: Parameters = Parameters { peer: &["dest"], tag: &["sendtag", "tag"], buffer: &["sendbuf", "buf"] };

/// Names those of a queue that are `open`: the one that the blocking call made, which has these parameters, and then the others,
/// which `otherwise` names.
fn name(
    communicators: &mut [Communicator],
    queue: QueueKind,
    open: impl Fn(&Operation) -> bool,
    call: Option<(&Call, &Parameters)>,
    otherwise: impl Fn(&Operation) -> Option<&'static str>,
) {
    let own = match call {
        None => None,
        Some((call, parameters)) => match of_call(communicators, queue, &open, call, parameters) {
            None => return,
            own => own,
        },
    };
    for (place, communicator) in communicators.iter_mut().enumerate() {
        for (index, operation) in queue.of_mut(communicator).operations.iter_mut().enumerate() {
            if open(operation) {
                operation.call = match call {
                    Some((call, _)) if Some((place, index)) == own => Some(Cow::Owned(call.c_name().into_owned())),
                    _ => otherwise(operation).map(Cow::Borrowed),
                };
            }
        }
    }
}

/// Which one a call made, by its communicator and its place in the queue: the only one, or the only one that fits.
fn of_call(
    communicators: &[Communicator],
    queue: QueueKind,
    open: impl Fn(&Operation) -> bool,
    call: &Call,
    parameters: &Parameters,
) -> Option<(usize, usize)> {
    let (mut several, mut first, mut fitting) = (false, None, Vec::new());
    for (place, communicator) in communicators.iter().enumerate() {
        for (index, operation) in queue.of(communicator).operations.iter().enumerate().filter(|(_, one)| open(one)) {
            several |= first.is_some();
            first = first.or(Some((place, index)));
            if fitting.len() < 2 && fits(call, parameters, communicator.unique_id, operation) {
                fitting.push((place, index));
            }
        }
    }
    match fitting[..] {
        _ if !several => first,
        [only] => Some(only),
        _ => None,
    }
}

/// Whether a communicator has a pending receive that a call may have posted, by its arguments.
pub(super) fn has_receive_of(communicator: &Communicator, call: &Call) -> bool {
    has_of(&communicator.pending_receives.operations, communicator, call, &RECEIVE)
}

/// The same of sends.
pub(super) fn has_send_of(communicator: &Communicator, call: &Call) -> bool {
    has_of(&communicator.pending_sends.operations, communicator, call, &SEND)
}

fn has_of(operations: &[Operation], communicator: &Communicator, call: &Call, parameters: &Parameters) -> bool {
    let open = |one: &&Operation| !one.internal && !one.persistent && one.status != OperationStatus::Complete;
    operations.iter().filter(open).any(|one| fits(call, parameters, communicator.unique_id, one))
}

/// Whether an operation is as the arguments of a call say; where these are not known, any is.
fn fits(call: &Call, parameters: &Parameters, communicator: u64, operation: &Operation) -> bool {
    let value = |names: &[&str]| names.iter().find_map(|name| call.argument(name)).and_then(|argument| argument.value);
    let is = |value: Option<i64>, wild: bool, known: Option<i64>| match value {
        // The wildcards are negative numbers, which differ from MPI to MPI.
        Some(value) => {
            if wild {
                value < 0
            } else {
                known.is_none_or(|known| known == value)
            }
        }
        None => true,
    };
    call.communicator.is_none_or(|known| known == communicator)
        && is(value(parameters.peer), operation.any_source, operation.desired_local_rank)
        && is(value(parameters.tag), operation.tag_wild, operation.desired_tag)
        && operation.buffer.is_none_or(|buffer| value(parameters.buffer).is_none_or(|value| value as u64 == buffer))
}

fn non_blocking_send(send: &Operation) -> Option<&'static str> {
    if send.has(&Remark::BufferedSend) {
        // MPI_Bsend of a large message leaves such a request behind as well.
        None
    } else if send.has(&Remark::SynchronousSend) {
        Some("MPI_Issend")
    } else if send.has(&Remark::ReadySend) {
        Some("MPI_Irsend")
    } else {
        Some("MPI_Isend")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Argument, Communicator, Frame, Queue, Source, Stack};

    fn in_call(function: &str) -> Facts {
        let frame = |name: &str| Frame { function: Some(name.to_owned()), ..Frame::default() };
        let frames = vec![frame("poll"), frame(function), frame("main")];
        Facts { stacks: vec![Stack { thread: 1, complete: true, frames, ..Stack::default() }], ..Facts::default() }
    }

    #[test]
    fn a_thread_in_mpi_finalize_says_how_far_the_process_is() {
        for function in ["MPI_Finalize", "PMPI_Finalize", "mpi_finalize_"] {
            for stage in [None, Some(Stage::Initialized), Some(Stage::Finalized), Some(Stage::Finalizing)] {
                let mut process = Process { stage, ..Process::default() };
                add_facts(&mut process, &in_call(function));
                assert_eq!(process.stage, Some(Stage::Finalizing), "{function} {stage:?}");
            }
        }
        for stage in [None, Some(Stage::Initialized), Some(Stage::Finalized), Some(Stage::NotInitialized)] {
            let mut process = Process { stage, ..Process::default() };
            add_facts(&mut process, &in_call("MPI_Recv"));
            assert_eq!(process.stage, stage);
        }
    }

    fn receive(source: Option<i64>, tag: Option<i64>, buffer: u64) -> Operation {
        Operation {
            desired_local_rank: source,
            any_source: source.is_none(),
            desired_tag: tag,
            tag_wild: tag.is_none(),
            buffer: Some(buffer),
            ..Operation::default()
        }
    }

    fn waiting(receives: Vec<Operation>, arguments: &[(&str, i64)]) -> Process {
        let argument =
            |(name, value): &(&str, i64)| Argument { name: (*name).into(), value: Some(*value), ..Argument::default() };
        let arguments = arguments.iter().map(argument).collect();
        let call = Call { function: "MPI_Recv".into(), arguments, communicator: Some(3), ..Call::default() };
        let queue = Queue { operations: receives, ..Queue::default() };
        Process {
            all_threads: Some(true),
            source: Some(Source { kind: SourceKind::Builtin, ..Source::default() }.into()),
            calls: vec![call].into(),
            communicators: vec![Communicator {
                unique_id: 3,
                pending_receives: queue.into(),
                ..Communicator::default()
            }]
            .into(),
            ..Process::default()
        }
    }

    fn named(mut process: Process) -> Vec<Option<String>> {
        name_calls(&mut process, true);
        let receives = &process.communicators[0].pending_receives.operations;
        receives.iter().map(|receive| receive.call.as_deref().map(str::to_owned)).collect()
    }

    #[test]
    fn of_several_receives_the_one_that_is_as_the_arguments_say_is_the_blocking_calls() {
        let (own, other) = (Some("MPI_Recv".to_owned()), Some("MPI_Irecv".to_owned()));
        let receives =
            || vec![receive(Some(1), Some(18), 8), receive(Some(1), Some(17), 16), receive(None, Some(17), 24)];
        let expected = [other.clone(), own.clone(), other.clone()];
        assert_eq!(named(waiting(receives(), &[("source", 1), ("tag", 17)])), expected);
        // The wildcards differ from MPI to MPI, but are negative.
        let expected = [other.clone(), other, own];
        assert_eq!(named(waiting(receives(), &[("source", -2), ("tag", 17)])), expected);
        assert_eq!(named(waiting(receives(), &[("buf", 24)])), expected);
    }

    #[test]
    fn where_several_or_none_fit_nothing_is_named() {
        let twice = || vec![receive(Some(1), Some(17), 8), receive(Some(1), Some(17), 8)];
        assert_eq!(named(waiting(twice(), &[("source", 1), ("tag", 17), ("buf", 8)])), [None, None]);
        assert_eq!(named(waiting(twice(), &[])), [None, None]);
        assert_eq!(named(waiting(twice(), &[("tag", 5)])), [None, None]);
    }
}
