//! Which call started each request: what the source around the stacks tells (`model::SourceCall`), checked against what the
//! library keeps.

use functions::{Started, find, small};
use model::{
    Argument, Call, CallRequest, Operation, OperationStatus, Process, Progress, QueueKind, RequestSort, RequestState,
    SameObject, Sender, SourceCall, StartedBy, StartedHow,
};

/// Of more calls that come into question none is told.
const MOST: usize = 8;

/// A request, as far as it is known.
#[derive(Clone, Copy, Default)]
struct Known<'a> {
    sort: Option<RequestSort>,
    persistent: Option<bool>,
    sends: Option<bool>,
    communicator: Option<u64>,
    /// The function, where the library keeps it.
    call: Option<&'a str>,
    operation: Option<(QueueKind, &'a Operation)>,
}

/// Adds to the requests of calls, and to operations, who started them. `handle`: the handle that a call in the source has
/// for its request now, as `Operation::request` has it.
pub fn tell(process: &mut Process, handle: &mut dyn FnMut(&SourceCall) -> Option<u64>) {
    let (sent, source_calls) = std::mem::take(&mut process.source_calls).into_iter().partition(|call| call.sent);
    process.source_calls = source_calls;
    process.senders = senders(sent);
    if process.source_calls.is_empty() {
        return;
    }
    let handles: Vec<Option<u64>> = process.source_calls.iter().map(handle).collect();
    let mut calls = std::mem::take(&mut process.calls);
    for call in &mut calls {
        for at in 0..call.requests.len() {
            call.requests[at].started_by = of_request(process, call, &call.requests[at], &handles);
        }
    }
    process.calls = calls;
    for place in 0..process.communicators.len() {
        let mut inactive = std::mem::take(&mut process.communicators[place].inactive);
        for operation in &mut inactive {
            let sends =
                operation.call.as_deref().and_then(find).map(|function| function.starts() == Some(Started::Send));
            let known = Known { persistent: Some(true), sends, call: operation.call.as_deref(), ..Known::default() };
            let started_by = elsewhere(process, &known, operation.request, &handles);
            operation.started_by = started_by;
        }
        process.communicators[place].inactive = inactive;
    }
    let told: Vec<(usize, QueueKind, usize, Vec<StartedBy>)> = operations(process, &handles);
    for (communicator, queue, at, started_by) in told {
        let operations = process.communicators.get_mut(communicator).map(|found| &mut queue.of_mut(found).operations);
        if let Some(operation) = operations.and_then(|operations| operations.get_mut(at)) {
            operation.started_by = started_by;
        }
    }
    tell_handles(process, &handles);
}

fn senders(calls: Vec<SourceCall>) -> Vec<Sender> {
    let sender = |call: SourceCall| {
        let value = |names: &[&str]| given(&call, names).and_then(|argument| argument.value);
        let (dest, tag) = (value(&["dest"]), value(&["sendtag", "tag"]));
        let SourceCall { function, file, line, caller, communicator, .. } = call;
        Sender { function, file, line, caller, dest, tag, communicator }
    };
    calls.into_iter().map(sender).collect()
}

/// Adds it to the requests among handles that were asked for, as a fact of theirs.
fn tell_handles(process: &mut Process, handles: &[Option<u64>]) {
    let mut lists = std::mem::take(&mut process.handles);
    for handle in lists.iter_mut().flat_map(|list| &mut list.handles) {
        let Some(facts) = handle.request().filter(|facts| facts.progress != Progress::Complete) else { continue };
        let of_calls = process.calls.iter().flat_map(|call| &call.requests);
        let started_by = match of_calls.into_iter().find(|request| request.handle == handle.handle) {
            Some(request) => request.started_by.clone(),
            None => {
                let sort = facts.sort.as_ref().ok().copied();
                let known = Known { sort, persistent: Some(facts.persistent), sends: facts.sends, ..Known::default() };
                elsewhere(process, &known, handle.handle.as_deref().and_then(hexadecimal), handles)
            }
        };
        if !started_by.is_empty() {
            handle.fact("started_by", serde_json::to_value(started_by).unwrap_or_default());
        }
    }
    process.handles = lists;
}

