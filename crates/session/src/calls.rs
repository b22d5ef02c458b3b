//! What the arguments of calls mean: the communicator that a call is on, and how far the requests are that it waits for.

use std::collections::HashMap;

use super::{Session, history, refine, started, windows};
use functions::{Array, Chapter, Direction, WaitKind};
use model::{
    Argument, Call, CallRequest, Common, Communicator, Handle, HandleKind, HandleState, HandleWord, Operation,
    OperationStatus, Process, Progress, Remark, RequestSort, RequestState, SourceCall, Text, Typed, Window,
};
use readers::{Depth, HandleSource};
use target::address::TargetAddr;
use target::{Target, printable, zeroed};

/// How handles look in the application's variables.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// Bytes of a handle in C.
    bytes: u64,
}

impl Form {
    /// The value of a C handle as `Communicator::handle` has it: an integer may have been widened with its sign.
    fn c_value(self, value: i64) -> u64 {
        if self.bytes == 4 { u64::from(value as u32) } else { value as u64 }
    }

    fn c_word(self, value: i64) -> HandleWord {
        HandleWord(self.c_value(value))
    }
}

impl<T: Target> Session<T> {
    /// Says of the calls of `process` which communicator each is on and how far its requests are, and names the functions
    /// that made operations as far as the calls tell. Never fails: what is not known stays null.
    pub fn resolve_calls(&self, process: &mut Process) {
        let _request = self.target.budget().request();
        let mut calls = std::mem::take(&mut process.calls);
        let mut handles: HashMap<(i64, bool), Option<u64>> = HashMap::new();
        let known = !calls.is_empty() || !process.source_calls.is_empty();
        if known && let Ok(detected) = self.detected() {
            let form = Form { bytes: detected.installed.handle_bytes(self.target.abi()) };
            let (communicators, windows) = (&process.communicators, &mut process.windows);
            let source_calls = &mut process.source_calls;
            let resolved = self.with_handles(|reader| {
                for call in &mut calls {
                    resolve(call, communicators, form, Some(reader));
                    call.group = group_of(call, form, reader);
                    resolve_window(call, communicators, form, reader, windows);
                }
                windows::add_others(&calls, communicators, reader, windows);
                for call in source_calls.iter_mut() {
                    call.communicator = communicator_of_source(call, communicators, form, Some(reader));
                    let held = call.request.handle.map(|handle| (handle, call.request.fortran));
                    if let Some((handle, fortran)) = held {
                        let look = || described(reader, form, fortran, HandleKind::Request, handle, Depth::Short);
                        let of = || HandleWord::of(&look().handle?).map(|word| word.0);
                        handles.entry((handle, fortran)).or_insert_with(of);
                    }
                }
            });
            if resolved.is_err() {
                calls.iter_mut().for_each(|call| resolve(call, communicators, form, None));
                // Their handles are known without objects: of the flight recorder's communicators as well.
                for call in source_calls.iter_mut() {
                    call.communicator = communicator_of_source(call, communicators, form, None);
                }
            }
        }
        calls.iter_mut().for_each(|call| self.tell_texts(call));
        infer_communicators(&mut calls, &process.communicators);
        correct_communicator(&mut calls, &process.communicators);
        calls.iter_mut().for_each(|call| self.tell_counts(call, &process.communicators));
        calls.iter_mut().for_each(|call| number(call, &process.communicators));
        process.calls = calls;
        let modes = self.detected().is_ok_and(|detected| detected.installed.tells_modes());
        refine::name_calls(process, modes);
        started::tell(process, &mut |call| {
            handles.get(&(call.request.handle?, call.request.fortran)).copied().flatten()
        });
        history::tell(process);
    }

    /// Reads the arrays with a count for each member that a call was given, as MPI_Alltoallv is. An array that only the root
    /// gives is no array on others.
    fn tell_counts(&self, call: &mut Call, communicators: &[Communicator]) {
        let found = communicators.iter().find(|found| Some(found.unique_id) == call.communicator);
        let Some((communicator, function)) = found.zip(functions::find(&call.c_name())) else { return };
        let root = call.argument("root").map(|root| root.value);
        // Neighbours are others than members.
        if root.is_some_and(|root| root.is_none() || root != communicator.local_rank)
            || call.c_name().starts_with("MPI_Neighbor")
        {
            return;
        }
        let members = match &communicator.remote_group {
            Some(group) => group.len(),
            None => communicator.size.and_then(|size| usize::try_from(size).ok()).unwrap_or_default(),
        };
        let width = if call.c_name().ends_with("_c") { 8 } else { 4 };
        for argument in call.arguments.iter_mut().filter(|one| one.values.is_none()) {
            let is_counts = |one: &functions::Parameter| one.kind == COUNT && one.array == Some(Array::Other);
            let Some(at) = argument.value.filter(|_| function.parameter(&argument.name).is_some_and(is_counts)) else {
                continue;
            };
            if members > MOST_COUNTS {
                argument.unknown = Some(format!("of more than {MOST_COUNTS} members no counts are read").into());
                continue;
            }
            let Ok(mut bytes) = zeroed(members * width) else { continue };
            if self.target.read(TargetAddr::new(at as u64), &mut bytes).is_ok() {
                let abi = self.target.abi();
                argument.values = Some(bytes.chunks_exact(width).map(|count| abi.int(count)).collect());
            }
        }
    }

