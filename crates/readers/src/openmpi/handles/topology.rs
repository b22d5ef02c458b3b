//! Topologies of communicators (ompi/mca/topo/topo.h, v4.1.4 and v5.0.7).

use serde_json::{Value, json};

use super::HandleReader;
use crate::ReaderError;
use crate::record::{Record, Slot, shape};
use crate::topology::numbers;
use target::address::TargetAddr;

shape!(
    /// What all topologies have.
    Module = ["mca_topo_base_module_t"] {
        reorder: "reorder",
        cart: "mtc.cart",
        graph: "mtc.graph",
        dist_graph: "mtc.dist_graph",
    }
);
shape!(
    /// A Cartesian topology.
    Cart = ["mca_topo_base_comm_cart_2_2_0_t"] { ndims: "ndims", dims: "dims", periods: "periods", coords: "coords" }
);
shape!(
    /// A graph topology.
    Graph = ["mca_topo_base_comm_graph_2_2_0_t"] { nodes: "nnodes", index: "index", edges: "edges" }
);
shape!(
    /// A distributed graph topology: this process's part.
    DistGraph = ["mca_topo_base_comm_dist_graph_2_2_0_t"] {
        sources: "in",
        source_weights: "inw",
        destinations: "out",
        destination_weights: "outw",
        indegree: "indegree",
        outdegree: "outdegree",
        weighted: "weighted",
    }
);

/// The topology behind `module`, the `c_topo` of a communicator with those flags and that many processes; null where it has
/// none.
///
/// # Errors
/// Where it cannot be read or cannot be right.
pub fn read(reader: &HandleReader<'_>, module: TargetAddr, flags: u64, size: i64) -> Result<Value, ReaderError> {
    let has = |name: &str| flags & reader.flag(name) != 0;
    let (cart, graph, dist_graph) = (has("OMPI_COMM_CART"), has("OMPI_COMM_GRAPH"), has("OMPI_COMM_DIST_GRAPH"));
    if !(cart || graph || dist_graph) {
        return Ok(Value::Null);
    }
    let shape = Module::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, module, shape.size, &mut buffer)?;
    let mut topology = if cart {
        cartesian(reader, record.pointer(shape.cart), size)?
    } else if graph {
        general(reader, record.pointer(shape.graph), size)?
    } else {
        distributed(reader, record.pointer(shape.dist_graph))?
    };
    topology["reorder"] = json!(record.uint(shape.reorder) != 0);
    Ok(topology)
}

fn cartesian(reader: &HandleReader<'_>, at: TargetAddr, size: i64) -> Result<Value, ReaderError> {
    let shape = Cart::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
    let ndims = record.int(shape.ndims);
    let list = |slot: Slot| numbers(reader.target, record.pointer(slot), ndims);
    let dims = list(shape.dims)?;
    let product = dims.iter().try_fold(1_i64, |product, dim| product.checked_mul(*dim));
    if product != Some(size) {
        return Err(ReaderError::Damaged(format!(
            "a grid of {ndims} dimensions that are not those of {size} processes"
        )));
    }
    let periods: Vec<bool> = list(shape.periods)?.into_iter().map(|period| period != 0).collect();
    Ok(json!({
        "kind": "cartesian",
        "ndims": ndims,
        "dims": dims,
        "periods": periods,
        "coords": list(shape.coords)?,
    }))
}

fn general(reader: &HandleReader<'_>, at: TargetAddr, size: i64) -> Result<Value, ReaderError> {
    let shape = Graph::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
    let nodes = record.int(shape.nodes);
    let index = numbers(reader.target, record.pointer(shape.index), nodes)?;
    let rising = index.iter().try_fold(0, |before, next| (*next >= before).then_some(*next)).is_some();
    if nodes != size || !rising {
        return Err(ReaderError::Damaged(format!("a graph of {nodes} nodes for {size} processes")));
    }
    // The last entry of the index is the number of edges, by the standard's definition of MPI_Graph_create.
    let edges = numbers(reader.target, record.pointer(shape.edges), index.last().copied().unwrap_or(0))?;
    Ok(json!({ "kind": "graph", "nodes": nodes, "index": index, "edges": edges }))
}

fn distributed(reader: &HandleReader<'_>, at: TargetAddr) -> Result<Value, ReaderError> {
    let shape = DistGraph::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
    let (indegree, outdegree) = (record.int(shape.indegree), record.int(shape.outdegree));
    let weighted = record.uint(shape.weighted) != 0;
    // Null: this side has no weights. With weights and no neighbours there is no array.
    let weights = |slot: Slot, degree: i64| -> Result<Value, ReaderError> {
        let at = record.pointer(slot);
        if !weighted || (at.is_null() && degree > 0) {
            return Ok(Value::Null);
        }
        numbers(reader.target, at, degree).map(|weights| json!(weights))
    };
    Ok(json!({
        "kind": "dist_graph",
        "sources": numbers(reader.target, record.pointer(shape.sources), indegree)?,
        "destinations": numbers(reader.target, record.pointer(shape.destinations), outdegree)?,
        "source_weights": weights(shape.source_weights, indegree)?,
        "destination_weights": weights(shape.destination_weights, outdegree)?,
    }))
}
