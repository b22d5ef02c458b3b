//! Which of several calls started a request.

use super::*;
use model::{
    Argument, Call, Communicator, HandleKind, HandleList, HandleState, Queue, RequestFacts, RequestSort, Typed,
};

const FILE: &str = "halo.c";

/// A call at a line whose request is what the thread's call waits for.
fn at(line: i64, function: &str) -> SourceCall {
    let mut call = SourceCall { function: function.to_owned(), line, thread: 1, ..SourceCall::default() };
    call.file = Some(FILE.to_owned());
    call.request.same = SameObject::Yes;
    call.request.alone = true;
    call
}

fn with(mut call: SourceCall, arguments: &[(&str, i64, bool)]) -> SourceCall {
    let argument = |(name, value, fixed): &(&str, i64, bool)| Argument {
        name: (*name).into(),
        value: Some(*value),
        fixed: *fixed,
        ..Argument::default()
    };
    call.arguments = arguments.iter().map(argument).collect();
    call
}

fn of(same: SameObject, mut call: SourceCall) -> SourceCall {
    call.request.same = same;
    call
}

/// A process that waits in MPI_Wait for the request 0x10, a receive of tag 7 from rank 1.
fn process(source_calls: Vec<SourceCall>) -> Process {
    let receive = Operation {
        desired_local_rank: Some(1),
        desired_tag: Some(7),
        request: Some(0x10),
        count: Some(4),
        buffer: Some(0x1000),
        call: Some("MPI_Irecv".into()),
        ..Operation::default()
    };
    let queue = Queue { operations: vec![receive], ..Queue::default() };
    let request = CallRequest {
        handle: Some(model::HandleWord(0x10)),
        state: RequestState::Open,
        sort: Some(RequestSort::PointToPoint),
        ..CallRequest::default()
    };
    let call = Call { function: "MPI_Wait".into(), thread: 1, requests: vec![request], ..Call::default() };
    let communicator = Communicator { unique_id: 3, pending_receives: queue.into(), ..Communicator::default() };
    Process {
        calls: vec![call].into(),
        communicators: vec![communicator].into(),
        source_calls: source_calls.into(),
        ..Process::default()
    }
}

/// What is told of the request: lines, each with whether it is certain.
fn told(source_calls: Vec<SourceCall>) -> Vec<(i64, bool)> {
    let mut process = process(source_calls);
    tell(&mut process, &mut |call| call.request.handle.map(|handle| handle as u64));
    let told = &process.calls[0].requests[0].started_by;
    // The queue tells the same.
    assert_eq!(&*process.communicators[0].pending_receives.operations[0].started_by, told.as_slice());
    told.iter().map(|one| (one.line.unwrap_or_default(), one.certain)).collect()
}

#[test]
fn one_call_that_nothing_else_can_have_made_is_certain() {
    assert_eq!(told(vec![at(5, "MPI_Irecv")]), [(5, true)]);
    let mut shared = at(5, "MPI_Irecv");
    shared.request.alone = false;
    assert_eq!(told(vec![shared]), [(5, false)]);
    assert_eq!(told(vec![]), []);
}

#[test]
fn what_the_library_keeps_excludes_others() {
    let receive = || at(5, "MPI_Irecv");
    for other in
        ["MPI_Isend", "MPI_Iallreduce", "MPI_Recv_init", "MPI_File_iread", "MPI_Rget", "MPI_Start", "MPI_Imrecv"]
    {
        assert_eq!(told(vec![receive(), at(6, other)]), [(5, true)], "{other}");
    }
    // Numbers that stand in the source; what a variable has now it need not have had then.
    let tag = |line, value, fixed| with(at(line, "MPI_Irecv"), &[("source", 1, true), ("tag", value, fixed)]);
    assert_eq!(told(vec![tag(5, 7, true), tag(6, 8, true)]), [(5, true)]);
    assert_eq!(told(vec![tag(5, 8, true)]), []);
    assert_eq!(told(vec![tag(6, 8, false), tag(5, 7, false)]), [(5, false), (6, false)]);
    // A wildcard is no other number.
    assert_eq!(
        told(vec![tag(5, 7, true), with(at(6, "MPI_Irecv"), &[("source", -1, true)])]),
        [(5, false), (6, false)]
    );
}

#[test]
fn places_of_the_array_tell_which() {
    let mut other = at(6, "MPI_Irecv");
    other.request.index = Some(1);
    let mut own = at(5, "MPI_Irecv");
    own.request.index = Some(0);
    assert_eq!(told(vec![own, other.clone()]), [(5, true)]);
    // One in a loop may be each of them.
    assert_eq!(told(vec![at(5, "MPI_Irecv"), other]), [(5, true)]);
}

#[test]
fn who_holds_the_request_is_told_before_who_fits() {
    let unknown = |line| of(SameObject::Unknown, at(line, "MPI_Irecv"));
    let mut holding = unknown(5);
    holding.request.handle = Some(0x10);
    assert_eq!(told(vec![unknown(6), holding]), [(5, false)]);
    assert_eq!(told(vec![unknown(6), unknown(5)]), [(6, false), (5, false)]);
    assert_eq!(told(vec![of(SameObject::No, at(6, "MPI_Irecv"))]), []);
    // So many that nobody is helped by them.
    assert_eq!(told((1..20).map(unknown).collect()), []);
}

#[test]
fn what_a_blocking_call_has_posted_is_nobody_elses() {
    let mut process = process(vec![of(SameObject::Unknown, at(5, "MPI_Irecv"))]);
    process.calls[0].requests.clear();
    let own = |process: &mut Process, call: Option<&'static str>| {
        process.communicators[0].pending_receives.operations[0].call = call.map(Into::into);
        tell(process, &mut |_| None);
        std::mem::take(&mut process.communicators[0].pending_receives.operations[0].started_by).len()
    };
    assert_eq!(own(&mut process, Some("MPI_Irecv")), 1);
    assert_eq!(own(&mut process, Some("MPI_Recv")), 0);
    assert_eq!(own(&mut process, None), 0);
}

#[test]
fn handles_that_were_asked_for_tell_it_too() {
    let mut process = process(vec![of(SameObject::Unknown, at(5, "MPI_Isend")), at(6, "MPI_Irecv")]);
    let request = |handle: &str, sends: bool| {
        let facts = RequestFacts::new(Ok(RequestSort::PointToPoint), Progress::Pending, false);
        let typed = Typed::Request(RequestFacts { sends: Some(sends), ..facts });
        let (kind, state) = (HandleKind::Request, HandleState::Live);
        model::Handle { kind, state, handle: Some(handle.to_owned()), typed, ..model::Handle::default() }
    };
    let handles = vec![request("0x10", false), request("0x20", true)];
    process.handles.push(HandleList { kind: HandleKind::Request, complete: true, detail: None, handles });
    tell(&mut process, &mut |_| None);
    let lines: Vec<_> =
        process.handles[0].handles.iter().map(|one| one.facts["started_by"][0]["line"].clone()).collect();
    assert_eq!(lines, [6, 5]);
}
