//! Merged stacks in Python: views into one shared tree, made when they are asked for.

use std::sync::Arc;

use pyo3::prelude::*;

use super::queue::counted;
use super::snapshot::{Snapshot, write_json};
use super::told::{place, told};
use analysis::stacks::{Options, merge};

/// A snapshot with its stacks.
struct Merged {
    snapshot: Arc<model::Snapshot>,
    tree: model::StackTree,
}

impl Merged {
    /// The snapshot with the tree, for the JSON.
    fn told(&self) -> model::Snapshot {
        model::Snapshot { stacks: Some(self.tree.clone()), ..self.snapshot.as_ref().clone() }
    }
}

/// The stacks of many processes as one tree.
#[pyclass(frozen, module = "mpi_queues")]
pub struct StackTree(Arc<Merged>);

impl StackTree {
    pub(super) fn data(&self) -> &model::StackTree {
        &self.0.tree
    }

    /// Merges the stacks of a snapshot. Other Python threads run meanwhile.
    pub(super) fn of(py: Python<'_>, snapshot: Arc<model::Snapshot>, options: Options) -> Self {
        let tree = py.detach(|| merge(&snapshot, options));
        Self(Arc::new(Merged { snapshot, tree }))
    }

    fn view(&self, node: usize) -> StackNode {
        StackNode { merged: Arc::clone(&self.0), node }
    }
}

/// What is told of the members of a tree or a node.
macro_rules! members {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Ranks, in the notation of node sets.
            #[getter]
            fn ranks(&self) -> String {
                self.data().members.ranks.to_string()
            }
            /// Process ids of those whose rank is not known, in the same notation.
            #[getter]
            fn pids(&self) -> String {
                self.data().members.pids.to_string()
            }
            /// How many there are of which neither is known.
            #[getter]
            fn unnamed(&self) -> u64 {
                self.data().members.unnamed
            }
            /// The ranks, one by one.
            fn rank_list(&self) -> Vec<i64> {
                self.data().members.ranks.iter().collect()
            }
        }
    };
}
members!(StackTree);
members!(StackNode);
told!(StackTree, "nodes", "mpi_queues.report.stacks");

#[pymethods]
impl StackTree {
    /// Its nodes: each after the one that called it.
    #[getter]
    fn nodes(&self) -> Vec<StackNode> {
        (0..self.0.tree.nodes.len()).map(|node| self.view(node)).collect()
    }

    fn __len__(&self) -> usize {
        self.0.tree.nodes.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<StackNode> {
        Ok(self.view(place(index, self.0.tree.nodes.len(), "nodes")?))
    }

    fn __repr__(&self) -> String {
        let processes = counted(usize::try_from(self.0.tree.members.len()).unwrap_or(usize::MAX), "process", "es");
        let nodes = counted(self.0.tree.nodes.len(), "node", "s");
        format!("<mpi_queues.StackTree of {processes}, {nodes}>")
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0.tree == other.0.tree
    }
}

/// A frame that stacks have in common, together with all frames that are further out.
#[pyclass(frozen, module = "mpi_queues")]
pub struct StackNode {
    merged: Arc<Merged>,
    node: usize,
}

impl StackNode {
    pub(super) fn data(&self) -> &model::StackNode {
        &self.merged.tree.nodes[self.node]
    }

    fn other(&self, node: usize) -> Self {
        Self { merged: Arc::clone(&self.merged), node }
    }
}

#[pymethods]
impl StackNode {
    /// The frame that called it; None: it is outermost.
    #[getter]
    fn parent(&self) -> Option<Self> {
        self.data().parent.map(|parent| self.other(parent))
    }

    /// The frames that it called, where most are first.
    #[getter]
    fn children(&self) -> Vec<Self> {
        let further = self.merged.tree.nodes.iter().enumerate().skip(self.node + 1);
        let below = further.take_while(|(_, node)| node.depth > self.data().depth);
        below.filter(|(_, node)| node.parent == Some(self.node)).map(|(at, _)| self.other(at)).collect()
    }

    fn __repr__(&self) -> String {
        let data = self.data();
        format!("<mpi_queues.StackNode {} of ranks {}>", data.function.as_deref().unwrap_or("??"), data.members.ranks)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.data() == other.data()
    }
}
