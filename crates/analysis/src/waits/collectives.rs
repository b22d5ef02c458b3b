//! The collective operations in which processes stand, and what these wait for.

use hashbrown::{HashMap, HashSet};

use super::intercomm;
use super::point_to_point::NOT_COUNTED;
use super::posted::{Open, communicators};
use super::requests::non_blocking;
use super::{Context, Finished, Need, Op, Peer, Posted, ProcState, Thread, Wait, peer};
use crate::job::{CommunicatorId, Job, ProcIndex, Side};
use crate::matching::Outcome;
use functions::{Chapter, Reach, WaitKind, small, wait_kind};
use model::{Call, OperationStatus, Process, Remark};

/// A place in the list of collective operations in which processes wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectiveId(pub usize);

/// A collective function on a communicator in which processes stand. Those that stand in the same function on the same
/// communicator are taken to be in the same call of it.
#[derive(Debug)]
pub struct Collective {
    /// The function, by its name in C.
    pub function: String,
    /// The communicator; `None` for what is about the whole job, or a group.
    pub communicator: Option<CommunicatorId>,
    /// The group of which it makes a communicator.
    pub group: Option<NamedGroup>,
    /// Who stands in it, ascending.
    pub present: Vec<ProcIndex>,
    /// The members that do not, ascending.
    pub missing: Vec<ProcIndex>,
    /// Whether all members are known.
    pub whole: bool,
}

/// A group whose members make a communicator of it, each by the same name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamedGroup {
    /// Its members, ascending.
    pub members: Vec<ProcIndex>,
    /// What distinguishes it from others: the argument that must be alike on all, in words.
    pub name: String,
}

impl NamedGroup {
    /// That of a call, where all of it is known.
    fn from_call(job: &Job<'_>, process: &Process, call: &Call) -> Option<Self> {
        // A rank in MPI_COMM_WORLD is no process of another world.
        let group = call.group.as_ref().filter(|_| process.world.is_none())?;
        let members = group.iter().map(|rank| job.proc((*rank)?));
        let mut members: Vec<ProcIndex> = members.collect::<Option<_>>()?;
        members.sort_unstable();
        members.dedup();
        let name = name_of_group(call)?;
        Some(Self { members, name })
    }
}

/// What distinguishes a call that makes a communicator of a group from others: `the string "solver"`, `tag 5`.
pub fn name_of_group(call: &Call) -> Option<String> {
    match small(&call.c_name()) {
        "MPI_Comm_create_from_group" => Some(format!("the string {}", call.argument("stringtag")?.meaning.as_ref()?)),
        "MPI_Comm_create_group" => Some(format!("tag {}", call.argument("tag")?.value?)),
        _ => None,
    }
}

/// All of them.
#[derive(Debug, Default)]
pub struct Collectives {
    all: Vec<Collective>,
    by_thread: HashMap<(ProcIndex, i64), Vec<CollectiveId>>,
}

impl Collectives {
    /// Looks who stands in which.
    pub(super) fn new(job: &Job<'_>, states: &[ProcState<'_>], open: &[Open<'_>]) -> Self {
        let mut collectives = Self::default();
        let mut known: HashMap<(String, Option<CommunicatorId>, Option<NamedGroup>), CollectiveId> = HashMap::new();
        for (index, state) in states.iter().enumerate() {
            let ProcState::Blocked(threads) = state else { continue };
            for thread in threads {
                let proc = ProcIndex(index);
                let group =
                    job.procs[index].process.and_then(|process| NamedGroup::from_call(job, process, thread.call));
                let places: Vec<Option<CommunicatorId>> = match thread.wait_kind {
                    WaitKind::Collective(..) if group.is_some() => vec![None],
                    WaitKind::Collective(..) => on(job, proc, thread, &open[index]).into_iter().map(Some).collect(),
                    WaitKind::Init | WaitKind::Finalize => vec![None],
                    _ => continue,
                };
                for communicator in places {
                    let function = thread.call.c_name().into_owned();
                    let key = (small(&function).to_owned(), communicator, group.clone());
                    let id = *known.entry(key).or_insert_with(|| {
                        let (present, missing, group) = (Vec::new(), Vec::new(), group.clone());
                        collectives.all.push(Collective {
                            function,
                            communicator,
                            group,
                            present,
                            missing,
                            whole: true,
                        });
                        CollectiveId(collectives.all.len() - 1)
                    });
                    collectives.all[id.0].present.push(proc);
                    collectives.by_thread.entry((proc, thread.call.thread)).or_default().push(id);
                }
            }
        }
        for collective in &mut collectives.all {
            collective.present.dedup();
            let there: HashSet<ProcIndex> = collective.present.iter().copied().collect();
            let (members, whole) = members(job, collective, states);
            collective.whole = whole;
            collective.missing = members.into_iter().filter(|member| !there.contains(member)).collect();
            collective.missing.sort_unstable();
            collective.missing.dedup();
        }
        collectives
    }

