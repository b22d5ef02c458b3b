//! The communicator objects behind the plug-in's identifiers, which are their addresses.

use super::block::{Block, optional};
use crate::mqs::dialect::Evidence;
use layouts::{Field, Layouts};
use model::QueueReport;
use target::Target;

/// The names of the type, the newest first (`MPID_Comm` up to 3.2).
const TYPES: [&str; 2] = ["MPIR_Comm", "MPID_Comm"];

/// The bits of a context id that mark what the library derives from a communicator for itself: those of a node or between
/// nodes, and the local side of an intercommunicator (src/include/mpir_contextid.h, v4.0.2: SUBCOMM and IS_LOCALCOMM;
/// the lowest bit tells collectives from the rest).
const DERIVED: u64 = 0b1110;

/// `MPIR_COMM_KIND__INTERCOMM` (src/include/mpir_comm.h, 3.0 to 5.0).
const INTERCOMMUNICATOR: i64 = 1;

/// What a communicator object says.
pub struct Object {
    /// Where it lies.
    pub address: u64,
    /// The C handle.
    pub handle: u64,
    /// What its messages carry.
    pub send_context: u64,
    /// What messages to it carry; differs on intercommunicators.
    pub receive_context: u64,
    /// Number of processes in the local group; the plug-in gives that of the remote one.
    pub local_size: Option<i64>,
    /// Number of its processes on this node; `None`: not known, or an intercommunicator.
    on_node: Option<i64>,
    is_inter: bool,
}

impl Object {
    /// Whether all of its processes are on this node.
    pub fn is_on_one_node(&self) -> bool {
        self.on_node.is_some() && self.on_node == self.local_size
    }

    /// Whether this process is the only one.
    pub fn is_alone(&self) -> bool {
        self.local_size == Some(1) && !self.is_inter
    }

    /// Whether the library made it for its own use.
    fn is_internal(&self) -> bool {
        self.receive_context & DERIVED != 0
    }
}

struct Fields {
    size: u64,
    handle: Field,
    send_context: Field,
    receive_context: Field,
    local_size: Option<Field>,
    node_comm: Option<Field>,
    num_local: Option<Field>,
    kind: Option<Field>,
}

impl Fields {
    fn resolve(layouts: &Layouts) -> Option<Self> {
        let of = |name: &str| {
            Some(Self {
                size: layouts.size_of(name).ok()?,
                handle: layouts.field(name, "handle").ok()?,
                send_context: layouts.field(name, "context_id").ok()?,
                receive_context: layouts.field(name, "recvcontext_id").ok()?,
                local_size: optional(layouts, name, &["local_size"]),
                node_comm: optional(layouts, name, &["node_comm"]),
                num_local: optional(layouts, name, &["num_local"]),
                kind: optional(layouts, name, &["comm_kind"]),
            })
        };
        TYPES.iter().find_map(|name| of(name))
    }

    fn read(&self, target: &dyn Target, address: u64) -> Option<Object> {
        let block = Block::read(target, address, self.size).ok()?;
        let int = |field: &Option<Field>| field.as_ref().and_then(|field| block.int(field));
        let (send_context, receive_context) = (block.uint(&self.send_context)?, block.uint(&self.receive_context)?);
        Some(Object {
            address,
            handle: block.uint(&self.handle)?,
            send_context,
            receive_context,
            local_size: int(&self.local_size),
            on_node: int(&self.num_local).or_else(|| self.size_of_node(target, &block)),
            // Each side of one chooses the context id of what it receives; they may be equal by chance.
            is_inter: send_context != receive_context || int(&self.kind) == Some(INTERCOMMUNICATOR),
        })
    }

    /// Up to 4.x there is a communicator of the processes on this node, where there is more than one.
    fn size_of_node(&self, target: &dyn Target, block: &Block) -> Option<i64> {
        let node = block.uint(self.node_comm.as_ref()?).filter(|node| *node != 0)?;
        Block::read(target, node, self.size).ok()?.int(self.local_size.as_ref()?)
    }
}

/// The objects of the report's communicators, in its order; `None` for one that cannot be read.
pub fn read_all(report: &QueueReport, evidence: &Evidence<'_>) -> Vec<Option<Object>> {
    let fields = Fields::resolve(evidence.layouts);
    let read = |address: u64| fields.as_ref()?.read(evidence.target, address);
    report.communicators.iter().map(|communicator| read(communicator.unique_id)).collect()
}

/// Leaves out the communicators that the library made for its own use: no program can name them. What is under way on them
/// belongs to collectives.
pub fn leave_out_internal(report: &mut QueueReport, objects: &[Option<Object>]) {
    let mut objects = objects.iter();
    let mut left_out = 0_usize;
    report.communicators.retain_mut(|communicator| {
        let internal = objects.next().and_then(Option::as_ref).is_some_and(Object::is_internal);
        if internal {
            left_out += communicator.queues_mut().map(|queue| queue.operations.len()).iter().sum::<usize>();
        }
        !internal
    });
    if left_out > 0 {
        report.notes.push(format!(
            "{left_out} operations are not listed that MPICH posted for collectives on communicators of its own"
        ));
    }
}
