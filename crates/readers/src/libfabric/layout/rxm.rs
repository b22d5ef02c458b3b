//! rxm (prov/rxm/src/rxm.h).

use super::shared::{MapShape, PeerShape, Pool};
use crate::ReaderError;
use crate::record::shape;
use layouts::Layouts;

shape!(
    /// The endpoint.
    RxmShape = ["rxm_ep"] {}
    optional { shared: "srx", queue: "trecv_queue" }
);
shape!(
    /// Its own queue, until 1.18.
    RxmQueueShape = ["rxm_recv_queue"] { owner: "rxm_ep", receives: "recv_list", messages: "unexp_msg_list" }
);
shape!(
    /// A receive in it.
    RxmReceiveShape = ["rxm_recv_entry"] {
        link: "entry",
        pieces: "rxm_iov.iov",
        count: "rxm_iov.count",
        address: "addr",
        context: "context",
        tag: "tag",
        ignore: "ignore",
    }
);
shape!(
    /// A message in it.
    RxmMessageShape = ["rxm_rx_buf"] {
        link: "unexp_msg.entry",
        address: "unexp_msg.addr",
        tag: "unexp_msg.tag",
        flags: "pkt.hdr.flags",
        length: "pkt.hdr.size",
        data: "pkt.hdr.data",
    }
);
shape!(
    /// The packet that a message came as.
    RxmPacketShape = ["rxm_rx_buf"] { kind: "pkt.ctrl_hdr.type", number: "pkt.ctrl_hdr.msg_id" }
);
shape!(
    /// Where the endpoint has its sends and connections.
    RxmSendsShape = ["rxm_ep"] { pool: "tx_pool", connections: "conn_idx_map" }
);
shape!(
    /// A send.
    RxmSendShape = ["rxm_tx_buf"] {
        context: "app_context",
        connection: "write_rndv.conn",
        packet: "pkt.ctrl_hdr.type",
        segment: "pkt.ctrl_hdr.seg_no",
        target: "pkt.ctrl_hdr.conn_id",
        number: "pkt.ctrl_hdr.msg_id",
        operation: "pkt.hdr.op",
        length: "pkt.hdr.size",
        tag: "pkt.hdr.tag",
        data: "pkt.data",
    }
);
shape!(
    /// What the announcement of a long message says of its pieces.
    RxmPiecesShape = ["rxm_rndv_hdr"] { pieces: "iov", count: "count" }
);
shape!(
    /// A connection.
    RxmConnectionShape = ["rxm_conn"] {
        peer: "peer",
        owner: "ep",
        target: "remote_index",
        deferred: "deferred_tx_queue",
    }
);
shape!(
    /// What a connection could not send at once.
    RxmDeferredShape = ["rxm_deferred_tx_entry"] {
        link: "entry",
        kind: "type",
        pieces: "sar_seg.payload.iov",
        count: "sar_seg.payload.count",
        tag: "sar_seg.payload.tag",
        operation: "sar_seg.op",
        length: "sar_seg.total_len",
        context: "sar_seg.app_context",
    }
);

/// The structures of sends.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct RxmSends {
    pub endpoint: RxmSendsShape,
    pub send: RxmSendShape,
    pub packet: RxmPacketShape,
    pub pieces: RxmPiecesShape,
    pub connection: RxmConnectionShape,
    pub deferred: RxmDeferredShape,
    pub peer: PeerShape,
    pub map: MapShape,
    pub pool: Pool,
    /// What says that parts of a message are deferred (`RXM_DEFERRED_TX_SAR_SEG`).
    pub parts: u64,
}

impl RxmSends {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            endpoint: RxmSendsShape::resolve(layouts)?,
            send: RxmSendShape::resolve(layouts)?,
            packet: RxmPacketShape::resolve(layouts)?,
            pieces: RxmPiecesShape::resolve(layouts)?,
            connection: RxmConnectionShape::resolve(layouts)?,
            deferred: RxmDeferredShape::resolve(layouts)?,
            peer: PeerShape::resolve(layouts)?,
            map: MapShape::resolve(layouts)?,
            pool: Pool::resolve(layouts)?,
            parts: u64::try_from(layouts.constant("RXM_DEFERRED_TX_SAR_SEG")?).unwrap_or(u64::MAX),
        })
    }
}
