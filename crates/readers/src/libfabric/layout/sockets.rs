//! sockets (prov/sockets/include/sock.h).

use crate::record::{composite, shapes};

shapes! {
    /// The endpoint of sockets (prov/sockets/include/sock.h).
    SocketsShape = ["sock_ep"] { attributes: "attr" };
    /// What belongs to it.
    SocketsAttributesShape = ["sock_ep_attr"] { class: "fclass", context: "rx_ctx" };
    /// Its receives and messages.
    SocketsReceivesShape = ["sock_rx_ctx"] {
        number: "rx_id",
        attributes: "ep_attr",
        receives: "rx_entry_list",
        messages: "rx_buffered_list",
    };
    /// An entry of them.
    SocketsEntryShape = ["sock_rx_entry"] {
        link: "entry",
        count: "rx_op.dest_iov_len",
        busy: "is_busy",
        claimed: "is_claimed",
        tagged: "is_tagged",
        length: "total_len",
        flags: "flags",
        context: "context",
        address: "addr",
        data: "data",
        tag: "tag",
        ignore: "ignore",
        pieces: "iov",
        owner: "rx_ctx",
    };
    /// Where the endpoint has its sends; an endpoint with several contexts (`FI_CLASS_SEP`) has several of them.
    SocketsOwnerShape = ["sock_ep_attr"] { sends: "tx_ctx", several: "tx_array", count: "ep_attr.tx_ctx_cnt" };
    /// The sends: those that are going, and those in front of them in a ring of bytes.
    SocketsSendsShape = ["sock_tx_ctx"] {
        attributes: "ep_attr",
        read: "rb.rcnt",
        written: "rb.wcnt",
        going: "pe_entry_list",
    };
    /// One that is going.
    SocketsSendShape = ["sock_pe_entry"] {
        link: "ctx_entry",
        operation: "pe.tx.tx_op.op",
        count: "pe.tx.tx_op.src_iov_len",
        pieces: "pe.tx.tx_iov",
        owner: "pe.tx.tx_ctx",
        gone: "pe.tx.send_done",
        header: "msg_hdr",
        room: "comm_buf.size",
        buffered: "comm_buf.wcnt",
        buffer: "comm_buf.buf",
        told: "completion_reported",
        flags: "flags",
        context: "context",
        tag: "tag",
        connection: "conn",
    };
    /// What its message begins with.
    SocketsHeaderShape = ["sock_msg_hdr"] { operation: "op_type", entry: "pe_entry_id", length: "msg_len" };
    /// A piece of it.
    SocketsPieceShape = ["sock_tx_iov"] { address: "src.iov.addr", length: "src.iov.len" };
    /// A connection.
    SocketsConnectionShape = ["sock_conn"] { address: "av_index" };
}

composite! {
    /// The structures of sends.
    SocketsSends {
        owner: SocketsOwnerShape,
        sends: SocketsSendsShape,
        send: SocketsSendShape,
        header: SocketsHeaderShape,
        piece: SocketsPieceShape,
        connection: SocketsConnectionShape,
    }
}

composite! {
    /// The structures of sockets.
    Sockets {
        endpoint: SocketsShape,
        attributes: SocketsAttributesShape,
        receives: SocketsReceivesShape,
        entry: SocketsEntryShape,
    }
}
