//! Which communicators of different processes are the same one.
//!
//! A context id names a communicator only among processes that share it: the halves of a split have the same id and other
//! members. So an identity is the id together with the members. No process has two communicators of one id at a time (each
//! picks one that is free at all of its members: `ompi_comm_nextcid` in ompi/communicator/comm_cid.c, Open MPI v4.1.4 and
//! v5.0.7; `MPIR_Get_contextid_sparse_group` in src/mpi/comm/contextid.c, MPICH v4.0.2); so where one member's groups are
//! not known whole, it belongs to the communicator of its id whose known members it is one of. What has no id,
//! or no members, is doubtful unless there is no other that it can be.

use hashbrown::{HashMap, HashSet};
use std::fmt;

use super::{Proc, ProcIndex};
use model::{Communicator, Process, Snapshot};

/// A place in [`super::Job::communicators`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommunicatorId(pub usize);

/// One of the two groups of an intercommunicator; an intracommunicator has the first only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The only group, or the one that comes first.
    First,
    /// The other group of an intercommunicator.
    Second,
}

/// What one process has of a communicator.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Whose.
    pub proc: ProcIndex,
    /// Which of the two groups it is in.
    pub side: Side,
    /// Its place in `Process::communicators`.
    pub place: usize,
    /// What was read.
    pub communicator: &'a Communicator,
}

/// A communicator of a job.
#[derive(Debug, Clone)]
pub struct Shared<'a> {
    /// A name that members have for it.
    pub name: &'a str,
    /// Its groups in rank order: one, or two of an intercommunicator; a member is `None` where it is not known. `None`:
    /// not even the number of members is known.
    pub groups: Option<Vec<Vec<Option<ProcIndex>>>>,
    /// What its members have of it, by process.
    pub views: Vec<View<'a>>,
    /// Why it is not certain that these are views of one communicator, or of all that there are; `None` where it is.
    pub doubt: Option<Doubt>,
}

impl<'a> Shared<'a> {
    /// What a process has of it.
    pub fn view(&self, proc: ProcIndex) -> Option<&View<'a>> {
        // Members mostly lie evenly: of all ranks each, of a row or a column of them every n-th.
        let (first, last) = (self.views.first()?.proc.0, self.views.last()?.proc.0);
        let (span, steps) = (last.saturating_sub(first), self.views.len() - 1);
        let even = proc.0.checked_sub(first).map(|far| far.saturating_mul(steps).checked_div(span).unwrap_or(0));
        let there = even.and_then(|at| self.views.get(at)).filter(|view| view.proc == proc);
        there.or_else(|| self.views.get(self.views.binary_search_by_key(&proc, |view| view.proc).ok()?))
    }

    /// Whether it is an intercommunicator.
    pub fn is_inter(&self) -> bool {
        self.views.first().is_some_and(|view| view.communicator.remote_group.is_some())
    }

    /// The members of one of its groups; empty where they are not known.
    pub fn group(&self, side: Side) -> &[Option<ProcIndex>] {
        let groups = self.groups.as_deref().unwrap_or_default();
        let at = if side == Side::First { 0 } else { 1 };
        groups.get(at).map_or(&[], Vec::as_slice)
    }

    /// The group whose ranks a member of `side` uses for its peers: the other one of an intercommunicator.
    pub fn peers(&self, side: Side) -> Side {
        match (self.is_inter(), side) {
            (false, _) => Side::First,
            (true, Side::First) => Side::Second,
            (true, Side::Second) => Side::First,
        }
    }

    /// The member of that rank in one of its groups.
    pub fn member(&self, side: Side, rank: i64) -> Option<ProcIndex> {
        self.group(side).get(usize::try_from(rank).ok()?).copied().flatten()
    }
}

/// Groups of which the members are not known have this many places in all, so that no size in damaged memory fills ours.
const MAX_UNKNOWN_MEMBERS: usize = 1 << 22;

