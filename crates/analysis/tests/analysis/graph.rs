//! The wait-for graph against the definition of being stuck: by enumeration of all sets of nodes.

use std::collections::BTreeSet;

use analysis::graph::{Gate, Graph, Knots, NodeId};
use proptest::prelude::*;

/// A graph as data.
#[derive(Debug, Clone)]
struct Given {
    nodes: Vec<(Gate, Vec<usize>)>,
    /// Which nodes stand for ranks.
    counts: Vec<bool>,
}

impl Given {
    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let ids: Vec<NodeId> = self.nodes.iter().map(|(gate, _)| graph.add(*gate)).collect();
        for (node, (_, waits)) in self.nodes.iter().enumerate() {
            for on in waits {
                graph.wait(ids[node], ids[*on]);
            }
        }
        graph
    }

    /// Whether a set keeps itself stuck: of all that its nodes wait for, enough is in the set.
    fn holds(&self, set: u32) -> bool {
        let inside = |node: &usize| set & (1 << node) != 0;
        (0..self.nodes.len()).filter(inside).all(|node| match &self.nodes[node] {
            (Gate::All, waits) => waits.iter().any(&inside),
            (Gate::Any, waits) => waits.iter().all(&inside),
        })
    }

    /// The union of all sets that keep themselves stuck.
    fn stuck(&self) -> u32 {
        (0..1_u32 << self.nodes.len()).filter(|set| self.holds(*set)).fold(0, |all, set| all | set)
    }

    /// Whether `from` waits for `to`, directly or through others of a set.
    fn reaches(&self, from: usize, to: usize, set: u32) -> bool {
        let mut seen = BTreeSet::new();
        let mut next = vec![from];
        while let Some(node) = next.pop() {
            for on in self.nodes[node].1.iter().filter(|on| set & (1 << **on) != 0) {
                if *on == to {
                    return true;
                }
                if seen.insert(*on) {
                    next.push(*on);
                }
            }
        }
        false
    }

    /// The fewest ranks in a cycle of a set with at least two of them: by trying all orders.
    fn shortest(&self, set: u32) -> Option<usize> {
        let ranks: Vec<usize> =
            (0..self.nodes.len()).filter(|node| set & (1 << node) != 0 && self.counts[*node]).collect();
        let helpers = ranks.iter().fold(set, |helpers, rank| helpers & !(1 << rank));
        let direct = |from: usize, to: usize| self.reaches(from, to, helpers | 1 << to);
        let mut best = None;
        let mut paths: Vec<Vec<usize>> = ranks.iter().map(|rank| vec![*rank]).collect();
        while let Some(path) = paths.pop() {
            let last = path[path.len() - 1];
            if path.len() > 1 && direct(last, path[0]) {
                best = Some(best.map_or(path.len(), |best: usize| best.min(path.len())));
            }
            for rank in ranks.iter().filter(|rank| !path.contains(rank) && direct(last, **rank)) {
                paths.push(path.iter().copied().chain([*rank]).collect());
            }
        }
        best
    }
}

fn given() -> impl Strategy<Value = Given> {
    (1_usize..9).prop_flat_map(|size| {
        let gate = prop_oneof![Just(Gate::All), Just(Gate::Any)];
        let node = (gate, prop::collection::vec(0..size, 0..4));
        (prop::collection::vec(node, size), prop::collection::vec(prop::bool::weighted(0.7), size))
            .prop_map(|(nodes, counts)| Given { nodes, counts })
    })
}

