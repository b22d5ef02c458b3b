//! Calls with made-up arguments, on a library of made-up handles.

use std::collections::HashMap;

use super::*;
use model::handle::{Constant, Epoch, Lock, LockType, Open, Reference, WindowDetails};
use model::{HandleList, Queue, Remark, RequestFacts, Typed};
use target::Reason;

const POINTERS: Form = Form { bytes: 8 };
const INTEGERS: Form = Form { bytes: 4 };

/// Handles by kind and C value; Fortran integers by kind and number.
#[derive(Default)]
struct Library {
    c: HashMap<(HandleKind, u64), Handle>,
    fortran: HashMap<(HandleKind, i64), u64>,
}

impl Library {
    fn with(mut self, kind: HandleKind, value: u64, state: HandleState, name: &str, word: &str) -> Self {
        let mut handle = Handle { kind, handle: Some(format!("{value:#x}")), state, ..Handle::default() };
        handle.name = (!name.is_empty()).then(|| name.to_owned());
        handle.summary = format!("summary of {value:#x}");
        let progress = match word {
            "pending" => Some(Progress::Pending),
            "matched" => Some(Progress::Matched),
            "complete" => Some(Progress::Complete),
            "cancelled" => Some(Progress::Cancelled),
            "inactive" => Some(Progress::Inactive),
            _ => None,
        };
        let facts = |progress| RequestFacts::new(Ok(RequestSort::PointToPoint), progress, false);
        handle.typed = progress.map_or(Typed::None, |progress| Typed::Request(facts(progress)));
        self.c.insert((kind, value), handle);
        self
    }

    fn in_fortran(mut self, kind: HandleKind, index: i64, value: u64) -> Self {
        self.fortran.insert((kind, index), value);
        self
    }
}

impl HandleSource for Library {
    fn describe(&self, kind: HandleKind, value: u64, _: Depth) -> Handle {
        let invalid =
            || Handle { kind, state: HandleState::Invalid, summary: "garbage".to_owned(), ..Handle::default() };
        self.c.get(&(kind, value)).cloned().unwrap_or_else(invalid)
    }
    fn describe_fortran(&self, kind: HandleKind, index: i64, depth: Depth) -> Handle {
        self.describe(kind, self.fortran.get(&(kind, index)).copied().unwrap_or(1), depth)
    }
    fn describe_status(&self, _: &[u8]) -> Handle {
        Handle::default()
    }
    fn list(&self, _: HandleKind) -> HandleList {
        HandleList::default()
    }
}

fn communicator(unique_id: u64, name: &str, handle: &str) -> Communicator {
    Communicator { unique_id, name: name.into(), handle: HandleWord::of(handle), ..Communicator::default() }
}

fn two() -> Vec<Communicator> {
    vec![communicator(3, "MPI_COMM_WORLD", "0x44000000"), communicator(4, "halo", "0x84000001")]
}

fn argument(name: &str, value: i64) -> Argument {
    Argument { name: name.into(), value: Some(value), ..Argument::default() }
}

fn call(function: &str, arguments: Vec<Argument>) -> Call {
    Call { function: function.into(), arguments, ..Call::default() }
}

fn requests(values: &[i64]) -> Argument {
    Argument { name: "array_of_requests".into(), values: Some(values.to_vec()), ..Argument::default() }
}

#[test]
fn a_communicator_by_its_handle_also_where_that_was_widened_with_its_sign() {
    let widened = i64::from(0x8400_0001_u32 as i32);
    for value in [0x8400_0001, widened] {
        let mut recv = call("MPI_Recv", vec![argument("source", 1), argument("comm", value)]);
        resolve(&mut recv, &two(), INTEGERS, None);
        assert_eq!((recv.communicator, recv.arguments[1].meaning.as_deref()), (Some(4), Some("halo")));
        assert_eq!(recv.arguments[0].meaning, None);
    }
    // Where handles are pointers, a value with more bits is another one.
    let mut recv = call("MPI_Recv", vec![argument("comm", widened)]);
    resolve(&mut recv, &two(), POINTERS, Some(&Library::default()));
    assert_eq!((recv.communicator, recv.arguments[0].meaning.as_deref()), (None, Some("garbage")));
}

#[test]
fn a_fortran_integer_goes_through_the_library() {
    let library = Library::default().with(HandleKind::Comm, 0x8400_0001, HandleState::Live, "halo", "").in_fortran(
        HandleKind::Comm,
        7,
        0x8400_0001,
    );
    for function in ["mpi_recv_", "mpi_recv_f08_"] {
        let mut recv = call(function, vec![argument("comm", 7)]);
        resolve(&mut recv, &two(), POINTERS, Some(&library));
        assert_eq!(recv.communicator, Some(4), "{function}");
    }
    // The number is no C handle, even where it looks like one.
    let mut recv = call("mpi_recv_", vec![argument("comm", 0x8400_0001)]);
    resolve(&mut recv, &two(), POINTERS, Some(&library));
    assert_eq!(recv.communicator, None);
}