    /// Says what the texts are that a call of C was given: the name of a port, a file, a group of processes.
    fn tell_texts(&self, call: &mut Call) {
        // Fortran gives their lengths apart.
        if call.function.starts_with("mpi_") {
            return;
        }
        let Some(function) = functions::find(&call.c_name()) else { return };
        for argument in call.arguments.iter_mut().filter(|one| one.meaning.is_none() && one.unknown.is_none()) {
            let parameter = function.parameter(&argument.name);
            let is_text = parameter.is_some_and(|one| one.kind == "STRING" && one.direction == Direction::In);
            let Some(at) = argument.value.filter(|value| is_text && *value != 0) else { continue };
            if let Ok(text) = self.target.read_c_string(TargetAddr::new(at as u64), MOST_TEXT) {
                argument.meaning = Some(format!("\"{}\"", printable(&text)).into());
            }
        }
    }
}

/// How the standard's data call a number of elements.
const COUNT: &str = "POLYXFER_NUM_ELEM_NNI";

/// Counts for each member are read of calls on communicators with so many.
const MOST_COUNTS: usize = 128;

/// Bytes of a text that a call was given; what is longer is cut.
const MOST_TEXT: usize = 128;

/// The members of the group that a call was given which makes a communicator of them.
fn group_of(call: &Call, form: Form, reader: &dyn HandleSource) -> Option<Vec<Option<i64>>> {
    if !matches!(functions::small(&call.c_name()), "MPI_Comm_create_group" | "MPI_Comm_create_from_group") {
        return None;
    }
    let fortran = call.function.starts_with("mpi_");
    let group = handle_in(call.argument("group")?)?;
    match described(reader, form, fortran, HandleKind::Group, group, Depth::Full).typed {
        Typed::Group(ranks) => ranks.ok(),
        _ => None,
    }
}

fn resolve(call: &mut Call, communicators: &[Communicator], form: Form, reader: Option<&dyn HandleSource>) {
    let fortran = call.function.starts_with("mpi_");
    let Some(function) = functions::find(&call.c_name()) else { return };
    let about_requests = function.takes_requests();
    let describe = |kind: HandleKind, value: i64, depth: Depth| -> Option<Handle> {
        Some(described(reader?, form, fortran, kind, value, depth))
    };
    let mut requests: Vec<i64> = Vec::new();
    let mut communicator = None;
    for argument in &mut call.arguments {
        // What a function only returns is not there yet.
        let given = function.parameter(&argument.name).filter(|parameter| parameter.direction != Direction::Out);
        let Some(kind) = given.and_then(|parameter| parameter.object()) else { continue };
        if given.is_some_and(|parameter| parameter.array.is_some()) {
            if kind == HandleKind::Request {
                requests.extend(argument.values.iter().flatten());
            }
            continue;
        }
        if kind == HandleKind::Request {
            requests.extend(handle_in(argument));
            continue;
        }
        let found = if kind == HandleKind::Comm {
            let (found, called) = communicator_of(argument, communicators, form, fortran, &describe);
            if argument.name == "comm" || communicator.is_none() {
                communicator = found.map(|found| found.unique_id).or(communicator);
            }
            called
        } else {
            handle_in(argument).and_then(|value| called(&describe(kind, value, Depth::Short)?)).map(Into::into)
        };
        if argument.meaning.is_none() {
            argument.meaning = found;
        }
    }
    call.communicator = call.communicator.or(communicator);
    if about_requests && call.requests.is_empty() {
        let one = |(index, value): (i64, i64)| request(index, value, &describe, form, communicators);
        call.requests = (0..).zip(requests).map(one).collect();
    }
}

/// The communicator that a call in the source is given now.
fn communicator_of_source(
    call: &mut SourceCall,
    communicators: &[Communicator],
    form: Form,
    reader: Option<&dyn HandleSource>,
) -> Option<u64> {
    let fortran = call.request.fortran;
    let describe = |kind: HandleKind, value: i64, depth: Depth| -> Option<Handle> {
        Some(described(reader?, form, fortran, kind, value, depth))
    };
    let function = functions::find(&call.function)?;
    let of_communicator = |argument: &&Argument| {
        function.parameter(&argument.name).is_some_and(|parameter| parameter.gives(HandleKind::Comm))
    };
    let argument = call.arguments.iter().find(of_communicator)?;
    communicator_of(argument, communicators, form, fortran, &describe).0.map(|found| found.unique_id)
}

