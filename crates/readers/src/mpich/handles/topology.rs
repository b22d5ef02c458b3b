//! Topologies of communicators: an attribute that the library sets for itself (pmodels/mpich, src/mpi/topo/topoutil.c and
//! src/include/mpir_topo.h, v3.4 to v5.0).

use super::HandleReader;
use super::attributes::Attribute;
use crate::ReaderError;
use crate::record::{Record, shapes};
use crate::topology::{Side, Topologies};
use model::handle::Topology;
use target::Reason;
use target::address::TargetAddr;

shapes! {
    /// A topology of any kind.
    Known = ["MPIR_Topology"] {
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
    };
}

/// The topology among the attributes of a communicator of `size` processes; none where it has none.
///
/// # Errors
/// Where it cannot be read or cannot be right.
pub fn find(reader: &HandleReader<'_>, attributes: &[Attribute], size: i64) -> Result<Option<Topology>, ReaderError> {
    let mut problem = None;
    for attribute in attributes.iter().filter(|attribute| attribute.library) {
        let Some(at) = attribute.pointer().filter(|at| !at.is_null()) else { continue };
        // ROMIO has attributes of its own on communicators of files.
        match read(reader, at, size) {
            Ok(Some(topology)) => return Ok(Some(topology)),
            Ok(None) => {}
            Err(error) => problem = Some(error),
        }
    }
    problem.map_or(Ok(None), Err)
}

fn read(reader: &HandleReader<'_>, at: TargetAddr, size: i64) -> Result<Option<Topology>, ReaderError> {
    let known = Known::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, at, known.size)?;
    let kind = record.int(known.kind);
    let is = |name: &str| reader.layouts.constant(name).ok() == Some(kind);
    let topologies = Topologies { target: reader.target, size };
    let shape = if is("MPI_CART") {
        let places = [known.dims, known.periods, known.coords].map(|slot| record.pointer(slot));
        topologies.cartesian(record.int(known.ndims), places)?
    } else if is("MPI_GRAPH") {
        topologies.graph(record.int(known.nodes), record.pointer(known.index), record.pointer(known.edges))?
    } else if is("MPI_DIST_GRAPH") {
        topologies.distributed(
            record.uint(known.weighted) != 0,
            Side::of(&record.view(), known.indegree, known.sources, known.source_weights),
            Side::of(&record.view(), known.outdegree, known.destinations, known.destination_weights),
        )?
    } else {
        return Ok(None);
    };
    Ok(Some(Topology { shape, reorder: Err(Reason::new("MPICH does not keep whether ranks might be reordered")) }))
}
