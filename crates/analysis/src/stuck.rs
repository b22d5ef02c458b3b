//! Who can never go on: the needs of all threads as wait-for graphs, one for each reading of what is not known.

use super::graph::{Gate, Graph, Knots, NodeId, Reduction};
use super::job::{CommunicatorId, Job, PartyId, Side};
use super::waits::{CollectiveId, Need, Standing, Waits};
use functions::Way;

use std::collections::HashMap;

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

/// What two looks tell of a process.
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
    /// By party: the node that goes on when it does.
    own: Vec<NodeId>,
    /// By party: the node that stands for what it may still do for others.
    help: Vec<NodeId>,
    /// By node: whose it is, for those that stand for parties.
    party: Vec<Option<PartyId>>,
}

struct Builder<'a, 'b> {
    waits: &'b Waits<'a>,
    job: &'b Job<'a>,
    reading: Reading,
    graph: Graph,
    party: Vec<Option<PartyId>>,
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
        ignored: impl Fn(PartyId) -> bool,
    ) -> Self {
        let mut graph = Graph::default();
        let free = graph.add(Gate::All);
        let mut builder = Builder {
            waits,
            job,
            reading,
            graph,
            party: vec![None],
            help: Vec::new(),
            free,
            groups: HashMap::new(),
            collectives: HashMap::new(),
        };
        let seen = |party: PartyId| seen.get(party.0).copied().unwrap_or_default();
        let goes_on = |party: PartyId| {
            // A thread that was not seen may do what the others wait for.
            let hidden = reading == Reading::Hopeful && job.parties[party.0].has_hidden_threads();
            ignored(party) || seen(party) == Seen::Moved || hidden
        };
        let mut own = Vec::with_capacity(waits.standing.len());
        for (index, standing) in waits.standing.iter().enumerate() {
            let party = PartyId(index);
            let free = goes_on(party);
            let polls = reading == Reading::Polling && waits.polling.contains_key(&party);
            let node = builder.node(
                if free || (matches!(standing, Standing::Free(_)) && !polls) { Gate::All } else { Gate::Any },
                Some(party),
            );
            own.push(node);
            let finalizing = matches!(standing, Standing::Blocked(threads) if threads.iter().any(|thread| thread.way == Way::Finalize));
            // A process in MPI_Finalize may go on, but sends and receives nothing more.
            let help = if finalizing && !free { builder.node(Gate::Any, Some(party)) } else { node };
            builder.help.push(help);
        }
        for (index, standing) in waits.standing.iter().enumerate() {
            let party = PartyId(index);
            let threads = match standing {
                Standing::Blocked(threads) => threads.as_slice(),
                _ if reading == Reading::Polling => waits.polling.get(&party).map_or(&[][..], std::slice::from_ref),
                _ => continue,
            };
            if goes_on(party) {
                continue;
            }
            for thread in threads {
                let settled = thread.in_flight.is_none() || seen(party) == Seen::Still || reading != Reading::Hopeful;
                let node = if settled { builder.lower(&thread.need) } else { builder.free };
                builder.graph.wait(own[index], node);
            }
        }
        let Builder { graph, party, help, .. } = builder;
        let reduction = graph.reduce();
        Self { graph, reduction, own, help, party }
    }

    /// Whether a party can never go on.
    pub fn is_stuck(&self, party: PartyId) -> bool {
        self.own.get(party.0).is_some_and(|node| self.reduction.is_stuck(*node))
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
                match knots.way(at).next() {
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
    pub fn party(&self, node: NodeId) -> Option<PartyId> {
        self.party.get(node.0).copied().flatten()
    }

    /// The node of a party.
    pub fn node(&self, party: PartyId) -> NodeId {
        self.own[party.0]
    }

    /// The node that stands for what a party may still do for others.
    pub fn helping(&self, party: PartyId) -> NodeId {
        self.help[party.0]
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
    fn node(&mut self, gate: Gate, party: Option<PartyId>) -> NodeId {
        self.party.push(party);
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
            Need::Party(party) => self.help.get(party.0).copied().unwrap_or(self.free),
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
                    let on = member.map_or(self.free, |party| self.help[party.0]);
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
        for party in &collective.missing {
            self.graph.wait(node, self.help[party.0]);
        }
        node
    }
}
