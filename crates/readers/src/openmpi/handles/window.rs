//! Windows (`ompi_win_t`, ompi/win/win.h, v4.1.4 and v5.0.7).

use serde_json::{Value, json};

use super::epochs::{self, Epochs, Fact, Window};
use super::{Depth, HandleReader, attributes, hints};
use crate::ReaderError;
use crate::record::{Record, Slot, shape};
use model::{Handle, HandleKind};
use target::address::TargetAddr;
use target::{Reason, printable};

shape!(
    /// Windows.
    Win = ["ompi_win_t"] {
        name: "w_name",
        group: "w_group",
        flags: "w_flags",
        flavour: "w_flavor",
        attributes: "w_keyhash",
        errhandler: "error_handler",
        module: "w_osc_module",
        info: "super.s_info",
    }
);

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// How windows are made.
const FLAVOURS: &[&str] =
    &["MPI_WIN_FLAVOR_CREATE", "MPI_WIN_FLAVOR_ALLOCATE", "MPI_WIN_FLAVOR_DYNAMIC", "MPI_WIN_FLAVOR_SHARED"];

/// Memory models.
const MODELS: &[&str] = &["MPI_WIN_UNIFIED", "MPI_WIN_SEPARATE"];

/// What only the component tells.
const OF_COMPONENT: &[&str] = &["communicator", "lock_all", "locks", "started", "posted", "epoch"];

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = Win::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, addr, shape.size, &mut buffer)?;
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let group = record.pointer(shape.group);
    let (rank, size) = rank_and_size(reader, group)?;
    let place = format!("rank {rank} of {size}");
    handle.summary = if name.is_empty() { place } else { format!("\"{name}\", {place}") };
    handle.name = Some(name).filter(|name| !name.is_empty());
    handle.freed = Some(record.uint(shape.flags) & reader.flag("OMPI_WIN_FREED") != 0);
    let flavour = record.uint(shape.flavour);
    let window = Window { addr, module: record.pointer(shape.module), flavour, size };
    let component = epochs::component(reader, window.module);
    let epochs = match &component {
        Ok(Some(name)) => epochs::read(reader, name, window).map_err(Reason::of),
        Ok(None) => Err(Reason::new("the component that moves the window's data is not known")),
        Err(error) => Err(Reason::of(error)),
    };
    let open = epochs.as_ref().ok().and_then(|epochs| epochs.open().ok());
    if let Some(open) = open.filter(|open| !open.is_empty()) {
        handle.summary = format!("{}, epoch: {}", handle.summary, crate::epochs::word(&open));
    }
    if depth == Depth::Short {
        return Ok(());
    }
    match &epochs {
        Ok(epochs) => handle.fact("communicator", reader.reference(HandleKind::Comm, epochs.comm)),
        Err(reason) => handle.unknown("communicator", reason),
    }
    handle.fact("group", reader.reference(HandleKind::Group, group));
    handle.fact("rank", rank);
    handle.fact("size", size);
    memory(reader, record.pointer(shape.attributes), handle);
    let name = named(reader, FLAVOURS, flavour as i64);
    handle.fact("flavour", name.map_or_else(|| json!(flavour), Value::from));
    match &component {
        Ok(Some(name)) => handle.fact("component", *name),
        Ok(None) => handle.unknown("component", "its functions are of no component that is known here"),
        Err(error) => handle.unknown("component", error.to_string()),
    }
    hints::add(reader, record.pointer(shape.info), handle);
    let kept = epochs.as_ref().ok().and_then(|epochs| epochs.no_locks);
    let flag = record.uint(shape.flags) & reader.flag("OMPI_WIN_NO_LOCKS") != 0;
    handle.fact("no_locks", kept.unwrap_or(flag));
    match epochs {
        Ok(epochs) => synchronisation(reader, &epochs, handle),
        Err(reason) => {
            for fact in OF_COMPONENT {
                handle.unknown(fact, reason.clone());
            }
        }
    }
    handle.fact("errhandler", reader.reference(HandleKind::Errhandler, record.pointer(shape.errhandler)));
    Ok(())
}

