//! The structures of several releases of UCX, chosen by what stands in the process.
//!
//! UCX is no part of an MPI: a profile of its own says where its fields lie, and is used only where the process agrees.

use std::ops::Deref;
use std::sync::OnceLock;

use crate::record::{Record, composite, shapes};
use layouts::{LayoutError, Layouts, Profile, Wanted, shipped_for};
use target::address::TargetAddr;
use target::{Target, TargetAbi};

/// What the profiles of UCX are of.
const IMPLEMENTATION: &str = "UCX";

shapes! {
    /// A request (openucx/ucx, src/ucp/core/ucp_request.h, v1.13 to v1.20). Who uses UCX has the address behind it.
    RequestShape = ["ucp_request"] {
        flags: "flags",
        id: "id",
        user_data: "user_data",
        endpoint: "send.ep",
        send_buffer: "send.buffer",
        send_datatype: "send.datatype",
        send_length: "send.length",
        send_class: "send.state.dt_iter.dt_class",
        send_iterated_length: "send.state.dt_iter.length",
        send_iterated_buffer: "send.state.dt_iter.type.contig.buffer",
        send_tag: "send.msg_proto.tag",
        worker: "recv.worker",
        tag: "recv.tag.tag",
        mask: "recv.tag.tag_mask",
        sequence: "recv.tag.sn",
        sender_tag: "recv.tag.info.sender_tag",
        sender_length: "recv.tag.info.length",
        link: "recv.queue",
    } optional {
        buffer: "recv.buffer",
        datatype: "recv.datatype",
        length: "recv.length",
        class: "recv.dt_iter.dt_class",
        iterated_length: "recv.dt_iter.length",
        iterated_buffer: "recv.dt_iter.type.contig.buffer",
        packed_state: "recv.state.dt.generic.state",
        iterated_packed: "recv.dt_iter.type.generic.dt_gen",
        iterated_state: "recv.dt_iter.type.generic.state",
        iterated_packed_buffer: "recv.dt_iter.type.generic.buffer",
        iterated_count: "recv.dt_iter.type.generic.count",
        send_packed_state: "send.state.dt.dt.generic.state",
        send_iterated_packed: "send.state.dt_iter.type.generic.dt_gen",
        send_iterated_state: "send.state.dt_iter.type.generic.state",
        send_iterated_packed_buffer: "send.state.dt_iter.type.generic.buffer",
        send_iterated_count: "send.state.dt_iter.type.generic.count",
        protocol: "send.proto_config",
    };
    /// A worker: the queues of messages and receives (src/ucp/core/ucp_worker.h, src/ucp/tag/tag_match.h).
    WorkerShape = ["ucp_worker"] {
        context: "context",
        wildcard: "tm.expected.wildcard",
        expected: "tm.expected.hash",
        unexpected: "tm.unexpected.all",
        unexpected_by_tag: "tm.unexpected.hash",
    } optional {
        requests: "req_mp",
        pool: "req_mp.data",
        offloading: "tm.offload.iface",
        interfaces: "ifaces",
        interface_count: "num_ifaces",
    };
    /// A queue of receives in a worker.
    ReceivesShape = ["ucp_request_queue_t"] { queue: "queue" };
    /// A message that has arrived; its header follows.
    ArrivedShape = ["ucp_recv_desc"] {
        links: "tag_list",
        length: "length",
        header_length: "payload_offset",
        flags: "flags",
    };
    /// The header of the first part of a message that is sent in parts (src/ucp/tag/eager.h).
    FirstShape = ["ucp_eager_first_hdr_t"] { total: "total_len" };
    /// The announcement of a message (src/ucp/rndv/rndv.h).
    AnnouncedShape = ["ucp_rndv_rts_hdr_t"] { total: "size", sender: "sreq", senders: "sreq.req_id" } optional { opcode: "opcode" };
    /// A connection to another process (src/ucp/core/ucp_ep.h).
    EndpointShape = ["ucp_ep"] { worker: "worker" };
    /// A pool of objects (src/ucs/datastruct/mpool.h).
    PoolShape = ["ucs_mpool_data"] { element: "elem_size", alignment: "alignment", chunks: "chunks" };
    /// A piece of a pool.
    ChunkShape = ["ucs_mpool_chunk"] { next: "next", elements: "elems", count: "num_elems" };
    /// A datatype that whoever uses UCX packs himself (src/ucp/dt/dt_generic.h).
    PackedShape = ["ucp_dt_generic"] { context: "context" };
    /// How a message is sent, by newer releases (src/ucp/proto/proto_select.h).
    ProtocolShape = ["ucp_proto_config_t"] { operation: "select_param.op_id_flags" };
}

