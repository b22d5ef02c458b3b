//! Topologies of all MPIs, from where their numbers are.

use crate::ReaderError;
use crate::record::{Record, Slot};
use model::handle::Shape;
use target::Target;
use target::address::TargetAddr;

/// No array of a topology is longer than this (1 Mi): edges of a graph.
const MAX_NUMBERS: i64 = 1 << 20;

/// Reads topologies of communicators.
pub struct Topologies<'t> {
    /// Where they are.
    pub target: &'t dyn Target,
    /// The number of the communicator's processes.
    pub size: i64,
}

/// Where one side of a distributed graph is.
#[derive(Debug, Clone, Copy)]
pub struct Side {
    /// How many edges it has.
    pub degree: i64,
    /// The ranks at their ends.
    pub ranks: TargetAddr,
    /// Their weights.
    pub weights: TargetAddr,
}

impl Side {
    /// From the fields of a record.
    pub fn of(record: &Record<'_>, degree: Slot, ranks: Slot, weights: Slot) -> Self {
        Self { degree: record.int(degree), ranks: record.pointer(ranks), weights: record.pointer(weights) }
    }
}

impl Topologies<'_> {
    /// A grid, from the places of its dimensions, of whether they are rings, and of this process's coordinates.
    ///
    /// # Errors
    /// Where it cannot be read, or has not as many places as there are processes.
    pub fn cartesian(&self, ndims: i64, places: [TargetAddr; 3]) -> Result<Shape, ReaderError> {
        let [dims, periods, coords] = places;
        let dims = self.numbers(dims, ndims)?;
        let product = dims.iter().try_fold(1_i64, |product, dim| product.checked_mul(*dim));
        if product != Some(self.size) {
            return Err(ReaderError::Damaged(format!(
                "a grid of {ndims} dimensions that are not those of {} processes",
                self.size
            )));
        }
        let periods = self.numbers(periods, ndims)?.into_iter().map(|period| period != 0).collect();
        Ok(Shape::Cartesian { ndims, dims: Ok(dims), periods: Ok(periods), coords: Ok(self.numbers(coords, ndims)?) })
    }

    /// A graph, from the places of its index and its edges.
    ///
    /// # Errors
    /// Where it cannot be read, or is not one of as many nodes as there are processes.
    pub fn graph(&self, nodes: i64, index: TargetAddr, edges: TargetAddr) -> Result<Shape, ReaderError> {
        let index = self.numbers(index, nodes)?;
        let rising = index.iter().try_fold(0, |before, next| (*next >= before).then_some(*next)).is_some();
        if nodes != self.size || !rising {
            return Err(ReaderError::Damaged(format!("a graph of {nodes} nodes for {} processes", self.size)));
        }
        // The last entry of the index is the number of edges, by the standard's definition of MPI_Graph_create.
        let edges = self.numbers(edges, index.last().copied().unwrap_or(0))?;
        Ok(Shape::Graph { nodes, index: Ok(index), edges: Ok(edges) })
    }

    /// This process's part of a distributed graph.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn distributed(&self, weighted: bool, sources: Side, destinations: Side) -> Result<Shape, ReaderError> {
        let ranks = |side: Side| self.numbers(side.ranks, side.degree);
        // Null: this side has no weights. With weights and no neighbours there is no array.
        let weights = |side: Side| match weighted && !(side.weights.is_null() && side.degree > 0) {
            true => self.numbers(side.weights, side.degree).map(Some),
            false => Ok(None),
        };
        Ok(Shape::DistGraph {
            sources: Ok(ranks(sources)?),
            destinations: Ok(ranks(destinations)?),
            source_weights: Ok(weights(sources)?),
            destination_weights: Ok(weights(destinations)?),
        })
    }

    /// An array of `count` C integers.
    fn numbers(&self, at: TargetAddr, count: i64) -> Result<Vec<i64>, ReaderError> {
        if !(0..=MAX_NUMBERS).contains(&count) {
            return Err(ReaderError::Damaged(format!("a topology has an array of {count} numbers at {at}")));
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        let abi = self.target.abi();
        let bytes = self.target.read_bytes(at, count as usize * 4)?;
        Ok(bytes.chunks_exact(4).map(|bytes| abi.int(bytes)).collect())
    }
}
