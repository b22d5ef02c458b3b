//! Which call started each request: what the source around the stacks tells (`model::SourceCall`), checked against what the
//! library keeps.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use functions::{Function, Started, WaitKind, find, small, wait_kind};
use model::{
    Argument, CallRequest, EarlierCollective, Operation, OperationStatus, Process, Progress, QueueKind, RequestSort,
    RequestState, SameObject, Schedule, Sender, SourceCall, StartedBy, StartedHow,
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
    /// The function, where the library keeps it and it is one that starts something.
    call: Option<&'a str>,
    operation: Option<(QueueKind, &'a Operation)>,
    /// Of a collective: what the library has planned for it.
    schedule: Option<&'a Schedule>,
}

/// A call in the source, with what its function starts.
struct Candidate<'a> {
    call: &'a SourceCall,
    function: Function,
    started: Started,
    persistent: bool,
    /// The handle that it has for its request now.
    held: Option<u64>,
    sends: Message<'a>,
    receives: Message<'a>,
    count: Option<&'a Argument>,
}

/// The arguments of a call that say which message it sends or receives.
#[derive(Clone, Copy)]
struct Message<'a> {
    peer: Option<&'a Argument>,
    tag: Option<&'a Argument>,
    buffer: Option<&'a Argument>,
}

impl<'a> Candidate<'a> {
    /// `None`: its function starts nothing. `held`: as [`Self::held`].
    fn new(call: &'a SourceCall, held: &mut dyn FnMut(&SourceCall) -> Option<u64>) -> Option<Self> {
        let function = find(&call.function)?;
        let started = function.starts()?;
        let message = |peer, tag, buffer| Message {
            peer: given(call, &[peer]),
            tag: given(call, &[tag]),
            buffer: given(call, &[buffer, "buf"]),
        };
        let both = started == Started::SendReceive;
        let (sends, receives) = if both { ("sendtag", "recvtag") } else { ("tag", "tag") };
        Some(Self {
            call,
            started,
            persistent: function.is_persistent(),
            held: held(call),
            sends: message("dest", sends, "sendbuf"),
            receives: message("source", receives, "recvbuf"),
            count: given(call, &["count"]),
            function,
        })
    }
}

/// Operations by their requests, with the numbers of their communicators.
type Posted<'a> = HashMap<u64, (u64, (QueueKind, &'a Operation))>;

/// Adds to the requests of calls, and to operations, who started them. `handle`: the handle that a call in the source has
/// for its request now, as `Operation::request` has it.
pub fn tell(process: &mut Process, handle: &mut dyn FnMut(&SourceCall) -> Option<u64>) {
    let (earlier, source_calls): (Vec<_>, Vec<_>) =
        std::mem::take(&mut process.source_calls).into_iter().partition(|call| call.way.is_some());
    let (later, source_calls): (Vec<_>, Vec<_>) = source_calls.into_iter().partition(|call| call.later);
    let (sent, source_calls): (Vec<_>, Vec<_>) = source_calls.into_iter().partition(|call| call.sent);
    process.senders = senders(sent);
    process.earlier_collectives = earlier_collectives(earlier);
    let (sends, later): (Vec<_>, Vec<_>) = later.into_iter().partition(|call| call.sent);
    process.later_sends = senders(sends);
    process.later_collectives = later_collectives(later);
    if source_calls.is_empty() {
        return;
    }
    // MPI_Start starts what another call has made: that one says what it is.
    let candidates: Vec<Candidate<'_>> = source_calls.iter().filter_map(|call| Candidate::new(call, handle)).collect();
    tell_calls(process, &candidates);
    let waited = waited(process);
    let mut last = Last::default();
    // Many operations in a row have one function. Whether it starts something; `None`: it is none of MPI's.
    let mut starts: Option<(Cow<'static, str>, Option<bool>)> = None;
    for communicator in &mut process.communicators {
        let unique_id = communicator.unique_id;
        for queue in [QueueKind::PendingSends, QueueKind::PendingReceives] {
            for operation in &mut queue.of_mut(communicator).operations {
                if operation.internal || operation.status == OperationStatus::Complete {
                    continue;
                }
                operation.started_by = match operation.request.and_then(|request| waited.get(&request)) {
                    Some(started) => started.clone(),
                    None => {
                        let look = |name: &Cow<'static, str>| match &starts {
                            Some((last, known)) if last == name => *known,
                            _ => {
                                let known = find(name).map(|function| function.starts().is_some());
                                starts = Some((name.clone(), known));
                                known
                            }
                        };
                        let starts = operation.call.as_ref().and_then(look);
                        of_operation(unique_id, (queue, operation), starts, &candidates, &mut last)
                    }
                };
            }
        }
        for operation in &mut communicator.inactive {
            let call = operation.call.as_deref().and_then(starting);
            let sends = call.and_then(find).map(|function| function.starts() == Some(Started::Send));
            let known = Known { persistent: Some(true), sends, call, ..Known::default() };
            let (fitting, how) = elsewhere(&candidates, &known, operation.request);
            operation.started_by = last.several(&fitting, how);
        }
    }
    tell_handles(process, &waited, &candidates);
    drop(candidates);
    process.source_calls = source_calls;
}

