//! tcp (prov/tcp/src/xnet.h; prov/net in 1.17).

use super::shared::{ItemShape, MapShape, PeerShape};
use crate::record::{composite, shapes};

shapes! {
    /// The endpoint of tcp (prov/tcp/src/xnet.h; prov/net in 1.17).
    TcpShape = ["xnet_rdm"] { shared: "srx" };
    /// Its receives.
    TcpReceivesShape = ["xnet_srx"] { domain: "domain", owner: "rdm", receives: "tag_queue", directed: "src_tag_queues" };
    /// A domain, with the lists of messages.
    TcpDomainShape = ["xnet_domain"] { waiting: "progress.unexp_tag_list", saved: "progress.saved_tag_list" };
    /// A connection, with the message that is being read from it.
    TcpConnectionShape = ["xnet_ep"] {
        link: "unexp_entry",
        peer: "peer",
        header: "cur_rx.hdr",
        claimed: "cur_rx.claim_ctx",
    };
    /// The messages of one process that were read.
    TcpSavedShape = ["xnet_saved_msg"] { link: "entry", messages: "queue" };
    /// A receive, or a message that was read.
    TcpEntryShape = ["xnet_xfer_entry"] {
        pieces: "iov",
        count: "iov_cnt",
        sequence: "tag_seq_no",
        tag: "tag",
        ignore: "ignore",
        address: "src_addr",
        context: "context",
        header: "hdr",
        kind: "hdr.base_hdr.op",
        flags: "hdr.base_hdr.flags",
        header_length: "hdr.base_hdr.hdr_size",
        length: "hdr.base_hdr.size",
        plain_tag: "hdr.tag_hdr.tag",
        data: "hdr.tag_data_hdr.cq_data" | "hdr.tag_data_hdr.cq_data_hdr.cq_data",
        data_tag: "hdr.tag_data_hdr.tag",
    } optional {
        buffer: "user_buf",
        number: "hdr.base_hdr.op_data",
        announced: "hdr.tag_rts_hdr.size",
        data_announced: "hdr.tag_rts_data_hdr.size",
    };
    /// Where the endpoint has its connections.
    TcpConnectionsShape = ["xnet_rdm"] { connections: "conn_idx_map", loopback: "rx_loopback" };
    /// A connection.
    TcpPeerShape = ["xnet_conn"] { endpoint: "ep", owner: "rdm", peer: "peer" };
    /// What a connection has to send, or has sent and waits for.
    TcpSendsShape = ["xnet_ep"] {
        current: "cur_tx.entry",
        waiting: "tx_queue",
        unanswered: "need_ack_queue",
        leaving: "async_queue",
    } optional { announced: "rts_queue" };
}

composite! {
    /// The structures of sends.
    TcpSends {
        endpoint: TcpConnectionsShape,
        connection: TcpPeerShape,
        queues: TcpSendsShape,
        map: MapShape,
        item: ItemShape,
    }
}

composite! {
    /// The structures of tcp.
    Tcp {
        endpoint: TcpShape,
        receives: TcpReceivesShape,
        domain: TcpDomainShape,
        connection: TcpConnectionShape,
        saved: TcpSavedShape,
        entry: TcpEntryShape,
        peer: PeerShape,
    }
}
