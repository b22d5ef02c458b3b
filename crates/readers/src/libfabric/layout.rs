//! Where libfabric's structures have their fields, by release.

use crate::ReaderError;
use crate::record::shape;
use layouts::{Layouts, Profile, shipped_for};
use target::TargetAbi;

/// What the profiles of libfabric are of.
const IMPLEMENTATION: &str = "libfabric";

shape!(
    /// What every endpoint begins with (include/rdma/fi_endpoint.h).
    EndpointShape = ["fid_ep"] { class: "fid.fclass", context: "fid.context" }
);
shape!(
    /// A provider (include/rdma/providers/fi_prov.h).
    ProviderShape = ["fi_provider"] { version: "version", name: "name" }
);
shape!(
    /// What most providers' endpoints begin with (include/ofi_util.h).
    UtilShape = ["util_ep"] { domain: "domain" }
);
shape!(
    /// A domain.
    DomainShape = ["util_domain"] { provider: "prov" }
);
shape!(
    /// A process that was talked to.
    PeerShape = ["util_peer_addr"] { address: "fi_addr" }
);
shape!(
    /// An array that grows (include/ofi_indexer.h).
    ArrayShape = ["ofi_dyn_arr"] { chunk: "chunk", item_size: "item_size" }
);
shape!(
    /// A receive that waits, or a message, as providers share them (include/rdma/providers/fi_peer.h).
    EntryShape = ["fi_peer_rx_entry"] {
        address: "addr",
        length: "msg_size" | "size",
        tag: "tag",
        flags: "flags",
        context: "context",
        count: "count",
        peer_context: "peer_context",
        pieces: "iov",
    }
    optional { data: "cq_data" }
);
shape!(
    /// Such an entry with what prov/util adds (include/ofi_util.h).
    SharedEntryShape = ["util_rx_entry"] { entry: "peer_entry", sequence: "seq_no", ignore: "ignore" }
);
shape!(
    /// The receives and messages of prov/util.
    SharedShape = ["util_srx_ctx"] {
        receives: "tag_queue",
        directed: "src_trecv_queues",
        messages: "unspec_unexp_tag_queue",
        peers: "unexp_peers",
    }
);
shape!(
    /// The messages of one process in it.
    SharedPeerShape = ["util_unexp_peer"] { link: "entry", messages: "tag_queue" }
);
shape!(
    /// The endpoint of rxm (prov/rxm/src/rxm.h).
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
    optional { announced: "hdr.tag_rts_hdr.size", data_announced: "hdr.tag_rts_data_hdr.size" }
);
shape!(
    /// The endpoint of shm (prov/shm/src/smr.h).
    ShmShape = ["smr_ep"] { shared: "srx" }
);
shape!(
    /// Its own receives and messages, until 1.18.
    ShmReceivesShape = ["smr_srx_ctx"] { receives: "trecv_queue.list", messages: "unexp_tagged_queue.list" }
);
shape!(
    /// An entry of them.
    ShmEntryShape = ["smr_rx_entry"] { entry: "peer_entry", ignore: "ignore" }
);
shape!(
    /// What a message came as.
    ShmCommandShape = ["smr_cmd_ctx"] {
        flags: "cmd.msg.hdr.op_flags",
        length: "cmd.msg.hdr.size",
        data: "cmd.msg.hdr.data",
    }
);
shape!(
    /// The endpoint of sm2 (prov/sm2/src/sm2.h).
    Sm2Shape = ["sm2_ep"] { shared: "srx" }
);
shape!(
    /// The endpoint of sockets (prov/sockets/include/sock.h).
    SocketsShape = ["sock_ep"] { attributes: "attr" }
);
shape!(
    /// What belongs to it.
    SocketsAttributesShape = ["sock_ep_attr"] { class: "fclass", context: "rx_ctx" }
);
shape!(
    /// Its receives and messages.
    SocketsReceivesShape = ["sock_rx_ctx"] {
        attributes: "ep_attr",
        receives: "rx_entry_list",
        messages: "rx_buffered_list",
    }
);
shape!(
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
    }
);
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

/// The structures of one release. What a release does not have is `None`.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Layout {
    /// The profile's name.
    pub name: String,
    /// Beginnings of the releases that have these structures.
    pub fits: Vec<String>,
    pub classes: Classes,
    pub endpoint: EndpointShape,
    pub provider: ProviderShape,
    pub util: UtilShape,
    pub domain: DomainShape,
    pub array: Option<ArrayShape>,
    pub shared: Option<Shared>,
    pub rxm: Option<RxmShape>,
    pub rxm_queue: Option<(RxmQueueShape, RxmReceiveShape, RxmMessageShape)>,
    pub tcp: Option<Tcp>,
    pub shm: Option<ShmShape>,
    pub shm_queue: Option<Shm>,
    pub sm2: Option<Sm2Shape>,
    pub sockets: Option<Sockets>,
    pub rxd: Option<(RxdShape, RxdReceiveShape, RxdMessageShape)>,
    pub cxi: Option<Cxi>,
}

