//! What calls were given, and which requests they wait for, where nothing else tells it.

use functions::{Direction, Function, Started};
use history::{Current, Message, OpenRequest, Peer, Record, Tag};
use model::{
    Argument, Call, CallRequest, Communicator, HandleWord, Process, RequestSort, RequestState, SourceKind, Stack,
};

/// `Argument.origin` of these.
const ORIGIN: &str = "recorder";

/// Peers, tags and roots, by the names that functions have for them: of a function that sends as well, of what it sends.
const PEERS: [&str; 6] = ["dest", "source", "root", "target_rank", "rank", "remote_leader"];
const TAGS: [&str; 2] = ["tag", "sendtag"];

/// Says of calls what they were given: peer, tag, communicator, requests. What the source or debug information tells stays.
pub fn tell_calls(process: &mut Process, stacks: &[Stack], record: &Record) {
    let mut calls = std::mem::take(&mut process.calls);
    let no_reader = process.source.as_ref().is_some_and(|source| source.kind == SourceKind::Recorder);
    for call in &mut calls {
        let Some(current) = current(call, stacks, record) else { continue };
        let Some(function) = functions::find(&call.c_name()) else { continue };
        let handle = current.posted.communicator;
        let communicator = process.communicators.iter().find(|one| one.handle.is_some() && one.handle == handle);
        call.communicator = call.communicator.or(communicator.map(|one| one.unique_id));
        if call.arguments.is_empty() {
            call.arguments = arguments(&function, current);
            if !call.arguments.is_empty() {
                call.arguments_unknown = None;
            }
        }
        if no_reader {
            let waited = (0..).zip(&current.requests);
            let one = |(index, handle): (i64, &HandleWord)| request(index, *handle, record, &process.communicators);
            call.requests = waited.map(one).collect();
        }
    }
    process.calls = calls;
}

/// A call as the recorder has it: that of its thread, where that is in the same function.
fn current<'r>(call: &Call, stacks: &[Stack], record: &'r Record) -> Option<&'r Current> {
    let thread = stacks.iter().find(|stack| stack.thread == call.thread).and_then(|stack| stack.kernel_thread);
    let name = call.c_name();
    let is_it = |current: &&Current| {
        let same = thread.is_none_or(|thread| thread == current.kernel_thread);
        same && functions::small(&name) == &*current.posted.function
    };
    let mut found = record.current.iter().filter(is_it);
    found.next().filter(|_| found.next().is_none())
}

fn arguments(function: &Function, current: &Current) -> Vec<Argument> {
    let posted = &current.posted;
    let given = |name: &&&str| {
        function.parameter(name).is_some_and(|one| one.direction != Direction::Out && one.array.is_none())
    };
    let mut found = Vec::new();
    let mut message = |message: &Message, peers: &[&str], tags: &[&str]| {
        if let Some(name) = peers.iter().find(given) {
            found.extend(peer(name, message.peer));
        }
        if let Some(name) = tags.iter().find(given) {
            found.extend(tag(name, message.tag));
        }
    };
    message(&posted.first, &PEERS, &TAGS);
    if let Some(second) = &posted.second {
        message(second, &["source"], &["recvtag"]);
    }
    found
}

fn peer(name: &str, peer: Peer) -> Option<Argument> {
    match peer {
        Peer::Rank(rank) => Some(argument(name, Some(rank), None)),
        Peer::Any => Some(argument(name, None, Some("MPI_ANY_SOURCE"))),
        Peer::Null => Some(argument(name, None, Some("MPI_PROC_NULL"))),
        Peer::Unknown => None,
    }
}

fn tag(name: &str, tag: Tag) -> Option<Argument> {
    match tag {
        Tag::Number(tag) => Some(argument(name, Some(tag), None)),
        Tag::Any => Some(argument(name, None, Some("MPI_ANY_TAG"))),
        Tag::Unknown => None,
    }
}

fn argument(name: &str, value: Option<i64>, meaning: Option<&str>) -> Argument {
    let (meaning, origin) = (meaning.map(Into::into), Some(ORIGIN.into()));
    Argument { name: name.into(), value, meaning, origin, ..Argument::default() }
}

fn request(index: i64, handle: HandleWord, record: &Record, communicators: &[Communicator]) -> CallRequest {
    let of_handle = |open: &&OpenRequest| open.request == handle;
    let Some(open) = record.open.iter().find(of_handle) else {
        // MPI_REQUEST_NULL, or one that was not seen; where there was no room for some, that is not known.
        let state = if record.history.lost_requests == 0 { RequestState::Null } else { RequestState::Unknown };
        return CallRequest { index, handle: Some(handle), state, ..CallRequest::default() };
    };
    let posted = &open.posted;
    let started = functions::find(&posted.function).and_then(|function| function.starts());
    let sort = match started {
        Some(Started::Send | Started::Receive | Started::SendReceive) => Some(RequestSort::PointToPoint),
        Some(Started::Collective) => Some(RequestSort::Collective),
        Some(Started::Partitioned) => Some(RequestSort::Partitioned),
        Some(Started::OneSided) => Some(RequestSort::OneSided),
        Some(Started::File) => Some(RequestSort::File),
        Some(Started::Generalized) => Some(RequestSort::Generalized),
        Some(Started::Other) | None => None,
    };
    let communicator = communicators.iter().find(|one| one.handle.is_some() && one.handle == posted.communicator);
    let is_collective = sort == Some(RequestSort::Collective);
    CallRequest {
        index,
        handle: Some(handle),
        state: if open.active { RequestState::Open } else { RequestState::Inactive },
        sort,
        persistent: open.persistent,
        communicator: communicator.filter(|_| is_collective).map(|one| one.unique_id),
        collective: is_collective.then(|| posted.function.clone()),
        sequence: open.collective.and_then(|number| i64::try_from(number).ok()),
        ..CallRequest::default()
    }
}