fn set(nodes: impl Iterator<Item = NodeId>) -> u32 {
    nodes.fold(0, |set, node| set | 1 << node.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn who_is_stuck_is_the_union_of_all_sets_that_keep_themselves_so(given in given()) {
        prop_assert_eq!(set(given.graph().reduce().stuck()), given.stuck());
    }

    #[test]
    fn knots_keep_themselves_stuck_and_all_others_wait_for_one(given in given()) {
        let graph = given.graph();
        let reduction = graph.reduce();
        let knots = Knots::new(&graph, &reduction);
        let mut all = 0;
        for (index, knot) in knots.knots.iter().enumerate() {
            let own = set(knot.nodes.iter().copied());
            prop_assert!(given.holds(own), "{:?}", knot);
            prop_assert_eq!(all & own, 0, "in two knots");
            all |= own;
            for one in &knot.nodes {
                prop_assert_eq!(knots.knot_of(*one), Some(index));
                prop_assert_eq!(knots.path(*one).count(), 0);
                for other in knot.nodes.iter().filter(|other| *other != one) {
                    prop_assert!(given.reaches(one.0, other.0, own), "{:?}", knot);
                }
            }
        }
        let stuck = given.stuck();
        for node in (0..given.nodes.len()).map(NodeId).filter(|node| all & (1 << node.0) == 0) {
            let wait_kind: Vec<NodeId> = knots.path(node).collect();
            prop_assert_eq!(stuck & (1 << node.0) != 0, !wait_kind.is_empty());
            let mut at = node;
            for next in &wait_kind {
                prop_assert!(given.nodes[at.0].1.contains(&next.0));
                at = *next;
            }
            if let Some((last, others)) = wait_kind.split_last() {
                prop_assert!(knots.knot_of(*last).is_some());
                prop_assert!(others.iter().all(|other| knots.knot_of(*other).is_none() && reduction.is_stuck(*other)));
            }
        }
        // Whoever waits for nobody but one another, among the stuck, is a knot.
        let stuck_nodes = || (0..given.nodes.len()).filter(|node| stuck & (1 << node) != 0);
        for node in stuck_nodes() {
            let reached: Vec<usize> = stuck_nodes().filter(|to| given.reaches(node, *to, stuck)).collect();
            if reached.iter().all(|other| given.reaches(*other, node, stuck)) {
                let sink = set(reached.into_iter().chain([node]).map(NodeId));
                prop_assert!(knots.knots.iter().any(|knot| set(knot.nodes.iter().copied()) == sink));
            }
        }
    }

    #[test]
    fn the_cycle_of_a_knot_has_the_fewest_ranks(given in given()) {
        let graph = given.graph();
        let knots = Knots::new(&graph, &graph.reduce());
        for (index, knot) in knots.knots.iter().enumerate() {
            let own = set(knot.nodes.iter().copied());
            let cycle = knots.cycle(index, |node| given.counts[node.0]);
            for (at, node) in cycle.iter().enumerate() {
                let next = cycle[(at + 1) % cycle.len()];
                prop_assert!(knot.nodes.contains(node) && given.nodes[node.0].1.contains(&next.0), "{:?}", cycle);
            }
            let ranks = cycle.iter().filter(|node| given.counts[node.0]).count();
            match given.shortest(own) {
                Some(fewest) => prop_assert_eq!(ranks, fewest, "{:?} of {:?}", cycle, knot),
                // One rank that waits for itself, helpers alone, or what nobody brings about.
                None => prop_assert!(ranks <= 1, "{:?}", cycle),
            }
            let alone = knot.nodes.len() == 1 && !given.reaches(knot.nodes[0].0, knot.nodes[0].0, own);
            prop_assert_eq!(cycle.is_empty(), alone, "{:?}", knot);
        }
    }
}

/// A chain and a ring of a million: nothing recurses, and nothing takes long.
#[test]
fn a_million_nodes_are_no_burden() {
    let size = 1_000_000;
    let mut graph = Graph::default();
    let ids: Vec<NodeId> = (0..size).map(|_| graph.add(Gate::All)).collect();
    for pair in ids.windows(2) {
        graph.wait(pair[0], pair[1]);
    }
    assert_eq!(graph.reduce().stuck().count(), 0);
    graph.wait(ids[size - 1], ids[size / 2]);
    let reduction = graph.reduce();
    assert_eq!(reduction.stuck().count(), size);
    let knots = Knots::new(&graph, &reduction);
    assert_eq!(knots.knots.len(), 1);
    assert_eq!(knots.cycle(0, |_| true).len(), size / 2);
    assert_eq!(knots.path(ids[0]).count(), size / 2);
}

/// 65,536 ranks that each wait for any other: their group is one node.
#[test]
fn ranks_that_wait_for_any_other_share_one_node() {
    let mut graph = Graph::default();
    let any = graph.add(Gate::Any);
    let ranks: Vec<NodeId> = (0..65_536).map(|_| graph.add(Gate::All)).collect();
    for rank in &ranks {
        graph.wait(any, *rank);
        graph.wait(*rank, any);
    }
    let knots = Knots::new(&graph, &graph.reduce());
    assert_eq!(knots.knots.len(), 1);
    assert_eq!(knots.cycle(0, |node| node != any), [ranks[0], any, ranks[1], any]);
    let free = graph.add(Gate::All);
    graph.wait(any, free);
    assert_eq!(graph.reduce().stuck().count(), 0);
}