fn operations(process: &Process, handles: &[Option<u64>]) -> Vec<(usize, QueueKind, usize, Vec<StartedBy>)> {
    let requests: Vec<&CallRequest> = process.calls.iter().flat_map(|call| &call.requests).collect();
    let mut found = Vec::new();
    for (place, communicator) in process.communicators.iter().enumerate() {
        for queue in [QueueKind::PendingSends, QueueKind::PendingReceives] {
            for (at, operation) in queue.of(communicator).operations.iter().enumerate() {
                if operation.internal || operation.status == OperationStatus::Complete {
                    continue;
                }
                let text = operation.request.map(|request| format!("{request:#x}"));
                let waited = requests.iter().find(|request| text.is_some() && request.handle == text);
                let started = match waited {
                    Some(request) => request.started_by.clone(),
                    None => of_operation(process, communicator.unique_id, (queue, operation), handles),
                };
                if !started.is_empty() {
                    found.push((place, queue, at, started));
                }
            }
        }
    }
    found
}

/// Who started a request that a call waits for.
fn of_request(process: &Process, call: &Call, request: &CallRequest, handles: &[Option<u64>]) -> Vec<StartedBy> {
    if matches!(request.state, RequestState::Null | RequestState::Invalid | RequestState::Unknown) {
        return Vec::new();
    }
    let known = known(process, request);
    let of_thread = || process.source_calls.iter().filter(|one| one.thread == call.thread);
    let here = |one: &&SourceCall| {
        one.request.same == SameObject::Yes && one.request.index.is_none_or(|index| index == request.index)
    };
    let mut fitting = fitting(of_thread().filter(here), &known);
    if let [(only, _)] = fitting.as_slice() {
        return vec![started(only, only.request.alone, StartedHow::Source)];
    }
    if fitting.is_empty() {
        let number = request.handle.as_deref().and_then(hexadecimal);
        return elsewhere(process, &known, number, handles);
    }
    order(&mut fitting);
    several(&fitting, StartedHow::Source)
}

/// Who started an operation that no call waits for.
fn of_operation(
    process: &Process,
    communicator: u64,
    (queue, operation): (QueueKind, &Operation),
    handles: &[Option<u64>],
) -> Vec<StartedBy> {
    let call = operation.call.as_deref();
    // What a blocking call has posted.
    if call.and_then(find).is_some_and(|function| function.starts().is_none()) {
        return Vec::new();
    }
    let known = Known {
        sort: Some(RequestSort::PointToPoint),
        persistent: Some(operation.persistent),
        sends: Some(queue == QueueKind::PendingSends),
        communicator: Some(communicator),
        call,
        operation: Some((queue, operation)),
    };
    let found = elsewhere(process, &known, operation.request, handles);
    // Who posted what has no function may be a blocking call, too.
    if call.is_none() && found.iter().all(|one| one.how == StartedHow::Facts) { Vec::new() } else { found }
}

/// Calls whose variable has the request now, else those that fit what is known of it.
fn elsewhere(process: &Process, known: &Known<'_>, handle: Option<u64>, handles: &[Option<u64>]) -> Vec<StartedBy> {
    let all = || process.source_calls.iter().zip(handles);
    let mut holding =
        fitting(all().filter(|(_, held)| handle.is_some() && **held == handle).map(|(call, _)| call), known);
    if !holding.is_empty() {
        order(&mut holding);
        return several(&holding, StartedHow::Handle);
    }
    let open = all().filter(|(call, _)| call.request.same != SameObject::No).map(|(call, _)| call);
    let mut fitting = fitting(open, known);
    order(&mut fitting);
    several(&fitting, StartedHow::Facts)
}

/// Calls that come into question, each with how many of its arguments are others now than what is known.
type Fitting<'a> = Vec<(&'a SourceCall, usize)>;

fn fitting<'a>(calls: impl Iterator<Item = &'a SourceCall>, known: &Known<'_>) -> Fitting<'a> {
    let mut found: Fitting<'a> = Vec::new();
    for call in calls {
        let Some(differing) = differing(call, known) else { continue };
        // One that stands on the stack several times.
        let same = |(other, _): &(&SourceCall, usize)| (&other.file, other.line) == (&call.file, call.line);
        if !found.iter().any(same) {
            found.push((call, differing));
        }
    }
    found
}

/// Those that fit best first.
fn order(fitting: &mut Fitting<'_>) {
    fitting.sort_by_key(|(_, differing)| *differing);
}

fn several(fitting: &Fitting<'_>, how: StartedHow) -> Vec<StartedBy> {
    if fitting.len() > MOST {
        return Vec::new();
    }
    fitting.iter().map(|(call, _)| started(call, false, how)).collect()
}

fn started(call: &SourceCall, certain: bool, how: StartedHow) -> StartedBy {
    StartedBy {
        function: call.function.clone(),
        file: call.file.clone(),
        line: Some(call.line),
        caller: call.caller.clone(),
        request: call.request.expression.clone(),
        root: given(call, &["root"]).and_then(|one| one.value),
        certain,
        how,
    }
}