    /// One of them.
    pub fn get(&self, id: CollectiveId) -> &Collective {
        &self.all[id.0]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (CollectiveId, &Collective)> {
        self.all.iter().enumerate().map(|(index, collective)| (CollectiveId(index), collective))
    }

    /// The one in which a thread stands, where only one comes into question.
    pub fn of_thread(&self, proc: ProcIndex, thread: i64) -> Option<CollectiveId> {
        match self.by_thread.get(&(proc, thread))?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    fn candidates(&self, proc: ProcIndex, thread: i64) -> &[CollectiveId] {
        self.by_thread.get(&(proc, thread)).map_or(&[], Vec::as_slice)
    }
}

/// Everybody who is to take part, and whether they are all known.
fn members(job: &Job<'_>, collective: &Collective, states: &[ProcState<'_>]) -> (Vec<ProcIndex>, bool) {
    if let Some(group) = &collective.group {
        return (group.members.clone(), true);
    }
    if let Some(id) = collective.communicator {
        let Some(groups) = &job.communicators[id.0].groups else { return (Vec::new(), false) };
        let all = || groups.iter().flatten();
        return (all().flatten().copied().collect(), all().all(Option::is_some));
    }
    // Ranks of other worlds end and start by themselves.
    let world = |proc: ProcIndex| job.procs[proc.0].process.map(|process| process.world);
    let own = collective.present.first().and_then(|proc| world(*proc));
    let finalize = wait_kind(&collective.function) == WaitKind::Finalize;
    // Who is outside MPI in another stage, or none that is known, has come through.
    let is_before_init = |proc: ProcIndex| job.procs[proc.0].process.is_some_and(Process::is_before_init);
    let wanted = |proc: &ProcIndex| match &states[proc.0] {
        // Who has ended while others are in MPI_Init, which nobody leaves before all have called it, has not come through.
        ProcState::Finished(Finished::Ended) => !finalize && world(*proc) == own,
        ProcState::Finished(_) => false,
        ProcState::Free(_) if !finalize => is_before_init(*proc) && world(*proc) == own,
        ProcState::Blocked(_) if !finalize => false,
        _ => world(*proc) == own,
    };
    let whole = job.procs.iter().all(|proc| proc.process.is_some());
    ((0..job.procs.len()).map(ProcIndex).filter(wanted).collect(), whole)
}

/// The communicators on which a thread in a collective may be.
fn on(job: &Job<'_>, proc: ProcIndex, thread: &Thread<'_>, open: &Open<'_>) -> Vec<CommunicatorId> {
    let Some(process) = job.procs[proc.0].process else { return Vec::new() };
    let mut places: Vec<usize> = communicators(process, thread.call).into_iter().map(|(place, _)| place).collect();
    if places.len() > 1 {
        // What the library posts for a collective it posts on its communicator.
        let mut busy: Vec<usize> =
            open.internal.iter().filter(|op| belongs(thread.call, op)).map(|op| op.place).collect();
        busy.dedup();
        if let [only] = busy.as_slice() {
            places = vec![*only];
        }
    }
    places.into_iter().filter_map(|place| job.communicator(proc.0, place)).collect()
}

/// Whether an internal operation may be one of the blocking collective in which a thread stands.
fn belongs(call: &Call, op: &Op<'_>) -> bool {
    // Constructors exchange what they need by whatever the library has; neighbourhood collectives look like non-blocking ones.
    let plain = matches!(wait_kind(&call.c_name()), WaitKind::Collective(Chapter::Communication, _));
    let named = op.operation.extra_text.iter().any(|remark| matches!(remark, Remark::Collective(_)));
    let below = op.operation.has(&Remark::WithinLibrarysCommunicator);
    !plain || named || below
}

/// Whether a call is known to be one of no data: then members need not wait for one another.
fn moves_nothing(call: &Call) -> bool {
    ["count", "sendcount", "recvcount"]
        .into_iter()
        .any(|name| call.argument(name).is_some_and(|one| one.value == Some(0)))
}

/// Whether members may have no data for some of the others.
fn is_of_each_pair(call: &Call) -> bool {
    matches!(small(&call.c_name()), "MPI_Allgatherv" | "MPI_Alltoallv" | "MPI_Alltoallw" | "MPI_Reduce_scatter")
}

impl<'a> Context<'a, '_> {
    /// A blocking collective operation: what the library has posted for it says exactly for whom it waits; else who has not
    /// entered it.
    pub(super) fn collective(&self, call: &'a Call, reach: Reach) -> Wait<'a> {
        let ids = self.collectives.candidates(self.proc, call.thread);
        let places: HashSet<CommunicatorId> =
            ids.iter().filter_map(|id| self.collectives.get(*id).communicator).collect();
        let own = |op: &&Op<'a>| places.contains(&op.shared) && belongs(call, op);
        let mut posted: Vec<Op<'a>> = self.open.internal.iter().filter(own).copied().collect();
        if posted.iter().any(|op| !non_blocking(op)) {
            posted.retain(|op| !non_blocking(op));
        }
        if !posted.is_empty() {
            // All of them belong to this one only where the library marks the operations of blocking collectives.
            let exact =
                posted.iter().all(|op| !non_blocking(op)) || posted.iter().all(|op| op.queue == Posted::Receives);
            // What may be of a non-blocking collective says nothing of this one.
            let is_own = posted.iter().all(|op| !non_blocking(op));
            let mut parts: Vec<Wait<'a>> = posted.into_iter().map(|op| self.operation(op)).collect();
            if let ([id], Reach::All, true) = (ids, reach, is_own)
                && !moves_nothing(call)
                && self.takes_of_all(call, *id)
            {
                parts.iter_mut().for_each(|part| self.of_anybody(*id, part));
            }
            let begun = is_own.then(|| self.not_begun(ids, &parts)).flatten();
            let wait = Wait::joined(parts, if exact { Need::All } else { Need::Unclear });
            return match begun {
                Some(id) => Wait { need: self.with_meaning(wait.need, call, reach, id), ..wait },
                None => wait,
            };
        }
        if call.c_name() == intercomm::INTERCOMM_CREATE {
            let met = self.leaders(call);
            if !met.is_empty() {
                return Wait::joined(met, Need::Unclear);
            }
            let gathered = |id: &CollectiveId| self.collectives.get(*id).missing.is_empty();
            if let [only] = ids
                && gathered(only)
            {
                return self.intercomm(call);
            }
        }
        let outside = matches!(wait_kind(&call.c_name()), WaitKind::Collective(Chapter::Processes, _));
        let semantics = |id: &CollectiveId| match self.semantics(call, reach, *id) {
            // All members are there.
            Need::Nothing if outside => Need::Unknown("the call waits for processes outside this job"),
            need => need,
        };
        let needs: Vec<Need> = ids.iter().map(semantics).collect();
        let need = match needs.len() {
            0 => Need::Unknown("the communicator of the call is not known"),
            1 => needs.into_iter().next().unwrap_or(Need::Nothing),
            _ => Need::Any(needs),
        };
        Wait { need, in_flight: Some(NOT_COUNTED), operations: Vec::new() }
    }

    /// The collective in which a thread stands, where a member that is missing in it owes the thread a part of it: that member has
    /// not entered it, for nobody leaves without having sent and received its parts.
    fn not_begun(&self, ids: &[CollectiveId], parts: &[Wait<'_>]) -> Option<CollectiveId> {
        let [id] = ids else { return None };
        let missing = &self.collectives.get(*id).missing;
        let owed = |part: &Wait<'_>| {
            let is_alone = |op: &Op<'_>| {
                let entry = self.matching.at(op.matched_at());
                op.operation.status == OperationStatus::Pending
                    && entry.is_none_or(|entry| matches!(entry.outcome, Outcome::Unmatched))
            };
            matches!(part.need, Need::Proc(peer) if missing.binary_search(&peer).is_ok())
                && part.operations.iter().all(is_alone)
        };
        parts.iter().any(owed).then_some(*id)
    }

