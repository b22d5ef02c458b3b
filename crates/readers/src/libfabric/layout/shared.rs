//! What providers share (include/ofi_util.h, include/ofi_indexer.h, include/ofi_mem.h).

use crate::record::{composite, shapes};

shapes! {
    /// A process that was talked to.
    PeerShape = ["util_peer_addr", "rxm_peer_addr"] { address: "fi_addr" };
    /// An array that grows.
    ArrayShape = ["ofi_dyn_arr"] { chunk: "chunk", item_size: "item_size" };
    /// A table from numbers to objects.
    MapShape = ["index_map"] { chunk: "chunk" | "array", count: "count" };
    /// A table that hands out its numbers.
    ItemShape = ["ofi_idx_entry"] { item: "item", next: "next" };
    /// A pool of objects.
    PoolShape = ["ofi_bufpool"] {
        free: "free_list.entries",
        stride: "entry_size",
        regions: "region_table",
        region_count: "region_cnt",
        in_region: "attr.chunk_cnt",
    };
    /// Some of its objects, one behind the other.
    RegionShape = ["ofi_bufpool_region"] { first: "mem_region", pool: "pool" };
    /// What stands before each object.
    ObjectShape = ["ofi_bufpool_hdr"] { next: "entry.slist.next", region: "region" };
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
    } optional { data: "cq_data" };
    /// Such an entry with what prov/util adds.
    SharedEntryShape = ["util_rx_entry"] { entry: "peer_entry", sequence: "seq_no", ignore: "ignore" };
    /// The receives and messages of prov/util.
    SharedShape = ["util_srx_ctx"] {
        receives: "tag_queue",
        directed: "src_trecv_queues",
        messages: "unspec_unexp_tag_queue",
        peers: "unexp_peers",
    };
    /// The messages of one process in it.
    SharedPeerShape = ["util_unexp_peer"] { link: "entry", messages: "tag_queue" };
}

composite! {
    /// The structures of prov/util.
    Shared {
        lists: SharedShape,
        whole: SharedEntryShape,
        entry: EntryShape,
        peer: SharedPeerShape,
    }
}

composite! {
    /// The structures of a pool.
    Pool {
        pool: PoolShape,
        region: RegionShape,
        object: ObjectShape,
    }
}
