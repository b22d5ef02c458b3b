//! tcp (prov/tcp/src/xnet.h; prov/net in 1.17).

use super::shared::{ItemShape, MapShape, PeerShape};
use crate::ReaderError;
use crate::record::shape;
use layouts::Layouts;

shape!(
    /// The endpoint of tcp (prov/tcp/src/xnet.h; prov/net in 1.17).
    TcpShape = ["xnet_rdm"] { shared: "srx" }
);
shape!(
    /// Its receives.
    TcpReceivesShape = ["xnet_srx"] { domain: "domain", owner: "rdm", receives: "tag_queue", directed: "src_tag_queues" }
);
shape!(
    /// A domain, with the lists of messages.
    TcpDomainShape = ["xnet_domain"] { waiting: "progress.unexp_tag_list", saved: "progress.saved_tag_list" }
);
shape!(
    /// A connection, with the message that is being read from it.
    TcpConnectionShape = ["xnet_ep"] {
        link: "unexp_entry",
        peer: "peer",
        header: "cur_rx.hdr",
        claimed: "cur_rx.claim_ctx",
    }
);
shape!(
    /// The messages of one process that were read.
    TcpSavedShape = ["xnet_saved_msg"] { link: "entry", messages: "queue" }
);
shape!(
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
    }
    optional {
        buffer: "user_buf",
        number: "hdr.base_hdr.op_data",
        announced: "hdr.tag_rts_hdr.size",
        data_announced: "hdr.tag_rts_data_hdr.size",
    }
);
shape!(
    /// Where the endpoint has its connections.
    TcpConnectionsShape = ["xnet_rdm"] { connections: "conn_idx_map", loopback: "rx_loopback" }
);
shape!(
    /// A connection.
    TcpPeerShape = ["xnet_conn"] { endpoint: "ep", owner: "rdm", peer: "peer" }
);
shape!(
    /// What a connection has to send, or has sent and waits for.
    TcpSendsShape = ["xnet_ep"] {
        current: "cur_tx.entry",
        waiting: "tx_queue",
        unanswered: "need_ack_queue",
        leaving: "async_queue",
    }
    optional { announced: "rts_queue" }
);

/// The structures of sends.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct TcpSends {
    pub endpoint: TcpConnectionsShape,
    pub connection: TcpPeerShape,
    pub queues: TcpSendsShape,
    pub map: MapShape,
    pub item: ItemShape,
}

impl TcpSends {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            endpoint: TcpConnectionsShape::resolve(layouts)?,
            connection: TcpPeerShape::resolve(layouts)?,
            queues: TcpSendsShape::resolve(layouts)?,
            map: MapShape::resolve(layouts)?,
            item: ItemShape::resolve(layouts)?,
        })
    }
}

/// The structures of tcp.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Tcp {
    pub endpoint: TcpShape,
    pub receives: TcpReceivesShape,
    pub domain: TcpDomainShape,
    pub connection: TcpConnectionShape,
    pub saved: TcpSavedShape,
    pub entry: TcpEntryShape,
    pub peer: PeerShape,
}

impl Tcp {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            endpoint: TcpShape::resolve(layouts)?,
            receives: TcpReceivesShape::resolve(layouts)?,
            domain: TcpDomainShape::resolve(layouts)?,
            connection: TcpConnectionShape::resolve(layouts)?,
            saved: TcpSavedShape::resolve(layouts)?,
            entry: TcpEntryShape::resolve(layouts)?,
            peer: PeerShape::resolve(layouts)?,
        })
    }
}
