//! The wait-for graph of a report: who waits for whom, and for what, by the same rules as the diagnosis.

use hashbrown::{HashMap, HashSet};

use analysis::call_arguments;
use analysis::job::{CommunicatorId, Job, ProcIndex, Side};
use analysis::matching::Matching;
use analysis::waits::{
    CollectiveId, Need, Op, Posted, ProcState, THREADS, Thread, Traffic, Waits, Whose, awaited, whose,
};
use analysis::words;
use functions::WaitKind;
use model::{Awaited, AwaitedKind, Finding, Motion, Snapshot, Verdict};
use serde::Serialize;

use crate::fates::{Fate, Role, fates};

/// More than this between nodes is counted, not drawn.
pub const MOST_EDGES: usize = 120;

/// So many different things that are waited for between two nodes are told.
const MOST_WORDS: usize = 3;

/// So many reasons of a node are told.
const MOST_NOTES: usize = 4;

/// Of the operations of one thread that waits for very many, so many become edges.
const MOST_OPERATIONS: usize = 4096;

/// Ranks of one node wait for those of another one, or for one another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The place of those that wait in [`WaitGraph::nodes`].
    pub from: usize,
    /// The place of those that they wait for.
    pub to: usize,
    /// What they are to do: `send tag 17 on "halo"`.
    pub what: Vec<String>,
    /// How many more such things there are.
    pub more: u64,
    /// Whether any one of several will do.
    pub any: bool,
    /// Whether they wait outside MPI alone: for a lock, a thread, a child, a pipe.
    pub outside: bool,
    /// How many processes of the node wait so.
    pub waiting: u64,
    /// Whether both ends are of the cause.
    pub cause: bool,
}

/// Who waits for whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitGraph {
    /// Ranks with the same fate.
    pub nodes: Vec<Fate>,
    /// Those that wait.
    pub edges: Vec<Edge>,
    /// How many more edges there are.
    pub left_out: u64,
}

/// Works it out, and the node of each process of the snapshot.
pub fn wait_graph(snapshot: &Snapshot, findings: &[Finding], verdict: &Verdict) -> (WaitGraph, Vec<usize>) {
    let complete = call_arguments::completed(snapshot);
    let job = Job::new(&complete);
    let matching = Matching::new(&job);
    let waits = Waits::new(&job, &matching, Traffic::new(&job));
    let moved: HashSet<i64> =
        verdict.movement.iter().filter(|one| one.state == Motion::Moved).filter_map(|one| one.rank).collect();
    let (mut nodes, of_proc) = fates(&job, &waits, findings, verdict, &moved);
    for (place, finding) in findings.iter().enumerate() {
        for proc in finding.ranks.iter().filter_map(|rank| job.proc(*rank)) {
            let node = of_proc.get(proc.0).and_then(|node| nodes.get_mut(*node));
            if let Some(node) = node.filter(|node| node.findings.last() != Some(&place)) {
                node.findings.push(place);
            }
        }
    }
    let mut edges = Edges {
        job: &job,
        waits: &waits,
        nodes,
        of_proc: &of_proc,
        found: HashMap::new(),
        members: HashMap::new(),
        missing: HashMap::new(),
    };
    for index in 0..job.procs.len() {
        edges.of_process(ProcIndex(index));
    }
    let graph = edges.finished();
    let own = of_proc.iter().copied().take(snapshot.processes.len()).collect();
    (graph, own)
}

/// What is known of the edges from one node to another.
#[derive(Debug, Default)]
struct Known {
    what: Vec<String>,
    more: u64,
    any: bool,
    /// Whether any of it is in MPI.
    inside: bool,
    waiting: u64,
    last: Option<ProcIndex>,
}

struct Edges<'a, 'b> {
    job: &'b Job<'a>,
    waits: &'b Waits<'a>,
    nodes: Vec<Fate>,
    of_proc: &'b [usize],
    found: HashMap<(usize, usize), Known>,
    /// The nodes that groups have members in.
    members: HashMap<(CommunicatorId, Side), Vec<usize>>,
    /// The nodes of those that are missing in collectives.
    missing: HashMap<CollectiveId, Vec<usize>>,
}

/// What a need names.
#[derive(Debug, Default)]
struct Named {
    procs: HashSet<ProcIndex>,
    groups: Vec<(CommunicatorId, Side)>,
    collectives: Vec<CollectiveId>,
    reasons: Vec<&'static str>,
    alternatives: bool,
}

