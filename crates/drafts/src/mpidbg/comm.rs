//! What a plug-in says of a communicator.

use serde_json::Value;

use super::HandlePluginInfo;
use super::abi::{self, CommInfo, capability};
use super::convert::{NO_MEMBER, can_tell, fortran, freed, is_about, list, name_in, name_of, no_members, whole};
use super::protocol::{Part, RawAnswer};
use model::handle::{Attribute, AttributeValue, Fact, Shape, Topology, WorldRanks};
use model::{Handle, HandleKind, HandleState, Known};
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
    let world_rank: Known<i64> = world_rank.ok_or_else(|| "the plug-in does not give it in the group".into());
    world_rank.tell("world_rank", handle);
    handle.fact("inter", inter);
    group.and_then(somebody).tell("group", handle);
    if inter {
        handle.fact("remote_size", told.num_remote_procs);
        self::group(raw, Part::RemoteProcs).and_then(somebody).tell("remote_group", handle);
        no_members(handle, &["remote_group_handle"]);
    } else {
        // None.
        for name in ["remote_size", "remote_group", "remote_group_handle"] {
            handle.fact(name, Value::Null);
        }
    }
    no_members(handle, &["group_handle", "errhandler", "info"]);
    topology(told, raw).tell("topology", handle);
    attributes(raw).tell("attributes", handle);
    for (name, kind_of, part, flag) in [
        ("requests", HandleKind::Request, Part::Requests, capability::REQUEST_LIST),
        ("windows", HandleKind::Win, Part::Windows, capability::WINDOW_LIST),
        ("files", HandleKind::File, Part::Files, capability::FILE_LIST),
    ] {
        list(kind_of, part, can_tell(info, kind, flag), raw).tell(name, handle);
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
fn group(raw: &RawAnswer, part: Part) -> Known<WorldRanks> {
    Ok(ints(raw, part)?.into_iter().map(|rank| Some(rank).filter(|rank| *rank >= 0)).collect())
}

fn somebody(group: WorldRanks) -> Known<WorldRanks> {
    if group.is_empty() {
        return Err("the plug-in delivers no process, but each communicator has at least one".into());
    }
    Ok(group)
}

fn topology(told: &CommInfo, raw: &RawAnswer) -> Known<Option<Topology>> {
    let kinds = [abi::comm::CARTESIAN, abi::comm::GRAPH, abi::comm::DIST_GRAPH, abi::comm::INTERCOMM];
    if kinds.iter().filter(|kind| told.bitflags & **kind != 0).count() > 1 {
        return Err(Reason::new(format!("the plug-in gives several at once (flags {:#x})", told.bitflags)));
    }
    let has = |flag| told.bitflags & flag != 0;
    let no_member = || Reason::new(NO_MEMBER);
    let shape = if has(abi::comm::CARTESIAN) {
        let periods = raw.parts.get(&Part::CartPeriods).map_or(&[][..], Vec::as_slice);
        Shape::Cartesian {
            ndims: told.cart_num_dims.into(),
            dims: ints(raw, Part::CartDims),
            periods: whole(raw, Part::CartPeriods).map(|()| periods.iter().map(|byte| *byte != 0).collect()),
            coords: Err(no_member()),
        }
    } else if has(abi::comm::GRAPH) {
        let nodes = told.graph_num_nodes.into();
        Shape::Graph { nodes, index: ints(raw, Part::GraphIndex), edges: ints(raw, Part::GraphEdges) }
    } else if has(abi::comm::DIST_GRAPH) {
        Shape::DistGraph {
            sources: Err(no_member()),
            destinations: Err(no_member()),
            source_weights: Err(no_member()),
            destination_weights: Err(no_member()),
        }
    } else {
        return Ok(None);
    };
    Ok(Some(Topology { shape, reorder: Ok(has(abi::comm::TOPO_REORDERED)) }))
}

fn ints(raw: &RawAnswer, part: Part) -> Known<Vec<i64>> {
    whole(raw, part).map(|()| raw.ints(part).into_iter().map(i64::from).collect())
}

fn attributes(raw: &RawAnswer) -> Known<Vec<Attribute>> {
    whole(raw, Part::Attributes)?;
    let one = |attribute: &super::protocol::Attribute| Attribute {
        keyval: attribute.keyval.into(),
        name: attribute.name.clone(),
        value: AttributeValue::Words(attribute.value.clone()),
        set_by: None,
        predefined: Some(attribute.name.is_some()),
    };
    Ok(raw.attributes.iter().map(one).collect())
}
