//! Who can never go on: the needs of all threads as wait-for graphs, one for each reading of what is not known.

use super::graph::{Gate, Graph, Knots, NodeId, Reduction};
use super::job::{CommunicatorId, Job, ProcIndex, Side};
use super::waits::{CollectiveId, Need, ProcState, Waits};
use functions::WaitKind;

use hashbrown::HashMap;

/// How what is not known is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// For the job: what may be on its way is, and of what a thread may wait for it waits for whatever comes first.
    Hopeful,
    /// Against it: nothing is on its way that was not seen, and it waits for all.
    Strict,
    /// The same, and who polls does nothing else until it finds something.
    Polling,
}

/// What two looks say of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Seen {
    /// Nothing: there was one look, or too little could be compared.
    #[default]
    Once,
    /// Nothing of it moved.
    Still,
    /// It went on.
    Moved,
}

/// A wait-for graph, and who is stuck in it.
#[derive(Debug)]
pub struct Stuck {
    graph: Graph,
    reduction: Reduction,
    /// By process: the node that goes on when it does.
    own: Vec<NodeId>,
    /// By process: the node that stands for what it may still do for others.
    help: Vec<NodeId>,
    /// By node: whose it is, for those that stand for processes.
    proc: Vec<Option<ProcIndex>>,
}

struct Builder<'a, 'b> {
    waits: &'b Waits<'a>,
    job: &'b Job<'a>,
    reading: Reading,
    graph: Graph,
    proc: Vec<Option<ProcIndex>>,
    help: Vec<NodeId>,
    free: NodeId,
    groups: HashMap<(CommunicatorId, Side), NodeId>,
    collectives: HashMap<(CollectiveId, bool), NodeId>,
}

impl Stuck {
    /// Reduces the needs of all. `ignored` says of whom it is taken that they go on.
    pub fn new(
        job: &Job<'_>,
        waits: &Waits<'_>,
        reading: Reading,
        seen: &[Seen],
        ignored: impl Fn(ProcIndex) -> bool,
    ) -> Self {
        let mut graph = Graph::default();
        let free = graph.add(Gate::All);
        let mut builder = Builder {
            waits,
            job,
            reading,
            graph,
            proc: vec![None],
            help: Vec::new(),
            free,
            groups: HashMap::new(),
            collectives: HashMap::new(),
        };
        let seen = |proc: ProcIndex| seen.get(proc.0).copied().unwrap_or_default();
        let goes_on = |proc: ProcIndex| {
            // A thread that was not seen may do what the others wait for.
            let hidden = reading == Reading::Hopeful && job.procs[proc.0].has_hidden_threads();
            seen(proc) == Seen::Moved || hidden
        };
        // Others may wait for one that has finished, which has no finding of its own.
        let has_finished = |proc: ProcIndex| matches!(waits.states.get(proc.0), Some(ProcState::Finished(_)));
        let explained = |proc: ProcIndex| ignored(proc) && !has_finished(proc);
        let mut own = Vec::with_capacity(waits.states.len());
        for (index, state) in waits.states.iter().enumerate() {
            let proc = ProcIndex(index);
            let free = goes_on(proc) || explained(proc);
            let polls = reading == Reading::Polling && waits.polling.contains_key(&proc);
            let waits = polls || waits.held.contains_key(&proc);
            let node = builder.node(
                if free || (matches!(state, ProcState::Free(_)) && !waits) { Gate::All } else { Gate::Any },
                Some(proc),
            );
            own.push(node);
            let finalizing = matches!(state, ProcState::Blocked(threads) if threads.iter().any(|thread| thread.wait_kind == WaitKind::Finalize));
            // A process in MPI_Finalize may go on, but sends and receives nothing more.
            let help = if finalizing && !goes_on(proc) { builder.node(Gate::Any, Some(proc)) } else { node };
            builder.help.push(help);
        }
        for (proc, held) in waits.held.iter().filter(|(proc, _)| !goes_on(**proc) && !explained(**proc)) {
            let node = builder.lower(&held.need);
            builder.graph.wait(own[proc.0], node);
        }
        for (index, state) in waits.states.iter().enumerate() {
            let proc = ProcIndex(index);
            let threads = match state {
                ProcState::Blocked(threads) => threads.as_slice(),
                _ if reading == Reading::Polling => waits.polling.get(&proc).map_or(&[][..], std::slice::from_ref),
                _ => continue,
            };
            if goes_on(proc) || explained(proc) {
                continue;
            }
            for thread in threads {
                let settled = thread.in_flight.is_none() || seen(proc) == Seen::Still || reading != Reading::Hopeful;
                let node = if settled { builder.lower(&thread.need) } else { builder.free };
                builder.graph.wait(own[index], node);
            }
        }
        let Builder { graph, proc, help, .. } = builder;
        let reduction = graph.reduce();
        Self { graph, reduction, own, help, proc }
    }

