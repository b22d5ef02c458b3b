//! What the components of one-sided communication keep of the epochs that are open on a window.
//!
//! Their structures have no class that states their size, so a component is known by the functions that it put into the
//! window, and its structure is believed only where it points back to the window.

use super::{HandleReader, locks};
use crate::ReaderError;
use crate::openmpi::handles::object::{self, Found};
use crate::record::{Slot, shapes};
use model::handle::{Epoch, Lock, LockType, Open};
use model::{HandleKind, Known};
use target::Reason;
use target::address::TargetAddr;

/// Components, with the function that each puts into its windows (ompi/mca/osc, v4.1.4 and v5.0.7).
const COMPONENTS: &[(&str, &str)] = &[
    ("rdma", "ompi_osc_rdma_free"),
    ("sm", "ompi_osc_sm_free"),
    ("pt2pt", "ompi_osc_pt2pt_free"),
    ("ucx", "ompi_osc_ucx_free"),
    ("portals4", "ompi_osc_portals4_free"),
];

shapes! {
    /// A component's part of a window.
    Module = ["ompi_osc_base_module_t"] { free: "osc_free" };
}

/// A window as far as its component must agree with it.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// The object.
    pub addr: TargetAddr,
    /// The component's part.
    pub module: TargetAddr,
    /// How the window was made.
    pub flavour: u64,
    /// The number of its processes.
    pub size: u64,
}

/// What is open on a window.
#[derive(Debug, Clone)]
pub struct Epochs {
    /// The communicator that the library made for the window.
    pub comm: TargetAddr,
    /// Whether the application promised to use no locks, where the component keeps it.
    pub no_locks: Option<bool>,
    /// Whether MPI_Win_lock_all is open.
    pub lock_all: Known<bool>,
    /// The open locks.
    pub locks: Vec<Lock>,
    /// The group of an open MPI_Win_start; null: none is open.
    pub started: Known<TargetAddr>,
    /// The group of an open MPI_Win_post; null: none is open.
    pub posted: TargetAddr,
    /// Whether MPI_Win_fence has opened an epoch.
    pub fence: Known<bool>,
}

impl Epochs {
    /// Which epochs are open.
    pub fn open(&self) -> Known<Open> {
        let lock_all = self.lock_all.as_ref().map_err(Clone::clone)?;
        let started = self.started.as_ref().map_err(Clone::clone)?;
        let open = [
            (!self.locks.is_empty(), Epoch::Lock),
            (*lock_all, Epoch::LockAll),
            (!started.is_null(), Epoch::Start),
            (!self.posted.is_null(), Epoch::Post),
        ];
        let open: Vec<Epoch> = open.into_iter().filter_map(|(open, epoch)| open.then_some(epoch)).collect();
        if !open.is_empty() {
            return Ok(Open(open));
        }
        // Any other synchronisation ends the epoch that a fence may have opened.
        Ok(Open(if self.fence.clone()? { vec![Epoch::Fence] } else { Vec::new() }))
    }
}

