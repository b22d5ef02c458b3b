//! cxi (prov/cxi/include/cxip.h).

use crate::ReaderError;
use crate::record::shape;
use layouts::Layouts;

shape!(
    /// The endpoint of cxi (prov/cxi/include/cxip.h).
    CxiShape = ["cxip_ep"] { object: "ep_obj" }
);
shape!(
    /// What several endpoints may share.
    CxiObjectShape = ["cxip_ep_obj"] { domain: "domain", receives: "rxc" }
);
shape!(
    /// Its receives, and the messages that its software has.
    CxiReceivesShape = ["cxip_rxc_hpc"] { object: "base.ep_obj", requests: "base.rx_evtq.req_list", messages: "sw_ux_list" }
);
shape!(
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
    }
);
shape!(
    /// One message: the event that its arrival was.
    CxiMessageShape = ["cxip_ux_send"] {
        link: "rxc_entry",
        bits: "put_ev.tgt_long.match_bits",
        data: "put_ev.tgt_long.header_data",
        length: "put_ev.tgt_long.rlength",
        claimed: "claimed",
    }
);

shape!(
    /// Where its sends are.
    CxiOwnerShape = ["cxip_ep_obj"] { sends: "txc" }
);
shape!(
    /// The sends: requests that are not done.
    CxiSendsShape = ["cxip_txc"] { object: "ep_obj", requests: "tx_evtq.req_list" }
);
shape!(
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
    }
);

/// The structures of sends.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct CxiSends {
    pub owner: CxiOwnerShape,
    pub sends: CxiSendsShape,
    pub send: CxiSendShape,
    /// What says that a request is a send (`CXIP_REQ_SEND`).
    pub kind: i64,
}

impl CxiSends {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            owner: CxiOwnerShape::resolve(layouts)?,
            sends: CxiSendsShape::resolve(layouts)?,
            send: CxiSendShape::resolve(layouts)?,
            kind: layouts.constant("CXIP_REQ_SEND")?,
        })
    }
}

/// The structures of cxi.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Cxi {
    pub endpoint: CxiShape,
    pub object: CxiObjectShape,
    pub receives: CxiReceivesShape,
    pub request: CxiRequestShape,
    pub message: CxiMessageShape,
    /// What a request says that it is, where it is a receive (`CXIP_REQ_RECV`).
    pub receive: i64,
}

impl Cxi {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            endpoint: CxiShape::resolve(layouts)?,
            object: CxiObjectShape::resolve(layouts)?,
            receives: CxiReceivesShape::resolve(layouts)?,
            request: CxiRequestShape::resolve(layouts)?,
            message: CxiMessageShape::resolve(layouts)?,
            receive: layouts.constant("CXIP_REQ_RECV")?,
        })
    }
}
