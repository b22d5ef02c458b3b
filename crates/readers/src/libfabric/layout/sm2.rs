//! sm2 (prov/sm2/src/sm2.h, sm2_coordination.h; include/ofi_mem.h).

use crate::ReaderError;
use crate::record::shape;
use layouts::Layouts;

shape!(
    /// The endpoint of sm2.
    Sm2Shape = ["sm2_ep"] { shared: "srx" }
);
shape!(
    /// Where it has what all processes share, and its own part of that.
    Sm2OwnShape = ["sm2_ep"] { map: "mmap", region: "self_region", number: "gid", addresses: "util_ep.av" }
);
shape!(
    /// Where the shared memory lies.
    Sm2MapShape = ["sm2_mmap"] { base: "base" }
);
shape!(
    /// What it begins with: where the parts of the processes are.
    Sm2HeaderShape = ["sm2_coord_file_header"] { stride: "ep_region_size", first: "ep_regions_offset" }
);
shape!(
    /// The part of one: what is sent to it, and what it sends with.
    Sm2RegionShape = ["sm2_region"] { queue: "recv_queue_offset", entries: "freestack_offset" }
);
shape!(
    /// What it sends with: those that are free are linked by their numbers.
    Sm2EntriesShape = ["smr_freestack"] {
        first: "entry_base_offset",
        stride: "object_size",
        count: "size",
        free: "top",
        next: "entry_next",
    }
);
shape!(
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
    }
);
shape!(
    /// Where the data of a message lies that is fetched.
    Sm2PiecesShape = ["sm2_cma_data"] { count: "iov_count", first: "iov" }
);
shape!(
    /// A message that has arrived.
    Sm2ArrivedShape = ["sm2_xfer_ctx"] { context: "xfer_entry.hdr.context", way: "xfer_entry.hdr.proto" }
);
shape!(
    /// The numbers of processes by those that they have in shared memory.
    Sm2AddressesShape = ["sm2_av"] { addresses: "reverse_lookup" }
);

/// The structures of sends.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Sm2Sends {
    pub own: Sm2OwnShape,
    pub map: Sm2MapShape,
    pub header: Sm2HeaderShape,
    pub region: Sm2RegionShape,
    pub entries: Sm2EntriesShape,
    pub entry: Sm2EntryShape,
    /// None of a release in which nothing is fetched.
    pub pieces: Option<Sm2PiecesShape>,
    pub arrived: Sm2ArrivedShape,
    pub addresses: Sm2AddressesShape,
    /// The ways of messages that are fetched by their receivers: by copying from the sender's memory (`sm2_proto_cma`), and from
    /// that of a device (`sm2_proto_ipc`). 1.19 has neither: no send waits there.
    pub copied: Option<u64>,
    device: Option<u64>,
}

impl Sm2Sends {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        let way = |name: &str| u64::try_from(layouts.constant(name).ok()?).ok();
        Ok(Self {
            own: Sm2OwnShape::resolve(layouts)?,
            map: Sm2MapShape::resolve(layouts)?,
            header: Sm2HeaderShape::resolve(layouts)?,
            region: Sm2RegionShape::resolve(layouts)?,
            entries: Sm2EntriesShape::resolve(layouts)?,
            entry: Sm2EntryShape::resolve(layouts)?,
            pieces: Sm2PiecesShape::resolve(layouts).ok(),
            arrived: Sm2ArrivedShape::resolve(layouts)?,
            addresses: Sm2AddressesShape::resolve(layouts)?,
            copied: way("sm2_proto_cma"),
            device: way("sm2_proto_ipc"),
        })
    }

    /// Whether a message is fetched by its receiver, and its send waits for that.
    pub fn is_fetched(&self, way: u64) -> bool {
        [self.copied, self.device].contains(&Some(way))
    }
}
