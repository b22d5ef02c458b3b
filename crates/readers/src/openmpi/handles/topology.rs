//! Topologies of communicators (ompi/mca/topo/topo.h, v4.1.4 and v5.0.7).

use super::HandleReader;
use crate::ReaderError;
use crate::record::{Record, shapes};
use crate::topology::{Side, Topologies};
use model::handle::Topology;
use target::address::TargetAddr;

shapes! {
    /// What all topologies have.
    Module = ["mca_topo_base_module_t"] {
        reorder: "reorder",
        cart: "mtc.cart",
        graph: "mtc.graph",
        dist_graph: "mtc.dist_graph",
    };
    /// A Cartesian topology.
    Cart = ["mca_topo_base_comm_cart_2_2_0_t"] { ndims: "ndims", dims: "dims", periods: "periods", coords: "coords" };
    /// A graph topology.
    Graph = ["mca_topo_base_comm_graph_2_2_0_t"] { nodes: "nnodes", index: "index", edges: "edges" };
    /// A distributed graph topology: this process's part.
    DistGraph = ["mca_topo_base_comm_dist_graph_2_2_0_t"] {
        sources: "in",
        source_weights: "inw",
        destinations: "out",
        destination_weights: "outw",
        indegree: "indegree",
        outdegree: "outdegree",
        weighted: "weighted",
    };
}

/// The topology behind `module`, the `c_topo` of a communicator with those flags and that many processes; none where it has
/// none.
///
/// # Errors
/// Where it cannot be read or cannot be right.
pub fn read(
    reader: &HandleReader<'_>,
    module: TargetAddr,
    flags: u64,
    size: i64,
) -> Result<Option<Topology>, ReaderError> {
    let has = |name: &str| flags & reader.flag(name) != 0;
    let (cart, graph, dist_graph) = (has("OMPI_COMM_CART"), has("OMPI_COMM_GRAPH"), has("OMPI_COMM_DIST_GRAPH"));
    if !(cart || graph || dist_graph) {
        return Ok(None);
    }
    let module_shape = Module::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let module = Record::read(reader.target, module, module_shape.size, &mut buffer)?;
    let topologies = Topologies { target: reader.target, size };
    let shape = if cart {
        let shape = Cart::resolve(reader.layouts)?;
        let record = Record::owned(reader.target, module.pointer(module_shape.cart), shape.size)?;
        let places = [shape.dims, shape.periods, shape.coords].map(|slot| record.pointer(slot));
        topologies.cartesian(record.int(shape.ndims), places)?
    } else if graph {
        let shape = Graph::resolve(reader.layouts)?;
        let record = Record::owned(reader.target, module.pointer(module_shape.graph), shape.size)?;
        topologies.graph(record.int(shape.nodes), record.pointer(shape.index), record.pointer(shape.edges))?
    } else {
        let shape = DistGraph::resolve(reader.layouts)?;
        let record = Record::owned(reader.target, module.pointer(module_shape.dist_graph), shape.size)?;
        topologies.distributed(
            record.uint(shape.weighted) != 0,
            Side::of(&record.view(), shape.indegree, shape.sources, shape.source_weights),
            Side::of(&record.view(), shape.outdegree, shape.destinations, shape.destination_weights),
        )?
    };
    Ok(Some(Topology { shape, reorder: Ok(module.uint(module_shape.reorder) != 0) }))
}
