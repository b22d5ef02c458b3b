//! rxd (prov/rxd/src/rxd.h).

use super::shared::MapShape;
use crate::record::{composite, shapes};

shapes! {
    /// The endpoint of rxd (prov/rxd/src/rxd.h).
    RxdShape = ["rxd_ep"] { receives: "rx_tag_list", messages: "unexp_tag_list" };
    /// A receive of it.
    RxdReceiveShape = ["rxd_x_entry"] {
        link: "entry",
        peer: "peer",
        ignore: "ignore",
        count: "iov_count",
        pieces: "iov",
        context: "cq_entry.op_context",
        tag: "cq_entry.tag",
    };
    /// A message of it: its parts.
    RxdMessageShape = ["rxd_unexp_msg"] {
        link: "entry",
        parts: "sar_hdr",
        tag: "tag_hdr",
        data: "data_hdr",
        length: "msg_size",
    };
    /// Where the endpoint has the processes that it talks to.
    RxdSendsShape = ["rxd_ep"] { addresses: "util_ep.av", active: "active_peers", asked: "rts_sent_list" };
    /// One of them.
    RxdPeerShape = ["rxd_peer"] { link: "entry", sends: "tx_list" };
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
    };
    /// Its own numbers of processes, and libfabric's.
    RxdAddressesShape = ["rxd_av"] { numbers: "rxdaddr_fi_idm" };
}

composite! {
    /// The structures of sends.
    RxdSends {
        endpoint: RxdSendsShape,
        peer: RxdPeerShape,
        send: RxdSendShape,
        addresses: RxdAddressesShape,
        map: MapShape,
        /// What says that a send has a tag (`RXD_TAGGED`).
        tagged: u64 = "RXD_TAGGED",
    }
}