/// Says which window a call is on, and adds that to `windows`.
fn resolve_window(
    call: &mut Call,
    communicators: &[Communicator],
    form: Form,
    reader: &dyn HandleSource,
    windows: &mut Common<Vec<Window>>,
) {
    let Some(value) = call.argument("win").and_then(handle_in) else { return };
    let fortran = call.function.starts_with("mpi_");
    let handle = described(reader, form, fortran, HandleKind::Win, value, Depth::Full);
    let Some(window) = windows::of_handle(&handle, communicators, reader) else { return };
    call.window.clone_from(&window.handle);
    call.communicator = call.communicator.or(window.communicator);
    if windows.iter().all(|known| known.handle != window.handle) {
        windows.push(window);
    }
}

/// What a handle means that the application has, in C or in Fortran.
fn described(
    reader: &dyn HandleSource,
    form: Form,
    fortran: bool,
    kind: HandleKind,
    value: i64,
    depth: Depth,
) -> Handle {
    if fortran {
        reader.describe_fortran(kind, value, depth)
    } else {
        reader.describe(kind, form.c_value(value), depth)
    }
}

/// The handle that an argument is; of one that is given by its address the one that stands there.
fn handle_in(argument: &Argument) -> Option<i64> {
    match &argument.values {
        Some(values) => values.first().copied(),
        None => argument.value.filter(|_| argument.unknown.is_none()),
    }
}

/// The communicator that an argument is, and what it is called.
fn communicator_of<'c>(
    argument: &Argument,
    communicators: &'c [Communicator],
    form: Form,
    fortran: bool,
    describe: &dyn Fn(HandleKind, i64, Depth) -> Option<Handle>,
) -> (Option<&'c Communicator>, Option<Text>) {
    let by_handle = |handle: HandleWord| communicators.iter().find(|found| found.handle == Some(handle));
    let known = |found: &'c Communicator| (Some(found), Some(found.name.clone()).filter(|name| !name.is_empty()));
    let Some(value) = handle_in(argument) else {
        // A name of the standard's stands for one communicator only, which has that name unless it was given another.
        let meaning = argument.meaning.as_deref().filter(|meaning| meaning.starts_with("MPI_COMM_"));
        let found = meaning.and_then(|meaning| communicators.iter().find(|found| found.name == meaning));
        return found.map_or((None, None), known);
    };
    if !fortran && let Some(found) = by_handle(form.c_word(value)) {
        return known(found);
    }
    let Some(handle) = describe(HandleKind::Comm, value, Depth::Short) else { return (None, None) };
    let live = handle.handle.as_deref().filter(|_| handle.state == HandleState::Live);
    match live.and_then(HandleWord::of).and_then(by_handle) {
        Some(found) => known(found),
        None => (None, called(&handle).map(Into::into)),
    }
}

/// What an object is called: its name, else what it is.
fn called(handle: &Handle) -> Option<String> {
    match handle.state {
        HandleState::Unknown => None,
        HandleState::Live | HandleState::Null => {
            let named = handle.name.clone().filter(|name| !name.is_empty());
            // "rank 0 of 4" says nothing of a window.
            let nameless = if handle.kind == HandleKind::Win { handle.handle.as_ref() } else { Some(&handle.summary) };
            named.or_else(|| nameless.cloned())
        }
        _ => Some(handle.summary.clone()),
    }
}

fn request(
    index: i64,
    value: i64,
    describe: &dyn Fn(HandleKind, i64, Depth) -> Option<Handle>,
    form: Form,
    communicators: &[Communicator],
) -> CallRequest {
    let Some(handle) = describe(HandleKind::Request, value, Depth::Short) else {
        return CallRequest { index, handle: Some(form.c_word(value)), ..CallRequest::default() };
    };
    let facts = handle.request();
    let state = match (handle.state, facts.map(|facts| facts.progress)) {
        (HandleState::Null, _) => RequestState::Null,
        (HandleState::Freed, _) => RequestState::Freed,
        (HandleState::Invalid, _) => RequestState::Invalid,
        (HandleState::Live, Some(Progress::Inactive)) => RequestState::Inactive,
        (HandleState::Live, Some(Progress::Complete | Progress::Cancelled)) => RequestState::Complete,
        (HandleState::Live, Some(Progress::Pending | Progress::Matched)) => RequestState::Open,
        _ => RequestState::Unknown,
    };
    let sort = facts.and_then(|facts| facts.sort.as_ref().ok()).copied();
    let persistent = facts.is_some_and(|facts| facts.persistent);
    let mut found = CallRequest { index, state, sort, persistent, ..CallRequest::default() };
    if let Some(facts) = facts.filter(|_| sort == Some(RequestSort::Collective)) {
        let named = facts.communicator.as_deref().and_then(HandleWord::of);
        let of = |comm: &&Communicator| named.is_some() && comm.handle == named;
        found.communicator = communicators.iter().find(of).map(|comm| comm.unique_id);
        found.sequence = facts.sequence;
        found.collective = facts.schedule.as_ref().and_then(|schedule| schedule.function().map(Text::from));
        found.schedule = facts.schedule.clone().map(Box::new);
    }
    CallRequest { handle: handle.handle.as_deref().and_then(HandleWord::of), summary: Some(handle.summary), ..found }
}

