//! Which processes stand at the same place, for reports: of a hundred thousand that wait, only a few places are shown.

use hashbrown::hash_map::{Entry, HashMap};
use std::mem::{Discriminant, discriminant};

use model::{Argument, Call, Outside, Process, RequestState, Snapshot, Stage};

/// Processes that stand at the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alike {
    /// The place of the first one in `Snapshot::processes`.
    pub first: usize,
    /// Their ranks (`Snapshot::rank_of`).
    pub ranks: Vec<i64>,
    /// How many have none.
    pub nameless: u64,
}

/// The arguments of a call that reports show.
const SHOWN_ARGUMENTS: &[&str] = &["source", "dest", "root", "tag", "sendtag", "recvtag", "comm", "win", "rank"];

/// The processes that `chosen` takes by their rank, those at the same place together, in the order in which they come. Equal: the
/// first call with what started its requests, all threads outside MPI, how far they are; with `arguments` also the
/// arguments of the call that are shown.
pub fn alike(snapshot: &Snapshot, chosen: impl Fn(Option<i64>) -> bool, arguments: bool) -> Vec<Alike> {
    let mut places: HashMap<ProcessPlace<'_>, usize> = HashMap::new();
    let mut groups: Vec<Alike> = Vec::new();
    for (first, process) in snapshot.processes.iter().enumerate() {
        let rank = snapshot.rank_of(process);
        if !chosen(rank) {
            continue;
        }
        let at = match places.entry(ProcessPlace::new(process, arguments)) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                groups.push(Alike { first, ranks: Vec::new(), nameless: 0 });
                *entry.insert(groups.len() - 1)
            }
        };
        if let Some(alike) = groups.get_mut(at) {
            alike.ranks.extend(rank);
            alike.nameless += u64::from(rank.is_none());
        }
    }
    groups
}

#[derive(PartialEq, Eq, Hash)]
struct ProcessPlace<'a> {
    call: Option<CallPlace<'a>>,
    outside: Vec<Thread<'a>>,
    stage: Option<Discriminant<Stage>>,
    state: Option<&'a str>,
    failed: bool,
}

/// Function, file, line or else the offset in the caller, caller.
type Spot<'a> = (Option<&'a str>, Option<&'a str>, Option<i64>, Option<&'a str>);

/// A thread outside MPI, and whether its stack was seen whole.
type Thread<'a> = (i64, Spot<'a>, Option<bool>);

/// A request that a call waits for, by what started it.
type Started<'a> = Vec<(Spot<'a>, bool)>;

#[derive(PartialEq, Eq, Hash)]
struct CallPlace<'a> {
    spot: Spot<'a>,
    arguments: Vec<(&'a str, Option<&'a str>, Option<i64>)>,
    communicator: Option<&'a str>,
    requests: Vec<Started<'a>>,
}

impl<'a> ProcessPlace<'a> {
    fn new(process: &'a Process, arguments: bool) -> Self {
        Self {
            call: process.calls.first().map(|call| CallPlace::new(call, process, arguments)),
            outside: process.outside.iter().map(thread).collect(),
            stage: process.stage.as_ref().map(discriminant),
            state: process.state.as_deref(),
            failed: !process.problems.is_empty(),
        }
    }
}

impl<'a> CallPlace<'a> {
    fn new(call: &'a Call, process: &'a Process, arguments: bool) -> Self {
        let given = |argument: &'a Argument| {
            let meaning = argument.meaning.as_deref();
            (argument.name.as_str(), meaning, argument.value.filter(|_| meaning.is_none()))
        };
        let named =
            || process.communicators.iter().find(|communicator| Some(communicator.unique_id) == call.communicator);
        let waits = |state| matches!(state, RequestState::Open | RequestState::Inactive | RequestState::Unknown);
        let requests = call.requests.iter().filter(|request| waits(request.state) && !request.started_by.is_empty());
        let started = requests.map(|request| {
            let by = request.started_by.iter();
            by.map(|one| {
                ((Some(one.function.as_str()), one.file.as_deref(), one.line, one.caller.as_deref()), one.certain)
            })
            .collect()
        });
        Self {
            spot: (
                Some(call.function.as_str()),
                call.file.as_deref(),
                call.line.or(call.offset),
                call.caller.as_deref(),
            ),
            arguments: call
                .arguments
                .iter()
                .filter(|one| arguments && SHOWN_ARGUMENTS.contains(&one.name.as_str()))
                .map(given)
                .collect(),
            communicator: if arguments { named().map(|communicator| communicator.name.as_str()) } else { None },
            requests: started.collect(),
        }
    }
}

fn thread(outside: &Outside) -> Thread<'_> {
    let Outside { function, file, line, offset, caller, .. } = outside;
    let spot = (function.as_deref(), file.as_deref(), line.or(*offset), caller.as_deref());
    (outside.thread, spot, outside.complete)
}