/// What a profile of UCX holds (openucx/ucx, releases 1.13 to 1.20).
pub static UCX: Wanted = Wanted {
    name: IMPLEMENTATION,
    probed: "ucp_request",
    structures: &[&[STRUCTURES]],
    sized: &[],
    // Those that are needed are the same in all these releases.
    constants: &[],
    pooled: &[],
};

composite! {
    /// The structures of one release and way of building it.
    Structures {
        request: RequestShape,
        worker: WorkerShape,
        receives: ReceivesShape,
        arrived: ArrivedShape,
        first: FirstShape,
        announced: AnnouncedShape,
        endpoint: EndpointShape,
        /// What profiles that were made earlier lack.
        pool: Option<(PoolShape, ChunkShape)>,
        packed: Option<PackedShape>,
        protocol: Option<ProtocolShape>,
    }
}

/// The structures that a profile has.
#[derive(Debug, Clone)]
pub struct UcxLayout {
    /// The profile's name.
    pub name: String,
    shapes: Structures,
}

impl Deref for UcxLayout {
    type Target = Structures;

    fn deref(&self) -> &Structures {
        &self.shapes
    }
}

impl UcxLayout {
    /// Resolves the structures of a profile.
    ///
    /// # Errors
    /// Names the first type or field that the profile lacks.
    pub fn resolve(profile: Profile) -> Result<Self, LayoutError> {
        let name = profile.name.clone();
        Ok(Self { name, shapes: Structures::resolve(&Layouts::new(vec![Box::new(profile)]))? })
    }

    /// Those that this program carries for a kind of machine.
    pub fn shipped(abi: TargetAbi) -> Vec<Self> {
        // Every rank is asked by all of them: their text is taken apart once.
        static ALL: OnceLock<Vec<(TargetAbi, UcxLayout)>> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let profiles = shipped_for(IMPLEMENTATION).iter().filter_map(|shipped| shipped.profile().ok());
            profiles.filter_map(|profile| Some((profile.target, Self::resolve(profile).ok()?))).collect()
        });
        all.iter().filter(|(target, _)| *target == abi).map(|(_, layout)| layout.clone()).collect()
    }

    /// Whether a worker of this layout stands at an address: it belongs to `context`, and its lists are lists.
    pub fn is_worker(&self, target: &dyn Target, at: TargetAddr, context: TargetAddr) -> bool {
        // Only the part up to the queues is needed: a worker has some ten thousand bytes more.
        let size = self.worker.unexpected_by_tag.offset + self.worker.unexpected_by_tag.size;
        let Ok(record) = Record::owned(target, at, size) else { return false };
        let head = record.address_of(self.worker.unexpected);
        record.pointer(self.worker.context) == context
            && is_list(target, head)
            && is_list(target, record.pointer(self.worker.unexpected_by_tag))
            && !record.pointer(self.worker.expected).is_null()
    }
}

/// Whether a `ucs_list_link_t` stands at an address: the element before it, which it points to first, points back to it as the
/// one after.
fn is_list(target: &dyn Target, head: TargetAddr) -> bool {
    let width = target.abi().pointer_width.bytes();
    let pointer = |at: TargetAddr| target.read_pointer(at).ok().filter(|to| !to.is_null());
    !head.is_null() && pointer(head).and_then(|before| pointer(before.wrapping_add(width))) == Some(head)
}
