//! The snapshot of a state of the machine, as readers give it.

use model::{
    Argument, Call as ModelCall, CallRequest, Communicator, Group, HandleWord, Mpi, Operation as ModelOperation,
    Outside, Process, Queue, Remark, RequestSort, RequestState, Snapshot, Source, SourceKind, Stage, SystemCall,
    Traffic,
};

use super::machine::{Aside, COMMS, Call, FIRST_NUMBERED, Kind, Message, Operation, Programs, State};

/// What a reader gets.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// The arguments of calls.
    pub arguments: bool,
    /// What the library posts for itself.
    pub internal: bool,
    /// How many messages went to and came from peers.
    pub counters: bool,
    /// How many non-blocking collectives were started.
    pub numbers: bool,
    /// Whether the application moved on.
    pub fingerprints: bool,
    /// Whether a rank that polls is seen in its call.
    pub polling: bool,
}

const UNIQUE: [u64; COMMS] = [0, 3, 5];

/// Its rank in a communicator.
fn local(programs: &Programs, comm: usize, rank: usize) -> Option<i64> {
    programs.members[comm].iter().position(|member| *member == rank).map(|at| at as i64)
}

pub fn snapshot(state: &State, programs: &Programs, seen: Seen) -> Snapshot {
    let size = state.ranks.len();
    let process = |rank: usize| {
        let own = &state.ranks[rank];
        let over = own.step.is_none() && own.call == programs.calls[rank].len();
        let aside = over.then_some(programs.asides[rank]);
        let polls = Call::Iprobe { comm: 0, from: None, tag: Some(99) };
        let call = match aside {
            Some(Aside::Polling) if seen.polling => Some(&polls),
            _ => own.step.map(|_| &programs.calls[rank][own.call]),
        };
        let finalizing = call == Some(&Call::Finalize);
        let outside = Outside {
            thread: 1,
            function: Some(if aside == Some(Aside::Locked) { "pthread_mutex_lock" } else { "work" }.to_owned()),
            system_call: system_call(aside),
            caller: Some("work".to_owned()),
            file: Some("work.c".to_owned()),
            line: Some(own.call as i64),
            fingerprint: seen.fingerprints.then(|| format!("{}", own.call)),
            ..Outside::default()
        };
        Process {
            rank: Some(rank as i64),
            world_size: Some(size as i64),
            pid: Some(100 + rank as i64),
            mpi: Some(
                Mpi { implementation: "Open MPI".to_owned(), transport: Some("ob1".to_owned()), ..Mpi::default() }
                    .into(),
            ),
            stage: Some(match aside {
                Some(Aside::Ended) => Stage::Ended,
                _ if finalizing => Stage::Finalizing,
                _ => Stage::Initialized,
            }),
            state: (aside == Some(Aside::Stopped)).then(|| "stopped".into()),
            calls: call.map(|call| self::call(state, programs, rank, call, seen)).into_iter().collect(),
            outside: if call.is_none() { vec![outside].into() } else { Vec::new().into() },
            all_threads: Some(true),
            // A plug-in shows what the application has posted, and may show nothing of collectives.
            source: (!seen.internal).then(|| Source { kind: SourceKind::Plugin, ..Source::default() }.into()),
            communicators: (0..COMMS)
                .filter(|comm| local(programs, *comm, rank).is_some())
                .map(|comm| communicator(state, programs, rank, comm, seen))
                .collect(),
            ..Process::default()
        }
    };
    Snapshot { processes: (0..size).map(|rank| process(rank).into()).collect(), ..Snapshot::default() }
}

fn system_call(aside: Option<Aside>) -> Option<SystemCall> {
    let name = match aside {
        Some(Aside::Sleeping) => "clock_nanosleep",
        Some(Aside::Locked) => "futex",
        _ => return None,
    };
    Some(SystemCall { name: Some(name.to_owned()), waits: true, ..SystemCall::default() })
}

/// The number that the library gives a non-blocking collective.
fn sequence(number: usize) -> i64 {
    number as i64 - FIRST_NUMBERED
}

fn handle(request: usize) -> u64 {
    0x1000 + 0x10 * request as u64
}

