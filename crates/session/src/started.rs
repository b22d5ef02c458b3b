//! Which call started each request: what the source around the stacks tells (`model::SourceCall`), checked against what the
//! library keeps.

mod candidates;
mod others;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use candidates::{Candidate, Fitting, Known, fitting, given, order};
use functions::{Started, find};
use model::{
    CallRequest, Common, HandleWord, Operation, OperationStatus, Process, Progress, QueueKind, RequestSort,
    RequestState, SameObject, SourceCall, StartedBy, StartedHow,
};

/// Of more calls that come into question none is told.
const MOST: usize = 8;

/// Operations by their requests, with the numbers of their communicators.
type Posted<'a> = HashMap<u64, (u64, (QueueKind, &'a Operation))>;

/// Adds to the requests of calls, and to operations, who started them. `handle`: the handle that a call in the source has
/// for its request now, as `Operation::request` has it.
pub fn tell(process: &mut Process, handle: &mut dyn FnMut(&SourceCall) -> Option<u64>) {
    others::take(process);
    let source_calls = std::mem::take(&mut process.source_calls);
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
    // There may be a hundred thousand operations, of which calls wait for few.
    let waited = |request: &CallRequest| request.handle.map(|handle| handle.0);
    let waited: HashSet<u64> = calls.iter().flat_map(|call| &call.requests).filter_map(waited).collect();
    let mut posted = Posted::new();
    for communicator in process.communicators.iter().filter(|_| !waited.is_empty()) {
        for queue in [QueueKind::PendingSends, QueueKind::PendingReceives] {
            for operation in queue.of(communicator).operations.iter().filter(|operation| !operation.internal) {
                if let Some(request) = operation.request.filter(|request| waited.contains(request)) {
                    posted.entry(request).or_insert((communicator.unique_id, (queue, operation)));
                }
            }
        }
    }
    for call in &mut calls {
        for request in &mut call.requests {
            request.started_by = of_request(call.thread, request, &posted, candidates).into();
        }
    }
    drop(posted);
    process.calls = calls;
}

/// Who started the requests that calls wait for, by their handles.
fn waited(process: &Process) -> HashMap<u64, Common<Vec<StartedBy>>> {
    let mut found = HashMap::new();
    for request in process.calls.iter().flat_map(|call| &call.requests) {
        if let Some(handle) = request.handle.map(|handle| handle.0) {
            found.entry(handle).or_insert_with(|| request.started_by.clone());
        }
    }
    found
}

/// A function that the library names, where it is one that starts something.
fn starting(name: &str) -> Option<&str> {
    find(name).is_some_and(|function| function.starts().is_some()).then_some(name)
}

/// Adds it to the requests among handles that were asked for, as a fact of theirs.
fn tell_handles(process: &mut Process, waited: &HashMap<u64, Common<Vec<StartedBy>>>, candidates: &[Candidate<'_>]) {
    if process.handles.is_empty() {
        return;
    }
    for handle in process.handles.iter_mut().flat_map(|list| &mut list.handles) {
        let Some(facts) = handle.request().filter(|facts| facts.progress != Progress::Complete) else { continue };
        let number = handle.handle.as_deref().and_then(HandleWord::of).map(|word| word.0);
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
    if matches!(request.state, RequestState::Null | RequestState::Freed | RequestState::Invalid | RequestState::Unknown)
    {
        return Vec::new();
    }
    let number = request.handle.map(|handle| handle.0);
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
    told: Common<Vec<StartedBy>>,
}

impl<'a> Last<'a> {
    /// As [`several`].
    fn several(&mut self, fitting: &Fitting<'a>, how: StartedHow) -> Common<Vec<StartedBy>> {
        let of = fitting.iter().map(|(call, _)| *call);
        let same = self.how == how && self.of.len() == fitting.len();
        if !(same && self.of.iter().zip(of.clone()).all(|(last, one)| std::ptr::eq(*last, one))) {
            *self = Self { of: of.collect(), how, told: several(fitting, how).into() };
        }
        self.told.clone()
    }
}

/// Who started an operation that no call waits for. `starts`: whether its function is one that starts something.
fn of_operation<'a>(
    communicator: u64,
    (queue, operation): (QueueKind, &Operation),
    starts: Option<bool>,
    candidates: &'a [Candidate<'a>],
    last: &mut Last<'a>,
) -> Common<Vec<StartedBy>> {
    // What a blocking call has posted.
    if starts == Some(false) {
        return Common::default();
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
    if operation.call.is_none() && how == StartedHow::Facts { Common::default() } else { last.several(&fitting, how) }
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
        schedule: request.schedule.as_deref(),
    }
}

#[cfg(test)]
mod tests;