/// The window's own communicator, which its component has.
///
/// # Errors
/// Where it cannot be read, or the component is not one of those that are known here.
pub fn communicator(reader: &HandleReader<'_>, addr: TargetAddr) -> Result<TargetAddr, ReaderError> {
    let shape = Win::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, addr, shape.size, &mut buffer)?;
    let (_, size) = rank_and_size(reader, record.pointer(shape.group))?;
    let window = Window { addr, module: record.pointer(shape.module), flavour: record.uint(shape.flavour), size };
    let name = epochs::component(reader, window.module)?;
    let name =
        name.ok_or_else(|| ReaderError::Damaged("its functions are of no component that is known".to_owned()))?;
    Ok(epochs::read(reader, name, window)?.comm)
}

fn rank_and_size(reader: &HandleReader<'_>, group: TargetAddr) -> Result<(i64, u64), ReaderError> {
    let count = reader.shapes.group.count;
    let size = reader.target.read_uint(group.wrapping_add(count.offset as u64), count.size as u64)?;
    let rank = Slot::resolve(reader.layouts, "ompi_group_t", "grp_my_rank")?;
    let rank = reader.target.read_uint(group.wrapping_add(rank.offset as u64), rank.size as u64)?;
    let rank = i64::from(rank as u32 as i32);
    // Whoever has a window is a member of its group.
    if rank < 0 || rank as u64 >= size {
        return Err(ReaderError::Damaged(format!("the window's group at {group} has {size} members, this is {rank}")));
    }
    Ok((rank, size))
}

/// Adds the facts about the memory and the attributes, which hold them (`config_window`, ompi/win/win.c, v4.1.4 and v5.0.7).
fn memory(reader: &HandleReader<'_>, table: TargetAddr, handle: &mut Handle) {
    attributes::add(reader, table, handle);
    let reason = handle.unknown.get("attributes").cloned();
    let found = handle.facts.get("attributes").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut set = |fact: &str, keyval: &str, convert: &dyn Fn(Value) -> Option<Value>| {
        let attribute = found.iter().find(|attribute| attribute["name"] == keyval);
        let value = attribute.and_then(|attribute| convert(attribute["value"].clone()));
        match (value, &reason) {
            (Some(value), _) => handle.fact(fact, value),
            (None, Some(reason)) => handle.unknown(fact, reason.as_str().unwrap_or_default()),
            (None, None) => handle.unknown(fact, format!("the window has no attribute {keyval} that makes sense")),
        }
    };
    set("base", "MPI_WIN_BASE", &|value| value.is_string().then_some(value));
    set("bytes", "MPI_WIN_SIZE", &|value| value.is_number().then_some(value));
    set("displacement_unit", "MPI_WIN_DISP_UNIT", &|value| value.is_number().then_some(value));
    set("model", "MPI_WIN_MODEL", &|value| named(reader, MODELS, value.as_i64()?).map(Value::from));
}

fn named(reader: &HandleReader<'_>, names: &[&'static str], value: i64) -> Option<&'static str> {
    names.iter().copied().find(|name| reader.layouts.constant(name).is_ok_and(|constant| constant == value))
}

fn synchronisation(reader: &HandleReader<'_>, epochs: &Epochs, handle: &mut Handle) {
    set(handle, "lock_all", epochs.lock_all.clone());
    let locks = epochs.locks.iter().map(|(rank, kind)| json!({ "rank": rank, "type": kind }));
    handle.fact("locks", locks.collect::<Vec<_>>());
    for (fact, group) in [("started", epochs.started.clone()), ("posted", Ok(epochs.posted))] {
        match group.and_then(|group| world_ranks(reader, group, &mut handle.problems)) {
            Ok(ranks) => handle.fact(fact, ranks),
            Err(reason) => handle.unknown(fact, reason),
        }
    }
    set(handle, "epoch", epochs.open().map(|open| crate::epochs::word(&open)));
}

fn set<T: Into<Value>>(handle: &mut Handle, name: &str, fact: Fact<T>) {
    match fact {
        Ok(value) => handle.fact(name, value),
        Err(reason) => handle.unknown(name, reason),
    }
}

/// The world ranks of a group; null for a null pointer.
fn world_ranks(reader: &HandleReader<'_>, group: TargetAddr, problems: &mut Vec<String>) -> Fact<Value> {
    if group.is_null() { Ok(Value::Null) } else { reader.world_ranks(group, problems).map(|ranks| json!(ranks)) }
}