#[test]
fn a_name_of_the_standard_where_the_value_is_not_known() {
    let named = |meaning: &str| Argument { value: None, meaning: Some(meaning.into()), ..argument("comm", 0) };
    let mut recv = call("MPI_Recv", vec![named("MPI_COMM_WORLD")]);
    resolve(&mut recv, &two(), POINTERS, None);
    assert_eq!(recv.communicator, Some(3));
    let mut recv = call("MPI_Recv", vec![named("halo")]);
    resolve(&mut recv, &two(), POINTERS, None);
    assert_eq!(recv.communicator, None);
}

#[test]
fn what_was_known_before_stays() {
    let mut recv = call("MPI_Recv", vec![Argument { meaning: Some("mine".into()), ..argument("comm", 0x4400_0000) }]);
    recv.communicator = Some(9);
    resolve(&mut recv, &two(), POINTERS, None);
    assert_eq!((recv.communicator, recv.arguments[0].meaning.as_deref()), (Some(9), Some("mine")));
}

#[test]
fn the_states_of_requests_in_the_order_of_the_array() {
    let library = Library::default()
        .with(HandleKind::Request, 16, HandleState::Null, "MPI_REQUEST_NULL", "")
        .with(HandleKind::Request, 17, HandleState::Live, "", "pending")
        .with(HandleKind::Request, 18, HandleState::Live, "", "matched")
        .with(HandleKind::Request, 19, HandleState::Live, "", "complete")
        .with(HandleKind::Request, 20, HandleState::Live, "", "cancelled")
        .with(HandleKind::Request, 21, HandleState::Live, "", "inactive")
        .with(HandleKind::Request, 22, HandleState::Freed, "", "")
        .with(HandleKind::Request, 23, HandleState::Unknown, "", "");
    let mut wait = call("MPI_Waitall", vec![argument("count", 9), requests(&[17, 16, 18, 19, 20, 21, 22, 23, 99])]);
    resolve(&mut wait, &two(), POINTERS, Some(&library));
    use RequestState::{Complete, Freed, Inactive, Invalid, Null, Open, Unknown};
    let expected = [Open, Null, Open, Complete, Complete, Inactive, Freed, Unknown, Invalid];
    assert_eq!(wait.requests.iter().map(|one| one.state).collect::<Vec<_>>(), expected);
    assert_eq!(wait.requests.iter().map(|one| one.index).collect::<Vec<_>>(), (0..9).collect::<Vec<_>>());
    assert_eq!(wait.requests[0].handle, Some(HandleWord(0x11)));
    assert_eq!(wait.requests[0].summary.as_deref(), Some("summary of 0x11"));
}

#[test]
fn without_a_reader_the_requests_are_there_and_not_known() {
    let mut wait = call("MPI_Wait", vec![argument("request", 17)]);
    resolve(&mut wait, &two(), POINTERS, None);
    assert_eq!(wait.requests.len(), 1, "{:?}", wait.requests);
    let only = &wait.requests[0];
    assert_eq!((only.state, only.handle), (RequestState::Unknown, Some(HandleWord(0x11))));
}

#[test]
fn a_handle_that_is_given_by_its_address_is_the_one_that_stands_there() {
    let library = Library::default().with(HandleKind::Request, 17, HandleState::Live, "", "pending");
    let there = Argument { values: Some(vec![17]), ..argument("request", 0x7fff_0000) };
    let mut wait = call("MPI_Wait", vec![there]);
    resolve(&mut wait, &two(), POINTERS, Some(&library));
    assert_eq!(wait.requests.iter().map(|one| one.state).collect::<Vec<_>>(), [RequestState::Open]);
    let unread = Argument { unknown: Some("it cannot be read".into()), ..argument("request", 17) };
    let mut wait = call("MPI_Wait", vec![unread]);
    resolve(&mut wait, &two(), POINTERS, Some(&library));
    assert!(wait.requests.is_empty());
}

#[test]
fn a_request_that_a_call_makes_is_none_that_it_waits_for() {
    let mut isend = call("MPI_Isend", vec![argument("request", 17)]);
    resolve(&mut isend, &two(), POINTERS, Some(&Library::default()));
    assert!(isend.requests.is_empty());
}

fn with_internal(mut found: Communicator, text: &'static str, status: OperationStatus) -> Communicator {
    let part = Operation { internal: true, status, extra_text: vec![text.into()], ..Operation::default() };
    found.pending_receives = Queue { operations: vec![part], ..Queue::default() }.into();
    found
}

