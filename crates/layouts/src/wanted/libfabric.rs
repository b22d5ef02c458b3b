//! What the readers need to know of libfabric (ofiwg/libfabric, releases 1.17 to 2.6): what its providers keep of receives and
//! messages.

use super::{Shipped, Wanted, shipped};

/// Of libfabric, the network library under Open MPI's mtl ofi and MPICH's ch4:ofi.
pub static LIBFABRIC: Wanted = Wanted {
    name: "libfabric",
    probed: "util_domain",
    types: TYPES,
    constants: CONSTANTS,
    fields: FIELDS,
    only_fields: true,
    pooled: &[],
    shipped: SHIPPED,
};

/// The types that a profile of libfabric holds.
const TYPES: &[&str] = &[
    "fid_ep",
    "fi_provider",
    "util_ep",
    "util_domain",
    "util_peer_addr",
    "ofi_dyn_arr",
    "fi_peer_rx_entry",
    "util_rx_entry",
    "util_srx_ctx",
    "util_unexp_peer",
    "rxm_ep",
    "rxm_recv_queue",
    "rxm_recv_entry",
    "rxm_rx_buf",
    "xnet_rdm",
    "xnet_srx",
    "xnet_domain",
    "xnet_ep",
    "xnet_saved_msg",
    "xnet_xfer_entry",
    "smr_ep",
    "smr_srx_ctx",
    "smr_rx_entry",
    "smr_cmd_ctx",
    "sm2_ep",
    "sock_ep",
    "sock_ep_attr",
    "sock_rx_ctx",
    "sock_rx_entry",
    "rxd_ep",
    "rxd_x_entry",
    "rxd_unexp_msg",
    "cxip_ep",
    "cxip_ep_obj",
    "cxip_rxc_hpc",
    "cxip_req",
    "cxip_ux_send",
];

const CONSTANTS: &[&str] = &["FI_CLASS_EP", "FI_CLASS_RX_CTX", "FI_CLASS_SRX_CTX", "CXIP_REQ_RECV"];

/// The fields of each that are read. No release has all of them.
const FIELDS: &[(&str, &[&str])] = &[
    // include/rdma, include/ofi_util.h: what all providers share
    ("fid_ep", &["fid.fclass", "fid.context"]),
    ("fi_provider", &["version", "name"]),
    ("util_ep", &["domain"]),
    ("util_domain", &["prov"]),
    ("util_peer_addr", &["fi_addr"]),
    ("ofi_dyn_arr", &["chunk", "item_size"]),
    // receives and messages that prov/util keeps for several providers
    (
        "fi_peer_rx_entry",
        &["addr", "msg_size", "size", "tag", "flags", "context", "count", "peer_context", "iov", "cq_data"],
    ),
    ("util_rx_entry", &["peer_entry", "seq_no", "ignore"]),
    ("util_srx_ctx", &["tag_queue", "src_trecv_queues", "unspec_unexp_tag_queue", "unexp_peers"]),
    ("util_unexp_peer", &["entry", "tag_queue"]),
    // prov/rxm; the queue and its entries until 1.18
    ("rxm_ep", &["srx", "trecv_queue"]),
    ("rxm_recv_queue", &["rxm_ep", "recv_list", "unexp_msg_list"]),
    ("rxm_recv_entry", &["entry", "rxm_iov.iov", "rxm_iov.count", "addr", "context", "tag", "ignore"]),
    (
        "rxm_rx_buf",
        &["unexp_msg.entry", "unexp_msg.addr", "unexp_msg.tag", "pkt.hdr.flags", "pkt.hdr.size", "pkt.hdr.data"],
    ),
    // prov/tcp
    ("xnet_rdm", &["srx"]),
    ("xnet_srx", &["domain", "rdm", "tag_queue", "src_tag_queues"]),
    ("xnet_domain", &["progress.unexp_tag_list", "progress.saved_tag_list"]),
    ("xnet_ep", &["unexp_entry", "peer", "cur_rx.hdr", "cur_rx.claim_ctx"]),
    ("xnet_saved_msg", &["entry", "queue"]),
    (
        "xnet_xfer_entry",
        &[
            "iov",
            "iov_cnt",
            "tag_seq_no",
            "tag",
            "ignore",
            "src_addr",
            "context",
            "hdr",
            "hdr.base_hdr.op",
            "hdr.base_hdr.flags",
            "hdr.base_hdr.hdr_size",
            "hdr.base_hdr.size",
            "hdr.tag_hdr.tag",
            "hdr.tag_data_hdr.cq_data",
            "hdr.tag_data_hdr.cq_data_hdr.cq_data",
            "hdr.tag_data_hdr.tag",
            "hdr.tag_rts_hdr.size",
            "hdr.tag_rts_data_hdr.size",
        ],
    ),
    // prov/shm; the queues until 1.18
    ("smr_ep", &["srx"]),
    ("smr_srx_ctx", &["trecv_queue.list", "unexp_tagged_queue.list"]),
    ("smr_rx_entry", &["peer_entry", "ignore"]),
    ("smr_cmd_ctx", &["cmd.msg.hdr.op_flags", "cmd.msg.hdr.size", "cmd.msg.hdr.data"]),
    // prov/sm2
    ("sm2_ep", &["srx"]),
    // prov/sockets
    ("sock_ep", &["attr"]),
    ("sock_ep_attr", &["fclass", "rx_ctx"]),
    ("sock_rx_ctx", &["ep_attr", "rx_entry_list", "rx_buffered_list"]),
    (
        "sock_rx_entry",
        &[
            "entry",
            "rx_op.dest_iov_len",
            "is_busy",
            "is_claimed",
            "is_tagged",
            "total_len",
            "flags",
            "context",
            "addr",
            "data",
            "tag",
            "ignore",
            "iov",
            "rx_ctx",
        ],
    ),
    // prov/rxd
    ("rxd_ep", &["rx_tag_list", "unexp_tag_list"]),
    ("rxd_x_entry", &["entry", "peer", "ignore", "iov_count", "iov", "cq_entry.op_context", "cq_entry.tag"]),
    ("rxd_unexp_msg", &["entry", "sar_hdr", "tag_hdr", "data_hdr", "msg_size"]),
    // prov/cxi
    ("cxip_ep", &["ep_obj"]),
    ("cxip_ep_obj", &["domain", "rxc"]),
    ("cxip_rxc_hpc", &["base.ep_obj", "base.rx_evtq.req_list", "sw_ux_list"]),
    (
        "cxip_req",
        &["evtq_entry", "context", "type", "recv.recv_buf", "recv.ulen", "recv.tagged", "recv.tag", "recv.ignore"],
    ),
    (
        "cxip_ux_send",
        &[
            "rxc_entry",
            "put_ev.tgt_long.match_bits",
            "put_ev.tgt_long.header_data",
            "put_ev.tgt_long.rlength",
            "claimed",
        ],
    ),
];

/// The profiles that this program carries, by name. `make layouts` makes them.
static SHIPPED: &[Shipped] = shipped![
    "libfabric-1.15",
    "libfabric-1.17",
    "libfabric-1.18",
    "libfabric-1.19",
    "libfabric-1.20",
    "libfabric-1.22",
    "libfabric-2.0",
    "libfabric-2.1",
    "libfabric-2.2",
    "libfabric-2.3",
    "libfabric-2.4",
    "libfabric-2.5",
    "libfabric-2.6",
];
