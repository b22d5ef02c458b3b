//! What providers share (include/ofi_util.h, include/ofi_indexer.h, include/ofi_mem.h).

use crate::ReaderError;
use crate::record::shape;
use layouts::Layouts;

shape!(
    /// A process that was talked to.
    PeerShape = ["util_peer_addr", "rxm_peer_addr"] { address: "fi_addr" }
);
shape!(
    /// An array that grows.
    ArrayShape = ["ofi_dyn_arr"] { chunk: "chunk", item_size: "item_size" }
);
shape!(
    /// A table from numbers to objects.
    MapShape = ["index_map"] { chunk: "chunk" | "array", count: "count" }
);
shape!(
    /// A table that hands out its numbers.
    ItemShape = ["ofi_idx_entry"] { item: "item", next: "next" }
);
shape!(
    /// A pool of objects.
    PoolShape = ["ofi_bufpool"] {
        free: "free_list.entries",
        stride: "entry_size",
        regions: "region_table",
        region_count: "region_cnt",
        in_region: "attr.chunk_cnt",
    }
);
shape!(
    /// Some of its objects, one behind the other.
    RegionShape = ["ofi_bufpool_region"] { first: "mem_region", pool: "pool" }
);
shape!(
    /// What stands before each object.
    ObjectShape = ["ofi_bufpool_hdr"] { next: "entry.slist.next", region: "region" }
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
    /// Such an entry with what prov/util adds.
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

/// The structures of prov/util.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Shared {
    pub lists: SharedShape,
    pub whole: SharedEntryShape,
    pub entry: EntryShape,
    pub peer: SharedPeerShape,
}

impl Shared {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            lists: SharedShape::resolve(layouts)?,
            whole: SharedEntryShape::resolve(layouts)?,
            entry: EntryShape::resolve(layouts)?,
            peer: SharedPeerShape::resolve(layouts)?,
        })
    }
}

/// The structures of a pool.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Pool {
    pub pool: PoolShape,
    pub region: RegionShape,
    pub object: ObjectShape,
}

impl Pool {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            pool: PoolShape::resolve(layouts)?,
            region: RegionShape::resolve(layouts)?,
            object: ObjectShape::resolve(layouts)?,
        })
    }
}
