//! What a plug-in says of a communicator.

use serde_json::{Value, json};

use super::HandlePluginInfo;
use super::abi::{self, CommInfo, capability};
use super::convert::{can_tell, fortran, freed, is_about, list, name_in, name_of, no_members};
use super::parts::{Part, RawAnswer};
use model::{Handle, HandleKind, HandleState};
use target::Reason;

/// Fills in the handle.
pub fn convert(told: &CommInfo, raw: &RawAnswer, info: &HandlePluginInfo, handle: &mut Handle) {
    if !is_about(raw, told.c_handle, handle) {
        return;
    }
    let has = |flag| told.bitflags & flag != 0;
    let kind = HandleKind::Comm;
    if has(abi::comm::COMM_NULL) {
        handle.state = HandleState::Null;
        handle.predefined = Some(true);
        "MPI_COMM_NULL".clone_into(&mut handle.summary);
        handle.name = Some(handle.summary.clone());
        return;
    }
    let predefined = has(abi::comm::PREDEFINED);
    handle.predefined = Some(predefined);
    fortran(told.fortran_handle, raw, handle);
    let named = can_tell(info, kind, capability::STRING_NAMES).then(|| name_in(&told.name)).flatten();
    handle.name = named.or_else(|| name_of(info, kind, raw.handle).map(str::to_owned));

    let inter = has(abi::comm::INTERCOMM);
    // Of an intercommunicator Open MPI's draft of a plug-in gives the size of the remote group (open-mpi/ompi,
    // ompi/debuggers/ompi_mpihandles_dll.c, main), MPI_COMM_SIZE that of the local one.
    let size = if inter { told.num_local_procs } else { told.size };
    let size = Some(size).filter(|size| *size > 0);
    let rank = Some(told.rank).filter(|rank| *rank >= 0 && size.is_none_or(|size| *rank < size));
    match rank {
        Some(rank) => handle.fact("rank", rank),
        None => handle.unknown("rank", format!("the plug-in says {} of {}", told.rank, size.unwrap_or(0))),
    }
    match size {
        Some(size) => handle.fact("size", size),
        None => {
            handle.unknown("size", format!("the plug-in says {}", if inter { told.num_local_procs } else { told.size }))
        }
    }
    let group = group(raw, Part::LocalProcs);
    let world_rank = match (&group, rank) {
        (Ok(group), Some(rank)) => usize::try_from(rank).ok().and_then(|rank| *group.get(rank)?),
        _ => None,
    };
    match world_rank {
        Some(rank) => handle.fact("world_rank", rank),
        None => handle.unknown("world_rank", "the plug-in does not give it in the group"),
    }
    handle.fact("inter", inter);
    put_group("group", group, handle);
    if inter {
        handle.fact("remote_size", told.num_remote_procs);
        put_group("remote_group", self::group(raw, Part::RemoteProcs), handle);
        no_members(handle, &["remote_group_handle"]);
    } else {
        // None.
        for name in ["remote_size", "remote_group", "remote_group_handle"] {
            handle.fact(name, Value::Null);
        }
    }
    no_members(handle, &["group_handle", "errhandler", "info"]);
    topology(told, raw, handle);
    attributes(raw, handle);
    for (name, kind_of, part, flag) in [
        ("requests", HandleKind::Request, Part::Requests, capability::REQUEST_LIST),
        ("windows", HandleKind::Win, Part::Windows, capability::WINDOW_LIST),
        ("files", HandleKind::File, Part::Files, capability::FILE_LIST),
    ] {
        list(name, kind_of, part, can_tell(info, kind, flag), raw, handle);
    }
    let name = match &handle.name {
        Some(name) if predefined => name.clone(),
        Some(name) => format!("\"{name}\""),
        None => "an MPI_Comm without a name".to_owned(),
    };
    let place = match (rank, size) {
        (Some(rank), Some(size)) => format!(", rank {rank} of {size}"),
        (None, Some(size)) => format!(", of {size}"),
        _ => String::new(),
    };
    handle.summary = format!("{name}{place}");
    freed(info, has(abi::comm::FREED_HANDLE), has(abi::comm::FREED_OBJECT), handle);
}