fn call(state: &State, programs: &Programs, rank: usize, call: &Call, seen: Seen) -> ModelCall {
    let own = &state.ranks[rank];
    let argument = |name: &str, value: i64, meaning: Option<&str>| Argument {
        name: name.into(),
        value: Some(value),
        meaning: meaning.map(str::to_owned).map(Into::into),
        ..Argument::default()
    };
    let member = |comm: usize, rank: usize| local(programs, comm, rank).unwrap();
    let source = |comm: usize, from: Option<usize>| match from {
        Some(from) => argument("source", member(comm, from), None),
        None => argument("source", -1, Some("MPI_ANY_SOURCE")),
    };
    let tag = |tag: Option<i64>| match tag {
        Some(tag) => argument("tag", tag, None),
        None => argument("tag", -1, Some("MPI_ANY_TAG")),
    };
    let (comm, arguments) = match *call {
        Call::Send { comm, to, tag: value, .. } | Call::Isend { comm, to, tag: value, .. } => {
            (Some(comm), vec![argument("dest", member(comm, to), None), tag(Some(value))])
        }
        Call::Recv { comm, from, tag: value }
        | Call::Irecv { comm, from, tag: value }
        | Call::Probe { comm, from, tag: value }
        | Call::Iprobe { comm, from, tag: value } => (Some(comm), vec![source(comm, from), tag(value)]),
        Call::Barrier { comm } | Call::Ialltoall { comm } => (Some(comm), Vec::new()),
        Call::Bcast { comm, root } | Call::Reduce { comm, root } => {
            (Some(comm), vec![argument("root", member(comm, root), None)])
        }
        Call::Wait { .. } | Call::Finalize => (None, Vec::new()),
    };
    let requests = match call {
        Call::Wait { requests, .. } => requests.as_slice(),
        _ => &[],
    };
    let request = |(index, request): (usize, &usize)| {
        let made = own.requests.get(*request);
        let state = match made {
            None => RequestState::Null,
            Some(_) if own.is_done(*request) => RequestState::Complete,
            Some(_) => RequestState::Open,
        };
        let collective = made.and_then(|made| made.collective);
        CallRequest {
            index: index as i64,
            handle: Some(HandleWord(handle(*request))),
            state,
            sort: collective.map(|_| RequestSort::Collective),
            communicator: collective.map(|(comm, _)| UNIQUE[comm]),
            sequence: collective.map(|(_, number)| sequence(number)),
            ..CallRequest::default()
        }
    };
    let known = seen.arguments;
    ModelCall {
        thread: 1,
        function: call.function().into(),
        file: Some("program.c".into()),
        line: Some(own.call as i64 + 10),
        caller: Some("main".into()),
        arguments: if known { arguments } else { Vec::new() },
        communicator: comm.filter(|_| known).map(|comm| UNIQUE[comm]),
        requests: if known { requests.iter().enumerate().map(request).collect() } else { Vec::new() },
        fingerprint: seen.fingerprints.then(|| format!("{}", own.call)),
        ..ModelCall::default()
    }
}

fn communicator(state: &State, programs: &Programs, rank: usize, comm: usize, seen: Seen) -> Communicator {
    let group: Group = programs.members[comm].iter().map(|member| Some(*member as i64)).collect();
    let own = &state.ranks[rank];
    let collective = |call: usize, tag: i64| {
        if tag <= FIRST_NUMBERED {
            return Remark::NumberedCollective(tag);
        }
        let function = programs.calls[rank].get(call).map_or("", Call::function);
        format!("part of a collective: {function} (tag {tag})").into()
    };
    let posted = |receives: bool| -> Queue {
        let shown = |operation: &&Operation| {
            let post = operation.post;
            post.comm == comm
                && !operation.done
                && (post.kind == Kind::Receive) == receives
                && (seen.internal || !post.internal)
        };
        let given = |operation: &Operation| {
            let post = operation.post;
            ModelOperation {
                desired_local_rank: post.peer.and_then(|peer| local(programs, comm, peer)),
                desired_global_rank: post.peer.map(|peer| peer as i64),
                any_source: post.peer.is_none(),
                tag_wild: post.tag.is_none(),
                desired_tag: post.tag,
                desired_length: Some(4),
                internal: post.internal,
                call: (!post.internal).then(|| operation.function.into()),
                count: Some(1),
                request: Some(operation.request.map_or(0x10, handle)),
                extra_text: post
                    .tag
                    .filter(|_| post.internal)
                    .map(|tag| collective(own.call, tag))
                    .into_iter()
                    .collect(),
                ..ModelOperation::default()
            }
        };
        Queue { operations: own.operations.iter().filter(shown).map(given).collect(), ..Queue::default() }
    };
    let arrived =
        |message: &&Message| message.to == rank && message.comm == comm && (seen.internal || !message.internal);
    let message = |message: &Message| {
        let from = Some(message.from as i64);
        let within = local(programs, comm, message.from);
        let how = if message.sync.is_some() { "rendezvous" } else { "eager" };
        ModelOperation {
            desired_local_rank: within,
            desired_global_rank: from,
            actual_local_rank: within,
            actual_global_rank: from,
            desired_tag: Some(message.tag),
            actual_tag: Some(message.tag),
            desired_length: Some(4),
            actual_length: Some(4),
            system_buffer: true,
            internal: message.internal,
            extra_text: vec![how.into()],
            ..ModelOperation::default()
        }
    };
    let count = |peer: usize| Traffic {
        local_rank: local(programs, comm, peer).unwrap(),
        sent: Some(state.sent[state.count(comm, rank, peer)]),
        arrived: Some(state.arrived[state.count(comm, peer, rank)]),
        modulus: 65_536,
        ..Traffic::default()
    };
    Communicator {
        name: ["MPI_COMM_WORLD", "dup", "part"][comm].into(),
        name_set: Some(true),
        unique_id: UNIQUE[comm],
        context_id: Some(UNIQUE[comm].to_string().into()),
        handle: Some(HandleWord(0x5000 + comm as u64)),
        local_rank: local(programs, comm, rank),
        size: Some(group.len() as i64),
        group: Some(group),
        traffic: if seen.counters {
            programs.members[comm].iter().map(|peer| count(*peer)).collect()
        } else {
            Vec::new().into()
        },
        traffic_complete: seen.counters,
        next_sequence: seen.numbers.then(|| sequence(own.started[comm])),
        pending_sends: posted(false).into(),
        pending_receives: posted(true).into(),
        unexpected_messages: Queue {
            operations: state.unexpected.iter().filter(arrived).map(message).collect(),
            ..Queue::default()
        }
        .into(),
        ..Communicator::default()
    }
}
