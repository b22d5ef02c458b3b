//! Which calls in the source come into question as those that started a request, by what the library keeps of it.

use functions::{Function, Started, find, small};
use model::{Argument, Operation, QueueKind, RequestSort, Schedule, SourceCall};

/// A request, as far as it is known.
#[derive(Clone, Copy, Default)]
pub(super) struct Known<'a> {
    pub(super) sort: Option<RequestSort>,
    pub(super) persistent: Option<bool>,
    pub(super) sends: Option<bool>,
    pub(super) communicator: Option<u64>,
    /// The function, where the library keeps it and it is one that starts something.
    pub(super) call: Option<&'a str>,
    pub(super) operation: Option<(QueueKind, &'a Operation)>,
    /// Of a collective: what the library has planned for it.
    pub(super) schedule: Option<&'a Schedule>,
}

/// A call in the source, with what its function starts.
pub(super) struct Candidate<'a> {
    pub(super) call: &'a SourceCall,
    function: Function,
    started: Started,
    persistent: bool,
    /// The handle that it has for its request now.
    pub(super) held: Option<u64>,
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
    pub(super) fn new(call: &'a SourceCall, held: &mut dyn FnMut(&SourceCall) -> Option<u64>) -> Option<Self> {
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

/// Calls that come into question, each with how many of its arguments are others now than what is known.
pub(super) type Fitting<'a> = Vec<(&'a SourceCall, usize)>;

pub(super) fn fitting<'a>(candidates: impl Iterator<Item = &'a Candidate<'a>>, known: &Known<'_>) -> Fitting<'a> {
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
pub(super) fn order(fitting: &mut Fitting<'_>) {
    fitting.sort_by_key(|(_, differing)| *differing);
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
pub(super) fn given<'c>(call: &'c SourceCall, names: &[&str]) -> Option<&'c Argument> {
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