/// World ranks; a negative one is not known.
fn group(raw: &RawAnswer, part: Part) -> Result<Vec<Option<i32>>, Reason> {
    match raw.missing.get(&part) {
        Some(reason) => Err(Reason::of(reason)),
        None => Ok(raw.ints(part).into_iter().map(|rank| Some(rank).filter(|rank| *rank >= 0)).collect()),
    }
}

fn put_group(name: &str, group: Result<Vec<Option<i32>>, Reason>, handle: &mut Handle) {
    match group {
        Ok(group) if !group.is_empty() => handle.fact(name, json!(group)),
        Ok(_) => handle.unknown(name, "the plug-in delivers nobody, but each communicator has a process at least"),
        Err(reason) => handle.unknown(name, reason),
    }
}

fn topology(told: &CommInfo, raw: &RawAnswer, handle: &mut Handle) {
    let kinds = [abi::comm::CARTESIAN, abi::comm::GRAPH, abi::comm::DIST_GRAPH, abi::comm::INTERCOMM];
    if kinds.iter().filter(|kind| told.bitflags & **kind != 0).count() > 1 {
        handle.unknown("topology", format!("the plug-in gives several at once (flags {:#x})", told.bitflags));
        return;
    }
    let has = |flag| told.bitflags & flag != 0;
    let reorder = has(abi::comm::TOPO_REORDERED);
    if has(abi::comm::CARTESIAN) {
        let dims = array(raw, Part::CartDims, "topology.dims", handle);
        let periods = match raw.missing.get(&Part::CartPeriods) {
            Some(reason) => missing("topology.periods", reason, handle),
            None => {
                raw.parts.get(&Part::CartPeriods).map_or(&[][..], Vec::as_slice).iter().map(|byte| *byte != 0).collect()
            }
        };
        missing("topology.coords", "plug-ins cannot tell it: the interface has no member for it", handle);
        handle.fact(
            "topology",
            json!({ "kind": "cartesian", "ndims": told.cart_num_dims, "dims": dims, "periods": periods, "coords": null,
                    "reorder": reorder }),
        );
    } else if has(abi::comm::GRAPH) {
        let index = array(raw, Part::GraphIndex, "topology.index", handle);
        let edges = array(raw, Part::GraphEdges, "topology.edges", handle);
        handle.fact(
            "topology",
            json!({ "kind": "graph", "nodes": told.graph_num_nodes, "index": index, "edges": edges, "reorder": reorder }),
        );
    } else if has(abi::comm::DIST_GRAPH) {
        for name in ["sources", "destinations", "source_weights", "destination_weights"] {
            missing(&format!("topology.{name}"), "plug-ins cannot tell it: the interface has no member for it", handle);
        }
        handle.fact(
            "topology",
            json!({ "kind": "dist_graph", "sources": null, "destinations": null, "source_weights": null,
                    "destination_weights": null, "reorder": reorder }),
        );
    } else {
        handle.fact("topology", Value::Null);
    }
}

fn missing(name: &str, reason: &str, handle: &mut Handle) -> Value {
    super::convert::not_known(handle, name, reason);
    Value::Null
}

fn array(raw: &RawAnswer, part: Part, name: &str, handle: &mut Handle) -> Value {
    match raw.missing.get(&part) {
        Some(reason) => missing(name, reason, handle),
        None => json!(raw.ints(part)),
    }
}

fn attributes(raw: &RawAnswer, handle: &mut Handle) {
    if let Some(reason) = raw.missing.get(&Part::Attributes) {
        handle.unknown("attributes", reason.as_str());
        return;
    }
    let one = |attribute: &super::parts::Attribute| {
        json!({ "keyval": attribute.keyval, "name": attribute.name, "value": attribute.value, "set_by": null,
                "predefined": attribute.name.is_some() })
    };
    handle.fact("attributes", raw.attributes.iter().map(one).collect::<Vec<_>>());
}
