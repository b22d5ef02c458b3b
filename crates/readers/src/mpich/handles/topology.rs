//! Topologies of communicators: an attribute that the library sets for itself (pmodels/mpich, src/mpi/topo/topoutil.c and
//! src/include/mpir_topo.h, v3.4 to v5.0).

use serde_json::{Value, json};

use super::HandleReader;
use super::attributes::Attribute;
use crate::ReaderError;
use crate::record::{Record, Slot, shape};
use crate::topology::numbers;
use target::address::TargetAddr;

shape!(
    /// A topology of any kind.
    Topology = ["MPIR_Topology"] {
        kind: "kind",
        ndims: "topo.cart.ndims",
        dims: "topo.cart.dims",
        periods: "topo.cart.periodic",
        coords: "topo.cart.position",
        nodes: "topo.graph.nnodes",
        index: "topo.graph.index",
        edges: "topo.graph.edges",
        indegree: "topo.dist_graph.indegree",
        sources: "topo.dist_graph.in",
        source_weights: "topo.dist_graph.in_weights",
        outdegree: "topo.dist_graph.outdegree",
        destinations: "topo.dist_graph.out",
        destination_weights: "topo.dist_graph.out_weights",
        weighted: "topo.dist_graph.is_weighted",
    }
);

/// The topology among the attributes of a communicator of `size` processes; null where it has none.
///
/// # Errors
/// Where it cannot be read or cannot be right.
pub fn find(reader: &HandleReader<'_>, attributes: &[Attribute], size: i64) -> Result<Value, ReaderError> {
    let mut problem = None;
    for attribute in attributes.iter().filter(|attribute| attribute.library) {
        let Some(at) = attribute.pointer().filter(|at| !at.is_null()) else { continue };
        // ROMIO has attributes of its own on communicators of files.
        match read(reader, at, size) {
            Ok(Some(topology)) => return Ok(topology),
            Ok(None) => {}
            Err(error) => problem = Some(error),
        }
    }
    problem.map_or(Ok(Value::Null), Err)
}

fn read(reader: &HandleReader<'_>, at: TargetAddr, size: i64) -> Result<Option<Value>, ReaderError> {
    let shape = Topology::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
    let kind = record.int(shape.kind);
    let is = |name: &str| reader.layouts.constant(name).ok() == Some(kind);
    let mut topology = if is("MPI_CART") {
        cartesian(reader, &shape, &record, size)?
    } else if is("MPI_GRAPH") {
        general(reader, &shape, &record, size)?
    } else if is("MPI_DIST_GRAPH") {
        distributed(reader, &shape, &record)?
    } else {
        return Ok(None);
    };
    topology["reorder"] = Value::Null;
    Ok(Some(topology))
}

fn cartesian(
    reader: &HandleReader<'_>,
    shape: &Topology,
    record: &Record<'_>,
    size: i64,
) -> Result<Value, ReaderError> {
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
    let coords = list(shape.coords)?;
    Ok(json!({ "kind": "cartesian", "ndims": ndims, "dims": dims, "periods": periods, "coords": coords }))
}

fn general(reader: &HandleReader<'_>, shape: &Topology, record: &Record<'_>, size: i64) -> Result<Value, ReaderError> {
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

fn distributed(reader: &HandleReader<'_>, shape: &Topology, record: &Record<'_>) -> Result<Value, ReaderError> {
    let (indegree, outdegree) = (record.int(shape.indegree), record.int(shape.outdegree));
    let weighted = record.uint(shape.weighted) != 0;
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