/// What is known of a request that a call waits for.
fn known<'p>(process: &'p Process, request: &CallRequest) -> Known<'p> {
    let number = request.handle.as_deref().and_then(hexadecimal);
    let all = process.communicators.iter().flat_map(|communicator| {
        let of = |queue: QueueKind| queue.of(communicator).operations.iter().map(move |one| (queue, one));
        let operations = of(QueueKind::PendingSends).chain(of(QueueKind::PendingReceives));
        operations.map(move |found| (communicator.unique_id, found))
    });
    let mut all = all.filter(|(_, (_, one))| number.is_some() && one.request == number && !one.internal);
    let found = all.next();
    Known {
        sort: request.sort,
        persistent: request.sort.map(|_| request.persistent),
        sends: found.map(|(_, (queue, _))| queue == QueueKind::PendingSends),
        communicator: request.communicator.or(found.map(|(communicator, _)| communicator)),
        call: found.and_then(|(_, (_, one))| one.call.as_deref()),
        operation: found.map(|(_, found)| found),
    }
}

/// How many arguments of a call are others now than what is known of a request; `None`: it cannot have started it.
fn differing(call: &SourceCall, known: &Known<'_>) -> Option<usize> {
    // MPI_Start starts what another call has made: that one says what it is.
    let function = find(&call.function)?;
    let started = function.starts()?;
    if known.persistent.is_some_and(|persistent| persistent != function.is_persistent()) {
        return None;
    }
    if !known.sort.is_none_or(|sort| may_be(started, sort)) {
        return None;
    }
    if known
        .call
        .is_some_and(|name| find(name).is_some_and(|kept| kept.starts().is_some()) && small(name) != function.name)
    {
        return None;
    }
    let mut differing =
        usize::from(matches!((call.communicator, known.communicator), (Some(now), Some(then)) if now != then));
    if matches!((started, known.sends), (Started::Send, Some(false)) | (Started::Receive, Some(true))) {
        return None;
    }
    let Some((queue, operation)) = known.operation else { return Some(differing) };
    let sends = queue == QueueKind::PendingSends;
    let (peer, tag) = match started {
        Started::SendReceive if sends => ("dest", "sendtag"),
        Started::SendReceive => ("source", "recvtag"),
        Started::Send => ("dest", "tag"),
        _ => ("source", "tag"),
    };
    for (name, wild, kept) in
        [(peer, operation.any_source, operation.desired_local_rank), (tag, operation.tag_wild, operation.desired_tag)]
    {
        let Some(argument) = given(call, &[name]) else { continue };
        if let Some(value) = argument.value.filter(|value| !is(*value, wild, kept)) {
            if argument.fixed && sure(value) {
                return None;
            }
            differing += 1;
        }
    }
    let buffers = if sends { ["sendbuf", "buf"] } else { ["recvbuf", "buf"] };
    let buffer = given(call, &buffers).and_then(number);
    differing += usize::from(matches!((buffer, operation.buffer), (Some(now), Some(then)) if now != then));
    let count = given(call, &["count"]);
    // A library may keep a message of two integers as one of eight bytes: that proves nothing.
    let count = count.and_then(|count| count.value).and_then(|count| u64::try_from(count).ok());
    differing += usize::from(matches!((count, operation.count), (Some(now), Some(then)) if now != then));
    Some(differing)
}

/// The argument that has one of these names.
fn given<'c>(call: &'c SourceCall, names: &[&str]) -> Option<&'c Argument> {
    call.arguments.iter().find(|one| names.contains(&one.name.as_str()))
}

/// The wildcards are negative numbers, which differ from MPI to MPI.
fn is(value: i64, wild: bool, kept: Option<i64>) -> bool {
    if wild { value < 0 } else { kept.is_none_or(|kept| kept == value) }
}

/// Whether a number in the source is one that the library keeps as it is.
fn sure(value: i64) -> bool {
    value >= 0
}

fn number(argument: &Argument) -> Option<u64> {
    argument.value.map(|value| value as u64)
}

fn may_be(started: Started, sort: RequestSort) -> bool {
    match sort {
        RequestSort::PointToPoint => matches!(started, Started::Send | Started::Receive | Started::SendReceive),
        RequestSort::Collective | RequestSort::Communicator => started == Started::Collective,
        RequestSort::OneSided => started == Started::OneSided,
        RequestSort::File => started == Started::File,
        RequestSort::Generalized => started == Started::Generalized,
        RequestSort::Partitioned => started == Started::Partitioned,
        RequestSort::NoOp => true,
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests;