#[test]
fn a_collective_whose_arguments_are_not_known_is_where_its_messages_are() {
    let barrier = "part of a collective: MPI_Barrier (tag -16)";
    let inferred = |communicators: &[Communicator], calls: &mut [Call]| {
        infer_communicators(calls, communicators);
        calls[0].communicator
    };
    let [world, halo] = <[Communicator; 2]>::try_from(two()).unwrap_or_default();
    let stuck = with_internal(halo.clone(), barrier, OperationStatus::Pending);
    assert_eq!(inferred(&[world.clone(), stuck.clone()], &mut [call("MPI_Barrier", vec![])]), Some(4));
    assert_eq!(inferred(&[world.clone(), stuck.clone()], &mut [call("mpi_barrier_", vec![])]), Some(4));
    assert_eq!(inferred(&[world.clone(), stuck.clone()], &mut [call("MPI_Recv", vec![])]), None);
    // Two threads, or two communicators, leave two answers.
    let two_threads = &mut [call("MPI_Barrier", vec![]), call("MPI_Bcast", vec![])];
    assert_eq!(inferred(&[world.clone(), stuck.clone()], two_threads), None);
    let also = with_internal(world.clone(), barrier, OperationStatus::Matched);
    assert_eq!(inferred(&[also, stuck], &mut [call("MPI_Barrier", vec![])]), None);
    // One that is complete, or of a non-blocking one, tells nothing.
    let complete = with_internal(halo.clone(), barrier, OperationStatus::Complete);
    assert_eq!(inferred(&[world.clone(), complete], &mut [call("MPI_Barrier", vec![])]), None);
    let text = "part of a non-blocking or neighbourhood collective (tag -30)";
    let other = with_internal(halo, text, OperationStatus::Pending);
    assert_eq!(inferred(&[world, other], &mut [call("MPI_Barrier", vec![])]), None);
}

fn window_details() -> WindowDetails {
    let reference = |kind, handle: &str| {
        let summary = String::new();
        Ok(Some(Reference { kind, handle: Some(handle.to_owned()), summary, doubtful: false }))
    };
    let unknown = || Reason::new("it is not kept");
    WindowDetails {
        communicator: reference(HandleKind::Comm, "0x84000001"),
        group: reference(HandleKind::Group, "0x60"),
        base: Err(unknown()),
        bytes: Err(unknown()),
        displacement_unit: Err(unknown()),
        flavour: Constant::Number(1),
        model: Err(unknown()),
        component: Err(unknown()),
        info: Err(unknown()),
        no_locks: Ok(false),
        lock_all: Ok(false),
        locks: Ok(vec![Lock { rank: 2, sort: Some(LockType::Shared) }]),
        started: Ok(Some(vec![Some(1), None])),
        posted: Err(unknown()),
        epoch: Ok(Open(vec![Epoch::Start, Epoch::Post])),
        attributes: Err(unknown()),
        errhandler: None,
    }
}

#[test]
fn a_call_on_a_window_names_it_and_its_epochs() {
    let mut library = Library::default().with(HandleKind::Win, 0x50, HandleState::Live, "ghost cells", "").with(
        HandleKind::Group,
        0x60,
        HandleState::Live,
        "",
        "",
    );
    if let Some(window) = library.c.get_mut(&(HandleKind::Win, 0x50)) {
        window.typed = Typed::Window(model::handle::Window { rank: 0, size: 2 }, Some(Box::new(window_details())));
    }
    if let Some(group) = library.c.get_mut(&(HandleKind::Group, 0x60)) {
        group.typed = Typed::Group(Ok(vec![Some(4), Some(5)]));
    }
    let mut wait = call("MPI_Win_wait", vec![argument("win", 0x50)]);
    let mut windows = Common::default();
    for _ in 0..2 {
        resolve_window(&mut wait, &two(), POINTERS, &library, &mut windows);
    }
    assert_eq!(windows.len(), 1, "{:?}", windows);
    let window = &windows[0];
    assert_eq!((wait.window.as_deref(), wait.communicator), (Some("0x50"), Some(4)));
    assert_eq!((window.name.as_deref(), window.communicator), (Some("ghost cells"), Some(4)));
    assert_eq!((window.group.as_deref(), window.epoch.as_deref()), (Some(&[Some(4), Some(5)][..]), Some("start+post")));
    assert_eq!((window.lock_all, window.locks.as_deref()), (Some(false), Some(&[2][..])));
    assert_eq!((window.started.as_deref(), window.posted.as_deref()), (Some(&[Some(1), None][..]), None));
    assert_eq!(window.unknown.keys().collect::<Vec<_>>(), ["posted"]);
}