    /// Whether a process can never go on.
    pub fn is_stuck(&self, proc: ProcIndex) -> bool {
        self.own.get(proc.0).is_some_and(|node| self.reduction.is_stuck(*node))
    }

    /// Those that hold one another.
    pub fn knots(&self) -> Knots {
        Knots::new(&self.graph, &self.reduction)
    }

    /// By node: where the shortest way of one that merely waits ends. Ways share their ends, so each step is taken once.
    pub fn ends(&self, knots: &Knots) -> Vec<Option<NodeId>> {
        let mut ends: Vec<Option<NodeId>> = vec![None; self.graph.len()];
        let mut path = Vec::new();
        for node in self.own.iter().copied().filter(|node| self.reduction.is_stuck(*node)) {
            let mut at = node;
            let end = loop {
                if let Some(end) = ends[at.0] {
                    break end;
                }
                path.push(at);
                match knots.path(at).next() {
                    Some(next) => at = next,
                    None => break at,
                }
            };
            for passed in path.drain(..) {
                ends[passed.0] = Some(end);
            }
        }
        ends
    }

    /// Whose a node is.
    pub fn proc(&self, node: NodeId) -> Option<ProcIndex> {
        self.proc.get(node.0).copied().flatten()
    }

    /// The node of a process.
    pub fn node(&self, proc: ProcIndex) -> NodeId {
        self.own[proc.0]
    }

    /// The node that stands for what a process may still do for others.
    pub fn helping(&self, proc: ProcIndex) -> NodeId {
        self.help[proc.0]
    }

    /// Edges of the graph, as those that wait and those that they wait for.
    pub fn edges(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.graph.edges()
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Whether there are none; there never are.
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }
}

impl Builder<'_, '_> {
    fn node(&mut self, gate: Gate, proc: Option<ProcIndex>) -> NodeId {
        self.proc.push(proc);
        self.graph.add(gate)
    }

    fn gate(&mut self, gate: Gate, needs: &[Need]) -> NodeId {
        if let [only] = needs {
            return self.lower(only);
        }
        let node = self.node(gate, None);
        for need in needs {
            let on = self.lower(need);
            self.graph.wait(node, on);
        }
        node
    }

    fn lower(&mut self, need: &Need) -> NodeId {
        match need {
            Need::Nothing | Need::Unknown(_) => self.free,
            Need::Doubted(_, _) if self.reading == Reading::Hopeful => self.free,
            Need::Doubted(need, _) => self.lower(need),
            Need::Never(_) => self.node(Gate::Any, None),
            Need::Proc(proc) => self.help.get(proc.0).copied().unwrap_or(self.free),
            Need::AnyOf(id, side) => self.group(*id, *side),
            Need::Others(id) => self.missing(*id, true),
            Need::AnyOther(id) => self.missing(*id, false),
            Need::All(needs) => self.gate(Gate::All, needs),
            Need::Any(needs) if needs.is_empty() => self.free,
            Need::Any(needs) => self.gate(Gate::Any, needs),
            Need::Unclear(needs) if needs.is_empty() => self.free,
            Need::Unclear(needs) => {
                self.gate(if self.reading == Reading::Hopeful { Gate::Any } else { Gate::All }, needs)
            }
        }
    }

    fn group(&mut self, id: CommunicatorId, side: Side) -> NodeId {
        if let Some(node) = self.groups.get(&(id, side)) {
            return *node;
        }
        let job = self.job;
        let node = self.node(Gate::Any, None);
        self.groups.insert((id, side), node);
        let group = job.communicators.get(id.0).and_then(|shared| {
            let groups = shared.groups.as_deref()?;
            groups.get(usize::from(side == Side::Second))
        });
        match group {
            Some(members) if !members.is_empty() => {
                for member in members {
                    let on = member.map_or(self.free, |proc| self.help[proc.0]);
                    self.graph.wait(node, on);
                }
            }
            _ => self.graph.wait(node, self.free),
        }
        node
    }

    fn missing(&mut self, id: CollectiveId, all: bool) -> NodeId {
        if let Some(node) = self.collectives.get(&(id, all)) {
            return *node;
        }
        let waits = self.waits;
        let collective = waits.collectives.get(id);
        let node = self.node(if all { Gate::All } else { Gate::Any }, None);
        self.collectives.insert((id, all), node);
        if !all && (collective.missing.is_empty() || !collective.whole) {
            self.graph.wait(node, self.free);
        }
        for proc in &collective.missing {
            self.graph.wait(node, self.help[proc.0]);
        }
        node
    }
}