/// Why it is not certain which views are of one communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// A process has several that look the same.
    Several,
    /// There is no context id.
    NoContext,
    /// There are no members.
    NoMembers,
    /// Two are the same member.
    Twice,
    /// A process is another member than its rank in the group.
    OtherMember,
}

impl fmt::Display for Doubt {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Several => {
                "a process has several communicators that look the same; they are distinguished by their order"
            }
            Self::NoContext => {
                "no context id is known, so communicators with the same members are distinguished by name and order \
                 only"
            }
            Self::NoMembers => "its members are not known, so it may be several communicators with the same context id",
            Self::Twice => "several of the processes that were read claim to be the same member of it",
            Self::OtherMember => "a process says that it is another member of it than its rank in the group",
        })
    }
}

/// A group by its number among all that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct GroupId(usize);

/// The groups of all communicators, each once: those of processes of one world are the same memory, and are looked at once.
#[derive(Default)]
struct Groups<'a> {
    by_place: HashMap<(usize, usize), GroupId>,
    by_members: HashMap<&'a [Option<i64>], GroupId>,
    /// Their members, and whether all of these are known.
    all: Vec<(&'a [Option<i64>], bool)>,
}

impl<'a> Groups<'a> {
    fn number(&mut self, group: &'a [Option<i64>]) -> GroupId {
        let all = &mut self.all;
        let by_members = &mut self.by_members;
        *self.by_place.entry((group.as_ptr() as usize, group.len())).or_insert_with(|| {
            *by_members.entry(group).or_insert_with(|| {
                all.push((group, group.iter().all(Option::is_some)));
                GroupId(all.len() - 1)
            })
        })
    }

    fn members(&self, id: GroupId) -> &'a [Option<i64>] {
        self.all.get(id.0).map_or(&[], |(members, _)| members)
    }

    fn is_whole(&self, id: GroupId) -> bool {
        self.all.get(id.0).is_some_and(|(_, whole)| *whole)
    }
}

type Pair = (Option<GroupId>, Option<GroupId>);

/// What communicators that are the same have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key<'a> {
    /// The ids of the two sides in their order; an intracommunicator has one.
    context: Option<(&'a str, &'a str)>,
    groups: Pair,
    /// What else must be equal where id and members do not say it all.
    more: More<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum More<'a> {
    Nothing,
    Name(&'a str),
    /// MPI_COMM_WORLD of a world, with its size.
    World(Option<i64>, Option<i64>),
    /// Of this process alone.
    Own(ProcIndex),
    /// The number of a world, a name and a size.
    Unknown(Option<i64>, &'a str, Option<i64>),
}

/// A communicator of a process that has not been given its place yet.
#[derive(Clone, Copy)]
struct Seen<'a> {
    process: &'a Process,
    view: View<'a>,
    key: Key<'a>,
}

