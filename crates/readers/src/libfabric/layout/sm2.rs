//! sm2 (prov/sm2/src/sm2.h, sm2_coordination.h; include/ofi_mem.h).

use crate::record::{composite, shapes};

shapes! {
    /// The endpoint of sm2.
    Sm2Shape = ["sm2_ep"] { shared: "srx" };
    /// Where it has what all processes share, and its own part of that.
    Sm2OwnShape = ["sm2_ep"] { map: "mmap", region: "self_region", number: "gid", addresses: "util_ep.av" };
    /// Where the shared memory lies.
    Sm2MapShape = ["sm2_mmap"] { base: "base" };
    /// What it begins with: where the parts of the processes are.
    Sm2HeaderShape = ["sm2_coord_file_header"] { stride: "ep_region_size", first: "ep_regions_offset" };
    /// The part of one: what is sent to it, and what it sends with.
    Sm2RegionShape = ["sm2_region"] { queue: "recv_queue_offset", entries: "freestack_offset" };
    /// What it sends with: those that are free are linked by their numbers.
    Sm2EntriesShape = ["smr_freestack"] {
        first: "entry_base_offset",
        stride: "object_size",
        count: "size",
        free: "top",
        next: "entry_next",
    };
    /// One of them.
    Sm2EntryShape = ["sm2_xfer_entry"] {
        next: "hdr.next",
        length: "hdr.size",
        tag: "hdr.tag",
        context: "hdr.context",
        operation: "hdr.op",
        way: "hdr.proto",
        state: "hdr.proto_flags",
        sender: "hdr.sender_gid",
        data: "user_data",
    };
    /// Where the data of a message lies that is fetched.
    Sm2PiecesShape = ["sm2_cma_data"] { count: "iov_count", first: "iov" };
    /// A message that has arrived.
    Sm2ArrivedShape = ["sm2_xfer_ctx"] { context: "xfer_entry.hdr.context", way: "xfer_entry.hdr.proto" };
    /// The numbers of processes by those that they have in shared memory.
    Sm2AddressesShape = ["sm2_av"] { addresses: "reverse_lookup" };
}

composite! {
    /// The structures of sends.
    Sm2Sends {
        own: Sm2OwnShape,
        map: Sm2MapShape,
        header: Sm2HeaderShape,
        region: Sm2RegionShape,
        entries: Sm2EntriesShape,
        entry: Sm2EntryShape,
        /// None of a release in which nothing is fetched.
        pieces: Option<Sm2PiecesShape>,
        arrived: Sm2ArrivedShape,
        addresses: Sm2AddressesShape,
        /// The way of messages that their receivers copy from the sender's memory. 1.19 has neither: no send waits there.
        copied: Option<u64> = "sm2_proto_cma",
        /// The way of those that are copied from the memory of a device.
        device: Option<u64> = "sm2_proto_ipc",
    }
}

impl Sm2Sends {
    /// Whether a message is fetched by its receiver, and its send waits for that.
    pub fn is_fetched(&self, way: u64) -> bool {
        [self.copied, self.device].contains(&Some(way))
    }
}
