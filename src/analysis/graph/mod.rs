//! The wait-for graph: who can never go on.
//!
//! A node goes on when its gate opens: when all, or any one, of the nodes that it waits for have gone on. A node that waits
//! for all of none goes on at once; one that waits for any of none never does. What is left when nothing more can go on is
//! stuck. (AND/OR graphs as in W. Haque, "Concurrent deadlock detection in parallel programs", and in MUST.)

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
    nodes: Vec<(Gate, Vec<NodeId>)>,
}

impl Graph {
    /// Adds a node that waits for nothing yet; with [`Gate::Any`] it never goes on unless something is added.
    pub fn add(&mut self, gate: Gate) -> NodeId {
        self.nodes.push((gate, Vec::new()));
        NodeId(self.nodes.len() - 1)
    }

    /// Lets a node wait for another one.
    pub fn wait(&mut self, node: NodeId, on: NodeId) {
        if let Some((_, waits)) = self.nodes.get_mut(node.0) {
            waits.push(on);
        }
    }
}
