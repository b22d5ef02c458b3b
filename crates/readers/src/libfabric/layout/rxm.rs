//! rxm (prov/rxm/src/rxm.h).

use super::shared::{MapShape, PeerShape, Pool};
use crate::record::{composite, shapes};

shapes! {
    /// The endpoint.
    RxmShape = ["rxm_ep"] {} optional { shared: "srx", queue: "trecv_queue" };
    /// Its own queue, until 1.18.
    RxmQueueShape = ["rxm_recv_queue"] { owner: "rxm_ep", receives: "recv_list", messages: "unexp_msg_list" };
    /// A receive in it.
    RxmReceiveShape = ["rxm_recv_entry"] {
        link: "entry",
        pieces: "rxm_iov.iov",
        count: "rxm_iov.count",
        address: "addr",
        context: "context",
        tag: "tag",
        ignore: "ignore",
    };
    /// A message in it.
    RxmMessageShape = ["rxm_rx_buf"] {
        link: "unexp_msg.entry",
        address: "unexp_msg.addr",
        tag: "unexp_msg.tag",
        flags: "pkt.hdr.flags",
        length: "pkt.hdr.size",
        data: "pkt.hdr.data",
    };
    /// The packet that a message came as.
    RxmPacketShape = ["rxm_rx_buf"] { kind: "pkt.ctrl_hdr.type", number: "pkt.ctrl_hdr.msg_id" };
    /// Where the endpoint has its sends and connections.
    RxmSendsShape = ["rxm_ep"] { pool: "tx_pool", connections: "conn_idx_map" };
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
    };
    /// What the announcement of a long message says of its pieces.
    RxmPiecesShape = ["rxm_rndv_hdr"] { pieces: "iov", count: "count" };
    /// A connection.
    RxmConnectionShape = ["rxm_conn"] {
        peer: "peer",
        owner: "ep",
        target: "remote_index",
        deferred: "deferred_tx_queue",
    };
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
    };
}

composite! {
    /// The structures of sends.
    RxmSends {
        endpoint: RxmSendsShape,
        send: RxmSendShape,
        packet: RxmPacketShape,
        pieces: RxmPiecesShape,
        connection: RxmConnectionShape,
        deferred: RxmDeferredShape,
        peer: PeerShape,
        map: MapShape,
        pool: Pool,
        /// What says that parts of a message are deferred (`RXM_DEFERRED_TX_SAR_SEG`).
        parts: u64 = "RXM_DEFERRED_TX_SAR_SEG",
    }
}