    /// A part that anybody may send, of a collective that nobody leaves before all have entered it. It comes from a member that
    /// is there and goes on, or else all that are missing have yet to enter.
    fn of_anybody(&self, id: CollectiveId, part: &mut Wait<'a>) {
        let collective = self.collectives.get(id);
        let is_of_any = part.operations.iter().all(|op| op.operation.any_source && op.queue == Posted::Receives);
        if is_of_any && matches!(part.need, Need::AnyOf(..)) && !collective.missing.is_empty() && collective.whole {
            let present = collective.present.iter().filter(|proc| **proc != self.proc);
            part.need = Need::Any(present.map(|proc| Need::Proc(*proc)).chain([Need::Others(id)]).collect());
        }
    }

    /// What is posted for a collective that not all have entered, and what its function means: both hold.
    fn with_meaning(&self, posted: Need, call: &Call, reach: Reach, id: CollectiveId) -> Need {
        if reach != Reach::All || moves_nothing(call) {
            return posted;
        }
        let both = Need::All(vec![posted.clone(), self.semantics(call, reach, id)]);
        // Who has no data for a member need not wait for it.
        if self.takes_of_all(call, id) { both } else { Need::Unclear(vec![posted, both]) }
    }

    /// Whether a member takes data of each of those that are missing, where they may have none for some of the others: by its
    /// counts.
    fn takes_of_all(&self, call: &Call, id: CollectiveId) -> bool {
        if !is_of_each_pair(call) {
            return true;
        }
        let collective = self.collectives.get(id);
        let communicator = collective.communicator.and_then(|id| self.job.communicators.get(id.0));
        let groups = communicator.and_then(|communicator| communicator.groups.as_deref());
        let counts = call.argument("recvcounts").and_then(|one| one.values.as_deref());
        let (Some([members]), Some(counts)) = (groups, counts) else { return false };
        let place = |proc: ProcIndex| members.iter().position(|member| *member == Some(proc));
        let some = |proc: ProcIndex| place(proc).and_then(|at| counts.get(at)).is_some_and(|count| *count > 0);
        match small(&call.c_name()) {
            // What is left to it of the result is of all.
            "MPI_Reduce_scatter" => some(self.proc),
            _ => collective.whole && collective.missing.iter().all(|proc| some(*proc)),
        }
    }

