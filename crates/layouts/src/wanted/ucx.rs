//! What the reader of MPICH needs to know of UCX (openucx/ucx, releases 1.13 to 1.20).

/// The types that a profile of UCX holds.
pub const TYPES: &[&str] = &[
    "ucp_request",
    "ucp_worker",
    "ucp_request_queue_t",
    "ucp_recv_desc",
    "ucp_eager_first_hdr_t",
    "ucp_rndv_rts_hdr_t",
    "ucp_ep",
];

/// No constants: those that are needed are the same in all these releases.
pub const CONSTANTS: &[&str] = &[];

/// Fields without which nothing can be read.
pub const FIELDS: &[(&str, &[&str])] = &[
    ("ucp_request", &["user_data", "recv.tag.tag", "recv.tag.tag_mask", "recv.worker", "send.msg_proto.tag"]),
    ("ucp_worker", &["context", "tm.expected.hash", "tm.unexpected.all", "tm.unexpected.hash"]),
    ("ucp_recv_desc", &["tag_list", "length", "payload_offset", "flags"]),
    ("ucp_ep", &["worker"]),
];