/// Adds it to the requests of calls.
fn tell_calls(process: &mut Process, candidates: &[Candidate<'_>]) {
    let mut calls = std::mem::take(&mut process.calls);
    let mut posted = Posted::new();
    for communicator in &process.communicators {
        for queue in [QueueKind::PendingSends, QueueKind::PendingReceives] {
            for operation in queue.of(communicator).operations.iter().filter(|operation| !operation.internal) {
                if let Some(request) = operation.request {
                    posted.entry(request).or_insert((communicator.unique_id, (queue, operation)));
                }
            }
        }
    }
    for call in &mut calls {
        for request in &mut call.requests {
            request.started_by = of_request(call.thread, request, &posted, candidates);
        }
    }
    drop(posted);
    process.calls = calls;
}

/// Who started the requests that calls wait for, by their handles.
fn waited(process: &Process) -> HashMap<u64, Arc<[StartedBy]>> {
    let mut found = HashMap::new();
    for request in process.calls.iter().flat_map(|call| &call.requests) {
        if let Some(handle) = request.handle.as_deref().and_then(hexadecimal) {
            found.entry(handle).or_insert_with(|| request.started_by.as_slice().into());
        }
    }
    found
}

/// A function that the library names, where it is one that starts something.
fn starting(name: &str) -> Option<&str> {
    find(name).is_some_and(|function| function.starts().is_some()).then_some(name)
}

fn senders(calls: Vec<SourceCall>) -> Vec<Sender> {
    let sender = |call: SourceCall| {
        let value = |names: &[&str]| given(&call, names).and_then(|argument| argument.value);
        let (dest, tag) = (value(&["dest"]), value(&["sendtag", "tag"]));
        let SourceCall { function, file, line, caller, communicator, elsewhere, .. } = call;
        Sender { function, file, line, caller, dest, tag, communicator, elsewhere }
    };
    calls.into_iter().map(sender).collect()
}

/// Of several threads it is not known in which order they called.
fn earlier_collectives(calls: Vec<SourceCall>) -> Vec<EarlierCollective> {
    let thread = calls.first().map(|call| call.thread);
    if calls.iter().any(|call| Some(call.thread) != thread) {
        return Vec::new();
    }
    let one = |call: SourceCall| {
        let root = given(&call, &["root"]).and_then(|one| one.value);
        let SourceCall { function, file, line, caller, communicator, way, first, .. } = call;
        EarlierCollective { way: way.unwrap_or_default(), first, function, file, line, caller, communicator, root }
    };
    calls.into_iter().map(one).collect()
}

/// Known where the source was followed to the end of the program, of one thread.
fn later_collectives(calls: Vec<SourceCall>) -> Option<Vec<String>> {
    let thread = calls.first()?.thread;
    let whole = calls.iter().all(|call| call.thread == thread);
    let mut functions: Vec<String> = calls.into_iter().map(|call| call.function).collect();
    functions.sort_unstable();
    functions.dedup();
    let ends = |function: &String| wait_kind(function) == WaitKind::Finalize;
    (whole && functions.iter().any(ends)).then_some(functions)
}

/// Adds it to the requests among handles that were asked for, as a fact of theirs.
fn tell_handles(process: &mut Process, waited: &HashMap<u64, Arc<[StartedBy]>>, candidates: &[Candidate<'_>]) {
    for handle in process.handles.iter_mut().flat_map(|list| &mut list.handles) {
        let Some(facts) = handle.request().filter(|facts| facts.progress != Progress::Complete) else { continue };
        let number = handle.handle.as_deref().and_then(hexadecimal);
        let started_by = match number.and_then(|number| waited.get(&number)) {
            Some(started) => started.clone(),
            None => {
                let sort = facts.sort.as_ref().ok().copied();
                let (persistent, schedule) = (Some(facts.persistent), facts.schedule.as_ref());
                let known = Known { sort, persistent, sends: facts.sends, schedule, ..Known::default() };
                let (fitting, how) = elsewhere(candidates, &known, number);
                several(&fitting, how).into()
            }
        };
        if !started_by.is_empty() {
            handle.fact("started_by", serde_json::to_value(started_by).unwrap_or_default());
        }
    }
}

/// Who started a request that a call of a thread waits for.
fn of_request(thread: i64, request: &CallRequest, posted: &Posted<'_>, candidates: &[Candidate<'_>]) -> Vec<StartedBy> {
    if matches!(request.state, RequestState::Null | RequestState::Invalid | RequestState::Unknown) {
        return Vec::new();
    }
    let number = request.handle.as_deref().and_then(hexadecimal);
    let known = known(request, number.and_then(|number| posted.get(&number)).copied());
    let here = |one: &&Candidate<'_>| {
        let object = &one.call.request;
        let same = object.same == SameObject::Yes && object.index.is_none_or(|index| index == request.index);
        same && one.call.thread == thread
    };
    let mut fitting = fitting(candidates.iter().filter(here), &known);
    if let [(only, _)] = fitting.as_slice() {
        return vec![started(only, only.request.alone, StartedHow::Source)];
    }
    if fitting.is_empty() {
        let (fitting, how) = elsewhere(candidates, &known, number);
        return several(&fitting, how);
    }
    order(&mut fitting);
    several(&fitting, StartedHow::Source)
}