impl Named {
    fn of(need: &Need) -> Self {
        let mut named = Self::default();
        // Needs are a few levels deep, but nothing of them may end a stack.
        let mut open = vec![need];
        while let Some(need) = open.pop() {
            match need {
                Need::Nothing => {}
                Need::Proc(proc) => {
                    named.procs.insert(*proc);
                }
                Need::AnyOf(communicator, side) => {
                    named.groups.push((*communicator, *side));
                    named.alternatives = true;
                }
                Need::Others(collective) => named.collectives.push(*collective),
                Need::AnyOther(collective) => {
                    named.collectives.push(*collective);
                    named.alternatives = true;
                }
                Need::All(needs) => open.extend(needs),
                Need::Any(needs) | Need::Unclear(needs) => {
                    named.alternatives |= needs.len() > 1;
                    open.extend(needs);
                }
                Need::Doubted(need, _) => open.push(need),
                Need::Never(why) | Need::Unknown(why) => named.reasons.push(why),
            }
        }
        named
    }
}

impl<'a> Edges<'a, '_> {
    fn of_process(&mut self, proc: ProcIndex) {
        let waits = self.waits;
        let threads = match waits.states.get(proc.0) {
            Some(ProcState::Blocked(threads)) => threads.as_slice(),
            _ => waits.polling.get(&proc).map_or(&[][..], std::slice::from_ref),
        };
        for thread in threads {
            self.of_thread(proc, thread);
        }
        self.outside_mpi(proc);
    }

    /// What threads outside MPI wait for that other ranks have.
    fn outside_mpi(&mut self, proc: ProcIndex) {
        let Some(process) = self.job.procs.get(proc.0).and_then(|proc| proc.process) else { return };
        for thread in process.outside.iter().take(THREADS).filter(|thread| whose(thread) == Whose::Application) {
            let Some(awaited) = awaited(thread) else { continue };
            let owner = |pid: Option<i64>| self.waits.by_pid.beside(process, pid?).filter(|owner| *owner != proc);
            let owners: Vec<Option<ProcIndex>> = awaited.owners.iter().map(|one| owner(one.pid)).collect();
            let any = matches!(awaited.kind, AwaitedKind::Reader | AwaitedKind::Writer | AwaitedKind::Opener);
            // A rank has what its launcher had open when it was started, and does not use it.
            if any && owners.contains(&None) {
                continue;
            }
            let to = distinct(owners.into_iter().flatten().filter_map(|owner| self.node(owner)));
            self.add(proc, &to, any && to.len() > 1, true, &ends(awaited));
        }
    }

    fn of_thread(&mut self, proc: ProcIndex, thread: &Thread<'a>) {
        let named = Named::of(&thread.need);
        if let Some(node) = self.of_proc.get(proc.0).and_then(|node| self.nodes.get_mut(*node)) {
            for why in &named.reasons {
                if node.notes.len() < MOST_NOTES && !node.notes.iter().any(|known| known == why) {
                    node.notes.push((*why).to_owned());
                }
            }
        }
        let mut told: HashSet<ProcIndex> = HashSet::new();
        for op in thread.operations.iter().take(MOST_OPERATIONS) {
            if op.operation.any_source && op.queue == Posted::Receives {
                for group in named.groups.iter().filter(|(communicator, _)| *communicator == op.shared) {
                    let to = self.members(*group);
                    let what = Waits::does(self.job, proc, thread, op);
                    self.add(proc, &to, true, false, &what);
                }
                continue;
            }
            let Some(peer) = self.peer(op).filter(|peer| named.procs.contains(peer)) else { continue };
            told.insert(peer);
            let any = thread.wait_kind == WaitKind::WaitAny || named.alternatives;
            let to = self.node(peer);
            let what = Waits::does(self.job, proc, thread, op);
            self.add(proc, to.as_slice(), any, false, &what);
        }
        let rest: Vec<usize> =
            named.procs.iter().filter(|peer| !told.contains(*peer)).filter_map(|peer| self.node(*peer)).collect();
        if !rest.is_empty() {
            let what = self.does(thread);
            self.add(proc, &rest, named.alternatives, false, &what);
        }
        for collective in &named.collectives {
            let to = self.missing(*collective);
            let what = self.enter(*collective);
            self.add(proc, &to, named.alternatives, false, &what);
        }
        if thread.operations.is_empty() {
            for group in &named.groups {
                let to = self.members(*group);
                let what = self.does(thread);
                self.add(proc, &to, true, false, &what);
            }
        }
    }

    /// What those are to do for which a thread waits, where no operation tells it.
    fn does(&self, thread: &Thread<'_>) -> String {
        if let Some(collective) = thread.collective {
            return self.enter(collective);
        }
        match (thread.wait_kind, &*thread.call.c_name()) {
            (WaitKind::Epoch, "MPI_Win_wait") => "complete its access to the window".to_owned(),
            (WaitKind::Epoch, _) => "open or close its part of the window".to_owned(),
            (WaitKind::OneSided, _) => "call MPI".to_owned(),
            (WaitKind::Finalize | WaitKind::Init, function) => format!("enter {function}"),
            (_, function) => format!("do its part of {function}"),
        }
    }

    fn enter(&self, id: CollectiveId) -> String {
        let collective = self.waits.collectives.get(id);
        let shared = collective.communicator.and_then(|id| self.job.communicators.get(id.0));
        let on = shared.map_or_else(String::new, |shared| format!(" on {}", words::named(shared.name)));
        format!("enter {}{on}", collective.function)
    }

    fn peer(&self, op: &Op<'_>) -> Option<ProcIndex> {
        let operation = op.operation;
        if let Some(rank) = op.global_rank() {
            return self.job.proc(rank);
        }
        let local = operation.actual_local_rank.or(operation.desired_local_rank)?;
        let shared = self.job.communicators.get(op.shared.0)?;
        let side = shared.view(op.proc).map_or(Side::First, |view| shared.peers(view.side));
        shared.member(side, local)
    }

    fn node(&self, proc: ProcIndex) -> Option<usize> {
        self.of_proc.get(proc.0).copied()
    }

    fn members(&mut self, group: (CommunicatorId, Side)) -> Vec<usize> {
        if let Some(known) = self.members.get(&group) {
            return known.clone();
        }
        let shared = self.job.communicators.get(group.0.0);
        let all = shared.map_or(&[][..], |shared| shared.group(group.1));
        let nodes = distinct(all.iter().flatten().filter_map(|proc| self.node(*proc)));
        self.members.entry(group).or_insert(nodes).clone()
    }

    fn missing(&mut self, collective: CollectiveId) -> Vec<usize> {
        if let Some(known) = self.missing.get(&collective) {
            return known.clone();
        }
        let missing = &self.waits.collectives.get(collective).missing;
        let nodes = distinct(missing.iter().filter_map(|proc| self.node(*proc)));
        self.missing.entry(collective).or_insert(nodes).clone()
    }

    /// The process waits for ranks of these nodes.
    fn add(&mut self, proc: ProcIndex, to: &[usize], any: bool, outside: bool, what: &str) {
        let Some(from) = self.node(proc) else { return };
        for to in to.iter().copied() {
            // Nobody waits for itself: members of a group are its own process as well.
            let alone = self.nodes.get(to).is_none_or(|node| node.processes < 2);
            if from == to && alone && any {
                continue;
            }
            let known = self.found.entry((from, to)).or_default();
            known.any |= any;
            known.inside |= !outside;
            if known.last != Some(proc) {
                known.waiting += 1;
                known.last = Some(proc);
            }
            if known.what.iter().any(|one| one == what) {
                continue;
            }
            if known.what.len() < MOST_WORDS {
                known.what.push(what.to_owned());
            } else {
                known.more += 1;
            }
        }
    }

    fn finished(self) -> WaitGraph {
        let nodes = self.nodes;
        let is_cause = |node: usize| nodes.get(node).is_some_and(|node| node.role == Role::Cause);
        let edge = |((from, to), known): ((usize, usize), Known)| Edge {
            from,
            to,
            what: known.what,
            more: known.more,
            any: known.any,
            outside: !known.inside,
            waiting: known.waiting,
            cause: is_cause(from) && is_cause(to),
        };
        let mut edges: Vec<Edge> = self.found.into_iter().map(edge).collect();
        edges.sort_by_key(|edge| (!edge.cause, std::cmp::Reverse(edge.waiting), edge.from, edge.to));
        let left_out = edges.len().saturating_sub(MOST_EDGES) as u64;
        edges.truncate(MOST_EDGES);
        edges.sort_by_key(|edge| (edge.from, edge.to));
        WaitGraph { nodes, edges, left_out }
    }
}