    /// What a collective waits for by its meaning.
    fn semantics(&self, call: &Call, reach: Reach, id: super::CollectiveId) -> Need {
        let collective = self.collectives.get(id);
        if collective.missing.is_empty() {
            return Need::Nothing;
        }
        // The libraries agree on a context there, which takes all members.
        if collective.group.is_some() {
            return Need::Others(id);
        }
        let shared = collective.communicator.and_then(|id| self.job.communicators.get(id.0));
        if shared.is_some_and(|shared| shared.doubt.is_some()) {
            // Those that are missing may stand in it, under what was taken for another communicator.
            return Need::Unclear(vec![Need::Nothing, Need::Others(id)]);
        }
        let some = Need::Unclear(vec![Need::AnyOther(id), Need::Others(id)]);
        let root = match peer(self.process, call.argument("root")) {
            Peer::Rank(rank) => self.member(collective.communicator, rank),
            _ => None,
        };
        match (reach, root) {
            (Reach::All, _) => Need::Others(id),
            // Who has given the root its part, or was the root, may have left it: of those that are missing some have not entered.
            (Reach::FromRoot, Some(root)) if root != self.proc && collective.missing.binary_search(&root).is_err() => {
                Need::Nothing
            }
            _ => some,
        }
    }

    fn member(&self, communicator: Option<CommunicatorId>, rank: i64) -> Option<ProcIndex> {
        let shared = self.job.communicators.get(communicator?.0).filter(|shared| !shared.is_inter())?;
        shared.member(Side::First, rank)
    }
}
