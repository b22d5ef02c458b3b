//! cxi (prov/cxi/include/cxip.h).

use crate::record::{composite, shapes};

shapes! {
    /// The endpoint of cxi (prov/cxi/include/cxip.h).
    CxiShape = ["cxip_ep"] { object: "ep_obj" };
    /// What several endpoints may share.
    CxiObjectShape = ["cxip_ep_obj"] { domain: "domain", receives: "rxc" };
    /// Its receives, and the messages that its software has.
    CxiReceivesShape = ["cxip_rxc_hpc"] { object: "base.ep_obj", requests: "base.rx_evtq.req_list", messages: "sw_ux_list" };
    /// One request.
    CxiRequestShape = ["cxip_req"] {
        link: "evtq_entry",
        context: "context",
        kind: "type",
        buffer: "recv.recv_buf",
        length: "recv.ulen",
        tagged: "recv.tagged",
        tag: "recv.tag",
        ignore: "recv.ignore",
    };
    /// One message: the event that its arrival was.
    CxiMessageShape = ["cxip_ux_send"] {
        link: "rxc_entry",
        bits: "put_ev.tgt_long.match_bits",
        data: "put_ev.tgt_long.header_data",
        length: "put_ev.tgt_long.rlength",
        claimed: "claimed",
    };
    /// Where its sends are.
    CxiOwnerShape = ["cxip_ep_obj"] { sends: "txc" };
    /// The sends: requests that are not done.
    CxiSendsShape = ["cxip_txc"] { object: "ep_obj", requests: "tx_evtq.req_list" };
    /// One of these requests.
    CxiSendShape = ["cxip_req"] {
        link: "evtq_entry",
        context: "context",
        kind: "type",
        owner: "send.txc",
        buffer: "send.buf",
        length: "send.len",
        process: "send.dest_addr",
        tagged: "send.tagged",
        tag: "send.tag",
        flags: "send.flags",
    };
}

composite! {
    /// The structures of sends.
    CxiSends {
        owner: CxiOwnerShape,
        sends: CxiSendsShape,
        send: CxiSendShape,
        /// What says that a request is a send (`CXIP_REQ_SEND`).
        kind: i64 = "CXIP_REQ_SEND",
    }
}

composite! {
    /// The structures of cxi.
    Cxi {
        endpoint: CxiShape,
        object: CxiObjectShape,
        receives: CxiReceivesShape,
        request: CxiRequestShape,
        message: CxiMessageShape,
        /// What a request says that it is, where it is a receive (`CXIP_REQ_RECV`).
        receive: i64 = "CXIP_REQ_RECV",
    }
}