/// What ends a wait outside MPI.
fn ends(awaited: &Awaited) -> String {
    let path = awaited.path.as_deref().unwrap_or_default();
    let name = if path.is_empty() { "a file" } else { path.rsplit_once('/').map_or(path, |(_, name)| name) };
    match awaited.kind {
        AwaitedKind::FileLock => format!("unlock {name}"),
        AwaitedKind::Mutex => "unlock a mutex".to_owned(),
        AwaitedKind::Rwlock => "unlock a read-write lock".to_owned(),
        AwaitedKind::Gil => "give back Python's lock".to_owned(),
        AwaitedKind::Rlock => "unlock a threading.RLock".to_owned(),
        AwaitedKind::Team => "reach OpenMP's barrier".to_owned(),
        AwaitedKind::Thread => "end a thread".to_owned(),
        AwaitedKind::Child => "end".to_owned(),
        AwaitedKind::Reader => format!("read {name}"),
        AwaitedKind::Writer => format!("write to {name}"),
        AwaitedKind::Opener => format!("open {name}"),
        AwaitedKind::SharedMemory => "write to shared memory".to_owned(),
    }
}

fn distinct(nodes: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut found: Vec<usize> = nodes.collect::<HashSet<_>>().into_iter().collect();
    found.sort_unstable();
    found
}
