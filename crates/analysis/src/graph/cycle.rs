//! A short cycle of a knot, to print who waits for whom.

use std::collections::VecDeque;

use super::{Knots, NodeId};

/// How many edges are followed for a shorter cycle once one was found: a large knot has one from each of its nodes.
const STEPS: usize = 4_000_000;

impl Knots {
    /// The cycle of a knot with the fewest of the nodes that count (those that stand for ranks; others stand for groups and
    /// choices), the first by the order of its nodes among such; all its nodes, each waits for the next and the last for the
    /// first. It has at least two nodes that count where the knot has. In knots too large to be searched whole, the shortest
    /// that was found. Empty where the knot has none: its node waits for what nobody brings about.
    pub fn cycle(&self, knot: usize, counts: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let Some(searched) = self.knots.get(knot) else { return Vec::new() };
        // Where no node counts each may begin a cycle.
        let any = searched.nodes.iter().any(|node| counts(*node));
        let counts = |node: NodeId| !any || counts(node);
        let mut search =
            Search { knots: self, knot, from: vec![None; 2 * searched.nodes.len()], touched: Vec::new(), steps: 0 };
        let mut best = Cycle { length: usize::MAX, nodes: Vec::new() };
        for start in searched.nodes.iter().copied().filter(|node| counts(*node)) {
            if let Some(shorter) = search.cycle(start, &counts, best.length) {
                best = shorter;
            }
            if best.length <= 2 || search.steps > STEPS {
                break;
            }
        }
        best.nodes
    }
}

/// A cycle, and how many of its nodes count.
struct Cycle {
    length: usize,
    nodes: Vec<NodeId>,
}

/// Searches from one node after the other. A node is met in two ways: before and after another one that counts; a way back to
/// the start that meets none is a rank that waits for itself, which is said only where there is nothing else.
struct Search<'a> {
    knots: &'a Knots,
    knot: usize,
    /// From which state each was reached; the start from itself.
    from: Vec<Option<usize>>,
    touched: Vec<usize>,
    steps: usize,
}

impl Search<'_> {
    /// The cycle through a node with the fewest that count, if it has fewer than `bound`.
    fn cycle(&mut self, start: NodeId, counts: &impl Fn(NodeId) -> bool, bound: usize) -> Option<Cycle> {
        for state in self.touched.drain(..) {
            self.from[state] = None;
        }
        let state = |place: usize, far: bool| 2 * place + usize::from(far);
        let begin = state(self.knots.place(start, self.knot)?, false);
        self.reach(begin, begin);
        let mut own = None;
        let mut next = VecDeque::from([(start, begin, 1)]);
        while let Some((node, at, length)) = next.pop_front() {
            for on in self.knots.waits_for(node) {
                self.steps += 1;
                let Some(place) = self.knots.place(*on, self.knot) else { continue };
                let far = at % 2 == 1;
                if *on == start {
                    if far {
                        return Some(Cycle { length, nodes: self.path(at) });
                    }
                    own.get_or_insert(at);
                    continue;
                }
                let more = usize::from(counts(*on));
                let to = state(place, far || more == 1);
                if self.from[to].is_some() || length + more >= bound {
                    continue;
                }
                self.reach(to, at);
                match more {
                    0 => next.push_front((*on, to, length)),
                    _ => next.push_back((*on, to, length + 1)),
                }
            }
        }
        // Any other cycle is preferred to it.
        own.filter(|_| bound == usize::MAX).map(|at| Cycle { length: usize::MAX, nodes: self.path(at) })
    }

    fn reach(&mut self, state: usize, from: usize) {
        self.from[state] = Some(from);
        self.touched.push(state);
    }

    /// The nodes from the start to a state.
    fn path(&self, state: usize) -> Vec<NodeId> {
        let nodes = &self.knots.knots[self.knot].nodes;
        let before = |at: &usize| self.from[*at].filter(|from| from != at);
        let mut path: Vec<NodeId> = std::iter::successors(Some(state), before).map(|at| nodes[at / 2]).collect();
        path.reverse();
        path
    }
}
