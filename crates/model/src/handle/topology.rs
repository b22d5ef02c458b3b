//! Topologies of communicators.

use super::{Fact, Handle, Known};

/// The topology of a communicator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// What it looks like.
    pub shape: Shape,
    /// Whether ranks might be reordered.
    pub reorder: Known<bool>,
}

/// What a topology looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A grid.
    Cartesian {
        /// The number of dimensions.
        ndims: i64,
        /// Processes in each dimension.
        dims: Known<Vec<i64>>,
        /// Whether each dimension is a ring.
        periods: Known<Vec<bool>>,
        /// This process's place.
        coords: Known<Vec<i64>>,
    },
    /// A graph, all of it.
    Graph {
        /// The number of nodes.
        nodes: i64,
        /// The sums of the nodes' degrees.
        index: Known<Vec<i64>>,
        /// The neighbours of all nodes.
        edges: Known<Vec<i64>>,
    },
    /// A distributed graph: this process's part.
    DistGraph {
        /// Ranks that send to it.
        sources: Known<Vec<i64>>,
        /// Ranks that it sends to.
        destinations: Known<Vec<i64>>,
        /// Of the edges from the sources; none where they have no weights.
        source_weights: Known<Option<Vec<i64>>>,
        /// Of the edges to the destinations.
        destination_weights: Known<Option<Vec<i64>>>,
    },
}

/// Tells each under the name of its variable.
macro_rules! each {
    ($($member:ident),* => $handle:ident) => { $($member.tell(stringify!($member), &mut $handle);)* };
}

/// Its members stand below one name; why one of them is not known stands under both names with a dot between.
impl Fact for Topology {
    fn tell(self, name: &str, handle: &mut Handle) {
        let mut inside = Handle::default();
        match self.shape {
            Shape::Cartesian { ndims, dims, periods, coords } => {
                "cartesian".tell("kind", &mut inside);
                each!(ndims, dims, periods, coords => inside);
            }
            Shape::Graph { nodes, index, edges } => {
                "graph".tell("kind", &mut inside);
                each!(nodes, index, edges => inside);
            }
            Shape::DistGraph { sources, destinations, source_weights, destination_weights } => {
                "dist_graph".tell("kind", &mut inside);
                each!(sources, destinations, source_weights, destination_weights => inside);
            }
        }
        self.reorder.tell("reorder", &mut inside);
        handle.fact(name, inside.facts);
        handle.unknown.extend(inside.unknown.into_iter().map(|(member, reason)| (format!("{name}.{member}"), reason)));
    }
}