/// What was told of the last operation: most are like the one before, and have it together.
#[derive(Default)]
struct Last<'a> {
    of: Vec<&'a SourceCall>,
    how: StartedHow,
    told: Arc<[StartedBy]>,
}

impl<'a> Last<'a> {
    /// As [`several`].
    fn several(&mut self, fitting: &Fitting<'a>, how: StartedHow) -> Arc<[StartedBy]> {
        let of = fitting.iter().map(|(call, _)| *call);
        let same = self.how == how && self.of.len() == fitting.len();
        if !(same && self.of.iter().zip(of.clone()).all(|(last, one)| std::ptr::eq(*last, one))) {
            *self = Self { of: of.collect(), how, told: several(fitting, how).into() };
        }
        Arc::clone(&self.told)
    }
}

/// Who started an operation that no call waits for. `starts`: whether its function is one that starts something.
fn of_operation<'a>(
    communicator: u64,
    (queue, operation): (QueueKind, &Operation),
    starts: Option<bool>,
    candidates: &'a [Candidate<'a>],
    last: &mut Last<'a>,
) -> Arc<[StartedBy]> {
    // What a blocking call has posted.
    if starts == Some(false) {
        return Arc::default();
    }
    let call = operation.call.as_deref().filter(|_| starts == Some(true));
    let known = Known {
        sort: Some(RequestSort::PointToPoint),
        persistent: Some(operation.persistent),
        sends: Some(queue == QueueKind::PendingSends),
        communicator: Some(communicator),
        call,
        operation: Some((queue, operation)),
        schedule: None,
    };
    let (fitting, how) = elsewhere(candidates, &known, operation.request);
    // Who posted what has no function may be a blocking call, too.
    if operation.call.is_none() && how == StartedHow::Facts { Arc::default() } else { last.several(&fitting, how) }
}

