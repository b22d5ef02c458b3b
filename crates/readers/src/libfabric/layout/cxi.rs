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