/// Says which of its communicator's non-blocking collectives a request is, where the library keeps that with messages only:
/// there must be one such request, and messages of one such collective.
fn number(call: &mut Call, communicators: &[Communicator]) {
    let open = |request: &&CallRequest| request.state == RequestState::Open;
    let mut at: HashMap<u64, usize> = HashMap::new();
    for place in call.requests.iter().filter(open).filter_map(|request| request.communicator) {
        *at.entry(place).or_default() += 1;
    }
    for request in call.requests.iter_mut().filter(|request| request.sequence.is_none() && open(&&**request)) {
        let Some(place) = request.communicator.filter(|place| at.get(place) == Some(&1)) else { continue };
        let Some(communicator) = communicators.iter().find(|known| known.unique_id == place) else { continue };
        let queues = communicator.pending_receives.operations.iter().chain(&communicator.pending_sends.operations);
        let pending = queues.filter(|operation| operation.status != OperationStatus::Complete);
        let mut numbers: Vec<i64> = pending.filter_map(Operation::sequence).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if let [only] = numbers[..] {
            request.sequence = Some(only);
        }
    }
}

/// Whether it is a collective whose messages are its communicator's own.
fn communicates(call: &Call) -> bool {
    matches!(functions::wait_kind(&call.c_name()), WaitKind::Collective(Chapter::Communication, _))
}

/// The communicator of a blocking collective whose arguments are not known, where only one has messages of such that are
/// under way, and only one thread stands in one.
fn infer_communicators(calls: &mut [Call], communicators: &[Communicator]) {
    let mut standing = calls.iter_mut().filter(|call| communicates(call));
    let (Some(call), None) = (standing.next(), standing.next()) else { return };
    if call.communicator.is_some() || call.argument("comm").and_then(handle_in).is_some() {
        return;
    }
    let mut found = communicators.iter().filter(|found| has_collective(found));
    if let (Some(only), None) = (found.next(), found.next()) {
        call.communicator = Some(only.unique_id);
    }
}

/// Whether messages of a blocking collective are under way on a communicator.
fn has_collective(communicator: &Communicator) -> bool {
    let of_blocking =
        |operation: &Operation| operation.extra_text.iter().any(|remark| matches!(remark, Remark::Collective(Some(_))));
    let pending = communicator.pending_receives.operations.iter().chain(&communicator.pending_sends.operations);
    let mut pending = pending.filter(|operation| operation.internal && operation.status != OperationStatus::Complete);
    pending.any(of_blocking)
}

/// Takes the communicator on which the library has what the only call waits for, where that is another one than the source names,
/// and has nothing of the call there: a program may give MPI's names to what is its own (`#define MPI_COMM_WORLD comm`).
fn correct_communicator(calls: &mut [Call], communicators: &[Communicator]) {
    let [call] = calls else { return };
    let Some(named) = call.communicator else { return };
    let anywhere = Call { communicator: None, ..call.clone() };
    let has = |found: &&Communicator| match functions::wait_kind(&anywhere.c_name()) {
        WaitKind::Collective(Chapter::Communication, _) => has_collective(found),
        WaitKind::Receive => refine::has_receive_of(found, &anywhere),
        WaitKind::Send => refine::has_send_of(found, &anywhere),
        _ => false,
    };
    let mut found = communicators.iter().filter(has);
    let (Some(only), None) = (found.next(), found.next()) else { return };
    // Of a queue that was not read whole nothing is known to be missing.
    let whole = communicators.iter().all(|one| one.pending_receives.is_whole() && one.pending_sends.is_whole());
    if only.unique_id == named || !whole {
        return;
    }
    call.communicator = Some(only.unique_id);
    if let Some(argument) = call.arguments.iter_mut().find(|argument| argument.name == "comm") {
        argument.value = None;
        argument.meaning = Some(only.name.clone()).filter(|name| !name.is_empty());
        argument.origin = Some("queue".into());
    }
}

#[cfg(test)]
mod tests;