/// Calls whose variable has the request now, else those that fit what is known of it.
fn elsewhere<'a>(candidates: &'a [Candidate<'a>], known: &Known<'_>, handle: Option<u64>) -> (Fitting<'a>, StartedHow) {
    let mut holding = fitting(candidates.iter().filter(|one| handle.is_some() && one.held == handle), known);
    if !holding.is_empty() {
        order(&mut holding);
        return (holding, StartedHow::Handle);
    }
    let mut fitting = fitting(candidates.iter().filter(|one| one.call.request.same != SameObject::No), known);
    order(&mut fitting);
    (fitting, StartedHow::Facts)
}

/// Calls that come into question, each with how many of its arguments are others now than what is known.
type Fitting<'a> = Vec<(&'a SourceCall, usize)>;

fn fitting<'a>(candidates: impl Iterator<Item = &'a Candidate<'a>>, known: &Known<'_>) -> Fitting<'a> {
    let mut found: Fitting<'a> = Vec::new();
    for candidate in candidates {
        let Some(differing) = differing(candidate, known) else { continue };
        let call = candidate.call;
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

/// What is known of a request that a call waits for, with its operation where one is listed.
fn known<'p>(request: &'p CallRequest, found: Option<(u64, (QueueKind, &'p Operation))>) -> Known<'p> {
    Known {
        sort: request.sort,
        persistent: request.sort.map(|_| request.persistent),
        sends: found.map(|(_, (queue, _))| queue == QueueKind::PendingSends),
        communicator: request.communicator.or(found.map(|(communicator, _)| communicator)),
        call: found.and_then(|(_, (_, one))| one.call.as_deref()).and_then(starting),
        operation: found.map(|(_, found)| found),
        schedule: request.schedule.as_ref(),
    }
}

/// How many arguments of a call are others now than what is known of a request; `None`: it cannot have started it.
fn differing(candidate: &Candidate<'_>, known: &Known<'_>) -> Option<usize> {
    let Candidate { call, function, started, .. } = candidate;
    let started = *started;
    if known.persistent.is_some_and(|persistent| persistent != candidate.persistent) {
        return None;
    }
    if !known.sort.is_none_or(|sort| may_be(started, sort)) {
        return None;
    }
    if known.call.is_some_and(|name| small(name) != function.name) {
        return None;
    }
    let mut differing =
        usize::from(matches!((call.communicator, known.communicator), (Some(now), Some(then)) if now != then));
    if matches!((started, known.sends), (Started::Send, Some(false)) | (Started::Receive, Some(true))) {
        return None;
    }
    if let Some(schedule) = known.schedule.filter(|_| started == Started::Collective) {
        differing += unlike(call, function, schedule)?;
    }
    let Some((queue, operation)) = known.operation else { return Some(differing) };
    let sends = queue == QueueKind::PendingSends;
    let message = match started {
        Started::Send => candidate.sends,
        Started::SendReceive if sends => candidate.sends,
        _ => candidate.receives,
    };
    for (argument, wild, kept) in [
        (message.peer, operation.any_source, operation.desired_local_rank),
        (message.tag, operation.tag_wild, operation.desired_tag),
    ] {
        let Some(argument) = argument else { continue };
        if let Some(value) = argument.value.filter(|value| !is(*value, wild, kept)) {
            if argument.fixed && sure(value) {
                return None;
            }
            differing += 1;
        }
    }
    let buffer = if sends { candidate.sends } else { candidate.receives }.buffer.and_then(number);
    differing += usize::from(matches!((buffer, operation.buffer), (Some(now), Some(then)) if now != then));
    // A library may keep a message of two integers as one of eight bytes: that proves nothing.
    let count = candidate.count.and_then(|count| count.value).and_then(|count| u64::try_from(count).ok());
    differing += usize::from(matches!((count, operation.count), (Some(now), Some(then)) if now != then));
    Some(differing)
}

/// How many arguments of a call are others now than what a schedule tells; `None`: its function does not make such a schedule.
fn unlike(call: &SourceCall, function: &Function, schedule: &Schedule) -> Option<usize> {
    if schedule.functions.is_empty() {
        return Some(0);
    }
    let possible = schedule.of(small(function.name))?;
    let (Some(root), Some(roots)) = (given(call, &["root"]), possible.roots.as_deref()) else { return Some(0) };
    match root.value {
        // Negative ones are the names of roots on intercommunicators.
        Some(value) if sure(value) && !roots.contains(&value) => (!root.fixed).then_some(1),
        _ => Some(0),
    }
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
