//! What the readers of MPICH and Open MPI need to know of UCX (openucx/ucx, releases 1.13 to 1.20).

use super::{Shipped, Wanted, shipped};

/// Of UCX, the network library under MPICH's ch4:ucx and Open MPI's pml ucx.
pub static UCX: Wanted = Wanted {
    name: "UCX",
    probed: "ucp_request",
    types: TYPES,
    constants: CONSTANTS,
    fields: FIELDS,
    only_fields: false,
    pooled: &[],
    shipped: SHIPPED,
};

/// The types that a profile of UCX holds.
const TYPES: &[&str] = &[
    "ucp_request",
    "ucp_worker",
    "ucp_request_queue_t",
    "ucp_recv_desc",
    "ucp_eager_first_hdr_t",
    "ucp_rndv_rts_hdr_t",
    "ucp_ep",
    // The pool of requests, and datatypes that an MPI packs itself.
    "ucs_mpool_data",
    "ucs_mpool_chunk",
    "ucp_dt_generic",
    // How a message is sent, by newer releases.
    "ucp_proto_config_t",
];

/// No constants: those that are needed are the same in all these releases.
const CONSTANTS: &[&str] = &[];

/// Fields without which nothing can be read.
const FIELDS: &[(&str, &[&str])] = &[
    ("ucp_request", &["user_data", "recv.tag.tag", "recv.tag.tag_mask", "recv.worker", "send.msg_proto.tag"]),
    ("ucp_worker", &["context", "tm.expected.hash", "tm.unexpected.all", "tm.unexpected.hash"]),
    ("ucp_recv_desc", &["tag_list", "length", "payload_offset", "flags"]),
    ("ucp_ep", &["worker"]),
];

/// The profiles that this program carries, by name. `make layouts` makes them.
static SHIPPED: &[Shipped] = shipped![
    "ucx-1.13",
    "ucx-1.13-assertions",
    "ucx-1.18",
    "ucx-1.18-assertions",
    "ucx-1.19",
    "ucx-1.19-assertions",
    "ucx-1.20",
    "ucx-1.20-assertions",
];