/// What classes objects say that they are of (`FI_CLASS_*`, include/rdma/fabric.h).
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Classes {
    pub endpoint: u64,
    pub receives: u64,
    pub shared: u64,
}

/// The structures of prov/util.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Shared {
    pub lists: SharedShape,
    pub whole: SharedEntryShape,
    pub entry: EntryShape,
    pub peer: SharedPeerShape,
}

/// The structures of shm's own queues.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Shm {
    pub lists: ShmReceivesShape,
    pub whole: ShmEntryShape,
    pub entry: EntryShape,
    pub command: ShmCommandShape,
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

/// The structures of sockets.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Sockets {
    pub endpoint: SocketsShape,
    pub attributes: SocketsAttributesShape,
    pub receives: SocketsReceivesShape,
    pub entry: SocketsEntryShape,
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

impl Layout {
    /// Resolves the structures of a profile.
    ///
    /// # Errors
    /// Names the first type or field that the profile lacks of those that every release has.
    pub fn resolve(profile: Profile) -> Result<Self, ReaderError> {
        let (name, fits) = (profile.name.clone(), profile.identity.fits.clone());
        let layouts = &Layouts::new(vec![Box::new(profile)]);
        let class = |name: &str| Ok::<_, ReaderError>(u64::try_from(layouts.constant(name)?).unwrap_or(u64::MAX));
        let classes = Classes {
            endpoint: class("FI_CLASS_EP")?,
            receives: class("FI_CLASS_RX_CTX")?,
            shared: class("FI_CLASS_SRX_CTX")?,
        };
        Ok(Self {
            name,
            fits,
            classes,
            endpoint: EndpointShape::resolve(layouts)?,
            provider: ProviderShape::resolve(layouts)?,
            util: UtilShape::resolve(layouts)?,
            domain: DomainShape::resolve(layouts)?,
            array: ArrayShape::resolve(layouts).ok(),
            shared: Shared::resolve(layouts).ok(),
            rxm: RxmShape::resolve(layouts).ok(),
            rxm_queue: three(
                RxmQueueShape::resolve(layouts),
                RxmReceiveShape::resolve(layouts),
                RxmMessageShape::resolve(layouts),
            ),
            tcp: Tcp::resolve(layouts).ok(),
            shm: ShmShape::resolve(layouts).ok(),
            shm_queue: Shm::resolve(layouts).ok(),
            sm2: Sm2Shape::resolve(layouts).ok(),
            sockets: Sockets::resolve(layouts).ok(),
            rxd: three(
                RxdShape::resolve(layouts),
                RxdReceiveShape::resolve(layouts),
                RxdMessageShape::resolve(layouts),
            ),
            cxi: Cxi::resolve(layouts).ok(),
        })
    }

    /// Whether these are the structures of a release, such as `2.1.0`.
    pub fn fits(&self, release: &str) -> bool {
        let rest = |beginning: &String| release.strip_prefix(beginning.as_str());
        self.fits.iter().filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Those that this program carries for a kind of machine.
    pub fn shipped(abi: TargetAbi) -> Vec<Self> {
        let profiles = shipped_for(IMPLEMENTATION).iter().filter_map(|shipped| shipped.profile().ok());
        profiles.filter(|profile| profile.target == abi).filter_map(|profile| Self::resolve(profile).ok()).collect()
    }
}

fn three<A, B, C, E>(first: Result<A, E>, second: Result<B, E>, third: Result<C, E>) -> Option<(A, B, C)> {
    Some((first.ok()?, second.ok()?, third.ok()?))
}

impl Shared {
    fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            lists: SharedShape::resolve(layouts)?,
            whole: SharedEntryShape::resolve(layouts)?,
            entry: EntryShape::resolve(layouts)?,
            peer: SharedPeerShape::resolve(layouts)?,
        })
    }
}

impl Shm {
    fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            lists: ShmReceivesShape::resolve(layouts)?,
            whole: ShmEntryShape::resolve(layouts)?,
            entry: EntryShape::resolve(layouts)?,
            command: ShmCommandShape::resolve(layouts)?,
        })
    }
}

impl Tcp {
    fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
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

impl Sockets {
    fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            endpoint: SocketsShape::resolve(layouts)?,
            attributes: SocketsAttributesShape::resolve(layouts)?,
            receives: SocketsReceivesShape::resolve(layouts)?,
            entry: SocketsEntryShape::resolve(layouts)?,
        })
    }
}

impl Cxi {
    fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
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
