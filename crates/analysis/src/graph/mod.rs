//! The wait-for graph: who can never go on.
//!
//! A node goes on when its gate opens: when all, or any one, of the nodes that it waits for have gone on. A node that waits
//! for all of none goes on at once; one that waits for any of none never does. What is left when nothing more can go on is
//! stuck. (AND/OR graphs as in W. Haque, "Concurrent deadlock detection in parallel programs", and in MUST.)
//!
//! [`Graph::reduce`] says who is stuck, [`Knots`] which of these hold one another and who merely waits for them, and
//! [`Knots::cycle`] whom to print. All take time in proportion to nodes and edges, and none recurses: a chain of waiting ranks is as
//! long as the job is large.

mod cycle;
mod knots;

pub use knots::{Knot, Knots, circles};

/// A place in a [`Graph`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub usize);

/// How many of the nodes that a node waits for must go on before it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// All of them.
    All,
    /// Any one of them.
    Any,
}

/// A wait-for graph.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    gates: Vec<Gate>,
    /// Who waits for whom, in the order in which it was added.
    edges: Vec<(NodeId, NodeId)>,
}

/// Which nodes can go on, and which are stuck.
#[derive(Debug, Clone)]
pub struct Reduction {
    released: Vec<bool>,
}

impl Reduction {
    /// Whether a node can never go on.
    pub fn is_stuck(&self, node: NodeId) -> bool {
        self.released.get(node.0) == Some(&false)
    }

    /// The nodes that can never go on, ascending.
    pub fn stuck(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.released.len()).map(NodeId).filter(|node| self.is_stuck(*node))
    }
}

impl Graph {
    /// Adds a node that waits for nothing yet; with [`Gate::Any`] it never goes on unless something is added.
    pub fn add(&mut self, gate: Gate) -> NodeId {
        self.gates.push(gate);
        NodeId(self.gates.len() - 1)
    }

    /// Lets a node wait for another one; of nodes that were not added nothing is noted.
    pub fn wait(&mut self, node: NodeId, on: NodeId) {
        if node.0 < self.len() && on.0 < self.len() {
            self.edges.push((node, on));
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.gates.len()
    }

    /// Whether it has no nodes.
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }

    /// A node's gate; of one that was not added that of one that goes on at once.
    pub fn gate(&self, node: NodeId) -> Gate {
        self.gates.get(node.0).copied().unwrap_or(Gate::All)
    }

    /// Who waits for whom, in the order in which it was added.
    pub fn edges(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.edges.iter().copied()
    }

    /// Lets go on whoever can, until nobody more can: the least fixpoint.
    pub fn reduce(&self) -> Reduction {
        self.reduce_among(|_, _| Edge::Counts)
    }

    /// Reduces with each edge taken as `edge` says.
    fn reduce_among(&self, edge: impl Fn(NodeId, NodeId) -> Edge) -> Reduction {
        // How many more must go on before the node does.
        let mut missing: Vec<usize> = self.gates.iter().map(|gate| usize::from(*gate == Gate::Any)).collect();
        let mut freed = vec![false; self.len()];
        let counts: Vec<(NodeId, NodeId)> = self
            .edges
            .iter()
            .copied()
            .filter(|(node, on)| match edge(*node, *on) {
                Edge::Counts => true,
                Edge::Open => {
                    freed[node.0] |= self.gates[node.0] == Gate::Any;
                    false
                }
            })
            .collect();
        for (node, _) in &counts {
            if self.gates[node.0] == Gate::All {
                missing[node.0] += 1;
            }
        }
        let waiters = Adjacency::new(self.len(), counts.iter().map(|(node, on)| (*on, *node)));
        let mut released: Vec<bool> =
            missing.iter().zip(freed).map(|(missing, freed)| *missing == 0 || freed).collect();
        let mut next: Vec<NodeId> = (0..self.len()).map(NodeId).filter(|node| released[node.0]).collect();
        while let Some(on) = next.pop() {
            for node in waiters.neighbours(on) {
                missing[node.0] = missing[node.0].saturating_sub(1);
                if missing[node.0] == 0 && !released[node.0] {
                    released[node.0] = true;
                    next.push(*node);
                }
            }
        }
        Reduction { released }
    }
}

/// What an edge is worth in a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// The other node decides.
    Counts,
    /// The other node is taken for one that goes on.
    Open,
}

/// Neighbours by node, in the order in which the edges were given.
#[derive(Debug)]
struct Adjacency {
    starts: Vec<usize>,
    neighbours: Vec<NodeId>,
}

impl Adjacency {
    fn new(nodes: usize, edges: impl Iterator<Item = (NodeId, NodeId)> + Clone) -> Self {
        let mut starts = vec![0; nodes + 1];
        for (from, _) in edges.clone() {
            starts[from.0 + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut free = starts.clone();
        let mut neighbours = vec![NodeId(0); starts[nodes]];
        for (from, to) in edges {
            neighbours[free[from.0]] = to;
            free[from.0] += 1;
        }
        Self { starts, neighbours }
    }

    fn neighbours(&self, node: NodeId) -> &[NodeId] {
        &self.neighbours[self.starts[node.0]..self.starts[node.0 + 1]]
    }
}
