//! Who of the stuck hold one another, and who merely waits for them.

use std::collections::VecDeque;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::{Adjacency, Edge, Graph, NodeId, Reduction};

/// Nodes that keep one another stuck: they would be so if all others went on. A single node that waits for itself, or for what
/// nobody brings about, is one as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knot {
    /// Its nodes, ascending.
    pub nodes: Vec<NodeId>,
}

/// The knots of a graph.
#[derive(Debug)]
pub struct Knots {
    /// Each knot, by its first node. Every stuck node is in one or waits for one.
    pub knots: Vec<Knot>,
    /// By node: its knot, and its place among the knot's nodes.
    of_node: Vec<Option<(usize, usize)>>,
    /// By node: of one that merely waits, who is next on a shortest way to a knot.
    towards: Vec<Option<NodeId>>,
    /// Edges between stuck nodes.
    stuck: Adjacency,
}

impl Knots {
    /// Finds the knots among the stuck of a graph that `reduction` is of.
    pub fn new(graph: &Graph, reduction: &Reduction) -> Self {
        let edges = || {
            let both = |(node, on): &&(NodeId, NodeId)| reduction.is_stuck(*node) && reduction.is_stuck(*on);
            graph.edges.iter().filter(both).copied()
        };
        let stuck = Adjacency::new(graph.len(), edges());
        let components = Components::new(graph.len(), reduction.stuck(), edges());
        // Who holds one another is stuck also where everybody outside its own component goes on. Parts of the rest may wait
        // for one another in turn: what waits for none of them is a knot.
        let alone = graph.reduce_among(|node, on| match reduction.is_stuck(on) {
            true if components.same(node, on) => Edge::Counts,
            _ => Edge::Open,
        });
        let held = |node: &NodeId| reduction.is_stuck(*node) && alone.is_stuck(*node);
        let within = || edges().filter(|(node, on)| held(node) && held(on) && components.same(*node, *on));
        let rest = Components::new(graph.len(), reduction.stuck().filter(held), within());
        let mut last = vec![true; rest.members.len()];
        for (node, on) in within() {
            if let Some(component) = rest.of_node[node.0]
                && !rest.same(node, on)
            {
                last[component] = false;
            }
        }
        let mut knots: Vec<Knot> = rest
            .members
            .into_iter()
            .zip(last)
            .filter_map(|(mut nodes, last)| {
                nodes.sort_unstable();
                last.then_some(Knot { nodes })
            })
            .collect();
        knots.sort_unstable_by(|one, other| one.nodes.cmp(&other.nodes));
        let mut of_node = vec![None; graph.len()];
        for (index, knot) in knots.iter().enumerate() {
            for (place, node) in knot.nodes.iter().enumerate() {
                of_node[node.0] = Some((index, place));
            }
        }
        let towards = ways(graph.len(), &of_node, edges());
        Self { knots, of_node, towards, stuck }
    }

    /// The knot that a node is in; `None` for one that merely waits, or can go on.
    pub fn knot_of(&self, node: NodeId) -> Option<usize> {
        self.of_node.get(node.0).copied().flatten().map(|(knot, _)| knot)
    }

    /// The place of a node among those of a knot.
    pub(super) fn place(&self, node: NodeId, knot: usize) -> Option<usize> {
        self.of_node.get(node.0).copied().flatten().filter(|(of, _)| *of == knot).map(|(_, place)| place)
    }

    /// The nodes from one that merely waits to the knot that it waits for, through the fewest others: the next one first, the last
    /// one is of the knot. Empty for a node of a knot and for one that can go on.
    pub fn path(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let next = |at: &NodeId| self.towards.get(at.0).copied().flatten();
        std::iter::successors(next(&node), move |at| next(at))
    }

    /// The stuck nodes for which a stuck node waits, in the order in which they were added.
    pub fn waits_for(&self, node: NodeId) -> &[NodeId] {
        if node.0 < self.of_node.len() { self.stuck.neighbours(node) } else { &[] }
    }
}

/// Those of `nodes` nodes that lead to one another by edges, in one step or in many: each circle by its nodes, ascending.
pub fn circles(nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let edges = edges.into_iter().filter(|(one, other)| one.max(other) < &nodes);
    let components =
        Components::new(nodes, (0..nodes).map(NodeId), edges.map(|(one, other)| (NodeId(one), NodeId(other))));
    let circles = components.members.into_iter().filter(|members| members.len() > 1);
    circles
        .map(|members| {
            let mut places: Vec<usize> = members.into_iter().map(|node| node.0).collect();
            places.sort_unstable();
            places
        })
        .collect()
}

/// By node that is in no knot, who is next on a shortest way to one.
fn ways(
    nodes: usize,
    of_node: &[Option<(usize, usize)>],
    edges: impl Iterator<Item = (NodeId, NodeId)> + Clone,
) -> Vec<Option<NodeId>> {
    let waiters = Adjacency::new(nodes, edges.map(|(node, on)| (on, node)));
    let mut towards = vec![None; nodes];
    let mut next: VecDeque<NodeId> = (0..nodes).map(NodeId).filter(|node| of_node[node.0].is_some()).collect();
    while let Some(on) = next.pop_front() {
        for node in waiters.neighbours(on) {
            if of_node[node.0].is_none() && towards[node.0].is_none() {
                towards[node.0] = Some(on);
                next.push_back(*node);
            }
        }
    }
    towards
}

/// Strongly connected components of a part of the nodes.
struct Components {
    members: Vec<Vec<NodeId>>,
    of_node: Vec<Option<usize>>,
}

impl Components {
    fn new(nodes: usize, part: impl Iterator<Item = NodeId>, edges: impl Iterator<Item = (NodeId, NodeId)>) -> Self {
        let mut graph: DiGraph<NodeId, (), usize> = DiGraph::default();
        let mut places: Vec<Option<NodeIndex<usize>>> = vec![None; nodes];
        for node in part {
            places[node.0] = Some(graph.add_node(node));
        }
        for (node, on) in edges {
            if let (Some(node), Some(on)) = (places[node.0], places[on.0]) {
                graph.add_edge(node, on, ());
            }
        }
        // Not Tarjan's algorithm, which petgraph has as a recursive function.
        let components = kosaraju_scc(&graph);
        let mut of_node = vec![None; nodes];
        let mut members = Vec::with_capacity(components.len());
        for (index, component) in components.into_iter().enumerate() {
            let component: Vec<NodeId> = component.into_iter().map(|place| graph[place]).collect();
            for node in &component {
                of_node[node.0] = Some(index);
            }
            members.push(component);
        }
        Self { members, of_node }
    }

    fn same(&self, one: NodeId, other: NodeId) -> bool {
        self.of_node[one.0].is_some() && self.of_node[one.0] == self.of_node[other.0]
    }
}