/// The component of a window, by the functions that it put there; `None`: none that is known here.
///
/// # Errors
/// Where it cannot be read.
pub fn component(reader: &HandleReader<'_>, module: TargetAddr) -> Result<Option<&'static str>, ReaderError> {
    let free = Module::resolve(reader.layouts)?.free;
    let free = free.read_pointer(reader.target, module)?;
    for (name, symbol) in COMPONENTS {
        if reader.symbol(symbol)? == Some(free) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// The epochs of a window whose component is `component`.
///
/// # Errors
/// Where the component keeps them in a form that is not read here, or what it keeps cannot be read or does not agree with
/// the window.
pub fn read(reader: &HandleReader<'_>, component: &str, window: Window) -> Result<Epochs, ReaderError> {
    let epochs = match component {
        "rdma" => messages(reader, window, &RDMA)?,
        "pt2pt" => messages(reader, window, &PT2PT)?,
        "sm" => shared_memory(reader, window)?,
        other => {
            return Err(ReaderError::NotRead(format!("{other} keeps it in a form of its own")));
        }
    };
    // The last check, because it costs most.
    let comm = super::kinds::of(HandleKind::Comm).map(|kind| object::find(reader, kind, epochs.comm)).transpose()?;
    if comm != Some(Found::Live) {
        return Err(disagrees(component, window, "its communicator is none"));
    }
    let shape = &reader.shapes.communicator;
    let group = shape.local_group.read_pointer(reader.target, epochs.comm)?;
    let count = reader.shapes.group.count;
    let size = count.read_uint(reader.target, group)?;
    if size != window.size {
        return Err(disagrees(component, window, "its communicator has another size"));
    }
    Ok(epochs)
}

fn disagrees(component: &str, window: Window, what: &str) -> ReaderError {
    let module = window.module;
    ReaderError::NotRead(format!("what {component} keeps at {module} does not fit the window: {what}"))
}

/// Reads fields of one structure one by one: its end may lie elsewhere in other releases.
pub struct Fields<'a> {
    /// Who reads.
    pub reader: &'a HandleReader<'a>,
    /// The structure's type.
    pub type_name: &'static str,
    /// Where it lies.
    pub at: TargetAddr,
}

impl Fields<'_> {
    /// Where a field lies.
    ///
    /// # Errors
    /// Where the structure is not known to have it.
    pub fn place(&self, field: &str) -> Result<TargetAddr, ReaderError> {
        let slot = Slot::resolve(self.reader.layouts, self.type_name, field)?;
        Ok(slot.address_in(self.at))
    }

    /// An unsigned integer.
    ///
    /// # Errors
    /// As [`Fields::place`], and where it cannot be read.
    pub fn uint(&self, field: &str) -> Result<u64, ReaderError> {
        let slot = Slot::resolve(self.reader.layouts, self.type_name, field)?;
        Ok(slot.read_uint(self.reader.target, self.at)?)
    }

    /// An integer of four bytes or less with a sign.
    ///
    /// # Errors
    /// As [`Fields::uint`].
    pub fn int(&self, field: &str) -> Result<i64, ReaderError> {
        Ok(i64::from(self.uint(field)? as u32 as i32))
    }

    /// A pointer.
    ///
    /// # Errors
    /// As [`Fields::uint`].
    pub fn pointer(&self, field: &str) -> Result<TargetAddr, ReaderError> {
        Ok(TargetAddr::new(self.uint(field)?))
    }
}

/// What differs between the two components that synchronise alike.
pub struct Names {
    /// The component.
    pub component: &'static str,
    /// Its part of a window.
    pub module: &'static str,
    /// What it keeps of one epoch.
    pub sync: &'static str,
    /// The class of that.
    class: &'static str,
    /// Kinds of epochs.
    none: &'static str,
    pub lock: &'static str,
    fence: &'static str,
    start: &'static str,
}

/// ompi/mca/osc/rdma, v4.1.4 and v5.0.7.
const RDMA: Names = Names {
    component: "rdma",
    module: "ompi_osc_rdma_module_t",
    sync: "ompi_osc_rdma_sync_t",
    class: "ompi_osc_rdma_sync_t_class",
    none: "OMPI_OSC_RDMA_SYNC_TYPE_NONE",
    lock: "OMPI_OSC_RDMA_SYNC_TYPE_LOCK",
    fence: "OMPI_OSC_RDMA_SYNC_TYPE_FENCE",
    start: "OMPI_OSC_RDMA_SYNC_TYPE_PSCW",
};

/// ompi/mca/osc/pt2pt, v4.1.4.
const PT2PT: Names = Names {
    component: "pt2pt",
    module: "ompi_osc_pt2pt_module_t",
    sync: "ompi_osc_pt2pt_sync_t",
    class: "ompi_osc_pt2pt_sync_t_class",
    none: "OMPI_OSC_PT2PT_SYNC_TYPE_NONE",
    lock: "OMPI_OSC_PT2PT_SYNC_TYPE_LOCK",
    fence: "OMPI_OSC_PT2PT_SYNC_TYPE_FENCE",
    start: "OMPI_OSC_PT2PT_SYNC_TYPE_PSCW",
};

/// One object tells of the epoch towards all processes, one more for each lock (osc_{rdma,pt2pt}_active_target.c and
/// _passive_target.c).
fn messages(reader: &HandleReader<'_>, window: Window, names: &Names) -> Result<Epochs, ReaderError> {
    let module = Fields { reader, type_name: names.module, at: window.module };
    let class = module.place("all_sync")?.wrapping_add(reader.shapes.object.class.offset as u64);
    if reader.symbol(names.class)? != Some(reader.target.read_pointer(class)?) {
        return Err(disagrees(names.component, window, "no object that tells of epochs stands in it"));
    }
    // pt2pt keeps neither (osc_pt2pt_component.c, v4.1.4).
    if reader.layouts.has_field(names.module, "win")
        && (module.pointer("win")? != window.addr || module.uint("flavor")? != window.flavour)
    {
        return Err(disagrees(names.component, window, "it is of another window"));
    }
    let kind = module.int("all_sync.type")?;
    let is = |name: &str| reader.layouts.constant(name).map(|value| value == kind);
    let active = module.uint("all_sync.epoch_active")? != 0;
    let (start, fence, lock) = (is(names.start)?, is(names.fence)?, is(names.lock)?);
    if !(start || fence || lock || is(names.none)?) {
        return Err(disagrees(names.component, window, "its epoch is of a kind that does not exist"));
    }
    let started = match (start, active) {
        (true, true) => Ok(module.pointer("all_sync.sync.pscw.group")?),
        // With an empty group rdma neither marks the epoch as active nor ends it (osc_rdma_active_target.c, v5.0.7).
        (true, false) => Err(Reason::new("an MPI_Win_start of no process: whether it has been completed is not kept")),
        (false, _) => Ok(TargetAddr::NULL),
    };
    Ok(Epochs {
        comm: module.pointer("comm")?,
        no_locks: Some(module.uint("no_locks")? != 0),
        lock_all: Ok(lock),
        locks: locks::of_messages(&module, window, names)?,
        started,
        posted: module.pointer("pw_group")?,
        fence: Ok(fence),
    })
}

/// Groups of open starts and posts, and one word for each rank that is locked (ompi/mca/osc/sm, v4.1.4 and v5.0.7).
fn shared_memory(reader: &HandleReader<'_>, window: Window) -> Result<Epochs, ReaderError> {
    let module = Fields { reader, type_name: "ompi_osc_sm_module_t", at: window.module };
    if module.uint("flavor")? != window.flavour {
        return Err(disagrees("sm", window, "it is of another flavour"));
    }
    let locks = locks::of_shared_memory(&module, window)?;
    let every = locks.len() as u64 == window.size && locks.iter().all(|lock| lock.sort != Some(LockType::Exclusive));
    let lock_all = if every && !locks.is_empty() {
        Err(Reason::new("sm keeps an MPI_Win_lock_all as a shared lock on each rank: the two cannot be distinguished"))
    } else {
        Ok(false)
    };
    Ok(Epochs {
        comm: module.pointer("comm")?,
        no_locks: None,
        lock_all,
        locks,
        started: Ok(module.pointer("start_group")?),
        posted: module.pointer("post_group")?,
        fence: Err(Reason::new("sm does not note an MPI_Win_fence; no other epoch is open")),
    })
}
