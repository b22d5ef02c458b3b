//! rxd (prov/rxd/src/rxd.h).

use super::shared::MapShape;
use crate::ReaderError;
use crate::record::shape;
use layouts::Layouts;

shape!(
    /// The endpoint of rxd (prov/rxd/src/rxd.h).
    RxdShape = ["rxd_ep"] { receives: "rx_tag_list", messages: "unexp_tag_list" }
);
shape!(
    /// A receive of it.
    RxdReceiveShape = ["rxd_x_entry"] {
        link: "entry",
        peer: "peer",
        ignore: "ignore",
        count: "iov_count",
        pieces: "iov",
        context: "cq_entry.op_context",
        tag: "cq_entry.tag",
    }
);
shape!(
    /// A message of it: its parts.
    RxdMessageShape = ["rxd_unexp_msg"] {
        link: "entry",
        parts: "sar_hdr",
        tag: "tag_hdr",
        data: "data_hdr",
        length: "msg_size",
    }
);
shape!(
    /// Where the endpoint has the processes that it talks to.
    RxdSendsShape = ["rxd_ep"] { addresses: "util_ep.av", active: "active_peers", asked: "rts_sent_list" }
);
shape!(
    /// One of them.
    RxdPeerShape = ["rxd_peer"] { link: "entry", sends: "tx_list" }
);
shape!(
    /// What is to be sent to it.
    RxdSendShape = ["rxd_x_entry"] {
        link: "entry",
        peer: "peer",
        operation: "op",
        count: "iov_count",
        pieces: "iov",
        context: "cq_entry.op_context",
        length: "cq_entry.len",
        tag: "cq_entry.tag",
    }
);
shape!(
    /// Its own numbers of processes, and libfabric's.
    RxdAddressesShape = ["rxd_av"] { numbers: "rxdaddr_fi_idm" }
);

/// The structures of sends.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct RxdSends {
    pub endpoint: RxdSendsShape,
    pub peer: RxdPeerShape,
    pub send: RxdSendShape,
    pub addresses: RxdAddressesShape,
    pub map: MapShape,
    /// What says that a send has a tag (`RXD_TAGGED`).
    pub tagged: u64,
}

impl RxdSends {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            endpoint: RxdSendsShape::resolve(layouts)?,
            peer: RxdPeerShape::resolve(layouts)?,
            send: RxdSendShape::resolve(layouts)?,
            addresses: RxdAddressesShape::resolve(layouts)?,
            map: MapShape::resolve(layouts)?,
            tagged: u64::try_from(layouts.constant("RXD_TAGGED")?).unwrap_or(u64::MAX),
        })
    }
}