/// All communicators, and which of them stands at which place of each process.
pub(super) fn identify<'a>(
    snapshot: &'a Snapshot,
    procs: &[Proc<'a>],
    by_rank: &HashMap<i64, ProcIndex>,
) -> (Vec<Shared<'a>>, Vec<Vec<CommunicatorId>>) {
    let mut all = Identities {
        communicators: Vec::new(),
        by_key: HashMap::new(),
        same: Vec::new(),
        before: Vec::new(),
        joined: HashSet::new(),
        groups: Groups::default(),
        fitting: HashMap::new(),
        by_rank,
    };
    let mut by_place: Vec<Vec<CommunicatorId>> = Vec::with_capacity(snapshot.processes.len());
    let mut partial: Vec<Seen<'a>> = Vec::new();
    // How many communicators without an id each process has of the same members, as far as it matters: names, or several.
    let mut without_id: HashMap<Pair, (&'a str, Option<ProcIndex>, bool)> = HashMap::new();
    let mut doubtful: Vec<(CommunicatorId, Pair)> = Vec::new();
    for (index, process) in snapshot.processes.iter().enumerate() {
        let mut places = Vec::with_capacity(process.communicators.len());
        for (place, communicator) in process.communicators.iter().enumerate() {
            let rank = procs.get(index).and_then(|proc| proc.rank);
            if let Some(id) = all.alone(ProcIndex(index), rank, place, communicator, &places) {
                places.push(id);
                continue;
            }
            let mut seen = all.look(ProcIndex(index), process, place, communicator);
            let groups = seen.key.groups;
            let whole = |group: Option<GroupId>| group.is_none_or(|group| all.groups.is_whole(group));
            if groups.0.is_none() || !whole(groups.0) || !whole(groups.1) {
                partial.push(seen);
                places.push(CommunicatorId(usize::MAX));
                continue;
            }
            if seen.key.context.is_none() {
                seen.key.more = More::Name(&communicator.name);
                let entry = without_id.entry(groups).or_insert((&communicator.name, None, false));
                entry.2 |= entry.0 != communicator.name || entry.1 == Some(ProcIndex(index));
                entry.1 = Some(ProcIndex(index));
            }
            let id = all.put(seen);
            if seen.key.context.is_none() {
                doubtful.push((id, groups));
            }
            places.push(id);
        }
        by_place.push(places);
    }
    for (id, groups) in doubtful {
        if without_id.get(&groups).is_some_and(|(_, _, several)| *several) {
            all.doubt(id, Doubt::NoContext);
        }
    }
    let members = if partial.is_empty() { HashMap::new() } else { all.by_member() };
    if !partial.is_empty() {
        all.joined = all.views().collect();
    }
    for seen in partial {
        let id = all.place(seen, procs, &members);
        if let Some(slot) = by_place.get_mut(seen.view.proc.0).and_then(|places| places.get_mut(seen.view.place)) {
            *slot = id;
        }
    }
    all.finish(procs);
    (all.communicators, by_place)
}

/// Communicators by the ids of their sides, in no order, and a member.
type ByMember<'a> = HashMap<((&'a str, &'a str), ProcIndex), Vec<(CommunicatorId, Side)>>;

/// Communicators of one key.
struct Same {
    ids: Vec<CommunicatorId>,
    /// Who was given one last, and how many of them it has.
    last: (ProcIndex, usize),
}

/// So many communicators of one id and member are looked at: there is never more than one, unless memory is damaged.
const MAX_SAME: usize = 3;

struct Identities<'a, 'b> {
    communicators: Vec<Shared<'a>>,
    by_key: HashMap<Key<'a>, usize>,
    /// In the order in which they were added.
    same: Vec<(Key<'a>, Same)>,
    /// Which of them the process before has at each place: mostly the next one has them, too.
    before: Vec<usize>,
    /// Who has a view of which; empty until somebody asks.
    joined: HashSet<(CommunicatorId, ProcIndex)>,
    groups: Groups<'a>,
    /// Whether what some members say of a group is not against the one that is known.
    fitting: HashMap<(GroupId, CommunicatorId, Side), bool>,
    by_rank: &'b HashMap<i64, ProcIndex>,
}

impl<'a> Identities<'a, '_> {
    /// Reads what a process says of a communicator into one order for all.
    fn look(
        &mut self,
        proc: ProcIndex,
        process: &'a Process,
        place: usize,
        communicator: &'a Communicator,
    ) -> Seen<'a> {
        let (own, other) = (communicator.group.as_deref(), communicator.remote_group.as_deref());
        // Both sides of an intercommunicator name the same two groups, the other way round.
        let swapped = other.is_some_and(|other| own.is_some_and(|own| other < own));
        let side = if swapped { Side::Second } else { Side::First };
        let mut number = |group: Option<&'a [Option<i64>]>| group.map(|group| self.groups.number(group));
        let (own, other_one) = (number(own), number(other));
        let groups = if swapped { (other_one, own) } else { (own, other_one) };
        let context = communicator.context_id.as_deref().map(|id| match other.and_then(|_| id.split_once('/')) {
            // MPICH: the one it sends with, which is the other side's, and its own.
            Some((sends, receives)) if swapped => (receives, sends),
            Some((sends, receives)) => (sends, receives),
            None => (id, ""),
        });
        let view = View { proc, side, place, communicator };
        Seen { process, view, key: Key { context, groups, more: More::Nothing } }
    }

    /// A communicator of a process alone, such as its MPI_COMM_SELF: nobody else can have it, so no other is looked for. `None`
    /// where it is none, or what it says is not beyond doubt. `places`: the earlier communicators of this process.
    fn alone(
        &mut self,
        proc: ProcIndex,
        rank: Option<i64>,
        place: usize,
        communicator: &'a Communicator,
        places: &[CommunicatorId],
    ) -> Option<CommunicatorId> {
        let [member] = communicator.group.as_deref()? else { return None };
        let is_own = rank.is_some() && *member == rank && self.by_rank.get(&rank?) == Some(&proc);
        let context = communicator.context_id.as_ref()?;
        let is_known = is_own && communicator.local_rank == Some(0) && communicator.remote_group.is_none();
        let mut before = places.iter().filter_map(|id| self.communicators.get(id.0)?.views.first());
        if !is_known || before.any(|view| view.communicator.context_id.as_ref() == Some(context)) {
            return None;
        }
        let view = View { proc, side: Side::First, place, communicator };
        let groups = Some(vec![vec![Some(proc)]]);
        self.communicators.push(Shared { name: &communicator.name, groups, views: vec![view], doubt: None });
        Some(CommunicatorId(self.communicators.len() - 1))
    }

    /// Adds a view to the communicator of its key: the first that this process does not have yet.
    fn put(&mut self, seen: Seen<'a>) -> CommunicatorId {
        let proc = seen.view.proc;
        let at = self.same_as(&seen);
        let Some((_, same)) = self.same.get_mut(at) else { return CommunicatorId(usize::MAX) };
        let has = if same.last.0 == proc { same.last.1 } else { 0 };
        same.last = (proc, has + 1);
        if let Some(id) = same.ids.get(has).copied() {
            self.join(id, seen.view);
            return id;
        }
        let id = CommunicatorId(self.communicators.len());
        same.ids.push(id);
        let first = same.ids.first().copied();
        let members = |group: GroupId| -> Vec<Option<ProcIndex>> {
            self.groups.members(group).iter().map(|rank| self.by_rank.get(&(*rank)?).copied()).collect()
        };
        let (first_group, second) = seen.key.groups;
        let groups = first_group.map(|group| std::iter::once(group).chain(second).map(members).collect());
        let name = seen.view.communicator.name.as_str();
        // Every process has an MPI_COMM_SELF.
        let members = first_group.map_or(0, |group| self.groups.members(group).len());
        self.communicators.push(Shared { name, groups, views: Vec::with_capacity(members.min(4)), doubt: None });
        self.join(id, seen.view);
        if first != Some(id) {
            for id in first.into_iter().chain([id]) {
                self.doubt(id, Doubt::Several);
            }
        }
        id
    }

    /// The place of those of its key.
    fn same_as(&mut self, seen: &Seen<'a>) -> usize {
        let before = self.before.get(seen.view.place).copied();
        let known = before.filter(|at| self.same.get(*at).is_some_and(|(key, _)| *key == seen.key));
        let at = known.unwrap_or_else(|| {
            let (same, proc) = (&mut self.same, seen.view.proc);
            *self.by_key.entry(seen.key).or_insert_with(|| {
                same.push((seen.key, Same { ids: Vec::new(), last: (proc, 0) }));
                same.len() - 1
            })
        });
        if self.before.len() <= seen.view.place {
            self.before.resize(seen.view.place + 1, at);
        }
        if let Some(before) = self.before.get_mut(seen.view.place) {
            *before = at;
        }
        at
    }

    fn views(&self) -> impl Iterator<Item = (CommunicatorId, ProcIndex)> {
        let all = self.communicators.iter().enumerate();
        all.flat_map(|(id, shared)| shared.views.iter().map(move |view| (CommunicatorId(id), view.proc)))
    }

    fn join(&mut self, id: CommunicatorId, view: View<'a>) {
        if let Some(shared) = self.communicators.get_mut(id.0) {
            shared.views.push(view);
        }
    }

    fn doubt(&mut self, id: CommunicatorId, why: Doubt) {
        if let Some(shared) = self.communicators.get_mut(id.0) {
            shared.doubt.get_or_insert(why);
        }
    }

    /// Those that have an id and whose members are known, by id and member.
    fn by_member(&self) -> ByMember<'a> {
        let mut members = ByMember::new();
        for (key, same) in &self.same {
            let Some(context) = key.context else { continue };
            for id in same.ids.iter().take(MAX_SAME) {
                let groups =
                    self.communicators.get(id.0).and_then(|shared| shared.groups.as_deref()).unwrap_or_default();
                for (group, side) in groups.iter().zip([Side::First, Side::Second]) {
                    for proc in group.iter().copied().flatten() {
                        let known = members.entry((unordered(context), proc)).or_default();
                        if known.len() < MAX_SAME {
                            known.push((*id, side));
                        }
                    }
                }
            }
        }
        members
    }

    /// Gives a communicator of which not all members are known its place.
    fn place(&mut self, mut seen: Seen<'a>, procs: &[Proc<'a>], members: &ByMember<'a>) -> CommunicatorId {
        let communicator = seen.view.communicator;
        let rank = procs.get(seen.view.proc.0).and_then(|proc| proc.rank);
        let own = rank.and_then(|rank| self.by_rank.get(&rank).copied());
        if let (Some(context), Some(own)) = (seen.key.context, own) {
            let known = members.get(&(unordered(context), own)).map_or(&[][..], Vec::as_slice);
            let mut fitting = Vec::new();
            for (id, side) in known {
                if !self.joined.contains(&(*id, seen.view.proc)) && self.fits(*id, *side, &seen) {
                    fitting.push((*id, *side));
                }
            }
            if let [(id, side)] = fitting[..] {
                self.joined.insert((id, seen.view.proc));
                self.join(id, View { side, ..seen.view });
                return id;
            }
        }
        let inter = communicator.remote_group.is_some();
        let predefined = |name: &str| !inter && communicator.name == name && communicator.name_set != Some(false);
        let (world, size) = (seen.process.world, communicator.size);
        if !inter && size == Some(1) {
            seen.key = Key { groups: (None, None), more: More::Own(seen.view.proc), ..seen.key };
            return self.put(seen);
        }
        if predefined("MPI_COMM_WORLD") {
            seen.key = Key { context: None, groups: (None, None), more: More::World(world, size) };
            return self.put(seen);
        }
        seen.key.more = More::Unknown(world, &communicator.name, size);
        let id = self.put(seen);
        self.doubt(id, if seen.key.context.is_some() { Doubt::NoMembers } else { Doubt::NoContext });
        id
    }

    /// Whether what a process of `side` knows of a communicator's members is not against it.
    fn fits(&mut self, id: CommunicatorId, side: Side, seen: &Seen<'a>) -> bool {
        let communicator = seen.view.communicator;
        let Some(shared) = self.communicators.get(id.0) else { return false };
        let (peers, len) = (shared.peers(side), shared.group(side).len());
        let same_sort = communicator.remote_group.is_some() == shared.is_inter();
        let (own, other) =
            if seen.view.side == Side::First { seen.key.groups } else { (seen.key.groups.1, seen.key.groups.0) };
        same_sort
            && communicator.size.is_none_or(|size| usize::try_from(size) == Ok(len))
            && own.is_none_or(|group| self.agrees(group, id, side))
            && other.is_none_or(|group| self.agrees(group, id, peers))
    }

    fn agrees(&mut self, group: GroupId, id: CommunicatorId, side: Side) -> bool {
        let (by_rank, groups, communicators) = (self.by_rank, &self.groups, &self.communicators);
        *self.fitting.entry((group, id, side)).or_insert_with(|| {
            let (said, known) =
                (groups.members(group), communicators.get(id.0).map_or(&[][..], |shared| shared.group(side)));
            let member = |rank: i64| by_rank.get(&rank).copied();
            let agree =
                |(rank, known): (&Option<i64>, &Option<ProcIndex>)| rank.is_none_or(|rank| member(rank) == *known);
            said.len() == known.len() && said.iter().zip(known).all(agree)
        })
    }

    /// Orders the views, fills in members that only their own processes know, and doubts what contradicts itself.
    fn finish(&mut self, procs: &[Proc<'a>]) {
        let mut room = MAX_UNKNOWN_MEMBERS;
        for shared in &mut self.communicators {
            shared.views.sort_by_key(|view| view.proc);
            if shared.groups.is_none() {
                let view = shared.views.first().map(|view| view.communicator);
                let size = view.and_then(|communicator| usize::try_from(communicator.size?).ok());
                if let Some(size) = size.filter(|size| *size <= room) {
                    room -= size;
                    shared.groups = Some(vec![vec![None; size]]);
                }
            }
            // Those of a process alone are as many as processes, and mostly nothing contradicts itself.
            if let ([view], Some([group])) = (&shared.views[..], shared.groups.as_deref())
                && group[..] == [Some(view.proc)]
                && view.communicator.local_rank == Some(0)
            {
                continue;
            }
            let mut members = Members::new(shared.groups.as_deref().unwrap_or_default());
            for index in 0..shared.views.len() {
                let Some(View { proc, side, communicator, .. }) = shared.views.get(index).copied() else { break };
                let Some(rank) = communicator.local_rank.and_then(|rank| usize::try_from(rank).ok()) else { continue };
                let mut why = (!members.insert(side, rank)).then_some(Doubt::Twice);
                let at = if side == Side::First { 0 } else { 1 };
                let groups = shared.groups.as_deref_mut().unwrap_or_default();
                if let Some(member) = groups.get_mut(at).and_then(|group| group.get_mut(rank)) {
                    let rank_of = |proc: ProcIndex| procs.get(proc.0).and_then(|proc| proc.rank);
                    let own = *member.get_or_insert(proc);
                    if own != proc && rank_of(own) != rank_of(proc) {
                        why = why.or(Some(Doubt::OtherMember));
                    }
                }
                if let Some(why) = why {
                    shared.doubt.get_or_insert(why);
                }
            }
        }
    }
}

/// The members of which a view was seen.
struct Members {
    /// By side and rank.
    known: [Vec<bool>; 2],
    /// Ranks that are no place of a group.
    others: HashSet<(Side, usize)>,
}

impl Members {
    fn new(groups: &[Vec<Option<ProcIndex>>]) -> Self {
        let flags = |at: usize| vec![false; groups.get(at).map_or(0, Vec::len)];
        Self { known: [flags(0), flags(1)], others: HashSet::new() }
    }

    /// Whether it is the first one of that member.
    fn insert(&mut self, side: Side, rank: usize) -> bool {
        let [first, second] = &mut self.known;
        let flags = if side == Side::First { first } else { second };
        match flags.get_mut(rank) {
            Some(flag) => !std::mem::replace(flag, true),
            None => self.others.insert((side, rank)),
        }
    }
}

fn unordered<'a>((first, second): (&'a str, &'a str)) -> (&'a str, &'a str) {
    if second < first { (second, first) } else { (first, second) }
}