#[test]
fn a_value_that_is_no_window_adds_none() {
    let library = Library::default().with(HandleKind::Win, 0x51, HandleState::Freed, "", "");
    for value in [0x51, 0x52] {
        let mut fence = call("MPI_Win_fence", vec![argument("win", value)]);
        let mut windows = Common::default();
        resolve_window(&mut fence, &two(), POINTERS, &library, &mut windows);
        assert_eq!((fence.window, fence.communicator, windows), (None, None, Common::default()));
    }
}

#[test]
fn requests_of_collectives_have_their_place_on_the_communicator() {
    let mut library = Library::default().with(HandleKind::Request, 17, HandleState::Live, "", "pending");
    if let Some(request) = library.c.get_mut(&(HandleKind::Request, 17)) {
        request.typed = Typed::Request(RequestFacts {
            communicator: Some("0x44000000".to_owned()),
            sequence: Some(31),
            ..RequestFacts::new(Ok(RequestSort::Collective), Progress::Pending, true)
        });
    }
    let mut wait = call("MPI_Waitall", vec![requests(&[17])]);
    resolve(&mut wait, &two(), POINTERS, Some(&library));
    assert_eq!(wait.requests.len(), 1, "{:?}", wait.requests);
    let only = &wait.requests[0];
    assert_eq!((only.communicator, only.sequence, only.collective.as_deref()), (Some(3), Some(31), None));
    assert_eq!((only.state, only.persistent), (RequestState::Open, true));
}

/// A communicator with a message of its non-blocking collective `number`.
fn with_message(unique_id: u64, numbers: &[i64]) -> Communicator {
    let mut communicator = Communicator { unique_id, ..Communicator::default() };
    for number in numbers {
        communicator.pending_receives.operations.push(Operation {
            internal: true,
            desired_tag: Some(*number),
            extra_text: vec![Remark::NumberedCollective(*number)],
            ..Operation::default()
        });
    }
    communicator
}

#[test]
fn messages_tell_which_non_blocking_collective_a_request_is_where_there_is_one() {
    let open = |communicator| CallRequest {
        state: RequestState::Open,
        communicator: Some(communicator),
        ..CallRequest::default()
    };
    let numbered = |requests: Vec<CallRequest>, communicators: &[Communicator]| -> Vec<Option<i64>> {
        let mut wait = Call { requests, ..call("MPI_Waitall", Vec::new()) };
        number(&mut wait, communicators);
        wait.requests.iter().map(|request| request.sequence).collect()
    };
    let communicators = [with_message(1, &[289, 289]), with_message(2, &[287, 288]), with_message(3, &[])];
    assert_eq!(numbered(vec![open(1), open(2), open(3), open(4)], &communicators), [Some(289), None, None, None]);
    // Two requests and messages of one: of which is not known.
    assert_eq!(numbered(vec![open(1), open(1)], &communicators), [None, None]);
    let mut complete = open(1);
    complete.state = RequestState::Complete;
    assert_eq!(numbered(vec![complete, open(1)], &communicators), [None, Some(289)]);
    let mut known = open(1);
    known.sequence = Some(31);
    assert_eq!(numbered(vec![known], &communicators), [Some(31)]);
}

/// A communicator with a pending receive of a tag.
fn with_receive(mut found: Communicator, tag: i64) -> Communicator {
    let receive = Operation { desired_tag: Some(tag), desired_local_rank: Some(1), ..Operation::default() };
    found.pending_receives = Queue { operations: vec![receive], ..Queue::default() }.into();
    found
}

#[test]
fn where_the_library_has_a_call_elsewhere_than_the_source_says_the_library_is_right() {
    let corrected = |communicators: &[Communicator], function: &str, tag: i64| {
        let arguments = vec![argument("source", 1), argument("tag", tag), argument("comm", 0x10)];
        let mut calls = [Call { communicator: Some(0), ..call(function, arguments) }];
        correct_communicator(&mut calls, communicators);
        let [call] = calls;
        (call.communicator, call.argument("comm").and_then(|one| one.meaning.as_deref().map(str::to_owned)))
    };
    let [world, halo] = [communicator(0, "MPI_COMM_WORLD", "0x10"), communicator(3, "halo", "0x20")];
    let there = [world.clone(), with_receive(halo.clone(), 7)];
    assert_eq!(corrected(&there, "MPI_Recv", 7), (Some(3), Some("halo".to_owned())));
    // Another message is none of the call's, and of two it is not known which.
    assert_eq!(corrected(&there, "MPI_Recv", 8).0, Some(0));
    let both = [with_receive(world.clone(), 7), with_receive(halo.clone(), 7)];
    assert_eq!(corrected(&both, "MPI_Recv", 7).0, Some(0));
    let collective = with_internal(halo, "part of a collective: MPI_Reduce (tag -21)", OperationStatus::Pending);
    assert_eq!(corrected(&[world, collective], "MPI_Reduce", 7).0, Some(3));
}
