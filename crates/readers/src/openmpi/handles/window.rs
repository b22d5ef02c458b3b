//! Windows (`ompi_win_t`, ompi/win/win.h, v4.1.4 and v5.0.7).

use super::epochs::{self, Epochs, Window};
use super::{Depth, HandleReader, attributes, hints};
use crate::ReaderError;
use crate::record::{Record, Slot, shapes};
use model::handle::{self, Attribute, AttributeValue, Constant, WindowDetails};
use model::{Handle, HandleKind, Known};
use target::address::TargetAddr;
use target::{Reason, printable};

shapes! {
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
    };
}

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = Win::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, addr, shape.size)?;
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let group = record.pointer(shape.group);
    let (rank, size) = rank_and_size(reader, group)?;
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
    handle::Window { rank, size: size as i64 }.describe(name, open.as_ref(), handle);
    if depth == Depth::Short {
        return Ok(());
    }
    let problems = &mut handle.problems;
    let attributes = attributes::read(reader, record.pointer(shape.attributes), problems);
    let info = hints::read(reader, record.pointer(shape.info), problems);
    let number = |value: &AttributeValue| match value {
        AttributeValue::Number(number) => Some(*number),
        _ => None,
    };
    let address = |value: &AttributeValue| match value {
        AttributeValue::Pointer(address) => Some(address.clone()),
        _ => None,
    };
    let constant = |name: &str| reader.layouts.constant(name).ok();
    let flag = record.uint(shape.flags) & reader.flag("OMPI_WIN_NO_LOCKS") != 0;
    let kept = epochs.as_ref().map_err(Clone::clone);
    let mut ranks = |group: Known<TargetAddr>| reader.world_ranks_of(group?, problems);
    let details = WindowDetails {
        communicator: kept.clone().map(|epochs| reader.reference(HandleKind::Comm, epochs.comm)),
        group: Ok(reader.reference(HandleKind::Group, group)),
        base: memory(&attributes, "MPI_WIN_BASE", address),
        bytes: memory(&attributes, "MPI_WIN_SIZE", number),
        displacement_unit: memory(&attributes, "MPI_WIN_DISP_UNIT", number),
        flavour: Constant::flavour(flavour as i64, constant),
        model: memory(&attributes, "MPI_WIN_MODEL", |value| match Constant::model(number(value)?, constant) {
            Constant::Number(_) => None,
            model => Some(model),
        }),
        component: match component {
            Ok(Some(name)) => Ok(name.to_owned()),
            Ok(None) => Err("its functions are of no component that is known here".into()),
            Err(error) => Err(Reason::of(error)),
        },
        no_locks: Ok(kept.as_ref().ok().and_then(|epochs| epochs.no_locks).unwrap_or(flag)),
        lock_all: kept.clone().and_then(|epochs| epochs.lock_all.clone()),
        locks: kept.clone().map(|epochs| epochs.locks.clone()),
        started: ranks(kept.clone().and_then(|epochs| epochs.started.clone())),
        posted: ranks(kept.clone().map(|epochs| epochs.posted)),
        epoch: kept.and_then(Epochs::open),
        errhandler: reader.reference(HandleKind::Errhandler, record.pointer(shape.errhandler)),
        info,
        attributes,
    };
    details.describe(handle);
    Ok(())
}

/// The window's own communicator, which its component has.
///
/// # Errors
/// Where it cannot be read, or the component is not one of those that are known here.
pub fn communicator(reader: &HandleReader<'_>, addr: TargetAddr) -> Result<TargetAddr, ReaderError> {
    let shape = Win::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, addr, shape.size)?;
    let (_, size) = rank_and_size(reader, record.pointer(shape.group))?;
    let window = Window { addr, module: record.pointer(shape.module), flavour: record.uint(shape.flavour), size };
    let name = epochs::component(reader, window.module)?;
    let name =
        name.ok_or_else(|| ReaderError::Damaged("its functions are of no component that is known".to_owned()))?;
    Ok(epochs::read(reader, name, window)?.comm)
}

fn rank_and_size(reader: &HandleReader<'_>, group: TargetAddr) -> Result<(i64, u64), ReaderError> {
    let count = reader.shapes.group.count;
    let size = count.read_uint(reader.target, group)?;
    let rank = Slot::resolve(reader.layouts, "ompi_group_t", "grp_my_rank")?;
    let rank = rank.read_uint(reader.target, group)?;
    let rank = i64::from(rank as u32 as i32);
    // Whoever has a window is a member of its group.
    if rank < 0 || rank as u64 >= size {
        return Err(ReaderError::Damaged(format!("the window's group at {group} has {size} members, this is {rank}")));
    }
    Ok((rank, size))
}

/// What an attribute says of the memory (`config_window`, ompi/win/win.c, v4.1.4 and v5.0.7).
fn memory<T>(
    attributes: &Known<Vec<Attribute>>,
    keyval: &str,
    fact: impl Fn(&AttributeValue) -> Option<T>,
) -> Known<T> {
    let attributes = attributes.as_ref().map_err(Clone::clone)?;
    let found = attributes.iter().find(|attribute| attribute.name.as_deref() == Some(keyval));
    let nonsense = || format!("the window has no attribute {keyval} that makes sense").into();
    found.and_then(|attribute| fact(&attribute.value)).ok_or_else(nonsense)
}
